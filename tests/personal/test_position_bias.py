"""Position bias: the values to check, a slow estimate by loops, logs whose truth is known; and nothing uses it."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.clicks.logs import YANDEX12, c12, made, q12, write_lines
from tests.personal.small import SMALL, small_study, small_table

from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.personal import study as study_module
from surefoot.personal.position_bias import (
    GROUPS,
    POSITIONS,
    Examination,
    PositionCounts,
    examination,
    least_squares,
    log_ratios,
    position_bias,
    position_counts,
)
from surefoot.personal.study import Personalization, study
from surefoot.personal.tables import bias_note, to_markdown

SHOWN, CLICKED = [[10, 6, 0], [4, 8, 5], [0, 5, 12]], [[5, 2, 0], [2, 3, 1], [0, 2, 3]]  # rows pairs, columns positions


def of_one_group(shown: list[list[int]], clicked: list[list[int]]) -> list[PositionCounts]:
    """The counts of pairs × positions, all of one group."""
    pairs = np.arange(len(shown))
    columns = zip(np.array(shown, float).T, np.array(clicked, float).T, strict=True)
    return [PositionCounts(pairs, n[:, None], c[:, None]) for n, c in columns]


class TestCheckValues:
    """The worked example: three pairs, three positions."""

    def test_ratios(self) -> None:
        ratios, variances = log_ratios(of_one_group(SHOWN, CLICKED))
        upper = np.triu_indices(3, 1)
        assert ratios[0][upper] == pytest.approx([-0.354821, -0.916291, -0.538241], abs=5e-7)
        assert variances[0][upper] == pytest.approx([0.225349, 1.05, 0.364621], abs=5e-7)
        assert np.isnan(ratios[0][np.tril_indices(3)]).all()

    def test_least_squares(self) -> None:
        ratios, variances = log_ratios(of_one_group(SHOWN, CLICKED))
        fit = least_squares(ratios[0], variances[0])
        assert np.exp(fit.log_p) == pytest.approx([1, 0.699064, 0.405993], abs=5e-7)
        assert np.sqrt(np.diag(fit.covariance)) == pytest.approx([0.440889, 0.614599], abs=5e-7)
        assert fit.q == pytest.approx(0.000329, abs=5e-7)
        assert fit.df == 1

    def test_always_or_never_clicked_is_no_measure_of_how_sure(self) -> None:
        ratios, _ = log_ratios(of_one_group([[1, 1], [2, 3]], [[1, 1], [0, 0]]))
        assert np.isnan(ratios).all()


# A list: whose it is, its query, and its documents with whether each was clicked.
List = tuple[str, str, list[tuple[str, bool]]]


def slow_counts(lists: list[List], without: int | None) -> tuple[Counter[Any], Counter[Any]]:
    """How often each (query, document, position) was shown and clicked, but for one group's lists."""
    shown: Counter[Any] = Counter()
    clicked: Counter[Any] = Counter()
    for owner, query, documents in lists:
        if int(hashlib.sha256(f"jackknife\t0\t{owner}".encode()).hexdigest()[:16], 16) * 20 >> 64 != without:
            for position, (document, was_clicked) in enumerate(documents[:10], start=1):
                shown[query, document, position] += 1
                clicked[query, document, position] += was_clicked
    return shown, clicked


def slow_ratios(lists: list[List], without: int | None) -> dict[tuple[int, int], tuple[float, float]]:
    """ln(R/S) and v of each two positions, in exact fractions up to the logarithm."""
    shown, clicked = slow_counts(lists, without)
    known = {}
    for k, m in combinations(range(1, 11), 2):
        r = s = spread = Fraction(0)
        for query, document in {key[:2] for key in shown}:
            n_k, n_l = (shown[query, document, one] for one in (k, m))
            c_k, c_l = (clicked[query, document, one] for one in (k, m))
            if n_k and n_l:
                total = n_k + n_l
                r += Fraction(c_l * n_k, total)
                s += Fraction(c_k * n_l, total)
                spread += Fraction(n_k * n_l * (c_k + c_l) - c_k * c_l * total, total**2)
        if r and s and spread:
            known[k, m] = math.log(r / s), float(spread / (r * s))
    return known


def slow_connected(pairs: set[tuple[int, int]]) -> set[int]:
    """The positions that chains of pairs connect with the first."""
    reached = {1}
    while more := {one for pair in pairs if reached & set(pair) for one in pair} - reached:
        reached |= more
    return reached


def slow_fit(known: dict[tuple[int, int], tuple[float, float]], end: int) -> tuple[list[float], float]:
    """ln p of positions 2 … end, by the normal equations of weighted least squares, and Q."""
    matrix, right = np.zeros((end - 1, end - 1)), np.zeros(end - 1)
    for (k, m), (ratio, v) in known.items():
        row = np.zeros(end + 1)
        row[m], row[k] = 1, -1
        matrix += np.outer(row[2:], row[2:]) / v
        right += row[2:] * ratio / v
    x = [0.0, 0.0, *np.linalg.solve(matrix, right)]
    return x[2:], sum((ratio - (x[m] - x[k])) ** 2 / v for (k, m), (ratio, v) in known.items())


def slow_examination(lists: list[List]) -> tuple[list[float], list[list[float]], float, int] | None:
    """ln p, the jackknife's covariance, Q and its degrees of freedom; None where it cannot be estimated."""
    whole = slow_ratios(lists, None)
    reached = slow_connected(set(whole))
    end = max(reached)
    if end == 1 or reached != set(range(1, end + 1)):
        return None
    fits = []
    for without in (None, *range(20)):
        known = {pair: one for pair, one in slow_ratios(lists, without).items() if pair[1] <= end}
        if slow_connected(set(known)) != reached:
            return None
        fits.append(slow_fit(known, end))
    (x, q), *refits = fits
    means = [sum(refit[at] for refit, _ in refits) / 20 for at in range(end - 1)]
    covariance = [
        [19 / 20 * sum((refit[i] - means[i]) * (refit[j] - means[j]) for refit, _ in refits) for j in range(end - 1)]
        for i in range(end - 1)
    ]
    return x, covariance, q, len([pair for pair in whole if pair[1] <= end]) - end + 1


def table_of(lists: list[List], folder: Path, users: bool = True) -> FeatureTable:
    """The table that the pipeline would have made of them, with the columns that are read here."""
    rows = [
        {
            "session": owner if not users else f"s{number}", "user": owner if users else None, "query": query,
            "document": document, "position": position, "clicked": was_clicked, "impression": f"l{number}",
        }
        for number, (owner, query, documents) in enumerate(lists)
        for position, (document, was_clicked) in enumerate(documents, start=1)
    ]  # fmt: skip
    kinds = dict.fromkeys(("session", "user", "query", "document", "impression"), pl.String)
    frame = pl.DataFrame(rows, schema=kinds | {"position": pl.Int64, "clicked": pl.Boolean})
    for shard in range(2):
        place = folder / "features" / f"shard={shard}"
        place.mkdir(parents=True, exist_ok=True)
        frame.filter(pl.int_range(pl.len()) % 2 == shard).write_parquet(place / "part-0.parquet")
    return FeatureTable(folder, [], {}, {}, None, users)


def random_lists(seed: int, owners: int, sizes: int, loss: float) -> list[List]:
    """Lists of few documents in orders that vary, fewer clicks further down."""
    rng = np.random.default_rng(seed)
    lists: list[List] = []
    for number in range(owners * 6):
        query = f"q{rng.integers(3)}"
        documents = [f"d{one}" for one in rng.permutation(sizes + 2)[:sizes]]
        clicked = rng.random(sizes) < 0.8 * (1 + np.arange(sizes)) ** -loss
        lists.append((f"o{number % owners}", query, list(zip(documents, clicked.tolist(), strict=True))))
    return lists


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12), st.sampled_from([0.0, 0.5, 2.0]), st.booleans()
)  # fmt: skip
def test_against_loops(
    tmp_path_factory: pytest.TempPathFactory, seed: int, owners: int, sizes: int, loss: float, users: bool
) -> None:
    lists = random_lists(seed, owners, sizes, loss)
    table = table_of(lists, tmp_path_factory.mktemp("table"), users)
    found, expected = examination(position_counts(table)), slow_examination(lists)
    bias = position_bias(table)
    if expected is None:
        assert isinstance(found, str)
        assert bias["status"] == "cannot be estimated"
        assert bias["reason"] == found
        return
    x, covariance, q, df = expected
    assert isinstance(found, Examination)
    assert found.log_p[1:] == pytest.approx(x, rel=1e-9, abs=1e-9)
    assert found.covariance == pytest.approx(np.array(covariance), rel=1e-7, abs=1e-10)
    assert (found.q, found.df) == (pytest.approx(q, rel=1e-9, abs=1e-9), df)
    errors = np.sqrt(np.diag(covariance))
    if errors.max() > 0.25:
        assert bias["status"] == "cannot be estimated"
        assert "above 0.25" in bias["reason"]
        return
    mean, its_error = sum(x) / len(x), math.sqrt(np.sum(covariance)) / len(x)
    assert bias["status"] == ("present" if mean < -2 * its_error else "not found")
    reach = np.exp(1.959964 * np.append(0, errors))
    assert bias["p"] == pytest.approx([1, *np.exp(x)])
    assert bias["standard_errors"] == pytest.approx([0, *errors], rel=1e-6, abs=1e-9)
    assert bias["low"] == pytest.approx(np.array(bias["p"]) / reach, rel=1e-5)
    assert bias["high"] == pytest.approx(np.array(bias["p"]) * reach, rel=1e-5)
    assert bias["position_alone_refuted"] == (q / df > 2 if df else None)


def test_of_a_real_pipeline(tmp_path: Path) -> None:
    """A click on a list counts once however often it is clicked; what was shown twice in a list has one position."""
    lines = []
    for number in range(40):
        first, second = ("a", "b") if number % 4 < 2 else ("b", "a")
        lines.append(q12(number, 0, "q", first, second, first))
        if number % 3 == 0:
            lines += [c12(number, 1, first), c12(number, 2, first)]
        if number % 5 == 0:
            lines.append(c12(number, 3, second))
    table = made(write_lines(tmp_path / "log", lines), tmp_path / "made", YANDEX12)
    lists: list[List] = []
    for number in range(40):
        first, second = ("a", "b") if number % 4 < 2 else ("b", "a")
        lists.append((str(number), "q", [(first, number % 3 == 0), (second, number % 5 == 0)]))
    expected, found = slow_examination(lists), examination(position_counts(table))
    assert expected is not None
    assert isinstance(found, Examination)
    assert found.log_p[1:] == pytest.approx(expected[0])
    assert found.covariance == pytest.approx(np.array(expected[1]))


class TestWhatCannotBeEstimated:
    """Refused, with the reason."""

    @staticmethod
    def reason(lists: list[List], folder: Path) -> str:
        bias = position_bias(table_of(lists, folder))
        assert bias["status"] == "cannot be estimated"
        assert bias["p"] == bias["standard_errors"] == bias["low"] == bias["high"] == []
        assert bias["q"] is bias["df"] is bias["position_alone_refuted"] is None
        assert bias["reason"] is not None
        return bias["reason"]

    def test_an_order_that_never_changes(self, tmp_path: Path) -> None:
        lists: list[List] = [(f"u{one}", "q", [("a", True), ("b", one % 2 == 0)]) for one in range(50)]
        assert "position 2 is not connected with the first" in self.reason(lists, tmp_path)

    def test_no_clicks(self, tmp_path: Path) -> None:
        lists: list[List] = [("u", "q", [("a", False), ("b", False)]), ("u", "q", [("b", False), ("a", False)])]
        assert "position 2 is not connected with the first" in self.reason(lists, tmp_path)

    def test_a_gap(self, tmp_path: Path) -> None:
        lists: list[List] = []
        for one in range(200):  # a and c change places, b never does
            a, c = ("a", "c") if one % 2 else ("c", "a")
            lists.append((f"u{one}", "q", [(a, one % 3 > 0), ("b", one % 3 > 0), (c, one % 5 > 2)]))
        assert "position 2 is not connected with the first" in self.reason(lists, tmp_path)

    def test_one_user_alone_connects(self, tmp_path: Path) -> None:
        lists = [("only", *rest) for _, *rest in random_lists(3, 200, 3, 0.5)]
        assert "of 20 of the users" in self.reason(lists, tmp_path)

    def test_too_small_a_log(self) -> None:
        found = examination(position_counts(small_table()))
        assert isinstance(found, Examination)
        error = math.sqrt(found.covariance[-1, -1])  # the largest
        assert 0.25 < error < 1
        bias = position_bias(small_table())
        assert bias["status"] == "cannot be estimated"
        assert bias["reason"] == (
            f"the standard error of ln p is {error:.3g} at position 10, above 0.25; a larger log may do"
        )

    def test_positions_below_the_last_connected_one_are_left_out(self, tmp_path: Path) -> None:
        lists = [
            (owner, query, [*documents, ("always last", number % 2 == 0)])
            for number, (owner, query, documents) in enumerate(random_lists(1, 300, 3, 0.5))
        ]
        assert len(position_bias(table_of(lists, tmp_path))["p"]) == 3


def shown_lists(rng: np.random.Generator, users: int, loss: float, personal: bool = False) -> list[PositionCounts]:
    """Counts of a generated log: p_k = k^−loss of those who look click by the result's appeal; some users click more.

    The engine shows nearly the same order every time; where it is `personal`, nearer to what the user likes.
    """
    lists = rng.geometric(1 / 14, users)
    user = np.repeat(np.arange(users), lists)
    size, documents = len(user), 12
    popularity = 1 / np.arange(1, 61)
    query = rng.choice(60, size, p=popularity / popularity.sum())
    appeal = rng.uniform(0.05, 0.6, (60, documents))[query]
    if personal:
        appeal = np.clip(appeal + rng.choice([-0.1, 0.1], (users, documents))[user], 0.01, 1)
    order = np.argsort(-(appeal + rng.normal(0, 0.1, (size, documents))), axis=1)[:, :POSITIONS]
    activity = np.exp(rng.normal(-0.5, 0.6, users))[user, None]
    chance = np.minimum(np.take_along_axis(appeal, order, 1) * activity, 1) * np.arange(1.0, POSITIONS + 1) ** -loss
    clicked, group = rng.random(order.shape) < chance, rng.integers(GROUPS, size=users)[user]
    counts = []
    for position in range(POSITIONS):
        pairs, row = np.unique(query * documents + order[:, position], return_inverse=True)
        shown, happened = np.zeros((2, len(pairs), GROUPS))
        np.add.at(shown, (row, group), 1)
        np.add.at(happened, (row, group), clicked[:, position])
        counts.append(PositionCounts(pairs, shown, happened))
    return counts


def simulated(loss: float, logs: int) -> tuple[float, int, float]:
    """Of so many logs: the share of positions whose 95 % interval holds the truth, logs flagged, largest Q/df."""
    truth = -loss * np.log(np.arange(2, POSITIONS + 1))
    covered, flagged, heterogeneity = [], 0, 0.0
    for seed in range(logs):
        found = examination(shown_lists(np.random.default_rng(seed), 800, loss))
        assert isinstance(found, Examination)
        covered += (np.abs(found.log_p[1:] - truth) <= 1.96 * np.sqrt(np.diag(found.covariance))).tolist()
        flagged += found.log_p[1:].mean() < -2 * np.sqrt(found.covariance.mean())
        heterogeneity = max(heterogeneity, found.q / found.df)
    return float(np.mean(covered)), flagged, heterogeneity


@pytest.mark.parametrize("loss", [0.3, 1.0])
def test_the_truth_is_covered_and_bias_is_flagged(loss: float) -> None:
    covered, flagged, heterogeneity = simulated(loss, 30)
    assert covered > 0.9
    assert flagged == 30
    assert heterogeneity < 2


def test_without_bias_it_is_mostly_not_flagged() -> None:
    covered, flagged, _ = simulated(0.0, 40)
    assert covered > 0.9
    assert flagged <= 3


def test_a_log_of_a_personal_ranker_misleads_it() -> None:
    """What the words warn of: everybody looks at every position, and the data do not show that p is wrong."""
    found = examination(shown_lists(np.random.default_rng(1), 400, 0.0, personal=True))
    assert isinstance(found, Examination)
    assert found.log_p[-1] < -5 * math.sqrt(found.covariance[-1, -1])
    assert math.exp(found.log_p[-1]) < 0.6
    assert found.q / found.df < 2


class TestShown:
    """The sentence and the data."""

    def test_a_small_study_has_it(self) -> None:
        data = small_study().to_dict()
        assert data["position_bias"] == position_bias(small_table())
        note = bias_note(data)
        assert note in Personalization(data).to_text(10_000)
        assert note in to_markdown(data)
        assert note in small_study().to_html()

    def test_words(self) -> None:
        bias: dict[str, Any] = {
            "status": "present", "reason": None, "p": [1.0, 0.407], "standard_errors": [0.0, 0.1], "low": [1.0, 0.335],
            "high": [1.0, 0.495], "q": 5.0, "df": 2, "position_alone_refuted": True,
        }  # fmt: skip
        assert bias_note({"position_bias": bias}) == (
            "Position bias is present: if looking depends on position alone, a result at position 2 was looked at 41 % "
            "as often as the first (95 % interval: 34 % to 50 %). surefoot shows this and does not use it. Position "
            "alone does not explain this. Where the order depends on the user, as in the log of "
            "a personal ranker, this estimate is wrong and the data cannot show it."
        )
        bias |= {"status": "not found", "position_alone_refuted": False}
        note = bias_note({"position_bias": bias})
        assert note.startswith("Position bias was not found: if looking depends on position alone")
        assert "does not explain" not in note
        unknown = {"status": "cannot be estimated", "reason": "too few", "p": []}
        assert bias_note({"position_bias": unknown}) == ("Position bias cannot be estimated from this log: too few.")


def test_it_is_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models, labels and choices are the same, byte for byte, whatever it says."""
    without: dict[str, Any] = {
        "status": "cannot be estimated", "reason": "it was not tried", "p": [], "standard_errors": [], "low": [],
        "high": [], "q": None, "df": None, "position_alone_refuted": None,
    }  # fmt: skip
    results, files = [], []
    for name in ("with", "without"):
        if name == "without":
            monkeypatch.setattr(study_module, "position_bias", lambda table: without)
        folder = tmp_path / name
        shutil.copytree(small_table().folder, folder, ignore=shutil.ignore_patterns("models"))
        data = json.loads(study(FeatureTable.read(folder), labels="grades", **SMALL).to_json())
        results.append((data.pop("position_bias"), data))
        models = folder / "models"
        files.append({str(path.relative_to(models)): path.read_bytes() for path in models.rglob("*") if path.is_file()})
    assert results[0][0] != results[1][0]
    assert results[0][1] == results[1][1]
    assert len(files[0]) > 10
    assert files[0] == files[1]
