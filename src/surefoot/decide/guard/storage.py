"""A guard on disk: its JSON, its certificate, and the files of its Ranker where it has one; nothing is ever executed.

The JSON bears a hash of all it holds, and those of the certificate and of the ranker's files: what was changed by
hand, or does not belong together, is refused when it is loaded.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.data.hashes import read_sealed, seal
from surefoot.data.reading.folders import describing_file
from surefoot.data.writing.all_or_nothing import ensure_folder, write_text
from surefoot.decide.guard.calibration import SETTINGS
from surefoot.decide.guard.certificate import Certificate
from surefoot.decide.guard.file_names import CERTIFICATE, GUARD, RANKER
from surefoot.decide.guard.sequential import SequentialThresholds
from surefoot.errors import ArgumentError, DataError, expecting, shortened
from surefoot.learn.model_files import DETAILS_FILE_NAME, model_files
from surefoot.report.escapes import to_json

if TYPE_CHECKING:
    from surefoot.decide.guard.guard import RiskGuard

SCHEMA = "surefoot/guard/1"


def save(guard: RiskGuard, folder: str | os.PathLike[str]) -> None:
    """Write the ranker's files and the certificate, then the JSON that names them: until then it is not a new guard."""
    certificate = guard._certificate
    if certificate is None:
        raise ArgumentError("nothing is proved yet, so there is nothing to save; call calibrate or update first")
    scorer = {"name": guard.scorer.name, "learned": guard.scorer.to_dict()}
    with ensure_folder(folder) as home:
        hashes: dict[str, str] | None = None
        if guard._ranker is not None:
            guard._ranker.save(home / RANKER)
            hashes = _hashes(home)
        data = {
            "schema": SCHEMA,
            "settings": guard.settings.to_dict(),
            "candidate": guard.candidate_name,
            "baseline": guard.baseline_name,
            "baseline_source": guard.baseline_source,
            "ranker": hashes,
            "scorer": scorer,
            "scorer_queries": sorted(guard._scorer_queries),
            "thresholds": None if guard._thresholds is None else guard._thresholds.tolist(),
            "sequential": None if guard._sequential is None else guard._sequential.to_dict(),
            "certificate": certificate["sha256"],
        }
        write_text(home / CERTIFICATE, certificate.to_json(), durable=True)
        write_text(home / GUARD, to_json(seal(data)), durable=True)


def load(kind: type[RiskGuard], folder: str | os.PathLike[str]) -> RiskGuard:
    """Read it back, and trust nothing."""
    path = describing_file(folder, GUARD, "give the folder that a guard was saved to")
    data = read_sealed(path, SCHEMA, "does not describe a guard", "save it again")
    try:
        with expecting("a guard", path, "save it again"):
            return _restore(kind, data, Path(folder))
    except DataError as error:
        raise error if str(error).startswith(str(folder)) else DataError.at(path, None, str(error)) from error


def _restore(kind: type[RiskGuard], data: dict[str, Any], home: Path) -> RiskGuard:
    settings = {name: data["settings"][name] for name in SETTINGS} | {"scorer": data["scorer"]["name"]}
    if data["ranker"] is None:
        guard = kind(None, None, **settings)
    else:
        from surefoot.neural.loading import load_ranker

        if _hashes(home) != data["ranker"]:
            raise DataError.at(home / RANKER, None, "is not the ranker that was certified; save the guard again")
        guard = kind(load_ranker(home / RANKER), data["baseline"], **settings)
    guard.candidate_name, guard.baseline_name = str(data["candidate"]), str(data["baseline"])
    guard.baseline_source = None if data["baseline_source"] is None else str(data["baseline_source"])
    guard.scorer.restore(data["scorer"]["learned"])
    guard._scorer_queries = frozenset(map(str, data["scorer_queries"]))
    if data["thresholds"] is not None:
        guard._thresholds = np.array(data["thresholds"], dtype=np.float64)
        if guard._thresholds.ndim != 1 or not np.isfinite(guard._thresholds).all():
            raise DataError("has thresholds that are not finite numbers")
    guard._certificate = Certificate.read(home / CERTIFICATE)
    if guard._certificate["sha256"] != data["certificate"]:
        raise DataError.at(home / CERTIFICATE, None, "is not the certificate of this guard; save the guard again")
    threshold = guard._certificate["threshold"]
    if threshold is not None and (type(threshold) not in (int, float) or not np.isfinite(threshold)):
        raise DataError(f"has a threshold of {shortened(threshold)}")
    guard.threshold_ = threshold
    if data["sequential"] is not None:
        if guard._thresholds is None:
            raise DataError("works in batches, but has no thresholds")
        guard._sequential = SequentialThresholds.from_dict(data["sequential"], guard.settings, guard._thresholds)
    return guard


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
