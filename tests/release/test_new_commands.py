"""`surefoot gate --init`, `surefoot check` and `surefoot doctor`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.cli import doctor
from surefoot.cli.probes import PROBES
from surefoot.decide.evidence.conditions import CONDITIONS
from surefoot.decide.gate.policy_template import TEMPLATE
from surefoot.decide.gate.release_policy import ReleasePolicy

ROOT = Path(__file__).parents[2]


def test_a_policy_to_start_from(surefoot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = surefoot("gate", "--init")
    assert (code, out.split(";")[0]) == (0, "Wrote policy.toml")
    assert [rule.words for rule in ReleasePolicy.read("policy.toml").rules] == ["risk ≤ 0.03", "gain > 0"]
    Path("policy.toml").write_text("risk = 0.5\n")
    code, _, err = surefoot("gate", "--init")
    assert code == 2
    assert "policy.toml already exists" in err
    assert Path("policy.toml").read_text() == "risk = 0.5\n"
    assert surefoot("gate", "--init", "other.toml", "-q")[:2] == (0, "")
    assert Path("other.toml").read_text() == TEMPLATE
    assert surefoot("gate", "--init", "--force")[0] == 0
    assert Path("policy.toml").read_text() == TEMPLATE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gate --init a.toml b.toml", "--init writes only one file, but you gave 2 names"),
        ("gate --init --risk 0.1", "remove the conditions"),
        ("gate --init --policy a.toml", "remove the conditions"),
        ("gate --init no/folder/p.toml", "cannot be written"),
    ],
)
def test_what_init_refuses(surefoot, tmp_path: Path, monkeypatch, line: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = surefoot(*line.split())
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_every_key_of_the_policy_is_explained(tmp_path: Path) -> None:
    """Also those that stand there as comments are right."""
    lines = [line.removeprefix("# ") if line.startswith(("# share", "# u_risk", "# [", "# risk")) else line
             for line in TEMPLATE.splitlines()]  # fmt: skip
    (tmp_path / "policy.toml").write_text("\n".join(lines))
    policy = ReleasePolicy.read(tmp_path / "policy.toml")
    assert {rule.name for rule in policy.rules} == set(CONDITIONS)
    assert {rule.segment for rule in policy.rules} == {None, "tail", "*"}


WRONG = [
    ("risk = 0.03\n\nriks = 0.1\n", 3, "riks is not a key of a policy"),
    ("risk = \n", 1, "is not TOML"),
    ("# x\ngain = 0\nrisk = 7  # far too much\n", 3, "risk is 7"),
    ("risk = 7\nzzz = 1\n", 2, "zzz is not a key"),
    ("risk = 0.1\nshare_hurt = [\n  1,\n]\n", 4, "share_hurt is [1]"),
    ("risk = 0.1\n[segments.a]\ngain = 0\n[segments.b]\nrisk = 0\n", 5, "segments.b.risk is 0"),
    ("risk = 0.1\n[segments.a]\n[segments.b]\nrisk = 0.1\n", 2, "segments.a has no conditions"),
    ("risk = 0.1\ndelta = 2\n", 2, "delta is 2"),
    ("# nothing\n", None, "has no conditions"),
    ("risk = 0.1\nrisk = 0.2\n", 2, "is not TOML"),
    ("a" + ".a" * 300 + " = 1\n", 1, "dots"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_check_says_where_a_policy_is_wrong(
    surefoot, tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    code, out, err = surefoot("check", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"surefoot: {path}, line {line}: " if line else f"surefoot: {path}: ")
    assert message in err


def test_check_goes_through_all_files(surefoot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(TEMPLATE)
    Path("qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n")
    Path("bad.txt").write_text("q1 0 d1 1\nq1 0 d2 x\n")
    code, out, err = surefoot("check", "bad.txt", "policy.toml", "qrels.txt", "none.toml")
    assert code == 2
    assert out.splitlines() == [
        "policy.toml: risk ≤ 0.03, gain > 0, with δ = 0.05",
        "qrels.txt: 3 judgments of 2 queries",
    ]
    assert [line.partition(":")[2].partition(":")[0] for line in err.splitlines()] == [" bad.txt, line 2", " none.toml"]
    assert surefoot("check", "policy.toml", "qrels.txt", "-q") == (0, "", "")
    assert surefoot("check")[0] == 2


def test_doctor_knows_every_extra_and_call() -> None:
    assert [part.probe for part in doctor.PARTS] == list(dict.fromkeys(part.probe for part in doctor.PARTS))
    assert {part.probe for part in doctor.PARTS} == set(PROBES)


def test_doctor_tells_of_what_works(surefoot, monkeypatch) -> None:
    chosen = tuple(part for part in doctor.PARTS if part.probe in ("scoring", "matplotlib"))
    odd = (
        doctor.InstalledPart("onnx", "onnx", ("no-such-distribution",)),
        doctor.InstalledPart("no-such-probe", "plots", ("numpy",)),
    )
    monkeypatch.setattr(doctor, "PARTS", (*chosen, *odd))
    code, out, _ = surefoot("doctor", "--json")
    data = json.loads(out)
    assert (code, data["schema"], data["sound"]) == (0, "surefoot/doctor/1", True)
    found = {one["name"]: one for one in data["parts"]}
    assert [one["status"] for one in data["parts"]] == ["works", "works", "missing", "broken"]
    assert found["onnx"]["detail"] == 'pip install "surefoot[onnx]"'
    assert set(found["scoring"]["versions"]) == {"numpy", "scipy", "polars"}
    assert "KeyError" in found["no-such-probe"]["detail"]


def test_doctor_survives_a_core_that_does_not_import(tmp_path: Path, monkeypatch) -> None:
    """As where NumPy or Polars was built for another processor."""
    for name, text in (
        ("numpy", "raise ImportError('built for another machine')"),
        ("polars", "import os; os.abort()"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    source = str(Path(doctor.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{source}")
    program = "import surefoot.cli.doctor as d; d.PARTS = d.PARTS[:2]; from surefoot.cli import main; main()"
    line = [sys.executable, "-c", program, "doctor"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "broken" in done.stdout
    assert "The core does not work" in done.stdout


@pytest.mark.heavy
def test_doctor_of_all(surefoot) -> None:
    code, out, _ = surefoot("doctor")
    assert code == 0
    assert "broken" not in out, out
