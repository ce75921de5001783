"""An assessment in plain words: what a candidate gains, whom it hurts, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from surefoot.errors import name_list
from surefoot.report.columns import candidates, p_words, sort_rows
from surefoot.report.few_queries import too_few
from surefoot.report.judged_by import judgment_cautions
from surefoot.report.measure_names import measure_note, measure_title
from surefoot.report.numbers import fixed
from surefoot.report.traffic_words import of_traffic, once_each, segment_size, traffic_note, traffic_weights
from surefoot.risk.assessment_data import AssessmentData, AtAlpha, SystemData
from surefoot.risk.assessment_figures import alpha_key
from surefoot.risk.turns import LAST_SEARCHED_ALPHA
from surefoot.significance import CONFIDENCE_PERCENT

CLOSEST_SYSTEM_PREFIX = "The closest system:"  # comes before what is said of a system that is not to be shipped


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
    """Which system to ship at α, what to know of the one of the highest mean if that is another, and any caution."""
    others = [row for row in data["systems"] if not row["is_baseline"]]
    if not others:
        return [f"There is no system to compare with {baseline_name(data)}."]
    chosen, sentence = _recommendation(data, others, alpha)
    best = leader(data)
    sentences = [sentence]
    if best is not chosen:
        sentences.append(f"The system with the highest mean: {_description(data, best, alpha)}")
    return [*sentences, *filter(None, [too_few(data, alpha)])]


def headline(data: AssessmentData, alpha: float) -> tuple[str, str]:
    """The decision at α in one sentence, and in a word or two; the page's first line, drawn by `turns.js` too."""
    others = [row for row in data["systems"] if not row["is_baseline"]]
    if not others:
        return f"There is no system to compare with {baseline_name(data)}", "No system"
    chosen, _ = _recommendation(data, others, alpha)
    if chosen["alpha"][alpha_key(alpha)]["verdict"] == "reward":
        gain = f"{abs(chosen['gain']):.4f} {measure_title(data['measure'])}"
        hurt = f"{chosen['losses']:,} of {data['queries']:,} queries{of_traffic(chosen, 'lost')}"
        return f"{_ship(data, chosen, alpha)}: it gains {gain} and hurts {hurt}", "Ship"
    if chosen["alpha"][alpha_key(alpha)]["p_holm"] is None:
        return _untested(chosen), "No test"
    return f"{_keep(data)}: no system's reward outweighs its risk by more than chance", "Keep"


def recommended_system(data: AssessmentData, alpha: float) -> SystemData:
    """The system that the decision at α speaks of: the one to ship, or the nearest to it."""
    others = [row for row in data["systems"] if not row["is_baseline"]]
    return _recommendation(data, others, alpha)[0] if others else leader(data)


def _ship(data: AssessmentData, row: SystemData, alpha: float) -> str:
    how = ", with caution" if too_few(data, alpha) else ""
    return f"Ship {row['system']}{how}"


def _keep(data: AssessmentData) -> str:
    named = isinstance(data["baseline"], str) and any(row["is_baseline"] for row in data["systems"])
    return f"Keep {data['baseline']}" if named else "Do not ship any system yet"


def _untested(row: SystemData) -> str:
    return f"{row['system']} has the highest U_Risk, but no test can say whether this is chance"


def _recommendation(data: AssessmentData, others: list[SystemData], alpha: float) -> tuple[SystemData, str]:
    """The system of the highest U_Risk among those whose reward prevails, or among all, and what to do about it."""
    key = alpha_key(alpha)
    rewarded = [row for row in others if row["alpha"][key]["verdict"] == "reward"]
    chosen = max(rewarded or others, key=lambda row: row["alpha"][key]["u_risk"])
    description = _description(data, chosen, alpha)
    if rewarded:
        return chosen, f"{_ship(data, chosen, alpha)}. {description}"
    if chosen["alpha"][key]["p_holm"] is None:
        return chosen, f"{_untested(chosen)}. {description}"
    return (
        chosen,
        f"{_keep(data)}: no system's reward outweighs its risk by more than chance. {CLOSEST_SYSTEM_PREFIX} "
        f"{description}",
    )


def verdict(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """One system in plain words, with a caution where the queries are too few."""
    return " ".join(filter(None, [_description(data, row, alpha), too_few(data, alpha)]))


def _description(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """One system's gain, losses and significance at α, where that turns, and which segments suffer."""
    sentences = (
        effect(data, row),
        significance(data, row, alpha),
        verdict_turns(data, row),
        hurt_segments(data, row, alpha),
    )
    return " ".join(filter(None, sentences))


def effect(data: AssessmentData, row: SystemData) -> str:
    """What a system gains or loses on average, how many queries it hurts, and which of them were never answered."""
    over, measure = baseline_name(data), measure_title(data["measure"])
    change = (
        f"gains {row['gain']:.4f} {measure} on average over {over}"
        if row["gain"] > 0
        else f"loses {-row['gain']:.4f} {measure} on average compared with {over}"
        if row["gain"] < 0
        else f"is on average as good as {over}"
    )
    return (
        f"{row['system']} {change} and hurts {_count(row['losses'])} of {data['queries']:,} queries"
        f"{of_traffic(row, 'lost')}, {_count(row['loss_over_20'])} of them by more than 20 %"
        f"{of_traffic(row, 'lost_over_20')}.{once_each(row)}{_gaps(data, row)}"
    )


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


def significance(data: AssessmentData, row: SystemData, alpha: float) -> str:
    """Whether that is more than chance when losses count 1 + α times, by the sturdy p after Holm's correction."""
    key = alpha_key(alpha)
    test = row["alpha"][key]
    if test["t_risk"] is None:
        return f"Chance cannot be tested: {test['reason']}."
    weight = "If gains and losses count the same" if alpha == 0 else f"If losses count {1 + alpha:g} times"
    t = f"T_Risk = {fixed(test['t_risk'], 2)}"
    if test["p_holm"] is None:
        return f"{weight}, {t} ({test['reason']})."
    tested = sum(other["alpha"][key]["p_holm"] is not None for other in data["systems"])
    t += f", Holm's {p_words(test['p_holm'])}" + (f" over {tested} systems" if tested > 1 else "")
    outcome = {
        "reward": "its reward outweighs its risk",
        "risk": "its risk outweighs its reward",
        "inconclusive": "neither reward nor risk prevails",
    }[test["verdict"] or "inconclusive"]
    # Equal systems have U_Risk < 0 at α > 0, rightly: that must not read as if they were worse.
    once = "; if losses count once, it does not" if test["verdict"] == "risk" and alpha and row["gain"] >= 0 else ""
    return f"{weight}, {outcome} by more than chance ({t}){once}.{_sturdy(test)}"


def _sturdy(test: AtAlpha) -> str:
    """Whether one more query could change the verdict, where there is something to change."""
    verdict_adjusted = test["verdict_adjusted"]
    if verdict_adjusted not in _ANOTHER:
        return ""
    often = "" if test.get("p_traffic") is None else ", asked as often as a typical request's query,"
    another = f"one more query as {_ANOTHER[verdict_adjusted]}{often}"
    if test["verdict"] == verdict_adjusted:
        return f" {another.capitalize()} would not change this."
    return f' The judged queries alone give the verdict "{verdict_adjusted}", but {another} would change it.'


_ANOTHER = {"reward": "bad as its worst", "risk": "good as its best"}
_PREVAILS = {  # in the order in which a rising α leads from one to the next
    "reward": "its reward prevails",
    "inconclusive": "neither prevails",
    "risk": "its risk prevails",
}
_MOST_BANDS = 4  # of a verdict that comes and goes, which are told one by one


def verdict_turns(data: AssessmentData, row: SystemData) -> str:
    """The α at which the verdict turns."""
    turns = row["turns"]
    if not turns:
        return ""
    if len(turns) == 1:
        return f"The verdict is the same at every α up to {max(LAST_SEARCHED_ALPHA, *data['alphas']):g}."
    starts = [alpha_key(turn["alpha"]) for turn in turns]
    words = [_PREVAILS[turn["verdict"]] for turn in turns]
    between = [
        f"{word} from {low} to {high}" for low, high, word in zip(starts[1:-1], starts[2:], words[1:-1], strict=True)
    ]
    if len(between) > _MOST_BANDS:
        between = [f"this changes several times from {starts[1]} to {starts[-1]}"]
    first = f"{words[0][0].upper()}{words[0][1:]} for α from 0 to {starts[1]}"
    return f"{', '.join([first, *between])}, and {words[-1]} from {starts[-1]} on."


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
        (segment for segment in at if segment[2]["verdict"] == "risk"), key=lambda segment: segment[2]["u_risk"]
    )
    if not at_risk:
        return "No segment loses by more than chance."
    named = [f"{column} {part['segment']} ({segment_size(part)})" for column, part, _ in at_risk]
    return f"These segments lose by more than chance: {name_list(named, 5, str)}."


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
    if (weights := data.get("weights")) and weights["left_out"]:
        lines.append(f"{_queries(weights['left_out'])} without traffic {_verb(weights['left_out'])} left out.")
    return lines


def notes(data: AssessmentData) -> list[str]:
    """What a reader should know to read the numbers, whatever α is looked at."""
    lines = [note for note in [measure_note(data["measure"])] if note]
    if (given := data.get("weights")) is not None:
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
    """Where the interval of U_Risk leaves out 0, though no verdict does."""
    for alpha in data["alphas"]:
        tests = [(row["system"], row["alpha"][alpha_key(alpha)]) for row in data["systems"]]
        names = [
            name
            for name, test in tests
            if test["verdict"] == "inconclusive"
            and test["u_risk_interval"] is not None
            and not test["u_risk_interval"][0] <= 0 <= test["u_risk_interval"][1]
        ]
        if names:
            yield (
                f"At α = {alpha:g} the {CONFIDENCE_PERCENT} interval of U_Risk does not contain 0 for "
                f"{name_list(names, 6, str)}, "
                'but the verdict is still "neither prevails". The verdict is stricter: it also allows for one more bad '
                "query and for the number of systems."
            )


def absences(data: AssessmentData) -> list[str]:
    """Why figures are absent or not to be trusted, and for which systems."""
    lines = []
    reasons: dict[str, list[str]] = {}
    for row in data["systems"]:
        for test in row["alpha"].values():
            for why in (test["reason"], test["z_reason"]):
                if why and row["system"] not in reasons.setdefault(why, []):
                    reasons[why].append(row["system"])
    for why, names in reasons.items():
        rows = "row" if len(names) == 1 else "rows"
        lines.append(f'"–" in the {rows} of {name_list(names, 6, str)} means: {why}.')
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
