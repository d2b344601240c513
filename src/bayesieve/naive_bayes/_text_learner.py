"""How texts are counted, selected and weighted: the learning half of `SparseTextNB`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bayesieve.counts import ClassCounts
from bayesieve.counts._parts import Parts
from bayesieve.counts._term_names import TermNames
from bayesieve.naive_bayes._base import SparseNaiveBayes
from bayesieve.naive_bayes._selective_wide import term_sizes
from bayesieve.naive_bayes._text_arguments import checked_texts
from bayesieve.naive_bayes._text_weights import fit_term_weights
from bayesieve.solvers._selection import Selection, select_features
from bayesieve.text._counter import (
    TermMatcher,
    TextCounts,
    TextOptions,
    count_text,
)
from bayesieve.utils import encode_labels, label_array

__all__ = ["TEXT_KINDS", "TextLearner", "of_kind"]

_TEXTS_AT_ONCE = 100_000  # whose rows of terms are made in one go
#: Counts that each model needs.
TEXT_KINDS = {"multinomial": "count", "bernoulli": "binary"}


class TextLearner(SparseNaiveBayes):
    """From texts to counts, from counts to terms and, where asked, weights."""

    def _needs_rows(self) -> bool:
        return self.weights

    @property
    def _model(self) -> str:  # type: ignore[override]
        return self.model

    def _count_kind(self) -> str:
        return TEXT_KINDS[self.model]

    def _count_options(self) -> dict[str, Any]:
        words = self.stop_words
        return {
            "model": self.model,
            **asdict(self._text_options()),
            # As it was written, not the list of all English stop words.
            "stop_words": words if words in (None, "english") else sorted(words),
        }

    def _text_options(self) -> TextOptions:
        words = self.stop_words
        if isinstance(words, str):  # "english", by the constraints
            words = ENGLISH_STOP_WORDS
        return TextOptions(
            analyzer=self.analyzer,
            ngram_range=self.ngram_range,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            token_pattern=self.token_pattern,
            stop_words=words,
            # Presence is all the Bernoulli model looks at, also at prediction.
            binary=self.binary or self.model == "bernoulli",
        )

    def _count(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> ClassCounts:
        name = type(self).__name__
        if sample_weight is not None:
            raise ValueError(
                f"{name} cannot weight texts; sample_weight must be None. Hint: use "
                "CountVectorizer with SparseMultinomialNB, which takes weights."
            )
        texts = checked_texts(X, owner=name)
        if self.weights and (classes is not None or not first):
            raise ValueError(
                f"{name}.partial_fit cannot optimise weights, which need all texts. "
                "Got weights=True. Hint: use fit, or fit_files for texts in files."
            )
        codes, classes = self._encoded(y, classes, len(texts))
        if self.weights:
            self._rows_of = lambda names: self._in_memory(names, texts, codes)
        found = count_text(
            texts,
            codes,
            classes.shape[0],
            self._text_options(),
            threads=self.threads,
            memory_budget=self.memory_budget,
            decode_error=self.decode_error,
        )
        presence = self._count_kind() == "binary"
        return ClassCounts._of(
            Parts(
                classes,
                found.n_documents.astype(np.float64),
                self._count_kind(),
                feature_count=found.document_count if presence else found.count,
                feature_names=found.names,
                document_count=None if presence else found.document_count,
            )
        )

    def _in_memory(
        self, names: TermNames, texts: Any, codes: np.ndarray
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Rows of some terms, a part of the texts at a time."""
        matcher = TermMatcher(names, self._text_options())
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            part = slice(first, first + _TEXTS_AT_ONCE)
            rows = matcher.rows(
                texts[part], threads=self.threads, decode_error=self.decode_error
            )
            yield rows, codes[part]

    def _encoded(
        self, y: Any, classes: Any, n_texts: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The class code of each text, and the classes."""
        name = type(self).__name__
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None."
            )
        y = label_array(column_or_1d(y, warn=True))
        if y.shape[0] != n_texts:
            raise ValueError(
                f"{name} needs one label for each text. Got {n_texts} texts and "
                f"{y.shape[0]} labels."
            )
        if classes is not None:
            codes = self._codes_among(y, classes)
        else:
            if y.dtype.kind == "f":
                check_classification_targets(y)
            classes, codes = encode_labels(y)
        if classes.shape[0] < 2:
            raise ValueError(
                f"{name} needs at least two classes in y. "
                f"Got one class: {classes.tolist()[0]!r}."
            )
        return codes, classes

    def _solve(self, counts: ClassCounts) -> None:
        options = self._text_options()
        counts = self._without_rare_terms(counts)
        self.n_features_in_ = counts.n_features
        if self.weights:
            self._solve_weights(counts)
        else:
            super()._solve(counts)
        self._names = _packed(counts.feature_names[self.support_indices_])
        self._options = options
        self._matcher: TermMatcher | None = None
        self.text_options_ = options.vectorizer()
        self.support_terms_ = self._names.tolist()
        self.vocabulary_ = {term: i for i, term in enumerate(self.support_terms_)}
        # `fit_counts` of the base names all terms; here the selected ones are kept.
        self.__dict__.pop("feature_names_in_", None)

    def _solve_weights(self, counts: ClassCounts) -> None:
        """Terms and weights from the counts and from the rows behind them."""
        if self.k == "all":
            raise ValueError(
                f"The 'k' parameter of {type(self).__name__} must be an int, a share, "
                "'elbow' or 'bic' with weights=True. Got 'all'."
            )
        k = self.k
        if isinstance(k, str):
            selection = select_features(
                counts, k, model=self.model, alpha=self.alpha, owner=type(self).__name__
            )
            k = selection.solution.support.size
        elif not isinstance(k, Integral):
            k = max(2, round(float(k) * counts.n_features))
        with np.errstate(divide="ignore"):
            learnt = np.log(counts.class_count / counts.class_count.sum())
        try:
            found = fit_term_weights(
                counts,
                self._rows_of,
                int(k),
                model=self.model,
                alpha=self.alpha,
                log_prior=learnt,
                memory=self.memory_budget,
                owner=type(self).__name__,
            )
        finally:
            del self._rows_of  # holds the texts
        self.classes_ = counts.classes
        self.class_count_ = counts.class_count
        self.class_log_prior_ = self._log_prior(counts.class_count)
        self._start = found.intercept + self.class_log_prior_ - learnt
        self.support_indices_ = found.columns
        self.k_ = int(found.columns.size)
        self.certificate_ = found.certificate
        self.support_gains_ = term_sizes(found, counts)
        self.weights_ = found.weights
        self.lambda_, self.dual_gap_ = float(found.penalty), float(found.gap)
        self.path_ = found.path
        absent = np.zeros_like(found.slope) if found.offset is None else found.offset
        self.feature_log_prob_ = np.ascontiguousarray((found.slope + absent).T)
        self._absent_log_prob = np.ascontiguousarray(absent.T)
        self._set_document_frequency(counts)

    def _without_rare_terms(self, counts: ClassCounts) -> ClassCounts:
        """The terms within `min_df` and `max_df`, as CountVectorizer keeps them."""
        if counts.n_features == 0:
            raise ValueError(
                "The texts have no terms: they are empty, or hold nothing but stop "
                "words or characters that are not part of words."
            )
        if (self.min_df, type(self.max_df), self.max_df) == (1, float, 1.0):
            return counts
        documents = _document_table(counts)
        if documents is None:
            raise ValueError(
                f"min_df and max_df of {type(self).__name__} need counts of documents. "
                "Got counts without document_count."
            )
        kept = TextCounts(
            _packed(counts.feature_names),
            counts.feature_count,
            documents,
            counts.class_count,
        ).pruned(self.min_df, self.max_df)
        if len(kept.names) == 0:
            raise ValueError(
                f"No term is in at least min_df={self.min_df!r} and at most "
                f"max_df={self.max_df!r} of the texts. "
                "Hint: a lower min_df or a higher max_df."
            )
        return ClassCounts._of(
            replace(
                counts._parts,
                feature_names=kept.names,
                feature_count=kept.count,
                document_count=None
                if counts.document_count is None
                else kept.document_count,
            )
        )

    def _solver_options(self) -> dict[str, Any]:
        return {"alpha": self.alpha}

    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        self.feature_log_prob_ = selection.solution.log_theta
        if self.model == "bernoulli":
            with np.errstate(divide="ignore"):
                self._absent_log_prob = np.log1p(-selection.solution.estimates)
        else:  # what a multinomial text does not hold says nothing
            self._absent_log_prob = np.zeros_like(self.feature_log_prob_)
        for name in ("weights_", "lambda_", "dual_gap_", "path_", "_start"):
            self.__dict__.pop(name, None)  # of an earlier fit with weights
        self._set_document_frequency(counts)

    def _set_document_frequency(self, counts: ClassCounts) -> None:
        documents = _document_table(counts)
        self.document_frequency_ = (
            None
            if documents is None
            else np.asarray(documents[:, self.support_indices_].sum(axis=0)).ravel()
        )


def _document_table(counts: ClassCounts) -> Any:
    """Documents with each term by class, where they were counted."""
    return counts.feature_count if counts.kind == "binary" else counts.document_count


def of_kind(counts: ClassCounts, kind: str) -> ClassCounts:
    """Counts of terms as presences, where the model looks at those."""
    if counts.kind == kind:
        return counts
    return ClassCounts._of(
        replace(
            counts._parts,
            kind=kind,
            feature_count=counts.document_count,
            document_count=None,
        )
    )


def _packed(names: Any) -> TermNames:
    return names if isinstance(names, TermNames) else TermNames.from_strings(names)
