"""Names of any kind in every rendering: shown as they are, never as markup, formula, command or escape sequence."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.report.tables import plain_console
from surefoot.report.text import tables
from surefoot.report.top_lists import query_tables
from surefoot.stability.text import tables as study_tables

MARKUP = ["x[/bold]", "[red]b", ":cat:", "[link=http://a]c"]
STEERING = ["\x1b[31mred", "\x9b31m", "a\x07\x08b", "\u202eback", "a\u2028b", "half\udcff"]
FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "\ufeff=1", "\u3000+1"]
TEX = [
    "[new] bm25",
    "*starred",
    "a--b---c",
    "`q'",
    "a|b",
    r"\input{x}",
    "% & $ # _ { } ~ ^",
    "中文",
    "λ €",
    "e\u0301",
    "ðÿ😀",
]
CONTROL_CHARACTERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")


def assessed(names: list[str]) -> sf.Assessment:
    values = [[0.5 - 0.01 * i, 0.1 + 0.02 * i, 0.3] for i in range(len(names) + 1)]
    return sf.assess(sf.Scores(values, ["today", *names], ["q1", "=q2", "q\x1b3"], "nDCG@10"), "today")


def test_no_name_is_markup(capsys) -> None:
    a = assessed(MARKUP)
    shown = a.to_text(width=200)
    data = a.to_dict(per_query=True)
    console = plain_console(width=200)
    for part in [*tables(data, a.rows()), *query_tables(data, a.rows())]:
        console.print(part)
    functions = sf.stability.measures(a.scores, replicates=9)
    shown_study = functions.to_text(200)
    for part in study_tables(functions.to_dict()):
        console.print(part)
    printed = capsys.readouterr().out
    for name in MARKUP:
        assert name in shown
        assert name in shown_study
        assert f"{name} hurts" in printed


def test_no_rendering_steers_a_terminal() -> None:
    a = assessed(STEERING)
    study = sf.stability.measures(a.scores, replicates=9)
    assert sum("a\u2028b" in line for line in a.to_text().split("\n")) > 1
    for text in (a.to_text(), a.to_markdown(), a.to_latex(), a.to_csv(), a.to_csv(per_query=True),
                 a.to_json(per_query=True), study.to_text(), study.to_json()):  # fmt: skip
        assert CONTROL_CHARACTERS.search(text) is None
        text.encode()  # nor does any keep it from being written
    assert [row["system"] for row in json.loads(a.to_json())["systems"]] == ["today", *STEERING]


def test_no_name_is_a_formula() -> None:
    a = assessed(FORMULAS)
    for text in (a.to_csv(), a.to_csv(per_query=True)):
        cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
        names = [cell for cell in cells if not re.fullmatch(r"-?[0-9.e+-]+", cell)]
        assert [name for name in names if name.lstrip("\ufeff \u3000").startswith(tuple("=+-@＝"))] == []
    assert "'=cmd|' /C calc'!A0" in a.to_csv()
    assert "'=q2" in a.to_csv(per_query=True)
    assert list(a.per_query()["query"])[1] == "=q2"  # data stays data


def test_latex_of_any_name_is_safe() -> None:
    text = assessed(TEX + STEERING).to_latex()
    body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    assert re.search(r"(\\\\|\\midrule)\s*[\[*]", text) is None  # would be an argument of \\ or \midrule
    assert [line for line in body.splitlines() if "--" in line.partition(" & ")[0]] == []
    assert r"\input" not in body
    letters = set(re.sub(r"\\surefootletter\{.\}", "", body)) - set(map(chr, range(10, 127)))
    assert letters <= set("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ")
    assert r"\surefootletter" not in assessed(["plain é"]).to_latex()


@pytest.mark.heavy
@pytest.mark.parametrize("engine", ["pdflatex", "xelatex"])
def test_latex_compiles(engine: str, tmp_path: Path) -> None:
    find = shutil.which("kpsewhich")
    booktabs = find and subprocess.run([find, "booktabs.sty"], capture_output=True, check=False).returncode == 0
    if shutil.which(engine) is None or not booktabs:
        absent = f"no {engine} with booktabs; apt-get install texlive-latex-recommended texlive-xetex"
        # A contributor may lack them; a build that lets the tables go uncompiled must not pass.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(absent)
    table = assessed(TEX + STEERING + MARKUP + FORMULAS).to_latex()
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{table}\end{{document}}"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    line = [engine, "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_markdown_shows_names_as_they_are() -> None:
    text = assessed(["a&lt;b", "$x$", "~~y~~"]).to_markdown()
    for written in (r"a\&lt;b", r"\$x\$", r"\~\~y\~\~"):
        assert written in text
