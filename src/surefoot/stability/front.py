"""What to conclude from a study of stability: one sentence, a chip, a caution and tiles; text and page share them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from surefoot.errors import visible, without_middle
from surefoot.report.family import Chip, Front, Tile
from surefoot.report.numbers import measure_title
from surefoot.risk.assessment_data import Json
from surefoot.risk.tradeoff import ROUNDING
from surefoot.stability.study_data import kind

SURE_RATE = 0.95  # the share of subsets, or of resamples, from which on a choice is called sure
_LONGEST, _LONGEST_IN_TILE = 60, 24  # letters of a name
_MOST_MEASURES = 3  # that have a tile
_TRUST, _DOUBT = Chip("Trust it", "ship"), Chip("Not sure yet", "wait")
_DISAGREE = Chip("Measures disagree", "wait")


def front(data: Json) -> Front:
    """What the study says to do, from its plain data alone."""
    return _FRONTS[kind(data)](data)


def headline(data: Json) -> str:
    """The sentence of `front`."""
    return visible(front(data).headline)


def _name(text: str) -> str:
    return without_middle(visible(text), _LONGEST)


def _tile_name(text: str) -> str:
    return without_middle(visible(text), _LONGEST_IN_TILE)


def _measure(notation: str) -> str:
    return _name(measure_title(notation))


def _at_least(share: float) -> str:
    """A share in percent, rounded down: what is said to be at least so much is.

    >>> _at_least(0.949), _at_least(1.0), _at_least(0.58)
    ('94 %', '100 %', '58 %')
    """
    return f"{math.floor(100 * share + 1e-9)} %"


def _at_most(share: float) -> str:
    return f"{math.ceil(100 * share - 1e-9)} %"


def _disagreement(best: dict[str, str], words: str) -> str | None:
    """Which two measures choose different systems, where some do; `best` has the choice of each."""
    first, *others = best
    other = next((measure for measure in others if best[measure] != best[first]), None)
    if other is None:
        return None
    choices = [words.format(_measure(measure), _name(best[measure])) for measure in (first, other)]
    return f"Choose the measure first: {', '.join(choices)}."


def _sure_from(data: Json, measure: str) -> int | None:
    """The smallest size from which on at least 95 % of subsets pick the winner, up to half of the queries."""
    rates = data["results"][measure]["rate"]
    smallest = None
    for size, rate in sorted(_sizes_up_to_half(data, rates), reverse=True):
        if rate < SURE_RATE:
            break
        smallest = size
    return smallest


def _sizes_up_to_half(data: Json, rates: Sequence[float]) -> list[tuple[int, float]]:
    """Larger subsets have most queries in common with all of them, and so agree whatever the systems are like."""
    return [(size, rate) for size, rate in zip(data["sizes"], rates, strict=True) if 2 * size <= data["queries"]]


def _subsets_front(data: Json) -> Front:
    results, measures = data["results"], data["measures"]
    tiles = [
        *(_subsets_tile(data, measure) for measure in measures[:_MOST_MEASURES]),
        _winner_tile(results[measures[0]]),
        Tile("Queries", f"{data['queries']:,}", "from which subsets are drawn"),
        Tile("Subsets", f"{data['subsets']:,}", "of each size"),
    ]
    words, chip = _pick_words(data) or _subsets_words(data)
    caution = f"All subsets are drawn from the same {data['queries']:,} queries: others may choose differently."
    return Front(words, chip, caution if chip == _TRUST else None, tiles)


def _pick_words(data: Json) -> tuple[str, Chip] | None:
    """What is said of two systems before anything else: that measures disagree, or that there is nothing to choose."""
    results, first = data["results"], data["measures"][0]
    if (
        words := _disagreement({name: picks["winner"] for name, picks in results.items()}, "{} chooses {}")
    ) is not None:
        return words, _DISAGREE
    first_mean, second_mean = results[first]["means"]
    if abs(first_mean - second_mean) <= ROUNDING:
        systems = " and ".join(map(_name, data["systems"]))
        return f"Nothing to choose: {systems} have the same mean {_measure(first)}.", Chip("A tie", "neutral")
    return None


def _systems(data: Json, winner: str) -> tuple[str, str]:
    first_system, second_system = data["systems"]
    return _name(winner), _name(second_system if winner == first_system else first_system)


def _subsets_words(data: Json) -> tuple[str, Chip]:
    first = data["measures"][0]
    picks = data["results"][first]
    winner, other = _systems(data, picks["winner"])
    sizes_and_rates = _sizes_up_to_half(data, picks["rate"])
    if not sizes_and_rates:
        return (
            f"Use smaller subsets: each subset here has more than half of the {data['queries']:,} queries, so the "
            "result says little.",
            _DOUBT,
        )
    if (size := _sure_from(data, first)) is not None:
        return (
            f"With {size:,} queries or more, you can trust that {winner} is better than {other}: {_measure(first)} "
            f"chooses it in at least {_at_least(SURE_RATE)} of random subsets.",
            _TRUST,
        )
    size, rate = max(sizes_and_rates)
    return (
        f"Do not choose between {winner} and {other} on {size:,} queries: {_measure(first)} chooses {winner} in only "
        f"{_at_least(rate)} of such subsets.",
        _DOUBT,
    )


def _subsets_tile(data: Json, measure: str) -> Tile:
    size, picks = _sure_from(data, measure), data["results"][measure]
    if size is not None:
        return Tile(_measure(measure), f"{size:,}", f"queries are enough for {_tile_name(picks['winner'])}", "ship")
    most = ""
    if sizes_and_rates := _sizes_up_to_half(data, picks["rate"]):
        largest, rate = max(sizes_and_rates)
        most = f"at {largest:,} queries {_at_least(rate)} of subsets agree"
    return Tile(_measure(measure), "not sure", most)


def _winner_tile(picks: Json) -> Tile:
    low, high = sorted(picks["means"])
    return Tile("Winner on all queries", _tile_name(picks["winner"]), f"{high:.4f} against {low:.4f}")


def _time_front(data: Json) -> Front:
    results, measures, many = data["results"], data["measures"], len(data["periods"])
    dated = sum(period["queries"] for period in data["periods"])
    tiles = [
        *(
            Tile(
                _measure(measure), f"{_periods_won(data, measure)} of {many}",
                f"{data['period']}s won by {_tile_name(results[measure]['winner'])}",
            )
            for measure in measures[:_MOST_MEASURES]
        ),
        _winner_tile(results[measures[0]]),
        Tile("Queries", f"{dated:,}", f"in {many:,} {data['period']}s"),
        Tile("Queries in a subset", f"{data['size']:,}", f"{data['subsets']:,} subsets per {data['period']}"),
    ]  # fmt: skip
    caution = None
    if data["left_out"] or data["undated"]:
        parts = [
            *([f"{len(data['left_out']):,} {data['period']}s with fewer queries"] if data["left_out"] else []),
            *([f"{data['undated']:,} queries without a date"] if data["undated"] else []),
        ]
        caution = f"Left out: {' and '.join(parts)}."
    words, chip = _pick_words(data) or _time_words(data)
    return Front(words, chip, caution, tiles)


def _periods_won(data: Json, measure: str) -> int:
    """In how many periods the winner over all of them has the higher mean; a tie counts for the first system."""
    picks = data["results"][measure]
    first = picks["winner"] == data["systems"][0]
    return sum((difference >= -ROUNDING) == first for difference in picks["difference"])


def _time_words(data: Json) -> tuple[str, Chip]:
    first, many, period = data["measures"][0], len(data["periods"]), data["period"]
    picks, won = data["results"][first], _periods_won(data, first)
    winner, other = _systems(data, picks["winner"])
    least = min(picks["rate"])
    if won < many:
        return (
            f"Do not choose between {winner} and {other} by one {period}: {_measure(first)} prefers {winner} in {won} "
            f"of {many} {period}s.",
            _DOUBT,
        )
    if least < SURE_RATE:
        return (
            f"Choose {winner} on the data of all {period}s, not on {data['size']:,} queries of one {period}. "
            f"{_measure(first)} prefers it in all {many} {period}s, but in one of them only {_at_least(least)} of the "
            "subsets agree.",
            _DOUBT,
        )
    return (
        f"In every {period}, you can trust that {winner} is better than {other}: {_measure(first)} prefers it in all "
        f"{many} {period}s, and in at least {_at_least(least)} of subsets of {data['size']:,} queries.",
        _TRUST,
    )


def _noise_front(data: Json) -> Front:
    first, *others = data["measures"]
    shares = {measure: own for measure in others if (own := _spread_shares(data, measure))}
    steadier = [measure for measure, own in shares.items() if max(own) < 1 and _is_steadier_beside_mean(data, measure)]
    largest, runs = data["sizes"][-1], len(data["systems"])
    spread = max(system["measures"][first]["deviation"][-1] for system in data["systems"])
    caution = None
    if steadier:
        best = min(steadier, key=lambda measure: max(shares[measure]))
        least = _at_least(1 - max(shares[best]))
        each = f"at least {least} less" if runs > 1 else f"{least} less"
        spreads = f"with the same noise, it varies {each} than {_measure(first)}"
        words = f"Prefer {_measure(best)} if scores change a little: {spreads}."
        chip = Chip("Steadier measure", "ship")
        caution = "A measure is not better only because it varies less: it must still tell good lists from bad lists."
    elif shares:
        words = (
            f"Keep {_measure(first)}: with the same noise, no other measure here varies less on every run, in absolute "
            "terms and relative to its mean."
        )
        chip = Chip("No steadier measure", "neutral")
    else:
        words = f"Expect {_measure(first)} to change by about {spread:.4f} if scores change by {largest:g}."
        chip = Chip("One measure", "neutral")
    tiles = [
        Tile(_measure(first), f"± {spread:.4f}", f"largest spread, at noise {largest:g}"),
        *(
            Tile(_measure(measure), _at_most(max(own)), f"at most this share of the spread of {_measure(first)}")
            for measure, own in list(shares.items())[: _MOST_MEASURES - 1]
        ),
        Tile("Runs", f"{runs:,}"),
        Tile("Queries", f"{data['queries']:,}"),
        Tile("Seeds", f"{data['repeats']:,}", "for each size of noise"),
    ]
    return Front(words, chip, caution, tiles)


def _spread_shares(data: Json, measure: str) -> list[float]:
    """The measure's spread beside the first one's, on each run where that is known."""
    shares = [system["measures"][measure]["deviation_over_first"] for system in data["systems"]]
    return [share for share in shares if share is not None]


def _is_steadier_beside_mean(data: Json, measure: str) -> bool:
    """Whether it spreads less also as a share of its mean: a measure with small values spreads little by itself."""
    first = data["measures"][0]
    return all(
        own["deviation_over_first"] * system["measures"][first]["mean"][0] < own["mean"][0]
        for system in data["systems"]
        if (own := system["measures"][measure])["deviation_over_first"] is not None
    )


def _functions_front(data: Json) -> Front:
    best = {measure: ranked[0] for measure, ranked in data["results"].items()}
    first = data["measures"][0]
    least = min(leader["share_best"] for leader in best.values())
    winner = _name(best[first]["system"])
    words = _disagreement({measure: leader["system"] for measure, leader in best.items()}, "{} ranks {} first")
    chip = _DISAGREE
    if words is None and least >= SURE_RATE:
        by = _measure(first) if len(best) == 1 else f"all {len(best)} measures"
        words, chip = f"Choose {winner}: it is the best by {by}, in at least {_at_least(least)} of resamples.", _TRUST
    elif words is None:
        measure = min(best, key=lambda name: best[name]["share_best"])
        ranked = data["results"][measure]
        following = f"; {_name(ranked[1]['system'])} is next" if len(ranked) > 1 else ""
        words = (
            f"Do not call {winner} the best yet: by {_measure(measure)} it is best in only {_at_least(least)} of "
            f"resamples{following}."
        )
        chip = _DOUBT
    tiles = [
        *(
            Tile(
                _measure(measure), _tile_name(leader["system"]),
                f"best in {_at_least(leader['share_best'])} of resamples",
                "ship" if leader["share_best"] >= SURE_RATE else None,
            )
            for measure, leader in list(best.items())[:_MOST_MEASURES]
        ),
        Tile("Systems", f"{len(data['systems']):,}", "compared"),
        Tile("Queries", f"{data['queries']:,}"),
        Tile("Resamples", f"{data['replicates']:,}", "of the queries"),
    ]  # fmt: skip
    return Front(words, chip, None, tiles)


_FRONTS: dict[str, Callable[[Json], Front]] = {
    "noise": _noise_front,
    "subsets": _subsets_front,
    "time": _time_front,
    "functions": _functions_front,
}
