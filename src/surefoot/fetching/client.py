"""HTTP: one request after the other, not faster than a rate, tried again where that helps, and never half an answer."""

from __future__ import annotations

import base64
import json
import os
import re
import ssl
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self, TypeVar
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies

from surefoot.data.reading.files import parse_json, reason
from surefoot.errors import ArgumentError, DataError, SurefootError, SurefootWarning, shortened
from surefoot.fetching.addresses import ServiceAddress
from surefoot.fetching.options import RETRIES, TIMEOUT
from surefoot.fetching.services import PartialAnswerError, error_text
from surefoot.runtime import library

_BUSY = (429, 502, 503, 504)  # of which the next request may know nothing
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds between tries
_LONGEST_REQUESTED = 300.0  # seconds that a service may ask for; whoever asks for more is asked again by people
_LARGEST = 1 << 28  # bytes of an answer
_PLAIN_ANSWERS = ("wrong_version_number", "wrong version number", "record layer failure")  # TLS's words for plain HTTP

Result = TypeVar("Result")


class FetchError(SurefootError):
    """A service that did not give a whole answer to a query."""


@dataclass(frozen=True)
class Conduct:
    """How a service is treated: seconds for one answer, further tries, requests a second, own authorities for TLS."""

    timeout: float = TIMEOUT
    retries: int = RETRIES
    rate: float | None = None
    ca_file: str | os.PathLike[str] | None = None


class _TransientError(Exception):
    """What may be gone at the next try, and after how many seconds the service wants that, if it says."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


class SearchClient:
    """The connection to one service."""

    def __init__(
        self,
        address: ServiceAddress,
        credentials: Credentials,
        conduct: Conduct,
        note: Callable[[str], object] | None = None,
    ) -> None:
        """`note` is told of every try that failed and of how long the next one waits, in words without secrets."""
        self._httpx = library("httpx", "fetch", "Fetching runs")
        self._address, self._credentials, self._conduct, self._note = address, credentials, conduct, note
        self._next = 0.0  # when the rate allows a request
        if credentials.headers and not address.is_private:
            warnings.warn(
                f"{address.host} is asked without encryption, so anybody on the way can read the headers and "
                "passwords; use https",
                SurefootWarning,
                stacklevel=2,
            )
        self._client = self._httpx.Client(
            headers={**credentials.headers, "Accept": "application/json", "Content-Type": "application/json"},
            verify=_authorities(self._httpx, conduct.ca_file),
            timeout=self._httpx.Timeout(conduct.timeout),
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._client.close()

    def ask(
        self, body: Mapping[str, Any], parameters: dict[str, str], read: Callable[[Any], Result], query: str
    ) -> Result:
        """What `read` makes of the answer to a body; tried again, later and later, where the service is busy."""
        address = self._address.with_parameters(parameters)
        wait, tries = _FIRST_WAIT, self._conduct.retries + 1
        for number in range(1, tries + 1):
            try:
                return self._ask_once(address, body, read)
            except _TransientError as error:
                self._refuse_long_wait(error, query)
                if number == tries:
                    more = f" ({tries} tries)" if tries > 1 else ""
                    raise self._error(query, f"{error}{more}; run the same command again to go on from here") from None
                pause = wait if error.wait is None else max(error.wait, 0.0)
                if self._note is not None:
                    when = f"in {pause:.3g} second{'' if pause == 1 else 's'}" if pause else "at once"
                    self._note(self._told(query, f"{error}; this was try {number} of {tries}, the next is {when}"))
                time.sleep(pause)
                wait = min(2 * wait, _LONGEST_WAIT)
            except SurefootError as error:
                raise self._error(query, str(error)) from None
        raise AssertionError("the last try raises or returns")

    def _refuse_long_wait(self, error: _TransientError, query: str) -> None:
        if error.wait is not None and error.wait > _LONGEST_REQUESTED:
            raise self._error(
                query, f"{error} and asks to wait {error.wait:,.0f} seconds; run the same command again then"
            ) from None

    def _ask_once(self, address: str, body: Mapping[str, Any], read: Callable[[Any], Result]) -> Result:
        self._keep_to_rate()
        try:
            status, headers, content = self._exchange(address, body)
        except self._httpx.TimeoutException:
            raise _TransientError(f"no whole answer came within {self._conduct.timeout:g} seconds") from None
        except self._httpx.ConnectError as error:
            problem = f"cannot be reached ({shortened(str(error), 200)[1:-1]})"
            if any(word in str(error).lower() for word in _PLAIN_ANSWERS):
                raise DataError(
                    f"this port answers without encryption, so https cannot be used ({shortened(str(error))[1:-1]}); "
                    "give the port for https, or a URL with http://"
                ) from None
            if "CERTIFICATE" in str(error) or "certificate" in str(error):
                raise DataError(f"{problem}; name the file of your own authority with --ca-file") from None
            raise _TransientError(problem) from None
        except (self._httpx.RequestError, self._httpx.StreamError) as error:
            raise _TransientError(f"the answer broke off ({shortened(str(error), 200)[1:-1]})") from None
        except (self._httpx.InvalidURL, ValueError) as error:
            raise ArgumentError(f"the URL cannot be used ({shortened(str(error), 200)[1:-1]})") from None
        if 300 <= status < 400:
            raise DataError(_redirect_text(status, headers.get("location", "")))
        if status != 200:
            problem = _status_text(status, _json_of(self._without_secrets(content)))
            if status in _BUSY:
                raise _TransientError(problem, _requested_wait(headers.get("retry-after")))
            login = "; name the variables that hold the credentials with --user-env or --header-env"
            raise DataError(f"{problem}{login if status in (401, 403) else ''}")
        return self._read(content, read)

    def _read(self, content: bytes, read: Callable[[Any], Result]) -> Result:
        """What `read` makes of a whole answer."""
        answer = _json_of(content)
        if answer is None:
            if content.lstrip()[:1] in (b"{", b""):
                raise _TransientError("the answer broke off: it is the start of JSON")
            start = self._without_secrets(content)[:200].decode(errors="replace")
            raise DataError(f"the answer is not JSON; it begins with {shortened(start)}")
        try:
            return read(answer)
        except PartialAnswerError as error:
            raise _TransientError(f"the answer cannot be used: {error}") from None
        except DataError:
            # The message quotes the answer in part, and a secret in part could not be found in it.
            try:
                read(_json_of(self._without_secrets(content)))
            except SurefootError as error:
                raise DataError(f"the answer cannot be used: {error}") from None
            raise DataError("the answer cannot be used") from None

    def _without_secrets(self, content: bytes) -> bytes:
        return self._credentials.without_secrets(content.decode(errors="replace")).encode()

    def _exchange(self, address: str, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and the whole content of an answer; however slowly it comes, within the time for it."""
        until = time.monotonic() + self._conduct.timeout
        content = bytearray()
        with self._client.stream("POST", address, content=json.dumps(body).encode()) as response:
            for block in response.iter_bytes():
                content += block
                if time.monotonic() > until:
                    raise self._httpx.ReadTimeout("the answer comes too slowly")
                if len(content) > _LARGEST:
                    raise DataError(f"the answer has more than {_LARGEST >> 20} MB; ask for fewer results or fields")
            return response.status_code, response.headers, bytes(content)

    def _keep_to_rate(self) -> None:
        now = time.monotonic()
        if now < self._next:
            time.sleep(self._next - now)
        if self._conduct.rate is not None:
            self._next = max(now, self._next) + 1 / self._conduct.rate

    def _error(self, query: str, problem: str) -> FetchError:
        return FetchError(self._told(query, problem))

    def _told(self, query: str, problem: str) -> str:
        """What may be shown of a problem: never a secret."""
        return self._credentials.without_secrets(f"{self._address.shown}, query {shortened(query)}: {problem}")


def _authorities(httpx: Any, ca_file: str | os.PathLike[str] | None) -> ssl.SSLContext:
    """Whom to trust: the usual authorities, and those of a file."""
    context: ssl.SSLContext = httpx.create_ssl_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=os.fspath(ca_file))
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise DataError.at(
                ca_file, None, f"cannot be used as a file of authorities ({reason(error)}); give a PEM file"
            ) from error
    return context


def _json_of(content: bytes) -> Any:
    """What the content says as JSON; None where it is none."""
    try:
        return parse_json(content.decode())
    except (ValueError, RecursionError):
        return None


def _redirect_text(status: int, location: str) -> str:
    """A redirect in words: where to, but for what might be secret in the address."""
    try:
        host = urlsplit(location).hostname
    except ValueError:
        host = None
    where = f"to {shortened(host)[1:-1]}" if host else "to another path"
    return f"it redirects {where} (status {status}), which is not followed; give the URL of the service itself"


def _status_text(status: int, answer: Any) -> str:
    said = error_text(answer)
    return f"the service answers with status {status}{f': {said}' if said else ''}"


def _requested_wait(value: str | None) -> float | None:
    """The seconds that a Retry-After asks for, which are a number or a date; None where it is neither.

    >>> _requested_wait("7"), _requested_wait("Wed, 21 Oct 2015 07:28:00 GMT"), _requested_wait("soon")
    (7.0, 0.0, None)
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)


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
