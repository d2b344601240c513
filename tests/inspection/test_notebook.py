"""What a notebook shows of an estimator."""

from __future__ import annotations

import numpy as np
import sklearn
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from tests.inspection.reports import HOSTILE, hostile_counts

from bayesieve import (
    ClassCounts,
    SelectiveNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseTextNB,
)


def test_certificate_and_features_stand_below_the_diagram():
    texts = ["free prize now", "see you at home", "free call", "home soon"]
    model = SparseTextNB(k=3).fit(texts, ["spam", "ham", "spam", "ham"])
    page = model._repr_html_()
    diagram, summary = page.split("<strong>")
    assert "sk-container" in diagram
    assert summary.startswith("Proven: no other 3 terms explain the labels better.")
    for term in model.support_terms_:
        assert f">{term}</td>" in summary
    assert model._repr_mimebundle_()["text/html"].count("<strong>") == 1


def test_an_estimator_that_is_not_fitted_shows_its_diagram_only():
    assert "<strong>" not in SparseMultinomialNB(k=3)._repr_html_()
    assert "<strong>" not in SelectiveNB()._repr_mimebundle_()["text/html"]


def test_names_are_escaped():
    model = SparseMultinomialNB(k=8).fit_counts(hostile_counts())
    summary = model._repr_html_().split("<strong>")[1]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in summary
    for attack in HOSTILE[:4]:
        assert attack not in summary


def test_ten_features_and_how_many_more():
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, size=(50, 30))
    model = SparseMultinomialNB(k=25).fit(X, rng.integers(2, size=50))
    summary = model._repr_html_().split("<strong>")[1]
    assert summary.count("<tr>") == 11
    assert "and 15 more" in summary


def test_more_classes_and_weighted_columns():
    X, y = load_iris(return_X_y=True, as_frame=True)
    page = SparseGaussianNB(k=2).fit(X, y)._repr_html_()
    assert "speaks for" in page
    page = SelectiveNB().fit(X, y)._repr_html_()
    assert "columns used; the others have no weight" in page
    assert "petal width (cm)</td>" in page


def test_diagrams_can_be_turned_off():
    model = SparseMultinomialNB(k=2).fit([[1, 0], [0, 1]], [0, 1])
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_inside_a_pipeline_only_the_diagram_is_shown():
    pipeline = make_pipeline(SparseMultinomialNB(k=2)).fit([[1, 0], [0, 1]], [0, 1])
    assert "<strong>Proven" not in pipeline._repr_html_()


def test_a_million_features_cost_nothing():
    counts = ClassCounts(
        classes=np.arange(2),
        class_count=[10.0, 10.0],
        feature_count=np.random.default_rng(0).integers(9, size=(2, 10**6)),
    )
    model = SparseMultinomialNB(k="all").fit_counts(counts)
    assert len(model._repr_html_()) < 100_000


def test_a_gap_is_told():
    hard = np.random.default_rng(0).random((6, 12)) ** 8
    counts = ClassCounts(
        classes=np.arange(6), class_count=np.ones(6), feature_count=hard
    )
    model = SparseMultinomialNB(k=3, exact=False, alpha=0.0).fit_counts(counts)
    share = 100 * model.certificate_.relative_gap
    assert 0 < share < 100
    assert f"at most {share:.2g} % short" in model._repr_html_()
