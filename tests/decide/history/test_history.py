"""Releases over time: every figure as its file has it, series that never mix, dates that are clear or refused."""

from __future__ import annotations

import gzip
import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import surefoot  # noqa: F401
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.decide.history.history import ReleaseHistory
from surefoot.errors import DataError

QUERIES = [f"q{number}" for number in range(40)]
BASELINE = np.random.default_rng(1).random(40).round(3)
HOSTILE = '<img src=x onerror=alert(1)>\x1b[31m"'


def candidate(seed: int, shift: float = 0.02) -> np.ndarray:
    return np.clip(BASELINE + np.random.default_rng(seed).normal(shift, 0.1, 40), 0, 1).round(3)


def scores(seed: int, name: str = "new", measure: str = "nDCG@10", queries: Any = QUERIES) -> sf.Scores:
    size = len(queries)
    return sf.Scores([BASELINE[:size], candidate(seed)[:size]], ["today", name], list(queries), measure)


def decided(folder: Path, file: str, seed: int, **options: Any) -> dict[str, Any]:
    policy = options.pop("policy", {"risk": 0.9})
    decision = sf.gate(scores(seed, **options), candidate=options.get("name", "new"), baseline="today", policy=policy)
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    decision.write(folder / file)
    return decision.to_dict()


def assessed(folder: Path, file: str, seed: int, *, per_query: bool = True, **options: Any) -> dict[str, Any]:
    assessment = sf.assess(scores(seed, **options), baseline="today", alphas=[0, 5])
    assessment.write(folder / file, per_query=per_query)
    return assessment.to_dict()


def test_figures_are_those_of_the_files(tmp_path: Path) -> None:
    first = decided(
        tmp_path, "2026-03-01-gate.json", 1, policy={"risk": 0.9, "gain": -0.5, "u_risk": {"alpha": 5, "above": -0.9}}
    )
    second = assessed(tmp_path, "2026-04-01-eval.json", 2)
    data = sf.history(tmp_path).to_dict()
    check_data(data, "history")
    gate, evaluation = data["releases"]
    observed = {one["name"]: one["observed"] for one in first["conditions"]}
    assert (gate["risk"], gate["gain"], gate["u_risk"]) == (
        observed["risk"],
        observed["gain"],
        {"5": observed["u_risk"]},
    )
    assert (gate["losses"], gate["decision"], gate["date"]) == (first["hurt"], first["decision"], "2026-03-01")
    row = second["systems"][1]
    for name in ("gain", "risk", "losses", "loss_over_20"):
        assert evaluation[name] == row[name]
    assert evaluation["u_risk"] == {alpha: row["alpha"][alpha]["u_risk"] for alpha in ("0", "5")}
    assert evaluation["decision"] is None
    own = sf.assess(scores(1), baseline="today", alphas=[0]).to_dict()["systems"][1]
    assert gate["loss_over_20"] == own["loss_over_20"]
    assert gate["gain"] == pytest.approx(own["gain"])
    assert gate["risk"] == pytest.approx(own["risk"])


def test_draws_and_strata_have_the_figures_of_traffic(tmp_path: Path) -> None:
    today = {query: {"d1": 2.0, "d2": 1.0} for query in QUERIES}
    new = {
        query: {"d1": 1.0, "d2": 2.0} if number % 2 else {"d1": 2.0, "d2": 1.0} for number, query in enumerate(QUERIES)
    }
    qrels = {query: {"d1": number % 3, "d2": (number + 1) % 3} for number, query in enumerate(QUERIES)}
    draws = sf.judge_next(
        {"today": today, "new": new}, baseline="today", measure="nDCG@2", n=30, to_prove="gain", seed=1
    )
    matrix = sf.score(qrels, [sf.read_run(today, "today"), sf.read_run(new, "new")], "nDCG@2")
    policy = {"gain": -0.9}
    drawn = sf.gate(matrix, candidate="new", baseline="today", policy=policy, sample=draws)
    drawn.write(tmp_path / "2026-01-01.json")
    strata = {"kind": {query: "head" if number < 10 else "tail" for number, query in enumerate(QUERIES)}}
    shares, policy = {"head": 0.75, "tail": 0.25}, {"risk": 0.9, "gain": -0.9}
    weighed = sf.gate(matrix, candidate="new", baseline="today", policy=policy, sample=sf.Strata(strata, shares))
    weighed.write(tmp_path / "2026-01-02.json")
    plain = sf.gate(matrix, candidate="new", baseline="today", policy=policy)
    plain.write(tmp_path / "2026-01-03.json")
    data = sf.history(tmp_path).to_dict()
    for release, decision in zip(data["releases"], (drawn, weighed, plain), strict=True):
        observed = {one["name"]: one["observed"] for one in decision.conditions}
        assert {name: release[name] for name in observed} == observed
    # Draws by what could be lost stand for all queries, each once; strata count by their shares of traffic.
    assert sorted((series["by_traffic"], len(series["releases"])) for series in data["series"]) == [
        (False, 2),
        (True, 1),
    ]
    risky = sf.judge_next({"today": today, "new": new}, baseline="today", measure="nDCG@2", n=30, seed=1)
    for number in (4, 5):  # drawn for risk: nothing is known of gain
        decision = sf.gate(matrix, candidate="new", baseline="today", policy={"risk": 0.1 * number}, sample=risky)
        decision.write(tmp_path / f"2026-01-0{number}.json")
    history = sf.history(tmp_path)
    (*_, last) = history.to_dict()["releases"]
    assert (last["gain"], last["risk"]) == (None, decision.conditions[0]["observed"])
    check_data(history.to_dict(), "history")
    assert "–" in str(history)
    assert history.to_html()
    assert history.to_csv()


def test_what_differs_is_a_series_of_its_own(tmp_path: Path) -> None:
    decided(tmp_path, "2026-01-01.json", 1, name="v1")
    decided(tmp_path, "2026-02-01.json", 2, name="v2")
    decided(tmp_path, "2026-03-01.json", 3, measure="AP")
    assessed(tmp_path, "2026-01-01-eval.json", 1)
    matrix = sf.Scores([BASELINE, candidate(1), candidate(2)], ["today", "a", "b"], QUERIES, "AP")
    for day in ("2026-04-01", "2026-05-01"):
        sf.assess(matrix, baseline="today", alphas=[0]).write(tmp_path / f"{day}.json")
        sf.assess(matrix, baseline="mean", alphas=[0]).write(tmp_path / f"{day}-mean.json")
        matrix = sf.Scores([BASELINE, candidate(3), candidate(4)], ["today", "a", "b"], QUERIES, "AP")
    data = sf.history(tmp_path).to_dict()
    keys = [
        (one["kind"], one["measure"], one["baseline"], one["system"], len(one["releases"])) for one in data["series"]
    ]
    mean = "the per-query mean of 3 systems"
    assert keys == [
        ("decision", "nDCG@10", "today", None, 2), ("decision", "AP", "today", None, 1),
        ("assessment", "nDCG@10", "today", None, 1),
        *(("assessment", "AP", mean, system, 2) for system in ("today", "a", "b")),
        *(("assessment", "AP", "today", system, 2) for system in ("a", "b")),
    ]  # fmt: skip
    for number, series in enumerate(data["series"]):
        assert [data["releases"][place]["series"] for place in series["releases"]] == [number] * len(series["releases"])
    assert sorted(place for series in data["series"] for place in series["releases"]) == list(
        range(len(data["releases"]))
    )


def test_queries_that_are_hurt_repeatedly_by_a_slow_count(tmp_path: Path) -> None:
    seeds, decisions = [1, 2, 3, 4], []
    for number, seed in enumerate(seeds):
        decisions.append(
            decided(tmp_path, f"2026-0{number + 1}-01-gate.json", seed, queries=QUERIES[: 40 - 5 * number])
        )
    assessed(tmp_path, "2026-01-01-eval.json", 1)  # the same as the first decision
    data = sf.history(tmp_path).to_dict()
    assert data["comparisons"] == 4
    expected = {}
    for place, query in enumerate(QUERIES):
        held = [seed for number, seed in enumerate(seeds) if place < 40 - 5 * number]
        lost = [seed for seed in held if candidate(seed)[place] < BASELINE[place]]
        shipped = [seed for seed in lost if decisions[seed - 1]["decision"] == "ship"]
        if len(lost) > 1:
            expected[query] = (len(held), len(lost), len(shipped), f"2026-0{max(lost)}-01")
    found = {
        one["query"]: (one["compared"], one["hurt"], one["hurt_shipped"], one["last_hurt"])
        for one in data["hurt_repeatedly"]
    }
    assert found == expected
    counts = [one["hurt"] for one in data["hurt_repeatedly"]]
    assert counts == sorted(counts, reverse=True)
    worst = data["hurt_repeatedly"][0]
    place = QUERIES.index(worst["query"])
    differences = [
        candidate(seed)[place] - BASELINE[place] for number, seed in enumerate(seeds) if place < 40 - 5 * number
    ]
    assert worst["mean_difference"] == pytest.approx(np.mean(differences))
    assert worst["worst_difference"] == pytest.approx(min(differences))
    assert [series["same_queries"] for series in data["series"]] == [False, True]


def test_looks_at_one_question_count_once(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    for number, part in enumerate((QUERIES[:20], QUERIES)):
        places = [QUERIES.index(query) for query in part]
        matrix = sf.Scores([BASELINE[places], candidate(1)[places]], ["today", "new"], part, "nDCG@10")
        decision = sf.gate(matrix, candidate="new", baseline="today", policy={"risk": 0.01}, record=record)
        decision.write(tmp_path / f"2026-01-0{number + 1}.json")
    data = sf.history(tmp_path).to_dict()
    assert (len(data["releases"]), data["comparisons"], data["hurt_repeatedly"]) == (2, 1, [])
    assert [one["file"] for one in data["left_out"]] == ["record.json"]


# Dates


def test_dates_from_names_and_folders(tmp_path: Path) -> None:
    decided(tmp_path, "b/2026-11-15T0930/gate.json", 1)
    decided(tmp_path, "a/gate-2026-11-15.json", 2)
    decided(tmp_path, "2020-01-01/gate_2026-11-16_2359.json", 3)
    data = sf.history(tmp_path).to_dict()
    assert data["date_from"] == "name"
    assert [one["date"] for one in data["releases"]] == ["2026-11-15", "2026-11-15T09:30", "2026-11-16T23:59"]


def test_dates_of_change_are_told(tmp_path: Path) -> None:
    for number, name in enumerate(("gate-1.json", "gate-2.json")):
        decided(tmp_path, name, number)
        os.utime(tmp_path / name, (0, 86400 * (20_000 - number)))
    history = sf.history(tmp_path)
    data = history.to_dict()
    assert (data["date_from"], data["releases"][0]["date"]) == ("modified", "2024-10-03T00:00Z")
    assert data["releases"][0]["file"] == "gate-2.json"
    assert "the times at which the files were last changed" in str(history)
    assert "the times at which the files were last changed" in history.to_html()


@pytest.mark.parametrize(
    ("names", "date_from", "words"),
    [
        (["2026-11-15.json", "gate.json"], "auto", r"1 of 2 files have no date in their name \(gate.json\)"),
        (["a.json", "gate.json"], "name", r"2 of 2 files have no date"),
        (["2026-13-15.json"], "name", "1 of 1 files have no date"),
        (["2026-11-15-to-2026-11-16.json"], "auto", "has two dates, 2026-11-15 and 2026-11-16"),
        (["2026-11-15.json"], "nmae", "choose auto, name, modified; did you mean name"),
    ],
)
def test_dates_that_are_not_clear_are_refused(tmp_path: Path, names: list[str], date_from: str, words: str) -> None:
    for number, name in enumerate(names):
        decided(tmp_path, name, number)
    with pytest.raises(sf.SurefootError, match=words):
        sf.history(tmp_path, date_from)
    if date_from == "auto":
        assert len(sf.history(tmp_path, "modified").to_dict()["releases"]) == len(names)


# Other files


def test_files_that_are_neither_are_told_and_copies_count_once(tmp_path: Path) -> None:
    decided(tmp_path, "2026-01-01.json", 1)
    assessed(tmp_path, "2026-01-02.json", 1, per_query=False)
    (tmp_path / "z-latest.json").write_bytes((tmp_path / "2026-01-01.json").read_bytes())
    (tmp_path / "2026-01-03.json.gz").write_bytes(gzip.compress((tmp_path / "2026-01-02.json").read_bytes()))
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "other.json").write_text('{"schema": "surefoot/sweep/1"}')
    (tmp_path / "notes.txt").write_text("not JSON, and not looked at")
    (tmp_path / ".hidden.json").write_text("{")
    history = sf.history(tmp_path)
    data = history.to_dict()
    assert [(one["file"], one["reason"]) for one in data["left_out"]] == [
        ("2026-01-03.json.gz", "holds the same as 2026-01-02.json"),
        ("list.json", "is neither a decision nor an assessment"),
        ("other.json", "is neither a decision nor an assessment, but 'surefoot/sweep/1'"),
        ("z-latest.json", "holds the same as 2026-01-01.json"),
    ]
    assert data["without_queries"] == 1
    assert "Left out: 2026-01-03.json.gz holds the same" in history.to_text(400)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: "{", "is not JSON"),
        (lambda data: data.pop("per_query"), "damaged or incomplete"),
        (lambda data: data.update(queries="many"), "queries is 'many'; expected a whole number"),
        (lambda data: data["per_query"]["baseline"].pop(), "columns have different lengths"),
        (lambda data: data["per_query"].update(candidate=[2.0] * 40), "a score is below 0 or above 1"),
        (lambda data: data.update(decision="perhaps"), "decision is 'perhaps'"),
    ],
)
def test_damaged_decisions_are_refused_by_name(tmp_path: Path, change: Any, words: str) -> None:
    data = decided(tmp_path, "2026-01-01.json", 1)
    text = change(data)
    (tmp_path / "2026-01-02.json").write_text(text if isinstance(text, str) else json.dumps(data))
    with pytest.raises(DataError, match=words) as caught:
        sf.history(tmp_path)
    assert "2026-01-02.json" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [lambda data: data["systems"][1].pop("gain"), lambda data: data.update(systems=7),
     lambda data: data["per_query"]["systems"].pop("new"), lambda data: data["per_query"]["baseline"].pop(),
     lambda data: data["systems"][1].update(gain=None)],
)  # fmt: skip
def test_damaged_assessments_are_refused_by_name(tmp_path: Path, change: Any) -> None:
    assessed(tmp_path, "2026-01-01.json", 1)
    data = json.loads((tmp_path / "2026-01-01.json").read_text())
    change(data)
    (tmp_path / "2026-01-01.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match=r"2026-01-01\.json"):
        sf.history(tmp_path)


def test_folders_without_releases(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no decision and no assessment"):
        sf.history(tmp_path)
    with pytest.raises(DataError, match="is not a folder"):
        sf.history(tmp_path / "none")


# Renderings


def test_renderings(tmp_path: Path) -> None:
    decided(tmp_path, "2026-01-01.json", 1, name=HOSTILE, policy={"risk": 0.9})
    decided(tmp_path, "2026-02-01.json", 2, name="=v2", policy={"risk": 0.001})
    history = sf.history(tmp_path)
    assert repr(history).startswith("<ReleaseHistory: 2 decisions from 2026-01-01 to 2026-02-01: ")
    for text in (str(history), history.to_csv(), history.to_markdown(), history.to_html(), history._repr_html_()):
        assert "\x1b" not in text
    assert "<img" not in history.to_html()
    assert "'=v2" in history.to_csv()
    assert history.to_csv().count("\n") == 3
    assert "http://" not in history.to_html().replace("http://www.w3.org", "")
    again = ReleaseHistory.from_dict(json.loads(history.to_json()))
    assert again.to_html() == history.to_html()


def test_the_command(tmp_path: Path, surefoot, monkeypatch) -> None:  # noqa: F811
    monkeypatch.chdir(tmp_path)
    decided(tmp_path, "past/2026-01-01.json", 1)
    decided(tmp_path, "past/2026-02-01.json", 2)
    code, out, err = surefoot("history", "past", "--html", "h.html", "--json", "past/h.json", "--csv", "h.csv")
    assert (code, err) == (0, "")
    assert "2 decisions from 2026-01-01 to 2026-02-01" in out
    assert "surefoot history past --html h.html" in Path("h.html").read_text()
    assert json.loads(Path("past/h.json").read_text())["schema"] == "surefoot/history/1"
    code, out, _ = surefoot("history", "past", "--json", "-", "-q")
    assert [one["file"] for one in json.loads(out)["left_out"]] == ["h.json"]
    before = Path("past/2026-01-01.json").read_bytes()
    code, _, err = surefoot("history", "past", "--json", "past/2026-01-01.json")
    assert code == 2
    assert "would overwrite the input file" in err
    assert Path("past/2026-01-01.json").read_bytes() == before
    for option, name in product(("--html", "--json", "--csv"), ("2026-01-01.json", "2026-02-01.json")):
        code, _, err = surefoot("history", "past", option, f"past/{name}", "--force")
        assert code == 2
        assert f"would overwrite the input file past/{name}" in err
    for _ in range(2):  # but an earlier history may be replaced, wherever it is
        written = surefoot(
            "history", "past", "--json", "past/h.json", "--csv", "past/h.csv", "--html", "past/h.html", "-q"
        )
        assert written == (0, "", "")
    assert Path("past/2026-01-01.json").read_bytes() == before
    code, out, err = surefoot("history", "none")
    assert (code, out) == (2, "")
    assert err == "surefoot: none: is not a folder; give the folder that holds decisions and assessments as JSON\n"
