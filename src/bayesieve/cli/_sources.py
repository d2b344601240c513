"""From the arguments of a command to its data: texts, a table, sequences, counts..."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from bayesieve.cli._columns import Columns, choose_columns, say_guesses
from bayesieve.cli._command import CommandError, refuse_options
from bayesieve.cli._files import DataFiles
from bayesieve.cli._told import listed, tell

__all__ = ["open_data"]

#: Options that other data has no use for.
_OF_SEQUENCES = ("labels", "records", "length", "alphabet")
_OF_TEXTS = ("text", "no_text", "ngrams", "analyzer", "stop_words")


def open_data(
    arguments: argparse.Namespace, *, mixes: bool = False
) -> tuple[Any, Columns]:
    """Find the files, settle their columns and labels, and say what was guessed.

    With `mixes`, texts and other columns may enter one model.
    """
    as_bytes = getattr(arguments, "alphabet", None) == "bytes"
    if any(getattr(arguments, option, None) for option in _OF_SEQUENCES):
        from bayesieve.cli._sequence_rows import refuse_standard_input

        refuse_standard_input(arguments.data)  # before anything waits for it
    files = DataFiles.of(arguments, as_bytes=as_bytes)
    if files.is_sequences:
        return _sequences(files, arguments)
    refuse_options(arguments, _OF_SEQUENCES, "FASTA and FASTQ", repr(files.paths[0]))
    nothing = Columns(None, [], [], {})
    if files.is_saved:
        from bayesieve.cli._counts_data import CountsData

        return CountsData(files, arguments), nothing
    if files.is_matrix:
        from bayesieve.cli._matrix_data import MatrixData

        if arguments.text or arguments.label:
            raise CommandError(
                "svmlight files have no columns with names: --text and --label are for "
                "tables."
            )
        return MatrixData(files, arguments), nothing
    from bayesieve.cli._interrupts import Interrupt
    from bayesieve.cli._labelled_rows import LabelledRows
    from bayesieve.cli._reading_told import (
        say_repeated_texts,
        say_what_is_odd_about_labels,
    )

    ignored: dict[str, str] = {}
    columns = choose_columns(files, arguments)
    if files.notes:
        tell(" ".join(files.notes))
    say_guesses(columns)
    label = columns.label
    assert label is not None  # asked for
    if not columns.texts or (mixes and _is_mixed(columns, arguments)):
        from bayesieve.cli._table_data import TableData

        used = {*columns.features, *columns.texts}
        names = [name for name in files.columns if name in used]
        rows = LabelledRows(files, names, label, hold=True)
        say_what_is_odd_about_labels(rows.labels)
        table = TableData(files, columns, names, rows, arguments)
        text = None
        if columns.texts and arguments.model != "selective":
            text = table.text_alone()
        if text is None:
            table.say_scripts()
            return table, columns
        columns, rows = replace(columns, texts=[text], features=[]), rows.only(text)
        ignored = table.ignored
    else:
        columns = _one_text(columns)
        _say_left_out(columns, mixes)
        saves = getattr(arguments, "save", None)
        with Interrupt(bool(saves and not getattr(arguments, "weights", 0))) as stop:
            rows = LabelledRows(files, columns.texts, label, interrupt=stop)
        say_what_is_odd_about_labels(rows.labels)
    from bayesieve.cli._text_data import TextData

    say_repeated_texts(rows.first.column(0).to_pylist())
    return TextData(files, columns, rows, arguments, ignored), columns


def _sequences(files: DataFiles, arguments: argparse.Namespace) -> tuple[Any, Columns]:
    """Find the label of each file, or of each record."""
    if not hasattr(arguments, "alphabet"):
        raise CommandError(
            f"{files.paths[0]!r} holds sequences, which select and path take. Hint: in "
            "Python, ClassCounts.from_sequences counts them."
        )
    refuse_options(arguments, _OF_TEXTS, "texts", "sequences")
    refuse_options(arguments, ("l1",), "texts, tables and matrices", "sequences")
    if arguments.records and not files.is_dna:
        raise CommandError(
            "--records is for FASTA and FASTQ: with --alphabet bytes each file is a "
            "row."
        )
    from bayesieve.cli._reading_told import say_what_is_odd_about_labels
    from bayesieve.cli._sequence_data import SequenceData
    from bayesieve.cli._sequence_rows import SequenceRows

    rows = SequenceRows(files, arguments)
    say_what_is_odd_about_labels(rows.labels)
    if files.notes:
        tell(" ".join(files.notes))
    return SequenceData(files, rows, arguments), rows.columns


def _is_mixed(columns: Columns, arguments: argparse.Namespace) -> bool:
    """Whether texts enter a model of all columns, or are counted alone.

    Somebody who names the column of texts, or asks for what only counts of terms have,
    means the texts alone.
    """
    if arguments.model != "auto":
        return bool(arguments.model == "selective")
    if len(columns.texts) > 1:
        return True
    alone = arguments.text or arguments.weights or isinstance(arguments.k, str)
    return bool(columns.features) and not alone


def _one_text(columns: Columns) -> Columns:
    """Take the first column of texts where they are counted alone."""
    text, *others = columns.texts
    if others and "--text" not in columns.guessed:
        raise CommandError(
            f"counts are those of one column of texts. Got {listed(columns.texts)}. "
            "Hint: bayesieve select --model selective takes several."
        )
    return replace(columns, texts=[text], features=[*columns.features, *others])


def _say_left_out(columns: Columns, mixes: bool) -> None:
    if columns.features:
        hint = " (--model selective uses them beside the texts)" if mixes else ""
        tell(f"left out, beside the texts: {listed(columns.features)}{hint}")
