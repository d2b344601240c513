"""The penalty of n-grams beside columns, chosen on rows that were not fitted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive_bayes.text_tables import reviews

from bayesieve.model_selection._text_penalty import choose_text_penalty, even_folds
from bayesieve.naive_bayes._text_terms import TextTable, text_rule
from bayesieve.weights._result import Progress, _Stop


def table(n_rows=500, **kind):
    frame, y = reviews(n_rows, **kind)
    classes, codes = np.unique(y, return_inverse=True)
    texts = frame["review"].tolist()
    parts = (frame["price"].to_numpy() > 0.5).astype(np.uint8)[:, None]
    return TextTable(
        parts,
        [2],
        [texts],
        [text_rule({}, texts)],
        codes.astype(np.int32),
        None,
        classes,
        None,
        "SelectiveNB",
    )


@pytest.mark.parametrize("n_rows", [7, 100, 19_999])
def test_folds_hold_every_row_once_and_classes_evenly(n_rows):
    codes = np.arange(n_rows) % 3
    folds = even_folds(codes)
    assert len(folds) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(n_rows))
    if n_rows >= 100:
        for fold in folds:
            counts = np.bincount(codes[fold], minlength=3)
            assert np.ptp(counts) <= 2
    again = even_folds(codes)
    assert all(np.array_equal(a, b) for a, b in zip(folds, again, strict=True))


def test_many_rows_have_one_fold_of_a_fifth():
    (fold,) = even_folds(np.arange(20_000) % 2)
    assert fold.size == 4000


def test_tables_and_ngrams_of_a_fold_are_those_of_its_training_rows():
    whole = table(300)
    part = whole.take(np.arange(0, 300, 2))
    counts = np.zeros((2, 2))
    np.add.at(counts, (part.parts[:, 0], part.codes), 1.0)
    eps = 1.0 / 151.0
    expected = np.log((counts + eps) / (part.class_count + 2 * eps))
    np.testing.assert_allclose(part.tables()[0], expected)
    words = sum(len(t.split()) - t.split().count("a") for t in part.texts[0])
    assert part.ngrams()[0].totals.sum() == words


def test_texts_that_tell_have_a_smaller_penalty_than_noise():
    told = table(500).chosen_penalty(np.array([1.0]), Progress())
    noise = table(500, text=False).chosen_penalty(np.array([1.0]), Progress())
    rows, _ = table(500, text=False).training_rows()
    newton_free = rows.problem(np.ones(rows.n_terms))
    pull = -newton_free.value_gradient(np.zeros(rows.n_terms))[1][1:] + 0.1
    assert told < 5.0
    assert noise > 0.3 * pull.max()


def test_without_time_there_is_no_choice():
    progress = Progress(time_limit=0.0)
    rows, ngrams = table(100).training_rows()
    judged = table(100).rows(rows.tables, ngrams, rows.log_prior)
    found = choose_text_penalty([(rows, judged)], np.array([1.0]), progress, 7.0)
    assert found == 7.0
    assert progress.stopped == "time"
    # Half the logarithm of the rows, as BIC has it.
    few = table(100).chosen_penalty(np.array([1.0]), Progress(time_limit=0.0))
    assert few == pytest.approx(0.5 * np.log(100))


class Ends(Progress):
    """Time is up at a given look at the clock."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def check(self):
        self.looks -= 1
        if self.looks < 0:
            raise _Stop("time")


def test_time_that_is_up_on_the_way_drops_no_ngrams():
    """A path that has just begun knows only that no n-gram is bad, not that none is."""
    own, few = table(500), 0.5 * np.log(500)
    whole = own.chosen_penalty(np.array([1.0]), Progress())
    assert whole < few
    ended = set()
    for looks in range(0, 400, 3):
        progress = Ends(looks)
        found = own.chosen_penalty(np.array([1.0]), progress)
        ended.add(progress.stopped)
        assert found <= few
    assert ended == {"time", "converged"}


def test_too_few_rows_for_folds():
    assert table(4).chosen_penalty(np.array([1.0]), Progress()) == pytest.approx(
        0.5 * np.log(4)
    )
