"""Every file that surefoot writes has its own writer's signature and no other; what must not be replaced has none."""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.inputs import write_dates, write_runs

import surefoot as sf
from surefoot.cli import main, outputs
from surefoot.cli.outputs import Output

SIGNATURES = {name: signature for name, signature in vars(outputs).items() if isinstance(signature, re.Pattern)}
RUNS = "qrels.txt today.run bold.run"
TREES = "--trees 2 --set num_leaves=4 --set min_data_in_leaf=5"
COMMANDS = [
    f"evaluate {RUNS} -b today --json assessment.json --csv systems.csv --per-query --metrics metrics.json "
    "--html assessment.html --figures charts",
    f"evaluate {RUNS} -b today -m nDCG@5 -m AP --csv measures.csv --per-query --json assessments.json.gz",
    f"stability noise {RUNS} --sizes 0.1 --seeds 1 -m nDCG@5 --json noise.json --csv noise.csv --html noise.html",
    f"stability subsets {RUNS} --subsets 9 -m nDCG@5 --json subsets.json --csv subsets.csv --html subsets.html",
    f"stability time {RUNS} --dates dates.txt --size 2 --subsets 9 -m nDCG@5 --json time.json --csv time.csv",
    f"stability measures {RUNS} --bootstrap 9 -m nDCG@5 --json compare.json --csv compare.csv",
    f"gate {RUNS} -b today --risk 0.9 --json decision.json --markdown decision.md --junit decision.xml "
    "--html decision.html --record record.json --metrics gate-metrics.json",
    "judge next bold.run -b today.run -o draws.json --csv draws.csv",
    f"train train.txt {TREES} --valid train.txt -b feature:1 -o model --html training.html --card card.md "
    "--metrics train-metrics.json",
    "explain model train.txt 1 -b feature:1 --json explanation.json --markdown explanation.md --html explanation.html",
    "guard model --fit-scorer train.txt --calibrate judged.txt -b feature:1 --risk 0.9 -o guard "
    "--json certificate.json "
    "--html certificate.html",
    "rank guard train.txt -o served.run --shown served.csv",
    "rank guard train.txt -o other.run --shown served.json",
    f"sweep train.txt -b today=feature:1 {TREES} --folds 3 --objective u_risk --alpha 5 --workers 1 -o sweep "
    "--json sweep.json --csv sweep.csv --html sweep.html --metrics sweep-metrics.json",
    "select sweep --max-risk 1 --json choice.json",
    "history . --json history.json --csv history.csv --html history.html",
    "demo clicks --layout yandex2014 -o clicks.log --users 40",
    "personalize clicks.log -o study --trees 3 --beta 0.1 --alpha 1 --set min_data_in_leaf=20 --json personal.json "
    "--csv personal.csv --html personal.html --metrics personal-metrics.json",
]
SIGNED = {
    "JSON": "assessment.json assessments.json.gz noise.json subsets.json time.json compare.json decision.json "
    "certificate.json served.json sweep.json choice.json personal.json explanation.json history.json",
    "SYSTEMS_CSV": "systems.csv measures.csv", "QUERIES_CSV": "systems.per-query.csv measures.per-query.csv",
    "METRICS": "metrics.json gate-metrics.json train-metrics.json sweep-metrics.json personal-metrics.json",
    "PAGE": "assessment.html noise.html subsets.html decision.html training.html certificate.html sweep.html "
    "personal.html explanation.html history.html",
    "CHART": "charts/t-risk.pdf charts/t-risk.png charts/t-risk.svg",
    "STUDY_CSV": "noise.csv subsets.csv time.csv compare.csv",
    "DECISION_MARKDOWN": "decision.md", "DECISION_JUNIT": "decision.xml",
    "DRAWS_CSV": "draws.csv", "SERVED_CSV": "served.csv", "CHECKPOINT": "checkpoint", "SWEEP_CSV": "sweep.csv",
    "PERSONAL_CSV": "personal.csv", "CARD": "card.md", "EXPLANATION_JSON": "explanation.json",
    "EXPLANATION_MARKDOWN": "explanation.md", "HISTORY_JSON": "history.json", "HISTORY_CSV": "history.csv",
    "DEMO": "qrels.txt today.run bold.run",
}  # fmt: skip
UNSIGNED = [
    "record.json", "draws.json", "model/ranker.json", "model/model.txt", "guard/guard.json",
    "sweep/sweep.json", "served.run", "clicks.log", "study/log.json", "train.txt",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of file that a command writes."""
    folder = write_runs(tmp_path_factory.mktemp("written"), runs=2, queries=20, depth=10)
    write_dates(folder / "dates.txt", 20, width=2)
    for name, seed in (("train.txt", 1), ("judged.txt", 2)):
        sf.demo.letor(queries=30, documents=8, features=6, seed=seed).with_baselines_only([]).write(folder / name)
    with pytest.raises(KeyboardInterrupt):
        _interrupted_training(folder / "checkpoint")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("GITHUB_STEP_SUMMARY", raising=False)
        for command in COMMANDS:
            patch.setattr(
                sys,
                "argv",
                ["surefoot", *command.split(), *["-q"] * (command.split()[0] not in ("explain",))],
            )
            with pytest.raises(SystemExit) as caught:
                main()
            assert caught.value.code in ((0, 1, 3) if command.startswith("gate") else (0,)), command
    return folder


def _interrupted_training(checkpoint: Path) -> None:
    def stop(trees: int, history: Any) -> None:
        if trees == 2:
            raise KeyboardInterrupt

    ranker = sf.Ranker(n_estimators=3, num_leaves=4, checkpoint=checkpoint, checkpoint_every=1)
    ranker.fit(sf.demo.letor(queries=5, documents=8, features=6), progress=stop)


def signatures_in(path: Path) -> set[str]:
    """The names of the signatures by which a file may be replaced."""
    return {name for name, signature in SIGNATURES.items() if Output("--x", path, signature).refusal() is None}


def test_a_file_has_its_own_writers_signature_and_no_other(home: Path) -> None:
    expected: dict[str, set[str]] = {file: set() for file in UNSIGNED}
    for name, files in SIGNED.items():
        for file in files.split():
            expected.setdefault(file, set()).add(name)
    assert {file: signatures_in(home / file) for file in expected} == expected
    assert set(SIGNED) == set(SIGNATURES)
    assert gzip.decompress((home / "assessments.json.gz").read_bytes()).startswith(b'{\n  "schema": "surefoot/')
