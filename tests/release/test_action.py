"""The action's steps, run in a shell with GitHub's variables, files and a stand-in for its API."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.release.composite_action import INSTALLED, ROOT, Ran, Runner

from surefoot.cli.demo import show_runs

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOSTILE = ['"; touch hacked; "', "$(touch hacked)", "`touch hacked`", "'; touch hacked #", "x\ntouch hacked\n",
           "x\ndecision<<E\nhacked\nE", "--html=hacked", "-", "${IFS}|touch${IFS}hacked"]  # fmt: skip
STAND_IN = """\
#!/bin/bash
printf '%s\\0' "$@" >"$ASKED"
for one in "$@"; do
  case $one in
    --json=*) printf '{"decision": "%s", "conditions": []}' "$DECISION" >"${one#--json=}" ;;
    --markdown=*) printf '### %s: new\\n' "$DECISION" >"${one#--markdown=}" ;;
  esac
done
exit "${CODE:-0}"
"""


class Comments(ThreadingHTTPServer):
    """GitHub's API, as far as comments go; it keeps them, and what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.tokens: set[str] = set()
        self.refuses = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Comments

    def do_GET(self) -> None:
        self._asked()
        number, size = (int(re.search(rf"\b{name}=(\d+)", self.path)[1]) for name in ("page", "per_page"))
        self._answer(200, self.server.comments[(number - 1) * size : number * size])

    def do_POST(self) -> None:
        body = self._asked()
        if self.server.refuses:
            self._answer(403, {"message": "Resource not accessible by integration"})
            return
        self.server.comments.append({"id": 1000 + len(self.server.comments), **body})
        self._answer(201, self.server.comments[-1])

    def do_PATCH(self) -> None:
        body, number = self._asked(), int(self.path.rpartition("/")[2])
        (found,) = (one for one in self.server.comments if one["id"] == number)
        found |= body
        self._answer(200, found)

    def _asked(self) -> dict[str, Any]:
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.tokens.add(self.headers["Authorization"])
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")

    def _answer(self, code: int, data: Any) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(data).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def github() -> Iterator[Comments]:
    server = Comments()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "demo"
    show_runs(folder, 200, 0, learn=False, force=False, quiet=False)
    return folder


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name in ("qrels.txt", "today.run", "bold.run", "steady.run"):
        (folder / name).symlink_to(made / name)
    (folder / "policy.toml").write_text("risk = 0.03\ngain = 0.0\n")
    (folder / "json.py").write_text("raise SystemExit('a module of the checkout was imported')\n")
    return folder


@pytest.fixture
def runner(workspace: Path, tmp_path: Path, github: Comments) -> Runner:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    environment = {
        "GITHUB_API_URL": github.address,
        "GITHUB_REPOSITORY": "team/shop",
        "GITHUB_EVENT_PATH": str(event),
    }
    return Runner(workspace, temporary, environment)


@pytest.fixture
def stand_in(runner: Runner, tmp_path: Path) -> dict[str, dict[str, str]]:
    """In place of the installation: a Python beside which `surefoot` writes down its arguments and decides nothing."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "python").symlink_to(Path(sys.executable).resolve())
    (folder / "surefoot").write_text(STAND_IN)
    (folder / "surefoot").chmod(0o755)
    runner.environment = {**runner.environment, "ASKED": str(tmp_path / "asked"), "DECISION": "stop"}
    return {"install": {"python": str(folder / "python")}}


def inputs(new: str, **more: str) -> dict[str, str]:
    runs = f"today.run\n  new={new}.run\n"
    given = {"judgments": "qrels.txt", "runs": runs, "baseline": "today", "policy": "policy.toml", **more}
    return {name.replace("_", "-"): value for name, value in given.items()}


def decide(runner: Runner, given: dict[str, str]) -> Ran:
    return runner.run(given, INSTALLED)


@pytest.mark.parametrize(("candidate", "decision", "code"), [("steady", "ship", 0), ("bold", "stop", 1)])
def test_a_decision(runner: Runner, workspace: Path, candidate: str, decision: str, code: int) -> None:
    ran = decide(runner, inputs(candidate))
    assert ran.codes == {"decide": code}, ran.said
    assert (ran.results["decision"], ran.results["exit-code"]) == (decision, str(code))
    data = json.loads(Path(ran.results["json"]).read_text())
    risk = data["conditions"][0]
    assert (float(ran.results["risk"]), float(ran.results["risk-bound"])) == (risk["observed"], risk["bound"])
    assert "<h1" in (workspace / ran.results["page"]).read_text()
    assert f"### {decision.capitalize()}: new" in (runner.temporary / "summary.md").read_text()
    assert ("::error title=new%3A" in ran.said["decide"]) == (code == 1)
    python, kept = ran.used
    assert python == ("actions/setup-python@v5", {"python-version": "3.12"})
    assert kept[0] == "actions/upload-artifact@v4"
    assert kept[1]["path"].split() == ["surefoot-decision.html", ran.results["json"]]


def test_a_record_is_kept_whatever_is_decided(runner: Runner, workspace: Path) -> None:
    ran = decide(runner, inputs("steady", policy="", options="--risk=0.015", record="release.json"))
    assert ran.codes == {"decide": 3}, ran.said
    data, kept = (json.loads(path.read_text()) for path in (Path(ran.results["json"]), workspace / "release.json"))
    assert data["record"]["sha256"] == kept["entries"][-1]["sha256"]
    assert "look 1" in (runner.temporary / "summary.md").read_text()


@pytest.mark.parametrize(("undecided", "code"), [("fail", 3), ("pass", 0)])
def test_undecided_fails_or_passes(
    runner: Runner, stand_in: dict[str, dict[str, str]], undecided: str, code: int
) -> None:
    runner.environment = {**runner.environment, "DECISION": "undecided", "CODE": "3"}
    ran = runner.run(
        inputs("steady", options="--gain=0.07\n--unanswered=count", undecided=undecided, page=""), stand_in
    )
    assert ran.codes == {"decide": code}, ran.said
    assert (ran.results["decision"], ran.results["exit-code"]) == ("undecided", "3")
    assert ran.results["page"] == ""


def test_a_matrix_and_no_condition_on_risk(runner: Runner, workspace: Path) -> None:
    (workspace / "scores.csv").write_text("query,a,b\n" + "".join(f"q{i},0.2,0.9\n" for i in range(60)))
    ran = runner.run({"scores": "scores.csv", "baseline": "a", "options": "--gain=0", "python-version": ""}, INSTALLED)
    assert ran.codes == {"decide": 0}, ran.said
    assert (ran.results["decision"], ran.results["risk"], ran.results["risk-bound"]) == ("ship", "", "")
    assert [name for name, _ in ran.used] == ["actions/upload-artifact@v4"]


def test_what_is_wrong_is_an_error_and_not_a_stop(runner: Runner, github: Comments) -> None:
    ran = decide(runner, inputs("steady", baseline="yesterday", comment="true"))
    assert ran.codes["decide"] == 2
    assert "yesterday" in ran.said["decide"]
    assert (ran.results["decision"], ran.results["page"], ran.results["json"]) == ("error", "", "")
    assert "could not decide" in github.comments[0]["body"]
    for wrong in ({"undecided": "maybe"}, {"page": "a\nb"}):
        assert decide(runner, inputs("steady", **wrong)).codes == {"decide": 2}


def test_the_comment_is_replaced(runner: Runner, github: Comments, stand_in: dict[str, dict[str, str]]) -> None:
    github.comments += [{"id": number, "body": "nothing of ours"} for number in range(130)]
    assert runner.run(inputs("bold", comment="true"), stand_in).codes == {"decide": 0, "Comment": 0}
    assert len(github.comments) == 131
    assert "stop: new" in github.comments[-1]["body"]
    runner.environment = {**runner.environment, "DECISION": "ship"}
    runner.run(inputs("steady", comment="true"), stand_in)
    assert len(github.comments) == 131
    assert "ship: new" in github.comments[-1]["body"]
    assert "stop: new" not in github.comments[-1]["body"]
    runner.run(inputs("steady", comment="true", name="another gate --> <b>"), stand_in)
    assert len(github.comments) == 132
    assert github.asked[-1] == "POST /repos/team/shop/issues/7/comments"
    assert github.tokens == {"Bearer a token"}


def test_no_comment_is_no_failure(
    runner: Runner, github: Comments, tmp_path: Path, stand_in: dict[str, dict[str, str]]
) -> None:
    github.refuses = True
    ran = runner.run(inputs("steady", comment="true"), stand_in)
    assert ran.codes == {"decide": 0, "Comment": 0}
    assert "::warning title=surefoot::the comment was not written: 403" in ran.said["Comment"]
    (tmp_path / "event.json").write_text("{}")
    assert "No pull request" in runner.run(inputs("steady", comment="true"), stand_in).said["Comment"]


NAMES = ("judgments", "scores", "baseline", "candidate", "measure", "policy", "record")


@pytest.mark.parametrize("value", HOSTILE)
def test_inputs_stay_values(
    runner: Runner, workspace: Path, tmp_path: Path, stand_in: dict[str, dict[str, str]], value: str
) -> None:
    before = sorted(workspace.iterdir())
    line = value.splitlines()[0]
    given = {**dict.fromkeys(NAMES, value), "runs": line, "page": line, "name": value, "token": line, "comment": "true"}
    ran = runner.run(given, stand_in)
    assert ran.codes == {"decide": 0, "Comment": 0}, ran.said
    asked = (tmp_path / "asked").read_text().split("\0")[:-1]
    for name in NAMES[1:]:
        assert f"--{name}={value}" in asked
    assert asked[-4:] == [f"--html={line}", "--", value, line]
    assert set(ran.outputs["decide"]) == {"decision", "exit-code", "risk", "risk-bound", "page", "json", "markdown"}
    assert ran.results["decision"] == "stop"
    assert sorted(workspace.iterdir()) == before
    assert "a token" not in "".join(ran.said.values())


@pytest.mark.heavy
@pytest.mark.parametrize("value", [HOSTILE[0], HOSTILE[1], HOSTILE[4]])
@pytest.mark.parametrize("name", [*NAMES, "runs", "options", "page", "undecided"])
def test_inputs_are_never_commands(runner: Runner, workspace: Path, name: str, value: str) -> None:
    ran = decide(runner, {**inputs("steady"), name: value})
    assert ran.codes["decide"] in (0, 2), ran.said
    assert not (workspace / "hacked").exists()


def test_no_input_is_in_shell_text() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step["name"]
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            assert not [step for step in job["steps"] if "${{" in step.get("run", "")], path


@pytest.mark.parametrize(
    ("version", "what"),
    [("", str(ROOT)), ("0.2.0", "surefoot==0.2.0"), ("1; touch hacked", "surefoot==1; touch hacked")],
)
def test_install_hands_one_requirement_to_pip(tmp_path: Path, version: str, what: str) -> None:
    """With a stand-in for Python: what it is asked is written down, and an environment is a copy of itself."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(
        '#!/bin/bash\nprintf \'%s\\n\' "$@" >>"$ASKED"\n'
        'if [ "$3" = venv ]; then mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; fi\n'
    )
    python.chmod(0o755)
    environment = {
        "PATH": f"{python.parent}:{os.environ['PATH']}", "ASKED": str(tmp_path / "asked"),
        "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_ACTION_PATH": str(ROOT), "SUREFOOT_VERSION": version,
    }  # fmt: skip
    subprocess.run(["bash", str(ROOT / "action" / "install.sh")], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "asked").read_text().splitlines()[-2:] == ["--", what]
    assert (tmp_path / "output").read_text() == f"python={tmp_path}/surefoot-action/bin/python\n"
    assert not (tmp_path / "x").exists()


@pytest.mark.heavy
def test_all_of_it_with_a_real_installation(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    ran = runner.run(inputs("bold"), {})
    assert ran.codes == {"install": 0, "decide": 1}, ran.said
    assert ran.outputs["install"]["python"] == f"{runner.temporary}/surefoot-action/bin/python"
