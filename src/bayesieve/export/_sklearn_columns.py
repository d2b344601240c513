"""Columns as scikit-learn's steps take, count and cut them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
)
from sklearn.utils import check_array

from bayesieve._scorecard import (
    Intervals,
    LookupTerm,
    Scorecard,
    TextTerms,
    Values,
)

__all__ = ["counting_steps", "dense_columns", "encoder_of", "refuse_sklearn", "taking"]

#: Stands for missing numbers: the lowest that floats of 32 bits hold.
_MISSING = float(np.finfo(np.float32).min)
#: How Python writes what is missing among strings: None, NaN, and pandas' NA and NaT.
_MISSING_WORDS = ("None", "nan", "<NA>", "NaT")


def refuse_sklearn(card: Scorecard, what: str, hint: str) -> ValueError:
    """An error that says what scikit-learn has no steps for."""
    return ValueError(
        f"scikit-learn has no faithful steps for {what}. Got them in a {card.owner}. "
        f"Hint: {hint}, or to_onnx."
    )


def taking(chosen: np.ndarray, n_columns: int, names: Any = None) -> SelectKBest:
    """A fitted step that takes some columns: those with a score of 1.

    Unlike a ColumnTransformer it leaves sparse rows sparse and dense ones dense.
    """
    found = SelectKBest(k=len(chosen))
    found.scores_ = np.zeros(n_columns, dtype=np.float32)
    found.scores_[chosen] = 1.0
    found.n_features_in_ = n_columns
    if names is not None:
        found.feature_names_in_ = np.asarray(names, dtype=object)
    return found


def dense_columns(
    steps: Any, columns: Any, n_columns: int, names: Any = None
) -> ColumnTransformer:
    """A fitted step that takes some columns of a table, and does fitted steps there."""
    found = ColumnTransformer(
        [("selected", steps, columns)],
        sparse_threshold=1.0 if steps != "passthrough" else 0.0,
        verbose_feature_names_out=False,
    )
    # Only texts are looked at here; a row of 0 would do for all others.
    found.fit(np.full((1, n_columns), "0", dtype=object))
    if names is not None:  # frames are then read by name
        found.feature_names_in_ = np.asarray(names, dtype=object)
    return found


def counting_steps(term: TextTerms) -> list[Any]:
    """Texts to counts, or presences, of the terms."""
    options = term.options.vectorizer()
    if term.options.analyzer != "word":  # these mean nothing then, and warn
        del options["stop_words"], options["token_pattern"]
    vectorizer = CountVectorizer(vocabulary=list(term.terms), **options)
    steps: list[Any] = [vectorizer.fit([""])]
    if term.binarize is not None:
        row = sparse.csr_matrix((1, len(term.terms)))
        steps.append(Binarizer(threshold=term.binarize).fit(row))
    return steps


def encoder_of(card: Scorecard, names: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A fitted step that makes columns of 0 and 1, or counts, of a mixed table.

    Returns
    -------
    encoder : FeatureUnion
    slope : ndarray of shape (n_encoded, n_classes)
        What one of each adds to the scores.
    offset : ndarray of shape (n_terms, n_classes)
        What each term adds to those of every row.
    """
    parts, slopes, offsets = [], [], []
    for number, term in enumerate(card.terms):
        if isinstance(term, TextTerms):
            own = card.columns[term.column]
            steps = FrozenEstimator(make_pipeline(*counting_steps(term)))
            step = dense_columns(steps, own.number, card.n_columns, names)
            slope, offset = term.slopes.slope, term.slopes.offset.sum(axis=0)
            if term.slopes.never.any() or term.slopes.always.any():
                raise refuse_sklearn(card, "probabilities of zero", "alpha above 0")
        else:
            assert isinstance(term, LookupTerm)
            _check(card, term)
            own = card.columns[term.axes[0].column]
            read, steps, slope, offset = _of_axis(term, own.name)
            column = dense_columns(read, [own.number], card.n_columns, names)
            step = make_pipeline(column, *steps)
        parts.append((f"term{number}", step))
        slopes.append(slope)
        offsets.append(offset)
    return FeatureUnion(parts), np.vstack(slopes), np.stack(offsets)


def _check(card: Scorecard, term: LookupTerm) -> None:
    """Refuse what scikit-learn has no steps for."""
    if len(term.axes) > 1:
        raise refuse_sklearn(card, "pairs of columns", "fit it with pairs=0")
    column = card.columns[term.axes[0].column]
    if column.kind == "time":
        raise refuse_sklearn(
            card, f"times such as column {column.name!r}", "fit it on numbers"
        )
    if column.origin is not None:
        raise refuse_sklearn(
            card,
            f"integers that doubles cannot tell apart such as column {column.name!r}",
            "fit it on a part of their range",
        )
    if not np.isfinite(term.table).all():
        raise refuse_sklearn(card, "probabilities of zero", "alpha above 0")


def _of_axis(
    term: LookupTerm, name: str
) -> tuple[Any, list[Any], np.ndarray, np.ndarray]:
    """Steps that read and encode a column, what parts add, and what all rows get."""
    (axis,) = term.axes
    scores = np.vstack([term.table, term.unknown])  # the last one is UNKNOWN, -1
    if isinstance(axis, Values) and not _are_numbers(axis):
        others = scores[axis.others]
        values, parts = [*axis.values], [*axis.parts.tolist()]
        words = all(isinstance(own, str) for own in values)
        missing: list[Any] = [None, np.nan]
        if words:
            kinds = (str, np.str_)  # which Python writes in two ways
            values = [repr(kind(own)) for kind in kinds for own in values]
            parts, missing = 2 * parts, [*_MISSING_WORDS]
        if axis.missing != axis.others or not values:
            values += missing
            parts += [axis.missing] * len(missing)
        read = _words() if words else "passthrough"
        return read, [_encoder(values, axis, name)], scores[parts] - others, others
    if isinstance(axis, Values):
        known = np.array(axis.values, dtype=np.float64)
        order = np.argsort(known)
        edges = np.stack([known, np.nextafter(known, np.inf)], axis=1)[order].ravel()
        between = np.full(known.size, axis.others)
        inner = np.stack([axis.parts[order], between], axis=1).ravel()
        parts = [axis.missing, axis.others, *inner]
    else:
        assert isinstance(axis, Intervals)
        edges = np.nextafter(axis.bounds, np.inf)
        parts = [axis.missing, *axis.parts]
    edges = np.concatenate([[np.nextafter(_MISSING, np.inf)], edges])
    return (
        _numbers(),
        _cutting(edges),
        scores[np.asarray(parts, np.int64)],
        np.zeros_like(term.unknown),
    )


def _are_numbers(axis: Values) -> bool:
    """Whether categories are numbers, or booleans, that doubles hold."""
    kinds = (bool, int, float, np.bool_, np.integer, np.floating)
    return bool(axis.values) and all(
        isinstance(own, kinds) and float(own) == own and np.isfinite(float(own))
        for own in axis.values
    )


def _numbers() -> FunctionTransformer:
    """A step that reads numbers of any dtype as doubles, missing ones as NaN."""
    options = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
    return FunctionTransformer(check_array, kw_args=options)


def _words() -> FunctionTransformer:
    """A step that writes strings as Python does, in quotes.

    Encoders know no pandas.NA, which is no name that a file could hold without pandas;
    behind this step it is a word like others, and none that a string could be.
    """
    # Without a signature it would keep a ufunc, which cannot be pickled, once called.
    written = np.vectorize(repr, otypes=[object], signature="()->()")
    return FunctionTransformer(written)


def _encoder(values: list[Any], axis: Values, name: str) -> OneHotEncoder:
    """A column for each of some values; others have none."""
    known = np.empty(len(values), dtype=object)
    known[:] = values
    found = OneHotEncoder(categories=[known], handle_unknown="ignore")
    try:
        found.fit(known[:1, None])
    except (TypeError, ValueError):
        pass
    else:
        if not any(
            isinstance(value, tuple) or value in (np.inf, -np.inf)
            for value in axis.values
        ):
            return found
    kinds = sorted({type(value).__name__ for value in axis.values})
    raise ValueError(
        "Categories of a column must be all strings or all finite numbers in "
        "scikit-learn. "
        f"Got {' and '.join(kinds)} in column {name!r}. "
        "Hint: fit the model on strings there."
    )


def _cutting(edges: np.ndarray) -> list[Any]:
    """A column for each interval between edges, which belong to what is above them."""
    row = np.zeros((1, 1))
    imputer = SimpleImputer(strategy="constant", fill_value=_MISSING).fit(row)
    cutter = KBinsDiscretizer(
        2, encode="ordinal", strategy="uniform", dtype=np.float64
    ).fit([[0.0], [1.0]])
    cutter.bin_edges_ = np.empty(1, dtype=object)
    cutter.bin_edges_[0] = np.concatenate([[-np.inf], edges, [np.inf]])
    cutter.n_bins_ = np.array([edges.size + 1])
    encoder = OneHotEncoder(categories=[np.arange(edges.size + 1, dtype=np.float64)])
    return [imputer, cutter, encoder.fit(row)]
