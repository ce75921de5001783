"""`surefoot demo` and `demo judges`: what they write and say, and that their last line can be typed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from surefoot.report.kinds import KINDS

SCHEMA = KINDS["assessment"].json_schema()


def test_demo(surefoot, tmp_path: Path) -> None:
    code, out, _ = surefoot("demo", "-o", tmp_path / "demo", "--queries", "50")
    assert code == 0
    assert "In plain words" in out
    jsonschema.validate(json.loads((tmp_path / "demo" / "assessment.json").read_text()), SCHEMA)
    assert len(list((tmp_path / "demo").glob("*.run"))) == 12


@pytest.mark.parametrize("on_path", [True, False])
def test_demo_ends_with_a_command_that_can_be_copied(tmp_path: Path, on_path: bool) -> None:
    script = Path(sys.executable).parent / "surefoot"
    path = os.pathsep.join([str(script.parent)] * on_path + ["/usr/bin", "/bin"])
    environment = {**os.environ, "PATH": path, "COLUMNS": "60"}
    called = "surefoot" if on_path else os.path.relpath(script, tmp_path)

    def bash(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    out = bash(f"{called} demo --no-learn --queries 20 -o 'my demo'").stdout
    typed = out.splitlines()[-1]
    assert typed.split()[0] == called
    again = bash(typed)
    assert again.stderr == ""
    assert "nDCG@10 of 12 systems on 20 queries" in again.stdout


def test_the_demonstration_of_judges(surefoot, tmp_path: Path) -> None:
    line = ["demo", "judges", "-o", tmp_path / "demo", "--queries", 120]
    code, out, err = surefoot(*line)
    assert (code, err) == (0, "")
    for judge in ("good", "noisy", "lenient", "partial"):
        assert out.count(f"• {judge} (λ") == 2
        assert (tmp_path / "demo" / f"{judge}.qrels").read_text().split()[1] == "automatic"
    assert "Whoever trusts the judge believes" in out
    assert (tmp_path / "demo" / "agreement.html").is_file()
    typed = shlex.split(out.splitlines()[-1])
    code, out, err = surefoot(*typed[typed.index("gate") :])
    assert code in (0, 1, 3)
    assert err == ""
    assert "Without the judge" in out
    assert surefoot(*line)[0] == 2  # draws are never replaced unasked
    assert surefoot(*line, "--force")[0] == 0
