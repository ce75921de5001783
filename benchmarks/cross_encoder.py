"""What cross-encoders of each objective gain and risk on generated text, whose live order some queries should keep.

    python benchmarks/cross_encoder.py [--seeds 5] [--json results.json]

The construction is in `generated_text.py`. For each seed a BERT of one layer with 32 units learns from 400 queries, in
8 epochs of batches of 16 lists at a rate of 5e-3, by sentence-transformers' trainer, and is evaluated on 2,000 queries
that it has not seen. Nothing is chosen by their figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.generated_text import ambiguous_queries, load_model, write_model  # noqa: E402

OBJECTIVES = [("gain", None), ("u_risk", 1), ("u_risk", 5), ("u_risk", 20), ("saro", 5), ("geo_risk", 5)]
FIGURES = ("mean", "reward", "risk", "u_risk@5", "losses_over_20")


def trained_figures(
    folder: Path, objective: str, alpha: float | None, seed: int, evaluator: Any, queries: int = 400, epochs: int = 8
) -> dict[str, float]:
    """The held-out figures of a model that learned by an objective."""
    from datasets import Dataset

    from surefoot.learn.options import MEASURE
    from surefoot.neural.cross_encoder.training import FineTuning

    model = load_model(folder)
    data = Dataset.from_list(ambiguous_queries(queries, seed)[0])
    more = {"learning_rate": 5e-3, "mini_batch_size": -1, "use_cpu": True}
    with tempfile.TemporaryDirectory() as work:
        FineTuning(objective, alpha, MEASURE, "exact", epochs, seed=seed, trainer_arguments=more).run(
            model, data, None, Path(work)
        )
    figures: dict[str, float] = evaluator(model)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    import numpy as np
    import torch
    from transformers.utils.logging import set_verbosity_error

    from surefoot.neural.sentence_transformers import RiskEvaluator

    set_verbosity_error()
    torch.set_num_threads(1)
    held_out, misled = ambiguous_queries(2000, 1_000_000)
    evaluator = RiskEvaluator(held_out, write_csv=False)
    results: dict[str, Any] = {"misled": float(misled.mean()), "models": {}}
    with tempfile.TemporaryDirectory() as home:
        folder = write_model(Path(home) / "bert", hidden=32, length=24)
        for objective, alpha in OBJECTIVES:
            name = objective if alpha is None else f"{objective} {alpha}"
            runs = [trained_figures(folder, objective, alpha, seed, evaluator) for seed in range(options.seeds)]
            results["live"] = runs[0]["live_mean"]
            results["models"][name] = {figure: [run[figure] for run in runs] for figure in FIGURES}
            means = {figure: float(np.mean(values)) for figure, values in results["models"][name].items()}
            print(name, {figure: round(value, 4) for figure, value in means.items()}, flush=True)
    base = {figure: np.array(results["models"]["gain"][figure]) for figure in FIGURES}
    for name, figures in results["models"].items():
        risk = np.array(figures["risk"]).mean() / base["risk"].mean() - 1
        mean = np.array(figures["mean"]).mean() / base["mean"].mean() - 1
        print(f"{name}: risk {risk:+.1%}, mean {mean:+.2%} against gain")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
