"""Scores of (query, document) pairs by a cross-encoder, as they come from its last layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.neural.cross_encoder.libraries import CrossEncoderModel
from surefoot.neural.libraries import torch


def raw_scores(
    model: CrossEncoderModel,
    pairs: list[tuple[str, str]],
    batch_size: int,
    *,
    prompt: str | None = None,
    progress: bool = False,
) -> Floats:
    """The score of each pair, without an activation: a sigmoid would make large scores equal."""
    integer("batch_size", batch_size, 1, 1 << 31)
    if not pairs:
        return np.zeros(0)
    options: dict[str, Any] = {} if prompt is None else {"prompt": prompt}
    scores = np.asarray(
        model.predict(
            pairs, batch_size=batch_size, activation_fn=torch.nn.Identity(), show_progress_bar=progress, **options
        ),
        dtype=np.float64,
    )
    if scores.shape != (len(pairs),):
        raise ArgumentError("the model gives several scores per document; a re-ranker gives one")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        query, text = pairs[int(wrong[0])]
        raise DataError(
            f"the model's score of query {shortened(query)} and document {shortened(text)} is {scores[wrong[0]]}; the "
            "model cannot be used"
        )
    return scores
