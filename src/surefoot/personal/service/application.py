"""The paths of the service: POST /rerank, POST /update, GET /health and /openapi.json; JSON in and out, errors too.

What is refused is logged: when, which path, the status and its kind; never what the request said.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from surefoot.clicks.served.event_store import StateError
from surefoot.errors import SurefootError, visible
from surefoot.personal.personal_ranker import PersonalRanker
from surefoot.personal.service.openapi import openapi, parsed, rerank_arguments, update_events
from surefoot.personal.service.service_settings import ServiceSettings, names_loopback

LOG = logging.getLogger("surefoot.serve")
_BUG = "this is a bug in surefoot, not your mistake; please report it"
_IPV6_NETWORK = 64  # bits: whoever has one address of such a network has all of them
_PATHS = ("/rerank", "/update", "/health", "/openapi.json")


class RefusedError(Exception):
    """A request that is refused: the status, what its sender is told, what the log says, and further headers."""

    def __init__(self, status: int, message: str, logged: str, **headers: str) -> None:
        super().__init__(logged)
        self.status, self.message, self.logged, self.headers = status, message, logged, headers


class QueueFullError(Exception):
    """More requests wait than may."""


class TooSlowError(Exception):
    """A request was not answered in time."""


class BoundedWorker:
    """A thread with a queue: features are looked up under one lock, so that more threads would only wait for it."""

    def __init__(self, queue: int) -> None:
        self._most, self.waiting = queue, 0
        self._thread = ThreadPoolExecutor(1, "surefoot-serve")

    async def run(self, function: Callable[..., Any], *arguments: Any, seconds: float, **named: Any) -> Any:
        """What the function returns, within so many seconds; one that has not begun by then never begins."""
        if self.waiting >= self._most:
            raise QueueFullError
        self.waiting += 1
        loop = asyncio.get_running_loop()
        future: Future[Any] = self._thread.submit(function, *arguments, **named)
        # What has begun counts until it is done, also where nobody waits for it any longer.
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError as error:
            raise TooSlowError from error

    def _done(self) -> None:
        self.waiting -= 1

    def close(self) -> None:
        """Wait for what has begun."""
        self._thread.shutdown(wait=True)


class RerankingService:
    """A ranker's answers to requests."""

    def __init__(self, ranker: PersonalRanker, settings: ServiceSettings) -> None:
        self._ranker, self._settings = ranker, settings
        # An update waits for the disk; who asks need not wait for that.
        self._worker, self._updates = BoundedWorker(settings.queue), BoundedWorker(settings.queue)

    def application(self) -> ASGIApp:
        """The ASGI application; no path is answered, not even one that does not exist, to a host of another name."""
        routes = [
            Route("/rerank", self._guarded(self._rerank), methods=["POST"]),
            Route("/health", self._health, methods=["GET"]),
            Route("/openapi.json", self._openapi, methods=["GET"]),
        ]
        if self._settings.allow_updates:
            routes.append(Route("/update", self._guarded(self._update), methods=["POST"]))
        application = Starlette(routes=routes, exception_handlers={HTTPException: self._no_route})
        application.router.redirect_slashes = False  # a redirect would not be JSON

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and (refused := self._wrong_host(Request(scope))) is not None:
                await _answer(Request(scope), refused)(scope, receive, send)
                return
            await application(scope, receive, send)

        return answer

    def close(self) -> None:
        """Wait for what has begun, and let go of the model."""
        self._worker.close()
        self._updates.close()
        self._ranker.close()

    async def _health(self, request: Request) -> JSONResponse:
        del request
        return JSONResponse(
            {
                "status": "ok",
                "updates": self._settings.allow_updates,
                "waiting": self._worker.waiting + self._updates.waiting,
            }
        )

    async def _openapi(self, request: Request) -> JSONResponse:
        del request
        return JSONResponse(openapi(self._ranker.facts, self._settings))

    async def _no_route(self, request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)  # as registered
        if request.url.path == "/update" and error.status_code == 404:
            message = "this service takes no updates; start it with --allow-updates"
            refused = RefusedError(403, message, "updates are not allowed")
        elif error.status_code == 405:
            refused = RefusedError(405, "rerank and update take POST, the others GET", "method")
        else:
            refused = RefusedError(error.status_code, f"there are {', '.join(_PATHS)}", "no such path")
        return _answer(request, refused)

    def _guarded(self, answer: Callable[[Any], Awaitable[Any]]) -> Callable[[Request], Awaitable[JSONResponse]]:
        """The answer to a request that passed all checks; whatever goes wrong becomes JSON."""

        async def respond(request: Request) -> JSONResponse:
            try:
                self._check_sender(request)
                body = await self._body(request)
                return JSONResponse(await answer(parsed(body)))
            except RefusedError as error:
                return _answer(request, error)
            except ClientDisconnect:
                refused = RefusedError(400, "the request was not complete", "its sender ended before it was complete")
                return _answer(request, refused)
            except QueueFullError:
                message = f"{self._settings.queue:,} requests are waiting already; try again later"
                return _answer(request, too_many(message, "too many are waiting"))
            except TooSlowError:
                message = (
                    f"no answer within {self._settings.seconds:g} s; an update may have been added nevertheless, and "
                    "can be sent again"
                )
                return _answer(request, RefusedError(504, message, "not answered in time"))
            except SurefootError as error:
                # What is wrong with a request is its sender's to know; what is wrong with the model's file is ours.
                own = isinstance(error, StateError)
                kind = "the model's state cannot be used" if own else "not valid"
                return _answer(request, RefusedError(500 if own else 400, visible(str(error)), kind))
            except Exception as error:
                LOG.error("%s\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)).rstrip())
                return _answer(request, RefusedError(500, _BUG, "an error of surefoot's own"))

        return respond

    def _check_sender(self, request: Request) -> None:
        """Refuse who may not ask, before anything of the body is read."""
        token = self._settings.token
        if token is not None:
            given = request.headers.get("authorization", "")
            scheme, _, secret = given.partition(" ")
            right = hmac.compare_digest(secret.encode("latin-1"), token.encode())
            if not right or scheme.lower() != "bearer":
                message = "send the service's token as the header Authorization: Bearer …"
                raise RefusedError(401, message, "not authorised", **{"WWW-Authenticate": "Bearer"})
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RefusedError(415, "send JSON, with the header Content-Type: application/json", "not JSON by its type")

    def _wrong_host(self, request: Request) -> RefusedError | None:
        """Why a request is refused for the host that it names: where no token says who asks.

        A page in a browser of this machine may reach the loopback under a name of its own.
        """
        if self._settings.token is not None or names_loopback(request.headers.get("host", "")):
            return None
        message = "without a token, requests must name this machine (localhost) as their host"
        return RefusedError(403, message, "another host's name", Connection="close")

    async def _body(self, request: Request) -> bytes:
        """The body of a request, if it is not too large and arrives in time."""
        most = self._settings.body
        too_large = RefusedError(
            413, f"the body has more than {most:,} bytes; send less at once", "too large", Connection="close"
        )
        length = request.headers.get("content-length", "0")
        if not length.isdigit() or int(length[:20]) > most:
            raise too_large
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._settings.seconds):
                async for part in request.stream():
                    parts.append(part)
                    size += len(part)
                    if size > most:
                        raise too_large
        except TimeoutError as error:
            message = f"the body did not arrive within {self._settings.seconds:g} s"
            raise RefusedError(408, message, "arrived too slowly", Connection="close") from error
        return b"".join(parts)

    async def _rerank(self, value: Any) -> Any:
        arguments = rerank_arguments(value)
        answer = await self._worker.run(self._ranker.rerank, seconds=self._settings.seconds, **arguments)
        return answer.to_dict()

    async def _update(self, value: Any) -> Any:
        return await self._updates.run(self._ranker.update, update_events(value), seconds=self._settings.seconds)


@dataclass(frozen=True)
class Connection:
    """A connection: its peer, whether no request of it is being answered, and how it is closed."""

    peer: str
    idle: Callable[[], bool]
    close: Callable[[], None]


class Connections:
    """All open connections, the oldest first.

    An idle one, half open or kept alive, costs its peer nothing. So where there are too many, the oldest of these is
    closed, and no number of them keeps others out. Only if none is idle is a request refused.
    """

    def __init__(self, most: int) -> None:
        self.most, self.most_of_peer = most, most // 2
        self._open: dict[int, Connection] = {}
        self._of_peer: Counter[str] = Counter()

    def add(self, connection: Connection) -> None:
        """Count one that has come, and close an idle one if there are too many now."""
        crowded_peer = self._of_peer[connection.peer] >= self.most_of_peer
        if crowded_peer or len(self._open) >= self.most:
            for other in self._open.values():
                if (other.peer == connection.peer or not crowded_peer) and other.idle():
                    self.remove(other)
                    other.close()
                    break
        self._open[id(connection)] = connection
        self._of_peer[connection.peer] += 1

    def remove(self, connection: Connection) -> None:
        """Forget one that has ended."""
        if self._open.pop(id(connection), None) is not None:
            self._of_peer[connection.peer] -= 1
            if not self._of_peer[connection.peer]:
                del self._of_peer[connection.peer]

    def refusal(self, peer: str) -> str | None:
        """Why a request of this peer is not answered, if there are too many connections."""
        if self._of_peer[peer] > self.most_of_peer:
            return f"more than {self.most_of_peer:,} connections from one address are open; try again later"
        if len(self._open) > self.most:
            return f"more than {self.most:,} connections are open; try again later"
        return None


def peer_of(client: Any) -> str:
    """Who is at the other end, of a socket's address.

    >>> peer_of(("10.0.0.1", 5)), peer_of(("2001:db8::1", 5)), peer_of(("::ffff:10.0.0.1", 5)), peer_of(None)
    ('10.0.0.1', '2001:db8::/64', '10.0.0.1', '')
    """
    if client is None:
        return ""
    try:
        address = ipaddress.ip_address(str(client[0]).partition("%")[0])
    except ValueError:
        return str(client[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), _IPV6_NETWORK), strict=False))


def bounded(application: ASGIApp, connections: Connections) -> ASGIApp:
    """The application, while no more connections are open than may; uvicorn's own bound does not answer JSON."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        message = connections.refusal(peer_of(scope.get("client")))
        if message is None:
            await application(scope, receive, send)
            return
        refused = too_many(message, "too many connections")
        refused.headers["Connection"] = "close"
        await _answer(Request(scope), refused)(scope, receive, send)

    return answer


def too_many(message: str, logged: str) -> RefusedError:
    """A request that may be sent again."""
    return RefusedError(503, message, logged, **{"Retry-After": "1"})


def _answer(request: Request, refused: RefusedError) -> JSONResponse:
    path = request.url.path if request.url.path in _PATHS else "another path"
    LOG.warning("%d %s %s", refused.status, path, refused.logged)
    return JSONResponse({"error": refused.message}, refused.status, refused.headers)
