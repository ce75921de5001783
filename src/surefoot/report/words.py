"""An assessment in plain words: what a candidate gains, whom it hurts, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from surefoot.errors import name_list
from surefoot.report.columns import candidates, p_words, sort_rows
from surefoot.report.notes import (
    judgment_cautions,
    of_traffic,
    once_each,
    segment_size,
    too_few,
    traffic_note,
    traffic_weights,
)
from surefoot.report.numbers import fixed, measure_note, measure_title
from surefoot.risk.assessment_data import AssessmentData, AtAlpha, Outcome, OutcomeFrom, SystemData
from surefoot.risk.outcomes import LAST_SEARCHED_ALPHA
from surefoot.risk.tradeoff import alpha_key
from surefoot.significance import CONFIDENCE_PERCENT


def baselines_of(data: AssessmentData) -> list[str]:
    """The baselines' names, of one too."""
    baseline = data["baseline"]
    return [baseline] if isinstance(baseline, str) else list(baseline)


def leader(data: AssessmentData) -> SystemData:
    """The system a reader most likely asks about: the best by mean that is not a baseline, where there is one."""
    return (candidates(data) or sort_rows(data, "mean"))[0]


def baseline_name(data: AssessmentData) -> str:
    """The baseline as a reader would say it."""
    systems = {row["system"] for row in data["systems"]}
    names = [
        name if name in systems else f"the per-query {name} of {_systems(len(data['population']))}"
        for name in baselines_of(data)
    ]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} in turn"


def title(data: AssessmentData) -> str:
    """What was measured, on how much, against what."""
    queries = data["queries"]
    return (
        f"{measure_title(data['measure'])} of {_systems(len(data['systems']))} on {queries:,} "
        f"quer{'ies' if queries != 1 else 'y'}{', weighted by traffic' if traffic_weights(data) else ''}, against "
        f"{baseline_name(data)}"
    )


def _systems(count: int) -> str:
    return f"{count:,} system{'s' * (count != 1)}"


def alpha_title(alpha: float) -> str:
    """What α means, as a heading."""
    weight = "as much as gains" if alpha == 0 else f"{1 + alpha:g} times as much as gains"
    return f"α = {alpha:g}: losses count {weight}"


def default_alpha(alphas: Sequence[float]) -> float:
    """The α that is looked at first: the smallest above 0, where risk begins to count.

    >>> default_alpha([0, 1, 5]), default_alpha([0])
    (1, 0)
    """
    return min((alpha for alpha in alphas if alpha > 0), default=max(alphas))


def advice(data: AssessmentData, alpha: float) -> list[str]:
    """What the system of the highest U_Risk does, what to know of that of the highest mean, and any caution."""
    others = _others(data)
    if not others:
        return [f"There is no system to compare with {baseline_name(data)}."]
    chosen, best = recommended_system(data, alpha), leader(data)
    sentences = [_found(data, chosen, alpha) + describe(data, chosen, alpha)]
    if _outcome(chosen, alpha) == "better":
        sentences[0] += " To decide on a release, use surefoot gate."
    if best is not chosen:
        sentences.append(f"The system with the highest mean: {describe(data, best, alpha)}")
    return [*sentences, *filter(None, [too_few(data, alpha)])]


def _others(data: AssessmentData) -> list[SystemData]:
    return [row for row in data["systems"] if not row["is_baseline"]]


def _outcome(row: SystemData, alpha: float) -> Outcome | None:
    return row["alpha"][alpha_key(alpha)]["outcome"]


def _found(data: AssessmentData, chosen: SystemData, alpha: float) -> str:
    """Before what is said of one of several systems, where none is better."""
    if len(_others(data)) == 1 or _outcome(chosen, alpha) in ("better", None):
        return ""
    return f"{_none_better(data, alpha)}. The closest system: "


def _none_better(data: AssessmentData, alpha: float) -> str:
    return f"No system is better than {baseline_name(data)} at α = {alpha:g} by more than chance"


def headline(data: AssessmentData, alpha: float) -> tuple[str, str]:
    """The fact, what it means at α, and that in a word; the page's first line, drawn by `turns.js` too."""
    others = _others(data)
    if not others:
        return f"There is no system to compare with {baseline_name(data)}", "No system"
    chosen, over = recommended_system(data, alpha), baseline_name(data)
    outcome = _outcome(chosen, alpha)
    word = "No test" if outcome is None else outcome.capitalize()
    if len(others) > 1 and outcome not in ("better", None):
        return _none_better(data, alpha), "None better"
    if outcome == "same":
        return f"{chosen['system']} {_SAME_SCORES} {over} on every query", word
    fact = f"{chosen['system']} {_change(data, chosen)}, and {_get_worse(data, chosen)}"
    meaning = {
        "better": f"it is better than {over} at α = {alpha:g}",
        "worse": f"it is worse than {over} at α = {alpha:g}",
        "unclear": f"we cannot tell whether it is better than {over} at α = {alpha:g}",
    }
    return f"{fact}: {meaning.get(outcome or '', 'no test says whether that is chance')}", word


def recommended_system(data: AssessmentData, alpha: float) -> SystemData:
    """The system of the highest U_Risk among those that are better at α, or among all."""
    others = _others(data)
    better = [row for row in others if _outcome(row, alpha) == "better"]
    return max(better or others, key=lambda row: row["alpha"][alpha_key(alpha)]["u_risk"]) if others else leader(data)


def in_words(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """One system in plain words, with a caution where the queries are too few."""
    return " ".join(filter(None, [describe(data, row, alpha), too_few(data, alpha)]))


def describe(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """One system's gain and losses, what they mean at α and at others, and which segments suffer."""
    sentences = effect(data, row), significance(data, row, alpha), hurt_segments(data, row, alpha)
    return " ".join(filter(None, sentences))


_SAME_SCORES = "has the same scores as"


def effect(data: AssessmentData, row: SystemData) -> str:
    """What a system gains or loses on average, how many queries get worse, and which of them were never answered."""
    if any(test["outcome"] == "same" for test in row["alpha"].values()):
        return f"{row['system']} {_SAME_SCORES} {baseline_name(data)} on every query.{_gaps(data, row)}"
    worse = _get_worse(data, row)
    badly = f"{_count(row['loss_over_20'])} of them by more than 20 %{of_traffic(row, 'loss_over_20')}"
    return (
        f"{row['system']} {_change(data, row)} on average. {worse[0].upper()}{worse[1:]}"
        f"{f', {badly}' if row['losses'] else ''}.{once_each(row)}{_gaps(data, row)}"
    )


def _change(data: AssessmentData, row: SystemData) -> str:
    measure = measure_title(data["measure"])
    if row["gain"] == 0:
        return f"neither gains nor loses {measure}"
    return f"{'gains' if row['gain'] > 0 else 'loses'} {abs(row['gain']):.4f} {measure}"


def _get_worse(data: AssessmentData, row: SystemData) -> str:
    if not row["losses"]:
        return "no query gets worse"
    verb = "gets" if row["losses"] == 1 else "get"
    return f"{_count(row['losses'])} of {data['queries']:,} queries {verb} worse{of_traffic(row, 'losses')}"


def _gaps(data: AssessmentData, row: SystemData) -> str:
    """The queries that the system or a baseline lacks: there the figures tell nothing of its ranking."""
    if data["dropped"]:
        return f" {_queries(data['dropped'])} that some system lacks {_verb(data['dropped'])} left out."
    lacking = {name: data["missing"].get(name, 0) for name in (row["system"], *baselines_of(data))}
    return "".join(
        f" {name} lacks {count:,} of the {data['queries']:,} queries; they score 0."
        for name, count in lacking.items()
        if count
    )


_HERE = {"better": "it is better", "worse": "it is worse", "unclear": "we cannot tell"}


def significance(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """What that means at α when losses count 1 + α times, and at which other α it means something else."""
    test, over = row["alpha"][alpha_key(alpha)], baseline_name(data)
    outcome, at = test["outcome"], f"at α = {alpha:g}"
    if outcome == "same":
        return ""
    if test["t_risk"] is None:
        return f"No test says whether that is chance: {test['reasons']['t_risk']}."
    if test["p_holm"] is None or outcome is None:
        return f"T_Risk is {fixed(test['t_risk'], 2)} {at} ({test['reasons']['t_risk']})."
    p, turns = p_words(test["p_holm"]), row["outcome_by_alpha"]
    if turns is not None and len(turns) > 1:
        what = "Whether that is worth it" if row["gain"] > 0 else "What that means"
        said = f"{what} depends on α: {_bands(turns, over)}. (Here α = {alpha:g}: {_HERE[outcome]}, {p}.)"
    else:
        most = f"{max(LAST_SEARCHED_ALPHA, *data['alphas']):g}"
        always = turns is not None
        said = (
            f"We cannot tell whether it is better or worse than {over} {at} ({p})"
            f"{f', nor at any other α up to {most}' if always else ''}."
            if outcome == "unclear"
            else f"{_sentence(_HERE[outcome])} than {over} {at} ({p})"
            f"{f', and at every other α up to {most}' if always else ''}."
        )
    return said + _robust(test)


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


_MOST_BANDS = 4  # of outcomes that come and go, which are told one by one


def _bands(turns: Sequence[OutcomeFrom], over: str) -> str:
    """From which α on which outcome holds."""
    starts = [alpha_key(turn["alpha"]) for turn in turns]
    words = [_HERE[turn["outcome"]] for turn in turns]
    first = f"{words[0]}{'' if turns[0]['outcome'] == 'unclear' else f' than {over}'} up to α = {starts[1]}"
    last = words[-1] + (f" than {over}" if turns[0]["outcome"] == "unclear" != turns[-1]["outcome"] else "")
    if [turn["outcome"] for turn in turns] == ["better", "unclear", "worse"]:
        return f"{first}, worse from {starts[2]} on; between, we cannot tell"
    if len(turns) == 2:
        return f"{first}; from there on, {last}"
    between = [
        f"{word} from {low} to {high}" for low, high, word in zip(starts[1:-1], starts[2:], words[1:-1], strict=True)
    ]
    if len(between) > _MOST_BANDS:
        between = [f"this changes several times from {starts[1]} to {starts[-1]}"]
    return f"{'; '.join([first, *between])}; {last} from {starts[-1]} on"


def _robust(test: AtAlpha) -> str:
    """Whether one more query could change the outcome, where there is something to change."""
    alone = test["outcome_without_extra_query"]
    if alone not in _ANOTHER:
        return ""
    often = "" if test.get("p_traffic") is None else ", asked as often as a typical request's query,"
    another = f"one more query as {_ANOTHER[alone]}{often}"
    if test["outcome"] == alone:
        return f" {_sentence(another)} would not change this."
    return f" The judged queries alone say that it is {alone}, but {another} would change that."


_ANOTHER: dict[str | None, str] = {"better": "bad as its worst", "worse": "good as its best"}


def hurt_segments(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """The segments whose queries a system hurts by more than chance at α, the most hurt first."""
    if not data["segments"]:
        return ""
    at = [
        (column["column"], part, entry["alpha"][alpha_key(alpha)])
        for column in data["segments"]
        for part in column["segments"]
        for entry in part["systems"]
        if entry["system"] == row["system"]
    ]
    at_risk = sorted(
        (segment for segment in at if segment[2]["outcome"] == "worse"), key=lambda segment: segment[2]["u_risk"]
    )
    if not at_risk:
        return "No segment gets worse by more than chance."
    named = [f"{column} {part['segment']} ({segment_size(part)})" for column, part, _ in at_risk]
    return f"These segments get worse by more than chance: {name_list(named, 5, str)}."


def cautions(data: AssessmentData) -> list[str]:
    """What a reader must know before the numbers: they stand first."""
    lines = judgment_cautions(data)
    missing = [f"{name} ({count:,})" for name, count in data["missing"].items() if count]
    lacking = name_list(missing, 8, str)
    if data["dropped"]:
        dropped = data["dropped"]
        left_out = f"{_queries(dropped)} that some system lacks {_verb(dropped)} left out."
        lines.append(f"{left_out} Missing queries for each system: {lacking}.")
    elif missing:
        lines.append(f"Queries that a system lacks score 0. Missing queries, of {data['queries']:,}: {lacking}.")
    if (traffic := data.get("traffic")) and traffic["left_out"]:
        lines.append(f"{_queries(traffic['left_out'])} without traffic {_verb(traffic['left_out'])} left out.")
    return lines


def notes(data: AssessmentData) -> list[str]:
    """What a reader should know to read the numbers, whatever α is looked at."""
    lines = [note for note in [measure_note(data["measure"])] if note]
    if (given := data.get("traffic")) is not None:
        lines.append(traffic_note(given))
    if traffic_weights(data):
        return lines + _later_notes(data)
    if len(data["population"]) < len(data["systems"]):
        lines.append(f"Z_Risk and GeoRisk are computed from the systems {', '.join(data['population'])}.")
    elif data["systems"] and data["systems"][0]["alpha"]:
        lines.append(f"Z_Risk and GeoRisk are computed from all {_systems(len(data['population']))}.")
    if len(data["population"]) == 1:
        lines.append(
            "With a single system, Z_Risk is always 0, because the expected scores are the system's own scores."
        )
    if data["score_range"][0] >= 0 and data["score_range"][1] > 1:
        lines.append(
            f"GeoRisk depends on the scale of the scores. It needs scores from 0 to 1, but the largest here is "
            f"{data['score_range'][1]:g}. Divide all scores by the largest possible score."
        )
    return lines + _later_notes(data)


def _later_notes(data: AssessmentData) -> list[str]:
    lines = list(_unsure_intervals(data))
    if data["no_relevant"]:
        lines.append(f"{data['no_relevant']} judged queries have no relevant document; every system scores 0 there.")
    if data["tie_rule"]:
        rule = data["tie_rule"].replace(" descending", ", in descending order")
        lines.append(f"Documents with equal scores are ranked by {rule}.")
    return lines


def _unsure_intervals(data: AssessmentData) -> Iterator[str]:
    """Where the interval of U_Risk leaves out 0, though no outcome does."""
    for alpha in data["alphas"]:
        tests = [(row["system"], row["alpha"][alpha_key(alpha)]) for row in data["systems"]]
        names = [
            name
            for name, test in tests
            if test["outcome"] == "unclear"
            and test["u_risk_interval"] is not None
            and not test["u_risk_interval"][0] <= 0 <= test["u_risk_interval"][1]
        ]
        if names:
            yield (
                f"At α = {alpha:g} the {CONFIDENCE_PERCENT} interval of U_Risk does not contain 0 for "
                f"{name_list(names, 6, str)}, "
                "but we still cannot tell whether they are better or worse: p also allows for one more bad query and "
                "for the number of systems."
            )


def absences(data: AssessmentData) -> list[str]:
    """Why figures are absent or not to be trusted, and for which systems."""
    baselines = [row["system"] for row in data["systems"] if row["is_baseline"]]
    lines = [f"{name} is the baseline. It is not tested (–)." for name in baselines if len(baselines) == 1]
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in data["systems"]:
        for test in row["alpha"].values():
            for what, why in (
                ("No test", test["reasons"]["t_risk"]),
                ("No Z_Risk and GeoRisk", test["reasons"]["z_risk"]),
            ):
                if why is None or (what == "No test" and row["system"] in baselines and len(baselines) == 1):
                    continue
                names = reasons.setdefault((what, why), [])
                if row["system"] not in names:
                    names.append(row["system"])
    for (what, why), names in reasons.items():
        whom = "all systems" if len(names) == len(data["systems"]) else name_list(names, 6, str)
        lines.append(f"{what} for {whom} (–): {why}.")
    untrusted = [
        row["system"] for row in data["systems"] if any(test["trusted"] is False for test in row["alpha"].values())
    ]
    if untrusted:
        lines.append(f"The two standard errors differ for {', '.join(untrusted)}: do not trust their tests.")
    return lines


def _queries(count: int) -> str:
    return f"{count:,} judged quer{'ies' if count != 1 else 'y'}"


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


def _count(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
