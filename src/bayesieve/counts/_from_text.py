"""`ClassCounts.from_text`: from files, queries and tables of texts to class counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from bayesieve.counts._checkpoint import Checkpoint, file_state
from bayesieve.counts._parts import Array, Parts, laid_out
from bayesieve.counts._term_names import TermNames
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._files import TextFile, csv_label
from bayesieve.io._labels import LabelCodes, as_written, sort_order
from bayesieve.io._same_rows import SameRows
from bayesieve.text._batch_counter import BatchCounter, coded
from bayesieve.text._counts import TextCounts
from bayesieve.text._matching import tfidf_sums
from bayesieve.text._options import DEFAULT_PATTERN, TextOptions
from bayesieve.text._packing import sized
from bayesieve.utils._progress import ProgressBar


def text_options(stop_words: Any = None, **options: Any) -> TextOptions:
    """Return the options, "english" resolved to scikit-learn's list of stop words."""
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ValueError(
                "The 'stop_words' parameter of from_text must be 'english', a set of "
                f"str or None. Got {stop_words!r}."
            )
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        stop_words = ENGLISH_STOP_WORDS
    if stop_words is not None:
        stop_words = frozenset(stop_words)
    return TextOptions(stop_words=stop_words, **options)


def from_text_parts(
    pieces: list[Any],
    text: str,
    label: str,
    options: TextOptions,
    *,
    min_df: float,
    max_df: float,
    max_features: int | None,
    classes: Any,
    threads: int | None,
    memory_budget: int | None,
    spill_folder: Any,
    on_bad_rows: str,
    checkpoint: Any,
    progress: bool,
    tfidf: bool,
    same_rows: SameRows | None = None,
) -> Parts:
    """Count the pieces of a source of texts; see `ClassCounts.from_text`.

    `same_rows` takes note of what is read, for whoever reads the source again.
    """
    if tfidf and same_rows is None:
        same_rows = SameRows()
    _check_limits(min_df, max_df, max_features)
    if tfidf and not readable_twice(pieces):
        raise ValueError(
            "tfidf=True reads the source twice, and an iterator can be read once. "
            "Hint: pass a list of batches, a table, a query or files."
        )
    value_of = _reading(pieces)
    given = None if classes is None else np.asarray(classes)
    read_as = _among(given, value_of)
    counting = BatchCounter(
        options,
        classes=given,
        threads=threads,
        memory_budget=memory_budget,
        spill_folder=spill_folder,
        on_bad_rows=on_bad_rows,
        value_of=read_as,
    )
    with _Progress(pieces, progress) as bar:
        if checkpoint is None:
            for piece in pieces:
                _count(counting, piece, bar, same_rows)
            parts = counting.finish()
        else:
            settings = {
                "options": describe(options),
                "text": text,
                "label": label,
                "classes": None if given is None else given.tolist(),
            }
            kept = Checkpoint(checkpoint, settings)
            parts = _count_with(kept, pieces, counting, bar, same_rows)
    if not parts.class_count.any():
        counting.bad_rows.warn()  # says what was left out
        raise ValueError("There must be at least one row to count. Got none.")
    names = parts.feature_names
    assert isinstance(names, TermNames)
    counts = TextCounts(
        names,
        parts.feature_count,
        parts.document_count,
        parts.class_count.astype(np.int64),
    )
    counts = _pruned(counts, min_df, max_df, max_features)
    if not len(counts.names):
        raise ValueError(
            "There must be at least one term to count. Got none: the texts hold no "
            f"{_sought(options)}, or min_df, max_df and max_features leave "
            "nothing."
        )
    kind = parts.kind
    if tfidf:
        assert same_rows is not None
        counts = _weighted(
            counts,
            pieces,
            parts.classes,
            options,
            threads,
            on_bad_rows == "skip",
            read_as,
            same_rows,
        )
        kind = "count"
    parts = replace(
        parts,
        kind=kind,
        feature_count=counts.count,
        feature_names=counts.names,
        document_count=counts.document_count,
    )
    counting.bad_rows.warn()
    return _as_written(parts) if given is None and value_of is csv_label else parts


def readable_twice(pieces: list[Any]) -> bool:
    """Whether the pieces of a source can be read from the beginning again."""
    return all(getattr(piece, "twice", True) for piece in pieces)


def _reading(pieces: list[Any]) -> Callable[[Any], Any] | None:
    """Return how the labels of all pieces are read."""
    ways: set[Callable[[Any], Any] | None] = {piece.value_of for piece in pieces}
    if len(ways) > 1:
        raise ValueError(
            "The files of one count must be all CSV, all JSON or all Parquet, because "
            "they write labels in different ways. Hint: count them apart and add the "
            "counts."
        )
    return ways.pop()


def _sought(options: TextOptions) -> str:
    """Say what counts as a term, for texts in which there is none."""
    usual = options.analyzer == "word" and options.token_pattern == DEFAULT_PATTERN
    told = "words of two letters or more" if usual else "terms"
    return told + (" besides stop words" if options.stop_words else "")


def describe(options: TextOptions) -> dict[str, Any]:
    """Return the options as plain values, for a checkpoint."""
    values = asdict(options)
    words = values["stop_words"]
    values["stop_words"] = None if words is None else sorted(words)
    values["ngram_range"] = list(values["ngram_range"])
    return values


def _check_limits(min_df: float, max_df: float, max_features: int | None) -> None:
    """Refuse wrong limits before anything is read."""
    if isinstance(min_df, Integral) == isinstance(max_df, Integral):
        _pruned(_nothing(), min_df, max_df, max_features)
    else:  # a share and a number can be compared only once there are documents
        _pruned(_nothing(), min_df, 1.0, max_features)
        _pruned(_nothing(), 1, max_df, max_features)


def _nothing() -> TextCounts:
    """Return counts of very many documents without a term."""
    empty = np.zeros((1, 0))
    names = TermNames.from_strings([])
    return TextCounts(names, empty, empty, np.array([10**15]))


def _pruned(
    counts: TextCounts, min_df: float, max_df: float, max_features: int | None
) -> TextCounts:
    return counts.pruned(min_df=min_df, max_df=max_df, max_features=max_features)


def _among(
    classes: Array | None, value_of: Callable[[Any], Any] | None
) -> Callable[[Any], Any] | None:
    """Return how labels are read when all classes are known: "1" is 1 among numbers."""
    if classes is None or value_of is not csv_label:
        return value_of
    written: dict[str, Any] = {}
    for label in classes.tolist():
        written[str(label)] = label
        if isinstance(label, bool):
            written[str(label).lower()] = label
    return lambda raw: written.get(raw, raw) if raw else None


def labels_read_as(pieces: list[Any], classes: Array) -> Callable[[Any], Any] | None:
    """Return how the labels of some pieces are read when all classes are known."""
    return _among(classes, _reading(pieces))


def _place(piece: Any, first: int, row: int) -> str:
    return str(piece.place(first + row))


def _count(
    counting: BatchCounter, piece: Any, bar: _Progress, same_rows: SameRows | None
) -> None:
    first = 0
    bar.begin(piece)
    read = piece.batches if same_rows is None else partial(same_rows.pairs, piece)
    for texts, labels, *_ in read(counting.bad_rows):
        counting.add(texts, labels, partial(_place, piece, first))
        first += len(texts)
        bar.read(texts)
    bar.end(piece)


def _count_with(
    checkpoint: Checkpoint,
    files: list[Any],
    counting: BatchCounter,
    bar: _Progress,
    same_rows: SameRows | None,
) -> Parts:
    """Count files that are not yet counted, and keep what is counted on disk."""
    if not all(isinstance(piece, TextFile) for piece in files):
        raise ValueError(
            "A checkpoint needs files: a path, a glob or a list of paths. Hint: save "
            "the counts of other sources with ClassCounts.save."
        )
    with checkpoint:
        done = checkpoint.resume([piece.path for piece in files])
        if not counting.bad_rows.skip:  # an earlier run may have skipped some
            counting.bad_rows.found(*checkpoint.skipped)
        for piece in files:
            if piece.path in done:
                bar.end(piece)
                continue
            before = file_state(piece.path)
            _count(counting, piece, bar, same_rows)
            checkpoint.note(piece.path, before)
            if checkpoint.is_time():
                checkpoint.save(counting.finish(), counting.bad_rows)
        if checkpoint.has_notes:
            checkpoint.save(counting.finish(), counting.bad_rows)
        return checkpoint.result(counting.bad_rows)


def _weighted(
    counts: TextCounts,
    pieces: list[Any],
    classes: Array,
    options: TextOptions,
    threads: int | None,
    skip: bool,
    value_of: Callable[[Any], Any] | None,
    same_rows: SameRows,
) -> TextCounts:
    """Return the counts with class sums of tf-idf values, from a second scan."""

    def batches() -> Iterator[tuple[Any, Array]]:
        label_codes = LabelCodes(classes, value_of)
        bad_rows = BadRows(skip)
        seen = np.zeros(counts.n_classes, dtype=np.int64)
        for piece in pieces:
            for texts, labels in same_rows.pairs(piece, bad_rows):
                texts = sized(texts)
                codes = coded(label_codes, texts, labels, bad_rows)
                seen += np.bincount(codes[codes >= 0], minlength=seen.size)
                yield texts, codes
        # What a checkpoint brought was not read in this run: its rows can be counted.
        if not np.array_equal(seen, counts.n_documents):
            raise ValueError(
                "The source of texts changed since it was counted: tfidf=True reads it "
                f"again, and found {int(seen.sum()):,} rows in place of "
                f"{int(counts.n_documents.sum()):,}. Hint: count with a new checkpoint."
            )

    sums = tfidf_sums(batches, counts, options, threads=threads)
    return replace(counts, count=sums)


def _as_written(parts: Parts) -> Parts:
    """Return counts whose classes are numbers if all of them are written so."""
    labels = as_written(parts.classes)
    if labels is parts.classes:
        return parts
    classes, order = sort_order(labels.tolist())
    if np.array_equal(order, np.arange(order.size)):
        return replace(parts, classes=classes)
    tables: dict[str, Any] = {"class_count": parts.class_count[order]}
    for name in ("feature_count", "document_count"):
        table = getattr(parts, name)
        table = table.tocsr() if issparse(table) else table
        tables[name] = laid_out(table[order])
    return replace(parts, classes=classes, **tables)


class _Progress:
    """How many bytes of the files are read, on standard error."""

    def __init__(self, pieces: list[Any], shown: bool) -> None:
        sizes = [piece.nbytes for piece in pieces]
        self._total = sum(sizes) if None not in sizes else None
        self._bar = ProgressBar("Counting texts", self._total) if shown else None
        self._done = 0
        self._here = 0
        self._size: int | None = None
        self._rows = 0

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def begin(self, piece: Any) -> None:
        self._here, self._size = 0, piece.nbytes

    def read(self, texts: Any) -> None:
        """Take note of a batch: its bytes stand for those of the file."""
        if self._bar is None:
            return
        self._rows += len(texts)
        note = f"{self._rows:,} documents"
        if self._size is None:
            self._bar.update(self._rows, "documents")
            return
        # Compressed files have fewer bytes than their texts.
        self._here = min(self._size, self._here + int(getattr(texts, "nbytes", 0)))
        self._bar.update(self._done + self._here, note)

    def end(self, piece: Any) -> None:
        self._done += piece.nbytes or 0
        self._here = 0
        if self._bar is not None and self._size is not None:
            self._bar.update(self._done, f"{self._rows:,} documents")
