"""PyTorch, imported late; without it, the line that installs it."""

from __future__ import annotations

from typing import Any, TypeAlias

from surefoot.learn.import_learner import import_learner

torch = import_learner("torch", "neural", "A network")

Tensor: TypeAlias = Any  # torch.Tensor
