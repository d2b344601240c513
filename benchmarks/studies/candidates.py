"""Our estimators as named on a command line: [class] option=value ..."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
from ledger import timed

DEFAULT = "SelectiveNB"


def add_option(parser: argparse.ArgumentParser) -> None:
    """Give a parser --ours, once for each candidate."""
    parser.add_argument(
        "--ours",
        nargs="*",
        action="append",
        metavar="NAME=VALUE",
        help="options of SelectiveNB (or first another class); may be repeated",
    )


def candidate(words: list[str]) -> tuple[str, dict[str, Any]]:
    """Return class name and constructor options of one --ours."""
    name, options = DEFAULT, {}
    for word in words:
        left, equals, right = word.partition("=")
        if not equals:
            name = left
            continue
        try:
            options[left] = json.loads(right)
        except json.JSONDecodeError:
            options[left] = None if right == "None" else right
    return name, options


def key_of(words: list[str]) -> str:
    """Return the name of a candidate: in tables, and of its results."""
    name, options = candidate(words)
    return " ".join([name, *(f"{left}={options[left]}" for left in sorted(options))])


def make(words: list[str]) -> Any:
    """Return a new estimator, or end and say that this version has none."""
    import bayesieve
    import bayesieve.weights

    name, options = candidate(words)
    if not hasattr(bayesieve, name):
        sys.exit(f"This bayesieve has no {name}. Hint: run the other side only.")
    model = getattr(bayesieve, name)()
    if "optimizer" in model.get_params():
        # The rest are settings of the optimiser, named beside it.
        own = {key: options.pop(key) for key in [*options] if not hasattr(model, key)}
        if own:
            kind = bayesieve.weights.OPTIMIZERS[options["optimizer"]]
            options["optimizer"] = kind(**own)
    model.set_params(**options)
    if "random_state" in model.get_params() and "random_state" not in options:
        model.set_params(random_state=0)
    return model


def kept(model: Any) -> int:
    """Return how many variables of a fitted estimator have a weight, alone or not."""
    return int(np.count_nonzero(model.support_))


def fitted(words: list[str], X: Any, y: Any) -> tuple[Any, float]:
    """Return a fitted estimator and the seconds of its fit."""
    model = make(words)
    seconds, _ = timed(lambda: model.fit(X, y))
    return model, seconds
