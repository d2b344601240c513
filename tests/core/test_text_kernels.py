"""Packed strings: each kernel against a line of Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesieve import _core
from bayesieve.text._term_names import pack

NO_CODES = np.empty(0, dtype=np.int32)
STRINGS = st.lists(st.text(max_size=6))


def unpack(data, offsets):
    blob, ends = data.tobytes(), offsets.tolist()
    return [blob[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]


@given(texts=st.lists(st.one_of(st.text(max_size=8), st.binary(max_size=8))))
def test_pack(texts):
    data, offsets, raw = _core.pack_texts(texts, NO_CODES)
    parts = [t if isinstance(t, bytes) else t.encode() for t in texts]
    assert data.tobytes() == b"".join(parts)
    np.testing.assert_array_equal(np.diff(offsets), [len(part) for part in parts])
    assert raw == any(isinstance(t, bytes) for t in texts)


def test_pack_takes_surrogates_and_leaves_rows_out():
    data, offsets, _ = _core.pack_texts(
        ["\ud800x", None, "y"], np.array([0, -1, 1], dtype=np.int32)
    )
    assert unpack(data, offsets) == ["\ud800x", "", "y"]
    with pytest.raises(TypeError, match="Got NoneType in row 1"):
        _core.pack_texts(["a", None], NO_CODES)
    with pytest.raises(ValueError, match="one code for each text"):
        _core.pack_texts(["a"], np.zeros(2, dtype=np.int32))


@given(texts=st.lists(st.binary(max_size=6)))
def test_invalid_rows(texts):
    def refused(text):
        try:
            text.decode()
        except UnicodeDecodeError:
            return True
        return False

    data, offsets, _ = _core.pack_texts(texts, NO_CODES)
    rows = _core.invalid_utf8_rows(data, offsets)
    assert rows.tolist() == [i for i, text in enumerate(texts) if refused(text)]


def test_every_lead_and_second_byte_is_judged_as_python_does():
    tails = (b"", b"\x80", b"\x80\x80", b"\x7f\x80", b"\xbf\xbf")
    texts = [
        bytes([first, second]) + tail
        for first in range(0xC0, 0x100)
        for second in range(0x00, 0x100, 5)
        for tail in tails
    ]
    data, offsets, _ = _core.pack_texts(texts, NO_CODES)
    invalid = set(_core.invalid_utf8_rows(data, offsets).tolist())
    for i, text in enumerate(texts):
        try:
            text.decode()
        except UnicodeDecodeError:
            assert i in invalid, text
        else:
            assert i not in invalid, text


@given(a=STRINGS, b=STRINGS)
def test_merge(a, b):
    a, b = sorted(set(a)), sorted(set(b))
    union = sorted({*a, *b})
    data, offsets, own, others = _core.merge_names(*pack(a), *pack(b))
    assert unpack(data, offsets) == union
    assert own.tolist() == [union.index(text) for text in a]
    assert others.tolist() == [union.index(text) for text in b]
    one, two = np.ones((2, len(a))), np.full((2, len(b)), 2.0)
    table = _core.merge_named_tables(one, own, two, others, len(union))
    expected = [(text in a) + 2.0 * (text in b) for text in union]
    np.testing.assert_array_equal(table, [expected, expected])


@given(names=STRINGS, wanted=STRINGS)
def test_find_and_take(names, wanted):
    names = sorted(set(names))
    places = _core.find_names(*pack(names), *pack(wanted))
    expected = [names.index(text) if text in names else -1 for text in wanted]
    assert places.tolist() == expected
    chosen = places[places >= 0]
    taken = _core.take_names(*pack(names), chosen)
    assert unpack(*taken) == [names[i] for i in chosen]


@given(names=STRINGS)
def test_sorted(names):
    expected = all(a < b for a, b in pairwise(names))
    assert _core.names_are_sorted(*pack(names)) == expected


def test_offsets_and_columns_that_lead_outside_are_refused():
    data, offsets = pack(["ab", "cd"])
    for wrong in ([0, 2, 5], [0, 3, 2], [-1, 2, 4], []):
        with pytest.raises(ValueError, match="do not rise"):
            _core.names_are_sorted(data, np.array(wrong, dtype=np.int64))
    with pytest.raises(IndexError, match="outside"):
        _core.take_names(data, offsets, np.array([2]))
    table, wrong = np.ones((1, 1)), np.array([3])
    with pytest.raises(IndexError, match="outside"):
        _core.merge_named_tables(table, wrong, table, np.array([0]), 2)
    with pytest.raises(ValueError, match="do not fit"):
        _core.merge_named_tables(table, np.array([0, 1]), table, np.array([0]), 2)
