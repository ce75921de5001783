"""`surefoot train` and `surefoot rank`: the same numbers everywhere, and how they say no."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.inputs import named_letor

import surefoot as sf


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("letor")
    for name, seed in (("train", 1), ("vali", 2)):
        data, bm25 = named_letor("D", queries=40, documents=15, features=12, seed=seed)
        data.write(home / f"{name}.txt")
        bm25.write(home / f"{name}.run")
    return home


SMALL = ("--trees", "8", "--set", "num_leaves=4", "--set", "min_data_in_leaf=5", "--set", "num_threads=1")


def test_train_rank_and_evaluate_print_the_same_numbers(surefoot, folder: Path, tmp_path: Path) -> None:
    code, out, err = surefoot(
        "train", folder / "train.txt", "--valid", folder / "vali.txt", "-b", "bm25=feature:1", "--objective", "u_risk",
        "--alpha", "5", *SMALL, "-o", tmp_path / "model", "--html", tmp_path / "report.html",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Saved 8 trees" in out
    assert "against bm25" in out
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    code, out_rank, _ = surefoot(
        "rank", tmp_path / "model", folder / "vali.txt", "-o", tmp_path / "c.run", "--qrels", tmp_path / "q.txt"
    )  # fmt: skip
    assert code == 0
    assert "Wrote" in out_rank
    measure = "nDCG(dcg='exp-log2')@10"
    code, evaluated, _ = surefoot(
        "evaluate", tmp_path / "q.txt", tmp_path / "c.run", "-b", "c", "-m", measure, "--json", "-"
    )
    mean = json.loads(evaluated)["systems"][0]["mean"]
    assert f"{mean:.4f}" in out
    details = json.loads((tmp_path / "model" / "ranker.json").read_text())
    assert details["fitted"]["history_"]["valid"]["effectiveness"][-1] == pytest.approx(mean, abs=1e-12)


def test_baselines_from_a_run_and_from_a_model(surefoot, folder: Path, tmp_path: Path) -> None:
    common = ("train", folder / "train.txt", *SMALL)
    assert surefoot(*common, "-o", tmp_path / "first", "--quiet")[:2] == (0, "")
    code, out, _ = surefoot(
        *common, "-b", f"{folder / 'train.run'}", "-b", f"old={tmp_path / 'first'}",
        "--objective", "geo_risk", "--alpha", "1", "-o", tmp_path / "second",
    )  # fmt: skip
    assert code == 0
    assert "train" in out
    assert "old" in out
    assert sf.Ranker.load(tmp_path / "second").baselines_ == ["train", "old"]


def test_a_model_that_starts_from_a_baseline_finds_it_among_others(surefoot, folder: Path, tmp_path: Path) -> None:
    common = ("train", folder / "train.txt", *SMALL, "-b", "bm25=feature:1")
    assert surefoot(*common, "--init-baseline", "-o", tmp_path / "first", "--quiet")[0] == 0
    old = ("-b", f"old={tmp_path / 'first'}")
    assert surefoot(*common, "-b", "feature:2", *old, "-o", tmp_path / "second", "--quiet")[0] == 0
    code, _, err = surefoot("train", folder / "train.txt", *old, "-o", tmp_path / "third")
    assert code == 2
    assert "needs this baseline again" in err


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".run.gz"])
def test_rank_into_any_file(surefoot, folder: Path, tmp_path: Path, ending: str) -> None:
    surefoot("train", folder / "train.txt", *SMALL, "-o", tmp_path / "m", "--quiet")
    code, _, _ = surefoot("rank", tmp_path / "m", folder / "vali.txt", "-o", tmp_path / f"c{ending}")
    assert code == 0
    assert (tmp_path / f"c{ending}").stat().st_size > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--objective", "urisk"), "one of gain, u_risk, saro, faro, geo_risk, regression; did you mean u_risk?"),
        (("--objective", "u_risk"), "needs a baseline; add --baseline"),
        (
            ("--objective", "u_risk", "-b", "feature:1"),
            "needs --alpha: each loss counts 1 + α times, such as --alpha 5",
        ),
        (("--alpha", "5"), "has no effect with --objective gain"),
        (("--stop-on", "u_risk@5", "--valid", "train.txt"), "compares with a baseline"),
        (("--stop-on", "u_risk"), "the others need one, such as u_risk@5"),
        (("--set", "seed=5"), "give random_state"),
        (("--set", "label_gain=0,1,3"), "`measure` decides the gains"),
        (("--set", "num_leaves=4", "--set", "num_leaves=5"), "you gave --set num_leaves twice"),
        (("--set", "min_data_in_leaf=1000000"), "no tree can be grown"),
        (("--seed", "-1"), "random_state is -1"),
        (("-b", "feature:99"), "there is no feature 99"),
        (("-b", "feature:x"), "is neither a feature nor a file"),
        (("-b", "bm25"), "is neither a feature nor a file"),
        (("-b", "absent"), "is neither a feature nor a file"),
        (("--set", "num_leafs=5"), "unknown parameter 'num_leafs'"),
        (("--set", "num_leaves"), "is not understood"),
        (("--html", "x.html"), "add --valid FILE"),
        (("--measure", "P@10"), "cannot be optimised"),
        (("--early-stopping", "5"), "needs validation data"),
        (("--threads", "0"), "--threads"),
    ],
)
def test_what_is_refused(surefoot, folder: Path, tmp_path: Path, monkeypatch, options, message: str) -> None:
    monkeypatch.chdir(folder)
    code, _, err = surefoot("train", folder / "train.txt", "--trees", "2", "-o", tmp_path / "model", *options)
    assert code == 2
    assert message in err
    assert not (tmp_path / "model").exists()


BAD = {
    "num_leaves": "1 0 -5 x 2.5 [3] null {} 131073 1e308 true \"\"", "learning_rate": "0 -1 nan fast null [] 1e308",
    "num_threads": "100000 2147483648 x -5 0.5", "max_bin": "1 0 x 2147483648", "min_data_in_leaf": "-1 x 1.5 []",
    "bagging_fraction": "0 2 x 0.5", "feature_fraction": "0 2 -1 []", "lambda_l2": "-1 x inf", "lambda_l1": "-1 {}",
    "max_depth": "x 1e10 -2", "boosting": "rf x 5", "data_sample_strategy": "x 1", "device_type": "tpu 1",
    "monotone_constraints": "1 x 2,2 {\"absent\":1}", "interaction_constraints": "x 5 [[99]] [0,",
    "categorical_feature": "99 x -1",
    "max_bin_by_feature": "10 1,1", "feature_contri": "1 x", "extra_trees": "maybe 2 null", "drop_rate": "2 -1",
    "tree_learner": "data", "metric": "ndcg", "objective": "binary", "verbosity": "x", "path_smooth": "-1",
    "min_sum_hessian_in_leaf": "-1 x", "max_delta_step": "x", "top_rate": "2", "histogram_pool_size": "x -5",
    "num_grad_quant_bins": "0 x", "cegb_penalty_feature_lazy": "1", "linear_lambda": "-1", "cat_smooth": "-1",
    "output_model": "x.txt", "input_model": "x.txt", "machines": "x", "refit_decay_rate": "0.5", "config": "x",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_values_of_set(surefoot, folder: Path, tmp_path: Path, name: str) -> None:
    for value in BAD[name].split():
        command = ("train", folder / "train.txt", "--trees", "2", "-o", tmp_path / "model", "--set", f"{name}={value}")
        code, _, err = surefoot(*command)
        assert (code, "Traceback" in err) == (2, False), value
        assert name in err, value
    assert list(tmp_path.iterdir()) == []


def test_four_lines_and_constant_features(surefoot, tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    for text in (
        "1 qid:1 1:0.5 2:1\n0 qid:1 1:0.4 2:0\n1 qid:2 1:3 2:1\n0 qid:2 1:2 2:5\n",
        "".join(f"{row % 2} qid:{row // 10} 1:1 2:7\n" for row in range(100)),
    ):
        file.write_text(text)
        code, _, err = surefoot("train", file, "-o", tmp_path / "model")
        assert code == 2
        assert "no tree can be grown" in err


def test_named_features_of_a_table_go_by_name(surefoot, folder: Path, tmp_path: Path) -> None:
    data = sf.read_letor(folder / "train.txt")
    names = [f"name {number}" for number in range(data.n_features)]
    turned = names[::-1]
    sf.RankingData(data.X, data.y, group=data.lengths, feature_names=names).write(tmp_path / "train.parquet")
    columns = np.ascontiguousarray(data.X[:, ::-1])
    sf.RankingData(columns, data.y, group=data.lengths, feature_names=turned).write(tmp_path / "turned.parquet")
    sf.RankingData(columns[:, 1:], data.y, group=data.lengths, feature_names=turned[1:]).write(tmp_path / "few.parquet")
    model = tmp_path / "m"
    assert surefoot("train", tmp_path / "train.parquet", *SMALL, "-o", model)[0] == 0
    for name in ("train", "turned"):
        assert surefoot("rank", model, tmp_path / f"{name}.parquet", "-o", tmp_path / f"{name}.run")[0] == 0
    assert sf.read_run(tmp_path / "train.run").to_dict() == sf.read_run(tmp_path / "turned.run").to_dict()
    code, _, err = surefoot("rank", model, tmp_path / "few.parquet", "-o", tmp_path / "few.run")
    assert code == 2
    assert "it does not have 'name 11'" in err


def test_a_text_that_lacks_the_last_features(surefoot, folder: Path, tmp_path: Path) -> None:
    surefoot("train", folder / "train.txt", *SMALL, "-o", tmp_path / "m", "--quiet")
    (tmp_path / "test.txt").write_text("1 qid:1 1:0.5 #docid = a\n0 qid:1 2:1 #docid = b\n")
    assert surefoot("rank", tmp_path / "m", tmp_path / "test.txt", "-o", tmp_path / "c.run")[0] == 0
    documents = sf.read_letor(tmp_path / "test.txt", n_features=12)
    expected = sf.Ranker.load(tmp_path / "m").to_run(documents).to_dict()
    assert sf.read_run(tmp_path / "c.run").to_dict() == expected


@pytest.mark.parametrize("more", [["--threads", "1"], ["--threads", "2"], ["--set", "num_threads=2", "--threads", "1"]])
def test_threads_change_no_tree(surefoot, folder: Path, tmp_path: Path, more: list[str]) -> None:
    few = ("--trees", "4", "--set", "num_leaves=4", "--set", "deterministic=true", "--set", "force_row_wise=true")
    common = ("train", folder / "train.txt", *few, "-q", "-o")
    assert surefoot(*common, tmp_path / "one", "--set", "num_threads=1") == (0, "", "")
    assert surefoot(*common, tmp_path / "other", *more) == (0, "", "")
    trees = [(tmp_path / name / "model.txt").read_text().partition("end of trees")[0] for name in ("one", "other")]
    assert trees[0] == trees[1]


def test_a_baseline_named_twice(surefoot, folder: Path, tmp_path: Path) -> None:
    code, _, err = surefoot(
        "train", folder / "train.txt", "-b", "bm25=feature:1", "-b", "bm25=feature:2", "-o", tmp_path / "m"
    )
    assert code == 2
    assert "old=feature:2" in err
    assert "old=bm25=" not in err


def test_the_same_bytes_with_checkpoints_and_without(surefoot, folder: Path, tmp_path: Path) -> None:
    for name, more in (("plain", []), ("kept", ["--checkpoint", tmp_path / "state.json"])):
        assert surefoot("train", folder / "train.txt", *SMALL, "-q", "-o", tmp_path / name, *more) == (0, "", "")
    texts = [(tmp_path / name / "model.txt").read_bytes() for name in ("plain", "kept")]
    assert texts[0] == texts[1]
    assert b"[num_iterations: 8]" in texts[0]
    assert b"[data_random_seed: 0]" in texts[0]


def test_the_tie_rule_of_data_without_ids(surefoot, tmp_path: Path) -> None:
    made = sf.demo.letor(queries=20, documents=15, features=4, seed=1)
    sf.RankingData(made.X, made.y, group=made.lengths).write(tmp_path / "bare.txt")
    bare = tmp_path / "bare.txt"
    code, out, _ = surefoot("train", bare, "--valid", bare, "-b", "feature:1", *SMALL, "-o", tmp_path / "m")
    assert code == 0
    assert "Documents with equal scores are ranked by row order." in " ".join(out.split())


def test_the_checkpoint_outlives_a_full_disk(surefoot, folder: Path, tmp_path: Path, monkeypatch) -> None:
    checkpoint = tmp_path / "state.json"
    command = ("train", folder / "train.txt", *SMALL, "-o", tmp_path / "m", "--checkpoint", checkpoint)
    command += ("--checkpoint-every", "3")
    with monkeypatch.context() as full:
        write = Path.write_bytes

        def write_bytes(path: Path, data: bytes) -> int:
            if path.parent != tmp_path:
                raise OSError(28, "No space left on device")
            return write(path, data)

        full.setattr(Path, "write_bytes", write_bytes)
        code, _, err = surefoot(*command)
    assert code == 2
    assert "No space left on device" in err
    assert checkpoint.exists()
    assert not (tmp_path / "m").exists()
    assert surefoot(*command)[0] == 0
    assert not checkpoint.exists()
    assert sf.Ranker.load(tmp_path / "m").best_iteration_ == 8


def test_several_models_become_their_mean(surefoot, folder: Path, tmp_path: Path) -> None:
    common = (
        "train", folder / "train.txt", "--valid", folder / "vali.txt", "-b", "bm25=feature:1", "--objective", "u_risk",
        "--alpha", "5", *SMALL,
    )  # fmt: skip
    code, out, err = surefoot(
        *common, "--models", "3", "--set", "feature_fraction=0.5", "--checkpoint", tmp_path / "state.json",
        "--checkpoint-every", "3", "-o", tmp_path / "mean",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "seed 2: 8 trees, effectiveness 0." in out
    assert "Saved the mean of 3 models as one of 24 trees" in out
    assert [file.name for file in tmp_path.iterdir()] == ["mean"]
    vali = sf.read_letor(folder / "vali.txt")
    parts = []
    for seed in range(3):
        single = (*common, "--seed", str(seed), "--set", "feature_fraction=0.5", "-o", tmp_path / str(seed), "-q")
        assert surefoot(*single)[0] == 0
        parts.append(sf.Ranker.load(tmp_path / str(seed)).predict(vali))
    # Not to the last bit: at a checkpoint LightGBM starts its draws again.
    assert np.corrcoef(sf.Ranker.load(tmp_path / "mean").predict(vali), np.mean(parts, axis=0))[0, 1] > 0.9
    code, _, err = surefoot(*common, "--models", "3", "-o", tmp_path / "none")
    assert code == 2
    assert "nothing is drawn at random; give feature_fraction=0.7" in err
    assert not (tmp_path / "none").exists()


def test_explain_a_card_and_going_on(surefoot, folder: Path, tmp_path: Path) -> None:
    common = ("train", folder / "train.txt", "--valid", folder / "vali.txt", "-b", "bm25=feature:1", *SMALL)
    code, _, err = surefoot(*common, "-o", tmp_path / "model", "--card", tmp_path / "README.md", "-q")
    assert (code, err) == (0, "")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlibrary_name: surefoot\n")
    assert "vali.txt, the validation data" in card
    explained = ("explain", tmp_path / "model", folder / "vali.txt", "-b", "bm25=feature:1")
    code, out, _ = surefoot(
        *explained, "3", "--json", tmp_path / "e.json", "--markdown", tmp_path / "e.md", "--pairs", "1",
        "--html", tmp_path / "e.html",
    )  # fmt: skip
    assert code == 0
    content = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    assert content["schema"] == "surefoot/explanation/1"
    assert content["query"] == "3"
    assert out.startswith("Query 3 ")
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert page.count("<table>") == len(content["swaps"])
    assert (tmp_path / "e.md").read_text(encoding="utf-8").startswith("# Query 3\n")
    code, _, err = surefoot(*explained, "no such")
    assert code == 2
    assert "the data has no query 'no such'" in err
    code, out, _ = surefoot(*common, "--init-model", tmp_path / "model", "-o", tmp_path / "more")
    assert code == 0
    assert "Saved 16 trees" in out
    code, _, err = surefoot(*common, "--measure", "AP", "--init-model", tmp_path / "model", "-o", tmp_path / "other")
    assert code == 2
    assert "init_model was trained with other measure" in err
