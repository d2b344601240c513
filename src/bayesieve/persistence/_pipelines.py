"""Pipelines and what stands in them as parts of a file, step by step.

A step is an estimator of this package, one of those of scikit-learn that `STEPS` lists,
or made of such steps: Pipeline, ColumnTransformer, FeatureUnion. Each writes its arrays
under its own prefix, and each is checked as if it stood alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion, Pipeline

from bayesieve.counts._storage import RefusedError, pack_text
from bayesieve.naive_bayes import SparseTextNB
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._kinds import Arrays
from bayesieve.persistence._own import MODELS, pack_own, packed_value, read_own
from bayesieve.persistence._steps import (
    STEPS,
    VECTORIZERS,
    UnsavedError,
    pack_step,
    read_step,
)
from bayesieve.persistence._values import unpack_plain

__all__ = ["pack_estimator", "read_estimator", "takes_texts"]

_DEEPEST = 8
_WORDS = ("drop", "passthrough")
_OUTPUTS = ("default", "pandas", "polars")


def takes_texts(step: Any) -> bool:
    """Whether the rows of a step are texts."""
    if isinstance(step, Pipeline):
        inner = [own for _, own in step.steps if own not in (None, "passthrough")]
        return bool(inner) and takes_texts(inner[0])
    if isinstance(step, FeatureUnion):
        return any(takes_texts(own) for _, own in step.transformer_list)
    return isinstance(step, (*VECTORIZERS, SparseTextNB))


# ----------------------------------------------------------------------------- writing


def pack_estimator(step: Any, arrays: Arrays, place: str = "") -> dict[str, Any]:
    """Return a fitted estimator as JSON; its arrays are added.

    What cannot be saved is a ValueError that names the step, which stands at `place`.
    """
    name = type(step).__name__
    if type(step) is MODELS.get(name):
        node = pack_own(step, arrays)
    elif name in STEPS and type(step) is STEPS[name].of:
        try:
            node = pack_step(step, arrays)
        except UnsavedError as error:
            raise ValueError(
                f"Step {place} ({name}) cannot be saved: {error}."
            ) from None
        except NotFittedError:
            raise
        except ValueError as error:
            raise ValueError(f"Step {place} cannot be saved. {error}") from None
    elif name in _MADE_OF_STEPS and type(step) is _MADE_OF_STEPS[name][0]:
        node = _MADE_OF_STEPS[name][1](step, arrays, place)
    else:
        raise ValueError(
            f"Step {place} cannot be saved: it must be an estimator of bayesieve or "
            f"one of {', '.join([*_MADE_OF_STEPS, *STEPS])}. "
            f"Got {type(step).__module__}.{name}."
        )
    output = vars(step).get("_sklearn_output_config", {}).get("transform")
    return node if output is None else node | {"output": output}


def _pack_part(step: Any, arrays: Arrays, number: int, place: str) -> Any:
    """A step inside another; its arrays have a prefix of their own."""
    if step is None or isinstance(step, str):
        return step or "passthrough"
    own: Arrays = {}
    node = pack_estimator(step, own, place)
    arrays.update({f"steps.{number}.{name}": array for name, array in own.items()})
    return node


def _named_parts(
    steps: list[tuple[str, Any]], arrays: Arrays, place: str
) -> list[list[Any]]:
    inside = f"{place} > " if place else ""
    return [
        [name, _pack_part(step, arrays, i, f"{inside}{name!r}")]
        for i, (name, step) in enumerate(steps)
    ]


def _pack_pipeline(pipeline: Any, arrays: Arrays, place: str) -> dict[str, Any]:
    if getattr(pipeline, "transform_input", None) is not None:
        raise ValueError(
            "The 'transform_input' parameter of a Pipeline must be None to be saved. "
            f"Got {pipeline.transform_input!r}."
        )
    return {
        "class": "Pipeline",
        "steps": _named_parts(pipeline.steps, arrays, place),
    }


def _pack_union(union: Any, arrays: Arrays, place: str) -> dict[str, Any]:
    return {
        "class": "FeatureUnion",
        "parameters": _shared_parameters(union, arrays, place),
        "steps": _named_parts(union.transformer_list, arrays, place),
    }


def _shared_parameters(step: Any, arrays: Arrays, place: str) -> dict[str, Any]:
    """Parameters of a FeatureUnion or ColumnTransformer beside their steps."""
    kept = {"transformer_weights", "verbose_feature_names_out", "sparse_threshold"}
    known = step.get_params(deep=False)
    if not isinstance(known["verbose_feature_names_out"], bool):
        raise ValueError(
            f"Step {place} cannot be saved: its 'verbose_feature_names_out' must be "
            f"True or False. Got {type(known['verbose_feature_names_out']).__name__}."
        )
    return {
        name: packed_value(step, name, known[name], arrays)
        for name in sorted(kept & known.keys())
    }


def _pack_columns(step: Any, arrays: Arrays, place: str) -> dict[str, Any]:
    """A ColumnTransformer: its parts, the columns of each, and what they give."""
    if not hasattr(step, "transformers_"):
        raise NotFittedError("This ColumnTransformer is not fitted.")
    known = {
        *step.get_params(deep=False),
        *("transformers_", "output_indices_", "sparse_output_", "n_features_in_"),
        *("feature_names_in_", "_columns", "_transformer_to_input_indices"),
        *("_remainder", "_sklearn_output_config"),
    }
    extra = vars(step).keys() - known
    if extra:
        raise ValueError(
            f"Step {place} (ColumnTransformer) cannot be saved: this version of "
            f"scikit-learn gives it {min(extra)!r}, which no file holds."
        )
    asked = [own for _, own, _ in step.transformers]
    fitted = {name: own for name, own, _ in step.transformers_}
    names = [name for name, *_ in step.transformers]
    given = [columns for *_, columns in step.transformers_]
    if "remainder" in fitted:
        names.append("remainder")
        asked.append(step.remainder)
    parts = []
    for i, (name, wanted, columns) in enumerate(zip(names, asked, given, strict=True)):
        chosen = list(map(int, step._transformer_to_input_indices[name]))
        inside = f"{place} > {name!r}" if place else repr(name)
        # Nothing was fitted on no columns.
        own, word = (fitted[name], None) if chosen else ("drop", "drop")
        width = step.output_indices_[name]
        parts.append(
            {
                "name": name,
                "step": _pack_part(own, arrays, i, inside),
                "word": wanted if isinstance(wanted, str) else word,
                "columns": chosen,
                "by": _way_of_choosing(columns),
                "output": [int(width.start), int(width.stop)],
            }
        )
    if hasattr(step, "feature_names_in_"):
        pack_text(arrays, "feature_names_in_", step.feature_names_in_)
    return {
        "class": "ColumnTransformer",
        "parameters": _shared_parameters(step, arrays, place),
        "parts": parts,
        "named": hasattr(step, "feature_names_in_"),
        "n_features": int(step.n_features_in_),
        "sparse": bool(step.sparse_output_),
    }


def _way_of_choosing(columns: Any) -> str:
    """Whether columns were chosen by name or number, and one alone as a series."""
    if isinstance(columns, str):
        return "name"
    if np.isscalar(columns):
        return "number"
    if isinstance(columns, slice):
        ends = (columns.start, columns.stop)
        return "names" if any(isinstance(own, str) for own in ends) else "numbers"
    first = next(iter(columns), 0)
    return "names" if isinstance(first, str) else "numbers"


# ----------------------------------------------------------------------------- reading


def read_estimator(node: Any, archive: ModelArchive, depth: int = 0) -> Any:
    """Undo `pack_estimator`."""
    name = node.get("class") if isinstance(node, dict) else None
    if depth > _DEEPEST:
        raise RefusedError("has steps that are nested too deeply.")
    inside = {*STEPS, *_MADE_OF_STEPS} if depth else {"Pipeline"}
    if not isinstance(name, str) or not (name in MODELS or name in inside):
        raise RefusedError(
            f"holds a {json.dumps(name)[:60]}, which is not a model of this bayesieve."
        )
    if name in MODELS:
        step: Any = read_own(node, archive)
    elif name in STEPS:
        step = read_step(node, archive)
    else:
        step = _MADE_OF_STEPS[name][2](node, archive, depth)
    output = node.get("output")
    if output is not None:
        if output not in _OUTPUTS:
            raise ValueError("'output' is none of the kinds of tables")
        step._sklearn_output_config = {"transform": output}
    return step


def _read_part(node: Any, archive: ModelArchive, number: int, depth: int) -> Any:
    if isinstance(node, str):
        if node not in _WORDS:
            raise ValueError("a step is neither 'drop' nor 'passthrough'")
        return node
    return read_estimator(node, archive.below(f"steps.{number}."), depth + 1)


def _read_names(found: list[Any]) -> list[str]:
    if not found or not all(isinstance(own, str) and own for own in found):
        raise ValueError("steps have no names")
    if len(set(found)) != len(found) or any("__" in own for own in found):
        raise ValueError("steps have names that are not allowed")
    return found


def _read_steps(
    node: dict[str, Any], archive: ModelArchive, depth: int
) -> list[tuple[str, Any]]:
    pairs = node.get("steps")
    if not isinstance(pairs, list) or not all(
        isinstance(own, list) and len(own) == 2 for own in pairs
    ):
        raise ValueError("'steps' are not names with steps")
    names = _read_names([name for name, _ in pairs])
    return [
        (name, _read_part(own, archive, i, depth))
        for i, (name, (_, own)) in enumerate(zip(names, pairs, strict=True))
    ]


def _read_pipeline(node: dict[str, Any], archive: ModelArchive, depth: int) -> Any:
    steps = _read_steps(node, archive, depth)
    own = [step for _, step in steps if not isinstance(step, str)]
    if any(step == "drop" for _, step in steps) or not own:
        raise ValueError("'steps' has none, or one that is left out")
    if not all(hasattr(step, "transform") for step in own[:-1]):
        raise ValueError("a step before the last does not transform")
    if any(takes_texts(step) for step in own[1:]):
        raise ValueError("a step behind others takes texts")
    return Pipeline(steps)


def _read_union(node: dict[str, Any], archive: ModelArchive, depth: int) -> Any:
    steps = _read_steps(node, archive, depth)
    parts = [step for _, step in steps if not isinstance(step, str)]
    if not all(hasattr(step, "transform") for step in parts):
        raise ValueError("a part does not transform")
    return FeatureUnion(steps, **_read_shared(node, archive, steps))


def _read_shared(
    node: dict[str, Any], archive: ModelArchive, steps: list[tuple[str, Any]]
) -> dict[str, Any]:
    entries = node.get("parameters")
    if not isinstance(entries, dict):
        raise ValueError("'parameters' are not there")
    given = {
        name: unpack_plain(entry, f"parameters.{name}", archive)
        for name, entry in entries.items()
    }
    weights = given.get("transformer_weights")
    names = {name for name, _ in steps}
    if weights is not None and not (
        isinstance(weights, dict)
        and weights.keys() <= names
        and all(type(own) in (int, float) for own in weights.values())
    ):
        raise ValueError("'transformer_weights' are not numbers of steps")
    if type(given.get("verbose_feature_names_out")) is not bool:
        raise ValueError("'verbose_feature_names_out' is neither true nor false")
    return given


def _read_columns(node: dict[str, Any], archive: ModelArchive, depth: int) -> Any:
    n_columns, parts = node["n_features"], node["parts"]
    names = None
    if type(n_columns) is not int or not 0 < n_columns < 2**31:
        raise ValueError("'n_features' is not a size")
    if node["named"] is True:
        texts = archive.texts("feature_names_in_")
        if len(texts) != n_columns:
            raise ValueError("'feature_names_in_' does not name each column")
        names = np.empty(n_columns, dtype=object)
        names[:] = texts
    labels = _read_names([own["name"] for own in parts])
    if type(node["sparse"]) is not bool or "remainder" in labels[:-1]:
        raise ValueError("'parts' are not those of a ColumnTransformer")
    chosen: dict[str, list[int]] = {}
    fitted, made, outputs = [], [], {}
    for i, (label, part) in enumerate(zip(labels, parts, strict=True)):
        step = _read_part(part["step"], archive, i, depth)
        columns = part["columns"]
        _check_columns(columns, n_columns)
        _check_takes(step, part["by"])
        given = _as_chosen(columns, part["by"], names)
        chosen[label] = columns
        fitted.append((label, step, given))
        made.append((label, _before_fit(step, part["word"]), given))
        outputs[label] = _read_output(part["output"])
    remainder = made.pop() if "remainder" in labels else ("remainder", "drop", [])
    if "remainder" not in chosen:
        used = {j for own in chosen.values() for j in own}
        chosen["remainder"] = [j for j in range(n_columns) if j not in used]
    steps = [(label, step) for label, step, _ in fitted]
    shared = _read_shared(node, archive, steps)
    found = ColumnTransformer(made, remainder=remainder[1], **shared)
    found._validate_params()
    found.n_features_in_ = n_columns
    if names is not None:
        found.feature_names_in_ = names
    found.transformers_ = fitted
    found.sparse_output_, found.output_indices_ = node["sparse"], outputs
    found._columns = [columns for *_, columns in made]
    found._transformer_to_input_indices = chosen
    found._remainder = remainder
    return found


def _check_columns(columns: Any, n_columns: int) -> None:
    if not isinstance(columns, list) or not all(
        type(j) is int and 0 <= j < n_columns for j in columns
    ):
        raise ValueError("'columns' are not places of columns")


def _check_takes(step: Any, way: Any) -> None:
    """One column alone is a series, which vectorizers take and nothing else does."""
    if not isinstance(step, str):
        alone = way in ("name", "number")
        if not hasattr(step, "transform") or takes_texts(step) != alone:
            raise ValueError("a part does not take its columns")


def _as_chosen(columns: list[int], way: Any, names: Any) -> Any:
    if way not in ("name", "number", "names", "numbers"):
        raise ValueError("'by' is no way to choose columns")
    alone = way in ("name", "number")
    if alone and len(columns) != 1:
        raise ValueError("one column alone is not one")
    found: list[Any] = list(columns)
    if way in ("name", "names"):
        if names is None:
            raise ValueError("columns are chosen by names that are not there")
        found = names[columns].tolist()
    return found[0] if alone else found


def _before_fit(step: Any, word: Any) -> Any:
    """A part as it was given: the word for it, or the same step unfitted."""
    if word is not None and word not in _WORDS:
        raise ValueError("'word' is neither 'drop' nor 'passthrough'")
    return word or (step if isinstance(step, str) else clone(step))


def _read_output(given: Any) -> slice:
    if (
        not isinstance(given, list)
        or len(given) != 2
        or not all(type(own) is int and 0 <= own < 2**53 for own in given)
    ):
        raise ValueError("'output' is not two places")
    return slice(*given)


#: What is made of steps: the class, how it is written and how it is read.
_MADE_OF_STEPS: dict[
    str, tuple[type, Callable[..., dict[str, Any]], Callable[..., Any]]
] = {
    "Pipeline": (Pipeline, _pack_pipeline, _read_pipeline),
    "ColumnTransformer": (ColumnTransformer, _pack_columns, _read_columns),
    "FeatureUnion": (FeatureUnion, _pack_union, _read_union),
}
