"""Databases that run what `to_sql` writes: DuckDB, SQLite, PostgreSQL and Spark."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest


class Engine:
    """A database with tables of pandas frames."""

    dialect: str
    types: ClassVar[dict[str, str]] = {
        "i": "BIGINT",
        "f": "DOUBLE PRECISION",
        "b": "BOOLEAN",
        "M": "TIMESTAMP",
    }

    def quoted(self, name):
        return '"' + name.replace('"', '""') + '"'

    def kind(self, column):
        dtype = column.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            dtype = dtype.categories.dtype
        kind = getattr(dtype, "kind", "O")
        if kind == "O":
            kinds = {type(value) for value in column if not pd.isna(value)}
            kind = {bool: "b", int: "i", float: "f"}.get(next(iter(kinds), str), "O")
        return self.types.get({"u": "i"}.get(kind, kind), "TEXT")

    def rows(self, frame):
        """Rows of plain values, None for missing."""
        columns = []
        for j in range(frame.shape[1]):
            column = frame.iloc[:, j]
            values = column.astype(object).tolist()
            columns.append([None if pd.isna(v) else _plain(v) for v in values])
        return list(zip(*columns, strict=True))

    def create(self, name, frame):
        names = ", ".join(
            f"{self.quoted(column)} {self.kind(frame.iloc[:, j])}"
            for j, column in enumerate(frame.columns)
        )
        self.execute(f"DROP TABLE IF EXISTS {self.quoted(name)}")
        self.execute(f"CREATE TABLE {self.quoted(name)} ({names})")
        self.fill(name, frame)

    def query(self, sql, frame, name="rows"):
        """Names and rows of a query on a table of this frame."""
        self.create(name, frame)
        return self.execute(sql)


def _plain(value):
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return value.item() if isinstance(value, np.generic) else value


class DuckDBEngine(Engine):
    dialect = "duckdb"

    def __init__(self):
        duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 2")

    def execute(self, sql):
        found = self.connection.execute(sql)
        names = [own[0] for own in found.description or ()]
        return names, found.fetchall()

    def fill(self, name, frame):
        given = pd.DataFrame(
            {f"c{j}": frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])}
        )
        for j in range(frame.shape[1]):
            if given.dtypes.iloc[j].kind == "O":
                given[f"c{j}"] = pd.Series(
                    [None if pd.isna(v) else v for v in frame.iloc[:, j]], dtype=object
                )
        self.connection.register("given", given)
        self.connection.execute(
            f"INSERT INTO {self.quoted(name)} SELECT * REPLACE ("
            + ", ".join(
                f"CASE WHEN isnan(c{j}) THEN NULL ELSE c{j} END AS c{j}"
                if given.dtypes.iloc[j].kind == "f"
                else f"c{j} AS c{j}"
                for j in range(frame.shape[1])
            )
            + ") FROM given"
        )


class SQLiteEngine(Engine):
    dialect = "sqlite"
    types: ClassVar[dict[str, str]] = Engine.types | {"f": "REAL", "M": "TEXT"}

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")
        try:
            self.connection.execute("SELECT exp(1.0)")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite was built without mathematical functions")

    def execute(self, sql):
        found = self.connection.execute(sql)
        return [own[0] for own in found.description or ()], found.fetchall()

    def fill(self, name, frame):
        places = ", ".join("?" * frame.shape[1])
        self.connection.executemany(
            f"INSERT INTO {self.quoted(name)} VALUES ({places})", self.rows(frame)
        )


class PostgresEngine(Engine):
    """A server of its own in a folder that is removed at the end."""

    dialect = "postgres"

    def __init__(self):
        psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
        programs = _postgres_programs()
        if programs is None:
            pytest.skip("PostgreSQL is not installed (apt install postgresql)")
        self.folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
        data = str(self.folder / "data")
        self._programs, self._data = programs, data
        self._run("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", data, "-w", "-o", options, "start")
        self.connection = psycopg.connect(
            host=str(self.folder), user="tester", dbname="postgres", autocommit=True
        )

    def _run(self, program, *arguments):
        # To a file: the server keeps what it is given open.
        with open(os.devnull, "w") as nowhere:
            subprocess.run(
                [*self.user, str(self._programs / program), *arguments],
                check=True,
                stdout=nowhere,
                stderr=nowhere,
                cwd="/",
            )

    def close(self):
        self.connection.close()
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, sql):
        found = self.connection.execute(sql)
        if found.description is None:
            return [], []
        return [own.name for own in found.description], found.fetchall()

    def fill(self, name, frame):
        with (
            self.connection.cursor() as cursor,
            cursor.copy(f"COPY {self.quoted(name)} FROM STDIN") as copy,
        ):
            for row in self.rows(frame):
                copy.write_row(row)


def _postgres_programs():
    """The folder of PostgreSQL's programs, the newest one."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"),
        key=lambda own: int(own.parts[-3]),
    )
    if found:
        return found[-1].parent
    at = shutil.which("pg_ctl")
    return Path(at).resolve().parent if at else None


class SparkEngine(Engine):
    dialect = "spark"

    def __init__(self, session):
        self.session = session

    def quoted(self, name):
        return "`" + name.replace("`", "``") + "`"

    def execute(self, sql):
        found = self.session.sql(sql)
        return found.columns, [tuple(row) for row in found.collect()]

    def create(self, name, frame):
        kinds = {"BIGINT": "bigint", "DOUBLE PRECISION": "double", "BOOLEAN": "boolean"}
        kinds |= {"TEXT": "string", "TIMESTAMP": "timestamp"}
        schema = ", ".join(
            f"{self.quoted(column)} {kinds[self.kind(frame.iloc[:, j])]}"
            for j, column in enumerate(frame.columns)
        )
        made = self.session.createDataFrame(self.rows(frame), schema)
        made.createOrReplaceTempView(name)
