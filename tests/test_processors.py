"""The same answers on another processor.

NumPy, the C library and BLAS choose their loops by the processor, and these differ in
the last bit. `python3 dev.py processors` runs the whole suite so; here a few programs
are run as on older processors and their answers compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.patience import HANGS

PROGRAM = """
import json
import warnings
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
import bayesieve
from bayesieve.datasets import load_sms_spam

warnings.simplefilter("ignore")
messages, labels = load_sms_spam(return_X_y=True)
X = CountVectorizer().fit_transform(messages)
rng = np.random.default_rng(0)
many = rng.poisson(rng.gamma(0.5, 2.0, (5, 60))[np.arange(300) % 5])
found = {}


def keep(name, model):
    found[name] = {
        "support": model.support_indices_.tolist(),
        "proven": model.certificate_.is_optimal,
        "values": [model.certificate_.objective, model.certificate_.upper_bound],
    }


for k in (2, 9, 20, 200):
    keep(f"multinomial {k}", bayesieve.SparseMultinomialNB(k).fit(X, labels))
    keep(f"bernoulli {k}", bayesieve.SparseBernoulliNB(k).fit(X, labels))
keep("five classes", bayesieve.SparseMultinomialNB(12).fit(many, np.arange(300) % 5))
keep("gaussian", bayesieve.SparseGaussianNB(7).fit(many, np.arange(300) % 5))
for name in ("SelectiveMultinomialNB", "SelectiveBernoulliNB"):
    model = getattr(bayesieve, name)(k=50).fit(X, labels)
    found[name] = {
        "support": model.support_indices_.tolist(),
        "proven": model.stopped_,
        "values": [model.path_.nll.min()],
    }
table = rng.normal(size=(500, 6))
table[:, :2] += (labels[:500] == labels[0])[:, None]
model = bayesieve.SelectiveNB().fit(table, labels[:500])
found["mixed"] = {
    "support": [p.parts.bounds.tolist() for p in model.partitions_],
    "proven": model.stopped_,
    "values": [model.criterion_],
}
print(json.dumps(found))
"""
FEATURES = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__[name]))
"""


def run(code, **variables):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def answers():
    return json.loads(run(PROGRAM))


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["NumPy and C library", "BLAS", "one thread"])
def test_the_same_answers_on_an_older_processor(answers, setting):
    variables = {
        "NumPy and C library": {
            "NPY_DISABLE_CPU_FEATURES": run(FEATURES).strip(),
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL",
        },
        "BLAS": {"OPENBLAS_CORETYPE": "Nehalem"},
        "one thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    }[setting]
    others = json.loads(run(PROGRAM, **variables))
    assert others.keys() == answers.keys()
    for name, own in answers.items():
        assert others[name]["support"] == own["support"], name
        assert others[name]["proven"] == own["proven"], name
        # Sums of some hundred thousand terms, each off by a unit in the last place.
        np.testing.assert_allclose(others[name]["values"], own["values"], rtol=1e-11)
