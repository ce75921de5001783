"""`assess`, and the Assessment it gives: plain data first, then as many renderings as people need."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
import polars as pl

from surefoot.data.reading.files import as_text
from surefoot.data.reading.query_tables import read_segments
from surefoot.data.reading.traffic import LARGEST_WEIGHT, Traffic, TrafficWeights, read_traffic
from surefoot.data.types.scores import Scores, check_once, check_same_weights, unknown_system
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.score_reading import assessed_scores
from surefoot.progress import busy
from surefoot.report import text
from surefoot.report.columns import all_columns, sort_rows
from surefoot.report.kinds import KINDS, check_shape
from surefoot.report.options import ALPHAS, BY_TRAFFIC, CHART_FORMATS
from surefoot.report.ordinary_tests import add_tests, page_tests
from surefoot.report.provenance import Provenance, SourceFile
from surefoot.report.result import PlainResult
from surefoot.report.words import advice, default_alpha, in_words
from surefoot.risk.assessment_data import SCHEMA, AssessmentData, Json, PerQuery, SystemData, TrafficData
from surefoot.risk.assessment_figures import WORST, assessment_data
from surefoot.risk.assessment_parts import Segments, per_query_data, traffic_segments
from surefoot.risk.tradeoff import alpha_key

MeasureResult = tuple[AssessmentData, Scores | None]


def assess(
    scores: Scores | Sequence[Scores] | Any,
    baseline: str | Sequence[str],
    alphas: Sequence[float] = ALPHAS,
    *,
    population: Sequence[str] | None = None,
    segments: Any = None,
    traffic: Any = None,
    tests: bool | Literal["hsd"] = False,
    bootstrap: int = 0,
    depth: int | None = None,
    seed: int = 0,
) -> Assessment:
    """What each system gains and risks against a baseline, on which queries, and whether by chance.

    Parameters
    ----------
    scores : Scores, a list of them, or anything `read_scores` takes
        Effectiveness of systems on queries; of several measures the first leads. A long table of several measures,
        such as PyTerrier's, is assessed by each.
    baseline : str or sequence of str
        A system, several (figures are averaged over them), or "mean", "median" or "max": the per-query figure of the
        population.
    alphas : sequence of float
        Weights of losses: each loss counts 1 + α times.
    population : sequence of str, optional
        The systems that Z_Risk, GeoRisk and the mean, median or max are taken over; all by default.
    segments : file, dict or table, or "by-traffic", or a list of both, optional
        Kinds of queries (languages, intents) for which all of it is assessed as well. "by-traffic" makes head, torso
        and tail of the traffic: the queries with 50, 30 and 20 % of the traffic.
    traffic : file, dict or table, optional
        How often each query is asked. Every mean, share and test is weighted by it; Z_Risk and GeoRisk are absent.
        Queries that nobody asks are left out.
    tests : bool or "hsd"
        Also make the tests that papers usually report: paired t, Wilcoxon, randomisation, Tukey's HSD. With "hsd" the
        HSD is made by permuting scores instead of Tukey's studentized range.
    bootstrap : int
        Replicates for confidence intervals of U_Risk, Z_Risk and GeoRisk; 0 for none.
    depth : int, optional
        How deep rankings are compared, when the scores come from runs; to the end by default.
    seed : int
        Seed of the bootstrap.

    Examples
    --------
    >>> import surefoot as sf
    >>> scores = sf.read_scores({"today": {"q1": 0.5, "q2": 0.4, "q3": 0.2}, "new": {"q1": 0.9, "q2": 0.1, "q3": 0.4}})
    >>> a = assess(scores, baseline="today", alphas=[0, 5])
    >>> new = a.to_dict()["systems"][1]
    >>> round(new["reward"], 3), round(new["risk"], 3), round(new["alpha"]["5"]["u_risk"], 3)
    (0.2, 0.1, -0.4)
    """
    matrices = _matrices(scores)
    if traffic is not None:
        counts = read_traffic(traffic)
        matrices = [_weighted(matrix, counts) for matrix in matrices]
    for matrix in matrices[1:]:
        check_same_weights(matrices[0], matrix)
    parsed_segments = None if segments is None else segments_of(segments, matrices[0])
    arguments = (baseline, alphas, population, bootstrap, seed, depth, WORST, parsed_segments)
    parts = [(assessment_data(matrix, *arguments), matrix) for matrix in matrices]
    if not isinstance(tests, bool) and tests != "hsd":
        raise ArgumentError(f"tests is {shortened(tests)}; it must be True, False or 'hsd'")
    if tests:
        add_tests(parts, seed, tests == "hsd")
    return Assessment(parts, parsed_segments)


def _matrices(scores: Any) -> list[Scores]:
    if isinstance(scores, Scores):
        return [scores]
    several = isinstance(scores, list | tuple) and scores and all(isinstance(matrix, Scores) for matrix in scores)
    return list(scores) if several else [*assessed_scores(scores)]


def _weighted(matrix: Scores, traffic: Traffic) -> Scores:
    if matrix._weighting is not None:
        raise ArgumentError("these scores have weights already; give the traffic to score or to assess, not to both")
    return matrix.with_traffic(traffic)


class Assessment(PlainResult):
    """An assessment: `to_dict` is its plain data, everything else renders that.

    Of several measures the first leads: `scores`, `rows`, `in_words` and `charts` are its, and `a["AP"]` is the
    assessment by AP alone.
    """

    _kind = KINDS["assessment"]
    _data: AssessmentData  # by the leading measure

    def __init__(self, parts: Sequence[MeasureResult], segments: Segments | None = None) -> None:
        super().__init__(parts[0][0])
        self._parts = list(parts)
        self._segments = segments
        check_once(self.measures)

    @classmethod
    def from_dict(cls, data: Json) -> Self:
        """The assessment whose plain data this is; with `per_query=True` it has its scores, and so its page, again."""
        by_measure = data.get("measures", [data]) if isinstance(data, dict) else []
        for part in by_measure or [None]:
            cls._check_schema(part)
        assessment = cls([_part(dict(part)) for part in by_measure], _segments(by_measure[0].get("per_query") or {}))
        # All that a rendering reads is there.
        assessment.to_text(), assessment.to_csv()
        if all(scores is not None for _, scores in assessment._parts):
            with suppress(ArgumentError):  # one page cannot show measures of different queries
                assessment.to_html()
        return assessment

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures assessed, the leading one first."""
        return tuple(data["measure"] for data, _ in self._parts)

    @property
    def scores(self) -> Scores:
        """The scores by the leading measure."""
        return _require_scores(self._parts[0][1])

    def __getitem__(self, name: str) -> Any:
        """A system's figures; of several measures, the assessment by the one of that name alone."""
        for part in self._parts if len(self._parts) > 1 else ():
            if part[0]["measure"] == str(name):
                return Assessment([part], self._segments)
        return self._row(name)

    def to_dict(self, *, per_query: bool = False) -> Json:
        """Plain data that JSON can hold and `assessment.schema.json` describes; `per_query` adds queries' figures."""
        parts = [dict(part) for part in self.by_measure(per_query=per_query)]
        return parts[0] if len(parts) == 1 else {"schema": SCHEMA, "measures": parts}

    def by_measure(self, *, per_query: bool = False) -> list[AssessmentData]:
        """The same for each measure, the leading one first, with types."""
        if not per_query:
            return [data for data, _ in self._parts]
        return [
            {**data, "per_query": per_query_data(data, _require_scores(scores), self._segments)}
            for data, scores in self._parts
        ]

    def to_metrics(self) -> dict[str, float]:
        """Flat metrics for MLflow and DVC: a number for each `measure/system/figure`; absent figures are left out.

        >>> import surefoot as sf
        >>> scores = sf.read_scores({"today": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 1.0, "q2": 0.0}}, measure="RR@10")
        >>> metrics = assess(scores, baseline="today", alphas=[5]).to_metrics()
        >>> metrics["RR_at_10/new/mean"], metrics["RR_at_10/new/alpha_5/u_risk"]
        (0.5, -0.5)
        """
        from surefoot.report.metrics import metrics_of

        return metrics_of(data for data, _ in self._parts)

    def to_frame(self, sort: str = "mean", *, systems: Sequence[str] | None = None) -> pl.DataFrame:
        """A row per system, every figure at full precision, with the columns of `to_csv`; by the leading measure."""
        columns = all_columns(self._data)
        rows = [[column.value(row) for column in columns] for row in self.rows(sort, systems=systems)]
        return pl.DataFrame(rows, [column.key for column in columns], orient="row", infer_schema_length=None)

    def rows(self, sort: str = "mean", *, systems: Sequence[str] | None = None) -> list[SystemData]:
        """The systems' figures by a column, best first; `systems` are those that are shown, here and below."""
        return sort_rows(self._data, sort, systems)

    def _each(
        self,
        render: Callable[[AssessmentData, list[SystemData]], str],
        sort: str,
        systems: Sequence[str] | None,
    ) -> list[str]:
        return [render(data, sort_rows(data, sort, systems)) for data, _ in self._parts]

    def to_csv(self, sort: str = "mean", *, per_query: bool = False, systems: Sequence[str] | None = None) -> str:
        """One line per system (and measure, of several), every figure at full precision; `per_query` one per query."""
        if per_query:
            return text.queries_csv(self.per_query())
        return text.to_csv([(data, sort_rows(data, sort, systems)) for data, _ in self._parts])

    def to_markdown(self, sort: str = "mean", *, systems: Sequence[str] | None = None) -> str:
        """The outcome and tables, for a pull request or a wiki."""
        return "\n".join(self._each(text.to_markdown, sort, systems))

    def to_latex(self, sort: str = "mean", *, systems: Sequence[str] | None = None) -> str:
        """A table for a paper; one for each measure."""
        return "\n".join(self._each(text.to_latex, sort, systems))

    def to_text(  # type: ignore[override]  # what it sorts by comes first
        self, sort: str = "mean", width: int = 120, *, systems: Sequence[str] | None = None
    ) -> str:
        """The tables that the command line prints."""
        return "\n\n".join(self._each(lambda data, rows: text.to_text(data, rows, width), sort, systems))

    def __repr__(self) -> str:
        """Size, measures and baseline."""
        return (
            f"<Assessment of {', '.join(self.measures)}: {len(self._data['systems'])} systems on "
            f"{self._data['queries']:,} queries against {self._data['baseline']!r}>"
        )

    def in_words(self, system: str | None = None, alpha: float | None = None) -> str:
        """One system in plain words, at one of the α assessed (the smallest above 0 by default).

        Without a system, that of the highest U_Risk at that α.
        """
        alphas = self._data["alphas"]
        alpha = default_alpha(alphas) if alpha is None else alpha
        if alpha_key(alpha) not in map(alpha_key, alphas):
            raise ArgumentError(f"alpha {alpha:g} was not assessed; choose one of: {', '.join(map(alpha_key, alphas))}")
        if system is None:
            return " ".join(advice(self._data, alpha))
        return in_words(self._data, self._row(system), alpha)

    def _row(self, system: str) -> SystemData:
        names = [row["system"] for row in self._data["systems"]]
        if system not in names:
            raise ArgumentError(unknown_system(system, names))
        return self._data["systems"][names.index(system)]

    def charts(self, folder: str | os.PathLike[str], formats: Sequence[str] = CHART_FORMATS) -> list[Path]:
        """Write the papers' charts into a folder; see `surefoot.report.charts`."""
        from surefoot.report.charts import write_charts

        return write_charts(self, folder, formats)

    @busy("Writing the page")
    def to_html(
        self,
        *,
        texts: Any = None,
        documents: Any = None,
        title: str | None = None,
        detail: int | None = None,
        system: str | None = None,
        alpha: float | None = None,
        command: str | None = None,
        sources: Sequence[str] = (),
        provenance: Provenance | None = None,
    ) -> str:
        """One self-contained page that shows who is hurt.

        `texts` and `documents` are texts of queries and documents to show beside their ids, anything `read_texts`
        takes; `title` is the page's, `command` and `sources` (files' names) stand in its foot, or all of that comes as
        `provenance`. `detail` is how many of the most hurt and most helped queries of each system come with their top
        results, by default 500; `system` and `alpha` are what the page shows first.
        """
        from surefoot.report.page import Texts, page_payload, to_page

        parts = [(data, _require_scores(scores)) for data, scores in self._parts]
        payload = page_payload(parts, self._segments, detail, system, alpha, Texts(texts, documents))
        made_from = Provenance(title, command, [SourceFile(name) for name in sources])
        if provenance is not None:
            made_from = provenance if title is None else provenance._replace(title=title)
        return to_page(payload, self._data, made_from, page_tests([data for data, _ in self._parts]))

    def _repr_html_(self) -> str:
        """What a notebook shows: the advice, and the table."""
        from surefoot.report.notebook import to_notebook

        return to_notebook(self._data, self.rows())

    def per_query(self) -> pl.DataFrame:
        """A row for each system and query: scores, difference, expectation, and at each α T_R, T_J and significance.

        Of several measures, `measure` is the first column.
        """
        frames = [
            (data["measure"], per_query_frame(per_query_data(data, _require_scores(scores))))
            for data, scores in self._parts
        ]
        if len(frames) == 1:
            return frames[0][1]
        named = [frame.insert_column(0, pl.Series("measure", [measure] * frame.height)) for measure, frame in frames]
        return pl.concat(named, how="vertical_relaxed")

    def to_pandas(self) -> Any:
        """The rows of `per_query`, in pandas."""
        from surefoot.data.reading.frames import pandas_frame

        return pandas_frame(self.per_query())


def _segments(block: Json) -> Segments:
    """Each column's segments by query, as `read_segments` gives them."""
    return {
        column: {query: kind for query, kind in zip(block["queries"], segments, strict=True) if kind is not None}
        for column, segments in block.get("segments", {}).items()
    }


def _part(data: Json) -> MeasureResult:
    block = data.pop("per_query", None)
    scores = None
    if block is not None:
        systems = [row["system"] for row in data["systems"]]
        scores = Scores(
            [block["systems"][system]["score"] for system in systems], systems, block["queries"], data["measure"],
            missing=data["missing"], dropped=data["dropped"], no_relevant=data["no_relevant"],
            tie_rule=data["tie_rule"], traffic=_weighting(block, data.get("traffic")),
        )  # fmt: skip
    check_shape(data, AssessmentData)
    return cast("AssessmentData", data), scores


def _weighting(block: Json, summary: TrafficData | None) -> TrafficWeights | None:
    """The weights of the queries, as `per_query` and the summary have them."""
    if summary is None:
        return None
    check_shape(summary, TrafficData, "traffic")
    if absent := [name for name in TrafficData.__required_keys__ if name not in summary]:
        raise DataError(f"traffic.{min(absent)} is absent; write the assessment again")
    counts, queries = block.get("counts"), len(block["queries"])
    if not isinstance(counts, list) or len(counts) != queries:
        found = "absent" if counts is None else f"a list of {len(counts):,}" if isinstance(counts, list) else "no list"
        raise DataError(f"per_query.counts is {found}; expected one number for each of the {queries:,} queries")
    check_shape(counts, list[float], "per_query.counts")
    weights = np.array(counts, dtype=np.float64)
    if not ((weights > 0) & (weights <= LARGEST_WEIGHT)).all():
        raise DataError(f"per_query.counts has a number that is not above 0 and at most {LARGEST_WEIGHT:g}")
    return TrafficWeights(weights, summary["left_out"], summary["traffic_share"], summary["equal"])


def _require_scores(scores: Scores | None) -> Scores:
    if scores is None:
        raise ArgumentError(
            "this assessment does not contain the scores of single queries: its file was written without them; use "
            "per_query=True or --per-query"
        )
    return scores


def per_query_frame(block: PerQuery) -> pl.DataFrame:
    """The figures as a table."""
    frames = []
    for system, columns in block["systems"].items():
        flat: dict[str, Any] = {
            "query": block["queries"],
            "system": [as_text(system)] * len(block["queries"]),
            "baseline": block["baseline"],
        }
        if "counts" in block:
            flat["count"] = block["counts"]
        flat |= {key: values for key, values in columns.items() if key != "alpha"}
        for key, at in columns["alpha"].items():
            flat |= {f"{name}@{key}": values for name, values in at.items()}
        absent = {key: [None] * len(block["queries"]) for key, values in flat.items() if values is None}
        frames.append(pl.DataFrame({**flat, **absent}, strict=False))
    return pl.concat(frames, how="vertical_relaxed")


def segments_of(segments: Any, scores: Scores) -> Segments:
    """The columns of segments, of all sources that are given."""
    several = isinstance(segments, list | tuple) and all(
        isinstance(one, str | os.PathLike | Mapping) or hasattr(one, "columns") for one in segments
    )
    columns: dict[str, Mapping[str, str]] = {}
    for source in segments if several else [segments]:
        made = (
            {"traffic": _traffic_segments(scores)}
            if isinstance(source, str) and source == BY_TRAFFIC
            else read_segments(source)
        )
        if twice := sorted(columns.keys() & made.keys()):
            raise ArgumentError(f"two columns of segments are named {shortened(twice[0])}; rename one of them")
        columns |= made
    return columns


def _traffic_segments(scores: Scores) -> dict[str, str]:
    if (weighting := scores._weighting) is None:
        raise ArgumentError(
            'the segments "by-traffic" need to know how often each query is asked; give the traffic too (traffic= in '
            "Python, --traffic FILE on the command line)"
        )
    if weighting.equal:
        raise ArgumentError('all queries are asked equally often, so the segments "by-traffic" would mean nothing')
    return traffic_segments(scores.queries, weighting.weights)
