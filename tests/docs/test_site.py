"""The site before it is built: its navigation, its references, and what looks over the built one."""

from __future__ import annotations

import doctest
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import typer
import yaml

import surefoot as sf

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


@pytest.fixture
def checker() -> ModuleType:
    spec = spec_from_file_location("check_site", DOCS / "check_site.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_navigation_names_pages_that_exist_or_are_made(script) -> None:
    build, folders = script("build"), script("folders")
    nav = folders.with_folders(SETTINGS["nav"], build.pages_of)
    named = folders.nav_files(nav)
    assert len(named) == len(set(named))
    made = set(build.generated_pages())
    assert [name for name in named if not (DOCS / name).is_file() and name not in made] == []


def test_navigation_names_every_page(script) -> None:
    """A page that is added to docs/ is also added to mkdocs.yml."""
    build, folders = script("build"), script("folders")
    named = set(folders.nav_files(folders.with_folders(SETTINGS["nav"], build.pages_of)))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(build.generated_pages())
    assert sorted(pages - named) == []


def test_folders_without_pages_are_left_out(script) -> None:
    nav = [{"Extend": "extend/"}, {"More": [{"None": "none/"}, {"One": "one.md"}]}]
    found = script("folders").with_folders(nav, lambda folder: ["extend/a.md"] if folder == "extend/" else [])
    assert found == [{"Extend": ["extend/a.md"]}, {"More": [{"One": "one.md"}]}]


def test_every_public_name_is_in_the_reference_once(script) -> None:
    pages = script("name_reference").name_pages()
    listed = [
        name for _, text in pages.values() for name in re.findall(r"^::: surefoot\.([\w.]+)$", text, re.MULTILINE)
    ]
    assert sorted(listed) == sorted(script("name_reference").public_names())
    assert {name for name in sf.__all__ if not isinstance(getattr(sf, name, None), ModuleType)} <= {*listed}


def test_every_command_and_option_is_in_the_reference(script) -> None:
    from surefoot.cli.commands import application

    page = script("command_reference").command_page()
    sections = {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}

    def look(name: str, command) -> None:
        for child, below in getattr(command, "commands", {}).items():
            look(f"{name} {child}", below)
        if not hasattr(command, "commands"):
            shown = [option for option in command.params if option.name != "help" and not option.hidden]
            for option in shown:
                if option.param_type_name == "option":
                    assert all(f"`{written}`" in sections[name] for written in option.opts), (name, option.opts)
                assert option.help in sections[name].replace("\\|", "|"), (name, option.name)

    look("surefoot", typer.main.get_command(application()))
    assert len(sections) > 15


def test_nothing_is_configured_to_come_from_elsewhere() -> None:
    assert SETTINGS["theme"]["font"] is False
    assert "repo_url" not in SETTINGS  # the theme would ask that host for stars and forks
    assert "offline" in SETTINGS["plugins"]
    for name in (*SETTINGS["extra_css"], *SETTINGS["extra"]["polyfills"]):
        assert (DOCS / name).is_file()
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "http" not in text


def test_build_is_strict() -> None:
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")
    kinds = SETTINGS["validation"]
    assert {*kinds["nav"].values(), *kinds["links"].values()} == {"warn"}


@pytest.mark.parametrize(
    ("page", "fetched"),
    [
        ('<script src="https://a.example/x.js"></script>', ["https://a.example/x.js"]),
        ('<link rel="stylesheet" href="//a.example/x.css">', ["//a.example/x.css"]),
        ('<link rel="preconnect" href="https://a.example">', ["https://a.example"]),
        ('<img srcset="a.png 1x, https://a.example/b.png 2x">', ["a.png 1x, https://a.example/b.png 2x"]),
        ('<iframe src="HTTPS://a.example"></iframe>', ["HTTPS://a.example"]),
        ("<style>@font-face { src: url('https://a.example/f.woff2') }</style>", ["https://a.example/f.woff2"]),
        ('<p style="background: url(//a.example/p.png)">', ["//a.example/p.png"]),
        ('<a href="https://a.example">a link to click</a> <link rel="canonical" href="https://b.example">', []),
        ('<img src="data:image/png;base64,AA//"> <script src="assets/a.js"></script>', []),
    ],
)
def test_checker_finds_what_a_browser_fetches(checker, page: str, fetched: list[str]) -> None:
    assert checker.in_page(page) == fetched


def test_checker_fails_on_a_frame_that_is_not_there(checker, tmp_path: Path, capsys) -> None:
    (tmp_path / "page.html").write_text('<iframe src="demo/report.html#alpha=5"></iframe>')
    assert checker.main(tmp_path) == 1
    assert "page.html: demo/report.html#alpha=5 is not in the site" in capsys.readouterr().out
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "report.html").write_text("<p>")
    assert checker.main(tmp_path) == 0


def test_checker_fails_on_an_empty_site(checker, tmp_path: Path) -> None:
    assert checker.main(tmp_path) == 1


def test_links_out_of_docs_lead_to_files_of_the_repository(script) -> None:
    links = script("source_links")
    for path in DOCS.rglob("*.md"):
        page = path.relative_to(DOCS).as_posix()
        for target in links.linked_sources(path.read_text(encoding="utf-8"), page).values():
            assert (ROOT / target).is_file(), (page, target)


def test_names_in_code_become_links(script) -> None:
    linked = script("name_reference").with_links
    assert linked("`sf.u_risk(m, b)`", bare=False) == "[`sf.u_risk(m, b)`][surefoot.u_risk]"
    assert linked("`u_risk`", bare=True) == "[`u_risk`][surefoot.u_risk]"
    for text in ("`u_risk`", "`sf.nobody`", "[`sf.u_risk`](risk.md)", "```python\n`sf.u_risk`\n```"):
        assert linked(text, bare=False) == text


@pytest.mark.parametrize("name", ["folders", "name_reference", "command_reference", "source_links", "notebook_pages"])
def test_examples_of_the_scripts(script, name: str) -> None:
    assert doctest.testmod(script(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
    assert name in sys.modules
