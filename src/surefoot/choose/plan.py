"""What a sweep trains: objectives, α, parameters and seeds; how parameters are tuned; each job and its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Self, TypeAlias

from surefoot.arguments import LARGEST_COUNT, integer
from surefoot.choose.options import DEFAULT_TREES, FEWEST_INNER_FOLDS, TUNINGS
from surefoot.errors import ArgumentError, name_list, shortened
from surefoot.learn.engines.contract import Engine, engine_of
from surefoot.learn.options import ENGINE, MEASURE, NETWORK_ENGINE, RISK_OBJECTIVES
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.settings import SEED_COUNT
from surefoot.measures.notation import Measure
from surefoot.neural.loading import AnyRanker
from surefoot.risk.tradeoff import distinct_alphas

ALL_BASELINES = "@all"  # after an objective: against all baselines, not the first alone
TREES_PARAMETER = "n_estimators"
ParameterValues: TypeAlias = tuple[tuple[str, Any], ...]
_SET_BY_SWEEP = {
    "objective", "alpha", "measure", "random_state", "checkpoint", "checkpoint_every", "history", "importance_type",
}  # fmt: skip
_PAPER_MEASURE = MEASURE.partition("@")[0]  # the papers' nDCG(exp), at any cut-off


def reported_measures(optimised: str) -> list[str]:
    """What every model is measured by: what was optimised, and nDCG(exp) at 1 and 10 as the papers' tables have it."""
    return list(dict.fromkeys([optimised, f"{_PAPER_MEASURE}@1", f"{_PAPER_MEASURE}@10"]))


def values_of(parameters: Mapping[str, Any]) -> ParameterValues:
    """Parameters in the order of their names; lists, which cannot be compared in a set, as tuples."""
    return tuple(
        (name, tuple(value) if isinstance(value, list) else value) for name, value in sorted(parameters.items())
    )


@dataclass(frozen=True)
class SweepSetting:
    """A row of the sweep's table: an objective at an α and, where nothing is tuned, its parameters.

    >>> SweepSetting("faro@all", 5.0).name
    'faro@all α=5'
    """

    objective: str
    alpha: float | None = None
    parameters: ParameterValues = ()

    @property
    def name(self) -> str:
        """As tables show it."""
        alpha = "" if self.alpha is None else f" α={self.alpha:g}"
        parameters = ", ".join(f"{name}={value}" for name, value in self.parameters)
        return f"{self.objective}{alpha}{f' ({parameters})' if parameters else ''}"

    @property
    def ranker_arguments(self) -> dict[str, Any]:
        """The objective and α as `Ranker` takes them."""
        arguments: dict[str, Any] = {"objective": self.objective.removesuffix(ALL_BASELINES)}
        return arguments if self.alpha is None else arguments | {"alpha": self.alpha}

    @property
    def against_all(self) -> bool:
        """Whether every baseline counts, and not the first alone."""
        return self.objective.endswith(ALL_BASELINES) or self.objective == "geo_risk"


@dataclass(frozen=True)
class TrainingJob:
    """One training: a setting and its parameters on one fold with one seed.

    A trial only finds parameters. With `inner`, it learns from the fold's training queries without the inner fold of
    that number, which it is measured on.
    """

    fold: str
    setting: SweepSetting
    parameters: ParameterValues
    seed: int
    trial: bool = False
    inner: int | None = None

    @property
    def name(self) -> str:
        """As progress shows it."""
        inner = "" if self.inner is None else f", inner fold {self.inner + 1}"
        tried = ", ".join(f"{name}={value}" for name, value in self.parameters)
        return f"{self.fold} {self.setting.name}{f' tried with {tried}' if self.trial else ''}, seed {self.seed}{inner}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the same for the same job."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The job whose plain data this is."""
        described = data["setting"]
        setting = SweepSetting(**{**described, "parameters": values_of(dict(described["parameters"]))})
        return cls(**{**data, "setting": setting, "parameters": values_of(dict(data["parameters"]))})


@dataclass(frozen=True)
class SweepPlan:
    """What is trained on every fold. `grid` has for each engine parameter, and n_estimators, the values to try.

    `options` are Ranker's other arguments, the same for all. With `inner_folds`, each setting is also trained without
    one part after the other of a fold's training queries, and so measured on all of them.

    >>> grid = {"num_leaves": (10, 50), "n_estimators": (50, 100)}
    >>> plan = SweepPlan(("gain", "u_risk"), (1.0, 5.0), (0,), grid, "gain", "nDCG@10")
    >>> [setting.name for setting in plan.settings()]
    ['gain', 'u_risk α=1', 'u_risk α=5']
    >>> plan.combinations()
    [{'num_leaves': 10}, {'num_leaves': 50}]
    """

    objectives: tuple[str, ...]
    alphas: tuple[float, ...]
    seeds: tuple[int, ...]
    grid: Mapping[str, tuple[Any, ...]]
    tune: str
    measure: str
    options: Mapping[str, Any] = field(default_factory=dict)
    inner_folds: int = 0

    @classmethod
    def checked(
        cls,
        objectives: Sequence[str],
        alphas: Sequence[float],
        seeds: Sequence[int],
        grid: Mapping[str, Any],
        tune: str,
        measure: str,
        options: Mapping[str, Any],
        inner_folds: int = 0,
    ) -> Self:
        """A plan of these settings, each checked."""
        for objective in objectives:
            if (
                not isinstance(objective, str)
                or objective.removesuffix(ALL_BASELINES) not in ("gain", *RISK_OBJECTIVES)
                or objective == "gain@all"
            ):
                raise ArgumentError(
                    f"unknown objective {shortened(objective)}; write one of gain, {', '.join(RISK_OBJECTIVES)}, "
                    f"or a name such as faro{ALL_BASELINES}, which compares with all baselines together"
                )
        if tune not in TUNINGS:
            raise ArgumentError(f"tune is {shortened(tune)}; it must be one of {', '.join(TUNINGS)}")
        wrong = sorted(_SET_BY_SWEEP & {*grid, *options})
        if wrong:
            raise ArgumentError(f"{wrong[0]} cannot be in the grid; the sweep sets it in its own way")
        lists = {name: _values(name, value) for name, value in grid.items()}
        plan = cls(
            objectives=tuple(dict.fromkeys(["gain", *objectives])),
            alphas=tuple(sorted(distinct_alphas(alphas).values())) if len(alphas) else (),
            seeds=tuple(dict.fromkeys(integer("a seed", seed, 0, SEED_COUNT - 1) for seed in seeds)),
            grid={TREES_PARAMETER: (DEFAULT_TREES,)} | lists,
            tune=tune,
            measure=str(Measure.parse(measure)),
            options=dict(options),
            inner_folds=inner_folds and integer("inner_folds", inner_folds, FEWEST_INNER_FOLDS),
        )
        if not plan.seeds:
            raise ArgumentError("seeds is empty; give at least one seed")
        if len(plan.objectives) > 1 and not plan.alphas:
            raise ArgumentError(f"{plan.objectives[1]} needs α; give at least one value")
        if 0.0 in plan.alphas:
            raise ArgumentError("α = 0 is gain alone, which every sweep has; leave it out")
        for setting in plan.settings()[:1] + plan.settings()[-1:]:
            for parameters in plan.combinations():
                job = TrainingJob("", setting, values_of(parameters | {TREES_PARAMETER: 1}), plan.seeds[0])
                check_ranker(plan.engine, make_ranker(plan.engine, plan.ranker_arguments(job)))
        return plan

    @property
    def engine(self) -> Engine | Networks:
        """Who grows the trees, or networks."""
        return learner_of(self.options.get("engine", ENGINE))

    def ranker_arguments(self, job: TrainingJob) -> dict[str, Any]:
        """Everything that a job's `Ranker` is made with."""
        own = {"measure": self.measure, "random_state": job.seed}
        return {**self.options, **own, **job.setting.ranker_arguments, **dict(job.parameters)}

    def settings(self) -> list[SweepSetting]:
        """The rows, gain first."""
        pairs = [("gain", None), *product(self.objectives[1:], self.alphas)]
        grid = self.combinations(every=True) if self.tune == "none" else [{}]
        return [
            SweepSetting(objective, alpha, values_of(parameters) if len(grid) > 1 else ())
            for objective, alpha in pairs
            for parameters in grid
        ]

    def combinations(self, *, every: bool = False) -> list[dict[str, Any]]:
        """The grid's settings; numbers of trees are no part of them, unless `every` is asked for."""
        names = [name for name in self.grid if every or name != TREES_PARAMETER]
        return [dict(zip(names, values, strict=True)) for values in product(*(self.grid[name] for name in names))]

    @property
    def tuned(self) -> bool:
        """Whether there is anything to tune."""
        return self.tune != "none" and any(len(values) > 1 for values in self.grid.values())

    def group(self, setting: SweepSetting) -> SweepSetting:
        """The setting for which parameters are tuned that this one uses."""
        return setting if self.tune == "objective" else SweepSetting("gain")

    def trials(self, fold: str) -> Iterator[TrainingJob]:
        """The trainings that find a fold's parameters; the most trees are grown, and fewer read off the history."""
        most = max(self.grid[TREES_PARAMETER])
        for setting in dict.fromkeys(map(self.group, self.settings())) if self.tuned else ():
            for parameters in self.combinations():
                for seed in self.seeds:
                    yield TrainingJob(fold, setting, values_of(parameters | {TREES_PARAMETER: most}), seed, trial=True)

    def jobs(self, fold: str, tuned: Mapping[SweepSetting, Mapping[str, Any]]) -> Iterator[TrainingJob]:
        """The trainings of a fold's settings whose parameters are known; those of one inner fold together."""
        only = self.combinations(every=True)[0]
        for inner in (None, *range(self.inner_folds)):
            for setting in self.settings():
                parameters = dict(setting.parameters) or (tuned.get(self.group(setting)) if self.tuned else only)
                if parameters is not None:
                    for seed in self.seeds:
                        yield TrainingJob(fold, setting, values_of(parameters), seed, inner=inner)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The plan whose plain data this is."""
        grid = {name: tuple(values) for name, values in data["grid"].items()}
        lists = {name: tuple(data[name]) for name in ("objectives", "alphas", "seeds")}
        return cls(**{**data, **lists, "grid": grid})

    def rule(self) -> str:
        """How parameters were found, in words."""
        several = [f"{name} ({', '.join(map(str, values))})" for name, values in self.grid.items() if len(values) > 1]
        if not several:
            return "Parameters were given, not tuned."
        if not self.tuned:
            return f"Parameters ({name_list(several)}) were {TUNINGS[self.tune]}."
        return (
            f"Parameters ({name_list(several)}) were {TUNINGS[self.tune]}. This was done on the validation data of "
            f"each fold, by mean {self.measure}."
        )


def best_parameters(plan: SweepPlan, trials: Sequence[tuple[TrainingJob, Mapping[str, Any]]]) -> dict[str, Any] | None:
    """The parameters whose trials have the greatest mean measure on validation data; the first of equals.

    A trial's result has under `valid` the measure after each tree. A training that stops early uses its best tree.
    Parameters with which a trial failed are out.
    """
    counts = sorted(plan.grid[TREES_PARAMETER])
    early = plan.options.get("early_stopping_rounds") is not None

    def at(values: Sequence[float], trees: int) -> float:
        return max(values[:trees]) if early else values[min(trees, len(values)) - 1]

    reached: dict[ParameterValues, list[Sequence[float]]] = {}
    failed = {job.parameters for job, result in trials if "failed" in result}
    for job, result in trials:
        if job.parameters not in failed:
            reached.setdefault(job.parameters, []).append(result["valid"])
    means = {
        (parameters, count): sum(at(values, count) for values in lists) / len(lists)
        for parameters, lists in reached.items()
        for count in counts
    }
    if not means:
        return None
    parameters, count = max(means, key=lambda at: means[at])
    return dict(parameters) | {TREES_PARAMETER: count}


def _values(name: str, entry: Any) -> tuple[Any, ...]:
    values = tuple(entry) if isinstance(entry, list | tuple) else (entry,)
    if not values:
        raise ArgumentError(f"the grid has no value for {name}; give at least one")
    if name == TREES_PARAMETER:
        return tuple(sorted({integer(TREES_PARAMETER, value, 1, LARGEST_COUNT) for value in values}))
    return values


class Networks:
    """What a sweep must know of networks, by the names that engines of trees have for it."""

    name = NETWORK_ENGINE
    round_name = "epochs"
    threads_parameter = "num_threads"
    without_effect = frozenset({"num_threads", "device", "engine"})  # what changes no network, beside what rounding may

    @property
    def version(self) -> str:
        """PyTorch's."""
        from surefoot.neural.libraries import torch

        return str(torch.__version__)

    @staticmethod
    def main_name(name: str) -> str:
        """Parameters have one name each."""
        return name


def learner_of(name: Any) -> Engine | Networks:
    """An engine of trees by its name, or networks."""
    return Networks() if name == NETWORK_ENGINE else engine_of(name)


def make_ranker(learner: Engine | Networks, arguments: Mapping[str, Any]) -> AnyRanker:
    """The ranker of a sweep's arguments; `n_estimators` are the epochs of networks."""
    if not isinstance(learner, Networks):
        from surefoot.learn.ranker import Ranker

        return Ranker(**arguments)
    from surefoot.neural.libraries import torch
    from surefoot.neural.ranker import NeuralRanker

    own = {name: value for name, value in arguments.items() if name not in ("engine", "n_estimators", "num_threads")}
    if "num_threads" in arguments:
        torch.set_num_threads(arguments["num_threads"])
    return NeuralRanker(epochs=arguments["n_estimators"]).set_params(**own)


def check_ranker(learner: Engine | Networks, ranker: Any) -> None:
    """Reject what no ranker takes before any data is read."""
    if isinstance(learner, Networks):
        if isinstance(ranker.hidden, int):  # of a grid such as hidden=[256, 128]: meant as one network, read as two
            raise ArgumentError(
                f"hidden is {ranker.hidden} for one of the networks; give each network's layers as a list, such as "
                "hidden=[[256,128],[64]] for two networks"
            )
        ranker.check_settings()
        return
    from surefoot.learn.settings import TrainingSettings

    TrainingSettings.from_ranker(ranker)
    # Lists have a value for each feature, and how many there are the data will say.
    plain = {name: value for name, value in ranker.engine_parameters.items() if not isinstance(value, list | tuple)}
    learner.check(plain, LARGEST_COUNT)


def fit(ranker: Any, data: PreparedData) -> None:
    """Learn from prepared data; networks have no use for what is prepared."""
    if hasattr(ranker, "engine_parameters") and not hasattr(ranker, "epochs"):
        ranker.fit(data)
    else:
        ranker.fit(data.train, valid=data.valid)
