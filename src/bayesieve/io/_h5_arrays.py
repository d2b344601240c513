"""Long arrays of an HDF5 file, read by several threads while others compute.

HDF5 serves one call at a time and unpacks in that call. So it is only asked where the
bytes of an array lie; they are read and unpacked here, which leaves Python's lock to
others. Arrays stored in any other way than plain, gzip or shuffled are read by h5py.
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.utils._arrays import Array
from bayesieve.utils._optional import optional_module

__all__ = ["ArrayReader", "Block", "filled_ahead"]

Task = Callable[[], None]

#: Bytes that one task reads or unpacks.
_TASK_BYTES = 4 << 20


@dataclass(frozen=True)
class _Chunks:
    """Where the chunks of an array lie in the file; one chunk if it is contiguous."""

    length: int  # elements of a full chunk
    offsets: Array
    sizes: Array
    shuffled: bool = False
    packed: bool = False


class ArrayReader:
    """One array of a file, its elements in row order.

    Parameters
    ----------
    dataset : h5py.Dataset
        Of one dimension, or of two.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.size = int(dataset.size)
        self.dtype = dataset.dtype.newbyteorder("=")
        self._width = 1 if dataset.ndim < 2 else int(dataset.shape[1])
        self._chunks = _chunks_of(dataset)
        self._file = -1
        #: Fewer elements than this are not read at a time without doing work twice.
        self.grain = 1
        if self._chunks is not None:
            # That which h5py has open: by its name another file may be found by now.
            self._file = os.dup(dataset.file.id.get_vfd_handle())
            if self._chunks.packed:
                self.grain = self._chunks.length
        elif dataset.chunks:
            self.grain = int(dataset.chunks[0]) * self._width

    def close(self) -> None:
        """Close what was opened beside h5py's file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def tasks(self, first: int, last: int, out: Array) -> Iterator[Task]:
        """Yield what fills `out` with elements `first` to `last`, in any order."""
        if last <= first:  # cells without any count, maybe behind the last chunk
            return
        if self._chunks is None:
            yield lambda: self._by_h5py(first, last, out)
        elif self._chunks.packed or self._chunks.shuffled:
            step = max(1, _TASK_BYTES // (self._chunks.length * self.dtype.itemsize))
            begin, end = first // self._chunks.length, -(-last // self._chunks.length)
            for at in range(begin, end, step):
                yield self._unpacking(range(at, min(at + step, end)), first, last, out)
        else:
            yield from self._plain(self._chunks, first, last, out)

    def _by_h5py(self, first: int, last: int, out: Array) -> None:
        width = self._width
        where = np.s_[first // width : last // width]
        target = out if self._dataset.ndim < 2 else out.reshape(-1, width)
        self._dataset.read_direct(target, where)

    def _plain(
        self, chunks: _Chunks, first: int, last: int, out: Array
    ) -> Iterator[Task]:
        """Chunks as they are; neighbours in the file are read at once."""
        item, length = self.dtype.itemsize, chunks.length
        begin, end = first // length, -(-last // length)
        gaps = np.diff(chunks.offsets[begin:end]) != length * item
        edges = [begin, *(begin + 1 + np.flatnonzero(gaps)).tolist(), end]
        bytes_out = out.view(np.uint8)
        for run, after in itertools.pairwise(edges):
            low, high = max(first, run * length), min(last, after * length)
            start = int(chunks.offsets[run]) + (low - run * length) * item
            for at in range(0, (high - low) * item, _TASK_BYTES):
                size = min(_TASK_BYTES, (high - low) * item - at)
                to = (low - first) * item + at
                yield _Read(self, start + at, bytes_out[to : to + size])

    def _unpacking(self, numbers: range, first: int, last: int, out: Array) -> Task:
        chunks = self._chunks
        assert chunks is not None

        def unpack() -> None:
            for number in numbers:
                values = self._unpacked(chunks, number)
                begin = number * chunks.length
                low, high = max(first, begin), min(last, begin + chunks.length)
                out[low - first : high - first] = values[low - begin : high - begin]

        return unpack

    def _unpacked(self, chunks: _Chunks, number: int) -> Array:
        stored = np.empty(int(chunks.sizes[number]), dtype=np.uint8)
        self.read(int(chunks.offsets[number]), stored)
        wanted = chunks.length * self.dtype.itemsize
        content: Any = stored
        if chunks.packed:
            unpacker = zlib.decompressobj()
            try:
                content = unpacker.decompress(stored.data, wanted + 1)
            except zlib.error as error:
                raise self._damaged() from error
        if len(content) != wanted:
            raise self._damaged()
        flat = np.frombuffer(content, dtype=np.uint8)
        if chunks.shuffled:  # first bytes of all values, second bytes of all, ...
            flat = np.ascontiguousarray(flat.reshape(self.dtype.itemsize, -1).T)
        return flat.reshape(-1).view(self.dtype)

    def read(self, offset: int, into: Array) -> None:
        """Fill an array of bytes from a place of the file."""
        view, done = into.data, 0
        while done < len(view):
            got = os.preadv(self._file, [view[done:]], offset + done)
            if got <= 0:
                raise self._damaged()
            done += got

    def _damaged(self) -> ValueError:
        return ValueError(
            f"{self._dataset.file.filename!r} is damaged: the values of "
            f"{self._dataset.name!r} cannot be read."
        )


@dataclass(frozen=True)
class _Read:
    """One plain read."""

    reader: ArrayReader
    offset: int
    into: Array

    def __call__(self) -> None:
        self.reader.read(self.offset, self.into)


def _chunks_of(dataset: Any) -> _Chunks | None:
    """Where an array lies in its file; None where only h5py can read it."""
    file = dataset.file
    plain = (
        hasattr(os, "preadv")  # not on Windows
        and file.driver == "sec2"
        and file.mode == "r"  # what another has not yet written is not in the file
        and file.userblock_size == 0
        and dataset.dtype.kind in "iuf"
        and dataset.dtype.isnative
        and not dataset.is_virtual
        and not dataset.external
        and dataset.size > 0
    )
    if not plain:
        return None
    item = dataset.dtype.itemsize
    if dataset.chunks is None:
        offset = dataset.id.get_offset()
        if offset is None:  # inside the header, or nothing is stored at all
            return None
        size = int(dataset.size)
        return _Chunks(size, np.array([offset]), np.array([size * item]))
    if dataset.ndim != 1 or not hasattr(dataset.id, "chunk_iter"):
        return None
    filters = _filters(dataset)
    if filters is None:
        return None
    return _chunk_index(dataset, *filters)


def _filters(dataset: Any) -> tuple[bool, bool] | None:
    """Whether values are shuffled, and packed by gzip; None for any other filter."""
    h5z = optional_module("h5py", purpose="Reading .h5ad", extra="anndata").h5z
    plist = dataset.id.get_create_plist()
    codes = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
    shuffle, gzip = h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE
    if codes not in ([], [gzip], [shuffle], [shuffle, gzip]):
        return None
    return shuffle in codes, gzip in codes


def _chunk_index(dataset: Any, shuffled: bool, packed: bool) -> _Chunks | None:
    length = int(dataset.chunks[0])
    number = -(-int(dataset.size) // length)
    offsets = np.full(number, -1, dtype=np.int64)
    sizes = np.zeros(number, dtype=np.int64)
    unfiltered = False

    def note(chunk: Any) -> None:
        nonlocal unfiltered
        at = chunk.chunk_offset[0] // length
        if at < number and chunk.byte_offset is not None:
            offsets[at], sizes[at] = chunk.byte_offset, chunk.size
            unfiltered |= chunk.filter_mask != 0

    dataset.id.chunk_iter(note)
    if unfiltered or (offsets < 0).any():  # some packed, some not; or never written
        return None
    if not packed and (sizes != length * dataset.dtype.itemsize).any():
        return None
    return _Chunks(length, offsets, sizes, shuffled, packed)


# ------------------------------------------------------------------------ reading ahead


@dataclass(frozen=True)
class Block:
    """Elements `first` to `last` of some arrays of equal length."""

    first: int
    last: int


def filled_ahead(
    readers: list[ArrayReader], blocks: list[Block], n_threads: int
) -> Iterator[list[Array]]:
    """Yield the elements of each block, one array for each reader.

    The next block is read while the caller works on one; its arrays are written to
    again after that, so nobody may keep them.
    """
    if not blocks:
        return
    longest = max(block.last - block.first for block in blocks)
    buffers = [[np.empty(longest, reader.dtype) for reader in readers] for _ in "ab"]

    def begin(number: int) -> tuple[list[Array], list[Any]]:
        block, into = blocks[number], buffers[number % 2]
        arrays = [buffer[: block.last - block.first] for buffer in into]
        started = [
            pool.submit(task)
            for reader, out in zip(readers, arrays, strict=True)
            for task in reader.tasks(block.first, block.last, out)
        ]
        return arrays, started

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(n_threads))
        # Left early, by an error or the caller: what has not begun is not waited for.
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        ahead = begin(0)
        for number in range(len(blocks)):
            arrays, started = ahead
            for task in started:
                task.result()
            if number + 1 < len(blocks):
                ahead = begin(number + 1)
            yield arrays
