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

from surefoot.data.hashes import check_seal, seal
from surefoot.data.reading.files import file_status, read_json
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.judged_queries import Sample
from surefoot.decide.evidence.nothing_to_lose import NothingToLoseData, counts_of, sum_of
from surefoot.errors import DataError, expecting, listed, shortened
from surefoot.report.plain_json import to_json

SCHEMA = "surefoot/gate-state/2"
_OLD_ORDER = "surefoot/gate-state/1"
_OTHER = "name a new file with --state, or give what it was begun with"
_CHANCE = 1e-6  # that fresh draws begin as others did; below it they are the same draws


@dataclass(frozen=True)
class About:
    """What a state is about, all of which stays the same from batch to batch."""

    measure: str
    baseline: dict[str, str | None]  # name, and hash of its lists where runs are given
    candidate: dict[str, str | None]
    policy: dict[str, Any]
    budget: int
    mean_weight: float | None  # of queries that are drawn
    drawn_for: str | None
    unanswered: str  # whether queries on which nothing can be lost count
    ledger: bool  # whether a ledger counts it

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> About:
        """What plain data says, if it is of the right kinds; whether it is right shows when it is compared."""
        found = cls(**{name: data[name] for name in cls.__dataclass_fields__})
        systems = [dict(found.baseline)["name"], dict(found.candidate)["name"]]
        if not all(isinstance(text, str) for text in (found.measure, found.unanswered, *systems)):
            raise TypeError("a name that is none")
        return found


@dataclass(frozen=True)
class Batch:
    """One batch: its sample in betting order, what could not be lost, and the seed of its draws."""

    sample: Sample
    nothing_to_lose: NothingToLoseData
    seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {**self.sample.to_dict(), "nothing_to_lose": self.nothing_to_lose, "seed": self.seed}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Batch:
        """The batch whose plain data this is."""
        seed = data["seed"]
        if seed is not None and type(seed) is not int:
            raise ValueError("a seed that is none")
        return cls(Sample.from_dict(data), counts_of(data["nothing_to_lose"]), seed)


@dataclass(frozen=True)
class State:
    """Batches of judged queries in the order in which they came; `name` tells the state from others in a ledger."""

    about: About
    name: str
    batches: tuple[Batch, ...] = ()

    def add(self, batch: Batch, draws: Draws | None) -> State:
        """The state with one batch more; queries that were seen before are refused, unless they were drawn anew."""
        if draws is None:
            seen = {query for one in self.batches for query in one.sample.queries}
            again = [query for query in batch.sample.queries if query in seen]
            if again:
                raise DataError(
                    f"{len(again):,} of {len(batch.sample):,} queries were seen in an earlier batch "
                    f"({listed(again, 3, shortened)}); a query counts once: give the new judgments alone"
                )
        elif any(_same_draws(one, batch, draws) for one in self.batches):
            raise DataError(
                f"these draws, or their first ones, were seen in an earlier batch (seed {draws.seed}): they prove "
                "nothing new; draw anew without a seed"
            )
        return replace(self, batches=(*self.batches, batch))

    def sample(self) -> Sample:
        """All that was seen, batch after batch."""
        return reduce(Sample.then, (batch.sample for batch in self.batches))

    def nothing_to_lose(self) -> NothingToLoseData:
        """The counts of all batches together."""
        return sum_of([batch.nothing_to_lose for batch in self.batches])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, all or nothing, even if the power fails."""
        data = {
            "schema": SCHEMA,
            **self.about.to_dict(),
            "name": self.name,
            "batches": [batch.to_dict() for batch in self.batches],
        }
        write_text(path, to_json(seal(data)), durable=True)


def _same_draws(earlier: Batch, batch: Batch, draws: Draws) -> bool:
    """Whether two batches are of one seed, or one begins as the other did, which chance hardly ever does."""
    if earlier.seed == batch.seed:
        return True
    shared = min(len(earlier.sample), len(batch.sample))
    same = earlier.sample.queries[:shared] == batch.sample.queries[:shared]
    return same and draws.chance_of(shared) < _CHANCE


def read_state(path: str | os.PathLike[str], about: About) -> State:
    """The state at a path, or an empty one where there is none; one of something else is refused."""
    if file_status(path) is None:
        return State(about, secrets.token_hex(16))
    data = read_json(path)
    if isinstance(data, dict) and data.get("schema") == _OLD_ORDER:
        raise DataError.at(
            path, None,
            "is a state of version 0.1, which bet on queries in an order that has no proof; begin a new one (--state "
            "NEW) with all judgments so far as its first batch",
        )  # fmt: skip
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise DataError.at(path, None, f"is no state of a gate; expected JSON with the schema {SCHEMA!r}")
    check_seal(data, path)
    with expecting("a state", path, "begin anew"):
        found = About.from_dict(data)
        batches = tuple(Batch.from_dict(batch) for batch in data["batches"])
        name = str(data["name"])
        if not batches:
            raise ValueError("no batch")
    _check_same(path, found, about)
    return State(about, name, batches)


def _check_same(path: str | os.PathLike[str], before: About, now: About) -> None:
    held, given = before.to_dict(), now.to_dict()
    other = [name for name in held if held[name] != given[name]]
    if not other:
        return
    name = other[0]
    what = {"policy": "another policy", "budget": f"a budget of {held['budget']}", "drawn_for": "other draws",
            "mean_weight": "draws from other traffic", "measure": f"the measure {held['measure']}",
            "unanswered": f"--unanswered {held['unanswered']}",
            "ledger": "a ledger" if held["ledger"] else "no ledger"}  # fmt: skip
    if name in ("baseline", "candidate"):
        same = held[name]["name"] == given[name]["name"]
        called = shortened(held[name]["name"])
        told = f"another run that was called {called} too" if same else f"the {name} {called}"
        raise DataError.at(path, None, f"was begun with {told}; {_OTHER}")
    raise DataError.at(path, None, f"was begun with {what[name]}; {_OTHER}")
