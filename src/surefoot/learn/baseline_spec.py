"""Baselines as users write them, `feature:25`, the file of a run or the folder of a model, as document scores."""

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
    """A baseline's name, and what it is made of: `source` is feature:K, the file of a run, or the folder of a model."""

    name: str
    source: str

    @classmethod
    def parse(cls, text: str) -> BaselineSpec:
        """Read `bm25=feature:25`, `today=old/today.run`, or one without a name, which names itself.

        >>> BaselineSpec.parse("bm25=feature:25")
        BaselineSpec(name='bm25', source='feature:25')
        >>> BaselineSpec.parse("old/today.run").name
        'today'
        """
        from surefoot.data.reading.files import as_text, file_status, system_name

        name, equals, source = text.partition("=")
        if equals and name and source and file_status(text) is None:
            return cls(as_text(name), source)
        number = feature_number(text)
        return cls(system_name(text.rstrip("/")) if number is None else f"feature{number}", text)

    @property
    def number(self) -> int | None:
        """The number of the feature that it is; None for a run or a model."""
        return feature_number(self.source)

    def is_model(self) -> bool:
        """Whether it is the folder of a model."""
        from surefoot.data.reading.files import is_folder

        return self.number is None and is_folder(self.source)

    def files(self) -> list[str]:
        """The files that it is read from."""
        return [] if self.number is not None else model_files(self.source) if self.is_model() else [self.source]

    def scores(self, data: RankingData) -> Floats:
        """A score for each document of the data."""
        if self.number is not None:
            from surefoot.data.types.labels_and_scores import feature_scores

            return feature_scores(data, self.number)
        if self.is_model():
            from surefoot.learn.ranker import Ranker

            ranker = Ranker.load(
                self.source
            )  # one that starts from baselines finds its own among those named before it
            return ranker.predict(
                data.with_baselines_only(name for name in ranker.baselines_ if name in data.baselines)
            )
        self.check()
        from surefoot.data.types.runs import read_run

        return data.scores_of(read_run(self.source, name=self.source))

    def check(self) -> None:
        """Refuse what is neither a feature, nor the file of a run, nor the folder of a model."""
        from surefoot.data.reading.files import file_status

        if self.number is None and file_status(self.source) is None:
            raise ArgumentError(
                f"the baseline {shortened(self.source)} is neither a feature nor a file; write bm25=feature:25, the "
                "file of a run, or the folder of a model"
            )


def read_like(path: Path, features: int) -> RankingData:
    """LETOR data for a model of so many features: a text may lack the last ones, which are 0; a table has its own."""
    from surefoot.data.letor.files import read_letor
    from surefoot.data.reading.parquet import is_parquet

    return read_letor(path, n_features=None if is_parquet(path) else features)


def with_baselines(data: RankingData, texts: Sequence[str], file: Path) -> RankingData:
    """The data, which was read from `file`, with each baseline's document scores."""
    from surefoot.data.types.labels_and_scores import RowError

    for text in texts:
        baseline = BaselineSpec.parse(text)
        baseline.check()
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
    source = baseline.source if baseline.number is not None else Path(baseline.source).resolve()
    return f"{baseline.name}={source}"
