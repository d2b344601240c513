"""From the arguments of a command to its data: texts, a table, a matrix or counts."""

from __future__ import annotations

import argparse
from typing import Any

from bayesieve.cli._columns import Columns, choose_columns, say_guesses
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles

__all__ = ["open_data"]


def open_data(arguments: argparse.Namespace) -> tuple[Any, Columns]:
    """Find the files, settle their columns and labels, and say what was guessed."""
    files = DataFiles.of(arguments)
    nothing = Columns(None, None, [], {})
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

    columns = choose_columns(files, arguments)
    say_guesses(columns)
    assert columns.label is not None  # asked for
    if columns.text is None:
        from bayesieve.cli._table_data import TableData

        rows = LabelledRows(files, columns.features, columns.label, hold=True)
        return TableData(files, columns, rows, arguments), columns
    from bayesieve.cli._text_data import TextData

    saves = getattr(arguments, "save", None) and not getattr(arguments, "weights", 0)
    with Interrupt(bool(saves)) as interrupt:
        rows = LabelledRows(files, [columns.text], columns.label, interrupt=interrupt)
    return TextData(files, columns, rows, arguments), columns
