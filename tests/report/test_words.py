"""What was found, in words: of the highest U_Risk among the systems that are better, or among all."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.report.columns import at_alpha
from surefoot.report.words import headline, significance


def assessment(*shifts: float, baseline: str | list[str] = "today", **options) -> sf.Assessment:
    rng = np.random.default_rng(0)
    base = 0.3 + 0.4 * rng.random(100)
    others = [base + shift + rng.normal(0, 0.05, 100) for shift in shifts]
    names = ["today", *(f"s{i}" for i in range(len(shifts)))]
    return sf.assess(sf.Scores([base, *others], names, range(100)), baseline, alphas=[0, 1, 5], **options)


def test_the_best_of_those_that_are_better() -> None:
    assert assessment(0.05, 0.15, -0.1).in_words().startswith("s1 gains 0.1")
    assert "The system with the highest mean" not in assessment(0.05, 0.15, -0.1).in_words()


def test_neither_a_higher_mean_nor_chance_comes_first() -> None:
    even = np.arange(400) % 2 == 0
    changes = {
        "safe": np.random.default_rng(0).normal(0.06, 0.01, 400),
        "bold": np.where(even, 0.3, -0.1),  # of a higher mean, but not once losses count twice
        "lucky": np.where(np.arange(400) == 7, 60.0, 0.0),  # a high U_Risk by one query
    }
    scores = {"today": np.full(400, 0.5)} | {name: 0.5 + change for name, change in changes.items()}
    a = sf.assess(sf.Scores(list(scores.values()), list(scores), range(400)), "today", alphas=[0, 1])
    outcomes = {row["system"]: row["alpha"]["1"]["outcome"] for row in a.to_dict()["systems"][1:]}
    assert outcomes == {"safe": "better", "bold": "better", "lucky": "unclear"}
    sentence = a.in_words(alpha=1)
    assert sentence.startswith("safe gains 0.0596 ")
    assert " To decide on a release, use surefoot gate. The system" in sentence
    assert " The system with the highest mean: lucky gains 0.1500 " in sentence


def test_fifty_queries_are_not_few() -> None:
    values = np.random.default_rng(0).random((2, 50))
    for queries, few in ((49, True), (50, False)):
        a = sf.assess(sf.Scores(values[:, :queries], ["today", "new"], range(queries)), "today", [1])
        assert ("With fewer than 50 queries" in a.in_words("new")) == few


def test_a_loss_on_average_is_one_however_it_is_counted() -> None:
    sentence = assessment(-0.1).in_words("s0", 1)
    assert "It is worse than today at α = 1 (p < 0.0001), and at every other α up to 20." in sentence
    assert "if losses count once" not in sentence


def test_none_is_better() -> None:
    sentence = assessment(-0.1, -0.001).in_words()
    assert sentence.startswith("No system is better than today at α = 1 by more than chance. The closest system: s1 ")
    sentence = assessment(-0.001, 0.001, baseline="max").in_words()
    assert sentence.startswith("No system is better than the per-query max of 3 systems at α = 1 by more than chance. ")


def test_a_copy_is_the_same() -> None:
    base = np.random.default_rng(0).random(60)
    a = sf.assess(sf.Scores([base, base], ["today", "copy"], range(60)), "today")
    (copy,) = (row for row in a.to_dict()["systems"] if row["system"] == "copy")
    assert {at["outcome"] for at in copy["alpha"].values()} == {"same"}
    assert copy["outcome_by_alpha"] == [{"alpha": 0.0, "outcome": "same"}]
    assert a.to_dict()["systems"][0]["alpha"]["0"]["outcome"] is None
    assert a.in_words() == "copy has the same scores as today on every query."
    assert headline(a.to_dict(), 1) == ("copy has the same scores as today on every query", "Same")
    assert "today is the baseline. It is not tested (–)." in a.to_text(width=1000)


def test_without_a_test_there_is_only_the_highest() -> None:
    sentence = assessment(0.1, 0.2, baseline=["today", "s0"]).in_words()
    assert "T_Risk is " in sentence
    assert "(a mean over several baselines has no p-value)" in sentence
    alone = sf.assess(sf.Scores([[0.1, 0.2]], ["today"], ["a", "b"]), "today")
    assert alone.in_words() == "There is no system to compare with today."


def test_alpha_above_zero_comes_first() -> None:
    a = assessment(0.1)
    assert a.in_words("s0") == a.in_words("s0", 1)
    assert "at α = 1 (p < 0.0001)" in a.in_words("s0")


def test_suffering_segments_are_named() -> None:
    kinds = {"length": {str(i): "head" if i < 50 else "tail" for i in range(100)}}
    rng = np.random.default_rng(0)
    base = 0.3 + 0.4 * rng.random(100)
    new = base + np.where(np.arange(100) < 50, 0.2, -0.1) + rng.normal(0, 0.02, 100)
    better = base + rng.normal(0.1, 0.02, 100)
    scores = sf.Scores([base, new, better], ["today", "new", "better"], range(100))
    a = sf.assess(scores, "today", [0, 1], segments=kinds)
    assert a.in_words("new").endswith(" These segments get worse by more than chance: length tail (50 queries).")
    assert a.in_words("better").endswith(" No segment gets worse by more than chance.")
    assert assessment(0.1, segments=kinds).in_words("s0").endswith(" No segment gets worse by more than chance.")


def test_the_five_most_hurt_segments_are_named() -> None:
    kind = np.arange(350) % 7
    change = -0.02 * (1 + kind) + np.random.default_rng(0).normal(0, 0.01, 350)
    scores = sf.Scores([np.full(350, 0.5), 0.5 + change], ["today", "new"], range(350))
    a = sf.assess(scores, "today", [1], segments={"kind": {str(i): f"k{one}" for i, one in enumerate(kind)}})
    named = ", ".join(f"kind k{one} (50 queries)" for one in (6, 5, 4, 3, 2))
    assert a.in_words("new").endswith(f" These segments get worse by more than chance: {named} and 2 more.")


def test_reading_back(tmp_path) -> None:
    a = assessment(0.1)
    a.write(tmp_path / "whole.json", per_query=True)
    a.write(tmp_path / "short.json")
    complete, short = (sf.Assessment.read(tmp_path / name) for name in ("whole.json", "short.json"))
    assert complete.to_json(per_query=True) == a.to_json(per_query=True)
    assert short.to_json() == a.to_json()
    assert short.to_text() == complete.to_text() == a.to_text()
    assert complete.to_html() == a.to_html()
    with pytest.raises(ArgumentError, match="does not contain the scores of single queries"):
        short.to_html()
    for text in ("{}", "[1]", "no", '{"schema": "surefoot/assessment/1"}', '{"schema": "surefoot/ranker/1"}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(DataError, match=r"bad\.json"):
            sf.Assessment.read(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("p", "table", "words"),
    [
        (0.0123, "0.0123", "p = 0.012)"),
        (0.00014, "0.0001", "p = 0.00014)"),
        (0.00009, "0.0001", "p = 0.0001)"),
        (0.00005, "0.0001", "p = 0.0001)"),
        (0.0000499, "<.0001", "p < 0.0001)"),
        (0.0, "<.0001", "p < 0.0001)"),
    ],
)
def test_small_p_values(p: float, table: str, words: str) -> None:
    data = assessment(0.1).to_dict()
    row = data["systems"][1]
    row["alpha"]["1"]["p_holm"] = p
    assert {column.key: column.text(row) for column in at_alpha(1)}["p_holm@1"] == table
    assert words in significance(data, row, 1)


def test_each_p_has_one_name() -> None:
    a = assessment(0.1)
    text = a.to_text(width=1000)
    assert "p skewness: p-value corrected for skewed losses. p robust: the same with one more query" in text
    assert "p: p robust, corrected for the number of systems (Holm). *: p < 0.05." in text
    for said in (text, a.to_html(), a._repr_html_(), a.to_markdown()):
        assert "Holm's p" not in said
    assert "adjusted p" not in text + a.to_markdown() + a._repr_html_()
