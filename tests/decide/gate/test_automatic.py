"""Decisions with an automatic judge: people's judgments decide, the judge only makes them go further."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.data.hashes import seal
from surefoot.decide.evidence.record import read_record
from surefoot.errors import ArgumentError, DataError, MeasureError
from surefoot.measures.worst_case import worst_case_loss
from surefoot.risk.batches import BatchBet
from surefoot.risk.control_variate import ControlVariate, JudgeMoments

LISTS = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["c", "b", "a", "d"], ["d", "c", "b", "a"]]
N = 400


pytestmark = pytest.mark.usefixtures("few")


def made(seed: int = 0, queries: int = N) -> tuple[sf.Run, sf.Run, dict[str, dict[str, int]]]:
    """A candidate and today's run on given traffic, and what people would say of all of it."""
    rng = np.random.default_rng(seed)
    ids = [f"q{number}" for number in range(queries)]
    grades = rng.choice(3, (queries, 4), p=[0.6, 0.25, 0.15])
    chosen = rng.choice(4, queries, p=[0.6, 0.2, 0.1, 0.1])
    new = sf.read_run({query: LISTS[kind] for query, kind in zip(ids, chosen, strict=True)}, "new")
    today = sf.read_run(dict.fromkeys(ids, LISTS[0]), "today")
    graded = (dict(zip("abcd", row.tolist(), strict=True)) for row in grades)
    return new, today, dict(zip(ids, graded, strict=True))


def corrupted(people: dict[str, dict[str, int]], share: float, seed: int = 1) -> dict[str, dict[str, int]]:
    """Judgments of which a share is drawn anew."""
    rng = np.random.default_rng(seed)
    return {
        query: {document: int(rng.integers(3)) if rng.random() < share else grade for document, grade in graded.items()}
        for query, graded in people.items()
    }


NEW, TODAY, PEOPLE = made()
GOOD = corrupted(PEOPLE, 0.1)
MEASURE = "nDCG@4"


def drawn(**given: Any) -> sf.Draws:
    """30 draws for nDCG@4, or as is given."""
    return sf.judge_next({"today": TODAY, "new": NEW}, baseline="today", **{"measure": MEASURE, "n": 30} | given)


def drawn_scores(draws: sf.Draws) -> sf.Scores:
    return sf.score({query: PEOPLE[query] for query in draws.queries}, [TODAY, NEW], MEASURE)


def decide(draws: sf.Draws, policy: dict[str, Any], **options: Any) -> sf.Decision:
    return sf.gate(drawn_scores(draws), baseline="today", policy=policy, sample=draws, **options)


def slow_values(judgments: Any, draws: sf.Draws, kind: str, alpha: float) -> dict[str, tuple[float, float]]:
    """Of each query that could change: x by these judgments, and what it is drawn by."""
    scores = sf.score(judgments, [TODAY, NEW], MEASURE)
    forth = dict(zip(TODAY.queries, worst_case_loss(NEW, TODAY, MEASURE), strict=True))
    back = dict(zip(NEW.queries, worst_case_loss(TODAY, NEW, MEASURE), strict=True))
    values = {}
    for query, before, after in zip(scores.queries, scores["today"], scores["new"], strict=True):
        weight = forth[query] if draws.to_prove == "risk" else max(forth[query], back[query])
        change = after - before
        if weight == 0:
            continue
        if kind == "risk":
            x = max(0.0, -change) / weight
        else:
            x = (1 - (change if change > 0 else (1 + alpha) * change) / weight) / (2 + alpha)
        values[query] = (min(max(x, 0.0), 1.0), weight)
    return values


@pytest.mark.parametrize(
    ("policy", "kind", "alpha", "to_prove"),
    [
        ({"risk": 0.06}, "risk", 0.0, "risk"),
        ({"risk": 0.06}, "risk", 0.0, "gain"),
        ({"gain": -0.1}, "gain", 0.0, "gain"),
        ({"u_risk": {"alpha": 2, "above": -0.2}}, "u_risk", 2.0, "gain"),
    ],
)
def test_p_is_that_of_the_formula(policy: dict[str, Any], kind: str, alpha: float, to_prove: Any) -> None:
    draws = drawn(n=50, to_prove=to_prove, seed=3, automatic=GOOD)
    data = decide(draws, policy, automatic=GOOD).to_dict()
    people, judge = (slow_values(each, draws, kind, alpha) for each in (PEOPLE, GOOD))
    weights = np.array([weight for _, weight in judge.values()])
    a = np.array([value for value, _ in judge.values()])
    chance, could_lose_mean = weights / weights.sum(), weights.sum() / N
    mean = float(chance @ a)
    moments = JudgeMoments(mean, float(chance @ (a - mean) ** 2), a.min(), a.max())
    sequence = draws.to_dict()["sequence"]
    x, own = (np.array([values[query][0] for query in sequence]) for values in (people, judge))
    level = next(iter(policy.values()))
    m = (
        level / could_lose_mean
        if kind == "risk"
        else (1 - (level if kind == "gain" else -0.2) / could_lose_mean) / (2 + alpha)
    )
    (condition,) = data["conditions"]

    def p(h: np.ndarray, a: np.ndarray, moments: JudgeMoments, m: float) -> float:
        return float(BatchBet.start(m, 0.05).after(h, ControlVariate(m, moments), a).p)

    assert condition["p_holds"] == pytest.approx(p(x, own, moments, m), rel=1e-6)
    mirrored = JudgeMoments(1 - mean, moments.variance, 1 - moments.most, 1 - moments.least)
    assert condition["p_fails"] == pytest.approx(p(1 - x, 1 - own, mirrored, 1 - m), rel=1e-6)
    if to_prove == "gain":
        differences = sf.score(GOOD, [TODAY, NEW], MEASURE)
        change = differences["new"] - differences["today"]
        valued = np.maximum(-change, 0) if kind == "risk" else np.where(change > 0, change, (1 + alpha) * change)
        expected = (
            valued.mean() / could_lose_mean if kind == "risk" else (1 - valued.mean() / could_lose_mean) / (2 + alpha)
        )
        assert mean == pytest.approx(expected)  # ā as §10 writes it, over all traffic
    assert condition["least_queries"] is None
    assert condition["automatic"]["correlation"] == pytest.approx(np.corrcoef(x, own)[0, 1])
    weight = (10 * moments.variance + ((x - m) * (own - mean)).sum()) / (
        20 * moments.variance + ((own - mean) ** 2).sum()
    )
    assert condition["automatic"]["weight"] == pytest.approx(np.clip(weight, 0, 1.5))
    alone = data["automatic"]["without"]["conditions"][0]
    assert alone["p_holds"] == pytest.approx(float(BatchBet.start(m, 0.05).after(x).p), rel=1e-6)
    assert "automatic" not in alone
    check_data(data, "decision")
    assert sf.Decision.from_dict(json.loads(json.dumps(data))).to_dict() == data


def test_a_constant_judge_changes_nothing_but_the_draws() -> None:
    same = {query: dict.fromkeys("abcd", 1) for query in PEOPLE}
    draws = drawn(n=40, seed=5, automatic=same)
    data = decide(draws, {"risk": 0.06}, automatic=same).to_dict()
    (condition,), (alone,) = data["conditions"], data["automatic"]["without"]["conditions"]
    assert condition.pop("automatic") == {"weight": 0.0, "correlation": None, "adjusted": condition["observed"]}
    assert condition == alone
    x = np.maximum(np.array(data["per_query"]["baseline"]) - data["per_query"]["candidate"], 0)
    x /= data["per_query"]["weight"]
    assert condition["p_holds"] == float(BatchBet.start(0.06 / draws.could_lose_mean, 0.05).after(x).p)
    assert data["queries_needed"] == data["automatic"]["without"]["queries_needed"]


def test_a_constant_judge_keeps_the_exact_test_of_measures_of_0_and_1() -> None:
    same = {query: dict.fromkeys("abcd", 1) for query in PEOPLE}
    draws = drawn(measure="P@1", n=40, seed=5, automatic=same)
    scores = sf.score({query: PEOPLE[query] for query in draws.queries}, [TODAY, NEW], "P@1")
    for automatic in (same,):
        data = sf.gate(scores, baseline="today", policy={"risk": 0.1}, sample=draws, automatic=automatic).to_dict()
        assert data["conditions"][0]["method"] == "binomial"
    draws = drawn(measure="P@1", n=40, seed=5, automatic=GOOD)
    scores = sf.score({query: PEOPLE[query] for query in draws.queries}, [TODAY, NEW], "P@1")
    data = sf.gate(scores, baseline="today", policy={"risk": 0.1}, sample=draws, automatic=GOOD).to_dict()
    assert data["conditions"][0]["method"] == "betting"
    assert data["automatic"]["without"]["conditions"][0]["method"] == "binomial"


def test_a_good_judge_decides_with_fewer_queries() -> None:
    truth = slow_values(PEOPLE, drawn(n=1, seed=0), "risk", 0)
    level = 1.6 * sum(x * weight for x, weight in truth.values()) / N
    ships = [0, 0]
    for seed in range(12):
        draws = drawn(n=60, seed=seed, automatic=PEOPLE)
        data = decide(draws, {"risk": level}, automatic=PEOPLE).to_dict()
        ships[0] += data["decision"] == "ship"
        ships[1] += data["automatic"]["without"]["decision"] == "ship"
        needed, alone = data["queries_needed"], data["automatic"]["without"]["queries_needed"]
        if needed is not None and alone is not None:
            assert needed <= alone
    assert ships[0] > ships[1]


def test_the_decision_says_what_the_judge_added_and_what_is_claimed() -> None:
    draws = drawn(seed=1, automatic=GOOD)
    decision = decide(draws, {"risk": 0.05}, automatic=GOOD)
    text, page = str(decision).replace("\n", " "), decision.to_html()
    queries = len(draws.queries)
    for said in (
        f"People judged {queries} queries ({4 * queries} documents)", "traffic of 400 queries", "λ", "ρ",
        "Without the judge, the decision would be", "fixed before the draw",
    ):  # fmt: skip
        assert said in text
    assert "Without the automatic judge" in page
    assert "People judged" in decision.to_markdown()


def test_draws_keep_the_hash_and_another_judge_gets_other_draws(tmp_path: Path) -> None:
    draws = drawn(seed=1, automatic=GOOD)
    draws.write(tmp_path / "draws.json")
    again = sf.Draws.read(tmp_path / "draws.json")
    assert again.to_dict() == draws.to_dict()
    assert again.automatic is not None
    assert len(again.automatic["sha256"]) == 64
    other = drawn(seed=1, automatic=corrupted(PEOPLE, 0.1, seed=2))
    assert other.to_dict()["sequence"] != draws.to_dict()["sequence"]
    turned = {query: dict(reversed(grades.items())) for query, grades in reversed(GOOD.items())}
    assert drawn(seed=1, automatic=turned).to_dict() == draws.to_dict()


def test_what_has_no_proof_is_refused(tmp_path: Path) -> None:
    draws, plain = (drawn(seed=1, **more) for more in ({"automatic": GOOD}, {}))
    with pytest.raises(ArgumentError, match="need queries that were drawn with them"):
        sf.gate(drawn_scores(draws), baseline="today", policy={"risk": 0.1}, automatic=GOOD)
    with pytest.raises(DataError, match="made without automatic judgments"):
        decide(plain, {"risk": 0.1}, automatic=GOOD)
    with pytest.raises(DataError, match="are not those that the draws were made with"):
        decide(draws, {"risk": 0.1}, automatic=corrupted(PEOPLE, 0.1, seed=9))
    changed = {query: dict(grades) for query, grades in GOOD.items()}
    changed["q7"]["a"] = 3
    with pytest.raises(DataError, match="are not those"):
        decide(draws, {"risk": 0.1}, automatic=changed)
    with pytest.raises(ArgumentError, match="drawn with automatic judgments"):
        decide(draws, {"risk": 0.1})
    with pytest.raises(MeasureError, match="no maximum"):
        drawn(measure="DCG@4", automatic=GOOD)
    with pytest.raises(ArgumentError, match="share_hurt cannot be decided with drawn queries"):
        decide(draws, {"share_hurt": 0.1}, automatic=GOOD)
    matrix = sf.Scores(drawn_scores(draws).values, ["today", "new"], drawn_scores(draws).queries, MEASURE)
    with pytest.raises(ArgumentError, match="give judgments and runs instead of scores"):
        sf.gate(matrix, baseline="today", policy={"risk": 0.1}, sample=draws, automatic=GOOD)


def test_all_traffic_must_be_judged_or_said_to_be_unjudged() -> None:
    some = {query: grades for query, grades in GOOD.items() if int(query[1:]) % 2}
    with pytest.raises(DataError, match=r"have no judgment for \d+ of the \d+ queries that could change"):
        drawn(automatic=some)
    draws = drawn(automatic=some, unjudged="zero")
    assert draws.automatic is not None
    assert draws.automatic["unjudged"] > 50
    data = decide(draws, {"risk": 0.1}, automatic=some).to_dict()
    unjudged = [value for query, value in zip(
        data["per_query"]["query"], data["per_query"]["automatic_baseline"], strict=True
    ) if not int(query[1:]) % 2]  # fmt: skip
    assert set(unjudged) == {0.0}
    assert "did not judge" in str(decide(draws, {"risk": 0.1}, automatic=some))
    with pytest.raises(ArgumentError, match="must be 'error' or 'zero'"):
        drawn(automatic=some, unjudged="drop")
    other_ids = {f"x{query}": grades for query, grades in GOOD.items()}
    with pytest.raises(DataError, match="are the ids the same"):
        drawn(automatic=other_ids, unjudged="zero")
    fewer = {query: {document: grades[document] for document in "abc"} for query, grades in GOOD.items()}
    holes = drawn(automatic=fewer).automatic
    assert holes is not None
    assert (holes["unjudged"], holes["holes"] > 100) == (0, True)


def look(record: Path, judge: Any, policy: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A look at all draws of a record, each of which people have judged."""
    queries = {query for draws in read_record(record).draws for query in draws.queries}
    scores = sf.score({query: PEOPLE[query] for query in queries}, [TODAY, NEW], MEASURE)
    return sf.gate(scores, baseline="today", policy=policy, automatic=judge, record=record, **options).to_dict()


def test_batches_go_on_from_look_to_look(tmp_path: Path) -> None:
    record, looks = tmp_path / "record.json", []
    for seed in (1, 2):
        draws = drawn(n=25, seed=seed, automatic=GOOD, record=record)
        looks.append(look(record, GOOD, {"risk": 0.03}))
    data = looks[-1]
    assert (data["queries"], data["batches"], len(data["record"]["looks"])) == (50, [25, 25], 2)
    assert len(data["per_query"]["automatic_candidate"]) == 50
    assert data["automatic"]["people_judgments"] == 4 * len(set(data["per_query"]["query"]))  # judged once
    assert data["per_query"]["query"][:25] == looks[0]["per_query"]["query"]
    (alone,) = data["automatic"]["without"]["conditions"]
    x = np.maximum(np.array(data["per_query"]["baseline"]) - data["per_query"]["candidate"], 0)
    x /= data["per_query"]["weight"]
    bet = BatchBet.start(0.03 / draws.could_lose_mean, 0.04).after(x[:25]).after(x[25:])
    assert alone["p_holds"] == pytest.approx(float(bet.p))


def test_choosing_among_judges_is_another_question_each_time(tmp_path: Path) -> None:
    record, found = tmp_path / "record.json", []
    judges = [corrupted(PEOPLE, 0.1, seed=seed) for seed in (1, 2)]
    for judge in (judges[0], judges[1], judges[1]):
        drawn(n=25, automatic=judge, record=record)
        data = look(record, judge, {"risk": 0.03})
        found.append((data["record"]["question"], data["record"]["number"], data["batches"]))
    assert found == [(1, 1, [25]), (2, 2, [25]), (2, 2, [25, 25])]
    with pytest.raises(DataError, match="are not those that the draws were made with"):
        look(record, judges[0], {"risk": 0.03})  # the latest draws are the other judge's


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_what_is_decided_is_what_the_bounds_say(share: float) -> None:
    judge = corrupted(PEOPLE, share)
    for seed in range(3):
        draws = drawn(n=60, seed=seed, to_prove="gain", automatic=judge)
        for level in (0.02, 0.08):
            (condition, *_) = decide(draws, {"risk": level, "gain": -0.1}, automatic=judge).conditions
            if condition["status"] == "holds":
                assert condition["bound"] <= level
            elif condition["status"] == "fails":
                assert condition["bound_fails"] > level


def test_odd_judgments_are_refused(tmp_path: Path) -> None:
    beyond = {query: grades | {"a": 9} for query, grades in GOOD.items()}
    with pytest.raises(MeasureError, match="grade of 9, but ERR has max_rel=4"):
        drawn(measure="ERR@4", n=10, automatic=beyond)
    with pytest.raises(DataError, match="must be finite"):
        drawn(n=10, automatic=GOOD | {"q1": {"a": float("nan")}})
    file = tmp_path / "twice.qrels"
    file.write_text("q1 0 a 1\nq1 0 a 0\n")
    with pytest.raises(DataError, match="document 'a' appears twice in query 'q1'"):
        drawn(n=10, automatic=file)
    draws = drawn(n=10, automatic=GOOD)
    other = sf.read_run({query: ["d", "c", "b", "a"] for query in PEOPLE}, "new")
    scores = sf.score({query: PEOPLE[query] for query in draws.queries}, [TODAY, other], MEASURE)
    with pytest.raises(DataError, match="belong to another candidate"):
        sf.gate(scores, baseline="today", policy={"risk": 0.1}, sample=draws, automatic=GOOD)


@pytest.mark.parametrize(
    ("automatic", "said"),
    [
        ({"name": "x", "sha256": "12", "unjudged": 0, "holes": 0}, "automatic.sha256 is '12'"),
        (
            {"name": "x", "sha256": "a" * 64, "unjudged": -1, "holes": 0},
            "automatic.unjudged is -1; expected at least 0",
        ),
        ({"name": "x"}, "draw again"),
        ("x", "draw again"),
    ],
)
def test_changed_draws_are_refused(tmp_path: Path, automatic: Any, said: str) -> None:
    plain = dict(drawn(n=10, automatic=GOOD).to_dict())
    (tmp_path / "d.json").write_text(json.dumps(seal(plain | {"automatic": automatic})))
    with pytest.raises(DataError, match=said):
        sf.Draws.read(tmp_path / "d.json")
    (tmp_path / "d.json").write_text(json.dumps(plain | {"automatic": None}))
    with pytest.raises(DataError, match="was changed"):
        sf.Draws.read(tmp_path / "d.json")


def test_people_are_not_the_judge() -> None:
    draws = drawn(seed=1, automatic=GOOD)
    own = sf.score(GOOD, [TODAY, NEW], MEASURE)
    with pytest.raises(DataError, match="are the automatic judge's own"):
        sf.gate(own, baseline="today", policy={"risk": 0.05}, sample=draws, automatic=GOOD)


def test_documents_that_nobody_judged_are_told() -> None:
    draws = drawn(seed=1, automatic=GOOD)
    half = sf.score({query: {"d": PEOPLE[query]["d"]} for query in draws.queries}, [TODAY, NEW], MEASURE)
    decision = sf.gate(half, baseline="today", policy={"risk": 0.05}, sample=draws, automatic=GOOD)
    assert decision.to_dict()["sample"]["unjudged_documents"] == 3 * len(draws.queries)
    assert f"{3 * len(draws.queries)} documents in the first 4 of the drawn queries" in " ".join(str(decision).split())
    assert decide(draws, {"risk": 0.05}, automatic=GOOD).to_dict()["sample"]["unjudged_documents"] == 0


def test_weights_of_other_traffic_are_refused() -> None:
    draws = drawn(seed=1, automatic=GOOD)
    heavier = replace(
        draws, could_lose=np.minimum(1, draws.could_lose * 1.3), could_lose_mean=draws.could_lose_mean * 1.3
    )
    with pytest.raises(DataError, match="these draws belong to other rankings"):
        decide(heavier, {"risk": 0.05}, automatic=GOOD)
    with pytest.raises(DataError, match="that could lose"):
        decide(replace(draws, could_lose_mean=draws.could_lose_mean * 1.3), {"risk": 0.05}, automatic=GOOD)


def test_draws_for_a_measure_of_scores_keep_the_scores() -> None:
    measure = "SoftNDCG(normalize='none')@4"
    draws = drawn(measure=measure, seed=1)
    other = sf.read_run({query: {d: s / 9 for d, s in docs.items()} for query, docs in NEW.to_dict().items()}, "new")
    judged = {query: PEOPLE[query] for query in draws.queries}
    sf.gate(sf.score(judged, [TODAY, NEW], measure), baseline="today", policy={"risk": 0.5}, sample=draws)
    with pytest.raises(DataError, match="these draws belong to another candidate"):
        sf.gate(sf.score(judged, [TODAY, other], measure), baseline="today", policy={"risk": 0.5}, sample=draws)
