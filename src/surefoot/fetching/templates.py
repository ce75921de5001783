"""The body of a request, with a query's text wherever the template has {{query}}."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from surefoot.data.reading.files import read_json
from surefoot.errors import DataError, shortened
from surefoot.fetching.options import PLACEHOLDER

_MOST_LEVELS = 100  # of objects and lists in each other: deeper ones no service takes


def read_template(source: Any) -> dict[str, Any]:
    """The template of a file, or a dict as it is: a JSON object in which {{query}} is part of a text.

    >>> read_template({"query": {"match": {"title": "{{query}}"}}})
    {'query': {'match': {'title': '{{query}}'}}}
    """
    is_file = isinstance(source, str | os.PathLike)
    where = str(source) if is_file else "the body"
    try:
        template = read_json(source) if is_file else source
    except DataError as error:
        unquoted = f'; write "{PLACEHOLDER}" with its quotes, as part of a text: it is escaped as JSON needs it'
        raise DataError(f"{error}{unquoted if 'is not JSON' in str(error) else ''}") from error
    if not isinstance(template, Mapping):
        raise DataError(f"{where}: expected a JSON object, the body of a search, found {shortened(template)}")
    try:
        has_placeholder = _has_placeholder(template)
        json.dumps(template, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be sent as JSON ({shortened(str(error), 200)[1:-1]})") from error
    if not has_placeholder:
        raise DataError(
            f"{where}: no text in it contains {PLACEHOLDER}, so every query would be the same search; write "
            f'"{PLACEHOLDER}" where the query belongs'
        )
    return dict(template)


def fill_template(template: Any, query: str) -> Any:
    r"""The same data with the query in place of {{query}}; a query cannot leave its text, whatever it holds.

    >>> fill_template({"match": {"title": "{{query}} shoes"}}, 'red "x" {{query}}')
    {'match': {'title': 'red "x" {{query}} shoes'}}
    """
    if isinstance(template, str):
        return query.join(template.split(PLACEHOLDER))
    if isinstance(template, Mapping):
        return {name: fill_template(value, query) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(value, query) for value in template]
    return template


def _has_placeholder(template: Any, levels: int = _MOST_LEVELS) -> bool:
    if isinstance(template, str):
        return PLACEHOLDER in template
    if not isinstance(template, Mapping | list | tuple):
        return False
    if not levels:
        raise RecursionError(f"it is nested in more than {_MOST_LEVELS} levels")
    inner = template.values() if isinstance(template, Mapping) else template
    found = [_has_placeholder(each, levels - 1) for each in inner]  # all of them, for their levels
    return any(found)
