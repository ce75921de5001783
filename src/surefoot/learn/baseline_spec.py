"""What a text names as a baseline, as document scores: a feature, a run, a saved model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import ArgumentError, shortened
from surefoot.learn.model_files import model_files

if TYPE_CHECKING:
    from surefoot.arrays import Floats
    from surefoot.data.types.ranking_data import RankingData

HELP = "feature:K, run:FILE, model:FOLDER, or NAME= before one of these; may be given several times."


def read_like(path: Path, features: int) -> RankingData:
    """LETOR data for a model of so many features: a text may lack the last ones, which are 0; a table has its own."""
    from surefoot.data.letor.files import read_letor
    from surefoot.data.reading.parquet import is_parquet

    return read_letor(path, n_features=None if is_parquet(path) else features)


def with_baselines(data: RankingData, specifications: Sequence[str], file: Path) -> RankingData:
    """The data, which was read from `file`, with each baseline's document scores."""
    for text in specifications:
        name, specification = named(text)
        if name in data.baselines:
            raise ArgumentError(
                f"two baselines are called {shortened(name)}; give each a name of its own, such as old={specification}"
            )
        try:
            data = data.with_baseline(name, _scores(data, specification))
        except ArgumentError as error:  # training and validation data have the same baselines: say which of the two
            raise ArgumentError(f"{file}: {error}") from error
    return data


def files_of(specifications: Sequence[str]) -> list[str]:
    """The files that the baselines are read from."""
    found = []
    for text in specifications:
        kind, _, where = named(text)[1].partition(":")
        found += model_files(where) if kind == "model" else [where] if kind == "run" else []
    return found


def resolved_baseline(text: str) -> str:
    """The same baseline wherever the program stands: what it is read from by its full path."""
    name, specification = named(text)
    kind, colon, where = specification.partition(":")
    return f"{name}={kind}:{Path(where).resolve()}" if colon and kind in ("run", "model") else f"{name}={specification}"


def named(text: str) -> tuple[str, str]:
    """A baseline's name, and what it is made of."""
    from surefoot.data.reading.files import as_text, stem

    name, equals, rest = text.partition("=")
    if equals and ":" in rest and ":" not in name:
        return as_text(name), rest
    kind, _, where = text.partition(":")
    return (f"feature{where}" if kind == "feature" else stem(where.rstrip("/"))), text


def _scores(data: RankingData, specification: str) -> Floats:
    kind, colon, where = specification.partition(":")
    if colon and kind == "feature":
        try:
            number = int(where)
        except ValueError:
            raise ArgumentError(f"the baseline {specification!r} names no feature; write feature:25") from None
        return data.feature(number).astype("float64")
    if colon and kind == "run":
        from surefoot.data.types.runs import read_run

        return data.scores_of(read_run(where, name=specification))
    if colon and kind == "model":
        from surefoot.learn.ranker import Ranker

        ranker = Ranker.load(where)  # one that starts from baselines finds its own among those named before it
        return ranker.predict(data.with_only(name for name in ranker.baselines_ if name in data.baselines))
    raise ArgumentError(f"the baseline {specification!r} is not understood; give {HELP}")
