"""Which model of a sweep to choose: the rule, what it takes on validation data, and the sentences that say so.

The rule is that of `surefoot select --keep-gain 0.95`, on all validation queries at once. Test queries say what the
choice is worth. With several folds they are other folds' validation queries, so the rule is also followed fold by fold,
as `select` does: that is what the choice is worth on queries that had no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from surefoot.choose.options import MODEL, RANKINGS
from surefoot.choose.rows import gain_only, pooled
from surefoot.errors import visible
from surefoot.report.columns import chance_words
from surefoot.report.notes import few_queries, too_few_of
from surefoot.report.numbers import percent, signed
from surefoot.risk.assessment_data import Json
from surefoot.significance import SIGNIFICANCE

KEPT_GAIN_SHARE = 0.95  # of the gain-only model's gain, on validation data
_RULE = (
    f"On validation queries, it has the least risk of all models that keep at least {percent(KEPT_GAIN_SHARE)} of the "
    "gain-only model's gain."
)
_MOST_GAIN = (
    "On validation queries, it has the most gain. (The rule by risk does not apply, because the gain-only "
    "model does not gain there.)"
)
_NO_GAIN_ONLY = (
    "On validation queries, it has the most gain. (The rule by risk does not apply, because there is no "
    "gain-only model.)"
)


def recommend(data: Json) -> Json:
    """What to choose, by which rule, and what it keeps of the gain-only model's gain and risk."""
    rows, gain_row = data["rows"], gain_only(data["rows"])
    models = [row for row in rows if row["kind"] == MODEL]
    best = _best(models, gain_row, lambda row: row["valid"])
    rule = _NO_GAIN_ONLY if gain_row is None else _RULE if gain_row["valid"]["gain"] > 0 else _MOST_GAIN
    if best is None:
        return {"choice": "keep", "name": None, "rule": rule}
    p = best["test"]["p_baseline"]
    taken = "keep" if best["test"]["gain"] <= 0 else "take" if p is not None and p < SIGNIFICANCE else "unclear"
    return {
        "choice": taken, "name": best["name"], "rule": rule, **_parts(best, gain_row), "p_baseline": p,
        "by_fold": _by_fold(data, models, gain_row), "strategy": _strategy(rows, best, gain_row),
    }  # fmt: skip


def _best(rows: Sequence[Json], gain_row: Json | None, figures: Callable[[Json], Json]) -> Json | None:
    """The row that the rule takes by these figures; none where no row gains."""
    gain_only_figures = 0.0 if gain_row is None else figures(gain_row)["gain"]
    if gain_only_figures > 0:
        kept = [row for row in rows if figures(row)["gain"] >= KEPT_GAIN_SHARE * gain_only_figures]
        return min(kept, key=lambda row: (figures(row)["risk"], -figures(row)["gain"]), default=None)
    gaining = [row for row in rows if figures(row)["gain"] > 0]
    return max(gaining, key=lambda row: float(figures(row)["gain"]), default=None)


def _parts(row: Json, gain_row: Json | None) -> Json:
    """Gain and risk on validation and test queries, also as shares of the gain-only model's."""
    return {part: _shares(row[part], None if gain_row is None else gain_row[part]) for part in ("valid", "test")}


def _shares(mine: Json, gain_only_figures: Json | None) -> Json:
    gain_only_figures = gain_only_figures or {"gain": 0.0, "risk": 0.0}
    return {
        "gain": mine["gain"], "risk": mine["risk"],
        "share_of_gain": mine["gain"] / gain_only_figures["gain"] if gain_only_figures["gain"] > 0 else None,
        "share_of_risk": mine["risk"] / gain_only_figures["risk"] if gain_only_figures["risk"] > 0 else None,
    }  # fmt: skip


def _by_fold(data: Json, models: Sequence[Json], gain_row: Json | None) -> Json | None:
    """What the rule takes on each fold's validation queries, and what that comes to on all test queries."""

    def on(fold: str) -> Callable[[Json], Json]:
        return lambda row: row["folds"][fold]["valid"]

    chosen = {fold: _best(models, gain_row, on(fold)) for fold in data["folds"]}
    rows: Mapping[str, Json] = {fold: row for fold, row in chosen.items() if row is not None}
    if len(rows) < len(chosen):  # on some fold nothing gains
        return None
    names = {fold: row["name"] for fold, row in rows.items()}
    return {
        "chosen": names,
        "test": _shares(pooled(rows), None if gain_row is None else pooled(dict.fromkeys(rows, gain_row))),
    }


def _strategy(rows: Sequence[Json], best: Json, gain_row: Json | None) -> Json | None:
    """What is made of the gain-only model and does better by the same rule, if anything does."""
    if gain_row is None or gain_row["valid"]["gain"] <= 0:
        return None
    others = [row for row in rows if row["kind"] in RANKINGS and row["kind"] != MODEL]
    least = _best(others, gain_row, lambda row: row["valid"])
    if least is None or least["valid"]["risk"] >= best["valid"]["risk"]:
        return None
    return {"name": least["name"], **_parts(least, gain_row)}


def headline(data: Json) -> str:
    """What to do, in one sentence."""
    choice, baseline = data["recommendation"], visible(data["baselines"][0]["name"])
    if choice["name"] is None:
        return f"Keep {baseline}: no model gains on validation queries"
    name, test = model_name(choice["name"]), choice["test"]
    match choice["choice"]:
        case "take":
            own = gain_only(data["rows"])
            if own is not None and own["name"] == choice["name"] and test["share_of_gain"] is not None:
                return f"Take {name}: no other model keeps {percent(KEPT_GAIN_SHARE)} of its gain at less risk"
            return f"Take {name}{', with caution' * is_doubtful(data)}: it {kept_in_words(test)}"
        case "unclear":
            return f"We cannot tell yet: {name} gains {signed(test['gain'], 4)}, {chance_words(choice['p_baseline'])}"
        case _:
            return f"Keep {baseline}: {name} is best on validation queries, but does not gain on test queries"


def recommendation_tag(data: Json) -> str:
    """What the model of the headline is: recommended, or only the best that was found."""
    return "recommended" if data["recommendation"]["choice"] == "take" else "best on validation queries"


def is_doubtful(data: Json) -> bool:
    """Whether test queries are few, or fold by fold the rule does no better than proportional reduction."""
    choice = data["recommendation"]
    return choice["name"] is not None and bool(_few(data, choice) or _no_better(choice["by_fold"]))


def _few(data: Json, choice: Json) -> str | None:
    alpha = next((row["alpha"] for row in data["rows"] if row["name"] == choice["name"]), None)
    queries, weights = data["queries"]["test"], data.get("traffic")
    if weights is None or weights["equal"]:
        return few_queries(queries, alpha or 0.0)
    return too_few_of(queries, weights["effective_queries"], alpha or 0.0)


def _no_better(folds: Json | None) -> bool:
    """Whether the folds' choices keep no greater share of the gain than of the risk, and not all chose gain alone."""
    if folds is None:
        return False
    gain, risk = folds["test"]["share_of_gain"], folds["test"]["share_of_risk"]
    return gain is not None and risk is not None and gain <= risk and gain != 1


def cautions(data: Json) -> list[str]:
    """What to know before following the headline."""
    choice = data["recommendation"]
    if choice["name"] is None or choice["choice"] == "keep":
        return []
    lines = [_few(data, choice)]
    folds = choice["by_fold"]
    if folds is not None and set(folds["chosen"].values()) != {choice["name"]}:
        agree = sum(name == choice["name"] for name in folds["chosen"].values())
        lines.append(
            f"{agree} of {len(folds['chosen'])} folds take this model on their own validation queries. If each fold "
            f"uses its own choice, the result {kept_in_words(folds['test'])}"
            + (". This is no better than using gain alone less often." if _no_better(folds) else ".")
        )
    strategy = choice["strategy"]
    if strategy is not None:
        lines.append(
            f"{visible(strategy['name'])} needs no further training and {kept_in_words(strategy['test'])}: compare it "
            "below."
        )
    return [line for line in lines if line]


def kept_in_words(shares: Json) -> str:
    """What is left of the gain-only model's gain and risk; the figures where those are no measure.

    >>> kept_in_words({"gain": 0.1, "risk": 0.02, "share_of_gain": 0.97, "share_of_risk": 0.53})
    'keeps 97 % of the gain at 53 % of the risk'
    """
    gain, risk = shares["share_of_gain"], shares["share_of_risk"]
    kept = (
        f"gains {signed(shares['gain'], 4)}"
        if gain is None
        else f"{'keeps' if gain <= 1 else 'has'} {percent(gain)} of the gain"
    )
    return f"{kept} at " + (f"a risk of {shares['risk']:.4f}" if risk is None else f"{percent(risk)} of the risk")


def model_name(name: str) -> str:
    """A candidate's name in a sentence.

    >>> model_name("u_risk α=10"), model_name("gain")
    ('u_risk α = 10', 'gain alone')
    """
    return "gain alone" if name == "gain" else visible(name).replace("α=", "α = ")
