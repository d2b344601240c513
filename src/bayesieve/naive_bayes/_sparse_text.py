"""Naive Bayes on the k best terms of raw texts, without a document-term matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions
from bayesieve._description import (
    Description,
    Saved,
    class_weights,
    gain_detail,
    logit,
    proof_sentence,
    saved,
    weighted_sentence,
)
from bayesieve.counts import ClassCounts
from bayesieve.counts._from_text import from_text_parts, readable_twice
from bayesieve.counts._term_names import TermNames
from bayesieve.io._row_bounds import LONGEST_ROW
from bayesieve.io._same_rows import SameRows
from bayesieve.io._sources import chosen_source, text_pieces
from bayesieve.naive_bayes._base import SparseNaiveBayes, alpha_constraint
from bayesieve.naive_bayes._sparse_bernoulli import SparseBernoulliNB
from bayesieve.naive_bayes._text_arguments import checked_texts
from bayesieve.naive_bayes._text_learner import TEXT_KINDS, TextLearner, of_kind
from bayesieve.text._counter import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._rows import term_rows

__all__ = ["SparseTextNB"]

_DOCUMENTS = [
    Interval(Real, 0, 1, closed="both"),
    Interval(Integral, 1, None, closed="left"),
]

#: With ``weights=True`` all of these are there, else none.
_OF_WEIGHTS = {
    "weights_": saved("floats", "k", domain="counts", optional=True),
    "_start": saved("floats", "C", domain="logs", optional=True),
    "lambda_": saved("float", domain="known", optional=True),
    "dual_gap_": saved("float", optional=True),
    "path_": saved("weight path", optional=True),
}


class SparseTextNB(TextLearner):
    r"""Naive Bayes on the k best terms of raw texts, with a certificate.

    The same model as `CountVectorizer` followed by `SparseMultinomialNB` (or
    `SparseBernoulliNB`) with the same parameters: same terms, same probabilities. Terms
    are counted by class in the compiled core, so `fit` never makes a document-term
    matrix, and prediction looks for the selected terms only. The support is **exact**
    unless the time limit is hit; then it is **bounded**, with a `GapWarning` and the
    true gap in `certificate_`.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=1000
        Number of terms, a share of them in (0, 1), all of them (plain naive Bayes), or
        chosen from the path over k. Above the number of terms, all are used, with a
        warning.
    model : {"multinomial", "bernoulli"}, default="multinomial"
        Whether the occurrences of a term count, or its presence and its absence.
    weights : bool, default=False
        Whether each term gets a weight in [0, 1], optimised as in
        `SelectiveMultinomialNB` (or `SelectiveBernoulliNB`): terms that say the same
        share one weight. The texts are read twice, and rows of the candidate terms,
        five times k, are kept in memory up to `memory_budget`.
    alpha : float or array of shape (n_features_in_,), default=1.0
        Smoothing added to every count.
    fit_prior : bool, default=True
        Learn class probabilities; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), optional
        Class probabilities, not learnt.
    analyzer : {"word", "char", "char_wb"}, default="word"
        Terms are n-grams of words, of characters, or of characters within words.
    ngram_range : tuple of int (min_n, max_n), default=(1, 1)
        Lengths of the n-grams.
    lowercase : bool, default=True
        Whether texts are lowered first.
    strip_accents : {"ascii", "unicode"} or None, default=None
        Whether and how accents are removed.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a word is. Patterns other than runs of ``\w`` are found by `re`, slower.
    stop_words : {"english"}, collection of str, or None, default=None
        Words left out before n-grams are made.
    binary : bool, default=False
        Multinomial model: a term counts once for each text that has it.
    min_df, max_df : int or float, default=1 and 1.0
        Terms in fewer, or more, texts than this are not considered: a number of texts
        (int) or a share of all (float). After `partial_fit`, of all texts so far.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do about texts given as bytes that are not UTF-8.
    exact : bool, default=True
        Close the gap of the relaxation by branch and bound (multinomial).
    time_limit : float or None, default=10.0
        Seconds the search may take.
    threads : int or None, default=None
        Threads that count; None for one per processor. The result does not depend on
        them.
    memory_budget : int or None, default=None
        Bytes for counting; beyond, tables go to temporary files. None: no limit.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.

    Attributes
    ----------
    support_terms_ : list of str, length k_
        The selected terms, sorted.
    vocabulary_ : dict of str to int
        Position of each selected term, as that of a CountVectorizer.
    k_ : int
        Number of selected terms.
    certificate_ : Certificate
        Objective, proven bound and gap; with ``weights=True`` those of the screening.
    weights_ : ndarray of shape (k_,)
        With ``weights=True``: how much of its naive Bayes weight each term keeps.
    lambda_, dual_gap_, path_
        With ``weights=True``: as in `SelectiveMultinomialNB`.
    feature_log_prob_ : ndarray of shape (n_classes, k_)
        Log-probability of each selected term given the class.
    coef_ : ndarray of shape (1, k_)
        Two classes only: log-odds weight of each selected term.
    intercept_ : ndarray of shape (1,)
        Two classes only: log-odds of a text without any selected term.
    feature_importances_ : ndarray of shape (k_,)
        Gain of each selected term in nats.
    document_frequency_ : ndarray of shape (k_,), or None
        Number of texts with each selected term; None after `fit_counts` on counts that
        do not know it.
    text_options_ : dict
        How texts were cut into terms, as arguments of CountVectorizer.
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Texts of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        Number of distinct terms that were considered.
    support_indices_ : ndarray of int64 of shape (k_,)
        Positions of the selected terms among them, in the order of `sorted`.
    support_ : ndarray of bool of shape (n_features_in_,)
        Mask of the selected terms among them.
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`; terms left out by
        `min_df` and `max_df` are in it.

    See Also
    --------
    SparseMultinomialNB, SparseBernoulliNB : For a matrix of counts.
    SelectiveMultinomialNB, SelectiveBernoulliNB : The same with weights.
    bayesieve.feature_extraction.to_vectorizer : The selected terms as a vectorizer.

    Notes
    -----
    One pass over the texts, about four over the table of counts (n_classes x terms).
    After `fit` nothing of the size of the vocabulary is kept.

    Examples
    --------
    >>> from bayesieve import SparseTextNB
    >>> texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    >>> model = SparseTextNB(k=2).fit(texts, [1, 1, 0, 0])
    >>> model.support_terms_
    ['bad', 'good']
    >>> model.predict(["What a good film!", "Bad."])
    array([1, 0])
    >>> model.certificate_.is_optimal
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayes._parameter_constraints,
        "model": [StrOptions(set(TEXT_KINDS))],
        "weights": ["boolean"],
        "alpha": alpha_constraint(),
        "analyzer": [StrOptions({"word", "char", "char_wb"})],
        "ngram_range": [tuple, list],
        "lowercase": ["boolean"],
        "strip_accents": [StrOptions({"ascii", "unicode"}), None],
        "token_pattern": [str],
        "stop_words": [StrOptions({"english"}), list, tuple, set, frozenset, None],
        "binary": ["boolean"],
        "min_df": _DOCUMENTS,
        "max_df": _DOCUMENTS,
        "decode_error": [StrOptions({"strict", "ignore", "replace"})],
        "threads": [Interval(Integral, 1, None, closed="left"), None],
        "memory_budget": [Interval(Integral, 1, None, closed="left"), None],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        **SparseBernoulliNB._saved,
        "_names": saved("names", "k"),
        "_options": saved("plain"),
        "document_frequency_": saved("floats", "k", domain="counts", optional=True),
        "counts_": saved("counts", optional=True),  # rare terms are among them
        **_OF_WEIGHTS,
    }

    def __init__(
        self,
        k: Any = 1000,
        *,
        model: str = "multinomial",
        weights: bool = False,
        alpha: Any = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        stop_words: Any = None,
        binary: bool = False,
        min_df: float = 1,
        max_df: float = 1.0,
        decode_error: str = "strict",
        exact: bool = True,
        time_limit: float | None = 10.0,
        threads: int | None = None,
        memory_budget: int | None = None,
        keep_counts: bool = False,
    ) -> None:
        self.k = k
        self.model = model
        self.weights = weights
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.binary = binary
        self.min_df = min_df
        self.max_df = max_df
        self.decode_error = decode_error
        self.exact = exact
        self.time_limit = time_limit
        self.threads = threads
        self.memory_budget = memory_budget
        self.keep_counts = keep_counts

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseTextNB:
        """Count the terms of texts, select and estimate.

        Parameters
        ----------
        X : sequence of str of shape (n_samples,)
            Raw texts: a list, an array, a pandas or polars Series, an Arrow array.
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : None
            Texts have no weights; anything else is an error.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> SparseTextNB:
        """Add a chunk of texts to the counts, then select and estimate anew.

        The result is that of `fit` on all texts so far. Each call solves again.

        Parameters
        ----------
        X : sequence of str of shape (n_samples,)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; required on the first call.
        sample_weight : None
            Texts have no weights; anything else is an error.

        Returns
        -------
        self
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def fit_counts(self, counts: ClassCounts) -> SparseTextNB:
        """Select and estimate from ready counts of terms, as `fit` does from texts.

        Parameters
        ----------
        counts : ClassCounts
            Named by terms that were cut with the options of this estimator; of kind
            "count" for the multinomial model and "binary" for the Bernoulli model.

        Returns
        -------
        self
        """
        if isinstance(counts, ClassCounts) and counts.feature_names is None:
            raise ValueError(
                f"{type(self).__name__}.fit_counts needs counts with feature names, "
                "the terms. Got counts without names. Hint: count with feature_names="
                "vectorizer.get_feature_names_out()."
            )
        return super().fit_counts(counts)

    def fit_files(
        self,
        source: Any = None,
        text: str = "text",
        label: str = "label",
        *,
        sql: str | None = None,
        on_bad_rows: str = "error",
        max_row_bytes: int = LONGEST_ROW,
        checkpoint: Any = None,
        progress: bool = False,
    ) -> SparseTextNB:
        """Fit texts in files, tables or queries, without reading them into memory.

        Parameters
        ----------
        source : path, glob, list of paths, table, or list of batches
            As in `ClassCounts.from_text`. With ``weights=True`` it is read twice or
            more, and rows that are not the same each time are an error.
        text, label : str
            Names of the columns.
        sql : str
            A query in place of a source.
        on_bad_rows, max_row_bytes, checkpoint, progress
            As in `ClassCounts.from_text`.

        Returns
        -------
        self

        Examples
        --------
        >>> from bayesieve import SparseTextNB
        >>> batches = [(["good film", "bad film"], [1, 0]), (["good plot"], [1])]
        >>> SparseTextNB(k=2).fit_files(batches).support_terms_
        ['bad', 'good']
        """
        self._validate_params()
        name = type(self).__name__
        pieces = text_pieces(
            chosen_source(source, sql), text, label, self.threads, max_row_bytes
        )
        if self.weights and not readable_twice(pieces):
            raise ValueError(
                f"{name} with weights=True reads the source twice, and an iterator can "
                "be read once. Hint: pass a list of batches, a table, a query or files."
            )
        same_rows = SameRows() if self.weights else None
        counts = ClassCounts._of(
            from_text_parts(
                pieces,
                text,
                label,
                self._text_options(),
                min_df=1,
                max_df=1.0,
                max_features=None,
                classes=None,
                threads=self.threads,
                memory_budget=self.memory_budget,
                spill_folder=None,
                on_bad_rows=on_bad_rows,
                checkpoint=checkpoint,
                progress=progress,
                tfidf=False,
                same_rows=same_rows,
            )
        )
        if counts.n_classes < 2:
            raise ValueError(
                f"{name} needs at least two classes in {label!r}. "
                f"Got one class: {counts.classes.tolist()[0]!r}."
            )
        counts = of_kind(counts, self._count_kind())
        if same_rows is None:
            return self.fit_counts(counts)

        def rows_of(names: TermNames) -> Iterator[tuple[Any, np.ndarray]]:
            return term_rows(
                pieces,
                TermMatcher(names, self._text_options()),
                counts.classes,
                skip=on_bad_rows == "skip",
                threads=self.threads,
                same_rows=same_rows,
            )

        self._drop_counts()
        self._rows_of = rows_of
        self._solve(counts)
        return self

    # --------------------------------------------------------------- prediction

    def _selected_columns(self, X: Any) -> Any:
        check_is_fitted(self)
        texts = checked_texts(X, owner=type(self).__name__)
        if self._matcher is None:
            self._matcher = TermMatcher(self._names, self._options)
        return self._matcher.rows(
            texts, threads=self.threads, decode_error=self.decode_error
        )

    def _support_log_likelihood(self, part: Any) -> np.ndarray:
        # With log-probabilities of absence that are 0, this is the multinomial model.
        if not hasattr(self, "weights_"):
            return SparseBernoulliNB._support_log_likelihood(self, part)  # type: ignore[arg-type]
        absent = self.weights_ * self._absent_log_prob
        slope = self.weights_ * self.feature_log_prob_ - absent
        return np.asarray(part @ slope.T) + absent.sum(axis=1)

    def _start_scores(self) -> np.ndarray:
        return self._start if hasattr(self, "weights_") else self.class_log_prior_

    def _presence(self, part: Any) -> Any:
        return part  # the matcher gives presences where the model looks at them

    # ------------------------------------------------------- description and files

    def _describe(self) -> Description:
        certificate, k, noun = self.certificate_, self.k_, "terms"
        found = replace(
            super()._describe(),
            noun=noun,
            sentence=proof_sentence(certificate, k, self.n_features_in_, noun),
            detail=gain_detail(certificate, k, noun),
            pruned=self._without_rare_terms,
        )
        if not hasattr(self, "weights_"):
            return found
        return replace(
            found,
            sentence=weighted_sentence(self.dual_gap_, k, noun),
            # The proof of the likelihood is about the candidates.
            detail=gain_detail(certificate, int(certificate.k), noun),
            dual_gap=self.dual_gap_,
            weight_path=self.path_,
            penalty=self.lambda_,
        )

    def _class_weights(self) -> dict[str, Any]:
        logs = self.feature_log_prob_
        logs = logit(logs) if self.model == "bernoulli" else logs
        return class_weights(self.classes_, logs, getattr(self, "weights_", None))

    def _named(self) -> Callable[[np.ndarray], list[str]]:
        """Only the selected terms have kept their names."""
        terms = dict(
            zip(self.support_indices_.tolist(), self.support_terms_, strict=True)
        )
        return lambda columns: [terms.get(j, f"x{j}") for j in columns.tolist()]

    def _to_save(self) -> dict[str, Any]:
        return super()._to_save() | {"_options": asdict(self._options)}

    def _restore(self, values: dict[str, Any]) -> None:
        options = TextOptions(**values["_options"])
        if options.ngram_range[1] >= 2**31:
            raise ValueError("'_options' asks for n-grams that no text has")
        names = values["_names"]
        if not isinstance(names, TermNames) or not names.is_sorted:
            raise ValueError("'_names' must be packed, distinct and sorted")
        if 0 < len(_OF_WEIGHTS.keys() & values.keys()) < len(_OF_WEIGHTS):
            raise ValueError("'weights_' lacks what belongs to it")
        terms = names.tolist()
        derived = {
            "_options": options,
            "_matcher": None,
            "text_options_": options.vectorizer(),
            "support_terms_": terms,
            "vocabulary_": {term: i for i, term in enumerate(terms)},
        }
        super()._restore(values | derived)

    # ------------------------------------------------------------- fitted views

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of each selected term in nats, shape (k_,)."""
        check_is_fitted(self, "support_indices_")
        return self.support_gains_

    @property
    def coef_(self) -> np.ndarray:
        """Log-odds weight of each selected term, shape (1, k_)."""
        self._need_two_classes("coef_")
        logit = self.feature_log_prob_ - self._absent_log_prob
        return (logit[1:] - logit[:1]) * getattr(self, "weights_", 1.0)

    @property
    def intercept_(self) -> np.ndarray:
        """Log-odds of a text without any selected term, shape (1,)."""
        self._need_two_classes("intercept_")
        absent = self._absent_log_prob * getattr(self, "weights_", 1.0)
        return np.diff(self._start_scores() + absent.sum(axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags
