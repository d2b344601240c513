"""Smaller scorecards have the scores of those they were made from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.exported import EXPORTED
from tests.export.sql_checks import compare
from tests.persistence.models import examples

from bayesieve._scorecard import (
    UNKNOWN,
    InputColumn,
    Intervals,
    LookupTerm,
    NormalTerms,
    Scorecard,
    Values,
)
from bayesieve.export._dialects import DIALECTS
from bayesieve.export._reduced import MOST_MERGED, contrasted, tables_of
from bayesieve.export._scorecard import read_columns, scorecard_of
from bayesieve.export._sql import _Writer


def card_of(terms, n_classes):
    columns = [InputColumn(f"x{j}", j, "number") for j in range(2)]
    columns.append(InputColumn("x2", 2, "category"))
    labels = np.arange(n_classes)
    return Scorecard(labels, np.zeros(n_classes), tuple(columns), tuple(terms), 3)


@st.composite
def axes(draw, column):
    """Any axis: bounds that others share or not, parts that lie apart, unknown ones."""
    part = st.integers(UNKNOWN, 2)
    if column == 2:
        values = draw(st.lists(st.sampled_from("abcd"), unique=True))
        parts = draw(st.lists(part, min_size=len(values), max_size=len(values)))
        own = np.array(parts, dtype=np.int64)
        return Values(column, tuple(values), own, draw(part), draw(part))
    bounds = sorted(draw(st.sets(st.sampled_from([-1.0, 0.0, 0.5, 2.0]))))
    n = len(bounds) + 1
    parts = np.array(draw(st.lists(part, min_size=n, max_size=n)))
    return Intervals(column, np.array(bounds), parts, draw(part))


@st.composite
def lookups(draw, n_classes):
    columns = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    table = rng.normal(size=(*[3] * len(columns), n_classes))
    own = tuple(draw(axes(column)) for column in columns)
    return LookupTerm(own, table, rng.normal(size=n_classes))


ROWS = [
    np.array([np.nan, -2.0, -1.0, -0.5, 0.0, 0.2, 0.5, 1.0, 2.0, 3.0, np.nan, 0.0]),
    np.array([0.0, 3.0, 2.0, np.nan, 0.5, 0.5, -1.0, -3.0, 0.1, 0.0, np.nan, 2.0]),
    ["a", "b", None, "new", "c", "d", "a", "new", "b", None, None, "c"],
]


def sums(card, columns, n_rows):
    """Scores by the merged tables alone."""
    cells, tables = tables_of(card)
    found = np.tile(card.start, (n_rows, 1))
    for table in tables:
        place = []
        for column, places in zip(table.columns, table.places, strict=True):
            own, values = cells[column], columns[column]
            if own.bounds is None:
                known = {value: n for n, value in enumerate(own.values)}
                at = [
                    len(places) - 1 if v is None else known.get(v, len(own.values))
                    for v in values
                ]
            else:
                at = np.searchsorted(own.bounds, values, side="left")
                at = np.where(np.isnan(values), len(places) - 1, at)
            place.append(places[at])
        found += table.values[tuple(place)]
    return found, tables


@given(st.data(), st.sampled_from([2, 3]))
def test_merged_tables_have_the_scores_of_their_terms(data, n_classes):
    terms = data.draw(st.lists(lookups(n_classes), min_size=1, max_size=5))
    card = card_of(terms, n_classes)
    found, tables = sums(card, ROWS, 12)
    np.testing.assert_allclose(found, card.joint(ROWS, 12), rtol=0, atol=1e-12)
    # Small ones go into each other: none looks at columns that another looks at.
    columns = [set(own.columns) for own in tables]
    assert not any(a <= b for a in columns for b in columns if a is not b)


def test_large_tables_are_not_made_larger():
    rng = np.random.default_rng(0)
    fine = np.arange(100.0)
    halves = [Intervals(j, fine[50:51], np.arange(2), 0) for j in range(2)]
    terms = [LookupTerm(tuple(halves), rng.normal(size=(2, 2, 2)), np.zeros(2))]
    for j in range(2):
        own = Intervals(j, fine, np.arange(101), 0)
        terms.append(LookupTerm((own,), rng.normal(size=(101, 2)), np.zeros(2)))
    _, tables = tables_of(card_of(terms, 2))
    sizes = [own.size for own in tables]
    assert max(sizes) <= MOST_MERGED
    assert sum(sizes) < 101 * 101


@pytest.mark.parametrize("name", EXPORTED)
def test_the_difference_of_two_scores(name):
    model, X = examples()[name]
    card = scorecard_of(model)
    own = contrasted(card)
    if card.n_classes > 2:
        assert own is card
        return
    columns, n_rows = read_columns(card, X)
    joint = card.joint(columns, n_rows)
    if own is card:
        assert any(isinstance(term, NormalTerms) for term in card.terms)
        return
    found = own.joint(columns, n_rows)
    np.testing.assert_allclose(found, np.diff(joint), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_in_more_tables_than_a_word_holds(n_classes, engine):
    """Ten bits for each of the nine tables: more than an integer has."""
    rng = np.random.default_rng(0)
    n, n_others = 40, 9
    columns = rng.normal(size=(1 + n_others, 300))
    columns[rng.random(columns.shape) < 0.1] = np.nan
    bounds = [np.sort(rng.choice(own[~np.isnan(own)], n - 1)) for own in columns]
    terms = []
    for j in range(1, 1 + n_others):
        first = Intervals(0, bounds[0], rng.permutation(n), 3)
        second = Intervals(j, bounds[j], rng.permutation(n), 5)
        table = rng.normal(size=(n, n, n_classes))
        terms.append(LookupTerm((first, second), table, np.zeros(n_classes)))
    names = [f"x{j}" for j in range(1 + n_others)]
    inputs = tuple(InputColumn(own, j, "number") for j, own in enumerate(names))
    labels = np.arange(n_classes)
    card = Scorecard(labels, np.zeros(n_classes), inputs, tuple(terms), 1 + n_others)

    X = pd.DataFrame(columns.T, columns=names).assign(position=range(300))
    dialect = DIALECTS[engine.dialect]
    written = _Writer(
        contrasted(card), dialect, '"rows"', "position", "prediction", "p"
    ).of_rows(None, None)
    assert "bayesieve_word_1" in written
    _, found = engine.query(written, X)
    joint = card.joint(columns, 300)
    compare(found, card.predict(joint), card.probabilities(joint), labels)


def test_what_is_impossible_has_no_difference():
    term = LookupTerm(
        (Values(2, ("a",), np.array([0]), 0, 1),),
        np.array([[0.0, -np.inf], [0.0, 0.0]]),
        np.zeros(2),
    )
    card = card_of([term], 2)
    assert contrasted(card) is card
    plain = replace(term, table=np.zeros((2, 2)))
    assert contrasted(card_of([plain], 2)).start.size == 1
    never = replace(card_of([plain], 2), start=np.array([0.0, -np.inf]))
    assert contrasted(never) is never
