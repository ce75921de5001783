"""A controller on disk: one JSON, and the files of its Ranker where it has one; nothing in them is ever executed.

The JSON bears a hash of all it holds, and the hashes of the ranker's files: what was changed by hand, or does not
belong together, is refused when it is loaded.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.data.hashes import check_seal, seal
from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import ensure_folder, write_text
from surefoot.decide.control.certificate import Certificate
from surefoot.decide.control.file_names import CONTROLLER, RANKER
from surefoot.decide.control.sequential import Opening
from surefoot.decide.control.settings import SETTINGS
from surefoot.decide.evidence.unanswered import Unanswered
from surefoot.errors import ArgumentError, DataError, expecting, shortened
from surefoot.learn.model_files import DETAILS, model_files
from surefoot.report.plain_json import to_json

if TYPE_CHECKING:
    from surefoot.decide.control.controller import RiskController

SCHEMA = "surefoot/controller/1"


def save(controller: RiskController, folder: str | os.PathLike[str]) -> None:
    """Write the ranker's files, then the JSON that names them: until then, what is there does not load as a new one."""
    certificate = controller._certificate
    if certificate is None:
        raise ArgumentError("nothing is proved yet, so nothing is worth saving; call calibrate, or update")
    gate = {"name": controller.gate.name, "learned": controller.gate.to_dict()}
    with ensure_folder(folder) as home:
        hashes: dict[str, str] | None = None
        if controller._ranker is not None:
            controller._ranker.save(home / RANKER)
            hashes = _hashes(home)
        data = {
            "schema": SCHEMA,
            "settings": controller.asked.to_dict(),
            "candidate": controller.candidate_name,
            "baseline": controller.baseline_name,
            "baseline_source": controller.baseline_source,
            "ranker": hashes,
            "gate": gate,
            "gate_queries": sorted(controller._gate_queries),
            "thresholds": None if controller.thresholds_ is None else controller.thresholds_.tolist(),
            "opening": None if controller.opening_ is None else controller.opening_.to_dict(),
            "certificate": certificate.to_dict(),
        }
        write_text(home / CONTROLLER, to_json(seal(data)), durable=True)


def load(kind: type[RiskController], folder: str | os.PathLike[str]) -> RiskController:
    """Read it back, and trust nothing."""
    path = Path(folder) / CONTROLLER
    if not Path(folder).is_dir():
        raise DataError.at(folder, None, "is not a folder; give the one that a controller was saved to")
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise DataError.at(path, None, f"describes no controller; expected JSON with the schema {SCHEMA!r}")
    check_seal(data, path)
    try:
        with expecting("a controller", path, "save it again"):
            return _restored(kind, data, Path(folder))
    except DataError as error:
        raise error if str(error).startswith(str(folder)) else DataError.at(path, None, str(error)) from error


def _restored(kind: type[RiskController], data: dict[str, Any], home: Path) -> RiskController:
    # In version 0.1 every judged query counted.
    given = {"unanswered": Unanswered.traffic} | data["settings"]
    settings = {name: given[name] for name in SETTINGS} | {"gate": data["gate"]["name"]}
    if data["ranker"] is None:
        found = kind(None, None, **settings)
    else:
        from surefoot.learn.ranker import Ranker

        if _hashes(home) != data["ranker"]:
            raise DataError.at(home / RANKER, None, "is not the ranker that was certified; save the controller again")
        found = kind(Ranker.load(home / RANKER), data["baseline"], **settings)
    found.candidate_name, found.baseline_name = str(data["candidate"]), str(data["baseline"])
    found.baseline_source = None if data["baseline_source"] is None else str(data["baseline_source"])
    found.gate.restore(data["gate"]["learned"])
    found._gate_queries = frozenset(map(str, data["gate_queries"]))
    if data["thresholds"] is not None:
        found.thresholds_ = np.array(data["thresholds"], dtype=np.float64)
        if found.thresholds_.ndim != 1 or not np.isfinite(found.thresholds_).all():
            raise DataError("has thresholds that are not finite numbers")
    found._certificate = Certificate.from_dict(data["certificate"])
    threshold = found._certificate["threshold"]
    if threshold is not None and (type(threshold) not in (int, float) or not np.isfinite(threshold)):
        raise DataError(f"has a threshold of {shortened(threshold)}")
    found.threshold_ = threshold
    if data["opening"] is not None:
        if found.thresholds_ is None:
            raise DataError("opens batch by batch, and has no thresholds")
        found.opening_ = Opening.from_dict(data["opening"], found.asked, found.thresholds_)
    return found


def _hashes(home: Path) -> dict[str, str]:
    found = {}
    for file in map(Path, model_files(home / RANKER)):
        if file.name != DETAILS and not file.exists():
            continue  # the text of the engine that was not used; a hash that is missed shows when they are compared
        try:
            found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            raise DataError.at(file, None, f"cannot be read ({error})") from error
    return found
