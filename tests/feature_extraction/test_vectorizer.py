"""`to_vectorizer` against vectorizers fitted on the texts with the same vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from bayesieve import (
    ClassCounts,
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseMultinomialNB,
    SparseTextNB,
    to_vectorizer,
)

TEXTS = [
    "A good, good film; the plot is fine.",
    "Good plot and a fine cast: not bad!",
    "The worst film of the year, a bad plot.",
    "Bad, bad cast. Not a good film",
    "Café déjà vu: naïve plot, fine film",
    "",
]
LABELS = ["pos", "pos", "neg", "neg", "pos", "neg"]
OPTIONS = [
    {},
    {"ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 3)},
    {"stop_words": "english", "lowercase": False, "strip_accents": "unicode"},
    {"token_pattern": r"[a-z]+", "binary": True},
]
CLASSES = {"count": CountVectorizer, "tfidf": TfidfVectorizer}


def named_counts(binary=False, **options):
    vectorizer = CountVectorizer(**options)
    X = vectorizer.fit_transform(TEXTS)
    names = vectorizer.get_feature_names_out()
    return ClassCounts.from_matrix(X, LABELS, binary=binary, feature_names=names)


@pytest.mark.parametrize("kind", ["count", "tfidf"])
@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equals_a_vectorizer_fitted_on_the_texts(kind, model, options):
    selection = SparseTextNB(5, model=model, **options).fit(TEXTS, LABELS)
    ours = to_vectorizer(selection, kind)
    check_is_fitted(ours, "vocabulary_")
    binary = model == "bernoulli" or options.get("binary", False)
    theirs = CLASSES[kind](
        vocabulary=selection.support_terms_, **{**options, "binary": binary}
    ).fit(TEXTS)
    assert type(ours) is CLASSES[kind]
    assert ours.get_feature_names_out().tolist() == selection.support_terms_
    assert ours.vocabulary_ == theirs.vocabulary_
    found, expected = ours.transform(TEXTS), theirs.transform(TEXTS)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-14)
    assert found.toarray().any(axis=0).all()
    if kind == "tfidf":
        np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)


@pytest.mark.parametrize(
    "parameters",
    [
        {"norm": None},
        {"norm": "l1", "sublinear_tf": True},
        {"smooth_idf": False},
        {"use_idf": False},
        {"dtype": np.float32},
    ],
    ids=str,
)
def test_parameters_of_the_vectorizer(parameters):
    selection = SparseTextNB(5).fit(TEXTS, LABELS)
    ours = to_vectorizer(selection, "tfidf", **parameters)
    theirs = TfidfVectorizer(vocabulary=selection.support_terms_, **parameters)
    expected = theirs.fit_transform(TEXTS)
    found = ours.transform(TEXTS)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-6)


def test_columns_are_those_of_the_selection():
    model = SparseTextNB(4, ngram_range=(1, 2)).fit(TEXTS, LABELS)
    X = to_vectorizer(model).transform(TEXTS)
    joint = X @ model.feature_log_prob_.T + model.class_log_prior_
    np.testing.assert_allclose(joint, model.predict_joint_log_proba(TEXTS))


@pytest.mark.parametrize(
    "selector", [NaiveFeatureSelector(4), SparseMultinomialNB(4), SparseBernoulliNB(4)]
)
def test_estimators_fitted_on_named_counts(selector):
    counts = named_counts(binary=isinstance(selector, SparseBernoulliNB))
    selector.fit_counts(counts)
    names = counts.feature_names[selector.support_indices_].tolist()
    ours = to_vectorizer(selector)
    assert ours.get_feature_names_out().tolist() == names
    X = CountVectorizer(vocabulary=names).transform(TEXTS)
    np.testing.assert_array_equal(ours.transform(TEXTS).toarray(), X.toarray())
    with pytest.raises(ValueError, match="needs document_count for the idf"):
        to_vectorizer(selector, "tfidf")
    documents = np.asarray((X > 0).sum(axis=0)).ravel()
    ours = to_vectorizer(
        selector, "tfidf", document_count=documents, n_documents=len(TEXTS)
    )
    theirs = TfidfVectorizer(vocabulary=names).fit(TEXTS)
    np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)


def test_counts_of_documents_are_taken_where_they_were_kept():
    selector = SparseBernoulliNB(4, keep_counts=True).fit_counts(named_counts(True))
    ours = to_vectorizer(selector, "tfidf")
    names = ours.get_feature_names_out()
    theirs = TfidfVectorizer(vocabulary=names).fit(TEXTS)
    np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)


def test_counts_of_texts_know_their_documents():
    counts = ClassCounts.from_text([(TEXTS, LABELS)], ngram_range=(1, 2))
    selector = NaiveFeatureSelector(4, keep_counts=True).fit_counts(counts)
    ours = to_vectorizer(selector, "tfidf", ngram_range=(1, 2))
    names = ours.get_feature_names_out()
    theirs = TfidfVectorizer(vocabulary=names, ngram_range=(1, 2)).fit(TEXTS)
    np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)
    selected = counts.select(selector.support_indices_)
    again = to_vectorizer(selected, "tfidf", ngram_range=(1, 2))
    np.testing.assert_array_equal(again.idf_, ours.idf_)


def test_counts_and_plain_terms_in_any_order():
    counts = named_counts(binary=True).select([5, 2, 9])
    names = counts.feature_names.tolist()
    theirs = TfidfVectorizer(vocabulary=names).fit(TEXTS)
    documents = counts.feature_count.sum(axis=0)
    for ours in (
        to_vectorizer(counts, "tfidf"),
        to_vectorizer(names, "tfidf", document_count=documents, n_documents=6),
    ):
        assert ours.get_feature_names_out().tolist() == names
        np.testing.assert_allclose(
            ours.transform(TEXTS).toarray(), theirs.transform(TEXTS).toarray()
        )


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["good film"], {}),
        (["Good"], {}),
        (["a"], {}),
        (["good"], {"ngram_range": (2, 2)}),
        (["good"], {"analyzer": "char"}),
        (["the"], {"stop_words": "english"}),
    ],
)
def test_terms_the_vectorizer_cannot_find_are_refused(names, options):
    with pytest.raises(ValueError, match=rf"term '{names[0]}' cannot be found"):
        to_vectorizer(names, **options)


@pytest.mark.parametrize(
    ("names", "options", "text"),
    [
        (["good film"], {"ngram_range": (1, 2)}, "good film"),
        (["Good"], {"lowercase": False}, "Good"),
        (["a"], {"token_pattern": r"\w+"}, "a b"),
        ([" a", "ab", "b "], {"analyzer": "char_wb", "ngram_range": (2, 2)}, "ab"),
        (["b c"], {"analyzer": "char", "ngram_range": (3, 3)}, "b c"),
        (
            ["good film"],
            {"tokenizer": str.splitlines, "token_pattern": None},
            "good film",
        ),
    ],
)
def test_terms_of_every_kind_of_vectorizer_pass(names, options, text):
    found = to_vectorizer(names, **options).transform([text])
    assert found.toarray().tolist() == [[1] * len(names)]


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "message"),
    [
        ((["good"], "hash"), {}, ValueError, "'count' or 'tfidf'. Got 'hash'"),
        ((["good"],), {"vocabulary": ["bad"]}, ValueError, "from the selection"),
        (([],), {}, ValueError, "at least one selected term"),
        ((["good", "good"],), {}, ValueError, "distinct terms"),
        (("good",), {}, TypeError, "Got str"),
        ((5,), {}, TypeError, "Got int"),
        ((["good", 5],), {}, TypeError, "Got int 5"),
        ((SparseTextNB(),), {}, NotFittedError, "Got a SparseTextNB without support_"),
        (
            (ClassCounts.from_matrix([[1], [2]], [0, 1]),),
            {},
            ValueError,
            "counts without names",
        ),
        (
            (SparseMultinomialNB(2).fit(np.eye(2), [0, 1]),),
            {},
            ValueError,
            "SparseMultinomialNB fitted without names",
        ),
        (
            (["good"], "tfidf"),
            {"document_count": [1]},
            ValueError,
            "needs n_documents for the idf",
        ),
        (
            (["good"], "tfidf"),
            {"document_count": [1, 2], "n_documents": 3},
            ValueError,
            r"one number for each of the 1 selected terms. Got shape \(2,\)",
        ),
        (
            (["good"], "tfidf"),
            {"document_count": [4], "n_documents": 3},
            ValueError,
            "between 0 and n_documents. Got 4 to 4 of 3",
        ),
    ],
)
def test_what_cannot_be_done_is_said(arguments, keywords, error, message):
    with pytest.raises(error, match=message):
        to_vectorizer(*arguments, **keywords)
