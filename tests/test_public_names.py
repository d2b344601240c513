"""What `import bayesieve` promises: the names of the specification, and lightness."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from tests.patience import HANGS

import bayesieve

PROMISED = [
    "AveragedNB",
    "Certificate",
    "ClassCounts",
    "DiscountDisplay",
    "Explanation",
    "ExplanationDisplay",
    "FDRScreener",
    "FeatureWeightsDisplay",
    "L0Screener",
    "L1Screener",
    "MODLEncoder",
    "MixedScreener",
    "NaiveFeatureSelector",
    "PairDisplay",
    "PartitionDisplay",
    "PearsonScreener",
    "ReliabilityDisplay",
    "SelectiveBernoulliNB",
    "SelectiveBernoulliNBCV",
    "SelectiveMultinomialNB",
    "SelectiveMultinomialNBCV",
    "SelectiveNB",
    "ShapeDisplay",
    "Solution",
    "SparseBernoulliNB",
    "SparseBernoulliNBCV",
    "SparseCategoricalNB",
    "SparseGaussianNB",
    "SparseMultinomialNB",
    "SparseMultinomialNBCV",
    "SparseSequenceNB",
    "SparseTextNB",
    "SparsityPath",
    "SparsityPathDisplay",
    "StabilityDisplay",
    "StabilitySelection",
    "WeightHistoryDisplay",
    "WeightPathDisplay",
    "compression_rate",
    "baselines",
    "load_model",
    "save_model",
    "screen_interactions",
    "solve_bernoulli",
    "solve_multinomial",
    "sparsity_path",
    "stability_from_counts",
    "stability_selection",
    "to_vectorizer",
]
ESTIMATORS = [name for name in PROMISED if name.startswith(("Sparse", "Naive"))]


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("name", PROMISED)
def test_name_is_there_and_listed(name):
    assert getattr(bayesieve, name) is not None
    assert name in bayesieve.__all__
    assert name in dir(bayesieve)


def test_every_listed_name_is_there_once():
    assert len(set(bayesieve.__all__)) == len(bayesieve.__all__)
    for name in bayesieve.__all__:
        assert hasattr(bayesieve, name), name


def test_star_import_gives_the_listed_names():
    names = run_python(
        "space = {}\nexec('from bayesieve import *', space)\n"
        "print(*sorted(n for n in space if n != '__builtins__'))"
    )
    assert names == sorted(bayesieve.__all__)


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="bayesieve attribute Sparce"):
        _ = bayesieve.Sparce


def test_import_loads_nothing_heavy():
    loaded = run_python("import sys, bayesieve\nprint(*sys.modules)")
    heavy = {"numpy", "scipy", "sklearn", "pandas", "polars", "matplotlib"}
    assert heavy.isdisjoint(loaded)
    assert "bayesieve._core" not in loaded


def test_estimators_load_no_optional_dependency():
    code = (
        "import sys, bayesieve\n"
        "for name in bayesieve.__all__: getattr(bayesieve, name)\n"
        "print(*sys.modules)"
    )
    # scikit-learn looks for pandas by itself; what counts is what comes on top.
    alone = run_python(
        "import sys, sklearn.feature_selection, sklearn.model_selection\n"
        "print(*sys.modules)"
    )
    optional = {"pandas", "polars", "matplotlib", "pyarrow", "duckdb", "dask"}
    assert optional.isdisjoint(set(run_python(code)) - set(alone))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_keyword_only_after_the_first(name):
    parameters = list(inspect.signature(getattr(bayesieve, name)).parameters.values())
    first, *rest = parameters
    assert first.name == ("ks" if name.endswith("CV") else "k")
    assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        (
            "NaiveFeatureSelector",
            {
                "k": 10,
                "model": "multinomial",
                "alpha": 1.0,
                "binarize": 0.0,
                "exact": True,
                "time_limit": 10.0,
                "keep_counts": False,
            },
        ),
        ("SparseMultinomialNB", {"k": 10, "alpha": 1.0, "keep_counts": False}),
        (
            "SparseBernoulliNB",
            {"k": 10, "alpha": 1.0, "binarize": 0.0, "smoothing": "laplace"},
        ),
        ("SparseGaussianNB", {"k": 10, "var_smoothing": 1e-9, "variance": "class"}),
        ("SparseCategoricalNB", {"k": 10, "alpha": 1.0, "min_categories": None}),
        (
            "solve_multinomial",
            {"alpha": 1.0, "exact": True, "time_limit": 10.0, "node_limit": 10_000},
        ),
        (
            "SelectiveNB",
            {
                "regularization": 0.1,
                "exponent": None,
                "k": None,
                "optimizer": "auto",
                "feature_cost": None,
                "time_limit": None,
                "random_state": None,
            },
        ),
        ("MODLEncoder", {"criterion": "khiops", "output": "part"}),
        ("solve_bernoulli", {"alpha": 1.0}),
        ("sparsity_path", {"ks": None, "model": "multinomial", "alpha": 1.0}),
    ],
)
def test_defaults_are_those_of_the_specification(name, promised):
    parameters = inspect.signature(getattr(bayesieve, name)).parameters
    found = {key: parameters[key].default for key in promised if key in parameters}
    assert found == promised
