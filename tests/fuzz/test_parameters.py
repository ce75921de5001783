"""Parameters, model texts, descriptions and checkpoints changed at random: only our own errors may come of it.

Every part runs in a process of its own, which a crash of LightGBM would end. SUREFOOT_FUZZ=20 tries twenty times as
many.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.learn.engines.lightgbm.parameters import ACCEPTED

pytestmark = pytest.mark.heavy

TIMES = float(os.environ.get("SUREFOOT_FUZZ", "1"))
CASES = {"parameters": 100, "model_texts": 800, "descriptions": 150, "checkpoints": 60}

VALUES: list[Any] = [
    None, True, False, "", "x", "true", "nan", "-1", "1e3", "１", "1,2", "[0],[1]", "[[0]]", -1, 0, 1, 2, 7, 0.5, 1.5,
    -0.5, 1e-300, 1e30, 1e308, -1e308, float("nan"), float("inf"), 2**31, 2**63, -(2**31), 10**400, [], [1], [0, 1],
    [0, 1, 2], [-1, 0, 1], [0.5, 0.5, 0.5], [[0, 1], [2]], [[9]], [None], {}, {"a": 1}, b"x", (), object(), print,
    np.int64(3), np.float32(0.5), np.array([1, 2, 3]), np.array(5), np.bool_(True), "u_risk", "gbdt", "dart", "goss",
    "rf", "gpu", "u_risk@5", "geo_risk@x", "t_risk", "effectiveness@1", "nDCG@3", "AP", "ERR@", "P@5", "/",
    "/proc/x/y", "eq9", "first", "baseline", "measure",
]  # fmt: skip
LIKELY: list[Any] = [
    0, 1, 2, 3, 7, 50, 255, 1000, 10**6, 2**31 - 1, 1e-30, 1e-9, 0.01, 0.1, 0.5, 0.9, 1.0, 1e9, 1e30, True, False,
    "0,1,0", "2,3,4", "[0,1],[2]", "0", [0.1, 2, 0], "gbdt", "dart", "goss", "bagging", "advanced",
]  # fmt: skip
OWN = (
    "objective", "alpha", "measure", "rule", "estimate", "delta_cutoff", "init", "sigma", "early_stopping_rounds",
    "stop_on", "history", "checkpoint", "checkpoint_every", "random_state",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "1", "2", "3", "7", "99", "2147483647", "-2147483648", "99999999999", "1e308", "-1e999", "nan", "inf",
    "-inf", "0.5", "", "x", "1 2", "1_0", "0x10", "é", "\x00", "=",
)  # fmt: skip


def small(queries: int = 8, seed: int = 1) -> sf.RankingData:
    data = sf.demo.letor(queries=queries, documents=12, features=3, seed=seed)
    X = np.array(data.X)
    X[:, 2] = np.arange(len(X)) % 5  # for categories
    return sf.RankingData(X, data.y, group=data.lengths, baselines=data.baselines)


SETTINGS = {"n_estimators": 4, "num_leaves": 4, "min_data_in_leaf": 2, "num_threads": 1}


def parameters(draw: random.Random) -> Iterator[Callable[[], object]]:
    """Fits with one or two parameters of odd values."""
    from lightgbm.basic import _ConfigAliases

    data, valid = small(), small(4, 2)
    engine = sorted(_ConfigAliases._get_all_param_aliases())
    taken = sorted(set(ACCEPTED) - {"num_threads"})  # a thousand threads are allowed, and slow

    def case(chosen: dict[str, Any], held_out: sf.RankingData | None) -> None:
        ranker = sf.Ranker(**(SETTINGS | {"objective": "u_risk", "alpha": 2} | chosen)).fit(data, valid=held_out)
        assert np.isfinite(ranker.predict(data)).all()

    while True:
        if draw.random() < 0.5:
            chosen = {draw.choice(taken): draw.choice(LIKELY) for _ in range(draw.choice((1, 2, 3)))}
        else:
            names = [draw.choice(OWN if draw.random() < 0.3 else engine) for _ in range(draw.choice((1, 1, 2)))]
            chosen = {name: draw.choice(VALUES) for name in names}
        yield partial(case, chosen, draw.choice((None, valid)))


def texts() -> list[str]:
    data = small()
    kinds: list[dict[str, Any]] = [
        {},
        {"categorical_feature": [2]},
        {"linear_tree": True},
        {"monotone_constraints": "1,0,0"},
    ]
    return [sf.Ranker(**(SETTINGS | kind)).fit(data).booster_.model_to_string() for kind in kinds]


def changed(text: str, draw: random.Random) -> str:
    """The text with something else in it, the trees' sizes put right again most of the time."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        lines = text.split("\n")
        end = next((place for place, line in enumerate(lines) if line == "end of trees"), len(lines))
        place = draw.randrange(end if end and draw.random() < 0.9 else len(lines))
        kind = draw.random()
        if kind < 0.6 and "=" in lines[place]:
            key, _, value = lines[place].partition("=")
            words = value.split(" ")
            words[draw.randrange(len(words))] = draw.choice((*NUMBERS, draw.choice(words)))
            lines[place] = f"{key}={' '.join(words)}"
        elif kind < 0.7:
            del lines[place]
        elif kind < 0.8:
            lines.insert(place, draw.choice(lines))
        elif kind < 0.85:
            lines = lines[:place]
        elif lines[place]:
            letter = draw.randrange(len(lines[place]))
            lines[place] = lines[place][:letter] + draw.choice("019-. =:[]ex\t\0") + lines[place][letter + 1 :]
        text = "\n".join(lines)
    return resized(text) if draw.random() < 0.9 else text


def resized(text: str) -> str:
    tree = re.search(r"^Tree=.*?(?=^end of trees)", text, re.DOTALL | re.MULTILINE)
    if not tree:
        return text
    sizes = " ".join(str(len(part.encode())) for part in re.split(r"^(?=Tree=)", tree[0], flags=re.MULTILINE) if part)
    return re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", text, flags=re.MULTILINE)


def model_texts(draw: random.Random) -> Iterator[Callable[[], object]]:
    """Model texts with hashes that match, loaded, predicted with and saved again."""
    data, known = small(), texts()
    folder = Path(tempfile.mkdtemp())
    ranker = sf.Ranker(**SETTINGS).fit(data)
    ranker.save(folder)
    details = json.loads((folder / "ranker.json").read_text())

    def case(text: str) -> None:
        raw = text.encode(errors="surrogatepass")
        details["model"]["sha256"] = hashlib.sha256(raw).hexdigest()
        (folder / "model.txt").write_bytes(raw)
        (folder / "ranker.json").write_text(json.dumps(details))
        loaded = sf.Ranker.load(folder)
        loaded.predict(data)
        loaded.booster_.model_to_string()

    while True:
        yield partial(case, changed(draw.choice(known), draw))


def odd_json(value: Any, draw: random.Random) -> Any:
    """The value with one of its parts replaced or taken away."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        if draw.random() < 0.1:
            return {name: part for name, part in value.items() if name != key}
        return value | {key: odd_json(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.6:
        place = draw.randrange(len(value))
        return [*value[:place], odd_json(value[place], draw), *value[place + 1 :]]
    plain = (None, True, "", "x", "\ud800", -1, 0, 1, 3, 0.5, 1e308, 10**400, float("nan"), [], [1], [[]], {}, {"a": 1})
    return draw.choice(plain)


def descriptions(draw: random.Random) -> Iterator[Callable[[], object]]:
    """A ranker.json with something else in it."""
    data = small()
    folder = Path(tempfile.mkdtemp())
    sf.Ranker("u_risk", 1, init="baseline", **SETTINGS).fit(data, valid=small(4, 2)).save(folder)
    details = json.loads((folder / "ranker.json").read_text())

    def case(text: str) -> None:
        (folder / "ranker.json").write_text(text)
        loaded = sf.Ranker.load(folder)
        loaded.to_run(data)
        loaded.save(folder)

    while True:
        text = json.dumps(odd_json(details, draw))
        if draw.random() < 0.1:
            text = text[: draw.randrange(len(text))] + draw.choice(("", "[" * 5000, "\0", "}"))
        yield partial(case, text)


def checkpoints(draw: random.Random) -> Iterator[Callable[[], object]]:
    """A checkpoint with something else in it."""
    data = small()
    path = Path(tempfile.mkdtemp()) / "state.json"
    ranker = sf.Ranker("saro", 1, estimate="first", checkpoint=path, checkpoint_every=2, **SETTINGS)
    ranker.fit(data, valid=data)
    state = json.loads(path.read_text())

    def case(content: Any) -> None:
        path.write_text(json.dumps(content))
        sf.Ranker(**ranker.get_params()).fit(data, valid=data)

    while True:
        content = odd_json(state, draw) if draw.random() < 0.5 else state | {"model": changed(state["model"], draw)}
        yield partial(case, content)


PARTS = {"parameters": parameters, "model_texts": model_texts, "descriptions": descriptions, "checkpoints": checkpoints}


def work(part: str, seed: int, count: int) -> None:
    """Try so many cases, and print what came of them."""
    cases = PARTS[part](random.Random(seed))
    accepted = refused = 0
    for number in range(count):
        case = next(cases)
        print(f"case {number}: {str(case)[-300:]}", file=sys.stderr, flush=True)
        try:
            case()
            accepted += 1
        except sf.SurefootError:
            refused += 1
    print(f"{accepted} {refused}")


@pytest.mark.parametrize("part", PARTS)
def test_only_our_own_errors(part: str) -> None:
    count = max(1, int(CASES[part] * TIMES))
    seed = int(os.environ.get("SUREFOOT_FUZZ_SEED", "9"))
    command = [sys.executable, "-W", "ignore", __file__, part, str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    accepted, refused = map(int, done.stdout.split("\n")[-2].split())
    assert accepted + refused == count
    assert refused > 0


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
