"""X that another thread changes while it is counted: an error or counts, no crash."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from tests.patience import HANGS

from bayesieve import _core

# One thread counts, the other writes numbers into the arrays of X that a careless
# kernel would use as addresses. In a process of its own, which may not survive.
RACE = """
    import sys, threading
    import numpy as np
    import scipy.sparse as sp
    from bayesieve import ClassCounts, NaiveFeatureSelector, SparseMultinomialNB

    form, kind, classes, member = sys.argv[1:5]
    rng = np.random.default_rng(0)
    X = sp.random(1000, 20_000, density=0.005, format=form, random_state=0)
    X.data = np.ceil(X.data * 3)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    y = np.arange(1000) % int(classes)
    if kind == "predict":
        model = SparseMultinomialNB(k=300).fit(X, y)
        selector = NaiveFeatureSelector(k=300).fit(X, y)
    array = getattr(X, member)
    kept = array.copy()
    done = threading.Event()

    def change():
        turn = 0
        while not done.is_set():
            at = rng.integers(0, array.size, 2000)
            if member == "data":
                array[at] = turn % 5
            else:
                other = kept[rng.integers(0, array.size, 2000)]
                array[at] = other + (turn % 3) * 10**12
            array[at] = kept[at]
            turn += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(6):
            try:
                if kind == "predict":
                    model.predict_proba(X)
                    selector.transform(X)
                else:
                    ClassCounts.from_matrix(X, y, kind=kind)
            except (ValueError, IndexError):
                pass
    finally:
        done.set()
        thread.join()
    print("alive")
"""


# Many classes are counted in two passes.
@pytest.mark.parametrize(
    ("form", "kind", "classes", "member"),
    [
        ("csr", "count", 500, "indices"),
        pytest.param(*("csr", "count", 500, "indptr"), marks=pytest.mark.slow),
        ("csr", "category", 3, "indptr"),
        ("csc", "count", 500, "indptr"),
        pytest.param(*("csc", "count", 3, "indices"), marks=pytest.mark.slow),
        pytest.param(*("csc", "count", 500, "data"), marks=pytest.mark.slow),
        ("csr", "predict", 3, "indices"),
        pytest.param(*("csr", "predict", 3, "indptr"), marks=pytest.mark.slow),
        pytest.param(*("csc", "predict", 3, "indptr"), marks=pytest.mark.slow),
    ],
)
def test_no_change_brings_the_process_down(form, kind, classes, member):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RACE), form, kind, str(classes), member],
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.stdout.strip() == "alive", done.stderr


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_the_second_pass_does_not_trust_the_first(form):
    X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])).asformat(form)
    fuller = sp.csr_array(np.ones((3, 2))).asformat(form)
    codes = np.array([0, 1, 2])

    def arrays(x):
        return x.data, x.indices, x.indptr.astype(np.int64), form == "csr"

    slots = np.zeros(2, np.int64)
    assert _core.sparse_class_slots(*arrays(X), codes, None, 3, 0, 0.0, slots) == -1
    starts = np.concatenate([[0], np.cumsum(slots)])
    classes, values = np.empty(3, np.int32), np.empty(3)
    fill = (codes, None, 3, 0, 0.0, starts, classes, values)
    _core.sparse_class_sums(*arrays(X), *fill)
    np.testing.assert_array_equal(values, [1.0, 3.0, 2.0])
    emptier = X.copy()
    emptier.data[:] = 0.0
    negative = X.copy()
    negative.data[:] = -1.0
    for changed in (fuller, emptier, negative):
        with pytest.raises(ValueError, match="X was changed while it was counted"):
            _core.sparse_class_sums(*arrays(changed), *fill)
