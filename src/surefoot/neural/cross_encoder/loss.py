"""The objectives of `Ranker` as a loss for the trainer of sentence-transformers' cross-encoders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from surefoot.arguments import integer
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.options import MEASURE, OBJECTIVE, RULE
from surefoot.neural.cross_encoder.libraries import CrossEncoderModel, to_device
from surefoot.neural.cross_encoder.text_lists import COLUMNS, check_list
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.loss import ARRIVAL_BASELINE, RiskLoss, list_dtype
from surefoot.neural.sums import reduce_if_distributed

_CITATION = """
@inproceedings{wang2012robust,
  title={Robust ranking models via risk-sensitive optimization},
  author={Wang, Lidan and Bennett, Paul N. and Collins-Thompson, Kevyn},
  booktitle={Proceedings of the 35th International ACM SIGIR Conference},
  pages={761--770},
  year={2012}
}
"""


class CrossEncoderLoss(torch.nn.Module):  # type: ignore[misc]
    """`surefoot.neural.RiskLoss` for `CrossEncoderTrainer`, as `surefoot.neural.sentence_transformers.RiskLoss`.

    The dataset has the columns `query`, `docs` and `labels`; the documents of a list are in the order in which they
    arrive, which is what the model is compared with. Lists may have different lengths. Further columns, such as ids,
    are left alone. The lists of a step are one batch: sums over queries are theirs, over all processes.

    Parameters
    ----------
    model : sentence_transformers.CrossEncoder
        With one output.
    objective, alpha, measure, rule, sigma, normalize, sums
        As `surefoot.neural.RiskLoss` has them. With `sums="running"` call `next_epoch()` after each epoch.
    activation_fn : torch.nn.Module, optional
        Applied to the model's scores first; by default nothing is.
    mini_batch_size : int, optional
        How many (query, document) pairs go through the model at once: by default as many as there are queries in the
        step, with 0 or less all of them. Gradients do not depend on it.
    """

    def __init__(
        self,
        model: CrossEncoderModel,
        objective: str = OBJECTIVE,
        alpha: float | None = None,
        measure: str = MEASURE,
        *,
        rule: str = RULE,
        sigma: float = 1.0,
        normalize: bool = False,
        sums: str = "batch",
        activation_fn: Callable[[Tensor], Tensor] | None = None,
        mini_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        outputs = getattr(model, "num_labels", None)
        if not isinstance(outputs, int) or not hasattr(model, "preprocess"):
            kind = shortened(type(model).__name__)
            raise ArgumentError(f"the model is a {kind}; it must be a CrossEncoder of sentence-transformers")
        if outputs != 1:
            raise ArgumentError(f"the model has {outputs} outputs; a re-ranker has one: CrossEncoder(…, num_labels=1)")
        self.model = model
        self.list_loss = RiskLoss(
            objective, alpha, measure, rule=rule, sigma=sigma, normalize=normalize, sums=sums,
            reduce=reduce_if_distributed,
        )  # fmt: skip
        self.activation_fn = torch.nn.Identity() if activation_fn is None else activation_fn
        self.mini_batch_size = None
        if mini_batch_size is not None:
            self.mini_batch_size = integer("mini_batch_size", mini_batch_size, -(1 << 31), 1 << 31)

    def forward(self, inputs: Sequence[Any], labels: Any, prompt: str | None = None, task: str | None = None) -> Tensor:
        """The loss of a step, whose value means nothing; its gradient does."""
        if isinstance(self.model, torch.nn.DataParallel):
            raise ArgumentError(
                "the trainer would use several graphics cards from one process, which cross-encoders cannot do; start "
                "one process per card with torchrun, or let CUDA_VISIBLE_DEVICES name one card"
            )
        queries, documents = self._checked(inputs, labels)
        pairs = [(query, text) for query, texts in zip(queries, documents, strict=True) for text in texts]
        scores = self._scores(pairs, len(queries), prompt, task)
        lengths = torch.tensor([len(texts) for texts in documents], device=scores.device)
        mask = torch.arange(int(lengths.max()), device=scores.device) < lengths[:, None]
        padded = scores.new_zeros(mask.shape).masked_scatter(mask, scores)
        grades = torch.cat([each.to(scores.device, list_dtype(scores)) for each in labels])
        return self.list_loss(padded, grades.new_zeros(mask.shape).masked_scatter(mask, grades), ARRIVAL_BASELINE, mask)

    def next_epoch(self) -> None:
        """Tell that an epoch has ended: sums that run on are from now on those of its queries."""
        self.list_loss.next_epoch()

    def get_config_dict(self) -> dict[str, Any]:
        """What the trainer writes into the model's card."""
        objective = self.list_loss.objective
        return {
            "objective": objective.name,
            "alpha": objective.alpha,
            "measure": str(self.list_loss.measure.measure),
            "rule": objective.rule,
            "sigma": self.list_loss.sigma,
            "normalize": self.list_loss.normalize,
            "sums": "running" if self.list_loss.sums.running else "batch",
            "activation_fn": f"{type(self.activation_fn).__module__}.{type(self.activation_fn).__qualname__}",
            "mini_batch_size": self.mini_batch_size,
        }

    @property
    def citation(self) -> str:
        """What the trainer cites in the model's card."""
        return _CITATION

    def _scores(self, pairs: list[tuple[str, str]], queries: int, prompt: str | None, task: str | None) -> Tensor:
        """The model's score of each pair, some pairs at a time, in at least 32 bits."""
        size = queries if self.mini_batch_size is None else self.mini_batch_size
        size = len(pairs) if size <= 0 else size
        parts = []
        for start in range(0, len(pairs), size):
            features = self.model.preprocess(pairs[start : start + size], prompt=prompt, task=task)
            parts.append(self.model(to_device(features, self.model.device))["scores"].reshape(-1))
        scores = torch.cat(parts)
        return self.activation_fn(scores if scores.dtype == torch.float64 else scores.float())

    def _checked(self, inputs: Sequence[Any], labels: Any) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Queries and their documents, if every row is a list that can be learned from."""
        if len(inputs) < 2:
            raise ArgumentError(
                f"the dataset has {len(inputs)} column(s) beside the labels; it must have {', '.join(COLUMNS)}"
            )
        if labels is None or isinstance(labels, torch.Tensor):
            raise ArgumentError("each row must have a list of labels, one for each document, in a column 'labels'")
        queries, documents = inputs[0], inputs[1]
        for row, (query, texts, grades) in enumerate(zip(queries, documents, labels, strict=True), start=1):
            check_list(partial(_row_of_step, row, len(queries), query), query, texts, grades, self.list_loss)
        return queries, documents


def _row_of_step(row: int, rows: int, query: Any) -> str:
    return f"row {row} of the {rows} in this step, query {shortened(query)}"
