"""Sequences or bytes in files: k-mers counted by class, each file or record a row."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_outcome import CrossValidation, default_size
from bayesieve.cli._interrupts import Interrupt
from bayesieve.cli._options import search_seconds
from bayesieve.cli._progress import Progress
from bayesieve.cli._raw_data import MOST_TERMS, Batches, RawData
from bayesieve.cli._sequence_rows import Codes, SequenceRows
from bayesieve.cli._told import tell
from bayesieve.counts import ClassCounts
from bayesieve.counts._from_sequences import SequenceSource
from bayesieve.counts._selection import prune
from bayesieve.io._row_bounds import physical_memory
from bayesieve.naive_bayes import SparseSequenceNB
from bayesieve.sequences import read_records

__all__ = ["SequenceData", "sequence_batches"]

#: Letters of records, or files, that are given to a model at a time.
_BATCH_LETTERS, _BATCH_FILES = 1 << 24, 100


class SequenceData(RawData):
    """Labelled sequences in files, for a command with data and model arguments."""

    stops_early = False

    def __init__(
        self, files: DataFiles, rows: SequenceRows, arguments: argparse.Namespace
    ) -> None:
        model = "bernoulli" if arguments.model == "auto" else arguments.model
        kept = rows.codes >= 0
        super().__init__(files, rows.labels, rows.codes[kept], model, arguments)
        #: The same of all rows, those without a label among them.
        self._is_tested = np.zeros(kept.size, dtype=bool)
        self._is_tested[kept] = self._is_test
        self._rows = rows
        self.unit = "k-mers" if files.is_dna else "n-grams"
        self.rows_noun = "files" if rows.headers is None else "records"
        if model not in ("multinomial", "bernoulli"):
            raise CommandError(
                f"sequences take --model bernoulli or multinomial. Got {model!r}."
            )
        self._limits = {"min_df": arguments.min_df, "max_df": arguments.max_df}
        if model == "multinomial" and self._limits != {"min_df": 1, "max_df": 1.0}:
            raise CommandError(
                "--min-df and --max-df need --model bernoulli with sequences: counts "
                "of occurrences do not tell rows."
            )
        self._parameters = {
            "alphabet": "dna" if files.is_dna else "bytes",
            "length": arguments.length,
            "model": model,
            "alpha": arguments.alpha,
            "time_limit": search_seconds(arguments),
            **self._limits,
        }

    # ------------------------------------------------------------------- reading

    def _parts(self, title: str, test: bool = False) -> Batches:
        """Yield (sequences or paths of files, class numbers)."""
        rows: list[Any] = []
        found: list[Codes] = []
        done, records = 0, self._rows.headers is not None
        with Progress(title, len(self._rows.paths)) as bar:
            for number, (path, codes) in enumerate(self._rows.file_codes()):
                is_test = self._is_tested[done : done + codes.size]
                wanted = (is_test == test) & (codes >= 0)
                done += codes.size
                if wanted.any():
                    for before, part, _ in sequence_batches(path, records):
                        own = np.flatnonzero(wanted[before : before + len(part)])
                        rows += [part[i] for i in own.tolist()]
                        found.append(codes[before + own])
                        if rows and (records or len(rows) >= _BATCH_FILES):
                            yield rows, np.concatenate(found)
                            rows, found = [], []
                bar.update(number + 1, "files")
        if rows:
            yield rows, np.concatenate(found)

    def _held_out_names(self) -> list[str]:
        """The paths of files, the headers of records."""
        rows = self._rows
        names = rows.paths if rows.headers is None else chain(*rows.headers)
        return list(compress(names, self._is_tested.tolist()))

    # ------------------------------------------------------------------ counting

    def count(self, interrupt: Interrupt | None = None) -> Any:
        """Return the counts of the training rows."""
        rows, spelling = self._rows, self._model(1)._cutting()
        n_train, least = int((~self._is_test).sum()), self._limits["min_df"]
        if isinstance(least, int) and least > n_train:
            raise CommandError(
                f"--min-df must be a number of {self.rows_noun} up to {n_train:,}, "
                f"those learnt from, or a share. Got {least:,}."
            )
        labels: list[Any] = rows.label_of_each
        for row in np.flatnonzero(self._is_tested).tolist():
            labels[row] = None
        paths = rows.paths
        if rows.headers is None:  # what is held out need not be read
            there = [i for i, label in enumerate(labels) if label is not None]
            paths, labels = [paths[i] for i in there], [labels[i] for i in there]
        by_rows = self.model == "bernoulli"
        source = SequenceSource(
            paths,
            labels,
            spelling,
            records=rows.headers is not None,
            classes=self.labels.classes,
            owner="bayesieve",
        )
        counts = source.count(
            ClassCounts,
            binary=by_rows,
            merge_copies=True,
            min_df=least if by_rows else 1,
            memory_budget=physical_memory() // 4,  # the same counts, whatever it is
            n_jobs=-1,
            progress=True,
        )
        if by_rows and self._limits["max_df"] != 1.0:
            counts = prune(counts, **self._limits)
        if not counts.n_features:
            raise CommandError(f"--min-df and --max-df leave no {self.unit}.")
        return counts

    def _n_entries(self, counts: Any) -> float:
        """Every fit counts all letters: copies one by one, and what is rare."""
        found = np.asarray(counts.feature_count.sum(axis=0)).ravel()
        n_bytes = float(sum(map(os.path.getsize, self._rows.paths)))
        return max(n_bytes, float(found @ counts.copies.sizes))

    # ------------------------------------------------------------------- fitting

    @property
    def _settings(self) -> dict[str, Any]:
        rows = {} if self._rows.headers is None else {"rows": "records"}
        return super()._settings | rows

    def _model(self, k: Any, weights: bool = False, **options: Any) -> SparseSequenceNB:
        return SparseSequenceNB(k, weights=weights, **(self._parameters | options))

    def _weighted_size(self, k: Any, counts: Any) -> Any:
        most = self._model(k, True)._most_choosing
        if self.arguments.k is not None or counts.feature_count.sum() <= most:
            return k
        size = default_size(counts.n_features)
        tell(
            f"there are too many {self.unit} to choose how many by rows that were not "
            f"fitted: {size} get weights (-k says how many, --min-df leaves rare ones "
            "out)"
        )
        return size

    def _chosen(self, k: str, counts: Any) -> CrossValidation:
        if counts.n_features > MOST_TERMS:
            raise CommandError(
                f"-k {k} takes up to {MOST_TERMS:,} {self.unit}. Got "
                f"{counts.n_features:,}. Hint: --min-df, or -k bic or -k elbow."
            )
        return super()._chosen(k, counts)

    def _all_rows(self) -> Any:
        kept = self._rows.codes >= 0
        if self._rows.headers is None:
            return [Path(path) for path in self._rows.paths]
        records = [
            row
            for path in self._rows.paths
            for _, rows, _ in sequence_batches(path, True)
            for row in rows
        ]
        return [row for row, own in zip(records, kept, strict=True) if own]


def sequence_batches(
    path: str, records: bool
) -> Iterator[tuple[int, list[Any], list[str]]]:
    """Yield (rows before, sequences, headers) of a file; or the file, as one row."""
    if not records:
        yield 0, [Path(path)], []
        return
    rows: list[Any] = []
    headers: list[str] = []
    done = size = 0
    for header, sequence in read_records(path):
        rows.append(sequence)
        headers.append(header)
        size += len(sequence)
        if size >= _BATCH_LETTERS:
            yield done, rows, headers
            done += len(rows)
            rows, headers, size = [], [], 0
    if rows:
        yield done, rows, headers
