"""From the arguments of a command to its data: texts, a table, a matrix or counts."""

from __future__ import annotations

import argparse
from typing import Any

from bayesieve.cli._columns import Columns, choose_columns, say_guesses
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles

__all__ = ["CountsData", "open_data"]


class CountsData:
    """Class counts that `bayesieve counts` or `ClassCounts.save` has written."""

    interrupted = False

    def __init__(self, files: DataFiles, arguments: argparse.Namespace) -> None:
        from bayesieve.cli._labelled_rows import Labels
        from bayesieve.cli._options import text_parameters
        from bayesieve.counts import merge_saved

        self.files, self.arguments = files, arguments
        self.counts = merge_saved(files.paths)
        if self.counts.n_classes < 2:
            raise CommandError(f"{files.name!r} has counts of one class only.")
        models = {"count": "multinomial", "binary": "bernoulli", "moments": "gaussian"}
        self.model = models.get(self.counts.kind, "categorical")
        if arguments.model not in ("auto", self.model):
            raise CommandError(
                f"{files.name!r} has counts of kind {self.counts.kind!r}, which are "
                f"for --model {self.model}. Got {arguments.model!r}."
            )
        named = self.counts.feature_names is not None
        texts = named and self.counts.document_count is not None
        self.is_text = texts and not arguments.no_text
        self.unit = "terms" if self.is_text else "features"
        rows = self.counts.class_count
        self.labels = Labels("label", self.counts.classes, rows)
        self.parameters = text_parameters(arguments) if self.is_text else {}

    def count(self, interrupt: Any = None) -> Any:
        """Return the counts."""
        return self.counts

    def fit(self, k: Any, clock: Any, *, saves: bool) -> Any:
        """Select and estimate from the counts."""
        from bayesieve import naive_bayes
        from bayesieve.cli._fit_outcome import Fitted, default_size

        if self.arguments.weights:
            raise CommandError("--weights needs rows, which counts no longer know.")
        k = default_size(self.counts.n_features) if k is None else k
        if k in ("cv", "1se"):
            raise CommandError(
                f"-k {k} needs rows, which counts no longer know. Hint: -k bic or "
                "-k elbow."
            )
        common: dict[str, Any] = {"time_limit": self.arguments.time_limit}
        if self.model != "gaussian":
            common["alpha"] = self.arguments.alpha
        make = {
            "multinomial": naive_bayes.SparseMultinomialNB,
            "bernoulli": naive_bayes.SparseBernoulliNB,
            "gaussian": naive_bayes.SparseGaussianNB,
            "categorical": naive_bayes.SparseCategoricalNB,
        }[self.model]
        if self.is_text:
            make = naive_bayes.SparseTextNB
            common |= {"model": self.model, **self.parameters}
        with clock.measure("selection"):
            model = make(k, **common).fit_counts(self.counts)
        if self.is_text:
            self._check_terms(model)
        rows = int(self.counts.class_count.sum())
        return Fitted(model, self.unit, model.n_features_in_, rows, counts=self.counts)

    def _check_terms(self, model: Any) -> None:
        """Refuse terms that were counted with other options than these."""
        from bayesieve.feature_extraction import to_vectorizer

        analyze = to_vectorizer(model).build_analyzer()
        for term in model.support_terms_:
            if term not in analyze(term):
                raise CommandError(
                    f"the term {term!r} was counted with other options. Hint: give "
                    "the --ngrams, --analyzer and --stop-words of the counts."
                )


def open_data(arguments: argparse.Namespace) -> tuple[Any, Columns]:
    """Find the files, settle their columns and labels, and say what was guessed."""
    files = DataFiles(
        arguments.data,
        skip_bad_rows=arguments.skip_bad_rows,
        longest=arguments.max_row_bytes,
    )
    nothing = Columns(None, None, [], {})
    if files.is_saved:
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
