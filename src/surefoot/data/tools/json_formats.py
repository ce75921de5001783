"""OpenSearch's Search Relevance Workbench: lists of judgments, results of experiments, sets of queries.

Judgments are `{"name", "type", "judgmentRatings": [{"query", "ratings": [{"docId", "rating": "1.0"}]}]}`, results
`{"searchConfigurationId", "searchText", "documentIds", "metrics"}`: a configuration is a run. An experiment that
compares pairs holds its results, `{"results": [{"queryText", "snapshots": [{"searchConfigurationId", "docIds"}]}]}`.
All come by themselves, or as a search answers with them, `{"hits": {"hits": [{"_source": …}]}}`; results also as JSON
lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from surefoot.arguments import finite_number
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.tools.tool_file import JsonFile, JsonValue, ToolFile, ToolRowsBuilder, is_objects
from surefoot.errors import shortened

_RATINGS, _CONFIGURATION = "judgmentRatings", "searchConfigurationId"
_BY_MODEL = "LLM_JUDGMENT"  # the type of a list that a language model made


def from_json(file: JsonValue) -> ToolFile | None:
    """What a list of judgments, or the results of an experiment, hold; nothing where the file is neither."""
    entries = _entries(file)
    if any(_is_judgments(entry.value) for entry in entries):
        return _judgments(entries)
    if any(_is_result(entry.value) for entry in entries):
        return _results(entries)
    if any(_is_experiment(entry.value) for entry in entries):
        return _experiment(entries)
    return None


def from_json_lines(path: str, lines: Iterable[tuple[int, Any]]) -> ToolFile | None:
    """What results hold that stand on a line each; nothing where the first line is no result."""
    entries: list[JsonValue] = []
    for number, value in lines:
        entry = _source(JsonValue(value, JsonFile(path, number)))
        if not entries and not _is_result(entry.value):
            return None
        entries.append(entry)
    return _results(entries)


def _entries(file: JsonValue) -> list[JsonValue]:
    """The objects that a file may hold: one, a list of them, or those of a search's answer."""
    if is_objects(file.value):
        return [_source(entry) for entry in file]
    if not isinstance(file.value, Mapping):
        return []
    hits = file.value.get("hits")
    if isinstance(hits, Mapping) and is_objects(hits.get("hits")):
        return [_source(entry) for entry in file["hits"]["hits"]]
    return [_source(file)]


def _source(entry: JsonValue) -> JsonValue:
    """The document itself of what an index answers with."""
    within = isinstance(entry.value, Mapping) and isinstance(entry.value.get("_source"), Mapping)
    return entry["_source"] if within else entry


def _is_judgments(value: Any) -> bool:
    return isinstance(value, Mapping) and is_objects(value.get(_RATINGS))


def _is_result(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get(_CONFIGURATION), str) and "documentIds" in value


def _is_experiment(value: Any) -> bool:
    results: Any = value.get("results") if isinstance(value, Mapping) else None
    return is_objects(results) and any("snapshots" in result for result in results)


def _only(entries: list[JsonValue], what: str) -> JsonValue:
    if len(entries) > 1:
        raise entries[1].error(f"this is a second {what}; keep one of them in the file")
    return entries[0]


def _judgments(entries: list[JsonValue]) -> ToolFile:
    builder = ToolRowsBuilder(("'query'", "'docId'", "'rating'"))
    seen: dict[str, list[tuple[str, str]]] = {}
    listed = _only(entries, "list of judgments")
    for entry in listed[_RATINGS]:
        ratings = entry["ratings"]
        shape = '{"docId": …, "rating": …}'
        pairs = ratings.column(lambda value: (value["docId"], value["rating"]), shape)
        same = sorted((str(document), str(finite_number(rating))) for document, rating in pairs)
        if seen.setdefault(str(entry["query"].scalar()), same) == same and builder.has(entry["query"]):
            continue  # the Workbench lists a query again that is twice in its set, with the same ratings
        builder.add(entry["query"], ratings, [document for document, _ in pairs], [rating for _, rating in pairs])
    name = listed.value.get("modelId") or listed.value.get("name")
    by_model = listed.value.get("type") == _BY_MODEL
    origin = JudgmentOrigin("machine", (str(name),) if name else ()) if by_model else None
    return ToolFile("judgments of the Search Relevance Workbench", "judgments", {None: builder.rows()}, origin=origin)


def _results(entries: list[JsonValue]) -> ToolFile:
    return _runs((entry, entry["searchText"], entry["documentIds"]) for entry in entries)


def _experiment(entries: list[JsonValue]) -> ToolFile:
    results = _only(entries, "experiment")["results"]
    snapshots = ((result, snapshot) for result in results for snapshot in result["snapshots"])
    return _runs((snapshot, result["queryText"], snapshot["docIds"]) for result, snapshot in snapshots)


def _runs(results: Iterable[tuple[JsonValue, JsonValue, JsonValue]]) -> ToolFile:
    """A run for each configuration, from what names it, a query and its documents."""
    runs: dict[str | None, ToolRowsBuilder] = {}
    for named, query, documents in results:
        name = named[_CONFIGURATION].scalar()
        if not isinstance(name, str):
            raise named[_CONFIGURATION].error(f"expected a configuration's id, found {shortened(name)}")
        run = runs.setdefault(name, ToolRowsBuilder(("the query", "the document's id", "rank")))
        run.add(query, documents, documents.items())
    parts = {name: run.rows() for name, run in runs.items()}
    return ToolFile("results of the Search Relevance Workbench", "run", parts)


def judgments_text(ratings: Mapping[str, Mapping[str, str]], name: str) -> str:
    """The body of `PUT _plugins/_search_relevance/judgments`, with the ratings as texts."""
    listed = [
        {"query": query, "ratings": [{"docId": document, "rating": rating} for document, rating in rated.items()]}
        for query, rated in ratings.items()
    ]
    return _text({"name": name, "type": "IMPORT_JUDGMENT", _RATINGS: listed})


def query_set_text(queries: Iterable[str], name: str) -> str:
    """The body of `PUT _plugins/_search_relevance/query_sets`."""
    listed = [{"queryText": query} for query in queries]
    return _text({"name": name, "description": name, "sampling": "manual", "querySetQueries": listed})


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"
