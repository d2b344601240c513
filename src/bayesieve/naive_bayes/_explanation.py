"""Why rows are scored as they are: what each term adds, and each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.naive_bayes._counterfactual import Counterfactual, fewest_removals
from bayesieve.naive_bayes._term_values import (
    Terms,
    contrast_for,
    on_one_line,
    total_of,
)
from bayesieve.utils._drawing import drawn
from bayesieve.utils._optional import optional_module

__all__ = ["Explanation", "odds_of"]

_SHOWN_TERMS = 12
_LONGEST_NAME = 60


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What every term adds to the score of each class, row by row. **Exact**.

    Made by ``explain(X)`` of a fitted classifier. ``base + values.sum(axis=1)`` is
    ``predict_joint_log_proba(X)`` up to one constant for each row, in nats.

    Terms of counts, presences and texts are the selected features. They are told beside
    an empty row: what is not in a row adds nothing, and `base` holds the classes and
    all absences. Terms of tables are the columns with a weight, their pairs and triples
    ("age × hours"), and the n-grams of their texts; each is centred at its mean over
    the training rows, which is part of `base`, and says how far its row is from an
    average row.

    ``explanation[3]`` is the explanation of one row, which prints as a table; slices,
    masks and arrays of row numbers give several.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_terms, n_classes)
        Made when it is asked for: of counts and texts everything else works on the
        terms that rows have.
    base : ndarray of shape (n_classes,)
        Score of an empty row, or mean score of the training rows.
    features : list of str
        Names of the terms.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_rows, n_classes)
        What ``predict_proba`` says of the rows.
    inputs : csr_array, ndarray or tuple of tuples of ndarray
        What the rows hold: of counts, presences and texts of shape (n_rows, n_terms);
        of tables for each term an array for each of its columns, empty where that is
        not known.
    index : object
        Row names of a DataFrame or Series, None of an array.

    Notes
    -----
    With ``alpha=0`` a term may make a class impossible: minus infinity.

    Examples
    --------
    >>> from bayesieve import SparseTextNB
    >>> texts = ["win a prize now", "win cash", "see you now", "see you at home"]
    >>> model = SparseTextNB(4).fit(texts, ["spam", "spam", "ham", "ham"])
    >>> found = model.explain(["Win, win, win: see?", "hello"])
    >>> found[0].summary()
    ['win +3.7, see -1.0']
    >>> print(found[0].counterfactual())
    Without 'win' it would be ham.
    >>> scores = found.base + found.values.sum(axis=1)
    >>> joint = model.predict_joint_log_proba(["Win, win, win: see?", "hello"])
    >>> bool((scores - joint).std(axis=1).max() < 1e-12)
    True
    """

    terms: Terms = field(repr=False)
    base: np.ndarray
    features: list[str]
    classes: np.ndarray
    probabilities: np.ndarray
    index: Any = None
    _of_columns: Explanation | None = field(default=None, repr=False)

    @property
    def values(self) -> np.ndarray:
        """What each term adds, of shape (n_rows, n_terms, n_classes)."""
        return self.terms.values()

    @property
    def inputs(self) -> Any:
        """What the rows hold."""
        return self.terms.inputs

    def __len__(self) -> int:
        return self.terms.n_rows

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
            terms=self.terms.take(rows),
            probabilities=self.probabilities[rows],
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

    def contrast(self, label: Any) -> tuple[Any, float]:
        """What speaks for a class, against the mean of the others.

        Of two classes these are log-odds.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        values : ndarray or csr_array of shape (n_rows, n_terms)
            Sparse of counts, presences and texts.
        base : float
        """
        place = self._place(label)
        return self.terms.contrast(place), float(contrast_for(self.base, place))

    def strongest(self, n: int = 5, label: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The terms of largest size in each row, for or against a class.

        O(n_stored log n_stored) for the terms that rows have.

        Parameters
        ----------
        n : int, default=5
        label : object, optional
            One of `classes`; by default the one that is predicted for each row.

        Returns
        -------
        terms : ndarray of int64 of shape (n_rows, n)
            Places in `features`, the largest first; -1 where a row has fewer terms.
        nats : ndarray of shape (n_rows, n)
            What they say for the class, see `contrast`; 0 where there is none.

        Examples
        --------
        >>> from bayesieve import SparseTextNB
        >>> texts = ["win a prize now", "win cash", "see you now", "see you at home"]
        >>> model = SparseTextNB(4).fit(texts, ["spam", "spam", "ham", "ham"])
        >>> found = model.explain(["win, win, and see", "cash"])
        >>> terms, nats = found.strongest(2)
        >>> [found.features[j] for j in terms[0]], nats[0].round(1)
        (['win', 'see'], array([ 2.5, -1. ]))
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n must be an int >= 1. Got {n!r}.")
        if label is None:
            places = np.argmax(self.probabilities, axis=1)
        else:
            places = np.full(len(self), self._place(label))
        return self.terms.strongest(int(n), places)

    def summary(self, n: int = 3, label: Any = None) -> list[str]:
        """The strongest terms of each row in a few words: "free +2.6, you -0.7".

        Names that begin or end with a space, as n-grams of characters do, are in
        quotes.

        Parameters
        ----------
        n, label
            As in `strongest`.
        """
        terms, nats = self.strongest(n, label)
        names = [_bare(name) for name in self.features]
        return [
            ", ".join(
                f"{names[j]} {own:+.1f}"
                for j, own in zip(numbers, row, strict=True)
                if j >= 0
            )
            for numbers, row in zip(terms.tolist(), nats.tolist(), strict=True)
        ]

    def counterfactual(self, row: int = 0) -> Counterfactual | None:
        """The fewest terms of a row without which another class is predicted.

        **Exact**. Only what a row has can be taken out of it: its words and counts; the
        columns of tables are set to their mean over the training rows.

        Parameters
        ----------
        row : int, default=0

        Returns
        -------
        Counterfactual or None
            None if nothing changes the class, and for `by_column` of pairs: what
            columns share cannot be taken from one of them.
        """
        removals = self.terms.removals(row, self.base)
        if removals is None:
            return None
        found = fewest_removals(int(np.argmax(self.probabilities[row])), removals)
        if found is None:
            return None
        terms = removals.terms[found[0]].tolist()
        return Counterfactual(
            [self.features[t] for t in terms],
            terms,
            self.classes.tolist()[found[1]],
            [self.terms.removal(t) for t in terms],
        )

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
        Columns of counts, presences and texts are sparse.

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
        columns = ["base", *self.features]
        bases = np.full((len(self), 1), base)
        if sparse.issparse(values):
            table = sparse.hstack([sparse.csr_array(bases), values], format="csc")
            found = pandas.DataFrame.sparse.from_spmatrix(table, index=self.index)
            found.columns = columns
            return found
        table = np.hstack([bases, values])
        return pandas.DataFrame(table, columns=columns, index=self.index)

    # ---------------------------------------------------------------------- one row

    def shown_input(self, term: int, row: int = 0) -> str:
        """What a row holds in the columns of a term, as text."""
        return self.terms.shown_input(term, row)

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
        label = self.predicted.tolist()[0] if label is None else label
        place = self._place(label)
        terms, values = self.terms.of_row(0)
        nats, base = contrast_for(values, place), float(contrast_for(self.base, place))
        order = np.argsort(-np.abs(nats), kind="stable")
        shown, rest = order[:most], order[most:]
        told = [("base", "", base)]
        told += [
            (self.features[t], self.shown_input(t), own)
            for t, own in zip(terms[shown].tolist(), nats[shown].tolist(), strict=True)
        ]
        if rest.size:
            told.append((f"{rest.size:,} more", "", total_of(nats[rest])))
        told.append(("score", "", total_of(np.append(nats, base))))
        return told

    def as_text(self) -> list[list[str]]:
        """The header and the lines of one row, each cell as text."""
        cells = [["term", "value", "nats", "odds"]]
        for name, value, nats in self.lines():
            odds = f"\u00d7 {odds_of(nats):.3g}"
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
        other = self.counterfactual()
        told = [] if other is None else [str(other)]
        return "\n".join([self.title(), *lines, *told])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(drawn("explanation", self))


def odds_of(nats: float) -> float:
    """The factor of the odds that nats are, within what a number can hold."""
    return float(np.exp(np.clip(nats, -700.0, 700.0)))


def _bare(name: str) -> str:
    """A name on one line, in quotes where its ends would not be seen."""
    name = on_one_line(name)
    return name if name and name == name.strip() else f"'{name}'"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
