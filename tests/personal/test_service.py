"""The service on the loopback: what it answers, what it refuses, and how it ends."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.personal.small import small_study

import surefoot as sf
from surefoot.clicks.served.session_events import MOST_OF_SESSION
from surefoot.errors import ArgumentError, DataError
from surefoot.personal.service.application import Connection, Connections, RerankingService, bounded
from surefoot.personal.service.service_settings import ServiceSettings

LIST = {"query": "3", "results": ["11", "12", "13"], "domains": ["1", "2", "1"], "terms": ["5"], "day": 30, "time": 80}
EVENT = {
    "session": "new", "user": "7", "day": 30, "time": 5, "list": "1", "query": "3", "terms": ["5"],
    "documents": ["11", "12"], "domains": ["1", "2"],
}  # fmt: skip
CLICK = {"session": "new", "day": 30, "time": 6, "list": "1", "document": "11"}
JSON = {"Content-Type": "application/json"}


def awaited(asked: Coroutine[Any, Any, Any]) -> Any:
    """Its value, from a thread of its own: a browser that tests of pages opened keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as own_thread:
        return own_thread.submit(asyncio.run, asked).result()


class Running:
    """A service as a program of its own."""

    def __init__(self, model: Path, *options: str, token: str | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "SUREFOOT_TOKEN"}
        if token:
            environment["SUREFOOT_TOKEN"] = token
        self.process = subprocess.Popen(
            [sys.executable, "-m", "surefoot", "serve", str(model), "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        assert self.process.stdout is not None
        line, _, self.to_try = (self.process.stdout.readline() for _ in range(3))
        assert line.startswith("Serving "), self.process.communicate()
        self.port = int(line.partition("http://127.0.0.1:")[2].partition(";")[0])

    def ask(
        self, path: str, body: Any = None, method: str = "POST", peer: str = "127.0.0.1", **headers: str
    ) -> tuple[int, Any, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20, source_address=(peer, 0))
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, {**JSON, **{name.replace("_", "-"): headers[name] for name in headers}})
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read()), answer.headers
        connection.close()
        return found

    def raw(self, data: bytes, *, end: bool = False) -> bytes:
        """Whatever comes back for some bytes until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)

    def stop(self) -> tuple[int, str]:
        """End it, and give its exit code and its log."""
        self.process.send_signal(signal.SIGTERM)
        _, log = self.process.communicate(timeout=30)
        return self.process.returncode, log


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "model"
    small_study().save(folder, method="Standard gain")
    return folder


@pytest.fixture
def running(model: Path, tmp_path: Path) -> Iterator[Running]:
    shutil.copytree(model, tmp_path / "model")
    options = ("--allow-updates", "--timeout", "1", "--max-body", "30000", "--queue", "2")
    service = Running(tmp_path / "model", *options)
    yield service
    service.process.kill()
    service.process.communicate()


def check_description(running: Running) -> None:
    """What the service says of itself is what it takes and answers."""
    status, described, _ = running.ask("/openapi.json", method="GET")
    assert (status, described["openapi"]) == (200, "3.1.0")

    def validator(path: str, *, answer: bool = False) -> jsonschema.Draft202012Validator:
        [operation] = described["paths"][path].values()
        content = operation["responses"]["200"] if answer else operation["requestBody"]
        schema = content["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    request = LIST | {"user": None, "session": "new"}
    validator("/rerank").validate(request)
    validator("/rerank", answer=True).validate(running.ask("/rerank", request)[1])
    for events in ([EVENT], [CLICK], [EVENT, CLICK]):
        validator("/update").validate({"events": events})
        validator("/update", answer=True).validate(running.ask("/update", {"events": events})[1])
    validator("/health", answer=True).validate(running.ask("/health", method="GET")[1])
    wrong_requests = [LIST | change for change in ({"time": -1}, {"results": []}, {"day": None}, {"reslts": 1})]
    wrong_events = [EVENT | change for change in ({"document": "11"}, {"list": None}, {"documents": [""]})]
    wrong_events += [CLICK | change for change in ({"document": None}, {"day": None}, {"time": None})]
    for path, wrong in (("/rerank", wrong_requests), ("/update", [{"events": [event]} for event in wrong_events])):
        for body in wrong:
            assert not validator(path).is_valid(body)
            assert running.ask(path, body)[0] == 400


def check_every_path_checks_the_host(running: Running) -> None:
    """Nothing is told to a page that gave this machine a name of its own."""
    for path in ("/rerank", "/update", "/health", "/openapi.json", "/docs", "/", "/health/", "//health"):
        for method in ("GET", "POST", "HEAD", "OPTIONS", "PUT"):
            for host in ("rebound.example", "rebound.example:80", "127.0.0.1.rebound.example", "0.0.0.0", ""):
                connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
                connection.request(method, path, None, {**JSON, "Host": host})
                answer = connection.getresponse()
                said = answer.read()
                connection.close()
                assert answer.status == 403, (path, method, host)
                assert method == "HEAD" or b"localhost" in said


def check_no_text_has_nul(running: Running) -> None:
    """In requests and events alike: every field that holds text, and every place of an array."""
    for body in (LIST | {"user": "7", "session": "new"}, EVENT, CLICK | {"user": "7"}):
        for name, value in body.items():
            wrong = (
                [[*value[:-1], f"{value[-1]}\0x"]] if isinstance(value, list) else ["\0", f"{value}\0", f"a\0{value}"]
            )
            for text in wrong if not isinstance(value, int) else ():
                path, sent = ("/rerank", body | {name: text}) if "results" in body else (
                    "/update", {"events": [body | {name: text}]})  # fmt: skip
                status, answer, _ = running.ask(path, sent)
                assert (status, "character NUL" in answer["error"]) == (400, True), (sent, answer)


def test_answers_and_refusals(running: Running, tmp_path: Path) -> None:
    """One service for all of it: to start one takes seconds."""
    status, answer, _ = running.ask("/rerank", LIST | {"user": "7", "session": "new"})
    assert status == 200
    assert sorted(answer["documents"]) == ["11", "12", "13"]
    assert set(answer) == {"documents", "scores", "order", "why", "changed"}
    assert running.ask("/update", {"events": [EVENT]})[:2] == (200, {"added": 1, "repeated": 0})
    assert running.ask("/update", {"events": [EVENT]})[:2] == (200, {"added": 0, "repeated": 1})
    assert running.ask("/health", method="GET")[:2] == (200, {"status": "ok", "updates": True, "waiting": 0})
    check_description(running)
    secret = "Zanzibar"
    refusals: list[tuple[int, str, tuple[int, Any, Any]]] = [
        (400, "did you mean results?", running.ask("/rerank", {"reslts": [secret]})),
        (400, "time is 'Zanzibar'; expected a whole number", running.ask("/rerank", LIST | {"time": secret})),
        (400, "query must be given", running.ask("/rerank", {"results": [secret], "time": 1})),
        (400, "results is 'Zanzibar'; expected an array", running.ask("/rerank", LIST | {"results": secret})),
        (400, "years away from the log's", running.ask("/rerank", LIST | {"day": 10**6})),
        (400, "key 'user' appears twice", running.ask("/rerank", b'{"user": "1", "user": "Zanzibar"}')),
        (400, "document must be given", running.ask("/update", {"events": [CLICK | {"document": None}]})),
        (404, "there are", running.ask("/rerank/", LIST)),
        (403, "localhost", running.ask("/rerank", LIST, Host="Zanzibar.example#localhost")),
        (400, "this is an event by itself", running.ask("/update", EVENT)),
        (400, "this is an array by itself", running.ask("/update", [EVENT])),
        (400, "expected an object", running.ask("/rerank", [secret])),
        (400, "the body is not JSON", running.ask("/rerank", b'{"query": Zanzibar')),
        (400, "the body is not JSON", running.ask("/rerank", b'{"time": NaN}')),
        (400, "the body is not JSON", running.ask("/rerank", b"[" * 20_000)),
        (400, "at most 1,000", running.ask("/rerank", LIST | {"results": ["z"] * 1001})),
        (400, "event 1 of 1: there is no key 'Zanzibar'", running.ask("/update", {"events": [EVENT | {secret: 1}]})),
        (400, "session 'new' is of user '7' and of user 'Zanzibar'",
         running.ask("/update", {"events": [EVENT | {"user": secret}]})),
        (400, "session 'new' is of user '7'", running.ask("/rerank", LIST | {"user": secret, "session": "new"})),
        (413, "more than 30,000 bytes", running.ask("/rerank", b" " * 30_001)),
        (415, "Content-Type: application/json", running.ask("/rerank", LIST, Content_Type="text/plain")),
        (403, "localhost", running.ask("/rerank", LIST, Host="Zanzibar.example")),
        (404, "/rerank, /update, /health, /openapi.json", running.ask(f"/{secret}?{secret}")),
        (405, "take POST", running.ask("/rerank", method="GET")),
    ]  # fmt: skip
    for status, message, (found, answer, _) in refusals:
        assert (found, list(answer)) == (status, ["error"])
        assert message in answer["error"]
    chunked = b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    # Too large without saying so, too slow in its body, in its headers, ended half-way, and not HTTP at all.
    large = running.raw(chunked + b"Transfer-Encoding: chunked\r\n\r\n7531\r\n" + b" " * 0x7531 + b"\r\n0\r\n\r\n")
    assert b" 413 " in large.split(b"\r\n")[0]
    started = time.monotonic()
    assert b" 408 " in running.raw(chunked + b"Content-Length: 99\r\n\r\n{").split(b"\r\n")[0]
    assert running.raw(b"POST /rerank HTTP/1.1\r\nHost: Zanzibar") == b""
    assert running.raw(b"") == b""
    assert time.monotonic() - started < 10
    assert b"200 OK" not in running.raw(chunked + b'Content-Length: 99\r\n\r\n{"Zanzibar"', end=True)
    assert b" 400 " in running.raw(b"Zanzibar\r\n\r\n").split(b"\r\n")[0]
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    assert b" 405 " in running.raw(chunked.replace(b"POST", b"GET") + upgrade + b"\r\n").split(b"\r\n")[0]
    second = subprocess.run(
        [sys.executable, "-m", "surefoot", "serve", str(tmp_path / "model"), "--port", "0"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (second.returncode, second.stderr.count("\n")) == (2, 1)
    assert "clicks.duckdb: is in use by another program" in second.stderr
    check_every_path_checks_the_host(running)
    check_no_text_has_nul(running)
    code, log = running.stop()
    assert code == 0
    assert secret not in log
    assert "pip install" not in log
    for line in (
        "400 /rerank not valid", "413 /rerank too large", "408 /rerank arrived too slowly", "404 another path",
        "408 headers arrived too slowly", "400 /rerank its sender ended before it was complete", "400 malformed HTTP",
        "403 /rerank another host's name",
    ):  # fmt: skip
        assert line in log, log


@pytest.mark.heavy
def test_a_queue_that_is_full_and_an_end_while_requests_wait(running: Running) -> None:
    """Some of many requests at once are told to come again; what waits at the end is answered."""
    answers: list[tuple[int, Any, Any]] = []

    def ask(number: int) -> None:
        many = [f"{number} {document}" for document in range(400)]
        answers.append(running.ask("/rerank", LIST | {"results": many, "domains": ["1"] * 400}))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = [status for status, _, _ in answers]
    assert set(statuses) <= {200, 503, 504}, answers
    assert 200 in statuses
    assert 503 in statuses
    assert {headers["Retry-After"] for status, _, headers in answers if status == 503} == {"1"}
    answers.clear()
    last = threading.Thread(target=ask, args=(9,))
    last.start()
    while last.is_alive() and not running.ask("/health", method="GET")[1]["waiting"]:
        pass
    assert running.stop()[0] == 0
    last.join()
    assert [status for status, _, _ in answers] in ([200], [504])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_token_and_no_updates(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    service = Running(tmp_path / "model", token="a-token")
    assert service.ask("/rerank", LIST)[0] == 401
    assert service.ask("/rerank", LIST, Authorization="Bearer a-tokem")[0] == 401
    assert service.ask("/rerank", LIST, Authorization="Bearer ä")[0] == 401
    assert service.ask("/rerank", LIST, Authorization="bearer a-token", Host="shop.example")[0] == 200
    with sf.PersonalRanker.load(tmp_path / "model", read_only=True) as beside:  # without updates it only reads
        assert len(beside.rerank(None, **LIST).documents) == 3
    assert service.ask("/update", {"events": []}, Authorization="Bearer a-token")[:2] == (
        403, {"error": "this service takes no updates; start it with --allow-updates"},
    )  # fmt: skip
    assert service.ask("/health", method="GET")[0] == 200
    code, log = service.stop()
    assert code == 0
    assert "401 /rerank not authorised" in log
    assert "tokem" not in log


def test_later_events_do_not_change_which_times_are_meant(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    spans = []
    for _ in range(2):
        with sf.PersonalRanker.load(tmp_path / "model") as ranker:
            spans.append(ranker._state._live().store.span)
            ranker.update(EVENT | {"day": 30 + 365 * 90, "session": "later"})
            with pytest.raises(ArgumentError, match="years away from the log's"):
                ranker.update(EVENT | {"day": 30 + 365 * 110, "session": "too late"})
    assert spans[0] == spans[1] is not None


@pytest.mark.parametrize(
    "sent", [b"", b"POST /rerank HTTP/1.1\r\nHost: loc", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"]
)
def test_idle_connections_keep_nobody_out(running: Running, sent: bytes) -> None:
    """700 of one peer that sent nothing, half a request, or a whole one and stay: it is answered all the same."""
    idle = []
    try:
        for _ in range(700):
            idle.append(socket.create_connection(("127.0.0.1", running.port), timeout=20))
            idle[-1].sendall(sent)
        for peer in ("127.0.0.1", "127.0.0.2"):
            assert running.ask("/rerank", LIST, peer=peer)[0] == 200
    finally:
        for connection in idle:
            connection.close()


def test_one_peer_leaves_room_for_others(model: Path, tmp_path: Path) -> None:
    """Requests whose bodies never come are ended in time; until then they count, for their peer alone."""
    shutil.copytree(model, tmp_path / "model")
    running = Running(tmp_path / "model", "--timeout", "30", "--queue", "2")
    head = b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    waiting = []
    try:
        for _ in range(700):
            waiting.append(socket.create_connection(("127.0.0.1", running.port), timeout=20))
            waiting[-1].sendall(head)
            status, answer, headers = running.ask("/health", method="GET")
            if status != 200:
                break
        assert (status, headers["Retry-After"]) == (503, "1")
        assert len(waiting) >= 251
        assert answer == {"error": "more than 251 connections from one address are open; try again later"}
        assert running.ask("/rerank", LIST, peer="127.0.0.2")[0] == 200
    finally:
        for connection in waiting:
            connection.close()
        running.process.kill()
        running.process.communicate()


def test_too_many_connections() -> None:
    async def ask(connections: Connections, peer: str) -> list[Any]:
        sent: list[Any] = []

        async def application(scope: Any, receive: Any, send: Any) -> None:
            await send("answered")

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "path": "/rerank", "headers": [], "query_string": b"", "server": ("localhost", 1),
            "client": (peer, 1),
        }  # fmt: skip
        await bounded(application, connections)(scope, None, send)  # type: ignore[arg-type]
        return sent

    def busy(peer: str) -> Connection:
        return Connection(peer, lambda: False, pytest.fail)

    connections = Connections(6)
    opened = [busy(peer) for peer in ("a", "a", "a", "b", "b", "c")]
    for connection in opened:
        connections.add(connection)
    assert awaited(ask(connections, "a")) == ["answered"]
    connections.add(busy("a"))
    start, body = awaited(ask(connections, "a"))
    assert (start["status"], dict(start["headers"])[b"retry-after"]) == (503, b"1")
    assert json.loads(body["body"]) == {"error": "more than 3 connections from one address are open; try again later"}
    _, body = awaited(ask(connections, "b"))
    assert json.loads(body["body"]) == {"error": "more than 6 connections are open; try again later"}
    for connection in opened[:2]:
        connections.remove(connection)
        connections.remove(connection)  # one that was closed to make room ends once more
    assert awaited(ask(connections, "a")) == awaited(ask(connections, "b")) == ["answered"]


@pytest.mark.parametrize("peers", [["a"] * 40, [f"p{number}" for number in range(40)]])
def test_the_oldest_idle_connection_makes_room(peers: list[str]) -> None:
    connections = Connections(6)
    closed: list[int] = []
    for number, peer in enumerate(peers):
        connections.add(Connection(peer, lambda: True, lambda number=number: closed.append(number)))  # type: ignore[misc]
        assert connections.refusal(peer) is None
    assert closed == list(range(len(peers) - (3 if len(set(peers)) == 1 else 6)))


def test_a_session_has_a_bound(running: Running, tmp_path: Path) -> None:
    """Over HTTP and in Python alike; what is known already may come again, and other sessions go on."""
    click = {name: value for name, value in CLICK.items() if name != "document"}
    running.stop()
    many = [click | {"session": "long", "document": f"d{number}"} for number in range(MOST_OF_SESSION)]
    said = "session 'long' would have 10,001 events, and a session has at most 10,000; begin a new session"
    with sf.PersonalRanker.load(tmp_path / "model") as ranker:
        with pytest.raises(DataError, match="at most 10,000"):
            ranker.update([*many, many[0] | {"document": "one more"}])
        assert ranker.update(many) == {"added": MOST_OF_SESSION, "repeated": 0}
        with pytest.raises(DataError, match="at most 10,000"):
            ranker.update(EVENT | {"session": "long"})
        assert ranker.update(many[:3]) == {"added": 0, "repeated": 3}
        assert ranker.update(many[0] | {"session": "other"}) == {"added": 1, "repeated": 0}
    service = Running(tmp_path / "model", "--allow-updates")
    try:
        status, answer, _ = service.ask("/update", {"events": [many[0] | {"document": "one more"}]})
        assert status == 400
        assert said in answer["error"]
        assert service.ask("/update", {"events": many[:1]})[:2] == (200, {"added": 0, "repeated": 1})
    finally:
        service.stop()


def test_what_takes_too_long(model: Path) -> None:
    with sf.PersonalRanker.load(model) as ranker:
        service = RerankingService(ranker, ServiceSettings(seconds=0.2, queue=1))
        application = service.application()

        async def ask() -> int:
            sent: list[Any] = []
            headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
            scope = {"type": "http", "method": "POST", "path": "/rerank", "headers": headers, "query_string": b"",
                     "http_version": "1.1", "scheme": "http", "server": ("localhost", 1), "root_path": ""}  # fmt: skip

            async def receive() -> Any:
                return {"type": "http.request", "body": json.dumps(LIST).encode(), "more_body": False}

            async def send(message: Any) -> None:
                sent.append(message)

            await application(scope, receive, send)
            return int(sent[0]["status"])

        async def all_of_it() -> list[int]:
            live = ranker._state._live()
            locked, free = threading.Event(), threading.Event()

            def hold() -> None:
                with live.lock:
                    locked.set()
                    free.wait()

            holding = threading.Thread(target=hold)
            holding.start()
            locked.wait()
            first = [await ask(), await ask()]  # the one that is not answered in time still takes its place
            free.set()
            holding.join()
            for _ in range(100):
                await asyncio.sleep(0.05)
                if not service._worker.waiting:
                    break
            return [*first, await ask()]

        assert awaited(all_of_it()) == [504, 503, 200]


def test_the_request_that_it_prints_is_answered(running: Running) -> None:
    options = shlex.split(running.to_try)
    assert options[:2] == ["curl", f"http://127.0.0.1:{running.port}/rerank"]
    status, answer, _ = running.ask("/rerank", options[options.index("-d") + 1].encode())
    assert (status, sorted(answer["documents"])) == (200, ["d1", "d2"])
