"""A loaded model answers exactly as the saved one, and its file is plain."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from tests.persistence.models import COUNTS, TABLE, TEXTS, YES_NO, Y, answers, examples

import bayesieve as bs
from bayesieve._description import Saved
from bayesieve.persistence import load_model, load_notes, save_model
from bayesieve.persistence._kinds import KINDS, Sizes
from bayesieve.persistence._model_file import MODELS
from bayesieve.text._term_names import TermNames

NAMES = list(examples())
SHOWN = (
    "feature_importances_",
    "coef_",
    "intercept_",
    "theta_",
    "support_",
    "scores_",
    "pvalues_",
    "levels_",
    "costs_",
    "weights_",
    "history_",
    "drifts_",
    "n_rows_seen_",
    "classes_",
    "k_",
    "k_1se_",
    "bic_threshold_",
    "support_terms_",
    "vocabulary_",
    "text_options_",
    "document_frequency_",
    "map_support_",
    "kinds_",
    "certificate_",
    "counts_",
    "_counted_with",
    "n_features_in_",
    "lambda_",
    "lambda_1se_",
    "dual_gap_",
    "relaxation_",
    "class_intercept_",
    "stopped_",
    "refined_",
)


def same(a, b):
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_answers_exactly_as_the_saved_one(name, tmp_path):
    model, rows = examples()[name]
    path = tmp_path / "model"
    save_model(model, path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    for before, after in zip(answers(model, rows), answers(loaded, rows), strict=True):
        same(before, after)
    for attribute in SHOWN:
        assert hasattr(loaded, attribute) == hasattr(model, attribute), attribute
        if hasattr(model, attribute):
            same(getattr(model, attribute), getattr(loaded, attribute))
    if hasattr(model, "partitions_"):
        assert str(loaded.partitions_) == str(model.partitions_)
    if hasattr(model, "path_"):
        same(model.path_.weights.toarray(), loaded.path_.weights.toarray())
        for part in ("lambdas", "n_features", "nll", "dual_gap", "intercepts"):
            same(getattr(model.path_, part), getattr(loaded.path_, part))
        assert repr(model.path_) == repr(loaded.path_)
    if hasattr(model, "cv_results_"):
        assert model.cv_results_.keys() == loaded.cv_results_.keys()
        for column, values in model.cv_results_.items():
            same(values, loaded.cv_results_[column])
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_come_back_as_they_were(name, tmp_path):
    model, _ = examples()[name]
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    before, after = model.get_params(), loaded.get_params()
    assert before.keys() == after.keys()
    for parameter, value in before.items():
        assert type(value) is type(after[parameter])
        same(value, after[parameter])
    clone(loaded)


@pytest.mark.parametrize("name", NAMES)
def test_saving_a_loaded_model_gives_the_same_file(name, tmp_path):
    model, _ = examples()[name]
    save_model(model, tmp_path / "first")
    save_model(load_model(tmp_path / "first"), tmp_path / "second")
    first, second = ((tmp_path / n).read_bytes() for n in ("first", "second"))
    assert first == second


def test_every_class_has_an_example():
    assert {type(model).__name__ for model, _ in examples().values()} == set(MODELS)


def test_every_fitted_estimator_of_the_package_can_be_saved():
    fitted = [
        name
        for name in bs.__all__
        if name.endswith(("NB", "NBCV", "Selector", "Screener", "Encoder"))
    ]
    assert set(fitted) == set(MODELS)


def test_the_file_is_json_and_plain_arrays(tmp_path):
    model, _ = examples()["text"]
    save_model(model, tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        header = json.loads(archive.read("model.json"))
        assert header["format"] == "bayesieve.model"
        assert header["version"] == 1
        assert header["class"] == "SparseTextNB"
        assert header["parameters"]["k"] == 4
        with archive.open("feature_log_prob_.npy") as member:
            table = np.lib.format.read_array(member, allow_pickle=False)
    np.testing.assert_array_equal(table, model.feature_log_prob_)


def test_partial_fit_goes_on_after_loading(tmp_path):
    parts = slice(0, 150), slice(150, 300)
    model = bs.SparseMultinomialNB(3)
    model.partial_fit(COUNTS[parts[0]], Y[parts[0]], classes=[0, 1, 2])
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for each in (model, loaded):
        each.partial_fit(COUNTS[parts[1]], Y[parts[1]])
    same(model.predict_proba(COUNTS), loaded.predict_proba(COUNTS))


def test_a_lean_model_says_so_after_loading(tmp_path):
    save_model(bs.SparseMultinomialNB(3).fit(COUNTS, Y), tmp_path / "model")
    with pytest.raises(ValueError, match="keep_counts=True"):
        load_model(tmp_path / "model").partial_fit(COUNTS, Y)


def test_a_stream_goes_on_after_loading(tmp_path):
    model, _ = examples()["selective stream"]
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    before = loaded.score(TABLE, YES_NO)
    assert loaded.class_count_.sum() == 300
    loaded.partial_fit(TABLE, YES_NO)
    assert loaded.class_count_.sum() == 600  # nothing that was counted is lost
    for partition in loaded.partitions_:
        assert partition.counts.sum() == 600
    assert loaded.score(TABLE, YES_NO) >= before - 0.02


def test_millions_of_packed_names_stay_packed(tmp_path):
    names = TermNames.from_strings(sorted(f"w{i}" for i in range(12)))
    model = bs.SparseMultinomialNB(3).fit(COUNTS, Y)
    model.feature_names_in_ = names
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model").feature_names_in_
    assert isinstance(loaded, TermNames)
    assert loaded.tolist() == names.tolist()


def test_weights_of_many_features_take_no_room(tmp_path):
    X = sparse.csr_array(COUNTS)
    X.resize((300, 1_000_000))
    model = bs.SelectiveMultinomialNB(k=3).fit(X, Y)
    save_model(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 100_000
    same(model.weights_, load_model(tmp_path / "model").weights_)


def test_notes(tmp_path):
    model, _ = examples()["text"]
    notes = {"report": "{} é \ud800", "source": "x" * 100_000}
    save_model(model, tmp_path / "model", notes=notes)
    assert load_notes(tmp_path / "model") == notes
    assert load_model(tmp_path / "model").k_ == 4
    save_model(model, tmp_path / "model")
    assert load_notes(tmp_path / "model") == {}


@pytest.mark.parametrize("notes", [{"../x": "a"}, {"Report": "a"}, {"a": b"b"}])
def test_odd_notes_are_refused(notes, tmp_path):
    model, _ = examples()["text"]
    with pytest.raises(ValueError, match="'notes' parameter of save_model"):
        save_model(model, tmp_path / "model", notes=notes)
    assert not list(tmp_path.iterdir())


def test_what_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(bs.SparseMultinomialNB(), tmp_path / "model")


@pytest.mark.parametrize("model", [object(), KFold(), bs.Certificate])
def test_other_objects_are_refused(model, tmp_path):
    with pytest.raises(TypeError, match="save_model takes the estimators of bayesieve"):
        save_model(model, tmp_path / "model")


def test_a_subclass_is_refused(tmp_path):
    class Own(bs.SparseMultinomialNB):
        pass

    Own.__name__ = "SparseMultinomialNB"
    with pytest.raises(TypeError, match="save_model takes"):
        save_model(Own(3).fit(COUNTS, Y), tmp_path / "model")


@pytest.mark.parametrize(
    ("model", "parameter"),
    [
        (bs.SelectiveNB(callback=lambda state: None), "callback"),
        (bs.SelectiveNB(random_state=np.random.RandomState(0)), "random_state"),
        (bs.SparseMultinomialNBCV([2, 3], cv=KFold(2)), "cv"),
    ],
)
def test_functions_and_objects_are_refused_by_name(model, parameter, tmp_path):
    model.fit(COUNTS, Y)
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of"):
        save_model(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_value_that_cannot_be_saved_is_named(tmp_path):
    table = TABLE.assign(odd=[complex(i % 2, 0) for i in range(300)]).astype(
        {"odd": object}
    )
    model = bs.SelectiveNB().fit(table, Y)
    with pytest.raises(ValueError, match="Got complex"):
        save_model(model, tmp_path / "model")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    model, _ = examples()["text"]
    path = tmp_path / "model"
    save_model(model, path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(model, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


def test_a_missing_folder_is_named(tmp_path):
    model, _ = examples()["text"]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save_model(model, tmp_path / "nowhere" / "model")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        load_model(tmp_path / "absent")


def test_labels_keep_their_type(tmp_path):
    for labels in (
        np.where(Y == 0, "a", "b").astype(object),
        Y.astype(np.int32),
        (Y > 0),
        Y.astype(np.float32),
    ):
        model = bs.SparseTextNB(2).fit(TEXTS, labels)
        save_model(model, tmp_path / "model")
        same(model.predict(TEXTS), load_model(tmp_path / "model").predict(TEXTS))


def test_a_certificate_from_before_rounding_was_stated_is_read():
    certificate = bs.solve_multinomial([[4, 6, 10], [12, 0, 0]], 2).certificate
    arrays = {}
    kind = KINDS["certificate"](Saved("certificate"))
    entry = kind.put("proof", certificate, arrays)
    reader = SimpleNamespace(array=lambda name, kind: arrays[name])
    assert kind.get("proof", dict(entry), reader, Sizes()) == certificate
    del entry["rounding"]
    older = kind.get("proof", entry, reader, Sizes())
    assert older == replace(certificate, rounding=0.0)
