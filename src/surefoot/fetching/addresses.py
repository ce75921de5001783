"""A service's address: checked, completed, and shown without what might be secret in it."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from surefoot.errors import ArgumentError, shortened


class ServiceAddress(NamedTuple):
    """Where searches are sent."""

    scheme: str
    host: str
    port: int | None
    path: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, url: str, searches: tuple[str, ...]) -> ServiceAddress:
        """The address of a search at `url`: if its path ends in none of `searches`, the first of these is added.

        >>> ServiceAddress.of("http://localhost:9200/shop", ("_search",)).shown
        'http://localhost:9200/shop/_search'
        >>> ServiceAddress.of("http://ann:secret@localhost:9200/shop", ("_search",))
        Traceback (most recent call last):
        ...
        surefoot.errors.ArgumentError: the URL contains a user or a password, which would be seen in ...
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ArgumentError("the URL cannot be read; write it as https://host:port/index") from None
        if "@" in parts.netloc:
            raise ArgumentError(
                "the URL contains a user or a password, which would be seen in lists of commands and in logs; put "
                "user:password into an environment variable, and name it with --user-env"
            )
        if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
            # Not quoted: a password may be anywhere in what is not a URL.
            raise ArgumentError(
                "the URL must begin with http:// or https:// and name a host, as https://host:port/index"
            )
        path = parts.path.rstrip("/")
        if path.rpartition("/")[2] not in searches:
            if "/_search/" in f"{path}/":
                raise ArgumentError(
                    f"searches of the form {shortened(path)} are not supported; give the index's URL, and the whole "
                    "body of the search as the template"
                )
            path = f"{path}/{searches[0]}"
        return cls(parts.scheme, host, port, path, tuple(parse_qsl(parts.query, keep_blank_values=True)))

    @property
    def shown(self) -> str:
        """The address for messages and files: without parameters, whose values may be keys."""
        return urlunsplit((self.scheme, self._netloc, self.path, "", ""))

    @property
    def parts_before_search(self) -> list[str]:
        """The parts of the path, but for the last, which searches."""
        return [part for part in self.path.split("/")[:-1] if part]

    @property
    def is_private(self) -> bool:
        """Whether what is sent there is encrypted, or stays on this machine."""
        if self.scheme == "https" or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def with_parameters(self, more: dict[str, str]) -> str:
        """The full address, with further parameters that it does not have yet."""
        own = dict(self.parameters)
        added = [(name, value) for name, value in more.items() if name not in own]
        return urlunsplit((self.scheme, self._netloc, self.path, urlencode([*self.parameters, *added]), ""))

    @property
    def _netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"
