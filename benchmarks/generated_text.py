"""Generated text, and small cross-encoders with random parameters to learn from it: nothing is downloaded.

In `ambiguous_queries` a network can learn relevance, and learning ruins some queries:

- A list has 10 documents: two of grade 2, three of grade 1, five of grade 0. A document has the query's topic and eight
  words, each a *plain* word (b), a *styled* word (a), or neither.
- Plain words are in relevant documents more often: with chances 0.1, 0.25, 0.4 at grades 0, 1, 2. **What is live counts
  them**, with a little noise, as BM25 counts matches; its nDCG@10 is about 0.89.
- Styled words say more: 0.05, 0.3, 0.55. A network that learns to count both gains much.
- Half of the queries have an ambiguous word (h). For a fifth of these, styled words mean the opposite: 0.55, 0.3, 0.05.
  No text says which. On the average of ambiguous queries styled words still help, so a network that learns from gains
  alone counts them, and ruins that tenth of all queries. One that weighs losses can count plain words alone where it
  sees the ambiguous word: that is the live order, which loses nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

os.environ["HF_HUB_OFFLINE"] = "1"  # before any library of Hugging Face is loaded

STYLED, PLAIN, OTHER = ("a0", "a1", "a2"), ("b0", "b1", "b2"), ("f0", "f1", "f2", "f3", "f4", "f5")
AMBIGUOUS, TOPICS = ("h0", "h1"), ("t0", "t1", "t2", "t3")
WORDS = [*STYLED, *PLAIN, *OTHER, *AMBIGUOUS, *TOPICS]
_GRADES = np.array([2, 2, 1, 1, 1, 0, 0, 0, 0, 0])
_STYLED_CHANCE, _PLAIN_CHANCE = np.array([0.05, 0.3, 0.55]), np.array([0.1, 0.25, 0.4])


def ambiguous_queries(queries: int, seed: int) -> tuple[list[dict[str, Any]], Any]:
    """Ints of query, docs in the live order, and labels; and which queries are those in which style misleads."""
    rng = np.random.default_rng(seed)
    rows, misled = [], []
    for _ in range(queries):
        ambiguous = rng.random() < 0.5
        misleads = bool(ambiguous and rng.random() < 0.2)
        topic = str(rng.choice(TOPICS))
        query = [topic, str(rng.choice(AMBIGUOUS if ambiguous else OTHER)), str(rng.choice(OTHER))]
        styled = _STYLED_CHANCE[2 - _GRADES if misleads else _GRADES]
        texts, matches = [], []
        for style, plain in zip(styled, _PLAIN_CHANCE[_GRADES], strict=True):
            kinds = [STYLED if draw < style else PLAIN if draw < style + plain else OTHER for draw in rng.random(8)]
            texts.append(" ".join([topic, *(str(rng.choice(kind)) for kind in kinds)]))
            matches.append(sum(kind is PLAIN for kind in kinds))
        order = np.argsort(-(np.array(matches) + rng.normal(0, 0.1, len(_GRADES))))
        labels = _GRADES[order].astype(float).tolist()
        rows.append({"query": " ".join(query), "docs": [texts[place] for place in order], "labels": labels})
        misled.append(misleads)
    return rows, np.array(misled)


def write_model(folder: Path, *, hidden: int = 16, length: int = 48, labels: int = 1) -> Path:
    """A BERT of one layer that knows `WORDS`; without dropout, so that all is the same twice."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=length)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=hidden, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=2 * hidden, max_position_embeddings=length, num_labels=labels, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, initializer_range=0.2,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def load_model(folder: Path) -> Any:
    """The model of a folder, on the CPU."""
    from sentence_transformers import CrossEncoder

    return CrossEncoder(str(folder), device="cpu")
