"""Displays, reports, comparisons and explanations of models in pipelines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesieve as bs
from bayesieve.datasets import load_sms_spam
from bayesieve.inspection import (
    collect_report,
    compare_models,
    explain,
    input_shift,
    render_report,
    summary,
)

MESSAGES, LABELS = load_sms_spam(return_X_y=True)
MESSAGES, LABELS = MESSAGES[:1500], LABELS[:1500]


@pytest.fixture(scope="module")
def words():
    model = bs.SparseMultinomialNB(k=10, keep_counts=True)
    return make_pipeline(CountVectorizer(), model).fit(MESSAGES, LABELS)


@pytest.fixture(scope="module")
def weighted():
    model = bs.SelectiveMultinomialNB(k=8)
    return make_pipeline(CountVectorizer(), model).fit(MESSAGES, LABELS)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(800, 3)), columns=["age", "weight", "noise"])
    frame.index = [f"row {i}" for i in range(800)]
    y = (frame["age"] > 0.2) ^ (frame["weight"] > 0.1) | (frame["age"] > 1.0)
    frame.iloc[:5, 2] = np.nan
    model = bs.SelectiveNB(pairs=1)
    return make_pipeline(SimpleImputer(), StandardScaler(), model).fit(frame, y), frame


def texts_in(ax):
    labels = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts]
    return [own.get_text() for own in [*labels, ax.title, ax.xaxis.label]]


@pytest.mark.parametrize(
    "display", [bs.FeatureWeightsDisplay, bs.DiscountDisplay, bs.WeightPathDisplay]
)
def test_displays_show_words(display, weighted):
    drawn = display.from_estimator(weighted)
    drawn.figure_.draw_without_rendering()
    shown = set(texts_in(drawn.ax_))
    assert "txt" in shown or "claim" in shown
    assert not any(text[:1] == "x" and text[1:].isdigit() for text in shown)
    pair = display.from_estimator((weighted[0], weighted[1]))
    assert set(texts_in(pair.ax_)) == shown
    names = [f"w{j}" for j in range(weighted[1].n_features_in_)]
    given = display.from_estimator(weighted, feature_names=names)
    assert any(text[:1] == "w" and text[1:].isdigit() for text in texts_in(given.ax_))


def test_displays_without_names_take_pipelines(words, table):
    bs.SparsityPathDisplay.from_estimator(words)
    bs.ReliabilityDisplay.from_estimator(words, MESSAGES, LABELS)
    bs.ReliabilityDisplay.from_estimator((words[0], words[1]), MESSAGES, LABELS)
    bs.WeightHistoryDisplay.from_estimator(table[0])


def test_displays_of_tables_know_the_columns(table):
    model, frame = table
    shown = bs.PartitionDisplay.from_estimator(model, "age")
    assert shown.ax_.get_title(loc="left").startswith("age: ")
    shown = bs.ShapeDisplay.from_estimator(model, "age")
    assert shown.ax_.get_title(loc="left").startswith("age: ")
    shown = bs.PairDisplay.from_estimator(model, ("age", "weight"))
    assert {shown.ax_.get_xlabel(), shown.ax_.get_ylabel()} == {"age", "weight"}
    named = ["a", "b", "c"]
    shown = bs.PartitionDisplay.from_estimator(model, "b", feature_names=named)
    assert shown.ax_.get_title(loc="left").startswith("b: ")
    shown = bs.ExplanationDisplay.from_estimator(model, frame[:1])
    assert "age \u00d7 weight" in " ".join(texts_in(shown.ax_))
    with pytest.raises(TypeError, match="estimator with partitions_"):
        bs.PartitionDisplay.from_estimator(
            bs.SparseGaussianNB(2).fit(frame.fillna(0), frame["age"] > 0), "age"
        )


def test_a_report_speaks_in_words(words):
    alone = collect_report(words[1], data_name="sms")
    report = collect_report(words, data_name="sms")
    assert len(report.names) == len(alone.names)
    vocabulary = set(words[0].get_feature_names_out())
    assert set(report.names) <= vocabulary
    assert report.features["rows"] == alone.features["rows"]
    assert "claim" in render_report(report)
    assert "# X: the columns that CountVectorizer give" in report.python
    told = [row["name"] for row in report.parameters]
    assert "CountVectorizer.ngram_range" in told
    assert "SparseMultinomialNB.k" in told
    given = collect_report(
        (words[0], words[1]),
        data_name="sms",
        feature_names=[f"w{j}" for j in range(words[1].n_features_in_)],
    )
    assert all(name.startswith("w") for name in given.names)


def test_a_report_of_a_selector_before_another_classifier():
    model = make_pipeline(
        TfidfVectorizer(), bs.NaiveFeatureSelector(8), LogisticRegression()
    ).fit(MESSAGES, LABELS)
    report = collect_report(model, data_name="sms")
    assert report.model == "NaiveFeatureSelector"
    assert set(report.names) <= set(model[0].get_feature_names_out())


def test_a_report_of_a_table_has_its_columns(table):
    report = collect_report(table[0], data_name="people")
    assert {item["name"] for item in report.columns["items"]} <= set(table[1].columns)
    assert report.shapes["columns"][0]["name"] in table[1].columns


def test_comparing_pipelines_by_words(words, weighted):
    found = compare_models(words, weighted, MESSAGES, LABELS)
    both = {feature.name for feature in found.only("both")}
    vocabulary = set(words[0].get_feature_names_out())
    assert both
    assert {feature.name for feature in found.features} <= vocabulary
    assert found.predictions.n_rows == len(MESSAGES)
    right = np.count_nonzero(words.predict(MESSAGES) == LABELS)
    assert found.predictions.n_right[0] == right
    other = make_pipeline(
        CountVectorizer(), bs.NaiveFeatureSelector(5), LogisticRegression()
    ).fit(MESSAGES, LABELS)
    mixed = compare_models(words, other, MESSAGES, LABELS)
    assert mixed.predictions.n_right[1] == np.count_nonzero(
        other.predict(MESSAGES) == LABELS
    )
    names = [f"w{j}" for j in range(words[1].n_features_in_)]
    named = compare_models(words, weighted, feature_names=names)
    assert all(own.name.startswith("w") for own in named.features)


def test_shift_of_the_input_of_a_pipeline(words, table):
    found = input_shift(words, ["free claim prize txt"] * 200)
    assert "claim" in [column.name for column in found.shifted]
    alone = input_shift(words[1], words[0].transform(["free claim prize txt"] * 200))
    assert len(alone.columns) == len(found.columns)
    assert [own.divergence for own in alone.columns] == [
        own.divergence for own in found.columns
    ]
    model, frame = table
    moved = input_shift(model, frame.assign(age=frame["age"] + 2))
    assert [column.name for column in moved.shifted] == ["age"]
    other = make_pipeline(
        CountVectorizer(), bs.NaiveFeatureSelector(5), LogisticRegression()
    ).fit(MESSAGES, LABELS)
    with pytest.raises(TypeError, match="classifier of bayesieve as the last step"):
        input_shift(other, MESSAGES)


# --------------------------------------------------------------------------- explaining


def test_explaining_a_pipeline_gives_the_rows_and_names_of_its_input(table):
    model, frame = table
    found = explain(model, frame[:6])
    alone = model[-1].explain(model[:-1].transform(frame[:6]))
    np.testing.assert_array_equal(found.values, alone.values)
    assert found.features == [
        name.replace("x0", "age").replace("x1", "weight").replace("x2", "noise")
        for name in alone.features
    ]
    assert found.by_column().features == ["age", "weight"]
    assert list(found.to_frame().index) == list(frame.index[:6])
    scores = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(
        scores, model[-1].predict_joint_log_proba(model[:-1].transform(frame[:6]))
    )
    renamed = explain(model, frame[:1], feature_names=["a", "b", "c"])
    assert set(renamed.by_column().features) <= {"a", "b"}


def test_explaining_a_bare_model_is_what_the_model_says(table):
    frame = table[1].fillna(0)
    model = bs.SelectiveNB(pairs=0).fit(frame, frame["age"] > 0)
    assert explain(model, frame[:3]).features == model.explain(frame[:3]).features
    named = explain(model, frame[:3], feature_names=["a", "b", "c"])
    assert set(named.features) <= {"a", "b", "c"}
    np.testing.assert_array_equal(named.values, model.explain(frame[:3]).values)


def test_texts_and_columns_of_a_column_transformer():
    texts = list(MESSAGES[:300])
    frame = pd.DataFrame({"text": texts, "length": [float(len(t)) for t in texts]})
    columns = ColumnTransformer(
        [
            ("words", CountVectorizer(max_features=30), "text"),
            ("rest", "passthrough", ["length"]),
        ],
        sparse_threshold=0,
    )
    model = make_pipeline(columns, bs.SelectiveNB(pairs=0)).fit(frame, LABELS[:300])
    found = explain(model, frame[:2])
    assert "length" in found.features
    known = {*model[0].named_transformers_["words"].vocabulary_, "length"}
    assert set(found.features) <= known


def test_what_cannot_be_explained_is_one_sentence():
    selector = bs.NaiveFeatureSelector(2).fit([[0, 1], [3, 1]], [0, 1])
    with pytest.raises(TypeError, match=r"explain\(X\). Got NaiveFeatureSelector"):
        explain(selector, [[0, 1]])
    with pytest.raises(TypeError, match="Got LogisticRegression"):
        explain(LogisticRegression(), [[0, 1]])
    with pytest.raises(NotFittedError):
        explain(make_pipeline(StandardScaler(), bs.SelectiveNB()), [[0, 1]])


# ------------------------------------------------------------------------------ summary


def test_a_summary_in_notebooks_and_terminals(words):
    found = summary(words)
    assert found.sentence == "Proven: no other 10 features explain the labels better."
    assert "claim" in found.features
    assert len(found.features) == 10
    page, text = found._repr_html_(), str(found)
    assert "<table>" in page
    for name in found.features:
        assert name in page
        assert name in text
    assert text.startswith("SparseMultinomialNB: Proven")
    assert repr(found) == text
    more = summary(
        make_pipeline(CountVectorizer(), bs.SparseMultinomialNB(k=30)).fit(
            MESSAGES, LABELS
        )
    )
    assert "and 20 more" in str(more)


def test_names_in_a_summary_are_escaped():
    model = bs.SparseMultinomialNB(k=2).fit([[0, 3], [3, 0]], [0, 1])
    page = summary(model, ["<b>", "a\nb"])._repr_html_()
    assert "&lt;b&gt;" in page
    assert "a b" in str(summary(model, ["<b>", "a\nb"]))


def test_a_summary_of_weights_without_a_sign(table):
    assert "age \u00d7 weight" in str(summary(table[0]))


# -------------------------------------------------------------------------- vectorizer


def test_a_vectorizer_of_what_a_pipeline_has_selected():
    first = CountVectorizer(ngram_range=(1, 2), lowercase=False)
    model = make_pipeline(first, bs.SparseMultinomialNB(k=20)).fit(MESSAGES, LABELS)
    vectorizer = bs.to_vectorizer(model)
    places = model[1].support_indices_
    names = model[0].get_feature_names_out()[places]
    assert vectorizer.get_feature_names_out().tolist() == names.tolist()
    expected = model[0].transform(MESSAGES)[:, places]
    assert (vectorizer.transform(MESSAGES) != expected).nnz == 0
    given = bs.to_vectorizer(
        model[1],
        feature_names=model[0].get_feature_names_out(),
        ngram_range=(1, 2),
        lowercase=False,
    )
    assert given.get_feature_names_out().tolist() == names.tolist()
    with pytest.raises(ValueError, match="feature_names=, or the Pipeline"):
        bs.to_vectorizer(model[1])
