"""Weighted naive Bayes on tables with texts: n-grams have weights beside columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._description import Description, Saved
from bayesieve._scorecard import Slopes, Term, TextTerms
from bayesieve.naive_bayes._explained_terms import ExplainedTerm
from bayesieve.naive_bayes._text_terms import WeightedNGrams
from bayesieve.naive_bayes._weighted import WeightedNaiveBayes
from bayesieve.preprocessing._table_input import TableRows
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames
from bayesieve.weights._joint_solver import JointFit
from bayesieve.weights._text_candidates import NGrams

__all__ = ["TextFit", "TextWeightedNB"]

#: Of the n-grams in use, one text column after another; there with texts only.
_OF_TEXTS = {
    "class_intercept_": Saved("floats", "C", domain="logs", optional=True),
    "text_penalty_": Saved("float", domain="counts", optional=True),
    "_term_columns": Saved("integers", "terms", optional=True),
    "_term_names": Saved("names", "terms", optional=True),
    "_term_weights": Saved("floats", "terms", domain="counts", optional=True),
    "_term_counts": Saved("floats", "C", "terms", domain="counts", optional=True),
    "_term_totals": Saved("floats", "C", "texts", domain="counts", optional=True),
    "_n_distinct": Saved("integers", "texts", optional=True),
    "_text_options": Saved("plain", optional=True),
    # Not known of a stream.
    "_term_documents": Saved("floats", "terms", domain="counts", optional=True),
}


@dataclass(frozen=True, eq=False)
class TextFit:
    """Weights of columns and n-grams as they were found.

    Attributes
    ----------
    found : JointFit
    texts : list of WeightedNGrams
        One for each text column.
    penalty : float
        Of each n-gram.
    """

    found: JointFit
    texts: list[WeightedNGrams]
    penalty: float


class TextWeightedNB(WeightedNaiveBayes):
    """Base: prediction, description and files of models whose tables may hold texts.

    Scores are ``b_c + sum_k w_k log p_k(part | C_c) + sum_j w_j x_j log theta_cj`` for
    columns k and n-grams j that are met x_j times.
    """

    _saved: ClassVar[dict[str, Saved]] = _OF_TEXTS
    _texts: list[WeightedNGrams]

    def _set_texts(self, fitted: TextFit) -> None:
        """Store the n-grams with a weight, and what the scores start from."""
        self.class_intercept_ = fitted.found.intercept
        self.text_penalty_ = fitted.penalty
        self._update_texts(fitted.texts)

    def _update_texts(self, texts: list[WeightedNGrams]) -> None:
        """Store n-grams; the weight of a text column is the largest of its n-grams."""
        self._texts = texts
        for own in texts:
            self.weights_[own.column] = own.weights.max(initial=0.0)

    def _set_no_texts(self) -> None:
        """Forget the n-grams of an earlier fit."""
        self._texts = []
        for name in ("class_intercept_", "text_penalty_"):
            self.__dict__.pop(name, None)

    # --------------------------------------------------------------------- prediction

    def _start_scores(self) -> np.ndarray:
        return self.class_intercept_ if self._texts else self.class_log_prior_

    def _scores(self, table: TableRows) -> np.ndarray:
        scores = self._column_scores(table)
        for own, texts in zip(self._texts, table.texts, strict=True):
            scores += own.scores(texts)
        return scores

    def _explained_terms(self, table: TableRows) -> list[ExplainedTerm]:
        found = super()._explained_terms(table)
        names, total = self._column_names(), float(self.class_count_.sum())
        for own, texts in zip(self._texts, table.texts, strict=True):
            slope = own.weights[:, None] * own.ngrams.slope
            means = own.ngrams.counts.sum(axis=0)[:, None] / total * slope
            counts = own.ngrams.rows(texts).tocsc()
            for k, term in enumerate(own.terms):
                met = counts[:, [k]].toarray()
                found.append(
                    ExplainedTerm(
                        _term_name(names[own.column], term),
                        (own.column,),
                        means[k],
                        (met * slope[k] - means[k],),
                        (met[:, 0].astype(np.int64),),
                        absent=-means[k],
                    )
                )
        return found

    def _score_terms(self, places: Mapping[int, int]) -> list[Term]:
        found = super()._score_terms(places)
        for own in self._texts:
            if own.weights.size:
                slope = own.weights[:, None] * own.ngrams.slope
                slopes = Slopes.from_logs(slope, np.zeros_like(slope))
                options = own.ngrams.options
                place = places[own.column]
                found.append(TextTerms(place, tuple(own.terms), options, slopes))
        return found

    # ------------------------------------------------------------------- fitted views

    @property
    def text_terms_(self) -> dict[str, list[str]]:
        """The n-grams with a weight of each text column, sorted."""
        check_is_fitted(self, "weights_")
        names = self._column_names()
        return {names[own.column]: own.terms for own in self._texts}

    @property
    def text_weights_(self) -> dict[str, np.ndarray]:
        """Weights in (0, 1] of the n-grams in `text_terms_`."""
        check_is_fitted(self, "weights_")
        names = self._column_names()
        return {names[own.column]: own.weights for own in self._texts}

    @property
    def text_options_(self) -> dict[str, dict[str, Any]]:
        """How each text column was cut, as arguments of CountVectorizer."""
        check_is_fitted(self, "weights_")
        names = self._column_names()
        return {
            names[own.column]: own.ngrams.options.vectorizer() for own in self._texts
        }

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean size of each column's term in the scores, in nats.

        The mean absolute Shapley value: how far, on average over training rows and
        classes, the term ``w_k log p_k(part | C)`` is from its own mean. Of a text
        column, the sum over its n-grams of the mean of ``w_j x_j |log theta_cj|``, less
        what is common to the classes.
        """
        importances = super().feature_importances_
        for own in self._texts:
            importances[own.column] = own.sizes(self.class_count_).sum()
        return importances

    # ----------------------------------------------------------- description and files

    def _describe(self) -> Description:
        found = super()._describe()
        if not self._texts:
            return found
        names, n_columns = self._column_names(), self.n_features_in_
        terms = [
            _term_name(names[own.column], t) for own in self._texts for t in own.terms
        ]
        slopes = [own.ngrams.slope for own in self._texts]
        best = np.concatenate([np.argmax(slope, axis=1) for slope in slopes])
        used = self._used_columns()
        sizes = [own.sizes(self.class_count_) for own in self._texts]
        weights = [own.weights for own in self._texts]
        n_texts = len(self._texts)
        n_distinct = sum(own.ngrams.n_distinct for own in self._texts)
        labels = self.classes_.astype(object)
        assert found.table is not None

        def named(columns: np.ndarray) -> list[str]:
            return [*np.array([*names, *terms], dtype=object)[columns]]

        return replace(
            found,
            table=replace(found.table, n_texts=n_texts),
            n_features=n_columns - n_texts + n_distinct,
            indices=np.concatenate([used, n_columns + np.arange(len(terms))]),
            score=np.concatenate([self.feature_importances_[used], *sizes]),
            sentence=_used_sentence(
                (used.size, n_columns - n_texts), (len(terms), n_distinct)
            ),
            noun="features",
            named=named,
            weights=np.concatenate([self.weights_[used], *weights])[None],
            towards=np.concatenate([np.full(used.size, None), labels[best]]),
            total=used.size + len(terms),
            n_used=used.size + len(terms),
        )

    def _to_save(self) -> dict[str, Any]:
        found = super()._to_save()
        if not self._texts:
            return found
        ngrams = [own.ngrams for own in self._texts]
        terms = [term for own in self._texts for term in own.terms]
        sizes = [own.weights.size for own in self._texts]
        documents = [own.documents for own in ngrams if own.documents is not None]
        if len(documents) == len(ngrams):
            found["_term_documents"] = np.concatenate(documents)
        return found | {
            "_term_columns": np.repeat([own.column for own in self._texts], sizes),
            "_term_names": TermNames.from_strings(terms),
            "_term_weights": np.concatenate([own.weights for own in self._texts]),
            "_term_counts": np.hstack([own.counts for own in ngrams]),
            "_term_totals": np.column_stack([own.totals for own in ngrams]),
            "_n_distinct": np.array([own.n_distinct for own in ngrams]),
            "_text_options": [own.options() for own in self._texts],
        }

    def _restore(self, values: dict[str, Any]) -> None:
        given = {name: values.pop(name) for name in _OF_TEXTS if name in values}
        columns = values["_reader"].text_columns if "_reader" in values else []
        texts = _texts_of_file(given, [int(j) for j in columns])
        super()._restore(values)
        self._texts = texts
        if texts:
            self.class_intercept_ = given["class_intercept_"]
            self.text_penalty_ = given["text_penalty_"]


def _term_name(column: str, term: str) -> str:
    """An n-gram beside the names of columns."""
    return f'{column}: "{term}"'


def _used_sentence(columns: tuple[int, int], ngrams: tuple[int, int]) -> str:
    """How many columns and n-grams are used, each of how many."""
    if not columns[0] and not ngrams[0]:
        return "No column and no n-gram says anything about the label."
    told = [f"{ngrams[0]:,} of {ngrams[1]:,} n-grams"]
    if columns[1]:
        told.insert(0, f"{columns[0]:,} of {columns[1]:,} columns")
    return f"{' and '.join(told)} used."


def _texts_of_file(given: dict[str, Any], columns: list[int]) -> list[WeightedNGrams]:
    """The n-grams of a file, checked; none where there is no text."""
    if not columns:
        if given:
            raise ValueError("'_reader' has no texts for n-grams")
        return []
    if given.keys() | {"_term_documents"} != _OF_TEXTS.keys():
        raise ValueError("'_text_options' lacks what belongs to it")
    options, n_distinct = given["_text_options"], given["_n_distinct"]
    owners, names = given["_term_columns"], given["_term_names"]
    if not (
        isinstance(names, TermNames)
        and isinstance(options, list)
        and len(options) == len(columns) == n_distinct.size
        and np.isin(owners, columns).all()
        and (np.diff(owners) >= 0).all()
        and (n_distinct >= 0).all()
        and (given["_term_weights"] > 0.0).all()
        and (given["_term_weights"] <= 1.0).all()
    ):
        raise ValueError("'_term_columns' does not fit the texts of '_reader'")
    texts = []
    for place, column in enumerate(columns):
        own = np.flatnonzero(owners == column)
        chosen = names[own]
        assert isinstance(chosen, TermNames)
        if not chosen.is_sorted:
            raise ValueError("'_term_names' must be distinct and sorted")
        ngrams = NGrams(
            chosen,
            TextOptions(**options[place]),
            given["_term_counts"][:, own],
            given["_term_totals"][:, place],
            int(n_distinct[place]),
            given["_term_documents"][own] if "_term_documents" in given else None,
        )
        texts.append(WeightedNGrams(column, ngrams, given["_term_weights"][own]))
    return texts
