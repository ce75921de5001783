"""Does the search engine score as the model does? Compares its scores with those that an export says it must give.

    python replay.py model.rows.json SCORES
    python replay.py model.rows.json --url http://localhost:9200 [--header "Authorization: …"]

SCORES has one number per line, in the order of the rows, as the search engine gave them; an empty line for none.
With --url the rows become documents of a new index in Elasticsearch or OpenSearch with the Learning to Rank plugin,
which scores them with the model; index, features and model are removed afterwards. It needs Python alone.
Exit code 0: they agree; 1: they do not; 2: a file is not what it should be, or the search engine refuses.
"""

from __future__ import annotations

import argparse
import json
import math
import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PLUGINS = ("elasticsearch-plugin", "opensearch", "ranklib")
_MOST = 10_000  # documents that an index returns at once


def compare(expected: Sequence[float], actual: Sequence[float | None], tolerance: float) -> dict[str, Any]:
    """How far scores are from those expected, where the farthest is, and how many pairs of rows change their order.

    Pairs that the tolerance cannot tell apart do not count.

    >>> result = compare([0.1, 0.3, 0.2], [0.1, 0.3, 0.4], tolerance=1e-5)
    >>> result["farthest"], result["at row"], result["pairs reversed"], result["agree"]
    (0.2, 3, 1, False)
    """
    numbered = enumerate(zip(expected, actual, strict=True), start=1)
    scored = [(want, got, row) for row, (want, got) in numbered if got is not None]
    far = [(abs(got - want), row) for want, got, row in scored]
    farthest, at = max(far, default=(0.0, 0))
    beyond = sum(not distance <= tolerance for distance, _ in far)
    ordered = sorted(scored)
    reversed_pairs = sum(
        high[0] - low[0] > 2 * tolerance and high[1] < low[1]
        for place, low in enumerate(ordered)
        for high in ordered[place + 1 :]
    )
    absent = len(expected) - len(scored)
    return {
        "rows": len(expected),
        "without score": absent,
        "farthest": round(farthest, 12),
        "at row": at,
        "beyond tolerance": beyond,
        "pairs reversed": reversed_pairs,
        "agree": bool(scored) and not (beyond or reversed_pairs or absent),
    }


def read_scores(text: str, rows: int) -> list[float | None]:
    """One number per line; None where a line is empty."""
    lines = text.splitlines()
    if len(lines) != rows:
        raise ValueError(f"it has {len(lines)} lines, but there are {rows} rows; write one line per row")
    scores: list[float | None] = []
    for number, line in enumerate(lines, start=1):
        try:
            score = float(line) if line.strip() else None
        except ValueError:
            raise ValueError(f"line {number} is {line[:40]!r}, which is not a number") from None
        if score is not None and not math.isfinite(score):
            raise ValueError(f"line {number} is {line[:40]!r}; a score is a finite number")
        scores.append(score)
    return scores


class Plugin:
    """An Elasticsearch or OpenSearch with the Learning to Rank plugin."""

    def __init__(self, url: str, headers: Sequence[str] = ()) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is not an address; write an address such as http://localhost:9200")
        self.url = url.rstrip("/")
        self.headers = dict(header.split(": ", 1) for header in headers)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Send a request, and return the answer."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers | {"Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise ValueError(f"{method} {path}: {error.code} {error.read()[:500].decode(errors='replace')}") from error

    def scores(self, rows: Sequence[Sequence[float | None]], names: Sequence[str], model: Any) -> list[float | None]:
        """The model's score of each row, through an index that is there for as long as it takes.

        A feature is the value of a document's field, and not set where the document lacks the field.
        """
        name = f"surefoot-replay-{secrets.token_hex(4)}"
        fields = [f"f{number}" for number in range(len(names))]
        features = [
            {"name": feature, "params": [], "template_language": "mustache", "template": _value_of(field)}
            for feature, field in zip(names, fields, strict=True)
        ]
        try:
            self.call("PUT", f"/{name}", _index(fields))
            self.call("POST", f"/{name}/_bulk?refresh=true", _documents(rows, fields), "application/x-ndjson")
            with suppress(ValueError):  # there is a feature store already
                self.call("PUT", "/_ltr")
            self.call("POST", f"/_ltr/_featureset/{name}", {"featureset": {"features": features}})
            self.call("POST", f"/_ltr/_featureset/{name}/_createmodel", {"model": {"name": name, "model": model}})
            ranked = {"query_weight": 0, "rescore_query_weight": 1,
                      "rescore_query": {"sltr": {"params": {}, "model": name}}}  # fmt: skip
            rescore = {"window_size": len(rows), "query": ranked}
            search = {"size": len(rows), "_source": False, "query": {"match_all": {}}, "rescore": rescore}
            hits = self.call("POST", f"/{name}/_search", search)["hits"]["hits"]
        finally:
            for path in (f"/_ltr/_model/{name}", f"/_ltr/_featureset/{name}", f"/{name}"):
                with suppress(ValueError, OSError):
                    self.call("DELETE", path)
        by_row = {int(hit["_id"]): float(hit["_score"]) for hit in hits}
        return [by_row.get(row) for row in range(len(rows))]


def _index(fields: Sequence[str]) -> Any:
    settings = {"number_of_shards": 1, "index.mapping.total_fields.limit": len(fields) + 100}
    properties = {field: {"type": "float"} for field in fields}
    return {"settings": settings, "mappings": {"dynamic": False, "properties": properties}}


def _documents(rows: Sequence[Sequence[float | None]], fields: Sequence[str]) -> bytes:
    lines = []
    for number, row in enumerate(rows):
        document = {field: value for field, value in zip(fields, row, strict=True) if value is not None}
        lines += [json.dumps({"index": {"_id": str(number)}}), json.dumps(document)]
    return ("\n".join(lines) + "\n").encode()


def _value_of(field: str) -> Any:
    return {
        "function_score": {
            "query": {"exists": {"field": field}},
            "field_value_factor": {"field": field},
            "boost_mode": "replace",
        }
    }


def replayed(rows_file: str, scores: str | None, url: str | None, headers: Sequence[str]) -> dict[str, Any]:
    """How the scores in a file, or those of the search engine at an address, differ from those that it must give."""
    path = rows_file
    left_out: dict[str, Any] = {}
    sent: list[int] = []  # the numbers of the rows that are sent
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        expected, tolerance = [float(score) for score in rows["scores"]], float(rows["tolerance"])
        if url is None:
            path = str(scores)
            actual = read_scores(Path(path).read_text(encoding="utf-8"), len(expected))
        else:
            if rows["target"] not in PLUGINS:
                raise ValueError(f"it is for {rows['target']}; --url is for {', '.join(PLUGINS)}: give SCORES")
            # Lucene has no scores below 0, and so no such features.
            sent = [i for i, row in enumerate(rows["rows"]) if all(x is None or x >= 0 for x in row)][:_MOST]
            left_out = {"rows left out, with a feature below 0": len(expected) - len(sent)}
            path = str(Path(rows_file).with_name(Path(rows_file).name.replace(".rows.json", ".upload.json")))
            model = json.loads(Path(path).read_text(encoding="utf-8"))["model"]["model"]
            path = url
            actual = Plugin(url, headers).scores([rows["rows"][i] for i in sent], rows["features"], model)
            expected = [expected[i] for i in sent]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    result = compare(expected, actual, tolerance)
    if sent and result["at row"]:
        result["at row"] = sent[result["at row"] - 1] + 1
    return result | left_out | {"tolerance": tolerance}


def main(arguments: Sequence[str]) -> int:
    """Compare, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("scores", nargs="?")
    parser.add_argument("--url")
    parser.add_argument("--header", action="append", default=[])
    options = parser.parse_args(arguments)
    if (options.scores is None) == (options.url is None):
        parser.error("give the search engine's SCORES, or its --url")
    try:
        result = replayed(options.rows, options.scores, options.url, options.header)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2))
    return 0 if result["agree"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
