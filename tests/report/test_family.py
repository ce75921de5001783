"""The parts that all pages share: the front, what a page says of itself, and scripts without their comments."""

from __future__ import annotations

import hashlib
import os
from importlib.resources import files
from pathlib import Path

import pytest

from surefoot.cli.printing import link_from, page_provenance
from surefoot.report.family import LAYOUT, Chip, Front, Tile, family_page, script_of
from surefoot.report.provenance import Link, Provenance, SourceFile

ROOMS = ("surefoot.report", "surefoot.choose", "surefoot.personal", "surefoot.decide.gate", "surefoot.decide.guard")


def test_nothing_in_a_front_is_markup() -> None:
    evil = "<b>\u202eevil</b>"
    front = Front(f"Ship {evil}: 97 % of it", Chip(evil, "ship"), evil, [Tile(evil, evil, evil, "keep", "gain")])
    provenance = Provenance(evil, evil, [SourceFile(evil, "ab" * 32)], [Link(evil, "javascript:alert(1)")])
    page = family_page(LAYOUT, front, provenance, page_kind="test", title="unused", data={"name": "</script>"})
    assert "<b>\u202e" not in page
    assert "\u202e" not in page
    assert page.count("&lt;b&gt;�evil&lt;/b&gt;") >= 8
    assert '<h1 id="headline">Ship &lt;b&gt;�evil&lt;/b&gt;: 97 % of it</h1>' in page
    assert 'href="./javascript%3Aalert%281%29"' in page  # a file of that name, and no script
    assert page.count("</script>") == 2
    assert "<title>&lt;b&gt;" in page


def test_a_page_without_provenance_has_its_date_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    page = family_page(LAYOUT, Front("Keep today", Chip("Keep", "keep")), None, page_kind="test", title="A title")
    assert "<title>A title</title>" in page
    assert "1970-01-01 00:00 UTC" in page
    assert "<dt>Command</dt>" not in page
    assert 'id="caution" class="caution" hidden' in page


def test_hashes_of_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.txt").write_bytes(b"two")
    (tmp_path / "data" / "a.txt").write_bytes(b"one")
    assert SourceFile.of(tmp_path / "data" / "a.txt") == ("a.txt", hashlib.sha256(b"one").hexdigest())
    lines = "".join(
        f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in [("a.txt", b"one"), ("b.txt", b"two")]
    )
    assert SourceFile.of(tmp_path / "data") == ("data", hashlib.sha256(lines.encode()).hexdigest())
    os.mkfifo(tmp_path / "pipe")
    assert SourceFile.of(tmp_path / "pipe") == ("pipe", None)  # reading it would wait for ever, or take what is in it
    assert SourceFile.of(tmp_path / "absent") == ("absent", None)


def test_links_lead_from_page_to_page(tmp_path: Path) -> None:
    assert (
        link_from(tmp_path / "a" / "report.html", tmp_path / "b c" / "decision.html").address()
        == "./../b%20c/decision.html"
    )
    assert link_from("report.html", "decision.html") == ("decision.html", "decision.html")
    assert page_provenance(None, ["no such file is read"]) is None


def test_scripts_lose_comments_and_indents_only() -> None:
    for room in ROOMS:
        for script in files(room).joinpath("assets").iterdir():
            if script.name.endswith(".js"):
                # A text that spans lines would lose its indents.
                assert all(line.count("`") % 2 == 0 for line in script.read_text(encoding="utf-8").splitlines()), script
    script = script_of(("surefoot.report/assets/dom.js",))
    assert script.startswith('"use strict";\n(() => {\n')
    assert "\n//" not in script
    assert "\n " not in script
    assert 'return String(text).replace(CONTROL, "\\ufffd");' in script
