"""The model card: YAML that a parser reads, figures as evaluation has them, the queries that lose most."""

from __future__ import annotations

import re

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError

SMALL = {"n_estimators": 8, "num_leaves": 6, "min_data_in_leaf": 5, "num_threads": 1}
TRAIN, TEST = (sf.demo.letor(queries=40, documents=14, features=6, seed=seed) for seed in (4, 5))


def front_matter(card: str) -> list[str]:
    assert card.startswith("---\nlibrary_name: surefoot\n")
    return card.split("---\n")[1].splitlines()


def row(card: str, title: str) -> list[float]:
    (line,) = [line for line in card.splitlines() if line.startswith(f"| {title} |")]
    return [float(number) for number in re.findall(r"-?\d+\.\d+", line.removeprefix(f"| {title} |"))]


def test_figures_are_those_of_evaluation() -> None:
    ranker = sf.Ranker("u_risk", 5, **SMALL).fit(TRAIN)
    card = ranker.card(TEST, name="shop", dataset="May's queries")
    runs = [ranker.to_run(TEST, "model"), TEST.to_run(TEST.baselines["bm25"], "bm25")]
    scores = sf.score(TEST.qrels(), runs, ranker.measure)
    row_of_model = next(row for row in sf.assess(scores, "bm25").to_dict()["systems"] if row["system"] == "model")
    for title, expected in (
        (ranker.measure, row_of_model["mean"]), ("gain over the baseline", row_of_model["gain"]),
        ("risk", row_of_model["risk"]), ("reward", row_of_model["reward"]),
        ("share of queries that lose over 20 %", row_of_model["loss_over_20"] / len(TEST.queries)),
    ):  # fmt: skip
        mean, low, high = row(card, title)
        assert mean == pytest.approx(expected, abs=5e-5)
        assert low <= mean <= high
    difference = scores.values[0] - scores.values[1]
    worst = TEST.queries[int(np.argmin(difference))]
    hurt = card.partition("## Who is hurt")[2]
    assert f"| {worst} |" in hurt.splitlines()[6]
    assert "May's queries" in card
    assert "counts 1 + α = 6 times" in card
    assert ranker.card(TEST, name="shop", dataset="May's queries") == card


def test_front_matter_is_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    ranker = sf.Ranker("u_risk", 5, **SMALL).fit(TRAIN)
    read = yaml.safe_load("\n".join(front_matter(ranker.card(TEST, name='a "shop": #1\n---', dataset="x: y"))))
    assert read["library_name"] == "surefoot"
    assert "risk-sensitive" in read["tags"]
    result = read["model-index"][0]
    assert result["name"].startswith('a "shop": #1')
    assert result["results"][0]["dataset"]["name"] == "x: y"
    assert [metric["type"] for metric in result["results"][0]["metrics"]] == [ranker.measure, "gain", "risk"]


def test_without_data_and_without_baseline() -> None:
    ranker = sf.Ranker(n_models=2, feature_fraction=0.5, **SMALL).fit(TRAIN.with_baselines_only([]))
    card = ranker.card()
    assert "model-index" not in card
    assert "has no figures" in card
    assert "the mean of 2 models with 16 trees of LightGBM in total" in card
    assert "so it may hurt queries that are good today" in card
    with_data = ranker.card(TEST.with_baselines_only([]))
    assert "There is no baseline to compare with" in with_data
    with pytest.raises(ArgumentError, match="has not learned"):
        sf.Ranker().card()
