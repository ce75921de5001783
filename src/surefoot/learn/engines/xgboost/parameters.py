"""XGBoost's parameters: those that a ranker takes, with their values, and why it rejects the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from surefoot.errors import ArgumentError, shortened
from surefoot.learn.engines.values import (
    Check,
    check_each,
    column_sets,
    flag,
    integer_from,
    one_of,
    per_feature,
    real_from,
    same_for,
)

_DEVICE = re.compile(r"cpu|(cuda|gpu|sycl)(:\d{1,4})?")

_ALIASES = {
    "eta": "learning_rate", "gamma": "min_split_loss", "lambda": "reg_lambda", "n_jobs": "nthread",
    "colsample": "colsample_bytree", "num_boost_round": "n_estimators", "num_round": "n_estimators",
    "random_seed": "seed", "random_state": "seed",
}  # fmt: skip

# What Ranker decides itself, or what would change nothing or the wrong thing under its objective.
REJECTED: dict[str, str] = {
    "n_estimators": "it is an argument of Ranker",
    "objective": "Ranker's own `objective` decides it",
    "alpha": "Ranker's own `alpha` decides it; for XGBoost's penalty, give reg_alpha",
    "base_score": "the scores of a ranker start at 0",
    "num_class": "a ranker has one score per document",
    "num_parallel_tree": "each tree is grown from the scores of the trees before it, so a step cannot be a forest",
    "booster": "a ranker uses XGBoost's gbtree; dart changes earlier trees, and gblinear has no trees",
    "eval_metric": "use `stop_on` and `history_` instead",
    "disable_default_eval_metric": "use `stop_on` and `history_` instead",
    "early_stopping_rounds": "it is an argument of Ranker",
    "missing": "a missing value is always NaN",
    **same_for("seed seed_per_iteration", "give random_state, which sets all random draws"),
    **same_for("ndcg_exp_gain", "`measure` decides the gains, such as nDCG(dcg='exp-log2')@10 or nDCG@10"),
    **same_for(
        "lambdarank_pair_method lambdarank_num_pair_per_sample lambdarank_normalization lambdarank_score_normalization "
        "lambdarank_unbiased lambdarank_bias_norm scale_pos_weight",
        "it belongs to XGBoost's own objectives and would have no effect",
    ),
    "multi_strategy": "it is for several targets; a ranker has one score per document",
    **same_for(
        "updater refresh_leaf process_type predictor one_drop rate_drop skip_drop sample_type normalize_type "
        "feature_selector top_k use_rmm validate_parameters single_precision_histogram",
        "it belongs to another booster or an older version and would have no effect",
    ),
}


def _device(name: str, value: Any, features: int) -> str:
    if not isinstance(value, str) or not _DEVICE.fullmatch(value):
        raise ArgumentError(f"{name} is {shortened(value)}; it must be cpu, cuda or cuda:0")
    return value


ACCEPTED: dict[str, Check] = {
    "device": _device,
    "tree_method": one_of("auto", "hist", "approx", "exact"),
    "grow_policy": one_of("depthwise", "lossguide"),
    "sampling_method": one_of("uniform", "gradient_based"),
    "nthread": integer_from(-1, 1024),
    "verbosity": integer_from(0, 3),
    "max_depth": integer_from(0, 1024),
    "max_leaves": integer_from(0, 131_072),
    "max_bin": integer_from(2),
    "max_cached_hist_node": integer_from(1),
    **same_for("max_cat_to_onehot max_cat_threshold", integer_from(1)),
    **same_for("extmem_single_page enable_categorical", flag),
    "feature_types": per_feature(one_of("q", "c", "i", "int", "float")),
    "learning_rate": real_from(0, above=True),
    **same_for("min_split_loss min_child_weight max_delta_step reg_lambda reg_alpha", real_from(0)),
    **same_for("subsample colsample_bytree colsample_bylevel colsample_bynode", real_from(0, 1, above=True)),
    "monotone_constraints": per_feature(integer_from(-1, 1)),
    "interaction_constraints": column_sets,
}

MAIN_NAMES = {name: name for name in (*ACCEPTED, *REJECTED)} | _ALIASES  # of each parameter, by all of its names

# LightGBM's names, for people who change engines.
_LIGHTGBM = {
    "num_leaves": "max_leaves (with grow_policy='lossguide' and max_depth=0, trees grow as in LightGBM)",
    "min_data_in_leaf": "min_child_weight, the least sum of hessians in a leaf",
    "min_child_samples": "min_child_weight, the least sum of hessians in a leaf",
    "min_sum_hessian_in_leaf": "min_child_weight",
    "feature_fraction": "colsample_bytree",
    "bagging_fraction": "subsample",
    "lambda_l1": "reg_alpha",
    "lambda_l2": "reg_lambda",
    "num_threads": "nthread",
    "min_gain_to_split": "min_split_loss",
}


def check_parameters(parameters: Mapping[str, Any], features: int) -> dict[str, Any]:
    """XGBoost parameters under their main names, checked; unknown ones and those that Ranker decides are rejected.

    >>> check_parameters({"eta": "0.1", "max_depth": 6.0}, features=3)
    {'learning_rate': 0.1, 'max_depth': 6}
    """
    for name in parameters:
        if name in _LIGHTGBM:
            raise ArgumentError(f"{name!r} is a parameter of LightGBM; XGBoost's is {_LIGHTGBM[name]}")
    checked = check_each(parameters, features, aliases=MAIN_NAMES, checks=ACCEPTED, rejected=REJECTED, title="XGBoost")
    if not checked.get("max_depth", 6) and not checked.get("max_leaves"):
        raise ArgumentError("max_depth=0 means that trees have no limit; give max_leaves too")
    return checked
