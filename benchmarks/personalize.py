"""Features of a generated click log: against window expressions, lines per second, peak memory, growth, and pandas.

    python benchmarks/personalize.py [--turns 300000,1000000] [--rounds 3] [--former SRC]
                                     [--lines 1000000,10000000] [--pandas 300000] [--folder DIR]

The window expressions that Spark works by run on DuckDB in turns with ours, on the same log, and all rows are compared.
`--former` takes the source of an earlier version in their place: `git archive TAG src | tar -x -C DIR`, then DIR/src.
Each run is a process of its own, whose peak memory is the operating system's figure. Time does not count imports. CPU
time counts all threads; it depends less than time on what else the machine does. pandas gets the size that it can hold;
its features are checked against ours, value by value.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ibis
import numpy as np

from surefoot.clicks.feature_pipeline import FeatureTable, feature_table
from surefoot.clicks.generator import generate_log, write_log
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings

LINES_PER_USER = 37.5
THRESHOLDS = (50.0, 400.0)
KINDS = ("shown", "clicked", "satisfied", "skipped")


def ours(log: Path, folder: Path, **options: bool) -> None:
    """Make the features in this process."""
    feature_table(log, folder, ReadingSettings("yandex2014"), Satisfaction(THRESHOLDS), **options)


def counted(events: Any, keys: list[str], clock: str, sums: dict[str, str]) -> Any:
    """For every event, how many of each kind came strictly before with the same keys: plain pandas."""
    per_time = events.groupby([*keys, clock], sort=True)[list(sums.values())].sum()
    before = per_time.groupby(level=list(range(len(keys)))).cumsum() - per_time
    before.columns = list(sums)
    return events[[*keys, clock]].merge(before, left_on=[*keys, clock], right_index=True, how="left")[list(sums)]


def with_pandas(log: Path) -> Any:
    """The counts of documents, domains and pairs, and the query's entropy, in plain pandas."""
    import pandas as pd

    days, lists, clicks = {}, [], []
    with log.open() as file:
        for line in file:
            parts = line.rstrip("\n").split("\t")
            if parts[1] == "M":
                days[parts[0]] = int(parts[2]), parts[3]
            elif parts[2] == "Q":
                for position, pair in enumerate(parts[6:], start=1):
                    lists.append((parts[0], int(parts[1]), parts[3], parts[4], position, *pair.split(",")))
            else:
                clicks.append((parts[0], int(parts[1]), parts[3], parts[4]))
    shown = pd.DataFrame(lists, columns=["session", "time", "list", "query", "position", "document", "domain"])
    click = pd.DataFrame(clicks, columns=["session", "clicked_at", "list", "document"])
    about = pd.DataFrame([(key, *value) for key, value in days.items()], columns=["session", "day", "user"])
    shown = shown.merge(about, on="session")
    events = pd.concat(
        [
            shown[shown.position == 1][["session", "time"]],
            click[["session", "clicked_at"]].rename(columns={"clicked_at": "time"}),
        ]
    ).sort_values(["session", "time"], kind="stable")
    events["next"] = events.groupby("session").time.shift(-1)
    ends = events.drop_duplicates(["session", "time"], keep="last").rename(columns={"time": "clicked_at"})
    click = click.merge(ends, on=["session", "clicked_at"])
    dwell = click.next - click.clicked_at
    click["satisfied_at"] = np.where(
        dwell.isna() | (dwell >= THRESHOLDS[0]), click.clicked_at + THRESHOLDS[0] - 1, np.nan
    )
    click = click.groupby(["session", "list", "document"], as_index=False)[["clicked_at", "satisfied_at"]].min()
    rows = shown.merge(click, on=["session", "list", "document"], how="left").sort_values(
        ["session", "list", "position"]
    )
    below = rows[::-1].groupby(["session", "list"]).clicked_at
    rows["passed"] = below.cummin().groupby([rows.session, rows.list]).shift(1)[rows.index]
    rows["passed"] = rows[::-1].groupby(["session", "list"]).passed.ffill()
    late = rows.clicked_at.isna() | (rows.clicked_at > rows.passed)
    rows["skipped_at"] = rows.passed.where(late)
    stream = []
    for kind, at in zip(KINDS, ("time", "clicked_at", "satisfied_at", "skipped_at"), strict=True):
        part = rows[rows[at].notna()].copy()
        part["at"] = part[at]
        for other in KINDS:
            part[other] = int(other == kind)
        stream.append(part)
    every = pd.concat(stream, ignore_index=True)
    for scope, whose, clock in (("session", "session", "at"), ("user", "user", "day")):
        for key, columns in (("document", ["document"]), ("domain", ["domain"]), ("pair", ["query", "document"])):
            sums = {f"{scope}_{key}_{kind}": kind for kind in KINDS}
            every[list(sums)] = counted(every, [whose, *columns], clock, sums).to_numpy()
    return every[every.shown == 1]


def same(table: FeatureTable, frame: Any) -> bool:
    """Whether pandas found what we did."""
    import polars as pl

    names = [name for name in table.names if name.startswith(("session_", "user_")) and name.endswith(KINDS)]
    mine = table.scan().select("session", "time", "document", *names).collect().sort("session", "time", "document")
    theirs = pl.from_pandas(frame[["session", "time", "document", *names]]).sort("session", "time", "document")
    return bool(np.array_equal(mine.select(names).to_numpy(), theirs.select(names).to_numpy().astype(np.float32)))


def measured(log: Path, folder: Path, what: str, source: str | None = None) -> dict[str, float]:
    """Seconds, CPU seconds and peak memory of a process that makes the features; `source` is of another version."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, __file__, "--make", what, str(log), str(folder)]
    environment = os.environ | ({} if source is None else {"PYTHONPATH": source})
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def make(what: str, log: Path, folder: Path) -> None:
    """Make features, and print what it took, without what imports take."""
    ibis.duckdb.connect().disconnect()  # imports the backend
    start, cpu = time.perf_counter(), time.process_time()
    if what == "pandas":
        frame = with_pandas(log)
        folder.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(folder / "pandas.parquet")
    else:
        ours(log, folder, **({"windows": True} if what == "windows" else {}))
    # VmHWM: ru_maxrss is at least what the process that started this one had.
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    print(json.dumps({"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "memory": peak / 1e6}))


def said(who: str, lines: int, found: dict[str, float]) -> str:
    """What it took, as a line."""
    rate = f"{lines / found['seconds']:>9,.0f} lines/s"
    took = f"{found['seconds']:8.1f} s  {found['cpu']:8.1f} CPU s"
    return f"{who:<7} {lines:>11,} lines  {took}  {rate}  peak {found['memory']:.2f} GB"


def differences(one: Path, other: Path) -> str:
    """Whether two folders have the same impressions and features, row for row and value for value."""
    import polars as pl

    for name in ("results/results", "features"):
        tables = [
            pl.read_parquet(f"{folder}/{name}/**/*.parquet", hive_partitioning=False).sort("impression", "position")
            for folder in (one, other)
        ]
        columns = [column for column in tables[0].columns if not tables[0][column].equals(tables[1][column])]
        if columns:
            return f"OTHER VALUES in {', '.join(columns)}"
    return "the same rows and values"


def best_of(runs: list[dict[str, float]]) -> dict[str, float]:
    """The least time, and the greatest memory."""
    return {key: (max if key == "memory" else min)(run[key] for run in runs) for key in runs[0]}


def in_turns(log: Path, lines: int, folder: Path, rounds: int, former: str | None) -> None:
    """The slow way and ours on one log, in turns."""
    slow, fast = [], []
    for _ in range(rounds):
        slow.append(measured(log, folder / "windows", "windows" if former is None else "former", former))
        fast.append(measured(log, folder / "ours", "ours"))
    print(said("former" if former else "windows", lines, best_of(slow)), flush=True)
    print(said("ours", lines, best_of(fast)), flush=True)
    ratios = [sorted(old[key] / new[key] for old, new in zip(slow, fast, strict=True)) for key in ("seconds", "cpu")]
    words = [
        f"{one[0]:.1f} to {one[-1]:.1f} times as fast by {by}"
        for one, by in zip(ratios, ("time", "CPU time"), strict=True)
    ]
    print(f"        {'; '.join(words)}; {differences(folder / 'windows', folder / 'ours')}", flush=True)
    for name in ("windows", "ours"):
        shutil.rmtree(folder / name)


def growth(sizes: list[int], folder: Path, rounds: int) -> None:
    """Ours on logs of these sizes, in turns, and how much more the last takes than the one before."""
    logs = {size: generated(size, folder) for size in sizes}
    runs: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size, (log, _lines) in logs.items():
            runs[size].append(measured(log, folder / "ours", "ours"))
            shutil.rmtree(folder / "ours")
    for size, (log, lines) in logs.items():
        print(said("ours", lines, best_of(runs[size])), flush=True)
        log.unlink()
    if len(sizes) > 1:
        small, large = sizes[-2:]
        times = {
            key: [after[key] / before[key] for before, after in zip(runs[small], runs[large], strict=True)]
            for key in ("seconds", "cpu", "memory")
        }
        ranges = {key: f"×{min(of):.1f} to ×{max(of):.1f}" for key, of in times.items()}
        print(
            f"growth  ×{logs[large][1] / logs[small][1]:.2f} lines: {ranges['seconds']} time, "
            f"{ranges['cpu']} CPU time, {ranges['memory']} peak memory"
        )


def generated(size: int, folder: Path) -> tuple[Path, int]:
    """A log of about that many lines, and how many they are."""
    log = folder / f"{size}.log"
    return log, write_log(generate_log(max(1, round(size / LINES_PER_USER)), seed=1), log)["lines"]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", default="300000,1000000", help="lines of logs on which both ways run in turns")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--former", metavar="SRC", help="the folder src of another version, in place of windows")
    parser.add_argument("--lines", default="1000000,10000000", help="lines of logs for the growth of time and memory")
    parser.add_argument("--pandas", type=int, default=300_000)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make(options.make[0], Path(options.make[1]), Path(options.make[2]))
        return
    folder = Path(options.folder or tempfile.mkdtemp(prefix="surefoot-clicks-"))
    folder.mkdir(parents=True, exist_ok=True)
    turns, sizes = ([int(size) for size in text.split(",") if size] for text in (options.turns, options.lines))
    for size in sorted({*turns, *([options.pandas] if options.pandas else [])}):
        log, lines = generated(size, folder)
        if size in turns:
            in_turns(log, lines, folder, options.rounds, options.former)
        if size == options.pandas:
            against_pandas(log, lines, folder)
        shutil.rmtree(folder / "ours", ignore_errors=True)
        log.unlink()
    if sizes:
        growth(sizes, folder, options.rounds)
    if options.folder is None:
        shutil.rmtree(folder)


def against_pandas(log: Path, lines: int, folder: Path) -> None:
    """The same in plain pandas, and whether it found the same."""
    import pandas as pd

    print(said("pandas", lines, measured(log, folder / "pandas", "pandas")), flush=True)
    measured(log, folder / "ours", "ours")
    table = FeatureTable.read(folder / "ours")
    agree = same(table, pd.read_parquet(folder / "pandas" / "pandas.parquet"))
    print(f"        24 of our {len(table.names)} features, {'the same values' if agree else 'OTHER VALUES'}")
    shutil.rmtree(folder / "pandas")


if __name__ == "__main__":
    main()
