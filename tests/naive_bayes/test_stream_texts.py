"""Streams of tables with texts: bounded memory, and what is learnt from all rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.metrics import log_loss
from tests.naive_bayes.text_tables import reviews

from bayesieve import SelectiveNB
from bayesieve.naive_bayes import _stream_texts
from bayesieve.naive_bayes._stream_texts import TextMemory
from bayesieve.persistence import load_model, save_model
from bayesieve.text._options import TextOptions
from bayesieve.weights._text_candidates import TextRule

NEW, NEW_Y = reviews(2000, seed=99)


def chunks(frame, y, size):
    for first in range(0, len(y), size):
        part = slice(first, first + size)
        yield frame.iloc[part], y[part]


def streamed(frame, y, size=200, **parameters):
    model = SelectiveNB(**parameters)
    for part, labels in chunks(frame, y, size):
        model.partial_fit(part, labels, classes=np.unique(y))
    return model


def loss_of(model, frame=NEW, y=NEW_Y):
    return log_loss(y, model.predict_proba(frame), labels=model.classes_)


def test_a_stream_learns_what_a_fit_learns():
    frame, y = reviews(2000)
    at_once = SelectiveNB().fit(frame, y)
    model = streamed(frame, y)
    assert model.n_rows_seen_ == 2000
    assert {"great", "awful"} <= set(model.text_terms_["review"])
    assert loss_of(model) < loss_of(at_once) + 0.03


def test_one_chunk_is_a_fit():
    frame, y = reviews(600)
    model = SelectiveNB().partial_fit(frame, y)
    at_once = SelectiveNB(partitions="best").fit(frame, y)
    assert model.text_terms_ == at_once.text_terms_
    np.testing.assert_allclose(
        model.predict_proba(NEW), at_once.predict_proba(NEW), atol=0.02
    )


def test_counts_of_ngrams_are_those_of_all_rows():
    """Also of rows that have left the window."""
    frame, y = reviews(1500)
    model = streamed(frame, y, window=300)
    model.refresh()
    whole = SelectiveNB().fit(frame, y)
    ours, theirs = model._texts[0].ngrams, whole._texts[0].ngrams
    np.testing.assert_allclose(ours.totals, theirs.totals)
    assert ours.n_distinct == theirs.n_distinct
    common = sorted(set(ours.names) & set(theirs.names))
    assert len(common) > 5
    np.testing.assert_array_equal(
        ours.counts[:, ours.names.index_of(common)],
        theirs.counts[:, theirs.names.index_of(common)],
    )
    assert loss_of(model) < loss_of(whole) + 0.05


def test_many_ngrams_are_counted_in_bounded_memory(monkeypatch):
    monkeypatch.setattr(_stream_texts, "_MOST", 50)
    rule = TextRule(TextOptions())
    memory = TextMemory([rule], np.array(["a", "b"]), 10)
    rng = np.random.default_rng(0)
    met = np.zeros(2)
    for chunk in range(20):
        texts = [f"often word{i} other{chunk}x{i}" for i in range(100)]
        codes = rng.integers(0, 2, 100).astype(np.int32)
        memory.add([texts], codes, None, None)
        met += 3 * np.bincount(codes, minlength=2)
    (found,) = memory.candidates(None, "SelectiveNB")
    (column,) = memory._columns
    assert column.counts.n_features <= 100 + 3000  # what one batch brings on top
    assert "often" in found.names.tolist()
    # Nothing is lost of the sums.
    np.testing.assert_allclose(found.totals, met)
    often = found.counts[:, found.names.index_of(["often"])[0]]
    np.testing.assert_allclose(often, met / 3)


def test_rows_fade_by_their_half_life():
    rule = TextRule(TextOptions())
    memory = TextMemory([rule], np.array([0, 1]), 4)
    memory.add([["one two"]], np.array([0], np.int32), None, (1.0, np.ones(1)))
    memory.add([["two three"]], np.array([1], np.int32), None, (0.5, np.ones(1)))
    (found,) = memory.candidates(None, "SelectiveNB")
    assert found.names.tolist() == ["one", "three", "two"]
    np.testing.assert_allclose(found.counts, [[0.5, 0.0, 0.5], [0.0, 1.0, 1.0]])
    memory.add([[""]], np.array([1], np.int32), None, (0.5, np.ones(1)))
    (found,) = memory.candidates(None, "SelectiveNB")
    np.testing.assert_allclose(found.counts, [[0.25, 0.0, 0.25], [0.0, 0.5, 0.5]])


@pytest.mark.parametrize("saved", [False, True])
def test_a_fitted_model_goes_on(saved, tmp_path):
    frame, y = reviews(2000)
    model = SelectiveNB(window=500).fit(frame.iloc[:1000], y[:1000])
    before = model.predict_proba(NEW)
    if saved:
        save_model(model, tmp_path / "m.model")
        model = load_model(tmp_path / "m.model")
    np.testing.assert_array_equal(model.predict_proba(NEW), before)
    for part, labels in chunks(frame.iloc[1000:], y[1000:], 250):
        model.partial_fit(part, labels)
    assert model.class_count_.sum() == 2000
    assert loss_of(model) < 0.35
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


def test_a_stream_that_changes_is_learnt_anew():
    frame, y = reviews(3000)
    other, other_y = reviews(3000, seed=4)
    swapped = np.where(other_y == "good", "bad", "good")
    model = streamed(frame, y, size=500)
    for part, labels in chunks(other, swapped, 500):
        model.partial_fit(part, labels)
    assert model.drifts_
    turned = np.where(NEW_Y == "good", "bad", "good")
    assert loss_of(model, NEW, turned) < 0.35


def test_a_class_that_comes_late():
    frame, y = reviews(900, n_classes=3)
    early = np.flatnonzero(y != "so-so")[:300]
    model = SelectiveNB()
    model.partial_fit(frame.iloc[early], y[early], classes=["bad", "good", "so-so"])
    assert model.predict_proba(NEW).max(axis=0)[2] < 0.1
    for part, labels in chunks(frame, y, 300):
        model.partial_fit(part, labels)
    new, new_y = reviews(1000, n_classes=3, seed=7)
    assert model.score(new, new_y) > 0.65


def test_rows_one_by_one_and_missing_texts():
    frame, y = reviews(260)
    frame.loc[::5, "review"] = None
    model = SelectiveNB(window=100)
    model.partial_fit(frame.iloc[:200], y[:200])
    for row in range(200, 260):
        model.partial_fit(frame.iloc[[row]], y[[row]])
    assert model.n_rows_seen_ == 260
    assert np.isfinite(model.predict_proba(NEW)).all()


def test_weights_of_rows_count():
    frame, y = reviews(400)
    weight = np.full(400, 2.0)
    model = SelectiveNB().partial_fit(frame, y, sample_weight=weight)
    assert model.class_count_.sum() == 800
    found = model._texts[0].ngrams
    once = SelectiveNB().partial_fit(frame, y)._texts[0].ngrams
    common = sorted(set(found.names) & set(once.names))
    assert common
    np.testing.assert_allclose(
        found.counts[:, found.names.index_of(common)],
        2 * once.counts[:, once.names.index_of(common)],
    )
