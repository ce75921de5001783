"""Which of two functions is picked, on subsets and over time; and choosing among several."""

from __future__ import annotations

import datetime
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.reading.query_tables import read_dates
from surefoot.errors import ArgumentError, DataError
from surefoot.risk import bootstrap
from surefoot.stability import picks

QUERIES = [f"q{i}" for i in range(8)]


def scores(difference: list[float], measure: str = "nDCG@5") -> sf.Scores:
    base = np.full(len(difference), 0.5)
    return sf.Scores([base + np.array(difference), base], ["f1", "f2"], QUERIES[: len(difference)], measure)


def test_rates_agree_with_all_subsets() -> None:
    difference = [0.4, -0.1, 0.2, -0.3, 0.25, -0.15]
    data = sf.stability.subsets(scores(difference), sizes=[1, 2, 3, 6], subsets=20_000).to_dict()
    picks = data["results"]["nDCG@5"]
    assert picks["winner"] == "f1"
    for size, rate, variance in zip(data["sizes"], picks["rate"], picks["variance"], strict=True):
        every = [sum(chosen) >= -1e-12 for chosen in itertools.combinations(difference, size)]
        assert rate == pytest.approx(np.mean(every), abs=0.015)
        assert variance == pytest.approx(rate * (1 - rate))
    assert picks["rate"][-1] == 1.0


def test_a_tie_counts_for_the_first() -> None:
    tied = sf.stability.subsets([scores([0.0] * 4), scores([0.1, -0.1, 0.1, -0.1], "AP")], sizes=[4]).to_dict()[
        "results"
    ]
    assert tied["nDCG@5"]["winner"] == "f1"
    assert tied["nDCG@5"]["rate"] == [1.0]
    assert tied["AP"]["winner"] == "f1"
    worse = sf.stability.subsets(scores([0.0, 0.0, 0.0, -1.0]), sizes=[1]).to_dict()["results"]["nDCG@5"]
    assert worse["winner"] == "f2"
    assert worse["rate"][0] == pytest.approx(0.25, abs=0.05)


def test_subsets_are_the_same_for_every_measure_and_seed() -> None:
    study = sf.stability.subsets([scores([0.4, -0.1, 0.2, -0.3]), scores([0.8, -0.2, 0.4, -0.6], "AP")], seed=3)
    data = study.to_dict()
    assert data["results"]["nDCG@5"]["rate"] == data["results"]["AP"]["rate"]
    assert json.loads(study.to_json()) == data
    assert "the winner on all queries is f1" in str(study)


def test_one_pick_a_period() -> None:
    dates = {q: f"2026-11-0{1 + i // 4}" for i, q in enumerate(QUERIES)}
    dates["q7"] = "2026-12-24"
    matrix = scores([0.4, 0.4, 0.4, 0.4, -0.1, -0.1, -0.1, 0.0])
    study = sf.stability.time(matrix, dates, size=3, subsets=50)
    data = study.to_dict()
    assert [p["period"] for p in data["periods"]] == ["2026-11-01", "2026-11-02"]
    assert data["left_out"] == [{"period": "2026-12-24", "queries": 1}]
    assert data["results"]["nDCG@5"]["rate"] == [1.0, 0.0]
    assert "2026-12-24 has 1 queries, fewer than a subset" in str(study)
    months = sf.stability.time(matrix, dates, period="month", size=1).to_dict()["periods"]
    assert [p["period"] for p in months] == ["2026-11", "2026-12"]
    weeks = sf.stability.time(matrix, dates, period="week", size=1).to_dict()["periods"]
    assert [p["period"] for p in weeks] == ["2026-10-26", "2026-11-02", "2026-12-21"]
    partly = sf.stability.time(matrix, {"q0": datetime.date(2026, 1, 1)}, size=1)
    assert partly.to_dict()["undated"] == 7
    timed = sf.stability.time(matrix, {"q0": datetime.datetime(2026, 1, 1, 8, 30)}, size=1)
    assert timed.to_dict()["periods"][0]["period"] == "2026-01-01"
    assert "7 queries have no date" in str(partly)


def test_bad_arguments() -> None:
    matrix = scores([0.1, 0.2, 0.3])
    with pytest.raises(ArgumentError, match="a subset of 9 queries is not possible, because there are 3"):
        sf.stability.subsets(matrix, sizes=[2, 9])
    for sizes, message in (
        ([0], "a size of subsets is 0; it must be a whole number of at least 1"),
        ([2.5], "a size of subsets is 2.5; it must be a whole number"),
        ([True], "a size of subsets is True"),
        ([], "no size of subsets was given"),
    ):
        with pytest.raises(ArgumentError, match=message):
            sf.stability.subsets(matrix, sizes=sizes)
    with pytest.raises(ArgumentError, match="subsets is 0"):
        sf.stability.subsets(matrix, subsets=0)
    with pytest.raises(ArgumentError, match="this study compares exactly two systems, but there are 3"):
        sf.stability.subsets(sf.Scores(np.zeros((3, 1)), ["a", "b", "c"], ["q"]))
    with pytest.raises(ArgumentError, match="no system is named 'f9'"):
        sf.stability.subsets(matrix, ("f1", "f9"))
    with pytest.raises(ArgumentError, match="belong to different systems or queries; score all"):
        sf.stability.subsets([matrix, scores([0.1], "AP")])
    with pytest.raises(ArgumentError, match="a measure is given twice"):
        sf.stability.subsets([matrix, matrix])
    with pytest.raises(ArgumentError, match="no day has 50 queries; the largest of the 1 days has 3"):
        sf.stability.time(matrix, dict.fromkeys(QUERIES, "2026-11-15"))
    with pytest.raises(ArgumentError, match="none of the 3 queries has a date"):
        sf.stability.time(matrix, {"other": "2026-11-15"})
    with pytest.raises(ArgumentError, match="the date of query 'q0' is 'soon'"):
        sf.stability.time(matrix, {"q0": "soon"})
    with pytest.raises(ArgumentError, match="period is 'year'"):
        sf.stability.time(matrix, {"q0": "2026-11-15"}, period="year")


def test_dates_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "dates.txt"
    path.write_text("query,date\n301,2026-11-15\n302\t2026-11-16T08:30:00\n\n303 2026-11-17\n")
    assert read_dates(path)["302"] == datetime.date(2026, 11, 16)
    for text, message in [
        ("301 2026-11-15\n302\n", "line 2: no date after '302'"),
        ("301 15.11.2026\n", "line 1: '15.11.2026' is not a date"),
        ("301 2026-11-15\n301 2026-11-16\n", "line 2: query '301' has two dates"),
        ("query date\n", "contains no dates"),
    ]:
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            read_dates(path)
        assert message in str(caught.value)


def test_functions_ranked_with_confidence() -> None:
    made = sf.demo.runs(queries=60, depth=20)
    measures = ["nDCG@5", "rNDCG@5", "SoftNDCG@5"]
    study = sf.stability.measures(sf.score(made.qrels, made.runs[:4], measures), replicates=400)
    data = study.to_dict()
    assert json.loads(study.to_json()) == data
    for measure in measures:
        ranked = data["results"][measure]
        assert [function["mean"] for function in ranked] == sorted(
            (function["mean"] for function in ranked), reverse=True
        )
        assert sum(function["share_best"] for function in ranked) == pytest.approx(1)
        for function in ranked:
            assert function["interval"][0] <= function["mean"] <= function["interval"][1]
    assert str(study)


def test_intervals_against_plain_resampling(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = sf.Scores(rng.random((2, 30)), ["f1", "f2"], range(30))
    data = sf.stability.measures(matrix, replicates=3000).to_dict()
    for function in data["results"]["score"]:
        slow = np.quantile(
            [matrix[function["system"]][rng.integers(0, 30, 30)].mean() for _ in range(3000)], [0.025, 0.975]
        )
        np.testing.assert_allclose(function["interval"], slow, atol=0.04 * np.ptp(slow))
    monkeypatch.setattr(bootstrap, "_CELLS", 3000)  # a hundred replicates at a time
    assert sf.stability.measures(matrix, replicates=3000).to_dict() == data


def test_blocks_of_subsets_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = scores([0.4, -0.1, 0.2, -0.3, 0.25, -0.15])
    first = sf.stability.subsets(matrix, sizes=[2], subsets=1000).to_dict()
    monkeypatch.setattr(picks, "_CELLS", 60)  # ten subsets at a time
    assert sf.stability.subsets(matrix, sizes=[2], subsets=1000).to_dict() == first


def test_where_measures_disagree() -> None:
    ndcg = sf.Scores([[0.9, 0.8, 0.1, 0.5], [0.5, 0.6, 0.6, 0.5]], ["f1", "f2"], list("abcd"), "nDCG@5")
    soft = sf.Scores([[0.5, 0.5, 0.1, 0.4], [0.5, 0.6, 0.5, 0.5]], ["f1", "f2"], list("abcd"), "SoftNDCG@5")
    study = sf.stability.measures([ndcg, soft])
    (pair,) = study.to_dict()["disagreements"]
    assert pair["reversed"]
    assert (pair["better_by_first"], pair["better_by_other"]) == ("f1", "f2")
    assert (pair["queries_reversed"], pair["queries_tied_by_first_only"]) == (1, 1)
    assert [item["query"] for item in pair["queries"]] == ["b"]
    assert "nDCG@5 puts f1 before f2, but SoftNDCG@5 puts f2 before f1" in str(study)
    agreeing = sf.stability.measures([ndcg, sf.Scores(ndcg.values / 2, ["f1", "f2"], list("abcd"), "AP")])
    assert not agreeing.to_dict()["disagreements"][0]["reversed"]
    assert "put all systems in the same order" in str(agreeing)


def test_ties_share_the_first_place_and_one_function_is_none_to_compare() -> None:
    same = sf.Scores(np.full((2, 3), 0.5), ["f1", "f2"], ["a", "b", "c"])
    assert [function["share_best"] for function in sf.stability.measures(same).to_dict()["results"]["score"]] == [
        0.5,
        0.5,
    ]
    with pytest.raises(ArgumentError, match="at least two systems"):
        sf.stability.measures(sf.Scores([[0.5]], ["f1"], ["a"]))


@pytest.mark.parametrize(
    "written",
    ["10000-01-01", "20261115", "2026-W46-7", "2026-11-15junk", "2026-11-15 junk", "٢٠٢٦-11-15", "2026-02-30",
     "0000-01-01", "2026/11/15", "2026-11-15\u00a0", "x" * 1_000_000],
)  # fmt: skip
def test_what_is_no_date(tmp_path: Path, written: str) -> None:
    path = tmp_path / "dates.txt"
    path.write_text(f"301 {written}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1: .* is not a date") as caught:
        read_dates(path)
    assert len(str(caught.value)) < 500


def test_dates_of_ids_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "dates.txt"
    path.write_bytes("\ufeff\nQuery Date\r\na\u2028b 2026-11-15\r\nc\u00a0d,2026-11-16 10:30:00Z\n".encode())
    assert list(read_dates(path)) == ["a\u2028b", "c\u00a0d"]
    path.write_bytes(b"301 2026-11-15\r302 2026-11-15\r")
    with pytest.raises(DataError, match="old Mac"):
        read_dates(path)
