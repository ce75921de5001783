"""Cross-encoders by sentence-transformers' trainer: they learn, risk less, keep their best epoch, and belong to it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.cross_encoder import trained_figures
from benchmarks.generated_text import ambiguous_queries, load_model, write_model
from datasets import Dataset
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import LambdaLoss

from surefoot.errors import ArgumentError
from surefoot.learn.options import MEASURE
from surefoot.neural import rerank
from surefoot.neural.cross_encoder.training import FineTuning, model_folder
from surefoot.neural.sentence_transformers import RiskEvaluator, RiskLoss

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("models") / "bert", hidden=32, length=24)


def test_it_learns_and_with_u_risk_it_ruins_fewer_queries(folder) -> None:
    """A small version of benchmarks/cross_encoder.py, which has the figures of several seeds."""
    torch.set_num_threads(1)
    evaluator = RiskEvaluator(ambiguous_queries(500, 1_000_000)[0], write_csv=False)
    gain, safe = (
        trained_figures(folder, objective, alpha, 0, evaluator, queries=320, epochs=8)
        for objective, alpha in (("gain", None), ("u_risk", 5))
    )
    assert gain["mean"] > gain["live_mean"] + 0.04
    assert safe["risk"] < 0.75 * gain["risk"]
    assert safe["mean"] > 0.98 * gain["mean"]
    assert safe["losses_over_20"] < gain["losses_over_20"]


def test_the_trainer_keeps_the_best_checkpoint_by_u_risk(folder, tmp_path) -> None:
    rows, _ = ambiguous_queries(24, 1)
    model = load_model(folder)
    evaluator = RiskEvaluator(rows, alpha=5, name="dev")
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=3, per_device_train_batch_size=8, learning_rate=1e-2, use_cpu=True,
        report_to="none", disable_tqdm=True, eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True,
        metric_for_best_model=f"eval_{evaluator.primary_metric}", save_only_model=True, seed=1,
    )  # fmt: skip
    loss = RiskLoss(model, "u_risk", 5)
    data = Dataset.from_list([{**row, "query_id": str(number)} for number, row in enumerate(rows)])
    trainer = CrossEncoderTrainer(model=model, args=arguments, train_dataset=data, loss=loss, evaluator=evaluator)
    trainer.train()
    seen = [entry["eval_dev_u_risk@5"] for entry in trainer.state.log_history if "eval_dev_u_risk@5" in entry]
    assert len(seen) == 3
    assert trainer.state.best_metric == max(seen)
    assert evaluator(model)["dev_u_risk@5"] == pytest.approx(max(seen), abs=1e-9)
    lines = (tmp_path / "eval" / evaluator.csv_file).read_text().splitlines()
    assert len(lines) == 4
    model.save_pretrained(str(tmp_path / "saved"))
    card = (tmp_path / "saved" / "README.md").read_text(encoding="utf-8")
    assert '"objective": "u_risk"' in card
    assert "dev_u_risk@5" in card


def test_models_belong_to_sentence_transformers(folder, tmp_path) -> None:
    """What is trained here loads there, and what is trained there loads here."""
    rows, _ = ambiguous_queries(8, 2)
    data = Dataset.from_list(rows)
    pairs = [(row["query"], text) for row in rows for text in row["docs"]]
    ours = load_model(folder)
    FineTuning("u_risk", 5, MEASURE, "exact", trainer_arguments={"use_cpu": True, "learning_rate": 1e-2}).run(
        ours, data, None, tmp_path / "work"
    )
    ours.save_pretrained(str(tmp_path / "ours"))
    assert np.allclose(CrossEncoder(str(tmp_path / "ours"), device="cpu").predict(pairs), ours.predict(pairs))
    for name in ("modules.json", "config.json", "config_sentence_transformers.json"):
        assert "surefoot" not in (tmp_path / "ours" / name).read_text()
    theirs = load_model(folder)
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(tmp_path / "theirs-work"), num_train_epochs=1, use_cpu=True, report_to="none",
        disable_tqdm=True, save_strategy="no", learning_rate=1e-2,
    )  # fmt: skip
    CrossEncoderTrainer(model=theirs, args=arguments, train_dataset=data, loss=LambdaLoss(theirs)).train()
    theirs.save_pretrained(str(tmp_path / "theirs"))
    run = {"q": [f"d{number}" for number in range(10)]}
    texts = {f"d{number}": text for number, text in enumerate(rows[0]["docs"])}
    new = rerank(tmp_path / "theirs", run, {"q": rows[0]["query"]}, texts).to_dict()["q"]
    logits = theirs.predict(pairs[:10], activation_fn=torch.nn.Identity())
    assert np.allclose([new[f"d{number}"] for number in range(10)], logits, atol=1e-6)


def test_early_stopping_and_progress(folder, tmp_path) -> None:
    rows, _ = ambiguous_queries(12, 3)
    told: list[tuple[int, int]] = []
    tuning = FineTuning(
        "gain", None, MEASURE, "exact", epochs=6, early_stopping=1,
        trainer_arguments={"use_cpu": True, "learning_rate": 0.0, "per_device_train_batch_size": 4},
    )  # fmt: skip
    evaluator = RiskEvaluator(rows, write_csv=False)
    tuning.run(load_model(folder), Dataset.from_list(rows), evaluator, tmp_path, lambda *seen: told.append(seen[:2]))
    assert told[-1] == (6, 18)  # nothing is learned at a rate of 0: it stops after the second epoch


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"learning_rat": 1}, "no parameter 'learning_rat'; did you mean learning_rate?"),
        ({"output_dir": "x"}, "output_dir cannot be set here"),
        ({"push_to_hub": True}, "push_to_hub cannot be set here"),
    ],
)
def test_parameters_that_training_does_not_have(more, words) -> None:
    with pytest.raises(ArgumentError, match=words.replace("?", r"\?")):
        FineTuning("gain", None, MEASURE, "exact", trainer_arguments=more).check()


def test_a_model_takes_its_place_in_one_step(tmp_path) -> None:
    target = tmp_path / "new" / "model"

    def fail() -> None:
        with model_folder(target) as work:
            (work / "model").mkdir()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not list(Path(tmp_path).rglob("*model*"))
    for number in range(2):
        with model_folder(target) as work:
            (work / "model").mkdir()
            (work / "model" / "config.json").write_text(json.dumps(number))
        assert (target / "config.json").read_text() == str(number)
        assert [each.name for each in target.parent.iterdir()] == ["model"]
