"""`to_sql`: one query that scores a table where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from bayesieve._scorecard import InputColumn, Scorecard, TextTerms
from bayesieve.export._dialects import DIALECTS, Dialect, balanced
from bayesieve.export._reduced import contrasted
from bayesieve.export._scorecard import scorecard_of
from bayesieve.export._sql_counts import Counted
from bayesieve.export._sql_query import Level, Query, outputs_of
from bayesieve.export._sql_terms import RowTerms
from bayesieve.export._sql_texts import counts_of_words, words_of_rows

__all__ = ["to_sql"]


def to_sql(
    model: Any,
    table: str | Sequence[str],
    dialect: str = "duckdb",
    *,
    feature_names: Any = None,
    text: str | None = None,
    row: str | None = None,
    term: str | None = None,
    count: str | None = None,
    key: str | None = None,
    order_by: str | Sequence[str] | None = None,
    prediction: str | None = "prediction",
    probability: str | None = "probability_",
    strings: Literal["exact", "files"] = "exact",
) -> str:
    r"""One SELECT that gives every row of a table its label and probabilities.

    **Exact**: labels are those of the model, probabilities up to rounding (1e-9). A
    row that the model would refuse (a negative count, an infinite number, a missing
    value where it has never taken one) has NULL for all of them.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        A fitted classifier of this package, alone, behind steps that only take
        columns, or behind a `CountVectorizer`.
    table : str or sequence of str
        Name of the table; with its schema as ``("schema", "table")``. Names are quoted,
        whatever they hold.
    dialect : {"duckdb", "postgres", "spark", "sqlite"}, default="duckdb"
        Whose SQL.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the model, where it does not know them.
    text : str, optional
        Column of a model of texts; "text" by default. DuckDB and Spark only.
    row, term, count : str, optional
        Columns of a table that has a row for each term of a document: which document,
        which term, how often (once, without `count`). The result then has a row for
        each document. Terms that a model does not know still make a document.
    key : str, optional
        For texts, a column that tells the rows apart, and is never missing. Spark needs
        one.
    order_by : str or sequence of str, optional
        Columns that the rows are put in order by. A query without has no order that
        could be relied upon, except that of documents, which are ordered by `row`.
    prediction : str or None, default="prediction"
        Name of the column of labels; None leaves it out.
    probability : str or None, default="probability\_"
        What the names of the columns of probabilities begin with, before the label;
        None leaves them out.
    strings : {"exact", "files"}, default="exact"
        "exact": strings are categories as they are, as in Python. "files": they are
        read as the command line reads those of CSV files, for models that it has made:
        without white space around them, and NULL where they say so ("", "NA", "null",
        "?" and the like).

    Returns
    -------
    query : str
        Without a semicolon, so that it can stand in brackets or behind CREATE TABLE.

    See Also
    --------
    save_model : The model itself as a file.

    Notes
    -----
    NULL is a missing value, as is NaN. Rows cost O(k n_classes) for k terms.

    Examples
    --------
    >>> import duckdb
    >>> from bayesieve import SparseBernoulliNB, to_sql
    >>> X = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]]
    >>> model = SparseBernoulliNB(k=1).fit(X, ["yes", "yes", "no", "no"])
    >>> query = to_sql(model, "points")
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE points AS SELECT 1 AS x0, 5 AS x1")
    >>> connection.execute(query).fetchone()[:3]
    (1, 5, 'yes')
    """
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise ValueError(
            "The 'dialect' parameter of to_sql must be one of "
            f"{', '.join(map(repr, DIALECTS))}. Got {dialect!r}."
        )
    if not isinstance(strings, str) or strings not in ("exact", "files"):
        raise ValueError(
            "The 'strings' parameter of to_sql must be 'exact' or 'files'. "
            f"Got {strings!r}."
        )
    columns = {"text": text, "row": row, "term": term, "count": count, "key": key}
    _check_options(columns, order_by, prediction, probability)
    sql = DIALECTS[dialect]
    card = contrasted(scorecard_of(model, feature_names))
    parts = [table] if isinstance(table, str) else table
    if (
        not isinstance(parts, list | tuple)
        or not parts
        or not all(isinstance(part, str) for part in parts)
    ):
        raise TypeError(
            "The 'table' parameter of to_sql must be a name, or a list of names such "
            f"as ('schema', 'table'). Got {table!r}."
        )
    source = ".".join(sql.name(part, "The name of a table") for part in parts)
    written = _Writer(card, sql, source, order_by, prediction, probability)
    as_files = strings == "files"
    if row is None and (term is not None or count is not None):
        raise ValueError(
            "A table of terms needs 'row' and 'term', and maybe 'count'. Got no 'row'."
        )
    if row is not None:
        if term is None:
            raise ValueError(
                "A table of terms needs 'row' and 'term', and maybe 'count'. "
                "Got no 'term'."
            )
        for name, given in (("text", text), ("key", key)):
            if given is not None:
                raise ValueError(
                    f"The {name!r} parameter of to_sql is not for a table of terms, "
                    f"which holds no texts. Got {given!r} with row={row!r}."
                )
        return written.of_terms(row, term, count)
    return written.of_rows(text, key, as_files)


class _Writer:
    """One model, one table: what both kinds of tables share."""

    def __init__(
        self,
        card: Scorecard,
        dialect: Dialect,
        source: str,
        order_by: str | Sequence[str] | None,
        prediction: str | None,
        probability: str | None,
    ) -> None:
        self._card, self._dialect, self._source = card, dialect, source
        given = [order_by] if isinstance(order_by, str) else list(order_by or ())
        self._given_order = order_by
        self._order = [dialect.name(own) for own in given]
        shares = [
            None if probability is None else f"{probability}{label}"
            for label in card.labels.tolist()
        ]
        self._results = [prediction, *shares]
        if prediction is None and probability is None:
            raise ValueError(
                "to_sql must give labels or probabilities. Got None for both "
                "'prediction' and 'probability'."
            )
        self._first: Level = []
        self._scores: list[list[str]] = [[] for _ in card.start]
        self._valid: list[str] = []

    def of_rows(self, text: str | None, key: str | None, as_files: bool = False) -> str:
        """Rows with a column for each feature, or with texts."""
        card, dialect = _named(self._card, text), self._dialect
        self._check_names([own.name for own in card.columns])
        names = [f"t.{dialect.name(own.name, 'A column')}" for own in card.columns]
        quoted = None if key is None else dialect.name(key, "The key")
        texts = [own for own in card.terms if isinstance(own, TextTerms)]
        if key is not None and not texts:
            raise ValueError(
                "The 'key' parameter of to_sql is for texts, whose words are joined to "
                f"the rows by it. Got {key!r} with a {card.owner}. "
                "Hint: leave it out."
            )
        query = self._source_of(quoted, len(texts), names)
        rows = RowTerms(card, dialect, names, as_files)
        for name, values in rows.tables:
            query.table(f"{name}(value, part)", values)
        self._first, self._scores, self._valid = rows.first, rows.scores, rows.valid
        for number, own in enumerate(texts):
            table, column = f"bayesieve_text_{number}", names[own.column]
            row = f"t.{quoted or 'bayesieve_row'}"
            words = words_of_rows(dialect, own.options, column, row)
            source = self._source if quoted else "bayesieve_rows"
            query.before.append(
                (f"{table}_words", f"SELECT {words} FROM {source} AS t")
            )
            counts = counts_of_words(dialect, own.options, f"{table}_words")
            self._add_counted(query, Counted.of_texts(own), counts, number)
            if card.columns[own.column].kind == "text":
                there = f"CASE WHEN {column} IS NULL THEN 0 ELSE 1 END"
                self._first.append((f"bayesieve_there_{number}", there))
                self._valid.append(f"bayesieve_there_{number} = 1")
        if texts and quoted is not None:
            # What cannot be joined would count as an empty text.
            there = f"CASE WHEN t.{quoted} IS NULL THEN 0 ELSE 1 END"
            self._first.append(("bayesieve_has_key", there))
            self._valid.append("bayesieve_has_key = 1")
        query.add(self._first)
        query.add(rows.second)
        query.add(rows.third)
        return self._finished(query, self._order)

    def _source_of(
        self, key: str | None, n_texts: int, columns: Sequence[str]
    ) -> Query:
        """The table, and beside it the scores of its texts."""
        dialect = self._dialect
        if not n_texts:
            return Query(dialect, self._source, used=columns)
        if key is None and dialect.key == "spark":
            raise ValueError(
                "Texts in Spark need a column that tells the rows apart. Got key=None."
            )
        joins = "".join(
            f"\nLEFT JOIN bayesieve_text_{n} ON bayesieve_text_{n}.bayesieve_row = "
            f"t.{key or 'bayesieve_row'}"
            for n in range(n_texts)
        )
        if key is not None:
            return Query(dialect, self._source, joins=joins)
        query = Query(dialect, "bayesieve_rows", joins=joins)
        numbered = (
            f"SELECT row_number() OVER () AS bayesieve_row, * FROM {self._source}"
        )
        query.before.append(("bayesieve_rows", numbered))
        query.hidden.append("bayesieve_row")
        return query

    def of_terms(self, row: str, term: str, count: str | None) -> str:
        """A row for each document of a table of terms."""
        dialect, counted = self._dialect, Counted.of_card(self._card)
        self._check_names([row])
        if self._order not in ([], [dialect.name(row)]):
            raise ValueError(
                "Documents are put in order by 'row', the only column of the table "
                f"that the result has. Got order_by={self._given_order!r}."
            )
        document = f"t.{dialect.name(row, 'A column')}"
        n = "1" if count is None else f"t.{dialect.name(count, 'A column')}"
        query = Query(
            dialect,
            "bayesieve_documents",
            joins="\nLEFT JOIN bayesieve_text_0 ON "
            "bayesieve_text_0.bayesieve_row = t.bayesieve_row",
            keep=f"t.bayesieve_row AS {dialect.name(row)}",
        )
        source = f"FROM {self._source} AS t WHERE {document} IS NOT NULL"
        query.before.append(
            (
                "bayesieve_documents",
                f"SELECT DISTINCT {document} AS bayesieve_row {source}",
            )
        )
        counts = (
            f"SELECT {document} AS bayesieve_row, "
            f"t.{dialect.name(term, 'A column')} AS term, {n} AS n {source}"
        )
        self._add_counted(query, counted, counts, 0)
        query.add(self._first)
        return self._finished(query, ["bayesieve_row"])

    def _add_counted(
        self, query: Query, counted: Counted, counts: str, number: int
    ) -> None:
        """Add the scores of counted terms, from a table of their own."""
        dialect, table = self._dialect, f"bayesieve_text_{number}"
        counted.add_to(query, dialect, counts, table)
        for c, parts in enumerate(counted.scores(dialect, table)):
            name = f"bayesieve_t{number}_{c}"
            self._first.append((name, balanced(parts, "({} + {})")))
            self._scores[c].append(name)
        self._first.append((f"bayesieve_bad_{number}", f"COALESCE({table}.bad, 0)"))
        self._valid.append(f"bayesieve_bad_{number} = 0")

    def _finished(self, query: Query, order: Sequence[str]) -> str:
        names = [
            None if own is None else self._dialect.name(own, "The name of a result")
            for own in self._results
        ]
        outputs = outputs_of(
            query, self._card, self._dialect, self._scores, self._valid, names
        )
        return query.select(outputs, order)

    def _check_names(self, columns: Sequence[str]) -> None:
        """Refuse names that the dialect, or the result, could not tell apart."""
        known: dict[str, str] = {}
        for name in [*columns, *(own for own in self._results if own is not None)]:
            own = self._dialect.folded(name)
            if known.get(own) == name:
                raise ValueError(
                    "Columns of the table and of the result need different names. "
                    f"Got {name!r} twice. Hint: other names by 'prediction' and "
                    "'probability', or None to leave them out."
                )
            if own in known:
                raise ValueError(
                    f"{self._dialect.title} cannot tell apart names that differ in "
                    f"case only. Got {known[own]!r} and {name!r}."
                )
            if own.lower().startswith("bayesieve_"):
                raise ValueError(
                    "Names that begin with 'bayesieve_' are those of the query itself. "
                    f"Got {name!r}."
                )
            known[own] = name


def _check_options(
    columns: dict[str, Any], order_by: Any, prediction: Any, probability: Any
) -> None:
    for name, given in columns.items():
        if not isinstance(given, str | None):
            raise TypeError(
                f"The {name!r} parameter of to_sql must be the name of a column, or "
                f"None. Got {given!r}."
            )
    listed = [] if order_by is None else order_by
    if not isinstance(listed, str | list | tuple) or not all(
        isinstance(own, str) for own in listed
    ):
        raise TypeError(
            "The 'order_by' parameter of to_sql must be the name of a column, a list "
            f"of names, or None. Got {order_by!r}."
        )
    for name, given in (("prediction", prediction), ("probability", probability)):
        if not isinstance(given, str | None):
            raise TypeError(
                f"The {name!r} parameter of to_sql must be a str, or None to leave it "
                f"out. Got {given!r}."
            )


def _named(card: Scorecard, text: str | None) -> Scorecard:
    """The scorecard of a model of texts with the name of their column."""
    if text is None:
        return card
    if [own.kind for own in card.columns] != ["text"]:
        raise ValueError(
            "The 'text' parameter of to_sql is for models of texts. "
            f"Got {text!r} with a {card.owner}."
        )
    return replace(card, columns=(InputColumn(text, 0, "text"),))
