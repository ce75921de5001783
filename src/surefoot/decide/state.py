"""The state of a decision that is looked at after each batch of judgments: what was seen, and what it is about.

It holds each query's scores rather than capitals, so that every look is computed from all that was ever seen. A hash
tells whether it was changed; it is written whole or not at all, and one program at a time works with it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from surefoot.data.files import read_json, state
from surefoot.data.hashes import check_seal, sealed
from surefoot.data.writing import write_text
from surefoot.decide.sample import Sample
from surefoot.errors import DataError, listed, shortened
from surefoot.report.plain_json import to_json

SCHEMA = "surefoot/gate-state/1"
_OTHER = "name a new file with --state, or give what it was begun with"


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

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return dict(vars(self))


@dataclass(frozen=True)
class State:
    """Batches of judged queries in the order in which they came; `draws` are the hashes of the draws they were."""

    about: About
    batches: tuple[Sample, ...] = ()
    draws: tuple[str, ...] = ()

    def add(self, batch: Sample, draws: str | None) -> State:
        """The state with one batch more; queries that were seen before are refused, unless they were drawn again."""
        if draws is None:
            seen = {query for sample in self.batches for query in sample.queries}
            again = [query for query in batch.queries if query in seen]
            if again:
                raise DataError(
                    f"{len(again):,} of {len(batch):,} queries were seen in an earlier batch "
                    f"({listed(again, 3, shortened)}); a query counts once: give the new judgments alone"
                )
            return replace(self, batches=(*self.batches, batch))
        if draws in self.draws:
            raise DataError("these draws were seen in an earlier batch; draw anew with another seed")
        return replace(self, batches=(*self.batches, batch), draws=(*self.draws, draws))

    def sample(self) -> Sample:
        """All that was seen, batch after batch."""
        return reduce(Sample.then, self.batches)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, all or nothing, even if the power fails."""
        data = {
            "schema": SCHEMA,
            **self.about.to_dict(),
            "batches": [batch.to_dict() for batch in self.batches],
            "draws": list(self.draws),
        }
        write_text(path, to_json(sealed(data)), durable=True)


def read_state(path: str | os.PathLike[str], about: About) -> State:
    """The state at a path, or an empty one where there is none; one of something else is refused."""
    if state(path) is None:
        return State(about)
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise DataError.at(path, None, f"is no state of a gate; expected JSON with the schema {SCHEMA!r}")
    check_seal(data, path)
    try:
        found = About(**{name: data[name] for name in About.__dataclass_fields__})
        batches = tuple(Sample.from_dict(batch) for batch in data["batches"])
        draws = tuple(map(str, data["draws"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError.at(path, None, f"is not whole, as a state ({error!r}); begin anew") from error
    _check_same(path, found, about)
    return State(about, batches, draws)


def _check_same(path: str | os.PathLike[str], before: About, now: About) -> None:
    held, given = before.to_dict(), now.to_dict()
    other = [name for name in held if held[name] != given[name]]
    if not other:
        return
    name = other[0]
    what = {"policy": "another policy", "budget": f"a budget of {held['budget']}", "drawn_for": "other draws",
            "mean_weight": "draws from other traffic", "measure": f"the measure {held['measure']}"}  # fmt: skip
    if name in ("baseline", "candidate"):
        same = held[name]["name"] == given[name]["name"]
        called = shortened(held[name]["name"])
        told = f"another run that was called {called} too" if same else f"the {name} {called}"
        raise DataError.at(path, None, f"was begun with {told}; {_OTHER}")
    raise DataError.at(path, None, f"was begun with {what[name]}; {_OTHER}")
