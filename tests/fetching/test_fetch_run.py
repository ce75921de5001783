"""Runs fetched from a service on the loopback: in the service's own order, or an error that names the query."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from tests.fetching import search_server
from tests.fetching.search_server import SearchServer, serving, status

import surefoot as sf
from surefoot.errors import ArgumentError, DataError, MissingExtraError
from surefoot.fetching import client
from surefoot.fetching.client import FetchError
from surefoot.fetching.services import Hit

QUERIES = {"q1": "goat", "q2": "w1", "q3": "goat w2", "q4": "nothing"}
ELASTIC = {"query": {"match": {"title": "{{query}}"}}}
SOLR = {"query": "{{query}}"}
SECRET = "correct-horse-battery"


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.01)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def fetched(server: SearchServer, service: str = "elasticsearch", **options: Any) -> sf.Run:
    path = "solr/shop" if service == "solr" else "shop"
    url = f"http://127.0.0.1:{server.server_port}/{path}"
    return sf.fetch(service, url, QUERIES, SOLR if service == "solr" else ELASTIC, **options)


def nested(levels: int) -> list[Any]:
    """A text in a list in a list and so on."""
    inner: Any = "{{query}}"
    for _ in range(levels):
        inner = [inner]
    return inner


def in_order(run: sf.Run) -> dict[str, list[str]]:
    return {query: list(documents) for query, documents in run.to_dict().items()}


def expected(server: SearchServer, depth: int) -> dict[str, list[str]]:
    lists = {query: [key for key, _ in server.ranked(text)[:depth]] for query, text in QUERIES.items()}
    return {query: documents for query, documents in lists.items() if documents}


@pytest.mark.parametrize("service", ["elasticsearch", "opensearch", "solr"])
@pytest.mark.parametrize(("depth", "page_size"), [(100, 1000), (10, 10), (25, 7), (60, 1), (60, 60), (61, 20)])
def test_the_order_of_the_service_at_any_depth(server, service: str, depth: int, page_size: int) -> None:
    run = fetched(server, service, depth=depth, page_size=page_size)
    assert in_order(run) == expected(server, depth)
    own = {query: dict(server.ranked(text)) for query, text in QUERIES.items()}
    assert all(
        abs(score - own[query][key]) < 1e-12 for query, row in run.to_dict().items() for key, score in row.items()
    )


def test_what_is_asked_of_elasticsearch(server) -> None:
    fetched(server, depth=25, page_size=20)
    path, headers, body = server.requests[1]
    assert path == "/shop/_search?allow_partial_search_results=false&preference=surefoot-q1"
    assert headers["Content-Type"] == "application/json"
    assert body == {"query": {"match": {"title": "goat"}}, "size": 5, "from": 20, "_source": False}


def test_what_is_asked_of_solr(server) -> None:
    fetched(server, "solr", depth=25, page_size=20)
    path, _, body = server.requests[1]
    assert path == "/solr/shop/select?wt=json"
    assert body == {"query": "goat", "offset": 20, "limit": 5, "fields": ["id", "score"]}


def test_parameters_of_the_url_stay(server) -> None:
    url = f"{server.url}/_search?search_pipeline=a%26b&preference=mine"
    sf.fetch("opensearch", url, {"q1": "goat"}, ELASTIC, depth=3, page_size=2)
    assert server.requests[0][0].startswith("/shop/_search?search_pipeline=a%26b&preference=mine&allow_partial")


@pytest.mark.parametrize(("service", "field"), [("opensearch", "product.sku"), ("solr", "sku")])
def test_ids_from_a_field(server, service: str, field: str) -> None:
    run = fetched(server, service, id_field=field, depth=3)
    assert in_order(run) == {query: [f"sku-{key}" for key in keys] for query, keys in expected(server, 3).items()}


def test_a_tiebreak_goes_beyond_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = {f"d{number:05}": "goat" for number in range(12_000)}
    with serving(documents) as server:
        options = {"depth": 11_000, "page_size": 5000, "tiebreak": "sku"}
        run = sf.fetch("elasticsearch", server.url, {"q1": "goat"}, ELASTIC, **options)
        assert in_order(run)["q1"] == list(documents)[:11_000]
        assert [body["size"] for _, _, body in server.requests] == [5000, 5000, 1000]
        with pytest.raises(ArgumentError, match="beyond the window of 10,000"):
            sf.fetch("elasticsearch", server.url, {"q1": "goat"}, ELASTIC, depth=11_000)


def test_a_tiebreak_that_does_not_break_ties(server) -> None:
    def same(answer: Any) -> Any:
        for row in answer["hits"]["hits"]:
            row["sort"] = [1.0, "x"]
        return answer

    server.change = same
    with pytest.raises(FetchError, match=r"query 'q1'.*same value of sku"):
        fetched(server, tiebreak="sku")


def test_any_text_of_a_query_stays_a_text(server) -> None:
    text = 'say "x" goat \\ {{query}} \u2028 %'
    sf.fetch("elasticsearch", server.url, {"q1": text}, ELASTIC)
    assert server.requests[0][2]["query"]["match"]["title"] == " ".join(text.split())


def test_queries_that_have_no_result_are_left_out(server) -> None:
    assert "q4" not in fetched(server).queries
    with pytest.raises(DataError, match="no query has a result"):
        sf.fetch("solr", server.url.replace("/shop", "/solr/shop"), {"q4": "nothing"}, SOLR)


def test_equal_scores_keep_their_order() -> None:
    from surefoot.fetching.fetched_run import _with_scores

    hits = [Hit("a", 2.0), Hit("c", 2.0), Hit("b", 2.0), Hit("z", 2.0), Hit("y", -1.0), Hit("x", -1.0), Hit("w", -1.0)]
    run = sf.read_run({"q": {hit.document: hit.score for hit in _with_scores(hits, "q", by_position=False)}})
    assert run.documents().to_list() == ["a", "c", "b", "z", "y", "x", "w"]
    assert [hit.score for hit in _with_scores(hits[4:], "q", by_position=False)] == [-1.0, -1.0, -1.0]


# What goes wrong, and comes right


@pytest.mark.parametrize(
    "fault",
    [status(429), status(503, {"error": {"reason": "busy"}}), status(502, b"<html>"), status(429, Retry_After="0"),
     status(503, Retry_After="soon"), search_server.truncated, search_server.truncated_unannounced,
     search_server.hanging_up,
     lambda handler: handler.send(200, handler.answer() | {"timed_out": True}),
     lambda handler: handler.send(200, handler.answer() | {"_shards": {"total": 2, "failed": 1}}),
     lambda handler: handler.send(200, handler.answer() | {"_clusters": {"skipped": 1}})],
)  # fmt: skip
def test_what_passes_is_tried_again(server, fault: Any) -> None:
    plain = fetched(server).to_dict()
    asked = len(server.requests)
    server.faults = [fault, fault]
    assert fetched(server).to_dict() == plain
    assert len(server.requests) == 2 * asked + 2


def test_solr_s_partial_results_are_tried_again(server) -> None:
    def partial(handler: Any) -> bool:
        answer = handler.answer()
        answer["responseHeader"]["partialResults"] = True
        return handler.send(200, answer)

    server.faults = [partial]
    assert in_order(fetched(server, "solr")) == expected(server, 100)
    server.faults = [partial] * 3
    with pytest.raises(FetchError, match=r"query 'q1': .*partialResults.*\(3 tries\); run the same command again"):
        fetched(server, "solr", retries=2)


def test_retry_after_is_heeded(server) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.faults = [status(429, Retry_After="1"), status(503, Retry_After=later)]
    fetched(server)
    assert server.times[1] - server.times[0] >= 1
    assert server.times[2] - server.times[0] >= 1  # a date has whole seconds, so its two are at least one
    server.faults = [status(503, Retry_After="86400")]
    with pytest.raises(FetchError, match="wait 86,400 seconds; run the same command again then"):
        fetched(server)


def test_waits_grow(server, monkeypatch) -> None:
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.1)
    server.faults = [status(503)] * 3
    fetched(server)
    waits = [after - before for before, after in zip(server.times[:3], server.times[1:4], strict=True)]
    assert all(wait >= least for wait, least in zip(waits, (0.1, 0.2, 0.4), strict=True)), waits


def test_a_rate_is_kept(server) -> None:
    fetched(server, rate=20)
    gaps = [after - before for before, after in zip(server.times, server.times[1:], strict=False)]
    assert len(gaps) == 3
    assert server.times[-1] - server.times[0] >= 3 * 0.05 * 0.9


# What is refused


def refused(server: SearchServer, service: str = "elasticsearch", **options: Any) -> str:
    with pytest.raises(FetchError) as caught:
        fetched(server, service, retries=options.pop("retries", 0), **options)
    message = str(caught.value)
    assert "query 'q1'" in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (status(400, {"error": {"root_cause": [{"reason": "no field [titel]"}], "type": "x"}, "status": 400}),
         "status 400: no field [titel]"),
        (status(404, {"error": {"msg": "no such core"}}), "status 404: no such core"),
        (status(401, b"Unauthorized"), "--user-env or --header-env"),
        (status(500, b""), "status 500"),
        (status(200, b"<html>a login page"), "is not JSON; it begins with '<html>a login page'"),
        (status(200, {"error": {"reason": "odd"}}), "it is an error: odd"),
        (status(200, []), "it is []; expected an object"),
        (status(200, {"timed_out": False, "hits": {"hits": []}}), "how many shards answered"),
        (status(200, {"_shards": {"failed": 0}, "took": 1}), "it has no hits.hits, but _shards, took"),
        (status(200, {"_shards": {"failed": 0}, "hits": {"hits": [7]}}), "hits.hits[0] is 7"),
        (status(200, {"_shards": {"failed": 0}, "hits": {"hits": [{"_score": 1}]}}), "has no id: its _id is None"),
        (status(200, {"_shards": {"failed": 0}, "hits": {"hits": [{"_id": "a", "_score": "1"}]}}), "the score '1'"),
        (status(200, {"_shards": {"failed": 0}, "hits": {"hits": [{"_id": "a", "_score": 1}] * 2}}),
         "document 'a' appears twice (positions 1 and 2)"),
        (status(302, Location="https://user:pw@elsewhere.example/x?token=1"), "redirects to elsewhere.example"),
        (status(308, Location="/other"), "redirects to another path"),
        (search_server.truncated, "the answer broke off"),
        (search_server.truncated_unannounced, "the answer broke off"),
    ],
)  # fmt: skip
def test_answers_that_are_refused(server, fault: Any, words: str) -> None:
    server.faults = [fault]
    message = refused(server)
    assert words in message
    assert "pw" not in message
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [search_server.dripping, search_server.silent(60)])
def test_slow_answers(server, fault: Any) -> None:
    """They are not waited for: both take longer than any machine needs to give up."""
    server.faults = [fault]
    start = time.monotonic()
    assert "no whole answer came within 0.3 seconds" in refused(server, timeout=0.3)
    assert time.monotonic() - start < 15


def test_more_results_than_requested(server) -> None:
    server.change = lambda answer: answer | {"hits": {"hits": [{"_id": str(n), "_score": 1} for n in range(9)]}}
    assert "it has 9 results, but 3 were requested" in refused(server, depth=3)


def test_a_document_on_two_pages(server) -> None:
    server.change = lambda answer: answer | {"hits": {"hits": [{"_id": "a", "_score": 1}]}}
    assert "the index may have changed between two pages" in refused(server, depth=2, page_size=1)


@pytest.mark.parametrize("scores", [[None], [1.0, 2.0]])
def test_scores_that_cannot_be_a_run_s(server, scores: list[Any]) -> None:
    rows = [{"_id": str(n), "_score": score} for n, score in enumerate(scores)]
    server.change = lambda answer: answer | {"hits": {"hits": rows}}
    with pytest.raises(DataError, match=r"query 'q1'.*--score-by position"):
        fetched(server)
    assert fetched(server, score_by="position").to_dict()["q1"] == {str(n): -n - 1.0 for n in range(len(scores))}


def test_a_service_that_is_not_there(server) -> None:
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(FetchError, match="cannot be reached"):
        sf.fetch("solr", url, QUERIES, SOLR, retries=1)


def asked_by_command(server: SearchServer, tmp_path: Path) -> list[str]:
    """The command that asks the service one query."""
    (tmp_path / "queries.tsv").write_text("q1\tgoat\n")
    (tmp_path / "body.json").write_text(json.dumps(ELASTIC))
    return ["fetch", "--service", "elasticsearch", "--url", f"{server.url}?api_key={SECRET}", "--queries",
            str(tmp_path / "queries.tsv"), "--body", str(tmp_path / "body.json"), "-o",
            str(tmp_path / "new.run")]  # fmt: skip


def test_each_try_that_fails_is_told(server, tmp_path: Path, surefoot) -> None:
    line = asked_by_command(server, tmp_path)
    server.shutdown()
    server.server_close()
    shown = f"surefoot: {server.url}/_search, query 'q1': cannot be reached ([Errno 111] Connection refused)"
    shown = shown.replace("111", str(errno.ECONNREFUSED))
    code, _, err = surefoot(*line, "--retries", "2")
    assert code == 2
    assert err.splitlines() == [
        f"{shown}; this was try 1 of 3, the next is in 0.01 seconds",
        f"{shown}; this was try 2 of 3, the next is in 0.02 seconds",
        f"{shown} (3 tries); run the same command again to go on from here",
    ]
    assert len(surefoot(*line, "--retries", "2", "--quiet")[2].splitlines()) == 1


def test_what_is_told_of_a_try_has_no_secret(server, tmp_path: Path, monkeypatch, surefoot) -> None:
    monkeypatch.setenv("LOGIN", f"ann:{SECRET}")
    server.faults = [status(503, {"error": {"reason": f"busy {SECRET}"}}, Retry_After="0")]
    code, out, err = surefoot(*asked_by_command(server, tmp_path), "--user-env", "LOGIN")
    assert code == 0, err
    assert "answers with status 503: busy ***; this was try 1 of 6, the next is at once" in err
    assert SECRET not in out + err


def test_https_to_a_port_of_plain_http(server) -> None:
    with pytest.raises(FetchError, match=r"this port answers without encryption, so https cannot be used .*http://"):
        sf.fetch("opensearch", server.url.replace("http:", "https:"), QUERIES, ELASTIC)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"service": "elastic"}, "is not a service; choose one of elasticsearch, opensearch, solr; did you mean"),
        ({"url": "ftp://localhost/x"}, "must begin with http:// or https://"),
        ({"url": "localhost:9200"}, "must begin with http:// or https://"),
        ({"url": "http://h:x/y"}, "cannot be read"),
        ({"url": "http://h/_search/template"}, "not supported"),
        ({"url": "https://h:9200"}, "https://h:9200/_search names no index; write https://h:9200/INDEX, or _all"),
        ({"url": "https://h:9200/_search?key=x"}, "https://h:9200/_search names no index; write https://h:9200/INDEX,"),
        ({"service": "solr", "url": "http://h:8983/"}, "http://h:8983/select names no collection"),
        ({"service": "solr", "url": "http://h:8983/solr/#/shop"}, "write http://h:8983/solr/COLLECTION"),
        ({"service": "solr", "url": "http://h:8983/solr/query"}, "http://h:8983/solr/query names no collection"),
        ({"body": {"query": "{{query}}", "size": 5}}, "the body has size, which surefoot sets itself"),
        ({"body": {"query": "goat"}}, "no text in it contains {{query}}"),
        ({"body": {"query": nested(101)}}, "it is nested in more than 100 levels"),
        ({"body": {"query": nested(5_000)}}, "cannot be sent as JSON"),
        ({"body": ["{{query}}"]}, "expected a JSON object"),
        ({"body": {"query": "{{query}}", "x": float("nan")}}, "cannot be sent as JSON"),
        ({"queries": {}}, "there are no queries"),
        ({"queries": {"q1": " "}}, "query 'q1' has no text"),
        ({"queries": {"a b": "x"}}, "the query id 'a b' cannot be written in a TREC line"),
        ({"depth": 0}, "depth is 0"),
        ({"page_size": 10_001}, "page_size is 10,001"),
        ({"rate": 0}, "rate is 0; it must be a number above 0"),
        ({"timeout": float("inf")}, "timeout is inf"),
        ({"retries": -1}, "retries is -1"),
        ({"score_by": "both"}, "choose service or position"),
        ({"ca_file": "none.pem"}, "none.pem: cannot be used as a file of authorities"),
        ({"header_env": {"Host": "X"}}, "is set by surefoot"),
        ({"header_env": {"a b": "X"}}, "is not the name of a header"),
        ({"header_env": {"A": "NOT_SET"}}, "environment variable NOT_SET, for the header A, is not set"),
        ({"user_env": "NOT_SET"}, "environment variable NOT_SET"),
        ({"service": "solr", "tiebreak": "id"}, "Solr gives any depth without it"),
        ({"service": "solr", "body": {"query": "{{query}}", "params": {"rows": 5}}}, "the body has params.rows"),
    ],
)  # fmt: skip
def test_what_is_refused_before_anything_is_asked(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    options = {"service": "opensearch", "url": "http://127.0.0.1:9/x", "queries": QUERIES, "body": ELASTIC}
    with pytest.raises(sf.SurefootError) as caught:
        sf.fetch(**options | {"output": tmp_path / "new.run"} | change)
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_ids_that_no_line_can_hold_are_refused_at_once(server, tmp_path: Path) -> None:
    server.documents = {"a b": "goat w1"}
    with pytest.raises(DataError, match=r"the document id 'a b' cannot be written in a TREC line"):
        fetched(server, output=tmp_path / "new.run")
    assert len(server.requests) == 1
    assert list(tmp_path.iterdir()) == []
    assert sf.read_run(tmp_path / "new.json" if fetched(server, output=tmp_path / "new.json") else "").to_dict()


# Secrets


def test_credentials_are_sent_and_never_told(server, tmp_path: Path, monkeypatch, recwarn) -> None:
    monkeypatch.setenv("KEY", f"ApiKey {SECRET}")
    monkeypatch.setenv("LOGIN", f"ann:{SECRET}")
    fetched(server, header_env={"Authorization": "KEY"}, output=tmp_path / "a.run")
    assert server.requests[-1][1]["Authorization"] == f"ApiKey {SECRET}"
    fetched(server, user_env="LOGIN")
    assert server.requests[-1][1]["Authorization"].startswith("Basic ")
    server.faults = [echoing]
    message = refused(server, user_env="LOGIN")
    assert SECRET not in message
    assert server.requests[-1][1]["Authorization"].split()[1] not in message
    for padding in range(15, 40, 4):
        server.faults = [status(200, ["z" * padding + SECRET + "z" * 50])]
        assert not shows_part(refused(server, user_env="LOGIN"))
    for padding in range(80, 100, 4):
        server.faults = [status(400, {"error": {"reason": "z" * padding + SECRET + "z" * 900}})]
        assert not shows_part(refused(server, user_env="LOGIN"))
    assert not recwarn.list


def shows_part(message: str) -> bool:
    """Whether a message has a part of the secret, which it would have where it leaves out the middle of a text."""
    return any(SECRET[at : at + 6] in message for at in range(len(SECRET) - 5))


def echoing(handler: search_server.Handler) -> bool:
    """Tell the client what it has sent."""
    said = f"x {handler.headers['Authorization']} ann:{SECRET}"
    return handler.send(400, {"error": {"reason": f"{said} {'y' * 200}"}})


@pytest.mark.parametrize("value", [f"x\n{SECRET}", f"{SECRET}é", f"\x7f{SECRET}"])
def test_a_value_that_is_no_header_is_refused_without_it(monkeypatch, value: str) -> None:
    monkeypatch.setenv("KEY", value)
    with pytest.raises(ArgumentError, match="environment variable KEY") as caught:
        sf.fetch("solr", "http://localhost/x", QUERIES, SOLR, header_env={"X": "KEY"})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", [f"http://ann:{SECRET}@localhost/x", f"http://{SECRET}@localhost/x",
                                 f"http:ann:{SECRET}@localhost", f"http://ann:{SECRET}@[::1/x"])  # fmt: skip
def test_a_url_with_a_password_is_refused_without_it(url: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        sf.fetch("solr", url, QUERIES, SOLR)
    assert SECRET not in str(caught.value)


def test_a_password_without_encryption_is_warned_of(monkeypatch) -> None:
    monkeypatch.setenv("LOGIN", f"ann:{SECRET}")
    with pytest.warns(sf.SurefootWarning, match="without encryption"), pytest.raises(FetchError):
        sf.fetch("solr", "http://192.0.2.1:9/x", QUERIES, SOLR, user_env="LOGIN", timeout=0.2, retries=0)


def test_no_secret_on_disk_or_in_any_line(server, tmp_path: Path, monkeypatch, surefoot) -> None:
    """Also where a fetch is interrupted, whose folder stays."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGIN", f"ann:{SECRET}")
    monkeypatch.setenv("KEY", SECRET)
    Path("queries.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in QUERIES.items()))
    Path("body.json").write_text(json.dumps(ELASTIC))
    line = ["fetch", "--service", "opensearch", "--url", f"{server.url}?api_key={SECRET}", "--queries", "queries.tsv",
            "--body", "body.json", "--user-env", "LOGIN", "--header-env", "X-Key=KEY", "-o", "new.run"]  # fmt: skip
    server.faults = [lambda handler: False, lambda handler: handler.send(403, {"error": {"reason": SECRET}})]
    code, out, err = surefoot(*line)
    assert code == 2
    assert "query 'q2'" in err
    assert Path("new.run.fetch").is_dir()
    stored = "".join(path.read_text() + path.name for path in Path("new.run.fetch").rglob("*") if path.is_file())
    assert SECRET not in stored + out + err
    code, out, err = surefoot(*line)
    assert (code, err.count(SECRET), out.count(SECRET)) == (0, 0, 0)
    assert "1 of the queries were fetched before" in out
    assert "1 queries have no results: q4" in out
    assert not Path("new.run.fetch").exists()


# TLS


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of its own authority for 127.0.0.1, and its key."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    if shutil.which("openssl") is None:
        # A contributor may lack it; a build that lets certificates go unchecked must not pass.
        (pytest.fail if os.environ.get("CI") else pytest.skip)("openssl, which makes the certificate, is not installed")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], capture_output=True, check=True,
    )  # fmt: skip
    return cert, key


def test_certificates_are_checked(server, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    with pytest.raises(FetchError, match=r"cannot be reached .*--ca-file"):
        sf.fetch("opensearch", url, QUERIES, ELASTIC, retries=0)
    run = sf.fetch("opensearch", url, QUERIES, ELASTIC, ca_file=cert)
    assert in_order(run) == expected(server, 100)


# Going on


def test_a_stopped_fetch_goes_on_and_ends_with_the_same_file(server, tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole.run", tmp_path / "new.run"
    fetched(server, output=whole, name="new")
    for number in range(len(QUERIES)):
        before = len(server.requests)
        server.faults = [lambda handler: False] * min(number, 1) + [status(400)]
        with pytest.raises(FetchError):
            fetched(server, output=stopped)
        assert len(server.requests) == before + 1 + min(number, 1)
        assert not stopped.exists()
    fetched(server, output=stopped)
    assert stopped.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.run", "whole.run"]


def test_another_body_or_depth_is_fetched_anew(server, tmp_path: Path) -> None:
    output = tmp_path / "new.run"
    server.faults = [lambda handler: False, status(400)]
    with pytest.raises(FetchError):
        fetched(server, output=output)
    before = len(server.requests)
    fetched(server, output=output, depth=3)
    assert len(server.requests) == before + len(QUERIES)
    assert in_order(sf.read_run(output)) == expected(server, 3)


def test_one_fetch_at_a_time(server, tmp_path: Path) -> None:
    from surefoot.fetching.fetched_run import FetchedAnswers

    with FetchedAnswers(tmp_path / "new.run", {}).lock(), pytest.raises(DataError, match="another fetch is working"):
        fetched(server, output=tmp_path / "new.run")


def test_a_folder_of_other_files_is_refused(server, tmp_path: Path) -> None:
    (tmp_path / "new.run.fetch").mkdir()
    (tmp_path / "new.run.fetch" / "mine.txt").write_text("x")
    with pytest.raises(DataError, match="do not belong to a fetch"):
        fetched(server, output=tmp_path / "new.run")
    assert (tmp_path / "new.run.fetch" / "mine.txt").read_text() == "x"


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.heavy)])
def test_killed_and_started_again(server, tmp_path: Path, how: signal.Signals) -> None:
    queries = {f"q{number}": f"goat w{number % 3}" for number in range(12)}
    (tmp_path / "queries.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in queries.items()))
    (tmp_path / "body.json").write_text(json.dumps(ELASTIC))
    line = [sys.executable, "-m", "surefoot", "fetch", "--service", "elasticsearch", "--url", server.url, "--queries",
            "queries.tsv", "--body", "body.json", "--name", "new", "-o"]  # fmt: skip
    plain = subprocess.run([*line, "whole.run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert plain.returncode == 0, plain.stderr
    asked = len(server.requests)
    server.delay = 0.1
    process = subprocess.Popen(
        [*line, "new.run"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while len(server.requests) < asked + 5:
        time.sleep(0.01)
        assert process.poll() is None
    os.kill(process.pid, how)
    _, err = process.communicate()
    assert process.returncode == (-9 if how is signal.SIGKILL else 130)
    assert "Traceback" not in err
    assert not (tmp_path / "new.run").exists()
    server.delay, before = 0.0, len(server.requests)
    again = subprocess.run([*line, "new.run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert len(server.requests) - before in (7, 8)
    assert (tmp_path / "new.run").read_bytes() == (tmp_path / "whole.run").read_bytes()
    assert not (tmp_path / "new.run.fetch").exists()


def test_killed_after_the_output_was_written(server, tmp_path: Path, monkeypatch, surefoot) -> None:
    from surefoot.fetching.fetched_run import FetchedAnswers

    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tgoat\n")
    Path("body.json").write_text(json.dumps(ELASTIC))
    line = ["fetch", "--service", "elasticsearch", "--url", server.url, "--queries", "queries.tsv", "--body",
            "body.json", "-o", "new.run"]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(FetchedAnswers, "remove", lambda self: None)
        assert surefoot(*line)[0] == 0
    written = Path("new.run").read_bytes()
    assert surefoot(*line)[0] == 0
    assert Path("new.run").read_bytes() == written
    code, _, err = surefoot(*line)
    assert code == 2
    assert "new.run already exists" in err


# The command


def test_the_command_s_refusals(tmp_path: Path, monkeypatch, surefoot) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tgoat\n")
    Path("body.json").write_text('{"query": {{query}}}')
    line = ["fetch", "--service", "solr", "--url", "http://localhost:9/x", "--queries", "queries.tsv", "--body",
            "body.json", "-o", "new.run"]  # fmt: skip
    code, out, err = surefoot(*line)
    assert (code, out) == (2, "")
    assert "body.json, line 1: is not JSON" in err
    assert "with its quotes" in err
    code, _, err = surefoot(*line, "--header-env", f"Authorization:{SECRET}")
    assert code == 2
    assert SECRET not in err
    code, _, err = surefoot(*line[:-1], "queries.tsv")
    assert code == 2
    assert "would overwrite the input file" in err


def test_without_its_library(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r'pip install "surefoot\[fetch\]"'):
        sf.fetch("solr", "http://localhost:9/x", QUERIES, SOLR, tmp_path / "new.run")
    assert list(tmp_path.iterdir()) == []
