"""What build servers would take for a command, by readers of our own, in texts that are written in any parts."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.build_log import BUILDS, HarmlessOutput, harmless, harmless_in_builds, write_command

PIECES = st.sampled_from(
    ["::", ":", "#", "##", "[", "##[", "vso", "VSO", "teamcity", "x", " ", "\t", "\n", "\r", "\v", "\x1c", "\x85",
     "\xa0", "\u2003", "\u2028", "\0", "\u200b", "\ufeff", "\u00ad", "\u2060", "\ufe0f", "é", "ſ"]
)  # fmt: skip


def commands(text: str) -> list[str]:
    """The lines that a build server could run, as plainly as possible: what has no width is skipped, as it may be."""
    found = []
    for line in re.split(r"[\r\n]", text):
        seen = "".join(
            one for one in line if unicodedata.category(one) not in ("Cf", "Cc", "Mn") or one in "\t\v\f\x85"
        ).lower()
        if seen.lstrip().startswith("::") or any(f"##{name}[" in seen for name in ("", "vso", "teamcity")):
            found.append(line)
    return found


def written(parts: list[str]) -> str:
    below = io.BytesIO()
    stream = HarmlessOutput(below, "utf-8", newline="")
    for part in parts:
        assert stream.write(part) == len(part)
    stream.flush()
    return below.getvalue().decode()


@given(st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=6))
def test_no_text_in_any_parts_is_a_command(parts: list[str]) -> None:
    text = "".join(parts)
    made = written(parts)
    assert commands(made) == []
    assert made == harmless(text)
    assert harmless(made) == made
    if not commands(text):
        assert made == text


@given(st.dictionaries(st.lists(PIECES).map("".join), st.lists(PIECES).map("".join)), st.sampled_from([None, 2]))
def test_json_says_the_same(data: dict[str, str], indent: int | None) -> None:
    assert json.loads(harmless(json.dumps(data, ensure_ascii=False, indent=indent))) == data


@pytest.mark.parametrize("start", [" " * 1000, " " * 1000 + ":", ":", "\u200b" * 500])
def test_a_line_may_begin_with_much(start: str) -> None:
    assert commands(written([start, ":", ":x"])) == []
    assert written([f"{'x' * 1000}", "::x"]).endswith("x::x")


def test_hostile_length_takes_no_time() -> None:
    for text in ("\x1c" * 10**5, "#" * 10**6, "#\u200b" * 10**5, (" " * 99 + "\n") * 10**4, "##" + "\0" * 10**5):
        assert harmless(text) == text


def test_a_command_of_ours_is_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    below = io.BytesIO()
    stream = io.TextIOWrapper(below, "ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with harmless_in_builds({"GITHUB_ACTIONS": "true"}):
        print("::name α", end="")
        write_command("::error::a")
        print("::b")
    assert sys.stdout is stream
    stream.flush()
    assert below.getvalue().decode() == ": :name α\n::error::a\n: :b\n"


SAY = """
import sys
from surefoot.build_log import harmless_in_builds
import typer
with harmless_in_builds():
    typer.echo("::a ##[b]")
    print("::c ##vso[d]", file=sys.stderr)
"""


@pytest.mark.parametrize("build", [*BUILDS, None])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_streams_of_a_program(build: str | None, encoding: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in BUILDS}
    environment |= {"PYTHONIOENCODING": encoding} | ({} if build is None else {build: "True"})
    done = subprocess.run([sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, check=True)
    said = ("::a ##[b]\n", "::c ##vso[d]\n") if build is None else (": :a ##\\u005bb]\n", ": :c ##vso\\u005bd]\n")
    assert (done.stdout, done.stderr) == said


def test_output_that_is_sent_to_a_file_is_as_it_is(tmp_path) -> None:
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        subprocess.run(
            [sys.executable, "-c", SAY], env={**os.environ, "TF_BUILD": "True"}, stdout=out, stderr=err, check=True
        )
    assert (tmp_path / "out").read_text() == "::a ##[b]\n"
    assert (tmp_path / "err").read_text() == ": :c ##vso\\u005bd]\n"
