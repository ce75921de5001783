"""What users may rely on is written down: a change of it is seen where it is made (docs/stability.md)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import surefoot  # noqa: F401  # a fixture
from tools.surface import changes, surface

import surefoot as sf

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("surface.txt")


def test_the_surface_is_the_one_that_is_written_down() -> None:
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    found = changes(recorded, surface())
    assert not found, "\n".join([*found, "if that is meant: python -m tools.surface > tests/surface.txt"])
    assert len(recorded) <= 700


def test_what_changed_is_said() -> None:
    recorded = ["surefoot gate  --risk --gain", "surefoot rank  -o", "sf.load  folder", "sf.NeuralRanker.fit  X"]
    now = ["surefoot gate  --risk --html", "sf.load  folder *", "sf.new", "sf.NeuralRanker  not installed"]
    assert changes(recorded, now) == [
        "surefoot gate: no longer --gain; new --html",
        "surefoot rank is gone",
        "sf.load: new *",
        "sf.new is new",
    ]
    assert changes(recorded, recorded) == []


def test_exit_codes_are_those_that_the_page_promises(surefoot, tmp_path: Path) -> None:  # noqa: F811
    text = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    promised = {what: int(code) for code, what in re.findall(r"^\| (\d) \| (\w+)", text, re.MULTILINE)}
    made = sf.demo.runs(queries=100)
    sf.score(made.qrels, made.runs, "nDCG@10").write(tmp_path / "scores.csv")
    line = ["gate", "--scores", tmp_path / "scores.csv", "-b", "today", "-q"]
    found = {
        "ship": surefoot(*line, "-c", "steady", "--risk", "0.5")[0],
        "stop": surefoot(*line, "-c", "bold", "--risk", "0.001")[0],
        "error": surefoot(*line, "-c", "none", "--risk", "0.5")[0],
        "undecided": surefoot(*line, "-c", "bold", "--gain", "0.13")[0],
    }
    assert found == promised
