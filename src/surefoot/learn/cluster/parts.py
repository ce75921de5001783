"""Data in parts, each small enough for one machine: from Dask collections or from files, with complete queries.

A query that goes on from the end of one part into the next is moved to the part where it begins; one that appears
again anywhere else is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Codes
from surefoot.data.hashes import data_hash, json_hash
from surefoot.data.reading.traffic import Traffic, is_traffic, read_traffic
from surefoot.data.types.data_parts import stack
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError, SurefootError, shortened
from surefoot.learn.baseline_spec import with_baselines
from surefoot.learn.cluster import dask_library, is_dask
from surefoot.learn.inputs import as_data

Delayed: TypeAlias = Any  # a part that is yet to be computed
# A part, once computed: None where it has no rows, and the names of its queries where nobody asks any of them.
DataPart: TypeAlias = RankingData | tuple[str, ...] | None

_ENDING = "*.parquet"


@dataclass(frozen=True)
class PartSummary:
    """What has to be known of a part, without reading it again."""

    rows: int
    query_codes: Codes  # of its queries
    first_query: str
    last_query: str
    features: tuple[Any, ...]
    baselines: tuple[str, ...]
    data_digest: str | None  # of everything in it; None where no hash is needed
    left_out: tuple[str, ...] = ()  # queries without traffic


def parts_from_collections(
    X: Any, y: Any, qid: Any, baseline: Any, what: str, sample_weight: Any = None
) -> list[Delayed]:
    """The parts of Dask arrays or frames: X's own, with what the others have for the same rows.

    Weights of queries have a row for each document, or go by query id.
    """
    delayed = dask_library("dask").delayed
    if qid is None and "qid" not in getattr(X, "columns", ()):
        raise ArgumentError(f"{what} has no queries; give qid, or a frame with a column qid")
    if y is None:
        raise ArgumentError(f"{what} has no labels; give y")
    blocks = _blocks(_complete_rows(X), what)
    others = [_aligned(other, X, len(blocks), name) for name, other in (("y", y), ("qid", qid))]
    if isinstance(baseline, dict):
        columns = {name: _aligned(scores, X, len(blocks), f"baseline {name}") for name, scores in baseline.items()}
        baselines: list[Any] = [{name: part[i] for name, part in columns.items()} for i in range(len(blocks))]
    else:
        baselines = _aligned(baseline, X, len(blocks), "baseline")
    if is_traffic(sample_weight):
        weights = [delayed(read_traffic(sample_weight), traverse=False)] * len(blocks)
    else:
        weights = _aligned(sample_weight, X, len(blocks), "sample_weight")
    part = delayed(_part_from_arrays, pure=False)
    return [
        part(*each, f"part {number} of {what}")
        for number, each in enumerate(zip(blocks, *others, baselines, weights, strict=True), start=1)
    ]


def parts_from_files(path: Path, baselines: Sequence[str], what: str, traffic: Traffic | None = None) -> list[Delayed]:
    """The parts of a folder of Parquet files, in the order of their names, or one file; machines read them."""
    if not path.is_dir() and path.suffix.lower() != ".parquet":
        raise DataError.at(
            path, None, f"{what} for many machines must be a Parquet file, or a folder of them; see write_letor"
        )
    files = sorted(path.glob(_ENDING)) if path.is_dir() else [path]
    if not files:
        raise DataError.at(path, None, f"has no Parquet file ({_ENDING}) to read {what} from")
    delayed = dask_library("dask").delayed
    part = delayed(_part_from_file, pure=False)
    weights = None if traffic is None else delayed(traffic, traverse=False)
    return [part(str(file.resolve()), list(baselines), weights) for file in files]


def parts_from_data(data: RankingData, parts: int) -> list[Delayed]:
    """Data that is here in as many parts, for machines that have none of their own."""
    delayed = dask_library("dask").delayed
    cuts = np.array_split(np.arange(len(data.queries)), min(parts, len(data.queries)))
    return [delayed(data.select(cut), traverse=False) for cut in cuts]


def summarize_part(part: DataPart, hashed: bool) -> PartSummary | None:
    """A part's summary, None of an empty part; hashing all of it takes a while."""
    if part is None:
        return None
    if isinstance(part, tuple):
        return PartSummary(0, np.zeros(0, np.uint64), "", "", (), (), None, part)
    digest = data_hash(part) if hashed else None
    weighting = part._weighting
    if digest is not None and weighting is not None:  # equal weights of a part may differ from the others'
        digest = json_hash([digest, weighting.values.tolist()])
    return PartSummary(
        len(part), part.query_codes, part.queries[0], part.queries[-1], (part.n_features, part.feature_names),
        tuple(part.baselines), digest, () if weighting is None else weighting.left_out,
    )  # fmt: skip


def with_complete_queries(
    parts: Sequence[Delayed], summaries: Sequence[PartSummary | None], what: str
) -> list[Delayed]:
    """The parts that have rows, with every query in one part; `summaries` has one for each part."""
    delayed = dask_library("dask").delayed
    nonempty = [(part, one) for part, one in zip(parts, summaries, strict=True) if one is not None and one.rows]
    if not nonempty:
        unasked = any(summary is not None for summary in summaries)
        raise ArgumentError(f"{what} has no {'query with traffic' if unasked else 'documents'}")
    _check_same_columns([summary for _, summary in nonempty], what)
    groups: list[
        list[Delayed]
    ] = []  # groups of parts that a query binds together, the first of each with all of its rows
    for number, (part, summary) in enumerate(nonempty):
        goes_on = number > 0 and nonempty[number - 1][1].last_query == summary.first_query
        single_query = len(summary.query_codes) == 1
        own = part if not goes_on else None if single_query else delayed(_without_first, pure=False)(part)
        if goes_on:
            groups[-1].append(delayed(_only_first, pure=False)(part))
        if own is not None:
            groups.append([own])
    bound = sum(before.last_query == after.first_query for (_, before), (_, after) in pairwise(nonempty))
    codes = np.concatenate([summary.query_codes for _, summary in nonempty])
    if len(np.unique(codes)) < len(codes) - bound:
        raise ArgumentError(
            f"a query of {what} is in two parts that do not follow each other; all rows of a query must be together "
            "(sort by query before you split the data into parts)"
        )
    return [group[0] if len(group) == 1 else delayed(stack, pure=False)(group) for group in groups]


def _check_same_columns(summaries: Sequence[PartSummary], what: str) -> None:
    for name, values in (
        ("features", {summary.features for summary in summaries}),
        ("baselines", {summary.baselines for summary in summaries}),
    ):
        if len(values) > 1:
            examples = " and ".join(shortened(value, 60) for value in list(values)[:2])
            raise ArgumentError(f"the parts of {what} have different {name} ({examples}); all parts must have the same")


def _part_from_arrays(X: Any, y: Any, qid: Any, baseline: Any, weights: Any, name: str) -> DataPart:
    if not len(X):
        return None
    try:
        return _asked(as_data(X, y, qid, baseline=baseline), weights)
    except SurefootError as error:
        raise ArgumentError(f"{name}: {error}") from None


def _part_from_file(path: str, baselines: list[str], traffic: Traffic | None) -> DataPart:
    from surefoot.data.letor.files import read_letor

    return _asked(with_baselines(read_letor(path), baselines, Path(path)), traffic)


def _asked(part: RankingData, weights: Any) -> DataPart:
    """A part with the weights of its queries; their names where nobody asks any of them."""
    if weights is None:
        return part
    if isinstance(weights, dict):
        return part.with_traffic(weights) if any(weights.get(query) for query in part.queries) else part.queries
    rows = np.asarray(weights)
    if rows.ndim == 1 and len(rows) != len(part):
        raise ArgumentError(f"sample_weight has {len(rows):,} rows, but X has {len(part):,}")
    return part.queries if rows.dtype.kind in "biuf" and not rows.any() else part.with_traffic(rows)


def _without_first(part: RankingData) -> RankingData:
    return part.select(np.arange(1, len(part.queries)))


def _only_first(part: RankingData) -> RankingData:
    return part.select([0])


def _complete_rows(X: Any) -> Any:
    """X with all columns of a row in one block."""
    return X.rechunk({1: -1}) if hasattr(X, "numblocks") and X.ndim == 2 and X.numblocks[1] > 1 else X


def _blocks(value: Any, what: str) -> list[Delayed]:
    if not is_dask(value):
        raise ArgumentError(
            f"{what}: X is a Dask collection, but {type(value).__name__} beside it is not; make both one"
        )
    blocks = value.to_delayed()
    return list(blocks.ravel()) if hasattr(blocks, "ravel") else list(blocks)


def _aligned(value: Any, X: Any, count: int, name: str) -> list[Any]:
    """The blocks of what goes along with X, row by row."""
    if value is None:
        return [None] * count
    if not is_dask(value):
        chunks = getattr(X, "chunks", None)
        if chunks is None or any(np.isnan(size) for size in chunks[0]):
            raise ArgumentError(f"{name} is not a Dask collection, but X is; make {name} one with the same partitions")
        rows = np.asarray(value)
        if len(rows) != sum(chunks[0]):
            raise ArgumentError(f"{name} has {len(rows):,} rows, but X has {sum(chunks[0]):,}")
        return list(np.split(rows, np.cumsum(chunks[0])[:-1]))
    ours, theirs = getattr(X, "chunks", None), getattr(value, "chunks", None)
    if ours is not None and theirs is not None and not np.isnan([*ours[0], *theirs[0]]).any():
        if sum(ours[0]) != sum(theirs[0]):
            raise ArgumentError(f"{name} has {sum(theirs[0]):,} rows, but X has {sum(ours[0]):,}")
        value = value.rechunk({0: ours[0]} | ({1: -1} if value.ndim == 2 else {}))
    blocks = _blocks(value, name)
    if len(blocks) != count:
        raise ArgumentError(f"{name} has {len(blocks)} partitions, but X has {count}; give both the same partitions")
    return blocks
