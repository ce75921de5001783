"""`assess`, and the Assessment it gives: plain data first, then as many renderings as people need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from surefoot.data.files import as_text, write_text
from surefoot.data.scores import Scores, read_scores
from surefoot.errors import ArgumentError
from surefoot.report import text
from surefoot.report.columns import Row, sort_rows
from surefoot.report.plain_json import to_json
from surefoot.report.words import verdict
from surefoot.risk.assess import Json, alpha_key, assessment_data
from surefoot.risk.baselines import baseline_rows, differences
from surefoot.risk.expectation import deviations, expected
from surefoot.risk.inference import query_scores


def assess(
    scores: Scores | Any,
    baseline: str | Sequence[str],
    alphas: Sequence[float] = (0, 1, 5, 10),
    *,
    population: Sequence[str] | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    depth: int | None = None,
    worst: float = 0.05,
) -> Assessment:
    """What each system gains and risks against a baseline, on which queries, and whether by chance.

    Parameters
    ----------
    scores : Scores, or anything `read_scores` takes
        Effectiveness of systems on queries.
    baseline : str or sequence of str
        A system, several (figures are averaged over them), or "mean", "median" or "max": the per-query figure of the
        population.
    alphas : sequence of float
        Weights of losses: each loss counts 1 + α times.
    population : sequence of str, optional
        The systems that Z_Risk, GeoRisk and the mean, median or max are taken over; all by default.
    bootstrap : int
        Replicates for confidence intervals of U_Risk, Z_Risk and GeoRisk; 0 for none.
    seed : int
        Seed of the bootstrap.
    depth : int, optional
        How deep rankings are compared, when the scores come from runs; to the end by default.
    worst : float
        Share of queries in the mean of the worst differences.

    Examples
    --------
    >>> scores = read_scores({"today": {"q1": 0.5, "q2": 0.4, "q3": 0.2}, "new": {"q1": 0.9, "q2": 0.1, "q3": 0.4}})
    >>> a = assess(scores, baseline="today", alphas=[0, 5])
    >>> new = a.to_dict()["systems"][1]
    >>> round(new["reward"], 3), round(new["risk"], 3), round(new["alpha"]["5"]["u_risk"], 3)
    (0.2, 0.1, -0.4)
    """
    matrix = read_scores(scores)
    data = assessment_data(matrix, baseline, alphas, population, bootstrap, seed, depth, worst)
    return Assessment(data, matrix)


class Assessment:
    """An assessment: `to_dict` is its plain data, everything else renders that."""

    def __init__(self, data: Json, scores: Scores) -> None:
        self._data = data
        self.scores = scores

    def to_dict(self, *, per_query: bool = False) -> Json:
        """Plain data that JSON can hold and `assessment.schema.json` describes; per query where asked for."""
        return {**self._data, "per_query": self._per_query()} if per_query else dict(self._data)

    def to_json(self, *, per_query: bool = False) -> str:
        """The data as JSON text."""
        return to_json(self.to_dict(per_query=per_query))

    def rows(self, sort: str = "mean") -> list[Row]:
        """The systems' figures by a column, best first."""
        return sort_rows(self._data, sort)

    def to_csv(self, sort: str = "mean") -> str:
        """One line a system, every figure at full precision."""
        return text.to_csv(self._data, self.rows(sort))

    def to_markdown(self, sort: str = "mean") -> str:
        """Tables for a pull request or a wiki."""
        return text.to_markdown(self._data, self.rows(sort))

    def to_latex(self, sort: str = "mean") -> str:
        """A table for a paper."""
        return text.to_latex(self._data, self.rows(sort))

    def to_text(self, sort: str = "mean", width: int = 120) -> str:
        """The tables that the command line prints."""
        return text.to_text(self._data, self.rows(sort), width)

    def __str__(self) -> str:
        """The tables that the command line prints."""
        return self.to_text()

    def __repr__(self) -> str:
        """Size, measure and baseline."""
        return (
            f"<Assessment of {self._data['measure']}: {len(self._data['systems'])} systems on "
            f"{self._data['queries']:,} queries against {self._data['baseline']!r}>"
        )

    def verdict(self, system: str, alpha: float | None = None) -> str:
        """One system in plain words, at one of the α assessed (the largest by default)."""
        alphas = self._data["alphas"]
        alpha = max(alphas) if alpha is None else alpha
        if alpha_key(alpha) not in map(alpha_key, alphas):
            raise ArgumentError(f"alpha {alpha:g} was not assessed; assessed were {', '.join(map(alpha_key, alphas))}")
        return verdict(self._data, self._data["systems"][self.scores.row(system)], alpha)

    def queries_csv(self) -> str:
        """One line per system and query, every figure at full precision."""
        return text.queries_csv(self.per_query())

    def write_json(self, path: str | os.PathLike[str], *, per_query: bool = False) -> None:
        """Write the data as JSON, all or nothing."""
        write_text(path, self.to_json(per_query=per_query))

    def write_csv(self, path: str | os.PathLike[str], sort: str = "mean") -> None:
        """Write one line a system as CSV, all or nothing."""
        write_text(path, self.to_csv(sort))

    def figures(self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg", "png")) -> list[Path]:
        """Write the papers' charts into a folder; see `surefoot.report.figures` for each of them."""
        from surefoot.report.figures import write_figures

        return write_figures(self, folder, formats)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        detail: int = 500,
        system: str | None = None,
        alpha: float | None = None,
    ) -> str:
        """One self-contained page that shows who is hurt; written to `path`, all or nothing, where one is given.

        `detail` is how many of the most hurt and most helped queries of each system come with their top
        results; `system` and `alpha` are what the page shows first.
        """
        from surefoot.report.page import page_payload, to_page

        html = to_page(page_payload(self._data, self.scores, detail, system, alpha))
        if path is not None:
            write_text(path, html)
        return html

    def _repr_html_(self) -> str:
        from surefoot.report.page import to_notebook

        return to_notebook(self._data, self.rows())

    def per_query(self) -> pl.DataFrame:
        """A row for each system and query: scores, difference, expectation, and at each α T_R, T_J and significance."""
        block = self._per_query()
        frames = []
        for system, columns in block["systems"].items():
            flat = {
                "query": block["queries"],
                "system": [as_text(system)] * len(block["queries"]),
                "baseline": block["baseline"],
            }
            flat |= {key: values for key, values in columns.items() if key != "alpha"}
            for key, at in columns["alpha"].items():
                flat |= {f"{name}@{key}": values for name, values in at.items()}
            absent = {key: [None] * len(block["queries"]) for key, values in flat.items() if values is None}
            frames.append(pl.DataFrame({**flat, **absent}, strict=False))
        return pl.concat(frames, how="vertical_relaxed")

    def _per_query(self) -> Json:
        scores = self.scores
        rows = [scores.row(system) for system in self._data["population"]]
        against = baseline_rows(scores, self._data["baseline"], rows)
        baseline = next(iter(against.values())) if len(against) == 1 else None
        deltas = None if baseline is None else next(iter(differences(scores, against).values()))
        usable = bool((scores.values[rows] >= 0).all())
        e, z = (expected(scores.values[rows]), deviations(scores.values[rows])) if usable else (None, None)
        systems = {}
        for position, system in enumerate(scores.systems):
            own = scores.values[position]
            at = rows.index(position) if position in rows else None
            alpha: Json = {}
            for value in self._data["alphas"]:
                found = None if baseline is None else query_scores(own, baseline, value)
                alpha[alpha_key(value)] = {
                    "t_r": None if found is None else found.t_r.tolist(),
                    "t_j": None if found is None else found.t_j.tolist(),
                    "significant": None if found is None else (np.abs(found.t_j) > found.critical).tolist(),
                }
            systems[system] = {
                "score": own.tolist(),
                "difference": None if deltas is None else deltas[position].tolist(),
                "expected": None if e is None or at is None else e[at].tolist(),
                "z": None if z is None or at is None else z[at].tolist(),
                "alpha": alpha,
            }
        return {
            "queries": list(scores.queries),
            "baseline": None if baseline is None else baseline.tolist(),
            "systems": systems,
        }
