"""An assessment in plain words: what a candidate gains, whom it hurts, and whether that is more than chance."""

from __future__ import annotations

from typing import Any

from surefoot.risk.assess import alpha_key
from surefoot.risk.inference import FEWEST_QUERIES

Json = dict[str, Any]

FEW = (
    f"With fewer than {FEWEST_QUERIES} queries and losses counted more than once, chance alone often passes for a "
    "reward: judge more queries before you rely on it."
)


def baseline_name(data: Json) -> str:
    """The baseline as a reader would say it."""
    given = data["baseline"]
    systems = {row["system"] for row in data["systems"]}
    names = [
        name if name in systems else f"the per-query {name} of {_systems(len(data['population']))}"
        for name in ([given] if isinstance(given, str) else given)
    ]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} in turn"


def title(data: Json) -> str:
    """What was measured, on how much, against what."""
    queries = data["queries"]
    return (
        f"{data['measure']} of {_systems(len(data['systems']))} on {queries:,} "
        f"quer{'ies' if queries != 1 else 'y'}, against {baseline_name(data)}"
    )


def _systems(count: int) -> str:
    return f"{count:,} system{'s' * (count != 1)}"


def alpha_title(alpha: float) -> str:
    """What α means, as a heading."""
    weight = "as much as gains" if alpha == 0 else f"{1 + alpha:g} times as much as gains"
    return f"α = {alpha:g}: losses count {weight}"


def verdict(data: Json, row: Json, alpha: float) -> str:
    """One system's gain, losses and significance at α, in plain words."""
    return f"{effect(data, row)} {significance(data, row, alpha)}"


def effect(data: Json, row: Json) -> str:
    """What a system gains or loses on average, how many queries it hurts, and which of them were never answered."""
    over = baseline_name(data)
    change = (
        f"gains {row['gain']:.4f} {data['measure']} on average over {over}"
        if row["gain"] > 0
        else f"loses {-row['gain']:.4f} {data['measure']} on average to {over}"
        if row["gain"] < 0
        else f"is on average as good as {over}"
    )
    return (
        f"{row['system']} {change} and hurts {_count(row['losses'])} of {data['queries']:,} queries, "
        f"{_count(row['loss_over_20'])} of them by more than 20 %.{_gaps(data, row)}"
    )


def _gaps(data: Json, row: Json) -> str:
    """The queries that the system or a baseline lacks: there the figures tell nothing of its ranking."""
    if data["dropped"]:
        return f" {_queries(data['dropped'])} that some system lacks {_verb(data['dropped'])} left out."
    given = [data["baseline"]] if isinstance(data["baseline"], str) else data["baseline"]
    lacking = {name: data["missing"].get(name, 0) for name in (row["system"], *given)}
    return "".join(
        f" {name} lacks {count:,} of the {data['queries']:,} queries, which count 0."
        for name, count in lacking.items()
        if count
    )


def significance(data: Json, row: Json, alpha: float) -> str:
    """Whether that is more than chance when losses count 1 + α times, by the adjusted p after Holm's correction."""
    key = alpha_key(alpha)
    test = row["alpha"][key]
    if test["t_risk"] is None:
        return f"Nothing can be said of chance: {test['reason']}."
    weight = "Gains and losses counted alike" if alpha == 0 else f"With losses counted {1 + alpha:g} times"
    t = f"T_Risk = {test['t_risk']:.2f}"
    if test["p_holm"] is None:
        return f"{weight}, {t} ({test['reason']})."
    tested = sum(other["alpha"][key]["p_holm"] is not None for other in data["systems"])
    p = "adjusted p < 0.0001" if test["p_holm"] < 0.0001 else f"adjusted p = {test['p_holm']:.2g}"
    t += f", {p}" + (f" over {tested} systems" if tested > 1 else "")
    found = {
        "reward": "its reward outweighs its risk",
        "risk": "its risk outweighs its reward",
        "inconclusive": "neither reward nor risk prevails",
    }[test["verdict"]]
    # Equal systems have U_Risk < 0 at α > 0, rightly: that must not read as if they were worse.
    once = "; counted once, it does not" if test["verdict"] == "risk" and alpha and row["gain"] >= 0 else ""
    few = f" {FEW}" if alpha and data["queries"] < FEWEST_QUERIES else ""
    return f"{weight}, {found} by more than chance ({t}){once}.{few}"


def cautions(data: Json) -> list[str]:
    """What a reader must know before the numbers: they stand first."""
    found = []
    missing = {name: count for name, count in data["missing"].items() if count}
    listed = ", ".join(f"{name} ({count:,})" for name, count in list(missing.items())[:8])
    listed += f" and {len(missing) - 8} more" if len(missing) > 8 else ""
    if data["dropped"]:
        dropped = data["dropped"]
        found.append(f"{_queries(dropped)} that some system lacks {_verb(dropped)} left out. Lacking: {listed}.")
    elif missing:
        found.append(f"Queries that a system lacks count 0. Lacking, of {data['queries']:,}: {listed}.")
    if data["queries"] < FEWEST_QUERIES and any(data["alphas"]):
        found.append(FEW)
    return found


def notes(data: Json) -> list[str]:
    """What a reader should know to read the numbers, whatever α is looked at."""
    found = []
    if len(data["population"]) < len(data["systems"]):
        found.append(f"Z_Risk and GeoRisk are over the population {', '.join(data['population'])}.")
    elif data["systems"] and data["systems"][0]["alpha"]:
        found.append(f"Z_Risk and GeoRisk are over all {_systems(len(data['population']))}.")
    if len(data["population"]) == 1:
        found.append("Over a single system Z_Risk is 0 by definition: it is what it leads one to expect.")
    if data["score_range"][0] >= 0 and data["score_range"][1] > 1:
        found.append(
            f"GeoRisk depends on the scale of the scores: it needs them in [0, 1], and these reach "
            f"{data['score_range'][1]:g}. Divide them by the greatest score there can be."
        )
    if data["no_relevant"]:
        found.append(f"{data['no_relevant']} judged queries have no relevant document; every system scores 0 there.")
    if data["tie_rule"]:
        found.append(f"Equal scores are ranked by {data['tie_rule']}.")
    return found


def absences(data: Json) -> list[str]:
    """Why figures are absent or not to be trusted, and for which systems."""
    found = []
    reasons: dict[str, list[str]] = {}
    for row in data["systems"]:
        for test in row["alpha"].values():
            for why in (test["reason"], test["z_reason"]):
                if why and row["system"] not in reasons.setdefault(why, []):
                    reasons[why].append(row["system"])
    for why, names in reasons.items():
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        found.append(f"– for {shown}: {why}.")
    untrusted = [row["system"] for row in data["systems"] if not all(test["trusted"] for test in row["alpha"].values())]
    if untrusted:
        found.append(f"The two standard errors differ for {', '.join(untrusted)}: do not trust the inference there.")
    return found


def _queries(count: int) -> str:
    return f"{count:,} judged quer{'ies' if count != 1 else 'y'}"


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


def _count(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
