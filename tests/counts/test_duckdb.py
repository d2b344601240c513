"""Queries read and do nothing else, in a DuckDB whose settings are locked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bayesieve
from bayesieve import ClassCounts

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from bayesieve.counts._duckdb import reading_connection  # noqa: E402

ROW = "SELECT 'ab' AS text, 1 AS label"
LOG = "(storage = 'file', storage_path = 'made')"
MORE_THAN_READING = {
    "a second statement": f"{ROW}; COPY (SELECT 1) TO 'made'",
    "a statement after WITH": "WITH a AS (SELECT 1) INSERT INTO t SELECT 1",
    "inside WITH": f"WITH a AS (COPY (SELECT 1) TO 'made') {ROW} FROM a",
    "inside a nested WITH": (
        f"FROM (WITH a AS MATERIALIZED (COPY (SELECT 1) TO 'made') {ROW} FROM a)"
    ),
    "a log": f"{ROW} FROM enable_logging{LOG}",
    "a log in a sub-query": (
        f"SELECT 'ab' AS text, EXISTS (FROM enable_logging{LOG}) AS label"
    ),
    "a log, quoted": f'{ROW} FROM system.main."Enable_Logging"{LOG}',
    "a profile": f"{ROW} FROM enable_profiling(save_location = 'made')",
    "a query in a query": f"{ROW} FROM query('COPY (SELECT 1) TO ''made''')",
    "a query in JSON": (
        "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1 AS text'))"
    ),
    "a checkpoint": f"{ROW} FROM checkpoint()",
}


@pytest.mark.parametrize("case", MORE_THAN_READING)
def test_a_query_that_does_more_than_read_is_refused(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"A query m|of a query must|query failed"):
        ClassCounts.from_text(MORE_THAN_READING[case])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("statement", ["COPY (SELECT 1) TO 'made'", "INSTALL httpfs"])
def test_other_statements_are_names_of_files(statement, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        ClassCounts.from_text(statement)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "query",
    [
        f"{ROW} UNION ALL {ROW};",
        f"WITH a AS ({ROW}) FROM a UNION ALL FROM a",
        "FROM (VALUES ('ab', 1), ('ab', 1)) t(text, label)",
        f"{ROW} FROM range(2)",
        "SELECT unnest(['ab', 'ab']) AS text, (SELECT 1) AS label",
        "WITH RECURSIVE a AS (SELECT 'ab' AS text, 1 AS label, 1 AS i UNION ALL "
        "SELECT text, label, i + 1 FROM a WHERE i < 2) FROM a",
    ],
)
def test_forms_of_select(query):
    counts = ClassCounts.from_text(query)
    assert counts.feature_names.tolist() == ["ab"]
    assert counts.class_count.tolist() == [2]


def test_values_are_a_query_without_names_of_columns():
    counts = ClassCounts.from_text("VALUES ('ab', 1)", "col0", "col1")
    assert counts.classes.tolist() == [1]


def test_a_refusal_names_what_was_found_and_the_way_out():
    with pytest.raises(ValueError, match=r"one SELECT statement\. Got SELECT and COPY"):
        ClassCounts.from_text(MORE_THAN_READING["a second statement"])
    with pytest.raises(ValueError, match=r"read_csv.*Got checkpoint\. Hint: .* sql\("):
        ClassCounts.from_text(MORE_THAN_READING["a checkpoint"])


def test_the_settings_are_locked():
    connection = reading_connection(threads=1)
    for setting in ("autoload_known_extensions", "autoinstall_known_extensions"):
        [(value,)] = connection.sql(f"SELECT current_setting('{setting}')").fetchall()
        assert value is False
        with pytest.raises(duckdb.Error, match="locked"):
            connection.execute(f"SET {setting} = true")
    here = connection.sql(ROW)  # a variable of Python is no table
    with pytest.raises(duckdb.CatalogException):
        connection.sql("FROM here")
    assert here is not None
    connection.close()


def test_the_package_opens_duckdb_in_one_place():
    package = Path(bayesieve.__file__).parent
    opening = re.compile(r"\.connect\(|default_connection")
    found = {p.name for p in package.rglob("*.py") if opening.search(p.read_text())}
    assert found == {"_duckdb.py"}
