"""``bayesieve inspect``: what is in a file, and how it would be read."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import Any

from bayesieve.cli._columns import matching, said_kinds
from bayesieve.cli._command import Command, CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._options import add_data_arguments
from bayesieve.cli._show import show_next
from bayesieve.cli._terminal import Terminal, display_width, plain_text
from bayesieve.cli._told import listed
from bayesieve.utils._wording import counted

__all__ = ["INSPECT"]

_MOST_COLUMNS = 60  # shown; of more, those with notes and the first


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_data_arguments(parser, labelled=True)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _run(arguments: argparse.Namespace) -> None:
    files = DataFiles.of(arguments)
    if files.is_saved:
        raise CommandError(
            f"{files.paths[0]!r} holds counts or a model, not rows. Hint: bayesieve "
            "report MODEL shows a model."
        )
    if files.is_matrix:
        raise CommandError(
            f"{files.paths[0]!r} holds a matrix, whose columns have no names and are "
            "all numbers: there is nothing to find out."
        )
    if files.is_sequences:
        _show_sequences(files, arguments, Terminal())
        return
    from bayesieve.io._column_format import Marks
    from bayesieve.io._inspect import inspect_table

    names, where = files.columns, repr(files.paths[0])
    kinds = said_kinds(arguments.types, names, where)
    kinds |= dict.fromkeys(matching(arguments.drop, names, where), "ignore")
    if arguments.keep:
        needed = {arguments.label, *arguments.text}
        kept = {*matching(arguments.keep, names, where), *needed}
        kinds |= {name: "ignore" for name in names if name not in kept}
    table, notes, n_bad = files.whole_table()
    found = inspect_table(
        table,
        names,
        name=files.name,
        label=arguments.label,
        texts=arguments.text,
        kinds=kinds,
        marks=Marks(arguments.decimal, arguments.thousands),
        notes=notes,
        guess_texts=not arguments.no_text,
    )
    if arguments.json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(found, arguments, Terminal(), n_bad)


def _show_sequences(
    files: DataFiles, arguments: argparse.Namespace, terminal: Terminal
) -> None:
    """Print one line a file: its records, its letters and those that are no bases."""
    from bayesieve.io._bad_rows import BadRows
    from bayesieve.sequences._reading import MOST_OTHERS, letter_counts

    facts: list[dict[str, Any]] = []
    bad_rows = BadRows(files.skip_bad_rows)
    for problem in files.unreadable.values():
        bad_rows.found(1, problem)
    for path in files.paths:
        try:
            records, letters, others = letter_counts(path)
        except (ValueError, OSError) as error:
            if not bad_rows.skip:
                raise
            bad_rows.found(1, str(error))
            continue
        sizes = {"records": records, "letters": letters, "other_letters": others}
        facts.append({"file": path} | sizes)
        if not arguments.json:
            bases = ", all of them bases or N"
            if others:
                bases = f", {_share(others, letters)} of them neither bases nor N"
            size = counted(letters, "letters") + bases if letters else "no letters"
            terminal.paragraph(
                f"{plain_text(path)}: {counted(records, 'records')}, {size}."
            )
    bad_rows.warn()
    if arguments.json:
        print(json.dumps(facts[0] if len(facts) == 1 else facts, indent=2))
        return
    terminal.line()
    if any(own["other_letters"] > MOST_OTHERS * own["letters"] for own in facts):
        terminal.paragraph(
            "select takes DNA and RNA, and at most half other letters, or files of "
            "any kind with --alphabet bytes."
        )
        return
    if not facts or not all(own["letters"] for own in facts):
        terminal.paragraph("There is nothing to count in a file without letters.")
        return
    terminal.line("Try next:")
    words = ["bayesieve", "select", *arguments.data, "--labels", "FILE"]
    each = " --records" if len(files.paths) == 1 else ""
    command = plain_text(shlex.join(words) + each)
    show_next([(command, "which k-mers tell the labels")], terminal)


def _show(
    found: Any, arguments: argparse.Namespace, terminal: Terminal, n_bad: int
) -> None:
    """Print one line a column, then what is to be said about them."""
    terminal.paragraph(
        f"{plain_text(found.name)}: {counted(found.n_rows, 'rows')}, "
        f"{counted(len(found.columns), 'columns')}."
    )
    terminal.line()
    shown = found.columns
    if len(shown) > _MOST_COLUMNS:
        odd = [own for own in shown if own.notes or own.role == "label"]
        first = [own for own in shown if own not in odd]
        kept = [*odd[:_MOST_COLUMNS], *first[: max(0, _MOST_COLUMNS - len(odd))]]
        shown = [own for own in found.columns if own in kept]
    _show_table(shown, found.n_rows, terminal)
    if len(shown) < len(found.columns):
        terminal.line(f"  and {len(found.columns) - len(shown):,} more columns")
    about: dict[str, list[str]] = {}  # the same of several columns is said once
    for own in shown:
        for note in own.notes:
            about.setdefault(note, []).append(own.name)
    told = [*found.notes]
    told += [f"{listed(names)}: {note}." for note, names in about.items()]
    if told:
        terminal.line()
        for sentence in told:
            terminal.paragraph(f"- {plain_text(sentence)}", indent="  ")
    if len(found.columns) > 1:
        terminal.line()
        terminal.line("Try next:")
        step = _next_step(found, arguments, n_bad)
        show_next([(plain_text(step), "which columns tell it")], terminal)


def _next_step(found: Any, arguments: argparse.Namespace, n_bad: int) -> str:
    """Return a command that reads the file as it was read, with a label that can be."""
    from bayesieve.io._labels import can_be_label
    from bayesieve.io._roles import is_called_label

    words = ["bayesieve", "select", *arguments.data]
    label = [own for own in found.columns if own.name == found.label]
    named = [own for own in found.columns if is_called_label(own.name)]
    usable = [
        own
        for own in label or named
        if can_be_label(own.distinct, found.n_rows - own.missing)
    ]
    words += ["--label", usable[0].name if usable else "COL"]
    for option in ("text", "drop", "keep", "types"):
        for value in getattr(arguments, option):
            words += [f"--{option}", value]
    for option in ("decimal", "thousands", "encoding", "sep", "sheet"):
        value = getattr(arguments, option)
        if value is not None:
            words += [f"--{option}", "tab" if value == "\t" else str(value)]
    for option in ("no_text", "no_header"):
        if getattr(arguments, option):
            words.append(f"--{option.replace('_', '-')}")
    if n_bad or any(own.missing for own in usable[:1]):
        words.append("--skip-bad-rows")
    return shlex.join(words)


def _show_table(columns: list[Any], n_rows: int, terminal: Terminal) -> None:
    rows = [
        (
            plain_text(own.name),
            own.role,
            own.type,
            _share(own.missing, n_rows),
            f"{own.distinct:,}",
        )
        for own in columns
    ]
    heads = ("column", "role", "type", "missing", "distinct")
    most = (max(10, terminal.width // 4), 8, 16, 8, 10)
    widths = [
        min(most[i], max(len(heads[i]), *(display_width(row[i]) for row in rows)))
        for i in range(5)
    ]
    rest = terminal.width - 2 - sum(widths) - 2 * len(widths)
    line = "  ".join(
        terminal.fit(head, width, right=i > 2)
        for i, (head, width) in enumerate(zip(heads, widths, strict=True))
    )
    examples = rest >= 12
    line += "  examples" if examples else ""
    terminal.line(terminal.style(f"  {line}".rstrip(), "dim"))
    for row, own in zip(rows, columns, strict=True):
        line = "  ".join(
            terminal.fit(cell, width, right=i > 2)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        if examples:
            line += "  " + terminal.fit(", ".join(own.examples), rest)
        line = f"  {line}".rstrip()
        dim = own.role in ("id", "constant", "ignored")
        terminal.line(terminal.style(line, "dim") if dim else line)


def _share(missing: int, n_rows: int) -> str:
    if not missing:
        return "0"
    share = 100 * missing / n_rows
    return f"{share:.0f} %" if share >= 1 else "< 1 %"


INSPECT = Command(
    name="inspect",
    summary="say what is in a file: roles and types of its columns, and what is odd",
    description="Say what each column of a table is (label, text, number, category, "
    "date, identifier, constant), how its values are read, what is missing, and what "
    "is suspicious: numbers that may be read in two ways, columns that give the label "
    "away, repeated rows. select reads the file in the same way. Of FASTA and FASTQ: "
    "records and letters.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve inspect customers.csv",
        "bayesieve inspect sales.xlsx --label bought --types zip=category",
        "bayesieve inspect export.csv --decimal , --json",
    ),
)
