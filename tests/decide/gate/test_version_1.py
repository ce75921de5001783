"""Decisions that version 1 wrote: they are read, and have the keys of today."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import surefoot as sf
from surefoot.decide.gate.decision_data import decision_schema

OLD = Path(__file__).with_name("decision_1.json")


def test_an_old_decision_is_read_with_the_keys_of_today() -> None:
    old, decision = json.loads(OLD.read_text(encoding="utf-8")), sf.Decision.read(OLD)
    data = decision.to_dict()
    jsonschema.validate(data, decision_schema(strict=True))
    assert [one["status"] for one in decision.conditions] == [one["found"] for one in old["conditions"]]
    assert data["ledger"]["repeated"] is old["ledger"]["again"] is False
    assert data["ledger"]["delta_requested"] == old["ledger"]["delta_asked"] == 0.05
    assert "U_Risk(1) > -1.5 holds" in decision.to_text(width=1000)
    assert data["per_query"] == old["per_query"]


def test_what_a_new_one_says_of_the_same_scores(tmp_path: Path) -> None:
    data = sf.Decision.read(OLD).to_dict()
    held = data["per_query"]
    scores = sf.Scores([held["baseline"], held["candidate"]], ["today", "new"], held["query"], "nDCG@10")
    policy = {"risk": 0.5, "u_risk": {"alpha": 1, "above": -1.5}}
    new = sf.gate(scores, baseline="today", policy=policy, ledger=tmp_path / "ledger.json").to_dict()
    assert new["conditions"] == data["conditions"]
    assert new["ledger"] == data["ledger"]


@pytest.mark.parametrize("change", [{"conditions": 3}, {"conditions": [3]}, {"ledger": 3}, {"conditions": [{}]}])
def test_an_old_decision_of_another_shape_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "decision.json"
    path.write_text(json.dumps(json.loads(OLD.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(sf.DataError, match=r"decision\.json: is (not|damaged)"):
        sf.Decision.read(path)
