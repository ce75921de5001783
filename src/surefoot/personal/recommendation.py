"""Which re-ranker of a study to serve: the rule, what it takes on validation lists, and the sentences that say so."""

from __future__ import annotations

from surefoot.choose.recommendation import Recommendation, judged
from surefoot.personal.reranker_figures import largest_area
from surefoot.report.notes import few_queries
from surefoot.report.numbers import percent, signed
from surefoot.risk.assessment_data import Json

_RULE = (
    "On validation lists, it has the largest area under the curve of gain against the share of re-ranked "
    "lists, of all models listed below. It gains much and changes few lists."
)
_FRACTIONS = {1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "half", 2 / 3: "two thirds", 3 / 4: "three quarters"}
_TODAY = "the shown order"
_NEAR_ENOUGH = 0.015  # how near to a fraction a share is called by it


def recommend(data: Json) -> Json:
    """What to serve, by which rule, and how it does on test lists."""
    models = [row for row in data["chosen"] if row["name"] in data["models"] and row["valid"]["gain"] > 0]
    best = largest_area(models)
    if best is None:
        return {"choice": "keep", "name": None, "rule": _RULE}
    test = best["test"]
    p = test.get("p")
    return {
        "choice": judged(test["gain"], p),
        "name": best["name"], "label": best["label"], "parameters": best["parameters"], "rule": _RULE,
        "model": data["models"][best["name"]], "p": p,
        **{key: test[key] for key in ("gain", "risk", "share_reranked", "share_of_gain", "share_of_risk")},
    }  # fmt: skip


def recommendation(data: Json) -> Recommendation:
    """What a study of re-rankers recommends, in words."""
    choice = data["recommendation"]
    few = few_queries(data["lists"]["test"], 0.0)
    cautions = [] if few is None else [few.replace("queries", "lists")]
    if choice["name"] is None:
        return Recommendation(choice, "lists", _TODAY, cautions=cautions)
    name, gain = model_name(choice), signed(100 * choice["gain"], 3)
    share = choice["share_of_gain"]
    kept = f"gains {gain}" if share is None else f"{percent(share)} of the gain"
    moved = f"{share_in_words(choice['share_reranked'])} of the lists moved"
    take = f"{name}{', with caution' * bool(cautions)}: {kept}, {moved}"
    return Recommendation(choice, "lists", _TODAY, name, take, gain, choice["p"], cautions, bool(cautions))


def model_name(choice: Json) -> str:
    """The model in a sentence.

    >>> model_name({"label": "Weighted initial preferences", "parameters": "β = 0.4"})
    'weighted initial preferences, β = 0.4'
    """
    label = choice["label"]
    return ", ".join(filter(None, (label[:1].lower() + label[1:], choice["parameters"])))


def share_in_words(share: float) -> str:
    """A share as people say it.

    >>> share_in_words(0.2542), share_in_words(0.31), share_in_words(1.0)
    ('a quarter', '31 %', 'all')
    """
    if share >= 0.995:
        return "all"
    near = min(_FRACTIONS, key=lambda fraction: abs(fraction - share))
    return _FRACTIONS[near] if abs(near - share) <= _NEAR_ENOUGH else percent(share)
