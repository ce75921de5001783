"""MQ2008, five folds: what each objective gains and risks, in the form of Dinçer et al. (SIGIR 2016), Table 7.

    python benchmarks/mq2008.py ../shared/data/mq2008 [--seeds 5] [--json FILE]

Leaves are chosen for `gain` on each fold's validation data and used for every objective on that fold; the number of
trees is chosen there for each objective and α, from the mean of the seeds: by NDCG@10 for `gain`, by U_Risk at α for
the others. The learned baselines are three models trained on a held-out fifth of each fold's training queries:
LightGBM's lambdarank and regression, and ridge regression; what learns against them (T*-faro, geo_risk) learns from
the other four fifths, and so does a `gain` beside them. Figures are over all 784 test queries, the mean of the seeds.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

ALPHAS = (1, 5, 10, 20)
MEASURES = {"NDCG@1": "nDCG(dcg='exp-log2')@1", "NDCG@10": "nDCG(dcg='exp-log2')@10"}
GRID = [
    {"num_leaves": leaves, "min_data_in_leaf": fewest, "learning_rate": 0.05}
    for leaves in (4, 8, 16)
    for fewest in (20, 50, 100)
]
TREES = 300
SMOOTHED = 51
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


def grow_native(train: Any, valid: Any, seed: int, parameters: dict[str, Any]) -> tuple[Any, list[float]]:
    """LightGBM's own lambdarank, and its validation nDCG@10 after each tree."""
    import lightgbm as lgb

    settings = {"objective": "lambdarank", "lambdarank_truncation_level": 10, "verbosity": -1, "num_threads": 1}
    settings |= {"seed": seed, "deterministic": True, "force_col_wise": True, "feature_fraction": FEATURE_FRACTION}
    settings |= {"metric": "ndcg", "eval_at": [10]}
    data = lgb.Dataset(train.X, train.y, group=train.lengths)
    held = lgb.Dataset(valid.X, valid.y, group=valid.lengths, reference=data)
    curves: dict[str, Any] = {}
    booster = lgb.train(settings | parameters, data, TREES, [held], callbacks=[lgb.record_evaluation(curves)])
    return booster, next(iter(curves.values()))["ndcg@10"]


def grow(train: Any, valid: Any, seed: int, parameters: dict[str, Any]) -> tuple[Any, list[float], list[float]]:
    """A ranker's booster, and after each tree its validation U_Risk (at α = 0 NDCG@10) and training NDCG@10."""
    import surefoot as sf

    settings = {"num_threads": 1, "feature_fraction": FEATURE_FRACTION, **parameters}
    ranker = sf.Ranker(n_estimators=TREES, random_state=seed, **settings).fit(train, valid=valid)
    seen = ranker.history_["valid"]
    criterion = [reward - (1 + ranker.alpha) * risk for reward, risk in zip(seen["reward"], seen["risk"], strict=True)]
    return ranker.booster_, criterion, ranker.history_["train"]["effectiveness"]


def best_trees(curves: list[list[float]]) -> tuple[int, float]:
    """Where the mean of the seeds' validation curves is highest; smoothed, since single trees are noise."""
    import numpy as np

    curve = np.convolve(np.mean(curves, axis=0), np.full(SMOOTHED, 1 / SMOOTHED), mode="valid")
    return int(curve.argmax()) + SMOOTHED // 2 + 1, float(curve.max())


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
    """Test scores of every configuration and seed on one fold, and of the baselines."""
    import surefoot as sf

    train, valid, test, learned = prepare(Path(folder))
    tried = [(best_trees([grow(train, valid, seed, one)[1] for seed in (0, 1)])[1], i) for i, one in enumerate(GRID)]
    parameters = GRID[max(tried)[1]]
    found: dict[str, Any] = {"parameters": parameters, "trees": {}, "values": {}, "curves": {}}

    def values(scores: Any) -> dict[str, list[float]]:
        run = test.to_run(scores, "x")
        per_measure = sf.score(test.qrels(), run, MEASURES.values())
        return {name: one.values[0].tolist() for name, one in zip(MEASURES, per_measure, strict=True)}

    for name, scores in {**test.baselines, **learned[2].baselines}.items():
        found["values"][name] = [values(scores)]
    for name, given in chosen(only):
        options = {key: value for key, value in given.items() if key != "baselines"}
        data, held = learned[:2] if given.get("baselines") == "learned" else (train, valid)
        if name == "native":
            grown = [(*grow_native(data, held, seed, parameters), []) for seed in range(seeds)]
        else:
            grown = [grow(data, held, seed, parameters | options) for seed in range(seeds)]
        trees, _ = best_trees([curve for _, curve, _ in grown])
        found["trees"][name] = trees
        found["curves"][name] = grown[0][2]
        found["values"][name] = [values(booster.predict(test.X, num_iteration=trees)) for booster, _, _ in grown]
    return found


def figures(folds: list[dict[str, Any]], name: str, baselines: list[str], seed: int, measure: str) -> dict[str, float]:
    """One configuration and seed over all folds' test queries, averaged over the baselines."""
    import numpy as np

    import surefoot as sf

    def joined(which: str, number: int) -> Any:
        return np.concatenate([fold["values"][which][number][measure] for fold in folds])

    names = [name, *(baseline for baseline in baselines if baseline != name)]
    matrix = np.stack([joined(name, seed), *(joined(baseline, 0) for baseline in names[1:])])
    scores = sf.Scores(matrix, names, [str(i) for i in range(matrix.shape[1])])
    row = sf.assess(scores, baseline=names[1:], alphas=[0]).to_dict()["systems"][0]
    keys = ("mean", "reward", "risk", "wins", "losses", "loss_over_20")
    return {key: float(row[key]) for key in keys}


def table(folds: list[dict[str, Any]], baselines: list[str], seeds: int, only: str) -> dict[str, dict[str, Any]]:
    import numpy as np

    rows: dict[str, dict[str, Any]] = {}
    for name, _ in chosen(only):
        each = [figures(folds, name, baselines, seed, "NDCG@10") for seed in range(seeds)]
        first = [figures(folds, name, baselines, seed, "NDCG@1")["mean"] for seed in range(seeds)]
        row: dict[str, Any] = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
        row["ndcg1"] = float(np.mean(first))
        row["sd"] = {key: float(np.std([one[key] for one in each], ddof=1)) if seeds > 1 else 0.0 for key in each[0]}
        rows[name] = row
    return rows


def show(title: str, rows: dict[str, dict[str, Any]]) -> None:
    print(f"\n{title}")
    heads = ("NDCG@1", "NDCG@10", "reward", "risk", "rew/risk", "wins", "losses", "W/L", "L>20%")
    print(f"{'':12}", *(f"{head:>8}" for head in heads), "  standard deviation of the seeds")
    for name, row in rows.items():
        rewarded, won = row["reward"] / row["risk"], row["wins"] / row["losses"]
        print(
            f"{name:12} {row['ndcg1']:8.4f} {row['mean']:8.4f} {row['reward']:8.4f} {row['risk']:8.4f} {rewarded:8.2f} "
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
    for number, fold in enumerate(folds, start=1):
        print(f"Fold {number}: {fold['parameters']}; trees {fold['trees']}")
    against_bm25 = table(folds, ["bm25"], arguments.seeds, arguments.only)
    learned = table(folds, ["lambdarank", "regression", "ridge"], arguments.seeds, arguments.only)
    show("Against BM25 (feature 25)", against_bm25)
    show("Against three learned models (macro-average)", learned)
    checks(against_bm25)
    print("\nTrees to 95 % of the final training NDCG@10, mean over folds:")
    for name in ("gain", *(f"u_risk {a}" for a in ALPHAS)):
        reached = [
            next(i for i, value in enumerate(fold["curves"][name], start=1) if value >= 0.95 * fold["curves"][name][-1])
            for fold in folds
        ]
        print(f"  {name:10} {sum(reached) / len(reached):.1f}")
    if arguments.json:
        content = {
            "bm25": against_bm25,
            "learned": learned,
            "folds": [{k: f[k] for k in ("parameters", "trees")} for f in folds],
        }
        arguments.json.write_text(json.dumps(content, indent=2))


if __name__ == "__main__":
    main()
