"""Pipelines as files: the same answers after, and clear words where that cannot be."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from tests.persistence.mutations import rewritten
from tests.persistence.pipelines import (
    COUNTS,
    MIXED,
    TEXTS,
    YES_NO,
    Y,
    fitted,
    multinomial,
    recipes,
    said,
)

from bayesieve import SparseMultinomialNB
from bayesieve._description import describe
from bayesieve.exceptions import ScikitLearnVersionWarning
from bayesieve.persistence import load_model, load_notes, save_model

NAMES = list(recipes())
#: Those whose steps before the last cannot name columns.
UNNAMED = ("hashed", "kept counts")


def kind_of(value):
    return type(value).__name__


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@pytest.mark.parametrize("name", NAMES)
def test_the_same_answers_after_loading(name, path):
    model, rows = fitted()[name]
    before = said(model, rows)
    save_model(model, path)
    loaded = load_model(path)
    assert type(loaded) is Pipeline
    for one, two in zip(before, said(loaded, rows), strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_names_parameters_and_file_after_loading(name, path):
    model, _ = fitted()[name]
    save_model(model, path)
    written = path.read_bytes()
    loaded = load_model(path)
    save_model(loaded, path)
    assert path.read_bytes() == written
    assert [type(step) for _, step in loaded.steps] == [
        type(step) for _, step in model.steps
    ]
    assert describe(loaded).names == describe(model).names
    if len(model) > 1 and name not in UNNAMED:
        names = model[:-1].get_feature_names_out()
        assert loaded[:-1].get_feature_names_out().tolist() == names.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_loaded_can_be_cloned_fitted_and_pickled(name, path):
    model, rows = fitted()[name]
    _, _, y = recipes()[name]
    save_model(model, path)
    loaded = load_model(path)
    again = clone(loaded).fit(rows, y)
    restored = pickle.loads(pickle.dumps(loaded))
    for one, two, three in zip(
        said(model, rows), said(again, rows), said(restored, rows), strict=True
    ):
        np.testing.assert_array_equal(one, three)
        # Columns that a slice chose are a list now, and added up in another order.
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, two, rtol=1e-10)
        else:
            np.testing.assert_array_equal(one, two)


def test_notes_are_kept_beside_a_pipeline(path):
    model, _ = fitted()["count"]
    save_model(model, path, notes={"source": "made up"})
    assert load_notes(path) == {"source": "made up"}


def test_frames_may_have_their_columns_in_any_order(path):
    model, rows = fitted()["columns"]
    save_model(model, path)
    other = rows[rows.columns[::-1]].assign(new=1)
    np.testing.assert_array_equal(
        load_model(path).predict_proba(other), model.predict_proba(rows)
    )


def test_unknown_categories_are_treated_alike(path):
    model, rows = fitted()["ordinal"]
    save_model(model, path)
    odd = np.where(rows == 1, 77.0, rows)
    np.testing.assert_array_equal(
        load_model(path).predict_proba(odd), model.predict_proba(odd)
    )
    model, rows = fitted()["one hot"]
    save_model(model, path)
    with pytest.raises(ValueError, match="unknown categories"):
        load_model(path).predict(rows.assign(town="Paris"))


def test_a_million_hashed_columns(path):
    model = make_pipeline(
        HashingVectorizer(norm=None, alternate_sign=False), multinomial()
    )
    model.fit(TEXTS, YES_NO)
    save_model(model, path)
    assert path.stat().st_size < 1 << 25
    loaded = load_model(path)
    assert loaded[-1].n_features_in_ == 2**20
    assert sparse.issparse(loaded[0].transform(TEXTS))
    np.testing.assert_array_equal(
        loaded.predict_proba(TEXTS), model.predict_proba(TEXTS)
    )


def test_a_large_vocabulary_is_no_json(path):
    words = [f"w{j:06d}" for j in range(200_000)]
    texts = [" ".join(words[:100_000]), " ".join(words[100_000:])] * 2
    model = make_pipeline(CountVectorizer(vocabulary=words), SparseMultinomialNB(5))
    model.fit(texts, [0, 1] * 2)
    save_model(model, path)
    loaded = load_model(path)
    assert loaded[0].vocabulary == words
    assert loaded[0].vocabulary_ == model[0].vocabulary_


def test_how_a_step_runs_is_not_written(path):
    model = clone(fitted()["columns"][0]).set_params(
        columntransformer__n_jobs=2, verbose=False
    )
    model.fit(MIXED, YES_NO)
    save_model(model, path)
    assert load_model(path)[0].n_jobs is None


# ---------------------------------------------------------------------------- versions


def version_changed(path, value):
    def change(members):
        header = json.loads(members["model.json"])
        header["scikit-learn"] = value
        return members | {"model.json": json.dumps(header).encode()}

    path.write_bytes(rewritten(path.read_bytes(), change))


def test_another_scikit_learn_is_told_in_one_sentence(path):
    save_model(fitted()["count"][0], path)
    version_changed(path, "1.2.3")
    with pytest.warns(ScikitLearnVersionWarning, match="scikit-learn '1.2.3'") as told:
        load_model(path)
    assert len(told) == 1
    assert sklearn.__version__ in str(told[0].message)
    assert told[0].filename == __file__


def test_a_bare_model_knows_no_scikit_learn(path):
    save_model(SparseMultinomialNB(3).fit(COUNTS, Y), path)
    assert b'"scikit-learn"' not in path.read_bytes()


def test_missing_attributes_are_refused(path):
    save_model(fitted()["standard"][0], path)

    def change(members):
        header = json.loads(members["model.json"])
        del header["steps"][0][1]["attributes"]["mean_"]
        del members["steps.0.mean_.npy"]
        return members | {"model.json": json.dumps(header).encode()}

    path.write_bytes(rewritten(path.read_bytes(), change))
    with pytest.raises(ValueError, match="lacks 'mean_' of its StandardScaler"):
        load_model(path)


# ---------------------------------------------------------------------------- refusals


class Odd(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = 1
        return self

    def transform(self, X):
        return X


def tokens(text):
    return text.split()


@pytest.mark.parametrize(
    ("steps", "rows", "told"),
    [
        ([FunctionTransformer(np.abs)], COUNTS, "'functiontransformer'.*is code"),
        ([Odd()], COUNTS, "Step 'odd' cannot be saved: it must be .* Got .*Odd"),
        ([TruncatedSVD(2), StandardScaler()], COUNTS, "Step 'truncatedsvd'.*Got"),
        (
            [CountVectorizer(tokenizer=tokens, token_pattern=None)],
            TEXTS,
            "Step 'countvectorizer'.*'tokenizer' parameter is a function",
        ),
        ([CountVectorizer(analyzer=tokens)], TEXTS, "'analyzer' parameter is a funct"),
        (
            [SelectKBest(lambda X, y: np.ones(12))],
            COUNTS,
            "'score_func' must be one",
        ),
        ([OneHotEncoder(max_categories=2)], COUNTS[:, :3], "rare categories together"),
        ([SimpleImputer(add_indicator=True)], COUNTS, "add_indicator=True"),
        (
            [FeatureUnion([("a", StandardScaler()), ("odd", Odd())])],
            COUNTS,
            "Step 'featureunion' > 'odd' cannot be saved",
        ),
        (
            [ColumnTransformer([("a", FunctionTransformer(np.abs), [0, 1])])],
            COUNTS,
            "Step 'columntransformer' > 'a' .*is code",
        ),
        (
            [
                ColumnTransformer(
                    [("a", StandardScaler(), [0])],
                    verbose_feature_names_out="{feature_name}",
                )
            ],
            COUNTS,
            "'verbose_feature_names_out' must be True or False. Got str",
        ),
    ],
    ids=kind_of,
)
def test_what_cannot_be_saved_names_its_step(steps, rows, told, path):
    from bayesieve import SparseGaussianNB

    last = SparseGaussianNB("all") if rows is not TEXTS else multinomial()
    model = make_pipeline(*steps, last).fit(rows, Y)
    with pytest.raises(ValueError, match=told) as caught:
        save_model(model, path)
    assert "\n" not in str(caught.value)
    assert not path.exists()


def test_attributes_of_other_versions_are_not_lost_silently(path):
    model = clone(fitted()["standard"][0]).fit(COUNTS, Y)
    model[0].newer_ = 3
    with pytest.raises(ValueError, match=r"'standardscaler'.*gives it 'newer_'"):
        save_model(model, path)
    model = clone(fitted()["columns"][0]).fit(MIXED, YES_NO)
    model[0]._newer = 3
    with pytest.raises(ValueError, match=r"'columntransformer'.*gives it '_newer'"):
        save_model(model, path)


def test_files_for_texts_must_hold_texts(path, tmp_path):
    place = tmp_path / "text"
    place.write_text("some words here")
    model = make_pipeline(CountVectorizer(input="filename"), SparseMultinomialNB(2))
    model.fit([str(place)] * 4, [0, 1] * 2)
    with pytest.raises(ValueError, match="'input' must be 'content'"):
        save_model(model, path)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ((CountVectorizer(), multinomial()), "Got tuple. Hint: .*make_pipeline"),
        (StandardScaler().fit(COUNTS), "Got StandardScaler"),
        (
            GridSearchCV(multinomial(), {"k": [2, 3]}, cv=2).fit(COUNTS, Y),
            "Got GridSearchCV. Hint: save its best_estimator_",
        ),
    ],
    ids=kind_of,
)
def test_other_things_are_refused(model, told, path):
    with pytest.raises(TypeError, match=told):
        save_model(model, path)


@pytest.mark.parametrize("name", ["count", "columns", "union", "tfidf", "text alone"])
def test_what_is_not_fitted_is_not_saved(name, path):
    with pytest.raises(NotFittedError):
        save_model(recipes()[name][0], path)
    assert not path.exists()


def test_a_class_of_the_same_name_is_another(path):
    class CountVectorizer(TfidfVectorizer):
        pass

    model = make_pipeline(CountVectorizer(norm=None), multinomial()).fit(TEXTS, YES_NO)
    with pytest.raises(ValueError, match="Step 'countvectorizer' cannot be saved"):
        save_model(model, path)


def test_categories_that_cannot_be_written_are_refused(path):
    values = pd.Series([Decimal(1), Decimal(2)] * 5, dtype=object)
    model = make_pipeline(OneHotEncoder(), multinomial(2))
    model.fit(pd.DataFrame({"a": values}), [0, 1] * 5)
    with pytest.raises(ValueError, match="strings, numbers, booleans or dates"):
        save_model(model, path)
