"""Charts for the pages about the papers, drawn when the site is built from what surefoot computes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf

FOLDER = "papers/figures/"
WIDTH = 5.5  # inches

# Table 3 of Dinçer et al. (SIGIR 2016): eight systems on five queries.
TABLE_3 = [
    [0.0500, 0.1500, 0.3000, 0.4500, 0.5500],
    [0.4000, 0.3500, 0.3000, 0.2500, 0.2000],
    [0.3000, 0.3000, 0.3000, 0.3000, 0.3000],
    [0.2500, 0.2500, 0.2500, 0.2500, 0.2500],
    [0.4000, 0.1500, 0.4000, 0.1500, 0.4000],
    [0.2000, 0.4500, 0.2000, 0.4500, 0.2000],
    [0.2542, 0.2629, 0.2802, 0.2975, 0.3061],
    [0.2918, 0.2994, 0.3147, 0.3301, 0.3378],
]


def paper_figures() -> dict[str, bytes]:
    """The charts as SVG, by their file in the site."""
    from surefoot.report import charts

    made = sf.demo.runs()
    demo = sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[0, 5], depth=10)
    names = {"systems": [f"s{i}" for i in range(1, 9)], "queries": [f"q{i}" for i in range(1, 6)]}
    table_3 = sf.assess(sf.read_scores(np.array(TABLE_3), **names), baseline="s1", alphas=[0, 5])
    drawings = {
        "wang-plane": charts.risk_reward_plane(demo, alpha=5, width=WIDTH),
        "wang-histogram": charts.helped_hurt_histogram(demo, "bold", width=WIDTH),
        "dincer-t-risk": charts.t_risk_curves(demo, width=WIDTH),
        "dincer-queries": charts.query_differences_by_alpha(demo, "bold", width=WIDTH),
        "dincer-geo-risk": charts.geo_risk_curves(table_3, systems=[*names["systems"][:3], "s8"], width=WIDTH),
        "li-gap": _gap(),
        "bennett-gains": _gains(),
    }
    with tempfile.TemporaryDirectory() as folder:
        written = {}
        for name, figure in drawings.items():
            path = Path(folder, f"{name}.svg")
            charts.save_chart(figure, path)
            written[f"{FOLDER}{name}.svg"] = path.read_bytes()
    return written


def _axes(height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7)
    return figure, axes


def _gap() -> Any:
    """Li et al.'s list of an excellent and two bad results, as the first two scores come nearer."""
    figure, axes = _axes(2.6)
    gaps = np.linspace(0, 1, 41)
    runs = [
        sf.read_run({"q": {"excellent": 2.0 + gap, "bad": 2.0, "worse": 1.0}}, name=f"{gap:.3f}") for gap in gaps[1:]
    ]
    for measure, dash in (("nDCG@5", "-"), ("rNDCG(normalize='none')@5", "--"), ("SoftNDCG(normalize='none')@5", ":")):
        values = sf.score({"q": {"excellent": 1, "bad": 0, "worse": 0}}, runs, measure).values[:, 0]
        axes.plot(gaps[1:], values, dash, color="#0072B2", label=measure.partition("(")[0].partition("@")[0])
    axes.set_xlabel("score of the excellent result, less that of the bad one below it", fontsize=8)
    axes.set_ylim(0.7, 1.02)
    axes.legend(frameon=False, fontsize=7)
    return figure


def _gains() -> Any:
    """Bennett et al.'s Table 1: ten results, the sixth satisfied, for two weights of the shown order."""
    figure, axes = _axes(2.2)
    clicked, places = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0], np.arange(1, 11)
    for shift, beta, colour in ((-0.2, 0.5, "#0072B2"), (0.2, 0.05, "#E69F00")):
        gains = sf.clicks.preference_gains(clicked, [10], alpha=1, beta=beta)
        axes.bar(places + shift, gains, 0.38, color=colour, label=f"β = {beta}")
    axes.set_xticks(places)
    axes.set_xlabel("result, in the order shown; the sixth satisfied", fontsize=8)
    axes.set_ylabel("gain G", fontsize=8)
    axes.legend(frameon=False, fontsize=7)
    return figure
