"""A certificate's page and view: the front says what to serve, the curve of thresholds agrees with slow sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.guard.guarded import calibrated, parts
from tests.report.notebooks import HOSTILE, SHOWN, checked, told

from surefoot.decide.evidence.proof import proofs, upper_bounds
from surefoot.decide.guard.certificate import Certificate
from surefoot.decide.guard.certificate_view import front, gain_note, headline

KEPT = Path(__file__).with_name("certificate.json")


def data() -> dict[str, Any]:
    return calibrated().certificate_.to_dict()


def test_the_headline_says_what_to_serve() -> None:
    one = data()
    threshold, kept = f"{one['threshold']:.4g}", round(100 * one["gain_kept"])
    assert headline(one) == (
        f"Serve candidate where the score is at least {threshold.replace('-', '−')}: risk at most 0.05 with 95 % "
        f"confidence, {kept} % of the gain."
    )
    assert front(one).chip == ("Certified", "ship")
    assert 4 <= len(front(one).tiles) <= 6
    nowhere = one | {"threshold": None, "reason": "12 judged queries cannot prove it"}
    assert headline(nowhere) == "Serve bm25 alone: 12 judged queries cannot prove it."
    assert front(nowhere).chip.kind == "keep"
    both = one | {
        "conditions": [*one["conditions"], {"name": "share_hurt", "level": 0.2, "observed": 0.1, "bound": 0.2}]
    }  # fmt: skip
    assert "risk at most 0.05 and share of badly hurt queries at most 0.2 with" in headline(both)
    assert len(front(both).tiles) == 6
    assert "does not know which queries" in str(front(one | {"training_known": False}).caution)


def test_more_than_the_whole_gain_is_explained() -> None:
    one = data()
    assert gain_note(one | {"gain_kept": 0.9}) is None
    more = one | {"gain_kept": 1.07, "guarded": one["guarded"] | {"gain": 0.107}}
    more["unguarded"] = one["unguarded"] | {"gain": 0.1}
    note = str(gain_note(more))
    assert note.startswith("Why 107 % of the gain? If candidate is shown for every query, it gains +0.1000.")
    assert "loses more than it gains (−0.0070 over all judged queries)" in note
    assert "Why 107 %" in Certificate(more).to_html()


def test_the_page_marks_the_level_and_the_threshold_and_has_a_line_to_sign() -> None:
    one = data()
    page = calibrated().certificate_.to_html()
    # Each chart is there twice, wide and narrow.
    assert page.count("level 0.05</text>") == 4  # on the risk's chart, and on that of other levels
    assert page.count(">chosen: ") == 4
    assert page.count("<svg") == 6
    assert '<p class="sign"><span>Name</span>' in page
    assert one["sha256"] in page
    old = Certificate.read(KEPT).to_html()  # with no thresholds
    assert "What each threshold" not in old
    assert '<p class="sign">' in old


def test_the_curve_of_thresholds() -> None:
    guard = calibrated()
    one, points = data(), data()["thresholds"]
    judged = guard._judged_lists(parts()["judged"])
    scored = judged.score(guard.scorer)
    losses = np.maximum(scored.judged.baseline - scored.judged.candidate, 0)
    gains = scored.judged.candidate - scored.judged.baseline
    assert [point["threshold"] for point in points] == sorted({point["threshold"] for point in points})
    assert one["threshold"] in [point["threshold"] for point in points]
    for point in points:
        shown = scored.scores >= point["threshold"]
        assert point["observed"]["risk"] == pytest.approx(float((losses * shown).mean()))
        assert point["gain"] == pytest.approx(float((gains * shown).mean()))
        assert point["share_shown"] == pytest.approx(float(shown.mean()))
        assert point["bound"]["risk"] >= point["observed"]["risk"]
        assert point["bound"]["risk"] <= 0.05 or point["threshold"] < one["threshold"]
    assert points[0]["gain"] == pytest.approx(one["unguarded"]["gain"])


def test_bounds_of_the_curve_are_those_of_a_finer_search() -> None:
    from surefoot.decide.evidence.conditions import ConditionRule
    from surefoot.decide.evidence.judged_queries import JudgedQueries
    from surefoot.decide.evidence.proof import evidence_of

    rng = np.random.default_rng(0)
    today = rng.uniform(0.3, 0.9, 300)
    sample = JudgedQueries(tuple(f"q{i}" for i in range(300)), today, today - rng.uniform(-0.1, 0.05, 300))
    evidence = evidence_of(ConditionRule("risk", 0.05), sample, "nDCG@10")
    (bound,) = upper_bounds([evidence], 0.05)
    ((proof, _),) = proofs([evidence], 0.05, 0.05)
    assert bound == pytest.approx(proof.bound, abs=1e-4)


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
