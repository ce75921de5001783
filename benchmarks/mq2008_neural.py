"""MQ2008, five folds: what networks of each objective gain and risk against BM25, single and as the mean of five.

    python benchmarks/mq2008_neural.py --write build/mq2008.npz ../shared/data/mq2008
    python benchmarks/mq2008_neural.py build/mq2008.npz --json results.json [--device cuda] [--jobs 8]
    python benchmarks/mq2008_neural.py build/mq2008.npz --lightgbm --json trees.json

The first line packs the folds' arrays into one file, and needs surefoot; the second needs NumPy and PyTorch alone. For
each objective and fold one network tries each of four settings, of which the one with the best U_α on the fold's
validation data (nDCG(exp)@10 for gain) is taken; then five seeds are trained together with it. Every network keeps its
best epoch by the same figure. The third line trains trees on the same arrays: 150 of 8 leaves, rate 0.05, 50 documents
per leaf, of which feature_fraction is 0.7, without a choice of settings.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
MEASURE = "nDCG(dcg='exp-log2')@10"
BM25 = 24  # the column of feature 25
OBJECTIVES = [
    ("gain", 0), ("u_risk", 1), ("u_risk", 5), ("u_risk", 20), ("saro", 5), ("faro", 5), ("geo_risk", 5),
]  # fmt: skip
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "first": [
        {"normalize": True, "hidden": (128, 128), "dropout": 0.3},
        {"normalize": False, "hidden": (128, 128), "dropout": 0.3},
        {"normalize": True, "hidden": (128, 128), "dropout": 0.5},
        {"normalize": True, "hidden": (256, 256), "dropout": 0.5},
    ],
    "normalized": [
        {"normalize": True, "hidden": (128, 128), "dropout": 0.3},
        {"normalize": True, "hidden": (128, 128), "dropout": 0.5},
        {"normalize": True, "hidden": (256, 256), "dropout": 0.5},
        {"normalize": True, "hidden": (128, 128), "dropout": 0.3, "learning_rate": 3e-4},
    ],
}
SETS = ("train", "vali", "test")


def pack(folder: Path, file: Path) -> None:
    """The folds' features, labels and numbers of documents per query, in row order."""
    import surefoot as sf

    arrays = {}
    for number, fold in enumerate(sorted(folder.glob("Fold*"))):
        for name in SETS:
            data = sf.read_letor(fold / f"{name}.txt")
            arrays |= {f"{number}-{name}-X": data.X, f"{number}-{name}-y": data.y, f"{number}-{name}-n": data.lengths}
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, **arrays)


def load(file: Path, fold: int) -> dict[str, tuple[Any, Any, Any]]:
    """X, y and offsets of a fold's sets."""
    with np.load(file) as arrays:
        return {
            name: (
                arrays[f"{fold}-{name}-X"],
                arrays[f"{fold}-{name}-y"],
                np.concatenate([[0], np.cumsum(arrays[f"{fold}-{name}-n"])]),
            )
            for name in SETS
        }


def u_risk(values: Any, baseline: Any, alpha: float) -> float:
    difference = values - baseline
    return float(np.minimum(difference, (1 + alpha) * difference).mean())


def train_networks(job: tuple[str, float, int, Path, argparse.Namespace]) -> dict[str, Any]:
    """One objective on one fold: M(q) of the test queries by each seed and by their mean, and the baseline's."""
    import torch

    torch.set_num_threads(1)
    from surefoot.neural import RiskLoss
    from surefoot.neural.network import Network, NetworkShape, QueryLists
    from surefoot.neural.training import NetworkTraining, OptimizerSettings

    objective, alpha, fold, file, given = job
    device, settings = given.device, SETTINGS[given.settings]
    start = time.perf_counter()
    arrays = load(file, fold)
    sets = {name: QueryLists(*each, device) for name, each in arrays.items()}
    plain = RiskLoss("gain", measure=MEASURE)

    def baseline_of(name: str) -> Any:
        return sets[name].measure_scores(arrays[name][0][None, :, BM25], plain)[0]

    baselines = {name: baseline_of(name) for name in SETS}

    def fit(setting: dict[str, Any], models: int) -> NetworkTraining:
        loss = RiskLoss(objective, alpha, MEASURE, normalize=setting["normalize"])
        shape = NetworkShape(arrays["train"][0].shape[1], setting["hidden"], models=models)
        network = Network(shape, setting["dropout"])
        network.set_random(fold)
        network.fit_standardisation(arrays["train"][0])
        network.to(device)
        training = NetworkTraining(
            network, loss, sets["train"], baselines["train"][None],
            OptimizerSettings(
                epochs=given.epochs, patience=given.patience, learning_rate=setting.get("learning_rate", 1e-3)
            ), fold,
            sets["vali"], lambda values: u_risk(values, baselines["vali"], alpha),
        )  # fmt: skip
        training.run()
        return training

    tried = [fit(setting, 1).best.scores[0] for setting in settings]
    chosen = int(np.argmax(tried))
    training = fit(settings[chosen], given.seeds)
    judged = sets["vali"].values(training.network, training.loss)
    values = sets["test"].values(training.network, training.loss)
    return {
        "objective": objective, "alpha": alpha, "fold": fold, "setting": chosen, "epochs": training.best.epochs,
        "validation": figures(judged[-1], baselines["vali"]), "values": values.tolist(),
        "baseline": baselines["test"].tolist(), "seconds": time.perf_counter() - start,
    }  # fmt: skip


def train_trees(job: tuple[str, float, int, Path, argparse.Namespace]) -> dict[str, Any]:
    """The same with LightGBM's trees."""
    import surefoot as sf
    from surefoot.learn.measured_queries import MeasuredQueries

    objective, alpha, fold, file, given = job
    start = time.perf_counter()
    arrays = load(file, fold)
    X, y, offsets = arrays["train"]
    train = sf.RankingData(X, y, group=np.diff(offsets), baselines={"bm25": X[:, BM25]})
    X, y, offsets = arrays["test"]
    test = MeasuredQueries(MEASURE, y, offsets, np.arange(len(y)))
    scores = [
        sf.Ranker(
            objective, alpha if objective != "gain" else None, n_estimators=150, num_leaves=8, learning_rate=0.05,
            min_data_in_leaf=50, feature_fraction=0.7, num_threads=1, random_state=seed,
        ).fit(train).predict(X)
        for seed in range(given.seeds)
    ]  # fmt: skip
    values = [test.values(each).tolist() for each in (*scores, np.mean(scores, axis=0))]
    return {
        "objective": objective, "alpha": alpha, "fold": fold, "values": values,
        "baseline": test.values(X[:, BM25]).tolist(), "seconds": time.perf_counter() - start,
    }  # fmt: skip


def figures(values: Any, baseline: Any) -> tuple[float, float, float]:
    """nDCG(exp)@10, risk, and the number of losses over 20 %."""
    difference = values - baseline
    over = difference < -0.2 * (1 + 1e-9) * baseline
    return float(values.mean()), float(np.maximum(-difference, 0).mean()), float(over.sum())


def table(results: list[dict[str, Any]]) -> str:
    """Of each objective: single models (means over seeds, and their deviation), and the mean of all."""
    headings = "objective", *("nDCG(exp)@10", "risk", "losses > 20 %"), *("mean: nDCG(exp)@10", "risk", "losses > 20 %")
    lines = [f"| {' | '.join(headings)} |", "|" + "---|" * 7]
    for objective, alpha in OBJECTIVES:
        folds = [each for each in results if (each["objective"], each["alpha"]) == (objective, alpha)]
        if not folds:
            continue
        baseline = np.concatenate([each["baseline"] for each in folds])
        values = np.concatenate([np.array(each["values"]) for each in folds], axis=1)
        single = np.array([figures(row, baseline) for row in values[:-1]])
        mean, spread = single.mean(0), single.std(0)
        whole = figures(values[-1], baseline)
        name = objective if objective == "gain" else f"{objective} {alpha:g}"
        lines.append(
            f"| {name} | {mean[0]:.4f} ± {spread[0]:.4f} | {mean[1]:.4f} ± {spread[1]:.4f} | {mean[2]:.1f} "
            f"| {whole[0]:.4f} | {whole[1]:.4f} | {whole[2]:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the arrays; with --write the folder that holds Fold1 to Fold5")
    parser.add_argument("--write", type=Path, help="pack the folds into this file")
    parser.add_argument("--lightgbm", action="store_true", help="trees in place of networks")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--patience", type=int, default=25, help="epochs without a better figure on validation data")
    parser.add_argument("--settings", choices=SETTINGS, default="normalized", help="those that are tried")
    parser.add_argument("--only", default="", help="objectives, such as gain,u_risk 5")
    given = parser.parse_args()
    if given.write is not None:
        pack(given.data, given.write)
        return
    chosen = given.only.split(",") if given.only else None
    jobs = [
        (objective, alpha, fold, given.data, given)
        for fold in range(5)
        for objective, alpha in OBJECTIVES
        if chosen is None or objective in chosen or f"{objective} {alpha}" in chosen
    ]
    results = []
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for result in pool.imap_unordered(train_trees if given.lightgbm else train_networks, jobs):
            results.append(result)
            told = {name: value for name, value in result.items() if name not in ("values", "baseline")}
            print(told, file=sys.stderr, flush=True)
            if given.json is not None:  # what there is, should it be stopped
                given.json.write_text(json.dumps(results), encoding="utf-8")
    results.sort(key=lambda each: (each["objective"], each["alpha"], each["fold"]))
    print(table(results))


if __name__ == "__main__":
    main()
