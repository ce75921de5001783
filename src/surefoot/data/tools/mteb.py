"""MTEB's saved predictions, `mteb.evaluate(…, prediction_folder=…)`: what one model retrieved for one task.

`{"mteb_model_meta": {"model_name", "revision"}, subset: {split: {query: {document: score}}}}`, in a file
`TASK_predictions.json`. A subset with a split is a run.
"""

from __future__ import annotations

from collections.abc import Mapping

from surefoot.data.tools.tool_file import JsonValue, ToolFile, ToolRows

_META = "mteb_model_meta"


def from_json(file: JsonValue) -> ToolFile | None:
    """The runs of a file of predictions; nothing where the file is none."""
    if not isinstance(file.value, Mapping) or _META not in file.value:
        return None
    model = str(file[_META]["model_name"].scalar())
    runs = {
        (subset, split): _rows(predictions)
        for subset, splits in file.members()
        if subset != _META
        for split, predictions in splits.members()
    }
    if not runs:
        raise file.error("there are no predictions, only the model's name; run mteb.evaluate again")
    if len(runs) == 1:
        return ToolFile("MTEB's predictions", "run", {model: next(iter(runs.values()))}, names_system=True)
    parts: dict[str | None, ToolRows] = {f"{model} {subset}/{split}": rows for (subset, split), rows in runs.items()}
    return ToolFile("MTEB's predictions", "run", parts, names_system=True)


def _rows(predictions: JsonValue) -> ToolRows:
    queries: list[str] = []
    documents: list[str] = []
    numbers: list[object] = []
    for query, results in predictions.members():
        for document, score in results.members():
            queries.append(query)
            documents.append(document)
            numbers.append(score.value)

    def where(row: int) -> str:
        return predictions.child(queries[row]).child(documents[row]).location()

    return ToolRows(("the query", "the document", "the score"), queries, documents, numbers, where)
