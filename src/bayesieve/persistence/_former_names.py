"""Parameters of models that earlier versions have written, under their names of now."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from bayesieve.weights import OPTIMIZERS

__all__ = ["with_current_columns", "with_current_names"]

_RENAMED = {
    "SelectiveNB": {"max_features": "k", "variable_cost": "feature_cost"},
    "SparseTextNB": {"threads": "n_jobs"},
    "L0Screener": {"penalty": "regularization"},
    "L1Screener": {"penalty": "regularization"},
    "PearsonScreener": {"penalty": "regularization"},
}
#: Until 0.2 these were parameters of SelectiveNB beside the name of the optimiser.
_SETTINGS = {
    "min_gain": 5e-5,
    "batch_size": 1000,
    "effort": 5,
    "max_iter": 100,
    "tol": 1e-4,
    "patience": 5,
    "step": 0.01,
    "start": 0.5,
}


def with_current_columns(columns: Any) -> Any:
    """Columns of the results of a cross-validation, as `GridSearchCV` names them."""
    if not isinstance(columns, list) or "lambda" not in columns:
        return columns
    former = {"lambda": "param_regularization", "relaxation": "param_relaxation"}
    return [former.get(name, name) for name in columns]


def with_current_names(model: str, given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a class as its constructor takes them today."""
    renamed = _RENAMED.get(model, {})
    if model.startswith(("Selective", "Averaged")):
        renamed = renamed | {"max_seconds": "time_limit"}
    found = {renamed.get(name, name): value for name, value in given.items()}
    if "n_lambdas" in found:
        size, values = found.pop("n_lambdas"), found.pop("lambdas", None)
        found["regularization"] = size if values is None else values
    if model == "SelectiveNB":
        own = {name: found.pop(name) for name in _SETTINGS if name in found}
        kind = OPTIMIZERS.get(str(found.get("optimizer")))
        taken = () if kind is None else [own.name for own in fields(kind)]  # type: ignore[arg-type]
        changed = {n: v for n, v in own.items() if n in taken and v != _SETTINGS[n]}
        if kind is not None and changed:
            found["optimizer"] = kind(**changed)
    return found
