"""Estimators of this package as parts of a file: parameters and fitted attributes."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from bayesieve import feature_selection, naive_bayes, preprocessing
from bayesieve._description import Saved, SelfDescribing
from bayesieve.counts._storage import RefusedError
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._kinds import KINDS, Arrays, Kind, Plain, Sizes
from bayesieve.persistence._mixed import CategoryValues, MixedColumns
from bayesieve.persistence._partitions import Partitions, ReaderKind

__all__ = ["MODELS", "pack_own", "packed_value", "read_attributes", "read_own"]

#: The classes that can be saved, by name. A file can name nothing else, and of these
#: only what they declare themselves is written and read.
MODELS: dict[str, type[SelfDescribing]] = {
    name: found
    for package in (naive_bayes, feature_selection, preprocessing)
    for name, found in vars(package).items()
    if isinstance(found, type) and issubclass(found, SelfDescribing)
}
_KINDS: dict[str, type[Kind]] = {
    **KINDS,
    "category values": CategoryValues,
    "mixed columns": MixedColumns,
    "partitions": Partitions,
    "table reader": ReaderKind,
}
_PLAIN = Plain(Saved("plain"))
#: Parameters of version 0.1 and what they are called now, in classes that know the new
#: name and not the old one. Of two old names the first that is not None counts.
_RENAMED = {
    "max_seconds": "time_limit",
    "variable_cost": "feature_cost",
    "max_features": "k",
    "penalty": "regularization",
    "lambdas": "regularization",
    "n_lambdas": "regularization",
}


def pack_own(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Return an estimator as JSON; its arrays are added."""
    check_is_fitted(model, "classes_")
    return {
        "class": type(model).__name__,
        "parameters": {
            name: packed_value(model, name, value, arrays)
            for name, value in model.get_params(deep=False).items()
        },
        "attributes": _packed_attributes(model, arrays),
    }


def packed_value(model: Any, name: str, value: Any, arrays: Arrays) -> Any:
    """Return a parameter as JSON, or say why that cannot be."""
    try:
        return _PLAIN.put(f"parameters.{name}", value, arrays)
    except (TypeError, RecursionError) as error:
        raise ValueError(
            f"The {name!r} parameter of {type(model).__name__} must hold plain "
            f"values to be saved. Got {error}. "
            f"Hint: model.set_params({name}=...) before saving."
        ) from None


def _packed_attributes(model: SelfDescribing, arrays: Arrays) -> dict[str, Any]:
    values = model._to_save()
    packed = {}
    for name, declared in model._saved_attributes().items():
        value = values.get(name)
        if declared.old:
            continue
        if value is None:
            if not declared.optional:
                raise ValueError(
                    f"This {type(model).__name__} is not fitted: it has no {name}."
                )
            continue
        packed[name] = _kind(declared).put(name, value, arrays)
    return packed


def _kind(declared: Saved) -> Kind:
    return _KINDS[declared.kind](declared)


def read_own(node: dict[str, Any], archive: ModelArchive) -> SelfDescribing:
    """Undo `pack_own`."""
    name = node["class"]
    model = _with_parameters(MODELS[name], node.get("parameters"), archive)
    attributes = model._saved_attributes()
    values = read_attributes(name, attributes, node.get("attributes"), archive, _KINDS)
    model._restore(values)
    return model


def read_attributes(
    owner: str,
    declared: dict[str, Saved],
    entries: Any,
    archive: ModelArchive,
    kinds: dict[str, type[Kind]],
) -> dict[str, Any]:
    """Read the declared attributes of an estimator; others, or too few, are refused."""
    if not isinstance(entries, dict) or not entries.keys() <= declared.keys():
        raise RefusedError(f"has attributes that a {owner} does not have.")
    missing = [
        name
        for name, own in declared.items()
        if name not in entries and not (own.optional or own.old)
    ]
    if missing:
        raise RefusedError(f"lacks {min(missing)!r} of its {owner}.")
    sizes = Sizes()
    return {
        name: kinds[own.kind](own).get(name, entries[name], archive, sizes)
        for name, own in declared.items()
        if name in entries
    }


def _with_parameters(
    model: type[SelfDescribing], entries: Any, archive: ModelArchive
) -> SelfDescribing:
    """Return the model before fit, with parameters its own rules allow."""
    made: Any = model()
    known = made.get_params(deep=False).keys()
    refusal = RefusedError(f"has parameters that a {model.__name__} does not have.")
    if not isinstance(entries, dict):
        raise refusal
    given = {
        name: _PLAIN.get(f"parameters.{name}", entry, archive, Sizes())
        for name, entry in entries.items()
    }
    for old, new in _RENAMED.items():
        if old in given and old not in known and new in known:
            value = given.pop(old)
            if given.get(new) is None:
                given[new] = value
    given = model._read_parameters(given)
    if not given.keys() <= known:
        raise refusal
    for name, value in given.items():
        setattr(made, name, value)
    made._validate_params()
    found: SelfDescribing = made
    return found
