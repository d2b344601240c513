"""Why rows are scored as they are: what each term adds, and each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesieve.utils._drawing import drawn
from bayesieve.utils._optional import optional_module
from bayesieve.utils._validation import is_missing

__all__ = ["Explanation"]

_SHOWN_TERMS = 12
_LONGEST_NAME = 60


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What every term adds to the score of each class, row by row. **Exact**.

    Made by ``explain(X)`` of a fitted classifier. Terms are the columns of a table that
    have a weight, its pairs and triples ("age × hours"), and the n-grams of its texts;
    each is centred at its mean over the training rows, which is part of `base`. So
    ``base + values.sum(axis=1)`` is ``predict_joint_log_proba(X)`` up to rounding, and
    a term says how far its row is from an average row, in nats.

    ``explanation[3]`` is the explanation of one row, which prints as a table; slices,
    masks and arrays of row numbers give several.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_terms, n_classes)
    base : ndarray of shape (n_classes,)
        Mean score of the training rows.
    features : list of str
        Names of the terms.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_rows, n_classes)
        What ``predict_proba`` says of the rows.
    inputs : tuple of tuples of ndarray
        What the rows hold in the columns of each term; empty where that is not known.
    index : object
        Row names of a DataFrame, None of an array.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    >>> model = SelectiveNB(pairs=0).fit(X, y)
    >>> found = model.explain(X[:2])
    >>> found.features
    ['x0', 'x1']
    >>> scores = found.base + found.values.sum(axis=1)
    >>> bool(np.allclose(scores, model.predict_joint_log_proba(X[:2])))
    True
    >>> found.to_frame().shape
    (2, 3)
    """

    values: np.ndarray
    base: np.ndarray
    features: list[str]
    classes: np.ndarray
    probabilities: np.ndarray
    inputs: tuple[tuple[np.ndarray, ...], ...] = ()
    index: Any = None
    _of_columns: Explanation | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __getitem__(self, rows: Any) -> Explanation:
        """The explanation of one row, or of some."""
        if isinstance(rows, int | np.integer):
            if not -len(self) <= rows < len(self):
                raise IndexError(
                    f"A row must be a number below {len(self)}. Got {int(rows)}."
                )
            rows = [int(rows) % len(self)]
        columns = self._of_columns
        return replace(
            self,
            values=self.values[rows],
            probabilities=self.probabilities[rows],
            inputs=tuple(tuple(own[rows] for own in term) for term in self.inputs),
            index=None if self.index is None else self.index[rows],
            _of_columns=None if columns is None else columns[rows],
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[row] for row in range(len(self)))

    @property
    def predicted(self) -> np.ndarray:
        """Most probable class of each row."""
        return np.asarray(self.classes[np.argmax(self.probabilities, axis=1)])

    def by_column(self) -> Explanation:
        """Share what pairs and triples add among their columns: Shapley values.

        The game of a row x gives to a set S of columns the mean score of the training
        rows, by their weights, after their columns in S were replaced by those of x
        (interventional, all training rows as background; the columns outside S keep
        their joint distribution). **Exact**: a column gets its own term, and of each
        pair and triple its Shapley value in the pair or triple; of a pair ``1/2 [v(a) -
        v()] + 1/2 [v(ab) - v(b)]``. A text column gets the sum of its n-grams.

        Returns
        -------
        Explanation
            With a term for each column; base and sums over the terms are the same.
        """
        return self if self._of_columns is None else self._of_columns

    def contrast(self, label: Any) -> tuple[np.ndarray, float]:
        """What speaks for a class, against the mean of the others.

        Of two classes these are log-odds.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        values : ndarray of shape (n_rows, n_terms)
        base : float
        """
        c = self._place(label)
        n_classes = self.classes.shape[0]
        against = np.full(n_classes, -1.0 / max(n_classes - 1, 1))
        against[c] = 1.0
        return self.values @ against, float(self.base @ against)

    def _place(self, label: Any) -> int:
        found = [c for c, own in enumerate(self.classes.tolist()) if own == label]
        if not found:
            known = ", ".join(repr(own) for own in self.classes.tolist()[:10])
            raise ValueError(
                f"label must be one of the classes {known}. Got {label!r}."
            )
        return found[0]

    def to_frame(self, label: Any = None) -> Any:
        """A pandas DataFrame, rows by terms, of what speaks for one class.

        Its first column is ``base``; the sum of a row is its log-odds, see `contrast`.

        Parameters
        ----------
        label : object, optional
            One of `classes`; of two the second unless given.
        """
        pandas = optional_module("pandas", purpose="to_frame", extra="frames")
        if label is None and self.classes.shape[0] > 2:
            raise ValueError(
                f"label must be one of the {self.classes.shape[0]} classes: a frame "
                "has the contributions to one. Got None."
            )
        values, base = self.contrast(self.classes[-1] if label is None else label)
        table = np.column_stack([np.full(len(self), base), values])
        return pandas.DataFrame(
            table, columns=["base", *self.features], index=self.index
        )

    # ---------------------------------------------------------------------- one row

    def shown_input(self, term: int, row: int = 0) -> str:
        """What a row holds in the columns of a term, as text."""
        if not self.inputs:
            return ""
        return ", ".join(_shown(own[row]) for own in self.inputs[term])

    def title(self) -> str:
        """What is predicted for one row, and what its table speaks for."""
        label = self.predicted.tolist()[0]
        chance = self.probabilities[0].max()
        others = [own for own in self.classes.tolist() if own != label]
        against = f"{others[0]}" if len(others) == 1 else "the mean of the others"
        return (
            f"{label} predicted with probability {chance:.3f}; what speaks for it, "
            f"against {against}:"
        )

    def lines(
        self, most: int = _SHOWN_TERMS, label: Any = None
    ) -> list[tuple[str, str, float]]:
        """Name, input and nats of the base, the largest terms, the rest, and the score.

        Of one row, for the class with this label or the one that is predicted.
        """
        predicted = self.predicted.tolist()[0]
        values, base = self.contrast(predicted if label is None else label)
        order = np.argsort(-np.abs(values[0]), kind="stable")
        shown, rest = order[:most], order[most:]
        told = [("base", "", base)]
        told += [
            (self.features[t], self.shown_input(t), float(values[0, t]))
            for t in shown.tolist()
        ]
        if rest.size:
            told.append((f"{rest.size:,} more", "", float(values[0, rest].sum())))
        told.append(("score", "", base + float(values[0].sum())))
        return told

    def as_text(self) -> list[list[str]]:
        """The header and the lines of one row, each cell as text."""
        cells = [["term", "value", "nats", "odds"]]
        for name, value, nats in self.lines():
            odds = f"\u00d7 {np.exp(np.clip(nats, -700.0, 700.0)):.3g}"
            cells.append([_short(name), _short(value), f"{nats:+.2f}", odds])
        return cells

    def __str__(self) -> str:
        n_terms, n_classes = len(self.features), self.classes.shape[0]
        if len(self) != 1:
            return (
                f"Explanation of {len(self):,} rows: {n_terms:,} terms, "
                f"{n_classes:,} classes"
            )
        cells = self.as_text()
        widths = [max(len(line[c]) for line in cells) for c in range(4)]
        lines = [
            "  ".join(
                text.ljust(width) if c < 2 else text.rjust(width)
                for c, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        return "\n".join([self.title(), *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(drawn("explanation", self))


def _shown(value: Any) -> str:
    """A value of the data in few letters."""
    if is_missing(value):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return " ".join(str(value).split())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
