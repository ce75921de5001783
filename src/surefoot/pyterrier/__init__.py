"""PyTerrier: the results of an experiment as scores, and a ranker as a transformer of a pipeline.

PyTerrier's frames of results (qid, docno, score, rank) and of judgments (qid, docno, label) need nothing of this:
`sf.read_run`, `sf.read_qrels` and `sf.score` take them. PyTerrier itself need not be installed, and no Java is started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.pyterrier.ranker_transformer import scores as scores
    from surefoot.pyterrier.ranker_transformer import transformer as transformer

__getattr__, __dir__, __all__ = attach(__name__, {"ranker_transformer": ("scores", "transformer")})
