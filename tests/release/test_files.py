"""The files beside the package that other programs read: valid by those programs' schemas, and telling one story."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from tools.set_owner import files, owners, with_owner

import surefoot as sf

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILDS = (ROOT / "docs" / "builds.md").read_text(encoding="utf-8")


def fenced(language: str, first: str) -> str:
    """The block of docs/builds.md that starts with this line."""
    (found,) = (text for text in re.findall(rf"```{language}\n(.*?)```", BUILDS, re.DOTALL) if text.startswith(first))
    return found


def valid(schema: str, *paths: Path) -> None:
    checked = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("schema", ["vendor.github-workflows", "custom.github-workflows-require-timeout"])
def test_workflows(schema: str) -> None:
    valid(schema, *(ROOT / ".github" / "workflows").glob("*.yml"))


def test_action_and_citation() -> None:
    valid("vendor.github-actions", ROOT / "action.yml")
    valid("vendor.citation-file-format", ROOT / "CITATION.cff")


def test_recipes(tmp_path: Path) -> None:
    workflows = ("name: relevance", "name: gate with a record", "name: release gate")
    for number, first in enumerate(workflows):
        (tmp_path / f"{number}.yml").write_text(fenced("yaml", first))
    (tmp_path / ".gitlab-ci.yml").write_text(fenced("yaml", "relevance:"))
    valid("vendor.github-workflows", *(tmp_path / f"{number}.yml" for number in range(len(workflows))))
    valid("vendor.gitlab-ci", tmp_path / ".gitlab-ci.yml")


def test_recipes_name_what_there_is() -> None:
    known = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = yaml.safe_load(fenced("yaml", "name: gate with a record"))["jobs"]["gate"]["steps"]
    (used,) = (step for step in steps if step.get("uses", "").startswith("OWNER/"))
    assert set(used["with"]) <= set(known["inputs"])
    table = BUILDS[BUILDS.index("| input |") : BUILDS.index("Outputs:")]
    assert set(re.findall(r"`([a-z-]+)`", table)) - {"fail", "pass"} == set(known["inputs"])
    hooks = {one["id"] for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    listed = yaml.safe_load(fenced("yaml", "repos:"))["repos"][0]
    assert {one["id"] for one in listed["hooks"]} == hooks
    assert listed["rev"] == f"v{sf.__version__}"


def test_build_servers_run_one_command() -> None:
    """That of the workflow without the action, which the tests of the command run, with records of their own."""
    steps = yaml.safe_load(fenced("yaml", "name: release gate"))["jobs"]["gate"]["steps"]
    command = " ".join(next(step["run"] for step in steps if step.get("name") == "Decide").split())
    assert yaml.safe_load(fenced("yaml", "relevance:"))["relevance"]["script"][0] == f"{command} || code=$?"
    (jenkins,) = re.findall(r"script: '''(.*?)'''", fenced("groovy", "pipeline"), re.DOTALL)
    here = jenkins.replace("\\\n", " ").replace("/srv/relevance/", "record/")
    here = here.replace('"$WORKSPACE_TMP/gate/bin/surefoot"', "surefoot")
    assert " ".join(here.split()) == command


def test_hooks_take_the_files_that_they_name() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    patterns = {one["id"]: re.compile(one["files"]) for one in hooks}
    for path, hook in (
        ("relevance/policy.toml", "surefoot-policy"),
        ("policy-tail.toml", "surefoot-policy"),
        ("a/qrels.txt", "surefoot-judgments"),
        ("judgments-2026.csv", "surefoot-judgments"),
    ):
        assert [name for name, pattern in patterns.items() if pattern.search(path)] == [hook], path
    for path in ("pyproject.toml", "src/policy.py", "today.run", "a/not-qrels.txt", "qrels.md"):
        assert not [name for name, pattern in patterns.items() if pattern.search(path)], path


def test_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == sf.__version__
    assert "version" not in PROJECT
    assert "version" in PROJECT["dynamic"]


def test_one_owner() -> None:
    own = owners(PROJECT["urls"]["Repository"])[0]
    named = {
        path.relative_to(ROOT).as_posix(): set(owners(path.read_text(encoding="utf-8")))
        for path in files()
        if path.suffix in (".cff", ".md", ".toml", ".yaml", ".yml") and path.is_file()
    }
    assert {name: found for name, found in named.items() if found - {own}} == {}
    for name in ("pyproject.toml", "CITATION.cff", "SECURITY.md", "docs/builds.md", "docs/stability.md"):
        assert named[name] == {own}, name
    for name in named:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert own not in with_owner(text, "another-name") or own != "OWNER" or _told_of(text), name


def _told_of(text: str) -> bool:
    """Whether OWNER stands there only where it is explained."""
    rest = with_owner(text, "another-name")
    return not [line for line in rest.splitlines() if "OWNER" in line and "set_owner" not in line]


def test_addresses() -> None:
    assert set(PROJECT["urls"]) == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}


def test_tested_versions_are_listed() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]
    listed = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    assert tested["python"] == listed
    assert tested["os"] == ["ubuntu-latest", "macos-latest"]


def test_workflows_run_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        assert set(re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8"))) <= targets


def test_image_is_built_from_the_source_alone() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = {name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE) for name in line.split()}
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)
    assert re.search(r"^USER 1000$", text, re.MULTILINE)
    assert 'ENTRYPOINT ["surefoot"]' in text


def test_devcontainer_is_json() -> None:
    made = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert made["name"] == "surefoot"
    targets = re.findall(r"\.venv/\.(\w+)", made["postCreateCommand"])
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert set(targets) <= set(groups)
