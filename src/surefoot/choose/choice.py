"""What a policy chooses of a sweep's candidates on each fold, how sure that is, and what it is worth on test data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from surefoot.choose.candidate_figures import every_ranking, resampled_means
from surefoot.choose.candidates import Candidate, TrainedModels
from surefoot.choose.options import BLENDED, CHOOSE_BY, CROSS_VALIDATION, MODEL, PLAIN_MODELS, SELECTIVE
from surefoot.choose.recommendation import chosen_in_words, gain_only, pooled
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.store import SweepStore, traffic_hash
from surefoot.choose.tradeoffs import TradeOffs
from surefoot.data.reading.traffic import read_traffic
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, expecting, shortened
from surefoot.learn.baseline_spec import BaselineSpec
from surefoot.learn.combination import Combination
from surefoot.learn.means import average
from surefoot.learn.ranker import Ranker
from surefoot.learn.training_weights import georisk_refusal
from surefoot.neural.loading import AnyRanker, is_network, load_ranker
from surefoot.report.escapes import to_json
from surefoot.report.notes import traffic_note
from surefoot.report.numbers import measure_title, signed
from surefoot.risk.assessment_data import Json, TrafficData
from surefoot.risk.bootstrap import percentile_intervals

SCHEMA = "surefoot/choice/1"
_QUANTILES = np.linspace(0, 1, 2001)


@dataclass(frozen=True)
class Choice:
    """What a policy chose on each fold, and what that comes to on all test data.

    `probability` is the share of resamples of each fold's queries to choose by in which the choice satisfies the
    policy, where that is known; `interval` says how far mean and risk on test data lie from the gain-only model's.
    """

    policy: SelectionPolicy
    chosen: dict[str, Json]
    n_satisfying: dict[str, int]
    gain_row: Json
    n_candidates: int
    measure: str
    sweep_hash: str
    choose_by: str = "validation"
    probability: dict[str, float] = field(default_factory=dict)
    interval: dict[str, list[float]] | None = None
    unsure: str | None = None  # why it is not known how sure the choice is
    traffic: Json | None = None  # how often test queries are asked, where figures are weighted by it
    store: SweepStore | None = field(default=None, repr=False, compare=False)  # that holds the models

    def save(self, folder: str | os.PathLike[str], *, fold: str | None = None) -> None:
        """Save the model that a fold chose, by default the first, as `Ranker.save` does; `load` reads it back."""
        if self.store is None:
            raise ArgumentError(
                "this choice was made of figures alone; read the folder of the sweep, TradeOffs.read(folder), and "
                "select again"
            )
        copy_model(self.store, self, Path(folder), fold)

    @property
    def test(self) -> Json:
        """The figures of the choices on all test queries; of several seeds, those of the one that is saved."""
        return pooled(self.chosen, saved=True)

    def to_dict(self) -> Json:
        """Plain data that JSON can hold."""
        folds = [
            {
                "fold": fold, "chosen": row["name"], "satisfied": self.n_satisfying[fold],
                "probability": self.probability.get(fold), **row["folds"][fold],
            }
            for fold, row in self.chosen.items()
        ]  # fmt: skip
        policy = {
            "name": self.policy.name, "level": self.policy.level, "one_se": self.policy.one_se,
            "words": self.policy.words,
        }  # fmt: skip
        return {
            "schema": SCHEMA, "policy": policy, "choose_by": self.choose_by,
            "measure": self.measure, "candidates": self.n_candidates, "folds": folds, "test": self.test,
            "gain_only": self._gain_only_figures, "difference": self.interval, "why": self.words,
            **({} if self.traffic is None else {"traffic": self.traffic}),
        }  # fmt: skip

    @property
    def _gain_only_figures(self) -> Json:
        return pooled(dict.fromkeys(self.chosen, self.gain_row))

    def to_json(self) -> str:
        """The data as JSON text."""
        return to_json(self.to_dict())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, all or nothing; the file's ending is .json."""
        if Path(path).suffix.lower() != ".json":
            raise ArgumentError(f"{shortened(str(path))} does not say how a choice is to be written; end it in .json")
        self._write(path, "json")

    def _write(self, path: str | os.PathLike[str], kind: str) -> None:
        write_text(path, getattr(self, f"to_{kind}")())

    @property
    def words(self) -> list[str]:
        """What was chosen and why, how sure it is, and what test data say."""
        mine = self.test
        counts = " to ".join(map(str, sorted({min(self.n_satisfying.values()), max(self.n_satisfying.values())})))
        where = (
            "its validation queries" if self.choose_by == "validation" else "its training queries, by cross-validation"
        )
        those, which = self.policy.taken
        models = f"{counts} model{'s' * (counts != '1')}{those}"
        who = "the only fold" if len(self.chosen) == 1 else "each fold"
        sentences = [
            f"Of the {models}, {who} took the one with {which} by {measure_title(self.measure)} on {where}: "
            f"{chosen_in_words(self.chosen)}.",
            *self._unsatisfied(),
            *self._probabilities(),
            *([] if self.unsure is None else [self.unsure]),
            f"On all {mine['queries']:,} test queries, it {_worth(mine)} The gain-only model "
            f"{_worth(self._gain_only_figures)}",
        ]
        if self.interval is not None:
            mean, risk = (
                f"{signed(low, 4)} to {signed(high, 4)}"
                for low, high in map(self.interval.__getitem__, ("mean", "risk"))
            )
            sentences.append(
                f"Compared with the gain-only model, {measure_title(self.measure)} changes by {mean} and risk changes "
                f"by {risk} (95 % intervals over test queries)."
            )
        if self.traffic is not None:
            sentences.append(traffic_note(cast(TrafficData, self.traffic)))
        if self.policy.name == "max_risk" and mine["risk"] > self.policy.level:
            sentences.append(
                f"On test data, its risk is above {self.policy.level:g}. A choice on other queries cannot exclude this."
            )
        return sentences

    def _unsatisfied(self) -> list[str]:
        folds = [fold for fold, count in self.n_satisfying.items() if not count]
        return (
            [f"No candidate satisfies the policy on {', '.join(folds)}. There, the nearest was taken."] if folds else []
        )

    def _probabilities(self) -> list[str]:
        if not self.probability:
            return []
        values = sorted(self.probability.values())
        shown = " to ".join(dict.fromkeys(f"{100 * value:.0f}" for value in (values[0], values[-1])))
        return [
            f"On new queries, the choice satisfies the policy with a probability of {shown} %. This is from resampling "
            "the queries that it was chosen on. It is a little too high, because the best of several was chosen there."
        ]


def _worth(figures: Json) -> str:
    return (
        f"gains {signed(figures['gain'], 4)} at a risk of {figures['risk']:.4f}, and it hurts "
        f"{figures['loss_over_20']:.0f} queries by more than 20 %."
    )


def select(
    result: TradeOffs,
    policy: SelectionPolicy,
    kinds: Sequence[str] = PLAIN_MODELS,
    *,
    choose_by: str | None = None,
    store: SweepStore | None = None,
    names: Sequence[str] | None = None,
    traffic: Any = None,
) -> Choice:
    """What the policy takes of these kinds, fold by fold: a fold's validation queries are other folds' test queries.

    By default it chooses by cross-validation where the sweep has it. The sweep's `store` says how sure the choice is.
    `names` leaves these candidates alone. Figures are weighted by traffic where the sweep's are; `traffic`, if it is
    given, must be the sweep's.
    """
    data = result.to_dict()
    if traffic is not None:
        _check_traffic(traffic, data)
    counts = data.get("traffic")
    if policy.name == "geo_risk" and counts is not None and not counts["equal"]:
        raise georisk_refusal("the policy geo_risk")
    rows = [row for row in data["rows"] if row["kind"] in kinds and (names is None or row["name"] in names)]
    gain_row = gain_only(data["rows"])
    if gain_row is None or not rows:
        raise DataError("the sweep has no gain-only model, or none of these candidates; run the sweep again")
    has_inner = bool(data.get("inner_folds"))
    by = ("cross-validation" if has_inner else "validation") if choose_by is None else choose_by
    if by not in CHOOSE_BY:
        raise ArgumentError(f"choose_by is {shortened(by)}; it must be one of {', '.join(CHOOSE_BY)}")
    if CHOOSE_BY[by] == CROSS_VALIDATION and not has_inner:
        raise ArgumentError(
            "the sweep has no cross-validation; run it again with --choose-by cross-validation (it trains only what is "
            "missing)"
        )
    choices = {fold: policy.choose(rows, gain_row, fold, CHOOSE_BY[by]) for fold in data["folds"]}
    choice = Choice(
        policy,
        {fold: row for fold, (row, _) in choices.items()},
        {fold: count for fold, (_, count) in choices.items()},
        gain_row, len(rows), data["measure"], data["origin"], by, traffic=counts, store=store,
    )  # fmt: skip
    return choice if store is None else _with_certainty(choice, store)


def _check_traffic(traffic: Any, data: Json) -> None:
    """Refuse other traffic than the sweep's: its figures and models are weighted by that."""
    known = data.get("traffic_sha256")
    if known is None or traffic_hash(read_traffic(traffic)) != known:
        why = "without traffic" if known is None else "with other traffic"
        raise ArgumentError(
            f"the sweep was made {why}, so its models and figures cannot be weighted by this; run the sweep again with "
            "this traffic, in another folder"
        )


def _with_certainty(choice: Choice, store: SweepStore) -> Choice:
    """The choice, with how sure it is by resampling queries; a result alone, without its models, cannot say that."""
    unsure = replace(
        choice,
        unsure=f"We cannot say how sure this is: {store.folder} does not have the models of this result, or another "
        "version wrote them. Run the sweep again.",
    )
    if store.settings_hash != choice.sweep_hash:
        return unsure
    with expecting("a sweep", store.folder, "start it in a new folder"):
        trained = TrainedModels(store)
        wanted = {row["name"] for row in (*choice.chosen.values(), choice.gain_row)}
        by_name = {one.name: one for one in every_ranking(trained, wanted)}
    if set(by_name) != wanted:
        return unsure
    gain_model = by_name[choice.gain_row["name"]]
    chosen = {fold: by_name[row["name"]] for fold, row in choice.chosen.items()}
    return replace(
        choice,
        probability=_probabilities(choice, trained, chosen, gain_model),
        interval=_test_interval(trained, chosen, gain_model),
    )


def _probabilities(
    choice: Choice, trained: TrainedModels, chosen: Mapping[str, Candidate], gain_model: Candidate
) -> dict[str, float]:
    """For each fold, in how many resamples of its queries to choose by the choice satisfies the policy."""
    if choice.policy.name not in ("max_risk", "keep_gain", "less_risk"):
        return {}
    part = CHOOSE_BY[choice.choose_by]
    baseline, spans = trained.baseline_values(part)[0, 0], trained.spans(part)
    probability = {}
    for fold, mine in chosen.items():
        columns = [
            values(part, baseline)[spans[fold]]
            for one in (mine, gain_model)
            for values in (one.gains, one.losses)
        ]  # fmt: skip
        weights = trained.relative_weights(part, spans[fold])
        probability[fold] = float(np.mean(choice.policy.holds(*resampled_means(columns, weights))))
    return probability


def _test_interval(
    trained: TrainedModels, chosen: Mapping[str, Candidate], gain_model: Candidate
) -> dict[str, list[float]]:
    """95 % intervals of what the saved models' mean and risk on test queries differ by from the gain-only model's."""
    baseline, spans = trained.baseline_values("test")[0, 0], trained.spans("test")
    gains, losses = gain_model.gains("test", baseline), gain_model.losses("test", baseline)
    columns = []
    for key, gain_only_figures in (("mean", gains), ("risk", losses)):
        own = np.empty(len(baseline))
        for fold, one in chosen.items():
            difference = one.values["test"][0, 0] - baseline  # of the first seed, whose model is saved
            own[spans[fold]] = (difference if key == "mean" else np.maximum(-difference, 0))[spans[fold]]
        columns.append(own - gain_only_figures)
    mean, risk = percentile_intervals(resampled_means(columns, trained.relative_weights("test"))).tolist()
    return {"mean": mean, "risk": risk}


def copy_model(store: SweepStore, choice: Choice, target: Path, fold: str | None = None) -> tuple[str, str, str]:
    """Save a fold's choice (by default the first's); says whose it is, which, and of which seeds."""
    name = next(iter(choice.chosen)) if fold is None else fold
    if name not in choice.chosen:
        raise ArgumentError(f"there is no fold {shortened(name)}; the folds are {', '.join(choice.chosen)}")
    if store.settings_hash != choice.sweep_hash:  # it does not hold what the choice was made of
        raise DataError.at(
            store.folder, None, "was started again after its result was written; run the sweep to its end"
        )
    row = choice.chosen[name]
    with expecting("a sweep", store.folder, "start it in a new folder"):
        ranker, seeds = chosen_ranker(TrainedModels(store), row, name)
    ranker.save(target)
    return name, str(row["name"]), f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"


def chosen_ranker(trained: TrainedModels, row: Json, fold: str) -> tuple[AnyRanker, list[int]]:
    """The one model whose ranking a row describes on a fold, and the seeds that it is made of."""
    parts = row.get("made_of")
    if parts is None:
        raise ArgumentError(
            f"{row['name']} cannot be saved: it shows one of two rankings at random; choose another candidate"
        )
    setting = next((setting for setting in trained.settings if setting.name == parts["setting"]), None)
    if setting is None:
        raise DataError.at(
            trained.store.folder,
            None,
            f"does not have {shortened(parts['setting'])} on every fold in this version; run the sweep again",
        )
    jobs = [job for by_seed in trained.jobs(setting) for job in by_seed if job.fold == fold]
    folders = [trained.store.result_path(job) for job in jobs if job.seed in parts["seeds"]]
    if is_network(folders[0]):
        return _chosen_network(trained, row, folders), list(parts["seeds"])
    rankers = [Ranker.load(folder) for folder in folders]
    ranker = rankers[0] if len(rankers) == 1 else average(rankers)
    ranker.query_feature_ = trained.store.source.selective
    if row["kind"] in (BLENDED, SELECTIVE):
        ranker.combination_ = _combination(trained, parts, fold).to_dict()
        ranker.score_sample_ = _score_sample(trained, ranker, fold)
    return ranker, list(parts["seeds"])


def _chosen_network(trained: TrainedModels, row: Json, folders: Sequence[Path]) -> AnyRanker:
    """A single network; a network with its baseline, or with a feature of the query, has no form to be saved in."""
    if len(folders) > 1 or row["kind"] != MODEL or trained.store.source.selective is not None:
        raise ArgumentError(
            f"{row['name']} cannot be saved as one model, because its models are networks. Choose a single model, or "
            "train a mean with surefoot train --engine torch --models N"
        )
    return load_ranker(folders[0])


def _combination(trained: TrainedModels, parts: Json, fold: str) -> Combination:
    source = trained.store.source
    first = trained.baselines[0]
    named = [BaselineSpec.parse(text) for text in source.baselines]
    known = next((spec.source for spec in named if spec.name == first and spec.number is not None), None)
    how: dict[str, Any] = (
        {"weight": parts["weight"]}
        if "weight" in parts
        else {"aggregate": source.selective, "threshold": parts["thresholds"][fold]}
    )
    return Combination(first, known, **how)


def _score_sample(trained: TrainedModels, ranker: Ranker, fold: str) -> list[float]:
    """Quantiles of the scores that the model gives with its baseline, on the fold's validation documents."""
    data: RankingData = trained.store.source.load(fold).valid
    scores = ranker.predict(data)
    return [float(value) for value in np.maximum.accumulate(np.quantile(scores, _QUANTILES))]
