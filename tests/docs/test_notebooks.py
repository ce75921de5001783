"""The notebooks as they are kept: whole, small, without errors and without paths of the machine that ran them."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
_ROOTS = r"(?:/home|/Users|/root|/tmp|/var|/private|/opt|/mnt|/usr|[A-Z]:\\)"
_PATH = re.compile(rf"(?<![\w.]){_ROOTS}[/\\]|site-packages|\.pyenv|\.venv")


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def outputs(notebook: dict) -> list[dict]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def test_all_are_found() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "clicks", "dincer-trec-2012", "lightgbm-mq2008", "quepid-to-certificate",
    ]  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_was_run_to_its_end(self, path: Path) -> None:
        cells = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        assert {output["output_type"] for output in outputs(read(path))} <= {
            "stream", "display_data", "execute_result",
        }  # fmt: skip
        assert all(output.get("name") != "stderr" for output in outputs(read(path)))

    def test_checks_its_figures(self, path: Path) -> None:
        source = "".join(line for cell in read(path)["cells"] for line in cell["source"])
        assert source.count("assert ") >= 3

    def test_has_no_path_of_a_machine(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        shown = json.dumps([output for output in outputs(read(path)) if "image/png" not in output.get("data", {})])
        assert _PATH.search(shown) is None
        for folder in (str(Path.home()), tempfile.gettempdir(), str(Path.cwd())):
            assert folder == "/" or folder + os.sep not in text

    def test_is_small(self, path: Path) -> None:
        pictures = [
            output["data"]["image/png"] for output in outputs(read(path)) if "image/png" in output.get("data", {})
        ]
        assert all(len(base64.b64decode("".join(picture))) < 100_000 for picture in pictures)
        assert path.stat().st_size < 150_000

    def test_keeps_nothing_that_differs_from_run_to_run(self, path: Path) -> None:
        notebook = read(path)
        assert set(notebook["metadata"]) <= {"kernelspec", "language_info", "surefoot"}
        assert notebook["metadata"]["language_info"] == {"name": "python"}
        assert all(cell["metadata"] == {} for cell in notebook["cells"])

    def test_says_where_data_comes_from(self, path: Path) -> None:
        notebook = read(path)
        source = "".join(line for cell in notebook["cells"] for line in cell["source"])
        if "SUREFOOT_DATA" in source:
            assert "**The data.**" in source
            assert notebook["metadata"]["surefoot"]["needs"].split("/")[0] in source
        else:
            assert "surefoot" not in notebook["metadata"]


def test_the_page_of_a_notebook_shows_code_outputs_and_pictures(script) -> None:
    title, text, pictures = script("notebook_pages").notebook_pages()["examples/dincer-trec-2012.md"]
    assert title == "Two papers' tables from TREC 2012"
    assert "uogTrA44xu" in text
    assert "````python\n" in text
    assert list(pictures) == ["examples/dincer-trec-2012-1.png"]
    assert "](dincer-trec-2012-1.png)" in text
