"""Certificates and guards that version 1 wrote, and names that it had: all of them still work."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import check_seal
from surefoot.decide.guard.certificate_data import KEYS_OF_VERSION_1, certificate_schema
from surefoot.errors import ArgumentError, DataError

CERTIFICATE = Path(__file__).with_name("certificate_1.json")
NEW = {f"q{i}": ["a", "b"] for i in range(9)}
TODAY = {query: ["b", "a"] if query < "q5" else ["a", "b"] for query in NEW}


def test_an_old_certificate_is_read_with_the_keys_of_today(tmp_path: Path) -> None:
    old, certificate = json.loads(CERTIFICATE.read_text(encoding="utf-8")), sf.Certificate.read(CERTIFICATE)
    jsonschema.validate(certificate.to_dict(), certificate_schema(strict=True))
    check_seal(certificate.to_dict(), "the certificate")
    for before, now in KEYS_OF_VERSION_1.items():
        assert certificate[now] == certificate[before] == old[before]
        assert before not in certificate.to_dict()
    certificate.write_json(tmp_path / "c.json")
    assert sf.Certificate.read(tmp_path / "c.json").to_dict() == certificate.to_dict()
    with pytest.raises(DataError, match="was changed after surefoot wrote it"):
        sf.Certificate.from_dict(old | {"level": 0.1})


def test_the_old_names_of_a_scorer() -> None:
    def made(**settings: object) -> sf.RiskGuard:
        return sf.RiskGuard(NEW, baseline=TODAY, level=0.9, measure="RR@10", **settings)

    def own(lists: object) -> np.ndarray:
        return np.ones(len(NEW))

    qrels = {query: {"a": 1} for query in NEW}
    halves = {q: d for q, d in qrels.items() if q < "q3"}, {q: d for q, d in qrels.items() if q >= "q3"}
    assert made(gate=own).scorer.name == made(scorer=own).scorer.name == "own function"
    old = made(gate="predicted_gain:isotonic").fit_gate(halves[0]).calibrate(halves[1])
    new = made(scorer="predicted_gain:isotonic").fit_scorer(halves[0]).calibrate(halves[1])
    assert old.certificate_.to_dict() == new.certificate_.to_dict()
    with pytest.raises(ArgumentError, match="gate is the old name of scorer"):
        made(gate=own, scorer=own)
