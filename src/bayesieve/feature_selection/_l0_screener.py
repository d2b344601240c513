"""L0NB: keep the features whose information pays for itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from bayesieve._compat import StrOptions
from bayesieve._description import Saved
from bayesieve.counts import ClassCounts
from bayesieve.feature_selection._screening_base import BinaryScreener
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._additive_rules import (
    best_by_bic_under,
    solve_additive_under,
    worth_their_price,
)
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._rules import Rules
from bayesieve.solvers._screening import (
    bic_threshold,
    mutual_information_screening,
    truncated_estimates,
)
from bayesieve.utils._device_arrays import in_host_memory, is_on_device
from bayesieve.utils._validation import refuse_one_class
from bayesieve.utils._warnings import warn_of_small_weights

__all__ = ["L0Screener"]


class L0Screener(BinaryScreener):
    """Keep the binary features whose information on the class pays for itself.

    Maximises the naive Bayes likelihood less a price for each feature (L0NB), which
    ranks features by their mutual information I_j with the class under the double
    truncated estimates. **Exact**, in closed form: the set is the optimum for its
    price, its size or BIC. Features count one by one: two that tell something only
    together (XOR) are out of reach of any marginal screening.

    Parameters
    ----------
    k : int, optional
        Keep exactly so many features, those of largest I_j. Fewer, with a warning, if
        fewer vary.
    criterion : {"bic"}, default="bic"
        Without `k` and `regularization`, keep ``I_j > (K-1) log(n) / (2n)``, the
        minimiser of BIC, and at least one feature.
    regularization : float, optional
        Price lambda of a feature in nats for each row: keep ``I_j > regularization``,
        which may be none.
    binarize : float or None, default=0.0
        Values above it count as present. None: the data must be 0 and 1.
    include, exclude, groups, max_per_group, feature_cost, budget
        Rules for what is kept, as in `NaiveFeatureSelector`.
    time_limit : float or None, default=10.0
        Seconds that a search within a budget may take.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Mutual information I_j in nats for each row; 0 for a feature that is present in
        no row or in every row. Such a feature is kept only when BIC has no other.
    bic_threshold_ : float
        ``(K-1) log(n) / (2n)``, whether it was used or not.
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Double truncated estimates of the probability of presence, never 0 or 1.
        Computed on demand; above 10 million numbers only with ``keep_counts=True``.
    classes_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SparseBernoulliNB : With ``k="bic", smoothing="truncated"``, the classifier on the
        same features.
    FDRScreener : A bound on the share of false discoveries instead of BIC.

    Notes
    -----
    One pass over X and one over the table of counts (n_classes x n_features); beside
    it, a few arrays of length n_features. With sample weights, n is their sum. A dense
    array or CSR matrix on a device is counted there (`bayesieve.counts.class_sums`);
    the table is screened on the host.

    The estimates hold counts one row away from none and from all rows of a class. The
    paper's own do so from below only. Beside a class of very few rows this lends rare
    features information that they do not have: with 995 rows against 5, a feature in a
    single row of the large class counts as one row of the small class as well and
    passes BIC. There, `FDRScreener` (no smoothing) is the safer choice.

    References
    ----------
    G. Guan, N. Shan, J. Guo, "Feature screening for ultrahigh dimensional binary data".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import L0Screener
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> X = rng.random((300, 50)) < 0.5
    >>> X[:, [3, 8]] = rng.random((300, 2)) < 0.3 + 0.4 * y[:, None]
    >>> L0Screener().fit(X, y).support_indices_
    array([3, 8])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryScreener._parameter_constraints,
        "criterion": [StrOptions({"bic"})],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "bic_threshold_": Saved("float", domain="known")
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        criterion: str = "bic",
        regularization: float | None = None,
        binarize: float | None = 0.0,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        max_per_group: int | None = None,
        feature_cost: Any = None,
        budget: float | None = None,
        time_limit: float | None = 10.0,
        keep_counts: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.regularization = regularization
        self.binarize = binarize
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.max_per_group = max_per_group
        self.feature_cost = feature_cost
        self.budget = budget
        self.time_limit = time_limit
        self.keep_counts = keep_counts
        self.n_jobs = n_jobs

    def _count(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> ClassCounts:
        X = in_host_memory(X)
        if not is_on_device(X):
            return super()._count(X, y, classes, sample_weight, first=first)
        validate_data(self, X, reset=first, skip_check_array=True)
        counts = ClassCounts.from_matrix(
            X, y, sample_weight, True, binarize=self.binarize, classes=classes
        )
        refuse_one_class(type(self).__name__, counts.classes)
        if sample_weight is not None:
            warn_of_small_weights(float(counts.class_count.sum()), X.shape[0])
        return counts

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        self._check_one_way("k", "regularization")
        name = type(self).__name__
        screening, problem = mutual_information_screening(counts, solver=name)
        self.scores_ = screening.scores
        self.bic_threshold_ = bic_threshold(counts.n_classes, problem.n_rows)
        rules = self._checked_rules(counts)
        if rules is not None:
            return self._screen_under(problem, rules)
        if self.k is not None:
            return screening.best(self.k)
        if self.regularization is not None:
            return screening.above(self.regularization)
        columns = problem.best_by_bic()
        return columns if columns.shape[0] else screening.at_least_one(1)

    def _screen_under(self, problem: AdditiveProblem, rules: Rules) -> np.ndarray:
        limits, name = Limits.starting_now(self.time_limit, None), type(self).__name__
        if self.k is not None:
            found = solve_additive_under(problem, self.k, rules, limits, name)
        elif self.regularization is not None:
            price = self.regularization * problem.n_rows
            found = worth_their_price(problem, price, rules, limits)
        else:
            found = best_by_bic_under(problem, rules, limits)
        return found.support

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        return truncated_estimates(counts, solver=type(self).__name__)
