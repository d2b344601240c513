"""Models as users have them: alone, in a pipeline, beside a vectorizer, in a search.

One function opens them all. It gives the estimator of this package that is inside, the
fitted steps that rows go through before they reach it, and the names of its columns.
Names are made when somebody asks for them, since a vocabulary of a million words takes
a second to sort and most pictures need twenty of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from bayesieve.utils._computed_once import computed_once

__all__ = [
    "ColumnNames",
    "OpenedModel",
    "is_own",
    "open_model",
    "predictor_of",
    "predictor_rows",
]

_NEEDED = (
    "A fitted classifier, selector or encoder of bayesieve is needed, alone, in a "
    "Pipeline, or as the last of a tuple of fitted steps."
)


def is_own(step: Any) -> bool:
    """Whether a step is an estimator of this package: it can describe itself."""
    return callable(getattr(type(step), "_describe", None))


def open_model(model: Any, feature_names: Any = None) -> OpenedModel:
    """Find the estimator of this package in what a user has.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        A fitted estimator of this package; a Pipeline that ends with one, or with
        another classifier behind a selector of this package; ``(vectorizer, model)``,
        fitted apart; a search such as GridSearchCV over any of these.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the estimator. By default those that the steps
        before it give, else its own.
    """
    steps, own, is_last = _opened(model)
    check_is_fitted(own)
    return OpenedModel(model, own, tuple(steps), is_last, feature_names)


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """An estimator of this package, and what is around it.

    Attributes
    ----------
    whole : object
        What was opened.
    model : SelfDescribing
        The estimator inside.
    steps : tuple of fitted transformers
        What rows go through before they reach it.
    is_last : bool
        Whether it is what predicts; False for a selector before another classifier.
    given : array-like of str or None
        Names of its columns as the user gives them.
    """

    whole: Any
    model: Any
    steps: tuple[Any, ...]
    is_last: bool
    given: Any = None

    def rows(self, X: Any) -> Any:
        """Rows as the estimator takes them."""
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def predictor(self) -> Any:
        """What predicts: the last of what was opened."""
        return predictor_of(self.whole)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of rows as the user has them."""
        return self.predictor.predict_proba(predictor_rows(self.whole, X))

    @computed_once
    def names(self) -> ColumnNames | None:
        """Names of the columns of the estimator; None where it has its own or none."""
        n_named, n_columns = self.model._n_named, self.model.n_features_in_
        if self.given is not None:
            owner = type(self.model).__name__
            return ColumnNames(_checked_names(self.given, n_named, owner))
        if n_named != n_columns or hasattr(self.model, "feature_names_in_"):
            return None
        if not _gives_names(self.steps):
            return None
        return ColumnNames(None, self.steps, n_columns)

    def require_last(self, what: str) -> None:
        """Refuse a selector before a classifier of others: it does not predict."""
        if not self.is_last:
            raise TypeError(
                f"{what} needs a classifier of bayesieve as the last step. "
                f"Got a {type(self.model).__name__} before another one."
            )


class ColumnNames(Sequence[str]):
    """Names of columns, made when they are asked for.

    Parameters
    ----------
    names : sequence of str or None
        All of them, where they are there already.
    steps : sequence of fitted transformers
        What gives them otherwise.
    n_columns : int
    """

    def __init__(
        self, names: Any, steps: Sequence[Any] = (), n_columns: int | None = None
    ) -> None:
        self._names, self._steps = names, tuple(steps)
        self._length = len(names) if n_columns is None else int(n_columns)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self.of(np.arange(self._length)[place])
        return self.of(np.array([range(self._length)[place]]))[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.of(np.arange(self._length)))

    def of(self, columns: np.ndarray) -> list[str]:
        """Names of some columns."""
        if self._names is not None:
            return [str(self._names[j]) for j in columns.tolist()]
        return self._walk.of(len(self._steps), columns)

    def tolist(self) -> list[str]:
        """All of them."""
        return list(self)

    @computed_once
    def _walk(self) -> _NameWalk:
        walk = _NameWalk(self._steps)
        found = walk.width
        if found is not None and found != self._length:
            raise ValueError(
                f"The steps before the model give {found:,} columns, and it was fitted "
                f"on {self._length:,}. Hint: open the steps that it was fitted with."
            )
        return walk


class _NameWalk:
    """Names after each of some steps, for as few columns as are asked for."""

    def __init__(self, steps: Sequence[Any]) -> None:
        self._steps = steps
        self._whole: dict[int, np.ndarray | None] = {}

    @property
    def width(self) -> int | None:
        """Columns after the last step, where a list of names tells."""
        support = getattr(self._steps[-1], "get_support", None)
        if support is not None:
            return int(np.count_nonzero(support()))
        if _is_one_to_one(self._steps[-1]):
            return int(self._steps[-1].n_features_in_)
        found = self._all(len(self._steps))
        return None if found is None else len(found)

    def of(self, after: int, columns: np.ndarray) -> list[str]:
        """Names of columns after so many steps; ``x7`` where there are none."""
        if after:
            step = self._steps[after - 1]
            own = hasattr(step, "feature_names_in_")
            if not own and hasattr(step, "get_support"):
                return self.of(after - 1, step.get_support(indices=True)[columns])
            if not own and _is_one_to_one(step):
                return self.of(after - 1, columns)
            found = self._all(after)
            if found is not None:
                return [str(name) for name in found[columns]]
        return [f"x{column}" for column in columns.tolist()]

    def _all(self, after: int) -> np.ndarray | None:
        """All names after so many steps, None where a step gives none."""
        if after not in self._whole:
            self._whole[after] = self._made(after)
        return self._whole[after]

    def _made(self, after: int) -> np.ndarray | None:
        if not after:
            return None
        step = self._steps[after - 1]
        if not hasattr(step, "get_feature_names_out"):
            return None
        before = None
        if not hasattr(step, "feature_names_in_") and after > 1:
            before = self._all(after - 1)
        found = step.get_feature_names_out(before)
        return _shortened(np.asarray(found, dtype=object), step)


# ---------------------------------------------------------------------------- opening


def _opened(model: Any) -> tuple[list[Any], Any, bool]:
    """Steps before the estimator of this package, the estimator, whether it is last."""
    if is_own(model):
        return [], model, True
    if isinstance(model, CalibratedClassifierCV):
        raise TypeError(
            "CalibratedClassifierCV holds a model for each fold, and none that could "
            "be shown alone. Hint: give the model that it was made from, fitted."
        )
    if isinstance(model, FrozenEstimator):
        return _opened(model.estimator)
    if hasattr(model, "best_estimator_"):
        return _opened(model.best_estimator_)
    if _is_search(model):
        check_is_fitted(model)
        raise ValueError(
            f"{type(model).__name__} must keep its best model. Got refit=False. "
            "Hint: fit it with refit=True."
        )
    if isinstance(model, Pipeline):
        return _of_steps([step for _, step in model.steps], model)
    if isinstance(model, tuple | list) and len(model) > 1:
        return _of_steps(list(model), model)
    raise TypeError(f"{_NEEDED} Got {type(model).__name__}.")


def _of_steps(given: list[Any], whole: Any) -> tuple[list[Any], Any, bool]:
    """Open the last step, or the last selector of this package before it."""
    steps = [step for step in given if step is not None and step != "passthrough"]
    if not steps:
        raise TypeError(f"{_NEEDED} Got a {type(whole).__name__} without steps.")
    last = steps[-1]
    if is_own(last) or _holds_steps(last):
        before, own, is_last = _opened(last)
        return [*_flat(steps[:-1]), *before], own, is_last
    flat = _flat(steps[:-1])
    for place in range(len(flat) - 1, -1, -1):
        if is_own(flat[place]):
            _check_transforms(flat[:place])
            return flat[:place], flat[place], False
    names = ", ".join(type(step).__name__ for step in [*flat, last])
    raise TypeError(f"{_NEEDED} Got a {type(whole).__name__} of {names}.")


def _holds_steps(step: Any) -> bool:
    kinds = (Pipeline, tuple, list, FrozenEstimator, CalibratedClassifierCV)
    return isinstance(step, kinds) or _is_search(step)


def _is_search(model: Any) -> bool:
    """Whether it keeps the best of many fits, as GridSearchCV does."""
    if hasattr(model, "best_estimator_"):
        return True
    if isinstance(model, type) or not hasattr(model, "get_params"):
        return False
    return bool({"estimator", "refit"} <= model.get_params(deep=False).keys())


def _flat(steps: Sequence[Any]) -> list[Any]:
    """Transformers one after the other, those of pipelines inside among them."""
    found: list[Any] = []
    for step in steps:
        if isinstance(step, Pipeline):
            inner = [own for _, own in step.steps if own not in (None, "passthrough")]
            found += _flat(inner)
        else:
            found.append(step)
    _check_transforms(found)
    return found


def _check_transforms(steps: Sequence[Any]) -> None:
    for step in steps:
        if not hasattr(step, "transform"):
            raise TypeError(
                "Steps before a model must be fitted transformers. "
                f"Got {type(step).__name__}, which has no transform."
            )


def predictor_of(whole: Any) -> Any:
    """What predicts: the last of a tuple, everything else by itself."""
    return predictor_of(whole[-1]) if isinstance(whole, tuple | list) else whole


def predictor_rows(whole: Any, X: Any) -> Any:
    """Rows as the last of a tuple takes them; a Pipeline transforms by itself."""
    if not isinstance(whole, tuple | list):
        return X
    for step in whole[:-1]:
        X = step.transform(X)
    return predictor_rows(whole[-1], X)


# ------------------------------------------------------------------------------- names


def _checked_names(given: Any, n_columns: int | None, owner: str) -> list[str]:
    """Names that the user gives for the columns of the model."""
    if n_columns is None:
        raise ValueError(
            f"{owner} has names of its own, the terms. Got feature_names. "
            "Hint: leave them out."
        )
    if isinstance(given, str | bytes | set | frozenset | dict) or not hasattr(
        given, "__len__"
    ):
        raise TypeError(
            "feature_names must be a sequence of strings, one for each column. "
            f"Got {type(given).__name__}."
        )
    if len(given) != n_columns:
        raise ValueError(
            f"feature_names must name each of the {n_columns:,} features. "
            f"Got {len(given):,} names."
        )
    names: list[str] = given.tolist() if hasattr(given, "tolist") else list(given)
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(
                "feature_names must be strings. "
                f"Got {type(name).__name__} {name!r:.40} at place {place}."
            )
    return names


def _gives_names(steps: Sequence[Any]) -> bool:
    """Whether any names are known before the estimator; hashes have none."""
    for step in reversed(steps):
        if hasattr(step, "feature_names_in_"):
            return True
        passes = hasattr(step, "get_support") or _is_one_to_one(step)
        if not passes:
            return hasattr(step, "get_feature_names_out")
        if hasattr(step, "get_support"):
            return True  # then a column is at least called by its number before
    return False


def _is_one_to_one(step: Any) -> bool:
    """Whether a step leaves each column where it is, under its name."""
    own = getattr(type(step), "get_feature_names_out", None)
    return own is OneToOneFeatureMixin.get_feature_names_out


def _shortened(names: np.ndarray, step: Any) -> np.ndarray:
    """Names without that of the transformer they come from, where they stay apart."""
    if isinstance(step, ColumnTransformer):
        parts = [name for name, *_ in step.transformers_]
    elif isinstance(step, FeatureUnion):
        parts = [name for name, _ in step.transformer_list]
    else:
        return names
    if not step.verbose_feature_names_out:
        return names
    known = {f"{part}__" for part in parts}
    short = []
    for name in names.tolist():
        start, mark, rest = name.partition("__")
        short.append(rest if mark and f"{start}__" in known else name)
    seen = Counter(short)
    made = np.empty(len(short), dtype=object)
    made[:] = [
        one if seen[one] == 1 else whole
        for one, whole in zip(short, names.tolist(), strict=True)
    ]
    return made if len(set(made.tolist())) == len(set(names.tolist())) else names
