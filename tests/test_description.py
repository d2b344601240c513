"""What every fitted estimator says of itself, for files and for people."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.persistence.models import BINARY, COUNTS, YES_NO, Y, examples

import bayesieve as bs
from bayesieve._description import (
    CrossValidation,
    Saved,
    describe,
    proof_sentence,
    share_in_percent,
    weighted_detail,
    weighted_sentence,
    weighted_support_sentence,
)
from bayesieve.persistence import load_model, save_model
from bayesieve.persistence._model_file import MODELS
from bayesieve.persistence._own import _KINDS
from bayesieve.solvers import Certificate

NAMES = list(examples())


@pytest.mark.parametrize("name", NAMES)
def test_a_description_fits_together(name):
    model, _ = examples()[name]
    found = describe(model)
    k = found.indices.shape[0]
    assert found.owner == type(model).__name__
    assert found.total == len(found.names) == found.score.shape[0] == k
    assert found.classes == [str(label) for label in model.classes_]
    assert found.sentence.endswith(".")
    assert found.score_name
    rows = 1 if len(found.classes) == 2 or not found.signed else len(found.classes)
    if found.weights is not None:
        assert found.weights.shape == (rows, k)
        assert found.weight_name
    if found.discounts is not None:
        assert found.discounts.shape == found.strength.shape == (k,)
    if hasattr(model, "support_indices_"):
        columns = found.indices
        if terms := getattr(model, "text_terms_", {}):
            # N-grams stand for the columns of texts, numbered after all columns.
            m, names = model.n_features_in_, model._column_names()
            n_terms = sum(map(len, terms.values()))
            assert np.sum(columns >= m) == n_terms + found.n_pairs
            texts = [names.index(name) for name, own in terms.items() if own]
            columns = np.union1d(columns[columns < m], texts)
        if pairs := getattr(model, "pairs_", []):
            m = model.n_features_in_
            assert len(pairs) == found.n_pairs
            assert (found.indices >= found.table.shapes.first_pair).sum() == len(pairs)
            columns = np.union1d(columns[columns < m], np.concatenate(pairs))
        np.testing.assert_array_equal(columns, model.support_indices_)


@pytest.mark.parametrize("name", NAMES)
def test_the_strongest_come_first_and_keep_what_is_theirs(name):
    model, _ = examples()[name]
    found = describe(model)
    first = found.strongest(2)
    assert first.total == found.total
    assert list(first.score) == sorted(found.score, reverse=True)[:2]
    for place, column in enumerate(first.indices.tolist()):
        at = found.indices.tolist().index(column)
        assert first.names[place] == found.names[at]
        if found.weights is not None:
            assert (first.weights[:, place] == found.weights[:, at]).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_says_the_same(name, tmp_path):
    model, _ = examples()[name]
    save_model(model, tmp_path / "model")
    before, after = describe(model), describe(load_model(tmp_path / "model"))
    assert (before.sentence, before.detail) == (after.sentence, after.detail)
    assert before.names == after.names
    np.testing.assert_array_equal(before.score, after.score)
    if before.weights is not None:
        np.testing.assert_array_equal(before.weights, after.weights)


@pytest.mark.parametrize("name", MODELS)
def test_every_declared_kind_is_known(name):
    declared = MODELS[name]()._saved_attributes()
    assert {own.kind for own in declared.values()} <= _KINDS.keys()
    sizes = set()  # those that others are checked by come before them
    for own in declared.values():
        if own.kind == "indices":
            assert own.shape[1] in sizes
        sizes |= set(own.shape)


def test_one_declaration_is_enough_for_a_new_attribute(monkeypatch, tmp_path):
    model = bs.SparseMultinomialNB(3).fit(COUNTS, Y)
    model.entropy_ = 0.5
    own = bs.SparseMultinomialNB._saved | {"entropy_": Saved("float", domain="counts")}
    monkeypatch.setattr(bs.SparseMultinomialNB, "_saved", own)
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").entropy_ == 0.5
    model.entropy_ = -1.0
    save_model(model, tmp_path / "model")
    with pytest.raises(ValueError, match="'entropy_' holds a number"):
        load_model(tmp_path / "model")


def test_other_estimators_are_refused():
    with pytest.raises(TypeError, match="Got LogisticRegression"):
        describe(LogisticRegression().fit(COUNTS, YES_NO))


def test_parameters_of_older_files_get_their_names_of_now(tmp_path):
    screener = bs.L1Screener(regularization=20.0).fit(BINARY, Y)
    save_model(screener, tmp_path / "new")
    with (
        zipfile.ZipFile(tmp_path / "new") as new,
        zipfile.ZipFile(tmp_path / "old", "w") as old,
    ):
        for name in new.namelist():
            content = new.read(name)
            if name == "model.json":
                header = json.loads(content)
                given = header["parameters"]
                given["penalty"] = given.pop("regularization")
                content = json.dumps(header).encode()
            old.writestr(name, content)
    loaded = load_model(tmp_path / "old")
    assert loaded.get_params() == screener.get_params()
    assert (loaded.theta_ == screener.theta_).all()


def test_shares_in_words():
    assert share_in_percent(0.0994) == "9.9 %"
    assert share_in_percent(0.1) == "10 %"
    assert share_in_percent(1.234) == "123 %"


def test_sentences_about_proofs():
    counts = np.array([[9.0, 1.0, 3.0, 2.0], [1.0, 9.0, 3.0, 2.0]])
    proof = bs.solve_multinomial(counts, 2).certificate
    assert proof_sentence(proof, 0, 4, "terms") == (
        "No term says anything about the label."
    )
    assert proof_sentence(proof, 1, 4, "terms") == (
        "Proven: no other term explains the labels better."
    )
    assert proof_sentence(proof, 2, 2, "terms") == (
        "All 2 terms are used, so there is nothing to prove."
    )


def test_sentences_about_weights():
    told = weighted_sentence(0.31, 5, 75_000, "columns")
    assert told == (
        "Proven: at this penalty, no other weights of any of the 75,000 columns fit "
        "more than 0.31 nats better."
    )
    told = weighted_sentence(0.31, 5, 5_000, "terms", everything=False)
    assert "weights of the 5,000 terms that were looked at fit" in told
    assert weighted_sentence(np.nan, 5, 9, "terms").startswith("Not proven: ")
    assert weighted_sentence(0.0, 0, 9, "terms") == (
        "No term says anything about the label."
    )

    def proof(others, k=50):
        return Certificate.from_gains(
            null=-100.0,
            gain=80.0,
            others=others,
            relaxation=others,
            nodes=7,
            k=k,
            class_shares=np.array([0.5, 0.5]),
        )

    assert weighted_support_sentence(proof(82.48), "words") == (
        "Proven: no 50 weighted words gain more than 3.1 % over these."
    )
    assert weighted_support_sentence(proof(80.0), "words") == (
        "Proven: no other 50 words, whatever their weights, explain the labels better."
    )
    assert weighted_support_sentence(proof(80.0, k=1), "words") == (
        "Proven: no other word, whatever its weight, explains the labels better."
    )
    assert weighted_support_sentence(proof(80.0, k=0), "words") == (
        "No word says anything about the label."
    )
    assert weighted_detail(proof(82.48), "words") == (
        "With these weights the labels gain 80.0 nats of log-likelihood over no words "
        "at all; whatever the weights in [0, 1], no 50 words can gain more than 82.5 "
        "(3.1 % over these). The search took 7 nodes."
    )
    assert "no others gain more." in weighted_detail(proof(80.0), "words")


def test_one_standard_error_of_scores():
    sizes, mean = np.array([8, 2, 4]), np.array([0.9, 0.7, 0.89])
    found = CrossValidation.from_scores(sizes, mean, np.array([0.02, 0.01, 0.5]))
    assert found.values.tolist() == [2, 4, 8]
    assert (found.best, found.one_se) == (8, 4)
