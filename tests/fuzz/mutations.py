"""Inputs that are nearly right: small files with a few changes, by a seeded generator.

How many inputs each test tries is `count(usual)`; the environment variable SUREFOOT_FUZZ multiplies it.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

SPACES = [
    b" ",
    b"\t",
    b"\v",
    b"\f",
    b"\r",
    b"\n",
    b"\r\n",
    b"  ",
    b" \t",
    b"\xc2\xa0",
    b"\xe3\x80\x80",
    b"\xe2\x80\xa8",
]
ODD = [
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x01",
    b"\x1c", b"\x1f", b"\x7f", b"\xc2\x85", b"#", b"//",
    b'"', b'""', b",", b";", b":", b"=", b"'", b"\\", b"\xf0\x9f\x98\x80", b"e\xcc\x81", b"x^", b"\x1f\x8b",
]  # fmt: skip
NUMBERS = [
    b"0", b"1", b"2", b"-1", b"+1", b"-0", b"007", b".5", b"5.", b".", b"1e5", b"1E-3", b"1e", b"1e999", b"1e-999",
    b"inf", b"-inf", b"nan", b"NaN", b"Infinity", b"1_000", b"0x1", b"1,5", b"1d5", b"true", b"None", b"null",
    b"9" * 40, b"0." + b"1" * 60, b"16777217", b"4.9e-324", b"3.4028236e38", b"1.7976931348623157e308",
    b"0.1000000014901161193847656250001", b"1048576", b"\xd9\xa3", b"1e100", b"2e100", b"999999999", b"10000000000",
]  # fmt: skip
WORDS = [b"q1", b"q2", b"d1", b"d2", b"Q0", b"A", b"B", b"qid:1", b"qid:", b"1:1", b"2:0.5", b"#docid = d1", b"date"]
DATES = [
    b"2026-11-15",
    b"2026-02-30",
    b"10000-01-01",
    b"0000-01-01",
    b"20261115",
    b"2026-W01-1",
    b"2026-11-15T10:00:00Z",
]
LONG = [
    b"1" * 16_000 + b"x", b"9" * 5_000, b"0." + b"3" * 16_000, b"1e" + b"9" * 5_000, b" " * 20_000, b"[" * 20_000,
    b'{"a":' * 5_000, b"<top " * 5_000, b"a." * 5_000, b'"' * 999, b"-" * 9_999,
]  # fmt: skip


def count(usual: int) -> int:
    """How many inputs to try."""
    return max(1, int(usual * float(os.environ.get("SUREFOOT_FUZZ", "1"))))


def mutated(seeds: list[bytes], tokens: list[bytes], name: str, number: int) -> Iterator[tuple[int, bytes]]:
    """Numbered inputs made of the seeds; the same for a name whatever the number asked for."""
    for i in range(number):
        rng = random.Random(f"{name} {i}")
        data = rng.choice(seeds)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
            data = _changed(rng, data, tokens)
        yield i, data


def gently_mutated(seeds: list[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Numbered inputs without end, of changes that a file often survives: most of them mean something."""
    for i in itertools.count():
        rng = random.Random(f"{name}, gently {i}")
        data = rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = _gently_changed(rng, data)
        yield i, data


def _gently_changed(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0 | 1:  # a number for another
            found = list(re.finditer(rb"(?<![\w.])[+-]?[0-9.]+([eE][+-]?[0-9]+)?(?![\w.])", data))
            if not found:
                return data
            start, end = rng.choice(found).span()
            return data[:start] + rng.choice(NUMBERS) + data[end:]
        case 2:  # a letter more
            at = rng.randint(0, len(data))
            return (
                data[:at]
                + rng.choice((b"a", b"Z", b"9", b"-", b"_", b".", b"\xc3\xa9", b"\xf0\x9f\x98\x80"))
                + data[at:]
            )
        case 3:
            lines[here], lines[there] = lines[there], lines[here]
        case 4:  # a line more, of another document or query
            lines.insert(
                there, re.sub(rb"[0-9]", lambda _: b"%d" % rng.randrange(10), lines[here], count=rng.choice((1, 2, 4)))
            )
        case _:  # other white space
            at = data.find(rng.choice((b" ", b"\n", b",")), rng.randint(0, len(data)))
            return (
                data
                if at < 0
                else data[:at] + rng.choice((b" ", b"  ", b"\t", b"\r")) * (data[at : at + 1] != b",") + data[at:]
            )
    return b"\n".join(lines)


ODD_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e300, 10**400, float("inf"), float("nan"), "", "0", "x", "9" * 5000,
    "\ud800", "\0", "__class__", [], {}, [[]], [None], {"": 0}, ["q1"], [0.5] * 60, 1e-320, "1e999",
]  # fmt: skip
_NEST = "surefoot nests here"


def mutated_json(content: Any, name: str, number: int, seal: Callable[[Any], Any]) -> Iterator[tuple[int, bytes]]:
    """Numbered texts of a JSON file with a value or two changed, or a few bytes; half of the former sealed again."""
    intact = json.dumps(content).encode()
    for i in range(number):
        rng = random.Random(f"{name} {i}")
        if rng.random() < 0.3:
            data = intact
            for _ in range(rng.choice((1, 1, 2, 5))):
                data = _changed(rng, data, NUMBERS + WORDS)
            yield i, data
            continue
        changed = copy.deepcopy(content)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            _change_value(rng, changed)
        if rng.random() < 0.6:
            changed = seal(changed)
        text = json.dumps(changed)
        if rng.random() < 0.1:  # a name twice in one object
            text = text.replace("{", '{"schema": 1, "schema": 2, ', 1)
        yield i, text.replace(f'"{_NEST}"', "[" * 2_000 + "]" * 2_000).encode()


def _change_value(rng: random.Random, content: Any) -> None:
    """Put something odd in place of a value anywhere in the tree, or take one away."""
    at = content
    while True:
        names = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not names:
            return
        name = rng.choice(names)
        if isinstance(at[name], dict | list) and at[name] and rng.random() < 0.8:
            at = at[name]
            continue
        if rng.random() < 0.15:
            del at[name]
        else:
            at[name] = copy.deepcopy(rng.choice([*ODD_VALUES, _NEST, at[rng.choice(names)]]))
        return


def _changed(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    at = rng.randint(0, len(data))
    to = min(len(data), at + rng.choice((0, 1, 1, 1, 2, 4, 12)))
    match rng.randrange(10):
        case 0:
            return data[:at] + rng.choice(SPACES) + data[to:]
        case 1:
            return data[:at] + rng.choice(ODD) + data[to:]
        case 2:
            return data[:at] + rng.choice(tokens) + data[to:]
        case 3:
            return data[:at] + data[to:]
        case 4:
            return data[:at] + bytes([rng.randrange(256)]) + data[to:]
        case 5:  # a field for another
            fields = data.split(b" " if b" " in data else b",")
            fields[rng.randrange(len(fields))] = rng.choice(tokens)
            return (b" " if b" " in data else b",").join(fields)
        case 6:  # a line twice, or elsewhere, or gone
            lines = data.split(b"\n")
            line = lines[rng.randrange(len(lines))]
            lines.insert(rng.randint(0, len(lines)), line)
            del lines[rng.randrange(len(lines)) : rng.choice((0, 0, 1, len(lines)))]
            return b"\n".join(lines)
        case 7:  # what makes a reader slow, if anything does
            return data[:at] + rng.choice(LONG) + data[to:]
        case 8:  # one kind of white space for another, everywhere
            return data.replace(rng.choice((b" ", b"\n", b",")), rng.choice([*SPACES, b",", b";"]))
        case _:
            return data * rng.choice((1, 2)) if len(data) < 2000 else data[:at]
