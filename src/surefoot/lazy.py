"""Public names of a package that are loaded when they are first used, so that importing it costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the public names that each of its modules holds.

    Modules are named from the package on; one without names is a public name itself.

    >>> load, names, public = attach("surefoot", {"errors": ["DataError"], "risk": []})
    >>> load("DataError").__name__, load("risk").__name__, public
    ('DataError', 'surefoot.risk', ['DataError', 'risk'])
    """
    home = {name: module for module, names in modules.items() for name in names or [module]}
    public = sorted(home)

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        value = getattr(module, name) if modules[home[name]] else module
        setattr(sys.modules[package], name, value)  # the next use finds it at once
        return value

    return load, lambda: list(public), public
