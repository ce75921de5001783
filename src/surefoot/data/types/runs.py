"""Runs and judgments: tables of (query, document, number) on the one ranking type."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import Codes, Floats, Ints
from surefoot.data.reading.columns import RowNamer, check_words, row_of
from surefoot.data.reading.files import existing_file, system_name
from surefoot.data.reading.formats import (
    check_ranks,
    first_fields,
    format_of,
    is_ranx,
    judged_part,
    lines_origin,
    one_part,
    ranx_dict,
    read_parts,
    refuse_judges,
    write_in_format,
)
from surefoot.data.reading.frames import GRADE_COLUMNS, RANK_COLUMN, SCORE_COLUMNS, columns_of
from surefoot.data.reading.held_rows import FileIds, GrowableColumn, NeighbourTies, RowBlock, RowIds, ShiftedIds
from surefoot.data.reading.polars_process import refuse_in_fork
from surefoot.data.reading.run_lines import LineLayout, read_lines
from surefoot.data.tools.judges import AUTOMATIC, JudgmentOrigin
from surefoot.data.tools.tool_file import Rows, RowsByName
from surefoot.data.types.ranking import DuplicateDocumentError, Ranking, index, query_at, rank
from surefoot.data.writing.all_or_nothing import write_bytes
from surefoot.errors import ArgumentError, DataError, shortened

RankedSource: TypeAlias = "str | os.PathLike[str] | Mapping[Any, Mapping[Any, float]] | Any"

_MANY = 1 << 16  # rows whose sorting is worth a thread of its own


class RankedTable:
    """Documents of queries with a number each, ranked by it; what `Run` and `Qrels` share.

    Of a file only codes and numbers are held; its document ids are read again when they are needed.
    """

    layouts: ClassVar[tuple[LineLayout, ...]]  # of lines, by their number of columns; the first is what is written
    numbers: ClassVar[tuple[str, ...]]  # names (no figures) of its column of numbers; the first is what is written
    ties_by_id: ClassVar[bool]
    origin: JudgmentOrigin | None = None  # who made judgments, where a file says

    def __init__(
        self,
        name: str,
        queries: Iterable[str],
        query_codes: Codes,
        ranking: Ranking,
        ids: Callable[[Ints], pl.Series],
    ) -> None:
        self.name = name
        self.queries = tuple(queries)
        self.query_codes = query_codes
        self.ranking = ranking
        self._ids = ids

    @classmethod
    def _read(cls, source: RankedSource, name: str | None = None, *, judges: str | None = None) -> Self:
        """From a file, a nested dict `{query: {document: number}}`, a table of any maker, or named tuples.

        Of a file of several runs, `name` says which; `judges` is the rule for a book of several judges' ratings.
        """
        if isinstance(source, str | os.PathLike):
            table = cls._read_file(source, name, judges)
            if isinstance(table, dict):
                part = one_part(table, source, name)
                return cls._from_rows(part, name or part.system or system_name(source))
            return table
        if isinstance(source, cls):
            refuse_judges(judges)
            return source if name in (None, source.name) else source.renamed(str(name))
        judged = judged_part(source, name or cls.layouts[0].what, judges) if cls.numbers is GRADE_COLUMNS else None
        if judged is not None:
            return cls._from_rows(judged, name or cls.layouts[0].what)
        refuse_judges(judges)
        if is_ranx(source):
            name, source = name or getattr(source, "name", None), ranx_dict(source, cls.__name__)
        name = name or cls.layouts[0].what
        return cls._from_rows(Rows(columns_of(source, cls.numbers, name), row_of(name)), name)

    @classmethod
    def _read_all(cls, source: RankedSource) -> list[Self]:
        """The one table that a source holds, or each of a file of several runs, which have names there."""
        if not isinstance(source, str | os.PathLike):
            return [cls._read(source)]
        tables = cls._read_file(source, None, None)
        if not isinstance(tables, dict):
            return [tables]
        only = "" if len(tables) > 1 else system_name(source)
        return [cls._from_rows(part, part.system or only or str(name)) for name, part in tables.items()]

    @classmethod
    def _read_file(cls, path: str | os.PathLike[str], name: str | None, judges: str | None) -> Self | RowsByName:
        """The table of a file of lines, or what a file of another format holds."""
        file_format, layout, file = format_of(path), cls.layouts[0], existing_file(path)
        if file_format == "lines" and file.is_file():
            count, header = first_fields(path)
            layout = next((each for each in cls.layouts if len(each.fields) == count), layout)
            file_format = "table" if header else file_format
        if file_format != "lines":
            return read_parts(file, file_format, layout.what, cls.numbers, judges)
        refuse_judges(judges)
        name = name or system_name(path)
        if not file.is_file():  # a pipe can be read once only, so its ids are kept
            parts = zip(*read_lines(path, layout, lambda *columns: columns), strict=True)
            return cls._from_rows(Rows(tuple(map(pl.concat, parts)), row_of(str(path))), name)
        blocks = read_lines(path, layout, partial(RowBlock, cls.ties_by_id, layout.number == RANK_COLUMN))
        ids = FileIds(path, layout)
        table = cls._assemble(blocks, file.stat().st_size // layout.shortest, name, ids, ids.location)
        table.origin = lines_origin(path) if cls.numbers is GRADE_COLUMNS else None
        if layout.number == RANK_COLUMN:
            check_ranks(table, ids)
        return table

    @classmethod
    def _from_rows(cls, rows: Rows, name: str) -> Self:
        block = RowBlock(cls.ties_by_id, False, *rows.columns)
        table = cls._assemble([block], len(rows.columns[0]), name, RowIds(rows.columns[1]), rows.where)
        table.origin = rows.origin
        return table

    @classmethod
    def _assemble(
        cls,
        blocks: Iterable[RowBlock],
        room: int,
        name: str,
        ids: RowIds | FileIds,
        location: RowNamer,
    ) -> Self:
        """Rank the rows of all blocks, likely at most `room`; `ids` names their documents, `location` the rows."""
        ties = NeighbourTies(ids)
        names: list[str] = []
        starts, stretch_codes = GrowableColumn(np.int64), GrowableColumn(np.uint64)
        codes, numbers = GrowableColumn(np.uint64, room), GrowableColumn(np.float64, room)
        for block in blocks:
            names += block.names
            ties.keep(len(codes), block)
            starts.extend(block.starts + len(codes))
            stretch_codes.extend(block.stretch_codes)
            codes.extend(block.codes)
            numbers.extend(block.numbers)
        stretches = starts.take(), stretch_codes.take()
        try:
            with ThreadPoolExecutor(1) as pool:  # the index does not depend on the order
                many = len(codes) > _MANY
                documents = pool.submit(index, codes.take()).result if many else partial(index, codes.take())
                ranking = rank(*stretches, documents, numbers.take(), ties if cls.ties_by_id else None)
        except DuplicateDocumentError as error:
            first, second = error.rows
            second_id, first_id = ids(np.array([second, first])).to_list()
            if second_id != first_id:
                raise DataError(
                    f"{location(second)}: its hash is the same as the hash of another line; this is a bug, please "
                    "report it"
                ) from error
            query = names[int(query_at(stretches[0], second))]
            raise DataError(
                f"{location(second)}: document {shortened(second_id)} appears twice in query {shortened(query)} "
                f"(first at {location(first).rpartition(', ')[2]}); keep one of the two"
            ) from error
        unique = dict(zip(stretches[1].tolist(), names, strict=True))
        return cls(name, unique.values(), np.fromiter(unique, dtype=np.uint64, count=len(unique)), ranking, ids)

    def renamed(self, name: str) -> Self:
        """The same table under another name."""
        table = type(self)(name, self.queries, self.query_codes, self.ranking, self._ids)
        table.origin = self.origin
        return table

    def only(self, number: int) -> tuple[Self, slice]:
        """One query's results as a table of their own, and where they stand here."""
        rows = slice(int(self.ranking.offsets[number]), int(self.ranking.offsets[number + 1]))
        within = (self.ranking.code_positions >= rows.start) & (self.ranking.code_positions < rows.stop)
        ranking = Ranking(
            offsets=np.array([0, rows.stop - rows.start]),
            scores=self.ranking.scores[rows],
            order=None,
            codes=self.ranking.codes[within],
            code_positions=self.ranking.code_positions[within] - rows.start,
            tie_rule=self.ranking.tie_rule,
        )
        table = type(self)(
            self.name,
            self.queries[number : number + 1],
            self.query_codes[number : number + 1],
            ranking,
            ShiftedIds(self, rows.start),
        )
        return table, rows

    def documents(self, positions: Ints | None = None) -> pl.Series:
        """Document ids in ranked order, or of these positions only."""
        if positions is None:
            positions = np.arange(len(self))
        return self._ids(self.ranking.rows(positions)).alias("doc_id")

    def __len__(self) -> int:
        """The number of (query, document) pairs."""
        return len(self.ranking.codes)

    def __repr__(self) -> str:
        """Name and size."""
        return f"<{type(self).__name__} {self.name!r}: {len(self.queries):,} queries, {len(self):,} documents>"

    def to_frame(self) -> pl.DataFrame:
        """A polars frame in ranked order: `query_id`, `doc_id` and the number."""
        query = pl.Series("query_id", self.queries, dtype=pl.String).gather(self.ranking.query_of_position())
        return pl.DataFrame([query, self.documents(), pl.Series(self.numbers[0], self.ranking.scores)])

    def to_pandas(self) -> Any:
        """The same as `to_frame`, in pandas."""
        from surefoot.data.reading.frames import pandas_frame

        return pandas_frame(self.to_frame())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The nested dict that other evaluators take: `{query: {document: number}}`."""
        documents, numbers = self.documents().to_list(), self.ranking.scores.tolist()
        bounds = self.ranking.offsets.tolist()
        return {
            query: dict(zip(documents[start:end], numbers[start:end], strict=True))
            for query, start, end in zip(self.queries, bounds[:-1], bounds[1:], strict=True)
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write TREC lines, or by the ending a `.parquet`, `.csv` or `.tsv` table, `.json` or `.jsonl`; all or nothing.

        All but Parquet may be compressed, by a further ending.
        """
        if not write_in_format(path, self):
            self.write_lines(path)

    def write_lines(self, path: str | os.PathLike[str]) -> None:
        """Write TREC lines, whatever the ending but that of compression; ids with spaces cannot stand in them."""
        refuse_in_fork("writing runs and judgments")
        frame = self._lines()
        for column, what in (("query_id", "query"), ("doc_id", "document")):
            check_words(frame[column], path, what, "TREC", instead=".parquet or .json")
        write_bytes(path, frame.write_csv(include_header=False, separator=" ", quote_style="never").encode())

    def _lines(self) -> pl.DataFrame:
        raise NotImplementedError


class Run(RankedTable):
    """A system's results: scored documents for each query, ranked by score, ties by document id descending.

    >>> run = Run._read({"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.9}}, name="bm25")
    >>> run.documents().to_list()
    ['d3', 'd2', 'd1']

    `score_sample` is a large sample of the system's scores in which rNDCG and SoftNDCG find percentiles; where it is
    None the run's own scores are.
    """

    score_sample: Floats | None = None

    layouts = (
        LineLayout("run", ("query", "Q0", "document", "rank", "score", "tag"), ("query", "document", "score"), "score"),
        LineLayout("run", ("query", "document", RANK_COLUMN), ("query", "document", RANK_COLUMN), RANK_COLUMN),
    )
    numbers = SCORE_COLUMNS
    ties_by_id = True

    def renamed(self, name: str) -> Self:
        """The same run under another name."""
        return super().renamed(name).with_score_sample(self.score_sample)

    def reordered(self, ranking: Ranking) -> Self:
        """The same results in the order of another ranking of them."""
        return type(self)(self.name, self.queries, self.query_codes, ranking, self._ids)

    def with_score_sample(self, sample: npt.ArrayLike | None) -> Self:
        """The same run with a sample of its system's scores, such as those of a whole day's traffic."""
        run = super().renamed(self.name)
        if sample is not None:
            run.score_sample = np.array(sample, dtype=np.float64).ravel()
            if not len(run.score_sample) or not np.isfinite(run.score_sample).all():
                raise DataError(
                    f"the score sample of run {shortened(self.name)} is empty or contains a value that is not finite; "
                    "give scores of the same system"
                )
        return run

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from surefoot.data.notebook import run_view

        return run_view(self).to_html()

    def _lines(self) -> pl.DataFrame:
        frame = self.to_frame()
        name = self.name.encode(errors="replace").decode()
        tag = "".join("_" if letter.isspace() or letter == "\0" else letter for letter in name) or "surefoot"
        return frame.select(
            "query_id",
            pl.lit("Q0").alias("Q0"),
            "doc_id",
            pl.Series("rank", self.ranking.ranks()),
            "score",
            pl.lit(tag).alias("tag"),
        )


class Qrels(RankedTable):
    """Relevance judgments: a grade for each judged document, best first; negative grades are non-relevant.

    >>> qrels = Qrels._read({"q1": {"d1": 0, "d2": 2}})
    >>> qrels.grades
    array([2., 0.])
    """

    layouts = (
        LineLayout("judgments", ("query", "iteration", "document", "grade"), ("query", "document", "grade"), "grade"),
        LineLayout("judgments", ("query", "document", "grade"), ("query", "document", "grade"), "grade"),
    )
    numbers = GRADE_COLUMNS
    ties_by_id = False

    @property
    def grades(self) -> Floats:
        """The grade of each judged document, in the ideal order of its query."""
        return self.ranking.scores

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from surefoot.data.notebook import qrels_view

        return qrels_view(self).to_html()

    def write(
        self, path: str | os.PathLike[str], *, to: str | None = None, unrated: Any = None, depth: int | None = None,
        texts: Any = None,
    ) -> None:  # fmt: skip
        """As `Run.write`; or `to` "quepid" or "workbench", with what is `unrated` yet, under the queries' `texts`."""
        if to is None:
            if not (unrated is depth is texts is None):
                raise ArgumentError("unrated, depth and texts are for tools; name one, such as to='quepid'")
            return super().write(path)
        from surefoot.data.tools.judgments import write_judgments

        return write_judgments(self, path, to, unrated=unrated, depth=depth, queries=texts)

    def _lines(self) -> pl.DataFrame:
        all_integers = bool(np.all((self.grades == np.round(self.grades)) & (np.abs(self.grades) < 2**53)))
        grade = pl.col("relevance").cast(pl.Int64) if all_integers else pl.col("relevance")
        made_by = None if self.origin is None else self.origin.made_by
        made = "0" if made_by in (None, "people") else AUTOMATIC  # of a mixture too: who made which is not kept
        return self.to_frame().select("query_id", pl.lit(made).alias("iteration"), "doc_id", grade)


def read_run(source: RankedSource, name: str | None = None) -> Run:
    """A run from a file (plain, .gz, .bz2, .xz, .zst), a nested dict, a table, ranx, or ir_measures' named tuples.

    Files hold TREC lines, MS MARCO's three columns, JSON, JSON lines, Parquet, a table with a header, a Quepid
    snapshot, a `_rank_eval` response, MTEB's predictions, or results of the Search Relevance Workbench. Ranked lists
    of ids, `{query: [document, …]}`, count as well; where there are ranks and no scores, a score is minus the rank.

    The name is the file's, without its endings, unless given; of a file of several runs it says which.

    >>> read_run({"q1": {"d1": 2.0, "d2": 1.0}}, name="today")
    <Run 'today': 1 queries, 2 documents>
    """
    return Run._read(source, name)


def read_qrels(source: RankedSource, *, judges: str | None = None) -> Qrels:
    """Judgments from a file (TREC's `query iteration document grade`, …), a nested dict, a table, or named tuples.

    Files may also be Quepid's ratings and books, the Search Relevance Workbench's judgments, `_rank_eval` requests,
    umbrela's JSON lines and tables with a column `judge`. Of several judges, a grade is the "mean" of their ratings, or
    as `judges` says the "median", "min", "max" or "vote". `origin` says who made them, where the file does.

    >>> read_qrels({"q1": {"d1": 1, "d2": 0}})
    <Qrels 'judgments': 1 queries, 2 documents>
    """
    return Qrels._read(source, judges=judges)
