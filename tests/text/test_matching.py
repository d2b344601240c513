"""Known terms in texts, against CountVectorizer and TfidfVectorizer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from tests.oracle.text_oracle import count_text, fuzzed_texts, oracle_tfidf

from bayesieve.counts import _layout
from bayesieve.counts._selection import prune
from bayesieve.counts._tfidf import tfidf_sums
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames

TEXTS = fuzzed_texts(1200, seed=4)
CODES = np.random.default_rng(4).integers(-1, 3, len(TEXTS))
STOP = frozenset(["ab", "aa", "de"])
CASES = [
    TextOptions(ngram_range=(1, 2)),
    TextOptions(ngram_range=(1, 3), stop_words=STOP),
    TextOptions(analyzer="char", ngram_range=(2, 2)),
    TextOptions(analyzer="char_wb", ngram_range=(2, 4)),
    TextOptions(analyzer="char_wb", ngram_range=(3, 9)),
    TextOptions(token_pattern=r"[\w ]+", ngram_range=(1, 2)),
    TextOptions(ngram_range=(1, 9), binary=True),
    TextOptions(strip_accents="unicode"),
]


@pytest.mark.parametrize("options", CASES, ids=range(len(CASES)))
def test_rows(options):
    names = count_text(TEXTS, CODES, 3, options).feature_names
    # Some terms, and some that no text can have.
    some = sorted({*names[::3].tolist(), "", " ", "zz  zz", "Never", "ab ab ab ab ab "})
    vectorizer = CountVectorizer(**options.vectorizer(vocabulary=some))
    expected = vectorizer.transform(TEXTS)
    matcher = TermMatcher(TermNames.from_strings(some), options)
    for n_jobs in (1, 3):
        rows = matcher.rows(TEXTS, n_jobs=n_jobs)
        assert isinstance(rows, sparse.csr_array)
        assert rows.shape == expected.shape
        assert rows.has_canonical_format
        np.testing.assert_array_equal(rows.toarray(), expected.toarray())
    again = pickle.loads(pickle.dumps(matcher))
    present = again.rows(TEXTS, binary=True)
    np.testing.assert_array_equal(present.toarray(), expected.toarray() > 0)


def test_rows_of_many_chunks_and_of_none():
    pa = pytest.importorskip("pyarrow")
    names = TermNames.from_strings(["aa", "bb"])
    chunks = pa.chunked_array([["aa bb aa"], [], ["cc", "bb"]], type=pa.string())
    rows = TermMatcher(names, TextOptions()).rows(chunks)
    assert rows.toarray().tolist() == [[2, 1], [0, 0], [0, 1]]
    assert TermMatcher(names, TextOptions()).rows([]).shape == (0, 2)
    nothing = TermNames.from_strings([])
    assert TermMatcher(nothing, TextOptions()).rows(["aa"]).shape == (1, 0)
    repaired = TermMatcher(names, TextOptions()).rows(
        [b"aa\xff"], decode_error="ignore"
    )
    assert repaired.toarray().tolist() == [[1, 0]]


WEIGHTS = [
    {},
    {"sublinear_tf": True, "norm": "l1"},
    {"smooth_idf": False, "norm": None},
    {"use_idf": False},
]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("options", CASES, ids=range(len(CASES)))
def test_tfidf_sums(options, weights):
    counts = count_text(TEXTS, CODES, 3, options)
    expected = oracle_tfidf(TEXTS, CODES, 3, options, **weights)
    sums = tfidf_sums([(TEXTS, CODES)], counts, options, **weights)
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=0)


def test_tfidf_sums_do_not_depend_on_threads_batches_or_layout(monkeypatch):
    options = CASES[0]
    counts = prune(count_text(TEXTS, CODES, 3, options), min_df=2)
    one = tfidf_sums([(TEXTS, CODES)], counts, options, n_jobs=1)
    expected = oracle_tfidf(TEXTS, CODES, 3, options, min_df=2)
    np.testing.assert_allclose(one, expected, rtol=1e-12, atol=0)

    def parts():
        for first in range(0, len(TEXTS), 173):
            yield TEXTS[first : first + 173], CODES[first : first + 173]

    many = tfidf_sums(parts(), counts, options, n_jobs=3)
    np.testing.assert_array_equal(one, many)  # the same bits
    monkeypatch.setattr(_layout, "DENSE_CELLS", 10)
    thin = prune(count_text(TEXTS, CODES, 3, options), min_df=2)
    sums = tfidf_sums(parts(), thin, options)
    assert isinstance(sums, sparse.csc_array)
    np.testing.assert_array_equal(sums.toarray(), one)
    with pytest.raises(ValueError, match="'norm' must be"):
        tfidf_sums(parts(), counts, options, norm="max")
