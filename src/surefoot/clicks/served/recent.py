"""What was used last, in memory: as much as fits."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by name; of more than `most`, those go that were not used for longest."""

    def __init__(self, most: int) -> None:
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._most = most

    def get(self, name: str) -> Value | None:
        """The value of a name, if it is there."""
        value = self._values.get(name)
        if value is not None:
            self._values.move_to_end(name)
        return value

    def keep(self, name: str, value: Value) -> Value:
        """Keep a value under a name."""
        self._values[name] = value
        self._values.move_to_end(name)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
        return value

    def drop(self, name: str) -> None:
        """Forget a value, if it is there."""
        self._values.pop(name, None)

    def clear(self) -> None:
        """Forget all."""
        self._values.clear()
