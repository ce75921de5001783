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

from surefoot.data.hashes import seal
from surefoot.data.reading.saved_folders import describing_file
from surefoot.data.writing.all_or_nothing import ensure_folder, write_text
from surefoot.decide.control.certificate import Certificate
from surefoot.decide.control.file_names import CONTROLLER, RANKER
from surefoot.decide.control.sequential import SequentialThresholds
from surefoot.decide.control.settings import SETTINGS
from surefoot.decide.evidence.sealed_files import read_sealed
from surefoot.errors import ArgumentError, DataError, expecting, shortened
from surefoot.learn.model_files import DETAILS_FILE_NAME, model_files
from surefoot.report.plain_json import to_json

if TYPE_CHECKING:
    from surefoot.decide.control.controller import RiskController

SCHEMA = "surefoot/controller/2"


def save(controller: RiskController, folder: str | os.PathLike[str]) -> None:
    """Write the ranker's files, then the JSON that names them: until then, what is there does not load as a new one."""
    certificate = controller._certificate
    if certificate is None:
        raise ArgumentError("nothing is proved yet, so there is nothing to save; call calibrate or update first")
    scorer = {"name": controller.scorer.name, "learned": controller.scorer.to_dict()}
    with ensure_folder(folder) as home:
        hashes: dict[str, str] | None = None
        if controller._ranker is not None:
            controller._ranker.save(home / RANKER)
            hashes = _hashes(home)
        data = {
            "schema": SCHEMA,
            "settings": controller.settings.to_dict(),
            "candidate": controller.candidate_name,
            "baseline": controller.baseline_name,
            "baseline_source": controller.baseline_source,
            "ranker": hashes,
            "scorer": scorer,
            "scorer_queries": sorted(controller._scorer_queries),
            "thresholds": None if controller.thresholds_ is None else controller.thresholds_.tolist(),
            "sequential": None if controller.sequential_ is None else controller.sequential_.to_dict(),
            "certificate": certificate.to_dict(),
        }
        write_text(home / CONTROLLER, to_json(seal(data)), durable=True)


def load(kind: type[RiskController], folder: str | os.PathLike[str]) -> RiskController:
    """Read it back, and trust nothing."""
    path = describing_file(folder, CONTROLLER, "give the folder that a controller was saved to")
    data = read_sealed(path, SCHEMA, "does not describe a controller", "save it again")
    try:
        with expecting("a controller", path, "save it again"):
            return _restore(kind, data, Path(folder))
    except DataError as error:
        raise error if str(error).startswith(str(folder)) else DataError.at(path, None, str(error)) from error


def _restore(kind: type[RiskController], data: dict[str, Any], home: Path) -> RiskController:
    settings = {name: data["settings"][name] for name in SETTINGS} | {"scorer": data["scorer"]["name"]}
    if data["ranker"] is None:
        controller = kind(None, **settings)
    else:
        from surefoot.neural.loading import load_ranker

        if _hashes(home) != data["ranker"]:
            raise DataError.at(home / RANKER, None, "is not the ranker that was certified; save the controller again")
        controller = kind(load_ranker(home / RANKER), baseline=data["baseline"], **settings)
    controller.candidate_name, controller.baseline_name = str(data["candidate"]), str(data["baseline"])
    controller.baseline_source = None if data["baseline_source"] is None else str(data["baseline_source"])
    controller.scorer.restore(data["scorer"]["learned"])
    controller._scorer_queries = frozenset(map(str, data["scorer_queries"]))
    if data["thresholds"] is not None:
        controller.thresholds_ = np.array(data["thresholds"], dtype=np.float64)
        if controller.thresholds_.ndim != 1 or not np.isfinite(controller.thresholds_).all():
            raise DataError("has thresholds that are not finite numbers")
    controller._certificate = Certificate.from_dict(data["certificate"])
    threshold = controller._certificate["threshold"]
    if threshold is not None and (type(threshold) not in (int, float) or not np.isfinite(threshold)):
        raise DataError(f"has a threshold of {shortened(threshold)}")
    controller.threshold_ = threshold
    if data["sequential"] is not None:
        if controller.thresholds_ is None:
            raise DataError("works in batches, but has no thresholds")
        controller.sequential_ = SequentialThresholds.from_dict(
            data["sequential"], controller.settings, controller.thresholds_
        )
    return controller


def _hashes(home: Path) -> dict[str, str]:
    hashes = {}
    for file in map(Path, model_files(home / RANKER)):
        if file.name != DETAILS_FILE_NAME and not file.exists():
            continue  # the text of the engine that was not used; a hash that is missed shows when they are compared
        try:
            hashes[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            raise DataError.at(file, None, f"cannot be read ({error})") from error
    return hashes
