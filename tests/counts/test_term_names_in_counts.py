from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesieve import ClassCounts, NaiveFeatureSelector, SparseMultinomialNB
from bayesieve.counts import _layout
from bayesieve.text._term_names import TermNames

WORDS = ["a", "b", "ba", "c", "é", "中", "😀", "\ud800", "x\0y"]


@st.composite
def tables(draw, n_classes=None):
    names = sorted(draw(st.sets(st.sampled_from(WORDS))))
    labels = sorted(draw(st.sets(st.sampled_from("xyz"), min_size=1)))
    size = len(labels) * len(names)
    cells = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    table = np.array(cells, dtype=float).reshape(len(labels), len(names))
    return labels, names, table


def packed(labels, names, table):
    return ClassCounts(
        labels,
        np.ones(len(labels)),
        table,
        feature_names=TermNames.from_strings(names),
        document_count=table > 0,
    )


def plain(labels, names, table):
    return ClassCounts(
        labels,
        np.ones(len(labels)),
        table,
        feature_names=names,
        document_count=table > 0,
    )


def cells(counts):
    """Everything, by name: what does not depend on the order of features."""
    names = list(counts.feature_names)
    dense = [
        t.toarray() if sparse.issparse(t) else t
        for t in (counts.feature_count, counts.document_count)
    ]
    return (
        counts.classes.tolist(),
        counts.class_count.tolist(),
        {name: tuple(t[:, i].tolist() for t in dense) for i, name in enumerate(names)},
    )


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def layout(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(_layout, "DENSE_CELLS", 0)


@pytest.mark.usefixtures("layout")
@settings(max_examples=60, deadline=None)
@given(tables(), tables())
def test_sums_are_those_of_ordinary_names(a, b):
    total = packed(*a) + packed(*b)
    assert isinstance(total.feature_names, TermNames)
    assert total.feature_names.is_sorted
    expected = plain(*a) + plain(*b)
    assert cells(total) == cells(expected)
    assert packed(*b) + packed(*a) == total
    assert cells(total - packed(*b)) == cells(expected - plain(*b))
    assert (total - packed(*a)).feature_names == total.feature_names
    for mixed in (packed(*a) + plain(*b), plain(*a) + packed(*b)):
        assert cells(mixed) == cells(total)
    assert cells(total - plain(*b)) == cells(expected - plain(*b))
    assert cells(expected - packed(*b)) == cells(expected - plain(*b))


@settings(max_examples=40, deadline=None)
@given(tables(), st.data())
def test_equality_selection_scaling_and_copies(a, data):
    counts = packed(*a)
    assert counts == plain(*a)
    assert plain(*a) == counts
    assert counts.scaled(2) == plain(*a).scaled(2)
    assert counts.scaled(2).feature_names is counts.feature_names
    for copied in (pickle.loads(pickle.dumps(counts)), copy.deepcopy(counts)):
        assert copied == counts
        assert isinstance(copied.feature_names, TermNames)
    n = len(a[1])
    order = data.draw(st.permutations(range(n)))
    some = counts.select(np.array(order[: n // 2 + 1], dtype=int))
    assert isinstance(some.feature_names, TermNames)
    assert some == plain(*a).select(np.array(order[: n // 2 + 1], dtype=int))
    mask = np.arange(n) % 2 == 0
    assert counts.select(mask) == plain(*a).select(mask)
    # Names in another order are no longer merged natively, but by name all the same.
    assert cells(counts + some) == cells(plain(*a) + some)
    assert cells(counts - some) == cells(plain(*a) - some)


@pytest.mark.usefixtures("layout")
def test_storage(tmp_path):
    counts = packed(["x", "y", "z"], WORDS[:7], np.arange(21.0).reshape(3, 7))
    counts.save(tmp_path / "a")
    loaded = ClassCounts.load(tmp_path / "a")
    assert loaded == counts
    assert isinstance(loaded.feature_names, TermNames)
    part = counts.select(np.arange(3, 6))
    part.save(tmp_path / "b")
    assert ClassCounts.load(tmp_path / "b") == part
    sliced = ClassCounts(
        ["x"], [1], np.ones((1, 3)), feature_names=counts.feature_names[2:5]
    )
    sliced.save(tmp_path / "c")
    assert ClassCounts.load(tmp_path / "c").feature_names.tolist() == WORDS[2:5]
    surrogate = packed(["x"], ["\ud800"], np.ones((1, 1)))
    surrogate.save(tmp_path / "d")
    assert ClassCounts.load(tmp_path / "d") == surrogate


def test_names_that_are_no_text_are_refused(tmp_path):
    names = TermNames(np.frombuffer(b"ab\xff\xfe", np.uint8), np.array([0, 2, 4]))
    counts = ClassCounts([0], [1], np.ones((1, 2)), feature_names=names)
    counts.save(tmp_path / "a")
    with pytest.raises(ValueError, match="not a readable file"):
        ClassCounts.load(tmp_path / "a")


def test_wrong_numbers_and_missing_names():
    names = TermNames.from_strings(["a", "b"])
    with pytest.raises(ValueError, match="one name per feature, 3 in all"):
        ClassCounts([0], [1], np.ones((1, 3)), feature_names=names)
    a = packed(["x"], ["a", "b"], np.ones((1, 2)))
    b = packed(["x"], ["a", "c"], np.ones((1, 2)))
    with pytest.raises(ValueError, match="the feature 'c' on the right only"):
        a - b
    with pytest.raises(ValueError, match="names on the left"):
        a + ClassCounts(["x"], [1], np.ones((1, 2)))


def test_other_kinds_of_counts_keep_their_rules():
    def moments(names):
        return ClassCounts(
            ["x"],
            [1.0],
            kind="moments",
            mean=np.ones((1, 2)),
            centred_squares=np.zeros((1, 2)),
            feature_names=TermNames.from_strings(names),
        )

    total = moments(["a", "b"]) + moments(["a", "b"])
    assert total.feature_names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="same features"):
        moments(["a", "b"]) + moments(["a", "c"])


def test_no_python_string_for_every_term(tmp_path):
    n = 200_000
    names = TermNames.from_strings([f"{i:07}" for i in range(n)])
    even, odd = np.arange(0, n, 2), np.arange(1, n, 2)
    whole = ClassCounts([0, 1], [1, 1], np.ones((2, n)), feature_names=names)
    a, b = whole.select(even), whole.select(odd)
    tracemalloc.start()
    total = a + b
    rest = total - a
    total.save(tmp_path / "a")
    assert ClassCounts.load(tmp_path / "a").scaled(2) == total.scaled(2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total.feature_names == names
    assert rest.feature_count[:, even].sum() == 0
    # A Python string of seven characters takes 56 bytes, tables 16 and names 15.
    assert peak < 200 * n


def test_estimators_fit_counts_of_terms(monkeypatch):
    rng = np.random.default_rng(0)
    names = [f"term{i:03}" for i in range(300)]
    counts = packed(["n", "y"], names, rng.poisson(3, (2, 300)).astype(float))
    model = SparseMultinomialNB(k=10).fit_counts(counts)
    assert isinstance(model.feature_names_in_, np.ndarray)
    assert model.feature_names_in_.tolist() == names
    selector = NaiveFeatureSelector(k=10).fit_counts(counts)
    chosen = [names[i] for i in selector.support_indices_]
    assert selector.get_feature_names_out().tolist() == chosen


def test_millions_of_terms_stay_packed():
    n = 1_000_001
    data = np.frombuffer("".join(f"{i:07}" for i in range(n)).encode(), np.uint8)
    names = TermNames(data, np.arange(n + 1) * 7)
    table = np.zeros((2, n))
    table[:, [5, 7]] = [[9, 1], [2, 8]]
    counts = ClassCounts([0, 1], [10, 10], table, feature_names=names)
    selector = NaiveFeatureSelector(k=2).fit_counts(counts)
    assert selector.feature_names_in_ is counts.feature_names
    found = np.asarray(selector.get_feature_names_out())
    assert found.tolist() == ["0000005", "0000007"]
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [5, 7])), shape=(2, n))
    with pytest.warns(UserWarning, match="feature names"):
        assert selector.transform(X).shape == (2, 2)
