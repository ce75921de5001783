"""An assessment as one self-contained page: a plain payload first, then a template around it.

The page recomputes every figure in the browser, so its data is the score matrix itself, not the figures.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.data.types.scores import Scores, check_same
from surefoot.report.columns import LEAST_P, page_columns
from surefoot.report.family import Chip, ChipKind, Front, Tile, family_page
from surefoot.report.notes import CAUTIONS, UNEVEN, too_few, too_few_elsewhere, traffic_weights
from surefoot.report.numbers import fixed, measure_title, signed
from surefoot.report.options import DETAILED_QUERIES, PANEL_ALPHAS
from surefoot.report.ordinary_tests import GUIDE
from surefoot.report.page_results import measure_terms, pack, packed_results, page_texts
from surefoot.report.provenance import Provenance
from surefoot.report.words import (
    baselines_of,
    cautions,
    default_alpha,
    headline,
    notes,
    recommended_system,
    title,
)
from surefoot.risk.assessment_data import AssessmentData, Json, SegmentColumn, SystemData
from surefoot.risk.assessment_parts import Segments
from surefoot.risk.baselines import VIRTUAL_BASELINES, differences, population_rows, vectors_of_baselines
from surefoot.risk.inference import critical_value
from surefoot.risk.outcomes import LAST_SEARCHED_ALPHA
from surefoot.risk.tradeoff import LARGEST_ALPHA, OVER_20_PERCENT, ROUNDING, alpha_key, check_alpha

_FOLDER = "surefoot.report/assets"
_NAMES = (
    "packed", "book", "statistics", "figures", "turns", "state", "words", "table", "segments", "chart", "differences",
    "curves", "plane", "rankings", "results", "queries", "main",
)  # fmt: skip
SCRIPTS = tuple(f"{_FOLDER}/{name}.js" for name in _NAMES)


ScoredPart = tuple[AssessmentData, Scores]


class Texts(NamedTuple):
    """What `read_texts` takes, of queries and of documents."""

    queries: Any = None
    documents: Any = None


def page_payload(
    parts: Sequence[ScoredPart],
    segments: Segments | None = None,
    detail: int | None = None,
    system: str | None = None,
    alpha: float | None = None,
    texts: Texts | None = None,
) -> Json:
    """What the page's scripts need to know, as plain data that JSON can hold.

    `parts` are the plain data and scores by each measure, of which the first leads; `segments` has for each column the
    segment of queries. `detail` is how many of the most hurt and most helped queries of each system are shown with
    their results; `system` and `alpha` are what the page shows first; `texts` stand beside ids.
    """
    detail = integer("detail", DETAILED_QUERIES if detail is None else detail, 0)
    data, scores = parts[0]
    check_same([matrix for _, matrix in parts], "one page cannot show both; make one for each, as a[measure].to_html")
    population = population_rows(scores, data["population"])
    baselines = baselines_of(data)
    first = baselines[0]
    results = packed_results(
        scores,
        first if first in scores.systems else None,
        [differences(matrix, vectors_of_baselines(matrix, first, population))[first] for _, matrix in parts],
        detail,
    )
    texts = texts or Texts()
    documents, levels = (results.pop("documents"), results["levels"]) if results else ([], [])
    alpha = default_alpha(data["alphas"]) if alpha is None else check_alpha(alpha)
    assessed = alpha if alpha_key(alpha) in map(alpha_key, data["alphas"]) else default_alpha(data["alphas"])
    return {
        "texts": {
            "queries": page_texts(texts.queries, scores.queries),
            "documents": page_texts(texts.documents, documents),
        },
        "counts": _page_counts(scores),
        "columns": page_columns(data),
        "systems": list(scores.systems),
        "queries": list(scores.queries),
        "measures": [_measure(own, matrix, population, first, levels) for own, matrix in parts],
        "segments": [_segments(column, (segments or {})[column["column"]], scores) for column in data["segments"]]
        if segments
        else [],
        "population": population,
        "virtual": [{"key": _free_key(kind, scores.systems), "kind": kind} for kind in VIRTUAL_BASELINES],
        "alphas": data["alphas"],
        "panel_alphas": PANEL_ALPHAS,
        "critical_value": data["critical_value"],
        "traffic_critical_value": critical_value(data["traffic"]["effective_queries"]) if "traffic" in data else None,
        "cautions": [one._asdict() for one in CAUTIONS],
        "uneven": UNEVEN._asdict(),
        "missing": [scores.missing[name] for name in scores.systems],
        "dropped": data["dropped"],
        "rounding": ROUNDING,
        "over_20": OVER_20_PERCENT,
        "largest_alpha": LARGEST_ALPHA,
        "most_alpha": LAST_SEARCHED_ALPHA,
        "worst_share": data["worst_share"],
        "baselines": baselines,
        "start": {
            "alpha": alpha,
            "baseline": first,
            "system": recommended_system(data, assessed)["system"]
            if system is None
            else scores.systems[scores._row(system)],
        },
        "results": results,
    }


def _measure(
    data: AssessmentData, scores: Scores, population: list[int], baseline: str, levels: Sequence[float]
) -> Json:
    """What the page holds of one measure."""
    return {
        "measure": data["measure"],
        "title": measure_title(data["measure"]),
        "scores": _packed_floats(scores.values),
        "mean": _packed_floats(VIRTUAL_BASELINES["mean"](scores.values[population])),
        "notes": [*cautions(data), *notes(data), *too_few_elsewhere(data, default_alpha(data["alphas"]))],
        "churn": _churn(data, baseline),
        "terms": measure_terms(data["measure"], levels),
    }


def _page_counts(scores: Scores) -> str | None:
    """How often each query is asked, where that differs."""
    weighting = scores._weighting
    return None if weighting is None or weighting.equal else _packed_floats(weighting.weights)


def _segments(column: SegmentColumn, segment_of: Mapping[str, str], scores: Scores) -> Json:
    """A column of segments: their names, and for each query the number of its segment from 1, 0 for none."""
    number = {part["segment"]: at for at, part in enumerate(column["segments"], start=1)}
    return {
        "column": column["column"],
        "segments": list(number),
        "critical_values": [critical_value(part["queries"]) for part in column["segments"]],
        "traffic_critical_values": [
            critical_value(part.get("effective_queries", part["queries"])) for part in column["segments"]
        ],
        "of": pack(
            np.array(
                [number[segment_of[query]] if query in segment_of else 0 for query in scores.queries], dtype=np.int64
            )
        ),
    }


def to_page(payload: Json, data: AssessmentData, provenance: Provenance, tests: Sequence[Json] = ()) -> str:
    """The page of a payload and the leading measure's data: HTML that needs nothing else, no network and no server."""
    start = payload["start"]
    return family_page(
        f"{_FOLDER}/page.html.j2",
        page_front(data, start["system"], start["alpha"]),
        provenance,
        page_kind="evaluation",
        title=title(data),
        css=[f"{_FOLDER}/page.css", f"{_FOLDER}/rankings.css"],
        scripts=SCRIPTS,
        data=payload,
        tests=tests,
        tests_guide=GUIDE,
    )


def _free_key(kind: str, taken: tuple[str, ...]) -> str:
    """A key for a per-query baseline that no system bears."""
    key = kind
    while key in taken:
        key = f"per-query {key}"
    return key


def _churn(data: AssessmentData, baseline: str) -> Json | None:
    rows = [row.get("churn") for row in data["systems"]]
    return {"baseline": baseline, "systems": rows} if any(rows) else None


def _packed_floats(values: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def page_front(data: AssessmentData, system: str, alpha: float) -> Front:
    """What the page says first, at α or, where that was not assessed, at the α that is looked at first."""
    if alpha_key(alpha) not in map(alpha_key, data["alphas"]):
        alpha = default_alpha(data["alphas"])
    sentence, word = headline(data, alpha)
    caution = too_few(data, alpha)
    kind: ChipKind = {"Better": "ship", "Worse": "keep", "None better": "keep"}.get(word, "neutral")  # type: ignore[assignment]
    row = next(row for row in data["systems"] if row["system"] == system)
    return Front(
        sentence,
        Chip(word, "wait" if caution and kind == "ship" else kind),
        caution,
        _tiles(row, alpha, bool(traffic_weights(data))),
    )


def _tiles(row: SystemData, alpha: float, weighted: bool) -> list[Tile]:
    test = row["alpha"][alpha_key(alpha)]
    interval, p = test["u_risk_interval"], test["p_holm"]
    ends = "no interval" if interval is None else f"95 %: {' to '.join(signed(end, 3) for end in interval)}"
    chance = "no test" if p is None else f"p < {LEAST_P}" if p < LEAST_P / 2 else f"p = {p:.4f}"
    return [
        Tile("Gain", signed(row["gain"], 4), "mean change" if weighted else "mean change per query", key="gain"),
        Tile("Helped", f"{row['wins']:,}", "queries", key="helped"),
        Tile("Hurt", f"{row['losses']:,}", "queries", key="hurt"),
        Tile("Hurt badly", f"{row['loss_over_20']:,}", "lose more than 20 %", key="badly"),
        Tile("U_Risk", signed(test["u_risk"], 4), ends, key="u"),
        Tile("T_Risk", "–" if test["t_risk"] is None else fixed(test["t_risk"], 2), chance, key="t"),
    ]
