"""A state file from elsewhere: it reads no other file, and whatever surefoot did not put into it is refused."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import duckdb
import pytest
from tests.clicks.test_served import facts_of, state_of

import surefoot
from surefoot.clicks.backends import ibis_connection, sealed_file
from surefoot.clicks.click_state import ClickState
from surefoot.data.reading import limits
from surefoot.errors import DataError

FACTS = facts_of("time")
EVENTS = [
    {"session": "s", "user": "u", "day": None, "time": 1, "list": None, "query": "q", "terms": ["x"],
     "documents": ["1", "2"], "domains": ["a", "b"], "scores": None},
    {"session": "s", "user": "u", "day": None, "time": 2, "list": None, "document": "1"},
]  # fmt: skip
SECRET = "a-secret-of-this-machine"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    state = state_of(EVENTS, folder, FACTS)
    state.close()
    (folder / "secret").write_text(SECRET)
    return state.path


def refusal(good: Path, folder: Path, *statements: str) -> str:
    """What is said of the file after these statements; the name of the file, and no secret, must be in it."""
    target = Path(shutil.copy(good, folder / "clicks.duckdb"))
    with duckdb.connect(str(target)) as connection:
        for statement in statements:
            connection.execute(statement.format(secret=good.parent / "secret"))
    with pytest.raises(DataError) as caught:
        ClickState(target, FACTS).close()
    assert str(caught.value).startswith(str(target))
    assert SECRET not in str(caught.value)
    return str(caught.value)


HOSTILE = {
    "a table that is a view of a file": (
        ["DROP TABLE about", "CREATE VIEW about AS SELECT 'schema' AS name, content AS value "
         "FROM read_text('{secret}')"],
        "holds the view 'about'",
    ),
    "one more view": (["CREATE VIEW more AS SELECT * FROM read_text('{secret}')"], "holds the view 'more'"),
    "a macro in place of a function": (
        ["CREATE MACRO coalesce_(a) AS (SELECT content FROM read_text('{secret}'))"], "holds the macro 'coalesce_'",
    ),
    "a macro of a table": (["CREATE MACRO rows() AS TABLE SELECT * FROM lists"], "holds the macro 'rows'"),
    "one more table": (["CREATE TABLE more (a INTEGER)"], "holds the tables about, clicked, clicks, lists, more"),
    "a table less": (["DROP TABLE clicked"], "holds the tables about, clicks, lists"),
    "a schema": (["CREATE SCHEMA other", "CREATE TABLE other.more (a INTEGER)"], "holds the schema 'other'"),
    "a type": (["CREATE TYPE mood AS ENUM ('a')"], "holds the type 'mood'"),
    "a sequence": (["CREATE SEQUENCE counted"], "holds the sequence 'counted'"),
    "one more column": (["ALTER TABLE clicks ADD COLUMN more VARCHAR"], "has table clicks with the columns"),
    "a column less": (["ALTER TABLE about DROP COLUMN value"], "has table about with the columns"),
    "a column of another type": (
        ["DROP INDEX clicked_document", "DROP INDEX clicked_query", "DROP INDEX clicked_session",
         "ALTER TABLE clicked ALTER clicked TYPE DOUBLE"],
        "clicked DOUBLE",
    ),
    "a column that is a value by itself": (
        ["ALTER TABLE about ALTER value SET DEFAULT version()"], "computes column 'value' of table about",
    ),
    "a column that is computed": (
        ["CREATE TABLE other (name VARCHAR, value VARCHAR GENERATED ALWAYS AS (upper(name)))",
         "INSERT INTO other (name) SELECT name FROM about", "DROP TABLE about", "ALTER TABLE other RENAME TO about"],
        "computes column 'value' of table about",
    ),
    "a condition": (
        ["CREATE TABLE other (name VARCHAR, value VARCHAR, CHECK (length(name) > 0))", "INSERT INTO other FROM about",
         "DROP TABLE about", "ALTER TABLE other RENAME TO about"],
        "has the constraint",
    ),
    "another schema's number": (["UPDATE about SET value = 'mine' WHERE name = 'schema'"], "has schema 'mine'"),
    "an event without a time": (["UPDATE lists SET time = NULL"], "has a row in lists without session or time"),
    "a time that is none": (["UPDATE about SET value = 'now' WHERE name = 'first'"], "cannot be read as a state"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_what_surefoot_does_not_make_is_refused(good: Path, tmp_path: Path, what: str) -> None:
    statements, expected = HOSTILE[what]
    assert expected in refusal(good, tmp_path, *statements)


@pytest.mark.parametrize("row", ["'1', 1 FROM range(2000000)", "repeat('x', 1000), 1 FROM range(100000)"])
def test_rows_and_texts_that_cost_nothing_are_counted(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    monkeypatch.setattr(limits, "_GROWTH", 2)
    monkeypatch.setitem(limits._allowed, "bytes", 50_000_000)
    drop = [f"DROP INDEX clicks_{column}" for column in ("session", "user")]
    assert "would grow" in refusal(
        good, tmp_path, *drop, f"INSERT INTO clicks SELECT 's', 'u', NULL, 1, NULL, {row}", "CHECKPOINT"
    )


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        *(("documents", each) for each in ("no JSON", "5", "[1]", "[null]", '{"a": 1}', '"12"', '["1"]', "[]")),
        *(("domains", each) for each in ('["a"]', '["a", "b", "c"]', '"ab"', '{"a": 1, "b": 2}')),
        *(("terms", each) for each in ('"x"', '{"x": 1}', "[[]]")),
        *(("scores", each) for each in ("[1]", "[1, 2, 3]", "[1, true]", f"[1, {10**400}]", '"12"')),
    ],
)  # fmt: skip
def test_an_array_that_does_not_fit_is_refused_where_it_is_read(
    good: Path, tmp_path: Path, column: str, stored: str
) -> None:
    target = Path(shutil.copy(good, tmp_path / "clicks.duckdb"))
    with duckdb.connect(str(target)) as connection:
        connection.execute(f"UPDATE lists SET {column} = ?", [stored])
    state = ClickState(target, FACTS)
    with pytest.raises(DataError, match=r"clicks\.duckdb: is damaged or incomplete"):
        state.update([{"session": "s", "user": "u", "time": 5, "document": "1"}])
    state.close()


def test_a_file_of_its_own_reads_no_other_and_cannot_be_unlocked(good: Path, tmp_path: Path) -> None:
    with sealed_file(Path(shutil.copy(good, tmp_path))) as connection:
        for statement in (
            f"SELECT * FROM read_text('{good.parent / 'secret'}')", f"COPY lists TO '{tmp_path / 'x.csv'}'",
            f"ATTACH '{good}' AS other", "INSTALL httpfs", "LOAD httpfs", "SET enable_external_access = true",
            "SET autoload_known_extensions = true", "RESET lock_configuration",
        ):  # fmt: skip
            with pytest.raises(duckdb.Error):
                connection.execute(statement)


def test_a_good_state_is_read_and_grows(good: Path, tmp_path: Path) -> None:
    target = Path(shutil.copy(good, tmp_path))
    state = ClickState(target, FACTS)
    many = [{"session": "s", "user": "u", "time": 100 + step, "document": "1"} for step in range(50)]
    assert state.update(many) == {"added": 50, "repeated": 0}  # more than a few go in by Arrow
    state.close()
    assert not ClickState(target, FACTS, read_only=True).close()


def test_the_log_s_connection_gets_no_extension_by_itself() -> None:
    connection = ibis_connection()
    settings = dict(
        connection.raw_sql("SELECT name, value FROM duckdb_settings() WHERE name LIKE '%extensions'").fetchall()
    )
    for name in ("autoload_known_extensions", "autoinstall_known_extensions", "allow_community_extensions"):
        assert settings[name] == "false", name


def test_duckdb_is_opened_in_one_module_alone() -> None:
    package = Path(surefoot.__file__).parent
    opened = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "connect"
        and "duckdb" in ast.unparse(node.func.value)
    }
    assert opened == {"clicks/backends.py"}
