"""The service as a program: its socket, its connections, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from surefoot.data.reading.files import reason
from surefoot.errors import ArgumentError, shortened
from surefoot.personal.personal_ranker import PersonalRanker
from surefoot.personal.service.application import LOG, Connection, Connections, RerankingService, bounded, peer_of
from surefoot.personal.service.service_settings import ServiceSettings

_CONNECTIONS = 500  # that may be open beside the requests that wait
_SEARCHES_OF_ALL = 200  # for garbage: one per so many of what is not young, about 1.4 million objects; Python has 10


def serve(model: Path, settings: ServiceSettings, started: Callable[[str, dict[str, Any]], None]) -> None:
    """Answer requests until a signal asks to end; `started` is then told the address and a request to try."""
    _log_to_stderr()
    listener = _listen(settings.host, settings.port)
    with listener:
        ranker = PersonalRanker.load(model, read_only=not settings.allow_updates)
        service, example = RerankingService(ranker, settings), ranker.example()
        _search_little_for_garbage()
        try:
            connections = Connections(settings.queue + _CONNECTIONS)
            config = uvicorn.Config(
                bounded(service.application(), connections),
                http=_protocol(settings.seconds, connections), ws="none", lifespan="off", loop="asyncio",
                access_log=False, log_config=None, server_header=False, proxy_headers=False,
                timeout_keep_alive=max(1, round(settings.seconds)),
                timeout_graceful_shutdown=max(1, round(2 * settings.seconds)),
            )  # fmt: skip
            host, port = listener.getsockname()[:2]
            name = f"[{host}]" if ":" in host else host
            server = StoppableServer(config, lambda: started(f"http://{name}:{port}", example))
            server.run(sockets=[listener])
        finally:
            service.close()


class StoppableServer(uvicorn.Server):  # type: ignore[misc]
    """A server for which a signal is the way to end, not a failure: what was asked is answered first."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on SIGTERM or SIGINT, and do not raise the signal again."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _protocol(seconds: float, connections: Connections) -> type[asyncio.Protocol]:
    """HTTP connections, counted, whose requests must begin, and their headers arrive, in time."""

    class TimedProtocol(H11Protocol):  # type: ignore[misc]
        """uvicorn itself waits for ever for the end of a request's headers."""

        _header_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            # asyncio does so for sockets of its own alone; without it, an answer waits 40 ms between head and body.
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._wait_for_headers()
            self._counted = Connection(peer_of(self.client), lambda: not self._answering(), self._make_room_for_another)
            connections.add(self._counted)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._wait_for_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            connections.remove(self._counted)
            super().connection_lost(exc)

        def _answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _wait_for_headers(self) -> None:
            begun = self.conn.their_state is not h11.IDLE or bool(self.conn.trailing_data[0])
            if self._answering() or (
                self.cycle is not None and not begun
            ):  # or kept alive, which has a bound of its own
                self._stop_waiting()
            elif self._header_timer is None:
                self._header_timer = self.loop.call_later(seconds, self._headers_too_slow)

        def _stop_waiting(self) -> None:
            if self._header_timer is not None:
                self._header_timer.cancel()
                self._header_timer = None

        def _headers_too_slow(self) -> None:
            LOG.warning("408 headers arrived too slowly")
            self.transport.close()

        def _make_room_for_another(self) -> None:
            LOG.warning("503 too many connections; one that was idle was closed")
            self.transport.close()

        def _unsupported_upgrade_warning(self) -> None:
            """Say nothing: a request for HTTP/2 or a WebSocket is answered as HTTP/1.1, which its sender expects.

            uvicorn would advise, for each, to install a library.
            """

        def send_400_response(self, msg: str) -> None:
            body = json.dumps({"error": "this is not HTTP as it should be"}).encode()
            headers = [(b"content-type", b"application/json"), (b"connection", b"close"),
                       (b"content-length", str(len(body)).encode())]  # fmt: skip
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
            LOG.warning("400 malformed HTTP")
            self.transport.close()

    return TimedProtocol


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=256)
    except (OSError, UnicodeError, OverflowError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise ArgumentError(
            f"cannot listen on host {shortened(host)}, port {port} ({why}); choose another with --host or --port"
        ) from error


def _search_little_for_garbage() -> None:
    """What was loaded stays, and what requests were about stays for long: to look through it stops all answers.

    It took a tenth of a second, every few seconds. Young objects are searched as often as ever.
    """
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _SEARCHES_OF_ALL)


def _log_to_stderr() -> None:
    """Warnings of the service, and of uvicorn, as lines on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s surefoot: %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    for name in (LOG.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate, logger.level = [handler], False, logging.WARNING
