"""The suite of micro-benchmarks: it is there, it runs, and asv would find all of it."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import re
import sys
import warnings
from pathlib import Path

import pytest

from bayesieve.exceptions import FewFeaturesWarning, GapWarning

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / "benchmarks" / "asv"
MODULES = ("counts", "path", "predict", "screen", "solve", "text", "weights")


@pytest.fixture(scope="module", autouse=True)
def suite_on_path():
    sys.path.insert(0, str(SUITE))
    yield
    sys.path.remove(str(SUITE))


def classes_of(name):
    module = importlib.import_module(f"micro.{name}")
    found = [one for _, one in inspect.getmembers(module, inspect.isclass)]
    return [one for one in found if one.__module__ == module.__name__]


def bodies(benchmark):
    return [n for n in dir(benchmark) if re.match(r"(time|peakmem)_", n)]


def values_of(benchmark):
    """One list for each parameter, as asv reads them: a flat list is one parameter."""
    if all(isinstance(one, list) for one in benchmark.params):
        return list(benchmark.params)
    return [list(benchmark.params)]


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_runs_at_its_smallest_sizes(name):
    for benchmark in classes_of(name):
        smallest = [values[0] for values in values_of(benchmark)]
        assert bodies(benchmark), f"{benchmark.__name__} measures nothing"
        for body in bodies(benchmark):
            instance = benchmark()
            with warnings.catch_warnings():
                # Results that are valid but small are no matter for a clock.
                warnings.simplefilter("ignore", (FewFeaturesWarning, GapWarning))
                instance.setup(*smallest)
                getattr(instance, body)(*smallest)


@pytest.mark.parametrize("name", MODULES)
def test_sizes_have_names_and_rise(name):
    for benchmark in classes_of(name):
        values = values_of(benchmark)
        assert len(benchmark.param_names) == len(values)
        taken = [
            len(inspect.signature(getattr(benchmark, body)).parameters) - 1
            for body in ["setup", *bodies(benchmark)]
        ]
        assert set(taken) == {len(values)}
        for one in values:
            numbers = [v for v in one if not isinstance(v, str)]
            assert numbers == sorted(numbers)


def test_the_suite_covers_every_step_and_memory():
    names = {path.stem for path in (SUITE / "micro").glob("*.py")}
    assert names == {*MODULES, "made_data", "__init__"}
    bodies_of = {name: classes_of(name) for name in MODULES}
    columns = values_of(bodies_of["solve"][0])[1]
    assert columns == [10_000, 100_000, 1_000_000]
    memory = [
        body
        for benchmark in itertools.chain.from_iterable(bodies_of.values())
        for body in bodies(benchmark)
        if body.startswith("peakmem_")
    ]
    assert len(memory) >= 4


def test_the_settings_name_the_suite():
    text = (SUITE / "asv.conf.json").read_text(encoding="utf-8")
    settings = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
    assert (SUITE / settings["benchmark_dir"] / "__init__.py").is_file()
    assert settings["environment_type"] == "existing"
    assert (SUITE / settings["repo"] / "pyproject.toml").is_file()


def test_made_rows_differ_between_classes_and_are_like_those_of_a_vectorizer():
    made = importlib.import_module("micro.made_data")
    X, y = made.rows_of(3, 600, 500)
    assert X.has_sorted_indices
    assert X.dtype == "int64"
    assert X.sum() == 600 * made.PER_ROW
    first = X[y == 0].sum(axis=0) / X[y == 0].sum()
    second = X[y == 1].sum(axis=0) / X[y == 1].sum()
    assert abs(first - second).sum() > 0.05
    assert made.rows_of(3, 600, 500)[0] is X
