"""Workers of a sweep as processes of their own: work is given to each, and its answer waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any, TypeAlias

from surefoot.choose.plan import TrainingJob
from surefoot.errors import shortened

Work: TypeAlias = TrainingJob | str  # a training, or a fold to be met for the first time


class WorkerProcess:
    """A worker, the fold it holds, and what it is doing: nothing, or starting, or some work."""

    def __init__(self, folder: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "surefoot.choose.worker"],  # nothing of this folder is imported
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0,
            # Cores are shared out among workers, not fought over.
            env={"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"} | os.environ,
        )  # fmt: skip
        self.fold: str | None = None
        self.work: Work | None = None
        self.busy = True
        self.began = time.monotonic()
        self._send({"folder": folder})

    def start(self, work: Work) -> None:
        """Start some work."""
        self.work, self.busy, self.began = work, True, time.monotonic()
        self.fold = work if isinstance(work, str) else work.fold
        self._send({"fold": work} if isinstance(work, str) else {"job": work.to_dict()})

    def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # a worker that died shows when its answer is read
            self._process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]

    def fileno(self) -> int:
        """What to wait for."""
        return int(self._process.stdout.fileno())  # type: ignore[union-attr]

    def answer(self) -> dict[str, Any] | None:
        """What came of the work; None if the worker died."""
        line: bytes = self._process.stdout.readline()  # type: ignore[union-attr]
        self.busy = False
        return dict(json.loads(line)) if line.endswith(b"\n") else None

    def cause_of_death(self) -> str:
        """How the worker ended, with its last words."""
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its process died ({how}{': ' + shortened(lines[-1], 200) if lines else ''})"

    def end(self) -> None:
        """End the worker, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


def wait_for_answers(workers: Sequence[WorkerProcess]) -> list[WorkerProcess]:
    """Wait until some of the workers have an answer, or died."""
    ready = wait([worker.fileno() for worker in workers])
    return [worker for worker in workers if worker.fileno() in ready]
