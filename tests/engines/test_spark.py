"""Counting on a local Spark with two workers."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from tests.local_spark import SPARK_MARKS, local_spark

from bayesieve.counts import ClassCounts
from bayesieve.datasets import load_sms_spam

pytestmark = SPARK_MARKS


@pytest.fixture(scope="module")
def spark():
    with local_spark() as session:
        yield session


def rows_in_parts(spark, parts, schema):
    """Make a DataFrame whose partitions hold exactly these rows."""
    pairs = [(number, list(rows)) for number, rows in enumerate(parts)]
    rdd = spark.sparkContext.parallelize(pairs, len(pairs)).flatMap(
        lambda pair: pair[1]
    )
    return spark.createDataFrame(rdd, schema)


def one_process(texts, labels, **options):
    return ClassCounts.from_text([(texts, labels)], **options)


def test_texts_equal_one_process_and_scikit_learn(spark):
    data = load_sms_spam()
    texts, labels = list(data.data[:2000]), [str(y) for y in data.target[:2000]]
    expected = one_process(texts, labels, ngram_range=(1, 2))
    rows = list(zip(texts, labels, strict=True))
    frame = spark.createDataFrame(rows, "text string, label string").repartition(3)
    found = ClassCounts.from_spark(frame, text="text", ngram_range=(1, 2))
    assert found == expected
    vectorizer = CountVectorizer(ngram_range=(1, 2), min_df=3)
    X = vectorizer.fit_transform(texts)
    kept = ClassCounts.from_spark(
        frame, text="text", ngram_range=(1, 2), min_df=3, n_groups=7
    )
    assert list(kept.feature_names) == vectorizer.get_feature_names_out().tolist()
    other = ClassCounts.from_matrix(X, labels)
    assert np.array_equal(kept.feature_count, other.feature_count)
    assert np.array_equal(kept.class_count, other.class_count)


def test_two_workers_take_part(spark):
    # Two Python processes at the same time: each task waits for another to begin.
    def pids(batches):
        import time

        import pyarrow as pa

        for _ in batches:
            pass
        time.sleep(0.5)
        yield pa.record_batch({"pid": pa.array([os.getpid()], pa.int64())})

    frame = spark.range(2).repartition(2).mapInArrow(pids, "pid long")
    assert len({row.pid for row in frame.collect()}) == 2


def test_a_worker_killed_in_mid_task_changes_nothing(spark, tmp_path):
    rows = [(f"word{i % 7} word{i % 11} common", f"y{i % 3}") for i in range(60)]
    marker = str(tmp_path / "killed")

    def fragile(batches):
        # The first time, the process dies when half of its rows are on their way.
        import signal

        for batch in batches:
            half = batch.num_rows // 2
            yield batch.slice(0, half)
            if batch.column(0)[0].as_py() == rows[0][0]:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(half)

    schema = "text string, label string"
    frame = rows_in_parts(spark, [rows[:30], rows[30:]], schema)
    found = ClassCounts.from_spark(frame.mapInArrow(fragile, schema), text="text")
    assert os.path.exists(marker)
    texts, labels = zip(*rows, strict=True)
    assert found == one_process(list(texts), list(labels))


def test_empty_partitions_and_labels_of_one_partition_only(spark):
    parts = [[], [("to be or", 1), ("not to be", 1)], [], [("that is", 7)], []]
    frame = rows_in_parts(spark, parts, "t string, y int")
    flat = [row for part in parts for row in part]
    expected = one_process([t for t, _ in flat], [y for _, y in flat])
    assert ClassCounts.from_spark(frame, text="t", label="y") == expected
    assert expected.classes.tolist() == [1, 7]
    none = rows_in_parts(spark, [[], []], "t string, y int")
    with pytest.raises(ValueError, match="at least one row"):
        ClassCounts.from_spark(none, text="t", label="y")


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(3)
    X = rng.poisson(0.3, (300, 9)).astype(float)
    return X, rng.choice(["b", "a", "c"], 300)


def test_sparse_and_dense_vectors_and_arrays(spark, matrix):
    from pyspark.ml.linalg import SparseVector, Vectors, VectorUDT
    from pyspark.sql.types import (
        ArrayType,
        DoubleType,
        StringType,
        StructField,
        StructType,
    )

    X, y = matrix
    expected = ClassCounts.from_matrix(X, y)

    def packed(x):
        return SparseVector(9, np.flatnonzero(x).tolist(), x[x > 0].tolist())

    rows = [
        (
            packed(x),
            Vectors.dense(x),
            packed(x) if i % 3 else Vectors.dense(x),
            x.tolist(),
            str(label),
        )
        for i, (x, label) in enumerate(zip(X, y, strict=True))
    ]
    kinds = [VectorUDT(), VectorUDT(), VectorUDT(), ArrayType(DoubleType())]
    fields = [*zip(["sparse", "dense", "mixed", "array"], kinds, strict=True)]
    schema = StructType(
        [StructField(name, kind) for name, kind in [*fields, ("label", StringType())]]
    )
    frame = rows_in_parts(spark, [rows[:10], [], rows[10:200], rows[200:]], schema)
    frame = frame.cache()
    for name in ("sparse", "dense", "mixed", "array"):
        assert ClassCounts.from_spark(frame, features=name) == expected
    found = ClassCounts.from_spark(frame, features="mixed", kind="binary", binarize=1)
    assert found == ClassCounts.from_matrix(X, y, kind="binary", binarize=1)


def test_numeric_columns_keep_their_names(spark, matrix):
    X, y = matrix
    names = ["a.b", *(f"c{i}" for i in range(1, 9))]
    rows = [(*x.tolist(), str(label)) for x, label in zip(X, y, strict=True)]
    frame = spark.createDataFrame(rows, [*names, "label"])
    found = ClassCounts.from_spark(frame, features=names)
    assert found == ClassCounts.from_matrix(X, y, feature_names=names)


def test_problems_of_the_data_are_value_errors(spark):
    schema = "t string, v double, a array<double>, y string"
    good = ("some words", 1.0, [1.0, 2.0], "x")
    for bad, options, message in [
        (("words", 1.0, [1.0], None), {"text": "t"}, "Partition 1: Labels must not"),
        ((None, 1.0, [1.0], "x"), {"text": "t"}, "Partition 1: .*text"),
        (("w", -3.0, [1.0], "x"), {"features": ["v"]}, "Partition 1: Negative value"),
        (("w", None, [1.0], "x"), {"features": ["v"]}, "column 'v'"),
        (("w", 1.0, [1.0], "x"), {"features": "a"}, "same number of features"),
        (good, {"features": ["t"]}, "column 't' of type"),
    ]:
        frame = rows_in_parts(spark, [[good], [good, bad]], schema)
        with pytest.raises(ValueError, match=message):
            ClassCounts.from_spark(frame, label="y", **options)


def test_wrong_arguments_are_told(spark, monkeypatch):
    frame = spark.createDataFrame([("a b", "x")], "text string, label string")
    for options, message in [
        ({}, "Got neither"),
        ({"text": "text", "features": "v"}, "Got both"),
        ({"text": "txet"}, "Did you mean 'text'"),
        ({"text": "text", "label": "lable"}, "Did you mean 'label'"),
        ({"features": ["text"], "ngram_range": (1, 2)}, "'ngram_range'"),
        ({"text": "text", "n_groups": 0}, "'n_groups' must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            ClassCounts.from_spark(frame, **options)
    with pytest.raises(TypeError, match="must be a Spark DataFrame"):
        ClassCounts.from_spark([("a b", "x")], text="text")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python3")
    with pytest.raises(RuntimeError, match=r"set PYSPARK_PYTHON to sys\.executable"):
        ClassCounts.from_spark(frame, text="text")
