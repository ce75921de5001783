"""Answers of search services, and past decisions and assessments, with a few changes: they count, or are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fetching.search_server import DOCUMENTS, SearchServer, elastic_answer, solr_answer
from tests.fuzz.mutations import count, mutated_json

import surefoot as sf
from surefoot.decide.history.history import ReleaseHistory
from surefoot.fetching.client import _json_of
from surefoot.fetching.fetched_run import _checked_page, _with_scores
from surefoot.fetching.services import PartialAnswerError, SearchSettings, service_of

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]
SETTINGS = SearchSettings(depth=5, page_size=5)


def answer_of(service: str) -> dict[str, Any]:
    with SearchServer(DOCUMENTS) as server:
        if service == "solr":
            return solr_answer(server, {"query": "goat", "offset": 0, "limit": 5, "fields": ["id", "score"]})
        return elastic_answer(server, {"query": {"match": {"title": "goat"}}, "size": 5, "_source": False})


@pytest.mark.parametrize("service", ["elasticsearch", "solr"])
def test_answers(service: str) -> None:
    """What is taken has distinct ids and scores in order; nothing but surefoot's own errors comes out."""
    plain, asked, taken = answer_of(service), service_of(service), 0
    for _, content in mutated_json(plain, service, count(1500), seal=lambda same: same):
        changed = _json_of(content)
        if changed is None:
            continue
        try:
            page = _checked_page(changed, service=asked, settings=SETTINGS, size=5, before={})
            hits = _with_scores(page, "q1", by_position=False)
        except (sf.SurefootError, PartialAnswerError):
            continue
        taken += 1
        assert len({hit.document for hit in hits}) == len(hits) <= 5
        if hits:
            run = sf.read_run({"q1": {hit.document: hit.score for hit in hits}})
            assert run.documents().to_list() == [hit.document for hit in hits]
    assert taken


@pytest.mark.parametrize("kind", ["decision", "assessment"])
def test_past_releases(tmp_path: Path, kind: str) -> None:
    scores = sf.Scores([[0.5, 0.4, 0.3], [0.9, 0.2, 0.1]], ["today", "new"], ["a", "b", "c"], "nDCG@10")
    if kind == "decision":
        text = sf.gate(scores, baseline="today", policy={"risk": 0.9}).to_json()
    else:
        text = sf.assess(scores, baseline="today", alphas=[5]).to_json(per_query=True)
    path, refusals = tmp_path / "2026-01-01.json", []
    for _, content in mutated_json(json.loads(text), kind, count(250), seal=lambda same: same):
        path.write_bytes(content)
        try:
            found = sf.history(tmp_path)
        except sf.SurefootError as error:
            refusals.append(str(error))
            continue
        found.to_html()
        assert ReleaseHistory.from_dict(json.loads(found.to_json())).to_dict() == found.to_dict()
    assert refusals
    assert [one for one in refusals if "2026-01-01.json" not in one and "holds no decision" not in one] == []
