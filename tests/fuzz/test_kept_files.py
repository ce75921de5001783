"""Files that surefoot keeps for later, changed and then sealed again as often as not: they work, or are refused.

Sealed files, results, models, sweeps, policies, weights, click logs; no other error than surefoot's own, nothing over
ten seconds. What a change means is not looked at here: a seal that fits is a promise, not a proof.
"""

from __future__ import annotations

import json
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.mutations import NUMBERS, WORDS, count, mutated, mutated_json

import surefoot as sf
from surefoot.clicks.feature_pipeline import FeatureTable, feature_table
from surefoot.clicks.generator import generate_log, write_log
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings
from surefoot.data.hashes import seal
from surefoot.data.reading.query_tables import read_segments
from surefoot.data.reading.texts import read_texts
from surefoot.data.reading.traffic import read_traffic
from surefoot.decide.evidence.judge_next import sample_next
from surefoot.decide.evidence.record import read_record
from surefoot.decide.evidence.sample import read_shares
from surefoot.decide.gate.decision import Decision
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.decide.guard.certificate import Certificate

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

SECONDS = 10
MEMORY = 1 << 30  # bytes more than before
LETOR = sf.demo.letor(queries=30, documents=8, features=6, seed=1)
TRAINED: dict[str, Any] = {"n_estimators": 3, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1}
SWEPT: dict[str, Any] = {
    "objectives": ["u_risk"], "alphas": [5], "grid": TRAINED, "folds": 3, "workers": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file, or folder, of each kind, as surefoot writes it."""
    folder = tmp_path_factory.mktemp("kept")
    runs = sf.demo.runs(queries=30, depth=10)
    today, bold = runs.runs[:2]
    scores = sf.score(runs.qrels, [today, bold], "nDCG@10")
    scores.write(folder / "scores.csv")
    first, scores = scores._only(range(15)), scores._only(range(15, 30))
    common: dict[str, Any] = {"baseline": "today", "policy": {"risk": 0.5}}
    sf.judge_next(
        {"today": today, "bold": bold}, baseline="today", measure="nDCG@10", n=20, seed=1, record=folder / "record.json"
    )
    sample_next(bold, today, 5, folder / "record.json", seed=1)
    sf.gate(scores, baseline="today", policy={"risk": 0.4}, record=folder / "looks.json")
    sf.gate(first, **common, budget=60, record=folder / "looks.json")
    sf.gate(scores, **common).write(folder / "decision.json")
    sf.judge_next({"today": today, "bold": bold}, baseline="today", measure="nDCG@10", n=20, seed=1).write(
        folder / "draws.json"
    )
    half = set(list(runs.qrels.to_dict())[:15])
    learning, judged = (
        {q: d for q, d in runs.qrels.to_dict().items() if (q in half) == first} for first in (True, False)
    )
    guard = sf.RiskGuard(bold, today, risk=0.5).fit_scorer(learning).calibrate(judged)
    guard.certificate_.write(folder / "certificate.json")
    guard.save(folder / "guard")
    sf.assess(scores, baseline="today").write(folder / "assessment.json", per_query=True)
    sf.Ranker(**TRAINED).fit(LETOR).save(folder / "model")
    sf.sweep(swept_data(), folder / "sweep", **SWEPT)
    _checkpoint(folder / "checkpoint.json")
    write_log(generate_log(8, queries=6, seed=1), folder / "log", "yandex2014")
    feature_table(folder / "log", folder / "study", ReadingSettings("yandex2014"), Satisfaction((50.0, 400.0)))
    return folder


def swept_data() -> sf.RankingData:
    return LETOR.with_baselines_only([]).with_baseline("today", LETOR.feature(4))


class _StoppedError(Exception):
    """As far as a training goes here."""


def _checkpoint(path: Path) -> None:
    def stop(trees: int, history: Any) -> None:
        if trees == 2:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        _trained(path).fit(LETOR, progress=stop)


def _trained(checkpoint: Path) -> sf.Ranker:
    return sf.Ranker(**TRAINED, checkpoint=checkpoint, checkpoint_every=1)


def _gate(home: Path, **more: Any) -> Decision:
    scores = sf.read_scores(home / "scores.csv", measure="nDCG@10")
    return sf.gate(scores, baseline="today", policy={"risk": 0.5}, **more)


JSON: dict[str, tuple[Callable[[Path], Any], int]] = {
    "looks.json": (lambda home: _gate(home, record=home / "looks.json"), 500),
    "record.json": (lambda home: read_record(home / "record.json"), 500),
    "draws.json": (lambda home: sf.Draws.read(home / "draws.json"), 500),
    "decision.json": (lambda home: Decision.read(home / "decision.json"), 150),
    "certificate.json": (lambda home: Certificate.read(home / "certificate.json"), 150),
    "guard/guard.json": (lambda home: sf.RiskGuard.load(home / "guard"), 150),
    "assessment.json": (lambda home: sf.Assessment.read(home / "assessment.json").to_html(), 150),
    "model/ranker.json": (lambda home: sf.Ranker.load(home / "model").predict(LETOR), 150),
    "checkpoint.json": (lambda home: _trained(home / "checkpoint.json").fit(LETOR), 100),
    "sweep/result.json": (lambda home: sf.TradeOffs.read(home / "sweep"), 100),
    "sweep/sweep.json": (lambda home: sf.sweep(swept_data(), home / "sweep", **SWEPT), 40),
    "study/log.json": (lambda home: FeatureTable.read(home / "study").scan().collect(), 150),
}
TEXTS: dict[str, tuple[list[bytes], Callable[[Path], Any], int]] = {
    "policy.toml": (
        [b'risk = 0.02\nshare_hurt = 0.1\n[segments."long"]\nrisk = 0.05\n',
         b"gain = 0\nu_risk = { alpha = 5, above = -0.01 }\ndelta = 0.05\n"],
        ReleasePolicy.read, 500,
    ),
    "weights.csv": ([b"stratum,share\nhead,0.5\ntail,0.5\n", b"a\t1\nb\t3\n"], read_shares, 400),
    "traffic.csv": ([b"query,count\nq1,5\nq2,0.5\n", b"query\tcount\nq1\t12\nq2\t3\n"], read_traffic, 400),
    "segments.csv": ([b"query,kind\nq1,head\nq2,tail\n", b'{"q1": "head", "q2": "tail"}'], read_segments, 400),
    "topics.txt": (
        [b"<top>\n<num> Number: 301\n<title> garden chair\n</top>\n", b"q1\tred dress\nq2\tblue\n"], read_texts, 400,
    ),
}  # fmt: skip


def tried(name: str, intact: bytes, inputs: Iterator[tuple[int, bytes]], use: Callable[[bytes], Any]) -> None:
    """Use each input; what it may raise is surefoot's own."""
    use(intact)
    accepted = refused = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, data in inputs:
        began, message = time.process_time(), ""
        try:
            use(data)
            accepted += 1
        except sf.SurefootError as error:
            refused += 1
            message = str(error)
        except Exception as error:
            raise AssertionError((name, number, data[:2000])) from error
        assert len(message) < 20_000, (number, data[:500])
        assert time.process_time() - began < SECONDS, (number, data[:500])
    growth = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(f"{name}: {accepted} accepted, {refused} refused, {growth >> 20} MB more")
    assert growth < MEMORY
    assert refused >= (accepted + refused) // 50


def seal_again(content: Any) -> Any:
    if not isinstance(content, dict) or "sha256" not in content:
        return content
    try:
        return seal(content)
    except (ValueError, sf.SurefootError):  # what surefoot itself would not write
        return content


@pytest.mark.parametrize("name", JSON)
def test_json_files(home: Path, name: str) -> None:
    use, usual = JSON[name]
    intact = (home / name).read_bytes()

    def used(data: bytes) -> None:
        (home / name).write_bytes(data)
        try:
            use(home)
        finally:
            (home / name).write_bytes(intact)

    tried(name, intact, mutated_json(json.loads(intact), name, count(usual), seal_again), used)


@pytest.mark.parametrize("name", TEXTS)
def test_texts(tmp_path: Path, name: str) -> None:
    seeds, read, usual = TEXTS[name]

    def used(data: bytes) -> None:
        (tmp_path / name).write_bytes(data)
        read(tmp_path / name)

    tried(name, seeds[0], mutated(seeds, [*NUMBERS, *WORDS, b'"', b"[", b"]", b"="], name, count(usual)), used)


@pytest.mark.parametrize("name", ["model/model.txt", "sweep/folds", "sweep/points"])
def test_models_and_arrays(home: Path, name: str) -> None:
    top, below = name.split("/")
    paths = sorted(path for path in (home / top).rglob("*") if path.is_file() and below in str(path))
    intact = [path.read_bytes() for path in paths]

    def used(data: bytes) -> None:
        place = intact.index(data) if data in intact else len(data) % len(paths)
        paths[place].write_bytes(data)
        try:
            if top == "model":
                sf.Ranker.load(home / "model").predict(LETOR)
            else:
                sf.sweep(swept_data(), home / "sweep", **SWEPT)
        finally:
            paths[place].write_bytes(intact[place])

    tried(name, intact[0], mutated(intact, NUMBERS, name, count(150 if top == "model" else 30)), used)


@pytest.mark.parametrize("layout", ["yandex2014", "yandex2012", "ubi", "metarank", "table"])
def test_click_logs(tmp_path: Path, layout: str) -> None:
    intact = tmp_path / "whole"
    if layout == "yandex2012":
        lines = (
            f"{i // 3}\t{9 * i}\tQ\t{i % 4}\t0\t1\t2\t3\n{i // 3}\t{9 * i + 5}\tC\t{1 + i % 3}\n" for i in range(12)
        )
        intact.write_text("".join(lines))
    else:
        write_log(generate_log(6, queries=6, seed=1), intact, layout)
    how = ReadingSettings(layout, 1.0, "log") if layout == "yandex2012" else ReadingSettings(layout)
    paths = sorted(path for path in ([intact] if intact.is_file() else intact.rglob("*")) if path.is_file())
    seeds = [path.read_bytes() for path in paths]

    def used(data: bytes) -> None:
        shutil.rmtree(tmp_path / "made", ignore_errors=True)
        place = seeds.index(data) if data in seeds else len(data) % len(paths)
        paths[place].write_bytes(data)
        try:
            feature_table(intact, tmp_path / "made", how, Satisfaction((50.0, 400.0)))
        finally:
            paths[place].write_bytes(seeds[place])

    tried(layout, seeds[0], mutated(seeds, NUMBERS + WORDS, layout, count(12)), used)
