"""Do the tests notice? Each mutant is one small wrong change of the source that some test must fail on.

The tables beside this file, one for each package, have for each file under src/surefoot the tests that should notice,
and its mutants: name, the exact text to replace, what replaces it, and the tests where they are others. A mutant is
made in a copy of the source that stands first on the path, so that whatever ends this script leaves the working tree
as it was.

    python tests/mutants/run.py [--list] [--jobs N] [NAME ...]     a NAME is any part of mutants' names
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
LONGEST = 900  # seconds; a mutant that loops for ever was noticed
PASSED, FAILED = 0, 1  # pytest's exit codes; any other means that no test ran
KILLED = "killed"


@dataclass(frozen=True)
class Mutant:
    """One wrong change, and the tests that should fail on it."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]

    def text(self) -> str:
        """The whole file with the change."""
        text = (SOURCE / "surefoot" / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            sys.exit(f"{self.name}: expected once in {self.file}, found {text.count(self.old)} times:\n{self.old}")
        return text.replace(self.old, self.new)

    def apply(self, source: Path) -> None:
        """Make the change in a copy of the source."""
        path = source / "surefoot" / self.file
        path.write_text(self.text(), encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()  # an older one would be taken for this text if size and second agree


def read_mutants() -> list[Mutant]:
    """The mutants of all tables."""
    tables = (tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("*.toml")))
    mutants = [
        Mutant(name, file["path"], old, new, tests or file["tests"])
        for table in tables
        for file in table["file"]
        for name, old, new, *tests in file["mutants"]
    ]
    if len({mutant.name for mutant in mutants}) < len(mutants):
        sys.exit("two mutants have the same name")
    return mutants


def tested(mutant: Mutant | None, tests: list[str]) -> subprocess.CompletedProcess[str] | None:
    """Pytest's outcome on a copy of the source with a mutant, or without one; None where it did not end.

    Of files all tests but the heavy ones run; a test that is named runs whatever it weighs.
    """
    by_name = [test for test in tests if "::" in test]
    files = [test for test in tests if "::" not in test]
    outcome = None
    for given in filter(None, (by_name, files and ["-m", "not heavy", *files])):
        outcome = _run(mutant, given)
        if outcome is None or outcome.returncode != PASSED:
            break
    return outcome


def _run(mutant: Mutant | None, given: list[str]) -> subprocess.CompletedProcess[str] | None:
    with tempfile.TemporaryDirectory(prefix="surefoot-mutant-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(SOURCE, copy)
        if mutant:
            mutant.apply(copy)
        command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *given]
        environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            return subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return None


def fate(mutant: Mutant) -> str:
    """Whether a test fails on the mutant; one whose tests could not be run is not killed, and says why."""
    outcome = tested(mutant, mutant.tests)
    if outcome is None or outcome.returncode == FAILED:
        return KILLED
    if outcome.returncode == PASSED:
        return "SURVIVED"
    return f"NOT RUN: {outcome.stdout}{outcome.stderr}"


def main() -> None:
    """Try the mutants that were asked for; exit code 1 where one survives."""
    parser = argparse.ArgumentParser(description="Try wrong changes of the source that some test must fail on.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="any part of mutants' names; all by default")
    parser.add_argument("--list", action="store_true", help="print the mutants and their tests, and try none")
    parser.add_argument("--jobs", type=int, default=2, help="how many to try at a time (2)")
    given = parser.parse_args()
    mutants = [m for m in read_mutants() if not given.names or any(part in m.name for part in given.names)]
    if not mutants:
        sys.exit(f"no mutant's name holds {' or '.join(given.names)}")
    for mutant in mutants:  # a table that no longer fits the source is told before any test runs
        mutant.text()
        if given.list:
            print(f"{mutant.name}  ({mutant.file}; {' '.join(mutant.tests)})")
    if given.list:
        return
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    print(f"{len(mutants)} mutants; first the {len(tests)} tests or files of tests on the source as it is", flush=True)
    outcome = tested(None, tests)
    if outcome is None or outcome.returncode != PASSED:
        sys.exit("They fail without any mutant:\n" + (outcome.stdout if outcome else f"no end in {LONGEST} s"))
    print(outcome.stdout.rstrip().rpartition("\n")[2], flush=True)
    survivors = []
    with ThreadPoolExecutor(given.jobs) as pool:
        waiting = {pool.submit(fate, mutant): mutant for mutant in mutants}
        for number, future in enumerate(as_completed(waiting), start=1):
            mutant, found = waiting[future], future.result()
            survivors += [] if found == KILLED else [mutant.name]
            print(f"{number:>3}/{len(mutants)} {mutant.name}: {found}", flush=True)
    print(f"{len(mutants) - len(survivors)} killed, {len(survivors)} survived {survivors or ''}")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
