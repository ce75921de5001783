"""The state of a decision that is looked at after each batch of judgments: what was seen, and what it is about.

It holds each query's scores rather than capitals, so that every look is computed from all that was ever seen, and each
batch in the order in which it was bet on, which later batches never change. A hash tells whether it was changed; it is
written whole or not at all, and one program at a time works with it.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from surefoot.data.hashes import seal
from surefoot.data.reading.files import file_status
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.nothing_to_lose import NothingToLoseData, read_counts, sum_counts
from surefoot.decide.evidence.sealed_files import read_sealed
from surefoot.errors import DataError, expecting, name_list, shortened
from surefoot.report.plain_json import to_json

SCHEMA = "surefoot/gate-state/2"
_REFUSED_SCHEMAS = {
    "surefoot/gate-state/1": "is a state of version 0.1. Its order of the queries does not allow a proof. Start a new "
    "state (--state NEW), and give all judgments so far as its first batch",
}
_REMEDY = "choose a new file with --state, or use the same input and options as at the start"
_KEY_OF_FIELD = {"nothing_to_lose_treatment": "unanswered"}  # of fields that a file keeps under another name
_LATER = ("automatic", "traffic")  # states of earlier versions have none
_LEAST_CHANCE = 1e-6  # that fresh draws begin as others did; below it they are the same draws


@dataclass(frozen=True)
class GateSetup:
    """What is decided and how: all of it stays the same from batch to batch."""

    measure: str
    baseline: dict[str, str | None]  # name, and hash of its lists where runs are given
    candidate: dict[str, str | None]
    policy: dict[str, Any]
    budget: int
    mean_weight: float | None  # of queries that are drawn
    drawn_for: str | None
    nothing_to_lose_treatment: str  # whether queries on which nothing can be lost count
    ledger: bool  # whether a ledger counts it
    automatic: str | None = None  # hash of the automatic judgments that queries are drawn with
    traffic: str | None = None  # hash of how often queries are asked, where they are drawn by that

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {_KEY_OF_FIELD.get(name, name): value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GateSetup:
        """What plain data says, if it is of the right kinds; whether it is right shows when it is compared."""
        setup = cls(
            **{name: data[_KEY_OF_FIELD.get(name, name)] for name in cls.__dataclass_fields__ if name not in _LATER}
        )
        setup = replace(setup, automatic=data.get("automatic"), traffic=data.get("traffic"))
        systems = [dict(setup.baseline)["name"], dict(setup.candidate)["name"]]
        if not all(isinstance(text, str) for text in (setup.measure, setup.nothing_to_lose_treatment, *systems)):
            raise TypeError("a name is not text")
        return setup


@dataclass(frozen=True)
class JudgedBatch:
    """One batch: its queries in betting order, what could not be lost, and the seed of its draws."""

    judged: JudgedQueries
    nothing_to_lose: NothingToLoseData
    seed: int | None = None
    judgments: int = 0  # documents of these queries that people judged

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            **self.judged.to_dict(), "nothing_to_lose": self.nothing_to_lose, "seed": self.seed,
            "judgments": self.judgments,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> JudgedBatch:
        """The batch whose plain data this is."""
        seed = data["seed"]
        if seed is not None and type(seed) is not int:
            raise ValueError("the seed is not an integer")
        judgments = data.get("judgments", 0)  # states of earlier versions do not count them
        if type(judgments) is not int or judgments < 0:
            raise ValueError("the number of judgments is not valid")
        return cls(JudgedQueries.from_dict(data), read_counts(data["nothing_to_lose"]), seed, judgments)


@dataclass(frozen=True)
class GateState:
    """Batches of judged queries in the order in which they came; `name` tells the state from others in a ledger."""

    setup: GateSetup
    name: str
    batches: tuple[JudgedBatch, ...] = ()

    def add(self, batch: JudgedBatch, draws: Draws | None) -> GateState:
        """The state with one batch more; queries that were seen before are refused, unless they were drawn anew."""
        if draws is None:
            seen = {query for earlier in self.batches for query in earlier.judged.queries}
            repeated = [query for query in batch.judged.queries if query in seen]
            if repeated:
                raise DataError(
                    f"{len(repeated):,} of {len(batch.judged):,} queries were seen in an earlier batch "
                    f"({name_list(repeated, 3, shortened)}); a query counts only once; give only the new judgments"
                )
        elif any(_same_draws(earlier, batch, draws) for earlier in self.batches):
            raise DataError(
                f"an earlier batch already used these draws or the first of them (seed {draws.seed}), so they prove "
                "nothing new; draw again without --seed"
            )
        return replace(self, batches=(*self.batches, batch))

    def all_judged(self) -> JudgedQueries:
        """All that was seen, batch after batch."""
        return reduce(JudgedQueries.followed_by, (batch.judged for batch in self.batches))

    def nothing_to_lose(self) -> NothingToLoseData:
        """The counts of all batches together."""
        return sum_counts([batch.nothing_to_lose for batch in self.batches])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, all or nothing, even if the power fails."""
        data = {
            "schema": SCHEMA,
            **self.setup.to_dict(),
            "name": self.name,
            "batches": [batch.to_dict() for batch in self.batches],
        }
        write_text(path, to_json(seal(data)), durable=True)


def _same_draws(earlier: JudgedBatch, batch: JudgedBatch, draws: Draws) -> bool:
    """Whether two batches are of one seed, or one begins as the other did, which chance hardly ever does."""
    if earlier.seed == batch.seed:
        return True
    shared = min(len(earlier.judged), len(batch.judged))
    same = earlier.judged.queries[:shared] == batch.judged.queries[:shared]
    return same and draws.chance_of(shared) < _LEAST_CHANCE


def read_state(path: str | os.PathLike[str], setup: GateSetup) -> GateState:
    """The state at a path, or an empty one where there is none; one of something else is refused."""
    if file_status(path) is None:
        return GateState(setup, secrets.token_hex(16))
    data = read_sealed(path, (SCHEMA,), "is not a state of a gate", _REFUSED_SCHEMAS)
    with expecting("a state", path, "start a new state"):
        stored = GateSetup.from_dict(data)
        batches = tuple(JudgedBatch.from_dict(batch) for batch in data["batches"])
        name = str(data["name"])
        if not batches:
            raise ValueError("no batch")
    _check_same(path, stored, setup)
    return GateState(setup, name, batches)


def _check_same(path: str | os.PathLike[str], before: GateSetup, now: GateSetup) -> None:
    old, new = before.to_dict(), now.to_dict()
    other = [name for name in old if old[name] != new[name]]
    if not other:
        return
    name = other[0]
    what = {"policy": "another policy", "budget": f"a budget of {old['budget']}", "drawn_for": "other draws",
            "mean_weight": "draws from other traffic", "measure": f"the measure {old['measure']}",
            "unanswered": f"--unanswered {old['unanswered']}",
            "ledger": "a ledger" if old["ledger"] else "no ledger",
            "traffic": "other traffic" if old["traffic"] else "draws that were made without traffic",
            "automatic": "other automatic judgments" if old["automatic"] else "no automatic judgments"}  # fmt: skip
    if name in ("baseline", "candidate"):
        same = old[name]["name"] == new[name]["name"]
        called = shortened(old[name]["name"])
        change = f"a different run that had the same name, {called}" if same else f"the {name} {called}"
        raise DataError.at(path, None, f"was started with {change}; {_REMEDY}")
    raise DataError.at(path, None, f"was started with {what[name]}; {_REMEDY}")
