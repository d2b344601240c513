"""``bayesieve predict``: labels for new rows from a saved model, batch by batch."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from bayesieve.cli._columns import choose_columns
from bayesieve.cli._command import Command, CommandError
from bayesieve.cli._files import DataFiles, check_model_file, expanded
from bayesieve.cli._options import add_data_arguments
from bayesieve.cli._output import check_outputs, written
from bayesieve.cli._terminal import plain_text
from bayesieve.io._near_names import check_column

__all__ = ["PREDICT"]

_ENDINGS = {
    **{".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"},
    **{".parquet": "parquet", ".pq": "parquet"},
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    add_data_arguments(parser, labelled=False)
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="where predictions go: .csv, .tsv, .jsonl or .parquet "
        "(default: CSV on standard output)",
    )
    parser.add_argument(
        "--proba",
        action="store_true",
        help="write the probability of every class, not of the predicted one only",
    )
    parser.add_argument(
        "--json", action="store_true", help="write JSON lines instead of CSV"
    )
    parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help="write an apostrophe before labels and file names in CSV and TSV that a "
        "spreadsheet would run as formulas; without it they are written as they are",
    )


def _run(arguments: argparse.Namespace) -> None:
    form = _output_format(arguments)
    check_outputs(
        {"--out": arguments.out}, [arguments.model, *expanded(arguments.data)]
    )
    check_model_file(arguments.model)
    files = DataFiles.of(arguments)
    from bayesieve.cli._progress import Progress
    from bayesieve.io._bad_rows import BadRows
    from bayesieve.persistence import load_model, load_notes
    from bayesieve.utils._strict_json import read_json

    model = load_model(arguments.model)
    if not hasattr(model, "predict"):
        raise CommandError(
            f"{arguments.model!r} holds a {type(model).__name__}, which selects "
            "features and predicts no labels."
        )
    try:
        settings = read_json(load_notes(arguments.model).get("cli", "{}"))
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise CommandError(f"the notes of {arguments.model!r} are damaged.")
    settings = {key: own for key, own in settings.items() if isinstance(own, str)}
    bad_rows = BadRows(files.skip_bad_rows)
    source = _source(model, files, settings, arguments, bad_rows)
    header = ["row", "prediction", "probability"]
    if arguments.proba:
        labels = [str(label) for label in model.classes_.tolist()]
        header = ["row", "prediction", *(f"probability {c}" for c in labels)]
    if len(files.paths) > 1:
        header.insert(0, "file")
    tally, done = _Tally(model.classes_.tolist()), 0
    paths = {path: _encodable(path) for path in files.paths}
    escape = arguments.escape_formulas and form in ("csv", "tsv")
    if form in ("csv", "tsv") and not escape:
        _warn_formulas([*map(str, model.classes_.tolist()), *paths.values()])
    names = [_escaped(name) for name in header] if escape else header
    with _sink(arguments.out, form, names) as sink, Progress("Predicting") as bar:
        for path, before, rows, truth in source:
            columns = _columns(model, rows, arguments.proba)
            tally.add(truth or [], columns[0])
            numbers = list(range(before + 1, before + 1 + len(columns[0])))
            columns.insert(0, numbers)
            if len(files.paths) > 1:
                columns.insert(0, [paths.get(path, path)] * len(numbers))
            if escape:
                columns = [list(map(_escaped, column)) for column in columns]
            sink.add(columns)
            done += len(numbers)
            bar.update(done, "rows")
        sink.end()
    bad_rows.warn("; rows are numbered without them")
    if tally.known and sys.stderr is not None:
        print(f"bayesieve: {plain_text(tally.told())}", file=sys.stderr)
    if arguments.out is not None and sys.stderr is not None:
        print(f"bayesieve: wrote {done:,} rows to {arguments.out!r}", file=sys.stderr)


def _encodable(path: str) -> str:
    """Return a path that can be written as UTF-8, whatever bytes its name has."""
    return path.encode("utf-8", "backslashreplace").decode()


def _is_formula(value: Any) -> bool:
    """Tell what a spreadsheet would compute: text that begins like a formula."""
    if not isinstance(value, str) or not value.startswith(
        ("=", "+", "-", "@", "\t", "\r")
    ):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _escaped(value: Any) -> Any:
    return f"'{value}" if _is_formula(value) else value


def _warn_formulas(values: list[str]) -> None:
    """Tell that a table holds what a spreadsheet would run; it is written as it is."""
    found = [value for value in values if _is_formula(value)]
    if found and sys.stderr is not None:
        print(
            f"bayesieve: warning: {found[0]!r} begins as a formula does, and a "
            "spreadsheet that opens the predictions may run it. Hint: "
            "--escape-formulas writes an apostrophe before it.",
            file=sys.stderr,
        )


def _columns(model: Any, rows: Any, proba: bool) -> list[list[Any]]:
    """Return the columns to write, predictions first."""
    import numpy as np

    chances = model.predict_proba(rows)
    best = np.argmax(chances, axis=1)
    columns: list[list[Any]] = [model.classes_[best].tolist()]
    if proba:
        return [*columns, *chances.T.tolist()]
    return [*columns, chances[np.arange(len(best)), best].tolist()]


class _Tally:
    """How many labels were met, and which ones the model cannot say.

    Labels of a CSV file are text, whatever the classes are, so labels and classes are
    compared as they are written.
    """

    def __init__(self, classes: list[Any]) -> None:
        self._classes = [str(label) for label in classes]
        self._written, self._values = set(self._classes), set(classes)
        self._foreign: dict[str, int] = {}
        self.right = self.known = 0

    def add(self, truth: list[Any], predicted: list[Any]) -> None:
        """Compare the labels of a batch; one without a label is not counted."""
        for label, said in zip(truth, predicted, strict=False):
            if label is None or label == "":
                continue
            self.known += 1
            self.right += label == said or str(label) == str(said)
            if not self._is_class(label):
                self._foreign[str(label)] = self._foreign.get(str(label), 0) + 1

    def _is_class(self, label: Any) -> bool:
        if isinstance(label, int | float) and label in self._values:  # 1.0 is 1
            return True
        return str(label) in self._written

    def told(self) -> str:
        """Say how many are right, or why that cannot be said."""
        foreign = sum(self._foreign.values())
        labels = f"({_some(sorted(self._foreign))})"
        classes = f"not classes of the model ({_some(self._classes)})"
        if foreign == self.known:
            return f"the labels {labels} are {classes}"
        told = (
            f"{100 * self.right / self.known:.1f} % of {self.known:,} labelled rows "
            "are predicted right"
        )
        if foreign:
            told += f"; {foreign:,} of them have labels {labels} that are {classes}"
        return told


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


# ----------------------------------------------------------------------------- reading

Batch = tuple[str, int, Any, list[Any] | None]


def _source(
    model: Any,
    files: DataFiles,
    settings: dict[str, Any],
    arguments: argparse.Namespace,
    bad_rows: Any,
) -> Iterator[Batch]:
    """Return batches of (path, rows before, rows for the model, labels or None)."""
    if files.is_saved:
        raise CommandError(f"{files.paths[0]!r} holds counts or a model, not rows.")
    if hasattr(model, "support_terms_"):
        return _texts(files, settings, arguments, bad_rows)
    if files.is_matrix:
        return _matrix(model, files, bad_rows)
    return _table(model, files, settings, arguments, bad_rows)


def _label_column(
    files: DataFiles, settings: dict[str, Any], arguments: argparse.Namespace
) -> list[str]:
    """The column of labels, as said or as in training; none if it is not there."""
    if arguments.label is not None:
        check_column(arguments.label, files.columns, repr(files.paths[0]))
        return [arguments.label]
    label = settings.get("label")
    return [label] if label is not None and label in files.columns else []


def _texts(
    files: DataFiles,
    settings: dict[str, Any],
    arguments: argparse.Namespace,
    bad_rows: Any,
) -> Iterator[Batch]:
    from bayesieve.cli._columns import say_guesses
    from bayesieve.cli._text_data import texts_of
    from bayesieve.exceptions import BadRowsWarning
    from bayesieve.utils._warnings import warn_user

    if files.is_matrix:
        raise CommandError("a model of texts needs a table with a column of texts.")
    label = _label_column(files, settings, arguments)
    text: str | None = arguments.text or settings.get("text")
    if text is None:
        columns = choose_columns(files, arguments, needs_label=False)
        if columns.text is None:
            raise CommandError("which column holds texts is not clear: say --text COL.")
        say_guesses(columns)
        text = columns.text
    check_column(text, files.columns, repr(files.paths[0]))
    empty = 0
    for path, before, batch in files.rows([text, *label], bad_rows):
        if batch.num_rows:
            # A line of JSON that cannot be read comes without any values.
            empty += batch.column(0).null_count
            truth = batch.column(1).to_pylist() if label else None
            yield path, before, texts_of(batch.column(0), files, before), truth
    if empty:
        rows = "row" if empty == 1 else "rows"
        warn_user(
            f"{empty:,} {rows} without a text that can be read: predicted as an empty "
            "text.",
            BadRowsWarning,
        )


def _table(
    model: Any,
    files: DataFiles,
    settings: dict[str, Any],
    arguments: argparse.Namespace,
    bad_rows: Any,
) -> Iterator[Batch]:
    from bayesieve.io._typed_columns import typed_frame

    names = getattr(model, "feature_names_in_", None)
    label = _label_column(files, settings, arguments)
    if names is None:  # fitted on a matrix: the columns in their order
        names = [n for n in files.columns if n not in (*label, *arguments.drop)]
        if len(names) != model.n_features_in_:
            raise CommandError(
                f"the model has {model.n_features_in_} columns without names. "
                f"{files.paths[0]!r} has {len(names)}. Hint: --drop COL."
            )
    names = [str(name) for name in names]
    kinds = dict.fromkeys(names, "number")
    for partition, name in zip(getattr(model, "partitions_", []), names, strict=False):
        if partition.kind == "categorical":
            kinds[name] = "category"
        elif partition.is_time:
            kinds[name] = "time"
    named = hasattr(model, "feature_names_in_")
    for path, before, batch in files.rows([*names, *label], bad_rows):
        if batch.num_rows:
            frame = typed_frame(batch, names, is_text=files.is_text, kinds=kinds)
            truth = batch.column(len(names)).to_pylist() if label else None
            yield path, before, frame if named else frame.to_numpy(), truth


def _matrix(model: Any, files: DataFiles, bad_rows: Any) -> Iterator[Batch]:
    before = dict.fromkeys(files.paths, 0)
    for path, X, y in files.matrices(bad_rows):
        # Columns that were never met in training are in no selection.
        X.resize((X.shape[0], model.n_features_in_))
        whole = (y == y.round()).all()
        truth = (y.astype("int64") if whole else y).tolist()
        yield path, before[path], X, truth
        before[path] += X.shape[0]


# ----------------------------------------------------------------------------- writing


def _output_format(arguments: argparse.Namespace) -> str:
    if arguments.out is None:
        return "jsonl" if arguments.json else "csv"
    ending = os.path.splitext(arguments.out.lower())[1]
    if ending not in _ENDINGS:
        raise CommandError(
            "the format of --out is told by its ending, .csv, .tsv, .jsonl or "
            f".parquet. Got {arguments.out!r}."
        )
    return _ENDINGS[ending]


class _Sink(Protocol):
    """Where predictions go; nothing is written before the first rows are known."""

    def add(self, columns: list[list[Any]]) -> None:
        """Write rows, given column by column."""

    def end(self) -> None:
        """Finish, also when there were no rows."""


class _Shown:
    """A terminal, which data must not steer: what cannot be printed is escaped."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; only ends of lines are not escaped."""
        shown = "\n".join(map(plain_text, text.split("\n")))
        return int(self._stream.write(shown))


class _CsvSink:
    """CSV or TSV."""

    def __init__(self, file: Any, delimiter: str, header: list[str]) -> None:
        self._file, self._delimiter = file, delimiter
        # Python's own writer leaves a carriage return without quotes.
        self._quoted = (delimiter, '"', "\r", "\n")
        self._header: list[str] | None = header

    def add(self, columns: list[list[Any]]) -> None:
        """Write rows; probabilities with six digits."""
        self.end()
        shown = [
            [f"{value:.6g}" for value in column]
            if column and isinstance(column[0], float)
            else [self._field(str(value)) for value in column]
            for column in columns
        ]
        self._write(zip(*shown, strict=True))

    def _field(self, text: str) -> str:
        if any(mark in text for mark in self._quoted):
            return '"' + text.replace('"', '""') + '"'
        return text

    def _write(self, rows: Iterable[Iterable[str]]) -> None:
        lines = [self._delimiter.join(row) + "\n" for row in rows]
        self._file.write("".join(lines))

    def end(self) -> None:
        """Write the header, once."""
        if self._header is not None:
            self._write([map(self._field, self._header)])
            self._header = None


class _JsonSink:
    """One JSON object a line."""

    def __init__(self, file: Any, header: list[str]) -> None:
        self._file, self._header = file, header

    def add(self, columns: list[list[Any]]) -> None:
        """Write rows."""
        for row in zip(*columns, strict=True):
            line = dict(zip(self._header, row, strict=True))
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def end(self) -> None:
        """Write nothing: a file without lines has no rows."""


class _ParquetSink:
    """Parquet, a row group for each batch."""

    def __init__(self, path: str, header: list[str]) -> None:
        self._path, self._header = path, header
        self._writer: Any = None

    def add(self, columns: list[list[Any]]) -> None:
        """Write rows."""
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.table(dict(zip(self._header, columns, strict=True)))
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def end(self) -> None:
        """Leave a file without rows where there were none."""
        if self._writer is None:
            import pyarrow
            from pyarrow import parquet

            empty = pyarrow.table({name: pyarrow.nulls(0) for name in self._header})
            parquet.write_table(empty, self._path)

    def close(self) -> None:
        """Let go of the file."""
        if self._writer is not None:
            self._writer.close()


@contextlib.contextmanager
def _sink(path: str | None, form: str, header: list[str]) -> Iterator[_Sink]:
    """Open the place where predictions go; a file is there when it is complete."""
    with contextlib.ExitStack() as stack:
        if path is None:
            file: Any = sys.stdout or stack.enter_context(open(os.devnull, "w"))
            if file.isatty():
                file = _Shown(file)
        else:
            beside = stack.enter_context(written(path))
            if form == "parquet":
                with contextlib.closing(_ParquetSink(beside, header)) as sink:
                    yield sink
                return
            file = stack.enter_context(open(beside, "w", encoding="utf-8", newline=""))
        if form == "jsonl":
            yield _JsonSink(file, header)
        else:
            yield _CsvSink(file, "\t" if form == "tsv" else ",", header)


PREDICT = Command(
    name="predict",
    summary="label new rows with a saved model",
    description="Label the rows of your data with a model that select has saved. Works "
    "in batches, so files may be larger than memory. Where the data has labels, the "
    "share that is predicted right is told on standard error.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve predict reviews.model new.csv",
        "bayesieve predict reviews.model 'new/*.jsonl' --out labels.parquet --proba",
        "bayesieve predict reviews.model new.csv | head",
    ),
)
