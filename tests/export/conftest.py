from __future__ import annotations

import pytest
from tests.export.engines import DuckDBEngine, PostgresEngine, SQLiteEngine


@pytest.fixture(scope="session")
def duckdb_engine():
    return DuckDBEngine()


@pytest.fixture(scope="session")
def sqlite_engine():
    return SQLiteEngine()


@pytest.fixture(scope="session")
def postgres_engine():
    engine = PostgresEngine()
    yield engine
    engine.close()


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def engine(request):
    """Each database that starts in a moment."""
    return request.getfixturevalue(f"{request.param}_engine")
