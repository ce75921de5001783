"""Which model of a sweep to choose: the rule, what it takes on validation data, and the sentences that say so.

The rule is that of `surefoot select --keep-gain 0.95`, on all validation queries at once. Test queries say what the
choice is worth. With several folds they are other folds' validation queries, so the rule is also followed fold by fold,
as `select` does: that is what the choice is worth on queries that had no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from surefoot.choose.options import MODEL, RANKINGS
from surefoot.errors import visible
from surefoot.learn.options import OBJECTIVE
from surefoot.report.columns import chance_words
from surefoot.report.family import Chip, ChipKind, Front, Tile
from surefoot.report.notes import few_queries, too_few_of
from surefoot.report.numbers import percent, signed
from surefoot.risk.assessment_data import Json
from surefoot.significance import SIGNIFICANCE

CHOICES = ("take", "keep", "unclear")  # what a study may recommend to do with the point of its rule
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
_TIMES = {1: "once", 2: "twice", 3: "three times", 4: "four times", 5: "five times"}
_MEANS = ("mean", "gain", "reward", "risk")
_SUMS = ("wins", "losses", "ties", "loss_over_20")


@dataclass(frozen=True)
class Recommendation:
    """What a study of points recommends, in words and as the front of its page; of a sweep, and of re-rankers.

    A point is taken by a rule on validation data, and judged on test data. `choice` is the plain data of that: what to
    do, the point's name (null where none gains on validation data), the rule.
    """

    choice: Json
    counted: str  # what figures are means over: queries or lists
    today: str  # what is shipped without the point
    point: str = ""  # it, in a sentence
    take: str = ""  # what is said after "Take" where it is to be taken
    gain: str = ""  # what it gains on test data
    p: float | None = None  # of that gain
    cautions: Sequence[str] = ()  # what to know before following it
    is_doubtful: bool = False

    @property
    def headline(self) -> str:
        """What to do, in one sentence."""
        if self.choice["name"] is None:
            return f"Keep {self.today}: no model gains on validation {self.counted}"
        match self.choice["choice"]:
            case "take":
                return f"Take {self.take}"
            case "unclear":
                return f"We cannot tell yet: {self.point} gains {self.gain}, {chance_words(self.p)}"
            case _:
                return (
                    f"Keep {self.today}: {self.point} is best on validation {self.counted}, but does not gain on test "
                    f"{self.counted}"
                )

    @property
    def tag(self) -> str:
        """What the point of the headline is: recommended, or only the best that was found."""
        return "recommended" if self.choice["choice"] == "take" else f"best on validation {self.counted}"

    def note(self, point: str, judged_on: str) -> str:
        """How the point of the headline was chosen and judged."""
        if self.choice["name"] is None:
            return f"No model gains on validation {self.counted}, so none is recommended."
        return f"{point} is {self.tag}. {self.choice['rule']} Its figures are those of {judged_on}."

    def front(self, tiles: Sequence[Tile]) -> Front:
        """The headline, a chip, what to know before following it, and figures on test data."""
        chips = {"keep": Chip("Keep", "keep"), "unclear": Chip("Unclear", "wait"), "take": Chip("Take", "ship")}
        is_careful = self.is_doubtful and self.choice["choice"] == "take"
        chip = Chip("Take, with caution", "wait") if is_careful else chips[self.choice["choice"]]
        return Front(self.headline, chip, " ".join(self.cautions) or None, tiles)

    def gain_tile(self, share: float | None, figure: str, note: str) -> Tile:
        """The gain as a share of what gain alone has, where that has any; else the gain itself."""
        kinds: dict[str, ChipKind] = {"take": "ship", "keep": "keep"}
        return share_tile("Gain", "kept", share, figure, note)._replace(kind=kinds.get(self.choice["choice"]))


def share_tile(label: str, word: str, share: float | None, figure: str, note: str) -> Tile:
    """A figure as a share of that of gain alone, where that has any; else the figure itself."""
    return Tile(label, figure, note) if share is None else Tile(f"{label} {word}", percent(share), note)


def judged(gain: float, p: float | None) -> str:
    """What to do with a point that gains so much on test data, with this p: take it, keep what is there, or unclear."""
    return "keep" if gain <= 0 else "take" if p is not None and p < SIGNIFICANCE else "unclear"


def recommend(data: Json) -> Json:
    """What to choose, by which rule, and what it keeps of the gain-only model's gain and risk."""
    rows, gain_row = data["rows"], gain_only(data["rows"])
    models = [row for row in rows if row["kind"] == MODEL]
    best = _best(models, gain_row, lambda row: row["valid"])
    rule = _NO_GAIN_ONLY if gain_row is None else _RULE if gain_row["valid"]["gain"] > 0 else _MOST_GAIN
    if best is None:
        return {"choice": "keep", "name": None, "rule": rule}
    p = best["test"]["p_baseline"]
    return {
        "choice": judged(best["test"]["gain"], p), "name": best["name"], "rule": rule,
        **_parts(best, gain_row), "p_baseline": p,
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


def recommendation(data: Json) -> Recommendation:
    """What a sweep recommends, in words."""
    choice, baseline = data["recommendation"], visible(data["baselines"][0]["name"])
    if choice["name"] is None:
        return Recommendation(choice, "queries", baseline)
    name, test, own = model_name(choice["name"]), choice["test"], gain_only(data["rows"])
    few, folds = _few(data, choice), choice["by_fold"]
    is_doubtful = few is not None or _no_better(folds)
    if own is not None and own["name"] == choice["name"] and test["share_of_gain"] is not None:
        take = f"{name}: no other model keeps {percent(KEPT_GAIN_SHARE)} of its gain at less risk"
    else:
        take = f"{name}{', with caution' * is_doubtful}: it {kept_in_words(test)}"
    cautions = [] if choice["choice"] == "keep" else [*filter(None, [few]), *_doubts(choice)]
    gain = signed(test["gain"], 4)
    return Recommendation(choice, "queries", baseline, name, take, gain, choice["p_baseline"], cautions, is_doubtful)


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


def _doubts(choice: Json) -> Iterator[str]:
    """What folds and strategies say against a choice."""
    folds, strategy = choice["by_fold"], choice["strategy"]
    if folds is not None and set(folds["chosen"].values()) != {choice["name"]}:
        agree = sum(name == choice["name"] for name in folds["chosen"].values())
        yield (
            f"{agree} of {len(folds['chosen'])} folds take this model on their own validation queries. If each fold "
            f"uses its own choice, the result {kept_in_words(folds['test'])}"
            + (". This is no better than using gain alone less often." if _no_better(folds) else ".")
        )
    if strategy is not None:
        yield (
            f"{visible(strategy['name'])} needs no further training and {kept_in_words(strategy['test'])}: compare it "
            "below."
        )


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


def gain_only_rows(rows: Sequence[Json]) -> list[Json]:
    """The models that optimise gain alone: one, unless a grid that is not tuned has several."""
    return [row for row in rows if row["kind"] == MODEL and row["objective"] == OBJECTIVE]


def gain_only(rows: Sequence[Json]) -> Json | None:
    """The gain-only model that all others are held against: the first."""
    return next(iter(gain_only_rows(rows)), None)


def pooled(chosen: Mapping[str, Json], part: str = "test", *, saved: bool = False) -> Json:
    """The figures over all folds' queries where each fold has the row that was chosen for it.

    They are means over seeds; on test data those of the first seed, whose model is saved, where `saved` is true.
    """
    folds = [row["folds"][fold] for fold, row in chosen.items()]
    each = [figures["first_seed"] if saved and "first_seed" in figures else figures[part] for figures in folds]
    queries = sum(figures["queries"] for figures in each)
    weights = [figures.get("weight", figures["queries"]) for figures in each]  # by traffic, where that counts
    means: Json = {
        key: sum(figures[key] * weight for figures, weight in zip(each, weights, strict=True)) / sum(weights)
        for key in _MEANS
    }
    return means | {key: sum(figures[key] for figures in each) for key in _SUMS} | {"queries": queries}


def chosen_in_words(chosen: Mapping[str, Json]) -> str:
    """Which rows were chosen, and how often, in words.

    >>> chosen_in_words({"1": {"name": "gain"}, "2": {"name": "saro α=5"}, "3": {"name": "saro α=5"}})
    'saro α=5 twice, gain once'
    """
    names = [str(row["name"]) for row in chosen.values()]
    if len(set(names)) == 1:
        return names[0] + " each time" * (len(names) > 1)
    often = sorted(dict.fromkeys(names), key=lambda name: -names.count(name))
    return ", ".join(f"{name} {_TIMES.get(names.count(name), f'{names.count(name)} times')}" for name in often)
