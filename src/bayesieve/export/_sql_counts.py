"""Scores of counted terms that stand in rows of their own: term lists, and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesieve._scorecard import CountTerms, Scorecard, Slopes, TextTerms
from bayesieve.export._dialects import NEVER, Dialect
from bayesieve.export._sql_query import Query

__all__ = ["Counted"]


@dataclass(frozen=True, eq=False)
class Counted:
    """Terms whose counts are joined to their weights and added up by row.

    Attributes
    ----------
    terms : sequence of str
    slopes : Slopes
    binarize : float or None
        Counts above it count as 1.
    """

    terms: Sequence[str]
    slopes: Slopes
    binarize: float | None

    @classmethod
    def of_card(cls, card: Scorecard) -> Counted:
        """The only terms of a scorecard of counts; others are refused."""
        if len(card.terms) == 1 and isinstance(card.terms[0], CountTerms | TextTerms):
            own = card.terms[0]
            if isinstance(own, TextTerms):
                return cls.of_texts(own)
            if own.binarize is not None and own.binarize < 0:
                raise ValueError(
                    "A table of terms needs a model with binarize >= 0, because what "
                    "it has no row for would count as present. "
                    f"Got {own.binarize!r}."
                )
            names = [card.columns[j].name for j in own.columns]
            if len(set(names)) == len(names):
                return cls(names, own.slopes, own.binarize)
        raise ValueError(
            "A table of terms and their counts needs a model of counts whose columns "
            f"have names. Got a {card.owner}."
        )

    @classmethod
    def of_texts(cls, own: TextTerms) -> Counted:
        """The n-grams of a text; one that counts once is present or not."""
        binarize = own.binarize
        if own.options.binary:
            binarize = 0.0 if binarize is None or binarize < 1.0 else binarize
        return cls(own.terms, own.slopes, binarize)

    def add_to(self, query: Query, dialect: Dialect, counts: str, name: str) -> None:
        """Add a table ``name`` of scores by ``bayesieve_row``.

        `counts` is a query of columns bayesieve_row, term and n.
        """
        write, slopes = dialect.number, self.slopes
        n_classes = slopes.slope.shape[1]
        classes = range(n_classes)
        weights, summed = f"{name}_weights", f"{name}_counts"
        columns = ["term", "place", *(f"w{c}" for c in classes)]
        needs = [c for c in classes if slopes.always[:, c].any()]
        columns += [f"a{c}" for c in needs]
        rows = []
        for place, term in enumerate(self.terms):
            row = [dialect.text(term, "A term"), str(place)]
            row += [
                write(
                    NEVER if slopes.never[place, c] else float(slopes.slope[place, c])
                )
                for c in classes
            ]
            rows.append(row + [str(int(slopes.always[place, c])) for c in needs])
        if not rows:  # no term that could be found
            rows = [[dialect.text(""), "-1", *[write(0.0)] * n_classes]]
        query.table(f"{weights}({', '.join(columns)})", rows)
        n = "c.n"
        if self.binarize is not None:
            n = f"(CASE WHEN c.n > {dialect.bound(self.binarize)} THEN 1 ELSE 0 END)"
        added = []
        for c in classes:
            own = f"{n} * w.w{c}"
            if slopes.never[:, c].any():
                own = (
                    f"CASE WHEN w.w{c} > {write(0.1 * NEVER)} THEN {own} "
                    f"WHEN {n} <> 0 THEN w.w{c} ELSE {write(0.0)} END"
                )
            added.append(f"SUM({own}) AS s{c}")
        added += [
            f"SUM(CASE WHEN {n} <> 0 THEN w.a{c} ELSE 0 END) AS a{c}" for c in needs
        ]
        allowed = f"c.n >= 0 AND c.n < {dialect.infinity} AND c.gone = 0"
        added.append(f"SUM(CASE WHEN {allowed} THEN 0 ELSE 1 END) AS bad")
        n, term = dialect.number_of("g.n"), dialect.exact("w.term")
        query.before.append(
            (
                summed,
                f"SELECT g.bayesieve_row, w.place, SUM({n}) AS n,\n"
                "    SUM(CASE WHEN g.n IS NULL THEN 1 ELSE 0 END) AS gone\n"
                f"  FROM ({counts}) AS g JOIN {weights} AS w "
                f"ON {term} = g.term\n"
                "  GROUP BY g.bayesieve_row, w.place",
            )
        )
        listed = ",\n    ".join(added)
        query.before.append(
            (
                name,
                f"SELECT c.bayesieve_row,\n    {listed}\n"
                f"  FROM {summed} AS c JOIN {weights} AS w ON w.place = c.place\n"
                "  GROUP BY c.bayesieve_row",
            )
        )

    def scores(self, dialect: Dialect, table: str) -> list[list[str]]:
        """For each class, what is added to its score, from the table of scores."""
        slopes, write, found = self.slopes, dialect.number, []
        offsets, needed = slopes.offset.sum(axis=0), slopes.always.sum(axis=0)
        for c in range(offsets.size):
            own = [f"COALESCE({table}.s{c}, {write(0.0)})"]
            if offsets[c]:
                own.append(write(float(offsets[c])))
            if needed[c]:
                own.append(
                    f"CASE WHEN COALESCE({table}.a{c}, 0) < {needed[c]} "
                    f"THEN {write(NEVER)} ELSE {write(0.0)} END"
                )
            found.append(own)
        return found
