"""`surefoot demo` by itself: the whole assessment on runs with known harm, in half a minute of reading."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.cli.outputs import OutputFolder, check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.signatures import DEMO, JSON, PAGE
from surefoot.learn.options import MEASURE


def voice(quiet: bool) -> Callable[..., None]:
    """What prints a demonstration's words."""
    from rich.text import Text

    from surefoot.errors import visible
    from surefoot.report.terminal import plain_console

    console = plain_console(quiet=quiet)

    def say(words: Any, style: str = "", unbroken: bool = False) -> None:
        """Print words or a table; `unbroken` lines are for copying, and a terminal's width breaks none of them."""
        text = Text("\n".join(map(visible, words.split("\n"))), style=style) if isinstance(words, str) else words
        console.print(text, soft_wrap=unbroken)

    return say


def show_runs(output: Path, queries: int, seed: int, learn: bool, force: bool, quiet: bool) -> None:
    """The whole way, from runs to a page."""
    import polars as pl

    from surefoot.data.writing.all_or_nothing import ensure_folder
    from surefoot.demo.made_runs import SYSTEMS
    from surefoot.demo.made_runs import runs as demo_runs
    from surefoot.measures.scoring import score
    from surefoot.report.assessment import assess
    from surefoot.report.text import overview
    from surefoot.report.words import effect, significance

    inside = {f"{name}.run": DEMO for name in SYSTEMS} | {"qrels.txt": DEMO, "assessment.json": JSON}
    inside |= {"report.html": PAGE, "learned.html": PAGE}
    check_outputs([OutputFolder("--output", output, inside=inside)], [], force)
    say = voice(quiet)
    made = demo_runs(queries=queries, seed=seed)
    with ensure_folder(output):
        made.qrels.write(output / "qrels.txt")
        for run in made.runs:
            run.write(output / f"{run.name}.run")
    say(f"A dozen rankers answered {queries} queries. One of them, 'today', is live. Which one would you ship?\n")

    assessment = assess(score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[0, 5], depth=10)
    (data,) = assessment.by_measure()
    for part in overview([(data, assessment.rows())]):
        say(part)

    rows = {row["system"]: row for row in data["systems"]}
    say("\nIn plain words", "bold")
    for name in ("bold", "steady"):
        say(f"• {effect(data, rows[name])}")
        for alpha in data["alphas"]:
            say(f"  {significance(data, rows[name], alpha)}")
    hurt = assessment.per_query().filter(system="bold").filter(pl.col("significant@0") & (pl.col("difference") < 0))
    known = set(made.harmed["bold"])
    say(
        f"\n'bold' has the best mean of all. It was made to ruin {len(known)} queries. The per-query test finds "
        f"{hurt.height} queries, and {len(known.intersection(hurt['query']))} of these are among the {len(known)}.\n"
        "'steady' gains less, but it seriously hurts almost no query. If a loss counts twice (α = 1), ship 'steady'. "
        "If a loss counts six times (α = 5), its gain is not certain enough: keep 'today'."
    )
    assessment.write(output / "assessment.json", per_query=True)
    pages = ["report.html"]
    if learn and _learn(say, output, seed):
        pages.append("learned.html")
    written = [output / "qrels.txt", *(output / f"{run.name}.run" for run in made.runs)]
    provenance = page_provenance(output / "report.html", written, [output / page for page in pages[1:]])
    assessment.write(output / "report.html", system="bold", provenance=provenance)
    say("\nOpen in a browser to see who is hurt:", "bold")
    say("\n".join(f"  {(output / page).resolve()}" for page in pages), unbroken=True)
    say("\nTo get the same figures yourself, run:", "bold")
    folder = shlex.quote(str(output))
    say(
        f"  {typed_name()} evaluate {folder}/qrels.txt {folder}/*.run -m nDCG@10 -b today --alpha 0,5 --depth 10",
        unbroken=True,
    )


def typed_name() -> str:
    """What to type in this folder to run this program again: after `make demo` it is not on the PATH."""
    script = sys.argv[0]
    if Path(script).name == "__main__.py":
        return shlex.join([sys.executable, "-P", "-m", "surefoot"])
    installed = shutil.which("surefoot")
    on_path = installed is not None and os.path.realpath(installed) == os.path.realpath(script)
    return "surefoot" if on_path else shlex.quote(script)


def _learn(say: Callable[..., None], output: Path, seed: int) -> bool:
    """A gain-only and a risk-sensitive model, side by side on queries neither has seen; whether it could be done."""
    from surefoot.demo.made_letor import letor as demo_letor
    from surefoot.errors import MissingExtraError
    from surefoot.measures.scoring import score
    from surefoot.report.assessment import assess
    from surefoot.report.words import effect

    try:
        from surefoot.learn.ranker import Ranker
    except MissingExtraError as error:
        say(f"\n(The training step was skipped. {error})")
        return False
    say("\nCan a ranker learn to be careful? Two LambdaMART models on generated data with BM25 as baseline:", "bold")
    made = demo_letor(queries=600, documents=30, features=30, seed=seed)
    train, test = made.select(range(400)), made.select(range(400, 600))
    runs = [test.to_run(test.baselines["bm25"], "bm25")]
    for name, objective, alpha in (("gain only", "gain", 0.0), ("careful", "u_risk", 20.0)):
        ranker = Ranker(
            objective, alpha, n_estimators=60, num_leaves=8, learning_rate=0.1, num_threads=1, history=False
        )
        runs.append(test.to_run(ranker.fit(train).predict(test), name))
    assessment = assess(score(test.qrels(), runs, MEASURE), baseline="bm25", alphas=[0, 5], depth=10)
    (data,) = assessment.by_measure()
    for row in data["systems"][1:]:
        say(f"• {effect(data, row)}")
    page = output / "learned.html"
    assessment.write(page, system="careful", provenance=page_provenance(page, [], [output / "report.html"]))
    return True
