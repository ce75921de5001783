"""The assessment as data and as text: figures, keys, edges, renderings."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from scipy import stats

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.report.kinds import KINDS
from surefoot.report.notes import too_few_elsewhere
from surefoot.report.words import default_alpha
from surefoot.risk import bootstrap
from surefoot.risk.vectors import CHUNK

SCHEMA = KINDS["assessment"].json_schema()


@pytest.fixture(scope="module")
def made():
    return sf.demo.runs(queries=60, seed=3)


@pytest.fixture(scope="module")
def scores(made):
    return sf.score(made.qrels, made.runs, "nDCG@10")


def row(assessment: sf.Assessment, system: str) -> dict:
    return next(entry for entry in assessment.to_dict()["systems"] if entry["system"] == system)


def test_figures_are_those_of_the_functions(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 2.5, 5])
    b = scores["today"]
    for i, system in enumerate(scores.systems):
        entry = row(a, system)
        m = scores[system]
        assert entry["mean"] == pytest.approx(m.mean())
        assert entry["reward"] == pytest.approx(np.maximum(m - b, 0).mean())
        assert entry["risk"] == pytest.approx(np.maximum(b - m, 0).mean())
        assert (entry["wins"], entry["losses"], entry["ties"]) == ((m > b).sum(), (m < b).sum(), (m == b).sum())
        assert entry["worst_mean"] == pytest.approx(sf.risk.worst_mean(m, b))
        for key, alpha in (("0", 0), ("2.5", 2.5), ("5", 5)):
            at = entry["alpha"][key]
            assert at["u_risk"] == pytest.approx(sf.u_risk(m, b, alpha), abs=1e-12)
            assert at["t_risk"] == (None if system == "today" else pytest.approx(sf.t_risk(m, b, alpha)))
            assert at["z_risk"] == pytest.approx(sf.z_risk(scores.values, alpha)[i])
            assert at["geo_risk"] == pytest.approx(sf.geo_risk(scores.values, alpha)[i])


def test_figures_over_several_blocks_of_queries() -> None:
    queries = 2 * CHUNK + 100
    rise = np.linspace(0.2, 1, queries)  # no block is like the others
    b, m, other = np.random.default_rng(0).random((3, queries)) * np.stack([rise, rise[::-1], rise])
    values = np.stack([b, m, other])
    a = sf.assess(sf.Scores(values, ["today", "new", "other"], range(queries)), baseline="today", alphas=[5])
    figures, x = row(a, "new"), np.where(m > b, m - b, 6 * (m - b))
    assert figures["reward"] == pytest.approx(np.maximum(m - b, 0).mean(), rel=1e-9)
    assert figures["risk"] == pytest.approx(np.maximum(b - m, 0).mean(), rel=1e-9)
    assert figures["alpha"]["5"]["t_risk"] == pytest.approx(x.mean() / stats.sem(x), rel=1e-9)
    assert figures["alpha"]["5"]["z_risk"] == pytest.approx(sf.z_risk(values, 5)[1], rel=1e-9)
    assert a.to_dict()["g_squared"]["value"] == pytest.approx(np.square(sf.risk.deviations(values)).sum(), rel=1e-9)


def test_json_follows_its_schema(scores) -> None:
    for arguments in (
        {"baseline": "today"},
        {"baseline": "mean", "alphas": [0.5]},
        {"baseline": ["today", "bm25"], "bootstrap": 20},
        {"baseline": "today", "population": ["today", "bold"], "bootstrap": 20, "depth": 10},
    ):
        a = sf.assess(scores, **arguments)
        for per_query in (False, True):
            data = json.loads(a.to_json(per_query=per_query))
            jsonschema.validate(data, SCHEMA)
    assert data["population"] == ["today", "bold"]
    assert data["missing"]["bold"] == 0
    assert data["tie_rule"] == "document id descending"


def test_several_baselines_are_averaged(scores) -> None:
    both = sf.assess(scores, baseline=["today", "bm25"], alphas=[5])
    one, other = (sf.assess(scores, baseline=name, alphas=[5]) for name in ("today", "bm25"))
    for key in ("reward", "risk", "gain", "wins", "losses", "loss_over_20", "reward_over_risk", "wins_over_losses"):
        mean = (row(one, "bold")[key] + row(other, "bold")[key]) / 2
        assert row(both, "bold")[key] == pytest.approx(mean)
    at = [row(a, "bold")["alpha"]["5"] for a in (both, one, other)]
    for key in ("u_risk", "t_risk"):
        assert at[0][key] == pytest.approx((at[1][key] + at[2][key]) / 2)
    assert at[0]["p_value"] is None
    assert "no p-value" in at[0]["reasons"]["t_risk"]
    assert both.to_dict()["baseline"] == ["today", "bm25"]


@pytest.mark.parametrize(("name", "function"), [("mean", np.mean), ("median", np.median), ("max", np.max)])
def test_unbiased_baselines(scores, name: str, function) -> None:
    a = sf.assess(scores, baseline=name, alphas=[5])
    expected = sf.t_risk(scores["bold"], function(scores.values, axis=0), 5)
    assert row(a, "bold")["alpha"]["5"]["t_risk"] == pytest.approx(expected)
    part = sf.assess(scores, baseline=name, alphas=[5], population=["today", "bm25", "bold"])
    rows = [scores._row(system) for system in ("today", "bm25", "bold")]
    expected = sf.t_risk(scores["steady"], function(scores.values[rows], axis=0), 5)
    assert row(part, "steady")["alpha"]["5"]["t_risk"] == pytest.approx(expected)


def test_the_mean_of_equal_systems_ties_with_them() -> None:
    scores = sf.Scores(np.full((3, 4), 0.1), list("abc"), list("wxyz"))
    assert row(sf.assess(scores, baseline="mean"), "a")["ties"] == 4


@pytest.mark.parametrize("scale", [1, 2**-70, 2**30])
def test_the_mean_gives_no_loss_to_who_equals_it(scale: float) -> None:
    values = scale * np.array([[0.1, 0.5], [0.2, 0.5], [0.3, 0.5]])
    assert values[:, 0].mean() != values[1, 0]  # by rounding
    scores = sf.Scores(values, list("abc"), ["q1", "q2"])
    a = sf.assess(scores, baseline="mean")
    assert [(row(a, name)["wins"], row(a, name)["losses"], row(a, name)["ties"]) for name in "abc"] == [
        (0, 1, 1), (0, 0, 2), (1, 0, 1),
    ]  # fmt: skip
    assert a.per_query().filter(system="b")["difference"].to_list() == [0, 0]
    # Of large scores that cancel, the mean is off by more than the small ones' own rounding: still no difference.
    middle = np.array([0.1, 0.25, 0.3, 0.7])
    wide = sf.Scores(scale * np.array([middle + 1e6, middle, middle - 1e6]), list("abc"), list("wxyz"))
    assert (wide.values.mean(axis=0) != wide["b"]).any()
    a = sf.assess(wide, baseline="mean", alphas=[0])
    assert row(a, "b")["alpha"]["0"]["t_risk"] is None
    assert a.per_query().filter(system="b")["t_j@0"].to_list() == [None] * 4
    # Against a system rounding goes by the query's own scores: far smaller ones than the largest count.
    near = sf.Scores([[5e11, 0.5, 0.5, 0.5], [5e11, 0.5, 0.5 + 1e-14, 0.5 + 1e-11]], ["today", "new"], list("wxyz"))
    assert row(sf.assess(near, baseline="today"), "new")["wins"] == 1


def test_equal_figures_get_equal_ranks() -> None:
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3]])  # means that differ by rounding only
    assert len(set(values.mean(axis=1))) > 1
    a = sf.assess(sf.Scores(values, list("abc"), list("xyz")), baseline="a", alphas=[0])
    assert [row(a, name)["rank"] for name in "abc"] == [1, 1, 1]
    assert a.to_dict()["agreement"]["0"]["mean~z_risk"] is None  # all equal: nothing to agree on


def test_g_squared_has_a_p_for_counts_only() -> None:
    counts = np.random.default_rng(0).poisson(9, size=(4, 30)).astype(float)
    statistic = sf.risk.g_squared(counts)
    assert statistic.p == pytest.approx(stats.chi2.sf(statistic.value, statistic.df))
    for shares in (counts / counts.max(), counts + 0.5, (counts > 9).astype(float)):
        assert sf.risk.g_squared(shares).p is None
        assert "counts only" in sf.risk.g_squared(shares).reason
    data = sf.assess(sf.Scores(counts / 100, list("abcd"), range(30)), baseline="a").to_dict()
    assert data["g_squared"]["p_value"] is None
    assert "counts only" in data["g_squared"]["reason"]


def test_geo_risk_says_what_scale_it_needs() -> None:
    values = np.random.default_rng(1).random((2, 60))
    plain, percent = (sf.assess(sf.Scores(factor * values, ["a", "b"], range(60)), "a") for factor in (1, 100))
    assert "scale" not in plain.to_text()
    assert "GeoRisk depends on the scale of the scores" in percent.to_text()


def test_outcomes_and_stars_follow_holms_p_of_the_sturdy_p() -> None:
    rng = np.random.default_rng(14)
    base = rng.random(80)
    others = [np.clip(base + rng.normal(0.01 * shift, 0.1, 80), 0, 1) for shift in range(6)]
    a = sf.assess(sf.Scores([base, *others], ["today", *"abcdef"], range(80)), baseline="today", alphas=[0, 5])
    for key in ("0", "5"):
        tests = {entry["system"]: entry["alpha"][key] for entry in a.to_dict()["systems"]}
        assert [one["p_holm"] for one in tests.values()] == sf.risk.holm([one["p_robust"] for one in tests.values()])
        for one in tests.values():
            if one["p_holm"] is not None:
                side = "better" if one["t_robust"] > 0 else "worse"
                assert one["outcome"] == (side if one["p_holm"] < 0.05 else "unclear")
    # Some are significant alone and not among six, or the test shows nothing.
    alone = [one for one in tests.values() if one["p_robust"] is not None and one["p_robust"] < 0.05 <= one["p_holm"]]
    assert alone
    starred = [line for line in a.to_text(width=160).splitlines() if "*" in line and "*: p <" not in line]
    assert len(starred) == sum(
        entry["alpha"][key]["outcome"] in ("better", "worse") for entry in a.to_dict()["systems"] for key in ("0", "5")
    )


def test_risk_at_alpha_is_not_called_worse_on_average() -> None:
    difference = np.tile([0.2, -0.2], 40) + 0.001
    scores = sf.Scores([np.full(80, 0.5), 0.5 + difference], ["today", "new"], range(80))
    sentence = sf.assess(scores, baseline="today", alphas=[0, 5]).in_words("new", 5)
    assert (
        "Whether that is worth it depends on α: we cannot tell up to α = 0.629; from there on, it is worse than today. "
        "(Here α = 5: it is worse, p < 0.0001.) One more query as good as its best would not change this."
    ) in sentence


def test_few_queries_stand_in_the_outcome_once(scores) -> None:
    few = sf.Scores(scores.values[:, :20], scores.systems, scores.queries[:20])
    words = "With fewer than 50 queries, “better” and “worse” are often only chance"
    for alphas in ([0, 5], [0]):
        a = sf.assess(few, baseline="today", alphas=alphas)
        assert all(words in a.in_words(system, alpha) for system in ("bold", None) for alpha in alphas)
        for rendered in (a.to_text(width=1000), a.to_markdown(), a._repr_html_()):
            assert rendered.count(words) == 1
    assert words not in sf.assess(scores, baseline="today").to_text(width=1000)


@pytest.mark.parametrize(
    ("queries", "alpha", "few"),
    [(49, 0, "50"), (50, 0, None), (50, 4.9, None), (50, 5, "100"), (99, 10, "100"), (100, 10, None)],
)
def test_an_outcome_is_cautious_below_fifty_and_at_heavy_losses_below_a_hundred(queries, alpha, few) -> None:
    base = np.full(queries, 0.3)
    values = [base, base + np.linspace(0.1, 0.2, queries)]
    a = sf.assess(sf.Scores(values, ["today", "new"], range(queries)), baseline="today", alphas=[alpha])
    assert a.to_dict()["systems"][1]["alpha"][f"{alpha:g}"]["outcome"] == "better"
    assert a.in_words().startswith("new gains 0.1500 ")
    for text in (a.in_words(), a.in_words("new"), a.to_text(width=1000), a.to_markdown()):
        assert (f"With fewer than {few} queries" in text) == (few is not None)


def test_a_caution_on_another_alpha_names_it_and_comes_after_the_outcome() -> None:
    values = np.random.default_rng(0).random((2, 60))
    a = sf.assess(sf.Scores(values, ["today", "new"], range(60)), baseline="today", alphas=[0, 1, 5])
    assert "With fewer than" not in a.in_words(alpha=1)
    for text in (a.to_text(width=1000), a.to_markdown(), a._repr_html_()):
        assert text.count("At α = 5: with fewer than 100 queries") == 1
        assert text.index("on average") < text.index("At α = 5: with fewer than 100 queries")


@pytest.mark.parametrize(
    ("queries", "alphas", "words"),
    [
        (60, [0, 1, 5, 10], ["At α = 5 and 10: with fewer than 100 queries"]),
        (60, [0, 1, 5, 7, 10], ["At α = 5, 7 and 10: with fewer than 100 queries"]),
        (60, [0, 5, 10], []),  # the outcome's own α is 5, and what is said there holds for 10 too
        (40, [0, 1, 5], []),
        (100, [0, 1, 5], []),
    ],
)
def test_cautions_on_other_alphas_say_only_what_the_outcome_does_not(queries, alphas, words) -> None:
    values = np.random.default_rng(0).random((2, queries))
    data = sf.assess(sf.Scores(values, ["today", "new"], range(queries)), baseline="today", alphas=alphas).to_dict()
    said = too_few_elsewhere(data, default_alpha(alphas))
    assert [caution.split(" and losses")[0] for caution in said] == words


def uneven(queries: int, frequent: float, alphas: list[float]) -> sf.Assessment:
    """Random scores, of which every third query is asked so many times as often."""
    values = np.random.default_rng(0).random((2, queries))
    scores = sf.Scores(values, ["today", "new"], [str(i) for i in range(queries)])
    weights = {str(i): 1 if i % 3 else frequent for i in range(queries)}
    return sf.assess(scores, baseline="today", alphas=alphas, traffic=weights)


UP_TO = "up to 16 % of such results are false if frequent queries differ more from the baseline than rare ones."


@pytest.mark.parametrize(
    ("queries", "frequent", "alpha", "few"),
    [
        (600, 12, 2.9, None),
        (600, 12, 3, UP_TO),
        (600, 2, 5, None),  # 540 effective queries: hardly uneven
        (4458, 12, 5, UP_TO),  # 1,994 effective
        (4488, 12, 5, None),  # 2,008 effective
        (200, 12, 5, UP_TO),  # 88 effective: the caution for fewer than 100 says less
        (100, 2, 5, "With fewer than 100 queries"),  # 89 effective
        (100, 2, 4.9, None),
        (100, 12, 0, "With fewer than 50 queries"),  # 45 effective
        (100, 12, 5, "With fewer than 50 queries"),
    ],
)  # fmt: skip
def test_uneven_traffic_is_cautioned_of(queries: int, frequent: float, alpha: float, few: str | None) -> None:
    a = uneven(queries, frequent, [alpha])
    weights = a.to_dict()["traffic"]
    for said in (a.in_words(), a.in_words("new"), a.to_text(width=10000), a.to_markdown()):
        assert ("The traffic is so uneven that these" in said) == (few is not None), weights
        assert few is None or few in said
        assert (UP_TO in said) == (queries / weights["effective_queries"] > 1.5 and alpha >= 3 and queries < 4488)
        assert said.count("equally often") <= 2  # in the caution, and in the note


def test_uneven_traffic_is_cautioned_of_once() -> None:
    data = uneven(200, 12, [0, 1, 5]).to_dict()
    assert 50 < data["traffic"]["effective_queries"] < 100
    (caution,) = too_few_elsewhere(data, 1)
    assert caution.startswith("At α = 5: the traffic is so uneven")
    assert caution.endswith(UP_TO)
    assert too_few_elsewhere(data, 5) == []
    fewer = uneven(100, 12, [0, 1, 5]).to_dict()  # what was said of α = 1 holds for 5 too, where more is to be said
    assert too_few_elsewhere(fewer, 1) == [f"At α = 5: with losses that count this much, {UP_TO}"]
    assert too_few_elsewhere(fewer, 5) == []


def test_words_of_the_query_that_is_added_by_traffic() -> None:
    rng = np.random.default_rng(0)
    gains, traffic = rng.uniform(0.1, 0.2, 300), {str(i): 1 + i % 7 for i in range(300)}
    gains[:3] = -0.3
    scores = sf.Scores([np.full(300, 0.5), 0.5 + gains], ["today", "new"], [str(i) for i in range(300)])
    a = sf.assess(scores, baseline="today", alphas=[0], traffic=traffic)
    often = "One more query as bad as its worst, asked as often as a typical request's query, would not change this."
    assert often in a.in_words("new", 0)
    assert "One more query as bad as its worst would not change this." in sf.assess(scores, "today", [0]).in_words(
        "new"
    )


@pytest.fixture(scope="module")
def gappy(made):
    """`half` lacks every second query, and is otherwise today's run."""
    today = made.runs[0].to_dict()
    half = {query: results for i, (query, results) in enumerate(today.items()) if i % 2}
    return made.qrels, {"today": made.runs[0], "half": half, "bold": made.runs[1]}


def test_missing_queries_stand_wherever_an_outcome_does(gappy) -> None:
    a = sf.assess(sf.score(*gappy, "nDCG@10"), baseline="today", alphas=[0])
    assert row(a, "half")["alpha"]["0"]["outcome"] == "worse"
    assert " half lacks 30 of the 60 queries; they score 0. " in a.in_words("half")
    assert "lacks" not in a.in_words("bold")
    caution = "Queries that a system lacks score 0. Missing queries, of 60: half (30)."
    assert a.to_text().splitlines()[1] == caution
    assert a.to_markdown().splitlines()[2] == f"**{caution}**"
    assert caution in a._repr_html_()
    assert " half lacks 30 of the 60 queries" in sf.assess(a.scores, baseline="half").in_words("bold")


def test_missing_queries_can_be_dropped_or_refused(gappy) -> None:
    scores = sf.score(*gappy, "nDCG@10", missing="drop")
    assert (len(scores.queries), scores.dropped, scores.missing["half"]) == (30, 30, 30)
    assert np.array_equal(scores["half"], scores["today"])
    complete = sf.score(*gappy, "nDCG@10")
    places = [complete.queries.index(query) for query in scores.queries]
    assert np.array_equal(scores["bold"], complete["bold"][places])
    a = sf.assess(scores, baseline="today", alphas=[0])
    assert " 30 judged queries that some system lacks are left out. " in a.in_words("bold")
    assert a.to_text().splitlines()[1].endswith("are left out. Missing queries for each system: half (30).")
    jsonschema.validate(a.to_dict(), SCHEMA)
    with pytest.raises(DataError, match=r"run 'half' has no results for 30 of 60 judged queries; the first is 'q01'"):
        sf.score(*gappy, "nDCG@10", missing="error")
    with pytest.raises(ArgumentError, match="missing is 'skip'; it must be one of zero, drop, error"):
        sf.score(*gappy, "nDCG@10", missing="skip")
    halves = {"a": {"q01": {"q01-d001": 1.0}}, "b": {"q02": {"q02-d001": 1.0}}}
    with pytest.raises(DataError, match="no judged query is left"):
        sf.score(gappy[0], halves, "nDCG@10", missing="drop")


def test_churn_against_the_baseline(made, scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0], depth=2)
    figures, churn = row(a, "bold"), row(a, "bold")["churn"]
    direct = sf.risk.compare_rankings(made.runs[1], made.runs[0], scores.queries, depth=2)
    left_out = np.isnan(direct.tau)
    assert 0 < left_out.sum() < 60
    assert churn["left_out"] == left_out.sum()
    assert churn["mean_tau"] == pytest.approx(direct.mean_tau)
    assert churn["gain_per_reranked"] == pytest.approx(figures["gain"] / direct.share_reranked)
    assert sum(bin_["queries"] for bin_ in churn["bins"]) == 60 - left_out.sum()
    # What the bins lack of the system's reward and risk is that of the queries left out.
    lost = (scores["today"] - scores["bold"])[left_out]
    assert figures["risk"] - sum(bin_["risk"] for bin_ in churn["bins"]) == pytest.approx(
        np.maximum(lost, 0).sum() / 60
    )
    gained = np.maximum(-lost, 0).sum() / 60
    assert figures["reward"] - sum(bin_["reward"] for bin_ in churn["bins"]) == pytest.approx(gained)
    assert row(a, "today")["churn"]["share_reranked"] == 0
    assert row(a, "today")["churn"]["gain_per_reranked"] is None
    assert "churn" not in row(sf.assess(scores, baseline="mean"), "bold")


def test_kendall_bins_by_hand() -> None:
    lists = {  # one relevant document, today's list and the new one
        "same": ("b", "abc", "abc"),
        "reversed": ("a", "abc", "cba"),  # from 1 to 1/3, distance 1
        "apart": ("a", "ab", "ca"),  # from 1 to 1/2, one document in common
        "swapped": ("c", "abc", "acb"),  # from 1/3 to 1/2, distance 1/3
    }
    qrels = {query: {relevant: 1} for query, (relevant, _, _) in lists.items()}
    today, new = (
        {
            query: {document: -float(rank) for rank, document in enumerate(documents[at])}
            for query, documents in lists.items()
        }
        for at in (1, 2)
    )
    a = sf.assess(sf.score(qrels, {"today": today, "new": new}, "RR"), baseline="today", alphas=[0])
    churn = row(a, "new")["churn"]
    assert (churn["left_out"], churn["share_reranked"]) == (1, 0.75)
    assert churn["mean_tau"] == pytest.approx((1 - 1 + 1 / 3) / 3)
    assert churn["mean_tau_reranked"] == pytest.approx((-1 + 1 / 3) / 2)
    filled = {at: one for at, one in enumerate(churn["bins"]) if one["queries"]}
    assert {at: one["queries"] for at, one in filled.items()} == {0: 1, 3: 1, 9: 1}
    assert [one["reward"] for one in filled.values()] == pytest.approx([0, 1 / 6 / 4, 0])
    assert [one["risk"] for one in filled.values()] == pytest.approx([0, 0, 2 / 3 / 4])


def test_ranks_and_agreement(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 10])
    means = {entry["system"]: entry["mean"] for entry in a.to_dict()["systems"]}
    assert min(a.to_dict()["systems"], key=lambda entry: entry["rank"])["system"] == max(means, key=means.get)
    # At α = 0 U_Risk is the mean shifted, so the rankings are the same.
    assert a.to_dict()["agreement"]["0"]["mean~u_risk"] == pytest.approx(1)
    assert a.to_dict()["agreement"]["10"]["mean~u_risk"] < 1
    # Equal means, told apart by their losses: where one ranking has ties and the other none, τ_b is not τ_a.
    values = [[0.5, 0.5, 0.5, 0.5], [0.25, 0.75, 0.5, 0.5], [0, 1, 0.5, 0.5], [0.75, 0.75, 0.75, 0.75]]
    tied = sf.assess(sf.Scores(values, list("abcd"), range(4)), baseline="a", alphas=[5])
    u = [entry["alpha"]["5"]["u_risk"] for entry in tied.to_dict()["systems"]]
    expected = stats.kendalltau([0.5, 0.5, 0.5, 0.75], u).statistic
    assert tied.to_dict()["agreement"]["5"]["mean~u_risk"] == pytest.approx(expected)
    assert expected < 0.8


def test_bootstrap_is_seeded_and_covers(scores) -> None:
    one, same, other = (sf.assess(scores, baseline="today", alphas=[0, 5], bootstrap=400, seed=s) for s in (1, 1, 2))
    at = [row(a, "steady")["alpha"]["5"] for a in (one, same, other)]
    assert at[0]["geo_risk_interval"] == at[1]["geo_risk_interval"] != at[2]["geo_risk_interval"]
    for name, key in (("u_risk", "u_risk_bootstrap"), ("z_risk", "z_risk_interval"), ("geo_risk", "geo_risk_interval")):
        low, high = at[0][key]
        assert low < at[0][name] < high
    # The bootstrap's interval of a mean is close to Student's.
    plain = row(one, "steady")["alpha"]["0"]
    low, high = plain["u_risk_bootstrap"]
    assert high - low == pytest.approx(2 * 2.0 * plain["se"], rel=0.2)


def test_bootstrap_against_plain_resampling() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((4, 30))
    scores = sf.Scores(X, list("abcd"), [str(i) for i in range(30)])
    a = sf.assess(scores, baseline=["a", "c"], population=["a", "b", "c"], alphas=[5], bootstrap=3000)
    figures = row(a, "b")["alpha"]["5"]
    draws = [rng.integers(0, 30, 30) for _ in range(3000)]
    slow = {
        "u_risk_bootstrap": [np.mean([sf.u_risk(X[1][q], X[base][q], 5) for base in (0, 2)]) for q in draws],
        "z_risk_interval": [sf.z_risk(X[:3][:, q], 5)[1] for q in draws],
        "geo_risk_interval": [sf.geo_risk(X[:3][:, q], 5)[1] for q in draws],
    }
    for key, values in slow.items():
        expected = np.quantile(values, [0.025, 0.975])
        np.testing.assert_allclose(figures[key], expected, atol=0.04 * np.ptp(expected), err_msg=key)


def test_a_single_query_and_an_identical_system_are_no_errors() -> None:
    single = sf.assess(sf.Scores([[0.5], [0.7]], ["today", "new"], ["q"]), baseline="today", bootstrap=10)
    jsonschema.validate(json.loads(single.to_json(per_query=True)), SCHEMA)
    at = row(single, "new")["alpha"]["5"]
    assert (at["t_risk"], at["p_value"], at["se"]) == (None, None, None)
    assert at["reasons"]["t_risk"] == "a single query has no standard error"
    assert "–" in str(single)
    assert "a single query has no standard error" in str(single)

    twin = sf.assess(sf.Scores([[0.5, 0.2], [0.5, 0.2]], ["today", "twin"], ["q", "r"]), baseline="today")
    entry = row(twin, "twin")
    assert (entry["ties"], entry["reward_over_risk"], entry["alpha"]["0"]["t_risk"]) == (2, None, None)
    assert "identical to the baseline on every query" in str(twin)
    assert "NaN" not in twin.to_json(per_query=True)


def test_memory_of_the_bootstrap_is_bounded(scores, monkeypatch) -> None:
    def intervals() -> list:
        a = sf.assess(scores, baseline="today", alphas=[5], population=["today", "bold", "fresh"], bootstrap=30)
        return [
            row(a, system)["alpha"]["5"][name]
            for system in ("today", "bold", "fresh")
            for name in ("u_risk_bootstrap", "z_risk_interval", "geo_risk_interval")
        ]

    at_once = intervals()
    monkeypatch.setattr(bootstrap, "_DRAWS", 30 * 5)  # five systems at a time
    monkeypatch.setattr(bootstrap, "_CELLS", 600)
    np.testing.assert_allclose(intervals(), at_once, rtol=1e-12)


@pytest.mark.parametrize("small", [1e-320, 1e-200, 1e-160])
def test_extreme_scores_have_finite_figures_or_none(small: float) -> None:
    values = [[1e100, 0.0, small], [small, -small, 1.0], [small, 2 * small, 3 * small]]
    for matrix in (values, np.abs(values), np.full((3, 3), small) * [1, 2, 3]):
        scores = sf.Scores(matrix, ["a", "b", "c"], ["q", "r", "s"])
        a = sf.assess(scores, baseline="c", alphas=[0, 5, 1e6], bootstrap=10)
        jsonschema.validate(json.loads(a.to_json(per_query=True)), SCHEMA)
        assert a.to_text()


def test_a_loss_of_exactly_a_fifth_is_not_over_it() -> None:
    assert 0.72 - 0.9 < -0.2 * 0.9  # by rounding
    scores = sf.Scores([[0.9, 0.9], [0.72, 0.7199]], ["a", "b"], ["q", "r"])
    assert row(sf.assess(scores, baseline="a"), "b")["loss_over_20"] == 1


def test_several_baselines_say_which_one_has_no_test(scores) -> None:
    a = sf.assess(scores, baseline=["today", "bm25"])
    assert row(a, "bm25")["alpha"]["5"]["reasons"]["t_risk"] == "against bm25: identical to the baseline on every query"


def test_negative_scores_have_no_expectation() -> None:
    a = sf.assess(sf.Scores([[0.5, -0.2], [0.3, 0.2]], ["today", "new"], ["q", "r"]), baseline="today")
    assert row(a, "new")["alpha"]["5"]["geo_risk"] is None
    assert a.to_dict()["g_squared"] is None
    assert "some scores are negative" in str(a)
    jsonschema.validate(json.loads(a.to_json(per_query=True)), SCHEMA)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": "tomorrow"}, "no system is named 'tomorrow'. The systems are: today"),
        ({"baseline": []}, "no baseline was given"),
        ({"baseline": ["today", "today"]}, "given twice"),
        ({"baseline": "today", "alphas": [-1]}, "alpha is -1"),
        ({"baseline": "today", "alphas": []}, "no alpha was given"),
        ({"baseline": "today", "population": ["nobody"]}, "no system is named 'nobody'"),
        ({"baseline": "today", "population": []}, "population must name"),
        ({"baseline": "today", "bootstrap": 1}, "bootstrap is 1; it must be a whole number from 2 to 1,000,000"),
        ({"baseline": "today", "bootstrap": 10**9}, "bootstrap is 1,000,000,000; it must be"),
        ({"baseline": "today", "seed": -1}, "seed is -1; it must be a whole number of at least 0"),
        ({"baseline": 3}, "the baseline is 3; give the name of a system"),
        ({"baseline": ["today", 3]}, "give the name of a system"),
        ({"baseline": "today", "population": 3}, "the population is 3"),
        ({"baseline": "today", "alphas": [1e7]}, "from 0 to 1,000,000"),
        ({"baseline": "today", "alphas": ["1_0"]}, "alpha is '1_0'"),
        ({"baseline": "today", "alphas": ["٣"]}, "alpha is '٣'"),
    ],
)
def test_what_is_refused(scores, arguments, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.assess(scores, **arguments)


def test_a_system_called_mean_is_ambiguous() -> None:
    scores = sf.Scores([[0.5], [0.3]], ["mean", "x"], ["q"])
    with pytest.raises(ArgumentError, match="also means the per-query mean"):
        sf.assess(scores, baseline="mean")
    assert sf.assess(scores, baseline="x")


def test_renderings(scores, tmp_path: Path) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 5])
    lines = list(csv.DictReader(io.StringIO(a.to_csv(sort="risk"))))
    assert lines[0]["system"] == "today"
    by_name = {line["system"]: line for line in lines}
    assert float(by_name["bold"]["u_risk@5"]) == row(a, "bold")["alpha"]["5"]["u_risk"]
    assert by_name["today"]["t_risk@5"] == ""
    assert "| bold | 0." in a.to_markdown()
    latex = a.to_latex()
    assert latex.count(r"\\") == len(scores.systems) + 2
    assert r"\begin{tabular}" in latex
    a.write(tmp_path / "a.json", per_query=True)
    a.write(tmp_path / "a.csv")
    assert json.loads((tmp_path / "a.json").read_text())["per_query"]["queries"] == list(scores.queries)
    frame = a.per_query()
    assert frame.height == len(scores.systems) * len(scores.queries)
    assert {"query", "system", "difference", "expected", "z", "t_r@5", "t_j@0", "significant@0"} <= set(frame.columns)
    assert "get worse" in a.in_words("bold")
    with pytest.raises(ArgumentError, match="alpha 3 was not assessed"):
        a.in_words("bold", 3)
    with pytest.raises(ArgumentError, match="cannot sort by 'beauty'"):
        a.to_text(sort="beauty")


def test_every_rendering_has_the_order_asked_for(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[5])
    for sort in ("mean", "risk", "worst_mean"):
        names = [entry["system"] for entry in a.rows(sort)]
        assert names != [entry["system"] for entry in a.to_dict()["systems"]]
        tables = {
            "csv": a.to_csv(sort).splitlines()[1:],
            "markdown": [line[2:] for line in a.to_markdown(sort).splitlines() if line.startswith("| ")],
            "latex": a.to_latex(sort).splitlines(),
            "text": [line.strip() for line in a.to_text(sort, width=2000).splitlines()],
        }
        for form, lines in tables.items():
            rows = [line for line in lines if " is the baseline" not in line and " on average. " not in line]
            firsts = [re.split("[ ,]", line)[0] for line in rows]
            listed = [name for name in firsts if name in names]
            assert len(listed) % len(names) == 0, form
            assert listed == names * (len(listed) // len(names)), form


def test_each_column_sorts_the_best_first(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 5], bootstrap=10)
    assert a.rows("u_risk") == a.rows("u_risk@5") != a.rows("u_risk@0")
    low_is_good = {"risk", "losses", "loss_over_20", "risk_over_reward", "losses_over_wins"}
    for key in a.to_csv().splitlines()[0].split(",")[1:]:
        column = [line[key] for line in csv.DictReader(io.StringIO(a.to_csv(key)))]
        values = [float(value) for value in column if value]
        assert column[len(values) :] == [""] * (len(column) - len(values)), key  # absent ones last
        good = -1 if key in low_is_good or key.startswith("p_") else 1
        assert values == sorted(values, key=lambda value, good=good: -good * value), key


def test_some_systems_are_shown_with_their_figures_among_all(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 5])
    shown = [a.rows()[2]["system"], a.rows()[0]["system"]]
    assert a.rows(systems=shown) == [a.rows()[0], a.rows()[2]]
    assert [line.partition(",")[0] for line in a.to_csv(systems=shown).splitlines()[1:]] == [shown[1], shown[0]]
    assert shown[0] in a.to_latex(systems=shown)
    assert a.rows()[3]["system"] not in a.to_latex(systems=shown)
    assert a.to_frame(systems=shown)["system"].to_list() == [row["system"] for row in a.rows(systems=shown)]
    with pytest.raises(ArgumentError, match="there is no system 'tody'; did you mean today"):
        a.rows(systems=["tody"])


def test_significance_of_queries_on_both_sides() -> None:
    base, change = np.full(60, 0.5), np.random.default_rng(0).normal(0, 0.01, 60)
    change[[3, 7]] = 0.4, -0.4
    a = sf.assess(sf.Scores([base, base + change], ["today", "new"], range(60)), baseline="today", alphas=[0])
    assert a.per_query().filter(pl.col("significant@0"))["query"].to_list() == ["3", "7"]


def test_narrow_tables_leave_out_columns_not_letters(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[5], bootstrap=10)
    columns = {"system", "mean", "gain", "reward", "risk", "won", "lost", "tied", ">20%", "worst"}
    for width in range(60, 130):
        lines = a.to_text(width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert not any("…" in line for line in lines)
        assert sum(line.startswith(" reranker-small  ") for line in lines) == 4
        first = lines.index("α = 5: losses count 6 times as much as gains")
        summary = lines[: lines.index("α = 5: losses count 6 times as much as gains", first + 1)]
        shown = set(next(line for line in summary if line.startswith(" system ")).split())
        hidden = " ".join(summary).partition("Columns that did not fit: ")[2]
        assert shown | set(hidden.replace(",", "").replace(".", "").split()) == columns
        assert "lost" in shown


def test_intervals_and_churn_are_in_every_rendering(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 5], bootstrap=10, depth=10)
    line = next(csv.DictReader(io.StringIO(a.to_csv())))
    entry = row(a, line["system"])
    assert [float(line["u_risk_low@5"]), float(line["u_risk_high@5"])] == entry["alpha"]["5"]["u_risk_interval"]
    assert float(line["share_reranked"]) == entry["churn"]["share_reranked"]
    drawn = [float(line["u_risk_bootstrap_low@5"]), float(line["u_risk_bootstrap_high@5"])]
    assert drawn == entry["alpha"]["5"]["u_risk_bootstrap"] != entry["alpha"]["5"]["u_risk_interval"]
    assert "U_Risk low" in a.to_markdown()
    for words in (
        "95% intervals (bootstrap)",
        "How much the rankings differ from the baseline's ranking, down to rank 10",
    ):
        assert words in a.to_text()
    assert a.rows("u_risk_low@5")
    plain = sf.assess(sf.read_scores({"a": {"q": 1, "r": 2}, "b": {"q": 2, "r": 1}}), baseline="a")
    assert "u_risk_low@0" in plain.to_csv()
    assert "bootstrap" not in plain.to_csv()
    assert "geo_risk_low" not in plain.to_csv()
    assert "share_reranked" not in plain.to_csv()


def test_small_numbers_in_tables() -> None:
    rng = np.random.default_rng(0)
    low = rng.random(50)
    scores = sf.Scores([low, low - 1e-7 * rng.random(50), low + 0.5 + 0.01 * rng.random(50)], list("abc"), range(50))
    text = sf.assess(scores, baseline="a", alphas=[0]).to_text(width=1000)
    assert "−0.000 " not in text
    assert "<.0001" in text
    assert "*: p < 0.05" in text


def test_several_baselines_and_a_population_of_one_in_words(scores) -> None:
    both = sf.assess(scores, baseline=["mean", "bm25"], population=["today"])
    assert "against the per-query mean of 1 system and bm25 in turn" in both.to_text()
    assert "With a single system, Z_Risk is always 0" in both.to_text()


def test_hostile_names_are_only_text() -> None:
    names = ["[red]x[/red]", "a\x1b[31mb", "c|d`e*f_g<h>", "100%_$\\{}&#~^", "x\u202eevil"]
    scores = sf.Scores(np.random.default_rng(0).random((5, 3)), names, ["q\x1b[2J", "r", "s"])
    a = sf.assess(scores, baseline=names[0])
    assert "[red]x[/red]" in a.to_text(width=200)
    for rendered in (a.to_text(), a.to_markdown(), a.to_latex()):
        assert "\x1b" not in rendered
        assert "\u202e" not in rendered
    assert r"c\|d\`e\*f\_g\<h\>" in a.to_markdown()
    assert r"100\%\_\$\textbackslash{}\{\}\&\#\textasciitilde{}\textasciicircum{}" in a.to_latex()


def test_the_demo_data_shows_its_known_harm() -> None:
    made = sf.demo.runs()
    scores = sf.score(made.qrels, made.runs, "nDCG@10")
    a = sf.assess(scores, baseline="today", alphas=[0, 5])
    assert row(a, "bold")["rank"] == 1
    assert row(a, "bold")["alpha"]["0"]["outcome"] == "better"
    assert row(a, "bold")["alpha"]["5"]["outcome"] == "worse"
    tested = sf.risk.query_scores(scores["bold"], scores["today"])
    hurt = {scores.queries[i] for i in np.flatnonzero(tested.t_j < -tested.critical)}
    assert hurt <= set(made.harmed["bold"])
    assert len(hurt) >= 0.8 * len(made.harmed["bold"])


def test_what_an_assessment_has_can_be_found(scores) -> None:
    a = sf.assess(scores, baseline="today", alphas=[0, 5])
    assert a["steady"] is a.systems[[row["system"] for row in a.systems].index("steady")]
    assert (a.measure, a.baseline, a.queries) == ("nDCG@10", "today", len(scores.queries))
    frame = a.to_frame()
    assert frame["system"].to_list() == [row["system"] for row in a.rows()]
    assert frame.write_csv() == pl.read_csv(io.StringIO(a.to_csv())).write_csv()
    assert a.per_query().height == len(scores.queries) * len(scores.systems)
    with pytest.raises(ArgumentError, match="steady"):
        a["stady"]
