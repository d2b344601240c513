"""Plans for Dask and Spark: adding in any number, cutting by terms and joining."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.text_oracle import count_batches

from bayesieve.counts import ClassCounts, _layout
from bayesieve.counts._distributed import (
    TextPlan,
    cut_by_term,
    join_groups,
    make_plan,
    term_groups,
)
from bayesieve.counts._merge import add
from bayesieve.engines._adding import merged
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames

GROUPS = [0, 704, 220, 44, 661, 984, 396]
TEXTS = st.lists(
    st.tuples(st.text("abc é中 ", max_size=20), st.sampled_from("xyz")), min_size=1
)


def counted(rows):
    texts, labels = zip(*rows, strict=True)
    return count_batches(
        [(list(texts), list(labels))], TextOptions(token_pattern=r"(?u)\b\w+\b")
    )


@given(st.lists(st.text(max_size=20), unique=True), st.integers(1, 300))
@settings(deadline=None)
def test_a_term_has_one_group_wherever_it_stands(terms, n_groups):
    names = TermNames.from_strings(sorted(terms))
    groups = term_groups(names, n_groups)
    assert len(groups) == len(terms)
    assert (groups < n_groups).all()
    for i, term in enumerate(sorted(terms)):
        (alone,) = term_groups(TermNames.from_strings([term]), n_groups)
        assert alone == groups[i]


def test_a_group_is_fixed_for_all_machines():
    # Workers of different versions must agree: these are the values of the first one.
    terms = ["", "a", "seven77", "eight888", "nine99999", "a longer bigram", "中文字"]
    names = TermNames.from_strings(terms)
    assert term_groups(names, 1000).tolist() == GROUPS


def test_groups_are_even():
    names = TermNames.from_strings(
        sorted(f"word{i} word{i % 97}" for i in range(50_000))
    )
    sizes = np.bincount(term_groups(names, 20), minlength=20)
    assert sizes.min() > 0.9 * sizes.mean()
    assert sizes.max() < 1.1 * sizes.mean()


@given(TEXTS, st.integers(1, 9))
@settings(deadline=None)
def test_cutting_and_joining_is_nothing(rows, n_groups):
    counts = counted(rows)
    groups = cut_by_term(counts, n_groups)
    assert len(groups) == n_groups
    for parts in groups:
        assert np.array_equal(parts.class_count, counts.class_count)
        assert parts.feature_names.is_sorted
    assert join_groups(groups) == counts


def test_cutting_sparse_tables(monkeypatch):
    rows = [(f"term{i % 50} other{i % 7}", f"class{i % 5}") for i in range(200)]
    monkeypatch.setattr(_layout, "DENSE_CELLS", 10)
    counts = counted(rows)
    assert not isinstance(counts.feature_count, np.ndarray)
    groups = pickle.loads(pickle.dumps(cut_by_term(counts, 4)))
    assert join_groups(groups) == counts


@given(st.lists(TEXTS, min_size=1, max_size=12))
@settings(deadline=None, max_examples=40)
def test_any_number_of_tables_adds_up(parts):
    tables = [counted(rows) for rows in parts]
    whole = counted([row for rows in parts for row in rows])
    assert merged(add, [None, *tables, None]) == whole


def test_a_plan_travels():
    plan = make_plan(
        ClassCounts,
        True,
        stop_words="english",
        min_df=2,
        max_df=0.5,
        max_features=7,
        n_groups=3,
    )
    assert isinstance(plan, TextPlan)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert "the" in plan.options.stop_words


def test_a_partition_without_rows_has_no_counts():
    for plan in (
        make_plan(ClassCounts, True, min_df=1, max_df=1.0, max_features=None),
    ):
        assert plan.count([]) is None
        assert plan.count([([], []), ([], [])]) is None
    assert make_plan(ClassCounts, False).count([(np.empty((0, 3)), [])]) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_groups": 1 << 17}, "'n_groups' must be an int >= 1 and <= 65536"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be an int other than 0"),
        ({"max_df": 2.5}, "max_df"),
        ({"min_df": 0.5, "max_df": 0.1}, "must not be below min_df"),
        ({"max_features": 0}, "max_features"),
        ({"stop_words": "latin"}, "'english'"),
        ({"kind": "moments"}, "'kind' parameter is for features"),
        ({"binarize": 2}, "'binarize' parameter is for features"),
    ],
)
def test_wrong_plans_are_refused_before_any_work(options, message):
    with pytest.raises(ValueError, match=message):
        make_plan(ClassCounts, True, **options)
