"""Numbers as people read them, with a true minus sign, which nothing that rounds to 0 has, and names of measures."""

from __future__ import annotations

import re


def fixed(value: float, digits: int) -> str:
    """A number with so many digits after the point.

    >>> fixed(-0.0001, 3), fixed(-1.5, 3), fixed(2e30, 3)
    ('0.000', '−1.500', '2e+30')
    """
    text = f"{value:.{digits}f}" if abs(value) < 1e9 else f"{value:g}"
    return text.lstrip("-") if float(text) == 0 else _minus(text)


def signed(value: float, digits: int) -> str:
    """The same with a plus sign where it is above 0.

    >>> signed(0.25, 2), signed(-0.25, 2), signed(-0.001, 2)
    ('+0.25', '−0.25', '0.00')
    """
    text = fixed(value, digits)
    return f"+{text}" if value > 0 and float(text) else text


def short(value: float, digits: int = 4) -> str:
    """A number with at most so many digits in all.

    >>> short(-0.5), short(12.34567), short(1e-9)
    ('−0.5', '12.35', '1e−09')
    """
    return _minus(f"{value:.{digits}g}")


def percent(share: float, digits: int = 0) -> str:
    """A share in percent, with so many digits after the point.

    >>> percent(0.734), percent(1.07), percent(0.0051, 1)
    ('73 %', '107 %', '0.5 %')
    """
    return f"{fixed(100 * share, digits)} %"


def _minus(text: str) -> str:
    return text.replace("-", "−")


_EXPONENTIAL = re.compile(r"(nDCG|DCG|rNDCG|SoftNDCG)\(dcg='exp-log2'(,.*)?\)(@\d+)?")


def measure_title(notation: str) -> str:
    """The measure in tables, words and pages.

    >>> measure_title("nDCG(dcg='exp-log2')@10"), measure_title("nDCG@10"), measure_title("AP")
    ('nDCG(exp)@10', 'nDCG@10', 'AP')
    """
    match = _EXPONENTIAL.fullmatch(notation)
    return f"{match[1]}(exp{match[2] or ''}){match[3] or ''}" if match else notation


def measure_note(notation: str) -> str | None:
    """What to say of a measure whose title does not say all of it."""
    title = measure_title(notation)
    if title == notation:
        return None
    return f"{title}: grade g counts 2^g − 1. {title.replace('(exp,', '(').replace('(exp)', '')} counts g."
