"""A limit of threads is kept by every kernel that is called inside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest
from tests.patience import HANGS

from bayesieve import _core

TASKS = "/proc/self/task"
# In a process of its own: what other tests have loaded may start threads at any time.
PROGRAM = """
import json, os, sys, threading, warnings
import numpy as np
from scipy import sparse
import bayesieve as bs
from bayesieve import ClassCounts, SparseTextNB, _core

rng = np.random.default_rng(0)
columns = rng.integers(0, 50_000, 2_000_000).astype(np.int32)
rows = np.arange(0, 2_000_001, 400)
X = sparse.csr_array((np.ones(columns.size), columns, rows), (5_000, 50_000))
y = rng.integers(0, 2, 5_000)
texts = [" ".join(f"w{j}" for j in rng.integers(0, 5000, 50)) for _ in range(5000)]
Z = rng.normal(size=(40_000, 12)) + 0.3 * rng.integers(0, 2, (40_000, 1))
z = rng.integers(0, 2, 40_000)
codes = rng.integers(0, 5, (40_000, 12))
bases = ["".join(rng.choice(list("ACGT"), 20_000)) for _ in range(30)]
kinds = ["a", "b"] * 15
dense = rng.integers(0, 50, (2, 400_000)).astype(float)
one = {"n_jobs": int(sys.argv[1])}
warnings.simplefilter("ignore")


def limited():
    with _core.ThreadLimit(one["n_jobs"]):
        ClassCounts.from_matrix(X, y)


wide = ("SparseMultinomialNB", "SparseBernoulliNB", "NaiveFeatureSelector",
        "L0Screener", "L1Screener", "FDRScreener", "PearsonScreener")
table = {"SparseGaussianNB": Z, "AveragedNB": Z[:4000], "SelectiveNB": Z[:4000],
         "MODLEncoder": Z, "MixedScreener": Z, "SparseCategoricalNB": codes}


def fitted(name, X, y):
    model = getattr(bs, name)(**one).fit(X, y)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


work = {
    "ThreadLimit": limited,
    "from_matrix": lambda: ClassCounts.from_matrix(X, y, **one),
    "from_chunks": lambda: ClassCounts.from_chunks([(X, y), (X, y)], **one),
    "from_text": lambda: ClassCounts.from_text([(texts, y)], **one),
    "solve_multinomial": lambda: bs.solve_multinomial(dense, 50, **one),
    "solve_bernoulli": lambda: bs.solve_bernoulli(
        dense, 50, class_count=[50, 50], **one
    ),
    "sparsity_path": lambda: bs.sparsity_path(dense, [20, 50], **one),
    "SparseTextNB": lambda: SparseTextNB(50, **one).fit(texts, y).predict(texts),
    "SparseSequenceNB": lambda: fitted("SparseSequenceNB", bases, kinds),
    **{name: lambda name=name: fitted(name, X, y) for name in wide},
    **{name: lambda name=name: fitted(name, table[name], z[: len(table[name])])
       for name in table},
    "SelectiveMultinomialNB": lambda: bs.SelectiveMultinomialNB(k=50, **one).fit(X, y),
    "SelectiveBernoulliNB": lambda: bs.SelectiveBernoulliNB(k=50, **one).fit(X, y),
}


def most_threads(run):
    # Threads while it runs, beyond those that were there before.
    run()  # imports, and pools of other packages
    seen, ended = [0], threading.Event()

    def look():
        while not ended.is_set():
            seen.append(len(os.listdir("/proc/self/task")) - 1)

    before = len(os.listdir("/proc/self/task"))
    watcher = threading.Thread(target=look)
    watcher.start()
    run()
    ended.set()
    watcher.join()
    return max(seen) - before


print(json.dumps({name: most_threads(run) for name, run in work.items()}))
"""
WORK = (
    *("ThreadLimit", "from_matrix", "from_chunks", "from_text", "SparseTextNB"),
    *("SparseSequenceNB", "solve_multinomial", "solve_bernoulli", "sparsity_path"),
    *("SparseMultinomialNB", "SparseBernoulliNB", "NaiveFeatureSelector"),
    *("L0Screener", "L1Screener", "FDRScreener", "PearsonScreener"),
    *("SparseGaussianNB", "SparseCategoricalNB", "SelectiveNB", "AveragedNB"),
    *("MODLEncoder", "MixedScreener", "SelectiveMultinomialNB", "SelectiveBernoulliNB"),
)


def more_threads(n_jobs):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n_jobs)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def with_one():
    if not os.path.isdir(TASKS):
        pytest.skip(f"counts threads in {TASKS}")
    return more_threads(1)


@pytest.mark.parametrize("work", WORK)
def test_one_thread_is_one_thread(with_one, work):
    assert with_one[work] <= 0


@pytest.mark.slow
def test_two_threads_are_two():
    # So that what keeps to one thread above does so because it is told.
    if not os.path.isdir(TASKS):
        pytest.skip(f"counts threads in {TASKS}")
    found = more_threads(2)
    assert max(found.values()) == 1
    for work in ("from_matrix", "from_text", "solve_multinomial", "SelectiveNB"):
        assert found[work] == 1


def test_limits_nest_and_end_in_any_order():
    outer, inner = _core.ThreadLimit(3), _core.ThreadLimit(2)
    assert _core.available_threads() >= 1
    free = _core.available_threads()
    outer.__enter__()
    inner.__enter__()
    assert _core.available_threads() == 2
    outer.__exit__(None, None, None)
    assert _core.available_threads() == 2
    inner.__exit__(None, None, None)
    assert _core.available_threads() == free


def test_a_limit_is_that_of_its_thread():
    found = []
    with _core.ThreadLimit(1):
        other = threading.Thread(target=lambda: found.append(_core.available_threads()))
        other.start()
        other.join()
        assert _core.available_threads() == 1
    assert found == [_core.available_threads()]
