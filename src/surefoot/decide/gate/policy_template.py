"""A policy to start from, with a word on every key."""

from __future__ import annotations

import os

from surefoot.data.writing.all_or_nothing import write_text

NAME = "policy.toml"
TEMPLATE = """\
# The conditions for a release. `surefoot gate --policy FILE` says "ship" only if every condition is proved.
# Agree on the numbers before anybody sees a candidate's figures, and keep this file beside the code.

# The largest average loss against today's ranking, over all queries. A query that loses nothing counts as 0.
# With nDCG@10, 0.03 means three points out of a hundred. You need about 100 judged queries to prove 0.03,
# even if no query loses anything, and about 1,000 to prove 0.003.
risk = 0.03

# The average gain must be above this. 0 means: not worse on average.
gain = 0.0

# The largest share of queries that lose more than 20 % of today's score.
# share_hurt = 0.10

# Gains minus losses, where each loss counts 1 + alpha times, must be above a level.
# u_risk = {alpha = 1, above = 0.0}

# The chance of a wrong "ship" that you accept.
delta = 0.05

# What stays the same from release to release. Paths are relative to this file, and options win. With `qrels` here,
# a release is: surefoot gate 2026-11-25=new.run --policy release.toml
# qrels = "qrels.txt"
# baseline = "today.run"
# measure = "nDCG@10"
# record = "release.json"
# sample = "draws.json"

# The same keys for one kind of queries; `--segments FILE` says which kind each query belongs to.
# Each extra condition makes "stop" a little harder to reach. "ship" needs as many queries as the hardest condition.
# [segments.tail]
# risk = 0.05

# ... or for every kind: no kind of queries may suffer.
# [segments."*"]
# share_hurt = 0.2
"""


def write_template(path: str | os.PathLike[str]) -> None:
    """Write the policy to start from, whole or not at all."""
    write_text(path, TEMPLATE)
