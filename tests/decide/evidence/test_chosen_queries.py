"""How the judged queries were chosen, from what users give for `sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.decide.evidence.sample import read_sample
from surefoot.errors import SurefootError


def test_a_file_is_what_it_holds(tmp_path: Path) -> None:
    assert read_sample(None) is None
    today, new = {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "b"], "q2": ["b", "a"]}
    draws = sf.judge_next({"today": today, "new": new}, baseline="today", n=5, seed=1)
    draws.write(tmp_path / "draws.json")
    read = read_sample(tmp_path / "draws.json")
    assert isinstance(read, sf.Draws)
    assert read.to_dict() == draws.to_dict()
    (tmp_path / "strata.csv").write_text("query,stratum,share\nq1,head,0.75\nq2,head,0.75\nq3,tail,0.25\n")
    strata = read_sample(tmp_path / "strata.csv")
    assert isinstance(strata, sf.Strata)
    assert strata.shares == {"head": 0.75, "tail": 0.25}
    assert strata.stratum_of == {"q1": "head", "q2": "head", "q3": "tail"}
    assert read_sample(strata) is strata


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,stratum\nq1,head\n", "expected three columns"),
        ("query,stratum,share\nq1,head,0.75\nq2,head,0.5\n", "a stratum has one share of traffic"),
        ("query,stratum,share\nq1,head,0.75\nq2,tail,0.5\n", "sum to 1.25"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(SurefootError, match=message):
        read_sample(tmp_path / "s.csv")


@pytest.mark.parametrize("wrong", [3, ["q1"], {"head": 0.5}])
def test_what_is_no_sample_is_refused(wrong: Any) -> None:
    with pytest.raises(SurefootError, match="give Draws, Strata, or a file"):
        read_sample(wrong)


def test_draws_keep_all_traffic_only_where_a_judge_speaks_for_it() -> None:
    runs = {"today": {"q1": ["a", "b"], "q2": ["a", "b"]}, "new": {"q1": ["b", "a"], "q2": ["b", "a"]}}
    judge = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
    traffic = {"q1": 3, "q2": 1}
    drawn = sf.judge_next(runs, baseline="today", n=5, seed=1, traffic=traffic)
    assert "traffic" not in drawn.to_dict()
    with_judge = sf.judge_next(runs, baseline="today", n=5, seed=1, traffic=traffic, automatic=judge)
    assert with_judge.to_dict()["traffic"] == traffic
    without: Any = {key: value for key, value in with_judge.to_dict().items() if key != "traffic"}
    with pytest.raises(SurefootError, match="no counts of all traffic"):
        sf.Draws.from_dict(without)
