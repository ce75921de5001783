"""Policies: TOML and dicts say the same, and what is no policy is refused with its file and key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.gate.release_policy import ReleasePolicy, ReleaseSettings
from surefoot.errors import ArgumentError, DataError, SurefootError

TEXT = """
risk = 0.02
share_hurt = 0.05
gain = 0.0
u_risk = {alpha = 5, above = -0.1}
delta = 0.01

[segments.head]
risk = 0.01

[segments."*"]
gain = -0.05
"""


def test_toml_and_dicts_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(TEXT)
    read = ReleasePolicy.read(tmp_path / "policy.toml")
    given = ReleasePolicy.read(
        {
            "segments": {"head": {"risk": 0.01}, "*": {"gain": -0.05}},
            "u_risk": {"alpha": 5, "above": -0.1}, "gain": 0, "share_hurt": 0.05, "risk": 0.02, "delta": 0.01,
        }
    )  # fmt: skip
    assert read == given
    assert read.delta == 0.01
    assert read.rules == (
        ConditionRule("risk", 0.02), ConditionRule("share_hurt", 0.05), ConditionRule("gain", 0.0),
        ConditionRule("u_risk", -0.1, 5.0), ConditionRule("risk", 0.01, segment="head"),
        ConditionRule("gain", -0.05, segment="*"),
    )  # fmt: skip
    assert ReleasePolicy.read(read) is read


WRONG = [
    ("", "has no conditions"),
    ("delta = 0.05", "has no conditions"),
    ("risk = 0", "risk is 0; it must be above 0 and below 1 (no number of queries"),
    ("risk = 1", "risk is 1; it must be above 0 and below 1"),
    ("risk = -0.1", "risk is -0.1"),
    ("risk = nan", "risk is nan; it must be a number"),
    ("risk = true", "risk is True; it must be a number"),
    ('risk = "0.02"', "risk is '0.02'; it must be a number"),
    ("share_hurt = 2", "share_hurt is 2"),
    ("gain = 1", "gain is 1; it must be above -1 and below 1"),
    ("gain = -1", "gain is -1"),
    ("u_risk = 0", "write {alpha = 5, above = 0.0}"),
    ("u_risk = {alpha = 5}", "write {alpha = 5, above = 0.0}"),
    ("u_risk = {alpha = -1, above = 0}", "u_risk.alpha is -1"),
    ("u_risk = {alpha = 5, above = -6}", "u_risk.above is -6; with alpha = 5 it must be above -6 and below 1"),
    ("riks = 0.02", "riks is not a key of a policy; did you mean risk?"),
    ("risk = 0.02\ndelta = 0", "delta is 0; it must be from 1e-12 to 0.5"),
    ("risk = 0.02\ndelta = 0.9", "delta is 0.9"),
    ("segments = 3", "segments is 3"),
    ("[segments]\nhead = 3", "segments.head is 3"),
    ("[segments.head]", "segments.head has no conditions"),
    ("[segments.head]\nrisk = 0", "segments.head.risk is 0"),
    ("[segments.head]\ndelta = 0.1", "segments.head.delta is not a key of a policy"),
    ('[segments." "]\nrisk = 0.1', "a segment has the name ' '"),
    ("risk = ", "is not TOML"),
    ("risk = 0.1\nrisk = 0.2", "is not TOML"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_refused_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text + "\n")
    with pytest.raises(DataError) as caught:
        ReleasePolicy.read(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("source", [3, None, ["risk"], {"risk": None}, {3: 0.1}, {"risk": 10**400}])
def test_what_is_no_policy(source: object) -> None:
    with pytest.raises(ArgumentError):
        ReleasePolicy.read(source)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"risk = 0.02\x00"])
def test_files_that_are_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(content)
    with pytest.raises(SurefootError, match=r"policy\.toml"):
        ReleasePolicy.read(path)


# What a policy file holds beside its conditions: judgments, the live run, the measure, the record and more.


SETTLED = """
risk = 0.02
qrels = "qrels.txt"
baseline = "today.run"
measure = "AP"
record = "../release.json"
sample = "draws.json"
[segments]
file = "segments.csv"
tail.risk = 0.05
"""


def test_paths_are_relative_to_the_policy(tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(SETTLED)
    (tmp_path / "today.run").write_text("")
    policy = ReleasePolicy.read(tmp_path / "release.toml")
    assert policy.settings == ReleaseSettings(
        qrels=f"{tmp_path}/qrels.txt", baseline=f"{tmp_path}/today.run", measure="AP",
        record=f"{tmp_path}/../release.json", segments=f"{tmp_path}/segments.csv", sample=f"{tmp_path}/draws.json",
    )  # fmt: skip
    assert [(rule.name, rule.segment) for rule in policy.rules] == [("risk", None), ("risk", "tail")]
    (tmp_path / "today.run").unlink()
    assert ReleasePolicy.read(tmp_path / "release.toml").settings.baseline == "today.run"  # a name


def test_settings_are_no_part_of_the_question(tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(SETTLED)
    plain = {"risk": 0.02, "segments": {"tail": {"risk": 0.05}}}
    assert ReleasePolicy.read(tmp_path / "release.toml").to_dict() == ReleasePolicy.read(plain).to_dict()


def test_segments_may_be_a_file_alone(tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text('risk = 0.02\nsegments = "kinds.csv"\n')
    changed = ReleasePolicy.read(tmp_path / "release.toml", {"segments": {"tail": {"risk": 0.05}}})
    assert changed.settings.segments == f"{tmp_path}/kinds.csv"
    assert changed.rules[-1].segment == "tail"
    named = ReleasePolicy.read({"risk": 0.02, "segments": {"file": {"risk": 0.1}}})
    assert (named.settings.segments, named.rules[-1].segment) == (None, "file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qrels = 3", "qrels is 3; write a text"),
        ('record = ""', "record is ''; write a text"),
        ("segments = 3", "segments is 3"),
        ("segments.file = 3", "segments is 3; write a text"),
        ('qrel = "q"', "qrel is not a key of a policy; did you mean qrels?"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "release.toml").write_text(f"risk = 0.1\n{text}\n")
    with pytest.raises(DataError, match=r"release\.toml") as caught:
        ReleasePolicy.read(tmp_path / "release.toml")
    assert message in str(caught.value)
    with pytest.raises(ArgumentError):
        ReleasePolicy.read({"risk": 0.1, "segments": {"tail": {"qrels": "x"}}})


def test_python_takes_what_stays_from_the_file_too(tmp_path: Path) -> None:
    """A record in the file that is dropped would be a look that nobody counts."""
    values = np.random.default_rng(0).uniform(0.2, 0.7, (2, 60))
    scores = sf.Scores(values, ["today", "new"], [f"q{n}" for n in range(60)], "nDCG@10")
    file = tmp_path / "release.toml"
    file.write_text('risk = 0.3\nbaseline = "today"\nrecord = "release.json"\nmeasure = "nDCG@10"\n')
    decided = sf.gate(scores, policy=file)
    assert (decided.baseline, decided.record["number"]) == ("today", 1)
    assert (tmp_path / "release.json").exists()
    own = sf.gate(scores, policy=file, baseline="new", record=tmp_path / "own.json")
    assert own.baseline == "new"
    file.write_text('risk = 0.3\nbaseline = "today"\nmeasure = "AP"\n')
    with pytest.raises(ArgumentError, match="the policy is for 'AP', and the scores are 'nDCG@10'"):
        sf.gate(scores, policy=file)
    (tmp_path / "today.run").write_text("q0 Q0 d 1 1 t\n")
    file.write_text('risk = 0.3\nbaseline = "today.run"\n')
    assert sf.gate(scores, policy=file).baseline == "today"
