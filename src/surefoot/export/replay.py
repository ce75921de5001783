"""Does the engine score as the model does? Compares the scores of a file with those that an export says it must give.

    python replay.py model.rows.json SCORES

SCORES has one number a line, in the order of the rows, as the engine gave them; an empty line where it gave none.
It needs Python alone. Exit code 0: they agree; 1: they do not; 2: a file is not what it should be.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def compare(expected: Sequence[float], found: Sequence[float | None], tolerance: float) -> dict[str, Any]:
    """How far scores are from those expected, where the farthest is, and how many pairs of rows change their order.

    Pairs that the tolerance cannot tell apart do not count.

    >>> found = compare([0.1, 0.3, 0.2], [0.1, 0.3, 0.4], tolerance=1e-5)
    >>> found["farthest"], found["at row"], found["pairs reversed"], found["agree"]
    (0.2, 3, 1, False)
    """
    scored = [
        (want, got, row) for row, (want, got) in enumerate(zip(expected, found, strict=True), 1) if got is not None
    ]
    far = [(abs(got - want), row) for want, got, row in scored]
    farthest, at = max(far, default=(0.0, 0))
    beyond = sum(not distance <= tolerance for distance, _ in far)
    ordered = sorted(scored)
    reversed_pairs = sum(
        high[0] - low[0] > 2 * tolerance and high[1] < low[1]
        for place, low in enumerate(ordered)
        for high in ordered[place + 1 :]
    )
    absent = len(expected) - len(scored)
    return {
        "rows": len(expected),
        "without score": absent,
        "farthest": round(farthest, 12),
        "at row": at,
        "beyond tolerance": beyond,
        "pairs reversed": reversed_pairs,
        "agree": not (beyond or reversed_pairs or absent),
    }


def read_scores(text: str, rows: int) -> list[float | None]:
    """One number a line; None where a line is empty."""
    lines = text.splitlines()
    if len(lines) != rows:
        raise ValueError(f"it has {len(lines)} lines; there are {rows} rows, and each has a line")
    found: list[float | None] = []
    for number, line in enumerate(lines, start=1):
        try:
            score = float(line) if line.strip() else None
        except ValueError:
            raise ValueError(f"line {number} is {line[:40]!r}, which is no number") from None
        if score is not None and not math.isfinite(score):
            raise ValueError(f"line {number} is {line[:40]!r}; a score is a finite number")
        found.append(score)
    return found


def main(arguments: Sequence[str]) -> int:
    """Compare two files, and print what was found."""
    if len(arguments) != 2:
        print(__doc__)
        return 2
    path = arguments[0]
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        expected, tolerance = rows["scores"], rows["tolerance"]
        path = arguments[1]
        found = read_scores(Path(path).read_text(encoding="utf-8"), len(expected))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    result = compare(expected, found, tolerance)
    print(json.dumps(result | {"tolerance": tolerance}, indent=2))
    return 0 if result["agree"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
