"""Tools' JSON: OpenSearch's Search Relevance Workbench, `_rank_eval` of both engines, and MTEB's predictions.

The Workbench has lists of judgments, `{"name", "type", "judgmentRatings": [{"query", "ratings": [{"docId", "rating":
"1.0"}]}]}`, sets of queries, and results, `{"searchConfigurationId", "searchText", "documentIds", "metrics"}`: a
configuration is a run. An experiment that compares pairs holds its results, `{"results": [{"queryText", "snapshots":
[{"searchConfigurationId", "docIds"}]}]}`.
All come by themselves, or as a search answers with them, `{"hits": {"hits": [{"_source": …}]}}`; results also as JSON
lines.

A request of the ranking evaluation API of Elasticsearch and OpenSearch holds judgments, `{"requests": [{"id",
"request", "ratings": [{"_index", "_id", "rating"}]}]}`. A response holds a run, `{"details": {id: {"hits": [{"hit":
{"_index", "_id"}, "rating"}], "unrated_docs"}}}`: the hits in their order, of which `unrated_docs` repeats those
without a rating.

MTEB's saved predictions, `mteb.evaluate(…, prediction_folder=…)`, are what one model retrieved for one task:
`{"mteb_model_meta": {"model_name", "revision"}, subset: {split: {query: {document: score}}}}`, in a file
`TASK_predictions.json`. A subset with a split is a run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from surefoot.arguments import finite_number
from surefoot.data.reading.frames import checked_columns
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.tools.tool_file import Content, JsonValue, Rows, RowsBuilder, RowsByName, is_objects
from surefoot.errors import shortened

_RATINGS, _CONFIGURATION = "judgmentRatings", "searchConfigurationId"
_META = "mteb_model_meta"
_BY_MODEL = "LLM_JUDGMENT"  # the type of a list that a language model made


def is_workbench_judgments(content: Content) -> bool:
    """Whether a list of judgments is in a file."""
    return any(_is_judgments(entry.value) for entry in _entries(content.json))


def is_workbench_results(content: Content) -> bool:
    """Whether results of an experiment are in a file, or an experiment with its results."""
    return any(_is_result(entry.value) or _is_experiment(entry.value) for entry in _entries(content.json))


def is_workbench_result(content: Content) -> bool:
    """Whether the first of JSON lines is a result."""
    return _is_result(_source(content.json).value)


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


def workbench_judgments(content: Content) -> RowsByName:
    """What a list of judgments holds."""
    builder = RowsBuilder(("'query'", "'docId'", "'rating'"))
    seen: dict[str, list[tuple[str, str]]] = {}
    listed = _only(_entries(content.json), "list of judgments")
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
    return {None: builder.rows(JudgmentOrigin("machine", (str(name),) if name else ()) if by_model else None)}


def workbench_results(content: Content) -> RowsByName:
    """A run for each configuration, from results that are alone, in a list or on a line each, or in an experiment."""
    lines = [_source(JsonValue(value, content.path, number)) for number, value in content.lines]
    entries = lines or _entries(content.json)
    if lines or any(_is_result(entry.value) for entry in entries):
        return _runs((entry, entry["searchText"], entry["documentIds"]) for entry in entries)
    results = _only(entries, "experiment")["results"]
    snapshots = ((result, snapshot) for result in results for snapshot in result["snapshots"])
    return _runs((snapshot, result["queryText"], snapshot["docIds"]) for result, snapshot in snapshots)


def _runs(results: Iterable[tuple[JsonValue, JsonValue, JsonValue]]) -> RowsByName:
    """A run for each configuration, from what names it, a query and its documents."""
    runs: dict[str | None, RowsBuilder] = {}
    for named, query, documents in results:
        name = named[_CONFIGURATION].scalar()
        if not isinstance(name, str):
            raise named[_CONFIGURATION].error(f"expected a configuration's id, found {shortened(name)}")
        run = runs.setdefault(name, RowsBuilder(("the query", "the document's id", "rank")))
        run.add(query, documents, documents.items())
    return {name: run.rows() for name, run in runs.items()}


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


def is_rank_eval_request(content: Content) -> bool:
    """Whether it is a request."""
    return isinstance(content.value, Mapping) and is_objects(content.value.get("requests"))


def rank_eval_request(content: Content) -> RowsByName:
    """The judgments of a request."""
    builder = RowsBuilder(("'id'", "'_id'", "'rating'"))
    for request in content.json["requests"]:
        ratings = request["ratings"]
        shape = '{"_index": …, "_id": …, "rating": …}'
        pairs = ratings.column(lambda value: (value["_id"], value["rating"]), shape)
        builder.add(request["id"], ratings, [document for document, _ in pairs], [rating for _, rating in pairs])
    return {None: builder.rows()}


def is_rank_eval_response(content: Content) -> bool:
    """Whether it is a response."""
    details = content.value.get("details") if isinstance(content.value, Mapping) else None
    return isinstance(details, Mapping) and any(
        isinstance(detail, Mapping) and isinstance(detail.get("hits"), list) for detail in details.values()
    )


def rank_eval_response(content: Content) -> RowsByName:
    """The run of a response."""
    file = content.json
    failures = file.value.get("failures")
    if failures:
        query = next(iter(failures)) if isinstance(failures, Mapping) else failures
        raise file.child("failures").error(
            f"the search of {str(query)!r} failed, so this is not the whole run; ask _rank_eval again"
        )
    builder = RowsBuilder(("'id'", "'_id'", "rank"))
    for query, detail in file["details"].members():
        hits = detail["hits"]
        documents = hits.column(lambda value: value["hit"]["_id"], '{"hit": {"_index": …, "_id": …}, …}')
        builder.add(replace(detail, value=query), hits, documents)
    return {None: builder.rows()}


def is_mteb(content: Content) -> bool:
    """Whether it is a file of predictions."""
    return isinstance(content.value, Mapping) and _META in content.value


def mteb(content: Content) -> RowsByName:
    """The runs of a file of predictions, which names its model."""
    file = content.json
    model = str(file[_META]["model_name"].scalar())
    runs = {
        f"{model} {subset}/{split}": _predicted(predictions)
        for subset, splits in file.members()
        if subset != _META
        for split, predictions in splits.members()
    }
    if not runs:
        raise file.error("there are no predictions, only the model's name; run mteb.evaluate again")
    named = runs if len(runs) > 1 else {model: next(iter(runs.values()))}
    return {name: replace(rows, system=name) for name, rows in named.items()}


def _predicted(predictions: JsonValue) -> Rows:
    pairs = [(query, document, score) for query, found in predictions.members() for document, score in found.members()]

    def where(row: int) -> str:
        query, document, _ = pairs[row]
        return predictions.child(query).child(document).location()

    names = ("the query", "the document", "the score")
    columns = ([pair[0] for pair in pairs], [pair[1] for pair in pairs], [pair[2].value for pair in pairs])
    return Rows(checked_columns(*columns, names, where), where)
