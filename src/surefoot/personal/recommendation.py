"""Which re-ranker of a study to serve: the rule, what it takes on validation lists, and the sentences that say so."""

from __future__ import annotations

from surefoot.personal.reranker_figures import largest_area
from surefoot.report.columns import chance_words
from surefoot.report.notes import few_queries
from surefoot.report.numbers import percent, signed
from surefoot.risk.assessment_data import Json
from surefoot.significance import SIGNIFICANCE

_RULE = (
    "On validation lists, it has the largest area under the curve of gain against the share of re-ranked "
    "lists, of all models listed below. It gains much and changes few lists."
)
_FRACTIONS = {1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "half", 2 / 3: "two thirds", 3 / 4: "three quarters"}
_NEAR_ENOUGH = 0.015  # how near to a fraction a share is called by it


def recommend(data: Json) -> Json:
    """What to serve, by which rule, and how it does on test lists."""
    models = [row for row in data["chosen"] if row["name"] in data["models"] and row["valid"]["gain"] > 0]
    best = largest_area(models)
    if best is None:
        return {"choice": "keep", "name": None, "rule": _RULE}
    test = best["test"]
    p = test.get("p")
    taken = "keep" if test["gain"] <= 0 else "take" if p is not None and p < SIGNIFICANCE else "unclear"
    return {
        "choice": taken, "name": best["name"], "label": best["label"], "parameters": best["parameters"],
        "rule": _RULE, "model": data["models"][best["name"]], "p": p,
        **{key: test[key] for key in ("gain", "risk", "share_reranked", "share_of_gain", "share_of_risk")},
    }  # fmt: skip


def headline(data: Json) -> str:
    """What to do, in one sentence."""
    choice = data["recommendation"]
    if choice["name"] is None:
        return "Keep the shown order: no model gains on validation lists"
    name, gain = model_name(choice), signed(100 * choice["gain"], 3)
    match choice["choice"]:
        case "take":
            caution = ", with caution" * (few_lists(data) is not None)
            moved = f"{share_in_words(choice['share_reranked'])} of the lists moved"
            kept = (
                f"gains {gain}"
                if choice["share_of_gain"] is None
                else f"{percent(choice['share_of_gain'])} of the gain"
            )
            return f"Take {name}{caution}: {kept}, {moved}"
        case "unclear":
            return f"We cannot tell yet: {name} gains {gain}, {chance_words(choice['p'])}"
        case _:
            return f"Keep the shown order: {name} is best on validation lists, but does not gain on test lists"


def recommendation_tag(data: Json) -> str:
    """What the model of the headline is: recommended, or only the best that was found."""
    return "recommended" if data["recommendation"]["choice"] == "take" else "best on validation lists"


def few_lists(data: Json) -> str | None:
    """What to say where test lists are too few to rely on."""
    caution = few_queries(data["lists"]["test"], 0.0)
    return None if caution is None else caution.replace("queries", "lists")


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
