"""Files that commands read, as several tests need them, and commands that must change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import surefoot as sf


def write_runs(folder: Path, *, runs: int, queries: int = 30, depth: int = 20, ending: str = ".run") -> Path:
    """Judgments, `qrels.txt`, and generated runs, `today.run`, `bold.run` and so on."""
    made = sf.demo.runs(queries=queries, depth=depth)
    made.qrels.write(folder / "qrels.txt")
    for run in made.runs[:runs]:
        run.write(folder / f"{run.name}{ending}")
    return folder


def write_dates(path: Path, queries: int, width: int = 1) -> Path:
    """The dates of such queries, half of them on one day and half on the next."""
    path.write_text("".join(f"q{number:0{width}d} 2026-11-0{1 + number % 2}\n" for number in range(1, queries + 1)))
    return path


def named_letor(prefix: str, *, queries: int = 12, documents: int = 8, features: int = 6, seed: int = 1):
    """Generated LETOR data whose documents have names, and the run of its BM25."""
    made = sf.demo.letor(queries=queries, documents=documents, features=features, seed=seed)
    ids = [f"{prefix}{number:05d}" for number in range(len(made))]
    data = sf.RankingData(made.X, made.y, group=made.lengths, doc_ids=ids)
    return data, data.to_run(made.baselines["bm25"], "bm25")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def check_refused(surefoot: Callable[..., tuple[int, str, str]], folder: Path, line: str, message: str) -> None:
    """A command ends with exit code 2 and a short message, and leaves every file as it was."""
    before = contents(folder)
    code, out, err = surefoot(*line.split())
    assert (code, out) == (2, ""), err
    assert message in err
    assert "Traceback" not in err
    assert len(err) < 3000
    assert contents(folder) == before
