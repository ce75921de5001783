"""A decision's page: the front states the decision, and hurt queries lead to the rankings that were decided on."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.decide.gate.test_decision_outputs import HOSTILE, KINDS, decided

import surefoot as sf
from surefoot.decide.gate.decision_page import front, hurt_rankings
from surefoot.report.provenance import Provenance

FIRST = {"ship": "Ship new in place of today: ", "stop": "Keep today, stop new: ", "undecided": ""}
CHIPS = {"ship": ("Ship", "ship"), "stop": ("Stop", "keep"), "undecided": ("Undecided", "wait")}


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [str(value) for name, value in attrs if name in ("src", "href", "style", "onload", "onclick")]


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    made = sf.demo.runs(queries=120)
    return sf.score(made.qrels, made.runs, "nDCG@10")


pytestmark = pytest.mark.usefixtures("few")


@pytest.mark.parametrize("kind", KINDS)
def test_the_front_states_the_decision(kind: str) -> None:
    data = decided(kind).to_dict()
    shown = front(data)
    assert shown.headline.startswith(FIRST[kind])
    assert shown.chip == CHIPS[kind]
    assert 4 <= len(shown.tiles) <= 6
    worst = {"ship": "holds", "stop": "fails", "undecided": "open"}[kind]
    assert shown.tiles[0].note.startswith(worst)


def test_a_share_of_queries_is_told_in_words_and_percent() -> None:
    scores = sf.Scores([[0.5] * 200, [0.1] * 60 + [0.6] * 140], ["today", "new"], range(200), "nDCG@10")
    decision = sf.gate(scores, baseline="today", policy={"share_hurt": 0.1})
    page = decision.to_html()
    assert "share_hurt" not in page
    assert front(decision.to_dict()).headline == (
        "Keep today, stop new: share of badly hurt queries ≤ 10 % fails, with 95 % confidence."
    )
    tile = front(decision.to_dict()).tiles[0]
    assert (tile.label, tile.note) == ("share of badly hurt queries ≤ 10 %", "fails; observed 30.00 %")
    assert re.fullmatch(r"≥ 2\d\.\d\d %", tile.value)
    assert ">10 %</text>" in page
    assert "the share of queries that lose over 20 % is at least 2" in page


USE = {
    "question": 1, "number": 1, "delta_requested": 0.05, "spent": 0.04, "budget": None, "sha256": "0" * 64,
    "looks": [{"queries": 200, "decision": "undecided"}], "waiting": {"queries": 0, "first": []},
    "changed": {"queries": 0, "first": []},
}  # fmt: skip


def test_undecided_says_how_many_more_queries_to_judge() -> None:
    data = decided("undecided").to_dict()
    start = "Keep today. On these 200 judged queries, new breaks gain > 0 (−0.0009), but that may be chance. "
    more = front(data | {"queries_needed": 350}).headline
    assert (
        more
        == f"{start}About 350 judged queries in a new sample would prove it either way; a better candidate is cheaper."
    )
    again = front(data | {"queries_needed": 350, "record": USE}).headline
    assert again == f"{start}About 150 more queries would prove it either way."
    none = front(data | {"queries_needed": None}).headline
    assert none == f"{start}Even 400 judged queries would probably not prove it either way."
    holds = [one | {"observed": 0.001 if one["name"] == "risk" else 0.01} for one in data["conditions"]]
    start = "We cannot tell yet, so keep today. risk ≤ 0.005 and gain > 0 are not proved. "
    alone = front(data | {"queries_needed": 8424, "conditions": holds}).headline
    assert alone == (
        f"{start}This look stands alone: about 8,400 judged queries in a new sample would decide in 8 of 10 cases."
    )
    holds[1]["status"] = "holds"
    again = front(data | {"queries_needed": 309, "conditions": holds, "record": USE}).headline
    assert again == (
        "We cannot tell yet, so keep today. gain > 0 is proved; risk ≤ 0.005 is not. About 109 more queries would "
        "decide in 8 of 10 cases."
    )


def test_cautions() -> None:
    data = decided("ship").to_dict()
    assert front(data).caution is None
    assert "3 judged queries were left out, because a run does not answer them" in str(
        front(data | {"dropped": 3}).caution
    )
    counts = {"treatment": "count", "left_out": 0, "no_answer": 0, "no_relevant": 2, "both_zero": 0}
    assert "2 judged queries (2 without a relevant document) cannot" in str(
        front(data | {"unanswered": counts}).caution
    )
    assert front(data | {"record": USE}).caution is None
    spent = USE | {"spent": 0.08}
    assert "have together spent 0.08, more than δ = 0.05" in str(front(data | {"record": spent}).caution)
    changed = USE | {"changed": {"queries": 3, "first": ["q1"]}}
    assert "3 queries have other scores now" in str(front(data | {"record": changed}).caution)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_one_file(kind: str, tmp_path: Path) -> None:
    decision = decided(kind, ("today", "<new>"), HOSTILE)
    decision.write(tmp_path / "page.html", provenance=Provenance("Release <7>", "surefoot gate …"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(page)
    assert set(reader.outside) == {"data:,", "#main-content"}
    assert reader.tags.count("svg") == 2
    assert reader.tags.count("dialog") == 0  # scores alone have no rankings
    assert "Release &lt;7&gt;" in page
    assert "surefoot gate …" in page


def lists_of(run: sf.Run, query: str) -> list[str]:
    ranked = run.to_dict()[query]
    return sorted(sorted(ranked, reverse=True), key=lambda document: -ranked[document])[:20]


def unpacked(results: dict[str, Any], system: int, ids: list[str]) -> list[list[str]]:
    """Slow and obvious: the documents of each query, as page_results packs them."""
    import base64

    def numbers(packed: dict[str, Any]) -> list[int]:
        raw, width = base64.b64decode(packed["data"]), packed["width"]
        return [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]

    entry = results["systems"][system]
    documents, lengths = iter(numbers(entry["documents"])), numbers(entry["lengths"])
    if entry["places"] is None:
        return [[ids[next(documents)] for _ in range(length)] for length in lengths]
    places, base = iter(numbers(entry["places"])), unpacked(results, 0, ids)
    return [
        [base[query][place - 1] if (place := next(places)) else ids[next(documents)] for _ in range(length)]
        for query, length in enumerate(lengths)
    ]


def ids_of(results: dict[str, Any]) -> list[str]:
    import base64

    coded = results["ids"]
    raw, width = base64.b64decode(coded["shared"]["data"]), coded["shared"]["width"]
    shared = [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]
    ids, last = [], ""
    for skip, rest in zip(shared, coded["rest"].split(coded["separator"]), strict=True):
        last = last[:skip] + rest
        ids.append(last)
    return ids


def test_hurt_queries_have_both_rankings(scores: sf.Scores) -> None:
    decision = sf.gate(scores, candidate="bold", baseline="today", policy={"risk": 0.03})
    data = decision.to_dict()
    title = next(iter(lists_of(scores.runs[0], data["most_hurt"][0]["query"])))
    rankings = hurt_rankings(data, scores, {title: "A goat on a ledge"})
    assert rankings is not None
    assert rankings["queries"] == [one["query"] for one in data["most_hurt"]]
    assert rankings["scores"] == [[one[side] for one in data["most_hurt"]] for side in ("baseline", "candidate")]
    ids = ids_of(rankings["results"])
    assert rankings["texts"]["documents"][ids.index(title)] == "A goat on a ledge"
    runs = {run.name: run for run in scores.runs}
    for number, system in enumerate(("today", "bold")):
        expected = [lists_of(runs[system], query) for query in rankings["queries"]]
        assert unpacked(rankings["results"], number, ids) == expected
    page = decision.to_html()
    assert page.count("data-place=") == len(data["most_hurt"])
    assert '<dialog id="query"' in page
    assert len(page) < 200_000


def test_no_rankings_no_links(scores: sf.Scores) -> None:
    alone = sf.Scores(scores.values, scores.systems, scores.queries, scores.measure)
    for given in (alone, scores):
        decision = sf.gate(given, candidate="bold", baseline="today", policy={"risk": 0.03})
        again = sf.Decision.from_dict(json.loads(decision.to_json()))
        for page in (again.to_html(), *([] if given is scores else [decision.to_html()])):
            assert "data-place=" not in page
            assert "<dialog" not in page


def test_long_names_are_there_in_full() -> None:
    page = decided("stop", ("today", "x" * 300)).to_html()
    assert f"full name: {'x' * 300}." in page
    assert re.search("x…x|x \\.\\.\\. x|x{20}", page)
