"""Columns of candidates: equal ones are found, near ones are not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bayesieve.weights._candidate_columns import first_of_equals


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=4, max_size=4),
        min_size=1,
        max_size=25,
    )
)
def test_the_first_of_equal_columns_stays(columns):
    block = sparse.csc_array(np.array(columns).T)
    seen, expected = set(), []
    for j, column in enumerate(columns):
        if tuple(column) not in seen:
            expected.append(j)
        seen.add(tuple(column))
    assert first_of_equals(block).tolist() == expected


def test_no_columns_at_all():
    assert first_of_equals(sparse.csc_array((5, 0))).size == 0
