"""An export as a whole: the model in its engine's form, and beside it what a team needs to load, use and check it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.data.writing.all_or_nothing import destination, write_bytes
from surefoot.errors import ArgumentError, shortened, visible
from surefoot.export.check_rows import delicate_rows
from surefoot.export.ensemble import Ensemble
from surefoot.export.exported_model import Written, plain_json
from surefoot.export.float32_thresholds import Singles
from surefoot.export.names import beside, name_of, stem
from surefoot.export.options import ROWS
from surefoot.export.replay import PLUGINS
from surefoot.export.settings import Asked

_LEARNERS = ("lightgbm", "xgboost")  # each has a reader of its own name
_WRITERS = {"elasticsearch": "ltr_plugin", "opensearch": "ltr_plugin"}  # the others have modules of their own names
_LUCENE = ("elasticsearch", "opensearch", "ranklib", "elastic", "solr")
_MOST_ROWS = 100_000
_TOLERANCE = 1e-5  # of a score of 1; engines add up in float32


@dataclass(frozen=True)
class Exported:
    """The files that were written, the model's first, what was assumed, and what must not be overlooked."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]
    cautions: tuple[str, ...] = ()


def read_ensemble(engine: str, text: str, names: Sequence[str]) -> Ensemble:
    """The trees of a learner's own model text, under the user's names of features."""
    if engine not in _LEARNERS:
        raise ArgumentError(f"models of {shortened(engine)} cannot be exported; those of {', '.join(_LEARNERS)} can")
    read: Callable[[str, Sequence[str]], Ensemble] = import_module(f"surefoot.export.readers.{engine}").read
    return read(text, names)


def write_model(trees: Ensemble, asked: Asked) -> Written:
    """The trees in the form that was asked for."""
    home = f"surefoot.export.targets.{_WRITERS.get(asked.to, asked.to)}"
    write: Callable[[Ensemble, Asked], Written] = import_module(home).write
    return write(trees, asked)


def export_model(
    trees: Ensemble,
    predict: Callable[[Singles], Floats],
    path: str | os.PathLike[str],
    *,
    to: Any,
    missing: Any,
    name: Any = None,
    engine_version: Any = None,
    positive: bool = False,
    rows: Any = ROWS,
    notes: Sequence[str] = (),
) -> Exported:
    """Write a model for an engine, and the files beside it; `predict` scores rows with the learner itself.

    `notes` are what is to be said of the model besides.
    """
    home = Path(path)
    asked = Asked.of(to, missing, name_of(home) if name is None else name, engine_version)
    count = integer("rows", rows, 0, _MOST_ROWS)
    above_zero = trees.lifted()
    lifted = above_zero if positive else trees
    lift = lifted.constant - trees.constant
    written = write_model(lifted, asked)
    said, cautions = [*written.notes, *notes], list[str]()
    if lift:
        said.append(f"A last tree adds {lift!r} to every score, so that none is below 0, which Lucene forbids.")
    elif above_zero.constant > trees.constant and asked.to in _LUCENE:
        below = trees.constant - above_zero.constant
        cautions.append(
            f"SCORES CAN BE BELOW 0 (down to {below:.4g}), which Lucene forbids: export with --positive "
            "(positive=True), which adds a constant to all of them."
        )
    contents = dict(written.beside)
    if count:
        contents["rows.json"] = _rows(trees, predict, written, asked, count, lift)
        contents["replay.py"] = _replay_script()
    contents["md"] = _guide(home, asked, written, [*cautions, *said], bool(count)).encode()
    files = {path: contents[ending] for ending, path in beside(home, asked.to).items() if ending in contents}
    files[home] = written.model  # last: where it stands, all of them do
    for file in files:
        destination(file)  # one that cannot be written shows before any is
    for file, content in files.items():
        write_bytes(file, content)
    return Exported((home, *list(files)[:-1]), tuple(said), tuple(cautions))


def _rows(
    trees: Ensemble, predict: Callable[[Singles], Floats], written: Written, asked: Asked, count: int, lift: float
) -> bytes:
    matrix = delicate_rows(trees, written.usable, asked, count)
    seen = np.where(np.isnan(matrix), np.float32(0), matrix) if asked.missing == "zero" else matrix
    scores = predict(seen) + lift
    return plain_json(
        {
            "schema": "surefoot/rows/1",
            "target": asked.to,
            "model": asked.name,
            "tolerance": _TOLERANCE * max(1.0, float(np.abs(scores).max())),
            "features": list(trees.names),
            "rows": [[None if np.isnan(value) else float(value) for value in row] for row in matrix],
            "scores": scores.tolist(),
        }
    )


def _guide(home: Path, asked: Asked, written: Written, notes: Sequence[str], replayed: bool) -> str:
    named, file = visible(shlex.quote(stem(home))), visible(shlex.quote(home.name))
    steps = written.steps.replace("STEM", named).replace("FILE", file)
    live = f"""
Or let it ask an engine that it may use for a moment; features below 0, which Lucene has not, are left out:

    python {named}.replay.py {named}.rows.json --url "$URL"
"""
    replay = f"""
## Check it

`{named}.rows.json` holds features, `null` where one is not set, and the scores that the engine must give.
Score them there, put the scores into a file, one a line in the same order, and compare:

    python {named}.replay.py {named}.rows.json SCORES
{live if asked.to in PLUGINS else ""}"""
    return f"""\
# {visible(home.name)}, for {asked.to}

{chr(10).join("- " + visible(note) for note in notes)}
- It was held against the rules of the engine's source code, and not run on a cluster: check it there.

## Load and use it

{steps}{replay if replayed else ""}"""


def _replay_script() -> bytes:
    return resources("surefoot.export").joinpath("replay.py").read_bytes()
