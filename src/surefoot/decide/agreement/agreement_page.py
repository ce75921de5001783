"""The agreement of judges as a page: what the judge is worth, and where it differs from people."""

from __future__ import annotations

from surefoot.decide.agreement.agreement_text import (
    all_tables,
    caution,
    figure,
    headline,
    sentences,
    shown,
)
from surefoot.errors import visible
from surefoot.report.family import Chip, Front, Tile, family_page
from surefoot.report.numbers import percent, signed
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

_FOLDER = "surefoot.decide.agreement/assets"


def front(data: Json) -> Front:
    """What a reader sees first."""
    return Front(headline(data), _chip(data), caution(data), _tiles(data))


def _chip(data: Json) -> Chip:
    if data["identical"]:
        return Chip("Identical", "neutral")
    comparison = data["comparison"]
    if comparison is not None and comparison["favours"]["system"] is not None:
        return Chip(f"Favours {shown(comparison['favours']['system'])}", "keep")
    savings = None if comparison is None else comparison["savings"]
    if savings is None or savings["alone"] is None or savings["with_judge"] is None:
        return Chip("Compared", "neutral")
    return Chip("Useful", "ship") if savings["with_judge"] < 0.9 * savings["alone"] else Chip("Little use", "wait")


def _tiles(data: Json) -> list[Tile]:
    tiles = [
        Tile("Same grade", percent(data["agreement"]), f"of {data['documents']:,} documents"),
        Tile("Weighted κ", figure(data["kappa_quadratic"]), "1 is full agreement, 0 is chance"),
        Tile("Bias", signed(data["bias"], 2), "judge minus people, per document"),
    ]
    if (comparison := data["comparison"]) is not None:
        savings = comparison["savings"]
        tiles.append(Tile("Correlation of losses", figure(comparison["loss_correlation"]), "per query"))
        alone, judged = ("–" if savings[key] is None else f"{savings[key]:,}" for key in ("alone", "with_judge"))
        tiles.append(Tile("People's judgments needed", judged, f"without the judge: {alone}"))
    return tiles


def to_page(data: Json, provenance: Provenance | None = None) -> str:
    """The page of an agreement's plain data."""
    return family_page(
        f"{_FOLDER}/agreement.html.j2",
        front(data),
        provenance,
        page_kind="agreement of judges",
        title=f"{shown(data['automatic'])} against {shown(data['people'])}: what the judge is worth",
        sentences=[visible(sentence) for sentence in sentences(data)],
        tables=[
            (f"table-{number}", visible(title), [visible(each) for each in headings], rows)
            for number, (title, headings, rows) in enumerate(all_tables(data))
        ],
    )
