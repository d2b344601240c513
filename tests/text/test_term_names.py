"""Packed names behave as a list of strings does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesieve.text._term_names import TermNames

WORDS = sorted(["", "a", "a b", "é", "中文", "\U0001f600", "\ud800", "zz"])


def test_as_a_list():
    names = TermNames.from_strings(WORDS)
    assert len(names) == len(WORDS)
    assert names.tolist() == list(names) == WORDS
    assert [names[i] for i in range(-len(WORDS), len(WORDS))] == WORDS + WORDS
    assert names[np.int64(1)] == WORDS[1]
    for position in (len(WORDS), -len(WORDS) - 1):
        with pytest.raises(IndexError, match=f"Got position {position}"):
            names[position]
    assert names.to_numpy().dtype == object
    assert np.asarray(names).tolist() == WORDS
    assert np.asarray(TermNames.from_strings(["b"]), dtype=str).dtype == "<U1"
    assert names.nbytes == names.data.nbytes + names.offsets.nbytes
    assert "8: " in repr(names)
    assert repr(names[:1]) == "TermNames(1: '')"
    with pytest.raises(ValueError, match="without a copy"):
        names.__array__(copy=False)
    with pytest.raises(TypeError, match="Names must be str"):
        TermNames.from_strings([b"a"])


@given(
    first=st.integers(-10, 10) | st.none(),
    last=st.integers(-10, 10) | st.none(),
    step=st.sampled_from([None, 1, 2, -1]),
)
def test_slices(first, last, step):
    part = TermNames.from_strings(WORDS)[first:last:step]
    assert part.tolist() == WORDS[first:last:step]
    assert pickle.loads(pickle.dumps(part)) == part


def test_arrays_masks_and_parts_of_parts():
    names = TermNames.from_strings(WORDS)
    assert names[[3, 1]].tolist() == [WORDS[3], WORDS[1]]
    assert names[np.array([], dtype=int)].tolist() == []
    mask = np.arange(len(WORDS)) % 2 == 0
    assert names[mask].tolist() == WORDS[::2]
    assert names[2:7][1:3].tolist() == WORDS[3:5]
    assert names[2:7] == TermNames.from_strings(WORDS[2:7])
    assert names[2:7] != names[2:6]
    assert names != WORDS


def test_index_of():
    names = TermNames.from_strings(WORDS)
    assert names.index_of(["zz", "no", ""]).tolist() == [WORDS.index("zz"), -1, 0]
    assert names[2:].index_of(WORDS).tolist() == [-1, -1, *range(len(WORDS) - 2)]
    backwards = names[::-1]
    assert not backwards.is_sorted
    assert backwards.index_of(["", "no"]).tolist() == [len(WORDS) - 1, -1]
    with pytest.raises(ValueError, match="in another order"):
        names.merged(backwards)


def test_a_pickle_of_a_part_holds_only_the_part():
    names = TermNames.from_strings([f"{i:06}" for i in range(10_000)])
    assert len(pickle.dumps(names[5000:5003])) < 1000
