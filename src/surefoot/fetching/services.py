"""How each search service is asked for a page of results, and what its answer says.

The forms are those of the services' documentation: Elasticsearch's and OpenSearch's search API (`from` and `size`
within the window of 10,000, `search_after` beyond it), Solr's JSON request API (`offset` and `limit`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from surefoot.arguments import finite_number, is_rounded
from surefoot.arrays import ROUNDED
from surefoot.data.reading.files import read_json
from surefoot.errors import ArgumentError, DataError, did_you_mean, name_list, shortened
from surefoot.fetching.addresses import ServiceAddress
from surefoot.fetching.options import PLACEHOLDER, SERVICES

WINDOW = 10_000  # index.max_result_window, as it is unless somebody changed it


class PartialAnswerError(Exception):
    """An answer that is not the whole one; asked again, the service may give it."""


class Hit(NamedTuple):
    """One result: its document, its score if it has one, and the values by which it was sorted, where it was."""

    document: str
    score: float | None
    sort: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class SearchSettings:
    """What is asked of a service for every query, besides its text."""

    depth: int
    page_size: int
    id_field: str | None = None
    tiebreak: str | None = None


class ElasticService:
    """Elasticsearch and OpenSearch."""

    searches: tuple[str, ...] = ("_search",)  # last parts of an address that searches; the first is added to others

    def check_address(self, address: ServiceAddress) -> None:
        """Refuse an address without an index: it would search all of them, those of other applications too."""
        if not address.parts_before_search:
            raise ArgumentError(
                f"{address.shown} names no index; write {address.shown.removesuffix('_search')}INDEX, or _all in place "
                "of INDEX to search every index"
            )

    def check(self, template: Mapping[str, Any], settings: SearchSettings) -> None:
        """Refuse what cannot be fetched rightly."""
        _refuse_keys(template, ("from", "size", "search_after", "scroll", "pit"))
        if settings.tiebreak is not None and "sort" in template:
            raise ArgumentError("the body has its own sort, and a tie-break was given; put the field last in that sort")
        if settings.depth > WINDOW and settings.tiebreak is None:
            raise ArgumentError(
                f"depth {settings.depth:,} is beyond the window of {WINDOW:,} results that the service gives by from "
                "and size; name a field that differs in every document with --tiebreak, or fetch less"
            )

    def parameters(self, settings: SearchSettings, query: str) -> dict[str, str]:
        """Of the address: never a part of the answer, and every page of a query from the same copies of the index."""
        several = settings.depth > settings.page_size
        return {"allow_partial_search_results": "false"} | ({"preference": f"surefoot-{query}"} if several else {})

    def page(
        self, body: Mapping[str, Any], settings: SearchSettings, first: int, size: int, last: Hit | None
    ) -> dict[str, Any]:
        """The body that asks for `size` results after the `first` ones, of which `last` is the last."""
        request = dict(body) | {"size": size}
        if "_source" not in request:
            request["_source"] = False if settings.id_field is None else [settings.id_field]
        if settings.tiebreak is not None:
            request["sort"] = [{"_score": "desc"}, {settings.tiebreak: "asc"}]
        if "sort" in request:  # or there would be no scores
            request.setdefault("track_scores", True)
        if settings.tiebreak is not None and last is not None:
            request["search_after"] = list(last.sort or ())
        elif first:
            request["from"] = first
        return request

    def hits(self, answer: Any, settings: SearchSettings) -> list[Hit]:
        """The results of an answer, which must be whole."""
        _refuse_failures(answer)
        inner = answer.get("hits")
        rows = inner.get("hits") if isinstance(inner, Mapping) else None
        if not isinstance(rows, list):
            raise DataError(f"it has no hits.hits, but {name_list(list(answer), 6) or 'nothing'}")
        found = [self._hit(row, settings, f"hits.hits[{at}]") for at, row in enumerate(rows)]
        if settings.tiebreak is not None:
            for before, after in pairwise(found):
                if before.sort == after.sort:
                    raise DataError(
                        f"{shortened(before.document)} and {shortened(after.document)} have the same value of "
                        f"{settings.tiebreak}, so results between two pages could be lost; give a tie-break that "
                        "differs in every document"
                    )
        return found

    @staticmethod
    def _hit(row: Any, settings: SearchSettings, where: str) -> Hit:
        if not isinstance(row, Mapping):
            raise DataError(f"{where} is {shortened(row)}; expected an object")
        if settings.id_field is None:
            document = row.get("_id")
        else:
            source = row.get("_source")
            document = _field(source, settings.id_field) if isinstance(source, Mapping) else None
        sort = row.get("sort")
        if settings.tiebreak is not None and (not isinstance(sort, list) or not sort or sort[-1] is None):
            raise DataError(f"{where} has no value of the tie-break {settings.tiebreak}; give another field")
        return Hit(
            _document(document, settings.id_field or "_id", where),
            _score(row.get("_score"), where),
            tuple(sort) if isinstance(sort, list) else None,
        )


class SolrService:
    """Solr, by its JSON request API."""

    searches: tuple[str, ...] = ("select", "query")  # as above

    def check_address(self, address: ServiceAddress) -> None:
        """Refuse an address without a collection."""
        if address.parts_before_search in ([], ["solr"]):
            root = address._replace(path="/solr/COLLECTION").shown
            raise ArgumentError(f"{address.shown} names no collection; write {root}")

    def check(self, template: Mapping[str, Any], settings: SearchSettings) -> None:
        """Refuse what cannot be fetched rightly."""
        _refuse_keys(template, ("offset", "limit"))
        parameters = template.get("params", {})
        if not isinstance(parameters, Mapping):
            raise DataError(f"the body's params is {shortened(parameters)}; expected an object")
        _refuse_keys(parameters, ("start", "rows", "cursorMark", "group", "wt", "omitHeader"), "params.")
        if settings.tiebreak is not None:
            raise ArgumentError("--tiebreak is for Elasticsearch and OpenSearch; Solr gives any depth without it")

    def parameters(self, settings: SearchSettings, query: str) -> dict[str, str]:
        """Of the address: answers in the form that is read here."""
        return {"wt": "json"}

    def page(
        self, body: Mapping[str, Any], settings: SearchSettings, first: int, size: int, last: Hit | None
    ) -> dict[str, Any]:
        """The body that asks for `size` results after the `first` ones."""
        request = dict(body) | {"offset": first, "limit": size}
        if "fields" not in request and "fl" not in request.get("params", {}):
            request["fields"] = [settings.id_field or "id", "score"]
        return request

    def hits(self, answer: Any, settings: SearchSettings) -> list[Hit]:
        """The results of an answer, which must be whole."""
        if not isinstance(answer, Mapping):
            raise DataError(f"it is {shortened(answer)}; expected an object")
        if "error" in answer:
            raise DataError(f"it is an error: {error_text(answer)}")
        header = answer.get("responseHeader")
        if not isinstance(header, Mapping) or header.get("status") != 0:
            raise DataError(f"its responseHeader does not have the status 0, but {shortened(header)}")
        if header.get("partialResults") not in (None, False):
            raise PartialAnswerError("it is a part of the results only (partialResults)")
        response = answer.get("response")
        rows = response.get("docs") if isinstance(response, Mapping) else None
        if not isinstance(rows, list):
            raise DataError(f"it has no response.docs, but {name_list(list(answer), 6) or 'nothing'}")
        name = settings.id_field or "id"
        found = []
        for at, row in enumerate(rows):
            where = f"response.docs[{at}]"
            if not isinstance(row, Mapping):
                raise DataError(f"{where} is {shortened(row)}; expected an object")
            found.append(Hit(_document(row.get(name), name, where), _score(row.get("score"), where)))
        return found


SearchService = ElasticService | SolrService


def service_of(name: str) -> SearchService:
    """The service of this name."""
    if name not in SERVICES:
        raise ArgumentError(f"{shortened(name)} is not a service; choose one of {', '.join(SERVICES)}"
                            f"{did_you_mean(name, SERVICES)}")  # fmt: skip
    return SolrService() if name == "solr" else ElasticService()


def error_text(answer: Any) -> str:
    """What a service says went wrong, from the answer that says so; nothing where it does not."""
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if isinstance(error, Mapping):
        causes = error.get("root_cause")
        cause = causes[0] if isinstance(causes, Sequence) and causes and isinstance(causes[0], Mapping) else {}
        error = cause.get("reason") or error.get("reason") or error.get("msg") or error.get("type")
    return shortened(error, 200)[1:-1] if isinstance(error, str) else ""


def _refuse_keys(template: Mapping[str, Any], names: tuple[str, ...], before: str = "") -> None:
    for name in names:
        if name in template:
            raise ArgumentError(f"the body has {before}{name}, which surefoot sets itself; remove it, and use --depth")


def _refuse_failures(answer: Any) -> None:
    if not isinstance(answer, Mapping):
        raise DataError(f"it is {shortened(answer)}; expected an object")
    if "error" in answer:
        raise DataError(f"it is an error: {error_text(answer)}")
    if answer.get("timed_out") not in (None, False):
        raise PartialAnswerError("the search timed out, and the answer is a part of the results only (timed_out)")
    shards = answer.get("_shards")
    if not isinstance(shards, Mapping):
        raise DataError("it does not say how many shards answered (_shards); leave filter_path out of the URL")
    if shards.get("failed") != 0:
        raise PartialAnswerError(f"{shortened(shards.get('failed'))} of {shortened(shards.get('total'))} shards failed")
    clusters = answer.get("_clusters")
    if isinstance(clusters, Mapping):
        for name in ("skipped", "partial", "failed"):
            if clusters.get(name, 0) != 0:
                raise PartialAnswerError(f"not all clusters answered in full ({name}: {shortened(clusters[name])})")


def _field(source: Mapping[str, Any], name: str) -> Any:
    """A field of a document by its name, whose dots lead into objects."""
    if name in source:
        return source[name]
    first, _, rest = name.partition(".")
    inner = source.get(first)
    return _field(inner, rest) if rest and isinstance(inner, Mapping) else None


def _document(value: Any, name: str, where: str) -> str:
    if isinstance(value, list) and len(value) == 1:  # Solr, where a schema was guessed
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise DataError(f"{where} has no id: its {name} is {shortened(value)}; name the field with --id-field")
    if not is_unicode(str(value)):
        raise DataError(f"{where} has the id {shortened(value)}, which contains an incomplete character")
    return str(value)


def is_unicode(text: str) -> bool:
    """Whether a text can be written: JSON may hold half a character."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _score(value: Any, where: str) -> float | None:
    if value is None:
        return None
    number = None if isinstance(value, str) else finite_number(value)
    if number is None:
        raise DataError(f"{where} has the score {shortened(value)}; expected a number")
    if is_rounded(value):
        raise DataError(f"{where} has the score {shortened(value)}; {ROUNDED}")
    return number


_MOST_LEVELS = 100  # of objects and lists in each other: deeper ones no service takes


def read_template(source: Any) -> dict[str, Any]:
    """The template of a file, or a dict as it is: a JSON object in which {{query}} is part of a text.

    >>> read_template({"query": {"match": {"title": "{{query}}"}}})
    {'query': {'match': {'title': '{{query}}'}}}
    """
    is_file = isinstance(source, str | os.PathLike)
    where = str(source) if is_file else "the body"
    try:
        template = read_json(source) if is_file else source
    except DataError as error:
        unquoted = f'; write "{PLACEHOLDER}" with its quotes, as part of a text: it is escaped as JSON needs it'
        raise DataError(f"{error}{unquoted if 'is not JSON' in str(error) else ''}") from error
    if not isinstance(template, Mapping):
        raise DataError(f"{where}: expected a JSON object, the body of a search, found {shortened(template)}")
    try:
        has_placeholder = _has_placeholder(template)
        json.dumps(template, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be sent as JSON ({shortened(str(error), 200)[1:-1]})") from error
    if not has_placeholder:
        raise DataError(
            f"{where}: no text in it contains {PLACEHOLDER}, so every query would be the same search; write "
            f'"{PLACEHOLDER}" where the query belongs'
        )
    return dict(template)


def fill_template(template: Any, query: str) -> Any:
    r"""The same data with the query in place of {{query}}; a query cannot leave its text, whatever it holds.

    >>> fill_template({"match": {"title": "{{query}} shoes"}}, 'red "x" {{query}}')
    {'match': {'title': 'red "x" {{query}} shoes'}}
    """
    if isinstance(template, str):
        return query.join(template.split(PLACEHOLDER))
    if isinstance(template, Mapping):
        return {name: fill_template(value, query) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(value, query) for value in template]
    return template


def _has_placeholder(template: Any, levels: int = _MOST_LEVELS) -> bool:
    if isinstance(template, str):
        return PLACEHOLDER in template
    if not isinstance(template, Mapping | list | tuple):
        return False
    if not levels:
        raise RecursionError(f"it is nested in more than {_MOST_LEVELS} levels")
    inner = template.values() if isinstance(template, Mapping) else template
    found = [_has_placeholder(each, levels - 1) for each in inner]  # all of them, for their levels
    return any(found)
