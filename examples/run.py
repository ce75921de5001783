"""Runs the notebooks of this folder, each in a copy; `--write` keeps what they print.

    python examples/run.py [--write] [NAME ...]

Real data is looked for in $SUREFOOT_DATA, or in ../shared/data beside the repository. A notebook whose data is not
there is skipped, and says itself where to get it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("SUREFOOT_DATA", HERE.parents[1] / "shared" / "data")).resolve()
LONGEST = 300  # seconds that a cell may take


def main(names: list[str], write: bool) -> int:
    """Run the notebooks; exit code 1 if one fails."""
    os.environ["SUREFOOT_DATA"] = str(DATA)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    failed = 0
    for path in sorted(HERE.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        notebook = nbformat.read(path, as_version=4)
        needs = notebook.metadata.get("surefoot", {}).get("needs")
        if needs and not (DATA / needs).is_file():
            print(f"{path.name}: skipped, as {needs} is not in the data's folder; the notebook says where to get it")
            continue
        start = time.perf_counter()
        wrong = run(notebook)
        print(f"{path.name}: {wrong or 'ran'} ({time.perf_counter() - start:.0f} s)", flush=True)
        failed += bool(wrong)
        if write and not wrong:
            nbformat.write(kept(notebook), path)
    return bool(failed)


def run(notebook: Any) -> str:
    """Run a notebook in an empty folder; gives what went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=LONGEST,
            kernel_name="python3",
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute()
        except CellExecutionError as error:
            return f"failed\n{error}"
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    warned = [output.text for output in outputs if output.get("name") == "stderr"]
    return "".join(["warned\n", *warned]) if warned else ""


def kept(notebook: Any) -> Any:
    """The notebook without what differs from run to run: times, and the version of Python."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="notebooks to run, without .ipynb; all by default")
    parser.add_argument("--write", action="store_true", help="keep the outputs in the notebooks")
    given = parser.parse_args()
    sys.exit(main(given.names, given.write))
