"""MQ2008, five folds: what each objective gains and risks, in the form of Dinçer et al. (SIGIR 2016), Table 7.

    python benchmarks/mq2008.py ../shared/data/mq2008 [--seeds 5] [--only u_risk] [--json FILE]

Parameters are chosen on validation data only, for each objective and α alike, one setting for all folds: leaves by the
greatest mean validation NDCG@10 over the folds and seeds; then the fewest trees within one standard deviation of the
seeds of that greatest (the one-standard-error rule). The learned baselines are three models trained on a
held-out fifth of each fold's training queries: LightGBM's lambdarank and regression, and ridge regression; what learns
against them (T*-faro, geo_risk) learns from the other four fifths, and so does a `gain` beside them. Figures are
over all 784 test queries, the mean of the seeds.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

ALPHAS = (1, 5, 10, 20)
MEASURES = {"NDCG@1": "nDCG(dcg='exp-log2')@1", "NDCG@10": "nDCG(dcg='exp-log2')@10"}
GRID = [{"num_leaves": leaves, "min_data_in_leaf": 50, "learning_rate": 0.05} for leaves in (4, 8, 16)]
TREES = 300
STEP = 10  # trees between two looks
FEATURE_FRACTION = 0.7
CONFIGURATIONS: list[tuple[str, dict[str, Any]]] = [
    ("native", {}),
    ("gain", {}),
    ("gain, 4/5", {"baselines": "learned"}),
    *((f"u_risk {a}", {"objective": "u_risk", "alpha": a}) for a in ALPHAS),
    *((f"saro {a}", {"objective": "saro", "alpha": a}) for a in ALPHAS),
    *((f"faro {a}", {"objective": "faro", "alpha": a}) for a in ALPHAS),
    *((f"T*-faro {a}", {"objective": "faro", "alpha": a, "baselines": "learned"}) for a in ALPHAS),
    *((f"geo_risk {a}", {"objective": "geo_risk", "alpha": a, "baselines": "learned"}) for a in ALPHAS),
]


def chosen(only: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, options) for name, options in CONFIGURATIONS if name in ("native", "gain") or name.startswith(only)]


def load(folder: Path, name: str) -> Any:
    """A file in row order, as the published figures have it, with BM25 as baseline."""
    import surefoot as sf

    data = sf.read_letor(folder / f"{name}.txt")
    return sf.RankingData(data.X, data.y, group=data.lengths, baselines={"bm25": data.feature(25)})


def grow(train: Any, seed: int, options: dict[str, Any]) -> tuple[Any, list[float]]:
    """A ranker's booster, and its training NDCG@10 after each tree."""
    import surefoot as sf

    settings = {"num_threads": 1, "feature_fraction": FEATURE_FRACTION, **options}
    ranker = sf.Ranker(n_estimators=TREES, random_state=seed, **settings).fit(train)
    return ranker.booster_, ranker.history_["train"]["effectiveness"]


def grow_native(train: Any, seed: int, parameters: dict[str, Any]) -> tuple[Any, list[float]]:
    """LightGBM's own lambdarank."""
    import lightgbm as lgb

    settings = {"objective": "lambdarank", "lambdarank_truncation_level": 10, "verbosity": -1, "num_threads": 1}
    settings |= {"seed": seed, "deterministic": True, "force_col_wise": True, "feature_fraction": FEATURE_FRACTION}
    return lgb.train(settings | parameters, lgb.Dataset(train.X, train.y, group=train.lengths), TREES), []


def values(data: Any, measure: str, scores: Any) -> Any:
    """A measure on each query of a set, for scores of its documents."""
    from surefoot.learn.target import Target

    if not hasattr(data, "targets"):
        data.targets = {}
    if measure not in data.targets:
        data.targets[measure] = Target(measure, data.y, data.offsets, range(len(data)), threads=1)
    return data.targets[measure].values(scores)


def learned_baselines(part: Any) -> dict[str, Any]:
    """Three models of the held-out queries, as functions from features to scores."""
    import lightgbm as lgb
    from sklearn.linear_model import Ridge

    small = {"num_leaves": 8, "min_data_in_leaf": 20, "learning_rate": 0.05, "verbosity": -1, "num_threads": 1}
    ranking = lgb.Dataset(part.X, part.y, group=part.lengths)
    return {
        "lambdarank": lgb.train(small | {"objective": "lambdarank"}, ranking, 100).predict,
        "regression": lgb.train(small | {"objective": "regression"}, lgb.Dataset(part.X, part.y), 100).predict,
        "ridge": Ridge(alpha=1.0).fit(part.X, part.y).predict,
    }


def prepare(folder: Path) -> tuple[Any, Any, Any, list[Any]]:
    """A fold against BM25, and what is left of it once the learned baselines have had their fifth."""
    import numpy as np

    train, valid, test = (load(folder, name) for name in ("train", "vali", "test"))
    held_out = np.random.default_rng(0).permutation(len(train.queries)) < len(train.queries) // 5
    models = learned_baselines(train.select(held_out))
    return train, valid, test, [with_learned(data, models) for data in (train.select(~held_out), valid, test)]


def with_learned(data: Any, models: dict[str, Any]) -> Any:
    import surefoot as sf

    scores = {name: predict(data.X) for name, predict in models.items()}
    return sf.RankingData(data.X, data.y, group=data.lengths, baselines=scores)


def run_fold(folder: str, seeds: int, only: str) -> dict[str, Any]:
    """Every configuration, setting and seed on one fold: validation NDCG@10 and test scores every few trees."""
    train, valid, test, learned = prepare(Path(folder))
    found: dict[str, Any] = {"valid": {}, "test": {}, "curves": {}, "queries": len(valid.queries)}
    for name, scores in {**test.baselines, **learned[2].baselines}.items():
        found["test"][name] = {(0, 0): {key: [values(test, measure, scores)] for key, measure in MEASURES.items()}}
    for name, given in chosen(only):
        options = {key: value for key, value in given.items() if key != "baselines"}
        data = learned[0] if given.get("baselines") == "learned" else train
        found["valid"][name], found["test"][name], found["curves"][name] = {}, {}, {}
        for setting, parameters in enumerate(GRID):
            for seed in range(seeds):
                if name == "native":
                    booster, curve = grow_native(data, seed, parameters)
                else:
                    booster, curve = grow(data, seed, parameters | options)
                at = (setting, seed)
                found["curves"][name][at] = curve
                found["valid"][name][at] = [
                    float(values(valid, MEASURES["NDCG@10"], scores).sum()) for scores in looked_at(booster, valid)
                ]
                scored = looked_at(booster, test)
                found["test"][name][at] = {
                    key: [values(test, measure, scores) for scores in scored] for key, measure in MEASURES.items()
                }
    return found


def looked_at(booster: Any, data: Any) -> list[Any]:
    """Scores after every few trees."""
    steps = range(0, TREES, STEP)
    return list(accumulate(booster.predict(data.X, start_iteration=tree, num_iteration=STEP) for tree in steps))


def choose(folds: list[dict[str, Any]], name: str, seeds: int) -> tuple[int, int]:
    """The setting of the greatest mean validation NDCG@10, and the look with the fewest trees that nearly reach it."""
    import numpy as np

    queries = sum(fold["queries"] for fold in folds)
    seen = [
        np.sum([[fold["valid"][name][setting, seed] for seed in range(seeds)] for fold in folds], axis=0) / queries
        for setting in range(len(GRID))
    ]
    setting = int(np.argmax([one.mean(axis=0).max() for one in seen]))
    mean = seen[setting].mean(axis=0)
    best = int(mean.argmax())
    spread = seen[setting][:, best].std(ddof=1) if seeds > 1 else 0.0
    return setting, int(np.flatnonzero(mean >= mean[best] - spread)[0])


def figures(
    folds: list[dict[str, Any]], name: str, baselines: list[str], measure: str, at: tuple[int, int], look: int
) -> dict[str, float]:
    """One configuration and seed over all folds' test queries, averaged over the baselines."""
    import numpy as np

    import surefoot as sf

    def joined(which: str, place: tuple[int, int], when: int) -> Any:
        return np.concatenate([fold["test"][which][place][measure][when] for fold in folds])

    names = [name, *(baseline for baseline in baselines if baseline != name)]
    matrix = np.stack([joined(name, at, look), *(joined(baseline, (0, 0), 0) for baseline in names[1:])])
    scores = sf.Scores(matrix, names, [str(i) for i in range(matrix.shape[1])])
    row = sf.assess(scores, baseline=names[1:], alphas=[0]).to_dict()["systems"][0]
    keys = ("mean", "reward", "risk", "wins", "losses", "loss_over_20")
    return {key: float(row[key]) for key in keys}


def table(folds: list[dict[str, Any]], baselines: list[str], seeds: int, only: str) -> dict[str, dict[str, Any]]:
    import numpy as np

    rows: dict[str, dict[str, Any]] = {}
    for name, _ in chosen(only):
        setting, look = choose(folds, name, seeds)
        each, first = (
            [figures(folds, name, baselines, measure, (setting, seed), look) for seed in range(seeds)]
            for measure in ("NDCG@10", "NDCG@1")
        )
        row: dict[str, Any] = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
        row["ndcg1"] = float(np.mean([one["mean"] for one in first]))
        row["leaves"] = GRID[setting]["num_leaves"]
        row["trees"] = (look + 1) * STEP
        row["sd"] = {key: float(np.std([one[key] for one in each], ddof=1)) if seeds > 1 else 0.0 for key in each[0]}
        rows[name] = row
    return rows


def show(title: str, rows: dict[str, dict[str, Any]]) -> None:
    print(f"\n{title}")
    heads = ("leaves", "trees", "NDCG@1", "NDCG@10", "reward", "risk", "rew/risk", "wins", "losses", "W/L", "L>20%")
    print(f"{'':12}", *(f"{head:>8}" for head in heads), "  standard deviation of the seeds")
    for name, row in rows.items():
        rewarded, won = row["reward"] / row["risk"], row["wins"] / row["losses"]
        print(
            f"{name:12} {row['leaves']:8} {row['trees']:8} {row['ndcg1']:8.4f} {row['mean']:8.4f} {row['reward']:8.4f} "
            f"{row['risk']:8.4f} {rewarded:8.2f} "
            f"{row['wins']:8.1f} {row['losses']:8.1f} {won:8.2f} {row['loss_over_20']:8.1f}   "
            f"{row['sd']['mean']:.4f} NDCG@10, {row['sd']['risk']:.4f} risk"
        )


# jforests, the learner behind the papers' tables, at its settings: NDCG@10 and risk against BM25.
JFORESTS = [(0.5042, 0.0243), (0.5061, 0.0205), (0.5022, 0.0167), (0.4959, 0.0148), (0.4901, 0.0129)]


def checks(rows: dict[str, dict[str, Any]]) -> None:
    """The figures that the project holds itself to."""
    import numpy as np

    gain, most = rows["gain"], rows["u_risk 20"]
    print("\nu_risk at alpha = 20 against gain, and the rest:")
    print(f"  risk          {1 - most['risk'] / gain['risk']:+.1%} less (at least 35 %)")
    print(f"  losses > 20 % {1 - most['loss_over_20'] / gain['loss_over_20']:+.1%} fewer (at least 30 %)")
    print(f"  NDCG@10       {1 - most['mean'] / gain['mean']:+.1%} lost (at most 1.5 %)")
    path = [rows[f"u_risk {a}"] for a in ALPHAS]
    rises = [(after["risk"] - before["risk"]) / max(before["sd"]["risk"], 1e-9) for before, after in pairwise(path)]
    print(f"  risk along alpha rises by at most {max(rises):.2f} standard deviations of the seeds (at most 1)")
    line = sorted((risk, ndcg) for ndcg, risk in JFORESTS)
    below = [float(np.interp(row["risk"], [r for r, _ in line], [n for _, n in line]) - row["mean"]) for row in path]
    print(f"  u_risk lies at most {max(below):.4f} NDCG below the line through jforests' points (at most 0.003)")
    print(f"  gain is {gain['mean'] - rows['native']['mean']:+.4f} from native lambdarank (within 0.003)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder that holds Fold1 to Fold5")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="configurations that start so, such as u_risk")
    arguments = parser.parse_args()
    folders = [str(arguments.folder / f"Fold{number}") for number in range(1, 6)]
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        folds = list(pool.map(run_fold, folders, [arguments.seeds] * 5, [arguments.only] * 5))
    against_bm25 = table(folds, ["bm25"], arguments.seeds, arguments.only)
    learned = table(folds, ["lambdarank", "regression", "ridge"], arguments.seeds, arguments.only)
    show("Against BM25 (feature 25)", against_bm25)
    show("Against three learned models (macro-average)", learned)
    checks(against_bm25)
    print("\nTrees to 95 % of the training NDCG@10 at the chosen number of trees, mean over folds:")
    for name in ("gain", *(f"u_risk {a}" for a in ALPHAS)):
        setting, look = choose(folds, name, arguments.seeds)
        curves = [fold["curves"][name][setting, 0][: (look + 1) * STEP] for fold in folds]
        reached = [next(i for i, value in enumerate(curve, 1) if value >= 0.95 * curve[-1]) for curve in curves]
        print(f"  {name:10} {sum(reached) / len(reached):.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"bm25": against_bm25, "learned": learned}, indent=2))


if __name__ == "__main__":
    main()
