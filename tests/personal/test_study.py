"""The study: parts that do not overlap, figures against loops, choices on validation lists, and a result that keeps."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.clicks.logs import GRADES, SATISFIED, YANDEX14, generated, made
from tests.personal.small import SMALL, small_study, small_table
from tests.report.notebooks import HOSTILE, SHOWN, checked, told
from tests.report.schemas import check_data

import surefoot as sf
import surefoot.personal.study as study_module
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.measured_queries import PARTS
from surefoot.learn.ranker import Ranker
from surefoot.personal.lists import read_lists
from surefoot.personal.methods import MethodSetting, TrainingData, left_out_features
from surefoot.personal.options import GRIDS, LABEL_MEASURES, METHOD_TITLES, WEIGHTED_REGRESSION
from surefoot.personal.reranker_figures import (
    ShownOrderComparison,
    add_shares,
    largest_area,
    least_risk_at_gain,
    most_gain_at_half,
    most_gain_at_share,
    random_mixture,
)
from surefoot.personal.study import Personalization, study


@pytest.fixture(scope="module")
def table() -> FeatureTable:
    return small_table()


@pytest.fixture(scope="module")
def result() -> Personalization:
    return small_study()


class TestLists:
    """What is learned from and judged by."""

    @pytest.mark.parametrize("by", ["user", "session", "time"])
    def test_parts_do_not_overlap(self, by: str, table: FeatureTable) -> None:
        lists = read_lists(table, labels="grades", split=by)
        rows = table.scan().collect()
        column = "day" if by == "time" else by
        of = dict(zip(rows["impression"], rows[column], strict=True))
        seen = [{of[name] for name in lists[part].data.queries} for part in PARTS]
        assert not seen[0] & seen[1]
        assert not seen[1] & seen[2]
        assert not seen[0] & seen[2]
        if by == "time":
            assert max(seen[0]) < min(seen[1])
            assert max(seen[1]) < min(seen[2])
        sizes = [len(lists[part].data.queries) for part in PARTS]
        assert sum(sizes) == table.counts["satisfied_lists"]
        assert sizes[0] > sizes[1]

    def test_rows_are_in_shown_order_and_the_baseline_is_it(self, table: FeatureTable) -> None:
        data = read_lists(table, labels="grades")["train"].data
        position = data.X[:, table.names.index("position")]
        assert all(
            (np.diff(position[start:end]) > 0).all()
            for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        )
        assert (data.baselines["shown order"] == -position).all()
        assert data.doc_ids is None  # ties go by row order, which is the shown order

    def test_the_last_satisfied_click_alone(self, table: FeatureTable) -> None:
        data = read_lists(table, labels="last")["train"].data
        assert (np.add.reduceat(data.y, data.offsets[:-1]) == 1).mean() > 0.99
        assert set(np.unique(data.y)) == {0.0, 1.0}

    def test_a_sample_is_drawn_by_names(self, table: FeatureTable) -> None:
        everything, some = (read_lists(table, labels="grades", sample=sample) for sample in (None, 300))
        assert sum(len(some[part].data.queries) for part in PARTS) == 300
        assert all(set(some[part].data.queries) <= set(everything[part].data.queries) for part in PARTS)

    def test_what_cannot_be(self, table: FeatureTable) -> None:
        with pytest.raises(ArgumentError, match="did you mean grades"):
            read_lists(table, labels="grade")
        with pytest.raises(ArgumentError, match="Choose one of: user"):
            read_lists(table, split="week")


class TestFigures:
    """Against the shown order."""

    def test_equal_scores_keep_the_shown_order(self, table: FeatureTable) -> None:
        lists = read_lists(table, labels="grades")["test"]
        figures = ShownOrderComparison(lists, LABEL_MEASURES["grades"]).figures(np.zeros(len(lists.data)))
        assert figures["share_reranked"] == figures["gain"] == figures["risk"] == 0.0
        assert figures["tau"] == 1.0

    def test_by_loops(self, table: FeatureTable) -> None:
        lists = read_lists(table, labels="satisfied")["test"]
        comparison, data = ShownOrderComparison(lists, "AP"), lists.data
        scores = np.random.default_rng(5).normal(size=len(data)) - data.X[:, 0] / 3
        gains, moved = [], []
        for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
            order = sorted(range(start, end), key=lambda row: -scores[row])
            gains.append(average_precision(data.y[order]) - average_precision(data.y[start:end]))
            moved.append(order != list(range(start, end)))
        figures = comparison.figures(scores)
        assert figures["gain"] == pytest.approx(np.mean(gains), abs=1e-12)
        assert figures["risk"] == pytest.approx(np.mean([max(0, -gain) for gain in gains]), abs=1e-12)
        assert figures["share_reranked"] == np.mean(moved)
        assert figures["gain_per_reranked"] == pytest.approx(np.sum(gains) / np.sum(moved))

    def test_a_coin(self) -> None:
        full = {"gain": 0.4, "reward": 0.6, "risk": 0.2, "wins": 10, "losses": 4, "share_reranked": 0.8, "mean": 0.9}
        full |= {"tau": 0.7, "tau_reranked": 0.5, "gain_per_reranked": 0.5}
        row = random_mixture({}, {"valid": full, "test": full}, 0.25)["test"]
        assert row["gain"] == pytest.approx(0.1)
        assert row["mean"] == pytest.approx(0.6)
        assert row["tau"] == pytest.approx(0.925)
        assert row["share_reranked"] == pytest.approx(0.2)


def average_precision(labels: np.ndarray) -> float:
    precisions = [(labels[: rank + 1] > 0).mean() for rank in range(len(labels)) if labels[rank] > 0]
    return float(np.mean(precisions))


def point(share: float, gain: float, risk: float = 0.1) -> dict:
    return {part: {"share_reranked": share, "gain": gain, "risk": risk} for part in ("valid", "test")}


class TestChoice:
    """On validation lists."""

    def test_the_largest_area(self) -> None:
        standard = point(0.8, 1.0)
        rows = [point(0.4, 0.6), point(0.2, 0.8), point(0.9, 2.0)]
        for row in rows:
            add_shares(row, standard)
        assert largest_area(rows) is rows[1]
        assert rows[2]["valid"]["area"] is None
        assert rows[1]["valid"]["share_of_gain"] == 0.8
        assert rows[1]["valid"]["area"] == pytest.approx(0.2 * 0.8 / 2 + 0.6 * 0.9 + 0.2)

    def test_test_lists_choose_nothing(self) -> None:
        rows = [point(0.4, 0.6), point(0.4, 0.7)]
        rows[0]["test"]["gain"] = 0.9
        for row in rows:
            add_shares(row, point(0.8, 1.0))
        assert largest_area(rows) is rows[1]

    def test_matched(self) -> None:
        rows = [point(0.8, 1.0, 0.5), point(0.6, 0.9, 0.3), point(0.4, 0.7, 0.2)]
        assert least_risk_at_gain(rows, 0.8) is rows[1]
        assert least_risk_at_gain(rows, 1.5) is rows[0]
        assert most_gain_at_share(rows, 0.7) is rows[1]
        assert most_gain_at_share(rows, 0.1) is rows[2]

    def test_half_as_many(self) -> None:
        rows = [point(0.42, 1.0), point(0.4, 0.7), point(0.2, 0.8)]
        rows[1]["test"]["gain"] = 0.9
        assert most_gain_at_half(rows, point(0.8, 1.0)) is rows[2]
        assert most_gain_at_half(rows, point(0.3, 1.0)) is None


class TestMaterial:
    """Each method's labels."""

    def test_methods_learn_from_their_own_labels(self, table: FeatureTable) -> None:
        lists = read_lists(table, labels="satisfied")
        material = TrainingData(lists["train"].data, lists["valid"].data)
        clicks, weighted = (
            material.for_setting(MethodSetting("standard")),
            material.for_setting(MethodSetting("weighted", beta=0.5)),
        )
        cut = material.for_setting(MethodSetting("lowest_click", beta=2.0))
        assert clicks.train.y is lists["train"].data.y
        assert weighted.train.y[:10].max() > 1
        assert weighted._bins is clicks._bins
        assert len(cut.train) < len(clicks.train)
        assert len(cut.train.queries) == len(clicks.train.queries)
        assert len(cut.valid) == len(clicks.valid)

    def test_objectives(self) -> None:
        assert MethodSetting("risk", alpha=2).objective("AP") == {"measure": "AP", "objective": "u_risk", "alpha": 2}
        assert MethodSetting("weighted", beta=0.1).objective("AP") == {"measure": "nDCG@10", "objective": "gain"}
        both = MethodSetting("weighted_risk", beta=0.1, alpha=5).objective("AP")
        assert both == {"measure": "nDCG@10", "objective": "u_risk", "alpha": 5}

    @pytest.mark.parametrize(
        ("measure", "own"), [("AP", "nDCG@10"), ("RR", "nDCG@10"), (LABEL_MEASURES["grades"], LABEL_MEASURES["grades"])]
    )
    def test_regression_needs_gains(self, measure: str, own: str) -> None:
        assert MethodSetting("standard_regression").objective(measure) == {"measure": own, "objective": "regression"}
        weighted = MethodSetting("weighted_regression", beta=0.1)
        assert weighted.objective(measure) == {"measure": "nDCG@10", "objective": "regression"}

    def test_the_papers_grid(self) -> None:
        grid = GRIDS["bennett2015"]
        assert grid["betas"] == (*(i / 100 for i in range(1, 10)), *(i / 10 for i in range(1, 11)))
        assert grid["alphas"] == (*(i / 10 for i in range(1, 10)), *range(1, 11))
        assert grid["lowest"] == tuple(i / 10 for i in range(1, 21))
        settings = {"num_leaves": 10, "min_data_in_leaf": 2000, "n_estimators": 500, "learning_rate": 0.25}
        assert grid["ranker"].items() >= settings.items()


class TestResult:
    """What is found is kept, rendered and found again."""

    def test_every_method_has_its_row(self, result: Personalization) -> None:
        labels = [row["label"] for row in result.chosen]
        assert labels[0] == METHOD_TITLES["standard"]
        assert len(set(labels)) == len(labels)
        assert {row["method"] for row in result.rows} == set(METHOD_TITLES)
        assert all(0 <= row["test"]["share_reranked"] <= 1 for row in result.rows)

    def test_it_reads_back(self, result: Personalization, tmp_path: Path) -> None:
        result.write(tmp_path / "p.json")
        assert Personalization.read(tmp_path / "p.json").to_dict() == json.loads(result.to_json())
        (tmp_path / "p.json").write_text('{"schema": "surefoot/personalization/1"}')
        with pytest.raises(DataError, match="damaged or incomplete"):
            Personalization.read(tmp_path / "p.json")

    def test_nothing_is_trained_twice(self, table: FeatureTable, result: Personalization) -> None:
        stamps = {file: file.stat().st_mtime_ns for file in (table.folder / "models").rglob("*")}
        again = study(table, labels="grades", **SMALL)
        assert again.to_dict() == result.to_dict()
        assert stamps == {file: file.stat().st_mtime_ns for file in (table.folder / "models").rglob("*")}

    def test_a_chosen_model_can_be_used(self, table: FeatureTable, result: Personalization) -> None:
        lists = read_lists(table, labels="grades")["test"]
        row = next(row for row in result.chosen if row["label"] == METHOD_TITLES["weighted"])
        ranker = Ranker.load(table.folder / result.to_dict()["models"][row["name"]])
        assert (
            ShownOrderComparison(lists, LABEL_MEASURES["grades"]).figures(ranker.predict(lists.data))["gain"]
            == row["test"]["gain"]
        )

    def test_its_schema(self, result: Personalization) -> None:
        check_data(result.to_dict(), "personalization")

    def test_another_type_is_refused_by_its_place(self, result: Personalization) -> None:
        data = json.loads(result.to_json())
        data["chosen"][0]["valid"]["share_reranked"] = None
        with pytest.raises(DataError, match=r"chosen\[0\]\.valid\.share_reranked is None; expected a number"):
            Personalization.from_dict(data)

    def test_tables(self, result: Personalization) -> None:
        for text in (result.to_text(200), result.to_markdown(), result.to_latex()):
            assert "Weighted initial preferences" in text
            assert "K-" in text
        assert result.to_csv().splitlines()[0].startswith("model,method,beta,alpha,chosen_as,part,mean,gain")

    def test_new_users_are_told_apart(self, table: FeatureTable) -> None:
        result = small_study()
        rows = table.scan().select("impression", "user_lists").unique().collect()
        lists = {impression: seen > 0 for impression, seen in rows.rows()}
        test = read_lists(table, labels="grades")["test"].data.queries
        for row in result.chosen:
            if row["name"] in {one["name"] for one in result.rows}:
                found = {kind: figures["lists"] for kind, figures in row["segments"]["user"].items()}
                known = sum(lists[query] for query in test)
                assert found == {"known": known, "new": len(test) - known}

    def test_models_of_one_horizon_alone(self, table: FeatureTable) -> None:
        result = study(table, labels="grades", horizons=True, **SMALL)
        labels = [row["label"] for row in result.chosen]
        assert labels[-2:] == ["… session features alone", "… long-term features alone"]
        assert len(result.rows) == len(small_study().rows) + 2
        assert not any("alone" in name for name in result.to_dict()["models"])
        assert result.chosen[0]["test"]["gain"] == small_study().chosen[0]["test"]["gain"]
        for folder in (table.folder / "models").iterdir():
            setting = json.loads((folder / "setting.json").read_text())
            if setting.get("features"):
                ranker = Ranker.load(folder)
                unused = ranker.feature_importances_[left_out_features(setting["features"], table.names)]
                assert len(unused)
                assert not unused.any()

    def test_segments(self, table: FeatureTable) -> None:
        names = read_lists(table, labels="grades")["test"].data.queries
        kinds = {"kind": {name: "odd" if number % 2 else "even" for number, name in enumerate(names)}}
        by_segment = study(table, labels="grades", segments=kinds, **SMALL)
        row = by_segment.chosen[0]
        parts = row["segments"]["kind"]
        mean_gain = sum(part["gain"] * part["lists"] for part in parts.values()) / len(names)
        assert mean_gain == pytest.approx(row["test"]["gain"])
        assert "even: gain" in by_segment.to_text(200)
        check_data(by_segment.to_dict(), "personalization")

    def test_sessions_to_look_at(self, result: Personalization) -> None:
        for session in result.to_dict()["sessions"]:
            for shown in session["lists"]:
                for order in shown["orders"].values():
                    assert sorted(order) == list(range(len(shown["documents"])))

    def test_a_log_in_which_nobody_is_satisfied(self, tmp_path: Path) -> None:
        log = generated(tmp_path, 5)
        lines = [line for line in log.read_text().splitlines() if "\tC\t" not in line]
        log.write_text("\n".join(lines) + "\n")
        with pytest.raises(DataError, match="no list of the train part has a satisfied click"):
            study(made(log, tmp_path / "made", YANDEX14, SATISFIED))


def test_a_list_at_the_entropy_s_threshold_is_re_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Comparison:
        lists = SimpleNamespace(least_entropy=np.array([1.0, 2.0, 3.0, np.inf]))

        @staticmethod
        def figures(scores: np.ndarray, taken: np.ndarray) -> dict[str, float]:
            return {"share_reranked": float(taken.mean()), "gain": 0.0}

    monkeypatch.setattr(study_module, "add_shares", lambda row, standard: None)
    monkeypatch.setattr(study_module, "largest_area", lambda curve: None)
    parts = dict.fromkeys(study_module.EVALUATION_PARTS, Comparison())
    curve = study_module._selective_curve(parts, dict.fromkeys(parts, np.zeros(4)), {})  # type: ignore[arg-type]
    assert [point["test"] for point in curve["curve"]] == [[0.25, 0.0], [0.5, 0.0], [0.75, 0.0]]


def test_no_worker_of_a_sweep_is_loaded() -> None:
    code = "import sys, surefoot.personal.personalize; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    shared = {f"surefoot.choose.{name}" for name in ("frontier", "options", "recommendation")}
    assert {name for name in loaded if name.startswith("surefoot.choose.")} <= shared


@pytest.mark.heavy
def test_most_of_the_gain_for_half_of_the_re_ranking(tmp_path: Path) -> None:
    table = made(generated(tmp_path, 1000, queries=200), tmp_path / "made", YANDEX14, GRADES)
    for labels, beta in (("grades", 0.3), ("satisfied", 0.2)):
        grid = {"betas": (beta,), "alphas": (), "lowest": ()}
        result = study(table, labels=labels, grid=grid, ranker={"n_estimators": 50})
        standard = result.chosen[0]
        weighted = next(row for row in result.chosen if row["label"] == METHOD_TITLES[WEIGHTED_REGRESSION])
        assert standard["test"]["p"] < 0.05
        assert weighted["test"]["share_reranked"] <= standard["test"]["share_reranked"] / 2
        assert (
            weighted["test"]["share_of_gain"] >= 0.8
        )  # of a twentieth of the log in docs/personalize.md, where it is 0.83


def test_a_personalization_in_a_notebook() -> None:
    study = small_study()
    assert len(checked(study._repr_html_()).find(".//tbody")) == len({row["name"] for row in study.chosen})
    assert f"Models trained {len(study.rows)}" in told(study._repr_html_())
    data = copy.deepcopy(study.to_dict())
    data["chosen"][0]["label"] = data["measure"] = HOSTILE
    assert told(sf.Personalization(data)._repr_html_()).count(SHOWN) >= 3


def test_least_risk_at_a_gain_is_chosen_by_validation_lists() -> None:
    figures = (("safe", 0.1, 0.3), ("bold", 0.2, 0.1), ("dull", 0.0, 0.0))  # risk on validation and on test lists
    rows = [
        {"name": name, "valid": {"gain": 0.5 * (name != "dull"), "risk": valid}, "test": {"gain": 0.5, "risk": test}}
        for name, valid, test in figures
    ]
    assert least_risk_at_gain(rows, 0.4)["name"] == "safe"
    assert least_risk_at_gain(rows, 0.6)["name"] == "safe"  # none gains so much: the nearest, the first of equals
