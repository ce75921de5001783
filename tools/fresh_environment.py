"""A virtual environment of its own for a package that is tried out, and commands run in it as a stranger would."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SUREFOOT_DATA", "GITHUB_STEP_SUMMARY")
QUIET = ("--quiet", "--disable-pip-version-check", "--no-warn-script-location")


@dataclass(frozen=True)
class Environment:
    """An environment, and an empty folder beside it to work in."""

    folder: Path
    work: Path

    @property
    def scripts(self) -> Path:
        """Where its commands are."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.scripts / "python"

    def install(self, *requirements: str) -> None:
        """Install packages with pip, nothing but what they ask for."""
        self.run([self.python, "-I", "-m", "pip", "install", *QUIET, *requirements])

    def run(self, command: Sequence[str | Path], codes: Sequence[int] = (0,)) -> str:
        """What a command printed; it must end with one of these codes. Nothing of ours is on its path."""
        clean = {name: value for name, value in os.environ.items() if name not in _OURS}
        clean["PATH"] = f"{self.scripts}{os.pathsep}{clean.get('PATH', '')}"
        done = subprocess.run(
            [str(part) for part in command], cwd=self.work, env=clean, capture_output=True, text=True, check=False
        )
        if done.returncode not in codes:
            shown, said = " ".join(map(str, command)), done.stdout[-4000:] + done.stderr[-4000:]
            sys.exit(f"{shown}\nended with {done.returncode}, not {codes[0]}:\n{said}")
        return done.stdout

    def megabytes(self) -> float:
        """What is installed weighs so much, with the files that pip compiles, without pip itself."""
        kept = (
            path.lstat().st_size
            for path in (self.folder / "lib").rglob("*")
            if path.is_file() and not path.is_symlink() and "pip" not in path.parts
        )
        return sum(kept) / 1e6


@contextmanager
def fresh_environment() -> Iterator[Environment]:
    """An environment that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="surefoot-package-") as name:
        base = Path(name).resolve()
        made = Environment(base / "environment", base / "work")
        made.work.mkdir()
        venv.create(made.folder, with_pip=True)
        yield made
