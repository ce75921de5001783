"""Labelled documents with features, grouped by query: what rankers learn from and are held against."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import Codes, CompactInts, Floats, Ints, stretch_starts
from surefoot.data.reading.matrix import (
    QUERY_COLUMN,
    Categories,
    FeatureMatrix,
    check_names,
    feature_matrix,
    numbers_of,
    row_ids,
    without_queries,
)
from surefoot.data.reading.traffic import QueryWeighting, read_weighting
from surefoot.data.types.labels_and_scores import RowError, check_labels, standardise
from surefoot.data.types.ranking import (
    DuplicateDocumentError,
    Ranking,
    TieRule,
    codes_of,
    index,
    pair_codes,
    query_at,
    rank,
)
from surefoot.data.types.runs import Qrels, Run
from surefoot.errors import ArgumentError, shortened


class RankingData:
    """Feature vectors and labels of documents, the documents of a query one after the other.

    `X` is a dense float32 matrix (rows × features; NaN is a missing value), `y` the float64 labels. Query i, named
    `queries[i]`, has the rows `offsets[i]:offsets[i + 1]`. `doc_ids` names the documents, where known; `baselines`
    holds document scores of other rankers, by name.

    Give `qid`, a query id for each row, or `group`, the number of rows of each query. `X` may be a NumPy array or a
    pandas, polars or Arrow table, whose columns become the `feature_names`; a column `qid` there is `qid`.

    >>> data = RankingData([[1.0, 0.5], [2.0, 0.0], [0.0, 1.0]], [1, 0, 2], qid=["a", "a", "b"])
    >>> data
    <RankingData: 2 queries, 3 documents, 2 features>
    >>> data.with_baseline("first", data.feature(1)).baselines["first"]
    array([1., 2., 0.])
    """

    categories: Categories = {}  # noqa: RUF012, what the codes of a feature mean that is a category in a table
    _weighting: QueryWeighting | None = None  # how often each query is asked, where that counts

    def __init__(
        self,
        X: Any,
        y: npt.ArrayLike,
        *,
        qid: Any = None,
        group: npt.ArrayLike | None = None,
        doc_ids: Any = None,
        baselines: Mapping[str, npt.ArrayLike] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        X, column = without_queries(X)
        if column is not None and (qid is not None or group is not None):
            raise ArgumentError(
                f"X has a column {QUERY_COLUMN!r}, but you also gave the queries separately; drop or rename the "
                "column, or leave out qid and group"
            )
        qid = column if qid is None else qid
        matrix, columns, categories = feature_matrix(X)
        queries, offsets = _queries(len(matrix), qid, group)
        self._set(matrix, y, queries, offsets, doc_ids, baselines, columns if feature_names is None else feature_names)
        new_names = dict(zip(columns or (), self.feature_names or (), strict=False))
        self.categories = {new_names[name]: labels for name, labels in categories.items()}

    @classmethod
    def from_queries(
        cls,
        X: FeatureMatrix,
        y: npt.ArrayLike,
        queries: Iterable[str],
        lengths: npt.ArrayLike,
        *,
        doc_ids: Any = None,
        baselines: Mapping[str, npt.ArrayLike] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """From queries' names and numbers of rows; X must be a float32 matrix in C order and is not looked through."""
        new = object.__new__(cls)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        new._set(X, y, queries, offsets, doc_ids, baselines, feature_names)
        return new

    def _set(
        self,
        X: FeatureMatrix,
        y: npt.ArrayLike,
        queries: Iterable[str],
        offsets: Ints,
        doc_ids: Any,
        baselines: Mapping[str, npt.ArrayLike] | None,
        feature_names: Sequence[str] | None,
    ) -> None:
        self.X: FeatureMatrix = X
        self.y: Floats = numbers_of(y, len(X), "y (the labels)")
        check_labels(self.y, exponential=False)
        self.queries: tuple[str, ...] = tuple(queries)
        self.offsets: Ints = offsets
        self.feature_names = _feature_names(feature_names, self.n_features)
        self.doc_ids: pl.Series | None = None if doc_ids is None else row_ids(doc_ids, len(X), "doc_ids")
        self.baselines: dict[str, Floats] = {
            str(name): self._scores(scores, f"baseline {shortened(name)}") for name, scores in (baselines or {}).items()
        }
        self._check_contiguous()
        self._check_documents()

    @property
    def n_features(self) -> int:
        """How many features each document has."""
        return int(self.X.shape[1])

    @property
    def lengths(self) -> Ints:
        """How many documents each query has."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        """The number of documents, over all queries."""
        return len(self.X)

    def __repr__(self) -> str:
        """Size, and the baselines' names."""
        baselines = f", baselines {', '.join(self.baselines)}" if self.baselines else ""
        size = f"{len(self.queries):,} queries, {len(self):,} documents, {self.n_features:,} features"
        return f"<RankingData: {size}{baselines}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from surefoot.data.notebook import ranking_data_view

        return ranking_data_view(self).to_html()

    def feature(self, number: int) -> npt.NDArray[np.float32]:
        """The column of a feature, by its number in LETOR files, which start at 1."""
        if not 1 <= number <= self.n_features:
            raise ArgumentError(f"there is no feature {number}; the data has features 1 to {self.n_features}")
        return self.X[:, number - 1]

    def with_baseline(self, name: str, scores: npt.ArrayLike) -> RankingData:
        """The same data with one more baseline: a score for each document, the higher the better."""
        added = self._scores(scores, f"baseline {shortened(name)}")
        return self._sharing(baselines=self.baselines | {str(name): added})

    def with_labels(self, y: npt.ArrayLike) -> RankingData:
        """The same documents with other labels."""
        labels = numbers_of(y, len(self), "y (the labels)")
        check_labels(labels, exponential=False)
        return self._sharing(y=labels)

    def with_features(self, X: FeatureMatrix, names: Sequence[str] | None) -> RankingData:
        """The same data with other columns: a float32 matrix in C order of as many rows, and the features' names."""
        return self._sharing(X=X, feature_names=_feature_names(names, X.shape[1]))

    def with_baselines_only(self, baselines: Iterable[str]) -> RankingData:
        """The same data with only these of its baselines, in this order; no row or feature goes."""
        return self._sharing(baselines={name: self.baselines[name] for name in baselines})

    def with_traffic(self, traffic: Any) -> RankingData:
        """The same data, whose queries count as often as they are asked; those with a count of 0 are left out.

        `traffic` is a dict {query: count}, a table or a file; or a number per query, or per document, the same for all
        of a query. None removes the counts.
        """
        if traffic is None:
            return self._sharing(_weighting=None)
        asked, weighting = read_weighting(traffic, self.queries, self.lengths)
        return (self if not weighting.left_out else self.select(asked))._sharing(_weighting=weighting)

    @property
    def traffic(self) -> Floats | None:
        """How often each query is asked; None where all count the same."""
        return None if self._weighting is None else self._weighting.values

    def select(self, queries: npt.ArrayLike) -> RankingData:
        """Only these queries, given by their indices, in that order, or by a mask.

        >>> data = RankingData([[1.0], [2.0], [3.0]], [1, 0, 2], qid=["a", "a", "b"])
        >>> data.select([1]).queries, data.select([True, False]).y
        (('b',), array([1., 0.]))
        """
        chosen = np.asarray(queries)
        if chosen.dtype == bool:
            if chosen.shape != (len(self.queries),):
                raise ArgumentError(f"the mask has shape {chosen.shape}; there are {len(self.queries)} queries")
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu":
            raise ArgumentError("select takes a list of query indices, or a mask, with at least one query in it")
        if chosen.min() < 0 or chosen.max() >= len(self.queries) or len(np.unique(chosen)) < len(chosen):
            raise ArgumentError(f"query indices must differ and be from 0 to {len(self.queries) - 1}")
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths)
        return self._sharing(
            X=self.X[rows],
            y=self.y[rows],
            queries=tuple(self.queries[i] for i in chosen.tolist()),
            offsets=offsets,
            doc_ids=None if self.doc_ids is None else self.doc_ids.gather(rows),
            baselines={name: scores[rows] for name, scores in self.baselines.items()},
            _weighting=None if self._weighting is None else self._weighting.select(chosen),
        )

    @cached_property
    def documents(self) -> pl.Series:
        """A document id for each row: `doc_ids`, or else names made of the query and a number that counts down.

        Runs break ties by document id, descending. Counting down within the query (`q-3`, `q-2`, `q-1`) makes that the
        order of the rows, which is the tie rule of data without ids, wherever the names go.
        """
        if self.doc_ids is not None:
            return self.doc_ids
        lengths = np.repeat(self.lengths, self.lengths)
        left = np.repeat(self.offsets[1:], self.lengths) - np.arange(len(self))
        digits = np.char.str_len(lengths.astype(str)).astype(np.uint32)
        numbers = pl.DataFrame({"left": left, "digits": digits})
        padded = numbers.select(pl.col("left").cast(pl.String).str.zfill(pl.col("digits"))).to_series()
        return (self._query_column() + "-" + padded).alias("doc_id")

    @cached_property
    def query_codes(self) -> Codes:
        """A 64-bit code of each query, the same in every table."""
        return codes_of(pl.Series(self.queries, dtype=pl.String))

    @cached_property
    def _index(self) -> tuple[Codes, CompactInts]:
        return index(pair_codes(np.repeat(self.query_codes, self.lengths), codes_of(self.documents)))

    def ranking(self, scores: npt.ArrayLike) -> Ranking:
        """The documents ranked by scores, descending; ties by document id, descending, or row order without ids.

        >>> data = RankingData([[1.0], [2.0], [3.0]], [1, 0, 2], qid=[7, 7, 7])
        >>> data.ranking([0.5, 0.5, 0.9]).order.tolist(), data.ranking([0.5, 0.5, 0.9]).tie_rule
        ([2, 0, 1], 'row order')
        """
        values = self._scores(scores, "scores")
        ids = None if self.doc_ids is None else self.doc_ids.gather
        codes, rows = self._index
        return rank(self.offsets[:-1], self.query_codes, lambda: (codes, rows.copy()), values, ids)

    @property
    def tie_rule(self) -> TieRule:
        """How documents of equal scores are ordered."""
        return "row order" if self.doc_ids is None else "document id descending"

    def tie_order(self) -> Ints:
        """Each query's rows in the order that the tie rule gives equal scores."""
        rows = np.arange(len(self))
        return rows if self.doc_ids is None else self.ranking(np.zeros(len(self))).rows(rows)

    def qrels(self) -> Qrels:
        """The labels as judgments, to evaluate runs with."""
        return Qrels._read(self._frame("relevance", self.y))

    def to_run(self, scores: npt.ArrayLike, name: str) -> Run:
        """A run of the documents by these scores, for evaluation or a file.

        >>> data = RankingData([[1.0], [2.0], [3.0]], [1, 0, 2], qid=["a", "a", "a"])
        >>> data.to_run([0.5, 0.5, 0.9], "mine").to_dict()
        {'a': {'a-1': 0.9, 'a-3': 0.5, 'a-2': 0.5}}
        """
        run = Run._read(self._frame("score", self._scores(scores, "scores")), name)
        return run.reordered(replace(run.ranking, tie_rule=self.tie_rule))

    def standardised(self, scores: npt.ArrayLike) -> Floats:
        """Scores less their query's mean, over their deviation within it; 0 where all of a query's are equal.

        >>> data = RankingData([[1.0], [2.0], [3.0]], [1, 0, 2], qid=["a", "a", "b"])
        >>> data.standardised([5, 9, 7])
        array([-1.,  1.,  0.])
        """
        return standardise(self._scores(scores, "scores"), self.lengths)

    def scores_of(self, run: Run) -> Floats:
        """A run's score of each document; those it lacks come last, as they would for a user.

        >>> data = RankingData([[1.0], [2.0]], [1, 0], qid=["a", "a"], doc_ids=["d1", "d2"])
        >>> data.scores_of(Run._read({"a": {"d2": 0.5}}))
        array([-0.5,  0.5])
        """
        if self.doc_ids is None:
            raise ArgumentError(
                f"run {shortened(run.name)} needs document ids in the data (a '#docid = …' comment on each line of a "
                "LETOR file)"
            )
        ranking = self.ranking(np.zeros(len(self)))
        mine, theirs = ranking.match(run.ranking)
        if not len(mine):
            raise ArgumentError(
                f"run {shortened(run.name)} shares no document with the data; are the query and document ids the same?"
            )
        scores = np.full(len(self), run.ranking.scores.min() - 1)
        scores[ranking.rows(mine)] = run.ranking.scores[theirs]
        return scores

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write LETOR lines (compressed by the ending) or a `.parquet` table; see `write_letor`."""
        from surefoot.data.letor.files import write_letor

        write_letor(self, path)

    def _query_column(self) -> pl.Series:
        names = pl.Series("query_id", self.queries, dtype=pl.String)
        return names.gather(np.repeat(np.arange(len(self.queries)), self.lengths))

    def _frame(self, column: str, values: Floats) -> pl.DataFrame:
        return pl.DataFrame([self._query_column(), self.documents.alias("doc_id"), pl.Series(column, values)])

    def _scores(self, scores: npt.ArrayLike, what: str) -> Floats:
        values = numbers_of(scores, len(self), what)
        wrong = ~np.isfinite(values)
        if wrong.any():
            row = int(wrong.argmax())
            raise RowError(row, f"{what} is {values[row]}; every document needs a finite score")
        return values

    def _sharing(self, **changed: Any) -> RankingData:
        """A copy that shares what has not changed; no checks, as all of it was checked before."""
        new = object.__new__(RankingData)
        parts = ("X", "y", "queries", "offsets", "doc_ids", "baselines", "feature_names", "categories", "_weighting")
        vars(new).update({name: changed.get(name, getattr(self, name)) for name in parts})
        return new

    def _check_contiguous(self) -> None:
        if len(set(self.queries)) == len(self.queries):
            return
        seen: dict[str, int] = {}
        for i, query in enumerate(self.queries):
            if query in seen:
                raise RowError(
                    int(self.offsets[i]),
                    f"query {shortened(query)} comes again after other queries; "
                    "put all its rows together (sort by query)",
                    first=int(self.offsets[seen[query]]),
                )
            seen[query] = i

    def _check_documents(self) -> None:
        if self.doc_ids is None:
            return
        try:
            _ = self._index
        except DuplicateDocumentError as error:
            first, second = error.rows
        else:
            return
        if self.doc_ids[first] != self.doc_ids[second]:
            raise DuplicateDocumentError(first, second)
        query = self.queries[int(query_at(self.offsets, second))]
        raise RowError(
            second,
            f"document {shortened(self.doc_ids[second])} appears twice in query {shortened(query)}; keep one of them",
            first=first,
        )


def _queries(rows: int, qid: Any, group: npt.ArrayLike | None) -> tuple[list[str], Ints]:
    """Names of the queries, or of stretches of them, and where each starts and the last ends."""
    if (qid is None) == (group is None):
        raise ArgumentError("give either qid, a query id for each row, or group, the number of rows of each query")
    if qid is not None:
        ids = row_ids(qid, rows, "qid")
        starts = stretch_starts(codes_of(ids))
        return ids.gather(starts).to_list(), np.append(starts, rows)
    sizes = np.asarray(group)
    if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise ArgumentError("group must list the number of rows of each query, whole numbers of at least 1")
    if sizes.sum() != rows:
        raise ArgumentError(f"group adds up to {sizes.sum()} rows, but X has {rows}")
    return [str(i) for i in range(1, len(sizes) + 1)], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _feature_names(names: Sequence[str] | None, features: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(names) != features:
        raise ArgumentError(f"there are {len(names)} feature names, but X has {features} columns")
    texts = tuple(map(str, names))
    check_names(texts)
    return texts
