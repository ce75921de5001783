"""What people have in their hands: other libraries' objects and the files of well-known data sets."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets.formats
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
import ranx
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.data.files import check_refused, write_file
from typer.testing import CliRunner

import surefoot as sf
from surefoot.cli.commands import application
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.data.reading.frames import pandas_frame
from surefoot.data.reading.query_tables import read_segments
from surefoot.data.reading.texts import read_texts
from surefoot.errors import DataError, MeasureError, MissingExtraError

RUN = {"q1": {"d2": 3.0, "d1": 1.5, "d3": -2.0}, "q2": {"d9": 0.25}}
QRELS = {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d9": 1.0}}
RANKED = {"q1": {"a": -1.0, "b": -2.0, "c": -3.0}, "q2": {"b": -1.0}}  # minus the rank
ENDINGS = ("run", "csv", "tsv", "json", "jsonl", "parquet", "csv.gz", "tsv.xz", "json.bz2", "jsonl.zst")


def rows(table: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    return [(query, document, number) for query, documents in table.items() for document, number in documents.items()]


# Libraries


@pytest.mark.heavy  # ranx compiles for a minute
@pytest.mark.filterwarnings("ignore:.*unsafe cast")  # ranx's own
def test_ranx_there_and_back() -> None:
    run, qrels = (
        ranx.Run(RUN, name="bm25"),
        ranx.Qrels({q: {d: int(g) for d, g in v.items()} for q, v in QRELS.items()}),
    )
    ours, judged = sf.read_run(run), sf.read_qrels(qrels)
    assert (ours.name, ours.to_dict(), judged.to_dict()) == ("bm25", RUN, QRELS)
    assert sf.read_run(run, name="x").name == "x"
    assert ranx.Run(ours.to_dict(), name="bm25").to_dict() == run.to_dict()
    for given_runs in (run, [run], {"bm25": run}):
        scores = sf.score(qrels, given_runs, "nDCG@10")
        assert scores.systems == ("bm25",)
        assert scores.values.mean() == pytest.approx(ranx.evaluate(qrels, run, "ndcg@10"))
    with pytest.raises(DataError, match="found Qrels of ranx, but Run of ranx is needed"):
        sf.read_run(qrels)
    with pytest.raises(DataError, match="found Run of ranx, but Qrels of ranx is needed"):
        sf.read_qrels(run)


@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["json", "trec", "txt", "parquet", "parq"])
def test_files_of_ranx(tmp_path: Path, ending: str) -> None:
    run, qrels = (
        ranx.Run(RUN, name="bm25"),
        ranx.Qrels({q: {d: int(g) for d, g in v.items()} for q, v in QRELS.items()}),
    )
    run.save(str(tmp_path / f"bm25.{ending}"))
    qrels.save(str(tmp_path / f"qrels.{ending}"))
    assert sf.read_run(tmp_path / f"bm25.{ending}").to_dict() == RUN
    assert sf.read_qrels(tmp_path / f"qrels.{ending}").to_dict() == QRELS


def test_named_tuples_of_ir_measures_and_ir_datasets() -> None:
    for kind in (ir_measures.ScoredDoc, ir_datasets.formats.GenericScoredDoc):
        tuples = [kind(*row) for row in rows(RUN)]
        for source in (tuples, tuple(tuples), iter(tuples), (each for each in tuples)):
            assert sf.read_run(source).to_dict() == RUN
        assert sf.score(QRELS, tuples, "RR").values.tolist() == sf.score(QRELS, RUN, "RR").values.tolist()
        assert sf.score(QRELS, {"a": tuples, "b": iter(tuples)}, "RR").systems == ("a", "b")
    for kind in (ir_measures.Qrel, ir_datasets.formats.TrecQrel):
        assert sf.read_qrels(kind(q, d, int(g), "0") for q, d, g in rows(QRELS)).to_dict() == QRELS
    assert sf.read_qrels([ir_datasets.formats.GenericQrel(*row) for row in rows(QRELS)]).to_dict() == QRELS
    back = [ir_measures.ScoredDoc(*row) for row in sf.read_run(RUN).to_frame().iter_rows()]
    assert sf.read_run(back).to_dict() == RUN


def test_what_is_no_row() -> None:
    class Point(NamedTuple):
        x: int
        y: int

    doc = ir_measures.ScoredDoc("q", "d", 1.0)
    for source, message in (
        ([("q", "d", 1.0)], r"row 1: found .* \(tuple\); rows must all be of one kind and name their columns"),
        ([Point(1, 2)], r"row 1: found .* \(Point\)"),
        ([doc, ir_measures.Qrel("q", "e", 1, "0")], r"row 2: found .* \(Qrel\)"),
        ([doc, {"query_id": "q", "doc_id": "e", "score": 1.0}], r"row 2: found .* \(dict\)"),
        ([], "there are no rows"),
        ([doc, doc], "row 2: document 'd' appears twice"),
        (
            [{"query_id": "q", "doc_id": "d", "score": 1.0}, {"query_id": "q", "doc_id": "e"}],
            "row 2: 'score' is missing",
        ),
        ([doc._replace(score=None)], "row 1: 'score' is missing"),
        ([ir_measures.Qrel("q", "d", 1, "0")], "no column 'score' or 'rank'"),
        (np.eye(3), "cannot read a ndarray"),
    ):
        with pytest.raises(DataError, match=message):
            sf.read_run(source)


def test_measures_of_ir_measures() -> None:
    for measure in (
        ir_measures.nDCG @ 10, ir_measures.AP(rel=2) @ 100, ir_measures.RR, ir_measures.P @ 5, ir_measures.R @ 10,
        ir_measures.Success @ 1, ir_measures.Rprec, ir_measures.Bpref, ir_measures.RBP(p=0.9), ir_measures.Judged @ 10,
        ir_measures.nDCG(dcg="exp-log2") @ 10,
    ):  # fmt: skip
        assert str(sf.Measure.parse(measure)) == str(measure)
    scores = sf.score(QRELS, RUN, ir_measures.nDCG @ 10)
    docs = [ir_measures.ScoredDoc(*row) for row in rows(RUN)]
    judged = [ir_measures.Qrel(q, d, int(g), "0") for q, d, g in rows(QRELS)]
    assert scores.mean()[0] == pytest.approx(ir_measures.calc_aggregate([ir_measures.nDCG @ 10], judged, docs)[
        ir_measures.nDCG @ 10
    ])  # fmt: skip
    assert [each.measure for each in sf.score(QRELS, RUN, [ir_measures.AP, "P_10"])] == ["AP", "P@10"]
    with pytest.raises(MeasureError, match="judged_only"):
        sf.score(QRELS, RUN, ir_measures.nDCG(judged_only=True) @ 10)


def test_a_ranker_with_a_measure_of_ir_measures(tmp_path: Path) -> None:
    data = sf.demo.letor(queries=20, documents=10, features=4, seed=1)
    ranker = sf.Ranker(measure=ir_measures.nDCG @ 5, n_estimators=2, num_leaves=4, num_threads=1).fit(data)
    ranker.save(tmp_path / "model")
    assert sf.Ranker.load(tmp_path / "model").measure == "nDCG@5"


# Tables and files


def test_columns_of_beir_and_hugging_face() -> None:
    query, document, grade = map(list, zip(*rows(QRELS), strict=True))
    for names in (("query-id", "corpus-id", "score"), ("query_id", "corpus_id", "score"), ("qid", "pid", "label"),
                  ("query_id", "doc_id", "relevance"), ("query", "docid", "rating")):  # fmt: skip
        columns = dict(zip(names, (query, document, grade), strict=True))
        records = [dict(zip(names, row, strict=True)) for row in rows(QRELS)]
        for source in (columns, pd.DataFrame(columns), pl.DataFrame(columns), records, iter(records)):
            assert sf.read_qrels(source).to_dict() == QRELS
    with pytest.raises(DataError, match="no column 'relevance'"):  # a run is no judgments
        sf.read_qrels({"query_id": query, "doc_id": document, "score": grade})


@pytest.mark.heavy  # imports for seconds
def test_datasets_of_hugging_face() -> None:
    import datasets

    def dataset(table: dict[str, dict[str, float]]) -> Any:
        names, columns = ("query-id", "corpus-id", "score"), map(list, zip(*rows(table), strict=True))
        return datasets.Dataset.from_dict(dict(zip(names, columns, strict=True)))

    run = dataset(RUN)
    assert sf.read_run(run).to_dict() == RUN
    assert sf.read_run(run.shuffle(seed=1)).to_dict() == RUN
    assert sf.read_run(run.to_iterable_dataset()).to_dict() == RUN
    assert sf.read_qrels(dataset(QRELS).with_format("numpy")).to_dict() == QRELS
    texts = datasets.Dataset.from_dict({"_id": ["q1", "q2"], "text": ["cats", "dogs"]})
    assert read_texts(texts) == {"q1": "cats", "q2": "dogs"}
    scores = sf.read_scores(datasets.Dataset.from_dict({"query": ["q1", "q2"], "a": [0.1, 0.2]}))
    assert (scores.systems, scores.values.tolist()) == (("a",), [[0.1, 0.2]])
    assert sf.read_run(datasets.DatasetDict({"test": run})).to_dict() == RUN
    assert sf.read_qrels(datasets.DatasetDict({"test": dataset(QRELS)})).to_dict() == QRELS
    splits = datasets.DatasetDict({"validation": run, "test": run})
    for read in (sf.read_run, sf.read_qrels, sf.read_scores):
        with pytest.raises(DataError, match=r"2 splits, 'validation', 'test'; give one of them: dataset\['test'\]"):
            read(splits)


def test_files_of_beir(tmp_path: Path) -> None:
    text = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td9\t1\n"
    for name in ("test.tsv", "qrels.txt"):
        assert sf.read_qrels(write_file(tmp_path / name, text)).to_dict() == QRELS
    (tmp_path / "test.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert sf.read_qrels(tmp_path / "test.tsv.gz").to_dict() == QRELS
    with pytest.raises(DataError, match=r"bad\.tsv, line 3: 'score' is 'x', not a number"):
        sf.read_qrels(write_file(tmp_path / "bad.tsv", text.replace("\t0", "\tx")))
    with pytest.raises(DataError, match=r"bad\.tsv, line 4: document 'd1' appears twice"):
        sf.read_qrels(write_file(tmp_path / "bad.tsv", text.replace("q2\td9", "q1\td1")))
    with pytest.raises(DataError, match=r"bad\.tsv, line 3: .*columns"):
        sf.read_qrels(write_file(tmp_path / "bad.tsv", text.replace("d2\t0", "d2\t0\t5")))
    with pytest.raises(DataError, match="line 3: 'corpus-id' is missing"):
        sf.read_qrels(write_file(tmp_path / "bad.tsv", text.replace("d2\t0", "\t0")))


def test_files_of_ms_marco(tmp_path: Path) -> None:
    run = "q1\ta\t1\nq1\tb\t2\nq2\tb\t1\nq1\tc\t3\n"
    assert sf.read_run(write_file(tmp_path / "dev.tsv", run)).to_dict() == RANKED
    assert sf.read_run(write_file(tmp_path / "dev.run", run.replace("\n", "\r\n"))).to_dict() == RANKED
    assert sf.read_run(tmp_path / "dev.tsv").documents().to_list() == ["a", "b", "c", "b"]
    assert sf.read_run(write_file(tmp_path / "h.tsv", "qid\tpid\trank\n" + run)).to_dict() == RANKED
    for text in ("q1\t0\td1\t2\nq1\t0\td2\t0\nq2\t0\td9\t1\n", "q1\td1\t2\nq1\td2\t0\nq2\td9\t1\n"):
        assert sf.read_qrels(write_file(tmp_path / "qrels.tsv", text)).to_dict() == QRELS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1\ta\t0.9\nq1\tb\t0.1\n",
            "line 1: a file with three columns and no header is read as 'query document rank', but in query 'q1'",
        ),
        ("q1\ta\t1\nq1\tb\t3\n", "line 2: a file with three columns"),
        ("q1\ta\t1\nq1\tb\t1\n", "three columns"),
        ("q1\ta\t0\nq1\tb\t1\n", "three columns"),
        ("q1\ta\t2\nq1\tb\t1\nq2\tc\t5\n", "line 3: a file with three columns"),
        ("q1\ta\t1\nq1\tb\n", "line 2: expected 3 columns (query document rank), found 2"),
        ("q1\ta\t1\nq1 Q0 b 1 0.5 t\n", "line 2: expected 3 columns"),
        ("q1 a 1\n", "line 1: expected 6 columns"),  # a column may be empty here
        ("q1\ta b\t1\n", "line 1: expected 6 columns"),
        ("q1\ta\t1\nq1\ta\t2\n", "line 2: document 'a' appears twice"),
    ],
)
def test_what_is_not_of_ms_marco(tmp_path: Path, text: str, message: str) -> None:
    check_refused(sf.read_run, write_file(tmp_path / "dev.tsv", text), message)


def test_ranked_lists(tmp_path: Path) -> None:
    lists = {"q1": ["a", "b", "c"], "q2": ["b"]}
    for source in (lists, {q: tuple(v) for q, v in lists.items()}, {q: np.array(v) for q, v in lists.items()}):
        assert sf.read_run(source).to_dict() == RANKED
    qrels = {"q1": {"b": 1}, "q2": {"b": 1}}
    assert sf.score(qrels, lists, "RR").values.tolist() == [[0.5, 1.0]]
    assert sf.score(qrels, {"new": lists, "old": {"q1": ["b"]}}, "RR").systems == ("new", "old")
    assert sf.read_run(write_file(tmp_path / "a.json", json.dumps(lists))).to_dict() == RANKED
    lines = "".join(json.dumps({query: documents}) + "\n" for query, documents in lists.items())
    assert sf.read_run(write_file(tmp_path / "a.jsonl", lines)).to_dict() == RANKED
    assert sf.read_run({1: [10, 11]}).to_dict() == {"1": {"10": -1.0, "11": -2.0}}
    with pytest.raises(DataError, match="document 'a' appears twice in query 'q'"):
        sf.read_run({"q": ["a", "a"]})
    with pytest.raises(DataError, match="expected a dict"):
        sf.read_qrels(lists)
    with pytest.raises(DataError, match="or for all queries a list of ids, best first; found a list"):
        sf.read_run({"q1": {"a": 1.0}, "q2": ["a"]})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", '{"q": {"d": NaN}}', "NaN is not a number in JSON"),
        ("a.json", '{"q": {"d": 1, "d": 2}}', "'d' appears twice in one object"),
        ("a.json", '{"q": {"d": 1}, "q": {"e": 2}}', "'q' appears twice in one object"),
        ("a.json", '{"q": {"d": true}}', "query 'q', document 'd': the number is True"),
        ("a.json", "[]", "there are no rows"),
        ("a.json", "5", "cannot read a int"),
        ("a.json", '"q Q0 d 1 1 t"', "cannot read a str"),
        ("a.json", "[" * 100_000, "is not JSON"),
        ("a.jsonl", '{"q": {"d": 1}}\n{"q": {"e": 1}}\n', "line 2: query 'q' already appears on an earlier line"),
        ("a.jsonl", '{"q": {"d": 1}}\n[1]\n', "line 2: expected an object"),
        ("a.jsonl", '{"q": {"d": 1}}\n{"query_id": "r", "doc_id": "d", "score": 1}\n', "line 2: lines like"),
        ("a.jsonl", '{"query_id": "r", "doc_id": "d", "score": 1}\n{"q": {"d": 1}}\n', "line 2: lines like"),
        ("a.jsonl", '{"q": {"d": 1}}\n{\n', "line 2: is not JSON"),
        ("a.csv", "q,d,1\n", "no column 'query_id'"),
        ("a.csv", "query_id,doc_id\nq,d\n", "no column 'score' or 'rank'"),
    ],
)
def test_what_is_no_run(tmp_path: Path, name: str, text: str, message: str) -> None:
    check_refused(sf.read_run, write_file(tmp_path / name, text), message)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_form_reads_back_what_it_wrote(tmp_path: Path, ending: str) -> None:
    sf.read_run(RUN).write(tmp_path / f"bm25.{ending}")
    again = sf.read_run(tmp_path / f"bm25.{ending}")
    assert (again.name, again.queries, again.to_dict()) == ("bm25", ("q1", "q2"), RUN)
    sf.read_qrels(QRELS).write(tmp_path / f"qrels.{ending}")
    assert sf.read_qrels(tmp_path / f"qrels.{ending}").to_dict() == QRELS


@pytest.mark.parametrize(
    ("ending", "usual"),
    [("ndjson", "jsonl"), ("CSV", "csv"), ("Json", "json"), ("PARQUET", "parquet"), ("parq", "parquet")],
)
def test_endings_of_one_form(tmp_path: Path, ending: str, usual: str) -> None:
    for each in (ending, usual):
        sf.read_run(RUN).write(tmp_path / f"bm25.{each}")
        run = sf.read_run(tmp_path / f"bm25.{each}")
        assert (run.name, run.to_dict()) == ("bm25", RUN)
    assert (tmp_path / f"bm25.{ending}").read_bytes() == (tmp_path / f"bm25.{usual}").read_bytes()


def test_what_is_between_columns(tmp_path: Path) -> None:
    for ending, separator in (("csv", ","), ("tsv", "\t")):
        sf.read_run(RUN).write(tmp_path / f"bm25.{ending}")
        assert (tmp_path / f"bm25.{ending}").read_text().startswith(separator.join(["query_id", "doc_id", "score"]))


IDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=6).filter(
    lambda text: text == text.strip(" \t\v\f\r\n")
)


@given(
    table=st.dictionaries(
        IDS, st.dictionaries(IDS, st.floats(-1e6, 1e6), min_size=1, max_size=4), min_size=1, max_size=4
    )
)
@pytest.mark.heavy
def test_any_ids_read_back(table: dict[str, dict[str, float]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("forms")
    for ending in ("csv", "tsv", "json", "jsonl", "parquet"):
        sf.read_run(table).write(folder / f"a.{ending}")
        assert sf.read_run(folder / f"a.{ending}").to_dict() == table, ending


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_command_line_evaluates_every_form(tmp_path: Path, ending: str) -> None:
    sf.read_qrels(QRELS).write(tmp_path / f"qrels.{ending}")
    sf.read_run(RUN).write(tmp_path / f"new.{ending}")
    sf.read_run({q: dict.fromkeys(v, 1.0) for q, v in RUN.items()}).write(tmp_path / f"old.{ending}")
    names = [str(tmp_path / f"{name}.{ending}") for name in ("qrels", "new", "old")]
    arguments = [*names, "--baseline", "old", "-m", "recip_rank", "--json", "-"]
    result = CliRunner().invoke(application(), ["evaluate", *arguments])
    assert result.exit_code == 0, result.output
    assert [entry["mean"] for entry in json.loads(result.stdout)["systems"]] == [0.75, pytest.approx(2 / 3)]


@pytest.mark.parametrize("ending", ["run", "csv", "json", "parquet"])
def test_what_rank_writes_can_be_evaluated(tmp_path: Path, ending: str) -> None:
    data = sf.demo.letor(queries=20, documents=10, features=4, seed=1)
    data.write(tmp_path / "test.txt")
    ranker = sf.Ranker(n_estimators=2, num_leaves=4, num_threads=1).fit(data)
    ranker.save(tmp_path / "model")
    run, qrels = tmp_path / f"c.{ending}", tmp_path / f"q.{ending}"
    arguments = [str(tmp_path / "model"), str(tmp_path / "test.txt"), "-o", str(run), "--qrels", str(qrels)]
    done = CliRunner().invoke(application(), ["rank", *arguments])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(application(), ["evaluate", str(qrels), str(run), "-b", "c", "--json", "-"])
    assert done.exit_code == 0, done.output
    expected = sf.score(data.qrels(), ranker.to_run(data), "nDCG@10").mean()[0]
    assert json.loads(done.stdout)["systems"][0]["mean"] == pytest.approx(expected, abs=1e-12)


def test_a_table_without_a_header_is_told_which(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the first line must be the header \(query_id,doc_id,score"):
        sf.read_run(write_file(tmp_path / "a.csv", "1,7,0.5\n1,8,0.25\n"))
    with pytest.raises(DataError, match="expected a header 'query_id,doc_id,relevance'"):
        sf.read_qrels(write_file(tmp_path / "b.csv", "\n\n"))
    with pytest.raises(DataError, match="expected a header 'query,kind,…'"):
        read_segments(write_file(tmp_path / "c.csv", "\n"))


SCORED = {"q1": {"d1": 0.5, "d2": 0.75}, "q2": {"d3": -1.0}}


def test_every_frame_comes_in_pandas_too() -> None:
    scores = sf.read_scores({"today": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 0.75, "q2": 0.0}})
    assessment = sf.assess(scores, "today", alphas=[0, 5])
    frames = [
        (scores.to_pandas(), scores.to_frame()),
        (sf.read_run(SCORED).to_pandas(), sf.read_run(SCORED).to_frame()),
        (sf.read_qrels(SCORED).to_pandas(), sf.read_qrels(SCORED).to_frame()),
        (assessment.to_pandas(), assessment.per_query()),
    ]
    for theirs, ours in frames:
        assert isinstance(theirs, pd.DataFrame)
        assert_frame_equal(pl.from_pandas(theirs, nan_to_null=True), ours, check_dtypes=False)
    assert assessment.to_pandas()["difference"].sum() == assessment.per_query()["difference"].sum()
    assert sf.read_scores(scores.to_pandas()).values.tolist() == scores.values.tolist()
    assert sf.read_run(sf.read_run(SCORED).to_pandas()).to_dict() == sf.read_run(SCORED).to_dict()


def test_a_table_of_features(tmp_path: Path) -> None:
    frame = pl.DataFrame({"impression": ["1", "2"], "clicks": [3.0, None]})
    (tmp_path / "features").mkdir()
    frame.write_parquet(tmp_path / "features" / "part.parquet")
    table = FeatureTable(tmp_path, ["clicks"], {}, {}, None, users=False)
    assert_frame_equal(pl.from_pandas(table.to_pandas(), nan_to_null=True), frame)


def test_absent_values_and_types() -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [True, None], "c": ["x", None], "d": [0.5, 0.25], "e": [True, False]})
    made = pandas_frame(frame)
    assert [str(kind) for kind in made.dtypes] == ["float64", "object", "object", "float64", "bool"]
    assert made["b"].tolist() == [True, None]
    assert np.isnan(made["a"][1])
    made.loc[0, "d"] = 2.0  # a copy of its own
    assert frame["d"].to_list() == [0.5, 0.25]
    assert pandas_frame(frame.clear()).shape == (0, 5)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert sf.read_run(SCORED).to_pandas()["doc_id"].tolist() == ["d2", "d1", "d3"]


def test_without_pandas_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="needs pandas, which is not installed; install it with: pip install"):
        sf.read_run(SCORED).to_pandas()
