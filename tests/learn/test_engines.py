"""Every engine against the one contract, and engines by name."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from tests.learn.engine_contract import EngineContract, X, go_on, towards

from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import engine_of


class TestLightGBM(EngineContract):
    name = "lightgbm"
    small: ClassVar[dict[str, Any]] = {
        "num_leaves": 4, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "learning_rate": 0.5, "num_threads": 1,
    }  # fmt: skip
    stump: ClassVar[dict[str, Any]] = small | {"num_leaves": 2}
    larger: ClassVar[dict[str, Any]] = {"num_leaves": 9}
    without_effect: ClassVar[dict[str, Any]] = {"num_threads": 2}
    impossible: ClassVar[dict[str, Any]] = {"min_data_in_leaf": 10**6}

    def test_what_a_training_must_know_of_the_parameters(self) -> None:
        assert self.checked(num_threads=3).threads == 3
        assert self.checked(num_threads=-1).threads is None
        assert self.checked().changes_trees is None
        assert self.checked(boosting="dart").changes_trees == "boosting='dart'"

    def test_the_seed_decides_the_bins(self) -> None:
        parameters = self.small | {"bin_construct_sample_cnt": 20, "max_bin": 8}
        checked = self.engine.check(parameters, X.shape[1])
        one, same, other = (
            self.engine.predict(self.engine.bin(X, [], checked, seed=seed).grow(2, checked, towards, go_on), X)
            for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", ["", "XGB", None, 5, ["lightgbm"]])
def test_an_unknown_engine(name: Any) -> None:
    with pytest.raises(ArgumentError, match="the engines are: lightgbm, xgboost"):
        engine_of(name)
