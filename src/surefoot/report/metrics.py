"""Results as flat metrics, a number for each name, which MLflow and DVC keep track of; here those of an assessment.

There a name is `measure/system/figure`, at an α `measure/system/alpha_5/figure`, for a segment
`measure/system/segments/column/segment/figure`; the figures are called as in the JSON. Absent figures are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from surefoot.risk.assessment_data import AssessmentData
from surefoot.risk.tradeoff import alpha_key

_UNSAFE = re.compile(r"[^\w.\- ]")  # MLflow takes letters, digits and these, and / between the parts of a name
_LONGEST = 40  # letters of a part: MLflow takes 250 in all
_OPEN_ENDS = re.compile(r"^[. ]|[. ]$")  # MLflow reads names as paths, in which . and .. mean something


def metrics_of(parts: Iterable[AssessmentData]) -> dict[str, float]:
    """Each figure of assessments by one measure each, under a name of its own."""
    assessments = list(parts)
    measures = safe_names(data["measure"] for data in assessments)
    metrics: dict[str, float] = {}
    for data in assessments:
        systems = safe_names(row["system"] for row in data["systems"])
        alphas = safe_names(alpha_key(alpha) for alpha in data["alphas"])
        before = measures[data["measure"]]
        for row in data["systems"]:
            name = f"{before}/{systems[row['system']]}"
            metrics |= _flat(name, row, alphas)
            metrics[f"{name}/queries"] = data["queries"]
            if row["system"] in data["missing"]:
                metrics[f"{name}/missing"] = data["missing"][row["system"]]
        columns = safe_names(column["column"] for column in data["segments"])
        for column in data["segments"]:
            segments = safe_names(segment["segment"] for segment in column["segments"])
            for segment in column["segments"]:
                for row in segment["systems"]:
                    within = f"segments/{columns[column['column']]}/{segments[segment['segment']]}"
                    name = f"{before}/{systems[row['system']]}/{within}"
                    metrics |= _flat(name, row, alphas)
                    metrics[f"{name}/queries"] = segment["queries"]
    return metrics


def flat_metrics(figures: Mapping[str, Any]) -> dict[str, float]:
    """Every number of nested figures, under the names that lead to it; the two ends of an interval are low and high.

    >>> flat_metrics({"nDCG@10": {"new": {"gain": 0.5, "p": None, "interval": [0.25, 0.75]}}})
    {'nDCG_at_10/new/gain': 0.5, 'nDCG_at_10/new/interval/low': 0.25, 'nDCG_at_10/new/interval/high': 0.75}
    """
    metrics: dict[str, float] = {}
    for name, part in safe_names(figures).items():
        value = figures[name]
        if _is_interval(value):
            value = dict(zip(("low", "high"), value, strict=True))
        if isinstance(value, Mapping):
            metrics |= {f"{part}/{below}": number for below, number in flat_metrics(value).items()}
        elif _is_number(value):
            metrics[part] = value
    return metrics


def decision_metrics(decision: str, possible: Iterable[str]) -> dict[str, int]:
    """A decision as numbers: 1 for what was decided, 0 for what was not."""
    return {name: int(name == decision) for name in possible}


def _flat(before: str, figures: Any, alphas: dict[str, str]) -> dict[str, float]:
    """The numbers among figures; the two ends of an interval are called low and high."""
    return {f"{before}/{name}": number for name, number in _numbers(figures, alphas)}


def _numbers(figures: Any, alphas: dict[str, str]) -> Iterator[tuple[str, float]]:
    for name, value in figures.items():
        if name == "alpha":
            for alpha, inner in value.items():
                yield from ((f"alpha_{alphas[alpha]}/{below}", number) for below, number in _numbers(inner, alphas))
        elif isinstance(value, dict):
            yield from ((f"{name}/{below}", number) for below, number in _numbers(value, alphas))
        elif _is_interval(value):
            yield from ((f"{name}/{end}", number) for end, number in zip(("low", "high"), value, strict=True))
        elif _is_number(value):
            yield name, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """A part of a metric's name for each of different names, no two alike.

    Letters that MLflow does not take become _, and @ becomes _at_; where two names would then be one, or a name is
    long, part of a hash of the full name tells it apart.

    >>> safe_names(["bm25", "bm25 (old)", "a/b", "a:b"])
    {'bm25': 'bm25', 'bm25 (old)': 'bm25 _old_', 'a/b': 'a_b-c14cddc0', 'a:b': 'a_b-...'}
    """
    distinct = list(dict.fromkeys(names))
    plain = {name: _OPEN_ENDS.sub("_", _UNSAFE.sub("_", name.replace("@", "_at_"))) or "_" for name in distinct}
    alike = Counter(part.casefold() for part in plain.values())  # as file systems compare them that know no capitals
    parts: dict[str, str] = {}
    taken: set[str] = set()
    # Those that stay as they are come first: no other name may take their place, whatever order they are given in.
    for name in sorted(distinct, key=lambda name: (plain[name] != name, name)):
        part, digest = plain[name], sha256(name.encode(errors="surrogatepass")).hexdigest()
        if len(part) > _LONGEST or (part != name and alike[part.casefold()] > 1):
            part = f"{part[: _LONGEST - 9]}-{digest[:8]}"
        for length in range(8, 25, 4):
            if part.casefold() not in taken:
                break
            part = f"{plain[name][: _LONGEST - 1 - length]}-{digest[:length]}"
        taken.add(part.casefold())
        parts[name] = part
    return {name: parts[name] for name in distinct}
