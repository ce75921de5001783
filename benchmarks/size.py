"""How cost grows: a decision on many queries under many conditions, and an assessment of many systems.

    python benchmarks/size.py [--quick]

Each case runs in a process of its own, so that peak memory is its own. Prints seconds, the growth from the case before,
and peak memory; exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

CASES = {
    "gate": """
import numpy as np, surefoot as sf, time
rng = np.random.default_rng(0)
today = rng.beta(2, 2, size)
new = np.clip(today + rng.normal(0.01, 0.1, size) * (rng.random(size) < 0.4), 0, 1)
ids = [f"q{i}" for i in range(size)]
scores = sf.Scores([today, new], ["today", "new"], ids, "nDCG@10")
kinds = {"kind": dict(zip(ids, rng.choice([*"abcdefgh"], size).tolist()))} if more else None
policy = {"risk": 0.02, "gain": 0}
if more:
    policy |= {"share_hurt": 0.15, "u_risk": {"alpha": 1, "above": -0.05}}
    policy |= {"segments": {name: {"risk": 0.02, "gain": 0} for name in "abcdefgh"}}
began = time.perf_counter()
decision = sf.gate(scores, baseline="today", policy=policy, segments=kinds)
said = f"{len(decision.conditions)} conditions, {decision.decision}"
""",
    "systems": """
import contextlib, io, numpy as np, surefoot as sf, time
rng = np.random.default_rng(0)
values = rng.random((size, 50)) * 0.3 + rng.random((size, 1)) * 0.5
scores = sf.Scores(values, [f"s{i}" for i in range(size)], [f"q{i}" for i in range(50)], "nDCG@10")
began = time.perf_counter()
text = str(sf.assess(scores, baseline="s0"))
said = f"{len(text.splitlines()):,} lines"
""",
}
END = """
import json, resource
took = time.perf_counter() - began
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, said]))
"""


def measured(case: str, size: int, more: bool = False) -> tuple[float, float, str]:
    """Seconds, gigabytes and what came out, of one process."""
    code = f"size, more = {size}, {more}\n{CASES[case]}{END}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, memory, said = json.loads(found.stdout.splitlines()[-1])
    return float(seconds), float(memory), str(said)


def main(quick: bool) -> int:
    """Every case, the larger after the smaller."""
    missed = []
    gates = [
        (1_000, False),
        (10_000, False),
        (100_000, False),
        (100_000, True),
        *([] if quick else [(1_000_000, True)]),
    ]
    before: float | None = None
    for size, more in gates:
        seconds, memory, said = measured("gate", size, more)
        growth = "" if before is None else f", {seconds / before:.1f} times the case before"
        print(f"gate on {size:>9,} queries ({said}): {seconds:.2f} s, {memory:.2f} GB{growth}", flush=True)
        before = seconds
        if size == 1_000_000 and (seconds > 120 or memory > 2):
            missed.append("a million queries within 120 s and 2 GB")
    before = None
    for size in (250, 500, 1_000, 2_000):
        seconds, memory, said = measured("systems", size)
        growth = "" if before is None else f", {seconds / before:.1f} times the case before"
        print(
            f"assessing {size:>5,} systems × 50 queries ({said}): {seconds:.2f} s, {memory:.2f} GB{growth}", flush=True
        )
        if size == 1_000 and seconds > 3:
            missed.append("a thousand systems within 3 s")
        if size == 2_000 and before is not None and seconds > 2.5 * before:
            missed.append("twice the systems within 2.5 times the time")
        before = seconds
    print(f"Missed: {', '.join(missed)}" if missed else "All bars are kept")
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave the million queries out")
    sys.exit(main(parser.parse_args().quick))
