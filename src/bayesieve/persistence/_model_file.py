"""Saving and loading fitted models."""

from __future__ import annotations

import json
import os
import re
import warnings
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bayesieve import feature_selection, naive_bayes, preprocessing
from bayesieve._description import Saved, SelfDescribing
from bayesieve.counts._storage import (
    Budget,
    RefusedError,
    one_line,
    warn_if_newer,
    write_archive,
)
from bayesieve.persistence._archive import ModelArchive, encoded
from bayesieve.persistence._kinds import KINDS, Kind, Plain, Sizes
from bayesieve.persistence._mixed import CategoryValues, MixedColumns
from bayesieve.persistence._partitions import Partitions, ReaderKind
from bayesieve.utils._whole_files import open_regular

__all__ = ["MODELS", "load_model", "load_notes", "save_model"]

FORMAT = "bayesieve.model"
VERSION = 1
_HEADER = "model.json"
_NOTE = re.compile(r"[a-z][a-z0-9_]{0,40}")

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


def save_model(
    model: Any, path: Any, *, notes: Mapping[str, str] | None = None
) -> None:
    """Write a fitted model to one file.

    The file is a zip of JSON and plain arrays (``.npy``): any language can read it, and
    reading it runs no code. It is written beside its place and moved there when it is
    complete, so a file of that name is replaced by a whole one or not at all. The
    loaded model predicts exactly as the saved one.

    Parameters
    ----------
    model : fitted estimator
        A classifier or selector of bayesieve, or a `MODLEncoder`.
    path : str or path-like
        Written exactly there; no ending is added.
    notes : mapping of str to str, optional
        Texts to keep beside the model, by short names such as "report".

    See Also
    --------
    load_model : Read the file.

    Notes
    -----
    Of a stream (`SelectiveNB.partial_fit`) the partitions with their counts are kept
    and not the window of latest rows: `partial_fit` of the loaded model goes on as it
    does after `fit`. Functions and objects among the parameters, such as a callback or
    a splitter for cross-validation, cannot be saved.

    Examples
    --------
    >>> import os, tempfile
    >>> from bayesieve import SparseTextNB, load_model, save_model
    >>> model = SparseTextNB(k=2).fit(["good film", "bad film"], ["pos", "neg"])
    >>> path = os.path.join(tempfile.mkdtemp(), "film.model")
    >>> save_model(model, path)
    >>> load_model(path).predict(["A good one"])
    array(['pos'], dtype='<U3')
    """
    name = type(model).__name__
    if type(model) is not MODELS.get(name):
        raise TypeError(
            f"save_model takes the estimators of bayesieve: {', '.join(MODELS)}. "
            f"Got {name}."
        )
    check_is_fitted(model, "classes_")
    arrays: dict[str, Any] = {}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "bayesieve": version("bayesieve"),
        "class": name,
        "parameters": _packed_parameters(model, arrays),
        "attributes": _packed_attributes(model, arrays),
    }
    members: dict[str, Any] = {_HEADER: encoded(header)}
    members |= {f"{member}.npy": array for member, array in arrays.items()}
    for note, text in (notes or {}).items():
        if _NOTE.fullmatch(note) is None or not isinstance(text, str):
            raise ValueError(
                "The 'notes' parameter of save_model must hold strings by names of "
                f"small letters. Got {note!r}: {type(text).__name__}."
            )
        members[f"note.{note}.txt"] = text.encode("utf-8", "surrogatepass")
    write_archive(members, path)


def _packed_parameters(model: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    packed = {}
    for name, value in model.get_params(deep=False).items():
        try:
            packed[name] = _PLAIN.put(f"parameters.{name}", value, arrays)
        except (TypeError, RecursionError) as error:
            raise ValueError(
                f"The {name!r} parameter of {type(model).__name__} must hold plain "
                f"values to be saved. Got {error}. "
                f"Hint: model.set_params({name}=...) before saving."
            ) from None
    return packed


def _packed_attributes(model: SelfDescribing, arrays: dict[str, Any]) -> dict[str, Any]:
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


def load_model(path: Any, *, memory_budget: int | None = None) -> Any:
    """Read a model that `save_model` has written.

    Nothing in the file is trusted and nothing in it is run: it can name the classes and
    attributes of bayesieve only, every size is checked before memory is asked for, and
    the parts must fit together.

    Parameters
    ----------
    path : str or path-like
    memory_budget : int, default=None
        Bytes of memory that the file may ask for; one that asks for more is a
        ValueError. None for 32 times its size and 16 MB, far more than usual files
        need.

    Returns
    -------
    model : fitted estimator
        Predicts exactly as the one that was saved. A file that is damaged, foreign or
        of a newer format is a ValueError; one of the same format that a newer bayesieve
        has written is read with a `NewerVersionWarning`.

    See Also
    --------
    save_model : Write the file; an example is there.

    Notes
    -----
    Memory: a few times the size of the file, and never more than 32 times that and
    16 MB unless `memory_budget` says so. The regular expression in the
    `token_pattern` of a text model is used as it is: one made to do harm can make
    prediction slow.

    Examples
    --------
    >>> import os, tempfile
    >>> from bayesieve import L0Screener, load_model, save_model
    >>> path = os.path.join(tempfile.mkdtemp(), "screener")
    >>> screener = L0Screener().fit([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1])
    >>> save_model(screener, path)
    >>> load_model(path).support_
    array([ True, False])
    """
    header, model = _opened(path, _read_model, memory_budget)
    warn_if_newer(path, header)
    return model


def load_notes(path: Any) -> dict[str, str]:
    """Read the notes that `save_model` has put beside a model, without the model.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    notes : dict of str to str

    Examples
    --------
    >>> import os, tempfile
    >>> from bayesieve import L0Screener, save_model
    >>> from bayesieve.persistence import load_notes
    >>> path = os.path.join(tempfile.mkdtemp(), "screener")
    >>> screener = L0Screener().fit([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1])
    >>> save_model(screener, path, notes={"source": "four rows"})
    >>> load_notes(path)
    {'source': 'four rows'}
    """
    found: dict[str, str] = _opened(path, _read_notes)
    return found


def _opened(path: Any, read: Any, memory_budget: int | None = None) -> Any:
    """Open a model file and read it; whatever is wrong with it is one ValueError."""
    with open_regular(path) as file:
        budget = Budget(os.fstat(file.fileno()).st_size, memory_budget)
        try:
            # Damage can look like a warning, of an old header for instance.
            with warnings.catch_warnings(), zipfile.ZipFile(file) as archive:
                warnings.simplefilter("error")
                return read(ModelArchive(archive, budget))
        except RefusedError as error:
            raise ValueError(f"{os.fspath(path)} {error}") from None
        except MemoryError:  # the machine's: the budget bounds what a file may ask for
            raise
        # Damaged archives raise whatever their damage leads to.
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} is not a readable model; it must be one written by "
                f"bayesieve.save_model. Got: {one_line(error)}"
            ) from error


def _read_header(archive: ModelArchive) -> dict[str, Any]:
    header = archive.header(_HEADER)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise RefusedError("is not a model written by bayesieve.save_model.")
    found = header.get("version")
    if type(found) is not int or found < 1:
        raise RefusedError(
            f"has format {found!r:.40}; this version reads format {VERSION}."
        )
    if found > VERSION:
        raise RefusedError(
            f"was written by a newer bayesieve (format {str(found)[:20]}); this "
            f"version reads format {VERSION}. Hint: read it with a newer bayesieve."
        )
    return header


def _read_notes(archive: ModelArchive) -> dict[str, str]:
    _read_header(archive)
    return {
        name.removeprefix("note.").removesuffix(".txt"): archive.content(name).decode(
            "utf-8", "surrogatepass"
        )
        for name in sorted(archive.names)
        if name.startswith("note.") and name.endswith(".txt")
    }


def _read_model(archive: ModelArchive) -> tuple[dict[str, Any], Any]:
    header = _read_header(archive)
    name = header.get("class")
    if not isinstance(name, str) or name not in MODELS:
        raise RefusedError(
            f"holds a {json.dumps(name)[:60]}, which is not a model of this bayesieve."
        )
    model = _with_parameters(MODELS[name], header.get("parameters"), archive)
    attributes = model._saved_attributes()
    entries = header.get("attributes")
    if not isinstance(entries, dict) or not entries.keys() <= attributes.keys():
        raise RefusedError(f"has attributes that a {name} does not have.")
    missing = [
        attribute
        for attribute, declared in attributes.items()
        if attribute not in entries and not (declared.optional or declared.old)
    ]
    if missing:
        raise RefusedError(f"lacks {min(missing)!r} of its {name}.")
    sizes = Sizes()
    values = {
        attribute: _kind(declared).get(attribute, entries[attribute], archive, sizes)
        for attribute, declared in attributes.items()
        if attribute in entries
    }
    _read_notes(archive)  # for their checksums
    archive.check_all_read()
    model._restore(values)
    return header, model


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
