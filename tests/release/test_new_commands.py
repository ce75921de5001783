"""`surefoot check`: policies, judgments, a policy to start from, and what is installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from surefoot.cli import check
from surefoot.decide.evidence.conditions import CONDITIONS
from surefoot.decide.gate.release_policy import ReleasePolicy, policy_template

ROOT = Path(__file__).parents[2]


def test_a_policy_to_start_from(surefoot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = surefoot("check", "--new-policy", "release.toml")
    assert (code, out.split(";")[0]) == (0, "Wrote release.toml")
    assert [rule.words for rule in ReleasePolicy.read("release.toml").rules] == ["risk ≤ 0.03", "gain > 0"]
    Path("release.toml").write_text("risk = 0.5\n")
    code, _, err = surefoot("check", "--new-policy", "release.toml")
    assert code == 2
    assert "release.toml already exists" in err
    assert Path("release.toml").read_text() == "risk = 0.5\n"
    assert surefoot("check", "--new-policy", "other.toml", "-q")[:2] == (0, "")
    assert Path("other.toml").read_text() == policy_template()
    assert surefoot("check", "--new-policy", "release.toml", "--force")[0] == 0
    assert Path("release.toml").read_text() == policy_template()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check --new-policy a.toml b.toml", "leave out files"),
        ("check --new-policy a.toml --json -", "leave out files"),
        ("check --new-policy no/folder/p.toml", "cannot be written"),
        ("check qrels.txt --json -", "takes no files"),
    ],
)
def test_what_check_refuses(surefoot, tmp_path: Path, monkeypatch, line: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = surefoot(*line.split())
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_every_key_of_the_policy_is_explained(tmp_path: Path) -> None:
    """Also those that stand there as comments are right."""
    lines = [line.removeprefix("# ") if line.startswith(("# share", "# u_risk", "# [", "# risk")) else line
             for line in policy_template().splitlines()]  # fmt: skip
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
    Path("policy.toml").write_text(policy_template())
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


def test_every_extra_is_looked_at() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {part.extra for part in check.PARTS} == {"core", *extras} - {"all"}


def test_what_is_installed(surefoot, monkeypatch) -> None:
    core, plots = (part for part in check.PARTS if part.modules[0] in ("numpy", "matplotlib"))
    odd = (
        check.InstalledPart(("onnx",), "onnx", ("no-such-distribution",)),
        check.InstalledPart(("no_such_module",), "plots", ("numpy",)),
    )
    monkeypatch.setattr(check, "PARTS", (core, plots, *odd))
    code, out, _ = surefoot("check", "--json", "-")
    data = json.loads(out)
    assert (code, data["schema"], data["sound"]) == (0, "surefoot/installed/1", True)
    found = {one["name"]: one for one in data["parts"]}
    assert [one["status"] for one in data["parts"]] == ["works", "works", "missing", "broken"]
    assert found["onnx"]["detail"] == 'pip install "surefoot[onnx]"'
    assert set(found["numpy, scipy, polars"]["versions"]) == {"numpy", "scipy", "polars"}
    assert "No module named 'no_such_module'" in found["no_such_module"]["detail"]


def test_a_core_that_does_not_import(tmp_path: Path, monkeypatch) -> None:
    """As where NumPy or Polars was built for another processor."""
    for name, text in (
        ("numpy", "raise ImportError('built for another machine')"),
        ("polars", "import os; os.abort()"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    source = str(Path(check.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{source}")
    program = "import surefoot.cli.check as p; p.PARTS = p.PARTS[:2]; from surefoot.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "broken" in done.stdout
    assert "The core does not work" in done.stdout
