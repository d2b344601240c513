"""The suite of micro-benchmarks: it is there, it runs, and asv would find all of it."""

from __future__ import annotations

import importlib
import importlib.util
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


# ------------------------------------------------------------ the figures that are kept


@pytest.fixture(scope="module")
def micro():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location(
            "micro_figures", ROOT / "benchmarks" / "micro.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_results_of_asv_become_words(micro):
    stored = {
        "result_columns": ["result", "params", "stats_q_25", "stats_q_75"],
        "results": {
            "b.time_x": [[0.5, float("nan")], [["1", "2"]], [0.4, 1], [0.6, 2]],
            "a.peakmem_x": [[2_000_000], [["'s'"]], None, None],
            "c.time_broken": [None, [], None, None],
        },
    }
    about = {
        name: {"unit": unit, "param_names": ["size"]}
        for name, unit in (("b.time_x", "seconds"), ("a.peakmem_x", "bytes"))
    }
    result = micro.converted(stored, about)
    assert list(result) == ["a.peakmem_x", "b.time_x"]
    assert result["b.time_x"]["median"] == [0.5, None]
    assert result["a.peakmem_x"] == {
        "unit": "bytes",
        "param_names": ["size"],
        "params": [["'s'"]],
        "median": [2_000_000.0],
    }


def test_tables_have_the_last_parameter_across(micro):
    one = {
        "unit": "seconds",
        "param_names": ["classes", "columns"],
        "params": [["2", "20"], ["10", "1000"]],
        "median": [2e-6, 0.0123, 1.5, None],
    }
    assert micro.table(one).splitlines() == [
        "| classes | columns 10 | columns 1,000 |",
        "| :--- | ---: | ---: |",
        "| 2 | 2.00 µs | 12.3 ms |",
        "| 20 | 1.50 s | failed |",
    ]


def test_the_readme_shows_the_figures_that_are_kept(micro):
    content = json.loads((ROOT / "benchmarks" / "results" / "micro.json").read_text())
    readme = micro.README.read_text(encoding="utf-8")
    assert micro.with_tables(readme, content) == readme
    assert not content["quick"]
    names = {
        f"{module}.{benchmark.__name__}.{body}"
        for module in MODULES
        for benchmark in classes_of(module)
        for body in bodies(benchmark)
    }
    assert set(content["benchmarks"]) == names
    assert set(micro.SHOWN) <= names
