"""The command line as users meet it: what it prints and writes, and how it says no."""

from __future__ import annotations

import errno
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from tests.cli.inputs import write_runs

import surefoot as sf
from surefoot.cli import main
from surefoot.report.kinds import KINDS

SCHEMA = KINDS["assessment"].json_schema()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_runs(tmp_path, runs=4, ending=".run.gz")


def runs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.run.gz"))


def test_a_table(surefoot, folder: Path) -> None:
    code, out, err = surefoot("evaluate", folder / "qrels.txt", *runs(folder), "-m", "ERR@20", "--baseline", "today")
    assert (code, err) == (0, "")
    assert "ERR@20 of 4 systems on 30 queries, against today" in out
    assert "α = 1: losses count 2 times as much as gains" in out
    assert "α = 10: losses" not in out
    assert "More with --all: wins and ties, α = 0, α = 5, α = 10" in out
    full = surefoot(
        "evaluate", folder / "qrels.txt", *runs(folder), "-m", "ERR@20", "--baseline", "today", "--all"
    )[1]  # fmt: skip
    assert "α = 10: losses count 11 times as much as gains" in full
    assert "More with --all" not in full
    assert "today is the baseline. It is not tested (–)." in " ".join(out.split())


def test_json_to_the_terminal_and_to_a_file(surefoot, folder: Path) -> None:
    arguments = ("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "-a", "0,2.5")
    code, out, _ = surefoot(*arguments, "--json", "-")
    assert code == 0
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert list(data["systems"][0]["alpha"]) == ["0", "2.5"]
    code, out, _ = surefoot(
        *arguments, "--json", folder / "a.json", "--csv", folder / "a.csv", "--per-query", "--quiet"
    )
    assert (code, out) == (0, "")
    saved = json.loads((folder / "a.json").read_text())
    jsonschema.validate(saved, SCHEMA)
    assert {key: value for key, value in saved.items() if key != "per_query"} == data
    assert (folder / "a.csv").read_text().startswith("system,mean,gain,")
    assert (folder / "a.per-query.csv").read_text().startswith("query,system,baseline,score,")


@pytest.mark.parametrize(
    ("form", "start"), [("json", "{"), ("csv", "system,"), ("markdown", "**nDCG@10"), ("latex", "%")]
)
def test_formats(surefoot, folder: Path, form: str, start: str) -> None:
    code, out, _ = surefoot("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", f"--{form}", "-")
    assert code == 0
    assert out.startswith(start)


def test_the_order_of_systems_and_names_for_files(surefoot, folder: Path) -> None:
    first, *rest = runs(folder)
    code, out, _ = surefoot(
        "evaluate", folder / "qrels.txt", f"mine={first}", *rest, "-b", "mine", "--csv", "-", "--sort", "risk"
    )  # fmt: skip
    assert code == 0
    assert out.splitlines()[1].startswith("mine,")


def test_why_shows_both_lists_of_the_worst_queries(surefoot, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 good 3\nq1 0 bad 0\nq2 0 good 1\n")
    lists = {
        "today": {"q1": ["good", "bad", "kept", "other"], "q2": ["good", "bad"]},
        "new": {"q1": ["bad", "good", "kept", "fresh"], "q2": ["good", "bad"]},
    }
    for name, by_query in lists.items():
        scored = {query: {doc: 9.0 - at for at, doc in enumerate(docs)} for query, docs in by_query.items()}
        sf.read_run(scored, name).write(tmp_path / f"{name}.run")
    command = ["evaluate", tmp_path / "qrels.txt", tmp_path / "today.run", tmp_path / "new.run", "-b", "today", "--why"]
    (tmp_path / "texts.tsv").write_text("q1\tred shoes\n")
    code, out, err = surefoot(*command, "-m", "RR@4", "--texts", tmp_path / "texts.tsv")
    assert (code, err) == (0, "")
    assert "Query q1 (red shoes): today 1.0000, new 0.5000 (−0.5000)" in out
    assert "Query q2" not in out  # it is not hurt
    rows = [line.split() for line in out.partition("Query q1")[2].splitlines()[2:8]]
    assert [row for row in rows if row and row[0].isdecimal()] == [
        ["1", "good", "3", "↓", "2", "bad", "0", "↑", "2"],
        ["2", "bad", "0", "↑", "1", "good", "3", "↓", "1"],
        ["3", "kept", "–", "same", "kept", "–", "same"],
        ["4", "other", "–", "–", "fresh", "–", "–"],
    ]
    cut = surefoot(*command, "-m", "RR@1")[1].partition("Query q1")[2]
    assert "good" in cut
    assert "kept" not in cut  # below the cutoff
    assert "kept" in surefoot(*command, "-m", "IPrec@0.1")[1].partition("Query q1")[2]


def test_why_needs_runs_and_a_terminal(surefoot, folder: Path) -> None:
    (folder / "m.csv").write_text("q,today,new\n1,0.5,0.4\n2,0.1,0.6\n")
    code, out, err = surefoot("evaluate", "--scores", folder / "m.csv", "-b", "today", "--why")
    assert (code, out, "scores have no lists; give runs" in err) == (2, "", True)
    command = ["evaluate", folder / "qrels.txt", *runs(folder), "--why"]
    code, out, err = surefoot(*command, "-b", "today", "--json", "-")
    assert (code, out, "print no json there" in err) == (2, "", True)
    code, out, _ = surefoot(*command, "-b", "today,bm25")
    assert (code, "With several baselines, no one list stands beside a system's" in out) == (0, True)
    code, out, _ = surefoot(*command, "-b", "mean")
    assert (code, "mean has no list of its own" in out) == (0, True)


def test_several_baselines_a_population_and_bootstrap(surefoot, folder: Path) -> None:
    code, out, _ = surefoot(
        "evaluate", folder / "qrels.txt", *runs(folder), "-b", "today,bm25", "--population", "today,bold",
        "--bootstrap", "50", "--json", "-",
    )  # fmt: skip
    assert code == 0
    data = json.loads(out)
    assert data["baseline"] == ["today", "bm25"]
    assert data["population"] == ["today", "bold"]
    assert data["bootstrap"]["replicates"] == 50


def test_missing_queries(surefoot, folder: Path) -> None:
    today = sf.read_run(folder / "today.run.gz").to_dict()
    part = {query: documents for query, documents in today.items() if query not in ("q01", "q02")}
    sf.read_run(part, "part").write(folder / "part.run")
    files = (folder / "qrels.txt", folder / "today.run.gz", folder / "part.run")
    code, out, _ = surefoot("evaluate", *files, "-b", "today")
    assert (code, out.splitlines()[1][-9:]) == (0, "part (2).")
    code, out, _ = surefoot("evaluate", *files, "-b", "today", "--missing", "drop", "--json", "-")
    assert (code, json.loads(out)["dropped"]) == (0, 2)
    code, _, err = surefoot("evaluate", *files, "-b", "today", "--missing", "error")
    assert code == 2
    assert "run 'part' has no results for 2 of" in err
    (folder / "m.csv").write_text("q,today,new\n1,0.5,0.4\n2,0.1,0.6\n")
    code, _, err = surefoot("evaluate", "--scores", folder / "m.csv", "-b", "today", "--missing", "drop")
    assert (code, "--missing works only with runs and with results per query" in err) == (2, True)


def test_several_measures(surefoot, folder: Path) -> None:
    arguments = ("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "-a", "5", "-m", "nDCG@10", "-m", "AP")
    code, out, _ = surefoot(*arguments, "--json", folder / "a.json", "--csv", folder / "a.csv", "--per-query")
    assert code == 0
    for measure in ("nDCG@10", "AP"):
        assert f"{measure} of 4 systems on 30 queries, against today" in out
    data = json.loads((folder / "a.json").read_text())
    jsonschema.validate(data, SCHEMA)
    assert [part["measure"] for part in data["measures"]] == ["nDCG@10", "AP"]
    assert (folder / "a.csv").read_text().startswith("measure,system,mean,")
    assert (folder / "a.per-query.csv").read_text().startswith("measure,query,system,baseline,")
    assert surefoot(*arguments, "--csv", folder / "a.csv", "--per-query")[0] == 0  # its own file is replaced
    again = sf.Assessment.read(folder / "a.json")
    assert again.measures == ("nDCG@10", "AP")
    assert again["AP"].to_dict(per_query=True) == data["measures"][1]
    code, _, err = surefoot(*arguments, "-m", "AP")
    assert (code, "a measure is given twice" in err) == (2, True)


def test_segments(surefoot, folder: Path) -> None:
    lines = [f"q{i:02d},{'head' if i % 2 else 'tail'},{'' if i > 20 else 'en'}" for i in range(1, 31)]
    (folder / "kinds.csv").write_text("\n".join(["query,length,language", *lines]) + "\n")
    arguments = ("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "--segments", folder / "kinds.csv")
    code, out, _ = surefoot(*arguments, "--json", folder / "a.json")
    assert code == 0
    assert "bold by length, against today, at α = 1" in out
    data = json.loads((folder / "a.json").read_text())
    jsonschema.validate(data, SCHEMA)
    columns = [(c["column"], c["unassigned"], [p["segment"] for p in c["segments"]]) for c in data["segments"]]
    assert columns == [("length", 0, ["head", "tail"]), ("language", 10, ["en"])]
    markdown = surefoot(*arguments, "--markdown", "-")[1]
    assert "bold by length, at α = 1" in markdown
    (folder / "kinds.csv").write_text("query,length\nx1,head\n")
    code, _, err = surefoot(*arguments)
    assert (code, "no query has a segment in 'length'" in err) == (2, True)
    code, _, err = surefoot(*arguments, "--json", folder / "kinds.csv")
    assert (code, "would overwrite the input file" in err) == (2, True)


def test_what_was_found_comes_first(surefoot, folder: Path) -> None:
    out = surefoot("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "-a", "0,5")[1]
    assert "\nα = 5: losses count 6 times as much as gains\n" in out
    assert "The system with the highest mean: bold gains" in out
    markdown = surefoot("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "--markdown", "-")[1]
    assert "**α = 1: losses count 2 times as much as gains.** " in markdown


def test_a_single_query_and_an_identical_system(surefoot, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("q,today,new,twin\n1,0.5,0.4,0.5\n")
    code, out, _ = surefoot("evaluate", "--scores", tmp_path / "m.csv", "-b", "today")
    assert code == 0
    assert "a single query has no standard error" in " ".join(out.split())
    code, out, _ = surefoot("evaluate", "--scores", tmp_path / "m.csv", "-b", "today", "--json", "-")
    at = json.loads(out)["systems"][2]["alpha"]["5"]
    assert (code, at["t_risk"], at["p_value"], at["se"]) == (0, None, None, None)


LINE = "q01 Q0 q01-d000 1 1.0 x\n"
BAD_RUNS = {
    "too few columns": (LINE.encode() + b"q01 Q0 d 2\n", "line 2: expected 6 columns"),
    "not a number": (b"q01 Q0 d 1 high x\n", "line 1: the score 'high' is not a number"),
    "nan": (b"q01 Q0 d 1 nan x\n", "line 1: the score is nan"),
    "infinite": (b"q01 Q0 d 1 inf x\n", "line 1: the score is inf"),
    "twice": (LINE.encode() * 2, "line 2: document 'q01-d000' appears twice"),
    "empty": (b"", "the file is empty"),
    "not utf-8": (b"q01 Q0 d\xe9 1 1.0 x\n", "line 1: not UTF-8 text"),
    "no query in common": (b"other Q0 d 1 1.0 x\n", "has no query in common with the judgments"),
}


@pytest.mark.parametrize("what", BAD_RUNS)
def test_bad_runs(surefoot, folder: Path, what: str) -> None:
    content, message = BAD_RUNS[what]
    bad = folder / "bad.run"
    bad.write_bytes(content)
    refused(surefoot, folder, message, [bad], "--baseline", "bad")
    if what != "no query in common":
        refused(surefoot, folder, str(bad), [bad], "--baseline", "bad")


def test_truncated_gz(surefoot, folder: Path) -> None:
    bad = folder / "bad.run.gz"
    bad.write_bytes(gzip.compress("".join(f"q01 Q0 d{i} 1 {i}.5 x\n" for i in range(999)).encode())[:500])
    refused(surefoot, folder, "the .gz data is truncated or corrupt", [bad], "-b", "today")


def test_bad_arguments(surefoot, folder: Path) -> None:
    today = ("--baseline", "today")
    refused(surefoot, folder, "unknown measure 'nGCD@10'; did you mean nDCG?", [], *today, "-m", "nGCD@10")
    refused(surefoot, folder, "no system is named 'nobody'", [], "-b", "nobody")
    refused(surefoot, folder, "say which system is live today, with --baseline", [])
    refused(surefoot, folder, "alpha is -1; it must be a number from 0 to 1,000,000", [], *today, "--alpha=-1")
    refused(surefoot, folder, "alpha is 'x'", [], *today, "--alpha", "0,x")
    refused(surefoot, folder, "2 systems are named 'bold'", [folder / "bold.run.gz"], *today)
    refused(surefoot, folder, "cannot sort by 'beauty'", [], *today, "--sort", "beauty")
    refused(surefoot, folder, "no system is named 'nobody'", [], *today, "--population", "nobody")
    refused(surefoot, folder, "cannot be read", [folder / "absent.run"], *today)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q,a,b\n1,0.5,\n", "line 2, query '1': the score of system 'b' is missing"),
        ("q,a,a\n1,0.5,0.1\n", "two columns are named 'a'"),
    ],
)
def test_bad_matrices(surefoot, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    code, out, err = surefoot("evaluate", "--scores", tmp_path / "m.csv", "-b", "a", "--json", tmp_path / "a.json")
    assert (code, out) == (2, "")
    assert message in err
    assert names(tmp_path) == ["m.csv"]


def test_scores_are_called_what_they_are_called(surefoot, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("q,a,b\n1,0.5,0.1\n2,0.3,0.2\n")
    matrix = ("evaluate", "--scores", tmp_path / "m.csv", "-b", "a")
    assert "score of 2 systems" in surefoot(*matrix)[1]
    assert "click rate of 2 systems" in surefoot(*matrix, "-m", " click rate ")[1]
    for option, message in (("-m ", "-m is empty"), ("--depth=3", "--depth compares rankings")):
        code, out, err = surefoot(*matrix, option)
        assert (code, out) == (2, "")
        assert message in err


def test_inputs_are_not_overwritten_and_outputs_are_distinct(surefoot, folder: Path) -> None:
    (folder / "m.csv").write_text("q,a,b\n1,0.5,0.1\n2,0.3,0.2\n")
    (folder / "m.per-query.csv").symlink_to(folder / "m.csv")
    (folder / "same.run.gz").symlink_to(folder / "today.run.gz")
    (folder / "folder").mkdir()
    matrix = ("--scores", folder / "m.csv", "-b", "a")
    with_runs = (folder / "qrels.txt", f"x={folder / 'today.run.gz'}", folder / "bold.run.gz", "-b", "x")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for arguments, message in (
        ((*matrix, "--csv", folder / "m.csv"), "--csv would overwrite"),
        ((*matrix, "--csv", folder / "folder" / ".." / "m.csv"), "--csv would overwrite"),
        ((*matrix, "--per-query", "--csv", folder / "m.csv"), "--csv would overwrite"),
        ((*with_runs, "--json", folder / "same.run.gz"), "--json would overwrite"),
        ((*with_runs, "--html", folder / "qrels.txt"), "--html would overwrite"),
        ((*with_runs, "--json", folder / "s", "--csv", folder / "folder" / ".." / "s"), "--json and --csv would both"),
        ((*with_runs, "--html", folder / "s.per-query.csv", "--csv", folder / "s.csv", "--per-query"), "would both"),
        ((*with_runs, "--json", folder / "s", "--figures", folder / "s"), "--json and --figures would both"),
        ((*with_runs, "--json", folder / "s", "--html", folder / "folder"), "it is a folder"),
        ((*with_runs, "--json", folder / "s", "--html", folder / "absent" / "p"), "there is no folder"),
        ((*with_runs, "--json", folder / "s", "--figures", folder / "m.csv" / "x"), "cannot be made"),
        ((*with_runs, "--json", folder / "s", "--csv", ""), "--csv is empty"),
        ((*with_runs, "--json", ""), "--json is empty"),
        ((*with_runs, "--json", "-", "--csv", "-"), "--json - and --csv - would both be printed"),
        ((*with_runs, "--latex", "-", "--per-query"), "--per-query cannot be printed as latex"),
        ((*with_runs, "--json", folder / ("x" * 300)), "cannot be written"),
        ((*with_runs, folder / ("x" * 300)), "cannot be read"),
    ):
        code, out, err = surefoot("evaluate", *arguments)
        assert (code, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_the_width_of_pipes(surefoot, folder: Path, monkeypatch) -> None:
    arguments = ("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today")
    monkeypatch.setenv("COLUMNS", "60")
    narrow = surefoot(*arguments)[1].splitlines()
    assert max(map(len, narrow)) <= 60
    assert all(line == line.rstrip() for line in narrow)
    monkeypatch.delenv("COLUMNS")
    assert "did not fit" not in surefoot(*arguments)[1]


def test_messages_do_not_steer_the_terminal(surefoot) -> None:
    code, _, err = surefoot("evaluate", "--scores", "\x1b[31mred.csv", "-b", "x")
    assert code == 2
    assert "\x1b" not in err
    assert "red.csv: cannot be read" in err


def test_standard_output_that_is_closed(folder: Path) -> None:
    text = f"{sys.executable} -m surefoot evaluate {folder}/qrels.txt {folder}/*.run.gz -b today >&-"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "surefoot: cannot write to standard output (it is closed; send it to a file)\n"


@pytest.mark.parametrize("form", ["table", "json"])
def test_standard_output_on_a_full_disk(folder: Path, monkeypatch, capsys, form: str) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    options = [str(folder / "qrels.txt"), *map(str, runs(folder)), "-b", "today", f"--{form}", "-"]
    monkeypatch.setattr(sys, "argv", ["surefoot", "evaluate", *options])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == "surefoot: cannot write to standard output (No space left on device)\n"


def test_neither_or_both_sources(surefoot, folder: Path) -> None:
    code, _, err = surefoot("evaluate", "-b", "x")
    assert code == 2
    assert "judgments and at least one run are required" in err
    (folder / "x.csv").write_text("query,x\n1,0.5\n")
    code, _, err = surefoot("evaluate", folder / "qrels.txt", *runs(folder), "--scores", folder / "x.csv", "-b", "x")
    assert code == 2
    assert "not both" in err


def refused(surefoot, folder: Path, message: str, more: list[Path], *options: object) -> None:
    """Exit code 2, the message, no traceback, nothing printed and nothing written."""
    before = names(folder)
    usual = [folder / f"{name}.run.gz" for name in ("today", "bold", "steady", "bm25")]
    output = ("--json", folder / "a.json", "--csv", folder / "a.csv")
    code, out, err = surefoot("evaluate", folder / "qrels.txt", *usual, *more, *output, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert names(folder) == before


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_help_has_an_example_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv[1:] = ['--help']\nfrom surefoot.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    )
    heavy = "print(sorted({'polars', 'numpy', 'scipy', 'jinja2', 'lightgbm', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + heavy], capture_output=True, text=True, check=True)
    assert "evaluate" in done.stdout
    assert done.stdout.strip().endswith("[]")


def test_a_pipe_closed_early_is_no_error(folder: Path) -> None:
    command = (
        f"{sys.executable} -m surefoot evaluate {folder}/qrels.txt {folder}/*.run.gz -b today --per-query | head -1"
    )
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "nDCG@10 of 4 systems" in done.stdout


def test_the_readme_shows_what_is_printed(surefoot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    made = tmp_path / "surefoot-demo"
    surefoot("demo", "-o", made)
    _, out, _ = surefoot(
        "evaluate", made / "qrels.txt", *sorted(made.glob("*.run")), "-m", "nDCG@10", "-b", "today", "-a", "5"
    )
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.partition("--alpha 5\n")[2].partition("\n`bold`")[0]
    shown = [line[4:] for line in block.splitlines() if line.strip() not in ("", "…")]
    assert len(shown) >= 9
    assert [line for line in shown if line not in out.splitlines()] == []


@pytest.mark.parametrize(("systems", "measures", "most"), [(12, ("nDCG@10",), 40), (10, ("nDCG@10", "AP"), 60)])
def test_what_is_printed_fits_a_screen(surefoot, tmp_path: Path, systems: int, measures: tuple[str], most: int) -> None:
    made = sf.demo.runs()
    made.qrels.write(tmp_path / "qrels.txt")
    for run in made.runs[:systems]:
        run.write(tmp_path / f"{run.name}.run")
    options = ["-b", "today", *(part for measure in measures for part in ("-m", measure))]
    line = ["evaluate", tmp_path / "qrels.txt", *sorted(tmp_path.glob("*.run")), *options]
    code, out, _ = surefoot(*line)
    assert code == 0
    assert out.count("\n") <= most
    assert out.count("α = 1: losses count 2 times as much as gains") == len(measures)
    assert surefoot(*line, "--all")[1].count("\n") > 2 * most


def test_what_was_asked_for_is_shown_without_all(surefoot, folder: Path) -> None:
    (folder / "kinds.csv").write_text(
        "query,kind\n" + "".join(f"q{n:02d},{'head' if n % 2 else 'tail'}\n" for n in range(1, 31))
    )
    _, out, _ = surefoot(
        "evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "--bootstrap", "100", "--per-query",
        "--segments", folder / "kinds.csv",
    )  # fmt: skip
    assert "intervals (bootstrap)" in out
    assert "by kind, against today" in out
    assert "The queries that it hurts most (*: significant):" in out
    assert "T_J, α=5" in out


def test_per_query_tables_show_what_queries_say(surefoot, folder: Path) -> None:
    (folder / "topics.tsv").write_text("".join(f"q{n:02d}\twhat {n} is{' long' * 20}\n" for n in range(1, 31)))
    line = ("evaluate", folder / "qrels.txt", *runs(folder), "-b", "today", "--texts", folder / "topics.tsv")
    code, out, _ = surefoot(*line, "--per-query", "-a", "1")
    assert code == 0
    assert re.search(r" q\d\d \(what \d+ is long long [long ]+…\) ", out)
    assert "--texts only affects the page, and no page is written" in surefoot(*line)[2]


def test_version(surefoot) -> None:
    assert surefoot("--version")[:2] == (0, f"surefoot {sf.__version__}\n")


def test_a_run_without_a_judged_document_is_warned_of(surefoot, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1 t\nq2 Q0 d2 1 1 t\n")
    (tmp_path / "b.run").write_text("q1 Q0 D1 1 1 t\nq2 Q0 D2 1 1 t\n")
    paths = [tmp_path / name for name in ("qrels.txt", "a.run", "b.run")]
    code, _, err = surefoot("evaluate", *paths, "-m", "AP", "-m", "RR", "-b", "a", "--quiet")
    assert code == 0
    assert err == (
        "surefoot: warning: run 'b': none of its 2 documents is judged; its first document is 'D1', "
        "the first judged one 'd1'; are the ids the same?\n"
    )


def test_a_page_names_files_and_no_folders(surefoot, tmp_path: Path) -> None:
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "s.csv").write_text("query,today,new\nq1,0.5,0.6\nq2,0.4,0.5\n")
    surefoot(
        "evaluate", "--scores", folder / "s.csv", "-b", "today", f"--html={folder / 'r.html'}", "--title", "a/b", "-q"
    )
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "secret" not in page
    assert "surefoot evaluate --scores s.csv -b today --html=r.html --title a/b -q" in page
