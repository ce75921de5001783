"""What a change takes away from users: the surface of an earlier version compared with that of now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Data = Mapping[str, Any]
POSITIONAL = ("positional_only", "positional_or_keyword")
VARIADIC = ("var_positional", "var_keyword")


def losses(before: Data, now: Data) -> list[str]:
    """What was there and is no longer, or is something else."""
    return [
        *_names(before["names"], now["names"]),
        *_options(before["commands"], now["commands"]),
        *(f"files of the kind {kind}" for kind in before["files"] if kind not in now["files"]),
        *_schemas(before["schemas"], now["schemas"]),
    ]


def _names(before: Data, now: Data, within: str = "") -> Iterator[str]:
    for name, old in before.items():
        new, place = now.get(name), f"{within}{name}"
        if new is None:
            yield f"{place} is gone"
        elif "not installed" in (old["kind"], new["kind"]):
            continue
        elif old["kind"] != new["kind"]:
            yield f"{place} was a {old['kind']} and is a {new['kind']}"
        else:
            yield from _parameters(place, old.get("parameters", []), new.get("parameters", []))
            yield from _names(old.get("members", {}), new.get("members", {}), f"{place}.")


def _parameters(place: str, before: Sequence[Data], now: Sequence[Data]) -> Iterator[str]:
    """Every call that worked works: the same names, the same places, and nothing more that is required."""
    new = {one["name"]: one for one in now}
    any_name = any(one["kind"] == "var_keyword" for one in now)
    for old in before:
        found = new.get(old["name"])
        if old["kind"] in VARIADIC:
            if not any(one["kind"] == old["kind"] for one in now):
                yield f"{place} takes no more *{old['name']}"
        elif found is None:
            if old["kind"] == "positional_only" or not any_name:
                yield f"{place}({old['name']}=) is gone"
        elif found["required"] and not old["required"]:
            yield f"{place}({old['name']}=) is required now"
        elif old["kind"] != found["kind"] and found["kind"] != "positional_or_keyword":
            yield f"{place}({old['name']}=) is {found['kind'].replace('_', ' ')} now"
    known = {one["name"] for one in before}
    for one in now:
        if one["name"] not in known and one["required"] and one["kind"] not in VARIADIC:
            yield f"{place}({one['name']}=) is new and required"
    places = [one["name"] for one in before if one["kind"] in POSITIONAL]
    if [one["name"] for one in now if one["kind"] in POSITIONAL][: len(places)] != places:
        yield f"{place} takes its positional arguments in another order than {', '.join(places)}"


def _options(before: Data, now: Data) -> Iterator[str]:
    for command, options in before.items():
        if command not in now:
            yield f"the command {command} is gone"
            continue
        yield from (f"{command} {option} is gone" for option in options if option not in now[command])


def _schemas(before: Data, now: Data) -> Iterator[str]:
    for name, old in before.items():
        if name not in now:
            yield f"the schema {name} is gone"
        else:
            yield from _Schemas(old, now[name]).losses(old, now[name], name, frozenset())


@dataclass(frozen=True)
class _Schemas:
    """Two JSON schemas of one kind of file, by whose definitions references are followed, whatever they are called."""

    before: Data
    now: Data

    def losses(self, old: Data, new: Data, place: str, seen: frozenset[tuple[str, str]]) -> Iterator[str]:
        """What a reader of the old files would miss in the new ones: keys, and kinds of values that it knows.

        A list of known words may grow.
        """
        pair = (str(old.get("$ref")), str(new.get("$ref")))
        if pair in seen:
            return
        seen = seen | ({pair} if "$ref" in old or "$ref" in new else set())
        old, new = _resolved(old, self.before), _resolved(new, self.now)
        yield from self._values(old, new, place)
        had, has = old.get("properties", {}), new.get("properties", {})
        for key, inner in had.items():
            if key not in has:
                yield f"{place}.{key} is gone"
                continue
            if key in old.get("required", []) and key not in new.get("required", []):
                yield f"{place}.{key} may be absent now"
            yield from self.losses(inner, has[key], f"{place}.{key}", seen)
        for key in ("items", "additionalProperties"):
            if isinstance(old.get(key), Mapping) and isinstance(new.get(key), Mapping):
                yield from self.losses(old[key], new[key], f"{place}[]", seen)
        for one, other in zip(old.get("oneOf", []), new.get("oneOf", []), strict=False):
            yield from self.losses(one, other, place, seen)

    def _values(self, old: Data, new: Data, place: str) -> Iterator[str]:
        if "const" in old and new.get("const") != old["const"]:
            yield f"{place} is not always {old['const']!r} any more"
        words = new.get("enum", [new.get("const")])
        gone = [word for word in old.get("enum", []) if word is not None and word not in words]
        if gone:
            yield f"{place} is never {', '.join(map(str, gone))} any more"
        known = _types(old, self.before)
        known |= {"integer"} if "number" in known else set()
        if more := _types(new, self.now) - known:
            yield f"{place} may be {', '.join(sorted(more))} now"


def _resolved(schema: Data, root: Data) -> Data:
    if "$ref" not in schema:
        return schema
    found: Data = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return found


def _types(schema: Data, root: Data) -> set[str]:
    """The kinds of values that a schema allows."""
    schema = _resolved(schema, root)
    if "oneOf" in schema:
        return set().union(*(_types(one, root) for one in schema["oneOf"]))
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if values:
        return {_type(value) for value in values}
    types = schema.get("type", [])
    return {types} if isinstance(types, str) else set(types)


def _type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return kinds[type(value)]
