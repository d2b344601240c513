"""SparseTextNB(weights=True): the weighted classifier on raw texts and on files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss

from bayesieve import SelectiveBernoulliNB, SelectiveMultinomialNB, SparseTextNB
from bayesieve.datasets import load_sms_spam


@pytest.fixture(scope="module")
def messages():
    texts, labels = load_sms_spam(return_X_y=True)
    return list(texts)[:2000], np.asarray(labels)[:2000]


@pytest.mark.parametrize(
    ("model", "twin"),
    [("multinomial", SelectiveMultinomialNB), ("bernoulli", SelectiveBernoulliNB)],
)
def test_weights_are_those_of_the_classifier_on_the_matrix(messages, model, twin):
    texts, labels = messages
    ours = SparseTextNB(k=60, model=model, weights=True, ngram_range=(1, 2))
    ours.fit(texts, labels)
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    X = vectorizer.fit_transform(texts)
    theirs = twin(k=60).fit(X, labels)
    names = vectorizer.get_feature_names_out()[theirs.support_]
    assert ours.support_terms_ == names.tolist()
    np.testing.assert_allclose(ours.weights_, theirs.weights_[theirs.support_])
    np.testing.assert_allclose(
        ours.predict_proba(texts), theirs.predict_proba(X), atol=1e-10
    )
    np.testing.assert_allclose(
        ours.coef_.ravel(), theirs.coef_.ravel()[theirs.support_], atol=1e-10
    )
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
    assert ours.lambda_ == pytest.approx(theirs.lambda_)
    assert not hasattr(ours, "_rows_of")


def test_weights_lower_the_log_loss(messages):
    texts, labels = messages
    train, test = slice(0, 1200), slice(1200, 2000)
    plain = SparseTextNB(k=100).fit(texts[train], labels[train])
    weighted = SparseTextNB(k=100, weights=True).fit(texts[train], labels[train])
    assert log_loss(labels[test], weighted.predict_proba(texts[test])) < log_loss(
        labels[test], plain.predict_proba(texts[test])
    )


def test_a_model_survives_pickling_and_a_later_fit_without_weights(messages):
    texts, labels = messages
    model = SparseTextNB(k=20, weights=True).fit(texts, labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict_proba(texts[:50]), model.predict_proba(texts[:50])
    )
    model.set_params(weights=False).fit(texts, labels)
    plain = SparseTextNB(k=20).fit(texts, labels)
    np.testing.assert_array_equal(
        model.predict_proba(texts[:50]), plain.predict_proba(texts[:50])
    )
    assert not hasattr(model, "weights_")


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_files_give_what_the_texts_give(messages, tmp_path, weights, model):
    pd = pytest.importorskip("pandas")
    texts, labels = messages
    frame = pd.DataFrame({"body": texts, "kind": labels})
    frame[:700].to_csv(tmp_path / "a.csv", index=False)
    frame[700:].to_csv(tmp_path / "b.csv", index=False)
    whole = SparseTextNB(k=40, weights=weights, model=model).fit(texts, labels)
    found = SparseTextNB(k=40, weights=weights, model=model).fit_files(
        str(tmp_path / "*.csv"), text="body", label="kind"
    )
    assert found.support_terms_ == whole.support_terms_
    np.testing.assert_allclose(
        found.predict_proba(texts[:100]), whole.predict_proba(texts[:100]), atol=1e-10
    )


def test_numbers_as_labels_and_bad_rows_of_files(tmp_path):
    path = tmp_path / "c.csv"
    rows = [f"good film {i},1\nbad film {i},0\n" for i in range(30)]
    path.write_text("text,label\n" + "".join(rows) + "good,\n", encoding="utf-8")
    from bayesieve.exceptions import BadRowsWarning

    with pytest.warns(BadRowsWarning, match="1 bad row"):
        model = SparseTextNB(k=2, weights=True).fit_files(path, on_bad_rows="skip")
    assert model.classes_.tolist() == [0, 1]
    assert model.predict(["good"]).tolist() == [1]


def test_less_memory_than_rows_need_still_learns(messages):
    texts, labels = messages
    batches = [(texts[i : i + 250], labels[i : i + 250]) for i in range(0, 2000, 250)]
    whole = SparseTextNB(k=50, weights=True).fit(texts, labels)
    # Half of the rows choose the terms, all of them settle the weights.
    small = SparseTextNB(k=50, weights=True, memory_budget=400_000).fit_files(batches)
    assert 0 < small.k_ <= 50
    assert len(set(small.support_terms_) & set(whole.support_terms_)) > 25
    assert log_loss(labels, small.predict_proba(texts)) < 1.5 * log_loss(
        labels, whole.predict_proba(texts)
    )


def test_what_weights_cannot_do_is_said(messages):
    texts, labels = messages
    model = SparseTextNB(k=10, weights=True)
    with pytest.raises(ValueError, match="partial_fit cannot optimise weights"):
        model.partial_fit(texts, labels, classes=np.unique(labels))
    counted = SparseTextNB(k=10, keep_counts=True).fit(texts, labels).counts_
    with pytest.raises(ValueError, match="needs rows"):
        model.fit_counts(counted)
    with pytest.raises(ValueError, match=r"with weights=True\. Got 'all'"):
        SparseTextNB(k="all", weights=True).fit(texts, labels)
    with pytest.raises(ValueError, match="above 0 with weights=True"):
        SparseTextNB(k=10, alpha=0.0, weights=True).fit(texts, labels)
    with pytest.raises(ValueError, match="an iterator can be read once"):
        model.fit_files(iter([(texts, labels)]))
    with pytest.raises(ValueError, match="at least two classes in 'label'"):
        model.fit_files([(texts[:3], ["a", "a", "a"])])
