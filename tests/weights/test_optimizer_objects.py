"""Optimisers as objects: settings, copies, names, and one of the user's own."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from tests.weights.examples import weight_problem

from bayesieve import SelectiveNB, load_model, save_model
from bayesieve.weights import (
    OPTIMIZERS,
    VNS,
    Auto,
    Averaging,
    Convex,
    Coordinate,
    Gradient,
    MultiStart,
    Optimizer,
    optimizer_of,
    search,
)

CHANGED = [
    Auto(min_gain=1e-3),
    Convex(gtol=1e-7, max_iter=30),
    VNS(effort=2, start=[0.25] * 4),
    MultiStart(effort=1, batch_size=None),
    Gradient(step=0.05, sign_only=True),
    Coordinate(step=0.5),
]


def rows(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)


@pytest.mark.parametrize("made", [*(kind() for kind in OPTIMIZERS.values()), *CHANGED])
def test_copies_and_their_words_are_the_same(made, tmp_path):
    names = {kind.__name__: kind for kind in OPTIMIZERS.values()}
    assert eval(repr(made), names) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert clone(SelectiveNB(optimizer=made)).optimizer == made
    with pytest.raises(FrozenInstanceError):
        made.step = 1.0
    X, y = rows()
    model = SelectiveNB(optimizer=made, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.optimizer == made
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_name_is_the_object_with_its_usual_settings():
    X, y = rows()
    for name, kind in OPTIMIZERS.items():
        assert optimizer_of(name) == kind()
        by_name, by_object = (
            SelectiveNB(optimizer=given, random_state=0).fit(X, y)
            for given in (name, kind())
        )
        np.testing.assert_array_equal(by_name.weights_, by_object.weights_)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Auto(min_gain=-1.0), "'min_gain' parameter of Auto must be a number"),
        (lambda: Convex(gtol=0.0), "'gtol' parameter of Convex"),
        (lambda: VNS(effort=31), r"'effort' parameter of VNS .* \[0, 30\]. Got 31"),
        (lambda: MultiStart(budget=0), "'budget' parameter of MultiStart"),
        (lambda: Gradient(batch_size=0), "'batch_size' parameter of Gradient"),
        (lambda: Gradient(start=1.5), r"'start' parameter .* number in \[0, 1\]"),
        (lambda: Gradient(start=[0.5, 2.0]), "'start' parameter of Gradient"),
        (lambda: Coordinate(step=2.0), r"'step' parameter of Coordinate .* \(0, 1\]"),
    ],
)
def test_wrong_settings_are_refused_where_they_are_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_settings_are_searched_as_values_of_one_parameter():
    X, y = rows()
    grid = {"optimizer": [Auto(), Auto(min_gain=0.1), "convex"]}
    found = GridSearchCV(SelectiveNB(), grid, cv=2).fit(X, y)
    assert found.best_params_["optimizer"] in grid["optimizer"]


@dataclass(frozen=True, repr=False)
class HalfOfEach(Optimizer):
    """Somebody else's: one class, and every estimator takes it."""

    weight: float = 0.5

    def _search(self, problem, start, progress, rng):
        w = np.full(problem.n_terms, self.weight)
        with progress:
            progress.record(w, problem.value(w))
        return progress.best()


def test_an_optimiser_of_the_users_own():
    X, y = rows()
    model = SelectiveNB(optimizer=HalfOfEach(weight=0.25), partitions="best").fit(X, y)
    assert set(model.weights_) == {0.0, 0.25}
    assert "optimizer=HalfOfEach(weight=0.25)" in repr(model)
    for _ in range(3):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="'optimizer' parameter of SelectiveNB"):
        save_model(model, "nowhere")


def test_a_search_is_never_worse_than_no_weights():
    problem = weight_problem(0, regularization=50.0)
    assert problem.value(np.full(5, 0.5)) > problem.value(np.zeros(5))
    assert not search(HalfOfEach(), problem).weights.any()
    few = search(Convex(), weight_problem(0, regularization=0.0), k=2)
    assert np.count_nonzero(few.weights) == 2


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (VNS, {"effort": "x"}),
        (VNS, {"effort": None}),
        (VNS, {"budget": 2.5}),
        (Gradient, {"max_iter": 2.5}),
        (Gradient, {"batch_size": 1.5}),
        (Gradient, {"batch_size": True}),
        (Gradient, {"tol": "a"}),
        (Gradient, {"step": np.inf}),
        (Auto, {"min_gain": np.nan}),
    ],
)
def test_settings_of_another_type_are_refused_when_they_are_given(kind, settings):
    [name] = settings
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {kind.__name__}"):
        kind(**settings)


def test_averaging_is_for_another_class():
    X, y = rows()
    with pytest.raises(ValueError, match="Hint: AveragedNB uses it"):
        SelectiveNB(optimizer=Averaging()).fit(X, y)
