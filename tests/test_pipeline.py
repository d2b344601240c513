"""Names and rows of a model wherever it stands: pipelines, tuples, searches."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from bayesieve import (
    MODLEncoder,
    NaiveFeatureSelector,
    SelectiveNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseTextNB,
)
from bayesieve._description import describe
from bayesieve._pipeline import open_model

TEXTS = [
    "free prize now",
    "call me later",
    "win a free prize",
    "see you at home",
    "free free call",
    "home at nine",
] * 5
SPAM = np.array([1, 0, 1, 0, 1, 0] * 5)
TABLE = pd.DataFrame(
    {
        "text": TEXTS,
        "length": [float(len(text)) for text in TEXTS],
        "town": ["Oslo", "Rome", "Lima"] * 10,
    }
)


def words(*steps, k=3, texts=TEXTS):
    return make_pipeline(*steps, SparseMultinomialNB(k=k)).fit(texts, SPAM)


def test_a_vectorizer_names_the_features():
    model = words(CountVectorizer())
    found = describe(model)
    assert set(found.names) <= set(CountVectorizer().fit(TEXTS).get_feature_names_out())
    assert "free" in found.names
    # The same columns that the model itself knows by number alone.
    assert found.indices.tolist() == describe(model[-1]).indices.tolist()
    assert describe(model[-1]).names[0].startswith("x")
    assert found.owner == "SparseMultinomialNB"


@pytest.mark.parametrize(
    "steps",
    [
        (TfidfVectorizer(norm=None),),
        (CountVectorizer(ngram_range=(1, 2)),),
        (CountVectorizer(), TfidfTransformer()),
        (CountVectorizer(), MaxAbsScaler()),
        (CountVectorizer(), StandardScaler(with_mean=False)),
        (CountVectorizer(), SelectKBest(chi2, k=5)),
        (CountVectorizer(), VarianceThreshold(0.1), SelectKBest(chi2, k=5)),
        (CountVectorizer(), "passthrough", Binarizer()),
        (CountVectorizer(), Pipeline([("tfidf", TfidfTransformer())])),
        (make_union(CountVectorizer(), CountVectorizer(analyzer="char")),),
        (make_column_transformer((CountVectorizer(), 0)),),
    ],
    ids=lambda steps: ", ".join(map(str, steps))[:60],
)
def test_names_are_those_that_scikit_learn_gives(steps):
    steps = [step if step == "passthrough" else clone(step) for step in steps]
    X = np.array(TEXTS, dtype=object).reshape(-1, 1)
    texts = X if isinstance(steps[0], ColumnTransformer) else TEXTS
    model = words(*steps, texts=texts)
    everything = model[:-1].get_feature_names_out()
    found = describe(model)
    every = found.names_of(np.arange(model[-1].n_features_in_))
    for name, full in zip(every, everything, strict=True):
        assert full == name or full.endswith(f"__{name}")
    assert len(set(every)) == len(every)
    assert "free" in found.names


def test_names_of_several_transformers_are_short_where_that_is_enough():
    model = make_pipeline(
        ColumnTransformer(
            [
                ("text", CountVectorizer(), "text"),
                ("kind", OneHotEncoder(), ["town"]),
                ("size", MinMaxScaler(), ["length"]),
                ("home", CountVectorizer(vocabulary=["home", "length"]), "text"),
            ]
        ),
        SparseMultinomialNB(k="all"),
    ).fit(TABLE, SPAM)
    names = describe(model).names
    assert {"free", "town_Oslo", "text__home", "home__home"} <= set(names)
    assert {"size__length", "home__length"} <= set(names)
    assert "home" not in names
    assert len(set(names)) == len(names)


def test_names_that_look_like_a_prefix_stay():
    # "home__" is a transformer, and "home" of the text is a word: nothing is cut twice.
    texts = ["home__free x", "free y"] * 3
    union = FeatureUnion([("home", CountVectorizer(token_pattern=r"\S+"))])
    model = make_pipeline(union, SparseMultinomialNB(k="all"))
    model.fit(texts, [0, 1] * 3)
    assert set(describe(model).names) == {"home__free", "free", "x", "y"}


def test_names_of_frames_go_through_steps_that_have_no_names():
    table = TABLE[["length"]].assign(other=np.arange(30.0), same=1.0)
    model = make_pipeline(
        VarianceThreshold(), StandardScaler(), SparseGaussianNB(k=2)
    ).fit(table, SPAM)
    assert describe(model).names == ["length", "other"]
    # Steps fitted on arrays speak of columns by their numbers before them.
    model = make_pipeline(VarianceThreshold(), SparseGaussianNB(k="all"))
    model.fit(np.column_stack([np.ones(30), TABLE["length"]]), SPAM)
    assert describe(model).names == ["x1"]
    scaled = make_pipeline(StandardScaler(), SparseGaussianNB(k="all"))
    scaled.fit(TABLE[["length"]].to_numpy(), SPAM)
    assert describe(scaled).names == ["x0"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_set_output_gives_the_model_names_of_its_own(output):
    model = make_pipeline(MinMaxScaler(), SparseGaussianNB(k=2))
    model.set_output(transform=output)
    table = TABLE[["length"]].assign(other=np.arange(30.0))
    table = table if output == "pandas" else pl.DataFrame(table.to_dict("list"))
    model.fit(table, SPAM)
    opened = open_model(model)
    assert opened.names is None
    assert describe(model).names == describe(model[-1]).names == ["length", "other"]


def test_steps_that_make_columns_name_them():
    model = make_pipeline(
        PolynomialFeatures(interaction_only=True, include_bias=False),
        KBinsDiscretizer(
            n_bins=2, encode="ordinal", quantile_method="averaged_inverted_cdf"
        ),
        SelectiveNB(),
    ).fit(TABLE[["length"]].assign(other=np.arange(30.0)), SPAM)
    names = [own.name for own in describe(model).table.partitions]
    assert names == ["length", "other", "length other"]


def test_a_selector_before_another_classifier_is_what_is_described():
    model = make_pipeline(
        CountVectorizer(), NaiveFeatureSelector(3), LogisticRegression()
    ).fit(TEXTS, SPAM)
    opened = open_model(model)
    assert opened.model is model[1]
    assert not opened.is_last
    assert describe(model).owner == "NaiveFeatureSelector"
    assert "free" in describe(model).names
    np.testing.assert_array_equal(
        opened.predict_proba(TEXTS), model.predict_proba(TEXTS)
    )
    with pytest.raises(TypeError, match="classifier of bayesieve as the last step"):
        opened.require_last("explain")


def test_a_classifier_after_a_selector_of_ours_has_the_names_it_left():
    model = make_pipeline(
        CountVectorizer(), NaiveFeatureSelector(5), SparseMultinomialNB(k=2)
    ).fit(TEXTS, SPAM)
    kept = set(describe(model[:-1]).names)
    assert set(describe(model).names) < kept
    assert describe(model).owner == "SparseMultinomialNB"


def test_a_tuple_of_steps_fitted_apart():
    vectorizer = CountVectorizer().fit(TEXTS)
    X = vectorizer.transform(TEXTS)
    model = SparseMultinomialNB(k=3).fit(X, SPAM)
    pair = open_model((vectorizer, model))
    assert describe(pair).names == describe(words(CountVectorizer())).names
    np.testing.assert_array_equal(pair.predict_proba(TEXTS), model.predict_proba(X))
    assert sparse.issparse(pair.rows(TEXTS))
    scaler = MaxAbsScaler().fit(X)
    three = describe((vectorizer, scaler, model))
    assert three.names == describe(pair).names
    other = CountVectorizer().fit(["two words"])
    with pytest.raises(ValueError, match=r"give 2 columns, and it was fitted on 12"):
        _ = describe((other, model)).names


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_the_best_of_a_search(search):
    pipeline = make_pipeline(CountVectorizer(), SparseMultinomialNB())
    grid = {"sparsemultinomialnb__k": [2, 3]}
    options = {"n_iter": 2} if search is RandomizedSearchCV else {}
    found = search(pipeline, grid, cv=2, **options)
    with pytest.raises(NotFittedError):
        describe(found)
    found.fit(TEXTS, SPAM)
    assert "free" in describe(found).names
    opened = open_model(found)
    np.testing.assert_array_equal(
        opened.predict_proba(TEXTS), found.predict_proba(TEXTS)
    )
    kept = search(pipeline, grid, cv=2, refit=False, **options).fit(TEXTS, SPAM)
    with pytest.raises(ValueError, match=r"Got refit=False.*refit=True"):
        describe(kept)


def test_what_is_frozen_is_opened():
    model = words(CountVectorizer())
    assert describe(FrozenEstimator(model)).names == describe(model).names


def test_a_search_inside_a_pipeline():
    search = GridSearchCV(SparseMultinomialNB(), {"k": [2, 3]}, cv=2)
    model = make_pipeline(CountVectorizer(), search).fit(TEXTS, SPAM)
    assert "free" in describe(model).names


def test_texts_name_their_own_terms():
    model = SparseTextNB(k=2).fit(TEXTS, SPAM)
    alone = describe(model).names
    assert describe(Pipeline([("model", model)])).names == alone
    with pytest.raises(ValueError, match="has names of its own, the terms"):
        describe(model, ["a"] * model.n_features_in_)


def test_ready_made_log_likelihoods_take_names_of_columns():
    model = make_pipeline(
        MODLEncoder(output="log_likelihood"), SelectiveNB(input="log_likelihood")
    ).fit(TABLE[["length", "town"]], SPAM)
    assert describe(model).names[0].startswith("x")
    named = describe(model, ["length", "town"])
    assert set(named.names) <= {"length", "town"}


# -------------------------------------------------------------------------- given names


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, pd.Index, pl.Series, lambda n: np.array(n, object)]
)
def test_given_names_win(kind):
    model = words(CountVectorizer())
    given = [f"w{j}" for j in range(model[-1].n_features_in_)]
    found = describe(model, kind(given))
    assert found.names == [given[j] for j in found.indices]
    assert describe(model[-1], kind(given)).names == found.names


def test_given_names_need_not_differ():
    model = words(CountVectorizer())
    same = describe(model, ["word"] * model[-1].n_features_in_)
    assert same.names == ["word"] * 3


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (["a", "b"], ValueError, "must name each of the 12 features. Got 2 names"),
        ("abcdefghijkl", TypeError, "a sequence of strings.*Got str"),
        (set("abcdefghijkl"), TypeError, "a sequence of strings.*Got set"),
        (7, TypeError, "a sequence of strings.*Got int"),
        ([*"abcdefghijk", 3], TypeError, "must be strings. Got int 3 at place 11"),
    ],
)
def test_wrong_names_are_one_sentence(given, error, told):
    with pytest.raises(error, match=told):
        describe(words(CountVectorizer()), given)


def test_pairs_and_terms_of_a_table_get_the_names_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    model = make_pipeline(StandardScaler(), SelectiveNB(pairs=1)).fit(X, y)
    found = describe(model, ["left", "right", "rest"])
    assert "left \u00d7 right" in found.names
    assert [own.name for own in found.table.partitions] == ["left", "right", "rest"]
    bins = [own.bins.name for own in found.table.shapes.columns]
    assert bins == ["left", "right", "rest"]
    # Nothing of it stays with the model.
    assert not hasattr(model[-1], "feature_names_in_")
    assert model[-1].partitions_[0].name == "x0"


# ---------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (LogisticRegression(), "Got LogisticRegression"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "LogisticRegression"),
        ("model", "Got str"),
        ((), "Got tuple"),
        (None, "Got NoneType"),
        (make_pipeline("passthrough"), "without steps"),
        ((3, SparseMultinomialNB()), "Got int, which has no transform"),
        (CalibratedClassifierCV(SparseMultinomialNB()), "a model for each fold"),
        (SparseMultinomialNB, "Got ABCMeta"),
    ],
    ids=str,
)
def test_anything_else_is_refused_in_one_sentence(model, told):
    with pytest.raises(TypeError, match=told) as caught:
        open_model(model)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        SparseMultinomialNB(),
        make_pipeline(CountVectorizer(), SparseMultinomialNB()),
        (CountVectorizer(), SparseMultinomialNB()),
        make_pipeline(CountVectorizer(), NaiveFeatureSelector(), LogisticRegression()),
    ],
    ids=str,
)
def test_what_is_not_fitted_says_so(model):
    with pytest.raises(NotFittedError):
        describe(model)


# -------------------------------------------------------------------------------- size


def test_a_million_hashed_columns_stay_sparse_and_fast():
    model = words(HashingVectorizer(alternate_sign=False, norm=None), k=3)
    assert model[-1].n_features_in_ == 2**20
    start = time.perf_counter()
    found = describe(model)
    assert sparse.issparse(open_model(model).rows(TEXTS))
    names = found.names
    assert time.perf_counter() - start < 1.0
    assert names == [f"x{j}" for j in found.indices]
    hashed = HashingVectorizer(alternate_sign=False, norm=None)
    chosen = words(hashed, SelectKBest(chi2, k=5), k=2)
    places = chosen[1].get_support(indices=True)
    found = describe(chosen)
    assert found.names == [f"x{places[j]}" for j in found.indices]


def test_names_are_made_when_they_are_asked_for(monkeypatch):
    model = words(CountVectorizer())
    asked = []
    real = CountVectorizer.get_feature_names_out

    def counted(self, given=None):
        asked.append(self)
        return real(self, given)

    monkeypatch.setattr(CountVectorizer, "get_feature_names_out", counted)
    found = describe(model)
    assert asked == []
    assert "free" in found.names
    assert "free" in found.strongest(2).names
    assert len(asked) == 1
