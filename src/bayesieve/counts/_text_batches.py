"""The one function that counts texts, in a process, on Dask and on Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

from bayesieve.counts._checkpoint import merge_files
from bayesieve.counts._table import ClassCounts
from bayesieve.text._batch_counter import BatchCounter
from bayesieve.text._options import TextOptions

__all__ = ["count_batches", "merge_saved"]


def count_batches(
    batches: Iterable[tuple[Any, Any]],
    options: TextOptions | None = None,
    *,
    classes: Any = None,
    threads: int | None = None,
    memory_budget: int | None = None,
    spill_folder: Any = None,
    on_bad_rows: str = "error",
) -> ClassCounts:
    """Return the class counts of the terms in batches of texts.

    Exact; the result does not depend on the order or the size of batches, on threads or
    on the memory budget. Counts of parts of the data add up to those of the whole.

    Parameters
    ----------
    batches : iterable of (texts, labels)
        Texts are strings, or Arrow arrays, which are read in place. Labels are strings,
        integers, booleans or floats; new ones may turn up in any batch.
    options : TextOptions, default=None
        How texts become terms; None for CountVectorizer's defaults.
    classes : array-like, default=None
        All labels there may be; a class without documents is kept with count 0.
    threads : int, default=None
        Number of threads; None for one per processor.
    memory_budget : int, default=None
        Bytes for records and tables, beyond which temporary files are used.
    spill_folder : path-like, default=None
        Where temporary files go.
    on_bad_rows : {"error", "skip"}, default="error"
        What to do about rows without a text or a label, and about bytes that are not
        UTF-8: a ValueError that names the first, or leave them out with one
        `BadRowsWarning` that says how many.

    Returns
    -------
    counts : ClassCounts
        Of kind "count", or "binary" with `options.binary`; classes and terms sorted,
        `document_count` filled. Without any row, no classes and no features.

    Examples
    --------
    >>> from bayesieve.counts._text_batches import count_batches
    >>> counts = count_batches(
    ...     [(["good film", "bad film"], [1, 0]), (["a good plot"], [1])]
    ... )
    >>> counts.feature_names.tolist(), counts.feature_count.tolist()
    (['bad', 'film', 'good', 'plot'], [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 2.0, 1.0]])
    """
    counter = BatchCounter(
        TextOptions() if options is None else options,
        classes=classes,
        threads=threads,
        memory_budget=memory_budget,
        spill_folder=spill_folder,
        on_bad_rows=on_bad_rows,
    )
    for number, (texts, labels) in enumerate(batches):
        texts = texts if hasattr(texts, "__len__") else list(texts)
        counter.add(texts, labels, partial(_place, number))
    counter.bad_rows.warn()
    return ClassCounts._of(counter.finish())


def _place(number: int, row: int) -> str:
    return f"Row {row} of batch {number}"


def merge_saved(paths: Iterable[Any]) -> ClassCounts:
    """Return the sum of counts saved by `ClassCounts.save`, in any order.

    For the workers of any scheduler: each counts its share and saves it, and the files
    are merged here, the sum and one of them in memory at a time.

    Parameters
    ----------
    paths : iterable of path-like
        The files, each once; or the path of one.

    Returns
    -------
    counts : ClassCounts

    Examples
    --------
    >>> import tempfile, os
    >>> from bayesieve.counts import ClassCounts, merge_saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [os.path.join(folder, name) for name in ("a.npz", "b.npz")]
    ...     ClassCounts.from_text([(["good film"], ["yes"])]).save(paths[0])
    ...     ClassCounts.from_text([(["bad film"], ["no"])]).save(paths[1])
    ...     merge_saved(paths).feature_names.tolist()
    ['bad', 'film', 'good']
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    listed = list(paths)
    if not listed:
        raise ValueError("merge_saved needs at least one file. Got none.")
    places = [os.path.realpath(os.fspath(path)) for path in listed]
    if len(set(places)) != len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"Each file can be merged once. Got {twice!r} twice.")
    return ClassCounts._of(merge_files(listed))
