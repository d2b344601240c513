# ruff: noqa: RUF001
"""Class counts of terms by CountVectorizer, and texts that try its corners."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from bayesieve.counts import ClassCounts
from bayesieve.counts._texts import LabelledTextCounter, count_texts
from bayesieve.text._options import TextOptions


def count_text(
    texts: Any, codes: Any, n_classes: int, options: TextOptions, **resources: Any
) -> ClassCounts:
    """Count texts of the classes 0, 1, ..."""
    classes = np.arange(n_classes)
    return count_texts(ClassCounts, texts, codes, classes, options, **resources)


def count_batches(
    batches: Any, options: TextOptions | None = None, **settings: Any
) -> ClassCounts:
    """Count batches of (texts, labels) as `ClassCounts.from_text`, also if empty."""
    counter = LabelledTextCounter(ClassCounts, options or TextOptions(), **settings)
    for texts, labels in batches:
        counter.add(texts, labels, "Row {}".format)
    return counter.finish()


def class_indicator(codes: Any, n_classes: int) -> Any:
    codes = np.asarray(codes)
    rows = np.flatnonzero(codes >= 0)
    ones = np.ones(rows.size, dtype=np.int64)
    return sparse.csr_array(
        (ones, (codes[rows], rows)), shape=(n_classes, codes.size), dtype=np.int64
    )


def oracle_counts(
    texts: Any, codes: Any, n_classes: int, options: TextOptions, **more: Any
) -> tuple[list[str], Any, Any]:
    """Return terms, counts and document counts; no terms where the vectorizer fails."""
    keep = np.asarray(codes) >= 0
    texts = [text for text, kept in zip(texts, keep, strict=True) if kept]
    vectorizer = CountVectorizer(**options.vectorizer(**more))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stop words that are no tokens
            X = vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        nothing = np.zeros((n_classes, 0))
        return [], nothing, nothing
    Y = class_indicator(np.asarray(codes)[keep], n_classes)
    present = X.copy()
    present.data[:] = 1
    names = vectorizer.get_feature_names_out().tolist()
    return names, (Y @ X).toarray(), (Y @ present).toarray()


def assert_same_counts(
    counts: Any, texts: Any, codes: Any, options: TextOptions
) -> None:
    names, count, documents = oracle_counts(texts, codes, counts.n_classes, options)
    assert counts.feature_names.tolist() == names
    for table, expected in (
        (counts.feature_count, count),
        (counts.document_count, documents),
    ):
        table = table.toarray() if sparse.issparse(table) else table
        np.testing.assert_array_equal(table, expected)
    codes = np.asarray(codes)
    expected = np.bincount(codes[codes >= 0], minlength=counts.n_classes)
    np.testing.assert_array_equal(counts.class_count, expected)


def oracle_tfidf(
    texts: Any, codes: Any, n_classes: int, options: TextOptions, **more: Any
) -> Any:
    keep = np.asarray(codes) >= 0
    texts = [text for text, kept in zip(texts, keep, strict=True) if kept]
    X = TfidfVectorizer(**options.vectorizer(**more)).fit_transform(texts)
    return (class_indicator(np.asarray(codes)[keep], n_classes) @ X).toarray()


# Characters whose treatment differs between tools: sigmas and what a sigma looks past,
# the dotted capital I, ligatures, digits of other scripts, number forms, marks, spaces
# of every kind, separators, NUL, lone surrogates, and plain letters to tie them.
CORNERS = (
    "aAbBzZ09_ ,.-'\t\n\r\x00\x0b\x1c\x1f\x85\xa0\xad"
    "ΣσςΑάΆ\u0345\u0307\u0301\u0308:·’"
    "İıiIßẞﬁŐéÉèñçåÅÅøÆæ½²₂Ⅷⅷᾳᾼ"
    "\u1680\u2003\u2028\u200b\u200d\u3000\ufeff"
    "中文字分詞ひらカタガ가각한\u1100\u1161"
    "٠١٢०१ไทยהעबि\u094d\u0e34"
    "\U0001d400\U0001d7d8\U0001f600\U00010400\U00010428\U0001e900\U0001e922"
    "\ud800\udfff\ufffd\uffff\U0010ffff"
)


def fuzzed_texts(n: int, seed: int, longest: int = 39) -> list[str]:
    """Return short texts of corners, letters and any character at all."""
    rng = np.random.default_rng(seed)
    corners = np.array(list(CORNERS))
    letters = np.array(list("abcdeABCDE    "))
    texts = []
    for length, mix in zip(
        rng.integers(0, longest + 1, n), rng.random((n, 2)), strict=True
    ):
        kind = rng.random(length)
        any_code = rng.integers(0, 0x110000, length)
        low_code = rng.integers(0, 0x600, length)
        pick = np.where(
            kind < mix[0],
            letters[rng.integers(0, letters.size, length)],
            corners[rng.integers(0, corners.size, length)],
        ).tolist()
        for i in np.flatnonzero(kind > 1 - 0.2 * mix[1]):
            pick[i] = chr(any_code[i] if i % 2 else low_code[i])
        texts.append("".join(pick))
    return texts
