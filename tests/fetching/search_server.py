"""A search service on the loopback, which answers as the documentation of Elasticsearch, OpenSearch and Solr has it.

Documents are ranked by how many of the query's words they hold; equal ones in the order of the index. `faults` are
done to the next requests, one each, instead of or to their answers.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

DOCUMENTS = {f"d{number:03}": " ".join(["goat"] * (number % 7 + 1) + [f"w{number % 3}"]) for number in range(60)}
Fault = Callable[["Handler"], bool]  # whether it has answered


class SearchServer(ThreadingHTTPServer):
    """The service; `requests` are those that came, each its path, headers and body."""

    daemon_threads = True

    def __init__(self, documents: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.documents = documents
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.times: list[float] = []
        self.delay = 0.0
        self.change: Callable[[dict[str, Any]], Any] | None = None  # what becomes of every answer

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/shop"

    def ranked(self, text: str) -> list[tuple[str, float]]:
        words = text.lower().split()
        scores = {key: float(sum(document.split().count(word) for word in words))
                  for key, document in self.documents.items()}  # fmt: skip
        return [(key, scores[key]) for key in sorted(scores, key=lambda key: -scores[key]) if scores[key] > 0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away in the middle are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: SearchServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every answer would take 40 ms

    def log_message(self, format: str, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), self.body))
        self.server.times.append(time.monotonic())
        time.sleep(self.server.delay)
        if self.server.faults and self.server.faults.pop(0)(self):
            return
        answer = self.answer()
        self.send(200, answer if self.server.change is None else self.server.change(answer))

    def answer(self) -> dict[str, Any]:
        path = urlsplit(self.path)
        return solr_answer(self.server, self.body) if path.path.startswith("/solr/") else elastic_answer(
            self.server, self.body
        )  # fmt: skip

    def send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> bool:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        own = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in {**own, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        return True

    @property
    def parameters(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)


def elastic_answer(server: SearchServer, body: dict[str, Any]) -> dict[str, Any]:
    found = server.ranked(body["query"]["match"]["title"])
    by_field = "sort" in body
    if by_field:
        assert body["sort"] == [{"_score": "desc"}, {"sku": "asc"}]
        found = sorted(found, key=lambda pair: (-pair[1], pair[0]))
    after = body.get("search_after")
    if after is not None:
        assert "from" not in body
        found = [pair for pair in found if (-pair[1], pair[0]) > (-after[0], after[1])]
    first = body.get("from", 0)
    if first + body["size"] > 10_000:
        raise AssertionError("beyond the window")
    rows = []
    for key, score in found[first : first + body["size"]]:
        row: dict[str, Any] = {"_index": "shop", "_id": key, "_score": score}
        if by_field:
            row |= {"sort": [score, key]}
            row["_score"] = score if body.get("track_scores") else None
        if body.get("_source") is not False:
            row["_source"] = {"product": {"sku": f"sku-{key}"}}
        rows.append(row)
    return {
        "took": 3, "timed_out": False, "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(found), "relation": "eq"}, "max_score": None, "hits": rows},
    }  # fmt: skip


def solr_answer(server: SearchServer, body: dict[str, Any]) -> dict[str, Any]:
    found = server.ranked(body["query"])
    rows = found[body["offset"] : body["offset"] + body["limit"]]
    fields = body.get("fields", ["id"])
    names = {"id": lambda key, score: key, "score": lambda key, score: score, "sku": lambda key, score: [f"sku-{key}"]}
    docs = [{name: names[name](key, score) for name in fields} for key, score in rows]
    return {
        "responseHeader": {"status": 0, "QTime": 2},
        "response": {"numFound": len(found), "start": body["offset"], "numFoundExact": True, "docs": docs},
    }


def status(code: int, answer: Any = None, **headers: str) -> Fault:
    """Answer with a status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(code, {} if answer is None else answer, named)


def truncated(handler: Handler) -> bool:
    """Announce a whole answer, send half of it, and hang up."""
    data = json.dumps(handler.answer()).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True
    return True


def truncated_unannounced(handler: Handler) -> bool:
    """The same without a length: only the JSON shows that something is missing."""
    data = json.dumps(handler.answer()).encode()
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True
    return True


def dripping(handler: Handler) -> bool:
    """Send a byte now and then: no single wait is long, the whole is."""
    data = json.dumps(handler.answer()).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    for number in range(len(data)):
        handler.wfile.write(data[number : number + 1])
        handler.wfile.flush()
        time.sleep(0.2)
    handler.close_connection = True
    return True


def silent(seconds: float) -> Fault:
    """Answer late."""
    return lambda handler: bool(time.sleep(seconds))


def hanging_up(handler: Handler) -> bool:
    """Close the connection without an answer."""
    handler.close_connection = True
    return True


@contextmanager
def serving(documents: dict[str, str] | None = None) -> Iterator[SearchServer]:
    """The service, for as long as it is needed."""
    with SearchServer(documents or DOCUMENTS) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
