"""What every engine must do; `test_engines.py` has a subclass for each."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from surefoot.arrays import Float32s, Floats
from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import BinnedData, Booster, Engine, ModelTextError, engine_of

RNG = np.random.default_rng(0)
X = RNG.random((200, 4)).astype(np.float32)
X[::9, 2] = np.nan
HELD = RNG.random((50, 4)).astype(np.float32)
WANTED = 3.0 * X[:, 0] - X[:, 1]
ROUNDING = 1e-5  # engines may keep scores in float32


def towards(scores: Floats) -> tuple[Float32s, Float32s]:
    """Squared error: each tree takes the scores nearer to what is wanted."""
    return (scores - WANTED).astype(np.float32), np.ones(len(scores), np.float32)


def go_on(_: int, __: Sequence[Floats]) -> bool:
    return False


class EngineContract:
    """A subclass names its engine, and parameters under which small trees grow fast and without penalty."""

    name: str
    small: dict[str, Any]  # leaves of any size, no regularisation, a learning rate of 0.5
    stump: dict[str, Any]  # the same with trees of one split
    larger: dict[str, Any]  # trees of more leaves, in the same bins
    without_effect: dict[str, Any]  # a parameter that changes no tree
    impossible: dict[str, Any]  # leaves that are larger than the data

    @property
    def engine(self) -> Engine:
        return engine_of(self.name)

    def binned(self, others: Sequence[Any] = (), **parameters: Any) -> BinnedData:
        return self.engine.bin(X, others, self.checked(**parameters), seed=1)

    def checked(self, **parameters: Any) -> Any:
        return self.engine.check(self.small | parameters, X.shape[1])

    def grown(self, trees: int = 4, start: Booster | None = None, **parameters: Any) -> Booster:
        return self.binned(**parameters).grow(trees, self.checked(**parameters), towards, go_on, start, seed=2)

    def test_names(self) -> None:
        assert self.engine.name == self.name
        assert self.engine.title
        assert self.engine.version[0].isdigit()

    def test_an_unknown_parameter_is_rejected_by_name(self) -> None:
        with pytest.raises(ArgumentError, match="not_a_parameter"):
            self.checked(not_a_parameter=1)

    def test_parameters_without_effect_change_no_tree(self) -> None:
        assert set(self.without_effect) <= self.engine.without_effect
        np.testing.assert_array_equal(
            self.engine.predict(self.grown(**self.without_effect), X), self.engine.predict(self.grown(), X)
        )

    def test_gradients_are_asked_for_at_the_scores_so_far(self) -> None:
        seen: list[Floats] = []

        def gradients(scores: Floats) -> tuple[Float32s, Float32s]:
            seen.append(np.array(scores))
            return towards(scores)

        booster = self.binned().grow(3, self.checked(), gradients, go_on, seed=2)
        assert self.engine.count_trees(booster) == len(seen) == 3
        np.testing.assert_array_equal(seen[0], np.zeros(len(X)))
        for trees in (1, 2):
            np.testing.assert_allclose(seen[trees], self.engine.predict(booster, X, trees), atol=ROUNDING)

    def test_a_leaf_is_a_newton_step(self) -> None:
        """−rate · Σ gradient / Σ hessian of its documents: neither is changed on the way."""
        side = np.where(X[:, 0] > 0.5, 1.0, 0.0).astype(np.float32)[:, None]
        gradient = np.where(side[:, 0] > 0, -3.0, 1.0).astype(np.float32)
        hessian = np.where(side[:, 0] > 0, 2.0, 0.5).astype(np.float32)
        checked = self.engine.check(self.stump, 1)
        binned = self.engine.bin(side, [], checked)
        booster = binned.grow(1, checked, lambda _: (gradient, hessian), go_on)
        np.testing.assert_allclose(
            self.engine.predict(booster, side), np.where(side[:, 0] > 0, 0.75, -1.0), atol=ROUNDING
        )

    def test_other_sets_are_scored_after_each_tree(self) -> None:
        seen: list[tuple[int, list[Floats]]] = []

        def after_tree(trees: int, others: Sequence[Floats]) -> bool:
            seen.append((trees, [np.array(scores) for scores in others]))
            return False

        booster = self.binned([X, HELD]).grow(3, self.checked(), towards, after_tree, seed=2)
        assert [trees for trees, _ in seen] == [1, 2, 3]
        for trees, others in seen:
            for scores, rows in zip(others, (X, HELD), strict=True):
                np.testing.assert_allclose(scores, self.engine.predict(booster, rows, trees), atol=ROUNDING)

    def test_growing_stops_when_told(self) -> None:
        booster = self.binned([HELD]).grow(9, self.checked(), towards, lambda trees, _: trees == 2, seed=2)
        assert self.engine.count_trees(booster) == 2

    def test_the_same_again(self) -> None:
        assert self.engine.dump(self.grown()) == self.engine.dump(self.grown())

    def test_prediction_needs_no_more_than_a_row(self) -> None:
        booster = self.grown()
        rows = RNG.permutation(len(X))[:7]
        np.testing.assert_array_equal(self.engine.predict(booster, X[rows]), self.engine.predict(booster, X)[rows])
        result = self.engine.predict(booster, HELD)
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, self.engine.predict(booster, HELD, self.engine.count_trees(booster)))

    def test_dumped_and_loaded(self) -> None:
        booster = self.grown()
        again = self.engine.load(self.engine.dump(booster))
        np.testing.assert_array_equal(self.engine.predict(again, X), self.engine.predict(booster, X))
        assert self.engine.count_trees(again) == 4
        assert self.engine.count_features(again) == X.shape[1]
        first = self.engine.load(self.engine.dump(booster, 2))
        assert self.engine.count_trees(first) == 2
        np.testing.assert_array_equal(self.engine.predict(first, X), self.engine.predict(booster, X, 2))

    def test_pickled(self) -> None:
        booster = self.grown()
        again = pickle.loads(pickle.dumps(booster))
        np.testing.assert_array_equal(self.engine.predict(again, X), self.engine.predict(booster, X))

    def test_growing_goes_on_from_a_dumped_model(self) -> None:
        seen: list[Floats] = []
        counted: list[int] = []

        def gradients(scores: Floats) -> tuple[Float32s, Float32s]:
            seen.append(np.array(scores))
            return towards(scores)

        def after_tree(trees: int, _: Sequence[Floats]) -> bool:
            counted.append(trees)
            return False

        begun = self.grown(2)
        loaded = self.engine.load(self.engine.dump(begun))
        booster = self.binned().grow(2, self.checked(), gradients, after_tree, loaded, seed=3)
        assert counted == [3, 4]
        assert self.engine.count_trees(booster) == 4
        np.testing.assert_allclose(seen[0], self.engine.predict(begun, X), atol=ROUNDING)
        np.testing.assert_allclose(self.engine.predict(booster, X, 2), self.engine.predict(begun, X), atol=ROUNDING)
        in_memory = self.binned().grow(2, self.checked(), towards, go_on, begun, seed=3)
        assert self.engine.dump(booster) == self.engine.dump(in_memory)

    @pytest.mark.parametrize("stops_at", [0, 2])
    def test_the_scores_at_the_end_are_those_of_all_trees(self, stops_at: int) -> None:
        """Without predicting them; also where the training stops, goes on from other trees or can split no leaf."""

        def little(scores: Floats) -> tuple[Float32s, Float32s]:
            gradient, hessian = towards(scores)
            return (gradient, hessian) if not scores.any() else (np.zeros_like(gradient), hessian)

        ends: list[Floats] = []
        for gradients, start in ((towards, None), (towards, self.grown(2)), (little, None)):
            booster = self.binned([HELD]).grow(
                5, self.checked(), gradients, lambda grown, _: grown == stops_at, start, 2, ends.append
            )
            assert len(ends) == 1 or (start is not None and not ends)  # known without other trees before them
            for scores in ends:
                np.testing.assert_allclose(scores, self.engine.predict(booster, X), rtol=0, atol=ROUNDING)
            ends.clear()

    def test_one_data_set_for_several_trainings(self) -> None:
        """Also for those that resume or have other parameters: none leaves anything behind."""
        shared = self.binned([HELD])
        first = self.engine.dump(shared.grow(3, self.checked(), towards, go_on, seed=2))
        begun = self.grown(2)
        shared.grow(2, self.checked(), towards, go_on, begun, seed=3)
        larger = shared.grow(3, self.checked(**self.larger), towards, go_on, seed=2)
        np.testing.assert_array_equal(
            self.engine.predict(larger, X), self.engine.predict(self.grown(3, **self.larger), X)
        )
        assert self.engine.dump(shared.grow(3, self.checked(), towards, go_on, seed=2)) == first

    def test_contributions_add_up_to_the_scores(self) -> None:
        booster = self.grown()
        for trees in (2, 4):
            parts = self.engine.contributions(booster, HELD, trees)
            assert parts.shape == (len(HELD), X.shape[1] + 1)
            np.testing.assert_allclose(parts.sum(axis=1), self.engine.predict(booster, HELD, trees), atol=ROUNDING)
            assert len(set(parts[:, -1])) == 1
            assert np.abs(parts[:, :-1]).mean(axis=0).argmax() == 0

    def test_importances(self) -> None:
        booster = self.grown()
        for kind in ("split", "gain"):
            result = np.asarray(self.engine.importances(booster, kind, 4), dtype=float)
            assert result.shape == (X.shape[1],)
            assert result.argmax() == 0
            assert (result >= np.asarray(self.engine.importances(booster, kind, 2), dtype=float)).all()

    def test_feature_names_may_hold_anything(self) -> None:
        checked = self.checked()
        binned = self.engine.bin(X, [HELD], checked, ["a: b", "a[ b", "", "é\n<"], seed=1)
        booster = self.engine.load(self.engine.dump(binned.grow(4, checked, towards, go_on, seed=2)))
        np.testing.assert_array_equal(self.engine.predict(booster, HELD), self.engine.predict(self.grown(), HELD))

    def test_no_tree_can_be_grown(self) -> None:
        with pytest.raises(ArgumentError, match="no tree can be grown"):
            self.grown(**self.impossible)
        checked = self.checked()
        with pytest.raises(ArgumentError, match="no tree can be grown"):
            self.engine.bin(np.ones_like(X), [], checked).grow(1, checked, towards, go_on)

    def test_growing_ends_where_no_leaf_can_be_split(self) -> None:
        def little(scores: Floats) -> tuple[Float32s, Float32s]:
            gradient, hessian = towards(scores)
            return (gradient, hessian) if not scores.any() else (np.zeros_like(gradient), hessian)

        booster = self.binned().grow(5, self.checked(), little, go_on, seed=2)
        assert self.engine.count_trees(booster) == 1  # a tree without a split is not one of them
        one = self.binned().grow(1, self.checked(), little, go_on, seed=2)
        np.testing.assert_array_equal(self.engine.predict(booster, HELD), self.engine.predict(one, HELD))
        assert self.engine.count_trees(self.grown(4)) == 4

    @pytest.mark.parametrize("text", ["", "tree", "{}", "\x00", "not a model\n\n"])
    def test_a_text_that_is_no_model(self, text: str) -> None:
        with pytest.raises(ModelTextError):
            self.engine.load(text)

    def test_a_text_that_was_cut_off(self) -> None:
        text = self.engine.dump(self.grown())
        for share in (0.1, 0.5, 0.9):
            with pytest.raises(ModelTextError):
                self.engine.load(text[: int(len(text) * share)])
