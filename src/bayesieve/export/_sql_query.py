"""One SELECT from levels of expressions, each of which sees those before it.

Databases differ in how a column that is needed on the way is left out at the end:
DuckDB and Spark name it, PostgreSQL and SQLite compute beside the row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesieve._scorecard import Scorecard
from bayesieve.export._dialects import NEVER, Dialect, balanced
from bayesieve.export._reduced import always_possible

__all__ = ["Level", "Query", "outputs_of"]

#: Names and expressions that are computed together.
Level = list[tuple[str, str]]
_IMPOSSIBLE = 0.1 * NEVER
#: Characters of each result that SQLite packs: a double has 25 at most.
_WIDTH = 26


class Query:
    """A query that grows by levels.

    Parameters
    ----------
    dialect : Dialect
    source : str
        What rows come from; its alias is t.
    joins : str
        What is joined to it, for the first level.
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
        keep: str | None = None,
        used: Sequence[str] = (),
    ) -> None:
        self._dialect, self._source, self._joins = dialect, source, joins
        self._keep, self._used = keep, used
        self._levels: list[Level] = []
        self._label_name: str | None = None
        self._labels: list[str] = []
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

    @property
    def _packs(self) -> bool:
        return self._dialect.key == "sqlite" and self._keep is None

    def labels(self, card: Scorecard, name: str | None) -> list[str]:
        """What stands for the label of each class until the end, under its name."""
        self._label_name = name
        self._labels = [self._dialect.label(label) for label in card.labels.tolist()]
        if self._packs:
            return [str(place) for place in range(card.n_classes)]
        return self._labels

    def select(self, outputs: Level, order_by: Sequence[str]) -> str:
        """The whole query: its results under these names, in order of columns."""
        if self._dialect.key == "postgres":
            body = self._beside(_listed(outputs))
        elif self._packs:
            body = self._packed(outputs)
        elif self._dialect.key == "sqlite":
            body = self._joined(_listed(outputs))
        else:
            body = self._nested(_listed(outputs))
        if order_by:
            body += "\nORDER BY " + ", ".join(f"t.{own}" for own in order_by)
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
        """Each level as a table of its own, for rows that are the query's."""
        inner = self._source
        for number, level in enumerate(self._levels):
            listed = _listed(level)
            name = f"bayesieve_l{number}"
            joins = self._joins if number == 0 else ""
            query = f"SELECT t.*,\n  {listed}\nFROM {inner} AS t{joins}"
            self.before.append((name, query))
            inner = name
        return f"SELECT {self._keep},\n  {last}\nFROM {inner} AS t"

    def _packed(self, outputs: Level) -> str:
        """Levels beside the row, which give all results as one text.

        SQLite joins a row to what is computed from it by a function of tables alone,
        json_each; a join by a key would lose rows where the key is missing, and repeat
        them where it is not unique. LIMIT keeps a level from being computed as often as
        it is named. Only the first level may see the columns of the row, and none
        stands in another, because the parser has a limit for depth.
        """
        given = []
        for number, level in enumerate(self._levels):
            own = _listed(level)
            if number:
                own = f"l.*,\n  {own} FROM bayesieve_l{number - 1} AS l"
            given.append(f"bayesieve_l{number} AS (SELECT {own}\n  LIMIT 1)")
        packed = balanced(
            [f"printf('%!{_WIDTH}.17g', {found})" for _, found in outputs], "({} || {})"
        )
        # printf writes NULL as a number, and a row has all of its scores or none.
        there = (
            f"CASE WHEN bayesieve_s0 IS NULL THEN '[null]' "
            f"ELSE '[\"' || {packed} || '\"]' END"
        )
        inner = f"FROM bayesieve_l{len(given) - 1} LIMIT 1"
        results, taken = "bayesieve_results.value", []
        for place, (name, _) in enumerate(outputs):
            part = f"CAST(substr({results}, {1 + _WIDTH * place}, {_WIDTH}) AS REAL)"
            if name == self._label_name:
                cases = enumerate(self._labels)
                listed = " ".join(f"WHEN {n} THEN {label}" for n, label in cases)
                part = f"CASE {part} {listed} END"
            taken.append((name, part))
        joined = ",\n".join(given)
        return (
            f"SELECT t.*,\n  {_listed(taken)}\nFROM {self._source} AS t\n"
            f"CROSS JOIN json_each((WITH {joined}\nSELECT {there}\n{inner})) "
            "AS bayesieve_results"
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
    first, second = query.labels(card, names[0])
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
    final = raw
    if always_possible(card):  # however far down, a score is one
        query.add([("bayesieve_best", dialect.largest(raw))])
    else:
        query.add([("bayesieve_top", dialect.largest(raw))])
        nobodys = f"bayesieve_top <= {write(_IMPOSSIBLE)}"
        ends = [
            f"CASE WHEN {nobodys} THEN {write(s)} ELSE {own} END"
            for s, own in zip(start, raw, strict=True)
        ]
        best = f"CASE WHEN {nobodys} THEN {write(max(start))} ELSE bayesieve_top END"
        final = [f"bayesieve_f{c}" for c in range(n_classes)]
        query.add([*zip(final, ends, strict=True), ("bayesieve_best", best)])
    cases = " ".join(
        f"WHEN {own} = bayesieve_best THEN {label}"
        for own, label in zip(final, query.labels(card, names[0]), strict=True)
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
