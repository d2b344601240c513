"""Counts of texts equal those of CountVectorizer, term by term, in every setting."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from tests.oracle.text_oracle import (
    CORNERS,
    assert_same_counts,
    count_text,
    fuzzed_texts,
    oracle_counts,
)

from bayesieve.counts import ClassCounts, _layout
from bayesieve.counts._selection import document_frequency, prune
from bayesieve.text._counter import TextCounter
from bayesieve.text._options import TextOptions

STOP = frozenset(["ab", "aa", "de", "ad", "字分"])
MAIN = [
    TextOptions(),
    TextOptions(ngram_range=(1, 2)),
    TextOptions(ngram_range=(1, 3)),
    TextOptions(analyzer="char", ngram_range=(2, 2)),
    TextOptions(analyzer="char_wb", ngram_range=(2, 4)),
]
MORE = [
    TextOptions(lowercase=False, ngram_range=(2, 2)),
    TextOptions(strip_accents="unicode", ngram_range=(1, 2)),
    TextOptions(strip_accents="ascii"),
    TextOptions(strip_accents="unicode", lowercase=False, analyzer="char"),
    TextOptions(stop_words=STOP, ngram_range=(1, 3)),
    TextOptions(stop_words=STOP, token_pattern=r"(?u)\w+", binary=True),
    TextOptions(token_pattern=r"[\w ]+", ngram_range=(1, 3)),  # words with spaces
    TextOptions(token_pattern=r"b?(c*)", ngram_range=(1, 2)),  # a group, empty words
    TextOptions(token_pattern=r"\S+", stop_words=STOP, strip_accents="ascii"),
    TextOptions(binary=True, ngram_range=(1, 2)),
    TextOptions(analyzer="char", ngram_range=(1, 5)),
    TextOptions(analyzer="char", ngram_range=(7, 10)),  # too long for keys of numbers
    TextOptions(analyzer="char_wb", ngram_range=(1, 1)),
    TextOptions(analyzer="char_wb", ngram_range=(6, 9)),
    TextOptions(analyzer="char_wb", stop_words=STOP, ngram_range=(5, 8)),
    TextOptions(ngram_range=(4, 6)),
    TextOptions(ngram_range=(5, 9), stop_words=STOP),
]


def name_of(options):
    defaults = TextOptions()
    return ",".join(
        f"{key}={sorted(value) if isinstance(value, frozenset) else value}"
        for key, value in vars(options).items()
        if value != getattr(defaults, key, None) and key not in ("plan", "words_of")
    )


def some_codes(n, n_classes=3):
    return np.random.default_rng(n).integers(-1, n_classes, n)


def assert_identical(a, b):
    assert a.feature_names == b.feature_names
    for name in ("feature_count", "document_count"):
        one, two = getattr(a, name), getattr(b, name)
        assert sparse.issparse(one) == sparse.issparse(two)
        if sparse.issparse(one):
            one, two = one.toarray(), two.toarray()
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(a.class_count, b.class_count)


@pytest.mark.parametrize("options", MAIN + MORE, ids=name_of)
def test_fuzzed_texts(options):
    texts = fuzzed_texts(2000, seed=3)
    codes = some_codes(len(texts))
    assert_same_counts(count_text(texts, codes, 3, options), texts, codes, options)


@pytest.mark.slow
@pytest.mark.parametrize("options", MAIN, ids=name_of)
def test_many_fuzzed_texts(options):
    """200,000 texts in ten lots, so that the other side's memory stays small."""
    for seed in range(10):
        texts = fuzzed_texts(20_000, seed=seed, longest=16)
        codes = some_codes(len(texts))
        assert_same_counts(count_text(texts, codes, 3, options), texts, codes, options)


@given(
    texts=st.lists(st.text(st.characters() | st.sampled_from(CORNERS), max_size=30)),
    options=st.sampled_from(MAIN + MORE),
)
@settings(deadline=None)
def test_any_texts(texts, options):
    codes = some_codes(len(texts), 2)
    assert_same_counts(count_text(texts, codes, 2, options), texts, codes, options)


def test_small_case_by_hand():
    counts = count_text(["The the cat", "a CAT?", ""], [1, 0, 0], 2, TextOptions())
    assert counts.feature_names.tolist() == ["cat", "the"]
    assert counts.feature_count.tolist() == [[1, 0], [1, 2]]
    assert counts.document_count.tolist() == [[1, 0], [1, 1]]
    assert counts.class_count.tolist() == [2, 1]


SETTINGS = [
    {"n_jobs": 1},
    {"n_jobs": 3},
    {"n_jobs": 2, "_pending": 1},
    {"n_jobs": 2, "_pending": 1000},
    {"n_jobs": 1, "memory_budget": 1, "_pending": 50},
    {"n_jobs": 3, "memory_budget": 200_000, "_pending": 500},
]


@pytest.mark.parametrize("options", [*MAIN, MORE[7], MORE[11]], ids=name_of)
def test_threads_batches_and_budget_change_nothing(options, tmp_path):
    texts = fuzzed_texts(1500, seed=5)
    codes = some_codes(len(texts))
    whole = count_text(texts, codes, 3, options)
    rng = np.random.default_rng(0)
    for setting in SETTINGS:
        counter = TextCounter(options, 3, spill_folder=tmp_path, **setting)
        cuts = np.sort(rng.integers(0, len(texts), 7)).tolist()
        for first, last in zip([0, *cuts], [*cuts, len(texts)], strict=True):
            counter.add(texts[first:last], codes[first:last])
            assert os.listdir(tmp_path) == []  # unlinked as soon as it is open
        if setting.get("memory_budget") == 1:
            assert counter.spilled_bytes > 0
        tables = counter.finish(_layout.DENSE_CELLS)
        assert tables.names == whole.feature_names
        for name in ("class_count", "feature_count", "document_count"):
            found, expected = getattr(tables, name), getattr(whole, name)
            np.testing.assert_array_equal(found, expected)
    # The order of the documents does not matter either.
    order = rng.permutation(len(texts))
    mixed = count_text([texts[i] for i in order], codes[order], 3, options)
    assert_identical(mixed, whole)


@pytest.mark.parametrize("options", MAIN[:4:3], ids=name_of)
def test_merges(options):
    texts = fuzzed_texts(900, seed=6)
    codes = some_codes(len(texts))
    whole = count_text(texts, codes, 3, options)
    a, b, c = (
        count_text(texts[i::3], codes[i::3], 3, options, n_jobs=1) for i in range(3)
    )
    assert_identical(a + b + c, whole)
    assert_identical(c + (a + b), whole)
    nothing = count_text([], [], 3, options)
    assert_identical(nothing + whole, whole)
    assert_identical(pickle.loads(pickle.dumps(a)) + (b + c), whole)
    assert_identical(count_text([], [], 2, options) + whole, whole)


def test_many_classes_stay_sparse(monkeypatch):
    texts = fuzzed_texts(1000, seed=7)
    codes = some_codes(len(texts), 40)
    options = TextOptions(ngram_range=(1, 2))
    dense = count_text(texts, codes, 40, options)
    monkeypatch.setattr(_layout, "DENSE_CELLS", 10)
    counts = count_text(texts, codes, 40, options)
    assert isinstance(counts.feature_count, sparse.csc_array)
    assert counts.feature_count.has_canonical_format
    np.testing.assert_array_equal(counts.feature_count.toarray(), dense.feature_count)
    np.testing.assert_array_equal(counts.document_count.toarray(), dense.document_count)
    halves = [count_text(texts[i::2], codes[i::2], 40, options) for i in range(2)]
    merged = halves[0] + halves[1]
    assert isinstance(merged.feature_count, sparse.csc_array)
    assert_identical(merged, counts)
    kept = prune(counts, min_df=3)
    assert kept.feature_names.tolist() == prune(dense, min_df=3).feature_names.tolist()
    assert isinstance(
        count_text(texts, codes % 2, 2, options).feature_count, np.ndarray
    )


def test_dense_tables_that_outgrow_the_limit_become_sparse_when_merged(monkeypatch):
    monkeypatch.setattr(_layout, "DENSE_CELLS", 9)
    a = count_text(["aa bb cc"], [0], 3, TextOptions())
    b = count_text(["dd bb"], [2], 3, TextOptions())
    assert isinstance(a.feature_count, np.ndarray)
    both = a + b
    assert isinstance(both.feature_count, sparse.csc_array)
    assert both.feature_count.toarray().tolist() == [
        [1, 1, 1, 0],
        [0] * 4,
        [0, 1, 0, 1],
    ]


@pytest.mark.parametrize(
    "limits",
    [
        {"min_df": 2},
        {"min_df": 0.002, "max_df": 0.05},
        {"max_df": 20},
        {"max_features": 17},
        {"min_df": 2, "max_df": 0.5, "max_features": 30},
        {"max_features": 10**6},
    ],
    ids=str,
)
@pytest.mark.parametrize("options", [MAIN[1], MORE[9]], ids=name_of)
def test_pruning(options, limits):
    texts = fuzzed_texts(1500, seed=8)
    codes = some_codes(len(texts))
    names, count, documents = oracle_counts(texts, codes, 3, options, **limits)
    pruned = prune(count_text(texts, codes, 3, options), **limits)
    assert pruned.feature_names.tolist() == names
    np.testing.assert_array_equal(pruned.feature_count, count)
    np.testing.assert_array_equal(pruned.document_count, documents)


def test_pruning_refuses_what_makes_no_sense():
    counts = count_text(["aa bb"], [0], 1, TextOptions())
    for limits, message in (
        ({"min_df": -1}, "'min_df' must be"),
        ({"max_df": 1.5}, "'max_df' must be"),
        ({"min_df": 3, "max_df": 2}, "must not be below"),
        ({"max_features": 0}, "'max_features' must be"),
    ):
        with pytest.raises(ValueError, match=message):
            prune(counts, **limits)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("imdb", 250),
        ("newsgroups20", 250),
        ("sst2", 4000),
        ("thucnews_titles", 4000),
        ("online_shopping_10_cats", 1500),
    ],
)
def test_real_texts(name, rows, real_data):
    check_real_texts(real_data(name).sample(rows, random_state=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sst2", "thucnews_titles"])
def test_whole_real_texts(name, real_data):
    check_real_texts(real_data(name), MAIN[1:4:2])


def check_real_texts(data, cases=None):
    labels, codes = np.unique(data["label"].astype(str), return_inverse=True)
    texts = data["text"].tolist()
    for options in cases or (*MAIN, TextOptions(stop_words=ENGLISH_STOP_WORDS)):
        counts = count_text(texts, codes, len(labels), options)
        assert_same_counts(counts, texts, codes, options)


def test_nothing_to_count():
    for texts in ([], [""], ["\x00", ". !"]):
        counts = count_text(texts, [0] * len(texts), 2, TextOptions())
        assert len(counts.feature_names) == 0
        assert counts.feature_count.shape == (2, 0)
        assert counts.class_count.tolist() == [len(texts), 0]


def test_long_documents_and_words():
    texts = ["ab " * 300_000, "x" * 1_000_000, "é" * 70_000 + " b" * 10]
    options = TextOptions(ngram_range=(1, 2))
    counts = count_text(texts, [0, 1, 1], 2, options, n_jobs=2)
    assert_same_counts(counts, texts, [0, 1, 1], options)


def test_misuse():
    counter = TextCounter(TextOptions(), 2)
    for texts, codes, message in (
        (["a"], [2], "between -1 and 1. Got 2 in row 0"),
        (["a"], [-2], "Got -2"),
        (["a"], [0, 1], "2 codes for 1 texts"),
        (["a"], [0.5], "must be integers"),
        (np.array([["a"]]), [0], "one dimension"),
    ):
        with pytest.raises(ValueError, match=message):
            counter.add(texts, codes)
    with pytest.raises(TypeError, match="Got a single one"):
        counter.add("text", [0])
    counter.add(["fine now"], [1])  # refused before anything was counted
    counter.finish(1000)
    with pytest.raises(RuntimeError, match="have been taken"):
        counter.add(["a"], [0])
    with pytest.raises(RuntimeError, match="have been taken"):
        counter.finish(1000)
    counter = TextCounter(TextOptions(), 2)
    with pytest.raises(TypeError, match="Got float in row 1"):
        counter.add(["a", float("nan")], [0, 0])
    with pytest.raises(RuntimeError, match="earlier batch failed"):
        counter.finish(1000)
    for keywords, message in (
        ({"n_jobs": 0}, "'n_jobs' parameter must be"),
        ({"memory_budget": 0}, "'memory_budget' must be"),
        ({"decode_error": "no"}, "'decode_error' must be"),
    ):
        with pytest.raises(ValueError, match=message):
            TextCounter(TextOptions(), 2, **keywords)
    with pytest.raises(ValueError, match="'n_classes' must be"):
        TextCounter(TextOptions(), 0)
    with pytest.raises(FileNotFoundError, match="spill_folder must be there"):
        TextCounter(TextOptions(), 2, spill_folder="/no/such/folder")


def test_a_spill_that_cannot_be_written_is_an_error(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    counter = TextCounter(
        TextOptions(), 1, memory_budget=1, spill_folder=folder, _pending=1
    )
    folder.rmdir()
    with pytest.raises(RuntimeError, match="temporary records"):
        counter.add(fuzzed_texts(3000, 1), np.zeros(3000, dtype=int))


@pytest.mark.slow
def test_repeated_counts_do_not_grow():
    texts = fuzzed_texts(300, seed=9)
    codes = some_codes(len(texts))

    def round_of(n):
        for i in range(n):
            budget = 1 if i % 3 == 0 else None
            a = count_text(texts, codes, 3, MAIN[1], n_jobs=2, memory_budget=budget)
            _ = a + a
            if i % 10 == 0:
                with pytest.raises(TypeError):
                    count_text(["ab", None], [0, 0], 1, TextOptions())

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no /proc/self/statm here to read the memory from")
    round_of(100)
    gc.collect()
    tracemalloc.start()
    before, held = resident(), tracemalloc.get_traced_memory()[0]
    round_of(1000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - held
    tracemalloc.stop()
    assert grown < 200_000
    assert resident() - before < 8_000_000  # one lost table a round would be 300 MB


def test_counts_are_plain_data():
    counts = count_text(["aa bb"], [0], 2, TextOptions())
    again = pickle.loads(pickle.dumps(counts))
    assert isinstance(again, ClassCounts)
    assert_identical(again, counts)
    assert document_frequency(counts).tolist() == [1, 1]
