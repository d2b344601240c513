"""Tables of numbers and categories, read whole into a data frame."""

from __future__ import annotations

import argparse
import shlex
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve._description import describe
from bayesieve.cli._columns import Columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_matrix import MATRIX_KINDS, fit_matrix
from bayesieve.cli._fit_outcome import Clock, Fitted, Refits
from bayesieve.cli._held_out import held_out
from bayesieve.cli._labelled_rows import LabelledRows
from bayesieve.cli._plan import l1_of_frame
from bayesieve.cli._reading_told import say_how_read, say_script, say_what_is_suspicious
from bayesieve.cli._rules import has_rules
from bayesieve.cli._told import listed, tell
from bayesieve.counts import ClassCounts
from bayesieve.io._column_format import Marks, ReadColumn
from bayesieve.io._column_kinds import as_frame, formats_of, read_columns
from bayesieve.io._frames import one_table
from bayesieve.io._inspect import ROLES, ColumnFacts, column_facts
from bayesieve.io._roles import left_out
from bayesieve.naive_bayes import SelectiveNB
from bayesieve.preprocessing import MODLEncoder

__all__ = ["TableData"]

#: Values up to which rows are fitted again, to judge by parts of them.
_SLOW_CELLS = 1_000_000
_MOST_FACTS = 200  # columns of a report
_LOOKED_AT = 2000  # texts, to tell their script


class TableData:
    """A labelled table of numbers, categories, dates and missing values."""

    unit = "columns"
    interrupted = False

    def __init__(
        self,
        files: DataFiles,
        columns: Columns,
        names: list[str],
        rows: LabelledRows,
        arguments: argparse.Namespace,
    ) -> None:
        self.files, self.columns, self.labels = files, columns, rows.labels
        self.model = "selective" if arguments.model == "auto" else arguments.model
        self.arguments, self._codes = arguments, rows.codes
        self.share = getattr(arguments, "test_share", 0.0)
        self.seed = getattr(arguments, "seed", 0)
        files.refuse_other_columns()
        table = one_table([batch for _, batch in rows.batches("Reading")])
        kinds = columns.kinds | dict.fromkeys(columns.texts, "text")
        marks = Marks(arguments.decimal, arguments.thousands)
        read = read_columns(table, names, kinds=kinds, marks=marks)
        #: Why columns are left out, by their names.
        self.ignored: dict[str, str] = {}
        self._every, self.read = read, read
        if self.model == "selective":
            self.read = read = self._without_empty(read)
        say_how_read(self._every, self.ignored)
        say_what_is_suspicious(self.read, rows.codes, rows.labels.classes.size)
        self._frame = as_frame(read)

    def _without_empty(self, read: list[ReadColumn]) -> list[ReadColumn]:
        """Leave out what can say nothing, unless somebody has said what it is."""
        said = {*self.columns.kinds, *self.columns.texts}
        found = {own.name: left_out(own) for own in read if own.name not in said}
        kept = [own for own in read if not found.get(own.name)]
        if not kept:
            plain = [own for own in read if own.kind != "nested"]
            if not plain:
                raise CommandError(
                    f"no column of {self.files.name!r} has one value a row: all hold "
                    "lists or objects."
                )
            return plain
        self.ignored = {name: why for name, why in found.items() if why}
        return kept

    def text_alone(self) -> str | None:
        """The column of texts, where no other says anything of the label by itself.

        Judged by the training rows; what somebody has named stays in.
        """
        others = [name for name in self._frame if name not in self.columns.texts]
        if len(self.columns.texts) > 1 or {*others} & {*self.columns.kinds}:
            return None
        if others:
            train = ~held_out(self._codes, self.share, self.seed)
            codes = self._codes[train]
            if np.unique(codes).size < 2:
                return None
            rows = self._frame.loc[train, others]
            if MODLEncoder().fit(rows, codes).levels_.any():
                return None
            tell(
                f"left out, beside the texts: {listed(others)}, which says nothing of "
                f"{self.labels.column!r} by itself (--model selective takes it in)"
                if len(others) == 1
                else f"left out, beside the texts: {listed(others)}, which say nothing "
                f"of {self.labels.column!r} by themselves (--model selective takes "
                "them in)"
            )
            self.ignored |= dict.fromkeys(others, "says nothing")
        return self.columns.texts[0]

    def say_scripts(self) -> None:
        """Tell how texts are cut, unless somebody has said it."""
        for own in self.read:
            if own.kind == "text" and self.arguments.analyzer is None:
                say_script(own.name, own.values[:_LOOKED_AT].tolist())

    def left_out_strings(self) -> list[str]:
        """Columns of strings that were left out as identifiers."""
        return [
            own.name
            for own in self._every
            if own.kind == "category" and self.ignored.get(own.name) == "identifier"
        ]

    def facts(self) -> list[ColumnFacts]:
        """What each column is, for a report; the label last."""
        found = [
            column_facts(own, ROLES.get(self.ignored.get(own.name, ""), own.kind), [])
            for own in self._every[:_MOST_FACTS]
        ]
        classes = [str(label) for label in self.labels.classes.tolist()]
        name = self.labels.column
        return [
            *found,
            ColumnFacts(name, "label", "classes", 0, len(classes), classes[:3], []),
        ]

    def count(self, interrupt: Any = None) -> Any:
        """Return the counts of all rows, for the models that have counts."""
        kind = MATRIX_KINDS.get(self.model)
        if kind is None:
            typed = self.arguments.model != "auto"
            raise CommandError(
                "path and counts take tables whose columns are all of one kind, which "
                "--model says: multinomial (counts), bernoulli (0 and 1) or gaussian "
                f"(measurements).{f' Got {self.model!r}.' if typed else ''} Hint: "
                f"{shlex.join(['bayesieve', 'select', *self.files.paths[:1]])} takes "
                "any table and says which columns matter."
            )
        self._check_numbers()
        y = self.labels.classes[self._codes]
        return ClassCounts.from_matrix(self._frame, y, kind=kind)

    def fit(self, clock: Clock, *, saves: bool) -> Fitted:
        """Hold rows out, and fit."""
        held = held_out(self._codes, self.share, self.seed)
        X_test, classes = self._frame[held], self.labels.classes
        settings = {
            "features": list(self._frame.columns),
            "label": self.labels.column,
            "formats": formats_of(self.read),
            "ignored": list(self.ignored),
        }
        if self.model == "selective" and (
            self.arguments.weights or self.arguments.exact
        ):
            given = "--weights" if self.arguments.weights else "--exact"
            raise CommandError(
                f"{given} is for texts, svmlight files and --model multinomial or "
                "bernoulli (--exact for gaussian too); a mixed table has weights "
                "anyway."
            )
        if self.model != "selective":
            self._check_numbers()
            fitted = fit_matrix(
                self._frame,
                self._codes,
                classes,
                held,
                self.model,
                self.arguments,
                clock,
            )
            fitted.unit = self.unit
        else:
            fitted = self._fit_selective(held, clock)
        fitted.settings = settings

        def test_rows() -> Iterator[tuple[Any, NDArray[np.int64]]]:
            yield X_test, self._codes[held]

        fitted.held_out = test_rows if held.any() and not fitted.interrupted else None
        return fitted

    def _check_numbers(self) -> None:
        """Refuse columns that only a mixed table can have."""
        from pandas.api.types import is_numeric_dtype

        kinds = self._frame.dtypes.items()
        others = [name for name, kind in kinds if not is_numeric_dtype(kind)]
        if others:
            shown = ", ".join(map(repr, others[:12]))
            drops = shlex.join(word for own in others[:12] for word in ("--drop", own))
            more = ", ..." if len(others) > 12 else ""
            raise CommandError(
                f"--model {self.model} needs columns of numbers. Got others in {shown}"
                f"{more}. Hint: {drops}{' ...' if more else ''}; or bayesieve select "
                "without --model, which takes every column as it is."
            )

    def _fit_selective(self, held: NDArray[np.bool_], clock: Clock) -> Fitted:
        if has_rules(self.arguments):
            hint = "--drop leaves columns out"
            if self.columns.texts:
                hint = "--model multinomial takes the texts alone"
            raise CommandError(
                "--include, --exclude, --groups and --budget are for --model "
                "multinomial, bernoulli and gaussian; a mixed table keeps to no rules. "
                f"Hint: {hint}."
            )
        train, arguments = np.flatnonzero(~held), self.arguments
        X, y = self._frame.iloc[train], self.labels.classes[self._codes[train]]
        most = self._most_columns(arguments.k, X.shape[1])
        texts = self.columns.texts
        parameters: dict[str, Any] = {
            "text_features": texts or None,
            "text_options": self._text_options() or None,
            "random_state": self.seed,
            "time_limit": arguments.time_limit,
        }
        makers: dict[str, Callable[[float], Any]] = {
            "chosen": lambda _: SelectiveNB(k=most, **parameters)
        }
        compares = self.share > 0
        if most is not None and compares:
            makers["all"] = lambda _: SelectiveNB(**parameters)
        if arguments.l1 and compares:
            self._refuse_l1_of_texts()
            makers["l1"] = lambda _: l1_of_frame()
        try:
            with clock.measure("selection"):
                model = makers["chosen"](1.0).fit(X, y)
            rivals = {}
            with warnings.catch_warnings(), clock.measure("comparison"):
                warnings.simplefilter("ignore")
                for name in makers.keys() - {"chosen"}:
                    rivals[name] = makers[name](1.0).fit(X, y)
        except TypeError as error:  # a column of lists, for instance
            raise CommandError(str(error)) from None
        refits = None
        if compares and not arguments.quick and X.size <= _SLOW_CELLS and not texts:
            codes, classes = self._codes, self.labels.classes
            refits = Refits(self._frame, codes, classes, held, makers)
        return Fitted(
            model,
            "features" if texts else self.unit,
            describe(model).n_features,
            X.shape[0],
            rivals=rivals,
            refits=refits,
            interrupted=model.stopped_ == "interrupted",
        )

    def _refuse_l1_of_texts(self) -> None:
        if self.columns.texts:
            raise CommandError(
                "--l1 compares with columns of numbers and categories, or with texts "
                f"alone. Got texts beside columns: {listed(self.columns.texts)}."
            )

    def _text_options(self) -> dict[str, Any]:
        """How texts are cut, where somebody has said it."""
        given = {
            "ngram_range": self.arguments.ngrams,
            "analyzer": self.arguments.analyzer,
            "min_df": None if self.arguments.min_df == 1 else self.arguments.min_df,
            "max_df": None if self.arguments.max_df == 1.0 else self.arguments.max_df,
            "stop_words": self.arguments.stop_words,
        }
        return {name: own for name, own in given.items() if own is not None}

    def _most_columns(self, k: Any, n_columns: int) -> int | None:
        if k is None or k == "all":
            return None
        if isinstance(k, str):
            raise CommandError(
                f"-k {k} is for texts, svmlight files and --model multinomial or "
                "bernoulli (elbow and bic for gaussian too); a mixed table takes a "
                "number or a share, and chooses by itself without -k."
            )
        return k if isinstance(k, int) else max(1, round(k * n_columns))
