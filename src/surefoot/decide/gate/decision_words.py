"""A decision in words: its headline, what is proved of each condition, and how many queries it would take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.decide.evidence.conditions import ConditionRule, condition_named, confidence
from surefoot.decide.gate.sample_size import most_tried
from surefoot.decide.options import DECIDING_SHARE
from surefoot.errors import visible, without_middle
from surefoot.report.numbers import fixed, percent
from surefoot.risk.assessment_data import Json

DECISION_TITLES = {"ship": "Ship", "stop": "Stop", "undecided": "Undecided"}
_LONGEST = 80  # letters of a name
_MOST_NAMED = 3  # conditions that a headline names
_ALONE = "bound for this condition alone"
_OFTEN = f"in {10 * DECIDING_SHARE:g} of 10 cases"


def shown_name(text: str) -> str:
    """A system, segment or query as decisions show it: one that is long without its middle."""
    return without_middle(visible(text), _LONGEST)


def figure4(value: float) -> str:
    """A figure to four digits.

    >>> figure4(-0.09081), figure4(-0.00001)
    ('−0.0908', '0.0000')
    """
    return fixed(value, 4)


def figure_of(condition: Json, value: float | None) -> str:
    """A condition's figure: a share of queries in percent, any other to four digits.

    >>> figure_of({"name": "share_hurt"}, 0.1312), figure_of({"name": "risk"}, 0.1312)
    ('13.12 %', '0.1312')
    """
    if value is None:
        return "–"
    return percent(value, 2) if condition_named(condition["name"]).is_share else figure4(value)


def condition_name(condition: Mapping[str, Any]) -> str:
    """As in `risk ≤ 0.02` or `gain > 0 in head`."""
    rule = ConditionRule(condition["name"], condition["level"], condition["alpha"])
    return rule.words + ("" if condition["segment"] is None else f" in {shown_name(condition['segment'])}")


def proved_bound(condition: Json) -> str:
    """What was proved, as in `≤ 0.0131`."""
    at_most = condition_named(condition["name"]).at_most
    if condition["status"] == "fails":
        return f"{'≥' if at_most else '≤'} {figure_of(condition, condition['bound_fails'])}"
    return f"{'≤' if at_most else '≥'} {figure_of(condition, condition['bound'])}"


def headline(data: Json) -> str:
    """The decision in one sentence."""
    candidate, baseline = shown_name(data["candidate"]), shown_name(data["baseline"])
    conditions = data["conditions"]
    if data["decision"] == "ship":
        many = "both" if len(conditions) == 2 else f"all {len(conditions)}"
        which = "the condition holds" if len(conditions) == 1 else f"{many} conditions hold"
        return f"Ship {candidate} in place of {baseline}: {which}, with {confidence(data['delta'])} confidence."
    if data["decision"] == "stop":
        failed = [condition_name(condition) for condition in conditions if condition["status"] == "fails"]
        which = (
            f"{failed[0]} fails" if len(failed) == 1 else f"{len(failed)} conditions fail (the first is {failed[0]})"
        )
        return f"Keep {baseline}, stop {candidate}: {which}, with {confidence(data['delta'])} confidence."
    broken = _broken(data)
    if broken is None:
        return " ".join([f"We cannot tell yet, so keep {baseline}.", _proved_so_far(data), _needed(data)])
    seen = f"breaks {condition_name(broken)} ({figure_of(broken, broken['observed'])}), but that may be chance"
    return f"Keep {baseline}. On these {judged_words(data)}, {candidate} {seen}. {_proved_either_way(data)}"


def _proved_either_way(data: Json) -> str:
    """How many queries it would take where the candidate is probably bad: another one may cost less."""
    needed = data["queries_needed"]
    if needed is None:
        return f"Even {most_for(data):,} judged queries would probably not prove it either way."
    more = needed - (0 if data["record"] is None else data["queries"])
    queries = "judged queries in a new sample" if data["record"] is None else "more queries"
    cheaper = "; a better candidate is cheaper" if more > data["queries"] else ""
    return f"About {_about(more)} {queries} would prove it either way{cheaper}."


def _proved_so_far(data: Json) -> str:
    """Which conditions are proved and which are not, where it is undecided."""
    conditions = data["conditions"]
    open_ = [condition_name(condition) for condition in conditions if condition["status"] != "holds"]
    proved = [condition_name(condition) for condition in conditions if condition["status"] == "holds"]
    if len(conditions) > _MOST_NAMED:
        return f"{len(proved)} of {len(conditions)} conditions are proved, and none is disproved."
    if not proved:
        return f"{' and '.join(open_)} {'is' if len(open_) == 1 else 'are'} not proved."
    verb = "is" if len(proved) == 1 else "are"
    return f"{' and '.join(proved)} {verb} proved; {' and '.join(open_)} {'is' if len(open_) == 1 else 'are'} not."


def _broken(data: Json) -> Json | None:
    """The open condition that the judged queries themselves break, where there is one."""
    return next((one for one in data["conditions"] if one["status"] == "open" and _breaks(one)), None)


def _breaks(condition: Json) -> bool:
    observed = condition["observed"]
    if observed is None:
        return False
    beyond: float = observed - condition["level"]
    return beyond > 0 if condition_named(condition["name"]).at_most else beyond <= 0


def _needed(data: Json) -> str:
    """How many queries would decide."""
    needed = data["queries_needed"]
    if needed is None:
        return f"Even {most_for(data):,} judged queries would probably not decide."
    if data["record"] is None:
        return f"This look stands alone: about {_about(needed)} judged queries in a new sample would decide {_OFTEN}."
    more = needed - data["queries"]
    return f"About {_about(more)} more {'query' if more == 1 else 'queries'} would decide {_OFTEN}."


def _about(number: int) -> str:
    """A number of queries that is not known exactly.

    >>> _about(160), _about(8424)
    ('160', '8,400')
    """
    return f"{number:,}" if number < 1000 else f"{round(number, 2 - len(str(number))):,}"


def judged_words(data: Json) -> str:
    """How many queries were judged; a query that was drawn twice is two draws."""
    queries, sample = data["queries"], data["sample"]
    if sample["kind"] == "draws":
        return f"{queries:,} draws of {sample['people_queries']:,} judged queries"
    return f"{queries:,} judged {'query' if queries == 1 else 'queries'}"


def most_for(data: Json) -> int:
    """The greatest number of queries that was tried."""
    most = most_tried(data["queries"])
    return most if data["sampled_from"] is None else min(most, int(data["sampled_from"]))


def unit_of(data: Json) -> str:
    """What a condition's number of queries counts."""
    return "draws" if data["sample"]["kind"] == "draws" else "queries"


def sentence(condition: Json, unit: str = "queries") -> str:
    """What is proved of one condition; `unit` is what its number of queries counts."""
    kind = condition_named(condition["name"])
    figure, at_most = kind.words, kind.at_most
    seen = f"Observed on {condition['queries']:,} {unit}: {figure_of(condition, condition['observed'])}."
    if condition["observed"] is None:
        least = f" You need at least {condition['least_queries']:,}." if condition["least_queries"] else ""
        return f"{condition_name(condition)} is open: no query of this segment is judged.{least}"
    if condition["status"] == "fails":
        side = "at least" if at_most else "at most"
        bound = figure_of(condition, condition["bound_fails"])
        return f"{condition_name(condition)} fails: {figure} is {side} {bound} ({_ALONE}). {seen}"
    side = "at most" if at_most else "at least"
    if condition["status"] == "holds":
        bound = figure_of(condition, condition["bound"])
        return f"{condition_name(condition)} holds: {figure} is {side} {bound} ({_ALONE}). {seen}"
    least = condition["least_queries"]
    few = (
        f" You need at least {least:,} {unit} to prove this condition."
        if least and least > condition["queries"]
        else ""
    )
    bound = figure_of(condition, condition["bound"])
    return (
        f"{condition_name(condition)} is open: {figure} is {side} {bound} ({_ALONE}), so it could be above or below "
        f"the level. {seen}{few}{_needed_here(condition)}"
    )


def _needed_here(condition: Json) -> str:
    """How many queries of a segment would decide its condition."""
    needed = condition.get("queries_needed")
    return "" if needed is None else f" About {needed:,} judged queries of this segment would probably decide."


def queries_needed_note(data: Json) -> str | None:
    """What to do next, where it is undecided."""
    if data["decision"] != "undecided":
        return None
    needed, record = data["queries_needed"], data["record"]
    if needed is None:
        return "The observed value is too close to a level. Choose another level, or a candidate that differs more."
    empty = [condition["segment"] for condition in data["conditions"] if not condition["queries"]]
    also = f" Segments without a judged query ({', '.join(map(shown_name, empty[:3]))}) need more." if empty else ""
    if record is None:
        return f"To look more than once, begin with --record FILE.{also}"
    if record["waiting"]["queries"]:
        return f"Judge the queries that are waiting, then run this command again.{also}"
    more = needed - data["queries"]
    if data["sample"]["kind"] != "draws" and data["sampled_from"] is None:
        return f"Draw them at random from the same traffic, judge all of them, and run this command again.{also}"
    uniform = "" if data["sample"]["kind"] == "draws" else "--uniform "
    return (
        f"Judge those that surefoot judge next {uniform}-n {more} --record FILE lists, all of them, then run this "
        f"command again.{also}"
    )
