"""An assessment in plain words: what a candidate gains, whom it hurts, and whether that is more than chance."""

from __future__ import annotations

from typing import Any

from surefoot.risk.assess import alpha_key

Json = dict[str, Any]


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
    return f"{effect(data, row)} {significance(row, alpha)}"


def effect(data: Json, row: Json) -> str:
    """What a system gains or loses on average, and how many queries it hurts."""
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
        f"{_count(row['loss_over_20'])} of them by more than 20 %."
    )


def significance(row: Json, alpha: float) -> str:
    """Whether that is more than chance when losses count 1 + α times."""
    test = row["alpha"][alpha_key(alpha)]
    if test["t_risk"] is None:
        return f"Nothing can be said of chance: {test['reason']}."
    weight = "Gains and losses counted alike" if alpha == 0 else f"With losses counted {1 + alpha:g} times"
    t = f"T_Risk = {test['t_risk']:.2f}"
    if test["p_value"] is None:
        return f"{weight}, {t} ({test['reason']})."
    t += f", p = {test['p_value']:.2g}"
    return {
        "reward": f"{weight}, its reward outweighs its risk by more than chance ({t}).",
        "risk": f"{weight}, its risk outweighs its reward by more than chance ({t}).",
        "inconclusive": f"{weight}, neither reward nor risk prevails by more than chance ({t}).",
    }[test["verdict"]]


def notes(data: Json) -> list[str]:
    """What a reader must know to read the numbers."""
    found = []
    if len(data["population"]) < len(data["systems"]):
        found.append(f"Z_Risk and GeoRisk are over the population {', '.join(data['population'])}.")
    elif data["systems"] and data["systems"][0]["alpha"]:
        found.append(f"Z_Risk and GeoRisk are over all {_systems(len(data['population']))}.")
    if len(data["population"]) == 1:
        found.append("Over a single system Z_Risk is 0 by definition: it is what it leads one to expect.")
    missing = {name: count for name, count in data["missing"].items() if count}
    if missing:
        listed = ", ".join(f"{name} ({count})" for name, count in list(missing.items())[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        found.append(f"Queries missing from a run count 0: {listed}{more}.")
    if data["no_relevant"]:
        found.append(f"{data['no_relevant']} judged queries have no relevant document; every system scores 0 there.")
    if data["tie_rule"]:
        found.append(f"Equal scores are ranked by {data['tie_rule']}.")
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
        found.append(f"The two standard errors part for {', '.join(untrusted)}: do not trust the inference there.")
    return found


def _count(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
