"""Random lists of texts, as rows and as the batches that a trainer makes of them."""

from __future__ import annotations

import torch
from benchmarks.generated_text import WORDS


def random_rows(rng, queries: int, longest: int = 7) -> list[dict]:
    """Ints of query, docs and labels, each list with something relevant in it."""
    rows = []
    for _ in range(queries):
        length = int(rng.integers(2, longest + 1))
        labels = rng.integers(0, 3, length).astype(float)
        labels[rng.integers(length)] = 2.0
        texts = [" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(length)]
        rows.append({"query": " ".join(rng.choice(WORDS, 3)), "docs": texts, "labels": labels.tolist()})
    return rows


def columns(rows: list[dict]):
    """A batch as the trainer's collator makes it: the columns of texts, and labels."""
    return [[row["query"] for row in rows], [row["docs"] for row in rows]], [
        torch.tensor(row["labels"]) for row in rows
    ]
