"""Several processes that train one model: their gradients' mean is that of all queries in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from surefoot.neural import RiskLoss

pytestmark = pytest.mark.neural

PROGRAM = """
import json, sys
import torch
from surefoot.neural import RiskLoss
from surefoot.neural.sums import all_reduce

rank, file, objective = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
generator = torch.Generator().manual_seed(1)
scores, labels = torch.rand(7, 9, generator=generator).double(), torch.randint(0, 3, (7, 9), generator=generator)
part = slice(0, 2) if rank == 0 else slice(2, 7)
leaf = scores[part].clone().requires_grad_(True)
RiskLoss(objective, 5, "nDCG@5", reduce=all_reduce)(leaf, labels[part].double(), "arrival").backward()
print(json.dumps(leaf.grad.tolist()))
torch.distributed.barrier()
"""


@pytest.mark.parametrize("objective", ["saro", "geo_risk"])
def test_two_processes_are_as_one(objective, tmp_path: Path) -> None:
    file = tmp_path / "meeting"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rank), str(file), objective], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    parts = [torch.tensor(json.loads(each.communicate(timeout=240)[0]), dtype=torch.float64) for each in running]
    generator = torch.Generator().manual_seed(1)
    scores, labels = torch.rand(7, 9, generator=generator).double(), torch.randint(0, 3, (7, 9), generator=generator)
    leaf = scores.clone().requires_grad_(True)
    RiskLoss(objective, 5, "nDCG@5")(leaf, labels.double(), "arrival").backward()
    assert torch.allclose(torch.cat(parts) / 2, leaf.grad, atol=1e-14)  # frameworks take the mean over processes
