"""The script beside a model: it compares a file of scores, or asks an engine, here one that answers by the rules."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.interpreters import interpreter
from tests.export.models import NAMES, OF_ENGINE, SMALL, data

import surefoot as sf
from surefoot.export import replay

KINDS = {"model/xgboost+json": "elasticsearch-plugin", "model/ranklib": "ranklib"}


class Answers(BaseHTTPRequestHandler):
    """What the plugin's documentation says of each request, with the interpreters of the tests inside."""

    store: dict[str, Any]
    off = 0.0

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            actual, code = self.actual(self.command, self.path, body), 200
        except (KeyError, AssertionError, ValueError) as error:
            actual, code = {"error": repr(error)}, 400
        text = json.dumps(actual).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass

    def actual(self, method: str, path: str, body: bytes) -> Any:
        assert self.headers["Authorization"] == "Basic x"
        if method == "DELETE":
            del self.store[path]
            return {}
        if path == "/_ltr":
            raise ValueError("it exists")
        if path.endswith("/_createmodel"):
            model = json.loads(body)["model"]
            features = self.store[path.removesuffix("/_createmodel")]["featureset"]["features"]
            names = [feature["name"] for feature in features]
            definition = model["model"]["definition"].encode()
            score = interpreter(KINDS[model["model"]["type"]], definition, names)
            self.store[f"/_ltr/_model/{model['name']}"] = (features, score)
            return {}
        if path.endswith("/_bulk?refresh=true"):
            assert self.headers["Content-Type"] == "application/x-ndjson"
            lines = [json.loads(line) for line in body.decode().strip().split("\n")]
            ids = [line["index"]["_id"] for line in lines[::2]]
            self.store[path.removesuffix("/_bulk?refresh=true")]["documents"] = dict(zip(ids, lines[1::2], strict=True))
            return {}
        if path.endswith("/_search"):
            return self.searched(self.store[path.removesuffix("/_search")], json.loads(body))
        assert method == ("POST" if path.startswith("/_ltr") else "PUT")
        self.store[path] = json.loads(body)
        return {}

    def searched(self, index: Any, search: Any) -> Any:
        documents = index["documents"]
        assert search["size"] >= len(documents)
        rescore = search["rescore"]
        assert rescore["window_size"] >= len(documents)
        assert (rescore["query"]["query_weight"], rescore["query"]["rescore_query_weight"]) == (0, 1)
        features, score = self.store[f"/_ltr/_model/{rescore['query']['rescore_query']['sltr']['model']}"]
        rows = np.full((len(documents), len(features)), np.nan, np.float32)
        for row, document in enumerate(documents.values()):
            for column, feature in enumerate(features):
                template = feature["template"]["function_score"]
                field = template["query"]["exists"]["field"]
                assert template["field_value_factor"] == {"field": field}
                assert template["boost_mode"] == "replace"
                assert index["mappings"]["properties"][field] == {"type": "float"}
                if field in document:
                    assert document[field] >= 0, "a score below 0"
                    rows[row, column] = document[field]
        scores = score(rows).tolist()
        hits = [{"_id": id_, "_score": each + self.off} for id_, each in zip(documents, scores, strict=True)]
        return {"hits": {"hits": sorted(hits, key=lambda hit: -hit["_score"])}}


@pytest.fixture
def engine() -> Iterator[tuple[str, type[Answers]]]:
    handler = type("Handler", (Answers,), {"store": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", handler
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def model() -> sf.Ranker:
    made = data(False)
    positive = sf.RankingData(np.abs(made.X), made.y, group=made.lengths, feature_names=NAMES)
    return sf.Ranker(**(SMALL | OF_ENGINE["lightgbm"] | {"n_estimators": 8})).fit(positive)


@pytest.mark.parametrize("to", ["elasticsearch-plugin", "ranklib"])
def test_replayed_in_an_engine(model, engine, to: str, tmp_path: Path, capsys) -> None:
    url, handler = engine
    model.export(tmp_path / "es", to=to, missing="zero")
    line = [str(tmp_path / "es" / "model.rows.json"), "--url", url, "--header", "Authorization: Basic x"]
    assert replay.main(line) == 0, capsys.readouterr()
    report = json.loads(capsys.readouterr().out)
    assert report["rows"] > 50
    assert report["rows"] + report["rows left out, with a feature below 0"] == 100
    assert handler.store == {}, "something is left in the engine"
    handler.off = 0.01
    assert replay.main(line) == 1
    assert json.loads(capsys.readouterr().out)["beyond tolerance"] == report["rows"]


def test_what_the_engine_refuses_is_told_and_nothing_stays(model, engine, tmp_path: Path, capsys) -> None:
    url, handler = engine
    model.export(tmp_path / "es", to="opensearch", missing="zero")
    upload = tmp_path / "es" / "model.upload.json"
    upload.write_text(upload.read_text().replace("split_condition", "condition"))
    line = [str(tmp_path / "es" / "model.rows.json"), "--url", url, "--header", "Authorization: Basic x"]
    assert replay.main(line) == 2
    assert "_createmodel: 400" in capsys.readouterr().err
    assert handler.store == {}
    assert replay.main([line[0], "--url", "localhost:9200"]) == 2
    assert replay.main([line[0], "--url", "http://127.0.0.1:1"]) == 2


def test_other_engines_give_a_file(model, tmp_path: Path, capsys) -> None:
    model.export(tmp_path / "s", to="solr", missing="zero")
    assert replay.main([str(tmp_path / "s" / "model.rows.json"), "--url", "http://localhost"]) == 2
    assert "it is for solr" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["x", None, [1.0]])
def test_rows_that_were_changed_are_named(tmp_path: Path, wrong: object) -> None:
    rows, scores = tmp_path / "rows.json", tmp_path / "scores.txt"
    rows.write_text(json.dumps({"target": "solr", "rows": [[1.0], [2.0]], "scores": [0.5, wrong], "tolerance": 1e-5}))
    scores.write_text("0.5\n0.5\n")
    with pytest.raises(ValueError, match=r"rows\.json: "):
        replay.replayed(str(rows), str(scores), None, [])


def test_a_file_of_scores(tmp_path: Path, capsys) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps({"scores": [0.1, 0.2, 0.3], "tolerance": 1e-5}))
    for text, code in (("0.1\n0.2\n0.3\n", 0), ("0.1\n0.2\n0.3001\n", 1), ("0.1\n\n0.3\n", 1), ("0.2\n0.1\n0.3\n", 1),
                       ("0.1\n0.2\n", 2), ("0.1\nx\n0.3\n", 2), ("0.1\nnan\n0.3\n", 2)):  # fmt: skip
        (tmp_path / "scores.txt").write_text(text)
        assert replay.main([str(rows), str(tmp_path / "scores.txt")]) == code, text
    assert "line 2 is 'x'" in capsys.readouterr().err
    assert replay.main([str(rows), str(tmp_path / "absent")]) == 2
    rows.write_text("{}")
    assert replay.main([str(rows), str(tmp_path / "scores.txt")]) == 2
    for neither in ([str(rows)], [str(rows), "scores.txt", "--url", "http://localhost"]):
        with pytest.raises(SystemExit, match="2"):
            replay.main(neither)


@pytest.mark.parametrize(
    ("expected", "actual", "reversed_pairs"),
    [
        ([0.1, 0.2], [0.1, 0.2], 0),
        ([0.1, 0.2], [0.2, 0.1], 1),
        ([0.2, 0.1], [0.1, 0.2], 1),
        ([0.1, 0.2], [0.15, 0.15], 0),  # they tie there, and are not reversed
        ([0.25, 0.5], [0.5, 0.25], 0),  # as near as rounding brings them, at this tolerance
        ([0.25, 0.5001], [0.5, 0.25], 1),
        ([0.1, 0.5, 0.9], [0.9, 0.5, 0.1], 3),
        ([0.1, 0.5, 0.9], [0.9, None, 0.1], 1),
    ],
)
def test_which_pairs_are_reversed(expected: list[float], actual: list[float | None], reversed_pairs: int) -> None:
    tolerance = 0.125 if 0.25 in expected else 1e-5
    assert replay.compare(expected, actual, tolerance)["pairs reversed"] == reversed_pairs


def test_only_rows_that_lucene_can_hold_are_sent(model, engine, tmp_path: Path, capsys, monkeypatch) -> None:
    url, _ = engine
    model.export(tmp_path / "es", to="elasticsearch-plugin", missing="zero", rows=60)
    path = tmp_path / "es" / "model.rows.json"
    rows = json.loads(path.read_text())
    width = len(rows["rows"][0])
    rows["rows"] = [[-1.0, *[0.0] * (width - 1)], [0.0] * width, [None, *[0.0] * (width - 1)], *rows["rows"][:3]]
    rows["rows"][3:] = [[1.0] * width for _ in range(3)]
    rows["scores"] = model.predict(np.nan_to_num(np.array(rows["rows"], dtype=np.float32))).tolist()
    path.write_text(json.dumps(rows))
    seen: list[list[list[float | None]]] = []

    def scores(self: Any, sent: list[list[float | None]], *_: Any) -> list[float]:
        seen.append(sent)
        return [0.0] * len(sent)

    monkeypatch.setattr(replay.Plugin, "scores", scores)
    replay.main([str(path), "--url", url])
    assert seen[-1] == rows["rows"][1:]
    assert json.loads(capsys.readouterr().out)["rows left out, with a feature below 0"] == 1
    monkeypatch.setattr(replay, "_MOST", 2)
    replay.main([str(path), "--url", url])
    assert seen[-1] == rows["rows"][1:3]
