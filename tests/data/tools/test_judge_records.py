"""Judgments that say who made them: umbrela's lines, the Workbench's, tables with judges, and several judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.types.several_tables import read_judges
from surefoot.errors import DataError


def lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def umbrela(**more: Any) -> dict[str, Any]:
    return {"model": "gpt", "query": "red dress", "passage": "A dress.", "prediction": "…", "judgment": 2} | more


def test_umbrelas_lines_are_judgments_of_a_machine(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "u.jsonl", umbrela(qid="q1", docid="d1"), umbrela(qid="q1", docid="d2", judgment=0, result_status=0),
        umbrela(qid="q1", docid="d3", judgment=0, result_status=1), umbrela(qid=7, docid="d1", judgment=None),
        umbrela(query={"qid": "q9", "text": "x"}, docid="d4", judgment=3),
    )  # fmt: skip
    qrels = sf.read_qrels(file)
    assert qrels.to_dict() == {"q1": {"d1": 2.0, "d3": 0.0}, "q9": {"d4": 3.0}}
    assert qrels.origin == JudgmentOrigin("machine", ("gpt",))
    several = lines(
        tmp_path / "s.jsonl",
        *(umbrela(model=name, judgment=grade) for name, grade in zip("abc", (0, 0, 3), strict=True)),
    )
    for rule, grade in (("mean", 1.0), ("median", 0.0), ("max", 3.0)):
        assert sf.read_qrels(several, judges=rule).to_dict() == {"red dress": {"A dress.": grade}}
    texts = lines(tmp_path / "t.jsonl", umbrela(query="red  dress"))
    assert sf.read_qrels(texts).to_dict() == {"red dress": {"A dress.": 2.0}}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([umbrela(judgment=4)], r"line 1: the judgment is 4; umbrela's are from 0 to 3"),
        ([umbrela(), umbrela(judgment="2", passage="b")], r"line 2: the judgment is '2'"),
        ([umbrela(), umbrela()], r"line 2: judge 'gpt' judged document 'A dress.' of query 'red dress' twice"),
        ([umbrela(), {"query": "x"}], r"line 2: expected a judgment of umbrela"),
        ([umbrela(query="")], "expected an id or a text"),
        ([umbrela(result_status=0)], "no line has a judgment"),
        ([umbrela(judgment=True)], "the judgment is True"),
    ],
)
def test_odd_lines_are_refused(tmp_path: Path, values: list[Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        sf.read_qrels(lines(tmp_path / "u.jsonl", *values))


def test_several_models_are_several_judges(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "u.jsonl", *(umbrela(model=model, judgment=grade) for model, grade in (("a", 0), ("b", 3), ("c", 3)))
    )
    assert sf.read_qrels(file).to_dict() == {"red dress": {"A dress.": 2.0}}
    assert sf.read_qrels(file).origin == JudgmentOrigin("machine", ("a", "b", "c"), 1, 1)
    said = {name: judge.to_dict()["red dress"]["A dress."] for name, judge in read_judges(file).items()}
    assert said == {"a": 0, "b": 3, "c": 3}


def test_the_workbench_says_what_a_model_made(tmp_path: Path) -> None:
    body = {"name": "n", "judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "1.0"}]}]}
    (tmp_path / "llm.json").write_text(json.dumps(body | {"type": "LLM_JUDGMENT", "modelId": "m7"}))
    assert sf.read_qrels(tmp_path / "llm.json").origin == JudgmentOrigin("machine", ("m7",))
    (tmp_path / "people.json").write_text(json.dumps(body | {"type": "IMPORT_JUDGMENT"}))
    assert sf.read_qrels(tmp_path / "people.json").origin is None


TABLE = """query_id,doc_id,grade,judge,model,prompt_hash
q1,d1,2,ann,,
q1,d1,1,llm,gpt,abc
q1,d1,1,llm,gpt,def
q1,d2,0,ann,,
q1,d3,,ann,,
"""


@pytest.mark.parametrize(("rule", "grade"), [(None, 4 / 3), ("median", 1), ("vote", 1), ("max", 2)])
def test_a_table_with_judges(tmp_path: Path, rule: str | None, grade: float) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    qrels = sf.read_qrels(tmp_path / "t.csv", judges=rule)
    assert qrels.to_dict()["q1"] == {"d1": pytest.approx(grade), "d2": 0}
    assert qrels.origin == JudgmentOrigin("people and machine", ("ann", "llm gpt abc", "llm gpt def"), 1, 1)
    assert list(read_judges(tmp_path / "t.csv")) == ["ann", "llm gpt abc", "llm gpt def"]
    pl.read_csv(tmp_path / "t.csv").write_parquet(tmp_path / "t.parquet")
    assert sf.read_qrels(tmp_path / "t.parquet", judges=rule).to_dict() == qrels.to_dict()
    frame = pl.read_csv(tmp_path / "t.csv")
    for table in (frame, frame.to_pandas(), frame.to_dict(as_series=False)):
        assert sf.read_qrels(table, judges=rule).to_dict() == qrels.to_dict()
        assert sf.read_qrels(table, judges=rule).origin == qrels.origin
    rows = frame.to_dicts()
    assert sf.read_qrels(lines(tmp_path / "t.jsonl", *rows), judges=rule).to_dict() == qrels.to_dict()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query_id,doc_id,grade,judge\nq,d,1,a\nq,d,2,a\n", "judge 'a' judged document 'd' of query 'q' twice"),
        ("query_id,doc_id,grade,judge\nq,d,good,a\n", "'grade' is 'good', not a number"),
        ("query_id,doc_id,grade,judge\nq,d,nan,a\n", "must be finite"),
        ("query_id,doc_id,grade,judge\nq,d,,a\n", "no document is rated"),
    ],
)
def test_odd_tables_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        sf.read_qrels(tmp_path / "t.csv")


def test_a_book_keeps_its_judges(tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text("query,docid,ann,ben\nq,a,1,3\nq,b,1,1\nq,c,,2\n")
    assert sf.read_qrels(tmp_path / "book.csv").origin == JudgmentOrigin(None, ("ann", "ben"), 2, 1)
    judges = read_judges(tmp_path / "book.csv")
    assert judges["ann"].to_dict() == {"q": {"a": 1, "b": 1}}
    assert judges["ben"].to_dict() == {"q": {"a": 3, "c": 2, "b": 1}}


def test_machines_judgments_stay_so_in_trec_lines(tmp_path: Path) -> None:
    qrels = sf.read_qrels(lines(tmp_path / "u.jsonl", umbrela(qid="q1", docid="d1")))
    qrels.write(tmp_path / "auto.qrels")
    assert (tmp_path / "auto.qrels").read_text() == "q1 automatic d1 2\n"
    again = sf.read_qrels(tmp_path / "auto.qrels")
    assert again.origin == JudgmentOrigin("machine")
    assert again.to_dict() == qrels.to_dict()
    (tmp_path / "plain.qrels").write_text("q1 0 d1 2\n")
    assert sf.read_qrels(tmp_path / "plain.qrels").origin is None


def test_a_model_alone_may_be_that_of_a_product(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("query_id,doc_id,grade,model\nq,d,1,T800\n")
    assert sf.read_qrels(tmp_path / "t.csv").origin is None
    frame = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "grade": [1], "judge": ["ann"]})
    for table in (frame.lazy(), frame.to_arrow(), frame):
        assert sf.read_qrels(table).origin == JudgmentOrigin("people", ("ann",))
