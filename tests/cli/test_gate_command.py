"""`surefoot gate` as builds and people run it: exit codes, files, GitHub's summary, and what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from lxml import etree
from tests.cli.inputs import check_refused
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.cli.demo import show_runs
from surefoot.decide.gate import sample_size

ROOT = Path(__file__).parents[2]
DECIDE, BUILDS = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("decide.md", "builds.md"))
JUNIT = ROOT / "tests" / "decide" / "gate" / "junit.xsd"


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """What `surefoot demo` writes."""
    folder = tmp_path_factory.mktemp("made") / "demo"
    show_runs(folder, 200, 0, learn=False, force=False, quiet=False)
    return folder


@pytest.fixture
def home(demo: Path, tmp_path: Path, monkeypatch) -> Path:
    for name in ("qrels.txt", "today.run", "bold.run", "steady.run"):
        (tmp_path / name).symlink_to(demo / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 300)  # a search that most tests do not look at
    return tmp_path


STEADY = ["gate", "qrels.txt", "today.run", "steady.run", "-m", "nDCG@10", "-b", "today"]
BOLD = ["gate", "qrels.txt", "today.run", "bold.run", "-m", "nDCG@10", "-b", "today"]
CONDITIONS = ["--risk", "0.03", "--gain", "0"]


def test_the_demo_stops_bold_and_ships_steady(surefoot, home: Path) -> None:
    for line, code, words in ((BOLD, 1, "Keep today, stop bold"), (STEADY, 0, "Ship steady in place of today")):
        exit_code, out, err = surefoot(*line, *CONDITIONS)
        assert (exit_code, err) == (code, "")
        assert words in out


def test_undecided_is_three_with_how_many_more(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 2000)
    code, out, _ = surefoot(*STEADY, "--risk", "0.02")
    assert code == 3
    assert re.search(r"about \d+ judged queries in a new sample would decide in 8 of 10 cases", " ".join(out.split()))


def _kinds(home: Path) -> Path:
    path = home / "kinds.csv"
    queries = sf.read_qrels(home / "qrels.txt").queries
    path.write_text("query,kind\n" + "".join(f"{query},{'a' if i % 2 else 'b'}\n" for i, query in enumerate(queries)))
    return path


def documented() -> tuple[str, str]:
    """The workflow's command, as docs/builds.md has it, and the policy of docs/decide.md."""
    (policy,) = re.findall(r"```toml\n(.*?)```", DECIDE, re.DOTALL)
    (text,) = re.findall(r"```yaml\n(name: release gate\n.*?)```", BUILDS, re.DOTALL)
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"push": {"tags": ["search-*"]}}  # YAML takes `on` for a truth value
    steps = {step.get("name"): step for step in workflow["jobs"]["gate"]["steps"]}
    assert steps["Keep what was decided"]["if"] == "always()"
    return steps["Decide"]["run"], policy


@pytest.mark.parametrize(("new", "code", "title"), [("bold", 1, "### Stop: new"), ("steady", 0, "### Ship: new")])
def test_the_documented_workflow(demo: Path, tmp_path: Path, new: str, code: int, title: str) -> None:
    command, policy = documented()
    for name in ("relevance", "record"):
        (tmp_path / name).mkdir()
    for name, source in (("qrels.txt", "qrels.txt"), ("today.run", "today.run"), ("new.run", f"{new}.run")):
        (tmp_path / "relevance" / name).write_bytes((demo / source).read_bytes())
    (tmp_path / "relevance" / "policy.toml").write_text(policy)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = subprocess.run(
        ["bash", "-e", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, "")
    summary = (tmp_path / "summary.md").read_text()
    assert title in summary
    errors = [line for line in done.stdout.splitlines() if line.startswith("::")]
    if code:
        assert errors[0].startswith("::error title=new%3A risk ≤ 0.04 fails::")
        worst = json.loads((tmp_path / "decision.json").read_text())["most_hurt"][0]["query"]
        assert f"| 1 | {worst} |" in summary
    else:
        assert not errors
    etree.XMLSchema(etree.parse(JUNIT)).assertValid(etree.parse(tmp_path / "junit.xml"))
    check_data(json.loads((tmp_path / "decision.json").read_text()), "decision")
    assert '<h1 id="headline">' in (tmp_path / "decision.html").read_text()


def test_documents_are_texts_of_the_pages_rankings(surefoot, home: Path) -> None:
    (home / "titles.tsv").write_text("q067-d044\tA goat on a ledge\n")
    line = [*BOLD, *CONDITIONS, "-q"]
    assert surefoot(*line, "--html", "d.html", "--documents", "titles.tsv")[0] == 1
    assert "A goat on a ledge" in (home / "d.html").read_text()
    code, _, err = surefoot(*line, "--documents", "titles.tsv")
    assert (code, "add --html FILE" in err) == (2, True)
    line = ["gate", "--scores", "scores.csv", "-b", "today", *CONDITIONS, "--html", "e.html"]
    code, _, err = surefoot(*line, "--documents", "titles.tsv")
    assert (code, "--scores has no rankings" in err) == (2, True)


def test_json_on_the_terminal_stays_json(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(home / "summary.md"))
    code, out, err = surefoot(*BOLD, *CONDITIONS, "--json", "-", "-q")
    assert code == 1
    data = json.loads(out)
    assert data["decision"] == "stop"
    assert err.startswith("::error title=bold")
    code, out, _ = surefoot(*BOLD, *CONDITIONS, "--markdown", "-")
    assert out.startswith("<!-- surefoot decision -->")


def test_scores_policy_texts_and_names(surefoot, home: Path) -> None:
    made = sf.score(sf.read_qrels("qrels.txt"), [sf.read_run("today.run"), sf.read_run("bold.run")], "nDCG@10")
    made.write("scores.csv")
    (home / "policy.toml").write_text("risk = 0.03\ngain = 0\n")
    (home / "texts.tsv").write_text("q067\ta query that is hurt\n")
    code, out, _ = surefoot(
        "gate", "--scores", "scores.csv", "-m", "nDCG@10", "-b", "today", "--policy", "policy.toml", "--json", "d.json",
        "--texts", "texts.tsv",
    )  # fmt: skip
    assert code == 1
    assert "q067 (a query that is hurt)" in out
    surefoot(*BOLD, "--policy", "policy.toml", "--json", "e.json", "-q")
    by_scores, by_runs = (json.loads((home / name).read_text()) for name in ("d.json", "e.json"))
    assert by_scores["conditions"] == by_runs["conditions"]
    assert sf.Decision.read("d.json").decision == "stop"


def test_options_go_before_the_policy(surefoot, home: Path) -> None:
    (home / "p.toml").write_text("risk = 0.9\ngain = 0\n[segments.a]\nrisk = 0.8\ngain = -0.5\n")
    options = ["--risk", "0.2", "--delta", "0.01", "--segment", "a:risk=0.7", "--segment", "b:gain=-0.4"]
    surefoot(*STEADY, "--policy", "p.toml", *options, "--segments", _kinds(home), "--json", "d.json", "-q")
    data = json.loads((home / "d.json").read_text())
    assert data["delta"] == 0.01
    assert [(one["name"], one["segment"], one["level"]) for one in data["conditions"]] == [
        ("risk", None, 0.2), ("gain", None, 0.0), ("risk", "a", 0.7), ("gain", "a", -0.5), ("gain", "b", -0.4),
    ]  # fmt: skip


def test_who_reads_no_further_does_not_ship(demo: Path) -> None:
    line = f"{sys.executable} -m surefoot {' '.join(BOLD)} {' '.join(CONDITIONS)} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=demo, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_file_order_changes_nothing(surefoot, home: Path) -> None:
    surefoot(*STEADY, *CONDITIONS, "--json", "one.json", "-q")
    for name in ("qrels.txt", "today.run", "steady.run"):
        lines = (home / name).read_text().splitlines()
        (home / name).unlink()
        (home / name).write_text("\n".join(lines[::-1]) + "\n")
    surefoot("gate", "qrels.txt", "steady.run", "today.run", "-b", "today", *CONDITIONS, "--json", "other.json", "-q")
    assert (home / "one.json").read_text() == (home / "other.json").read_text()


def test_looks_and_their_refusals(surefoot, home: Path) -> None:
    lines = (home / "qrels.txt").read_text().splitlines(keepends=True)
    queries = sorted({line.split()[0] for line in lines})
    for number in range(2):
        own = set(queries[: 100 * (number + 1)])
        (home / f"look{number}.txt").write_text("".join(line for line in lines if line.split()[0] in own))
    runs = ["steady.run", "today.run", "-b", "today", *CONDITIONS, "--record", "record.json", "-q"]
    assert surefoot("gate", "look0.txt", *runs)[0] == 3
    before = (home / "record.json").read_bytes()
    assert surefoot("gate", "look0.txt", *runs)[0] == 3
    code, _, err = surefoot("gate", "look1.txt", *runs, "--json", "record.json")
    assert code == 2
    assert "--json would overwrite the input file record.json" in err
    code, _, err = surefoot("gate", "look1.txt", *runs, "--json", "no/such/folder.json")
    assert code == 2
    assert (home / "record.json").read_bytes() == before
    assert surefoot("gate", "look1.txt", *runs, "--json", "d.json")[0] in (0, 3)
    data = json.loads((home / "d.json").read_text())
    assert [look["queries"] for look in data["record"]["looks"]] == [100, 200]
    code, _, err = surefoot("gate", "look0.txt", *runs)
    assert code == 2
    assert "100 queries of earlier looks have no judgments here" in err
    code, _, err = surefoot(
        "gate", "look1.txt", "steady.run", "today.run", "-b", "today", *CONDITIONS, "--json", "record.json"
    )
    assert code == 2
    assert "it is not marked as a file that surefoot wrote" in err  # a record is not a result to be replaced


def test_questions_share_delta(surefoot, home: Path) -> None:
    numbers = []
    for line in (STEADY, BOLD, STEADY):
        surefoot(*line, *CONDITIONS, "--record", "record.json", "--json", "d.json", "-q")
        numbers.append(json.loads((home / "d.json").read_text())["record"]["number"])
    assert numbers == [1, 2, 1]
    code, out, _ = surefoot("gate", "--record", "record.json")
    assert code == 3
    assert re.search(r"1 +steady: risk ≤ 0.03 and gain > 0 +0.04 +0.04608 +1 +200 +ship", out)
    assert re.search(r"2 +bold: .* +0.006079 +0.04608 +1 +200 +stop", out)
    (home / "record.json").write_text((home / "record.json").read_text().replace('"entries"', '"entreis"'))
    code, _, err = surefoot(*STEADY, *CONDITIONS, "--record", "record.json")
    assert code == 2
    assert "was changed after surefoot wrote it (its hash does not match); restore the newest copy" in err
    assert surefoot("gate", "--record", "none.json")[0] == 2


def test_undecided_prints_the_next_two_commands_and_they_run(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 2000)
    line = ["gate", "few.txt", "today.run", "steady.run", "-b", "today", "--risk", "0.06"]
    lines = (home / "qrels.txt").read_text().splitlines(keepends=True)

    def judge(queries: set[str]) -> None:
        (home / "few.txt").write_text("".join(one for one in lines if one.split()[0] in queries))

    judge({f"q{number:03}" for number in range(30)})
    code, out, _ = surefoot(*line)
    assert code == 3
    first, second = (one.strip() for one in out.split("Next:\n")[1].splitlines())
    assert first.startswith("surefoot judge next steady.run -b today.run -m nDCG@10 -n ")
    assert first.endswith(" --uniform --record release-record.json --csv to_judge-1.csv")
    assert second == "surefoot " + " ".join([*line, "--record", "release-record.json"])
    assert surefoot(*first.split()[1:-2], "--csv", "to_judge.csv")[0] == 0
    code, _, err = surefoot(*second.split()[1:])
    assert (code, "of the queries to judge have no judgments" in err) == (2, True)
    for _ in range(6):  # as long as it is undecided, do what it says
        judged = {row.split(",")[0] for row in (home / "to_judge.csv").read_text().splitlines()[1:]}
        judge(judged | {one.split()[0] for one in (home / "few.txt").read_text().splitlines()})
        code, out, _ = surefoot(*second.split()[1:])
        if code != 3:
            break
        first, second = (one.strip() for one in out.split("Next:\n")[1].splitlines())
        assert second.count("--record") == 1
        assert surefoot(*first.split()[1:], "--force")[0] == 0
    assert code in (0, 1)


@pytest.mark.parametrize("form", ["--sample=draws.json", "--sample draws.json"])
def test_undecided_draws_go_on_in_a_record(surefoot, home: Path, monkeypatch, form: str) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 2000)
    draw = ["judge", "next", "steady.run", "-b", "today.run", "-m", "nDCG@10"]
    assert surefoot(*draw, "-n", "30", "-o", "draws.json", "--seed", "1")[0] == 0
    line = ["gate", "qrels.txt", "today.run", "steady.run", "-b", "today", "--risk", "0.03"]
    code, out, _ = surefoot(*line, *form.split())
    assert code == 3
    first, second = (one.strip() for one in out.split("Next:\n")[1].splitlines())
    assert re.fullmatch(
        rf"surefoot {' '.join(draw)} -n \d+ --to-prove risk --record release-record.json --csv to_judge-1.csv", first
    )
    assert second == "surefoot " + " ".join([*line, "--record", "release-record.json"])
    assert surefoot(*first.split()[1:])[0] == 0
    assert surefoot(*second.split()[1:])[0] in (0, 1, 3)


def test_undecided_scores_say_what_to_judge(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 2000)
    rows = "".join(f"q{number},0.5,{0.5 if number % 8 else 0.3}\n" for number in range(100))
    (home / "scores.csv").write_text(f"query,today,new\n{rows}")
    line = ["gate", "--scores", "scores.csv", "-m", "AP", "-b", "today", "--risk", "0.04"]
    for options, which in (([], "new"), (["--record", "record.json"], "more")):
        code, out, _ = surefoot(*line, *options)
        assert code == 3
        first, second = (one.strip() for one in out.split("Next:\n")[1].splitlines())
        assert re.fullmatch(rf"# judge [\d,]+ {which} queries, drawn at random from the same traffic, then", first)
        assert second == "surefoot " + " ".join([*line, *(options or ["--record", "release-record.json"])])


def test_a_preview_is_no_look(surefoot, home: Path) -> None:
    line = [*STEADY, *CONDITIONS, "--record", "record.json"]
    code, out, _ = surefoot(*line, "--preview")
    assert code == 3
    assert not (home / "record.json").exists()
    assert "A new question, number 1 of those that share queries or its candidate: steady against today" in out
    assert "Its level is 0.04 of δ = 0.05" in out
    assert not re.search(r"\bp\b|observed|0\.0118", out)
    surefoot(*line, "-q")
    assert "Look 1 at question 1" in surefoot(*line, "--preview")[1]
    assert "A look that stands alone" in surefoot(*STEADY, *CONDITIONS, "--preview")[1]


def test_a_policy_alone_says_how_many_queries_to_judge(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 10_000)
    code, out, _ = surefoot("gate", "--risk", "0.02", "--share-hurt", "0.05", "--gain", "0", "--u-risk", "5:0")
    assert code == 3
    rows = {
        row[1]: (int(row[2].replace(",", "")), row[3]) for row in re.finditer(r"(\S.*?) {2,}([\d,]+) +([\d,–]+)", out)
    }
    assert {name: least for name, (least, _) in rows.items()}["risk ≤ 0.02"] == 155
    assert all(enough == "–" or int(enough.replace(",", "")) >= least for least, enough in rows.values())


def test_without_a_run_no_build_ships(surefoot, home: Path) -> None:
    """An empty variable in place of the candidate is no decision to ship."""
    (home / "release.toml").write_text('risk = 0.1\nqrels = "qrels.txt"\nbaseline = "today.run"\n')
    code, _, err = surefoot("gate", "--policy", "release.toml")
    assert code == 2
    assert "no run was given, and the policy has the judgments; give the candidate" in err
    for option in ("--json", "--junit", "--html", "--markdown"):
        code, _, err = surefoot("gate", "--risk", "0.1", option, "out")
        assert code == 2
        assert f"no run was given, and {option} is for a decision" in err
    assert not (home / "out").exists()


@pytest.mark.parametrize("outputs", ["--html page.html > /dev/full", "--json - > /dev/full", "> /dev/full"])
def test_what_could_not_be_shown_was_looked_at(home: Path, outputs: str) -> None:
    line = f"{sys.executable} -m surefoot {' '.join([*STEADY, *CONDITIONS])} --record record.json {outputs}"
    done = subprocess.run(["bash", "-c", line], cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    record = json.loads((home / "record.json").read_text())
    assert [one["entry"]["kind"] for one in record["entries"]] == ["question", "look"]
    before = (home / "record.json").read_bytes()
    done = subprocess.run(
        ["bash", "-c", line.split(">", maxsplit=1)[0]], cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert (home / "record.json").read_bytes() == before


@pytest.mark.heavy
def test_a_kill_between_writing_and_output_loses_no_look(home: Path) -> None:
    program = (
        "import os, signal, sys, surefoot.decide.gate.gate as gate\n"
        "gate._data = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from surefoot.cli import main\n"
        "sys.argv = ['surefoot', *sys.argv[1:]]\n"
        "main()\n"
    )
    line = [*STEADY, *CONDITIONS, "--record", "record.json", "--json", "d.json"]
    assert subprocess.run([sys.executable, "-c", program, *line], cwd=home, check=False).returncode == -9
    assert not (home / "d.json").exists()
    before = (home / "record.json").read_bytes()
    assert subprocess.run([sys.executable, "-m", "surefoot", *line, "-q"], cwd=home, check=False).returncode == 0
    assert (home / "record.json").read_bytes() == before
    assert len(json.loads((home / "d.json").read_text())["record"]["looks"]) == 1


REFUSED = [
    ("gate", "give at least one condition, or a policy file:"),
    ("gate qrels.txt --risk 0.1", "judgments and at least one run are required: surefoot gate QRELS RUN"),
    ("gate qrels.txt today.run steady.run --risk 0.1", "say which system is live today, with --baseline"),
    ("gate qrels.txt today.run steady.run -b today", "give at least one condition, or a policy file:"),
    ("gate qrels.txt today.run steady.run bold.run -b today --risk 0.1", "there are 2 systems besides the baseline: "),
    ("gate qrels.txt today.run steady.run -b today --risk 0", "risk is 0; it must be above 0 and below 1"),
    ("gate qrels.txt today.run steady.run -b today --risk nan", "risk is nan; it must be a number"),
    ("gate qrels.txt today.run steady.run -b today --risk x", "--risk"),
    ("gate qrels.txt today.run steady.run -b today --u-risk 5", "--u-risk '5' is not understood"),
    ("gate qrels.txt today.run steady.run -b today --u-risk 5:x", "--u-risk has 'x', but it needs a number"),
    ("gate qrels.txt today.run steady.run -b today --segment risk=1", "--segment 'risk=1' is not understood"),
    ("gate qrels.txt today.run steady.run -b today --segment a:harm=0.1", "segments.a.harm is not a key of a policy"),
    (
        "gate qrels.txt today.run steady.run -b today --segment a:risk=0.1 --segment a:risk=0.2",
        "you gave risk of that segment twice",
    ),
    ("gate qrels.txt today.run steady.run -b today --segment a:risk=0.1", "--segments FILE"),
    ("gate qrels.txt today.run steady.run -b today --policy none.toml", "none.toml"),
    ("gate qrels.txt today.run steady.run -b today --risk 0.1 --segments qrels.txt", "no condition uses them"),
    ("gate qrels.txt today.run steady.run -b today --policy qrels.txt", "qrels.txt: is not TOML"),
    ("gate qrels.txt today.run steady.run -b today --risk 0.1 -m DCG@10", "has no maximum"),
    (
        "gate qrels.txt today.run steady.run -b today --risk 0.1 --budget 100",
        "a budget needs a record (--budget, --record)",
    ),
    ("gate qrels.txt today.run steady.run -b today --risk 0.1 --budget 0 --record s.json", "--budget"),
    ("gate qrels.txt today.run steady.run -b today --risk 0.1 --sample qrels.txt", "qrels.txt"),
    (
        "gate qrels.txt today.run steady.run -b today --risk 0.1 --record qrels.txt",
        "--record would overwrite the input file qrels.txt",
    ),
    (
        "gate qrels.txt today.run steady.run -b today --risk 0.1 --record today.run --budget 9",
        "--record would overwrite",
    ),
    (
        "gate qrels.txt today.run steady.run -b today --risk 0.1 --json today.run",
        "--json would overwrite the input file today.run",
    ),
    ("gate qrels.txt today.run steady.run -b today --risk 0.1 --json a --junit a", "would both write to a"),
    ("gate --scores qrels.txt today.run -b today --risk 0.1", "give either judgments and runs or --scores"),
    ("gate qrels.txt today.run steady.run -b today --risk 0.1 --json - --markdown -", "would both be printed"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_what_is_refused(surefoot, home: Path, line: str, message: str) -> None:
    check_refused(surefoot, home, line, message)


def test_nobody_judged(surefoot, home: Path) -> None:
    (home / "other.txt").write_text("z1 0 d1 1\n")
    code, _, err = surefoot("gate", "other.txt", "today.run", "steady.run", "-b", "today", "--risk", "0.1")
    assert code == 2
    assert "has no query in common with the judgments" in err
    lines = [line.split() for line in (home / "qrels.txt").read_text().splitlines()]
    (home / "zeros.txt").write_text("".join(f"{query} 0 {document} 0\n" for query, _, document, _ in lines))
    code, _, err = surefoot("gate", "zeros.txt", "today.run", "steady.run", "-b", "today", "--risk", "0.1")
    assert code == 2
    assert "no judged query has a relevant document" in err


def test_queries_that_a_run_lacks(surefoot, home: Path) -> None:
    lines = (home / "steady.run").read_text().splitlines(keepends=True)
    (home / "part.run").write_text("".join(line for line in lines if not line.startswith("q00")))
    runs = ["gate", "qrels.txt", "today.run", "part.run", "-b", "today", "--risk", "0.2"]
    assert "part returned nothing for 9 judged queries. They count as 0" in surefoot(*runs)[1]
    assert "9 judged queries that a run lacks were left out" in surefoot(*runs, "--missing", "drop")[1]
    code, _, err = surefoot(*runs, "--missing", "error")
    assert code == 2
    assert "run 'part' has no results for 9 of 200" in err
