"""Pages of decisions, certificates and studies, for the tests of what all pages promise.

Each maker writes a page to a path, and gives the words of the decision, from the result's JSON, that the headline must
hold.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import surefoot as sf
from surefoot.decide.guard.certificate import Certificate
from surefoot.demo.made_runs import judges
from surefoot.report.provenance import Provenance

LONG = "a-very-long-name-of-a-system-" * 4 + "v2"
HOSTILE = "<img src=x onerror=alert(1)>"


def decision(path: Path, provenance: Provenance) -> str:
    """A candidate that is stopped, with the rankings of the queries that it hurts."""
    made = sf.demo.runs(queries=120)
    scores = sf.score(made.qrels, made.runs[:2], "nDCG@10")
    texts = dict.fromkeys(scores.queries, "words " * 40)
    decided = sf.gate(scores, baseline="today", policy={"risk": 0.03, "gain": 0}, texts=texts)
    decided.write(path, provenance=provenance)
    data = decided.to_dict()
    assert data["decision"] == "stop"
    return f"Keep {data['baseline']}, stop {data['candidate']}: "


def undecided(path: Path, provenance: Provenance) -> str:
    """Long and hostile names, and conditions on segments, which nothing decides yet."""
    rng = np.random.default_rng(1)
    queries = [f"a-query-whose-id-goes-on-and-on-number-{i}-" * 3 for i in range(200)]
    today = rng.uniform(0.3, 0.9, 200)
    scores = sf.Scores([today, today + rng.normal(0.02, 0.04, 200)], [HOSTILE, LONG], queries, "nDCG@10")
    kinds = dict.fromkeys(queries[::2], "segment " * 12) | dict.fromkeys(queries[1::2], "others")
    policy = {"risk": 0.013, "share_hurt": 0.1, "u_risk": {"alpha": 1, "above": 0}, "segments": {"*": {"gain": -0.1}}}
    decided = sf.gate(scores, baseline=HOSTILE, policy=policy, segments=kinds)
    decided.write(path, provenance=provenance)
    data = decided.to_dict()
    assert data["decision"] == "undecided"
    return f"We cannot tell yet, so keep {HOSTILE}. "


def _certificate() -> Certificate:
    made = sf.demo.runs(queries=500, seed=3)
    runs, judged = {run.name: run for run in made.runs}, list(made.qrels.to_dict().items())
    guard = sf.RiskGuard(runs["bold"], baseline=runs["today"], risk=0.15, share_hurt=0.3)
    return guard.fit_scorer(dict(judged[:200])).calibrate(dict(judged[200:])).certificate_


def certificate(path: Path, provenance: Provenance) -> str:
    """A threshold that is certified for two losses."""
    proved = _certificate()
    proved.write(path, provenance=provenance)
    assert proved["threshold"] is not None
    return f"Serve {proved['candidate']} where the score is at least {proved['threshold']:.4g}: risk at most 0.15 and "


def refused_certificate(path: Path, provenance: Provenance) -> str:
    """Long and hostile names, and nothing to serve but the baseline."""
    data = _certificate().to_dict()
    names = {"candidate": LONG, "baseline": HOSTILE, "scorer": LONG, "sentence": HOSTILE + LONG, "threshold": None}
    Certificate(data | names | {"reason": f"{LONG} gains nothing"}).write(path, provenance=provenance)
    return f"Serve {HOSTILE} alone: "


def stability(path: Path, provenance: Provenance) -> str:
    """From how many queries on one of two systems is chosen."""
    made = sf.demo.runs(queries=200)
    study = sf.stability.subsets(
        sf.score(made.qrels, made.runs[:2], ["nDCG@5", "AP"]), sizes=[5, 20, 50, 200], subsets=50
    )
    study.write(path, provenance=provenance)
    data = study.to_dict()
    picks = data["results"]["nDCG@5"]
    sure = [size for size, rate in zip(data["sizes"], picks["rate"], strict=True) if rate >= 0.95]
    return f"With {sure[0]} queries or more, you can trust that {picks['winner']} is better than today: "


def stability_long_names(path: Path, provenance: Provenance) -> str:
    """Long and hostile names: measures choose different systems."""
    rng = np.random.default_rng(0)
    queries = [f"a query with many words that goes on and on, number {i}" for i in range(30)]
    first = sf.Scores(rng.random((3, 30)), [HOSTILE, LONG, "short"], queries, "a measure " * 12)
    other = sf.Scores(first.values[[1, 2, 0]], first.systems, queries, "nDCG@10")
    study = sf.stability.measures([first, other], replicates=50)
    study.write(path, provenance=provenance)
    best = [ranked[0]["system"] for ranked in study.to_dict()["results"].values()]
    assert best[0] != best[1]
    return "Choose the measure first: "


def agreement(path: Path, provenance: Provenance) -> str:
    """A good judge, compared with people on two systems."""
    made = sf.demo.runs(queries=120)
    judge = judges(made.qrels, made.runs[1])["good"]
    compared = sf.judge_agreement(made.qrels, automatic=judge, runs=made.runs[:2], baseline="today")
    compared.write(path, provenance=provenance)
    return f"good agrees with judgments on {100 * compared.to_dict()['agreement']:.0f} %"


def agreement_long_names(path: Path, provenance: Provenance) -> str:
    """Long and hostile names, and a judge that favours a system."""
    made = sf.demo.runs(queries=60)
    today, new = (run.renamed(name) for run, name in zip(made.runs[:2], (HOSTILE, LONG), strict=True))
    judge = judges(made.qrels, new)["partial"].renamed(HOSTILE)
    compared = sf.judge_agreement(made.qrels.renamed(LONG), automatic=judge, runs=[today, new], baseline=HOSTILE)
    compared.write(path, provenance=provenance)
    return f"{HOSTILE} agrees with "


def decision_with_judge(path: Path, provenance: Provenance) -> str:
    """A decision with an automatic judge of a hostile name."""
    made = sf.demo.runs(queries=200)
    runs = {run.name: run for run in made.runs}
    judge = judges(made.qrels, runs["dense"])["partial"].renamed(HOSTILE)
    draws = sf.judge_next(
        [runs["today"], runs["dense"]], baseline=runs["today"].name, measure="nDCG@10", n=80, seed=0, automatic=judge
    )
    people = {query: grades for query, grades in made.qrels.to_dict().items() if query in set(draws.queries)}
    scores = sf.score(people, [runs["today"], runs["dense"]], "nDCG@10")
    decided = sf.gate(scores, baseline="today", policy={"risk": 0.04}, sample=draws, automatic=judge)
    decided.write(path, provenance=provenance)
    assert decided.decision == "stop"
    return "Keep today, stop dense: "


def history(path: Path, provenance: Provenance) -> str:
    """Four releases by date."""
    return _history(path, provenance, "today", [f"release-{number}" for number in range(4)], 4)


def history_long_names(path: Path, provenance: Provenance) -> str:
    """Long and hostile names, and dates of change."""
    return _history(path, provenance, HOSTILE, [LONG, f"{HOSTILE} 2"], 2)


def _history(path: Path, provenance: Provenance, baseline: str, candidates: list[str], count: int) -> str:
    rng = np.random.default_rng(1)
    before = rng.random(60)
    with TemporaryDirectory() as folder:
        for number, candidate in enumerate(candidates):
            after = np.clip(before + rng.normal(0.02, 0.1, 60), 0, 1)
            queries = [f"{candidates[0]} {place}" for place in range(60)]
            scores = sf.Scores([before, after], [baseline, candidate], queries, "nDCG@10")
            decided = sf.gate(scores, candidate=candidate, baseline=baseline, policy={"risk": 0.2})
            decided.write(Path(folder, f"2026-0{number + 1}-01.json"))
            sf.assess(scores, baseline).write(Path(folder, f"2026-0{number + 1}-02.json"), per_query=True)
        sf.history(folder).write(path, provenance=provenance)
    return f"{count} decisions from "
