"""Fitted pipelines that can be saved, with rows to try."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from tests.persistence.models import COUNTS, TABLE, TEXTS, YES_NO, Y

import bayesieve as bs
from bayesieve.baselines import odds_ratio

NUMBERS = COUNTS.astype(float)
HOLES = np.where(np.random.default_rng(0).random(COUNTS.shape) < 0.1, np.nan, NUMBERS)
SPARSE = sparse.csr_array(NUMBERS)
MIXED = pd.DataFrame(
    {
        "text": TEXTS,
        "age": TABLE["age"],
        "town": TABLE["town"].astype(object),
        "count": COUNTS[:, 0].astype(float),
        "other": COUNTS[:, 1].astype(float),
        "mood": TABLE["mood"].astype(object).where(TABLE["mood"].notna(), None),
    }
)
BINS = {"quantile_method": "averaged_inverted_cdf"}


def multinomial(k=4):
    return bs.SparseMultinomialNB(k)


def _columns(**options):
    parts = [
        ("words", CountVectorizer(), "text"),
        ("towns", OneHotEncoder(handle_unknown="ignore"), ["town"]),
        ("numbers", MinMaxScaler(), ["age", "count"]),
        ("none", "drop", ["mood"]),
    ]
    return ColumnTransformer(parts, **options)


def recipes():
    """Name to (pipeline before fit, rows, labels)."""
    found = {
        "count": (make_pipeline(CountVectorizer(), multinomial()), TEXTS, YES_NO),
        "count ngrams": (
            make_pipeline(
                CountVectorizer(
                    ngram_range=(1, 2), binary=True, min_df=2, dtype=np.int32
                ),
                multinomial(),
            ),
            TEXTS,
            YES_NO,
        ),
        "count stop words": (
            make_pipeline(
                CountVectorizer(stop_words=["one", "two"], strip_accents="unicode"),
                multinomial(),
            ),
            TEXTS,
            YES_NO,
        ),
        "count vocabulary": (
            make_pipeline(
                CountVectorizer(vocabulary=["good", "bad", "one"]), multinomial(3)
            ),
            TEXTS,
            YES_NO,
        ),
        "count mapping": (
            make_pipeline(
                CountVectorizer(vocabulary={"good": 1, "bad": 0}, analyzer="word"),
                multinomial(2),
            ),
            TEXTS,
            YES_NO,
        ),
        "count char": (
            make_pipeline(
                CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)), multinomial()
            ),
            TEXTS,
            YES_NO,
        ),
        "tfidf": (
            make_pipeline(TfidfVectorizer(norm=None), multinomial()),
            TEXTS,
            YES_NO,
        ),
        "tfidf float32": (
            make_pipeline(
                TfidfVectorizer(dtype=np.float32, sublinear_tf=True, norm=None),
                multinomial(),
            ),
            TEXTS,
            YES_NO,
        ),
        "tfidf without idf": (
            make_pipeline(TfidfVectorizer(use_idf=False, norm=None), multinomial()),
            TEXTS,
            YES_NO,
        ),
        "transformed": (
            make_pipeline(
                CountVectorizer(), TfidfTransformer(norm=None), multinomial()
            ),
            TEXTS,
            YES_NO,
        ),
        "hashed": (
            make_pipeline(
                HashingVectorizer(n_features=1 << 12, alternate_sign=False, norm=None),
                multinomial(),
            ),
            TEXTS,
            YES_NO,
        ),
        "bernoulli text": (
            make_pipeline(CountVectorizer(), bs.SparseBernoulliNB(3)),
            TEXTS,
            Y,
        ),
        "text alone": (Pipeline([("model", bs.SparseTextNB(4))]), TEXTS, YES_NO),
        "standard": (
            make_pipeline(StandardScaler(), bs.SparseGaussianNB(3)),
            NUMBERS,
            Y,
        ),
        "standard float32": (
            make_pipeline(StandardScaler(), bs.SparseGaussianNB(3)),
            NUMBERS.astype(np.float32),
            Y,
        ),
        "standard holes": (
            make_pipeline(StandardScaler(), SimpleImputer(), bs.SparseGaussianNB(3)),
            HOLES,
            Y,
        ),
        "standard sparse": (
            make_pipeline(StandardScaler(with_mean=False), multinomial()),
            SPARSE,
            Y,
        ),
        "standard not": (
            make_pipeline(
                StandardScaler(with_mean=False, with_std=False), multinomial()
            ),
            NUMBERS,
            Y,
        ),
        "range": (
            make_pipeline(MinMaxScaler((1, 3), clip=True), multinomial()),
            NUMBERS,
            Y,
        ),
        "largest": (make_pipeline(MaxAbsScaler(), multinomial()), SPARSE, Y),
        "robust": (
            make_pipeline(RobustScaler(with_centering=False), multinomial()),
            NUMBERS + 1,
            Y,
        ),
        "robust centred": (
            make_pipeline(RobustScaler(), bs.SelectiveNB(pairs=0)),
            NUMBERS,
            YES_NO,
        ),
        "normalized": (
            make_pipeline(Normalizer("max"), bs.SparseGaussianNB(3)),
            NUMBERS,
            Y,
        ),
        "binary": (
            make_pipeline(Binarizer(threshold=1.0), bs.L0Screener(k=3)),
            SPARSE,
            Y,
        ),
        "imputed": (
            make_pipeline(SimpleImputer(strategy="median"), bs.SelectiveNB(pairs=0)),
            HOLES,
            Y,
        ),
        "imputed words": (
            make_pipeline(
                SimpleImputer(
                    strategy="constant", fill_value="none", missing_values=None
                ),
                OrdinalEncoder(),
                bs.SparseCategoricalNB("all"),
            ),
            MIXED[["town", "mood"]],
            YES_NO,
        ),
        "one hot": (
            make_pipeline(OneHotEncoder(), bs.SparseBernoulliNB(3)),
            MIXED[["town", "mood"]],
            YES_NO,
        ),
        "one hot dropped": (
            make_pipeline(OneHotEncoder(drop="if_binary"), multinomial()),
            np.minimum(NUMBERS[:, :4], 2),
            Y,
        ),
        "one hot first": (
            make_pipeline(
                OneHotEncoder(drop="first", sparse_output=False, dtype=np.int8),
                multinomial(),
            ),
            np.minimum(COUNTS[:, :4], 3),
            Y,
        ),
        "one hot strings": (
            make_pipeline(
                OneHotEncoder(categories=[["Rome", "Oslo", "Lima"]]), multinomial(2)
            ),
            MIXED[["town"]].to_numpy().astype(str),
            YES_NO,
        ),
        "ordinal": (
            make_pipeline(
                OrdinalEncoder(
                    handle_unknown="use_encoded_value",
                    unknown_value=-1,
                    encoded_missing_value=-2,
                ),
                bs.SparseGaussianNB("all"),
            ),
            np.where(NUMBERS[:, :4] > 3, np.nan, NUMBERS[:, :4]),
            Y,
        ),
        "bins": (
            make_pipeline(
                KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
                bs.SparseCategoricalNB(3),
            ),
            NUMBERS,
            Y,
        ),
        "bins one hot": (
            make_pipeline(
                KBinsDiscretizer(3, strategy="uniform", dtype=np.float32),
                bs.SparseBernoulliNB(3),
            ),
            NUMBERS,
            Y,
        ),
        "variances": (make_pipeline(VarianceThreshold(1.0), multinomial()), SPARSE, Y),
        "best": (
            make_pipeline(CountVectorizer(), SelectKBest(chi2, k=4), multinomial(3)),
            TEXTS,
            YES_NO,
        ),
        "best without p": (
            make_pipeline(
                CountVectorizer(), SelectKBest(odds_ratio, k=4), multinomial(3)
            ),
            TEXTS,
            YES_NO,
        ),
        "percentile": (
            make_pipeline(SelectPercentile(f_classif, percentile=50), multinomial()),
            NUMBERS,
            Y,
        ),
        "selector": (
            make_pipeline(
                CountVectorizer(), bs.NaiveFeatureSelector(4), LogisticRegression()
            ),
            TEXTS,
            YES_NO,
        ),
        "vector machine": (
            make_pipeline(bs.NaiveFeatureSelector(4), LinearSVC()),
            NUMBERS,
            Y,
        ),
        "logistic": (
            make_pipeline(
                bs.NaiveFeatureSelector(4), LogisticRegression(fit_intercept=False)
            ),
            NUMBERS,
            Y,
        ),
        "their multinomial": (
            make_pipeline(bs.NaiveFeatureSelector(4), MultinomialNB()),
            SPARSE,
            Y,
        ),
        "their bernoulli": (
            make_pipeline(bs.NaiveFeatureSelector(4), BernoulliNB()),
            NUMBERS,
            YES_NO,
        ),
        "their complement": (
            make_pipeline(bs.NaiveFeatureSelector(4), ComplementNB()),
            NUMBERS,
            Y,
        ),
        "encoder": (
            make_pipeline(
                bs.MODLEncoder(output="log_likelihood"),
                bs.SelectiveNB(input="log_likelihood"),
            ),
            TABLE,
            YES_NO,
        ),
        "wide": (
            make_pipeline(MaxAbsScaler(), bs.SelectiveMultinomialNB(k=3)),
            SPARSE,
            YES_NO,
        ),
        "kept counts": (
            make_pipeline("passthrough", bs.SparseMultinomialNB(4, keep_counts=True)),
            NUMBERS,
            Y,
        ),
        "columns": (make_pipeline(_columns(), multinomial()), MIXED, YES_NO),
        "columns polars": (
            make_pipeline(_columns(), multinomial()),
            pl.DataFrame(MIXED.to_dict("list")),
            YES_NO,
        ),
        "columns passed": (
            make_pipeline(
                ColumnTransformer(
                    [
                        ("words", TfidfVectorizer(), "text"),
                        ("no", "drop", ["mood", "town"]),
                    ],
                    remainder="passthrough",
                    transformer_weights={"words": 2.0},
                    verbose_feature_names_out=False,
                ),
                multinomial(),
            ),
            MIXED,
            YES_NO,
        ),
        "columns by kind": (
            make_pipeline(
                ColumnTransformer(
                    [
                        (
                            "numbers",
                            make_pipeline(SimpleImputer(), MinMaxScaler()),
                            make_column_selector(dtype_include="number"),
                        ),
                        ("empty", StandardScaler(), []),
                    ],
                    remainder=OneHotEncoder(handle_unknown="ignore"),
                ),
                bs.SparseMultinomialNB(6),
            ),
            MIXED.drop(columns="text"),
            YES_NO,
        ),
        "columns of arrays": (
            make_pipeline(
                ColumnTransformer(
                    [
                        ("first", StandardScaler(), slice(0, 3)),
                        ("mask", MinMaxScaler(), np.arange(12) == 5),
                        ("last", "passthrough", [-1, 7]),
                    ],
                ),
                bs.SparseGaussianNB(3),
            ),
            NUMBERS,
            Y,
        ),
        "columns sparse": (
            make_pipeline(
                ColumnTransformer(
                    [("some", MaxAbsScaler(), [0, 1, 2]), ("rest", "passthrough", [5])]
                ),
                multinomial(3),
            ),
            sparse.csr_matrix(NUMBERS),
            Y,
        ),
        "union": (
            make_pipeline(
                FeatureUnion(
                    [
                        ("words", CountVectorizer()),
                        ("letters", TfidfVectorizer(analyzer="char")),
                        ("none", "drop"),
                    ],
                    transformer_weights={"words": 3.0},
                ),
                multinomial(),
            ),
            TEXTS,
            YES_NO,
        ),
        "union passed": (
            make_pipeline(
                FeatureUnion([("scaled", MinMaxScaler()), ("same", "passthrough")]),
                multinomial(),
            ),
            NUMBERS,
            Y,
        ),
        "nested": (
            make_pipeline(
                make_pipeline(CountVectorizer(), TfidfTransformer(norm=None)),
                multinomial(),
            ),
            TEXTS,
            YES_NO,
        ),
        "named output": (
            make_pipeline(MinMaxScaler(), multinomial()).set_output(transform="pandas"),
            pd.DataFrame(NUMBERS, columns=[f"c{j}" for j in range(12)]),
            Y,
        ),
        "named selector": (
            make_pipeline(
                StandardScaler(),
                bs.NaiveFeatureSelector(3, model="gaussian"),
                LogisticRegression(),
            ).set_output(transform="polars"),
            pd.DataFrame(NUMBERS, columns=[f"c{j}" for j in range(12)]),
            Y,
        ),
    }
    return found


@cache
def fitted():
    """Name to (fitted pipeline, rows)."""
    return {name: (model.fit(X, y), X) for name, (model, X, y) in recipes().items()}


def said(model, rows):
    """Everything a pipeline says about rows, as a list of arrays."""
    found = []
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            answer = getattr(model, method)(rows)
            found.append(answer.toarray() if sparse.issparse(answer) else answer)
    return [np.asarray(own) for own in found]
