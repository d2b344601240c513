"""`bayesieve.report`: models and pipelines with test rows, to a page; its examples."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import bayesieve
from bayesieve import (
    NaiveFeatureSelector,
    SelectiveMultinomialNB,
    SelectiveNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseSequenceNB,
    SparseTextNB,
)
from bayesieve._description import describe
from bayesieve._pipeline import open_model
from bayesieve.datasets import load_sms_spam
from bayesieve.inspection._examples import contexts_of, examples_of

HOSTILE = "</script><img src=x onerror=alert(1)> free \u202e\x00 prize"


@pytest.fixture(scope="module")
def spam():
    messages, labels = load_sms_spam(return_X_y=True)
    return list(messages), np.asarray(labels)


def halves(spam, n=1200):
    messages, labels = spam
    return messages[:n], labels[:n], messages[n : 2 * n], labels[n : 2 * n]


MODELS = {
    "texts": lambda: SparseTextNB(20),
    "weighted texts": lambda: SparseTextNB("1se", weights=True),
    "bernoulli texts": lambda: SparseTextNB(20, model="bernoulli", ngram_range=(1, 2)),
    "pipeline": lambda: make_pipeline(CountVectorizer(), SparseMultinomialNB(20)),
    "weighted pipeline": lambda: make_pipeline(
        CountVectorizer(binary=True), SelectiveMultinomialNB(k=30)
    ),
    "tfidf": lambda: make_pipeline(TfidfVectorizer(), SparseMultinomialNB(20)),
    "selector": lambda: make_pipeline(
        CountVectorizer(), NaiveFeatureSelector(20), LogisticRegression()
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_texts_of_models_and_pipelines(name, spam, tmp_path):
    train, y, test, y_test = halves(spam)
    model = MODELS[name]().fit(train, y)
    path = tmp_path / "r.html"
    found = bayesieve.report(model, test, y_test, path)
    accuracy = float(np.mean(model.predict(test) == y_test))
    assert found.evaluation["accuracy"] == pytest.approx(accuracy)
    assert found.verdict["lines"][0].startswith("Right on")
    page = path.read_text(encoding="utf-8")
    assert "r.html" in page
    # Words, not numbers of columns.
    names = [found.names[row["name"]] for row in found.features["rows"]]
    assert "claim" in names or "free" in names or "call" in names
    assert not any(own.startswith("x1") for own in names)
    if name != "selector":
        assert {own["kind"] for own in found.documents} >= {"certain", "edge"}
        marked = [p for own in found.documents for p in own["pieces"] if p["nats"]]
        assert marked
        for own, document in zip(found.documents, found.documents, strict=True):
            text = "".join(piece["text"] for piece in own["pieces"])
            assert (
                text.split()
                == " ".join(test[document["row"] - 1][:3000].split()).split()
            )


def test_frames_matrices_and_measurements(spam, tmp_path):
    messages, labels = spam
    frame = pd.DataFrame({"text": messages, "length": list(map(len, messages))})
    columns = make_column_transformer(
        (CountVectorizer(), "text"), ("passthrough", ["length"])
    )
    model = make_pipeline(columns, SelectiveMultinomialNB(k=20))
    model.fit(frame[:1000], labels[:1000])
    found = bayesieve.report(
        model, frame[1000:2000], labels[1000:2000], tmp_path / "a.html"
    )
    assert found.documents[0]["terms"]
    table = pd.DataFrame(
        {
            "length": frame["length"],
            "digits": [sum(map(str.isdigit, own)) for own in messages],
        }
    )
    model = SelectiveNB().fit(table[:2000], labels[:2000])
    found = bayesieve.report(model, table[2000:], labels[2000:], tmp_path / "b.html")
    assert {own["name"] for own in found.documents[0]["terms"]} <= {
        "length",
        "digits",
        "length \u00d7 digits",
    }
    X = sparse.csr_array(np.random.default_rng(0).poisson(1.0, (200, 9)))
    y = np.arange(200) % 2
    model = SparseMultinomialNB(3).fit(X[:100], y[:100])
    names = [f"gene {j}" for j in range(9)]
    found = bayesieve.report(model, X[100:], y[100:], tmp_path / "c.html", names)
    assert found.names[found.features["rows"][0]["name"]].startswith("gene ")
    assert found.verdict["lines"][0].startswith("No better than guessing")
    X = np.random.default_rng(0).normal(size=(200, 5)) + y[:, None]
    model = SparseGaussianNB(2).fit(X[:100], y[:100])
    bayesieve.report(model, X[100:], y[100:], tmp_path / "d.html", error_cost={1: 3})
    assert len(os.listdir(tmp_path)) == 4


def test_labels_that_are_no_classes_are_refused(spam, tmp_path):
    train, y, test, _ = halves(spam, 300)
    model = SparseTextNB(5).fit(train, y)
    with pytest.raises(
        ValueError, match=r"classes of the model: 'ham', 'spam'. Got 'eggs'"
    ):
        bayesieve.report(model, test, ["eggs"] * len(test), tmp_path / "r.html")
    with pytest.raises(ValueError, match="at least one label"):
        bayesieve.report(model, [], [], tmp_path / "r.html")
    assert os.listdir(tmp_path) == []


def test_hostile_texts_stay_text(spam, tmp_path):
    train, y, test, y_test = halves(spam, 600)
    model = SparseTextNB("1se", weights=True).fit(train, y)
    test, y_test = [HOSTILE] * 5 + test, np.append(["ham"] * 5, y_test)
    path = tmp_path / "r.html"
    found = bayesieve.report(model, test, y_test, path)
    assert any("onerror" in p["text"] for d in found.documents for p in d["pieces"])
    page = path.read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert page.count("</script>") == 2
    assert "\u202e" not in page


def test_nats_of_pieces_add_up_to_what_the_terms_say(spam):
    train, y, test, y_test = halves(spam)
    model = SparseTextNB("1se", weights=True).fit(train, y)
    codes = np.searchsorted(model.classes_, y_test)
    opened = open_model(model)
    found = examples_of(opened, test, codes, ["ham", "spam"], model.predict_proba(test))
    for own in found:
        explained = model.explain([test[own["row"] - 1][:3000]])
        values, _ = explained.contrast(own["predicted"])
        total = float(values.sum())
        marked = sum(piece["nats"] or 0.0 for piece in own["pieces"])
        # Single words do not overlap: every one that says something is marked.
        assert marked == pytest.approx(total, abs=1e-6 + 1e-6 * abs(total))
        assert own["predicted"] in ("ham", "spam")
        right = own["label"] == own["predicted"]
        assert {"certain": right, "wrong": not right}.get(own["kind"], True)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", ["bernoulli", "multinomial"])
def test_examples_of_sequences_say_what_is_there_and_what_is_not(
    kind, weights, tmp_path
):
    rng = np.random.default_rng(0)
    paths, labels = [], ["ab"[i % 2] for i in range(40)]
    for i, label in enumerate(labels):
        bases = "".join(rng.choice(list("ACGT"), 60))
        gene = "ACCATGGATTACA" if (label == "b") != (i < 2) else ""
        paths.append(tmp_path / f"{i}.fa")
        paths[-1].write_text(f">{i}\n{bases}{gene}\n")
    model = SparseSequenceNB(3, length=8, model=kind, weights=weights)
    model.fit(paths, labels)
    found = bayesieve.report(model, paths, labels, tmp_path / "r.html").documents
    everything = model.explain(paths)
    for own in found:
        row = own["row"] - 1
        assert own["name"] == str(paths[row])
        assert own["pieces"] == []
        values = [term["value"] for term in own["terms"]]
        n_there = everything[row].terms.of_row(0)[0].size
        if kind == "bernoulli":
            assert len(values) == np.count_nonzero(getattr(model, "weights_", [1] * 3))
            assert values.count("present") == n_there
            assert set(values) <= {"present", "absent"}
        else:
            assert len(values) == n_there
        # With the shares of the classes they are all of the log-odds.
        proba = model.predict_proba([paths[row]])[0]
        best = int(proba.argmax())
        odds = np.log(proba[best] / proba[1 - best])
        prior = np.diff(model._start_scores())[0] * (1 if best else -1)
        nats = sum(term["nats"] for term in own["terms"])
        assert nats + prior == pytest.approx(odds, abs=1e-9)
        assert (own["note"] is not None) == (n_there == 0)
    nothing = [own["note"] for own in found if own["note"]]
    assert nothing
    assert all(told.startswith("None of the k-mers is in it: ") for told in nothing)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert nothing[0] in page
    assert '<body class="spelt">' in page


def test_contexts_hold_the_term(spam):
    train, y, test, _ = halves(spam)
    model = SparseTextNB(10).fit(train, y)
    found = contexts_of(open_model(model), describe(model), test)
    assert found.keys() <= set(model.support_terms_)
    for term, uses in found.items():
        assert 1 <= len(uses) <= 3
        for before, match, after in uses:
            assert match.lower() == term
            assert len(before) <= 40 >= len(after)
            assert any(before + match + after in text for text in test)
