"""One SELECT from levels of expressions, each of which sees those before it.

Databases differ in how a column that is needed on the way is left out at the end:
DuckDB and Spark name it, PostgreSQL computes beside the row, SQLite joins by a key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesieve._scorecard import Scorecard
from bayesieve.export._dialects import NEVER, Dialect, balanced

__all__ = ["Level", "Query", "outputs_of"]

#: Names and expressions that are computed together.
Level = list[tuple[str, str]]
_IMPOSSIBLE = 0.1 * NEVER


class Query:
    """A query that grows by levels.

    Parameters
    ----------
    dialect : Dialect
    source : str
        What rows come from; its alias is t.
    joins : str
        What is joined to it, for the first level.
    key : str
        SQLite: quoted name of the key by which results are joined to the rows.
    keep : str or None
        What the result has of the rows; None: all columns.
    used : sequence of str
        PostgreSQL: the columns of rows that expressions use, with their table.
    """

    def __init__(
        self,
        dialect: Dialect,
        source: str,
        *,
        joins: str = "",
        key: str = "",
        keep: str | None = None,
        used: Sequence[str] = (),
    ) -> None:
        self._dialect, self._source, self._joins = dialect, source, joins
        self._key, self._keep, self._used = key, keep, used
        self._levels: list[Level] = []
        #: Tables that are given beforehand: name, with columns, and their query.
        self.before: list[tuple[str, str]] = []
        #: Columns of the source that the result must not have.
        self.hidden: list[str] = []

    def add(self, level: Level) -> None:
        """Compute what may use the names of all earlier levels."""
        if level:
            self._levels.append(level)

    def table(self, name: str, rows: Sequence[Sequence[str]]) -> None:
        """A constant table that expressions can name."""
        lines = ",\n    ".join(f"({', '.join(row)})" for row in rows)
        self.before.append((name, f"VALUES\n    {lines}"))

    def select(self, outputs: Level, order_by: Sequence[str]) -> str:
        """The whole query: its results under these names, in order of columns."""
        last = _listed(outputs)
        if self._dialect.key == "postgres":
            body = self._beside(last)
        elif self._dialect.key == "sqlite":
            body = self._joined(last)
        else:
            body = self._nested(last)
        if order_by:
            alias = "r" if self._dialect.key == "sqlite" and self._keep is None else "t"
            body += "\nORDER BY " + ", ".join(f"{alias}.{own}" for own in order_by)
        if not self.before:
            return body
        how = self._dialect.materialized
        given = ",\n".join(f"{name} AS {how}({query})" for name, query in self.before)
        return f"WITH {given}\n{body}"

    def _nested(self, last: str) -> str:
        """Each level around the one before; what is not wanted is named.

        Of two columns with one name DuckDB takes the first, which must be that of the
        query.
        """
        inner, joins = f"{self._source} AS t", self._joins
        for level in self._levels:
            listed = _listed(level)
            inner = f"(SELECT {listed},\n  t.*\nFROM {inner}{joins}) AS t"
            joins = ""
        names = [*self.hidden, *(name for level in self._levels for name, _ in level)]
        kept = self._keep
        if kept is None:
            kept = (
                f"* {self._dialect.leaves_out} ({', '.join(names)})" if names else "*"
            )
        return f"SELECT {kept},\n  {last}\nFROM {inner}"

    def _beside(self, last: str) -> str:
        """Levels beside the row, which takes each column it needs once.

        PostgreSQL counts every mention of a column of the row, and has a limit. OFFSET
        keeps a level from being computed as often as it is named.
        """
        used = ", ".join(self._used)
        inner, joins = f"(SELECT {used}\n  OFFSET 0) AS t", ""
        if self._keep is not None:
            inner, joins = f"{self._source} AS t", self._joins
        for level in self._levels:
            listed = _listed(level)
            inner = f"(SELECT t.*,\n  {listed}\nFROM {inner}{joins}\n  OFFSET 0) AS t"
            joins = ""
        if self._keep is not None:
            return f"SELECT {self._keep},\n  {last}\nFROM {inner}"
        return (
            f"SELECT t.*, bayesieve_results.*\nFROM {self._source} AS t\n"
            f"CROSS JOIN LATERAL (SELECT {last}\nFROM {inner}) AS bayesieve_results"
        )

    def _joined(self, last: str) -> str:
        """Each level as a table of its own, and the rows joined at the end."""
        inner = self._source
        first = f"t.{self._key} AS bayesieve_key" if self._keep is None else "t.*"
        for number, level in enumerate(self._levels):
            listed = _listed(level)
            own = first if number == 0 else "t.*"
            name = f"bayesieve_l{number}"
            joins = self._joins if number == 0 else ""
            query = f"SELECT {own},\n  {listed}\nFROM {inner} AS t{joins}"
            self.before.append((name, query))
            inner = name
        if self._keep is not None:
            return f"SELECT {self._keep},\n  {last}\nFROM {inner} AS t"
        return (
            f"SELECT r.*,\n  {last}\nFROM {self._source} AS r\n"
            f"JOIN {inner} AS t ON t.bayesieve_key = r.{self._key}"
        )


def _listed(level: Level) -> str:
    return ",\n  ".join(f"{expression} AS {name}" for name, expression in level)


def outputs_of(
    query: Query,
    card: Scorecard,
    dialect: Dialect,
    scores: Sequence[Sequence[str]],
    valid: Sequence[str],
    names: Sequence[str | None],
) -> Level:
    """Levels from what is added to each class to probabilities, and the results.

    Parameters
    ----------
    query : Query
    card : Scorecard
    dialect : Dialect
    scores : sequence of sequences of str
        For each score, what is added to its start.
    valid : sequence of str
        What a row must fulfil; others get no label and no probabilities.
    names : sequence of str or None
        Quoted names of the prediction and of the probability of each class; None
        leaves it out.
    """
    write = dialect.number
    start = np.where(np.isneginf(card.start), NEVER, card.start).tolist()
    sums = [
        balanced([write(s), *own], "({} + {})")
        for s, own in zip(start, scores, strict=True)
    ]
    if valid:
        allowed = balanced(list(valid), "({} AND {})")
        sums = [f"CASE WHEN {allowed} THEN {own} END" for own in sums]
    query.add([(f"bayesieve_s{c}", own) for c, own in enumerate(sums)])
    outputs_from = _of_difference if len(sums) < card.n_classes else _of_scores
    return outputs_from(query, card, dialect, names)


def _of_difference(
    query: Query, card: Scorecard, dialect: Dialect, names: Sequence[str | None]
) -> Level:
    """Results for two classes from the difference of their scores."""
    write, own = dialect.number, "bayesieve_s0"
    first, second = (dialect.label(label) for label in card.labels.tolist())
    outputs: Level = []
    if names[0] is not None:
        found = f"CASE WHEN {own} > 0 THEN {second} WHEN {own} <= 0 THEN {first} END"
        outputs.append((names[0], found))
    if names[1] is None:
        return outputs
    # Beyond it a probability is 0 or 1, and EXP overflows in some databases.
    far = write(700.0)
    within = (
        f"CASE WHEN {own} > {far} THEN {far} "
        f"WHEN {own} < -{far} THEN -{far} ELSE {own} END"
    )
    query.add([("bayesieve_odds", f"EXP({within})")])
    shares = [write(1.0), "bayesieve_odds"]
    total = f"({write(1.0)} + bayesieve_odds)"
    return outputs + _probabilities(card, dialect, names[1:], shares, total)


def _of_scores(
    query: Query, card: Scorecard, dialect: Dialect, names: Sequence[str | None]
) -> Level:
    """Results from the scores of all classes, of which some may be impossible."""
    n_classes, write = card.n_classes, dialect.number
    start = np.where(np.isneginf(card.start), NEVER, card.start).tolist()
    raw = [f"bayesieve_s{c}" for c in range(n_classes)]
    query.add([("bayesieve_top", dialect.largest(raw))])
    nobodys = f"bayesieve_top <= {write(_IMPOSSIBLE)}"
    best = write(max(start))
    ends = [
        f"CASE WHEN {nobodys} THEN {write(s)} ELSE {own} END"
        for s, own in zip(start, raw, strict=True)
    ]
    final = [f"bayesieve_f{c}" for c in range(n_classes)]
    query.add(
        [
            *zip(final, ends, strict=True),
            (
                "bayesieve_best",
                f"CASE WHEN {nobodys} THEN {best} ELSE bayesieve_top END",
            ),
        ]
    )
    cases = " ".join(
        f"WHEN {own} = bayesieve_best THEN {dialect.label(label)}"
        for own, label in zip(final, card.labels.tolist(), strict=True)
    )
    outputs: Level = []
    if names[0] is not None:
        outputs.append((names[0], f"CASE {cases} END"))
    if all(name is None for name in names[1:]):
        return outputs
    shares = [f"bayesieve_e{c}" for c in range(n_classes)]
    query.add(
        [
            (
                share,
                f"CASE WHEN {own} - bayesieve_best < -700 THEN {write(0.0)} "
                f"ELSE EXP({own} - bayesieve_best) END",
            )
            for share, own in zip(shares, final, strict=True)
        ]
    )
    query.add([("bayesieve_total", balanced(shares, "({} + {})"))])
    return outputs + _probabilities(card, dialect, names[1:], shares, "bayesieve_total")


def _probabilities(
    card: Scorecard,
    dialect: Dialect,
    names: Sequence[str | None],
    shares: Sequence[str],
    total: str,
) -> Level:
    """Probabilities under their names, from shares of a total."""
    spread, write, outputs = card.spread, dialect.number, []
    for name, share in zip(names, shares, strict=True):
        found = f"{share} / {total}"
        if spread:
            added = write(spread / card.n_classes)
            found = f"({found} + {added}) / {write(1.0 + spread)}"
        assert name is not None
        outputs.append((name, found))
    return outputs
