"""`surefoot demo judges`: four generated judges, good and bad, and one release that people decide."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

DEMO_DRAWS, DEMO_RISK_LEVEL = 80, 0.08
DEMO_MEASURE = "nDCG@10"
DEMO_SYSTEMS = ("today", "hybrid", "dense")


def files_of_judges() -> list[str]:
    """What the demonstration writes."""
    from surefoot.demo.made_judges import JUDGES

    judges = [name for judge in JUDGES for name in (f"{judge}.qrels", f"{judge}-draws.json")]
    return ["people.qrels", *(f"{name}.run" for name in DEMO_SYSTEMS), *judges, "agreement.html"]


def show_judges(say: Callable[..., None], output: Path, queries: int, seed: int, command: str) -> None:
    """Generate people's judgments and four judges', and decide on two candidates with each."""
    from surefoot.data.writing.all_or_nothing import ensure_folder
    from surefoot.decide.agreement.agreement import judge_agreement
    from surefoot.decide.agreement.agreement_text import headline
    from surefoot.decide.evidence.judge_next import judge_next
    from surefoot.decide.gate.gate import gate
    from surefoot.demo.made_judges import JUDGES
    from surefoot.demo.made_judges import judges as demo_judges
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
