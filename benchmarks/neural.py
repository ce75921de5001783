"""What a step of training costs with our loss, beside softmax cross-entropy and LambdaLoss with all pairs.

    python benchmarks/neural.py [--device cuda] [--documents 128,1024,8192] [--compiled] [--tf32] [--json FILE]

It needs NumPy and PyTorch alone. A batch has 65,536 documents, in lists of 128, 1,024 or 8,192. A step is forward,
loss, backward and AdamW of a network with two hidden layers of 512 over 136 features of each document, in float32.
LambdaLoss is written as sentence-transformers computes it (NDCG-Loss2++ of Wang et al., CIKM 2018, its default): with
the lists in the order of their scores, G_i = (2^y_i − 1)/maxDCG, D_i = log2(1 + i) and ρ_ij = sigmoid(s_i − s_j),

    loss = − mean over pairs with y_i > y_j of log2 ρ_ij^w_ij
    w_ij = 10·|1/D_|i−j| − 1/D_|i−j|+1|·|G_i − G_j| + |1/D_i − 1/D_j|·|G_i − G_j|

over all L × L pairs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from surefoot.neural import RiskLoss

FEATURES, HIDDEN, EPS = 136, 512, 1e-10


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Softmax cross-entropy against the labels' share of their sum."""
    shares = labels / labels.sum(-1, keepdim=True).clamp(min=EPS)
    logs = torch.log_softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return -torch.where(mask, shares * logs, 0).sum(-1).mean()


def all_pairs(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """LambdaLoss with all pairs; the formula is above."""
    ranked, order = scores.masked_fill(~mask, -1e16).sort(descending=True, dim=-1)
    known = labels.masked_fill(~mask, -torch.inf)
    by_rank = torch.gather(known, 1, order)
    differences = by_rank[:, :, None] - by_rank[:, None, :]
    better = torch.isfinite(differences) & (differences > 0)
    ranks = torch.arange(1, scores.shape[1] + 1, device=scores.device)
    discounts = torch.log2(1.0 + ranks.float())
    best = known.sort(descending=True, dim=-1).values.clamp(min=0)
    ideal = ((torch.exp2(best) - 1) / discounts).sum(-1).clamp(min=EPS)
    gains = (torch.exp2(by_rank.clamp(min=0)) - 1) / ideal[:, None]
    apart = (ranks[:, None] - ranks[None, :]).abs()
    steps = (1 / discounts[apart - 1] - 1 / discounts[apart.clamp(max=len(ranks) - 1)]).abs()
    steps.diagonal().zero_()
    gain_gaps = (gains[:, :, None] - gains[:, None, :]).abs()
    weights = 10 * steps * gain_gaps + (1 / discounts[:, None] - 1 / discounts[None, :]).abs() * gain_gaps
    score_gaps = (ranked[:, :, None] - ranked[:, None, :]).clamp(min=-1e8, max=1e8)
    chances = (torch.sigmoid(score_gaps).clamp(min=EPS) ** weights).clamp(min=EPS)
    return -torch.log2(chances)[better].mean()


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    sizes = (FEATURES, HIDDEN, HIDDEN)
    layers = [part for a, b in pairwise(sizes) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN, 1))


def losses(compiled: bool) -> dict[str, Callable[..., torch.Tensor]]:
    """Each loss by name, of scores, labels, the baseline's M(q) and the mask."""
    gain, risk, whole = RiskLoss("gain"), RiskLoss("u_risk", 5), RiskLoss("u_risk", 5, "nDCG(dcg='exp-log2')")
    geo = RiskLoss("geo_risk", 5)
    named: dict[str, Callable[..., torch.Tensor]] = {
        "softmax cross-entropy": lambda s, y, b, m: cross_entropy(s, y, m),
        "ours, gain": gain,
        "ours, u_risk": risk,
        "ours, geo_risk": geo,
    }
    if compiled:
        torch.compiler.reset()  # so that each length of lists has code of its own
        named |= {f"ours, {each.objective.name}, compiled": torch.compile(each) for each in (risk, geo)}
    return named | {
        "ours, u_risk without cut-off": whole,
        "LambdaLoss, all pairs": lambda s, y, b, m: all_pairs(s, y, m),
    }


def time_steps(
    name: str, loss: Callable[..., torch.Tensor], documents: int, given: argparse.Namespace
) -> dict[str, Any]:
    """Milliseconds of a step, the median of some, and the most memory that it takes."""
    device = torch.device(given.device)
    generator = torch.Generator().manual_seed(1)
    lists = max(1, given.batch // documents)
    X = torch.randn(lists, documents, FEATURES, generator=generator).to(device)
    labels = torch.randint(0, 5, (lists, documents), generator=generator).float().to(device)
    mask = (torch.arange(documents) < documents - documents // 8).expand(lists, documents).to(device)
    baseline = torch.rand(lists, generator=generator, dtype=torch.float64).to(device)
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss(model(X).squeeze(-1), labels, baseline, mask).backward()
        optimizer.step()

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    try:
        for _ in range(given.warm):
            step()
        wait()
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        seconds = []
        for _ in range(given.steps):
            start = time.perf_counter()
            step()
            wait()
            seconds.append(time.perf_counter() - start)
    except RuntimeError as error:  # out of memory, or nothing to compile with
        return {"loss": name, "documents": documents, "error": str(error).splitlines()[0][:100]}
    memory = torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else None
    return {"loss": name, "documents": documents, "ms": 1e3 * statistics.median(seconds), "GiB": memory}


def show(rows: list[dict[str, Any]]) -> str:
    lines = ["| loss | documents per list | ms per step | of cross-entropy | peak GiB |", "|---|---|---|---|---|"]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['loss']} | {row['documents']:,} | {row['error']} | | |")
            continue
        plain = next((each["ms"] for each in rows if each["documents"] == row["documents"] and "ms" in each), 1.0)
        memory = "–" if row["GiB"] is None else f"{row['GiB']:.2f}"
        lines.append(f"| {row['loss']} | {row['documents']:,} | {row['ms']:.2f} | {row['ms'] / plain:.2f} | {memory} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, default=65536, help="documents in a batch")
    parser.add_argument("--documents", default="128,1024,8192", help="in each list")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--warm", type=int, default=5, help="steps before those that are timed")
    parser.add_argument("--compiled", action="store_true", help="also under torch.compile")
    parser.add_argument("--tf32", action="store_true", help="matrix products in TF32, as most people train")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    torch.set_float32_matmul_precision("high" if given.tf32 else "highest")
    rows = []
    for documents in map(int, given.documents.split(",")):
        for name, loss in losses(given.compiled).items():
            rows.append(time_steps(name, loss, documents, given))
            print(rows[-1], file=sys.stderr, flush=True)
            if given.device == "cuda":
                torch.cuda.empty_cache()
    where = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    print(f"PyTorch {torch.__version__}, {where}\n\n{show(rows)}")
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
