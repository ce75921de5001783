"""What an automatic judge is worth: figures by slow loops, odd judges, and renderings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.decide.agreement.agreement import draws_needed

LISTS = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["d", "c", "b", "a"]]
RNG = np.random.default_rng(0)
IDS = [f"q{number}" for number in range(60)]
PEOPLE = {query: {document: int(RNG.choice(3, p=[0.6, 0.2, 0.2])) for document in "abcd"} for query in IDS}
JUDGE = {
    query: {document: grade if RNG.random() < 0.8 else int(RNG.integers(3)) for document, grade in grades.items()}
    for query, grades in PEOPLE.items()
}
RUNS = {
    "today": dict.fromkeys(IDS, LISTS[0]),
    "new": {query: LISTS[int(RNG.choice(3, p=[0.4, 0.4, 0.2]))] for query in IDS},
}


def found(automatic: Any = JUDGE, runs: Any = RUNS, **options: Any) -> dict[str, Any]:
    more = {"baseline": "today", "measure": "nDCG@4"} if runs is not None else {}
    return sf.judge_agreement(PEOPLE, automatic=automatic, runs=runs, **(more | options)).to_dict()


def test_figures_are_what_slow_loops_give() -> None:
    data = found()
    pairs = [(PEOPLE[query][document], JUDGE[query][document]) for query in IDS for document in "abcd"]
    assert data["documents"] == 240
    assert data["agreement"] == pytest.approx(sum(one == other for one, other in pairs) / 240)
    assert data["bias"] == pytest.approx(sum(other - one for one, other in pairs) / 240)
    assert data["confusion"] == [[pairs.count((i, j)) for j in range(3)] for i in range(3)]
    for entry in data["by_grade"]:
        own = [other - one for one, other in pairs if one == entry["grade"]]
        assert (entry["documents"], entry["bias"]) == (len(own), pytest.approx(np.mean(own)))
    scores = [sf.score(judgments, RUNS, "nDCG@4") for judgments in (PEOPLE, JUDGE)]
    changes = [each["new"] - each["today"] for each in scores]
    comparison = data["comparison"]
    losses = [np.maximum(-change, 0) for change in changes]
    assert comparison["loss_correlation"] == pytest.approx(np.corrcoef(*losses)[0, 1])
    assert comparison["risk"]["people"] == pytest.approx(losses[0].mean())
    test = stats.ttest_rel(changes[1], changes[0])
    assert comparison["favours"]["t"] == pytest.approx(test.statistic)
    assert comparison["favours"]["p_value"] == pytest.approx(test.pvalue)
    for entry in data["systems"]:
        by_people, by_judge = (each[entry["system"]].mean() for each in scores)
        assert entry["bias"] == pytest.approx(by_judge - by_people)
    check_data(data, "agreement")


def test_two_identical_files_are_said_to_be_so() -> None:
    data = found(PEOPLE)
    assert data["identical"]
    assert data["kappa"] == data["alpha_interval"] == 1
    assert data["comparison"]["favours"] == {"mean": 0.0, "t": None, "p_value": None, "system": None}
    result = sf.judge_agreement(PEOPLE, automatic=PEOPLE, runs=RUNS, baseline="today")
    assert "the same grades" in str(result)
    same = sf.judge_agreement({"q": {"a": 1, "b": 1}}, automatic={"q": {"a": 1, "b": 1}})
    assert same.to_dict()["kappa"] is None
    assert "the same grades" in str(same)
    assert "κ is not defined" in str(same)
    assert "–" in same.to_html()


def test_a_judge_that_favours_a_system_is_told() -> None:
    """It finds relevant whatever the candidate puts first."""
    judge = {query: PEOPLE[query] | {RUNS["new"][query][0]: 2} for query in IDS}
    comparison = found(judge)["comparison"]
    assert comparison["favours"]["system"] == "new"
    assert comparison["favours"]["mean"] > 0
    assert "favours new" in str(
        sf.judge_agreement(PEOPLE, automatic=judge, runs=RUNS, baseline="today", measure="nDCG@4")
    )


def test_a_better_judge_saves_more() -> None:
    guesses = {query: dict(zip("abcd", RNG.integers(0, 3, 4).tolist(), strict=True)) for query in IDS}
    good, bad = found(PEOPLE), found(guesses)
    savings = [each["comparison"]["savings"] for each in (good, bad)]
    assert savings[0]["alone"] == savings[1]["alone"]
    assert savings[0]["with_judge"] < savings[0]["alone"]
    assert savings[1]["with_judge"] < 1.2 * savings[1]["alone"]


def test_savings_say_why_there_are_none() -> None:
    assert "not below" in found(risk=1e-6)["comparison"]["savings"]["reason"]
    same = {"today": RUNS["today"], "new": RUNS["today"]}
    assert "same documents" in found(runs=same)["comparison"]["savings"]["reason"]
    assert "no maximum" in found(measure="DCG@4")["comparison"]["savings"]["reason"]
    assert "differ so little" in found(risk=0.99)["comparison"]["savings"]["reason"]
    lost = np.where(np.arange(30) < 2, 1.0, 0.0)
    assert draws_needed(lost, np.ones(30), 0.2, 0.05, exact=True) < draws_needed(lost, np.ones(30), 0.2, 0.05)
    assert draws_needed(np.full(10, 0.5), np.ones(10), 0.4, 0.05) is None


def test_several_judges_have_one_alpha(tmp_path: Path) -> None:
    lines = ["query,docid,ann,ben", "q1,a,1,1", "q1,b,0,2", "q1,c,2,", "q2,a,0,0"]
    (tmp_path / "book.csv").write_text("\n".join(lines))
    data = sf.judge_agreement(
        tmp_path / "book.csv", automatic={"q1": {"a": 1, "b": 1, "c": 2}, "q2": {"a": 0}}
    ).to_dict()
    assert data["judges"] == ["ann", "ben", "judgments"]
    n = np.nan
    alpha = sf.risk.judge_agreement.krippendorff_alpha([[1, 0, 2, 0], [1, 2, n, 0], [1, 1, 2, 0]])
    assert data["alpha_interval"] == pytest.approx(alpha)


def test_what_only_one_judged_and_other_scales_are_told() -> None:
    result = sf.judge_agreement({"q": {"a": 1, "b": 0}, "r": {"a": 1}}, automatic={"q": {"a": 7, "c": 1}})
    data = result.to_dict()
    assert (data["documents"], data["only_people"], data["only_automatic"], data["outside_scale"]) == (1, 2, 1, 1)
    assert "outside the range" in str(result)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (({"q": {"a": 1}}, {"r": {"a": 1}}), {}, "no judged document in common"),
        (({"q": {"a": 1}}, {"q": {"a": 1}}), {"baseline": "today"}, "need runs"),
        ((PEOPLE, JUDGE, RUNS), {"baseline": "today", "risk": 2}, "must be from 0 to 1"),
        (({"q": {"a": 1}}, {"q": {"a": 1}}, {"one": {"q": ["a"]}}), {"baseline": "one"}, "need two runs"),
        (({"q": {"a": 1}}, {"q": {"a": 1}}, {"one": {"q": ["a"]}, "two": {"q": ["a"]}}), {}, "choose the baseline"),
    ],
)
def test_refusals(arguments: tuple, options: dict[str, Any], said: str) -> None:
    with pytest.raises(sf.SurefootError, match=said):
        sf.judge_agreement(arguments[0], **dict(zip(("automatic", "runs"), arguments[1:], strict=False)), **options)


def test_it_is_read_back_and_rendered(tmp_path: Path) -> None:
    result = sf.judge_agreement(PEOPLE, automatic=JUDGE, runs=RUNS, baseline="today", measure="nDCG@4")
    result.write(tmp_path / "a.json")
    again = type(result).read(tmp_path / "a.json")
    assert again.to_dict() == json.loads((tmp_path / "a.json").read_text()) == result.to_dict()
    page, text = result.to_html(), result.to_markdown()
    for said in ("Weighted κ", "People", "Correlation of losses", "Bias per system"):
        assert said in page
    assert "Bias per grade" in text
    assert "kappa_quadratic" in result.to_csv()
    assert "agreement of judges" in result._repr_html_()
