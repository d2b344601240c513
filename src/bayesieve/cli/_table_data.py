"""Tables of numbers and categories, read whole into a data frame."""

from __future__ import annotations

import argparse
import os
import shlex
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesieve.cli._columns import Columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles, needs
from bayesieve.cli._fitted import Clock, Fitted, default_size
from bayesieve.cli._labels import HeldOut, Labels, rows_with_codes
from bayesieve.cli._progress import Progress

__all__ = [
    "MATRIX_KINDS",
    "TableData",
    "fit_matrix",
    "frame_of",
    "physical_memory",
    "typed_as",
]

#: Ways to write that a value is missing in a CSV file.
_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
#: Values from which fitting takes more than a second or so.
_SLOW_CELLS = 2_000_000
MATRIX_KINDS = {"multinomial": "count", "bernoulli": "binary", "gaussian": "moments"}


def physical_memory() -> int:
    """Bytes of memory of this machine; some number where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 34


def frame_of(batch: Any, names: list[str], *, from_text: bool) -> Any:
    """Return an Arrow batch or table as a pandas frame with the names of the file."""
    needs("pandas")
    frame = batch.select(list(range(len(names)))).to_pandas()
    frame.columns = names
    for name in names:
        column = frame[name]
        if from_text:
            frame[name] = column.mask(column.isin(_MISSING))
        elif column.dtype == bool:
            frame[name] = column.astype(str)  # as CSV files have them
    return frame


def _typed(column: Any) -> Any:
    """Return a column of a CSV file as numbers or times if all of it is such."""
    import pandas as pd

    there = column.notna()
    if not there.any():
        return column.astype(object)
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.notna()[there].all():
        return numbers.astype(np.float64)
    if "-" in str(column[there].iloc[0]):
        times = pd.to_datetime(column, errors="coerce", format="ISO8601", utc=True)
        if times.notna()[there].all():
            return times.dt.tz_localize(None)
    return column.astype(object)


def typed_as(frame: Any, kinds: dict[str, str]) -> Any:
    """Return a frame whose columns are of the kinds met in training."""
    import pandas as pd

    for name, kind in kinds.items():
        column = frame[name]
        if kind == "category":
            frame[name] = column.astype(object)
            continue
        try:
            if kind == "number":
                frame[name] = pd.to_numeric(column).astype(np.float64)
            else:
                times = pd.to_datetime(column, format="ISO8601", utc=True)
                frame[name] = times.dt.tz_localize(None)
        except (TypeError, ValueError) as error:
            raise CommandError(
                f"column {name!r} held {kind}s when the model was made and must hold "
                f"{kind}s now. Got: {error}"
            ) from None
    return frame


class TableData:
    """A labelled table of numbers, categories, dates and missing values.

    Parameters
    ----------
    files, columns, labels, arguments
        As for `TextData`.
    """

    unit = "columns"

    def __init__(
        self,
        files: DataFiles,
        columns: Columns,
        labels: Labels,
        arguments: argparse.Namespace,
    ) -> None:
        self.files, self.columns, self.labels = files, columns, labels
        self.model = "selective" if arguments.model == "auto" else arguments.model
        self.arguments = arguments
        self.share = getattr(arguments, "test_share", 0.0)
        self.seed = getattr(arguments, "seed", 0)

    def read(self) -> tuple[Any, np.ndarray]:
        """Return the frame and the class number of each row."""
        pyarrow = needs("pyarrow")
        names = self.columns.features
        # A column of equal values takes no room in a Parquet file, whatever its rows.
        needed = 8 * self.labels.n_rows * len(names)
        if needed > physical_memory():
            raise CommandError(
                f"a table is held in memory, and {self.files.name!r} takes at least "
                f"{needed:,} bytes: {self.labels.n_rows:,} rows of {len(names):,} "
                "columns. Hint: --drop COL, or fewer rows."
            )
        batches, codes, done = [], [np.zeros(0, dtype=np.int64)], 0
        with Progress("Reading", self.labels.n_rows) as bar:
            for own, batch in rows_with_codes(self.files, names, self.labels):
                batches.append(batch)
                codes.append(own)
                done += own.size
                bar.update(done, f"{done:,} rows")
        table = pyarrow.Table.from_batches(batches)
        frame = frame_of(table, names, from_text=self.files.is_text)
        if self.files.is_text:
            frame = frame.apply(_typed)
        return frame, np.concatenate(codes)

    def count(self, interrupt: Any = None) -> Any:
        """Return the counts of all rows, for the models that have counts."""
        from bayesieve.counts import ClassCounts

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
        frame, codes = self.read()
        self._check_numbers(frame)
        return ClassCounts.from_matrix(frame, self.labels.classes[codes], kind=kind)

    def fit(self, k: Any, clock: Clock, *, saves: bool) -> Fitted:
        """Read, hold rows out, and fit."""
        with clock.measure("reading"):
            frame, codes = self.read()
        held = HeldOut(self.share, len(self.labels.classes), self.seed).mask(codes)
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        X, X_test = frame.iloc[train], frame.iloc[test]
        y = self.labels.classes[codes[train]]
        settings = {"features": self.columns.features, "label": self.labels.column}
        if self.model == "selective" and self.arguments.weights:
            raise CommandError(
                "--weights is for texts, svmlight files and --model multinomial or "
                "bernoulli; a mixed table has weights anyway."
            )
        if self.model != "selective":
            self._check_numbers(frame)
            fitted = fit_matrix(X, y, k, self.model, self.arguments, clock)
            fitted.unit = self.unit
        else:
            fitted = self._fit_selective(X, y, k, clock)
        fitted.settings = settings

        def held_out() -> Iterator[tuple[Any, np.ndarray]]:
            yield X_test, codes[test]

        fitted.held_out = held_out if test.size and not fitted.interrupted else None
        return fitted

    def _check_numbers(self, frame: Any) -> None:
        """Refuse columns that only a mixed table can have."""
        import pandas as pd

        others = [
            name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])
        ]
        if others:
            shown = ", ".join(map(repr, others[:12]))
            drops = shlex.join(word for own in others[:12] for word in ("--drop", own))
            more = ", ..." if len(others) > 12 else ""
            raise CommandError(
                f"--model {self.model} needs columns of numbers. Got others in {shown}"
                f"{more}. Hint: {drops}{' ...' if more else ''}; or bayesieve select "
                "without --model, which takes every column as it is."
            )

    def _fit_selective(self, X: Any, y: np.ndarray, k: Any, clock: Clock) -> Fitted:
        from bayesieve.naive_bayes import SelectiveNB

        most = self._most_columns(k, X.shape[1])
        parameters = {
            "random_state": self.seed,
            "verbose": X.size > _SLOW_CELLS,
            "time_limit": self.arguments.time_limit,
        }
        try:
            with clock.measure("selection"):
                model = SelectiveNB(k=most, **parameters).fit(X, y)
            everything = None
            if most is not None and self.share > 0:
                everything = SelectiveNB(**parameters).fit(X, y)
            model.verbose = False  # a progress bar is for this run only
        except TypeError as error:  # a column of lists, for instance
            raise CommandError(str(error)) from None
        return Fitted(
            model,
            self.unit,
            X.shape[1],
            X.shape[0],
            everything=everything,
            interrupted=model.stopped_ == "interrupted",
        )

    def _most_columns(self, k: Any, n_columns: int) -> int | None:
        if k is None or k == "all":
            return None
        if isinstance(k, str):
            raise CommandError(
                f"-k {k} is for texts, svmlight files and --model multinomial, "
                "bernoulli or gaussian; a mixed table takes a number or a share, and "
                "chooses by itself without -k."
            )
        return k if isinstance(k, int) else max(1, round(k * n_columns))


def fit_matrix(
    X: Any,
    y: np.ndarray,
    k: Any,
    model: str,
    arguments: argparse.Namespace,
    clock: Clock,
) -> Fitted:
    """Fit one of the sparse classifiers on a matrix or a frame of numbers."""
    from bayesieve import naive_bayes
    from bayesieve.counts import ClassCounts

    if arguments.weights:
        return _fit_weights(X, y, k, model, arguments, clock)
    k = default_size(X.shape[1]) if k is None else k
    common = {"time_limit": arguments.time_limit}
    if model != "gaussian":
        common["alpha"] = arguments.alpha
    plain = {
        "multinomial": naive_bayes.SparseMultinomialNB,
        "bernoulli": naive_bayes.SparseBernoulliNB,
        "gaussian": naive_bayes.SparseGaussianNB,
    }[model]
    cv = None
    if k in ("cv", "1se"):
        chosen, cv = _cross_validated(X, y, k, model, arguments, clock)
    with clock.measure("counting"):
        counts = ClassCounts.from_matrix(X, y, kind=MATRIX_KINDS[model])
    with clock.measure("selection"):
        fitted = chosen if cv is not None else plain(k, **common).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = plain("all", **common).fit(X, y)
    return Fitted(
        fitted,
        "features",
        X.shape[1],
        X.shape[0],
        counts=counts,
        everything=everything,
        cv=cv,
    )


def _fit_weights(
    X: Any,
    y: np.ndarray,
    k: Any,
    model: str,
    arguments: argparse.Namespace,
    clock: Clock,
) -> Fitted:
    """Fit one of the classifiers with a weight for each feature."""
    from bayesieve import naive_bayes
    from bayesieve.counts import ClassCounts

    if model == "gaussian" or k in ("all", "elbow", "bic"):
        raise CommandError(
            "--weights takes --model multinomial or bernoulli, and -k as a number, a "
            f"share, cv or 1se. Got {model!r} and {k!r}."
        )
    name = {"multinomial": "Multinomial", "bernoulli": "Bernoulli"}[model]
    common = {"alpha": arguments.alpha, "time_limit": arguments.time_limit}
    with clock.measure("counting"):
        counts = ClassCounts.from_matrix(X, y, kind=MATRIX_KINDS[model])
    if k in ("cv", "1se"):
        common["choice"] = "best" if k == "cv" else "1se"
        make = getattr(naive_bayes, f"Selective{name}NBCV")
    else:
        common["k"] = k
        make = getattr(naive_bayes, f"Selective{name}NB")
    with clock.measure("selection"):
        fitted = make(**common).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = getattr(naive_bayes, f"Sparse{name}NB")("all", alpha=arguments.alpha)
        everything = plain.fit(X, y)
    return Fitted(
        fitted,
        "features",
        X.shape[1],
        X.shape[0],
        counts=counts,
        everything=everything,
        interrupted=fitted.stopped_ == "interrupted",
    )


def _cross_validated(
    X: Any,
    y: np.ndarray,
    k: str,
    model: str,
    arguments: argparse.Namespace,
    clock: Clock,
) -> tuple[Any, list[dict[str, Any]]]:
    from bayesieve.naive_bayes import SparseBernoulliNBCV, SparseMultinomialNBCV

    if model == "gaussian":
        raise CommandError(
            f"-k {k} is for --model multinomial or bernoulli. Hint: -k bic."
        )
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise CommandError(
            f"-k {k} needs two rows or more of each class to learn from. "
            f"Got {smallest} of the rarest."
        )
    make = SparseMultinomialNBCV if model == "multinomial" else SparseBernoulliNBCV
    with clock.measure("cross-validation"):
        found = make(
            alphas=[arguments.alpha],
            cv=min(5, smallest),
            choice="best" if k == "cv" else "1se",
            time_limit=arguments.time_limit,
        ).fit(X, y)
    results = found.cv_results_
    folds = sum(key.startswith("split") for key in results)
    cv = [
        {"k": int(size), "mean": float(mean), "se": float(spread / np.sqrt(folds))}
        for size, mean, spread in zip(
            results["param_k"],
            results["mean_test_score"],
            results["std_test_score"],
            strict=True,
        )
    ]
    return found, cv
