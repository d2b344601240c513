"""One word for one thing: every public signature against the glossary."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import bayesieve

GLOSSARY = Path(__file__).resolve().parents[1] / "docs" / "glossary.md"

#: Words that were in use for what has another name.
GONE = {
    *("max_seconds", "penalty", "lambdas", "n_lambdas", "threads", "variable_cost"),
    *("seed", "memory", "memory_limit", "categorical_columns", "threshold"),
}
#: Results and pictures name their fields after what they hold.
RESULTS = (
    *("Alternatives", "Certificate", "Explanation", "Interactions"),
    *("Solution", "SparsityPath", "StabilitySelection"),
)


def public_callables():
    """Yield (name, callable) for classes, their methods and the functions."""
    for name in bayesieve.__all__:
        value = getattr(bayesieve, name)
        if inspect.ismodule(value):
            for own in getattr(value, "__all__", ()):
                if inspect.isfunction(getattr(value, own)):
                    yield f"{name}.{own}", getattr(value, own)
        elif inspect.isclass(value):
            if name in RESULTS or name.endswith("Display"):
                continue
            if name != "ClassCounts":  # made from its parts
                yield name, value
            for own, method in inspect.getmembers(value, callable):
                home = getattr(method, "__module__", "")
                if not own.startswith("_") and home.startswith("bayesieve"):
                    yield f"{name}.{own}", method
        elif callable(value):
            yield name, value


def used_words():
    """Return where each parameter is used."""
    places = {}
    for name, function in public_callables():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name not in ("self", "cls"):
                places.setdefault(parameter.name, []).append(name)
    return places


@pytest.fixture(scope="module")
def listed():
    """The parameters that the glossary explains."""
    text = GLOSSARY.read_text(encoding="utf-8").split("## Parameters")[1]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return {word for row in rows for word in re.findall(r"`(\w+)`", row)}


def test_every_parameter_is_in_the_glossary(listed):
    missing = {word: at for word, at in used_words().items() if word not in listed}
    assert not missing


def test_every_line_of_the_glossary_is_a_parameter(listed):
    assert not listed - used_words().keys()


def test_words_that_are_gone_stay_gone():
    assert not GONE & used_words().keys()


@pytest.mark.parametrize(
    ("word", "expected"),
    [("binarize", {0.0}), ("cv", {5}), ("scoring", {None}), ("choice", {"best"})],
)
def test_a_word_has_one_default(word, expected):
    found = {
        parameters[word].default
        for _, function in public_callables()
        if word in (parameters := inspect.signature(function).parameters)
    }
    assert found - {inspect.Parameter.empty} == expected


def test_whatever_computes_has_n_jobs():
    estimators = {
        name: inspect.signature(value).parameters
        for name in bayesieve.__all__
        if inspect.isclass(value := getattr(bayesieve, name))
        and issubclass(value, BaseEstimator)
    }
    assert len(estimators) > 15
    for name, parameters in estimators.items():
        assert parameters["n_jobs"].default == -1, name
    for name in ("solve_multinomial", "solve_bernoulli", "sparsity_path"):
        parameters = inspect.signature(getattr(bayesieve, name)).parameters
        assert parameters["n_jobs"].default == -1, name
