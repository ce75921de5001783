"""What a policy file holds beside its conditions: judgments, the live run, the measure, the record and more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.decide.gate.release_policy import ReleasePolicy, ReleaseSettings
from surefoot.errors import ArgumentError, DataError

TEXT = """
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
    (tmp_path / "release.toml").write_text(TEXT)
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
    (tmp_path / "release.toml").write_text(TEXT)
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
