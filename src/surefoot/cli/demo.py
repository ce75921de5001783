"""`surefoot demo`: made-up data in which it is known what is true: runs, clicks, and judges."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.commands import helpful_group
from surefoot.cli.demo_clicks import demo_clicks
from surefoot.cli.option import DIR, option
from surefoot.cli.outputs import DEMO, JSON, PAGE, OutputFolder, check_outputs
from surefoot.cli.printing import page_provenance
from surefoot.errors import ArgumentError, visible
from surefoot.learn.options import MEASURE

demo = helpful_group(
    "demo",
    "Generate runs that harm some queries, and assess them.\n\n**Example:** `surefoot demo -o surefoot-demo`",
    invoke_without_command=True,
)
shared.add_command(demo, "clicks")(demo_clicks)

_Folder = Annotated[Path, option("-o --output", "The folder to write.", DIR)]
_Queries = Annotated[int, option("--queries", "Queries to generate.", min=2, max=100_000)]
_FOLDER = Path("surefoot-demo")
DEMO_DRAWS, DEMO_RISK_LEVEL = 80, 0.08
DEMO_MEASURE = "nDCG@10"
DEMO_SYSTEMS = ("today", "hybrid", "dense")


@demo.callback()
@shared.with_common_options
def _demo(
    context: typer.Context,
    output: _Folder = _FOLDER,
    queries: _Queries = 200,
    seed: shared.Seed = 0,
    learn: Annotated[bool, option("--learn/--no-learn", "Train two rankers, too, or not.")] = True,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    if context.invoked_subcommand is None:
        show_runs(output, queries, seed, learn, force, quiet)
        return
    word = context.invoked_subcommand
    given = [
        name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if given:
        raise ArgumentError(f"options stand after {word}: surefoot demo {word} --{given[0]} …")


@shared.add_command(demo, "judges")
def _demo_judges(
    output: _Folder = _FOLDER,
    queries: _Queries = 200,
    seed: shared.Seed = 0,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Generate people's and automatic judgments, and decide with each.

    **Example:** `surefoot demo judges -o surefoot-demo`
    """
    inside = dict.fromkeys(files_of_judges(), DEMO) | {"agreement.html": PAGE}
    check_outputs([OutputFolder("--output", output, inside=inside)], [], force)
    show_judges(voice(quiet), output, queries, seed, typed_name())


def voice(quiet: bool) -> Callable[..., None]:
    """What prints a demonstration's words."""
    from rich.text import Text

    from surefoot.report.tables import plain_console

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


def files_of_judges() -> list[str]:
    """What the demonstration writes."""
    from surefoot.demo.made_runs import JUDGES

    judges = [name for judge in JUDGES for name in (f"{judge}.qrels", f"{judge}-draws.json")]
    return ["people.qrels", *(f"{name}.run" for name in DEMO_SYSTEMS), *judges, "agreement.html"]


def show_judges(say: Callable[..., None], output: Path, queries: int, seed: int, command: str) -> None:
    """Generate people's judgments and four judges', and decide on two candidates with each."""
    from surefoot.data.writing.all_or_nothing import ensure_folder
    from surefoot.decide.agreement.agreement import judge_agreement
    from surefoot.decide.agreement.agreement_view import headline
    from surefoot.decide.evidence.judge_next import judge_next
    from surefoot.decide.gate.gate import gate
    from surefoot.demo.made_runs import JUDGES
    from surefoot.demo.made_runs import judges as demo_judges
    from surefoot.demo.made_runs import runs as demo_runs
    from surefoot.measures.scoring import score

    made = demo_runs(queries=queries, seed=seed)
    runs = {run.name: run for run in made.runs if run.name in DEMO_SYSTEMS}
    baseline = runs["today"]
    judges = demo_judges(made.qrels, runs["dense"], seed=seed)
    with ensure_folder(output):
        made.qrels.write(output / "people.qrels")
        for run in runs.values():
            run.write(output / f"{run.name}.run")
        for name, judge in judges.items():
            judge.write(output / f"{name}.qrels")
    say(
        f"'today' is live, and {queries:,} queries are the traffic. May 'hybrid' or 'dense' replace it, with a risk of "
        f"at most {DEMO_RISK_LEVEL:g}? People judge {DEMO_DRAWS} draws. Four automatic judges have judged everything:\n"
    )
    for name, what in JUDGES.items():
        say(f"• {name}: it {what}.")
    truth = {
        name: float(-(scores[name] - scores["today"]).clip(max=0).mean())
        for name in ("hybrid", "dense")
        for scores in [score(made.qrels, [baseline, runs[name]], DEMO_MEASURE)]
    }
    for name, risk in truth.items():
        candidate = runs[name]
        must = "it may ship" if risk <= DEMO_RISK_LEVEL else "it must not ship"
        say(f"\n{name}: the true risk, which nobody knows, is {risk:.4f}, so {must}.", "bold")
        for judge_name, judge in judges.items():
            draws = judge_next(
                [baseline, candidate],
                baseline="today",
                measure=DEMO_MEASURE,
                n=DEMO_DRAWS,
                seed=seed,
                automatic=judge,
            )
            people = {query: grades for query, grades in made.qrels.to_dict().items() if query in set(draws.queries)}
            scores = score(people, [baseline, candidate], DEMO_MEASURE)
            policy = {"risk": DEMO_RISK_LEVEL}
            data = gate(scores, baseline="today", policy=policy, sample=draws, automatic=judge).to_dict()
            own, without = data["conditions"][0]["automatic"], data["automatic"]["without"]
            trusted = score(judge, [baseline, candidate], DEMO_MEASURE)
            believed = float(-(trusted[name] - trusted["today"]).clip(max=0).mean())
            correlation = "–" if own["correlation"] is None else f"{own['correlation']:.2f}"
            say(
                f"• {judge_name} (λ {own['weight']:.2f}, ρ {correlation}): {data['decision']}, risk at most "
                f"{data['conditions'][0]['bound']:.4f}; without the judge: {without['decision']}, at most "
                f"{without['conditions'][0]['bound']:.4f}. Whoever trusts the judge believes {believed:.4f}."
            )
            if name == "hybrid":
                draws.write(output / f"{judge_name}-draws.json")
    compared = judge_agreement(
        made.qrels, automatic=judges["good"], runs=[baseline, runs["hybrid"]], measure=DEMO_MEASURE, baseline="today"
    )
    compared.write(output / "agreement.html")
    say("\nWhat is the good judge worth?", "bold")
    say(f"• {headline(compared.to_dict())}")
    say(f"  {(output / 'agreement.html').resolve()}", unbroken=True)
    folder = shlex.quote(str(output))
    say("\nTo get a decision yourself, run:", "bold")
    say(
        f"  {command} gate {folder}/people.qrels {folder}/today.run {folder}/hybrid.run -b today -m {DEMO_MEASURE} "
        "--risk "
        f"{DEMO_RISK_LEVEL:g} --sample {folder}/good-draws.json --automatic {folder}/good.qrels",
        unbroken=True,
    )
