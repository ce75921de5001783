"""A ranker as a transformer: it scores the documents of a frame by their features, and ranks them again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.per_query.long_scores import is_long
from surefoot.data.reading.frames import is_pandas
from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.measures.score_reading import assessed_scores, read_scores

FIRST_RANK = 0  # as PyTerrier counts


def transformer(
    ranker: Any, features: str | Sequence[str] = "features", *, baseline: str | Sequence[str] | None = None
) -> Any:
    """A ranker as a transformer of PyTerrier's pipelines, `bm25 >> features >> transformer(ranker)`.

    It takes a frame of results (qid, docno, …) and returns it with a new `score` and `rank`; equal scores are ranked by
    document id, descending, as evaluation ranks them. Where PyTerrier is installed it is a `pt.Transformer`, elsewhere
    an object with `transform` that can be called.

    Parameters
    ----------
    ranker : Ranker or NeuralRanker
        One that was fitted, or loaded.
    features : str or sequence of str
        The column that has a vector for each document, as learning-to-rank pipelines have it; or several columns, each
        of them a feature.
    baseline : str or sequence of str, optional
        The columns with the scores of the ranker's baselines, in their order, for rankers that need them: those that
        start from a baseline, or were combined with one. "score" is that of the stage before.
    """
    if not callable(getattr(ranker, "predict", None)):
        raise ArgumentError(f"the ranker is {shortened(ranker)}; give one that was fitted, such as sf.Ranker.load(…)")
    return _transformer_class()(ranker, features, baseline)


class RankerTransformer:
    """What the transformer does, whether PyTerrier is there or not."""

    def __init__(self, ranker: Any, features: str | Sequence[str], baseline: str | Sequence[str] | None) -> None:
        self.ranker = ranker
        self.features = features if isinstance(features, str) else list(features)
        self.baseline = [baseline] if isinstance(baseline, str) else None if baseline is None else list(baseline)

    def __repr__(self) -> str:
        """The ranker, and where its features come from."""
        return f"transformer({self.ranker!r}, features={self.features!r})"

    def transform(self, inp: Any) -> Any:
        """The frame with new scores and ranks, its rows in their order."""
        if not is_pandas(inp):
            raise DataError(f"expected a pandas frame of results, found a {type(inp).__name__}")
        lacking = [name for name in self._needed() if name not in inp.columns]
        if lacking:
            raise DataError(
                f"the frame has no column {shortened(lacking[0])}; found {name_list([str(name) for name in inp])}. "
                "In a pipeline, the stage before must give it (features: pt.terrier.FeaturesRetriever, or **)"
            )
        frame = inp.drop(columns=["score", "rank"], errors="ignore").copy()
        by_query = inp["qid"].astype(str).argsort(kind="stable").to_numpy()  # queries one after the other
        scored = inp.iloc[by_query]
        scores = np.empty(len(inp))
        if len(inp):
            scores[by_query] = self._predict(scored)
        frame["score"] = scores
        frame["rank"] = _ranks(inp["qid"].astype(str).to_numpy(), scores, inp["docno"].astype(str).to_numpy())
        return frame

    def transform_inputs(self) -> list[list[str]]:
        """The columns that must come in, which PyTerrier asks for."""
        return [self._needed()]

    def transform_outputs(self, inp_cols: list[str]) -> list[str]:
        """The columns that come out, which PyTerrier asks for."""
        return [*(name for name in inp_cols if name not in ("score", "rank")), "score", "rank"]

    def _needed(self) -> list[str]:
        features = [self.features] if isinstance(self.features, str) else self.features
        return ["qid", "docno", *features, *(self.baseline or [])]

    def _predict(self, frame: Any) -> Floats:
        matrix = frame[self.features] if not isinstance(self.features, str) else _stacked(frame, self.features)
        more: dict[str, Any] = {"qid": frame["qid"].astype(str).to_numpy()}
        if self.baseline is not None:
            more["baseline"] = frame[self.baseline].to_numpy(dtype=np.float64)
        return np.asarray(self.ranker.predict(matrix, **more), dtype=np.float64)


@cache
def _transformer_class() -> type[RankerTransformer]:
    """The class of transformers, with PyTerrier's own as its base where it is installed."""
    try:
        base = import_module("pyterrier").Transformer
    except ImportError:
        return type("Transformer", (RankerTransformer,), {"__call__": RankerTransformer.transform})
    return type("Transformer", (RankerTransformer, base), {})


def _stacked(frame: Any, name: str) -> Floats:
    vectors = [np.asarray(vector, dtype=np.float64).ravel() for vector in frame[name]]
    wide = next((row for row, vector in enumerate(vectors) if len(vector) != len(vectors[0])), None)
    if wide is not None:
        document = frame["docno"].iloc[wide]
        raise DataError(
            f"document {shortened(document)} of query {shortened(frame['qid'].iloc[wide])} has {len(vectors[wide])} "
            f"features, but {shortened(frame['docno'].iloc[0])} has {len(vectors[0])}; all need the same number"
        )
    return np.stack(vectors)


def _ranks(queries: Any, scores: Floats, documents: Any) -> Any:
    """The rank of each row within its query: by score, then by document id, both descending."""
    order = sorted(range(len(scores)), key=documents.__getitem__, reverse=True)
    order.sort(key=lambda row: -scores[row])
    ranks = np.empty(len(scores), dtype=np.int64)
    seen: dict[str, int] = {}
    for row in order:
        ranks[row] = seen[queries[row]] = seen.get(queries[row], FIRST_RANK - 1) + 1
    return ranks


def scores(results: Any, measures: Sequence[str] | None = None, *, missing: str = "error") -> list[Scores]:
    """The scores by each measure of an experiment, or by those of `measures`, of any spelling; `assess` takes them.

    `results` is what `pt.Experiment(…, perquery=True)` returns, with "both" or without a data frame too. If a system
    has no value for a query, `missing` says what to do: "error", "zero" or "drop".

    >>> rows = {"name": ["BM25", "new"], "qid": ["1", "1"], "measure": ["map", "map"], "value": [0.5, 0.75]}
    >>> scores(rows)
    [<Scores AP: 2 systems × 1 queries>]
    """
    both = getattr(results, "perquery", None)
    if both is None and isinstance(results, tuple) and len(results) == 2:
        both = results[1]
    table = results if both is None else both
    if is_pandas(table) and not is_long(map(str, table.columns)):
        raise DataError(
            "expected what pt.Experiment(…, perquery=True) returns, with the columns name, qid, measure and value; "
            f"found {name_list([str(name) for name in table.columns])}"
        )
    if measures is None:
        return assessed_scores(table, missing)
    return read_scores(table, list(measures), missing=missing)
