"""Experiment 5: paths, folds and counts on made values, the page against its JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.studies.study_modules import STUDIES, load, read_parts

from bayesieve import SparseGaussianNB, SparseMultinomialNB

ROOT = Path(__file__).resolve().parents[2]
RESULTS = STUDIES / "results" / "gene_paths"


@pytest.fixture(scope="module")
def study():
    return load("gene_paths")


@pytest.fixture(scope="module")
def sets():
    return load("gene_sets")


@pytest.fixture(scope="module")
def tables():
    return load("gene_paths_tables")


def expressions(n_classes=3, n_rows=60, m=40, seed=0):
    """Logarithms of expressions, of which the first ten tell the classes apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    centre = np.zeros((n_classes, m))
    centre[:, :10] = rng.normal(size=(n_classes, 10))
    return rng.normal(centre[y], 0.7) + 3.0, y


def model_of(study, name):
    return {
        "shifted": lambda: study.MultinomialModel("shifted", None),
        "powers": lambda: study.MultinomialModel("powers", 2.0),
        "class": lambda: study.GaussianModel("class"),
        "pooled": lambda: study.GaussianModel("pooled"),
    }[name]()


MODELS = ("shifted", "powers", "class", "pooled")


def test_counts_are_made_of_training_rows_alone(sets):
    train = np.array([[1.0, -2.0], [3.0, 0.0]])
    test = np.array([[0.0, 5.0]])
    moved, moved_test = sets.as_counts(train, test, "shifted", None)
    assert moved.tolist() == [[0.0, 0.0], [2.0, 2.0]]
    assert moved_test.tolist() == [[0.0, 7.0]]
    raised, raised_test = sets.as_counts(train, test, "powers", 2.0)
    assert raised.tolist() == [[2.0, 0.25], [8.0, 1.0]]
    assert raised_test.tolist() == [[1.0, 32.0]]
    with pytest.raises(ValueError, match="base of the logarithms"):
        sets.as_counts(train, test, "powers", None)


def test_kinds_of_counts_depend_on_signs_and_on_logarithms(sets):
    assert sets.kinds_of_counts(np.array([[1.0, 2.0]]), None) == ["as they are"]
    assert sets.kinds_of_counts(np.array([[1.0, -2.0]]), None) == ["shifted"]
    assert sets.kinds_of_counts(np.array([[1.0]]), 2.0) == ["as they are", "powers"]


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_classifiers(study, name):
    X, y = expressions()
    model = model_of(study, name)
    train, test = model.sides(X[:40], X[40:])
    sizes = [2, 5, 17, 40]
    found = model.predictions(train, y[:40], test, sizes)
    for k, said in zip([*sizes, "all"], found, strict=True):
        if name in ("class", "pooled"):
            expected = SparseGaussianNB(k=k, variance=name)
        else:
            expected = SparseMultinomialNB(k=k)
        expected.fit(train, y[:40])
        np.testing.assert_array_equal(said, expected.predict(test))


@pytest.mark.parametrize("name", MODELS)
def test_gains_of_a_path_are_those_of_the_certificates(study, name):
    X, y = expressions()
    model = model_of(study, name)
    rows, _ = model.sides(X, X)
    path = model.path(rows, y, [2, 9, 40])
    for k, gain in zip(path.k, path.gain, strict=True):
        if name in ("class", "pooled"):
            fitted = SparseGaussianNB(k=int(k), variance=name).fit(rows, y)
        else:
            fitted = SparseMultinomialNB(k=int(k)).fit(rows, y)
        certificate = fitted.certificate_
        expected = certificate.objective - certificate.null_objective
        assert gain == pytest.approx(expected)
        assert path.gain_at(int(k)) == pytest.approx(expected)
    assert (path.gap <= 1e-9 * path.gain).all()


@pytest.mark.parametrize("wanted", [0.0, 3.0, 3.5, 10.0])
def test_the_least_size_is_that_of_a_plain_search(study, wanted):
    gains = [0.0, 0.0, 1.0, 3.0, 3.0, 6.0, 10.0]
    expected = next(k for k in range(2, 7) if gains[k] >= wanted)
    assert study.least_size(lambda k: gains[k], 6, wanted) == expected


def test_points_of_the_path_are_on_it(study):
    X, y = expressions()
    path = study.path_of(study.GaussianModel("class"), X, y)
    assert path["k"][0] == 2
    assert path["k"][-1] == 40
    assert path["share"][-1] == 1.0
    assert np.all(np.diff(path["share"]) >= 0)
    share = dict(zip(path["k"], path["share"], strict=True))
    for wanted, k in path["least_k"].items():
        assert share.get(k, 1.0) >= float(wanted) / 100 - 1e-6
        assert share.get(k - 1, 0.0) < float(wanted) / 100
    assert path["at_share"]["10"] == pytest.approx(share[4], rel=1e-5)
    sizes = study.fold_sizes(path, 40)
    assert sizes == sorted(set(sizes))
    assert {path["elbow"], *path["least_k"].values(), 2, 4, 20, 40} <= set(sizes)


def test_standard_errors_are_over_rows_and_differences_are_paired(study):
    right = np.array([[1.0, 0.5, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]])
    found = study.row_statistics(right)
    assert found["accuracy"] == [0.625, 0.5]
    assert found["error"][0] == pytest.approx(np.std(right[0], ddof=1) / 2, abs=1e-5)
    assert found["less_all"] == [0.125, 0.0]
    assert found["less_all_error"][0] == pytest.approx(0.125)
    assert found["less_all_error"][1] == 0.0


def test_folds_choose_inside_and_are_not_more_than_the_smallest_class(study):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(48, 1000))
    y = np.repeat([0, 1], [45, 3])
    found = study.fold_accuracy(study.GaussianModel("pooled"), X, y, [2, 1000], 2)
    assert found["folds"] == 3
    y = np.arange(48) % 2  # labels without any relation to the columns
    model = study.GaussianModel("pooled")
    inside = study.fold_accuracy(model, X, y, [10], 4)["accuracy"][0]
    assert abs(inside - 0.5) < 0.2
    best = SparseGaussianNB(k=10, variance="pooled").fit(X, y).support_indices_
    leaking = study.fold_accuracy(model, X[:, best], y, [10], 4)["accuracy"][0]
    assert leaking > 0.8


def test_real_sets_have_the_sizes_of_the_manifest(sets, real_data):
    real_data("gene_alon")
    real_data("gene_bladder")
    X, y = sets.load("alon")
    assert X.shape == (62, 2000)
    assert np.bincount(y).tolist() == [22, 40]
    X, y = sets.load("bladder2")
    assert X.shape == (57, 22_283)
    assert sorted(np.bincount(y).tolist()) == [17, 40]


def test_the_committed_results_have_every_set_and_proven_optima(sets, tables):
    units = read_parts(RESULTS)["gene_paths"]["rows"]
    assert tables.names_of(units) == list(sets.SETS)
    for name in sets.SETS:
        found = tables.models(units, name)
        assert len(found) == (4 if sets.SETS[name].base else 3), name
        for title, unit in found.items():
            assert max(unit["path"]["gap"]) <= 1e-9, (name, title)
