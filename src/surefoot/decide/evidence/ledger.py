"""A ledger of how often queries were used to decide: each further use of them gets a smaller share of δ.

Whoever tries many candidates on the same queries ships one by luck sooner or later. The j-th use gets δ·6/(π²j²);
these sum to δ, so the chance of one wrong claim among all that were ever made of a set of queries stays at most δ. A
set that shares a tenth of its queries with another, or of the other's, is of the same family, and uses are counted by
family: one query more or less makes no new set. Queries drawn with a fresh seed, which their draws keep, are a new
set whatever they share. Deciding again on the same scores by the same policy is no new use, nor is a further look of
the same state.

It protects candidates that were fixed before these queries said anything; not one that was built from the scores of
single queries that earlier decisions showed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from surefoot.data.hashes import HASH_DIGITS, queries_hash, seal, text_hash
from surefoot.data.reading.files import file_status
from surefoot.data.writing.all_or_nothing import destination, write_text
from surefoot.data.writing.locks import lock_file
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.sealed_files import read_sealed
from surefoot.errors import DataError, expecting
from surefoot.report.plain_json import to_json

SCHEMA = "surefoot/ledger/2"
_REFUSED_SCHEMAS = {
    "surefoot/ledger/1": "is a ledger of version 0.1, which does not record which sets of queries overlap. Start a new "
    "ledger. It does not count the decisions in this one, so judge new queries for your next decisions",
}
_RELATED_SHARE = 0.1  # of the queries of either set, by which two are of one family


@dataclass(frozen=True)
class LedgerUse:
    """One use of a family of sets of queries: the `number`-th, and whether the same was decided before."""

    number: int
    repeated: bool
    queries: str  # hash of the set
    unused_draws: int = 0  # that were made, as the ledger knows, and never decided on

    def delta(self, delta: float) -> float:
        """What is left of δ for this use.

        >>> [round(LedgerUse(use, False, "").delta(0.05), 4) for use in (1, 2)]
        [0.0304, 0.0076]
        """
        return delta * 6 / (math.pi * self.number) ** 2


@dataclass(frozen=True)
class LedgerQuestion:
    """What is decided on which queries: these as they were given, before any are left out, and a key of all else.

    `seed` is that of draws; `state` names a decision that is looked at batch by batch, and is one use for all of them.
    """

    queries: Sequence[str]
    key: str
    seed: int | None = None
    state: str | None = None
    identity: int | None = None  # of draws: one seed draws anew for each automatic judge

    @classmethod
    def from_scores(
        cls, queries: Sequence[str], sample: JudgedQueries, measure: str, claim: Mapping[str, Any],
        draws: Draws | None = None, state: str | None = None,
    ) -> LedgerQuestion:  # fmt: skip
        """The question whether these scores keep to what is claimed, such as a policy's plain data."""
        seed = None if draws is None else draws.seed
        key = text_hash(to_json([measure, sorted_scores(sample), dict(claim), seed]))
        return cls(queries, key if state is None else state, seed, state, None if draws is None else draws.identity)


@dataclass
class _UsedQueries:
    """A set of queries by their fingerprints, its family, and its uses: the number of each by its key."""

    family: int
    queries: frozenset[str]
    seeds: frozenset[int]  # of draws, and their identities (`Draws.identity`); those of several batches
    uses: dict[str, int] = field(default_factory=dict)

    def is_related(self, queries: frozenset[str], seed: int | None) -> bool:
        """Whether a set is of this one's family."""
        if seed is not None or self.seeds:
            return seed in self.seeds
        shared = len(self.queries & queries)
        return shared >= _RELATED_SHARE * min(len(self.queries), len(queries))


@dataclass
class Ledger:
    """The sets of queries that were used, and the draws that were made: `seeds` has the `Draws.identity` of each.

    That is the seed itself, or a hash of it where the draws also depend on an automatic judge or on traffic.
    """

    sets: list[_UsedQueries] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)

    def count(self, question: LedgerQuestion) -> LedgerUse:
        """Count a question as a use, unless it was asked before."""
        queries = frozenset(text_hash(query)[:HASH_DIGITS] for query in question.queries)
        seeds = frozenset(number for number in (question.seed, question.identity) if number is not None)
        related = [query_set for query_set in self.sets if query_set.is_related(queries, question.seed)]
        earlier = next((query_set for query_set in self.sets if question.key in query_set.uses), None)
        if earlier is not None:
            if question.state is not None:
                _check_batch(earlier, related)
                earlier.queries |= queries
                earlier.seeds |= seeds
            return self._use(earlier.uses[question.key], True, question)
        families = {query_set.family for query_set in related}
        number = 1 + sum(len(query_set.uses) for query_set in self.sets if query_set.family in families)
        family = min(families, default=1 + max((query_set.family for query_set in self.sets), default=0))
        for query_set in self.sets:
            query_set.family = family if query_set.family in families else query_set.family
        same = next(
            (query_set for query_set in related if (query_set.queries, query_set.seeds) == (queries, seeds)), None
        )
        if same is None:
            same = _UsedQueries(family, queries, seeds)
            self.sets.append(same)
        same.uses[question.key] = number
        return self._use(number, False, question)

    def _use(self, number: int, repeated: bool, question: LedgerQuestion) -> LedgerUse:
        used = frozenset[int]().union(*(query_set.seeds for query_set in self.sets))
        return LedgerUse(number, repeated, queries_hash(question.queries), sum(seed not in used for seed in self.seeds))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        sets = [
            {
                "family": query_set.family, "queries": "".join(sorted(query_set.queries)),
                "seeds": sorted(query_set.seeds), "uses": query_set.uses,
            }
            for query_set in self.sets
        ]  # fmt: skip
        return {"schema": SCHEMA, "sets": sets, "seeds": self.seeds}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Ledger:
        """The ledger whose plain data this is."""
        sets = []
        if not isinstance(data["sets"], list):
            raise ValueError("sets is not a list")
        for entry in data["sets"]:
            text, uses = entry["queries"], entry["uses"]
            queries = frozenset(text[at : at + HASH_DIGITS] for at in range(0, len(text), HASH_DIGITS))
            numbers = [entry["family"], *uses.values(), *entry["seeds"]]
            if not queries or not all(type(number) is int and number >= 0 for number in numbers):
                raise ValueError("a set has no queries, or a number in it is not valid")
            sets.append(_UsedQueries(entry["family"], queries, frozenset(entry["seeds"]), dict(uses)))
        seeds = data["seeds"]
        if not isinstance(seeds, list) or not all(type(seed) is int and seed >= 0 for seed in seeds):
            raise ValueError("a seed is not valid")
        return cls(sets, seeds)


def _check_batch(own: _UsedQueries, related: list[_UsedQueries]) -> None:
    """Refuse a further batch of a state, whose share of δ is fixed, that was used for other decisions."""
    if any(query_set.family != own.family for query_set in related):
        raise DataError(
            "the ledger says that queries of this batch were used for other decisions. The share of δ of this state "
            "was fixed before that was known. Judge other queries, or start a new state"
        )


@contextmanager
def open_ledger(path: str | os.PathLike[str]) -> Iterator[Ledger]:
    """The ledger at a path, for one program at a time; written when the block ends without an error."""
    destination(path)
    with lock_file(path, "ledger"):
        ledger = _read(path)
        before = to_json(ledger.to_dict())
        yield ledger
        if to_json(ledger.to_dict()) != before:
            write_text(path, to_json(seal(ledger.to_dict())), durable=True)


@contextmanager
def count_use(path: str | os.PathLike[str], question: LedgerQuestion) -> Iterator[LedgerUse]:
    """The use that a decision is; written down when the block ends without an error."""
    with open_ledger(path) as ledger:
        yield ledger.count(question)


def sorted_scores(sample: JudgedQueries) -> list[list[Any]]:
    """Everything of the sample that a decision depends on, whatever order it came in."""
    data = sample.to_dict()
    members = [*data.pop("segments").values()]
    columns = [column for column in [*data.values(), *members] if column is not None]
    return sorted(map(list, zip(*columns, strict=True)), key=repr)


def _read(path: str | os.PathLike[str]) -> Ledger:
    if file_status(path) is None:
        return Ledger()
    data = read_sealed(path, (SCHEMA,), "is not a ledger", _REFUSED_SCHEMAS)
    with expecting("a ledger", path, "restore it from a copy"):
        return Ledger.from_dict(data)
