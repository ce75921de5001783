"""Reading LETOR text: surefoot against scikit-learn's `load_svmlight_file`, as ratios from one run.

    python benchmarks/letor.py               # a file of 600 MB, about two minutes
    python benchmarks/letor.py --megabytes 6000

The two take turns in one process, scikit-learn on the first tenth of the file. The speeds compared are the medians of
the rounds; the ratio of CPU times, all threads together, tells how much of it is not owed to several cores. The
parser's compile is printed and not counted. Peak memory is that of new processes that do nothing but read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 5
BYTES_A_QUERY = 153_000  # of `demo.letor`'s 120 documents and 136 features


def generate(folder: Path, megabytes: int) -> tuple[Path, Path]:
    """A file of at least that size, every feature written out, and its first tenth (whole queries)."""
    import surefoot as sf

    whole, tenth = folder / "whole.txt", folder / "tenth.txt"
    with whole.open("wb") as file:
        part = 0
        while file.tell() < megabytes * 1_000_000:
            queries = min(2000, (megabytes * 1_000_000 - file.tell()) // BYTES_A_QUERY + 1)
            data = sf.demo.letor(queries=queries, seed=part)
            data.write(folder / "part.txt")
            # Each part numbers its queries from 1; make them differ.
            file.write((folder / "part.txt").read_bytes().replace(b" qid:", f" qid:{part}-".encode()))
            part += 1
    (folder / "part.txt").unlink()
    text = whole.open("rb").read(megabytes * 100_000)
    tenth.write_bytes(text[: text.rfind(b"\n") + 1].replace(b"qid:0-", b"qid:").replace(b"qid:1-", b"qid:"))
    return whole, tenth


def peak(path: Path | None) -> dict[str, float]:
    """Peak memory (MB) of a new process that reads the file, or that only loads what reading needs."""
    code = """
import json, sys, time
from pathlib import Path
import numba
import surefoot as sf
began = time.perf_counter()
from surefoot.data.letor import kernel
loaded = time.perf_counter() - began
data = sf.read_letor(sys.argv[1]) if len(sys.argv) > 1 else None
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps({
    "peak": int(status["VmHWM"].split()[0]) / 1000,
    "matrix": data.X.nbytes / 1e6 if data else 0,
    "compile": loaded,
}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *([str(path)] if path else [])], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def timed(function: Any, *arguments: Any) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds of all cores, and the result."""
    began, cpu = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return time.perf_counter() - began, time.process_time() - cpu, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=600)
    megabytes = parser.parse_args().megabytes

    import numpy as np
    from sklearn.datasets import load_svmlight_file

    import surefoot as sf

    numba, _, _ = timed(__import__, "numba")
    kernel, _, _ = timed(__import__, "surefoot.data.letor.kernel")
    print(f"kernel: compiled or loaded in {kernel:.1f} s (with Numba's import {numba + kernel:.1f} s), not counted")
    with tempfile.TemporaryDirectory() as folder:
        whole, tenth = generate(Path(folder), megabytes)
        size, part = whole.stat().st_size / 1e6, tenth.stat().st_size / 1e6
        rates: dict[str, list[float]] = {"ours": [], "tenth": [], "theirs": []}
        cpu: dict[str, list[float]] = {"ours": [], "tenth": [], "theirs": []}
        for _ in range(ROUNDS):
            for what, read, path, megas in (
                ("ours", sf.read_letor, whole, size),
                ("tenth", sf.read_letor, tenth, part),
                ("theirs", lambda path: load_svmlight_file(str(path), query_id=True), tenth, part),
            ):
                seconds, busy, result = timed(read, path)
                rates[what].append(megas / seconds)
                cpu[what].append(megas / busy)
                if what == "tenth":
                    data = result
                elif what == "theirs":
                    X, y, _ = result
                del result
        assert np.array_equal(X.toarray().astype(np.float32), data.X), "values differ"
        assert np.array_equal(y, data.y), "labels differ"
        print(f"checked: {data.X.size:,} values and {len(y):,} labels equal scikit-learn's, bit for bit")
        del X, y, data
        print(f"{'':22}{'file':>10}{'median':>12}{'best':>12}{'CPU':>14}")
        for name, what, megas in (
            ("read_letor", "ours", size),
            ("read_letor", "tenth", part),
            ("load_svmlight_file", "theirs", part),
        ):
            middle, best, busy = median(rates[what]), max(rates[what]), median(cpu[what])
            print(f"{name:22}{megas:>7.0f} MB{middle:>7.0f} MB/s{best:>7.0f} MB/s{busy:>7.0f} MB/CPU s")
        ratios = [median(kind["ours"]) / median(kind["theirs"]) for kind in (rates, cpu)]
        print(f"read_letor is {ratios[0]:.1f} times as fast, and takes {ratios[1]:.1f} times less CPU")
        print(f"time at ten times the size: {10 * median(rates['tenth']) / median(rates['ours']):.1f} times")
        idle, tenth_peak, whole_peak = peak(None), peak(tenth), peak(whole)
        print(f"peak memory: imports alone {idle['peak']:.0f} MB")
        for megas, found in ((part, tenth_peak), (size, whole_peak)):
            above = found["peak"] - idle["peak"]
            print(
                f"  {megas:.0f} MB of text, matrix {found['matrix']:.0f} MB: {above:.0f} MB above imports, "
                f"{above / found['matrix']:.2f} of the matrix"
            )
        print(f"  kernel from the cache: {idle['compile']:.1f} s")


if __name__ == "__main__":
    main()
