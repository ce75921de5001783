"""A run of a cross-encoder: the first documents of a run in the order of its scores, the others as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.data.hashes import json_hash
from surefoot.data.reading.files import reason
from surefoot.data.types.runs import RankedSource, Run
from surefoot.data.writing.all_or_nothing import destination, write_text
from surefoot.errors import ArgumentError, DataError
from surefoot.neural.cross_encoder.first_documents import DEPTH, FirstDocuments
from surefoot.neural.cross_encoder.libraries import CrossEncoderModel
from surefoot.neural.cross_encoder.loading import load_cross_encoder
from surefoot.neural.cross_encoder.scoring import raw_scores
from surefoot.neural.libraries import torch
from surefoot.progress import steps

BATCH_SIZE = 32
_SCHEMA = "surefoot/checkpoint/rerank-1"
_BATCHES_PER_PART = 32  # that are scored between two checkpoints


def rerank(
    model: CrossEncoderModel,
    run: RankedSource,
    queries: Any,
    documents: Any,
    *,
    depth: int = DEPTH,
    batch_size: int = BATCH_SIZE,
    prompt: str | None = None,
    name: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Run:
    """The run whose first `depth` documents per query are in the order of a cross-encoder's scores.

    What comes after them stays as it was. Equal scores stay in the run's order. `model` is a `CrossEncoder`, or the
    name or folder of one; `queries` and `documents` are texts by id, as `to_dataset` takes them. A score is the
    model's output without an activation.

    With `checkpoint`, a file, a program that is started again goes on where one that was stopped left off; the file
    stays when all is done.
    """
    if isinstance(model, str | os.PathLike):
        name = name or Path(model).name
        model = load_cross_encoder(model)
    first = FirstDocuments.of_run(Run.read(run), queries, documents, depth)
    integer("batch_size", batch_size, 1, 1 << 31)
    saved = None if checkpoint is None else RerankCheckpoint.at(checkpoint, model_hash(model))
    scores: list[Floats] = []
    for part in steps(list(_parts(first, batch_size * _BATCHES_PER_PART)), "Scoring documents"):
        pairs = first.pairs(part)
        key = "" if saved is None else json_hash([pairs, batch_size, prompt], 32)
        found = None if saved is None else saved.scores(key, len(pairs))
        if found is None:
            found = raw_scores(model, pairs, batch_size, prompt=prompt)
            if saved is not None:
                saved.add(key, found)
        scores += np.split(found, np.cumsum([len(first.texts[number]) for number in part])[:-1])
    return first.reranked(scores, name or "model")


def _parts(first: FirstDocuments, pairs: int) -> Iterator[range]:
    """Queries by number that are scored together, whole lists of about so many pairs.

    They depend on the run alone, not on what is known of it: batches stay the same, and with them the last bits.
    """
    start = count = 0
    for number, texts in enumerate(first.texts):
        count += len(texts)
        if count >= pairs or number == len(first.texts) - 1:
            yield range(start, number + 1)
            start, count = number + 1, 0


@dataclass
class RerankCheckpoint:
    """A file of scores that are known, a line for each part, after a first line that names the model.

    A line that a killed program wrote in part is left out, and written again.
    """

    path: Path
    known: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def at(cls, path: str | os.PathLike[str], model: str) -> RerankCheckpoint:
        """The checkpoint in a file that can be written; one of another model is refused."""
        checkpoint = cls(destination(path))
        if checkpoint.path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst"):
            raise ArgumentError(f"the checkpoint {path} cannot be compressed; give a name without that ending")
        head = json.dumps({"schema": _SCHEMA, "model": model})
        if not checkpoint.path.exists() or not checkpoint.path.stat().st_size:
            write_text(checkpoint.path, head + "\n")
            return checkpoint
        try:
            lines = checkpoint.path.read_text(encoding="utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise DataError.at(path, None, f"cannot be read ({reason(error)}); delete it to start again") from error
        if f'"{_SCHEMA}"' not in lines[0]:
            raise DataError.at(path, 1, "is not a checkpoint of a re-ranking; name another file")
        if lines[0] != head:
            raise DataError.at(path, 1, "is the checkpoint of another model; delete it, or name another file")
        whole = [head]
        for line in lines[1:-1]:
            with suppress(ValueError, TypeError, KeyError):
                entry = json.loads(line)
                checkpoint.known[str(entry["key"])] = [float(each) for each in entry["scores"]]
                whole.append(line)
        if "\n".join([*whole, ""]) != "\n".join(lines):
            write_text(checkpoint.path, "\n".join([*whole, ""]))
        return checkpoint

    def scores(self, key: str, pairs: int) -> Floats | None:
        """The scores of a part, None where they are not known."""
        known = self.known.get(key)
        if known is None or len(known) != pairs or not np.isfinite(known).all():
            return None
        return np.array(known)

    def add(self, key: str, scores: Floats) -> None:
        """Write the scores of a part down."""
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "scores": scores.tolist()}) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataError.at(self.path, None, f"cannot be written ({reason(error)})") from error


def model_hash(model: CrossEncoderModel) -> str:
    """A hash of all of a model that scores depend on: its parameters, its tokenizer, prompts and lengths."""
    names = ("max_seq_length", "prompts", "default_prompt_name", "config")
    digest = sha256(repr([str(getattr(model, name, None)) for name in names]).encode())
    tokenizer = getattr(model, "tokenizer", None)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    digest.update((str(tokenizer) if backend is None else backend.to_str()).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()
