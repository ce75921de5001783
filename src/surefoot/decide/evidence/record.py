"""The record: what must be remembered so that a proof holds for all that is ever decided on the same queries.

A decision that forgets invites its own undoing: whoever judges more and looks again, draws afresh, or tries the next
candidate on the same queries ships one by luck sooner or later. The record is one file. It keeps all draws and samples
made, the sets of queries of every question, and each look at a question, in the order in which they came; each entry
has a hash of itself and all before it. What a look was told is read back from here and never from files again.

Questions share δ. A question belongs to the family of every earlier one whose set of queries shares a tenth of its own
or of that set's, and of every earlier one about the same candidate; the first of a family has 0.8·δ, the j-th
0.2·δ·6/(π²(j−1)²), so that all claims of a family are right together at δ. Queries drawn with a fresh seed are a new
set for another candidate. A question that continues keeps its level.

It protects candidates that were fixed before these queries said anything; not one that was built from the scores of
single queries that earlier decisions showed.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from surefoot.data.hashes import json_hash, read_sealed, seal
from surefoot.data.reading.files import file_status
from surefoot.data.writing.all_or_nothing import destination, lock_file, write_text
from surefoot.decide.evidence.conditions import ConditionRuleData
from surefoot.decide.evidence.draws import Draws, DrawsData
from surefoot.decide.evidence.evidence_data import PerQueryData, UnansweredData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.errors import ArgumentError, DataError, expecting, name_list, shortened
from surefoot.report.escapes import to_json
from surefoot.report.kinds import check_shape
from surefoot.risk.assessment_data import Count

SCHEMA: Literal["surefoot/record/1"] = "surefoot/record/1"
RELATED_SHARE = 0.1  # of the queries of either set, by which two questions are of one family
_FIRST_PART = 0.8  # of δ, for the first question of a family
_ROUNDING = 1e-9
_REMEDY = (
    "restore the newest copy of it; a look that a copy does not have cannot be made again, so if there is no newer "
    "copy, begin a new record with new queries"
)
_Probability = Annotated[float, ("minimum", 0), ("maximum", 1)]


class NamedLists(TypedDict):
    """A system by its name, and by a hash of its lists; null where only scores were given."""

    name: str
    lists: str | None


class BatchData(TypedDict):
    """A batch of judged queries, as the first look at it saw them."""

    given: Annotated[list[str], ("minItems", 1)]  # before any are left out
    baseline_lists: str | None  # hash of the lists of these queries
    candidate_lists: str | None
    judged: PerQueryData  # in betting order
    unanswered: UnansweredData
    judgments: Count  # documents of these queries that people judged


class SampleEntry(TypedDict):
    """The next queries of a log in the random order that the first such entry began."""

    kind: Literal["sample"]
    log: str  # hash of all queries of the log
    size: Annotated[int, ("minimum", 1)]  # how many these are
    seed: Count
    queries: Annotated[list[str], ("minItems", 1)]


class DrawsEntry(TypedDict):
    """Draws of one call of `judge next`."""

    kind: Literal["draws"]
    draws: DrawsData


class QuestionEntry(TypedDict):
    """A question, at its first look; `settings` has all of it but the systems and the budget."""

    kind: Literal["question"]
    asked_by: Literal["gate", "guard"]
    settings: dict[str, Any]
    baseline: NamedLists
    candidate: NamedLists
    budget: Annotated[int, ("minimum", 1)] | None
    rules: list[ConditionRuleData]
    sizes: dict[str, int]  # of the segments that have conditions, where the traffic is known
    fresh: bool  # whether its queries were drawn for its candidate alone
    queries: list[str]  # of a guard; a gate's are in its looks
    number: Annotated[int, ("minimum", 1)]  # j
    delta: _Probability  # δ_j


class LookEntry(TypedDict):
    """A look at a question: what was new, and what came of all so far."""

    kind: Literal["look"]
    question: Count
    batches: Annotated[list[BatchData], ("minItems", 1)]
    p: list[list[_Probability]]  # p_holds and p_fails of each condition
    decision: Literal["ship", "stop", "undecided"]


Entry = SampleEntry | DrawsEntry | QuestionEntry | LookEntry
_KINDS = {"sample": SampleEntry, "draws": DrawsEntry, "question": QuestionEntry, "look": LookEntry}


class ChainedEntry(TypedDict):
    """An entry, and the hash of it and all before it."""

    entry: dict[str, Any]
    sha256: str


class RecordData(TypedDict):
    """What the file holds."""

    schema: Literal["surefoot/record/1"]
    entries: list[ChainedEntry]
    sha256: NotRequired[str]


def level_of(number: int, delta: float) -> float:
    """What the j-th question of a family has of δ.

    >>> [round(level_of(j, 0.05), 6) for j in (1, 2, 3)]
    [0.04, 0.006079, 0.00152]
    """
    if number == 1:
        return _FIRST_PART * delta
    return (1 - _FIRST_PART) * delta * 6 / (math.pi * (number - 1)) ** 2


@dataclass
class Question:
    """A question of the record with all its looks; `hashes` are those of its entry and of each look's."""

    number: int  # of the record, from 1
    data: QuestionEntry
    batches: list[BatchData] = field(default_factory=list)
    looks: list[LookEntry] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)

    @property
    def given(self) -> list[str]:
        """All queries of its looks, before any were left out."""
        return list(dict.fromkeys([*self.data["queries"], *(query for own in self.batches for query in own["given"])]))

    def judged(self) -> list[JudgedQueries]:
        """What each batch said when it was first looked at."""
        return [JudgedQueries.from_dict(batch["judged"]) for batch in self.batches]


class Level(NamedTuple):
    """The number of a question in its family, what it has of δ, and what the family has spent with it."""

    number: int
    delta: float
    spent: float


class Record:
    """The entries of a record, and what they come to."""

    def __init__(self, entries: Sequence[ChainedEntry] = ()) -> None:
        self.entries: list[ChainedEntry] = []
        self.questions: list[Question] = []
        self.draws: list[Draws] = []
        self.samples: list[SampleEntry] = []
        for number, chained in enumerate(entries, start=1):
            if self.add(chained["entry"])["sha256"] != chained["sha256"]:
                raise DataError(
                    f"entry {number} does not follow the one before it, so entries are missing, or two records were "
                    "put together, which nothing can make one again"
                )

    def add(self, entry: Any) -> ChainedEntry:
        """Put an entry after the others."""
        check_shape(entry, _KINDS[entry["kind"]], complete=True)
        before = self.entries[-1]["sha256"] if self.entries else ""
        chained: ChainedEntry = {"entry": entry, "sha256": json_hash([before, entry])}
        if entry["kind"] == "draws":
            self.draws.append(Draws.from_dict(entry["draws"]))
        elif entry["kind"] == "sample":
            self.samples.append(entry)
        elif entry["kind"] == "question":
            self.questions.append(Question(len(self.questions) + 1, entry, hashes=[chained["sha256"]]))
        else:
            question = self.questions[entry["question"] - 1]
            question.looks.append(entry)
            question.batches += entry["batches"]
            question.hashes.append(chained["sha256"])
            question.judged()
        self.entries.append(chained)
        return chained

    def add_draws(self, draws: Draws) -> None:
        """Put draws into the record, unless their seed was drawn with before: then they would repeat earlier ones."""
        if any(draws.identity == before.identity for before in self.draws):
            raise DataError(
                f"the record has draws with the seed {draws.seed} already, and the same seed repeats them, which "
                "proves nothing new; draw without --seed"
            )
        self.add({"kind": "draws", "draws": draws.to_dict()})

    @property
    def sampled(self) -> list[str]:
        """The queries of the random order that were given out so far."""
        return [query for entry in self.samples for query in entry["queries"]]

    def check_not_drawn(self, queries: Sequence[str]) -> None:
        """Refuse queries that were drawn by what they could lose, where they are taken for a plain sample."""
        sampled = frozenset(self.sampled)
        drawn = {query for draws in self.draws for query in draws.queries}.difference(sampled).intersection(queries)
        if drawn and len(drawn) >= RELATED_SHARE * len(queries):
            raise DataError(
                f"{len(drawn):,} of the {len(queries):,} judged queries were drawn for other rankings "
                f"({name_list(sorted({draws.candidate['name'] for draws in self.draws}), 3, shortened)}), by what they "
                "could lose there, so they are not a random sample of traffic; draw queries for these rankings with "
                "surefoot judge next --record"
            )

    def level(self, candidate: NamedLists, queries: Sequence[str], delta: float, *, fresh: bool = False) -> Level:
        """What a new question about these queries would have."""
        own = frozenset(queries)
        related = [question for question in self.questions if _related(question, candidate, own, fresh)]
        family = self._family(related)
        level = level_of(1 + len(family), delta)
        return Level(1 + len(family), level, math.fsum([level, *(question.data["delta"] for question in family)]))

    def level_kept(self, question: Question) -> Level:
        """What a question has that was asked before; its family may have grown, and spent more than one δ, since."""
        spent = math.fsum(other.data["delta"] for other in self._family([question]))
        return Level(question.data["number"], question.data["delta"], spent)

    def _family(self, related: list[Question]) -> list[Question]:
        """These questions, and all that are related to any of them by way of others."""
        found, waiting = {question.number for question in related}, list(related)
        while waiting:
            one = waiting.pop()
            for other in self.questions:
                first, second = sorted((one, other), key=lambda question: question.number)
                own = frozenset(second.given)
                if other.number not in found and _related(first, second.data["candidate"], own, second.data["fresh"]):
                    found.add(other.number)
                    waiting.append(other)
        return [question for question in self.questions if question.number in found]

    @property
    def head(self) -> str:
        """The hash of everything in it."""
        return self.entries[-1]["sha256"] if self.entries else ""

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, all or nothing, even if the power fails."""
        write_text(path, to_json(seal({"schema": SCHEMA, "entries": self.entries})), durable=True)


def _related(earlier: Question, candidate: NamedLists, queries: frozenset[str], fresh: bool) -> bool:
    before = earlier.data["candidate"]
    if before["lists"] == candidate["lists"] and (
        candidate["lists"] is not None or before["name"] == candidate["name"]
    ):
        return True
    theirs = frozenset(earlier.given)
    shared = len(theirs & queries)
    return not fresh and bool(shared) and shared >= RELATED_SHARE * min(len(theirs), len(queries)) - _ROUNDING


@contextmanager
def open_record(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The record at a path, or an empty one, for one program at a time; `Record.write` keeps what was added."""
    destination(path)
    status = file_status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):  # a pipe would be waited for, and holds nothing later
        raise DataError.at(path, None, "is not a file, and a record is read and written again; name a file")
    with lock_file(path, "record"):
        yield read_record(path)


def read_record(path: str | os.PathLike[str]) -> Record:
    """The record at a path, or an empty one where there is no file; one that was changed, cut or mixed is refused."""
    if not os.fspath(path):
        raise ArgumentError("record is empty; give it a file name")
    if file_status(path) is None:
        return Record()
    data = read_sealed(path, SCHEMA, "is not a record", _REMEDY)
    try:
        with expecting("a record", path, _REMEDY):
            check_shape(data, RecordData, complete=True)
            return Record(data["entries"])
    except DataError as error:
        raise error if str(error).startswith(str(path)) else DataError.at(path, None, f"{error}; {_REMEDY}") from error
