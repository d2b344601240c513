"""Texts in all their containers give the same counts; bytes are decoded as asked."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.text_oracle import assert_same_counts, count_text, fuzzed_texts

from bayesieve.text._counter import TextCounter
from bayesieve.text._options import TextOptions

OPTIONS = TextOptions(ngram_range=(1, 2))
# Without lone surrogates, which neither Arrow nor bytes can hold.
TEXTS = [text.encode("utf-8", "ignore").decode() for text in fuzzed_texts(400, seed=1)]
CODES = np.random.default_rng(1).integers(-1, 2, len(TEXTS))


def containers():
    yield "list", TEXTS
    yield "tuple", tuple(TEXTS)
    yield "generator", iter(TEXTS)
    yield "bytes", [text.encode() for text in TEXTS]
    yield "object array", np.array(TEXTS, dtype=object)
    yield "str array", np.array([text.replace("\x00", "") for text in TEXTS])


@pytest.mark.parametrize(
    ("kind", "texts"), list(containers()), ids=lambda p: str(p)[:12]
)
def test_python_containers(kind, texts):
    expected = [t.replace("\x00", "") for t in TEXTS] if kind == "str array" else TEXTS
    assert_same_counts(count_text(texts, CODES, 2, OPTIONS), expected, CODES, OPTIONS)


@pytest.mark.parametrize(
    "kind",
    ["string", "large_string", "binary", "large_binary", "string_view", "binary_view"],
)
@pytest.mark.parametrize("custom", [False, True])
def test_arrow_arrays(kind, custom):
    pa = pytest.importorskip("pyarrow")
    options = TextOptions(token_pattern=r"\S+") if custom else OPTIONS
    values = [t.encode() for t in TEXTS] if "binary" in kind else TEXTS
    array = pa.array(values, type=getattr(pa, kind)())
    assert_same_counts(count_text(array, CODES, 2, options), TEXTS, CODES, options)
    # A slice begins in the middle of its buffers.
    part = count_text(array[37:200], CODES[37:200], 2, options)
    assert_same_counts(part, TEXTS[37:200], CODES[37:200], options)
    chunks = pa.chunked_array([array[:100], array[100:100], array[100:]])
    assert_same_counts(count_text(chunks, CODES, 2, options), TEXTS, CODES, options)


def test_arrow_dictionary_and_empty():
    pa = pytest.importorskip("pyarrow")
    array = pa.array(["aa", "bb", "aa"]).dictionary_encode()
    counts = count_text(array, [0, 0, 0], 1, TextOptions())
    assert counts.feature_count.tolist() == [[2, 1]]
    empty = pa.chunked_array([], type=pa.string())
    assert len(count_text(empty, [], 1, TextOptions()).feature_names) == 0
    with pytest.raises(TypeError, match="Got Arrow type int64"):
        count_text(pa.array([1]), [0], 1, TextOptions())


def test_missing_texts():
    pa = pytest.importorskip("pyarrow")
    array = pa.chunked_array([["aa"], ["bb", None, "cc"]])
    with pytest.raises(ValueError, match="Got a missing one, row 2"):
        count_text(array, [0, 0, 0, 0], 1, TextOptions())
    counts = count_text(array, [0, 0, -1, 0], 1, TextOptions())
    assert counts.feature_names.tolist() == ["aa", "bb", "cc"]
    nothing = pa.nulls(2, pa.string())
    assert len(count_text(nothing, [-1, -1], 1, TextOptions()).feature_names) == 0
    assert len(count_text([None, 3], [-1, -1], 1, TextOptions()).feature_names) == 0


def test_series():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    for series in (pd.Series(TEXTS), pd.Series(TEXTS, dtype=object), pl.Series(TEXTS)):
        counts = count_text(series, CODES, 2, OPTIONS)
        assert_same_counts(counts, TEXTS, CODES, OPTIONS)


BROKEN = [
    b"good one",
    b"bad \xff\xfe byte\xe2\x82",
    b"\xed\xa0\x80 aa",
    b"ok \xc3\xa9t",
]


@pytest.mark.parametrize("arrow", [False, True])
def test_invalid_utf8(arrow):
    texts = BROKEN
    if arrow:
        texts = pytest.importorskip("pyarrow").array(BROKEN)
    codes = [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"valid UTF-8\. Got other bytes in row 1"):
        count_text(texts, codes, 2, OPTIONS)
    for errors in ("ignore", "replace"):
        counts = count_text(texts, codes, 2, OPTIONS, decode_error=errors)
        decoded = [text.decode("utf-8", errors) for text in BROKEN]
        assert_same_counts(counts, decoded, codes, OPTIONS)
    left_out = [0, -1, -1, 1]
    counts = count_text(texts, left_out, 2, OPTIONS)
    assert_same_counts(counts, ["good one", "", "", "ok ét"], left_out, OPTIONS)


def test_the_row_of_an_error_is_that_of_the_batch():
    counter = TextCounter(OPTIONS, 1)
    texts = [b"fine"] * 70_000
    texts[69_000] = b"\xff"
    with pytest.raises(ValueError, match="row 69000"):
        counter.add(texts, np.zeros(len(texts), dtype=int))


def test_the_strings_of_the_caller_are_left_as_they_were():
    """Asking a str for its UTF-8 would keep a copy inside it."""
    import sys

    texts = ["é" * 1000 + str(i) for i in range(10)]
    before = [sys.getsizeof(text) for text in texts]
    count_text(texts, np.zeros(10, dtype=int), 1, OPTIONS)
    assert [sys.getsizeof(text) for text in texts] == before
