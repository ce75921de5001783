"""Where a sweep's data comes from: folders of folds, or one set of queries that is cut into folds here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from surefoot.arguments import LARGEST_SEED, integer
from surefoot.arrays import Floats, Ints
from surefoot.choose.options import FEWEST_FOLDS, FOLDS, SPLIT_SEED
from surefoot.data.hashes import data_hash, query_hashes, text_hash
from surefoot.data.letor.files import read_letor
from surefoot.data.reading.files import FORMAT_OF_ENDING, OPENERS, existing_file
from surefoot.data.reading.frames import read_table
from surefoot.data.reading.traffic import Traffic
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.writing.all_or_nothing import ensure_folder, reporting_write_errors, temporary_path
from surefoot.errors import ArgumentError, DataError, other_queries_hint, shortened
from surefoot.learn.baseline_spec import baseline_files, read_like, with_baselines
from surefoot.learn.combination import Aggregate
from surefoot.learn.inputs import match_training_data
from surefoot.learn.measured_queries import EVALUATION_PARTS, PARTS

_STEMS = {"train": ("train",), "valid": ("vali", "valid"), "test": ("test",)}
_ENDINGS = (
    ".txt",
    *(f".txt{ending}" for ending in OPENERS),
    *(ending for ending, form in FORMAT_OF_ENDING.items() if form == "parquet"),
    "",
)
OWN_DATA_FOLDER = "data"  # in a sweep's folder: data that was given in memory


@dataclass(frozen=True)
class Fold:
    """Data to learn from, to validate on and to test on; `held_out` are queries for learned baselines."""

    name: str
    train: RankingData
    valid: RankingData
    test: RankingData
    held_out: RankingData | None = None

    def with_baseline(self, name: str, scores: Sequence[Floats]) -> Fold:
        """The fold with one more baseline: its scores of the documents of each set."""
        sets = [data.with_baseline(name, values) for data, values in zip(self.sets, scores, strict=True)]
        return Fold(self.name, sets[0], sets[1], sets[2], self.held_out)

    def with_traffic(self, traffic: Traffic) -> Fold:
        """The fold with queries that count as often as they are asked; those without traffic are left out.

        Baselines are learned on all of the held-out queries alike: they stand for what is shipped today.
        """
        sets = []
        for part, data in zip(PARTS, self.sets, strict=True):
            if not any(traffic.get(query) for query in data.queries):
                hint = other_queries_hint("counts", list(traffic), data.queries)
                raise ArgumentError(f"no query in the {part} set of {self.name} has traffic: {hint}")
            sets.append(data.with_traffic(traffic))
            if not sets[-1].y.any():
                raise ArgumentError(f"no query with traffic in the {part} set of {self.name} has a relevant document")
        return Fold(self.name, sets[0], sets[1], sets[2], self.held_out)

    @property
    def sets(self) -> tuple[RankingData, RankingData, RankingData]:
        """The three sets of queries."""
        return self.train, self.valid, self.test

    def inner_folds(self, count: int, seed: int) -> list[Ints]:
        """The training queries cut into so many parts, by their indices: each is left out once."""
        queries = len(self.train.queries)
        if queries < 2 * count:
            raise ArgumentError(f"{self.name} has {queries} training queries; that is too few for {count} inner folds")
        return [np.sort(part) for part in np.array_split(np.random.default_rng(seed).permutation(queries), count)]


@dataclass(frozen=True)
class FoldSource:
    """What folds are read from; plain, so that every worker can read them for itself.

    `path` is a folder of Fold*/train.txt, vali.txt and test.txt, or one file, which is cut into `folds` by query.
    `baselines` are texts such as bm25=feature:25. `held_out` queries (a share below 1, or how many) of a file, or of
    each fold's training data, are kept for baselines to be learned on. `selective` adds an aggregate as a feature.
    `traffic` is the hash of the traffic by which queries count, which the sweep's folder keeps.
    """

    path: str
    baselines: tuple[str, ...] = ()
    folds: int = FOLDS
    seed: int = SPLIT_SEED
    held_out: float = 0.0
    selective: str | None = None
    traffic: str | None = None

    def __post_init__(self) -> None:
        """Reject what could not be read or cut."""
        integer("folds", self.folds, FEWEST_FOLDS)
        integer("split_seed", self.seed, 0, LARGEST_SEED)
        if not 0 <= self.held_out < float("inf"):
            raise ArgumentError(f"held_out is {self.held_out:g}; give a share below 1, or a number of queries")
        if self.selective is not None:
            Aggregate.parse(self.selective)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The source whose plain data this is."""
        if not all(isinstance(text, str) for text in (data["path"], *data["baselines"])):
            raise TypeError("path and baselines are texts")
        return cls(**{**data, "baselines": tuple(data["baselines"])})

    def names(self) -> list[str]:
        """The folds' names."""
        if Path(self.path).is_dir():
            return [folder.name for folder in self._folders()]
        return [f"Fold{number}" for number in range(1, self.folds + 1)]

    def files(self) -> list[Path]:
        """Every file that is read; one that is missing is named in an error."""
        baselines = [existing_file(path) for path in baseline_files(self.baselines)]
        if not Path(self.path).is_dir():
            return [existing_file(self.path), *baselines]
        return [*(_file(folder, part) for folder in self._folders() for part in PARTS), *baselines]

    def load(self, name: str) -> Fold:
        """One fold, with its baselines."""
        if not Path(self.path).is_dir():
            data = self._ready(read_letor(self.path), Path(self.path))
            return _checked_fold(self._cut(data, self.names().index(name)), Path(self.path))
        files = {part: _file(Path(self.path) / name, part) for part in PARTS}
        train = read_letor(files["train"])
        sets = [train, *(read_like(files[part], train.n_features) for part in EVALUATION_PARTS)]
        train, *others = (self._ready(data, file) for data, file in zip(sets, files.values(), strict=True))
        # What goes by position afterwards must stand where the training data has it.
        valid, test = (
            match_training_data(data, train, f"{part} data of {name}")
            for part, data in zip(EVALUATION_PARTS, others, strict=True)
        )
        held_out = None
        if self.held_out:
            order = np.random.default_rng(self.seed).permutation(len(train.queries))
            count = self._held_out(len(order))
            held_out, train = train.select(np.sort(order[:count])), train.select(np.sort(order[count:]))
        return _checked_fold(Fold(name, train, valid, test, held_out), Path(self.path) / name)

    def _folders(self) -> list[Path]:
        folders = sorted(
            (folder for folder in Path(self.path).glob("Fold*") if folder.is_dir()),
            key=lambda folder: (len(folder.name), folder.name),
        )
        if not folders:
            raise DataError.at(self.path, None, "has no folders Fold1, Fold2, … with train.txt, vali.txt and test.txt")
        return folders

    def _ready(self, data: RankingData, file: Path) -> RankingData:
        for name, scores in _own_baselines(file).items():
            data = data.with_baseline(name, scores)
        data = with_baselines(data, self.baselines, file)
        return data if self.selective is None else Aggregate.parse(self.selective).add_to(data)

    def _cut(self, data: RankingData, number: int) -> Fold:
        """The fold of this number: one part of the queries to test, the next to validate, the rest to train."""
        order = np.random.default_rng(self.seed).permutation(len(data.queries))
        count = self._held_out(len(order)) if self.held_out else 0
        parts = np.array_split(order[count:], self.folds)
        if not all(len(part) for part in parts):
            raise ArgumentError(f"{len(order) - count} queries cannot be split into {self.folds} folds")

        def select(*chosen: Ints) -> RankingData:
            return data.select(np.sort(np.concatenate(chosen)))

        test, valid = number, (number + 1) % self.folds
        rest = [part for number, part in enumerate(parts) if number not in (test, valid)]
        held_out = select(order[:count]) if count else None
        return Fold(self.names()[number], select(*rest), select(parts[valid]), select(parts[test]), held_out)

    def _held_out(self, queries: int) -> int:
        count = round(self.held_out * queries) if self.held_out < 1 else int(self.held_out)
        if not 3 <= count < queries:
            raise ArgumentError(
                f"held_out would take {count} of {queries} queries for baselines; it must take at least 3, and leave "
                "some"
            )
        return count


def _file(folder: Path, part: str) -> Path:
    """A fold's file of one part, whatever its ending."""
    for stem in _STEMS[part]:
        for ending in _ENDINGS:
            if (file := folder / f"{stem}{ending}").is_file():
                return file
    raise DataError.at(folder, None, f"has no {_STEMS[part][0]}.txt (and no .txt.gz or .parquet)")


def _checked_fold(fold: Fold, path: Path) -> Fold:
    """The fold, if each set has a relevant document and no query is in two of them."""
    seen: dict[str, str] = {}
    for part, data in zip(PARTS, fold.sets, strict=True):
        for query, digest in zip(data.queries, query_hashes(data), strict=True):
            if seen.setdefault(digest, part) != part:
                raise DataError.at(
                    path, None,
                    f"{fold.name} has query {shortened(query)} in its {seen[digest]} data and in its {part} data; a "
                    "query must be in only one of them",
                )  # fmt: skip
    for part, data in zip(PARTS, fold.sets, strict=True):
        if not data.y.any():
            raise DataError.at(
                path, None, f"{fold.name} has no relevant document in its {part} set; each set of a fold needs some"
            )
    return fold


def store_data(data: Any, folder: Path, *, needed: bool) -> Path:
    """Data that was given in memory, in files below `folder` that workers can read; the path of a `FoldSource`.

    It is RankingData, or a list of (train, valid, test). Its own baselines are kept too; some are `needed`. The place
    is named by what is in it, so that it need not be written again.
    """
    single = isinstance(data, RankingData)
    lists = isinstance(data, list | tuple) and all(isinstance(sets, list | tuple) for sets in data)
    folds = [[data]] if single else [list(sets) for sets in data] if lists else []
    flat = [data_set for sets in folds for data_set in sets]
    if (
        not flat
        or {len(sets) for sets in folds} != {1 if single else 3}
        or not all(isinstance(data_set, RankingData) for data_set in flat)
    ):
        raise ArgumentError("data must be a path, RankingData, or a list of (train, valid, test), each RankingData")
    if any(data_set._weighting is not None for data_set in flat):
        raise ArgumentError(
            "the data has weights of queries; give them as traffic={query: count}, which covers all sets"
        )
    if needed and not all(data_set.baselines for data_set in flat):
        raise ArgumentError(
            "there is no baseline to compare with; give the data one (with_baseline), or set learn_baselines"
        )
    name = text_hash("".join(map(data_hash, flat)))[:20]
    target = folder.resolve() / OWN_DATA_FOLDER / name
    if not target.exists():
        with reporting_write_errors(target), ensure_folder(target.parent), temporary_path(target) as temporary:
            temporary.mkdir()
            for number, data_set in enumerate(flat):
                home = temporary if single else temporary / f"Fold{number // 3 + 1}"
                home.mkdir(exist_ok=True)
                file = home / f"{'data' if single else _STEMS[PARTS[number % 3]][0]}.parquet"
                data_set.write(file)
                pl.DataFrame(data_set.baselines).write_parquet(_baselines_file(file))
            if not target.exists():  # another program may have been faster
                temporary.rename(target)
    return target / "data.parquet" if single else target


def _baselines_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.baselines")


def _own_baselines(file: Path) -> dict[str, Floats]:
    """The baselines of data that was given in memory."""
    stored = _baselines_file(file)
    if not stored.is_file():
        return {}
    table = read_table(stored)
    return {name: table[name].to_numpy() for name in table.columns}
