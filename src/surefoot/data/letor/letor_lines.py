"""LETOR lines read one by one, in Python: what the compiled parser leaves, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from surefoot.arguments import decimal
from surefoot.data.reading.files import utf8_line
from surefoot.data.types.labels_and_scores import RowError, check_labels
from surefoot.errors import DataError, shortened

FORM = "label qid:ID 1:value 2:value … # comment"
MOST_FEATURES = 1 << 20

_ID = re.compile(rb"\s*docid\s*=\s*(\S+)")


@dataclass
class LetorLines:
    """What lines hold: labels, query ids, features by column (from 0), and document ids where there are any."""

    labels: list[float] = field(default_factory=list)
    queries: list[bytes] = field(default_factory=list)
    features: list[dict[int, np.float32]] = field(default_factory=list)
    ids: list[bytes | None] = field(default_factory=list)
    n_features: int = 0


def read_one_by_one(path: str | PathLike[str], data: bytes, lines_before: int, n_features: int | None) -> LetorLines:
    """Read every line, or raise at the first one that is wrong."""
    lines = LetorLines()
    for number, raw in enumerate(data.split(b"\n"), start=lines_before + 1):
        text, _, comment = raw.partition(b"#")
        utf8_line(path, number, raw)
        tokens = text.split()
        if not tokens:
            continue
        lines.labels.append(_label(path, number, tokens[0]))
        if len(tokens) < 2 or not tokens[1].startswith(b"qid:") or tokens[1] == b"qid:":
            what = f"found {_quote(tokens[1])}" if len(tokens) > 1 else "the line ends there"
            raise DataError.at(path, number, f"expected qid:ID after the label, {what}; lines have the form '{FORM}'")
        lines.queries.append(tokens[1][4:])
        features: dict[int, np.float32] = {}
        last = 0
        for token in tokens[2:]:
            feature, value = _feature(path, number, token, last, n_features)
            features[feature - 1] = value
            last = feature
        lines.features.append(features)
        lines.n_features = max(lines.n_features, last)
        lines.ids.append(document_of(comment))
    return lines


def document_of(comment: bytes) -> bytes | None:
    """The document id in a comment: the word after `docid =`, or the whole of a comment of one word.

    >>> document_of(b"docid = GX008-86-4444840 inc = 1"), document_of(b" d7 "), document_of(b"not one")
    (b'GX008-86-4444840', b'd7', None)
    """
    named = _ID.match(comment)
    if named:
        return named[1]
    words = comment.split()
    return words[0] if len(words) == 1 and not re.match(rb"docid\s*=", words[0]) else None


def parse_number(text: bytes) -> float | None:
    """The number, if it is one."""
    try:
        return decimal(text.decode(errors="replace"))
    except ValueError:
        return None


def _label(path: str | PathLike[str], line: int, text: bytes) -> float:
    value = parse_number(text)
    if value is None and b":" in text:
        raise DataError.at(path, line, f"the label is missing, found {_quote(text)}; lines have the form '{FORM}'")
    if value is None:
        raise DataError.at(path, line, f"the label {_quote(text)} is not a number; lines have the form '{FORM}'")
    try:
        check_labels(np.array([value]), exponential=False)
    except RowError as error:
        raise DataError.at(path, line, error.message) from None
    return value


def _feature(
    path: str | PathLike[str], line: int, token: bytes, last: int, n_features: int | None
) -> tuple[int, np.float32]:
    key, colon, text = token.partition(b":")
    if not colon or not key.isdigit():
        raise DataError.at(path, line, f"expected number:value, found {_quote(token)}; a comment starts with '#'")
    feature = int(key[:20])
    if feature == 0:
        raise DataError.at(path, line, f"found feature 0 ({_quote(token)}); features are numbered from 1")
    if feature == last:
        raise DataError.at(path, line, f"feature {feature} appears twice; keep one of the two")
    if feature < last:
        raise DataError.at(path, line, f"feature {feature} comes after feature {last}; sort the line by feature number")
    if n_features is not None and feature > n_features:
        raise DataError.at(
            path,
            line,
            f"found feature {feature}, but only {n_features} are expected, as many as the model has or n_features says",
        )
    if feature > MOST_FEATURES:
        raise DataError.at(
            path,
            line,
            f"found feature {feature}; a dense matrix may have {MOST_FEATURES:,}, numbered without gaps",
        )
    value = parse_number(text)
    if value is None:
        raise DataError.at(path, line, f"the value {_quote(text)} of feature {feature} is not a number")
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if np.isinf(rounded):
        raise DataError.at(
            path,
            line,
            f"the value {_quote(text)} of feature {feature} is infinite or more than float32 holds; "
            "use nan for a missing value",
        )
    return feature, rounded


def _quote(text: bytes) -> str:
    return shortened(text.decode())
