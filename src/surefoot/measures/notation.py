"""Measures as values that print as they parse: `nDCG@10`, `AP(rel=2)`, `ERR(max_rel=3)@20`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from surefoot.arguments import is_real
from surefoot.arrays import LARGEST_POWER, LARGEST_SCORE, Floats
from surefoot.errors import ArgumentError, MeasureError, did_you_mean, shortened
from surefoot.measures import effectiveness, near_ties
from surefoot.measures.matching import Hits
from surefoot.measures.rank_binomial import sigma_problem


@dataclass(frozen=True)
class MeasureFamily:
    """A kind of measure: the function that computes it, its parameters with their defaults, and what may follow the @.

    Adding one to `FAMILIES` is all that a new measure needs beside its function; see docs/extend/measure.md.
    """

    name: str
    compute: Callable[..., Floats]  # of the hits, the cut-off and the parameters: one value per judged query
    defaults: dict[str, Any]
    cutoff: str = "optional"  # or "required", "none", "recall"
    aliases: tuple[str, ...] = ()
    bounded: bool = True  # whether values are from 0 to 1
    uses_scores: bool = False  # whether it changes with scores while the ranking stays the same


_DCG_DEFAULTS = {"dcg": "log2"}
_REL_DEFAULTS = {"rel": 1}
_NEAR_TIES_DEFAULTS = {"dcg": "log2", "normalize": "percentile"}
FAMILIES = (
    MeasureFamily("nDCG", effectiveness.ndcg, _DCG_DEFAULTS),
    MeasureFamily("DCG", effectiveness.dcg, _DCG_DEFAULTS, bounded=False),
    MeasureFamily("ERR", effectiveness.err, {"max_rel": 4}),
    MeasureFamily("AP", effectiveness.average_precision, _REL_DEFAULTS, aliases=("MAP",)),
    MeasureFamily("RR", effectiveness.reciprocal_rank, _REL_DEFAULTS, aliases=("MRR", "recip_rank")),
    MeasureFamily("P", effectiveness.precision, _REL_DEFAULTS, cutoff="required", aliases=("Precision",)),
    MeasureFamily("R", effectiveness.recall, _REL_DEFAULTS, aliases=("Recall",)),
    MeasureFamily("Rprec", effectiveness.r_precision, _REL_DEFAULTS, cutoff="none"),
    MeasureFamily("Success", effectiveness.success, _REL_DEFAULTS, cutoff="required"),
    MeasureFamily("RBP", effectiveness.rank_biased_precision, {"p": 0.8, "rel": 1}),
    MeasureFamily("Judged", effectiveness.judged_share, {}),
    MeasureFamily("IPrec", effectiveness.interpolated_precision, _REL_DEFAULTS | {"version": 10}, cutoff="recall"),
    MeasureFamily("Bpref", effectiveness.bpref, _REL_DEFAULTS, cutoff="none"),
    MeasureFamily("rNDCG", near_ties.rndcg, {"sigma": 0.5, **_NEAR_TIES_DEFAULTS}, uses_scores=True),
    MeasureFamily("SoftNDCG", near_ties.soft_ndcg, {"sigma": 0.2, **_NEAR_TIES_DEFAULTS}, uses_scores=True),
)
_CHOICES: dict[str, dict[Any, str]] = {
    "dcg": {"log2": "linear", "exp-log2": "2^g − 1"},
    "normalize": {"percentile": "in a sample of the function's scores", "none": "scores as they are"},
    "version": {10: "as trec_eval 10 rounds", 9: "as trec_eval 9 and pytrec_eval round"},
}
# What trec_eval calls families whose cut-off it writes after a _ or a dot: ndcg_cut_10, P_10, iprec_at_recall_0.10.
_FAMILY_BY_TREC_EVAL_NAME = {
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "P": "P",
    "recall": "R",
    "success": "Success",
    "iprec_at_recall": "IPrec",
}
_TREC_EVAL = re.compile(rf"\s*({'|'.join(_FAMILY_BY_TREC_EVAL_NAME)})[_.]([0-9.]+)\s*")
_BY_NAME: dict[str, MeasureFamily] = {}
for _family in FAMILIES:
    for _name in (_family.name, *_family.aliases):
        if _BY_NAME.setdefault(_name.lower(), _family) is not _family:
            raise ValueError(f"two measures are called {_name}")
_INTEGER, _DECIMAL = re.compile("[0-9]{1,18}"), re.compile(r"[0-9]*\.?[0-9]+")
_EXPONENTIAL = re.compile(r"^\s*exp\s*(?=,|$)")  # the short form of a parameter: nDCG(exp)@10
_MOST_LETTERS = 1000  # letters of a measure
_NOTATION = re.compile(r"\s*+(?P<name>\w++)\s*+(?:\((?P<parameters>.*)\))?\s*+(?:@\s*+(?P<cutoff>[^\s@()]++))?\s*+")


@dataclass(frozen=True)
class Measure:
    """A measure of effectiveness with its parameters, such as `nDCG(dcg='exp-log2')@10`.

    >>> Measure.parse("nDCG(exp)@10"), Measure.parse("ndcg( dcg = 'exp-log2' ) @10")
    (nDCG(dcg='exp-log2')@10, nDCG(dcg='exp-log2')@10)
    >>> Measure.parse("AP(rel=1)")
    AP
    >>> Measure.parse("ndcg_cut_10")
    nDCG@10
    """

    family: str  # its name, as in `FAMILIES`
    parameters: tuple[tuple[str, Any], ...] = ()
    cutoff: float | None = None

    @classmethod
    def parse(cls, text: Any) -> Measure:
        """Read a measure as ir_measures or trec_eval writes it; ir_measures' own objects do too."""
        if isinstance(text, Measure):
            return text
        if not is_measure(text):
            raise MeasureError(f"the measure is {shortened(text)}; write it as a text, such as 'nDCG@10'")
        return _parse(str(text))

    @property
    def settings(self) -> dict[str, Any]:
        """All parameters, given or by default."""
        return self.kind.defaults | dict(self.parameters)

    @property
    def kind(self) -> MeasureFamily:
        """The entry of `FAMILIES` that `family` names: how it is computed, its defaults, what its values are."""
        return _BY_NAME[self.family.lower()]

    @property
    def depth(self) -> float | None:
        """How many of the first results count; None where all do, or where the cut-off is a level of recall."""
        return None if self.kind.cutoff == "recall" else self.cutoff

    def __call__(self, hits: Hits) -> Floats:
        """The measure's value on each judged query."""
        return self.kind.compute(hits, self.cutoff, **self.settings)

    def __str__(self) -> str:
        """The shortest form that parses to the same measure."""
        inner = ",".join(f"{name}={value!r}" for name, value in self.parameters)
        return self.family + (f"({inner})" if inner else "") + (f"@{self.cutoff}" if self.cutoff is not None else "")

    __repr__ = __str__


def is_measure(value: Any) -> bool:
    """Whether it is one measure: ours, a text, or an object of ir_measures (which need not be installed)."""
    return isinstance(value, str | Measure) or type(value).__module__.partition(".")[0] == "ir_measures"


def named_measure(name: str) -> Measure | None:
    """The measure of this name; None where users gave a matrix a name of their own."""
    try:
        return Measure.parse(name)
    except MeasureError:
        return None


def is_binary(name: str) -> bool:
    """Whether a measure takes only 0 and 1 by definition.

    >>> [is_binary(name) for name in ("P@1", "RR@1", "Success@5", "P@2", "nDCG@1", "my own")]
    [True, True, True, False, False, False]
    """
    kind = named_measure(name)
    return kind is not None and (kind.family == "Success" or (kind.family in ("P", "RR") and kind.cutoff == 1))


@cache
def _parse(text: str) -> Measure:
    if len(text) <= _MOST_LETTERS and (cut := _TREC_EVAL.fullmatch(text)):
        return _parse(f"{_FAMILY_BY_TREC_EVAL_NAME[cut[1]]}@{cut[2]}")
    match = _NOTATION.fullmatch(text) if len(text) <= _MOST_LETTERS else None
    family = match and _BY_NAME.get(match["name"].lower())
    if match and match["name"] == "NDCG":
        rest = f"@{match['cutoff']}" if match["cutoff"] else ""
        raise MeasureError(
            f"{shortened(text)} could mean two measures; write nDCG{rest} (grade g counts g) or nDCG(exp){rest} "
            "(grade g counts 2^g − 1)"
        )
    if not match or not family:
        raise MeasureError(_unknown_message(text, match["name"] if match else text))
    parameters = _check_parameters(text, match["parameters"] or "", family)
    non_default = tuple(sorted((name, value) for name, value in parameters.items() if value != family.defaults[name]))
    return Measure(family.name, non_default, _cutoff(text, match["cutoff"], family))


def _unknown_message(text: str, name: str) -> str:
    names = [family.name for family in FAMILIES]
    if any(part.split("@")[0].strip().lower() in _BY_NAME for part in text.split(",")[1:]):
        return f"{shortened(text)} is more than one measure; give one at a time"
    hint = did_you_mean(name, names, cutoff=0.5) or "."
    return f"unknown measure {shortened(text)}{hint} Known: {', '.join(names)}, written as nDCG@10, AP(rel=2) or ERR@20"


def _check_parameters(text: str, inner: str, family: MeasureFamily) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    if "dcg" in family.defaults:
        inner = _EXPONENTIAL.sub("dcg='exp-log2'", inner)
    for name, value in _read_parameters(text, inner):
        if name not in family.defaults:
            names = ", ".join(family.defaults) or "none"
            raise MeasureError(f"{family.name} has no parameter {shortened(name)} in {shortened(text)}; it has {names}")
        if name in parameters:
            raise MeasureError(f"{name} is given twice in {shortened(text)}; give it once")
        problem = _PARAMETER_PROBLEMS[name](value)
        if problem:
            raise MeasureError(f"{name}={shortened(value)} in {shortened(text)} {problem}")
        parameters[name] = value
    return parameters


def _read_parameters(text: str, inner: str) -> list[tuple[str, Any]]:
    """The parameters as they stand, each a name and a value."""
    try:
        if re.search("[0-9]_[0-9]", inner):
            raise ValueError  # Python's own way to write 1_000, and nobody else's
        call = ast.parse(f"f({inner})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not all(keyword.arg for keyword in call.keywords):
            raise ValueError
        return [(str(keyword.arg), ast.literal_eval(keyword.value)) for keyword in call.keywords]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise MeasureError(
            f"cannot read the parameters of {shortened(text)}; write name=value, such as AP(rel=2)@100"
        ) from error


def _number(low: float, high: float, words: str) -> Callable[[Any], str | None]:
    """What is wrong with a parameter that must be a number above `low` and at most `high`."""

    def problem(value: Any) -> str | None:
        if not is_real(value):
            return "is not a number"
        return None if low < value <= high else f"must be {words}"

    return problem


def _one_of(name: str) -> Callable[[Any], str | None]:
    """What is wrong with a parameter that must be one of its choices."""
    allowed = " or ".join(f"{name}={choice!r} ({meaning})" for choice, meaning in _CHOICES[name].items())
    return lambda value: None if value in tuple(_CHOICES[name]) else f"is unknown; write {allowed}"


def check_choice(name: str, value: Any) -> None:
    """Refuse what is none of the choices of a parameter of measures, given outside of one."""
    problem = _one_of(name)(value)
    if problem:
        raise ArgumentError(f"{name} is {shortened(value)}: it {problem}")


# What each parameter may be: gives None, or what it must be instead.
_PARAMETER_PROBLEMS: dict[str, Callable[[Any], str | None]] = {
    "dcg": _one_of("dcg"),
    "normalize": _one_of("normalize"),
    "version": _one_of("version"),
    "sigma": sigma_problem,
    "rel": _number(0, LARGEST_SCORE, f"a grade above 0, at most {LARGEST_SCORE:g}"),
    "max_rel": _number(math.nextafter(1, 0), LARGEST_POWER, f"a grade from 1 to {LARGEST_POWER:g}"),
    "p": _number(0, math.nextafter(1, 0), "between 0 and 1"),
}


def _cutoff(text: str, digits: str | None, family: MeasureFamily) -> float | None:
    if digits is None:
        if family.cutoff in ("required", "recall"):
            example = "0.1" if family.cutoff == "recall" else "10"
            raise MeasureError(f"{family.name} needs a cut-off; write {family.name}@{example}")
        return None
    if family.cutoff == "none":
        raise MeasureError(f"{family.name} takes no cut-off; write {family.name} in place of {shortened(text)}")
    if family.cutoff == "recall" and _DECIMAL.fullmatch(digits):
        level = float(digits)
        if 0 <= level <= 1:
            return int(level) if level in (0, 1) else level
    elif family.cutoff != "recall" and _INTEGER.fullmatch(digits) and int(digits) > 0:
        return int(digits)
    span = "a recall level from 0 to 1" if family.cutoff == "recall" else "a whole number above 0"
    raise MeasureError(f"the cut-off {shortened(digits)} in {shortened(text)} must be {span}")
