"""A complete export: the model in its target's form, and beside it what a team needs to load, use and check it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Float32s, Floats
from surefoot.data.writing.all_or_nothing import destination, ensure_folder, write_bytes
from surefoot.errors import ArgumentError, shortened, visible
from surefoot.export.ensemble import LARGEST_FLOAT32, Ensemble, thresholds_at_most
from surefoot.export.exported_model import ExportedModel, plain_json
from surefoot.export.replay import PLUGINS
from surefoot.export.settings import ROWS, STEM, ExportSettings, export_files, model_name

_LEARNERS = ("lightgbm", "xgboost")  # each has a reader of its own name
_MOST_ROWS = 100_000
_TOLERANCE = 1e-5  # of a score of 1; targets add up in float32


@dataclass(frozen=True)
class ExportResult:
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


def write_model(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """The trees in the target's form, with just the files beside it that the table of targets lists."""
    target = settings.target
    module = import_module(f"surefoot.export.targets.{target.writer}")
    write: Callable[[Ensemble, ExportSettings], ExportedModel] = module.write
    model = write(trees, settings)
    if set(model.companions) != set(target.companions):
        raise ValueError(
            f"{module.__name__} writes {sorted(model.companions)}; export/targets/table.py lists "
            f"{sorted(target.companions)} for {target.name}"
        )
    return model


def export_model(
    trees: Ensemble,
    predict: Callable[[Float32s], Floats],
    folder: str | os.PathLike[str],
    *,
    to: Any,
    missing: Any,
    name: Any = None,
    target_version: Any = None,
    keep_negative: bool = False,
    rows: Any = ROWS,
    notes: Sequence[str] = (),
) -> ExportResult:
    """Write a model for a target, and the files beside it; `predict` scores rows with the learner itself.

    `notes` are further notes on the model.
    """
    settings = ExportSettings.parse(to, missing, model_name(folder) if name is None else name, target_version)
    count = integer("rows", rows, 0, _MOST_ROWS)
    raised = not keep_negative and not settings.target.negative_scores
    above_zero = trees.raised_above_zero()
    exported = above_zero if raised else trees
    shift = exported.constant - trees.constant
    model = write_model(exported, settings)
    all_notes, cautions = [*model.notes, *notes], list[str]()
    if shift:
        all_notes.append(f"A last tree adds {shift!r} to every score, so that none is below 0, which Lucene forbids.")
    elif not raised and above_zero.constant > trees.constant and not settings.target.negative_scores:
        below = trees.constant - above_zero.constant
        cautions.append(
            f"scores can be below 0 (down to {below:.4g}), and {settings.title} refuses those; leave out "
            "--keep-negative (keep_negative=True), and a constant is added to all of them"
        )
    rows_to_check = make_check_rows(trees, model.exact_thresholds, settings, count) if count else None
    shifted = lambda X: predict(X) + shift  # noqa: E731
    return write_package(folder, settings, model, trees.names, rows_to_check, shifted, all_notes, cautions)


def write_package(
    folder: str | os.PathLike[str],
    settings: ExportSettings,
    model: ExportedModel,
    names: Sequence[str],
    rows: Float32s | None,
    predict: Callable[[Float32s], Floats],
    notes: Sequence[str],
    cautions: Sequence[str] = (),
    ending: str | None = None,
) -> ExportResult:
    """Write a model in its target's form, and the files beside it: rows to check with their scores, and the guide."""
    files = export_files(settings.target.name, ending)
    contents = dict(model.companions)
    if rows is not None:
        contents["rows.json"] = _rows_json(names, rows, predict, settings)
        contents["replay.py"] = _replay_script()
    contents["md"] = _guide(files[""], settings, model, [*cautions, *notes], rows is not None).encode()
    contents[""] = model.content
    home = Path(folder)
    with ensure_folder(home):
        paths = {part: home / file for part, file in files.items() if part in contents}
        for path in paths.values():
            destination(path)  # one that cannot be written shows before any is
        for part in sorted(paths, reverse=True):  # the model last: where it is, all of them are
            write_bytes(paths[part], contents[part])
    return ExportResult(tuple(paths.values()), tuple(notes), tuple(cautions))


def _rows_json(
    names: Sequence[str],
    matrix: Float32s,
    predict: Callable[[Float32s], Floats],
    settings: ExportSettings,
) -> bytes:
    as_model_reads = np.where(np.isnan(matrix), np.float32(0), matrix) if settings.missing == "zero" else matrix
    scores = predict(as_model_reads)
    return plain_json(
        {
            "schema": "surefoot/rows/1",
            "target": settings.target.name,
            "model": settings.name,
            "tolerance": _TOLERANCE * max(1.0, float(np.abs(scores).max())),
            "features": list(names),
            "rows": [[None if np.isnan(value) else float(value) for value in row] for row in matrix],
            "scores": scores.tolist(),
        }
    )


def _guide(file: str, settings: ExportSettings, model: ExportedModel, notes: Sequence[str], has_rows: bool) -> str:
    guide = model.guide.replace("STEM", STEM).replace("FILE", file)
    live = f"""
Or let it ask a search engine directly. It makes an index there and removes it afterwards. Rows with a feature below 0
are left out, because Lucene does not support them:

    surefoot check . --url "$URL"

Without surefoot there, `python {STEM}.replay.py {STEM}.rows.json SCORES` (or `--url "$URL"`) does the same.
"""
    replay = f"""
## Check it

`{STEM}.rows.json` contains rows of features (`null` if one is not set), and the scores that the search engine must
give. Score the rows there, put the scores into a file, one per line in the same order, and compare:

    surefoot check . SCORES
{live if settings.target.name in PLUGINS else ""}"""
    return f"""\
# {visible(settings.name)}, for {settings.target.name}

{chr(10).join("- " + visible(note) for note in notes)}
- The export follows the target's source code as we understand it. We did not run it on a cluster, so check it there.

## Load and use it

All commands are for this folder.

{guide}{replay if has_rows else ""}"""


def _replay_script() -> bytes:
    return resources("surefoot.export").joinpath("replay.py").read_bytes()


_SEED = 20_120_812  # the same model gives the same rows


def make_check_rows(trees: Ensemble, exact_thresholds: Floats, settings: ExportSettings, count: int) -> Float32s:
    """Rows of features on thresholds, one float32 beside them, between them, 0, and not set (NaN).

    Thresholds that are not exact (NaN) are left out, and so are unset features where every document has every feature.
    """
    random = np.random.default_rng(_SEED)
    rows = np.zeros((count, len(trees.names)), np.float32)
    for feature in range(len(trees.names)):
        of_feature = trees.is_split & (trees.feature == feature) & np.isfinite(exact_thresholds)
        known = thresholds_at_most(trees.threshold[of_feature])
        known = np.unique(known[np.abs(known) < LARGEST_FLOAT32 / 4])
        if not len(known):
            continue
        drawn = known[random.integers(len(known), size=count)]
        other = known[random.integers(len(known), size=count)]
        above, below = (np.nextafter(drawn, np.float32(end)) for end in (np.inf, -np.inf))
        between = ((drawn.astype(np.float64) + other) / 2).astype(np.float32)
        kinds = np.stack([drawn, above, below, between, np.zeros_like(drawn), np.full_like(drawn, np.nan)])
        shares = np.array([3, 3, 2, 4, 1, 0 if settings.missing == "never" else 2])
        rows[:, feature] = kinds[random.choice(len(kinds), size=count, p=shares / shares.sum()), np.arange(count)]
    return rows
