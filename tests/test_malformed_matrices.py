"""Sparse matrices whose indices lie: a ValueError everywhere, and never a crash.

SciPy's loops trust the indices they are given. Each call is made in a child process,
which tells what it is about to do, so that a crash has a name.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from tests.patience import HANGS

from bayesieve import NaiveFeatureSelector, SparseMultinomialNB

PROGRAM = """
import faulthandler, sys, warnings
import numpy as np
from scipy import sparse
import bayesieve
from bayesieve import ClassCounts, baselines
from sklearn.base import clone
from tests.test_common import ESTIMATORS

faulthandler.enable()
warnings.simplefilter("ignore")
FAR = 1 << 28
rng = np.random.default_rng(0)
table = rng.poisson(1.0, (60, 8)) * (rng.random((60, 8)) < 0.6)
y = np.arange(60) % 2
table[:, 0] += y
if sys.argv[3] == "fractions":
    table = table / 3


def changed(form, change):
    X = getattr(sparse, form)(table.astype(np.float64))
    change(X)
    return X


def put(name, place, value):
    def change(X):
        getattr(X, name)[place] = value

    return change


def end(name):
    def change(X):
        setattr(X, name, getattr(X, name)[:-1].copy())

    return change


def coordinate(axis, value):
    def change(X):
        coords = [own.copy() for own in X.coords]
        coords[axis][3] = value
        X.coords = tuple(coords)

    return change


compressed = {
    "a large index": put("indices", 3, 100),
    "a far index": put("indices", slice(3, 40), FAR),
    "a negative index": put("indices", 3, -FAR),
    "a falling start": put("indptr", 3, 0),
    "a negative start": put("indptr", 2, -FAR),
    "a start beyond the end": put("indptr", slice(4, -1), FAR),
    "an end beyond the end": put("indptr", -1, FAR),
    "a start that is not 0": put("indptr", 0, 5),
    "fewer values": end("data"),
    "fewer indices": end("indices"),
    "fewer starts": end("indptr"),
}
zoo = {
    f"{form}, {name}": changed(form, change)
    for form in ("csr_array", "csr_matrix", "csc_array", "csc_matrix", "bsr_array")
    for name, change in compressed.items()
}
zoo |= {
    f"coo_array, {name}": changed("coo_array", change)
    for name, change in {
        "a far row": coordinate(0, FAR),
        "a far column": coordinate(1, FAR),
        "a negative column": coordinate(1, -FAR),
        "fewer values": end("data"),
    }.items()
}
zoo |= {
    f"lil_array, {name}": changed("lil_array", change)
    for name, change in {
        "a far column": put("rows", 3, [FAR] * len(sparse.lil_array(table).rows[3])),
        "a negative column": put("rows", 3, [-FAR]),
        "fewer columns than values": put("rows", 3, []),
        "fewer rows": end("rows"),
    }.items()
}
good = sparse.csr_array(table.astype(np.float64))


def attempt(what, call, X):
    print(what, flush=True)
    try:
        call(X)
    except (ValueError, TypeError, NotImplementedError) as error:
        assert str(error), what
    else:
        raise AssertionError(f"{what}: no error")


first, last = int(sys.argv[1]), int(sys.argv[2])
for estimator in ESTIMATORS[first:last]:
    name = type(estimator).__name__
    calls = {"fit": lambda X: clone(estimator).fit(X, y)}
    if hasattr(estimator, "partial_fit"):
        calls["partial_fit"] = lambda X: clone(estimator).partial_fit(X, y, [0, 1])
    if hasattr(estimator, "fit_chunks"):
        calls["fit_chunks"] = lambda X: clone(estimator).fit_chunks([(X, y)])
    fitted = clone(estimator)
    try:
        fitted.fit(good, y)
    except (ValueError, TypeError):
        try:
            fitted.fit(table.astype(np.float64), y)
        except ValueError:
            fitted = None
    for method in (
        "transform",
        "inverse_transform",
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_joint_log_proba",
        "decision_function",
        "explain",
    ):
        if fitted is not None and hasattr(fitted, method):
            calls[method] = getattr(fitted, method)
    if fitted is not None and hasattr(fitted, "score"):
        calls["score"] = lambda X: fitted.score(X, y)
    for kind, X in zoo.items():
        for call in calls:
            attempt(f"{name}.{call} of {kind}", calls[call], X)
if first == 0:
    for kind, X in zoo.items():
        attempt(f"from_matrix of {kind}", lambda X: ClassCounts.from_matrix(X, y), X)
        attempt(
            f"from_matrix, moments, of {kind}",
            lambda X: ClassCounts.from_matrix(X, y, kind="moments"),
            X,
        )
        attempt(
            f"from_matrix, category, of {kind}",
            lambda X: ClassCounts.from_matrix(X, y, kind="category"),
            X,
        )
        chunks = lambda X: ClassCounts.from_chunks([(X, y)])
        attempt(f"from_chunks of {kind}", chunks, X)
        attempt(
            f"screen_interactions of {kind}",
            lambda X: bayesieve.screen_interactions(X, y, [0, 1], binarize=0.5),
            X,
        )
        for name in ("thresholded_nb", "odds_ratio"):
            attempt(f"{name} of {kind}", lambda X: getattr(baselines, name)(X, y), X)
        for name in ("solve_multinomial", "solve_bernoulli", "sparsity_path"):
            options = {} if name == "sparsity_path" else {"k": 2}
            attempt(
                f"{name} of {kind}",
                lambda X: getattr(bayesieve, name)(X, **options),
                X,
            )
        attempt(
            f"ClassCounts of {kind}",
            lambda X: ClassCounts(np.arange(60), np.ones(60), X),
            X,
        )
print("done")
"""


@pytest.mark.parametrize(
    "values", ["counts", pytest.param("fractions", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("part", range(6))
def test_no_matrix_crashes_anything(part, values):
    end = [str(9 * part), str(9 * part + 9)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *end, values],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    last = done.stdout.strip().split("\n")[-1]
    assert last == "done", f"{last}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "csr_matrix"])
def test_room_to_spare_behind_the_entries_is_no_fault(form):
    # SciPy allows it; what stands there is no entry and may be anything.
    X = getattr(sparse, form)(np.random.default_rng(0).poisson(1.0, (40, 6)))
    y = np.arange(40) % 2
    model = SparseMultinomialNB(k=2).fit(X, y)
    selector = NaiveFeatureSelector(k=2).fit(X, y)
    expected = model.predict_proba(X), selector.transform(X).toarray()
    spare = np.repeat([1 << 30, -99], 100).astype(X.indices.dtype)
    X.data = np.append(X.data, np.full(200, -7))
    X.indices = np.append(X.indices, spare)
    again = SparseMultinomialNB(k=2).fit(X, y)
    np.testing.assert_array_equal(again.support_, model.support_)
    np.testing.assert_array_equal(model.predict_proba(X), expected[0])
    np.testing.assert_array_equal(selector.transform(X).toarray(), expected[1])
