"""`PersonalRanker`: a saved re-ranker that answers, list by list, and learns of what was shown and clicked since."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from surefoot.arrays import Floats
from surefoot.clicks.click_state import ClickState
from surefoot.clicks.events import LogFacts, ShownRequest
from surefoot.data.reading.files import existing_file
from surefoot.data.reading.frames import read_table
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Run
from surefoot.data.writing.all_or_nothing import writing
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.ranker import Ranker
from surefoot.personal.lists import SHOWN_ORDER
from surefoot.personal.options import DETAILS, SAMPLE, STATE
from surefoot.personal.saved_ranker import read_details
from surefoot.progress import steps

if TYPE_CHECKING:
    from surefoot.personal.lists import LaterLists

_REASONS = 3  # features that a move is explained by
_NEEDED = ("time", "query", "results")  # of a table of lists
_FURTHER = ("user", "session", "day", "terms", "domains", "scores")


@dataclass(frozen=True)
class RerankedList:
    """A list in its new order, best first.

    documents
        Their ids; a document that was given twice is there once.
    scores
        The model's, which order them; of equal scores, the one that was shown higher comes first.
    order
        Their positions in the list that was given, from 1.
    why
        For each document the features that lift it above or press it below the mean of the list most: name, value
        (None where it has none) and what that adds to the score.
    """

    documents: list[str]
    scores: list[float]
    order: list[int]
    why: list[list[dict[str, Any]]]

    @property
    def changed(self) -> bool:
        """Whether any document moved."""
        return self.order != sorted(self.order)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return asdict(self) | {"changed": self.changed}


class PersonalRanker:
    """A re-ranker of `surefoot personalize --save`, with the state of its log.

    One program at a time may have a model open; its threads may share it. `about` is what was saved with the model:
    its method, why it was chosen, and its features in words.
    """

    def __init__(self, ranker: Ranker, state: ClickState, about: dict[str, Any]) -> None:
        self.ranker, self._state, self.about = ranker, state, about

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, read_only: bool = False) -> Self:
        """The model in a folder; `read_only` ones take no events, and several programs may have them open."""
        home = Path(folder)
        about, facts = read_details(home)
        ranker = Ranker.load(home)
        names = [feature["name"] for feature in about["features"]]
        if list(ranker.feature_names_in_) != names:
            raise DataError.at(home / DETAILS, None, "has other features than the model beside it; save it again")
        return cls(ranker, ClickState(home / STATE, facts, read_only=read_only), about)

    @property
    def facts(self) -> LogFacts:
        """How the log counts: its clock, its unit of time, and what it knows of lists."""
        return self._state.facts

    def example(self) -> dict[str, Any]:
        """A request to try `rerank` with: somebody new, something never asked for, when the log ends."""
        facts, documents, latest = self.facts, ["d1", "d2"], self._state.latest
        return {
            "user": "somebody", "query": "something", "results": documents,
            "time": latest if facts.shared_clock == "time" else 0,
            **({"day": latest} if facts.shared_clock == "day" else {}),
            **({"terms": ["something"]} if facts.terms else {}),
            **({"domains": documents} if facts.domains else {}),
            **({"scores": [2.0, 1.0]} if facts.scores else {}),
        }  # fmt: skip

    def update(self, events: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> dict[str, int]:
        """Add what was shown and clicked: one event or several, all or none of them.

        A list has session, time, query and documents (in the order that they were shown in); a click has session, time
        and document. Further keys are those that the log has: user, day, list, terms, domains, scores. When this
        returns, the events are on disk. An event that is there already changes nothing and is counted as `repeated`.
        """
        return self._state.update([events] if isinstance(events, Mapping) else events)

    def features(
        self,
        user: str | None,
        query: str,
        results: Sequence[str],
        time: int,
        *,
        session: str | None = None,
        day: int | None = None,
        terms: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        scores: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """The features of a list at a time, from events strictly before: those that a whole log gives, exactly.

        `results` are documents in the order of the search engine. `time` counts as the log does; `day` is needed where
        a log's sessions share only that.
        """
        request = self._request(
            user, query, results, time, session=session, day=day, terms=terms, domains=domains, scores=scores
        )
        return self._state.features(request)

    def _request(
        self, user: str | None, query: str, results: Sequence[str], time: int, session: str | None = None, **known: Any
    ) -> ShownRequest:
        return ShownRequest.checked(
            self.facts, session, user=user, query=query, documents=results, time=time, **known
        )  # fmt: skip

    def rerank(
        self, user: str | None, query: str, results: Sequence[str], time: int, *, session: str | None = None,
        day: int | None = None, terms: Sequence[str] | None = None, domains: Sequence[str] | None = None,
        scores: Sequence[float] | None = None,
    ) -> RerankedList:  # fmt: skip
        """A list in the model's order, with scores and reasons; see `features` for the arguments."""
        request = self._request(
            user, query, results, time, session=session, day=day, terms=terms, domains=domains, scores=scores
        )
        names = list(self.ranker.feature_names_in_)
        matrix = np.ascontiguousarray(self._state.matrix(request))
        predicted = self.ranker.predict(matrix)
        order = np.argsort(-predicted, kind="stable")
        return RerankedList(
            documents=[request.documents[int(row)] for row in order],
            scores=predicted[order].tolist(),
            order=[request.positions[int(row)] for row in order],
            why=[self._reasons(names, matrix, row, parts) for row, parts in self._contributions(matrix, order)],
        )

    def _contributions(self, matrix: Any, order: Any) -> list[tuple[int, Any]]:
        engine = engine_of(self.ranker.engine_)
        parts = engine.contributions(self.ranker.booster_, matrix, self.ranker.best_iteration_)[:, :-1]
        relative = parts - parts.mean(axis=0)
        return [(int(row), relative[row]) for row in order]

    @staticmethod
    def _reasons(names: list[str], matrix: Any, row: int, parts: Any) -> list[dict[str, Any]]:
        places = [int(place) for place in np.argsort(-np.abs(parts), kind="stable")[:_REASONS] if parts[place]]
        return [
            {
                "feature": names[place],
                "value": None if np.isnan(matrix[row, place]) else float(matrix[row, place]),
                "adds": float(parts[place]),
            }
            for place in places
        ]

    def _for_guard(self, baseline: Any = None, measure: Any = None) -> tuple[Ranker, str, Any]:
        """What a `RiskGuard` guards: the model, the shown order as its baseline, and the study's measure."""
        if baseline not in (None, SHOWN_ORDER):
            raise ArgumentError(
                f"baseline is {shortened(baseline)}; a personal ranker is guarded against the {SHOWN_ORDER}, so leave "
                "it out"
            )
        return self.ranker, SHOWN_ORDER, self.about["measure"] if measure is None else measure

    def list_data(
        self, user: str | None, query: str, results: Sequence[str], time: int, *, session: str | None = None,
        day: int | None = None, terms: Sequence[str] | None = None, domains: Sequence[str] | None = None,
        scores: Sequence[float] | None = None,
    ) -> RankingData:  # fmt: skip
        """A list as data that a `RiskGuard` serves; see `features` for the arguments."""
        request = self._request(
            user, query, results, time, session=session, day=day, terms=terms, domains=domains, scores=scores
        )
        matrix = np.ascontiguousarray(self._state.matrix(request))
        positions = np.array(request.positions, dtype=np.float64)
        return RankingData.from_queries(
            matrix, np.zeros(len(matrix)), [query], np.array([len(matrix)]), baselines={SHOWN_ORDER: -positions},
            feature_names=list(self.ranker.feature_names_in_), doc_ids=list(request.documents),
        )  # fmt: skip

    @staticmethod
    def later_lists(study: str | os.PathLike[str], *, sample: int | None = SAMPLE, seed: int = 0) -> LaterLists:
        """The days of a study after those that a model learned from, to calibrate a `RiskGuard` with.

        `valid` are the days that chose the model; `later` one list of each user of the days after, which `seed` draws.
        The study must be split by time; `sample` is the study's.
        """
        from surefoot.personal.lists import later_lists

        return later_lists(study, sample=sample, seed=seed)

    def close(self) -> None:
        """Let go of the state's file."""
        self._state.close()

    def __enter__(self) -> Self:
        """Itself; the state's file is let go of at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the state's file."""
        self.close()

    def __repr__(self) -> str:
        """Which model it is."""
        return f"<PersonalRanker: {self.about['model']}>"


def rerank_lists(
    model: str | os.PathLike[str],
    lists: str | os.PathLike[str],
    output: str | os.PathLike[str],
    name: str,
    why: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:
    """Write the run of a table of lists; how many lists changed, and how many there are."""
    table = _read(Path(lists))
    rows, changed = [], 0
    with ExitStack() as opened:
        ranker = opened.enter_context(PersonalRanker.load(model, read_only=True))
        reasons = None if why is None else opened.enter_context(writing(why))
        for number, row in enumerate(steps(list(table.iter_rows(named=True)), "Re-ranking"), start=1):
            known = {key: row[key] for key in _FURTHER[1:] if row.get(key) is not None}
            try:
                one = ranker.rerank(row.get("user"), row["query"], row["results"], row["time"], **known)
            except ArgumentError as error:
                raise DataError.at(lists, None, f"row {number}: {error}") from error
            scores = falling(np.array(one.scores))
            rows.append(
                pl.DataFrame({"doc_id": one.documents, "score": scores}).with_columns(query_id=pl.lit(row["id"]))
            )
            if reasons is not None:
                reasons.write(f"{json.dumps({'id': row['id'], **one.to_dict()}, ensure_ascii=False)}\n".encode())
            changed += one.changed
        Run._read(pl.concat(rows).select("query_id", "doc_id", "score"), name).write(output)
    return changed, len(rows)


def falling(scores: Floats) -> Floats:
    """Scores in falling order, each below the one before it: a run sorts equal ones in its own way.

    >>> falling(np.array([1.0, 1.0, 0.5])).tolist()
    [1.0, 0.9999999999999999, 0.5]
    """
    for place in range(1, len(scores)):
        if scores[place] >= scores[place - 1]:
            scores[place] = np.nextafter(scores[place - 1], -np.inf)
    return scores


def _read(path: Path) -> pl.DataFrame:
    """The table, with an id for each list: its row, where it names none."""
    table = read_table(existing_file(path))
    if "results" not in table.columns and "documents" in table.columns:  # as the lists of a log call them
        table = table.rename({"documents": "results"})
    missing = [column for column in _NEEDED if column not in table.columns]
    if missing:
        raise DataError.at(
            path, None, f"has no column {name_list(missing)}; a table of lists has {', '.join(_NEEDED)}, and may have "
            f"id, {', '.join(_FURTHER)}"
        )  # fmt: skip
    if not len(table):
        raise DataError.at(path, None, "has no rows; expected a list on each")
    if "id" not in table.columns:
        table = table.with_columns(id=pl.int_range(1, len(table) + 1).cast(pl.String))
    try:
        ids: Any = table["id"].cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise DataError.at(path, None, f"id is of type {table['id'].dtype}; expected texts or numbers") from error
    if ids.null_count() or ids.n_unique() < len(ids):
        twice = ids.filter(ids.is_duplicated() | ids.is_null())[0]
        raise DataError.at(path, None, f"id {shortened(twice)} is missing or appears twice; give each list its own")
    return table.with_columns(id=ids)
