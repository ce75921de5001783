"""The loss and the evaluator of re-rankers for sentence-transformers' `CrossEncoderTrainer` (docs/cross-encoders.md).

What is live today is the order in which the documents arrive.
"""

from __future__ import annotations

from surefoot.neural.cross_encoder.evaluator import RiskEvaluator
from surefoot.neural.cross_encoder.loss import CrossEncoderLoss as RiskLoss

__all__ = ["RiskEvaluator", "RiskLoss"]
