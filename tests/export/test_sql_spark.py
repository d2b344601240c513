"""Queries for Spark give what the models give."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.export.engines import SparkEngine
from tests.export.sql_checks import check_rows, compare, term_table
from tests.export.test_sql import ROWS
from tests.export.test_sql_tables import check_strings_of_files
from tests.export.test_sql_texts import check_every_character, check_texts
from tests.local_spark import SPARK_MARKS, local_spark
from tests.persistence.models import NOTED, examples

import bayesieve as bs
from bayesieve import to_sql

pytestmark = SPARK_MARKS


@pytest.fixture(scope="module")
def spark_engine():
    with local_spark() as session:
        session.conf.set("spark.sql.session.timeZone", "UTC")
        yield SparkEngine(session)


@pytest.mark.parametrize("name", ROWS)
def test_every_classifier_of_rows(name, spark_engine):
    model, X = examples()[name]
    X = X.head(60) if hasattr(X, "head") else X[:60]
    if hasattr(X, "columns") and "day" in X:
        X = X.assign(day=X["day"].dt.floor("us").dt.tz_localize("UTC"))
    check_rows(spark_engine, model, X)


def test_every_character_is_what_it_is_in_python(spark_engine):
    check_every_character(spark_engine)


def test_models_of_texts(spark_engine):
    check_texts(spark_engine, key="position")


def test_tables_with_texts(spark_engine):
    model, _ = examples()["selective texts"]
    day = NOTED["day"].dt.floor("us").dt.tz_localize("UTC")
    check_rows(spark_engine, model, NOTED.assign(day=day).head(60), key="position")


def test_a_table_of_terms(spark_engine):
    model, texts = examples()["text"]
    table = term_table(texts[:60], dict(model.text_options_))
    sql = to_sql(model, "rows", "spark", row="doc", term="term", count="n")
    _, found = spark_engine.query(sql, table)
    texts = texts[:60]
    compare(found, model.predict(texts), model.predict_proba(texts), model.classes_)


@pytest.mark.parametrize(
    "names", [["a`b", "a'b"], ["a\\", "$x"], ["; --", "select"], ["ü\n", "%"]]
)
def test_hostile_names_labels_and_categories(names, spark_engine):
    frame = pd.DataFrame({names[0]: [*names, "${x}", None], names[1]: [1, 2, 3, 4]})
    labels = ["${y} '\\", "b`\\'", "b`\\'", "${y} '\\"]
    model = bs.SparseCategoricalNB("all").fit(frame[[names[0]]], labels)
    with pytest.raises(ValueError, match="Spark would replace"):
        to_sql(model, "rows", "spark")
    sql = to_sql(model, "rows", "spark", order_by=names[1], probability=None)
    _, found = spark_engine.query(sql, frame)
    assert [row[2] for row in found] == model.predict(frame[[names[0]]]).tolist()


def test_strings_of_files(spark_engine):
    check_strings_of_files(spark_engine)
