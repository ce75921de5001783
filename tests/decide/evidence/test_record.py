"""The record: levels by families, a chain of entries, and what becomes of a file that is not as it was written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.data.hashes import seal
from surefoot.decide.evidence.judge_next import sample_next
from surefoot.decide.evidence.record import Record, level_of, read_record

TODAY = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(40)}
NEW = {f"q{i}": {"a": 1.0, "b": 2.0} if i % 3 else {"a": 2.0, "b": 1.0} for i in range(40)}


def names(start: int, end: int) -> list[str]:
    return [f"q{i}" for i in range(start, end)]


def question(
    record: Record, queries: list[str], candidate: str, *, lists: str | None = None, fresh: bool = False
) -> Any:
    system = {"name": candidate, "lists": lists or f"lists of {candidate}"}
    level = record.level(system, queries, 0.05, fresh=fresh)
    record.add(
        {
            "kind": "question", "asked_by": "controller", "settings": {}, "baseline": {"name": "today", "lists": None},
            "candidate": system, "budget": None, "rules": [], "sizes": {}, "fresh": fresh, "queries": queries,
            "number": level.number, "delta": level.delta,
        }
    )  # fmt: skip
    return level


def numbers(*questions: tuple[Any, ...]) -> list[int]:
    record = Record()
    return [question(record, *one[:2], **(one[2] if len(one) > 2 else {})).number for one in questions]


def test_the_published_levels() -> None:
    assert [round(level_of(j, 0.05), 6) for j in (1, 2, 3)] == [0.04, 0.006079, 0.00152]
    assert math.fsum(level_of(j, 0.05) for j in range(1, 100_000)) <= 0.05


def test_a_set_that_differs_by_a_query_is_no_new_set() -> None:
    assert numbers((names(0, 100), "a"), (names(1, 101), "b"), (names(0, 99), "c")) == [1, 2, 3]
    assert numbers((names(0, 100), "a"), (names(100, 200), "b")) == [1, 1]


@pytest.mark.parametrize(("shared", "number"), [(9, 1), (10, 2)])
def test_a_tenth_of_either_set_makes_a_family(shared: int, number: int) -> None:
    small, large = names(0, 100), names(100 - shared, 1100 - shared)
    assert numbers((small, "a"), (large, "b"))[1] == number
    assert numbers((large, "a"), (small, "b"))[1] == number


def test_families_that_a_set_joins_become_one_and_tell_what_they_spent() -> None:
    first, second, both = names(0, 100), names(100, 200), names(50, 150)
    record = Record()
    levels = [question(record, *one) for one in ((first, "a"), (first, "b"), (second, "c"), (both, "d"), (second, "e"))]
    assert [level.number for level in levels] == [1, 2, 1, 4, 5]
    assert levels[2].spent == pytest.approx(0.04)
    assert levels[3].spent == pytest.approx(0.04 + level_of(2, 0.05) + 0.04 + level_of(4, 0.05))
    kept = record.level_kept(record.questions[0])  # its level stays; its family spent more than δ
    assert (kept.number, kept.delta) == (1, pytest.approx(0.04))
    assert kept.spent == pytest.approx(math.fsum(level.delta for level in levels))
    assert kept.spent > 0.05


def test_fresh_draws_are_a_new_set_for_another_candidate_only() -> None:
    some = names(0, 50)
    fresh = {"fresh": True}
    assert numbers((some, "a", fresh), (some, "b", fresh), (names(50, 99), "a", fresh), (some, "c")) == [1, 1, 2, 4]


def test_the_same_candidate_is_of_one_family_whatever_its_name() -> None:
    one, other = ({"lists": "the same lists", "fresh": True} for _ in range(2))
    assert numbers((names(0, 50), "a", one), (names(50, 99), "b", other)) == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40), st.booleans()), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_family_never_gets_more_than_delta_at_once(sets: list[tuple[int, int, bool]]) -> None:
    """Whatever is asked, questions that are related when the last is asked, and were so one by one, keep to δ."""
    record = Record()
    for number, (start, size, fresh) in enumerate(sets):
        level = question(record, names(start, start + size), f"c{number}", fresh=fresh)
        assert level.delta == level_of(level.number, 0.05)
        assert 1 <= level.number <= number + 1
        assert level.spent >= level.delta


# The file.


def written(path: Path) -> dict[str, Any]:
    for seed in (1, 2):
        sf.judge_next(NEW, baseline=TODAY, measure="nDCG@5", n=10, seed=seed, record=path)
    sample_next(NEW, TODAY, 5, path, seed=3)
    return json.loads(path.read_text())


def test_a_record_is_read_back(tmp_path: Path) -> None:
    data = written(tmp_path / "r.json")
    record = read_record(tmp_path / "r.json")
    assert [chained["entry"]["kind"] for chained in data["entries"]] == ["draws", "draws", "sample"]
    assert (len(record.draws), record.sampled) == (2, data["entries"][2]["entry"]["queries"])
    assert record.head == data["entries"][2]["sha256"]


def changes() -> dict[str, Any]:
    def without(at: int) -> Any:
        return lambda entries: entries[:at] + entries[at + 1 :]

    def changed(entries: list[Any]) -> list[Any]:
        entries[1]["entry"]["draws"]["seed"] = 9
        return entries

    def longer(entries: list[Any]) -> list[Any]:
        entries[2]["entry"]["queries"] = entries[2]["entry"]["queries"][:-1]
        return entries

    return {
        "an entry cut out": without(1), "the first cut out": without(0), "two exchanged": lambda e: [e[1], e[0], e[2]],
        "an entry twice": lambda e: [*e, e[2]], "a seed changed": changed, "a query less": longer,
    }  # fmt: skip


@pytest.mark.parametrize("what", changes())
def test_entries_that_do_not_follow_are_refused_even_if_sealed(what: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    data = written(path)
    data["entries"] = changes()[what](data["entries"])
    path.write_text(json.dumps(seal(data)))
    with pytest.raises(sf.DataError, match=r"r\.json: entry \d does not follow .*restore the newest copy"):
        read_record(path)


def test_a_record_that_was_shortened_or_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    data = written(path)
    for content in (
        json.dumps(data | {"entries": data["entries"][:-1]}), json.dumps({**data, "sha256": ""}),
        json.dumps(seal(data | {"entries": [{"entry": {"kind": "look"}, "sha256": "x"}]})),
        json.dumps(seal(data | {"entries": [{"entry": {"kind": "odd"}, "sha256": "x"}]})),
        json.dumps(seal(data | {"entries": 3})), path.read_text()[:-40], "{", "[]", "",
        '{"schema": "surefoot/draws/2"}',
    ):  # fmt: skip
        path.write_text(content)
        with pytest.raises(sf.DataError, match=r"r\.json"):
            read_record(path)
        with pytest.raises(sf.DataError, match=r"r\.json"):
            sf.judge_next(NEW, baseline=TODAY, measure="nDCG@5", n=10, record=path)
        assert path.read_text() == content


def test_a_seed_is_drawn_with_once(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    sf.judge_next(NEW, baseline=TODAY, measure="nDCG@5", n=10, seed=7, record=path)
    before = path.read_bytes()
    with pytest.raises(sf.DataError, match="the same seed repeats them"):
        sf.judge_next(NEW, baseline=TODAY, measure="nDCG@5", n=15, seed=7, record=path)
    assert path.read_bytes() == before
    sf.judge_next(NEW, baseline=TODAY, measure="nDCG@5", n=15, record=path)


def test_a_uniform_sample_goes_on_in_one_order(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    parts = [sample_next(NEW, TODAY, n, path)["queries"] for n in (10, 5, 25)]
    together = [query for part in parts for query in part]
    assert sorted(together) == sorted(TODAY)
    assert together != sorted(TODAY)
    with pytest.raises(sf.ArgumentError, match="the log has 40 queries, of which 40 were given out before"):
        sample_next(NEW, TODAY, 1, path)
    other = tmp_path / "other.json"
    assert sample_next(NEW, TODAY, 10, other)["queries"] != parts[0]
    with pytest.raises(sf.ArgumentError, match="leave out the seed"):
        sample_next(NEW, TODAY, 1, other, seed=1)
    fewer = {query: ranked for query, ranked in NEW.items() if query != "q0"}
    with pytest.raises(sf.DataError, match="of 40 queries, but these runs answer others"):
        sample_next(fewer, {query: TODAY[query] for query in fewer}, 1, other)
