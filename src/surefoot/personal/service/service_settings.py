"""What a service may be asked to do, and its bounds."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass

from surefoot.errors import ArgumentError, shortened

TOKEN = "SUREFOOT_TOKEN"  # the variable of the environment that has the token
MOST_RESULTS = 1000  # of one list
MOST_EVENTS = 1000  # of one update


@dataclass(frozen=True)
class ServiceSettings:
    """Where a service listens, and what it takes.

    `body` is the largest request in bytes; `seconds` what a request may take, to arrive and to be answered; `queue` how
    many requests may wait for an answer at once.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    allow_updates: bool = False
    token: str | None = None
    body: int = 1 << 20
    seconds: float = 5.0
    queue: int = 64

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @classmethod
    def checked(cls, host: str, **given: object) -> ServiceSettings:
        """The settings with the environment's token, without which only this machine may reach the service."""
        token = os.environ.get(TOKEN) or None
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise ArgumentError(
                f"{TOKEN} has characters that an HTTP header cannot hold; use letters, digits and signs"
            )
        settings = cls(host=host, token=token, **given)  # type: ignore[arg-type]
        if not settings.loopback and token is None:
            raise ArgumentError(
                f"--host {shortened(host)} lets other machines in, which needs a token; set {TOKEN} in the "
                "environment, or leave --host out"
            )
        return settings


def names_loopback(header: str) -> bool:
    """Whether a request's header Host is this machine's own name or address, perhaps with a port.

    >>> names_loopback("localhost:8080"), names_loopback("[::1]"), names_loopback("a.example#localhost")
    (True, True, False)
    """
    found = re.fullmatch(r"(localhost|[0-9.]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?", header)
    return found is not None and is_loopback(found[1])


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
