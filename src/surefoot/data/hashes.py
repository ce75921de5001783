"""What identifies queries, rankings, data and files: SHA-256 of what they hold. Every hash of several rooms is here."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.data.reading.files import read_json
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.data.reading.matrix import FeatureMatrix
    from surefoot.data.types.ranking_data import RankingData
    from surefoot.data.types.runs import RankedTable

HASH_DIGITS = 16  # hexadecimal digits of a query's: no two of a billion are likely to agree
_ROWS = 1 << 16  # of document ids, hashed in one go
SEAL = "sha256"  # the name under which a file holds the hash of all else in it


def text_hash(text: str) -> str:
    """SHA-256 of a text, in hexadecimal; a text may hold half a character, as a file's name may."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def share_of(name: str, seed: int, draw: str) -> float:
    """A number in [0, 1) that stands for a name in a draw: every draw that goes by names is by this one.

    It is the same on every machine, whatever the other names are. It is SHA-256's, since with a checksum (CRC-32) the
    shares of two seeds differ by a constant, so that both seeds may choose the same names. `draw` says what is drawn:
    two draws with one seed, as a sample and then its split, choose independently.

    >>> share_of("u1", 0, "split"), share_of("u1", 1, "split")
    (0.6453355046497252, 0.38271852004828033)
    """
    digest = hashlib.sha256(f"{draw}\t{seed}\t{name}".encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def json_hash(content: Any, digits: int | None = None) -> str:
    """SHA-256 of plain data as JSON, whatever the order of its keys: all hexadecimal digits, or the first ones.

    >>> json_hash({"a": 1, "b": 2}, 20) == json_hash({"b": 2, "a": 1}, 20)
    True
    """
    return text_hash(json.dumps(content, sort_keys=True))[:digits]


def queries_hash(queries: Iterable[str]) -> str:
    """One hash of a set of queries, in whatever order they come.

    >>> queries_hash(["q1", "q2"]) == queries_hash(["q2", "q1"]) != queries_hash(["q1", "q3"])
    True
    """
    return text_hash(json.dumps(sorted(set(queries))))


def lists_hash(table: RankedTable, *, with_scores: bool = False, queries: Iterable[str] | None = None) -> str:
    """One hash of a run's lists: its queries, and each one's documents in ranked order; of some queries, or all.

    The order of queries and the name do not count: a run written again is the same run. Nor do the scores, unless
    `with_scores` asks for them and the sample of them, for measures that depend on them.
    """
    documents, bounds = table.documents().to_list(), table.ranking.offsets.tolist()
    digest = hashlib.sha256()
    chosen = None if queries is None else frozenset(queries)
    rows = [row for row, query in enumerate(table.queries) if chosen is None or query in chosen]
    for number in sorted(rows, key=table.queries.__getitem__):
        own = slice(bounds[number], bounds[number + 1])
        content = [table.queries[number], documents[own]]
        digest.update(json.dumps([*content, table.ranking.scores[own].tolist()] if with_scores else content).encode())
    sample = getattr(table, "score_sample", None) if with_scores else None
    if sample is not None:
        digest.update(sample.tobytes())
    return digest.hexdigest()


def judgments_hash(table: RankedTable) -> str:
    """One hash of judgments: of each query its documents with their grades, whatever the order of the file."""
    documents, grades, bounds = table.documents().to_list(), table.ranking.scores.tolist(), table.ranking.offsets
    digest = hashlib.sha256()
    for number in sorted(range(len(table.queries)), key=table.queries.__getitem__):
        start, end = int(bounds[number]), int(bounds[number + 1])
        graded = sorted(zip(documents[start:end], grades[start:end], strict=True))
        digest.update(json.dumps([table.queries[number], graded]).encode())
    return digest.hexdigest()


def data_hash(data: RankingData) -> str:
    """One hash of all that labelled documents hold, in their order: features, labels, queries, ids and baselines.

    Also the weights of queries, unless all are equal: then they change nothing.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps([data.X.shape, data.queries, data.feature_names, list(data.baselines)]).encode())
    if data.categories:
        digest.update(json.dumps(dict(data.categories)).encode())
    for part in (data.X, data.y, data.offsets, *data.baselines.values()):
        digest.update(np.ascontiguousarray(part).data)
    if data.doc_ids is not None:
        for start in range(0, len(data), _ROWS):
            digest.update(json.dumps(data.doc_ids[start : start + _ROWS].to_list()).encode())
    if data._weighting is not None and not data._weighting.equal:
        digest.update(np.ascontiguousarray(data._weighting.values).data)
    return digest.hexdigest()


def query_hashes(data: RankingData) -> list[str]:
    """For each query a hash of its id and its features, row by row: another order of documents is another hash.

    It tells whether the same query is in two parts of one data set; `query_fingerprints` recognises it elsewhere.
    """
    spans = zip(data.queries, pairwise(data.offsets.tolist()), strict=True)
    return [
        hashlib.sha256(query.encode(errors="surrogatepass") + data.X[first:last].tobytes()).hexdigest()[:HASH_DIGITS]
        for query, (first, last) in spans
    ]


def query_fingerprints(data: RankingData, X: FeatureMatrix | None = None) -> list[frozenset[str]]:
    """What each query is recognised by later: a hash of its id and features, one of its id and documents' ids.

    The first is of the id, the number of documents, and each feature's least and greatest value.

    An id alone does not tell: data without ids of its own counts its queries from 1. A query is the same if either
    hash is; so one whose features were computed anew is known by its documents, where these have ids. Neither the order
    of queries nor that of documents counts. `X` stands in for the data's own features, such as in another order.
    """
    matrix = data.X if X is None else X
    fingerprints = []
    for query, (start, end) in zip(data.queries, pairwise(data.offsets.tolist()), strict=True):
        rows = matrix[start:end]  # one query at a time: several times faster than reduceat
        # 0.0 is added since of 0 and -0, which are equal, either may be the least.
        bounds = [(extreme.reduce(rows, axis=0) + np.float32(0)).tobytes() for extreme in (np.fmin, np.fmax)]
        hashes = {_short(query, str(end - start), *bounds)}
        if data.doc_ids is not None:
            hashes.add(_short(query, json.dumps(sorted(data.doc_ids[start:end].to_list()))))
        fingerprints.append(frozenset(hashes))
    return fingerprints


def joined_fingerprints(parts: Iterable[str]) -> str:
    """Several texts of fingerprints as one, in ascending order, each once."""
    fingerprints = {part[at : at + HASH_DIGITS] for part in parts for at in range(0, len(part), HASH_DIGITS)}
    return "".join(sorted(fingerprints))


def _short(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:HASH_DIGITS]


def seal(data: dict[str, Any]) -> dict[str, Any]:
    """Plain data with a hash of all of it, so that a file that was changed by hand is noticed.

    >>> check_seal(seal({"level": 0.02}), "state.json")
    >>> check_seal(seal({"level": 0.02}) | {"level": 0.2}, "s.json")
    Traceback (most recent call last):
    ...
    surefoot.errors.DataError: s.json: was changed after surefoot wrote it (its hash does not match); create it again
    """
    plain = {name: value for name, value in data.items() if name != SEAL}
    return plain | {SEAL: text_hash(json.dumps(plain, sort_keys=True, allow_nan=False))}


def check_seal(data: dict[str, Any], where: Any, remedy: str = "create it again") -> None:
    """Refuse plain data that is not what was sealed."""
    try:
        fits = data.get(SEAL) == seal(data)[SEAL]
    except (ValueError, RecursionError):  # a number beyond all, or what is nested without end: nothing that was sealed
        fits = False
    if not fits:
        raise DataError(f"{where}: was changed after surefoot wrote it (its hash does not match); {remedy}")


def read_sealed(path: str | os.PathLike[str], schema: str, otherwise: str, remedy: str) -> dict[str, Any]:
    """The plain data of a file that names the schema and was not changed, without its hash.

    `otherwise` says what another file is not; `remedy` what to do where it was changed.
    """
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != schema:
        raise DataError.at(path, None, f"{otherwise}; expected JSON with the schema {schema!r}")
    check_seal(data, path, remedy)
    return {name: value for name, value in data.items() if name != SEAL}
