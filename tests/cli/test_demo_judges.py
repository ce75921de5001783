"""`surefoot demo judges`: what it says of each judge, and that its last line can be typed."""

from __future__ import annotations

import shlex
from pathlib import Path


def test_the_demonstration_of_judges(surefoot, tmp_path: Path) -> None:
    line = ["demo", "judges", "-o", tmp_path / "demo", "--queries", 120]
    code, out, err = surefoot(*line)
    assert (code, err) == (0, "")
    for judge in ("good", "noisy", "lenient", "partial"):
        assert out.count(f"• {judge} (λ") == 2
        assert (tmp_path / "demo" / f"{judge}.qrels").read_text().split()[1] == "automatic"
    assert "Whoever trusts the judge believes" in out
    assert (tmp_path / "demo" / "agreement.html").is_file()
    typed = shlex.split(out.splitlines()[-1])
    code, out, err = surefoot(*typed[typed.index("gate") :])
    assert code in (0, 1, 3)
    assert err == ""
    assert "Without the judge" in out
    assert surefoot(*line)[0] == 2  # draws are never replaced unasked
    assert surefoot(*line, "--force")[0] == 0
