"""Small cross-encoders with random parameters and a WordPiece tokenizer, made on the spot: nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before any library of Hugging Face is loaded

WORDS = [f"w{number}" for number in range(40)]


def write_model(folder: Path, words: list[str], *, hidden=16, layers=1, length=48, seed=0, labels=1) -> Path:
    """A BERT that knows these words, in the format of Hugging Face; without dropout, so that all is the same twice."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=length)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=2 * hidden, max_position_embeddings=length, num_labels=labels, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, initializer_range=0.2,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def load_model(folder: Path, **options):
    """The model of a folder, on the CPU."""
    from sentence_transformers import CrossEncoder

    return CrossEncoder(str(folder), device="cpu", **options)


def random_rows(rng, queries: int, longest: int = 7) -> list[dict]:
    """Rows of query, docs and labels, each list with something relevant in it."""
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
    import torch

    return [[row["query"] for row in rows], [row["docs"] for row in rows]], [
        torch.tensor(row["labels"]) for row in rows
    ]
