"""Looks that continue: every row of the table of cases, by the same calls that users make."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.schemas import check_data
from tests.risk.test_batches import slow_capitals

import surefoot as sf
from surefoot.decide.evidence.judge_next import sample_next
from surefoot.decide.evidence.judged_queries import betting_order
from surefoot.decide.evidence.record import level_of, read_record
from surefoot.decide.evidence.sample import Evidence
from surefoot.decide.gate.gate import look_ahead
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import ArgumentError, DataError

POLICY = {"risk": 0.03, "gain": 0.0}
LISTS = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]]


pytestmark = pytest.mark.usefixtures("few")


class World:
    """Three runs on given traffic, and judgments of it."""

    def __init__(self, queries: int = 200, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.queries = [f"q{n:03}" for n in range(queries)]
        self.grades = {
            query: dict(zip("abc", map(int, rng.choice(3, 3, p=[0.4, 0.4, 0.2])), strict=True))
            for query in self.queries
        }
        self.runs: dict[str, Any] = {"today": dict.fromkeys(self.queries, LISTS[0])}
        for name, share in (("new", 0.3), ("other", 0.4)):
            changed = rng.choice(3, queries, p=[1 - share, share / 2, share / 2])
            self.runs[name] = {query: LISTS[k] for query, k in zip(self.queries, changed, strict=True)}

    def judged(self, queries: list[str], new: Any = "new", name: str = "new", measure: str = "nDCG@3") -> sf.Scores:
        lists = self.runs[new] if isinstance(new, str) else new
        runs = [sf.read_run(self.runs["today"], "today"), sf.read_run(lists, name)]
        return sf.score({query: self.grades[query] for query in queries}, runs, measure)


WORLD = World()
Q = WORLD.queries


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


def look(scores: sf.Scores, record: Path | None, policy: Any = None, **options: Any) -> dict[str, Any]:
    data = sf.gate(scores, baseline="today", policy=policy or POLICY, record=record, **options).to_dict()
    check_data(data, "decision")
    return data


def test_the_bets_go_on_batch_after_batch(record: Path) -> None:
    for end in (60, 100, 160):
        data = look(WORLD.judged(Q[:end]), record)
    use = data["record"]
    assert (use["question"], use["number"], data["delta"]) == (1, 1, pytest.approx(0.04))
    assert [one["queries"] for one in use["looks"]] == [sum(data["batches"][: at + 1]) for at in range(3)]
    held, sizes = data["per_query"], data["batches"]
    differences = np.array(held["candidate"]) - held["baseline"]
    parts = np.split(differences, np.cumsum(sizes)[:-1])
    for at, (start, end) in enumerate(((0, 60), (60, 100), (100, 160))):
        own = [query for query in held["query"] if query in Q[start:end]]
        assert own == [own_order[place] for own_order in [sorted(own)] for place in betting_order(sorted(own))]
        assert len(own) == sizes[at]
    risk, gain = data["conditions"]
    losses = [np.maximum(-part, 0).tolist() for part in parts]
    capitals, _ = slow_capitals(losses, 0.03, 0.04)
    assert risk["p_holds"] == pytest.approx(min(1, 1 / max(capitals)), rel=1e-9)
    capitals, _ = slow_capitals([((1 + part) / 2).tolist() for part in parts], 0.5, 0.02)
    assert gain["p_fails"] == pytest.approx(min(1, 1 / max(capitals)), rel=1e-9)


def test_the_same_files_again_are_no_look_and_the_same_bytes(record: Path) -> None:
    first = sf.gate(WORLD.judged(Q[:60]), baseline="today", policy=POLICY, record=record)
    before = record.read_bytes()
    again = sf.gate(WORLD.judged(Q[:60]), baseline="today", policy=POLICY, record=record)
    assert again.to_json() == first.to_json()
    assert again.to_markdown() == first.to_markdown()
    assert record.read_bytes() == before


def test_other_questions_get_less_and_are_told(record: Path) -> None:
    settings: list[dict[str, Any]] = [
        {}, {"policy": {"risk": 0.02}}, {"policy": POLICY | {"delta": 0.1}}, {"unanswered": "count"},
        {"sampled_from": 300}, {"budget": 100, "policy": {"gain": 0.01}},
    ]  # fmt: skip
    for number, options in enumerate(settings, start=1):
        data = look(WORLD.judged(Q[:60]), record, **options)
        assert (data["record"]["question"], data["record"]["number"]) == (number, number)
        assert data["delta"] == pytest.approx(level_of(number, data["record"]["delta_requested"]))
        text = " ".join(sf.Decision(data).to_text().split())
        assert f"look 1 (after {data['queries']} judged queries) at question {number} of the record" in text
    assert look(WORLD.judged(Q[:60], measure="P@1"), record)["record"]["number"] == len(settings) + 1
    assert look(WORLD.judged(Q[:60]), record)["record"]["number"] == 1  # and the first is still the first


def test_another_candidate_on_the_same_queries_is_the_next_question(record: Path) -> None:
    look(WORLD.judged(Q[:60]), record)
    other = look(WORLD.judged(Q[:60], "other", "other"), record)
    assert (other["record"]["question"], other["record"]["number"]) == (2, 2)
    apart = look(WORLD.judged(Q[100:160], "other", "third"), record, {"risk": 0.02})
    assert apart["record"]["number"] == 3  # other queries, but the candidate of the second question


def test_a_new_name_alone_is_no_new_question(record: Path) -> None:
    look(WORLD.judged(Q[:60]), record)
    data = look(WORLD.judged(Q[:100], "new", "renamed"), record)
    assert (data["record"]["question"], len(data["record"]["looks"]), data["candidate"]) == (1, 2, "renamed")


def test_other_lists_under_the_same_name_are_refused(record: Path) -> None:
    look(WORLD.judged(Q[:60]), record)
    before = record.read_bytes()
    changed = WORLD.runs["new"] | {Q[7]: LISTS[2]}
    with pytest.raises(DataError, match=r"under another name, with new-2=FILE"):
        look(WORLD.judged(Q[:100], changed), record)
    assert record.read_bytes() == before
    assert look(WORLD.judged(Q[:100], changed, "new-2"), record)["record"]["question"] == 2
    later = WORLD.runs["new"] | {Q[90]: LISTS[2]}  # of a query that no look has seen
    assert look(WORLD.judged(Q[:100], later), record)["record"]["question"] == 1


def test_earlier_queries_that_are_missing_are_refused_by_name(record: Path) -> None:
    look(WORLD.judged(Q[:60]), record)
    with pytest.raises(DataError, match=r"2 queries of earlier looks have no judgments here \('q003', 'q009'\)"):
        look(WORLD.judged([query for query in Q[:90] if query not in ("q003", "q009")]), record)


def test_a_batch_of_which_nothing_counts_waits_for_more(record: Path) -> None:
    world = World()
    for query in Q[60:80]:
        world.grades[query] = dict.fromkeys("abc", 0)
    look(world.judged(Q[:60]), record)
    before = record.read_bytes()
    with pytest.raises(DataError, match="none of the 20 queries judged since can lose anything"):
        look(world.judged(Q[:80]), record)
    assert record.read_bytes() == before
    assert look(world.judged(Q[:100]), record)["batches"][1] <= 20


def test_judgments_that_changed_are_told_and_never_used(record: Path) -> None:
    first = look(WORLD.judged(Q[:60]), record)
    turned = World()
    for query in Q[:60:20]:
        turned.grades[query] = {"a": 0, "b": 2, "c": 2}
    data = look(turned.judged(Q[:60]), record)
    assert data["record"]["changed"]["queries"] >= 2
    assert data["conditions"] == first["conditions"]
    assert "have other scores now than at an earlier look" in " ".join(sf.Decision(data).to_text().split())
    on = look(turned.judged(Q[:100]), record)
    assert on["per_query"]["baseline"][: first["queries"]] == first["per_query"]["baseline"]


def test_score_matrices_go_by_their_names_or_scores(record: Path) -> None:
    def matrix(end: int, name: str = "new", shift: float = 0.0) -> sf.Scores:
        new = np.linspace(0.3, 0.7, end)
        new[0] += shift
        return sf.Scores([np.full(end, 0.5), new], ["today", name], Q[:end], "AP")

    look(matrix(60), record)
    assert look(matrix(60, shift=1e-12), record)["record"]["changed"]["queries"] == 0
    assert look(matrix(60, shift=0.1), record)["record"]["changed"] == {"queries": 1, "first": ["q000"]}
    assert look(matrix(60, "renamed"), record)["record"]["question"] == 1
    assert look(matrix(60, "renamed", 0.1), record)["record"]["question"] == 2


# Draws.


def draw(record: Path, **given: Any) -> sf.Draws:
    options = {"baseline": "today", "candidate": "new", "measure": "nDCG@3", "record": record}
    return sf.judge_next(WORLD.runs, **options | given)


def test_draws_of_the_record_are_all_used_in_order(record: Path) -> None:
    sequences = []
    for seed in (1, 2, 3):
        draws = draw(record, n=20, seed=seed)
        sequences.append(draws.to_dict()["sequence"])
    data = look(WORLD.judged(Q), record, {"risk": 0.03})
    assert data["per_query"]["query"] == [query for sequence in sequences for query in sequence]
    assert (data["batches"], len(data["record"]["looks"])) == ([20, 20, 20], 1)
    draws = draw(record, n=20)
    again = look(WORLD.judged(Q, "new", "renamed"), record, {"risk": 0.03})
    assert (again["batches"], len(again["record"]["looks"])) == ([20, 20, 20, 20], 2)
    assert again["per_query"]["query"][60:] == draws.to_dict()["sequence"]


def test_a_batch_with_an_unjudged_query_waits(record: Path) -> None:
    first = draw(record, n=20, seed=1)
    with pytest.raises(DataError, match="of the queries to judge have no judgments"):
        look(WORLD.judged([*first.queries[1:], "q000"]), record, {"risk": 0.03})
    assert read_record(record).questions == []
    second = draw(record, n=20, seed=2)
    new = [query for query in second.queries if query not in first.queries]
    data = look(WORLD.judged([*first.queries, *new[2:]]), record, {"risk": 0.03})
    assert data["batches"] == [20]
    assert data["record"]["waiting"] == {"queries": 2, "first": new[:2]}
    assert "2 queries are to be judged before the next batch counts" in " ".join(sf.Decision(data).to_text().split())
    assert look(WORLD.judged([*first.queries, *new]), record, {"risk": 0.03})["batches"] == [20, 20]


def test_draws_for_others_never_pass_as_a_plain_sample(record: Path) -> None:
    draws = draw(record, n=60, seed=1)
    with pytest.raises(DataError, match=r"were drawn for other rankings \('new'\).* judge next --record"):
        look(WORLD.judged([*draws.queries], "other", "other"), record, {"risk": 0.03})
    with pytest.raises(ArgumentError, match="a record holds the draws itself"):
        look(WORLD.judged([*draws.queries]), record, {"risk": 0.03}, sample=draws)
    with pytest.raises(DataError, match=r"the draws are for nDCG@3, but the measure is P@1"):
        look(WORLD.judged([*draws.queries], measure="P@1"), record, {"risk": 0.03})
    with pytest.raises(ArgumentError, match="drawn for risk; conditions on gain"):
        look(WORLD.judged([*draws.queries]), record)


def test_draws_for_gain_are_another_question_than_those_for_risk(record: Path) -> None:
    found = []
    for to_prove, policy in (("risk", {"risk": 0.03}), ("gain", POLICY), ("risk", {"risk": 0.03})):
        draw(record, n=20, to_prove=to_prove)
        data = look(WORLD.judged(Q), record, policy)
        found.append((data["record"]["number"], data["batches"]))
    assert found == [(1, [20]), (2, [20]), (1, [20, 20])]


def test_a_query_that_is_drawn_again_keeps_its_first_scores(record: Path) -> None:
    turned = World()
    first = draw(record, n=60, seed=1)
    before = look(WORLD.judged(Q), record, {"risk": 0.03})
    second = draw(record, n=60, seed=2)
    for query in set(first.queries) & set(second.queries):
        turned.grades[query] = {"a": 0, "b": 2, "c": 2}
    after = look(turned.judged(Q), record, {"risk": 0.03})
    seen = dict(zip(before["per_query"]["query"], before["per_query"]["baseline"], strict=True))
    again = [
        (score, seen[query])
        for query, score in zip(after["per_query"]["query"], after["per_query"]["baseline"], strict=True)
        if query in seen
    ]
    assert len(again) > 60
    assert all(now == then for now, then in again)


def test_drawn_queries_are_no_plain_sample_beside_a_uniform_one(record: Path) -> None:
    runs = WORLD.runs
    sampled = sample_next(runs["new"], runs["today"], 20, record)["queries"]
    drawn = draw(record, n=60, seed=1, candidate="other").queries
    given = {"sample": sf.Strata(kinds(), {"head": 0.8, "tail": 0.2})}
    with pytest.raises(DataError, match="were drawn for other rankings"):
        look(WORLD.judged(sorted({*sampled, *drawn})), record, {"risk": 0.3}, **given)


# Uniform samples, and a known traffic.


def test_a_uniform_sample_knows_its_traffic(record: Path) -> None:
    runs = WORLD.runs
    parts = [
        sample_next(runs["new"], runs["today"], n, record, seed=4 if n == 60 else None)["queries"] for n in (60, 30)
    ]
    data = look(WORLD.judged(Q[:0] + parts[0]), record)
    assert (data["sampled_from"], data["batches"]) == (200, [60])
    assert data["record"]["waiting"]["queries"] == 30
    data = look(WORLD.judged(parts[0] + parts[1] + [query for query in Q if query not in parts[0]][:3]), record)
    assert data["batches"] == [60, 30]  # others do not count
    x = [np.maximum(-(np.array(data["per_query"]["candidate"]) - data["per_query"]["baseline"]), 0)]
    capitals, _ = slow_capitals(np.split(x[0], [60]), 0.03, 0.04, known=200)
    assert data["conditions"][0]["p_holds"] == pytest.approx(min(1, 1 / max(capitals)), rel=1e-7)
    assert data["unanswered"]["treatment"] == "count"
    with pytest.raises(ArgumentError, match="the record's sample is from 200 queries"):
        look(WORLD.judged(parts[0]), record, sampled_from=300)
    with pytest.raises(ArgumentError, match="a budget cannot be combined"):
        look(WORLD.judged(parts[0]), record, budget=300)


def test_another_number_than_the_runs_answer_is_told() -> None:
    other, same = (
        " ".join(sf.Decision(look(WORLD.judged(Q[:60]), None, sampled_from=n)).to_text().split()) for n in (300, 200)
    )
    assert "The runs answer 200 queries: is 300 the right number?" in other
    assert "sample of 200 queries, and the decision is about exactly these" in same
    assert "right number" not in same


def test_a_known_traffic_is_proposed_where_it_helps() -> None:
    proposed = "--sampled-from 200 proves more with the same judgments"
    assert proposed in " ".join(sf.Decision(look(WORLD.judged(Q[:60]), None)).to_text().split())
    assert proposed not in " ".join(sf.Decision(look(WORLD.judged(Q[:20]), None)).to_text().split())


def test_all_of_a_known_traffic_is_decided(record: Path) -> None:
    data = look(WORLD.judged(Q), record, {"risk": 0.9, "share_hurt": 0.9}, sampled_from=200)
    assert data["decision"] == "ship"
    scores = WORLD.judged(Q)
    risk = float(np.maximum(scores["today"] - scores["new"], 0).mean())
    for level, decision in ((risk * 1.001, "ship"), (risk * 0.999, "stop")):
        assert look(scores, None, {"risk": level}, sampled_from=200)["decision"] == decision


# Segments.


def kinds(tail: int = 40) -> dict[str, str]:
    return {query: "head" if number < 200 - tail else "tail" for number, query in enumerate(Q)}


def test_a_segment_without_judged_queries_is_open(record: Path) -> None:
    policy = {"risk": 0.9, "segments": {"*": {"risk": 0.9}}}
    data = look(WORLD.judged(Q[:100]), record, policy, segments=kinds())
    assert [(one["segment"], one["queries"], one["status"]) for one in data["conditions"]] == [
        (None, data["conditions"][0]["queries"], "holds"), ("head", data["conditions"][1]["queries"], "holds"),
        ("tail", 0, "open"),
    ]  # fmt: skip
    assert (data["decision"], data["conditions"][2]["observed"]) == ("undecided", None)
    assert data["conditions"][2]["least_queries"] >= 1
    text = " ".join(sf.Decision(data).to_text().split())
    assert "risk ≤ 0.9 in tail is open: no query of this segment is judged. You need at least" in text
    for rendered in (sf.Decision(data).to_markdown(), sf.Decision(data).to_html(), sf.Decision(data).to_junit()):
        assert "no query of this segment is judged" in rendered or "tail" in rendered
    assert look(WORLD.judged(Q), record, policy, segments=kinds())["decision"] == "ship"
    named = look(WORLD.judged(Q[:100]), None, {"segments": {"tail": {"risk": 0.9}}}, segments=kinds())
    assert named["decision"] == "undecided"


def test_a_query_without_a_segment_is_not_passed_over() -> None:
    some = dict([*kinds().items()][:90])
    with pytest.raises(DataError, match=r"10 judged queries have no segment \('q090', 'q091', 'q092' and 7 more\)"):
        look(WORLD.judged(Q[:100]), None, {"segments": {"*": {"risk": 0.9}}}, segments=some)
    assert look(WORLD.judged(Q[:100]), None, {"segments": {"head": {"risk": 0.9}}}, segments=some)
    other = dict.fromkeys(Q, "en")  # in another column each has one
    columns = {"kind": some, "language": other}
    assert look(WORLD.judged(Q[:100]), None, {"segments": {"*": {"risk": 0.9}}}, segments=columns)


def test_segments_are_fixed_at_the_first_look(record: Path) -> None:
    policy = {"segments": {"*": {"risk": 0.3}}}
    look(WORLD.judged(Q[:100]), record, policy, segments=kinds())
    with pytest.raises(DataError, match="the segments are not those of the first look"):
        look(WORLD.judged(Q[:120]), record, policy, segments=kinds() | {Q[199]: "later"})
    with pytest.raises(DataError, match=r"1 queries, such as 'q003', moved into or out of segment 'head'"):
        look(WORLD.judged(Q[:120]), record, policy, segments=kinds() | {"q003": "tail"})
    look(WORLD.judged(Q[:120]), record, policy, segments=kinds())


def test_small_segments_are_judged_as_other(record: Path) -> None:
    few = kinds() | {query: f"rare{number}" for number, query in enumerate(Q[190:])}
    policy = {"other_below": 5, "segments": {"*": {"risk": 0.3}}}
    data = look(WORLD.judged(Q), record, policy, segments=few)
    assert [one["segment"] for one in data["conditions"]] == ["head", "other", "tail"] or {
        one["segment"] for one in data["conditions"]
    } == {"head", "other", "tail"}
    assert next(one for one in data["conditions"] if one["segment"] == "other")["queries"] <= 10
    with pytest.raises(ArgumentError, match="has a segment 'other' already"):
        look(WORLD.judged(Q), None, policy, segments=few | {Q[0]: "other"})


def test_open_segments_say_how_many_queries_they_need(record: Path) -> None:
    policy = {"segments": {"*": {"risk": 0.12}}}
    data = look(WORLD.judged(Q[:190]), record, policy, segments=kinds())
    open_ = [one for one in data["conditions"] if one["status"] == "open"]
    assert open_
    assert any(one["queries_needed"] for one in open_)
    assert all(one["queries_needed"] is None for one in data["conditions"] if one["status"] != "open")


def test_a_known_traffic_needs_the_segment_of_every_query(record: Path) -> None:
    policy = {"segments": {"*": {"risk": 0.3}}}
    data = look(WORLD.judged(Q[:150]), record, policy, segments=kinds(), sampled_from=200)
    assert data["sampled_from"] == 200
    some = dict([*kinds().items()][:150])
    with pytest.raises(DataError, match="the file of segments has 150 queries, but the sample is from 200"):
        look(WORLD.judged(Q[:150]), None, policy, segments=some, sampled_from=200)


# Budgets and strata.


def test_a_budget_is_fixed_at_the_first_look(record: Path) -> None:
    data = look(WORLD.judged(Q[:40]), record, budget=150)
    assert {one["method"] for one in data["conditions"]} == {"anytime"}
    again = look(WORLD.judged(Q[:80]), record)  # it is remembered
    assert ({one["method"] for one in again["conditions"]}, again["record"]["budget"]) == ({"anytime"}, 150)
    with pytest.raises(ArgumentError, match="the record has 150, so leave --budget out"):
        look(WORLD.judged(Q[:80]), record, budget=200)
    look(WORLD.judged(Q[:40]), record, {"risk": 0.02})
    with pytest.raises(ArgumentError, match="the record has none"):
        look(WORLD.judged(Q[:80]), record, {"risk": 0.02}, budget=200)


def test_strata_have_one_look(record: Path) -> None:
    given = {"sample": sf.Strata(kinds(), {"head": 0.5, "tail": 0.5})}
    first = look(WORLD.judged(Q[:180]), record, {"risk": 0.3}, **given)
    again = look(WORLD.judged(Q[:180]), record, {"risk": 0.3}, **given)
    assert (first["record"], first["sample"]) == (again["record"], again["sample"])
    more = look(WORLD.judged(Q[:190]), record, {"risk": 0.3}, **given)  # with other weights: the next question
    assert (more["record"]["number"], len(more["record"]["looks"])) == (2, 1)


# Paths, files, programs.


def test_what_was_proved_both_ways_is_open() -> None:
    """The bets pass up and down: first no loss at all, then nothing but losses."""
    n = 400
    new = np.where(np.arange(n) < 200, 1.0, 0.0)
    queries = [f"q{i}" for i in range(n)]
    path = [sf.Scores([np.ones(end), new[:end]], ["today", "new"], queries[:end], "AP") for end in (200, 400)]
    from surefoot.decide.evidence.record import Record
    from surefoot.decide.gate.asked import ask
    from surefoot.decide.gate.looks import look_again

    kept = Record()
    first, second = (
        look_again(ask(one, None, "today", ReleasePolicy.read({"risk": 0.05}), kept, Evidence.read()), kept)
        for one in path
    )
    assert first.decision == "ship"
    assert second.decision == "undecided"
    assert second.conditions[0]["status"] == "open"
    assert max(second.conditions[0]["p_holds"], second.conditions[0]["p_fails"]) <= 0.04


PROGRAM = """
import sys, numpy as np, surefoot as sf
n = int(sys.argv[2])
rng = np.random.default_rng(n)
scores = sf.Scores(rng.random((2, 40)), ["today", f"new{n}"], [f"q{i}" for i in range(40)])
print(sf.gate(scores, baseline="today", policy={"gain": 0.9}, record=sys.argv[1]).to_dict()["record"]["number"])
"""


@pytest.mark.heavy
def test_a_preview_refuses_what_a_look_would(record: Path) -> None:
    given: Any = {"evidence": Evidence.read(), "record": record}
    look(WORLD.judged(Q[:60]), record)
    before = record.read_bytes()
    assert look_ahead(WORLD.judged(Q[:90]), None, "today", ReleasePolicy.read(POLICY), **given)
    with pytest.raises(DataError, match="queries of earlier looks have no judgments here"):
        look_ahead(WORLD.judged(Q[10:90]), None, "today", ReleasePolicy.read(POLICY), **given)
    changed = WORLD.runs["new"] | {Q[7]: LISTS[2]}
    with pytest.raises(DataError, match="under another name"):
        look_ahead(WORLD.judged(Q[:90], changed), None, "today", ReleasePolicy.read(POLICY), **given)
    assert record.read_bytes() == before


def test_programs_at_the_same_time_each_get_their_own_level(record: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(record), str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    assert sorted(int(one.communicate()[0]) for one in started) == [1, 2, 3, 4]


def test_a_look_that_could_not_be_written_was_not_made(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(WORLD.judged(Q[:60]), record)
    before = record.read_bytes()
    monkeypatch.setattr(
        "surefoot.decide.evidence.record.write_text", lambda *_, **__: (_ for _ in ()).throw(OSError(28))
    )
    with pytest.raises(OSError, match="28"):
        look(WORLD.judged(Q[:100]), record)
    assert record.read_bytes() == before


def test_a_look_that_nobody_saw_is_counted(record: Path, tmp_path: Path) -> None:
    decision = sf.gate(WORLD.judged(Q[:60]), baseline="today", policy=POLICY, record=record)
    with pytest.raises(DataError):
        decision.write(tmp_path / "no" / "such.html")
    assert len(read_record(record).questions[0].looks) == 1


def test_decisions_are_read_back(record: Path) -> None:
    data = look(WORLD.judged(Q[:60]), record)
    again = sf.Decision.from_dict(json.loads(json.dumps(data)))
    assert again.to_dict() == data
    assert "Look" in again.to_html()
