"""LightGBM's parameters: which a ranker takes and of what values, and why it rejects the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from surefoot.arguments import number_of
from surefoot.errors import ArgumentError, did_you_mean, shortened

_Check: TypeAlias = Callable[[str, Any, int], Any]  # of a name, a value and the number of features

_LARGEST = 2**31 - 1  # LightGBM keeps whole numbers in 32 bits, and cuts off the others


def _alike(names: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(names.split(), value)


# What Ranker decides itself, or what would change nothing or the wrong thing under its objective.
REJECTED: dict[str, str] = {
    "objective": "Ranker's own `objective` decides it",
    "metric": "`stop_on` and `history_` take its place",
    "num_iterations": "give n_estimators",
    "early_stopping_round": "give early_stopping_rounds",
    "bagging_by_query": "LightGBM does nothing right with it under a custom objective",
    "lambdarank_norm": "it rescales each query and so blunts α",
    "lambdarank_truncation_level": "the cut-off of `measure` takes its place",
    "num_class": "a ranker has one score per document",
    "sigmoid": "give sigma",
    "label_gain": "`measure` decides the gains, such as nDCG(dcg='exp-log2')@10 or nDCG@10",
    "alpha": "Ranker's own `alpha` decides it",
    "tree_learner": "the other tree learners need several machines",
    **_alike(
        "seed bagging_seed feature_fraction_seed extra_seed drop_seed data_random_seed objective_seed",
        "give random_state, which decides every draw",
    ),
    **_alike(
        "pos_bagging_fraction neg_bagging_fraction is_unbalance scale_pos_weight",
        "it is for classification and would have no effect; bagging_fraction has",
    ),
    **_alike(
        "boost_from_average reg_sqrt fair_c poisson_max_delta_step tweedie_variance_power "
        "lambdarank_position_bias_regularization",
        "it belongs to an objective of LightGBM's own and would have no effect",
    ),
    **_alike(
        "eval_at first_metric_only metric_freq is_provide_training_metric multi_error_top_k auc_mu_weights "
        "early_stopping_min_delta",
        "LightGBM's metrics are not used; `measure`, `stop_on` and `history_` take their place",
    ),
    **_alike(
        "task config data valid header label_column weight_column group_column ignore_column two_round pre_partition "
        "save_binary precise_float_parser parser_config_file input_model output_model snapshot_freq output_result "
        "convert_model convert_model_language",
        "it is for LightGBM's own command line; surefoot reads and writes the files",
    ),
    **_alike(
        "forcedsplits_filename forcedbins_filename",
        "it names a file that neither a saved model nor a checkpoint would know the content of",
    ),
    **_alike(
        "num_machines machines machine_list_filename local_listen_port time_out top_k gpu_device_id_list",
        "it is for several machines or devices; this trains on one",
    ),
    **_alike(
        "start_iteration_predict num_iteration_predict predict_raw_score predict_leaf_index predict_contrib "
        "predict_disable_shape_check pred_early_stop pred_early_stop_freq pred_early_stop_margin refit_decay_rate",
        "it is for LightGBM's own prediction and would have no effect; Ranker.predict decides it",
    ),
}


def _whole(least: int, most: int = _LARGEST) -> _Check:
    def check(name: str, value: Any, features: int) -> int:
        number = number_of(value)
        if number is None or number != math.floor(number) or not least <= number <= most:
            raise ArgumentError(f"{name} is {shortened(value)}; it must be a whole number from {least:,} to {most:,}")
        return int(number)

    return check


def _real(least: float, most: float = 1e30, *, above: bool = False) -> _Check:
    def check(name: str, value: Any, features: int) -> float:
        number = number_of(value)
        if number is None or not least <= number <= most or (above and number == least):
            span = f"above {least:g}" if above else f"of at least {least:g}"
            raise ArgumentError(f"{name} is {shortened(value)}; it must be a number {span} and at most {most:g}")
        return number

    return check


def _flag(name: str, value: Any, features: int) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False}
    found = known.get(str(value).lower()) if isinstance(value, bool | int | str | np.bool_ | np.integer) else None
    if found is None:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be true or false")
    return found


def _one_of(*known: str) -> _Check:
    def check(name: str, value: Any, features: int) -> str:
        if not isinstance(value, str) or value not in known:
            raise ArgumentError(f"{name} is {shortened(value)}; it must be one of {', '.join(known)}")
        return value

    return check


def _per_feature(each: _Check) -> _Check:
    def check(name: str, value: Any, features: int) -> list[Any]:
        found = _listed(name, value)
        if len(found) != features:
            raise ArgumentError(f"{name} has {len(found):,} values; it needs one for each of the {features:,} features")
        return [each(f"{name}, value {place},", one, features) for place, one in enumerate(found, start=1)]

    return check


def _columns(name: str, value: Any, features: int) -> list[int]:
    number = _whole(0, features - 1)
    found = [number(f"a feature of {name} (they count from 0)", one, features) for one in _listed(name, value)]
    if len(set(found)) < len(found):
        raise ArgumentError(f"{name} names a feature twice: {shortened(value)}")
    return found


def _column_sets(name: str, value: Any, features: int) -> list[list[int]]:
    if isinstance(value, str):  # LightGBM's own way to write it, [0,1],[2,3]
        import json

        try:
            value = json.loads(f"[{value}]")
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, list | tuple) for one in value):
        raise ArgumentError(f"{name} is {shortened(value)}; it must list sets of features, such as [[0, 1], [2, 3]]")
    return [_columns(name, one, features) for one in value]


def _listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return list(value.tolist())
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return [value]
    raise ArgumentError(f"{name} is {shortened(value)}; it must be a list, such as [0, 1] or 0,1")


TAKEN: dict[str, _Check] = {
    "boosting": _one_of("gbdt", "gbrt", "dart", "goss"),
    "data_sample_strategy": _one_of("bagging", "goss"),
    "device_type": _one_of("cpu", "gpu", "cuda"),
    "monotone_constraints_method": _one_of("basic", "intermediate", "advanced"),
    "num_leaves": _whole(2, 131_072),
    "num_threads": _whole(-1, 1024),
    "verbosity": _whole(-_LARGEST),
    "saved_feature_importance_type": _whole(0, 1),
    "num_grad_quant_bins": _whole(2, 127),  # gradients are kept in 8 bits
    **_alike("max_depth max_drop gpu_platform_id gpu_device_id", _whole(-1)),
    **_alike("min_data_in_leaf bagging_freq", _whole(0)),
    **_alike("min_data_in_bin bin_construct_sample_cnt min_data_per_group max_cat_threshold", _whole(1)),
    **_alike("max_cat_to_onehot num_gpu", _whole(1)),
    "max_bin": _whole(2),
    "learning_rate": _real(0, above=True),
    "histogram_pool_size": _real(-1),
    "max_delta_step": _real(-1e30),
    **_alike("bagging_fraction feature_fraction feature_fraction_bynode", _real(0, 1, above=True)),
    **_alike("drop_rate skip_drop top_rate other_rate", _real(0, 1)),
    **_alike("min_sum_hessian_in_leaf lambda_l1 lambda_l2 linear_lambda min_gain_to_split path_smooth", _real(0)),
    **_alike("cat_l2 cat_smooth monotone_penalty cegb_tradeoff cegb_penalty_split", _real(0)),
    **_alike("deterministic force_col_wise force_row_wise extra_trees xgboost_dart_mode uniform_drop", _flag),
    **_alike("use_quantized_grad quant_train_renew_leaf stochastic_rounding linear_tree is_enable_sparse", _flag),
    **_alike("enable_bundle use_missing zero_as_missing feature_pre_filter gpu_use_dp", _flag),
    "monotone_constraints": _per_feature(_whole(-1, 1)),
    "max_bin_by_feature": _per_feature(_whole(2)),
    **_alike("feature_contri cegb_penalty_feature_lazy cegb_penalty_feature_coupled", _per_feature(_real(0))),
    "categorical_feature": _columns,
    "interaction_constraints": _column_sets,
}


def check_parameters(parameters: Mapping[str, Any], features: int) -> dict[str, Any]:
    """LightGBM parameters under their main names, checked; unknown ones and those that Ranker decides are rejected.

    >>> check_parameters({"max_leaves": "50", "extra_tree": 1}, features=3)
    {'num_leaves': 50, 'extra_trees': True}
    """
    from lightgbm.basic import _ConfigAliases

    aliases = {
        alias: name for name, known in _ConfigAliases._get_all_param_aliases().items() for alias in (name, *known)
    }
    checked: dict[str, Any] = {}
    for name, value in parameters.items():
        main = aliases.get(name)
        if main is None or not (main in TAKEN or main in REJECTED):
            hint = did_you_mean(name, aliases) or "."
            raise ArgumentError(f"unknown parameter {shortened(name)}{hint} It is neither Ranker's nor LightGBM's")
        if main in REJECTED:
            raise ArgumentError(f"{name!r} cannot be set here: {REJECTED[main]}")
        if main in checked:
            raise ArgumentError(f"{name!r} is given twice, under two of its names")
        if main == "boosting" and value in ("rf", "random_forest"):
            raise ArgumentError(f"{name} is {value!r}; LightGBM grows no random forest from an objective that it lacks")
        checked[main] = TAKEN[main](name, value, features)
    _check_pairs(checked)
    return checked


def _check_pairs(checked: dict[str, Any]) -> None:
    """What LightGBM would end the process for, or silently not do."""
    if checked.get("boosting") == "goss":  # the name that LightGBM had for it before version 4
        if checked.setdefault("data_sample_strategy", "goss") != "goss":
            raise ArgumentError(
                "boosting='goss' and data_sample_strategy='bagging' cannot both be set; give one of them"
            )
        checked["boosting"] = "gbdt"
    if checked.get("data_sample_strategy") == "goss":
        if checked.get("bagging_fraction", 1) < 1:
            raise ArgumentError("data_sample_strategy='goss' samples by gradient; it takes no bagging_fraction")
        if not 0 < checked.get("top_rate", 0.2) + checked.get("other_rate", 0.1) <= 1:
            raise ArgumentError("top_rate and other_rate must add up to more than 0 and at most 1")
    if checked.get("bagging_fraction", 1) < 1 and not checked.get("bagging_freq"):
        raise ArgumentError("bagging_fraction has no effect without bagging_freq; give bagging_freq=1 too")
    if checked.get("force_col_wise") and checked.get("force_row_wise"):
        raise ArgumentError("force_col_wise and force_row_wise cannot both be set; give one of them")
