"""What users do after the output: look, judge what it says, look again; draw again; rename; try the next candidate.

Each cell is a way of working with the gate, at the border of its condition: every decision to ship is false there, and
so is every one to stop. A run makes one record and goes on until it ships, stops, or has looked often enough. It works
on the code between reading and words, without the search for bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.decide.evidence.judge_next import judge_next
from surefoot.decide.evidence.record import Record
from surefoot.decide.evidence.sample import Evidence
from surefoot.decide.gate.asked import ask
from surefoot.decide.gate.looks import look_again
from surefoot.decide.gate.release_policy import ReleasePolicy

LISTS = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["c", "b", "a", "d"], ["d", "c", "b", "a"]]


class Traffic:
    """Queries with a relevant document each, mostly the one that today shows first and the candidate often lower."""

    def __init__(self, seed: int, queries: int = 200) -> None:
        rng = np.random.default_rng(seed)
        ids = [f"{seed}-{number}" for number in range(queries)]
        relevant = rng.choice([*"abcd"], queries, p=[0.55, 0.15, 0.15, 0.15])
        self.qrels = {query: {document: 1} for query, document in zip(ids, relevant.tolist(), strict=True)}
        chosen = rng.choice(4, queries, p=[0.7, 0.1, 0.1, 0.1])
        lists = {"today": dict.fromkeys(ids, LISTS[0]), "new": {q: LISTS[k] for q, k in zip(ids, chosen, strict=True)}}
        self.runs = [sf.read_run(one, name) for name, one in lists.items()]
        scores = sf.score(self.qrels, self.runs, "RR@10")
        self.risk = float(np.maximum(scores["today"] - scores["new"], 0).mean())
        self.gain = float((scores["new"] - scores["today"]).mean())
        wrong = rng.uniform(size=queries) < 0.3  # of the automatic judge
        self.automatic = {
            query: {**judged, rng.choice([*"abcd"]): 1} if wrong[number] else judged
            for number, (query, judged) in enumerate(self.qrels.items())
        }

    def judged(self, queries: Sequence[str], name: str = "new") -> sf.Scores:
        """Both runs on some queries; the candidate under a name."""
        today, new = self.runs
        if name != "new":
            new = sf.read_run(new.to_dict(), name)
        return sf.score({query: self.qrels[query] for query in queries}, [today, new], "RR@10")


@dataclass
class Session:
    """One record, in memory, and what was ever decided with it."""

    record: Record = field(default_factory=Record)
    shipped: bool = False
    stopped: bool = False
    looks: int = 0

    def look(self, scores: Any, policy: dict[str, Any], candidate: str | None = None, **given: Any) -> bool:
        """Look once more; whether the user goes on."""
        asked = ask(scores, candidate, "today", ReleasePolicy.read(policy), self.record, Evidence.read(**given))
        decision = look_again(asked, self.record, bounds=False).decision
        self.looks += 1
        self.shipped |= decision == "ship"
        self.stopped |= decision == "stop"
        return decision == "undecided"


def matrix(losses: Any, names: Sequence[str] = ("new",)) -> sf.Scores:
    """Scores of candidates that lose so much on each query, a row each."""
    rows = np.atleast_2d(losses)
    today = np.full(rows.shape[1], 0.6)
    return sf.Scores([today, *(today - rows)], ["today", *names], [f"q{n}" for n in range(rows.shape[1])], "nDCG@10")


def _risk(rng: np.random.Generator, n: int) -> Any:
    return rng.binomial(1, 0.1, n) * 0.5


def _graded(rng: np.random.Generator, n: int) -> Any:
    return rng.uniform(0, 0.25, n) * rng.binomial(1, 0.4, n)


def _gain(rng: np.random.Generator, n: int) -> Any:
    return np.clip(rng.normal(0, 0.15, n), -0.4, 0.4)


def _share(rng: np.random.Generator, n: int) -> Any:
    return rng.binomial(1, 0.1, n) * 0.3


BORDERS: dict[str, tuple[dict[str, Any], Callable[[np.random.Generator, int], Any]]] = {
    "risk": ({"risk": 0.05}, _risk),
    "graded risk": ({"risk": 0.05}, _graded),
    "gain": ({"gain": 0.0}, _gain),
    "share hurt": ({"share_hurt": 0.1}, _share),
}
PILOT = {"risk": (66, 40, 50, 60, 80, 100), "graded risk": (66, 25, 30, 40, 50, 60), "gain": (40, 40, 50, 60, 80, 100),
         "share hurt": (40, 30, 40, 50, 60, 80)}  # fmt: skip


def _batches(sizes: Sequence[int]) -> Iterator[int]:
    total = 0
    for size in sizes:
        total += size
        yield total


def _looks(kind: str, sizes: Sequence[int]) -> Callable[[np.random.Generator], Session]:
    def run(rng: np.random.Generator) -> Session:
        session = Session()
        policy, draw = BORDERS[kind]
        losses = draw(rng, sum(sizes))
        for n in _batches(sizes):
            if not session.look(matrix(losses[:n]), policy):
                break
        return session

    return run


def _known(kind: str, size: int) -> Callable[[np.random.Generator], Session]:
    """A known traffic that is given, with its mean just at the level, sampled without replacement."""

    def run(rng: np.random.Generator) -> Session:
        session = Session()
        policy, _ = BORDERS[kind]
        losses = np.zeros(size)
        losses[: size // 10] = 0.5
        if kind == "share hurt":
            losses[: size // 10] = 0.3
        losses = rng.permutation(losses)
        for n in (size // 5, size // 4, size // 3, size // 2, size * 2 // 3):
            if not session.look(matrix(losses[:n]), policy, sampled_from=size):
                break
        return session

    return run


def _two_candidates(rng: np.random.Generator) -> Session:
    session = Session()
    losses = np.stack([_graded(rng, 260), _graded(rng, 260)])
    open_ = {"first", "second"}
    for n in (66, 90, 130, 180, 260):
        for name in sorted(open_):
            if not session.look(matrix(losses[:, :n], ("first", "second")), {"risk": 0.05}, name):
                open_.discard(name)
        if not open_ or session.shipped:
            break
    return session


def _empty_segment(rng: np.random.Generator) -> Session:
    """Nothing is lost but in a segment of which no query was judged: a release that ships is false."""
    session = Session()
    segments = {f"q{n}": "head" for n in range(400)} | {f"tail{n}": "tail" for n in range(50)}
    for n in (200, 300, 400):
        if not session.look(matrix(_graded(rng, 400)[:n] / 10), {"segments": {"*": {"risk": 0.05}}}, segments=segments):
            break
    return session


def _drawn(*, rename: bool = False, judge: bool = False) -> Callable[[np.random.Generator], Session]:
    """Drawing until it ships, or ten times; with a judge, or under another name each time."""

    def run(rng: np.random.Generator) -> Session:
        traffic = TRAFFICS[int(rng.integers(len(TRAFFICS)))]
        session, judged = Session(), dict[str, None]()
        policy = {"risk": traffic.risk}
        automatic = {"automatic": traffic.automatic} if judge else {}
        for number in range(4 if judge else 10):
            draws = judge_next(
                [traffic.runs[0], traffic.runs[1]],
                baseline=traffic.runs[0].name,
                measure="RR@10",
                n=25,
                seed=int(rng.integers(1 << 50)),
                **automatic,
            )
            session.record.add_draws(draws)
            judged |= dict.fromkeys(draws.queries)
            scores = traffic.judged([*judged], f"new{number}" if rename else "new")
            if not session.look(scores, policy, **automatic):
                break
        return session

    return run


TRAFFICS = [Traffic(number) for number in range(4)]
CELLS: dict[str, Callable[[np.random.Generator], Session]] = {
    **{f"look again, {kind}": _looks(kind, sizes) for kind, sizes in PILOT.items()},
    "doubling, risk": _looks("risk", (33, 33, 66, 132, 264, 528)),
    "doubling, gain": _looks("gain", (20, 20, 40, 80, 160, 320)),
    "doubling, share hurt": _looks("share hurt", (30, 30, 60, 120, 240, 480)),
    "known traffic, risk": _known("risk", 300),
    "known traffic, share hurt": _known("share hurt", 300),
    "two candidates in turn": _two_candidates,
    "a segment without judgments": _empty_segment,
    "redrawn until it ships": _drawn(),
    "renamed at each redraw": _drawn(rename=True),
    "redrawn with a judge": _drawn(judge=True),
}


def rates(cell: str, runs: int, seed: int = 0) -> tuple[float, float, float]:
    """How often a cell ever shipped and ever stopped, and how many looks a run took."""
    sessions = [CELLS[cell](np.random.default_rng([seed, number])) for number in range(runs)]
    return (
        float(np.mean([session.shipped for session in sessions])),
        float(np.mean([session.stopped for session in sessions])),
        float(np.mean([session.looks for session in sessions])),
    )


def most(runs: int, delta: float = 0.05) -> float:
    """The bar: δ and three standard errors."""
    return delta + 3 * float(np.sqrt(delta * (1 - delta) / runs))
