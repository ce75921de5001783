"""Headers and passwords, from environment variables alone, and texts from which they are removed."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies

from surefoot.errors import ArgumentError, shortened

_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110's token
_VALUE = re.compile(r"[\x20-\x7e]+")
_SHORTEST = 3  # letters of a secret's word that is looked for: a shorter one would blank out half of a message
_OWN = ("content-type", "content-length", "host", "accept", "accept-encoding", "connection", "transfer-encoding")


@dataclass(frozen=True, repr=False)
class Credentials:
    """Headers to send, and every text that must not be shown; never printed, not even by repr."""

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """The names of the headers."""
        return f"<Credentials: {', '.join(self.headers) or 'none'}>"

    def without_secrets(self, text: str) -> str:
        """The text with *** in place of every secret."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def read_credentials(header_env: Mapping[str, str] | None = None, user_env: str | None = None) -> Credentials:
    """The headers whose values are in these environment variables, by header; `user_env` has `user:password`.

    >>> read_credentials({"X-Key": "NO_SUCH_VARIABLE"})
    Traceback (most recent call last):
    ...
    surefoot.errors.ArgumentError: the environment variable NO_SUCH_VARIABLE, for the header X-Key, is not set ...
    """
    headers: dict[str, str] = {}
    secrets: list[str] = list(_proxy_passwords())
    for name, variable in (header_env or {}).items():
        if not _HEADER.fullmatch(name):
            raise ArgumentError(f"{shortened(name)} is not the name of a header; write NAME=VARIABLE")
        if name.lower() in _OWN:
            raise ArgumentError(f"the header {name} is set by surefoot; remove it")
        if name.lower() in map(str.lower, headers):
            raise ArgumentError(f"the header {name} appears twice; keep one")
        headers[name] = _value(variable, f"the header {name}")
        secrets += [headers[name], *headers[name].split()]
    if user_env is not None:
        if "authorization" in map(str.lower, headers):
            raise ArgumentError("a user and a header Authorization were both given; keep one")
        pair = _value(user_env, "the user and password")
        user, colon, password = pair.partition(":")
        if not (user and colon and password):
            raise ArgumentError(f"the environment variable {user_env} does not hold user:password; set it so")
        token = base64.b64encode(pair.encode()).decode()
        headers["Authorization"] = f"Basic {token}"
        secrets += [pair, password, token]
    encoded = [quote(secret, safe="") for secret in secrets]
    return Credentials(headers, tuple({text for text in (*secrets, *encoded) if len(text) >= _SHORTEST}))


def _value(variable: str, purpose: str) -> str:
    value = os.environ.get(variable, "").strip() if variable and "=" not in variable else ""
    if not value:
        raise ArgumentError(
            f"the environment variable {shortened(variable)[1:-1]}, for {purpose}, is not set or is empty"
        )
    if not _VALUE.fullmatch(value):  # said here, since the library's own message would quote it
        raise ArgumentError(
            f"the environment variable {variable}, for {purpose}, contains a line end or a letter that is not ASCII"
        )
    return value


def _proxy_passwords() -> Iterable[str]:
    """The passwords of proxies that the environment names."""
    for address in getproxies().values():
        try:
            password = urlsplit(address).password
        except ValueError:
            continue
        if password:
            yield from (password, unquote(password))
