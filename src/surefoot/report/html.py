"""What all pages share: files of the package, templates that escape, hashes for the policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from surefoot import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

_NOT_IN_A_SCRIPT = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@cache
def asset(name: str) -> str:
    """The text of a file of the package, named as in `surefoot.report/page/page.css`."""
    package, _, path = name.partition("/")
    return files(package).joinpath(path).read_text(encoding="utf-8")


def render(template: str, **values: Any) -> str:
    """A template filled in; what is not `trusted` is escaped."""
    return _environment().get_template(template).render(version=__version__, **values)


def trusted(text: str) -> Any:
    """Text of our own that goes into a page as it is."""
    from markupsafe import Markup

    return Markup(text)


def source_hash(text: str) -> str:
    """What a Content-Security-Policy allows this style or script by."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") + "'"


def policy(style: str, script: str | None = None) -> str:
    """What a page may do: apply this style and run this script, and load nothing from anywhere."""
    parts = ["default-src 'none'", f"style-src {source_hash(style)}"]
    if script is not None:
        parts += [f"script-src {source_hash(script)}", "img-src data:"]
    parts += ["base-uri 'none'", "form-action 'none'"]
    if script is not None:
        parts += ["require-trusted-types-for 'script'", "trusted-types 'none'"]
    return "; ".join(parts)


def json_for_script(data: Any) -> str:
    """JSON that cannot end the element it stands in, whatever the names in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _NOT_IN_A_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
