"""LightGBM's parameters: those that a ranker takes, with their values, and why it rejects the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.errors import ArgumentError
from surefoot.learn.engines.values import (
    LARGEST_INT32,
    Check,
    check_each,
    column_sets,
    columns,
    flag,
    integer_from,
    one_of,
    per_feature,
    real_from,
    same_for,
)

# What Ranker decides itself, or what would change nothing or the wrong thing under its objective.
REJECTED: dict[str, str] = {
    "objective": "Ranker's own `objective` decides it",
    "metric": "use `stop_on` and `history_` instead",
    "num_iterations": "give n_estimators",
    "early_stopping_round": "give early_stopping_rounds",
    "bagging_by_query": "LightGBM does it wrong with a custom objective",
    "lambdarank_norm": "it rescales each query, which weakens α",
    "lambdarank_truncation_level": "the cut-off of `measure` sets it",
    "num_class": "a ranker has one score per document",
    "sigmoid": "give sigma",
    "label_gain": "`measure` decides the gains, such as nDCG(dcg='exp-log2')@10 or nDCG@10",
    "alpha": "Ranker's own `alpha` decides it",
    "tree_learner": "the other tree learners need several machines, and this trains on one",
    **same_for(
        "seed bagging_seed feature_fraction_seed extra_seed drop_seed data_random_seed objective_seed",
        "give random_state, which sets all random draws",
    ),
    **same_for(
        "pos_bagging_fraction neg_bagging_fraction is_unbalance scale_pos_weight",
        "it is for classification and would have no effect; give bagging_fraction",
    ),
    **same_for(
        "boost_from_average reg_sqrt fair_c poisson_max_delta_step tweedie_variance_power "
        "lambdarank_position_bias_regularization",
        "it belongs to LightGBM's own objectives and would have no effect",
    ),
    **same_for(
        "eval_at first_metric_only metric_freq is_provide_training_metric multi_error_top_k auc_mu_weights "
        "early_stopping_min_delta",
        "LightGBM's metrics are not used; use `measure`, `stop_on` and `history_` instead",
    ),
    **same_for(
        "task config data valid header label_column weight_column group_column ignore_column two_round pre_partition "
        "save_binary precise_float_parser parser_config_file input_model output_model snapshot_freq output_result "
        "convert_model convert_model_language",
        "it is for LightGBM's own command line; surefoot reads and writes the files",
    ),
    **same_for(
        "forcedsplits_filename forcedbins_filename",
        "it names a file, but a saved model or a checkpoint would not have its content",
    ),
    **same_for(
        "num_machines machines machine_list_filename local_listen_port time_out top_k gpu_device_id_list",
        "it is for several machines or devices; this trains on one",
    ),
    **same_for(
        "start_iteration_predict num_iteration_predict predict_raw_score predict_leaf_index predict_contrib "
        "predict_disable_shape_check pred_early_stop pred_early_stop_freq pred_early_stop_margin refit_decay_rate",
        "it is for LightGBM's own prediction and would have no effect; Ranker.predict decides it",
    ),
}


ACCEPTED: dict[str, Check] = {
    "boosting": one_of("gbdt", "gbrt", "dart", "goss", "rf", "random_forest"),
    "data_sample_strategy": one_of("bagging", "goss"),
    "device_type": one_of("cpu", "gpu", "cuda"),
    "monotone_constraints_method": one_of("basic", "intermediate", "advanced"),
    "num_leaves": integer_from(2, 131_072),
    "num_threads": integer_from(-1, 1024),
    "verbosity": integer_from(-LARGEST_INT32),
    "saved_feature_importance_type": integer_from(0, 1),
    "num_grad_quant_bins": integer_from(2, 127),  # gradients are kept in 8 bits
    **same_for("max_depth max_drop gpu_platform_id gpu_device_id", integer_from(-1)),
    **same_for("min_data_in_leaf bagging_freq", integer_from(0)),
    **same_for("min_data_in_bin bin_construct_sample_cnt min_data_per_group max_cat_threshold", integer_from(1)),
    **same_for("max_cat_to_onehot num_gpu", integer_from(1)),
    "max_bin": integer_from(2),
    "learning_rate": real_from(0, above=True),
    "histogram_pool_size": real_from(-1),
    "max_delta_step": real_from(-1e30),
    **same_for("bagging_fraction feature_fraction feature_fraction_bynode", real_from(0, 1, above=True)),
    **same_for("drop_rate skip_drop top_rate other_rate", real_from(0, 1)),
    **same_for("min_sum_hessian_in_leaf lambda_l1 lambda_l2 linear_lambda min_gain_to_split path_smooth", real_from(0)),
    **same_for("cat_l2 cat_smooth monotone_penalty cegb_tradeoff cegb_penalty_split", real_from(0)),
    **same_for("deterministic force_col_wise force_row_wise extra_trees xgboost_dart_mode uniform_drop", flag),
    **same_for("use_quantized_grad quant_train_renew_leaf stochastic_rounding linear_tree is_enable_sparse", flag),
    **same_for("enable_bundle use_missing zero_as_missing feature_pre_filter gpu_use_dp", flag),
    "monotone_constraints": per_feature(integer_from(-1, 1)),
    "max_bin_by_feature": per_feature(integer_from(2)),
    **same_for("feature_contri cegb_penalty_feature_lazy cegb_penalty_feature_coupled", per_feature(real_from(0))),
    "categorical_feature": columns,
    "interaction_constraints": column_sets,
}


def main_names() -> dict[str, str]:
    """The main name of each of LightGBM's parameters, by all of its names."""
    from lightgbm.basic import _ConfigAliases

    return {alias: name for name, known in _ConfigAliases._get_all_param_aliases().items() for alias in (name, *known)}


def check_parameters(parameters: Mapping[str, Any], features: int) -> dict[str, Any]:
    """LightGBM parameters under their main names, checked; unknown ones and those that Ranker decides are rejected.

    >>> check_parameters({"max_leaves": "50", "extra_tree": 1}, features=3)
    {'num_leaves': 50, 'extra_trees': True}
    """
    checked = check_each(
        parameters, features, aliases=main_names(), checks=ACCEPTED, rejected=REJECTED, title="LightGBM"
    )
    if checked.get("boosting") in ("rf", "random_forest"):
        raise ArgumentError(
            f"boosting is {checked['boosting']!r}; LightGBM cannot grow a random forest with a custom objective"
        )
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
            raise ArgumentError("data_sample_strategy='goss' samples by gradient; leave out bagging_fraction")
        if not 0 < checked.get("top_rate", 0.2) + checked.get("other_rate", 0.1) <= 1:
            raise ArgumentError("top_rate and other_rate must add up to more than 0 and at most 1")
    if checked.get("bagging_fraction", 1) < 1 and not checked.get("bagging_freq"):
        raise ArgumentError("bagging_fraction has no effect without bagging_freq; give bagging_freq=1 too")
    if checked.get("force_col_wise") and checked.get("force_row_wise"):
        raise ArgumentError("force_col_wise and force_row_wise cannot both be set; give one of them")
