"""A re-ranker of a study as a folder of its own: the model, what its features are, and the state of the log.

model.txt, ranker.json …   the model, as `Ranker.save` writes it: `rank` and `export` take the folder
personal.json              which method it is and why, its features in words, and how the log counts
clicks.duckdb              what was shown and clicked, which grows while the model is served
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.clicks.events import LogFacts
from surefoot.clicks.feature_pipeline import FACTS, RULES, FeatureTable
from surefoot.clicks.layouts.layout import ReadingSettings
from surefoot.clicks.layouts.reading import find_layout
from surefoot.clicks.served.event_store import EventStore
from surefoot.data.reading.files import read_json
from surefoot.data.reading.folders import describing_file
from surefoot.data.writing.all_or_nothing import destination_folder, new_folder, write_text
from surefoot.errors import ArgumentError, DataError, SurefootWarning, expecting, shortened
from surefoot.learn.ranker import Ranker
from surefoot.personal.lists import check_known
from surefoot.personal.options import DETAILS, STATE
from surefoot.personal.recommendation import recommendation
from surefoot.risk.assessment_data import Json

SCHEMA = "surefoot/personal-ranker/1"


def check_new(folder: str | os.PathLike[str], *, last: bool = True) -> Path:
    """The folder that a model may be saved to; `last` is whether a session's last click satisfies."""
    target = destination_folder(folder)
    if target.exists():
        raise DataError.at(
            folder,
            None,
            "is there already; choose a new folder for the model. --force replaces none: its events would be lost",
        )
    check_last(last)
    return target


def check_last(last: bool) -> None:
    """Refuse what cannot be known while a session goes on."""
    if not last:
        raise ArgumentError(
            "with --no-last it is known only after a session's end whether its last click satisfied, which a service "
            "cannot know; make the study without --no-last to save a model of it"
        )


def save_ranker(
    data: Json, study: str | os.PathLike[str], folder: str | os.PathLike[str], method: str | None = None
) -> None:
    """Save the recommended model of a study, or that of a method's name in its table, with the state of its log."""
    home, target = Path(study), check_new(folder)
    name, why = _chosen(data, method)
    model = home / data["models"][name]
    if not model.is_dir():
        raise DataError.at(model, None, "is not there; give the folder of the study that this result is of")
    table = FeatureTable.read(home)
    facts = log_facts(home, table)
    details = {
        "schema": SCHEMA, "surefoot": __version__, "model": name, "why": why, "measure": data["measure"],
        "labels": data["labels"],
        "features": [{"name": feature, "meaning": table.meanings[feature]} for feature in table.names],
        "log": asdict(facts), "counts": table.counts,
    }  # fmt: skip
    ranker = Ranker.load(model)
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(target) as temporary:
        ranker.save(temporary)
        EventStore.create(temporary / STATE, home, facts, target / STATE)
        write_text(temporary / DETAILS, json.dumps(details, indent=2, ensure_ascii=False) + "\n", durable=True)


def read_details(folder: Path) -> tuple[dict[str, Any], LogFacts]:
    """What was saved beside the model, and how its log counts."""
    path = describing_file(folder, DETAILS, "give the one that `personalize --save` wrote")
    details = read_json(path)
    if not isinstance(details, dict) or details.get("schema") != SCHEMA:
        found = details.get("schema") if isinstance(details, dict) else details
        raise DataError.at(path, None, f"has schema {shortened(found)}; this version reads {SCHEMA!r}")
    with expecting("a personal ranker", path, "save it again"):
        log = details["log"]
        facts = LogFacts(**(log | {"thresholds": tuple(float(one) for one in log["thresholds"])}))
        [(feature["name"], feature["meaning"]) for feature in details["features"]]
        details["model"], details["why"]
    return details, facts


def _chosen(data: Json, method: str | None) -> tuple[str, str]:
    """The name of the model to save, and why it is this one."""
    headline = recommendation(data).headline
    named = {row["label"]: row["name"] for row in data["chosen"]} | {row["name"]: row["name"] for row in data["rows"]}
    if method is not None:
        saved = {key: name for key, name in named.items() if name in data["models"]}
        check_known("is no model of method", method, saved)
        return saved[method], f"It was asked for by name. {headline}."
    choice = data["recommendation"]
    if choice["choice"] == "keep":
        raise ArgumentError(
            f"the study says not to serve a model, so none was saved ({headline}); to save one nevertheless, "
            "name its method (--method)"
        )
    if choice["choice"] == "unclear":
        warnings.warn(
            f"the saved model may be no better than the shown order. {headline}", SurefootWarning, stacklevel=4
        )
    return choice["name"], f"{headline}. {choice['rule']}"


def log_facts(study: Path, table: FeatureTable) -> LogFacts:
    """How the log of a study counts."""
    stored = read_json(study / FACTS)
    if stored.get("rules") != RULES:
        raise DataError.at(
            study,
            None,
            "contains a table of another version of surefoot, whose rules of counting a served model cannot follow; "
            "make the study again in a new folder to save a model of it",
        )
    remedy = "make it again in a new folder"
    with expecting("a study", study / FACTS, remedy):
        reading, satisfaction = stored["reading"], stored["satisfaction"]
        last = satisfaction["last"]
    check_last(last)
    with expecting("a study", study / FACTS, remedy):
        layout = find_layout(reading["layout"])
        seconds = layout.seconds(
            ReadingSettings(layout.name, reading["seconds"], reading["clock"], tuple(reading["actions"]))
        )
        return LogFacts(
            shared_clock=table.clock, seconds=seconds, linked=layout.linked, users=table.users,
            domains="session_domain_shown" in table.names, terms="term_overlap" in table.names,
            scores="score" in table.names, thresholds=tuple(each / seconds for each in satisfaction["thresholds"]),
        )  # fmt: skip
