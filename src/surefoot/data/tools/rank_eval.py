"""The ranking evaluation API of Elasticsearch and OpenSearch, `_rank_eval`: its requests and its responses.

A request holds judgments, `{"requests": [{"id", "request", "ratings": [{"_index", "_id", "rating"}]}]}`. A response
holds a run, `{"details": {id: {"hits": [{"hit": {"_index", "_id"}, "rating"}], "unrated_docs"}}}`: the hits in their
order, of which `unrated_docs` repeats those without a rating.
"""

from __future__ import annotations

from collections.abc import Mapping

from surefoot.data.tools.tool_file import JsonValue, ToolFile, ToolRowsBuilder, is_objects


def from_json(file: JsonValue) -> ToolFile | None:
    """What a request or a response holds; nothing where the file is neither."""
    if not isinstance(file.value, Mapping):
        return None
    if is_objects(file.value.get("requests")):
        return _request(file)
    details = file.value.get("details")
    if isinstance(details, Mapping) and any(map(_is_detail, details.values())):
        return _response(file)
    return None


def _is_detail(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("hits"), list)


def _request(file: JsonValue) -> ToolFile:
    builder = ToolRowsBuilder(("'id'", "'_id'", "'rating'"))
    for request in file["requests"]:
        ratings = request["ratings"]
        shape = '{"_index": …, "_id": …, "rating": …}'
        pairs = ratings.column(lambda value: (value["_id"], value["rating"]), shape)
        builder.add(request["id"], ratings, [document for document, _ in pairs], [rating for _, rating in pairs])
    return ToolFile("a _rank_eval request", "judgments", {None: builder.rows()})


def _response(file: JsonValue) -> ToolFile:
    failures = file.value.get("failures")
    if failures:
        query = next(iter(failures)) if isinstance(failures, Mapping) else failures
        raise file.child("failures").error(
            f"the search of {str(query)!r} failed, so this is not the whole run; ask _rank_eval again"
        )
    builder = ToolRowsBuilder(("'id'", "'_id'", "rank"))
    for query, detail in file["details"].members():
        hits = detail["hits"]
        documents = hits.column(lambda value: value["hit"]["_id"], '{"hit": {"_index": …, "_id": …}, …}')
        builder.add(JsonValue(query, file.file, detail.steps), hits, documents)
    return ToolFile("a _rank_eval response", "run", {None: builder.rows()})
