"""Queries read and do nothing else, in a DuckDB whose settings are locked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bayesieve
from bayesieve import ClassCounts

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from bayesieve.io._duckdb import reading_connection  # noqa: E402

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
        ClassCounts.from_text(sql=MORE_THAN_READING[case])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO 'made'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA database_list",
        "ATTACH 'made' AS other",
        "SET threads = 1",
        "EXPORT DATABASE 'made'",
        "CREATE TABLE t AS SELECT 1",
        "CALL pragma_version()",
        "",
        "-- nothing",
    ],
)
def test_other_statements_are_refused(statement, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for query in (statement, f"-- a comment\n{statement}", f"/* one */ {statement}"):
        with pytest.raises(ValueError, match=r"A query m|query failed"):
            ClassCounts.from_text(sql=query)
    assert list(tmp_path.iterdir()) == []


SECRETS = {
    "a text": "SELECT content AS text, 1 AS label FROM read_text('{other}')",
    "bytes": "SELECT content AS text, 1 AS label FROM read_blob('{other}')",
    "names": "SELECT file AS text, 1 AS label FROM glob('{folder}/*')",
    "a name that is computed": "FROM read_csv('{folder}' || '/other.csv')",
    "a variable": "FROM read_csv(getvariable('x'))",
    "the environment": "SELECT getenv('HOME') AS text, 1 AS label",
    "by a column": "SELECT text, (FROM read_csv(text || '.csv')) AS label FROM '{own}'",
}


@pytest.mark.parametrize("case", SECRETS)
def test_a_query_reads_the_files_that_it_names(case, tmp_path):
    own, other = tmp_path / "own.csv", tmp_path / "other.csv"
    own.write_text("text,label\nab,1\n")
    other.write_text("text,label\nsecret,1\n")
    query = SECRETS[case].format(other=other, folder=tmp_path, own=own)
    with pytest.raises(ValueError, match=r"must be among|query failed"):
        ClassCounts.from_text(sql=query)
    for place in ("own.csv", "ow*.csv"):
        counts = ClassCounts.from_text(sql=f"FROM '{tmp_path / place}'")
        assert counts.feature_names.tolist() == ["ab"]
    both = f"FROM read_csv(['{own}', '{other}'])"
    assert ClassCounts.from_text(sql=both).class_count.tolist() == [2]


def test_a_reader_reaches_its_own_files_alone(tmp_path):
    paths = [tmp_path / "it's [1].csv", tmp_path / "other.csv"]
    for path in paths:
        path.write_text("text,label\nab,1\n")
    connection = reading_connection([str(paths[0])])
    name = str(paths[0]).replace("'", "''").replace("[", "[[]")
    assert len(connection.sql(f"FROM read_csv('{name}')").fetchall()) == 1
    for statement in (
        f"FROM read_csv('{paths[1]}')",
        "FROM read_text('/etc/passwd')",
        f"COPY (SELECT 1) TO '{tmp_path / 'made'}'",
        f"ATTACH '{tmp_path / 'made'}' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/passwd']",
        "SET memory_limit = '1TB'",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(statement)
    [(folder, memory)] = connection.sql(
        "SELECT current_setting('temp_directory'), current_setting('memory_limit')"
    ).fetchall()
    assert Path(folder).is_absolute()
    assert not Path(folder).exists()
    assert memory.endswith("iB")
    connection.close()
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_a_query_that_needs_much_room_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ClassCounts.from_text(sql=f"{ROW} FROM range(100000) ORDER BY hash(range)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "query",
    [
        ROW,
        f"-- a comment\n{ROW}",
        f"/* two\nlines */ {ROW}",
        f"({ROW})",
        "FROM 'nowhere.parquet' LIMIT 3",
        "WITH a AS (SELECT 1) FROM a",
    ],
)
def test_a_source_is_never_run_as_sql(query):
    with pytest.raises(ValueError, match=r"never SQL\. Got .* Hint: pass it as sql="):
        ClassCounts.from_text(query)


def test_addresses_are_refused():
    for place in ("https://example.org/a.csv", "s3://bucket/a.parquet"):
        with pytest.raises(ValueError, match="must be on this machine") as told:
            ClassCounts.from_text(place)
        assert "httpfs" not in str(told.value)
        with pytest.raises(ValueError, match="must be on this machine"):
            ClassCounts.from_text(sql=f"FROM '{place}'")


def test_a_source_or_a_query():
    with pytest.raises(TypeError, match="Got both"):
        ClassCounts.from_text([(["ab"], [1])], sql=ROW)
    with pytest.raises(TypeError, match="Got neither"):
        ClassCounts.from_text()
    with pytest.raises(TypeError, match="must be a query as a str"):
        ClassCounts.from_text(sql=3)


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
    counts = ClassCounts.from_text(sql=query)
    assert counts.feature_names.tolist() == ["ab"]
    assert counts.class_count.tolist() == [2]


def test_values_are_a_query_without_names_of_columns():
    counts = ClassCounts.from_text(None, "col0", "col1", sql="VALUES ('ab', 1)")
    assert counts.classes.tolist() == [1]


def test_a_refusal_names_what_was_found_and_the_way_out():
    with pytest.raises(ValueError, match=r"one SELECT statement\. Got SELECT and COPY"):
        ClassCounts.from_text(sql=MORE_THAN_READING["a second statement"])
    with pytest.raises(ValueError, match=r"read_csv.*Got checkpoint\. Hint: .* sql\("):
        ClassCounts.from_text(sql=MORE_THAN_READING["a checkpoint"])


def test_the_settings_are_locked():
    connection = reading_connection([], threads=1)
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
    examples = re.compile(r"^ *(>>>|\.\.\.) .*$", re.M)  # in docstrings
    code = {p.name: examples.sub("", p.read_text()) for p in package.rglob("*.py")}
    found = {name for name, own in code.items() if opening.search(own)}
    assert found == {"_duckdb.py"}
