"""Results that have means over queries only: no risk can be told from them, so they are refused, with what to save."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from surefoot.data.per_query.tables import SYSTEMS
from surefoot.errors import DataError, shortened

_BEIR = {"ndcg", "map", "recall", "precision", "mrr", "recall_cap", "hole"}
_BEIR_MEAN = re.compile(r"\w+@[0-9]+")
_MEANS = "with one mean per measure. Risk needs the results of each query"
_SYSTEM_HEADS = (*SYSTEMS, "model_names")  # the last is ranx'


def means_in_json(content: Any) -> str | None:
    """Which program's means a JSON file holds, and what to save in their place; nothing where it holds none.

    >>> means_in_json({"ndcg": {"NDCG@10": 0.31}, "map": {"MAP@10": 0.2}}).partition(",")[0]
    'this is what save_results of BEIR writes'
    """
    if not isinstance(content, Mapping):
        return None
    if {"stat_test", "metrics", "model_names"} <= content.keys():
        return (
            f"this is a saved report of ranx, {_MEANS}: save the runs (run.save('new.json')) and give them with the "
            "judgments; or in Python give the runs after ranx.evaluate, which keep the results of each query"
        )
    if {"task_name", "scores"} <= content.keys():
        return (
            f"this is a result of MTEB, {_MEANS}: run mteb.evaluate(…, prediction_folder='predictions') and give the "
            "judgments and the files …_predictions.json"
        )
    if content and set(content) <= _BEIR and all(map(_is_beir_mean, content.values())):
        return (
            f"this is what save_results of BEIR writes, {_MEANS}: save the run (beir.util.save_runfile, or the results "
            "as JSON) and give it with the judgments"
        )
    return None


def _is_beir_mean(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(_BEIR_MEAN.fullmatch(str(name)) for name in value)


def refuse_table_of_means(names: Sequence[str], where: str) -> None:
    """Refuse a table with a row per system, such as `pt.Experiment` gives without `perquery=True`."""
    if names and names[0] in _SYSTEM_HEADS:
        raise DataError(
            f"{where}: the first column is {shortened(names[0])}, so each row seems to be a system {_MEANS}: with "
            "PyTerrier, pt.Experiment(…, perquery=True). If the first column has the queries, call it 'query'"
        )
