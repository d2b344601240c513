"""SparseTextNB against CountVectorizer followed by the classifiers on matrices."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from bayesieve import (
    ClassCounts,
    SparseBernoulliNB,
    SparseMultinomialNB,
    SparseTextNB,
)
from bayesieve.exceptions import FewFeaturesWarning

TEXTS = [
    "A good, good film; the plot is fine.",
    "Good plot and a fine cast: not bad!",
    "The worst film of the year, a bad plot.",
    "Bad, bad cast. Not a good film",
    "Café déjà vu: naïve plot, fine film",
    "",
]
LABELS = ["pos", "pos", "neg", "neg", "pos", "neg"]
# Words of every frequency, so that no two gains tie, with capitals and accents.
WORDS = np.array(
    ["Good", "bad", "film", "plot", "café", "naïve", "the", "Not", "x", "y2k", "Ünder"]
)


def random_texts(n_texts=200, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(WORDS.size, 0.8), size=n_classes)
    y = rng.integers(0, n_classes, n_texts)
    texts = [
        " ".join(rng.choice(WORDS, rng.integers(0, 15), p=share[label])) for label in y
    ]
    return texts, np.array(["a", "b", "c", "d"])[y]


def reference(model, texts, y, k, vectorizer=None, **parameters):
    """The same model by way of a document-term matrix."""
    vectorizer = CountVectorizer(**(vectorizer or {}))
    X = vectorizer.fit_transform(texts)
    classifier = {"multinomial": SparseMultinomialNB, "bernoulli": SparseBernoulliNB}
    fitted = classifier[model](k, **parameters).fit(X, y)
    terms = vectorizer.get_feature_names_out()[fitted.support_indices_].tolist()
    return vectorizer, fitted, terms


def assert_same(ours, vectorizer, theirs, terms, texts):
    assert ours.support_terms_ == terms
    assert ours.n_features_in_ == theirs.n_features_in_
    np.testing.assert_array_equal(ours.support_indices_, theirs.support_indices_)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    X = vectorizer.transform(texts)
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(
            getattr(ours, method)(texts), getattr(theirs, method)(X), rtol=1e-10
        )
    np.testing.assert_array_equal(ours.predict(texts), theirs.predict(X))
    assert ours.certificate_.objective == pytest.approx(
        theirs.certificate_.objective, rel=1e-12
    )
    np.testing.assert_allclose(
        ours.feature_importances_,
        theirs.feature_importances_[theirs.support_indices_],
    )


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("k", [4, 0.5, "all", "bic"])
def test_equals_a_vectorizer_and_the_classifier(model, n_classes, k):
    texts, y = random_texts(n_classes=n_classes)
    unseen = random_texts(50, n_classes, seed=1)[0]
    ours = SparseTextNB(k, model=model).fit(texts, y)
    assert_same(ours, *reference(model, texts, y, k), [*texts, *unseen, "", "?!"])


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2)},
        {"analyzer": "char", "ngram_range": (2, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"lowercase": False},
        {"strip_accents": "unicode"},
        {"strip_accents": "ascii", "ngram_range": (2, 2)},
        {"token_pattern": r"(?u)\b\w+\b"},
        {"token_pattern": r"[a-z]+"},
        {"stop_words": "english"},
        {"stop_words": ["good", "the"], "ngram_range": (1, 2)},
        {"binary": True},
        {"min_df": 30},
        {"min_df": 0.1, "max_df": 0.5, "ngram_range": (1, 2)},
        {"max_df": 1, "ngram_range": (1, 3)},
    ],
    ids=str,
)
def test_options_mean_what_they_mean_to_the_vectorizer(model, options):
    texts, y = random_texts()
    ours = SparseTextNB(3, model=model, **options).fit(texts, y)
    assert_same(ours, *reference(model, texts, y, 3, options), texts)


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": 0.0},
        {"alpha": 0.1, "fit_prior": False},
        {"class_prior": [0.9, 0.1]},
        {"exact": False, "time_limit": None},
    ],
    ids=str,
)
def test_parameters_of_the_classifiers(model, parameters):
    texts, y = random_texts()
    ours = SparseTextNB(3, model=model, **parameters).fit(texts, y)
    assert_same(ours, *reference(model, texts, y, 3, **parameters), texts)


def test_alpha_zero_rules_classes_out_by_one_term():
    # "alone" never comes with class b, and "both" always with a: log 0 on both sides.
    texts, y = ["alone both", "both both", "other", "other both"], ["a", "a", "b", "b"]
    ours = SparseTextNB("all", model="bernoulli", alpha=0.0).fit(texts, y)
    assert_same(
        ours,
        *reference("bernoulli", texts, y, "all", alpha=0.0),
        ["both", "alone both", "other", "", "alone other"],
    )


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(st.text(max_size=30), min_size=4, max_size=8),
    model=st.sampled_from(["multinomial", "bernoulli"]),
    analyzer=st.sampled_from(["word", "char", "char_wb"]),
    high=st.integers(1, 3),
)
def test_any_texts_equal_plain_naive_bayes_through_a_vectorizer(
    texts, model, analyzer, high
):
    texts = [*texts, "some words more"]
    y = np.arange(len(texts)) % 2
    options = {"analyzer": analyzer, "ngram_range": (1, high)}
    ours = SparseTextNB("all", model=model, **options).fit(texts, y)
    assert_same(ours, *reference(model, texts, y, "all", options), [*texts, ""])


def test_all_terms_are_scikit_learns_naive_bayes():
    texts, y = random_texts()
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, y)
    ours = SparseTextNB("all").fit(texts, y)
    np.testing.assert_allclose(
        ours.predict_proba(texts), theirs.predict_proba(texts), rtol=1e-10
    )
    assert ours.score(texts, y) == theirs.score(texts, y)


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_linear_weights_give_the_log_odds(model):
    texts, y = random_texts()
    ours = SparseTextNB(4, model=model).fit(texts, y)
    assert ours.coef_.shape == (1, 4)
    assert ours.vocabulary_ == {t: i for i, t in enumerate(ours.support_terms_)}
    X = CountVectorizer(vocabulary=ours.vocabulary_, binary=model == "bernoulli")
    joint = ours.predict_joint_log_proba(texts)
    np.testing.assert_allclose(
        X.transform(texts) @ ours.coef_[0] + ours.intercept_,
        joint[:, 1] - joint[:, 0],
        atol=1e-10,
    )


def test_weights_of_terms_are_for_two_classes():
    ours = SparseTextNB(3).fit(*random_texts(n_classes=4))
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match="two classes only"):
            getattr(ours, name)


@pytest.mark.parametrize(
    "wrap",
    [
        tuple,
        iter,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        lambda texts: [text.encode() for text in texts],
        pd.Series,
        lambda texts: pd.Series(texts, dtype=object, index=range(5, 5 + len(texts))),
        lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
        pl.Series,
        pa.array,
        lambda texts: pa.chunked_array([texts[:2], texts[2:]]),
        lambda texts: pa.array(texts).cast(pa.large_string()),
    ],
)
def test_every_sequence_of_texts_gives_the_same(wrap):
    expected = SparseTextNB(4).fit(TEXTS, LABELS)
    ours = SparseTextNB(4).fit(wrap(TEXTS), LABELS)
    assert ours.support_terms_ == expected.support_terms_
    np.testing.assert_array_equal(
        ours.predict_proba(wrap(TEXTS)), expected.predict_proba(TEXTS)
    )


@pytest.mark.parametrize("wrap", [pd.Series, pl.Series, np.array])
def test_labels_of_any_kind(wrap):
    ours = SparseTextNB(4).fit(TEXTS, wrap(LABELS))
    assert ours.classes_.tolist() == ["neg", "pos"]
    assert SparseTextNB(4).fit(TEXTS, wrap([1, 1, 0, 0, 1, 0])).predict(
        ["good", "worst"]
    ).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "Got a single str. Hint: put it in a list"),
        (np.zeros((6, 2)), r"in one dimension. Got ndarray of shape \(6, 2\)"),
        (np.array([TEXTS]).T, r"in one dimension. Got ndarray of shape \(6, 1\)"),
        (pd.DataFrame({"text": TEXTS}), "in one dimension. Got DataFrame of shape"),
        (pl.DataFrame({"text": TEXTS}), "in one dimension. Got DataFrame of shape"),
        (pa.table({"text": TEXTS}), "in one dimension. Got Table of shape"),
        (CountVectorizer().fit_transform(TEXTS), "in one dimension. Got cs"),
        ([[text] for text in TEXTS], r"Got list \['A good.* in row 0"),
        (np.arange(6.0), "Got an array of dtype float64"),
        ([*TEXTS[:5], 3], "Got int 3 in row 5"),
        ([*TEXTS[:5], None], "Got a missing value in row 5. Hint: fill"),
        (np.array([*TEXTS[:5], np.nan], dtype=object), "Got a missing value in row 5"),
        (pd.Series([*TEXTS[:5], None]), "missing"),
        (pa.array([*TEXTS[:5], None]), "missing one, row 5"),
        # The first polars hands out no Arrow data.
        (pl.Series(range(6)), "Got (Arrow type int64|int 0 in row 0)"),
        ({"a": 1}, "Got dict"),
        (5, "Got int"),
        ([], "Got none"),
        ([b"caf\xe9", *TEXTS[1:]], "row 0.*decode_error"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_not_texts_is_refused_in_a_sentence(texts, message):
    with pytest.raises(ValueError, match=message):
        SparseTextNB(2).fit(texts, LABELS)
    with pytest.raises(ValueError, match=message):
        SparseTextNB(2).fit(TEXTS, LABELS).predict(texts)


def test_bytes_that_are_not_utf8_may_pass():
    texts = [b"caf\xe9 good", *TEXTS[1:]]
    model = SparseTextNB("all", decode_error="replace").fit(texts, LABELS)
    assert "caf" in model.support_terms_
    assert model.predict(texts).shape == (6,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "gaussian"}, "'model' parameter of SparseTextNB"),
        ({"k": 0}, "'k' parameter of SparseTextNB"),
        ({"k": 1}, "'k' parameter of SparseTextNB is too small"),
        ({"analyzer": "letters"}, "'analyzer' parameter of SparseTextNB"),
        ({"ngram_range": (2, 1)}, "ngram_range.* 1 <= min_n <= max_n"),
        ({"stop_words": "french"}, "'stop_words' parameter of SparseTextNB"),
        ({"token_pattern": "("}, "token_pattern.*regular expression"),
        ({"min_df": -1}, "'min_df' parameter of SparseTextNB"),
        ({"min_df": 0}, "'min_df' parameter of SparseTextNB"),
        ({"min_df": 1.0}, "No term is in at least min_df=1.0"),
        ({"max_df": 1.5}, "'max_df' parameter of SparseTextNB"),
        ({"min_df": 5}, "No term is in at least min_df=5"),
        ({"class_prior": [1.0]}, "'class_prior' parameter of SparseTextNB"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"memory_budget": 0}, "'memory_budget' parameter of SparseTextNB"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SparseTextNB(**{"k": 2, **parameters}).fit(TEXTS, LABELS)


def test_wrong_labels_and_weights():
    model = SparseTextNB(2)
    with pytest.raises(ValueError, match="6 texts and 2 labels"):
        model.fit(TEXTS, ["a", "b"])
    with pytest.raises(ValueError, match=r"at least two classes in y. Got one class"):
        model.fit(TEXTS, [1] * 6)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(TEXTS, None)
    with pytest.raises(ValueError, match="continuous"):
        model.fit(TEXTS, np.linspace(0, 1, 6))
    with pytest.raises(ValueError, match="cannot weight texts"):
        model.fit(TEXTS, LABELS, sample_weight=np.ones(6))
    with pytest.raises(ValueError, match="have no terms"):
        model.fit(["", "?", "a"], [0, 1, 1])
    with pytest.raises(NotFittedError):
        model.predict(TEXTS)


def test_more_terms_than_there_are_warns():
    with pytest.warns(FewFeaturesWarning):
        model = SparseTextNB().fit(TEXTS, LABELS)
    assert model.k_ == len(model.support_terms_) == model.n_features_in_


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("options", [{}, {"min_df": 3, "max_df": 0.4}], ids=str)
def test_chunks_equal_the_whole(model, options):
    texts, y = random_texts(n_classes=4)
    parameters = {"k": 4, "model": model, "ngram_range": (1, 2), **options}
    whole = SparseTextNB(**parameters).fit(texts, y)
    chunked = SparseTextNB(**parameters)
    for rows in np.array_split(np.arange(len(texts)), [40, 41, 100, 150]):
        chunk = [texts[row] for row in rows]
        chunked.partial_fit(chunk, y[rows], classes=["d", "c", "b", "a"])
    assert chunked.support_terms_ == whole.support_terms_
    np.testing.assert_array_equal(
        chunked.predict_proba(texts), whole.predict_proba(texts)
    )
    np.testing.assert_array_equal(
        chunked.document_frequency_, whole.document_frequency_
    )
    kept = SparseTextNB(**parameters, keep_counts=True).fit(texts, y)
    assert kept.counts_ == chunked.counts_


def test_chunks_go_on_from_kept_counts_only():
    lean = SparseTextNB(3).fit(TEXTS, LABELS)
    assert not hasattr(lean, "counts_")
    with pytest.raises(ValueError, match="keep_counts=True"):
        lean.partial_fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="needs classes"):
        SparseTextNB(3).partial_fit(TEXTS, LABELS)
    kept = SparseTextNB(3, keep_counts=True).fit(TEXTS, LABELS)
    kept.partial_fit(TEXTS, LABELS)
    assert kept.class_count_.tolist() == [6, 6]
    with pytest.raises(ValueError, match="label 'other' in y is not among"):
        kept.partial_fit(["x"], ["other"])
    with pytest.raises(ValueError, match=r"alike. Got .*ngram_range=\(1, 2\)"):
        kept.set_params(ngram_range=(1, 2)).partial_fit(TEXTS, LABELS)


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_ready_counts(model):
    texts, y = random_texts()
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out()
    counts = ClassCounts.from_matrix(
        X, y, binary=model == "bernoulli", feature_names=names
    )
    ours = SparseTextNB(4, model=model).fit_counts(counts)
    expected = SparseTextNB(4, model=model).fit(texts, y)
    assert ours.support_terms_ == expected.support_terms_
    assert not hasattr(ours, "feature_names_in_")
    np.testing.assert_array_equal(
        ours.predict_proba(texts), expected.predict_proba(texts)
    )
    if model == "multinomial":
        assert ours.document_frequency_ is None
        with pytest.raises(ValueError, match="need counts of documents"):
            SparseTextNB(4, min_df=2).fit_counts(counts)
    with pytest.raises(ValueError, match="needs counts with feature names"):
        ours.fit_counts(ClassCounts.from_matrix(X, y, binary=model == "bernoulli"))
    with pytest.raises(TypeError, match="needs a ClassCounts"):
        ours.fit_counts(X)


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_counts_of_texts_in_batches(model):
    texts, y = random_texts()
    options = {"ngram_range": (1, 2), "stop_words": ["the"]}
    batches = [(texts[:50], y[:50]), (texts[50:], y[50:])]
    counts = ClassCounts.from_text(batches, binary=model == "bernoulli", **options)
    ours = SparseTextNB(4, model=model, min_df=3, **options).fit_counts(counts)
    expected = SparseTextNB(4, model=model, min_df=3, **options).fit(texts, y)
    assert ours.support_terms_ == expected.support_terms_
    np.testing.assert_array_equal(
        ours.predict_proba(texts), expected.predict_proba(texts)
    )
    np.testing.assert_array_equal(
        ours.document_frequency_, expected.document_frequency_
    )


def test_fitted_again_on_other_texts_forgets_the_first():
    texts, y = random_texts()
    model = SparseTextNB(3).fit(TEXTS, LABELS)
    model.predict(TEXTS)
    fresh = SparseTextNB(3).fit(texts, y)
    np.testing.assert_array_equal(
        model.fit(texts, y).predict_proba(texts), fresh.predict_proba(texts)
    )


def test_parameters_changed_after_fit_do_not_change_prediction():
    texts, y = random_texts()
    model = SparseTextNB(3, ngram_range=(1, 2)).fit(texts, y)
    expected = model.predict_proba(texts)
    model.set_params(ngram_range=(1, 1), model="bernoulli", binary=True)
    np.testing.assert_array_equal(model.predict_proba(texts), expected)


@pytest.mark.parametrize("used", [False, True])
def test_pickle_and_clone(used):
    texts, y = random_texts()
    model = SparseTextNB(3, stop_words="english", keep_counts=True).fit(texts, y)
    if used:
        model.predict(texts)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict_proba(texts), model.predict_proba(texts)
    )
    again.partial_fit(texts, y)
    assert again.class_count_.sum() == 2 * len(texts)
    bare = clone(model)
    assert bare.get_params() == model.get_params()
    assert not hasattr(bare, "support_terms_")


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_and_budget_do_not_matter(n_jobs):
    texts, y = random_texts(2000)
    expected = SparseTextNB(5, ngram_range=(1, 2)).fit(texts, y)
    ours = SparseTextNB(
        5, ngram_range=(1, 2), n_jobs=n_jobs, memory_budget=1 << 20
    ).fit(texts, y)
    assert ours.support_terms_ == expected.support_terms_
    np.testing.assert_array_equal(
        ours.predict_proba(texts), expected.predict_proba(texts)
    )


def test_searches_over_parameters():
    texts, y = random_texts()
    search = GridSearchCV(
        SparseTextNB(2), {"k": [2, 5], "model": ["multinomial", "bernoulli"]}, cv=3
    ).fit(texts, y)
    assert search.best_score_ > 0.5
    assert search.predict(texts).shape == (len(texts),)


def test_imdb_thousand_words(real_data):
    frame = real_data("imdb")
    train = frame[frame["split"] == "train"].iloc[::5]
    test = frame[frame["split"] == "test"].iloc[::25]
    ours = SparseTextNB(1000).fit(train["text"], train["label"])
    expected = reference("multinomial", train["text"], train["label"], 1000)
    assert_same(ours, *expected, test["text"])
    assert ours.certificate_.is_optimal
    assert ours.score(test["text"], test["label"]) > 0.8
