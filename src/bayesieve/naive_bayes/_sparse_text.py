"""Naive Bayes on the k best terms of raw texts, without a document-term matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import StrOptions
from bayesieve._scorecard import InputColumn, Scorecard, Slopes, TextTerms
from bayesieve.counts import ClassCounts
from bayesieve.counts._from_text import TextSource
from bayesieve.counts._texts import count_texts
from bayesieve.io._read_options import LONGEST_ROW
from bayesieve.naive_bayes._raw import RawNaiveBayes
from bayesieve.naive_bayes._text_arguments import checked_texts
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import DEFAULT_PATTERN, TextOptions
from bayesieve.text._spans import term_spans
from bayesieve.text._term_names import TermNames
from bayesieve.text._unspaced import warn_if_unspaced
from bayesieve.utils._validation import refuse_one_class

__all__ = ["SparseTextNB"]


class SparseTextNB(RawNaiveBayes):
    r"""Naive Bayes on few terms of raw texts: weighted to predict, or proven best.

    ``SparseTextNB("1se", weights=True)`` classifies best: the number of terms is chosen
    by texts that were not fitted, and each term has a weight in [0, 1], so that terms
    that say the same count once. ``SparseTextNB(20)`` gives the 20 terms that explain
    the labels best, with a proof that no others do better; they make a worse classifier
    than the weights.

    Terms are counted by class in the compiled core, so counting never makes a
    document-term matrix, and prediction looks for the selected terms only. Without
    weights it is the same model as `CountVectorizer` followed by `SparseMultinomialNB`
    (or `SparseBernoulliNB`): same terms, same probabilities. The support is **exact**
    unless the time limit is hit; then it is **bounded**, with a `GapWarning` and the
    true gap in `certificate_`. Weights are **exact** among the candidates up to
    `dual_gap_`.

    Parameters
    ----------
    k : int, float, "all", "elbow", "bic", "cv" or "1se", default=1000
        Number of terms, a share of them in (0, 1), all of them (plain naive Bayes), or
        chosen from the path over k. Above the number of terms, all are used, with a
        warning. With ``weights=True`` also "cv", the number of least log loss in texts
        that were not fitted (five folds; a fifth held out of many texts), or "1se", the
        fewest whose texts lose no more than one standard error against it.
    model : {"multinomial", "bernoulli"}, default="multinomial"
        Whether the occurrences of a term count, or its presence and its absence.
    weights : bool, default=False
        Whether each term gets a weight in [0, 1], optimised as in
        `SelectiveMultinomialNB` (or `SelectiveBernoulliNB`): terms that say the same
        share one weight. The texts are read twice, and rows of the candidate terms,
        five times k, are kept in memory up to `memory_budget`.
    regularization : float, optional
        With ``weights=True``: the penalty of the weights in place of `k`, as in
        `SelectiveMultinomialNB` with ``relaxed=False``.
    alpha : float or array of shape (n_features_in_,), default=1.0
        Smoothing added to every count.
    fit_prior : bool, default=True
        Learn class probabilities; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), optional
        Class probabilities, not learnt.
    analyzer, ngram_range, lowercase, strip_accents, token_pattern
        As for CountVectorizer. Patterns other than runs of ``\w`` are found by `re`,
        slower.
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
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.
    memory_budget : int or None, default=None
        Bytes for counting; beyond, tables go to temporary files. None: no limit.
    include, exclude : names, numbers or a mask of columns, optional
        Features that must be selected, and that must not.
    groups : array-like of shape (n_features,), lists of columns or dict, optional
        A label for each column; those without one (None, NaN) are alone. Groups are
        selected whole and k counts groups; with `max_per_group` at most so many columns
        of each are.
    max_per_group : int, optional
        See `groups`.
    feature_cost : array-like of shape (n_features,) or dict of names, optional
        What each feature costs, >= 0: the selected cost at most `budget`.
    budget : float, optional
        See `feature_cost`; with ``k="all"`` it alone decides how many.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.
    verbose : bool, default=False
        Whether to show how far the choice of k is, on a terminal or in a notebook.

    Attributes
    ----------
    support_terms_ : list of str, length k_
        The selected terms, sorted.
    vocabulary_ : dict of str to int
        Position of each selected term, as that of a CountVectorizer.
    k_ : int
        Number of selected terms.
    certificate_ : Certificate
        Objective, proven bound and gap. With ``weights=True`` of any k terms with
        weights in [0, 1] **among the candidates**: counting all terms in every text
        once more would cost as much as the fit, so others are not looked at again.
    weights_ : ndarray of shape (k_,)
        With ``weights=True``: how much of its naive Bayes weight each term keeps.
    lambda_, dual_gap_, path_
        With ``weights=True``: as in `SelectiveMultinomialNB`, but the gap is that over
        the candidates.
    lambda_best_, lambda_1se_, cv_results_
        With ``k="cv"`` or ``"1se"``: as in `SelectiveMultinomialNB`.
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

    The model to predict with:

    >>> from bayesieve.datasets import load_sms_spam
    >>> messages, labels = load_sms_spam(return_X_y=True)
    >>> model = SparseTextNB("1se", weights=True).fit(messages, labels)
    >>> model.predict(["You have won a prize! Call now to claim", "See you at home"])
    array(['spam', 'ham'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RawNaiveBayes._parameter_constraints,
        "analyzer": [StrOptions({"word", "char", "char_wb"})],
        "ngram_range": [tuple, list],
        "lowercase": ["boolean"],
        "strip_accents": [StrOptions({"ascii", "unicode"}), None],
        "token_pattern": [str],
        "stop_words": [StrOptions({"english"}), list, tuple, set, frozenset, None],
        "binary": ["boolean"],
        "decode_error": [StrOptions({"strict", "ignore", "replace"})],
    }
    _rows_noun = "texts"
    _weighted_hint = (
        "use CountVectorizer with SparseMultinomialNB, which takes weights."
    )
    _no_terms = (
        "they are empty, or hold nothing but stop words or characters that are not "
        "part of words"
    )

    def __init__(
        self,
        k: Any = 1000,
        *,
        model: str = "multinomial",
        weights: bool = False,
        regularization: float | None = None,
        alpha: Any = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        token_pattern: str = DEFAULT_PATTERN,
        stop_words: Any = None,
        binary: bool = False,
        min_df: float = 1,
        max_df: float = 1.0,
        decode_error: str = "strict",
        exact: bool = True,
        time_limit: float | None = 10.0,
        n_jobs: int | None = -1,
        memory_budget: int | None = None,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        max_per_group: int | None = None,
        feature_cost: Any = None,
        budget: float | None = None,
        keep_counts: bool = False,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.model = model
        self.weights = weights
        self.regularization = regularization
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
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.max_per_group = max_per_group
        self.feature_cost = feature_cost
        self.budget = budget
        self.keep_counts = keep_counts
        self.verbose = verbose

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
        texts = TextSource(
            source,
            text,
            label,
            sql=sql,
            on_bad_rows=on_bad_rows,
            max_row_bytes=max_row_bytes,
            n_jobs=self.n_jobs,
            again=f"{name} with weights=True" if self.weights else None,
        )
        counts = texts.count(
            ClassCounts,
            self._cutting(),
            checkpoint=checkpoint,
            progress=progress,
            memory_budget=self.memory_budget,
        )
        refuse_one_class(name, counts.classes, where=f" in {label!r}")
        counts = self._of_model(counts)
        if not self.weights:
            return self.fit_counts(counts)
        return self._fit_weights(counts, lambda: texts.read_again(counts.classes))

    # ------------------------------------------------------------------ texts

    def _count_options(self) -> dict[str, Any]:
        words = self.stop_words
        return {
            **super()._count_options(),
            # As it was written, not the list of all English stop words.
            "stop_words": words if words in (None, "english") else sorted(words),
        }

    def _cutting(self) -> TextOptions:
        return TextOptions(
            analyzer=self.analyzer,
            ngram_range=self.ngram_range,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            token_pattern=self.token_pattern,
            stop_words=self.stop_words,
            # Presence is all the Bernoulli model looks at, also at prediction.
            binary=self.binary or self.model == "bernoulli",
        )

    def _checked_raw(self, X: Any) -> Any:
        return checked_texts(X, owner=type(self).__name__)

    def _counts_of(
        self, rows: Any, codes: np.ndarray, classes: np.ndarray
    ) -> ClassCounts:
        options = self._cutting()
        counts = count_texts(
            ClassCounts,
            rows,
            codes,
            classes,
            options,
            n_jobs=self.n_jobs,
            memory_budget=self.memory_budget,
            decode_error=self.decode_error,
        )
        warn_if_unspaced(counts.feature_names, options)
        return counts

    def _new_matcher(self, names: Any, cutting: Any) -> TermMatcher:
        return TermMatcher(names, cutting, n_jobs=self.n_jobs)

    def _matched(self, matcher: Any, rows: Any) -> Any:
        return matcher.rows(rows, n_jobs=self.n_jobs, decode_error=self.decode_error)

    def _derived(self, names: TermNames, options: Any) -> dict[str, Any]:
        found = super()._derived(names, options)
        terms = found["support_terms_"]
        return found | {
            "text_options_": options.vectorizer(),
            "vocabulary_": {term: i for i, term in enumerate(terms)},
        }

    def _scorecard(self) -> Scorecard:
        check_is_fitted(self)
        slopes = Slopes.from_logs(*self._term_logs())
        terms = TextTerms(0, tuple(self.support_terms_), self._options, slopes)
        return Scorecard(
            self.classes_,
            self._start_scores(),
            (InputColumn("text", 0, "text"),),
            (terms,),
            1,
            owner=type(self).__name__,
        )

    def _spans(self, text: str) -> list[tuple[int, int, int]]:
        """Where the selected terms stand in a text: start, end, number of the term.

        Spans may overlap, as those of n-grams do. A term has as many as its count,
        whether or not the model looks at more than its presence.
        """
        check_is_fitted(self)
        return term_spans(text, self._options, self.vocabulary_)

    @classmethod
    def _read_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        if "threads" in given:  # of version 0.1, whose None was one per processor
            threads = given.pop("threads")
            given["n_jobs"] = -1 if threads is None else threads
        return super()._read_parameters(given)

    def _read_cutting(self, given: dict[str, Any]) -> TextOptions:
        options = TextOptions(**given)
        if options.ngram_range[1] >= 2**31:
            raise ValueError("'_options' asks for n-grams that no text has")
        return options
