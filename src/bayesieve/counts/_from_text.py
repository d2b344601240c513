"""`ClassCounts.from_text`: from files, queries and tables of texts to class counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from bayesieve.counts._checkpoint import Checkpoint, TableParts, file_state
from bayesieve.counts._layout import laid_out
from bayesieve.counts._selection import check_limits, prune
from bayesieve.counts._texts import LabelledTextCounter
from bayesieve.counts._tfidf import tfidf_sums
from bayesieve.exceptions import GuessWarning
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._files import TextFile, csv_label
from bayesieve.io._labels import LabelCodes, as_written, sort_order
from bayesieve.io._read_options import LONGEST_ROW
from bayesieve.io._same_rows import SameRows
from bayesieve.io._sources import chosen_source, text_pieces
from bayesieve.text._labelled import text_codes
from bayesieve.text._options import DEFAULT_PATTERN, TextOptions
from bayesieve.text._packing import sized
from bayesieve.text._unspaced import warn_if_unspaced
from bayesieve.utils._arrays import Array
from bayesieve.utils._progress import ProgressBar
from bayesieve.utils._resources import thread_count
from bayesieve.utils._warnings import warn_user

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

ReadLabel = Callable[[Any], Any] | None


class TextSource:
    """Texts with labels in files, tables or batches, to be counted and read again.

    Parameters are those of `ClassCounts.from_text`. `again` says what needs a second
    reading, if anything does: a source that cannot be read twice is refused, and rows
    that are not the same each time are an error.
    """

    def __init__(
        self,
        source: Any,
        text: str,
        label: str,
        *,
        sql: str | None = None,
        on_bad_rows: str = "error",
        max_row_bytes: int = LONGEST_ROW,
        n_jobs: int | None = -1,
        again: str | None = None,
    ) -> None:
        self.text, self.label, self.n_jobs = text, label, n_jobs
        self._pieces = text_pieces(
            chosen_source(source, sql), text, label, thread_count(n_jobs), max_row_bytes
        )
        if on_bad_rows not in ("error", "skip"):
            raise ValueError(
                "The 'on_bad_rows' parameter must be 'error' or 'skip'. Got "
                f"{on_bad_rows!r}."
            )
        self._skip = on_bad_rows == "skip"
        if again and not all(getattr(piece, "twice", True) for piece in self._pieces):
            raise ValueError(
                f"{again} reads the source twice, and an iterator can be read once. "
                "Hint: pass a list of batches, a table, a query or files."
            )
        self._same_rows = SameRows() if again else None
        ways: set[ReadLabel] = {piece.value_of for piece in self._pieces}
        if len(ways) > 1:
            raise ValueError(
                "The files of one count must be all CSV, all JSON or all Parquet, "
                "because they write labels in different ways. Hint: count them apart "
                "and add the counts."
            )
        self._value_of = ways.pop()

    def _label_reader(self, classes: Array | None) -> ReadLabel:
        """Return how labels are read: "1" is 1 among classes that are numbers."""
        if classes is None or self._value_of is not csv_label:
            return self._value_of
        written: dict[str, Any] = {}
        for label in classes.tolist():
            written[str(label)] = label
            if isinstance(label, bool):
                written[str(label).lower()] = label
        return lambda raw: written.get(raw, raw) if raw else None

    # ------------------------------------------------------------------ counting

    def count(
        self,
        cls: type[ClassCounts],
        options: TextOptions,
        *,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        tfidf: bool = False,
        classes: Any = None,
        checkpoint: Any = None,
        progress: bool = False,
        memory_budget: int | None = None,
        spill_folder: Any = None,
    ) -> ClassCounts:
        """Count the texts; see `ClassCounts.from_text`."""
        check_limits(min_df, max_df, max_features)
        given = None if classes is None else np.asarray(classes)
        counter = LabelledTextCounter(
            cls,
            options,
            classes=given,
            skip_bad_rows=self._skip,
            value_of=self._label_reader(given),
            n_jobs=self.n_jobs,
            memory_budget=memory_budget,
            spill_folder=spill_folder,
        )
        bar = _Progress(self._pieces) if progress else None
        with nullcontext() if bar is None else closing(bar):
            if checkpoint is None:
                for piece in self._pieces:
                    self._count_piece(counter, piece, bar)
                counts = counter.finish()
            else:
                settings = {
                    "options": options.vectorizer(),
                    "text": self.text,
                    "label": self.label,
                    "classes": None if given is None else given.tolist(),
                }
                kept = Checkpoint(TableParts(cls), checkpoint, settings)
                counts = self._count_files(kept, counter, bar)
        self._warn_of_guesses()
        if not counts.class_count.any():
            counter.bad_rows.warn()  # says what was left out
            raise ValueError("There must be at least one row to count. Got none.")
        warn_if_unspaced(counts.feature_names, options)
        counts = prune(counts, min_df, max_df, max_features)
        if not counts.n_features:
            raise ValueError(
                "There must be at least one term to count. Got none: the texts hold no "
                f"{_sought(options)}, or min_df, max_df and max_features leave nothing."
            )
        if tfidf:
            sums = tfidf_sums(
                self._counted_again(counts), counts, options, n_jobs=self.n_jobs
            )
            counts = counts._with(kind="count", feature_count=sums)
        counter.bad_rows.warn()
        as_text = given is None and self._value_of is csv_label
        return _with_written_classes(counts) if as_text else counts

    def _count_piece(
        self, counter: LabelledTextCounter, piece: Any, bar: _Progress | None
    ) -> None:
        first = 0
        again = self._same_rows
        read = piece.batches if again is None else partial(again.pairs, piece)
        batches = read(counter.bad_rows)
        for texts, labels, *_ in batches if bar is None else bar.watch(piece, batches):
            counter.add(texts, labels, partial(_place, piece, first))
            first += len(texts)

    def _count_files(
        self,
        checkpoint: Checkpoint[ClassCounts],
        counter: LabelledTextCounter,
        bar: _Progress | None,
    ) -> ClassCounts:
        """Count files that are not yet counted, and keep what is counted on disk."""
        if not all(isinstance(piece, TextFile) for piece in self._pieces):
            raise ValueError(
                "A checkpoint needs files: a path, a glob or a list of paths. Hint: "
                "save the counts of other sources with ClassCounts.save."
            )
        bad_rows = counter.bad_rows
        with checkpoint:
            done = checkpoint.resume([piece.path for piece in self._pieces])
            if not bad_rows.skip:  # an earlier run may have skipped some
                bad_rows.found(*checkpoint.skipped)
            for piece in self._pieces:
                if piece.path in done:
                    if bar is not None:
                        bar.leave_behind(piece)
                    continue
                before = file_state(piece.path)
                self._count_piece(counter, piece, bar)
                checkpoint.note(piece.path, before)
                if checkpoint.is_time():
                    checkpoint.save(counter.finish(), bad_rows)
            if checkpoint.has_notes:
                checkpoint.save(counter.finish(), bad_rows)
            return checkpoint.result(bad_rows)

    def _warn_of_guesses(self) -> None:
        """Tell what was found out about the files, without options of a command."""
        for piece in self._pieces:
            for note in getattr(piece, "notes", ()):
                warn_user(f"{note.partition('; --')[0].rstrip('.')}.", GuessWarning)

    # ------------------------------------------------------------------ second readings

    def read_again(self, classes: Array) -> Iterator[tuple[Any, Array]]:
        """Yield (texts, class codes) of what was counted; a code of -1 was left out."""
        assert self._same_rows is not None  # as was said when the source was made
        label_codes = LabelCodes(classes, self._label_reader(classes))
        bad_rows = BadRows(self._skip)
        for piece in self._pieces:
            for texts, labels in self._same_rows.pairs(piece, bad_rows):
                texts = sized(texts)
                yield texts, text_codes(texts, labels, label_codes, bad_rows)

    def _counted_again(self, counts: ClassCounts) -> Iterator[tuple[Any, Array]]:
        """Read again and count the rows of each class, which must be the same."""
        seen = np.zeros(counts.n_classes)
        for texts, codes in self.read_again(counts.classes):
            seen += np.bincount(codes[codes >= 0], minlength=seen.size)
            yield texts, codes
        # What a checkpoint brought was not read in this run: its rows can be counted.
        if not np.array_equal(seen, counts.class_count):
            raise ValueError(
                "The source of texts changed since it was counted: tfidf=True reads it "
                f"again, and found {int(seen.sum()):,} rows in place of "
                f"{int(counts.class_count.sum()):,}. Hint: count with a new checkpoint."
            )


def _sought(options: TextOptions) -> str:
    """Say what counts as a term, for texts in which there is none."""
    usual = options.analyzer == "word" and options.token_pattern == DEFAULT_PATTERN
    told = "words of two letters or more" if usual else "terms"
    return told + (" besides stop words" if options.stop_words else "")


def _place(piece: Any, first: int, row: int) -> str:
    return str(piece.place(first + row))


def _with_written_classes(counts: ClassCounts) -> ClassCounts:
    """Return counts whose classes are numbers if all of them are written so."""
    labels = as_written(counts.classes)
    if labels is counts.classes:
        return counts
    classes, order = sort_order(labels.tolist())
    if np.array_equal(order, np.arange(order.size)):
        return counts._with(classes=classes)
    tables: dict[str, Any] = {"class_count": counts.class_count[order]}
    for name in ("feature_count", "document_count"):
        table = getattr(counts, name)
        table = table.tocsr() if issparse(table) else table
        tables[name] = laid_out(table[order])
    return counts._with(classes=classes, **tables)


class _Progress:
    """How many bytes of the files are read, on standard error."""

    def __init__(self, pieces: list[Any]) -> None:
        sizes = [piece.nbytes for piece in pieces]
        self._bar = ProgressBar("Counting texts", None if None in sizes else sum(sizes))
        self._done = self._rows = 0

    def watch(self, piece: Any, batches: Iterator[Any]) -> Iterator[Any]:
        """Pass the batches of a piece on; their bytes stand for those of the file."""
        here = 0
        for batch in batches:
            yield batch
            self._rows += len(batch[0])
            if piece.nbytes is None:
                self._bar.update(self._rows, "documents")
                continue
            # Compressed files have fewer bytes than their texts.
            here = min(piece.nbytes, here + int(getattr(batch[0], "nbytes", 0)))
            self._bar.update(self._done + here, f"{self._rows:,} documents")
        self.leave_behind(piece)

    def leave_behind(self, piece: Any) -> None:
        """Take note of a piece that is counted."""
        if piece.nbytes is not None:
            self._done += piece.nbytes
            self._bar.update(self._done, f"{self._rows:,} documents")

    def close(self) -> None:
        self._bar.close()
