"""What a model keeps of the choice of its penalty on rows that were not fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesieve._description import CrossValidation, Saved
from bayesieve.model_selection._weight_choice import HeldOutPath
from bayesieve.utils._progress import ProgressBar

__all__ = [
    "CHOICE_SAVED",
    "choice_described",
    "drop_choice",
    "keep_choice",
    "penalties_told",
]

_NAME = "minus log loss, with weights"
#: Attributes of models with ``k="cv"`` or ``k="1se"``; all of them or none.
CHOICE_SAVED = {
    "lambda_best_": Saved("float", optional=True),
    "lambda_1se_": Saved("float", optional=True),
    "cv_results_": Saved("table", optional=True),
}


def keep_choice(model: Any, path: HeldOutPath | None) -> None:
    """Keep how the penalties did, where any was judged."""
    if path is None:
        return
    model.lambda_best_ = float(path.penalties[path.best])
    model.lambda_1se_ = float(path.penalties[path.within_error])
    model.cv_results_ = {
        "param_regularization": path.penalties,
        "n_features": path.sizes,
        "mean_test_score": -path.loss,
        "error_to_best": path.error,
    }


def drop_choice(model: Any) -> None:
    """Forget the choice of an earlier fit."""
    for name in CHOICE_SAVED:
        vars(model).pop(name, None)


def choice_described(model: Any) -> dict[str, Any]:
    """The scores over penalties and over sizes, as fields of a `Description`."""
    results = vars(model).get("cv_results_")
    if results is None:
        return {}
    penalties = np.asarray(results["param_regularization"])
    mean, error = results["mean_test_score"], results["error_to_best"]
    sizes = np.asarray(results["n_features"]).round().astype(np.int64)
    chosen = model.lambda_best_, model.lambda_1se_
    best, one_se = (int(np.argmin(np.abs(penalties - own))) for own in chosen)
    # Two penalties may have as many features: the smaller penalty is the one met last.
    last = np.append(sizes[1:] != sizes[:-1], True)
    return {
        "penalties": CrossValidation(penalties, mean, error, *chosen, name=_NAME),
        "sizes": CrossValidation(
            sizes[last],
            mean[last],
            error[last],
            int(sizes[best]),
            int(sizes[one_se]),
            name=_NAME,
        ),
    }


def penalties_told(bar: ProgressBar) -> Callable[[int, int], None]:
    """A function that shows which penalty of which fold is being tried."""

    def tell(fold: int, penalty: int) -> None:
        bar.update(penalty + 1, f"penalties, fold {fold + 1}")

    return tell
