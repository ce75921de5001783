"""By which options a folder of features was made otherwise, in words."""

from __future__ import annotations

from typing import Any

from surefoot.errors import shortened

_OPTIONS = {"seconds": "unit", "thresholds": "dwell"}  # by the settings' names


def settings_difference(stored: dict[str, Any], settings: dict[str, Any]) -> str:
    """What a folder holds that was made otherwise, and by which options; nothing where all is the same."""
    flat = [data | dict(data["reading"]) | dict(data["satisfaction"]) for data in (stored, settings)]
    before, now = ({name: value for name, value in one.items() if name in flat[1]} for one in flat)
    options = [name for name in now if name not in ("reading", "satisfaction", "schema", "files", "shards")]
    if (before.get("schema"), before.get("files")) != (now["schema"], now["files"]):
        return "features of another log, or of a log that has changed since"
    differing = [
        f"--{_OPTIONS.get(name, name)} was {_said(before.get(name))} and is {_said(now[name])}"
        for name in options
        if before.get(name) != now[name]
    ]
    if differing:
        return f"features of this log with other options: {', '.join(differing)}"
    return "features of this log in other shards" if before.get("shards") != now["shards"] else ""


def _said(value: Any) -> str:
    """A value as somebody types it.

    >>> _said([50.0, 400.0]), _said(True), _said(None), _said("ubi")
    ('50,400', 'yes', 'not given', 'ubi')
    """
    if value is None or isinstance(value, bool):
        return "not given" if value is None else "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(_said, value))
    return f"{value:g}" if isinstance(value, float) else shortened(value).strip("'")
