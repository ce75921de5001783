"""Baselines as users write them, `feature:25`, `run:FILE` or `model:FOLDER`, read into document scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.model_files import model_files

if TYPE_CHECKING:
    from surefoot.arrays import Floats
    from surefoot.data.types.ranking_data import RankingData

HELP = "NAME=feature:K, run:FILE or model:FOLDER. You can give several."
_KINDS = ("feature", "run", "model")
_FEATURE = re.compile(r"(\w+):([0-9]{1,9})")


def feature_number(text: str, kind: str = "feature") -> int | None:
    """The K of `feature:K`, which counts from 1 as in LETOR files; None where the text is not written so.

    >>> feature_number("feature:25"), feature_number("max:3", "max"), feature_number("feature:x")
    (25, 3, None)
    """
    match = _FEATURE.fullmatch(text)
    return int(match[2]) if match and match[1] == kind else None


@dataclass(frozen=True)
class BaselineSpec:
    """A baseline's name, and what it is made of: `source` is such as feature:25, `kind` and `where` its two parts."""

    name: str
    source: str

    @classmethod
    def parse(cls, text: str) -> BaselineSpec:
        """Read `bm25=feature:25`, or `feature:25`, which names itself.

        >>> BaselineSpec.parse("bm25=feature:25")
        BaselineSpec(name='bm25', source='feature:25')
        >>> BaselineSpec.parse("run:old/today.run").name
        'today'
        """
        from surefoot.data.reading.files import as_text, system_name

        name, equals, source = text.partition("=")
        if equals and ":" in source and ":" not in name:
            return cls(as_text(name), source)
        kind, _, where = text.partition(":")
        return cls(f"feature{where}" if kind == "feature" else system_name(where.rstrip("/")), text)

    @property
    def kind(self) -> str:
        """`feature`, `run` or `model`; anything else is refused when scores are read."""
        return self.source.partition(":")[0] if ":" in self.source else ""

    @property
    def where(self) -> str:
        """What follows the colon: a number, a file or a folder."""
        return self.source.partition(":")[2]

    def files(self) -> list[str]:
        """The files that it is read from."""
        return model_files(self.where) if self.kind == "model" else [self.where] if self.kind == "run" else []

    def scores(self, data: RankingData) -> Floats:
        """A score for each document of the data."""
        if self.kind == "feature":
            from surefoot.data.types.feature_scores import feature_scores

            number = feature_number(self.source)
            if number is None:
                raise ArgumentError(f"the baseline {self.source!r} does not name a feature; write it as feature:25")
            return feature_scores(data, number)
        if self.kind == "run":
            from surefoot.data.types.runs import read_run

            return data.scores_of(read_run(self.where, name=self.source))
        if self.kind == "model":
            from surefoot.learn.ranker import Ranker

            ranker = Ranker.load(self.where)  # one that starts from baselines finds its own among those named before it
            return ranker.predict(
                data.with_baselines_only(name for name in ranker.baselines_ if name in data.baselines)
            )
        raise self.unknown()

    def unknown(self) -> ArgumentError:
        """What is said of a source that is neither a feature, nor a run, nor a model."""
        return ArgumentError(
            f"the baseline {shortened(self.source)} is not understood; write feature:K, run:FILE or model:FOLDER, "
            "such as bm25=feature:25"
        )


def read_like(path: Path, features: int) -> RankingData:
    """LETOR data for a model of so many features: a text may lack the last ones, which are 0; a table has its own."""
    from surefoot.data.letor.files import read_letor
    from surefoot.data.reading.parquet import is_parquet

    return read_letor(path, n_features=None if is_parquet(path) else features)


def with_baselines(data: RankingData, texts: Sequence[str], file: Path) -> RankingData:
    """The data, which was read from `file`, with each baseline's document scores."""
    from surefoot.data.types.labels import RowError

    for text in texts:
        baseline = BaselineSpec.parse(text)
        if baseline.kind not in _KINDS:
            raise baseline.unknown()
        if baseline.name in data.baselines:
            raise ArgumentError(
                f"two baselines are called {shortened(baseline.name)}; give each its own name, such as "
                f"old={baseline.source}"
            )
        try:
            data = data.with_baseline(baseline.name, baseline.scores(data))
        except ArgumentError as error:  # training and validation data have the same baselines: say which of the two
            raise ArgumentError(f"{file}: {error}") from error
        except RowError as error:
            raise DataError(f"{file}: document {error.row + 1}: {error.message}") from error
    return data


def baseline_files(texts: Sequence[str]) -> list[str]:
    """The files that the baselines are read from."""
    return [file for text in texts for file in BaselineSpec.parse(text).files()]


def resolve_baseline(text: str) -> str:
    """The same baseline whatever the current folder is: files by their full paths."""
    baseline = BaselineSpec.parse(text)
    if baseline.kind in ("run", "model"):
        return f"{baseline.name}={baseline.kind}:{Path(baseline.where).resolve()}"
    return f"{baseline.name}={baseline.source}"
