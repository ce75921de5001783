"""What a notebook shows of a certificate."""

from __future__ import annotations

from pathlib import Path

from tests.report.notebooks import HOSTILE, SHOWN, checked, told

from surefoot.decide.guard.certificate import Certificate

KEPT = Path(__file__).with_name("certificate.json")


def test_a_certificate_in_a_notebook() -> None:
    certificate = Certificate.read(KEPT)
    words = told(certificate._repr_html_())
    assert "new keeps to risk ≤ 0.7 and share of badly hurt queries ≤ 80 % where it is shown instead of today." in words
    assert certificate["sentence"] in words
    assert all(f"It assumes: {one}" in words for one in certificate["assumptions"])
    data = certificate.to_dict()
    hostile = Certificate(data | {"candidate": HOSTILE, "scorer": HOSTILE, "sentence": HOSTILE})
    assert told(hostile._repr_html_()).count(SHOWN) == 3
    nothing = Certificate(data | {"threshold": None, "gain_kept": None})
    root = checked(nothing._repr_html_())
    assert "".join(root.find("p[@class='headline']").itertext()) == "Only today is shown."
