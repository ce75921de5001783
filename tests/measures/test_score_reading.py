"""Results per query of other programs: each form gives what judgments and runs give, to the digits that it carries."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
import pytrec_eval

import surefoot as sf
from surefoot.demo.made_runs import runs as demo_runs
from surefoot.errors import ArgumentError, DataError

MEASURES = {"map": "AP", "ndcg_cut_10": "nDCG@10", "P_10": "P@10", "recip_rank": "RR"}
EXAMPLE = """\
num_ret               \t1\t5
map                   \t1\t0.5000
relstring             \t1\t'1100'
map                   \t2\t0.2500
num_ret               \t2\t5
relstring             \t2\t'0100'
runid                 \tall\ttoday
num_q                 \tall\t2
num_ret               \tall\t10
map                   \tall\t0.3750
gm_map                \tall\t0.3536
"""


@pytest.fixture(scope="module")
def judged() -> tuple[sf.Qrels, dict[str, sf.Run]]:
    made = demo_runs(queries=20, depth=30, seed=3)
    return made.qrels, {run.name: run for run in made.runs[:4]}


@pytest.fixture(scope="module")
def ours(judged) -> dict[str, sf.Scores]:
    qrels, runs = judged
    scores = sf.score(qrels, list(runs.values()), list(MEASURES.values()))
    return {each.measure: each for each in scores}


@pytest.fixture(scope="module")
def theirs(judged) -> dict[str, Any]:
    """What pytrec_eval gives, by system, query and measure."""
    qrels, runs = judged
    grades = {query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in qrels.to_dict().items()}
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {"map", "ndcg_cut.10", "P.10", "recip_rank", "num_ret"})
    return {name: evaluator.evaluate(run.to_dict()) for name, run in runs.items()}


def same(found: sf.Scores, expected: sf.Scores, tolerance: float) -> None:
    assert found.measure == expected.measure
    assert set(found.systems) == set(expected.systems)
    assert set(found.queries) == set(expected.queries)
    columns = [found.queries.index(query) for query in expected.queries]
    for system in expected.systems:
        np.testing.assert_allclose(found[system][columns], expected[system], rtol=0, atol=tolerance)


def trec_eval_text(name: str, results: dict[str, dict[str, float]]) -> str:
    """As trec_eval -q prints it: measures padded to 22 letters, tabs, four digits, lines for all at the end."""
    lines = [
        f"{measure:<22}\t{query}\t{value:.4f}"
        for query, measured in results.items()
        for measure, value in measured.items()
    ]
    lines.append(f"{'runid':<22}\tall\t{name}")
    lines.append(f"{'num_q':<22}\tall\t{len(results)}")
    for measure in next(iter(results.values())):
        values = [measured[measure] for measured in results.values()]
        lines.append(f"{measure:<22}\tall\t{pytrec_eval.compute_aggregated_measure(measure, values):.4f}")
    return "\n".join(lines) + "\n"


def write_evals(folder: Path, theirs: dict[str, Any]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for name, results in theirs.items():
        paths.append(folder / f"{name}.eval")
        paths[-1].write_text(trec_eval_text(name, results))
    return paths


@pytest.mark.parametrize(("name", "measure"), MEASURES.items())
def test_output_of_trec_eval_by_either_spelling(tmp_path: Path, theirs, ours, name: str, measure: str) -> None:
    paths = write_evals(tmp_path / "evals", theirs)
    for spelling in (name, measure):
        same(sf.read_scores(paths, spelling), ours[measure], 5.001e-5)
    same(sf.read_scores(tmp_path / "evals", measure), ours[measure], 5.001e-5)
    same(sf.read_scores({path.stem: path for path in paths}, name), ours[measure], 5.001e-5)
    assert sf.read_scores(paths, [measure])[0].values.tolist() == sf.read_scores(paths, measure).values.tolist()


def test_spaces_in_place_of_tabs(tmp_path: Path, theirs, ours) -> None:
    """The script that comes with pytrec_eval pads with blanks alone."""
    lines = [
        f"{measure:25s}{query:8s}{value:.4f}"
        for query, measured in theirs["today"].items()
        for measure, value in measured.items()
    ]
    path = tmp_path / "today.txt"
    path.write_text("\n".join([*lines, f"{'map':25s}{'all':8s}{ours['AP']['today'].mean():.4f}"]))
    assert sf.read_scores(path, "map").values[0] == pytest.approx(ours["AP"]["today"], abs=5.001e-5)


@pytest.mark.parametrize("summary", [True, False])
@pytest.mark.parametrize("output", ["tsv", "jsonl"])
def test_output_of_ir_measures(tmp_path: Path, judged, ours, summary: bool, output: str) -> None:
    from ir_measures.__main__ import main_cli

    qrels, runs = judged
    qrels.write(tmp_path / "qrels.txt")
    paths = []
    for name, run in runs.items():
        run.write(tmp_path / f"{name}.run")
        arguments = [str(tmp_path / "qrels.txt"), str(tmp_path / f"{name}.run"), *MEASURES.values(), "-q", "-o", output]
        arguments += ["-p", "6"] if output == "tsv" else []
        text = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(text):
            patch.setattr(sys, "argv", ["ir_measures", *arguments, *([] if summary else ["-n"])])
            main_cli()
        paths.append(tmp_path / (f"{name}.jsonl" if output == "jsonl" else f"{name}.tsv"))
        paths[-1].write_text(text.getvalue())
    for name, measure in MEASURES.items():
        for spelling in (name, measure):
            same(sf.read_scores(paths, spelling), ours[measure], 1e-9 if output == "jsonl" else 5.001e-7)


def test_results_in_memory(judged, theirs, ours) -> None:
    qrels, runs = judged
    for name, measure in MEASURES.items():
        same(sf.read_scores(theirs, name), ours[measure], 1e-9)
    grades = {query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in qrels.to_dict().items()}
    by_system = {
        name: ir_measures.iter_calc([ir_measures.AP, ir_measures.nDCG @ 10], grades, run.to_dict())
        for name, run in runs.items()
    }
    same(sf.read_scores({name: list(rows) for name, rows in by_system.items()}, "AP"), ours["AP"], 1e-9)


def long_rows(theirs: dict[str, Any]) -> list[tuple[str, str, str, float]]:
    return [
        (name, query, measure, value)
        for name, results in theirs.items()
        for query, measured in results.items()
        for measure, value in measured.items()
    ]


@pytest.mark.parametrize(
    "form", ["pandas", "polars", "arrow", "dict", "csv", "tsv", "txt", "parquet", "shuffled", "renamed"]
)
def test_long_tables(tmp_path: Path, theirs, ours, form: str) -> None:
    """As PyTerrier's Experiment gives and saves them; `name` is the system, and never the query."""
    frame = pd.DataFrame(long_rows(theirs), columns=["name", "qid", "measure", "value"])
    source: Any = frame
    if form == "polars":
        source = pl.from_pandas(frame)
    elif form == "arrow":
        source = pl.from_pandas(frame).to_arrow()
    elif form == "dict":
        source = {name: list(frame[name]) for name in frame}
    elif form == "csv":
        frame.to_csv(source := tmp_path / "perquery.csv", index=False)
    elif form in ("tsv", "txt"):
        frame.to_csv(source := tmp_path / f"perquery.{form}", index=False, sep="\t")
    elif form == "parquet":
        pl.from_pandas(frame).write_parquet(source := tmp_path / "perquery.parquet")
    elif form == "shuffled":
        source = frame.sample(frac=1, random_state=1)[["value", "measure", "qid", "name"]]
    elif form == "renamed":
        source = frame.rename(columns={"name": "system", "qid": "query_id", "measure": "metric", "value": "score"})
    for name, measure in MEASURES.items():
        same(sf.read_scores(source, measure), ours[measure], 1e-9)
        same(sf.read_scores(source, name), ours[measure], 1e-9)


def test_a_table_of_several_measures_is_assessed_by_each(theirs, ours) -> None:
    frame = pd.DataFrame(long_rows(theirs), columns=["name", "qid", "measure", "value"])
    assessment = sf.assess(frame[frame.measure != "num_ret"], baseline="today", alphas=[5])
    assert assessment.measures == tuple(
        dict.fromkeys(MEASURES.get(name) for name in frame.measure if name != "num_ret")
    )
    expected = sf.assess(ours["AP"], baseline="today", alphas=[5]).to_dict()["systems"]
    found = assessment["AP"].to_dict()["systems"]
    assert {row["system"]: row["alpha"]["5"]["u_risk"] for row in found} == pytest.approx(
        {row["system"]: row["alpha"]["5"]["u_risk"] for row in expected}, abs=1e-9
    )


def test_json_of_pytrec_eval(tmp_path: Path, theirs, ours) -> None:
    for name, results in theirs.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(results))
    same(sf.read_scores(tmp_path, "AP"), ours["AP"], 1e-9)
    (tmp_path / "today.json").write_text('{"q1": {"map": 0.5},\n "q2": {"map": "high"}}')
    with pytest.raises(DataError, match=r"today\.json, line 2, q2\.map, query 'q2': .* is 'high', not a number"):
        sf.read_scores(tmp_path / "today.json")


@pytest.mark.heavy  # ranx compiles for a minute
def test_runs_and_reports_of_ranx(tmp_path: Path, judged) -> None:
    """In a process of its own: what ranx compiles stays there."""
    qrels, runs = judged
    qrels.write(tmp_path / "qrels.json")
    for name, run in runs.items():
        run.write(tmp_path / f"{name}.json")
    code = """
import json, sys, warnings
warnings.simplefilter("ignore")
import ranx, surefoot as sf
from surefoot.errors import DataError
qrels = ranx.Qrels({q: {d: int(g) for d, g in docs.items()} for q, docs in json.load(open("qrels.json")).items()})
runs = [ranx.Run(json.load(open(f"{name}.json")), name=name) for name in sys.argv[1:]]
try:
    sf.read_scores(runs)
except DataError as error:
    assert "ranx.evaluate(qrels, run, metrics) first" in str(error), error
for run in runs:
    ranx.evaluate(qrels, run, ["precision@10", "mrr"])
scores = sf.read_scores(runs, "P@10")
print(json.dumps([scores.measure, scores.systems, scores.queries, scores.values.tolist()]))
report = ranx.compare(qrels, runs, metrics=["precision@10"])
report.save("report.json")
for source in ("report.json", [report], report.to_dict()):
    try:
        sf.read_scores(source)
    except DataError as error:
        assert "ranx" in str(error) and "means only" in str(error) or "one mean per measure" in str(error), error
    else:
        raise AssertionError(source)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *runs], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    measure, systems, queries, values = json.loads(done.stdout)
    same(sf.Scores(values, systems, queries, measure), sf.score(qrels, list(runs.values()), "P@10"), 1e-9)
    with pytest.raises(DataError, match=r"report\.json: this is a saved report of ranx"):
        sf.read_run(tmp_path / "report.json")


def read(tmp_path: Path, text: str, measure: str | None = None, name: str = "today.eval", **more: Any) -> sf.Scores:
    (tmp_path / name).write_text(text)
    return sf.read_scores(tmp_path / name, measure, **more)


def test_only_what_is_chosen_is_read(tmp_path: Path) -> None:
    scores = read(tmp_path, EXAMPLE, "AP")
    assert (scores.systems, scores.queries, scores.values.tolist()) == (("today",), ("1", "2"), [[0.5, 0.25]])
    assert read(tmp_path, EXAMPLE, "num_ret").values.tolist() == [[5, 5]]
    one = "map all 0.375\nmap 1 0.5\nmap 2 0.25\n"
    assert read(tmp_path, one).measure == "AP"  # the only one, though its sum comes first


REFUSED = [
    (EXAMPLE, None, r"today.eval has 2 measures; choose one .* such as -m map \(.*measure='map'\): num_ret, map"),
    ("map\tall\t0.5\n", "map", "only for all queries together; with trec_eval and ir_measures use -q"),
    (EXAMPLE, "P_10", "the measure 'P_10' is not in .*today.eval; there are: num_ret, map"),
    (EXAMPLE, "gm_map", "'gm_map' has no number for single queries in .*today.eval; there are: num_ret, map"),
    (EXAMPLE, "relstring", "the measure 'relstring' has no number for single queries"),
    (EXAMPLE.replace("0.2500", "high"), "map", "today.eval, line 4, query '2': .* is 'high', not a number"),
    (EXAMPLE.replace("0.2500", "nan"), "map", "today.eval, line 4, query '2': .* is nan; it must be finite"),
    (EXAMPLE.replace("0.2500", "1e999"), "map", "today.eval, line 4, query '2': .* is inf; it must be finite"),
    (EXAMPLE.replace("\t2\t", "\t1\t"), "map", r"line 4: query '1' appears twice by map .* \(first at line 2\)"),
    (EXAMPLE + "map all 0.4\n", "map", r"today.eval, line 12: query 'all' appears twice"),
    (EXAMPLE.replace("map                   \tall\t0.3750", "map all x"), "map", "line 10: .* 'x', not a number"),
    (EXAMPLE.replace("\t2\t5", "\t2"), "map", r"today.eval, line 5: expected 3 columns .* found 2"),
    (EXAMPLE + "q1 Q0 d1 1 2.5 t\n", "map", "today.eval, line 12: expected 3 columns .* this looks like a run"),
    ("q1 0 d1 1\n", None, "today.eval, line 1: expected 3 columns .* this looks like judgments; give either"),
    ("q1 Q0 d1 1 2.5 3\n", None, "today.eval, line 1: expected 3 columns .* this looks like a run; give either"),
    ("map all 0.5\nP_10 all 0.25\n", None, "only for all queries together; with trec_eval and ir_measures use -q"),
    ("x1 y1 0.5\nx1 y2 0.25\n", None, "line 1: cannot tell which of 'x1' and 'y1' is the measure"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "measure", "message"), REFUSED)
def test_what_is_refused(tmp_path: Path, text: str, measure: str | None, message: str) -> None:
    with pytest.raises(sf.SurefootError, match=message):
        read(tmp_path, text, measure)


def test_lines_for_all_are_compared_with_the_mean(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, EXAMPLE.replace("0.3750", "0.3751"), "map")  # the digits allow it
        read(tmp_path, EXAMPLE, "num_ret")  # a sum
    with pytest.warns(
        sf.SurefootWarning, match=r"today\.eval, line 10: map of all queries is 0\.3770, but the mean of the 2"
    ):
        read(tmp_path, EXAMPLE.replace("0.3750", "0.3770"), "map")
    text = EXAMPLE.replace("0.3750", "0.2500").replace("num_q                 \tall\t2", "num_q all 3")
    with pytest.warns(sf.SurefootWarning, match="The file says that there are 3 queries: trec_eval -c counts"):
        read(tmp_path, text, "map")
    with pytest.warns(
        sf.SurefootWarning, match="num_ret of all queries is 11, but the sum of the 2 queries there is 10"
    ):
        read(tmp_path, EXAMPLE.replace("all\t10", "all\t11"), "num_ret")
    full = '{"query_id": "1", "measure": "AP", "value": 0.5}\n{"query_id": "all", "measure": "AP", "value": 0.50001}\n'
    with pytest.warns(sf.SurefootWarning, match=r"new\.jsonl, line 2: AP of all queries is 0\.50001"):
        read(tmp_path, full, name="new.jsonl")


def test_systems_with_different_queries(tmp_path: Path) -> None:
    (tmp_path / "today.eval").write_text("map 1 0.5\nmap 2 0.25\nmap 3 1\nmap all 0.5833\n")
    (tmp_path / "new.eval").write_text("map 3 0.5\nmap 1 0.75\nmap all 0.625\n")
    with pytest.raises(DataError, match=r"new\.eval: system 'new' has no value for 1 of 3 queries; the first is '2'"):
        sf.read_scores(tmp_path)
    zero, drop = (sf.read_scores(tmp_path, missing=missing) for missing in ("zero", "drop"))
    assert (zero["new"].tolist(), zero.queries) == ([0.5, 0.75, 0.0], ("3", "1", "2"))
    (tmp_path / "today.eval").write_text("map 1 0.5\nmap 2 0.25\nP_10 3 1\nmap all 0.375\n")
    with pytest.raises(
        DataError, match=r"today\.eval: system 'today' has no value for 1 of 3 queries; the first is '3'"
    ):
        sf.read_scores(tmp_path / "today.eval", "map")
    assert (zero.missing, zero.dropped) == ({"today": 0, "new": 1}, 0)
    assert (drop["today"].tolist(), drop["new"].tolist(), drop.dropped) == ([1.0, 0.5], [0.5, 0.75], 1)
    with pytest.raises(ArgumentError, match="missing is 'no'; it must be one of zero, drop, error"):
        sf.read_scores(tmp_path, missing="no")
    (tmp_path / "new.eval").write_text("map 7 0.5\nmap all 0.5\n")
    with pytest.raises(DataError, match="no query is left"):
        sf.read_scores(tmp_path, "map", missing="drop")


def rows(**columns: list[Any]) -> dict[str, list[Any]]:
    return {
        "name": ["a", "a", "b", "b"],
        "qid": ["1", "2"] * 2,
        "measure": ["map"] * 4,
        "value": [0.5, 0.25, 1, 0],
    } | columns


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rows(value=[0.5, None, 1, 0]), "scores, row 2, query '2': .* is missing"),
        (rows(value=[0.5, float("nan"), 1, 0]), "scores, row 2: the value of query '2' is NaN.* without judgments"),
        (rows(value=[0.5, "x", 1, 0]), "scores, row 2, query '2': .* is 'x', not a number"),
        (rows(qid=["1", "1", "1", "2"]), r"row 2: query '1' appears twice by map for system 'a' \(first at row 1\)"),
        (rows(qid=["1", None, "1", "2"]), "scores, row 2: 'qid' is missing"),
        (rows(name=["a", "a", "b", 0.5]), "scores, row 4: 'name' is 0.5 .float.; an id must be a text"),
        (rows(measure=["map", "AP", "map", "map"]), "scores has 2 measures"),
        ({"name": ["a", "b"], "map": [0.5, 0.25]}, "the first column is 'name', so each row seems to be a system"),
        ({"name": ["a", "b"], "map": [0.5, 0.25], "P_10": [1, 1]}, r"pt\.Experiment\(…, perquery=True\)"),
        ({"qid": ["1", "2"], "measure": ["map", "map"], "value": [1, 0]}, "no column says which system a row"),
        ({"1": {"map": 0.5}, "2": {"map": 0.25}}, "the results of one system, {query: {measure: value}}; give"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(table: Any, message: str) -> None:
    with pytest.raises(sf.SurefootError, match=message):
        sf.read_scores(table)


def test_two_spellings_in_one_table() -> None:
    table = rows(measure=["map", "map", "map", "map"])
    both = {name: [*values, *values] for name, values in table.items()} | {"measure": ["map"] * 4 + ["AP"] * 4}
    assert sf.read_scores(both, "AP").values.tolist() == sf.read_scores(both, "map").values.tolist()
    with pytest.raises(ArgumentError, match="'MAP' may be any of map, AP"):
        sf.read_scores(both, "MAP")


def test_tables_without_measures() -> None:
    table = {name: values for name, values in rows().items() if name != "measure"}
    assert sf.read_scores(table).measure == "score"
    assert sf.read_scores(table, "ERR@20").measure == "ERR@20"
    with pytest.raises(ArgumentError, match="has one measure only"):
        sf.read_scores(table, ["ERR@20", "AP"])


def test_a_matrix_is_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("topic\ta\tb\n1\t0.5\t1\n")
    (tmp_path / "n.txt").write_text("query\t1\t2\n1\t0.5\t1\n")
    assert sf.read_scores(tmp_path / "m.tsv").systems == ("a", "b")
    assert sf.read_scores(tmp_path / "n.txt").systems == ("1", "2")
    with pytest.raises(ArgumentError, match=r"m\.tsv: this is a score matrix, and it is given with other files"):
        sf.read_scores([tmp_path / "m.tsv", tmp_path / "n.txt"])
    with pytest.raises(
        DataError, match=r"m\.tsv: these are not results per query.* each file of the folder .* one system"
    ):
        sf.read_scores(tmp_path)
    with pytest.raises(ArgumentError, match="a score matrix has one measure only"):
        sf.read_scores(tmp_path / "m.tsv", ["AP", "RR"])
    with pytest.raises(ArgumentError, match="--missing works only with runs and with results per query"):
        sf.read_scores(tmp_path / "m.tsv", missing="zero")


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the folder has no files; expected one file per system"):
        sf.read_scores(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "bm25.v2.eval").write_text("map 1 0.5\nmap all 0.5\n")
    (tmp_path / "sub" / "new.eval").write_text("map 1 0.75\nmap all 0.75\n")
    assert sf.read_scores(tmp_path).systems == ("bm25.v2", "sub/new")
    (tmp_path / "sub" / "new.txt").write_text("map 1 0.75\n")
    with pytest.raises(DataError, match=r"two files of the folder .* belong to the system 'sub/new'"):
        sf.read_scores(tmp_path)


def test_records_that_can_be_read_once(judged, ours) -> None:
    qrels, runs = judged
    grades = {query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in qrels.to_dict().items()}

    def rows() -> dict[str, Any]:
        return {name: ir_measures.iter_calc([ir_measures.AP], grades, run.to_dict()) for name, run in runs.items()}

    same(sf.read_scores(rows(), "map"), ours["AP"], 1e-9)
    assert sf.assess(rows(), baseline="today").measures == ("AP",)
