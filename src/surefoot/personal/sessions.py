"""Sessions to look at: what was shown and clicked, and how each model would have ordered it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.personal.lists import ShownLists
from surefoot.risk.assessment_data import Json

_SESSIONS = 150  # a page that can be sent round
_LISTS = 20  # of one session


def example_sessions(lists: ShownLists, models: Mapping[str, Floats], most: int = _SESSIONS) -> list[Json]:
    """Test sessions in which models differ, and some in which they do not, in the order of their names.

    Each list has what was shown, clicked and satisfied, what was known of each result (features that are not 0 and
    differ within the list), and each model's order as places in the shown list.
    """
    data = lists.data
    orders = {name: _orders(data.offsets, scores) for name, scores in models.items()}
    shown_order = np.arange(len(data))
    moved = np.zeros(len(data.queries), dtype=bool)
    for order in orders.values():
        moved |= np.add.reduceat((order != shown_order).astype(int), data.offsets[:-1]) > 0
    session = lists.about["session"].gather(data.offsets[:-1]).to_list()
    with_moves = list(dict.fromkeys(name for name, is_moved in zip(session, moved, strict=True) if is_moved))
    others = list(dict.fromkeys(name for name, is_moved in zip(session, moved, strict=True) if not is_moved))
    unmoved = [name for name in others if name not in set(with_moves)]
    selected = with_moves[: most * 4 // 5]
    selected += unmoved[: most - len(selected)]
    list_numbers: dict[str, list[int]] = {name: [] for name in selected}
    for number, name in enumerate(session):
        if name in list_numbers:
            list_numbers[name].append(number)
    return [
        {"session": name, "lists": [_list(lists, number, orders) for number in numbers[:_LISTS]]}
        for name, numbers in list_numbers.items()
    ]


def _list(lists: ShownLists, number: int, orders: Mapping[str, Ints]) -> Json:
    first, last = int(lists.data.offsets[number]), int(lists.data.offsets[number + 1])
    about = lists.about[first:last]
    names = lists.data.feature_names or ()
    rows = np.nan_to_num(lists.data.X[first:last])
    differing = [column for column in np.flatnonzero(np.ptp(rows, axis=0)).tolist() if names[column] != "position"]
    known = [{names[column]: round(float(row[column]), 3) for column in differing if row[column]} for row in rows]
    return {
        "impression": lists.data.queries[number], "query": about["query"][0], "documents": about["document"].to_list(),
        "clicked": about["clicked"].to_list(), "grade": about["grade"].to_list(), "known": known,
        "orders": {name: (order[first:last] - first).tolist() for name, order in orders.items()},
    }  # fmt: skip


def _orders(offsets: Ints, scores: Floats) -> Ints:
    """Rows in the order of their scores, descending, within each list; equal scores keep the shown order."""
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((-scores, query))
