"""`surefoot serve` under load on the loopback: requests per second, p50, p95 and errors, with updates on.

    python benchmarks/serve.py [--model DIR] [--users 2000] [--rate 100] [--seconds 60] [--clients 4] [--updates 0.2]

Without --model, a generated UBI log of --users is studied and its model saved first, which takes minutes. Clients, in
this process on the same cores, send requests at the given rate in all (--rate 0: as fast as answers come), on kept
connections. A share of them, --updates, are updates: a list that was shown to a user, and a click on it. The others are
POST /rerank with ten results of a list of the log, for its user, in sessions of today. Latency is from the moment at
which a request was due, so that waiting for a free connection counts.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import surefoot as sf
from surefoot.clicks.generator import generate_log, write_log

HEADERS = {"Content-Type": "application/json"}


class Load:
    """What is sent, and what came back."""

    def __init__(self, lists: list[dict[str, Any]], start: int, options: argparse.Namespace) -> None:
        self._lists, self._start, self._options = lists, start, options
        self._random, self._lock = random.Random(1), threading.Lock()
        self.sent, self.latencies = 0, {"/rerank": [], "/update": []}  # type: ignore[var-annotated]
        self.errors: dict[int | str, int] = {}
        self.began = time.perf_counter()

    def take(self) -> tuple[float, str, bytes] | None:
        """The next request: when it is due, its path and its body."""
        with self._lock:
            number, self.sent = self.sent, self.sent + 1
            due = self.began + number / self._options.rate if self._options.rate else time.perf_counter()
            if due > self.began + self._options.seconds:
                self.sent -= 1
                return None
            shown = self._random.choice(self._lists)
            update = self._random.random() < self._options.updates
            place = self._random.randrange(len(shown["documents"]))
        now = self._start + int((time.perf_counter() - self.began) * 1000)
        session = f"today {shown['user']}"
        if not update:
            body = {"user": shown["user"], "session": session, "query": shown["query"], "time": now}
            return due, "/rerank", json.dumps(body | {"results": shown["documents"]}).encode()
        event = {"user": shown["user"], "session": session, "list": f"list {number}"}
        events = [
            event | {"time": now, "query": shown["query"], "documents": shown["documents"]},
            event | {"time": now + 500, "document": shown["documents"][place]},
        ]
        return due, "/update", json.dumps({"events": events}).encode()

    def came_back(self, path: str, due: float, status: int | str) -> None:
        """Count an answer."""
        with self._lock:
            if status == 200:
                self.latencies[path].append(time.perf_counter() - due)
            else:
                self.errors[status] = self.errors.get(status, 0) + 1


def client(port: int, load: Load) -> None:
    """Send requests on one connection, each when it is due."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while (request := load.take()) is not None:
        due, path, body = request
        time.sleep(max(0.0, due - time.perf_counter()))
        try:
            connection.request("POST", path, body, HEADERS)
            answer = connection.getresponse()
            answer.read()
            load.came_back(path, due, answer.status)
        except (OSError, http.client.HTTPException) as error:
            load.came_back(path, due, type(error).__name__)
            connection.close()


def saved_model(folder: Path, users: int) -> Path:
    """A model of a generated log, and beside it the lists to ask about."""
    write_log(generate_log(users, seed=1), folder / "ubi", "ubi")
    result = sf.personalize(folder / "ubi", folder / "study")
    result.save(folder / "model", method="Weighted initial preferences by regression")
    return folder / "model"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a saved model of a log whose sessions share one clock, such as UBI's")
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--updates", type=float, default=0.2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="surefoot-serve-") as name:
        folder = Path(name)
        if options.model:
            shutil.copytree(options.model, folder / "model")
        else:
            saved_model(folder, options.users)
        measure(folder / "model", options)


def measure(model: Path, options: argparse.Namespace) -> None:
    """Start the service, load it, and stop it."""
    import duckdb

    with duckdb.connect(str(model / "clicks.duckdb"), read_only=True) as state:
        lists = state.execute('SELECT "user", query, documents, time FROM lists').pl()
    start = int(lists["time"].max()) + 86_400_000  # type: ignore[arg-type]
    rows = [
        row | {"documents": json.loads(row["documents"])[:10]}
        for row in lists.filter(pl.col("user").is_not_null()).to_dicts()
    ]
    line = [sys.executable, "-m", "surefoot", "serve", str(model), "--port", "0", "--allow-updates"]
    environment = {key: value for key, value in os.environ.items() if key != "SUREFOOT_TOKEN"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as service:
        assert service.stdout is not None
        port = int(service.stdout.readline().rpartition(":")[2].partition(";")[0])
        load = Load(rows, start, options)
        before = os.getloadavg()[0]
        threads = [threading.Thread(target=client, args=(port, load)) for _ in range(options.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        passed = time.perf_counter() - load.began
        service.send_signal(signal.SIGTERM)
        code = service.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answered = sum(map(len, load.latencies.values()))
    print(f"{len(rows):,} lists in the log; load of the machine before: {before:.1f}, after: {os.getloadavg()[0]:.1f}")
    print(f"{answered:,} of {load.sent:,} requests answered in {passed:.1f} s: {answered / passed:.1f} per second")
    for path, latencies in load.latencies.items():
        if latencies:
            p50, p95, p99 = np.quantile(latencies, (0.5, 0.95, 0.99)) * 1000
            print(f"{path:<8} {len(latencies):>7,}  p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  p99 {p99:6.1f} ms")
    cpu = used.ru_utime + used.ru_stime
    print(f"errors: {load.errors or 'none'}; exit code {code}; the service took {cpu:.1f} CPU s "
          f"({1000 * cpu / max(1, answered):.1f} ms per request, its start included), "
          f"at most {used.ru_maxrss / 1e6:.2f} GB")  # fmt: skip


if __name__ == "__main__":
    main()
