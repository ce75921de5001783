"""MQ2008, five folds: what each objective gains and risks, in the form of Dinçer et al. (SIGIR 2016), Table 7.

    python benchmarks/mq2008.py ../shared/data/mq2008 FOLDER [--seeds 5] [--engine xgboost]
    python benchmarks/mq2008.py ../shared/data/mq2008 FOLDER --chosen

Two sweeps, kept in FOLDER: one against BM25, and one against four baselines learned on a fifth of each fold's training
queries (with XGBoost the first alone, for gain and u_risk). Parameters are chosen for each objective and α on each
fold's validation data. Then the figures that the project holds itself to, among them those of LightGBM's own lambdarank
with the parameters that `gain` was given. With --chosen, another study: see mq2008_chosen.py.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf

ALPHAS = (1, 5, 10, 20)
MEASURE = "nDCG(dcg='exp-log2')@10"
SHARED: dict[str, Any] = {
    "alphas": ALPHAS,
    "grid": {
        "num_leaves": (4, 8, 16), "n_estimators": tuple(range(20, 301, 20)), "min_data_in_leaf": (50,),
        "learning_rate": (0.05,), "feature_fraction": (0.7,),
    },
    "tune": "objective",
}  # fmt: skip
# The same sizes of trees by XGBoost's names; its leaves are bounded by hessians, not by documents.
XGBOOST: dict[str, Any] = {
    "alphas": ALPHAS,
    "grid": {
        "max_leaves": (4, 8, 16), "n_estimators": tuple(range(20, 301, 20)), "min_child_weight": (0.5,),
        "learning_rate": (0.05,), "colsample_bytree": (0.7,), "reg_lambda": (0.0,), "max_depth": (0,),
        "grow_policy": ("lossguide",),
    },
    "tune": "objective", "engine": "xgboost",
}  # fmt: skip
# jforests, the learner behind the papers' tables, at its settings: nDCG(exp)@10 and risk against BM25.
JFORESTS = [(0.5042, 0.0243), (0.5061, 0.0205), (0.5022, 0.0167), (0.4959, 0.0148), (0.4901, 0.0129)]


def load(folder: Path) -> list[tuple[sf.RankingData, ...]]:
    """The folds in row order, as the published figures have it, with BM25 as baseline."""

    def one(path: Path) -> sf.RankingData:
        data = sf.read_letor(path)
        return sf.RankingData(data.X, data.y, group=data.lengths, baselines={"bm25": data.feature(25)})

    return [
        tuple(one(fold / f"{name}.txt") for name in ("train", "vali", "test")) for fold in sorted(folder.glob("Fold*"))
    ]


def native(folds: list[tuple[sf.RankingData, ...]], parameters: list[dict[str, Any]], seeds: int) -> float:
    """Mean nDCG(exp)@10 of LightGBM's own lambdarank over all test queries and seeds."""
    import lightgbm as lgb

    settings = {"objective": "lambdarank", "lambdarank_truncation_level": 10, "verbosity": -1, "num_threads": 1}
    settings |= {"deterministic": True, "force_col_wise": True}
    found = []
    for (train, _, test), chosen in zip(folds, parameters, strict=True):
        trees = chosen.pop("n_estimators")
        data = lgb.Dataset(train.X, train.y, group=train.lengths, free_raw_data=False)
        for seed in range(seeds):
            scores = lgb.train(settings | chosen | {"seed": seed}, data, trees).predict(test.X)
            found.extend(sf.score(test.qrels(), [test.to_run(scores, "native")], MEASURE).values[0])
    return float(np.mean(found))


def checks(result: sf.TradeOffs, native_mean: float | None) -> None:
    """The figures that the project holds itself to."""
    rows = {row["name"]: row["test"] for row in result.rows}
    gain, most = rows["gain"], rows["u_risk α=20"]
    print("\nu_risk at α = 20 against gain, and the rest:")
    print(f"  risk          {1 - most['risk'] / gain['risk']:+.1%} less (at least 35 %)")
    print(f"  losses > 20 % {1 - most['loss_over_20'] / gain['loss_over_20']:+.1%} fewer (at least 30 %)")
    print(f"  nDCG(exp)@10  {1 - most['mean'] / gain['mean']:+.1%} lost (at most 1.5 %)")
    path = [rows[f"u_risk α={alpha}"] for alpha in ALPHAS]
    rises = [(after["risk"] - before["risk"]) / before["deviation"]["risk"] for before, after in pairwise(path)]
    print(f"  risk along α rises by at most {max(rises):.2f} standard deviations of the seeds (at most 1)")
    line = sorted((risk, ndcg) for ndcg, risk in JFORESTS)
    below = [float(np.interp(row["risk"], [r for r, _ in line], [n for _, n in line]) - row["mean"]) for row in path]
    print(f"  u_risk lies at most {max(below):.4f} nDCG below the line through jforests' points (at most 0.003)")
    if native_mean is not None:
        print(f"  gain is {gain['mean'] - native_mean:+.4f} from native lambdarank (within 0.003)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds Fold1 to Fold5")
    parser.add_argument("folder", type=Path, help="where the sweeps are kept; the same command goes on")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--engine", choices=("lightgbm", "xgboost"), default="lightgbm")
    parser.add_argument("--chosen", action="store_true", help="means of models, chosen by cross-validation")
    given = parser.parse_args()
    folds, seeds = load(given.data), tuple(range(given.seeds))
    if given.chosen:
        from mq2008_chosen import print_chosen

        print_chosen(folds, given.folder / "chosen", given.seeds)
        return
    if given.engine == "xgboost":
        found = sf.sweep(folds, given.folder / "xgboost", objectives=("u_risk",), seeds=seeds, **XGBOOST)
        print(found)
        checks(found, None)
        return
    against = sf.sweep(folds, given.folder / "bm25", objectives=("u_risk", "saro", "faro"), seeds=seeds, **SHARED)
    print(against)
    learned = sf.sweep(
        folds,
        given.folder / "learned",
        objectives=("faro@all", "geo_risk"),
        seeds=seeds,
        learn_baselines=True,
        **SHARED,
    )
    print(learned)
    parameters = next(row["parameters"] for row in against.rows if row["name"] == "gain")
    checks(against, native(folds, list(parameters.values()), given.seeds))


if __name__ == "__main__":
    main()
