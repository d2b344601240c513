"""The command line with pipelines that were saved from Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.files import reviews, write_reviews
from tests.cli.test_predict import rows_of
from tests.cli.test_select import refused

from bayesieve import (
    NaiveFeatureSelector,
    SelectiveNB,
    SparseMultinomialNB,
    save_model,
)
from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")


def saved(tmp_path, *steps, name="model"):
    texts, labels = zip(*reviews(200, 0), strict=True)
    model = make_pipeline(*steps).fit(texts, labels)
    path = tmp_path / name
    save_model(model, path)
    return model, path


@pytest.mark.parametrize("first", [CountVectorizer(), TfidfVectorizer(norm=None)])
def test_predictions_of_a_pipeline_over_texts(first, tmp_path, capsys):
    model, path = saved(tmp_path, first, SparseMultinomialNB(k=8))
    data = write_reviews(tmp_path, "csv", "new", n=50, seed=9)
    assert main(["predict", str(path), str(data)]) == 0
    rows = rows_of(capsys.readouterr().out)
    texts, _ = zip(*reviews(50, 9), strict=True)
    assert [row["prediction"] for row in rows] == model.predict(texts).tolist()
    chances = [float(row["probability"]) for row in rows]
    np.testing.assert_allclose(
        chances, model.predict_proba(texts).max(axis=1), rtol=1e-5
    )


def test_report_and_comparison_of_pipelines_speak_in_words(tmp_path, capsys):
    model, path = saved(tmp_path, CountVectorizer(), SparseMultinomialNB(k=8))
    _, other = saved(
        tmp_path, CountVectorizer(), SparseMultinomialNB(k=4), name="other"
    )
    page = tmp_path / "report.html"
    assert main(["report", str(path), "--out", str(page)]) == 0
    word = model[0].get_feature_names_out()[model[1].support_indices_[0]]
    assert word in page.read_text(encoding="utf-8")
    data = write_reviews(tmp_path, "csv", "new", n=50, seed=9)
    capsys.readouterr()
    assert main(["compare", str(path), str(other), str(data), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = {feature["name"] for feature in found["features"]}
    assert names <= set(model[0].get_feature_names_out())


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_pipelines_over_tables_are_refused_clearly(command, tmp_path, capsys):
    model = make_pipeline(StandardScaler(), SelectiveNB(pairs=0))
    model.fit(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    path = tmp_path / "model"
    save_model(model, path)
    data = write_reviews(tmp_path, "csv", "new", n=5, seed=9)
    told = refused(capsys, command, path, data)
    assert "begin with a vectorizer of texts" in told


def test_pipelines_that_end_with_another_classifier_are_refused(tmp_path, capsys):
    _, path = saved(
        tmp_path, CountVectorizer(), NaiveFeatureSelector(5), LogisticRegression()
    )
    data = write_reviews(tmp_path, "csv", "new", n=5, seed=9)
    told = refused(capsys, "predict", path, data)
    assert "end with a classifier of bayesieve" in told
