"""placeholder"""

from surefoot.risk.plain_data import Json


def to_page(data: Json) -> str:
    """x"""
    return ""
