"""MQ2008, five folds: single models and means of seeds, chosen inside the training data and judged on test data.

    python benchmarks/mq2008.py ../shared/data/mq2008 FOLDER --chosen [--seeds 5]

One sweep, kept in FOLDER: gain, u_risk and saro, 150 trees of 8 leaves. On each fold, α is chosen by cross-validation
inside the training queries: most nDCG(exp)@10, of what has more than the gain-only model and at least 30 % less risk,
or what comes nearest. Figures of single models are means over seeds. Intervals are 95 %, over resampled test queries.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.choose.candidate_figures import every_ranking, resampled_means
from surefoot.choose.candidates import Candidate, TrainedModels
from surefoot.choose.choice import Choice, select
from surefoot.choose.options import MODEL, SEED_MEAN
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.store import SweepStore

SETTINGS: dict[str, Any] = {
    "objectives": ("u_risk", "saro"), "alphas": (1, 5, 10, 20), "choose_by": "cross-validation",
    "grid": {
        "num_leaves": 8, "n_estimators": 150, "min_data_in_leaf": 50, "learning_rate": 0.05, "feature_fraction": 0.7,
    },
}  # fmt: skip
POLICY = SelectionPolicy("less_risk", 0.3, nearest=True)
KINDS = {MODEL: "single", SEED_MEAN: "mean"}


def print_chosen(folds: list[tuple[sf.RankingData, ...]], folder: Path, seeds: int) -> None:
    """Sweep, choose in each family, and print what test data say."""
    result = sf.sweep(folds, folder, seeds=tuple(range(seeds)), **SETTINGS)
    store = SweepStore.read(folder)
    candidates = TrainedModels(store)
    by_name = {one.name: one for one in every_ranking(candidates, {row["name"] for row in result.rows})}
    full = by_name["gain"]
    print(f"MQ2008, {result.to_dict()['queries']['test']} test queries, {seeds} seeds; policy: {POLICY.words}")
    print("| model | nDCG(exp)@10 | risk | nDCG(exp)@10 − gain's | risk / gain's | α by fold |")
    print("|---|---:|---:|---:|---:|---|")
    choices: dict[str, Choice] = {}
    for objective in ("gain", "u_risk", "saro", "any"):
        for kind, word in KINDS.items():
            names = [
                row["name"] for row in result.rows if row["kind"] == kind and objective in (row["objective"], "any")
            ]
            name = f"{objective}, {word if kind == MODEL else f'mean of {seeds}'}"
            choices[name] = select(result, POLICY, (kind,), store=store, names=names)
            print_line(name, choices[name], candidates, by_name, full)
    everything = select(result, POLICY, store=store)
    print_line("any, single or mean", everything, candidates, by_name, full)
    on_validation = select(result, POLICY, choose_by="validation", store=store)
    print_line("the same, chosen on validation data", on_validation, candidates, by_name, full)
    print("\nProbability that the policy holds on new queries, by fold:")
    for name, choice in {**choices, "any": everything}.items():
        held = ", ".join(f"{fold} {choice.probability[fold]:.2f}" for fold in choice.chosen)
        print(f"  {name:20} {held}")
    print("\nAt each α (no choice), means over seeds on test data:")
    for row in result.rows:
        if row["kind"] in KINDS:
            test = row["test"]
            low, high = test["interval"]["risk"]
            print(f"  {row['name']:28} {test['mean']:.4f}  risk {test['risk']:.4f} ({low:.4f} to {high:.4f})")


def print_line(
    name: str, choice: Choice, candidates: TrainedModels, by_name: dict[str, Candidate], full: Candidate
) -> None:
    """A line of the table."""
    baseline, spans = candidates.baseline_values("test")[0, 0], candidates.spans("test")
    mean, risk = np.empty(len(baseline)), np.empty(len(baseline))
    for fold, row in choice.chosen.items():
        one, span = by_name[row["name"]], spans[fold]
        mean[span] = (one.gains("test", baseline) + baseline)[span]
        risk[span] = one.losses("test", baseline)[span]
    full_mean, full_risk = full.gains("test", baseline) + baseline, full.losses("test", baseline)
    draws = resampled_means([mean, risk, mean - full_mean, full_risk])
    ratio = draws[1] / draws[3]
    alphas = " ".join("–" if row["alpha"] is None else format(row["alpha"], "g") for row in choice.chosen.values())
    cells = [
        f"{mean.mean():.4f} ({ends(draws[0])})", f"{risk.mean():.4f} ({ends(draws[1])})",
        f"{(mean - full_mean).mean():+.4f} ({ends(draws[2], '+.4f')})",
        f"{risk.mean() / full_risk.mean():.2f} ({ends(ratio, '.2f')})",
    ]  # fmt: skip
    print(f"| {name} | {' | '.join(cells)} | {alphas} |")


def ends(draws: Any, form: str = ".4f") -> str:
    """A 95 % interval."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{low:{form}} to {high:{form}}"
