"""The evaluators that `evaluate.py` compares: how each loads files, and how it scores what was loaded.

    python benchmarks/evaluators.py surefoot FILE.qrels FILE.run    # do both, and print the peak memory in MB

A new process of this file is what a cold start is measured by, so it imports nothing that a tool does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def surefoot_load(qrels: Path, run: Path) -> Any:
    import surefoot as sf

    return sf.read_qrels(qrels), sf.read_run(run)


def surefoot_score(loaded: Any) -> list[float]:
    import surefoot as sf

    return [float(scores.mean()[0]) for scores in sf.score(*loaded, ["nDCG@10", "AP", "ERR@20"])]


def pytrec_load(qrels: Path, run: Path) -> Any:
    import pytrec_eval

    with qrels.open() as judgments, run.open() as results:
        return pytrec_eval.parse_qrel(judgments), pytrec_eval.parse_run(results)


def pytrec_score(loaded: Any) -> list[float]:
    import pytrec_eval

    qrels, run = loaded
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map"}).evaluate(run).values()
    return [sum(one[name] for one in found) / len(found) for name in ("ndcg_cut_10", "map")]


def ir_measures_load(qrels: Path, run: Path) -> Any:
    import ir_measures

    return list(ir_measures.read_trec_qrels(str(qrels))), list(ir_measures.read_trec_run(str(run)))


def ir_measures_score(loaded: Any) -> list[float]:
    import ir_measures

    wanted = [ir_measures.nDCG @ 10, ir_measures.AP]
    found = ir_measures.calc_aggregate(wanted, *loaded)
    return [found[measure] for measure in wanted]


def ranx_load(qrels: Path, run: Path) -> Any:
    import ranx

    return ranx.Qrels.from_file(str(qrels), kind="trec"), ranx.Run.from_file(str(run), kind="trec")


def ranx_score(loaded: Any) -> list[float]:
    import ranx

    found = ranx.evaluate(*loaded, ["ndcg@10", "map"])
    return [found["ndcg@10"], found["map"]]


TOOLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "surefoot": (surefoot_load, surefoot_score),
    "pytrec_eval": (pytrec_load, pytrec_score),
    "ir_measures": (ir_measures_load, ir_measures_score),
    "ranx": (ranx_load, ranx_score),
}


def peak_memory() -> float:
    """This process's peak of resident memory in MB; Linux's getrusage would count the parent's before exec too."""
    status = Path("/proc/self/status")
    if not status.exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main(tool: str, qrels: str, run: str) -> None:
    load, score = TOOLS[tool]
    score(load(Path(qrels), Path(run)))
    print(peak_memory())


if __name__ == "__main__":
    main(*sys.argv[1:])
