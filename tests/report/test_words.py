"""What to ship, in words: the highest U_Risk whose reward prevails, or what is live."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf


def assessment(*shifts: float, baseline: str | list[str] = "today", **options) -> sf.Assessment:
    rng = np.random.default_rng(0)
    base = 0.3 + 0.4 * rng.random(100)
    others = [base + shift + rng.normal(0, 0.05, 100) for shift in shifts]
    names = ["today", *(f"s{i}" for i in range(len(shifts)))]
    return sf.assess(sf.Scores([base, *others], names, range(100)), baseline, alphas=[0, 1, 5], **options)


def test_the_best_of_those_whose_reward_prevails() -> None:
    assert assessment(0.05, 0.15, -0.1).verdict().startswith("Ship s1. s1 gains 0.1")
    assert "Of the highest mean" not in assessment(0.05, 0.15, -0.1).verdict()


def test_none_prevails() -> None:
    said = assessment(-0.1, -0.001).verdict()
    assert said.startswith("Keep today: no system's reward outweighs its risk by more than chance. The nearest: s1 ")
    said = assessment(-0.001, 0.001, baseline="max").verdict()
    assert said.startswith("Ship none yet: ")


def test_without_a_test_there_is_only_the_highest() -> None:
    said = assessment(0.1, 0.2, baseline=["today", "s0"]).verdict()
    assert said.startswith("The highest U_Risk is that of s1, and no test says whether by chance. ")
    alone = sf.assess(sf.Scores([[0.1, 0.2]], ["today"], ["a", "b"]), "today")
    assert alone.verdict() == "There is no system to compare with today."


def test_alpha_above_zero_comes_first() -> None:
    a = assessment(0.1)
    assert a.verdict("s0") == a.verdict("s0", 1)
    assert "With losses counted 2 times" in a.verdict("s0")


def test_suffering_segments_are_named() -> None:
    kinds = {"length": {str(i): "head" if i < 50 else "tail" for i in range(100)}}
    rng = np.random.default_rng(0)
    base = 0.3 + 0.4 * rng.random(100)
    new = base + np.where(np.arange(100) < 50, 0.2, -0.1) + rng.normal(0, 0.02, 100)
    a = sf.assess(sf.Scores([base, new], ["today", "new"], range(100)), "today", [0, 1], segments=kinds)
    assert a.verdict("new").endswith(" Suffering by more than chance: length tail (50 queries).")
    assert assessment(0.1, segments=kinds).verdict("s0").endswith(" No segment suffers by more than chance.")


def test_reading_back(tmp_path) -> None:
    a = assessment(0.1)
    a.write_json(tmp_path / "whole.json", per_query=True)
    a.write_json(tmp_path / "short.json")
    whole, short = (sf.Assessment.read(tmp_path / name) for name in ("whole.json", "short.json"))
    assert whole.to_json(per_query=True) == a.to_json(per_query=True)
    assert short.to_json() == a.to_json()
    assert short.to_text() == whole.to_text() == a.to_text()
    assert whole.to_html() == a.to_html()
    with pytest.raises(sf.ArgumentError, match="without each query's scores"):
        short.to_html()
    for text in ("{}", "[1]", "no", '{"schema": "surefoot/assessment/1"}', '{"schema": "surefoot/ranker/1"}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(sf.DataError, match=r"bad\.json"):
            sf.Assessment.read(tmp_path / "bad.json")
