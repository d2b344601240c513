"""Saving and loading fitted models."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import sklearn
from sklearn.pipeline import Pipeline

from bayesieve.counts._storage import (
    Budget,
    RefusedError,
    one_line,
    warn_if_newer,
    write_archive,
)
from bayesieve.exceptions import ScikitLearnVersionWarning
from bayesieve.persistence._archive import ModelArchive, encoded
from bayesieve.persistence._own import MODELS
from bayesieve.persistence._pipelines import pack_estimator, read_estimator
from bayesieve.utils._warnings import warn_user
from bayesieve.utils._whole_files import open_regular

__all__ = ["MODELS", "load_model", "load_notes", "save_model"]

FORMAT = "bayesieve.model"
VERSION = 1
_HEADER = "model.json"
_NOTE = re.compile(r"[a-z][a-z0-9_]{0,40}")


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
    model : fitted estimator or Pipeline
        A classifier or selector of bayesieve, or a `MODLEncoder`; or a Pipeline of such
        and of steps of scikit-learn that are parameters and plain arrays: its
        vectorizers of texts, scalers, encoders, imputer, selectors by score,
        ColumnTransformer, FeatureUnion, and linear and naive Bayes classifiers.
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

    Of a Pipeline, ``n_jobs``, ``verbose`` and ``memory`` are not written, and columns
    that a ColumnTransformer chose by a function or a slice are written as they were
    resolved. A step that cannot be written is a ValueError that names it.

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
    name, is_pipeline = type(model).__name__, type(model) is Pipeline
    if not is_pipeline and type(model) is not MODELS.get(name):
        hint = ""
        if isinstance(model, tuple | list):
            hint = " Hint: sklearn.pipeline.make_pipeline(*steps) makes one of them."
        elif hasattr(model, "best_estimator_"):
            hint = " Hint: save its best_estimator_."
        raise TypeError(
            f"save_model takes the estimators of bayesieve: {', '.join(MODELS)}; and "
            f"Pipelines of them. Got {name}.{hint}"
        )
    arrays: dict[str, Any] = {}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "bayesieve": version("bayesieve"),
    }
    if is_pipeline:
        header["scikit-learn"] = sklearn.__version__
    header |= pack_estimator(model, arrays)
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


def load_model(path: Any, *, memory_budget: int | None = None) -> Any:
    """Read a model that `save_model` has written.

    Nothing in the file is trusted and nothing in it is run: it can name the classes and
    attributes of bayesieve, and those of some steps of scikit-learn, and nothing else;
    every size is checked before memory is asked for, and the parts must fit
    together.

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
        has written is read with a `NewerVersionWarning`, and a Pipeline that was saved
        with another scikit-learn with a `ScikitLearnVersionWarning`.

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
    _warn_if_other_scikit_learn(path, header)
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
    model = read_estimator(header, archive)
    _read_notes(archive)  # for their checksums
    archive.check_all_read()
    return header, model


def _warn_if_other_scikit_learn(path: Any, header: dict[str, Any]) -> None:
    """Tell that a pipeline was saved with another version of scikit-learn."""
    written = header.get("scikit-learn", sklearn.__version__)
    if written != sklearn.__version__:
        warn_user(
            f"{os.fspath(path)} was written with scikit-learn {str(written)[:40]!r} "
            f"and is read with {sklearn.__version__}: its steps may compute "
            "differently. Hint: compare predictions, then save it anew.",
            ScikitLearnVersionWarning,
        )
