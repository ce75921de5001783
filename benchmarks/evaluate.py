"""Evaluation: surefoot against pytrec_eval, ir_measures and ranx, as ratios from one run on the same data.

    python benchmarks/evaluate.py            # everything, about five minutes (ranx compiles, ir_measures calls perl)
    python benchmarks/evaluate.py --quick    # surefoot and pytrec_eval only

Warm times are medians of rounds in which the tools take turns in one process. Cold times and peak memory are those
of new processes, imports included. surefoot computes nDCG@10, AP and ERR@20; the peers nDCG@10 and AP only,
unless it says otherwise.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from evaluators import TOOLS

ROUNDS, COLD_ROUNDS = 5, 7
WORKER = Path(__file__).with_name("evaluators.py")
JUDGED = 50  # documents of a query, half of them among its results
CASES = {  # queries, results of each, and how many documents of each are judged
    "10,000 x 100": (10_000, 100, JUDGED),
    "1,000 x 1,000": (1_000, 1_000, JUDGED),
    "10,000 x 100, every result judged": (10_000, 100, None),
}


def generate(folder: Path, queries: int, depth: int, judged: int | None = JUDGED) -> tuple[Path, Path]:
    """A run and judgments in the form of TREC Web track files: 25-character ids, scores of six decimals, some ties.

    Of each query `judged` documents are judged, half of them results; None judges just the results.
    """
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(queries)
    run_file, qrels_file = folder / f"{queries}x{depth}.run", folder / f"{queries}x{depth}.qrels"
    with run_file.open("wb") as run, qrels_file.open("wb") as qrels:
        for start in range(0, queries, 10_000):
            count = min(10_000, queries - start)
            query = pl.Series("query", np.arange(start + 1, start + count + 1)).cast(pl.String)
            # Distinct documents within a query: a random start and a step that shares no factor with the collection.
            first = rng.integers(0, 10**9, (count, 1))
            number = (first + np.arange(depth + JUDGED) * 7_919_777) % 1_000_000_007
            shown, extra = number[:, :depth], number[:, depth:]
            score = np.sort(rng.random((count, depth)) * 20, axis=1)[:, ::-1].round(6)
            rank = pl.Series("rank", np.tile(np.arange(1, depth + 1), count))
            lines = [_repeat(query, depth), *_ids(shown), rank, pl.Series("score", score.ravel())]
            pl.DataFrame(lines).select(
                "query", pl.lit("Q0").alias("Q0"), "id", "rank", "score", pl.lit("x").alias("tag")
            ).write_csv(run, include_header=False, separator=" ")
            seen = shown
            if judged is not None:
                seen = np.concatenate([shown[:, : judged // 2], extra[:, : judged // 2]], axis=1)
            grade = rng.choice(5, seen.size, p=[0.6, 0.2, 0.1, 0.06, 0.04])
            pl.DataFrame([_repeat(query, seen.shape[1]), *_ids(seen), pl.Series("grade", grade)]).select(
                "query", pl.lit("0").alias("iteration"), "id", "grade"
            ).write_csv(qrels, include_header=False, separator=" ")
    return qrels_file, run_file


def _repeat(query: Any, times: int) -> Any:
    import numpy as np

    return query.gather(np.repeat(np.arange(len(query)), times))


def _ids(number: Any) -> list[Any]:
    import polars as pl

    frame = pl.DataFrame({"n": number.ravel()})
    part = pl.col("n")
    return frame.select(
        pl.format(
            "clueweb09-en{}-{}-{}",
            (part % 134).cast(pl.String).str.zfill(4),
            (part // 134 % 100).cast(pl.String).str.zfill(2),
            (part // 13_400 % 100_000).cast(pl.String).str.zfill(5),
        ).alias("id")
    ).get_columns()


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def warm(tools: list[str], qrels: Path, run: Path) -> dict[str, dict[str, float]]:
    """Medians of loading and scoring, the tools taking turns."""
    times: dict[str, dict[str, list[float]]] = {tool: {"files": [], "memory": []} for tool in tools}
    loaded = {tool: TOOLS[tool][0](qrels, run) for tool in tools}
    values = {tool: TOOLS[tool][1](loaded[tool]) for tool in tools}
    for tool, found in values.items():
        # pytrec_eval ranks in single precision, so the few scores that tie there may move a mean a little.
        assert all(abs(a - b) < 1e-4 for a, b in zip(found, values["surefoot"], strict=False)), (tool, values)
    for _ in range(ROUNDS):
        for tool in tools:
            load, score = TOOLS[tool]
            times[tool]["memory"].append(timed(score, loaded[tool])[0])
            times[tool]["files"].append(timed(lambda load=load, score=score: score(load(qrels, run)))[0])
    return {tool: {kind: median(seconds) for kind, seconds in found.items()} for tool, found in times.items()}


def cold(jobs: dict[str, tuple[str, Path, Path]]) -> dict[str, dict[str, float]]:
    """Of each job (tool, judgments, run): the median time of new processes, start to end, and their greatest peak.

    The jobs take turns. The first turn does not count, so that each tool's bytecode is there, as it is once a package
    is installed, unless it took so long that once is enough.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(COLD_ROUNDS + 1):
        for name, arguments in jobs.items():
            if found[name] and found[name][0][0] > 20:
                continue
            start = time.perf_counter()
            output = subprocess.run(
                [sys.executable, WORKER, *map(str, arguments)],
                capture_output=True, text=True, check=True, env=environment,
            ).stdout  # fmt: skip
            found[name].append((time.perf_counter() - start, float(output)))
    counted = {name: times[1:] or times for name, times in found.items()}
    return {
        name: {"seconds": median(one[0] for one in times), "peak": max(one[1] for one in times)}
        for name, times in counted.items()
    }


def assess_matrices(*queries: int, weighted: bool = False) -> list[float]:
    """Seconds to assess matrices of 5 systems at four α, without bootstrap; they take turns.

    With `weighted`, then the same with queries weighted by traffic.
    """
    import numpy as np

    import surefoot as sf

    values = [np.random.default_rng(0).random((5, count)) for count in queries]
    made = [sf.Scores(one, list("abcde"), [str(number) for number in range(one.shape[1])]) for one in values]
    if weighted:
        counts = np.random.default_rng(1).pareto(1.5, max(queries)) + 0.1
        made += [scores.with_traffic(dict(zip(scores.queries, counts.tolist(), strict=False))) for scores in made]
    rounds = [[timed(sf.assess, scores, "a", [0, 1, 5, 10])[0] for scores in made] for _ in range(9)]
    return [median(found) for found in zip(*rounds, strict=True)]


def evaluate_files(qrels: Path, run: Path) -> tuple[float, float]:
    """Seconds from files to an assessment, without traffic and with it; they take turns."""
    import numpy as np

    import surefoot as sf

    queries = sf.read_qrels(qrels).queries
    counts = np.random.default_rng(1).pareto(1.5, len(queries)) + 0.1
    traffic = dict(zip(queries, counts.tolist(), strict=True))

    def evaluated(weights: dict[str, float] | None) -> None:
        runs = [sf.read_run(run, name) for name in ("today", "new")]
        sf.assess(sf.score(sf.read_qrels(qrels), runs, "nDCG@10", traffic=weights), "today", [0, 1, 5, 10])

    rounds = [[timed(evaluated, weights)[0] for weights in (None, traffic)] for _ in range(ROUNDS)]
    plain, weighted = (median(found) for found in zip(*rounds, strict=True))
    return plain, weighted


def command_seconds(*command: str) -> float:
    return median(timed(lambda: subprocess.run(command, capture_output=True, check=True))[0] for _ in range(7))


def _cell(value: float, peer: float, unit: str) -> str:
    number = f"{value:.3f}" if unit == "s" else f"{value:.0f}"
    return f"{number} {unit} [{value / peer:.2f}]".rjust(18)


def main(quick: bool) -> None:
    tools = ["surefoot", "pytrec_eval"] if quick else list(TOOLS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case, size in CASES.items():
            qrels, run = generate(folder, *size)
            sizes = [f"{path.stat().st_size / 1e6:.0f} MB" for path in (run, qrels)]
            print(f"\n{case} results: run of {sizes[0]}, judgments of {sizes[1]} (in brackets: ratio to pytrec_eval)")
            print(
                f"{'':12}", *(f"{head:>18}" for head in ("files, cold", "files, warm", "memory, warm", "peak memory"))
            )
            outside = cold({tool: (tool, qrels, run) for tool in tools})
            inside = warm(tools, qrels, run)
            figures = {
                tool: (outside[tool]["seconds"], inside[tool]["files"], inside[tool]["memory"], outside[tool]["peak"])
                for tool in tools
            }
            for tool, found in figures.items():
                print(f"{tool:12}", *map(_cell, found, figures["pytrec_eval"], ("s", "s", "s", "MB")))

        grown = cold({str(queries): ("surefoot", *generate(folder, queries, 100)) for queries in (10_000, 100_000)})
        few, many = grown.values()
        print("\nTen times the queries, 10,000 -> 100,000 x 100 results (surefoot, files, cold):")
        print(f"  time x {many['seconds'] / few['seconds']:.1f} ({few['seconds']:.2f} -> {many['seconds']:.2f} s)")
        print(f"  memory x {many['peak'] / few['peak']:.1f} ({few['peak']:.0f} -> {many['peak']:.0f} MB)")
        plain, weighted = evaluate_files(*generate(folder, 10_000, 100))
        print("\nFrom files to an assessment of two runs, 10,000 x 100 results (warm):")
        print(f"  {plain:.3f} s, weighted by traffic {weighted:.3f} s: x {weighted / plain:.2f}")

    print("\nAssessing a matrix of 5 systems at four alphas:")
    small, large, *by_traffic = assess_matrices(100_000, 1_000_000, weighted=True)
    print(f"  100,000 queries {small:.3f} s, 1,000,000 queries {large:.3f} s: x {large / small:.1f}")
    ratios = [found / plain for found, plain in zip(by_traffic, (small, large), strict=True)]
    print(f"  weighted by traffic x {ratios[0]:.2f} and x {ratios[1]:.2f} of that")

    print("\nStarting the command line:")
    helped = command_seconds(str(Path(sys.executable).with_name("surefoot")), "--help")
    typer = command_seconds(sys.executable, "-c", "import typer")
    print(f"  surefoot --help {helped:.3f} s, python -c 'import typer' {typer:.3f} s: {helped - typer:+.3f} s")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
