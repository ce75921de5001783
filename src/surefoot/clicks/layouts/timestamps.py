"""Moments as logs write them, ISO 8601 or numbers, as milliseconds since 1970."""

from __future__ import annotations

from surefoot.clicks.lazy_ibis import IbisTable, ibis
from surefoot.clicks.log import DIGITS_PATTERN

_ISO = (
    r"^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})([.,][0-9]{1,9})?"
    r"(Z|z|[+-][0-9]{2}:?[0-9]{2})?$"
)


def milliseconds(text: IbisTable) -> IbisTable:
    """Milliseconds of a moment, null where it is none: an integer number of them, or ISO 8601, in UTC unless it says.

    Worked out from the text's parts, since backends read dates in ways of their own.
    """
    is_iso = text.re_search(_ISO)
    year, month, day, hour, minute, second = (_number(text, part) for part in range(1, 7))
    fraction = (text.re_extract(_ISO, 7).substr(1) + "000").substr(0, 3).try_cast("int64")
    zone = text.re_extract(_ISO, 8).re_replace("[Zz:]", "")
    minutes = zone.substr(1, 2).try_cast("int64") * 60 + zone.substr(3, 2).try_cast("int64")
    offset = ibis.cases((zone == "", 0), (zone.startswith("-"), -minutes), else_=minutes)
    # Days since 1970-01-01 in the Gregorian calendar, the year taken to begin in March.
    march = (month <= 2).ifelse(year - 1, year)
    since = (month <= 2).ifelse(month + 9, month - 3)
    days = march * 365 + march // 4 - march // 100 + march // 400 + (153 * since + 2) // 5 + day - 719_469
    moment = (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + fraction
    valid = is_iso & month.between(1, 12) & day.between(1, 31) & (hour < 24) & (minute < 60) & (second < 61)
    return ibis.cases(
        (text.re_search(DIGITS_PATTERN), text.try_cast("int64")), (valid, moment), else_=ibis.null("int64")
    )


def _number(text: IbisTable, part: int) -> IbisTable:
    return text.re_extract(_ISO, part).try_cast("int64")
