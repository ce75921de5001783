"""The recipe of docs/personalize.md from a log to a service: every command as it is printed, on a port that is free."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "personalize.md"
_WAIT = "for _ in $(seq 200); do curl -s -o health http://localhost:{port}/health && break; sleep 0.1; done"


def console_blocks(markdown: str, heading: str) -> list[str]:
    """The blocks ```console from a heading on."""
    return re.findall(r"^```console\n(.*?)^```$", markdown[markdown.index(heading) :], re.MULTILINE | re.DOTALL)


def commands_and_answer(block: str) -> tuple[list[str], str]:
    """The commands of a block, each with the lines that it goes on in, and what the last one prints."""
    *commands, last = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    asked, answer = re.split(r"^(?=\{)", last, maxsplit=1, flags=re.MULTILINE)
    return [*commands, asked], answer


@pytest.mark.heavy
@pytest.mark.skipif(shutil.which("curl") is None, reason="the recipe asks with curl")
def test_a_generated_log_becomes_a_service_that_answers_as_shown(tmp_path: Path) -> None:
    first, update, *_ = console_blocks(PAGE.read_text(encoding="utf-8"), "## Serve it")
    (install, *commands, rerank), answer = commands_and_answer(first)
    [update], updated = commands_and_answer(update)
    assert install.startswith("pip install ")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = [
        "set -e",
        *commands,
        _WAIT.format(port=port),
        rerank.rstrip() + " > answer",
        update.rstrip() + " > updated",
    ]
    script += ["kill %1", "wait %1"]
    text = "\n".join(script).replace("localhost:8080", f"localhost:{port}").replace("--port 8080", f"--port {port}")
    assert text.count(str(port)) == 4  # of the service, of its health, and of the two requests
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash"], input=text, cwd=tmp_path, env={**os.environ, "PATH": path}, text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "answer").read_text())
    assert "error" not in found, found
    shown = re.fullmatch(
        r'{"documents":(\[.*?\]),"scores":.*?,"order":(\[.*?\]),"why":\[\[{"feature":"(\w+)",…\n', answer
    )
    assert shown is not None
    assert found["documents"] == json.loads(shown[1])
    assert found["order"] == json.loads(shown[2])
    assert found["why"][0][0]["feature"] == shown[3]
    assert found["changed"]
    assert (tmp_path / "updated").read_text() == updated.strip()
