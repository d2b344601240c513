"""Naive Bayes on the k best k-mers of sequences, or bytes in a row of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions
from bayesieve._description import Description, Saved
from bayesieve._scorecard import Scorecard
from bayesieve.counts import ClassCounts
from bayesieve.counts._from_sequences import SequenceSource, count_rows
from bayesieve.counts._row_labels import refuse_many_classes
from bayesieve.naive_bayes._raw import RawNaiveBayes
from bayesieve.sequences._key_names import KeyNames
from bayesieve.sequences._matching import KeyMatcher
from bayesieve.sequences._reading import Piece
from bayesieve.sequences._rows import checked_sequences, row_pieces
from bayesieve.sequences._spelling import Spelling
from bayesieve.utils._validation import refuse_one_class

__all__ = ["SparseSequenceNB"]

#: Bytes of rows of all k-mers, from which on they are too many to choose k by them.
_MOST_CHOOSING = 2**31
_BYTES_PER_ENTRY = 24


class SparseSequenceNB(RawNaiveBayes):
    r"""Naive Bayes on few k-mers of sequences, or few byte n-grams of files.

    All k-mers are counted by class in the compiled core, as 64-bit numbers, so hundreds
    of millions of them fit into memory or spill to disk; strings are made for those
    that are selected. k-mers that occur in the same rows are one feature with many
    members.

    ``SparseSequenceNB(20)`` gives the 20 k-mers that explain the labels best, **exact**
    unless the time limit is hit (**bounded** then, with a `GapWarning`), with the proof
    in `certificate_`. ``weights=True`` gives a better classifier: each k-mer has a
    weight in [0, 1], so that neighbours that say the same count once.

    A row is a sequence given as str or bytes, or a file given as `pathlib.Path`: FASTA
    or FASTQ, packed or not, all records of which are one row.

    Parameters
    ----------
    k : int, float, "all", "elbow", "bic", "cv" or "1se", default=100
        Number of features, as in `SparseTextNB`.
    alphabet : {"dna", "bytes"}, default="dna"
        Whether rows are DNA or RNA, or bytes of any kind, read as they are.
    length : int, default=None
        Bases of a k-mer, 1 to 31, or bytes in a row, 1 to 8. None for 31 and 6.
    canonical : bool, default=True
        Whether a k-mer and its reverse complement are one, called by the first of the
        two in alphabetical order.
    merge_copies : bool, default=True
        Whether k-mers that occur in the same training rows are one feature, called by
        the first of them; `members_` has them all. New rows are asked for the first.
    model : {"bernoulli", "multinomial"}, default="bernoulli"
        Whether the presence and absence of a k-mer count, or its occurrences.
    weights : bool, default=False
        Whether each feature gets a weight in [0, 1]. The rows are read twice.
    regularization : float, optional
        With ``weights=True``: the penalty of the weights in place of `k`.
    alpha : float or array of shape (n_features_in_,), default=1.0
        Smoothing added to every count.
    fit_prior : bool, default=True
        Learn class probabilities; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), optional
        Class probabilities, not learnt.
    min_df, max_df : int or float, default=1 and 1.0
        k-mers in fewer, or more, rows than this are not considered (Bernoulli model).
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
        A label for each feature; see `SparseTextNB`.
    max_per_group : int, optional
        See `groups`.
    feature_cost : array-like of shape (n_features,) or dict of names, optional
        What each feature costs, >= 0: the selected cost at most `budget`.
    budget : float, optional
        See `feature_cost`.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`.
    verbose : bool, default=False
        Whether to show how far the choice of k is.

    Attributes
    ----------
    support_terms_ : list of str, length k_
        The selected k-mers, sorted; bytes as hexadecimal digits.
    members_ : list of lists of str, length k_
        All k-mers that each of them stands for, itself among them.
    k_ : int
        Number of selected features.
    certificate_ : Certificate
        Objective, proven bound and gap; with ``weights=True`` of the weights, among the
        candidates.
    weights_, lambda_, dual_gap_, path_, lambda_best_, lambda_1se_, cv_results_
        With ``weights=True``: as in `SparseTextNB`.
    feature_log_prob_ : ndarray of shape (n_classes, k_)
        Log-probability of each selected k-mer given the class.
    coef_, intercept_ : ndarray of shape (1, k_) and (1,)
        Two classes only: log-odds weights, and log-odds of a row without any of them.
    feature_importances_ : ndarray of shape (k_,)
        Gain of each selected k-mer in nats.
    document_frequency_ : ndarray of shape (k_,), or None
        Number of rows with each selected k-mer, if it is known.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        Number of features that were considered: of copies one.
    support_indices_ : ndarray of int64 of shape (k_,)
    support_ : ndarray of bool of shape (n_features_in_,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.

    See Also
    --------
    ClassCounts.from_sequences, ClassCounts.from_bytes : The counts alone.
    SparseTextNB : For texts.

    Notes
    -----
    One pass over the rows to count, O(bases + k-mers log k-mers), and about four over
    the table of counts.

    Examples
    --------
    >>> from bayesieve import SparseSequenceNB
    >>> sequences = ["ACGTTGCA", "CCGTTGCA", "ACGTAACA", "GCGTAACA"]
    >>> model = SparseSequenceNB(1, length=4).fit(sequences, ["r", "r", "s", "s"])
    >>> model.support_terms_, model.members_
    (['AACA'], [['AACA', 'CGTA', 'GTAA', 'GTTA']])
    >>> model.predict(["TTGTAACA", "AAAAAAAA"])
    array(['s', 'r'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RawNaiveBayes._parameter_constraints,
        "alphabet": [StrOptions({"dna", "bytes"})],
        "length": [Interval(Integral, 1, 31, closed="both"), None],
        "canonical": ["boolean"],
        "merge_copies": ["boolean"],
    }
    _rows_noun = "sequences"
    _weighted_hint = "repeat a sequence to count it twice."
    _no_terms = "they are shorter than 'length', or have letters that are no bases"
    _saved: ClassVar[dict[str, Saved]] = {
        "_member_keys": Saved("integers", "members"),
        "_member_count": Saved("integers", "k"),
    }

    def __init__(
        self,
        k: Any = 100,
        *,
        alphabet: str = "dna",
        length: int | None = None,
        canonical: bool = True,
        merge_copies: bool = True,
        model: str = "bernoulli",
        weights: bool = False,
        regularization: float | None = None,
        alpha: Any = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_df: float = 1,
        max_df: float = 1.0,
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
        self.alphabet = alphabet
        self.length = length
        self.canonical = canonical
        self.merge_copies = merge_copies
        self.model = model
        self.weights = weights
        self.regularization = regularization
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_df = min_df
        self.max_df = max_df
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

    # ------------------------------------------------------------------ fitting

    def fit_files(
        self,
        paths: Any,
        labels: Any = None,
        *,
        records: bool = False,
        checkpoint: Any = None,
        progress: bool = False,
    ) -> Self:
        """Fit sequences in files, without reading them into memory.

        Parameters
        ----------
        paths, labels, records, checkpoint, progress
            As in `ClassCounts.from_sequences` and `from_bytes`: a file is a row, or
            with `records` each record of one. With ``weights=True`` files are read
            twice or more, and one at a time is held in memory.

        Returns
        -------
        self
        """
        self._validate_params()
        name = type(self).__name__
        if records and self.alphabet != "dna":
            raise ValueError(
                f"The 'records' parameter of {name}.fit_files must be False with "
                "alphabet='bytes'. Got True."
            )
        source = SequenceSource(
            paths, labels, self._cutting(), records=records, owner=f"{name}.fit_files"
        )
        counts = source.count(
            ClassCounts,
            binary=self.model == "bernoulli",
            merge_copies=self.merge_copies,
            # Rare ones need not become columns first.
            min_df=self.min_df if self.model == "bernoulli" else 1,
            checkpoint=checkpoint,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        refuse_one_class(name, counts.classes, where=" in the labels")
        if not self.weights:
            return self.fit_counts(self._of_model(counts))

        def batches() -> Iterator[tuple[list[Piece], np.ndarray]]:
            yield from source.read_again(counts.classes)

        return self._fit_weights(self._of_model(counts), batches)

    def _fit_weights(self, counts: ClassCounts, batches: Any) -> Self:
        if self.k in ("cv", "1se") and self.regularization is None:
            name, entries = type(self).__name__, float(counts.feature_count.sum())
            if entries > self._most_choosing:
                raise ValueError(
                    f"The 'k' parameter of {name} must be an int, a share, 'elbow' or "
                    f"'bic' for so many k-mers. Got {self.k!r} for {entries:,.0f} "
                    "occurrences of features in rows, with memory for "
                    f"{self._most_choosing:,.0f}. Hint: a larger memory_budget or "
                    "min_df."
                )
        return super()._fit_weights(counts, batches)

    @property
    def _most_choosing(self) -> float:
        """Occurrences of features in rows up to which rows can choose `k`."""
        return (self.memory_budget or _MOST_CHOOSING) / _BYTES_PER_ENTRY

    # ---------------------------------------------------------------- sequences

    @property
    def _noun(self) -> str:  # type: ignore[override]
        return "k-mers" if self.alphabet == "dna" else "n-grams"

    def _cutting(self) -> Spelling:
        name = type(self).__name__
        if self.alphabet == "bytes":
            length = 6 if self.length is None else self.length
            return Spelling.of_bytes(length, owner=name, parameter="length")
        length = 31 if self.length is None else self.length
        return Spelling.of_kmers(length, self.canonical, owner=name, parameter="length")

    def _counting_call(self) -> str:
        of = "from_sequences" if self.alphabet == "dna" else "from_bytes"
        return f"ClassCounts.{of}(..., binary={self.model == 'bernoulli'})"

    def _count_options(self) -> dict[str, Any]:
        return {**super()._count_options(), "merge_copies": self.merge_copies}

    def _count(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> ClassCounts:
        if classes is not None and self.merge_copies:
            raise ValueError(
                f"The 'merge_copies' parameter of {type(self).__name__} must be False "
                "for partial_fit: k-mers that are copies in one chunk may not be in "
                "the next. Got True."
            )
        return super()._count(X, y, classes, sample_weight, first=first)

    def _checked_raw(self, X: Any) -> Any:
        return checked_sequences(X, self._cutting(), owner=type(self).__name__)

    def _counts_of(
        self, rows: Any, codes: np.ndarray, classes: np.ndarray
    ) -> ClassCounts:
        refuse_many_classes(classes.size, type(self).__name__)
        return count_rows(
            ClassCounts,
            rows,
            codes,
            classes,
            self._cutting(),
            binary=self.model == "bernoulli",
            merge_copies=self.merge_copies,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
        )

    def _solve(self, counts: ClassCounts) -> None:
        names, own = counts.feature_names, self._cutting()
        if not isinstance(names, KeyNames) or names.spelling != own:
            found = names.spelling if isinstance(names, KeyNames) else "other features"
            raise ValueError(
                f"{type(self).__name__} needs counts of {own}. Got counts of {found}. "
                "Hint: count with from_sequences or from_bytes, and set alphabet, "
                "length and canonical alike."
            )
        super()._solve(counts)

    def _new_matcher(self, names: Any, cutting: Spelling) -> KeyMatcher:
        if not isinstance(names, KeyNames):
            names = KeyNames(cutting.keys(names.tolist())[0], cutting)
        return KeyMatcher(names, n_jobs=self.n_jobs)

    def _matched(self, matcher: Any, rows: Any) -> Any:
        binary = self.model == "bernoulli"
        if isinstance(rows[0], Piece):
            return matcher.rows(rows, binary=binary)
        with closing(row_pieces(rows, matcher.names.spelling)) as pieces:
            return matcher.rows(pieces, binary=binary)

    def _keep_terms(self, counts: ClassCounts) -> None:
        super()._keep_terms(counts)
        if counts.copies is None:
            keys, _ = self._options.keys(self.support_terms_)
            self._member_keys = keys.view(np.int64)
            self._member_count = np.ones(self.k_, dtype=np.int64)
            return
        members = counts.copies.members_of(self.support_indices_)
        keys = np.concatenate([np.empty(0, np.uint64), *(own.keys for own in members)])
        self._member_keys = keys.view(np.int64)  # as files hold whole numbers
        self._member_count = np.array([len(own) for own in members], dtype=np.int64)

    @property
    def members_(self) -> list[list[str]]:
        """All k-mers that each selected one stands for."""
        check_is_fitted(self, "support_indices_")
        names = self._options.names(self._member_keys.view(np.uint64))
        ends = np.cumsum(self._member_count).tolist()
        return [names[a:b] for a, b in pairwise([0, *ends])]

    # ------------------------------------------------------- description and files

    def _describe(self) -> Description:
        found = super()._describe()
        others = dict(
            zip(self.support_indices_.tolist(), self._member_count - 1, strict=True)
        )
        named = self._named()

        def with_copies(columns: np.ndarray) -> list[str]:
            return [
                f"{name} (+{others[j]:,} {'copy' if others[j] == 1 else 'copies'})"
                if others.get(j)
                else name
                for j, name in zip(columns.tolist(), named(columns), strict=True)
            ]

        return replace(found, named=with_copies)

    def _scorecard(self) -> Scorecard:
        raise ValueError(
            f"{type(self).__name__} cannot be exported: no other engine cuts sequences "
            "into k-mers as it does. Hint: save_model keeps it for bayesieve."
        )

    def _read_cutting(self, given: dict[str, Any]) -> Spelling:
        if given.get("is_dna"):
            length, canonical = given["length"], given["canonical"]
            return Spelling.of_kmers(length, canonical, owner="the file")
        return Spelling.of_bytes(given["length"], owner="the file")

    def _restore(self, values: dict[str, Any]) -> None:
        sizes, keys = values["_member_count"], values["_member_keys"]
        # Each at least one and at most all of them: no sum can overflow.
        if (sizes < 1).any() or (sizes > keys.size).any() or sizes.sum() != keys.size:
            raise ValueError("'_member_count' does not count the members")
        given = self._read_cutting(values["_options"])
        bits = (2 if given.is_dna else 8) * given.length
        if (keys.view(np.uint64) >> np.uint64(bits - 1) >> np.uint64(1)).any():
            raise ValueError("'_member_keys' has what is no k-mer")
        super()._restore(values)
