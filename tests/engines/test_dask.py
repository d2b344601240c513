"""Counting on a Dask cluster of two processes, one of which may be killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from tests.patience import HANGS

from bayesieve.counts import ClassCounts
from bayesieve.datasets import load_sms_spam

HOW = "Dask is not installed: pip install '.[dask,frames]'"
dask = pytest.importorskip("dask", reason=HOW)
distributed = pytest.importorskip("distributed", reason=HOW)
pd = pytest.importorskip("pandas", reason=HOW)
da = pytest.importorskip("dask.array", reason=HOW)
db = pytest.importorskip("dask.bag", reason=HOW)
dd = pytest.importorskip("dask.dataframe", reason=HOW)

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "straße",
    "İstanbul",
    "ΣΊΣΥΦΟΣ",
    "你好",
    "one",
    "two",
    "three",
]


def some_texts(n, seed=0):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(n)]
    return texts, rng.choice(["no", "yes", "maybe"], n).tolist()


def one_process(texts, labels, **options):
    return ClassCounts.from_text([(texts, labels)], **options)


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(1)
    X = rng.poisson(0.4, (400, 11)).astype(float)
    return X, rng.choice(["b", "a", "c"], 400)


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.admin.log-format": "%(message)s"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


# ------------------------------------------------------------ without a cluster


@pytest.mark.parametrize("chunks", [(400, 11), (130, 5), (23, 11)])
@pytest.mark.parametrize("kind", ["count", "binary", "moments"])
def test_arrays_equal_one_matrix(matrix, chunks, kind):
    X, y = matrix
    expected = ClassCounts.from_matrix(X, y, kind=kind)
    data = da.from_array(X, chunks=chunks)
    for labels in (y, y.tolist(), da.from_array(y, chunks=77)):
        found = ClassCounts.from_dask(data, labels, kind=kind)
        if kind == "moments":  # merged by a formula, not by sums of integers
            np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13)
            np.testing.assert_allclose(
                found.centred_squares, expected.centred_squares, rtol=1e-12
            )
        else:
            assert found == expected


@pytest.mark.parametrize("chunks", [(130, 11), (130, 4)])
def test_sparse_blocks_stay_sparse(matrix, chunks):
    X, y = matrix
    data = da.from_array(X, chunks=chunks).map_blocks(sparse.csr_array)
    assert ClassCounts.from_dask(data, y) == ClassCounts.from_matrix(X, y)


def test_chunks_of_unknown_sizes(matrix):
    X, y = matrix
    keep = X[:, 0] > 0
    expected = ClassCounts.from_matrix(X[keep], y[keep])
    data, labels = da.from_array(X, chunks=(90, 11)), da.from_array(y, chunks=90)
    mask = da.from_array(keep, chunks=90)
    assert ClassCounts.from_dask(data[mask], labels[mask]) == expected
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        ClassCounts.from_dask(data[mask], y[keep])


def test_a_class_and_a_threshold_given(matrix):
    X, y = matrix
    wanted = {"kind": "binary", "binarize": 1.0, "classes": ["a", "b", "c", "z"]}
    found = ClassCounts.from_dask(da.from_array(X, chunks=(99, 11)), y, **wanted)
    assert found == ClassCounts.from_matrix(X, y, **wanted)


def test_frames_of_features(matrix):
    X, y = matrix
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    expected = ClassCounts.from_matrix(frame, y)
    whole = dd.from_pandas(frame.assign(target=y), npartitions=6)
    assert ClassCounts.from_dask(whole, label="target") == expected
    features = whole[list(frame.columns)]
    assert ClassCounts.from_dask(features, whole["target"]) == expected


@pytest.mark.parametrize("groups", [1, 5])
@pytest.mark.parametrize(
    "options", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "binary": True}]
)
def test_texts_equal_one_process_and_scikit_learn(options, groups):
    texts, labels = some_texts(300)
    expected = one_process(texts, labels, **options)
    bag = db.from_sequence(zip(texts, labels, strict=True), npartitions=7)
    found = ClassCounts.from_dask(bag, n_groups=groups, **options)
    assert found == expected
    vectorizer = CountVectorizer(**options)
    X = vectorizer.fit_transform(texts)
    other = ClassCounts.from_matrix(X, labels, binary=options.get("binary", False))
    assert list(found.feature_names) == vectorizer.get_feature_names_out().tolist()
    assert np.array_equal(found.feature_count, other.feature_count)
    assert found.class_count.sum() == 300


def test_dicts_pairs_and_frames_of_texts_agree():
    texts, labels = some_texts(90)
    expected = one_process(texts, labels)
    for keys in (("text", "label"), ("body", "is_spam")):
        items = [
            dict(zip(keys, row, strict=True)) for row in zip(texts, labels, strict=True)
        ]
        named = {} if keys[0] == "text" else {"text": keys[0], "label": keys[1]}
        bag = db.from_sequence(items, npartitions=4)
        assert ClassCounts.from_dask(bag, **named) == expected
    frame = dd.from_pandas(pd.DataFrame({"t": texts, "y": labels}), npartitions=4)
    assert ClassCounts.from_dask(frame, text="t", label="y") == expected


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize(
    "limits",
    [
        {"min_df": 3},
        {"min_df": 0.1, "max_df": 0.3},
        {"max_features": 5},
        {"min_df": 2, "max_features": 4, "stop_words": ["one", "two"]},
    ],
)
def test_pruning_is_that_of_the_whole(limits, groups):
    texts, labels = some_texts(60)
    bag = db.from_sequence(zip(texts, labels, strict=True), npartitions=9)
    found = ClassCounts.from_dask(bag, n_groups=groups, ngram_range=(1, 2), **limits)
    vectorizer = CountVectorizer(ngram_range=(1, 2), **limits)
    expected = ClassCounts.from_matrix(vectorizer.fit_transform(texts), labels)
    assert list(found.feature_names) == vectorizer.get_feature_names_out().tolist()
    assert np.array_equal(found.feature_count, expected.feature_count)


def test_empty_partitions_and_labels_of_one_partition_only():
    texts, labels = some_texts(40)
    labels = ["rare" if i == 7 else "common" for i in range(40)]
    expected = one_process(texts, labels)
    bag = db.from_sequence(zip(texts, labels, strict=True), npartitions=5)
    empty = bag.filter(lambda item: False)
    assert ClassCounts.from_dask(db.concat([empty, bag, empty])) == expected
    with pytest.raises(ValueError, match="at least one row"):
        ClassCounts.from_dask(empty)


def test_labels_of_different_kinds_are_refused():
    pairs = [("some words", "1")] * 4 + [("more words", 1)] * 4
    with pytest.raises(ValueError, match="of one kind"):
        ClassCounts.from_dask(db.from_sequence(pairs, npartitions=2))
    X = da.ones((4, 2), chunks=(2, 2))
    labels = [np.array(["a", "b"]), np.array([1, 2])]
    blocks = [da.from_array(block, chunks=2) for block in labels]
    mixed = da.from_delayed(blocks[0].to_delayed()[0], (2,), dtype=object)
    other = da.from_delayed(blocks[1].to_delayed()[0], (2,), dtype=object)
    with pytest.raises(ValueError, match="of one kind"):
        ClassCounts.from_dask(X, da.concatenate([mixed, other]))


def test_a_bad_value_names_its_partition(matrix):
    X, y = matrix
    X = X.copy()
    X[250, 3] = -2.0
    with pytest.raises(
        ValueError, match=r"Partition 2: Negative value -2\.0.*column 3"
    ):
        ClassCounts.from_dask(da.from_array(X, chunks=(100, 11)), y)
    missing = [("words here", "a"), ("and there", None)]
    with pytest.raises(ValueError, match=r"Partition 1: Row 0 has no label"):
        ClassCounts.from_dask(db.from_sequence(missing, npartitions=2))


def test_wrong_arguments_are_told(matrix):
    X, y = matrix
    data = da.from_array(X, chunks=(100, 11))
    frame = dd.from_pandas(pd.DataFrame({"text": ["a b"], "label": ["x"]}), 1)
    bag = db.from_sequence([("word", "x"), ("other", "y"), ("third", "x")])
    for arguments, options, message in [
        ((X, y), {}, "must be a Dask array, dataframe or bag"),
        ((data,), {}, "needs labels"),
        ((data, y[:-1]), {}, "one label for each row, 400 in all. Got 399"),
        ((data, y), {"text": "words"}, "features, not texts"),
        ((data, y), {"ngram_range": (1, 2)}, "'ngram_range' parameter is for texts"),
        ((data[:, 0], y), {}, "two dimensions"),
        ((frame,), {"text": "text"}, "Got neither"),
        ((frame,), {"text": "txt", "label": "label"}, "Did you mean 'text'"),
        ((frame,), {"text": "text", "label": "label", "kind": "count"}, "'kind'"),
        ((bag, y), {}, "in its items"),
        ((bag,), {"n_groups": 0}, "'n_groups' must be an int >= 1"),
        ((bag,), {"min_df": -1}, "min_df"),
        ((bag,), {"min_df": 2}, "No terms remain"),
        ((db.from_sequence(["word"]),), {"text": "t", "label": "l"}, "pairs, or dicts"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            ClassCounts.from_dask(*arguments, **options)


def test_the_interpreter_of_the_counting_thread_is_free_of_state():
    # The same graph twice, in threads at the same time: tasks share nothing.
    texts, labels = some_texts(200)
    bag = db.from_sequence(zip(texts, labels, strict=True), npartitions=8)
    expected = one_process(texts, labels)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(ClassCounts.from_dask, bag) for _ in range(4)]
    assert all(run.result() == expected for run in runs)


# ------------------------------------------------------------ two processes


@pytest.mark.slow
def test_two_processes_count_as_one(client):
    data = load_sms_spam()
    texts, labels = list(data.data), list(np.asarray(data.target))
    expected = one_process(texts, labels, ngram_range=(1, 2))
    bag = db.from_sequence(zip(texts, labels, strict=True), npartitions=12)
    for groups in (1, 3):
        found = ClassCounts.from_dask(
            bag, client=client, ngram_range=(1, 2), n_groups=groups
        )
        assert found == expected
    assert len(client.scheduler_info()["workers"]) == 2


@pytest.mark.slow
def test_two_processes_count_arrays_and_frames_as_one(client, matrix):
    X, y = matrix
    expected = ClassCounts.from_matrix(X, y)
    data = da.from_array(X, chunks=(50, 6))
    assert ClassCounts.from_dask(data, y, client=client) == expected
    blocks = data.map_blocks(sparse.csr_array)
    assert ClassCounts.from_dask(blocks, y, client=client) == expected
    texts, labels = some_texts(200)
    frame = dd.from_pandas(pd.DataFrame({"t": texts, "y": labels}), npartitions=6)
    found = ClassCounts.from_dask(frame, text="t", label="y", client=client)
    assert found == one_process(texts, labels)


@pytest.mark.slow
def test_errors_of_workers_are_value_errors_here(client):
    pairs = [("some words", "1")] * 4 + [("more words", 1)] * 4
    with pytest.raises(ValueError, match="of one kind"):
        ClassCounts.from_dask(db.from_sequence(pairs, npartitions=2), client=client)


@pytest.mark.slow
def test_a_worker_killed_in_mid_task_changes_nothing(client, tmp_path):
    texts, labels = some_texts(240)
    folder = str(tmp_path)

    def slow(items):
        # Which process began a partition, and when it ended: seen from outside.
        items = list(items)
        name = f"{hash_of(items)}-{os.getpid()}-{time.monotonic_ns()}"
        (Path(folder) / f"{name}.begun").touch()
        time.sleep(0.4)
        (Path(folder) / f"{name}.ended").touch()
        return items

    def hash_of(items):
        return sum(len(text) for text, _ in items)

    bag = db.from_sequence(zip(texts, labels, strict=True), npartitions=8)
    bag = bag.map_partitions(slow)
    expected = one_process(texts, labels)
    results = []
    run = threading.Thread(
        target=lambda: results.append(ClassCounts.from_dask(bag, client=client))
    )
    run.start()
    deadline = time.monotonic() + HANGS
    while time.monotonic() < deadline:
        # A process that has finished one partition and is in the middle of another.
        begun = {path.stem for path in tmp_path.glob("*.begun")}
        ended = {path.stem for path in tmp_path.glob("*.ended")}
        veterans = {name.split("-")[1] for name in ended}
        busy = [name for name in begun - ended if name.split("-")[1] in veterans]
        if busy:
            break
        time.sleep(0.01)
    victim = int(busy[0].split("-")[1])
    os.kill(victim, signal.SIGKILL)
    run.join(timeout=HANGS)
    assert results == [expected]
    begun = list(tmp_path.glob("*.begun"))
    ended = list(tmp_path.glob("*.ended"))
    assert len(ended) < len(begun)  # a task was lost on the way
    assert len(begun) > 8  # and at least that one was run again
