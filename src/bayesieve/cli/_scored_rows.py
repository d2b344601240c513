"""The rows of files as a saved model takes them: texts, tables, matrices, sequences.

The one place where files are read for a model that is there already.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bayesieve.cli._columns import choose_columns, matching, said_kinds, say_guesses
from bayesieve.cli._command import CommandError, refuse_options
from bayesieve.cli._files import DataFiles
from bayesieve.io._near_names import check_column
from bayesieve.utils._computed_once import computed_once

if TYPE_CHECKING:
    from bayesieve.io._column_format import ColumnFormat, Marks

__all__ = [
    "SavedModel",
    "ScoredBatch",
    "ScoredRows",
    "matching_columns",
    "read_batches",
]


@dataclass(frozen=True)
class SavedModel:
    """A classifier from a file, and what the command line noted beside it."""

    path: str
    model: Any
    settings: dict[str, str]
    #: How columns of the training files were written.
    formats: dict[str, ColumnFormat] = field(default_factory=dict)
    #: Columns that were left out then.
    ignored: list[str] = field(default_factory=list)

    def files(self, arguments: argparse.Namespace) -> DataFiles:
        """Return the files that a command was given for this model."""
        if self.takes_sequences:
            from bayesieve.cli._sequence_rows import refuse_standard_input

            refuse_standard_input(arguments.data)  # before anything waits for it
        return DataFiles.of(arguments, as_bytes=self.takes_bytes)

    @classmethod
    def read(cls, path: str) -> SavedModel:
        """Load a model that predicts labels."""
        from bayesieve.io._column_format import ColumnFormat
        from bayesieve.persistence import load_model, load_notes
        from bayesieve.utils._strict_json import read_json

        model = load_model(path)
        if not hasattr(model, "predict"):
            raise CommandError(
                f"{path!r} holds a {type(model).__name__}, which selects "
                "features and predicts no labels."
            )
        _check_pipeline(model, path)
        try:
            settings = read_json(load_notes(path).get("cli", "{}"))
        except ValueError:
            settings = None
        if not isinstance(settings, dict):
            raise CommandError(f"the notes of {path!r} are damaged.")
        own = {key: value for key, value in settings.items() if isinstance(value, str)}
        formats = settings.get("formats", {})
        try:
            known = {n: ColumnFormat.from_dict(given) for n, given in formats.items()}
        except (AttributeError, KeyError, TypeError):
            raise CommandError(f"the notes of {path!r} are damaged.") from None
        ignored = settings.get("ignored", [])
        if not isinstance(ignored, list):
            raise CommandError(f"the notes of {path!r} are damaged.")
        return cls(path, model, own, known, [str(name) for name in ignored])

    @property
    def takes_texts(self) -> bool:
        """Whether its rows are texts."""
        from bayesieve.persistence._pipelines import takes_texts

        return takes_texts(self.model)

    @property
    def takes_sequences(self) -> bool:
        """Whether its rows are sequences, or bytes."""
        from bayesieve.naive_bayes import SparseSequenceNB

        return isinstance(self.model, SparseSequenceNB)

    @property
    def takes_bytes(self) -> bool:
        """Whether its rows are files of any kind."""
        return self.takes_sequences and self.model.alphabet == "bytes"


def _check_pipeline(model: Any, path: str) -> None:
    """Refuse a Pipeline over tables: what its columns hold is for its steps to say."""
    from sklearn.pipeline import Pipeline

    from bayesieve._pipeline import open_model
    from bayesieve.persistence._pipelines import takes_texts

    if not isinstance(model, Pipeline):
        return
    if not takes_texts(model) or not open_model(model).is_last:
        raise CommandError(
            f"{path!r} holds a Pipeline, and the command line takes those that begin "
            "with a vectorizer of texts and end with a classifier of bayesieve. "
            "Hint: bayesieve.load_model reads it in Python."
        )


@dataclass(frozen=True)
class ScoredBatch:
    """Rows of one file.

    Attributes
    ----------
    path : str
    before : int
        Rows of the file before these.
    rows : object
        As the model takes them.
    labels : list or None
        What the data says, None where it has no labels.
    kept : list of pyarrow.Array
        The columns that were asked for, as they are in the data.
    """

    path: str
    before: int
    rows: Any
    labels: list[Any] | None
    kept: list[Any]


@dataclass(frozen=True)
class ScoredRows:
    """The rows of some files for one model, in batches.

    Attributes
    ----------
    saved : SavedModel
    files : DataFiles
    label, text : str or None
        Columns of the labels and of the texts.
    names : list of str
        All columns of the model, in its order.
    columns : list of str
        Those that it uses; what has no weight is not read.
    missing : list of str
        Columns of the model that are not in the data, and that it gives no weight.
    new : list of str
        Columns of the data that nothing is done with; of matrices once they are read.
    keep : list of str
    """

    saved: SavedModel
    files: DataFiles
    label: str | None = None
    text: str | None = None
    names: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    marks: Marks | None = None
    said: dict[str, str] = field(default_factory=dict)
    #: Values taken as missing, and one of them, by column.
    strays: dict[str, tuple[int, str]] = field(default_factory=dict)
    #: Of sequences: whether rows are records, not files, and the label of a header or
    #: path, None where it is not known.
    records: bool = False
    label_of: Callable[[str], Any] | None = None

    @classmethod
    def of(
        cls,
        saved: SavedModel,
        files: DataFiles,
        arguments: argparse.Namespace,
        keep: Sequence[str] = (),
    ) -> ScoredRows:
        """Find the columns that a model needs in the data."""
        if files.is_saved:
            raise CommandError(f"{files.paths[0]!r} holds counts or a model, not rows.")
        if files.is_sequences or saved.takes_sequences:
            return cls._of_sequences(saved, files, arguments, keep)
        named = f"{saved.path!r}, a {type(saved.model).__name__}"
        refuse_options(
            arguments, ("labels", "records"), "models of sequences", f"{named}"
        )
        if not saved.takes_texts:
            refuse_options(arguments, ("text", "no_text"), "models of texts", named)
        if files.is_matrix:
            if saved.takes_texts:
                raise CommandError(
                    "a model of texts needs a table with a column of texts."
                )
            if keep:
                raise CommandError(
                    "svmlight files have no columns with names: --keep is for tables. "
                    f"Got {keep[0]!r}."
                )
            return cls(saved, files)
        kept = matching_columns(keep, files)
        label = _label_column(files, saved.settings, arguments)
        if saved.takes_texts:
            text = _text_column(files, saved.settings, arguments)
            names, used = [text], [text]
        else:
            text = None
            names = _model_columns(saved.model, files, label, arguments.drop)
            used = _used(saved.model, names)
        for name in used:
            check_column(name, files.columns, repr(files.paths[0]))
        missing = [name for name in names if name not in files.columns]
        dropped = matching(arguments.drop, files.columns, repr(files.paths[0]))
        known = {*names, *kept, *dropped, *saved.ignored, label}
        new = [name for name in files.columns if name not in known]
        from bayesieve.io._column_format import Marks

        marks = Marks(arguments.decimal, arguments.thousands)
        said = said_kinds(arguments.types, files.columns, repr(files.paths[0]))
        return cls(
            saved, files, label, text, names, used, missing, new, kept, marks, said
        )

    @classmethod
    def _of_sequences(
        cls,
        saved: SavedModel,
        files: DataFiles,
        arguments: argparse.Namespace,
        keep: Sequence[str],
    ) -> ScoredRows:
        """Take files, or their records, as rows."""
        if not saved.takes_sequences:
            raise CommandError(
                f"the model {saved.path!r} takes tables or texts. Got "
                f"{files.paths[0]!r}, which holds sequences."
            )
        if not files.is_sequences:
            raise CommandError(
                f"the model {saved.path!r} takes files of sequences, FASTA or FASTQ. "
                f"Got {files.paths[0]!r}, which holds none."
            )
        if keep:
            raise CommandError(
                "sequences have no columns with names: --keep is for tables. "
                f"Got {keep[0]!r}."
            )
        refuse_options(arguments, ("text", "no_text"), "texts", "sequences")
        if arguments.label is not None and arguments.labels is None:
            raise CommandError(
                "--label names a column of the table that --labels FILE names. "
                f"Got --label {arguments.label!r} alone."
            )
        if arguments.records and saved.takes_bytes:
            raise CommandError(
                f"--records is for FASTA and FASTQ. {saved.path!r} takes bytes: each "
                "file is a row."
            )
        from bayesieve.cli._sequence_rows import known_labels, refuse_standard_input

        refuse_standard_input(files.paths)
        records = arguments.records or saved.settings.get("rows") == "records"
        label_of = None
        if arguments.labels is not None:
            usual = saved.settings.get("label")
            label_of = known_labels(files, records, arguments, usual)
        kept = ["record"] if records else []
        return cls(saved, files, keep=kept, records=records, label_of=label_of)

    @property
    def rows_are_files(self) -> bool:
        """Whether a row is a whole file, so that its name is that of the row."""
        return self.files.is_sequences and not self.records

    def _sequences(self, path: str) -> Iterator[ScoredBatch]:
        """Take the rows of a file of sequences."""
        from bayesieve.cli._sequence_data import sequence_batches

        for before, rows, headers in sequence_batches(path, self.records):
            labels = None
            if self.label_of is not None:
                names = headers if self.records else [path]
                labels = [self.label_of(name) for name in names]
            kept = [headers] if self.records else []
            yield ScoredBatch(path, before, rows, labels, kept)

    @property
    def columns_read(self) -> list[str]:
        """Columns of the data that are read."""
        label = [] if self.label is None else [self.label]
        return list(dict.fromkeys([*self.columns, *label, *self.keep]))

    def _batch(
        self, path: str, before: int, batch: Any, names: Sequence[str]
    ) -> ScoredBatch:
        """Take what this model needs from an Arrow batch with these columns."""
        own = batch.select([names.index(name) for name in self.columns])
        labels = None
        if self.label is not None:
            labels = batch.column(names.index(self.label)).to_pylist()
            if self.files.is_text:
                labels = [own.strip() if own else own for own in labels]
        kept = [batch.column(names.index(name)) for name in self.keep]
        if self.text is not None:
            from bayesieve.cli._text_data import texts_of

            texts = texts_of(own.column(0), self.files, before)
            if hasattr(self.saved.model, "steps"):  # vectorizers know strings only
                texts = texts.to_pylist()
            return ScoredBatch(path, before, texts, labels, kept)
        return ScoredBatch(path, before, self._frame(own, batch), labels, kept)

    def _frame(self, own: Any, batch: Any) -> Any:
        """The columns in use as numbers, times and categories, the others blank."""
        from bayesieve.io._column_kinds import as_frame, read_as

        model = self.saved.model
        read = read_as(own, self.columns, self._formats, self.marks, self._spaced)
        for column in read:
            number, example = column.strays
            if number:
                before, first = self.strays.get(column.name, (0, example))
                self.strays[column.name] = before + number, first
        frame = as_frame(read)
        if len(self.names) > len(self.columns):
            # What a column without a weight holds changes nothing: missing values in a
            # mixed table, and zeros where there must be counts.
            blank = float("nan") if hasattr(model, "partitions_") else 0.0
            frame = frame.reindex(range(batch.num_rows))
            frame = frame.reindex(columns=self.names, fill_value=blank)
        return frame if hasattr(model, "feature_names_in_") else frame.to_numpy()

    @computed_once
    def _spaced(self) -> set[str]:
        """Columns of which the model knows values with white space around them."""
        from bayesieve.io._string_column import have_spaces

        model = self.saved.model
        known = [own.values for own in getattr(model, "partitions_", [])]
        found = zip(self.names, known, strict=False)
        own = [values.tolist() for values in getattr(model, "categories_", [])]
        codes = zip(self.columns, own, strict=False)
        return {name for name, values in (*found, *codes) if have_spaces(values)}

    @computed_once
    def _formats(self) -> dict[str, ColumnFormat]:
        """What each column must hold, and how it is written."""
        from bayesieve.io._column_format import ColumnFormat

        kinds = dict.fromkeys(self.names, "number")
        partitions = getattr(self.saved.model, "partitions_", [])
        reader = getattr(self.saved.model, "_reader", None)
        texts = [] if reader is None else reader.text.tolist()
        for j, (partition, name) in enumerate(
            zip(partitions, self.names, strict=False)
        ):
            if texts[j]:
                kinds[name] = "text"
            elif partition.kind == "categorical":
                kinds[name] = "category"
            elif partition.is_time:
                kinds[name] = "date"
        values = getattr(self.saved.model, "categories_", [])
        for own, name in zip(values, self.columns, strict=False):
            if any(isinstance(value, str) for value in own.tolist()):
                kinds[name] = "category"
        found = {name: ColumnFormat(kind) for name, kind in kinds.items()}
        # A name that is not there in a file was not read from one.
        saved = self.saved.formats.items()
        found |= {n: own for n, own in saved if own.kind == kinds.get(n)}
        for name, said in self.said.items():
            kind, _, date = said.partition(":")
            if name not in found or kind == "ignore":
                continue
            if kind != found[name].kind:
                raise CommandError(
                    f"the model takes column {name!r} as {found[name].kind}, and "
                    f"--types cannot make it {kind}."
                )
            own = found[name]
            found[name] = replace(own, strays=True, date=date or own.date)
        return found

    def _matrix(self, path: str, before: int, X: Any, y: Any) -> ScoredBatch:
        """Take the columns of the model; those never met in training are in none."""
        own = X.copy()
        own.resize((X.shape[0], self.saved.model.n_features_in_))
        whole = (y == y.round()).all()
        labels = (y.astype("int64") if whole else y).tolist()
        return ScoredBatch(path, before, own, labels, [])

    def _tell_width(self, width: int) -> None:
        """Note columns of matrices beyond those that training met."""
        known = self.saved.model.n_features_in_
        if width > known:
            self.new.append(f"{known}...{width - 1}")


def read_batches(
    scored: Sequence[ScoredRows], bad_rows: Any
) -> Iterator[list[ScoredBatch]]:
    """Read the same rows of the same files for some models: one pass."""
    files = scored[0].files
    if files.is_sequences:
        if len({own.records for own in scored}) > 1:
            raise CommandError(
                "one model takes files as rows, the other records. Hint: --records "
                "gives both records."
            )
        from bayesieve.cli._sequence_rows import left_out_where_unreadable

        for problem in files.unreadable.values():
            bad_rows.found(1, problem)
        read = []
        for path in files.paths:
            if bad_rows.skip and left_out_where_unreadable(path, files, bad_rows):
                continue
            read.append(path)
            parts = [own._sequences(path) for own in scored]
            yield from map(list, zip(*parts, strict=True))
        files.keep_only(read)
        return
    if files.is_matrix:
        done = dict.fromkeys(files.paths, 0)
        width = 0
        for path, X, y in files.matrices(bad_rows):
            yield [own._matrix(path, done[path], X, y) for own in scored]
            done[path] += X.shape[0]
            width = max(width, X.shape[1])
        for own in scored:
            own._tell_width(width)
        return
    names = list(dict.fromkeys(name for own in scored for name in own.columns_read))
    names = names or files.columns[:1]  # a model without columns has rows all the same
    texts = {own.text for own in scored if own.text is not None}
    empty = 0
    for path, before, batch in files.rows(names, bad_rows):
        if batch.num_rows:
            yield [own._batch(path, before, batch, names) for own in scored]
            # A line of JSON that cannot be read comes without any values.
            empty += sum(batch.column(names.index(own)).null_count for own in texts)
    if empty:
        from bayesieve.exceptions import BadRowsWarning
        from bayesieve.utils._warnings import warn_user

        rows = "row" if empty == 1 else "rows"
        warn_user(
            f"{empty:,} {rows} without a text that can be read: predicted as an empty "
            "text.",
            BadRowsWarning,
        )


def matching_columns(patterns: Sequence[str], files: DataFiles) -> list[str]:
    """Return the columns that names and patterns with ``*`` stand for, each once.

    Names may come in one argument, with commas between them.
    """
    asked = []
    for argument in patterns:
        whole = argument in files.columns  # a name may have a comma in it
        asked += [argument] if whole else argument.split(",")
    return matching(asked, files.columns, repr(files.paths[0]))


def _label_column(
    files: DataFiles, settings: dict[str, str], arguments: argparse.Namespace
) -> str | None:
    """The column of labels, as said or as in training; none if it is not there."""
    if arguments.label is not None:
        check_column(arguments.label, files.columns, repr(files.paths[0]))
        return str(arguments.label)
    label = settings.get("label")
    return label if label in files.columns else None


def _text_column(
    files: DataFiles, settings: dict[str, str], arguments: argparse.Namespace
) -> str:
    """The column of texts, as said, as in training, or guessed aloud."""
    text: str | None = next(iter(arguments.text), None) or settings.get("text")
    if text is None:
        columns = choose_columns(files, arguments, needs_label=False)
        if not columns.texts:
            raise CommandError("which column holds texts is not clear: say --text COL.")
        say_guesses(columns)
        text = columns.texts[0]
    return text


def _model_columns(
    model: Any, files: DataFiles, label: str | None, drop: Sequence[str]
) -> list[str]:
    """All columns of a model of tables, in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    found = [name for name in files.columns if name not in (label, *drop)]
    if len(found) != model.n_features_in_:  # fitted on a matrix: columns by their order
        raise CommandError(
            f"the model has {model.n_features_in_} columns without names. "
            f"{files.paths[0]!r} has {len(found)}. Hint: --drop COL."
        )
    return found


def _used(model: Any, names: Sequence[str]) -> list[str]:
    """The columns that change a prediction."""
    if getattr(model, "input", "table") == "log_likelihood":
        return list(names)  # a column has a number for each class
    return [names[j] for j in model.support_indices_.tolist()]
