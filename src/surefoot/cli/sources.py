"""What a command line names as a baseline, as document scores: a feature, a run, a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.errors import ArgumentError

if TYPE_CHECKING:
    from pathlib import Path

    from surefoot.data.ranking import Floats
    from surefoot.data.ranking_data import RankingData

HELP = "feature:K, run:FILE, model:FOLDER, or NAME= before one of these; may be given several times."


def read_like(path: Path, features: int) -> RankingData:
    """LETOR data for a model of so many features: a text may lack the last ones, which are 0; a table has its own."""
    from surefoot.data.letor import read_letor

    return read_letor(path, n_features=None if path.suffix.lower() == ".parquet" else features)


def with_baselines(data: RankingData, specifications: list[str]) -> RankingData:
    """The data with each baseline's document scores."""
    for text in specifications:
        name, specification = _named(text)
        data = data.with_baseline(name, _scores(data, specification))
    return data


def _named(text: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if equals and ":" in rest and ":" not in name:
        return name, rest
    kind, _, where = text.partition(":")
    from surefoot.data.files import stem

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
        return _run_scores(data, where)
    if colon and kind == "model":
        from surefoot.learn.ranker import Ranker

        ranker = Ranker.load(where)  # one that starts from baselines finds its own among those named before it
        return ranker.predict(data.with_only(name for name in ranker.baselines_ if name in data.baselines))
    raise ArgumentError(f"the baseline {specification!r} is not understood; give {HELP}")


def _run_scores(data: RankingData, path: str) -> Floats:
    """A run's scores of the data's documents; those it lacks come last, as they would for a user."""
    import numpy as np

    from surefoot.data.tables import read_run

    if data.doc_ids is None:
        raise ArgumentError(f"run:{path} needs document ids in the data (a '#docid = …' comment on each line)")
    run = read_run(path)
    ranking = data.ranking(np.zeros(len(data)))
    mine, theirs = ranking.match(run.ranking)
    if not len(mine):
        raise ArgumentError(f"run:{path} shares no document with the data; are the query and document ids the same?")
    scores = np.full(len(data), run.ranking.scores.min() - 1)
    scores[ranking.rows(mine)] = run.ranking.scores[theirs]
    return scores
