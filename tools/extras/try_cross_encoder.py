"""The extra `cross-encoder`: a tiny one of random weights is trained against the live order, and re-ranks it."""

import subprocess
import sys
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "blue", "shoe", "hat", "sale"]
Path("vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
torch.manual_seed(0)
config = BertConfig(vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_labels=1)
BertForSequenceClassification(config).save_pretrained("base")
BertTokenizerFast("vocab.txt", model_max_length=32).save_pretrained("base")

Path("queries.tsv").write_text("q1\tred shoe\nq2\tblue hat\n", encoding="utf-8")
Path("docs.tsv").write_text("d1\tblue hat sale\nd2\tred shoe\nd3\tred hat\n", encoding="utf-8")
Path("judgments.qrels").write_text("q1 0 d2 1\nq2 0 d1 1\n", encoding="utf-8")
order = "".join(f"{query} Q0 d{rank} {rank} {4 - rank} live\n" for query in ("q1", "q2") for rank in (1, 2, 3))
Path("live.run").write_text(order, encoding="utf-8")

surefoot = [sys.executable, "-m", "surefoot"]
texts = ["--run", "live.run", "--queries", "queries.tsv", "--documents", "docs.tsv"]
learn = ["train", "base", "--engine", "cross-encoder", "--qrels", "judgments.qrels", "--epochs", "1", "-o", "model"]
subprocess.run([*surefoot, *learn, *texts], check=True, stdout=subprocess.DEVNULL)
subprocess.run([*surefoot, "rank", "model", *texts, "-o", "new.run"], check=True, stdout=subprocess.DEVNULL)
assert len(Path("new.run").read_text(encoding="utf-8").splitlines()) == 6
print("a cross-encoder trained for one epoch, saved, and used to re-rank a run")
