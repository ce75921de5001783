"""A run from a search service: every query is asked, page by page, and what comes is checked before it is kept."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.data.reading.columns import check_words
from surefoot.data.reading.files import inner_ending, read_json, system_name
from surefoot.data.reading.formats import format_of
from surefoot.data.reading.texts import read_texts
from surefoot.data.types.runs import Run
from surefoot.data.writing.all_or_nothing import LOCK, destination, write_text
from surefoot.data.writing.resumable import ResumableFolder, content_key
from surefoot.errors import ArgumentError, DataError, did_you_mean, expecting, shortened
from surefoot.fetching.addresses import ServiceAddress
from surefoot.fetching.client import Conduct, SearchClient, read_credentials
from surefoot.fetching.options import DEPTH, PAGE_SIZE, RETRIES, SCORES, TIMEOUT
from surefoot.fetching.services import (
    WINDOW,
    Hit,
    SearchService,
    SearchSettings,
    fill_template,
    is_unicode,
    read_template,
    service_of,
)
from surefoot.progress import steps


class FetchedRun(NamedTuple):
    """A run, how many of its queries were fetched before, and which have no result."""

    run: Run
    resumed: int
    without_results: list[str]


def fetch(
    service: str,
    url: str,
    queries: Any,
    body: Any,
    output: str | os.PathLike[str] | None = None,
    *,
    depth: int = DEPTH,
    page_size: int = PAGE_SIZE,
    id_field: str | None = None,
    tiebreak: str | None = None,
    score_by: str = SCORES[0],
    name: str | None = None,
    header_env: Mapping[str, str] | None = None,
    user_env: str | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    rate: float | None = None,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> Run:
    """The run of a live search service: the first `depth` results of each query.

    `service` is "elasticsearch", "opensearch" or "solr"; `queries` is a file, a dict or a table; `body` is a
    JSON file or a dict with {{query}} in its texts. Results keep the service's order: of equal scores the later ones
    are lowered by the least that a number can be; with `score_by="position"` a score is minus the position.

    With an `output` the run is written there, and a fetch that was stopped goes on where it left off. Secrets come
    from environment variables alone: `header_env` maps headers to variables, `user_env` names that of user:password.
    """
    return fetched_run(
        service, url, queries, body, output, depth=depth, page_size=page_size, id_field=id_field, tiebreak=tiebreak,
        score_by=score_by, name=name, header_env=header_env, user_env=user_env, ca_file=ca_file, rate=rate,
        timeout=timeout, retries=retries,
    ).run  # fmt: skip


def fetched_run(
    service: str,
    url: str,
    queries: Any,
    body: Any,
    output: str | os.PathLike[str] | None,
    *,
    depth: int,
    page_size: int,
    id_field: str | None,
    tiebreak: str | None,
    score_by: str,
    name: str | None,
    header_env: Mapping[str, str] | None,
    user_env: str | None,
    ca_file: str | os.PathLike[str] | None,
    rate: float | None,
    timeout: float,
    retries: int,
    note: Callable[[str], object] | None = None,
) -> FetchedRun:
    """The same as `fetch`, with what the command line tells of it; `note` is told of tries that failed."""
    asked = service_of(service)
    template = read_template(body)
    settings = SearchSettings(
        integer("depth", depth, 1, LARGEST_COUNT), integer("page_size", page_size, 1, WINDOW), id_field, tiebreak
    )
    asked.check(template, settings)
    if score_by not in SCORES:
        raise ArgumentError(
            f"score_by is {shortened(score_by)}; choose {' or '.join(SCORES)}{did_you_mean(score_by, SCORES)}"
        )
    conduct = Conduct(_positive("timeout", timeout), integer("retries", retries, 0, 100),
                      None if rate is None else _positive("rate", rate), ca_file)  # fmt: skip
    address = ServiceAddress.of(url, asked.searches)
    asked.check_address(address)
    credentials = read_credentials(header_env, user_env)
    texts = _texts(queries)
    is_lines = output is not None and _writes_lines(output)
    if output is not None:
        destination(output)
        if is_lines:
            _check_words(list(texts), output, "query")
    kept = None if output is None else FetchedAnswers(output, {
        "service": service, "url": address.shown, "depth": depth,
        "page_size": page_size, "id_field": id_field, "tiebreak": tiebreak, "score_by": score_by,
        "header_env": dict(header_env or {}), "user_env": user_env,
    }, private=address.parameters)  # fmt: skip
    results: dict[str, list[Hit]] = {}
    resumed = 0
    with kept.lock() if kept else nullcontext(), SearchClient(address, credentials, conduct, note) as client:
        for query in steps(list(texts), f"Fetching from {service}"):
            filled = fill_template(template, texts[query])
            hits = kept.read(query, filled) if kept else None
            resumed += hits is not None
            if hits is None:
                hits = _result(client, asked, settings, filled, query)
                hits = _with_scores(hits, query, by_position=score_by == SCORES[1])
                if is_lines and output is not None:
                    _check_words([hit.document for hit in hits], output, "document")
                if kept:
                    kept.keep(query, filled, hits)
            results[query] = hits
        run = _run_of(results, name or (system_name(output) if output is not None else service))
        if kept and output is not None:
            kept.finish()
            run.write(output)
            kept.remove()
    return FetchedRun(run, resumed, [query for query, hits in results.items() if not hits])


def _texts(queries: Any) -> dict[str, str]:
    texts = read_texts(queries)
    if not texts:
        raise DataError("there are no queries; give at least one")
    empty = next((query for query, text in texts.items() if not text), None)
    if empty is not None:
        raise DataError(f"query {shortened(empty)} has no text; write one, or remove the query")
    broken = next((query for query in texts if not is_unicode(query)), None)
    if broken is not None:
        raise DataError(f"the query id {shortened(broken)} contains an incomplete character; write another id")
    return texts


def _result(
    client: SearchClient, service: SearchService, settings: SearchSettings, body: Mapping[str, Any], query: str
) -> list[Hit]:
    """All of a query's results, down to the depth, page by page; each document once."""
    hits: list[Hit] = []
    positions: dict[str, int] = {}
    while len(hits) < settings.depth:
        size = min(settings.page_size, settings.depth - len(hits))
        request = service.page(body, settings, len(hits), size, hits[-1] if hits else None)
        check = partial(_checked_page, service=service, settings=settings, size=size, before=positions)
        page = client.ask(request, service.parameters(settings, query), check, query)
        positions |= {hit.document: len(hits) + at for at, hit in enumerate(page, start=1)}
        hits += page
        if len(page) < size:
            break
    return hits


def _checked_page(
    answer: Any, *, service: SearchService, settings: SearchSettings, size: int, before: Mapping[str, int]
) -> list[Hit]:
    """The results of one page, each of which is new."""
    hits = service.hits(answer, settings)
    if len(hits) > size:
        raise DataError(f"it has {len(hits):,} results, but {size:,} were requested")
    positions: dict[str, int] = {}
    for position, hit in enumerate(hits, start=len(before) + 1):
        first = before.get(hit.document) or positions.get(hit.document)
        if first is not None:
            why = (
                "the index may have changed between two pages: fetch all in one page with --page-size"
                if hit.document in before
                else "if the search is over several indexes, name a field that tells documents apart with --id-field"
            )
            raise DataError(
                f"document {shortened(hit.document)} appears twice (positions {first:,} and {position:,}); {why}"
            )
        positions[hit.document] = position
    return hits


def _with_scores(hits: Sequence[Hit], query: str, *, by_position: bool) -> list[Hit]:
    """The results with scores that keep their order under the rule for ties, which is document id descending.

    >>> [hit.score for hit in _with_scores([Hit("a", 1.0), Hit("b", 1.0), Hit("c", 0.5)], "q", by_position=False)]
    [1.0, 0.9999999999999999, 0.5]
    """
    if by_position:
        return [Hit(hit.document, -float(position)) for position, hit in enumerate(hits, start=1)]
    scored: list[Hit] = []
    before = math.inf
    for position, hit in enumerate(hits, start=1):
        where = f"query {shortened(query)}: the result at position {position:,}, {shortened(hit.document)},"
        if hit.score is None:
            raise DataError(
                f"{where} has no score; have the service give scores, or use --score-by position for the order alone"
            )
        if hit.score > before:
            raise DataError(
                f"{where} has a higher score than the one before it, so the service sorts by something else; use "
                "--score-by position for the order that it gives"
            )
        before = score = hit.score
        if scored and score >= (last := scored[-1]).score:  # type: ignore[operator]
            in_order = score == last.score and hit.document < last.document
            score = score if in_order else math.nextafter(float(last.score or 0.0), -math.inf)
        scored.append(Hit(hit.document, score))
    return scored


def _run_of(results: Mapping[str, Sequence[Hit]], name: str) -> Run:
    if not any(results.values()):
        raise DataError("no query has a result; check the body, and the index that the URL names")
    rows = [(query, hit.document, hit.score) for query, hits in results.items() for hit in hits]
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return Run._read(pl.DataFrame(rows, schema=schema, orient="row"), name)


def _writes_lines(output: str | os.PathLike[str]) -> bool:
    return format_of(output) == "lines" and inner_ending(output) != ".tsv"


def _check_words(ids: list[str], output: str | os.PathLike[str], what: str) -> None:
    """Refuse ids that the output cannot hold as soon as they are met, not after the last query."""
    check_words(pl.Series(ids, dtype=pl.String), output, what, "TREC", instead=".parquet or .json")


def _positive(name: str, value: Any) -> float:
    number = finite_number(value)
    if number is None or number <= 0:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be a number above 0")
    return number


SCHEMA = "surefoot/fetch/1"
_SETTINGS, _ANSWERS, _FINISHED = "fetch.json", "answers", "finished.json"


def answers_folder(output: str | PathLike[str]) -> Path:
    """Where the answers of a fetch are until its output is written."""
    path = Path(output)
    return path.with_name(f"{path.name}.fetch")


def is_own_output(output: str | PathLike[str]) -> bool:
    """Whether what is at `output` was written by a fetch that was killed before it could clean up."""
    return (answers_folder(output) / _FINISHED).is_file()


class FetchedAnswers:
    """The folder of one fetch.

    `settings` are what all its answers have in common; so is `private`, of which only hashes are ever written.
    """

    def __init__(self, output: str | PathLike[str], settings: Mapping[str, Any], private: Any = None) -> None:
        self.folder = answers_folder(output)
        self._settings, self._private = {"schema": SCHEMA, **settings}, private
        self._resumable = ResumableFolder(self.folder, _SETTINGS, "fetch", beside=[_FINISHED])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other programs out; the folder of other work is refused."""
        with self._resumable.lock():
            begun = self._resumable.resume()
            if begun is not None and begun.get("schema") != SCHEMA:
                raise DataError.at(self.folder, None, "was not written by a fetch of this version; remove it")
            self._resumable.write_settings(self._settings)
            (self.folder / _ANSWERS).mkdir(exist_ok=True)
            try:
                yield
            finally:
                if not any((self.folder / _ANSWERS).glob("*")):  # nothing to go on from
                    self.remove()

    def read(self, query: str, body: Any) -> list[Hit] | None:
        """A query's result, if it was fetched before."""
        path = self._path(query, body)
        if not path.exists():
            return None
        with expecting("an answer", path, "remove it, and run the same command again"):
            return [Hit(str(document), float(score)) for document, score in read_json(path)]

    def keep(self, query: str, body: Any, hits: Sequence[Hit]) -> None:
        """Keep a query's result."""
        write_text(self._path(query, body), json.dumps([[hit.document, hit.score] for hit in hits]))

    def finish(self) -> None:
        """Say that all is fetched: what is at the output from now on was made from these answers."""
        write_text(self.folder / _FINISHED, "{}\n", durable=True)

    def remove(self) -> None:
        """Remove the folder; last of all the note that the output is its own."""
        with suppress(OSError):
            shutil.rmtree(self.folder / _ANSWERS, ignore_errors=True)
            for name in (_SETTINGS, LOCK, _FINISHED):
                (self.folder / name).unlink(missing_ok=True)
            self.folder.rmdir()

    def _path(self, query: str, body: Any) -> Path:
        key = content_key([self._settings, self._private, query, body])
        return self.folder / _ANSWERS / f"{key}.json"
