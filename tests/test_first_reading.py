"""What somebody who met the package for the first time stumbled over."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from tests.inspection.reports import score_report

import bayesieve
from bayesieve import SelectiveNB, SparseMultinomialNB
from bayesieve._description import describe, weighted_sentence
from bayesieve.cli._features import selected_features
from bayesieve.cli._terminal import Terminal, display_width
from bayesieve.datasets import load_sms_spam
from bayesieve.inspection import collect_report, explain


@pytest.fixture(scope="module")
def words():
    """A vectorizer, a model of its counts, the messages and their labels."""
    messages, labels = load_sms_spam(return_X_y=True)
    messages, labels = messages[:600], np.asarray(labels[:600])
    vectorizer = CountVectorizer()
    model = SparseMultinomialNB(5).fit(vectorizer.fit_transform(messages), labels)
    return vectorizer, model, messages, labels


@pytest.fixture(scope="module")
def mixed():
    """A table whose text says most, with a number, a category and noise."""
    rng = np.random.default_rng(0)
    n = 600
    y = rng.integers(2, size=n)
    good = np.where(rng.random(n) < 0.8, y, 1 - y)
    kinds = np.array(["awful broken thing here", "great lovely thing here"])
    note = [f"{kinds[g]} number {i} of them" for i, g in enumerate(good)]
    city = np.where(rng.random(n) < 0.6, np.array(["Rome", "Oslo"])[y], "Bern")
    X = pd.DataFrame({"note": note, "city": city})
    X["age"] = rng.normal(size=n) + 0.8 * y
    X["noise"] = rng.normal(size=n)
    return SelectiveNB(text_features=["note"]).fit(X, y), X, y


def test_a_size_of_none_is_no_step_of_a_path():
    report = score_report()
    assert min(step["k"] for step in report.path["steps"]) > 0


def test_rows_of_one_class_are_told_as_such(words, tmp_path):
    _, _, messages, labels = words
    model = make_pipeline(CountVectorizer(), SparseMultinomialNB(5))
    model.fit(messages, labels)
    ham = [m for m, label in zip(messages, labels, strict=True) if label == "ham"]
    found = bayesieve.report(model, ham[:60], ["ham"] * 60, tmp_path / "r.html")
    first = found.verdict["lines"][0]
    assert first.startswith("All 60 held-out rows are ham, so right on ")
    assert "does not hold" not in (tmp_path / "r.html").read_text()
    assert "guessing" not in [own["code"] for own in found.verdict["remarks"]]
    one = bayesieve.report(model, ham[:1], ["ham"], tmp_path / "r.html")
    assert "Measured on 1 row that" in (tmp_path / "r.html").read_text()
    assert one.evaluation["rows"] == 1


def test_labels_that_do_not_fit_the_rows(words, tmp_path):
    vectorizer, model, messages, labels = words
    path = tmp_path / "r.html"
    X = vectorizer.transform(messages)
    for rows, y in ((X, labels[:-2]), (X[:-2], labels)):
        told = f"Got {len(y)} labels for {rows.shape[0]} rows"
        with pytest.raises(ValueError, match=told):
            bayesieve.report(model, rows, y, path)
    for wrong in ("abc", None, 5):
        with pytest.raises(ValueError, match="y_test must be a sequence of labels"):
            bayesieve.report(model, X, wrong, path)
    assert not path.exists()


@pytest.mark.parametrize(
    "shape",
    [
        list,
        np.array,
        pd.Series,
        lambda texts: pd.DataFrame({"text": texts}),
        lambda texts: [[text] for text in texts],
    ],
)
def test_texts_for_a_matrix_model_are_refused_in_a_sentence(words, tmp_path, shape):
    vectorizer, model, messages, labels = words
    rows = shape(messages)
    for attempt in (
        lambda: model.predict(rows),
        lambda: model.explain(rows),
        lambda: explain(model, rows),
        lambda: bayesieve.report(model, rows, labels, tmp_path / "r.html"),
        lambda: SparseMultinomialNB(5).fit(rows, labels),
    ):
        with pytest.raises(ValueError, match="needs a matrix of numbers") as caught:
            attempt()
        assert messages[0] not in str(caught.value)
        assert "(vectorizer, model)" in str(caught.value)
    assert explain((vectorizer, model), messages[:2]).features


def test_numbers_written_as_text_are_left_to_scikit_learn(words):
    X = np.array([[1, 0], [0, 2]] * 4)
    y = [0, 1] * 4
    model = SparseMultinomialNB(2).fit(X, y)
    assert model.predict(X.astype(object)).tolist() == y


def test_texts_for_a_table_are_refused_in_a_sentence(mixed):
    model, *_ = mixed
    for attempt in (model.explain, model.predict):
        with pytest.raises(ValueError, match="must have rows and columns"):
            attempt(["text"])


def test_a_file_that_is_not_there():
    for load in (bayesieve.load_model, bayesieve.ClassCounts.load):
        with pytest.raises(FileNotFoundError, match=r"^There is no file 'zzz'\.$"):
            load("zzz")


def test_texts_are_no_columns_that_are_cut(mixed):
    model, *_ = mixed
    found = collect_report(model, data_name="notes").columns
    assert found["total"] == 3  # of four columns one is a text
    assert "of 3 columns" in describe(model).sentence


def test_a_shape_without_a_cut_is_not_told_as_one_interval():
    rng = np.random.default_rng(3)
    for shift in np.arange(0.1, 0.5, 0.02):
        y = rng.integers(2, size=300)
        X = pd.DataFrame({"a": rng.normal(size=300) + shift * y})
        X["b"] = rng.normal(size=300) + 2.0 * y
        model = SelectiveNB().fit(X, y)
        parts = {own.name: own.parts for own in selected_features(describe(model))}
        if model.partitions_[0].n_parts == 1 and "a" in parts:
            break
    assert parts["a"] == "a curve"
    assert parts["b"].endswith(" intervals")
    assert str(model.partitions_[0]).startswith("a: 1 interval, ")


@pytest.mark.parametrize(
    ("gap", "told"),
    [
        (0.0, "0"),
        (-1e-12, "0"),
        (0.05, "0.05"),
        (0.3, "0.3"),
        (9.41, "9.5"),
        (9.5, "9.5"),
        (10.0, "10"),
        (99.2, "100"),
        (123.4, "124"),
        (12345.6, "12,346"),
        (3e-11, "0.0001"),
    ],
)
def test_bounds_are_plain_numbers_and_never_too_small(gap, told):
    sentence = weighted_sentence(gap, 3, 10, "terms")
    assert sentence.endswith(f"fit more than {told} nats better.")
    assert float(told.replace(",", "")) >= gap


def test_ngrams_are_taken_out_and_columns_set_to_their_mean(mixed):
    model, X, _ = mixed
    found = model.explain(X[:200])
    told = []
    for row in range(200):
        other = found[row].counterfactual()
        if other is None:
            continue
        told.append(str(other))
        assert [": " in name for name in other.features] == [
            how == "without" for how in other.removals
        ]
        changed = X[row : row + 1].copy()
        if len(other.features) == 1 and other.removals == ["without"]:
            word = other.features[0].split('"')[1]
            text = changed["note"].iloc[0]
            if " " in word or word not in text.split():
                continue
            # Taken from the document itself: the n-grams around it go as well.
            assert f"Without '{other.features[0]}' it would be" in str(other)
    assert any(line.startswith("Without 'note: ") for line in told)
    assert any("ith an average '" in line for line in told)
    for line in told:
        for part in line.split(" and "):
            if part.lower().startswith("with an average"):
                assert "note" not in part


def test_one_word_is_taken_out_exactly():
    """A word without neighbours: the row without it is scored as the terms say."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(2, size=n)
    word = np.where(rng.random(n) < 0.85, y, 1 - y)
    X = pd.DataFrame({"note": np.array(["bad", "good"])[word]})
    X["age"] = rng.normal(size=n) + 0.3 * y
    model = SelectiveNB(text_features=["note"]).fit(X, y)
    found = model.explain(X[:50])
    checked = 0
    for row in range(50):
        other = found[row].counterfactual()
        if other is not None and set(other.removals) == {"without"}:
            empty = X[row : row + 1].assign(note="")
            assert model.predict(empty).tolist() == [other.label]
            checked += 1
    assert checked > 3


def test_names_that_are_cut_alike_are_told_apart():
    terminal = Terminal(io.StringIO(), width=80)
    attack = "<img src=x onerror=alert(0)>"
    names = [attack, f"{attack} x city", f"{attack} x age", "age"]
    for width in (8, 12, 20):
        shown = terminal.fit_apart(names, width)
        assert len(set(shown)) == 4
        assert all(display_width(own) == width for own in shown)
    assert terminal.fit_apart(names, 20)[1].endswith("x city")
    assert terminal.fit_apart(["age", "age"], 5) == ["age  ", "age  "]
