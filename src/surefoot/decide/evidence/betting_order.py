"""The order in which judged queries are bet on: random, the same for the same queries, and each sample's own.

By the hash of its id alone a query would come early in every sample or in none; whoever samples the same traffic again
and again would then bet on the same first queries each time, and ship falsely far more often than promised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Ints
from surefoot.data.hashes import queries_hash


def betting_order(queries: Sequence[str]) -> Ints:
    """Positions of queries in ascending SHA-256 of set ‖ id, where set is the hash of all their ids together.

    The order of the files changes nothing; one query more, less or renamed gives another order.

    >>> few, more = ["tea", "milk", "coffee"], ["tea", "milk", "coffee", "cocoa"]
    >>> [few[place] for place in betting_order(few)], [more[place] for place in betting_order(more)]
    (['coffee', 'tea', 'milk'], ['cocoa', 'milk', 'coffee', 'tea'])
    """
    together = hashlib.sha256(queries_hash(queries).encode())

    def key(row: int) -> tuple[bytes, str]:
        own = together.copy()
        own.update(queries[row].encode("utf-8", "surrogatepass"))
        return own.digest(), queries[row]

    return np.array(sorted(range(len(queries)), key=key), dtype=np.int64)
