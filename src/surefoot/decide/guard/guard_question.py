"""A calibration as a question of a record, and the draws that the record has for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from surefoot.data.hashes import json_hash
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.record import NamedLists, Question, QuestionEntry, Record
from surefoot.decide.evidence.strata import Strata
from surefoot.decide.guard.calibration import JudgedListPair
from surefoot.decide.guard.certificate_data import CertificateRecordData
from surefoot.errors import ArgumentError

_ROUNDING = 1e-9


def draws_of_record(record: Record, judged: JudgedListPair, sample: Draws | Strata | None) -> Draws | Strata | None:
    """All draws that the record has for these lists, one after the other; else the sample that was given."""
    if isinstance(sample, Draws):
        raise ArgumentError(
            "a record holds the draws itself, so that none is skipped or used twice; leave the draws out, and draw "
            "with surefoot judge next --record"
        )
    if sample is not None or not record.draws:
        record.check_not_drawn(judged.judged.queries)
        return sample
    row_of = {query: row for row, query in enumerate(judged.judged.queries)}
    could_lose = judged.worst_case()

    def fits(draws: Draws) -> bool:
        known = [at for at, query in enumerate(draws.queries) if query in row_of]
        apart = could_lose[[row_of[draws.queries[at]] for at in known]] - draws.could_lose[known]
        return draws.measure == str(judged.measure) and bool(known) and bool((np.abs(apart) <= _ROUNDING).all())

    own = [draws for draws in record.draws if fits(draws)]
    if own:
        same = (draws for draws in record.draws if draws.kind == own[-1].kind)
        return reduce(Draws._followed_by, same)  # those with unjudged queries are refused where they are used
    record.check_not_drawn([*row_of])
    return None


def guard_question(
    record: Record, candidate: NamedLists, judged: JudgedListPair, sample: JudgedQueries, claim: Mapping[str, Any],
    chosen: Draws | Strata | None,
) -> Question:  # fmt: skip
    """The record's question that this calibration is: the same scores and claim again are no new one."""
    draws = chosen if isinstance(chosen, Draws) else None
    queries = [*(judged.judged.queries if draws is None else draws.queries)]
    settings = {"measure": str(judged.measure), "claim": dict(claim), "sample": json_hash(_sorted_scores(sample))}
    for question in record.questions:
        if question.data["asked_by"] == "guard" and question.data["settings"] == settings:
            return question
    level = record.level(candidate, queries, float(claim["delta"]), fresh=draws is not None)
    entry: QuestionEntry = {
        "kind": "question", "asked_by": "guard", "settings": settings, "candidate": candidate,
        "baseline": {"name": "", "lists": None}, "budget": None, "rules": claim["rules"], "sizes": {},
        "fresh": draws is not None, "queries": queries, "number": level.number, "delta": level.delta,
    }  # fmt: skip
    record.add(entry)
    return record.questions[-1]


def certificate_record(question: Question, delta: float) -> CertificateRecordData:
    """What a certificate says of its question."""
    return {
        "question": question.number, "number": question.data["number"], "delta_requested": delta,
        "sha256": question.hashes[0],
    }  # fmt: skip


def _sorted_scores(sample: JudgedQueries) -> list[list[Any]]:
    """Everything of the sample that a calibration depends on, whatever order it came in."""
    data = dict(sample.to_dict())
    del data["segments"]
    columns = [column for column in data.values() if isinstance(column, list)]
    return sorted(map(list, zip(*columns, strict=True)), key=repr)
