"""Dask: one task counts a partition, further ones add up in a tree on the workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.engines._adding import Counting, T, merged, no_rows
from bayesieve.io._near_names import check_column
from bayesieve.utils._optional import optional_module

# Tables that one task of the tree adds up: fewer tasks than by pairs, and no more than
# this many partial counts on a worker at a time.
_FAN_IN = 4


def count_on_dask(
    data: Any,
    labels: Any,
    counting: Counting[T],
    *,
    text: Any = None,
    label: Any = None,
    client: Any = None,
) -> list[T]:
    """Count a Dask array, dataframe or bag: the total of each group."""
    dask = optional_module("dask", purpose="ClassCounts.from_dask", extra="dask")
    delayed = dask.delayed
    kind = collection_kind(data)
    read: Any
    if kind == "array":
        read, partitions = _of_blocks, _array_partitions(data, labels)
    elif kind == "dataframe":
        read, partitions = _of_frame, _frame_partitions(data, labels, text, label)
    else:
        read, partitions = _of_items, _bag_partitions(data, labels, text, label)
    if not partitions:
        raise no_rows()
    counted = [
        delayed(_counted)(counting, number, read, *arguments)
        for number, arguments in enumerate(partitions)
    ]
    roots = []
    for group in range(counting.groups):
        tables = [delayed(_taken)(tables, group) for tables in counted]
        while len(tables) > _FAN_IN:
            tables = [
                delayed(merged)(counting.add, tables[first : first + _FAN_IN])
                for first in range(0, len(tables), _FAN_IN)
            ]
        roots.append(delayed(_total)(counting, tables))
    totals = [total for total in _computed(dask, roots, client) if total is not None]
    if not totals:
        raise no_rows()
    return totals


def _computed(dask: Any, roots: list[Any], client: Any) -> Any:
    """Run the graph on the client, else wherever Dask runs by default."""
    if client is None:
        return dask.compute(*roots)
    if getattr(client, "asynchronous", False):
        raise ValueError(
            "The 'client' parameter must be a synchronous Client. Got an asynchronous "
            "one. Hint: call from_dask in a thread, with Client(asynchronous=False)."
        )
    return client.gather(client.compute(roots))


def collection_kind(data: Any) -> str:
    """Tell arrays, dataframes and bags apart without importing all three."""
    module = type(data).__module__
    if module.startswith("dask.array"):
        return "array"
    if module.startswith("dask.bag"):
        return "bag"
    if module.startswith(("dask.dataframe", "dask_expr")) and hasattr(data, "columns"):
        return "dataframe"
    raise TypeError(
        "The 'data' parameter of from_dask must be a Dask array, dataframe or bag. "
        f"Got {type(data).__module__}.{type(data).__qualname__}."
    )


def holds_texts(data: Any, text: Any) -> bool:
    """Tell whether texts are to be counted, not a matrix of features."""
    kind = collection_kind(data)
    if kind == "array" and text is not None:
        raise ValueError(
            f"A Dask array holds features, not texts. Got text={text!r}. Hint: "
            "dask.dataframe.from_dask_array makes a dataframe of it."
        )
    return kind == "bag" or text is not None


# --------------------------------------------------------------------------- partitions


def _array_partitions(data: Any, labels: Any) -> list[tuple[Any, ...]]:
    """Return (blocks of the rows, labels of the rows) for each chunk of rows."""
    if data.ndim != 2:
        raise ValueError(
            "A Dask array must have two dimensions, rows and features. "
            f"Got {data.ndim}."
        )
    if labels is None:
        raise ValueError(
            "A Dask array needs labels, one for each row. Got labels=None."
        )
    rows = data.to_delayed()
    sizes = data.chunks[0]
    if _is_dask(labels):
        return list(
            zip(map(list, rows), _label_blocks(labels, sizes, data), strict=True)
        )
    labels = np.asarray(labels)
    if any(np.isnan(size) for size in sizes):
        raise ValueError(
            "Labels in memory cannot be matched with chunks of unknown sizes. "
            "Hint: call data.compute_chunk_sizes() first, or give a Dask array of "
            "labels with the same chunks."
        )
    _check_total(labels.shape[0], sum(sizes))
    ends = np.cumsum((0, *sizes)).tolist()
    return [
        (list(blocks), labels[first:last])
        for blocks, first, last in zip(rows, ends[:-1], ends[1:], strict=True)
    ]


def _label_blocks(labels: Any, sizes: tuple[Any, ...], data: Any) -> list[Any]:
    """Return the labels of each chunk of rows, cut as the rows are."""
    unknown = any(np.isnan(size) for size in sizes)
    if hasattr(labels, "chunks"):
        if labels.ndim != 1:
            raise ValueError(f"Labels must have one dimension. Got {labels.ndim}.")
        if not unknown and not any(np.isnan(size) for size in labels.chunks[0]):
            _check_total(labels.shape[0], sum(sizes))
            labels = labels.rechunk((sizes,))
    blocks = list(np.ravel(labels.to_delayed()))
    _check_blocks(len(blocks), len(sizes))
    return blocks


def _frame_partitions(
    data: Any, labels: Any, text: Any, label: Any
) -> list[tuple[Any, ...]]:
    """Return (frame, its labels or None, text column or None, label column or None)."""
    if (label is None) == (labels is None):
        raise ValueError(
            "The labels of a Dask dataframe are given by label=, the name of a column, "
            "or by labels=, a Dask series or array with the same partitions. Got "
            f"{'neither' if label is None else 'both'}."
        )
    wanted = [name for name in (text, label) if name is not None]
    for name in wanted:
        check_column(name, list(data.columns), "the dataframe")
    if text is not None:
        data = data[wanted]
    frames = data.to_delayed()
    blocks: list[Any] = [None] * len(frames)
    if labels is not None:
        if not _is_dask(labels):
            raise ValueError(
                "The labels of a Dask dataframe must be a Dask series or array with "
                f"the same partitions. Got {type(labels).__name__}."
            )
        blocks = list(np.ravel(labels.to_delayed()))
        _check_blocks(len(blocks), len(frames))
    return [
        (frame, block, text, label) for frame, block in zip(frames, blocks, strict=True)
    ]


def _bag_partitions(
    data: Any, labels: Any, text: Any, label: Any
) -> list[tuple[Any, ...]]:
    """Return (items, key of the text, key of the label) for each partition."""
    if labels is not None:
        raise ValueError(
            "The labels of a Dask bag are in its items, (text, label) pairs or dicts. "
            f"Got labels of type {type(labels).__name__} as well."
        )
    return [(part, text, label) for part in data.to_delayed()]


def _is_dask(labels: Any) -> bool:
    return hasattr(labels, "to_delayed")


def _check_total(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            f"There must be one label for each row, {n_rows} in all. Got {n_labels}."
        )


def _check_blocks(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            "The labels must have the same partitions as the data, "
            f"{n_rows} in all. Got {n_labels}."
        )


# --------------------------------------------------------------------------- tasks


def _counted(
    counting: Counting[T], number: int, read: Any, *arguments: Any
) -> list[T] | None:
    rows, labels, n_rows = read(number, *arguments)
    if len(labels) != n_rows:
        raise ValueError(
            f"There must be one label for each row. Got {len(labels)} labels for "
            f"{n_rows} rows in partition {number}."
        )
    try:
        return counting.count([(rows, labels)])
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error


def _of_blocks(number: int, blocks: list[Any], labels: Any) -> tuple[Any, Any, int]:
    """Return the rows of a partition, their labels and how many rows there are."""
    matrix = blocks[0]
    if len(blocks) > 1:
        if any(sparse.issparse(block) for block in blocks):
            matrix = sparse.hstack(blocks, format="csr")
        else:
            matrix = np.hstack([np.asarray(block) for block in blocks])
    return matrix, labels, matrix.shape[0]


def _of_frame(
    number: int, frame: Any, block: Any, text: Any, label: Any
) -> tuple[Any, Any, int]:
    labels = frame[label] if block is None else block
    if text is not None:
        return frame[text], labels, len(frame)
    rows = frame if label is None else frame.drop(columns=[label])
    return rows, labels, len(frame)


def _of_items(
    number: int, items: Iterable[Any], text: Any, label: Any
) -> tuple[Any, Any, int]:
    texts, labels = [], []
    for row, item in enumerate(items):
        # Where no key was named: the usual names in dicts, else pairs.
        usual = ("text", "label") if isinstance(item, Mapping) else (0, 1)
        try:
            texts.append(item[usual[0] if text is None else text])
            labels.append(item[usual[1] if label is None else label])
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(
                "The items of a Dask bag must be (text, label) pairs, or dicts with "
                f"the keys named by text= and label=. Got {item!r:.80} as item {row} "
                f"of partition {number}."
            ) from error
    return texts, labels, len(texts)


def _taken(tables: list[T] | None, group: int) -> T | None:
    return None if tables is None else tables[group]


def _total(counting: Counting[T], tables: list[T | None]) -> T | None:
    total = merged(counting.add, tables)
    return None if total is None else counting.reduce(total)
