"""Experiment 4: lists and weights on made reviews, and the page against its JSON."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB
from tests.studies.study_modules import STUDIES, load, read_parts

from bayesieve import SparseMultinomialNB

ROOT = Path(__file__).resolve().parents[2]
RESULTS = STUDIES / "results" / "nine_words"


@pytest.fixture(scope="module")
def study():
    return load("nine_words")


@pytest.fixture(scope="module")
def tables():
    return load("nine_words_tables")


@pytest.fixture(scope="module")
def reviews(study, tables):
    """Made counts over the words of Table 4, some stop words and some others."""
    rng = np.random.default_rng(4)
    words = [*tables.TABLE_4, "the", "and", "t", *(f"word{i}" for i in range(20))]
    tilt = np.array([*tables.TABLE_4.values(), 0.0, 0.2, -0.1, *np.zeros(20)])
    y = np.repeat([0, 1], 300)
    sides = []
    for _ in range(2):
        rate = 0.3 * np.exp(np.where(y[:, None] == 1, 0.5, -0.5) * tilt)
        sides.append(sparse.csr_matrix(rng.poisson(rate).astype(float)))
    return study.Rows(sides[0], y, sides[1], y, np.array(words))


def test_accuracy_is_that_of_the_sparse_classifier(study, reviews):
    model = SparseMultinomialNB(k=9).fit(reviews.X, reviews.y)
    support = model.support_indices_
    found = study.scored(reviews, reviews.class_sums() + 1.0, support)
    expected = model.score(reviews.X_test, reviews.y_test)
    assert found["accuracy"] == pytest.approx(expected)
    plain = MultinomialNB().fit(reviews.X[:, support], reviews.y)
    log_theta = plain.feature_log_prob_
    weights = dict(
        zip(reviews.names[support], log_theta[1] - log_theta[0], strict=True)
    )
    for word, weight in zip(found["words"], found["weights"], strict=True):
        assert weight == pytest.approx(weights[word], abs=5e-5)
    assert found["weights"] == sorted(found["weights"], reverse=True)
    certificate = model.certificate_
    gain = certificate.objective - certificate.null_objective
    assert found["gain"] == pytest.approx(gain)
    empty = np.asarray(reviews.X_test[:, support].sum(axis=1)).ravel() == 0
    assert found["without"] == pytest.approx(empty.mean())


def test_a_review_without_any_word_counts_as_negative(study, tables):
    X = sparse.csr_matrix([[2.0, 1.0], [1.0, 2.0]])
    y = np.array([0, 1])
    blank = sparse.csr_matrix((2, 2))
    rows = study.Rows(X, y, blank, y, np.array(["a", "b"]))
    assert study.accuracy(rows, np.array([0, 1]), np.array([-1.0, 1.0])) == 0.5


def test_every_list_has_nine_words_and_none_gains_more_than_the_optimum(study, reviews):
    unit = study.lists(reviews, None)
    assert set(unit["lists"]) == {
        "certified optimum",
        "Table 4",
        "refine=True",
        "SelectiveMultinomialNB",
    }
    best = unit["lists"]["certified optimum"]["gain"]
    for name, one in unit["lists"].items():
        assert len(one["words"]) == 9, name
        assert one["gain"] <= best * (1 + 1e-12), name
    assert unit["is_optimal"]
    assert set(unit["lists"]["Table 4"]["words"]) == set(study.TABLE_4)


def test_stop_words_are_left_out(study, reviews):
    kept = dict(study.choices(reviews))["no stop words"]
    assert {"the", "and"} <= set(reviews.names) - set(kept.names)
    assert {"love", "t", "word0"} <= set(kept.names)
    np.testing.assert_array_equal(
        kept.X[:, list(kept.names).index("love")].toarray(),
        reviews.X[:, list(reviews.names).index("love")].toarray(),
    )


def test_values_are_counts_presence_or_tf_idf(study, reviews):
    assert reviews.with_values("count") is reviews
    assert set(np.unique(reviews.with_values("present").X.toarray())) == {0.0, 1.0}
    rows = reviews.with_values("tf-idf")
    lengths = sparse.linalg.norm(rows.X, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)
    np.testing.assert_array_equal(rows.X_test.indices, reviews.X_test.indices)


def test_a_larger_support_is_looked_through(study, reviews):
    unit = study.larger(reviews, 1.0)
    assert unit["first_k"] is not None
    assert unit["first_k"] >= 9
    assert unit["largest_difference"] < 1.0


def test_agreement_with_table_4_is_by_printed_digits(tables):
    exact = {"words": list(tables.TABLE_4), "weights": list(tables.TABLE_4.values())}
    assert tables.agreement(exact) == (9, 9, 0.0)
    near = {"words": ["love", "best", "other"], "weights": [0.694, 0.73, 5.0]}
    shared, met, worst = tables.agreement(near)
    assert (shared, met) == (2, 1)
    assert worst == pytest.approx(0.01)
    shared, met, worst = tables.agreement({"words": ["other"], "weights": [1.0]})
    assert (shared, met) == (0, 0)
    assert math.isnan(worst)


def test_runs_of_numbers_become_ranges(tables):
    assert tables.ranges([9, 11, 12, 13, 20]) == "9, 11 to 13, 20"


def test_units_that_are_there_are_not_done_again(study, tmp_path):
    store = study.Ledger(tmp_path, "made", study="made")
    todo = study.units_of("default, all words", store)
    assert len(todo) == 2 + len(study.VALUES) * len(study.ALPHAS)
    store.put(todo[0], {"words": ["a"]})
    again = study.Ledger(tmp_path, "made", study="made")
    assert study.units_of("default, all words", again) == todo[1:]
    with pytest.raises(SystemExit, match="was written with study"):
        study.Ledger(tmp_path, "made", study="another")


def test_table_4_is_the_published_code_without_stop_words(tables):
    units = read_parts(RESULTS)["nine_words"]["rows"]
    unit = units["search: one letter, no stop words, count, 0"]
    assert tables.agreement(unit["published code"])[:2] == (9, 9)
    assert unit["published code"]["accuracy"] == pytest.approx(0.702, abs=5e-4)
    assert unit["certified optimum"]["gain"] > unit["published code"]["gain"]


@pytest.mark.slow
def test_the_optimum_without_stop_words_is_found_again(study, real_data):
    real_data("imdb")
    stored = read_parts(RESULTS)["nine_words"]["rows"]
    expected = stored["search: one letter, no stop words, count, 0"]
    rows = dict(study.choices(study.counted("one letter", None)))["no stop words"]
    found = study.search(rows, None, 0.0)["certified optimum"]
    assert found["words"] == expected["certified optimum"]["words"]
    assert found["gain"] == pytest.approx(expected["certified optimum"]["gain"])
