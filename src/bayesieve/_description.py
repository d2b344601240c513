"""What a fitted estimator says of itself: its features, its proof, what is saved.

Each estimator declares the fitted attributes of its files (`_saved`) and describes its
features (`_describe`) in its own class. Model files, reports, notebooks, displays and
the command line read the two and look at nothing else, so a new attribute has one home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any, ClassVar

import numpy as np

from bayesieve._pipeline import ColumnNames, OpenedModel, open_model
from bayesieve._scorecard import Scorecard
from bayesieve.counts import ClassCounts
from bayesieve.model_selection._choice import best_and_sparsest
from bayesieve.partition._averaged import Shape
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._pairs import PairShape
from bayesieve.solvers import Alternatives, Certificate
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._alternatives import alternatives_of
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.solvers._rule_input import rules_of
from bayesieve.solvers._rules import Rules
from bayesieve.solvers._selection import build_problem
from bayesieve.utils._drawing import drawn
from bayesieve.weights._weight_path import WeightPath

__all__ = [
    "CrossValidation",
    "Description",
    "Saved",
    "SelfDescribing",
    "SupportProblem",
    "TableColumns",
    "TableShapes",
    "class_contrast",
    "class_weights",
    "describe",
    "gain_detail",
    "logit",
    "mean_weights",
    "odds_name",
    "proof_sentence",
    "standardised_means",
    "weighted_detail",
    "weighted_sentence",
    "weighted_support_sentence",
]


class Saved:
    """How one fitted attribute stands in a model file, and how it is checked.

    Parameters
    ----------
    kind : str
        A kind of value that `bayesieve.persistence` can write and check.
    *shape : str or int
        Sizes, in letters that mean the same in all attributes of a model: C classes, m
        features, k selected ones.
    domain : {"finite", "counts", "logs", "known", "any"}, optional
        What its numbers may be, if not what is usual of the kind.
    optional : bool, default=False
        There after some ways of fitting only.
    old : bool, default=False
        In files of version 0.1 only: read, never written.
    """

    def __init__(
        self,
        kind: str,
        *shape: str | int,
        domain: str | None = None,
        optional: bool = False,
        old: bool = False,
    ) -> None:
        self.kind, self.shape, self.domain = kind, shape, domain
        self.optional, self.old = optional, old


@dataclass(frozen=True)
class CrossValidation:
    """Scores over sizes or penalties, and the two choices made from them."""

    values: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    best: float
    one_se: float
    name: str = "cross-validated score"

    @classmethod
    def from_scores(
        cls, sizes: np.ndarray, mean: np.ndarray, error: np.ndarray
    ) -> CrossValidation:
        """Best size, the smaller on ties, and the smallest within one error of it."""
        order = np.argsort(sizes, kind="stable")
        sizes, mean, error = sizes[order].astype(np.int64), mean[order], error[order]
        best, sparsest = best_and_sparsest(mean, error)
        return cls(sizes, mean, error, int(sizes[best]), int(sizes[sparsest]))

    @classmethod
    def from_results(
        cls,
        results: Mapping[str, Any],
        column: str,
        best: float | None = None,
        one_se: float | None = None,
        rows: Any = slice(None),
    ) -> CrossValidation:
        """Scores in some rows of a ``cv_results_``, over one of its columns."""
        folds = sum(name.startswith("split") for name in results)
        error = np.asarray(results["std_test_score"]) / np.sqrt(max(folds, 1))
        values, mean = np.asarray(results[column])[rows], results["mean_test_score"]
        mean, error = np.asarray(mean)[rows], error[rows]
        if best is None or one_se is None:
            return cls.from_scores(values, mean, error)
        return cls(values, mean, error, best, one_se)


@dataclass(frozen=True)
class SupportProblem:
    """The problem whose best k features a model has: what its path over k needs."""

    model: str
    options: dict[str, Any]
    exact: bool = True
    time_limit: float | None = None
    rules: Mapping[str, Any] = field(default_factory=dict)

    def build(
        self, counts: ClassCounts, owner: str
    ) -> tuple[MultinomialProblem | AdditiveProblem, Rules | None]:
        """The problem of some counts, ready for any k, and its rules."""
        names = counts.feature_names
        rules = rules_of(counts.n_features, names, **self.rules, owner=owner)
        problem = build_problem(
            counts, model=self.model, rules=rules, owner=owner, **self.options
        )
        return problem, rules

    def alternatives(
        self,
        counts: ClassCounts,
        k: int,
        *,
        within: float,
        limit: int,
        time_limit: float | None,
        owner: str,
    ) -> Alternatives:
        """Supports of k features that are nearly as good as the best."""
        problem, rules = self.build(counts, owner)
        return alternatives_of(
            problem,
            k,
            within=within,
            limit=limit,
            rules=rules,
            time_limit=time_limit,
            names=counts.feature_names,
            owner=owner,
        )


@dataclass(frozen=True)
class TableColumns:
    """The columns of a mixed table, all of them: how each is cut, what it weighs.

    `n_texts` of them are texts, which are not cut: their n-grams have weights.
    """

    partitions: Sequence[ColumnPartition]
    weights: np.ndarray | None = None
    importances: np.ndarray | None = None
    shapes: TableShapes | None = None
    n_texts: int = 0


@dataclass(frozen=True)
class TableShapes:
    """Averaged shapes of all columns of a table, and the pairs that have a weight.

    Attributes
    ----------
    columns : sequence of Shape
    pairs : sequence of PairShape
    pair_weights : ndarray of shape (n_pairs,)
    pair_sizes : ndarray of shape (n_pairs,)
        Mean size of the term of each pair in the scores, in nats.
    first_pair : int
        Number of the first pair among the features, after columns and n-grams.
    shares : ndarray of shape (n_classes,)
        Class shares that the shapes are relative to.
    ranges : ndarray of shape (n_columns, 2) or None
        Least and largest number of each column, where they are known.
    """

    columns: Sequence[Shape]
    pairs: Sequence[PairShape]
    pair_weights: np.ndarray
    pair_sizes: np.ndarray
    first_pair: int
    shares: np.ndarray
    ranges: np.ndarray | None


@dataclass(frozen=True)
class Description:
    """What a fitted model says of the features it uses.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
    n_features : int
        Features there were to choose among.
    indices : ndarray of int64 of shape (k,)
        Columns in use; n-grams of a table's texts are numbered after its columns, and
        pairs of its columns after these.
    score : ndarray of shape (k,)
        What makes one feature stronger than another.
    score_name : str
    sentence, detail : str
        What is proven of the model, in plain words and in numbers.
    noun : str
        What the features are called: "features", "terms", "columns", "k-mers" or
        "n-grams".
    named : callable or None
        Gives the names of an array of columns; None where they have none.
    weights : ndarray of shape (1, k) or (n_classes, k), or None
        One row of signed weights for two classes (towards the second), or of weights
        without a sign; a row for each class where there are more. May be infinite.
    weight_name : str
    signed : bool
        Whether a weight speaks for a class by its sign.
    towards : ndarray of shape (k,) or None
        The class that each feature speaks for, None for features that speak for one or
        another; where the weights do not say it.
    discounts : ndarray of shape (k,) or None
        Factor in [0, 1] that is already part of `weights`.
    strength : ndarray of shape (k,) or None
        Where there are discounts: spread of the naive Bayes weight without them.
    means, deviations : ndarray of shape (n_classes, k) or None
        Class means and standard deviations of measurements.
    certificate, dual_gap, stopped
        As in the estimators, None where they have none.
    is_weighted : bool
        Whether the certificate is about features with weights, not about the likelihood
        of a support.
    class_count : ndarray of shape (n_classes,) or None
    counts : ClassCounts or None
        What the model was fitted on, where it is kept.
    pruned : callable or None
        Takes from counts what the model never looked at.
    problem : SupportProblem or None
    sizes, penalties : CrossValidation or None
        Cross-validated scores over k, and over the penalty of the weights.
    weight_path : WeightPath or None
    penalty : float or None
        The one on the path that was chosen.
    table : TableColumns or None
    total : int
        Features in use; those here may be the strongest of them.
    n_used : int
        The same, but a pair is none: its columns are in use, alone or in pairs.
    owner : str
        Name of the estimator's class.
    """

    labels: np.ndarray
    n_features: int
    indices: np.ndarray
    score: np.ndarray
    score_name: str
    sentence: str
    detail: str = ""
    noun: str = "features"
    named: Callable[[np.ndarray], list[str]] | None = None
    weights: np.ndarray | None = None
    weight_name: str = ""
    signed: bool = False
    towards: np.ndarray | None = None
    discounts: np.ndarray | None = None
    strength: np.ndarray | None = None
    means: np.ndarray | None = None
    deviations: np.ndarray | None = None
    certificate: Certificate | None = None
    dual_gap: float | None = None
    is_weighted: bool = False
    stopped: str | None = None
    class_count: np.ndarray | None = None
    counts: ClassCounts | None = None
    pruned: Callable[[ClassCounts], ClassCounts] | None = None
    problem: SupportProblem | None = None
    sizes: CrossValidation | None = None
    penalties: CrossValidation | None = None
    weight_path: WeightPath | None = None
    penalty: float | None = None
    table: TableColumns | None = None
    total: int = -1
    n_used: int = -1
    owner: str = ""

    def __post_init__(self) -> None:
        if self.total < 0:
            object.__setattr__(self, "total", int(self.indices.shape[0]))
        if self.n_used < 0:
            object.__setattr__(self, "n_used", self.total)

    @property
    def n_pairs(self) -> int:
        """Pairs and triples of columns among the features in use."""
        shapes = None if self.table is None else self.table.shapes
        return 0 if shapes is None else len(shapes.pairs)

    @property
    def classes(self) -> list[str]:
        """The class labels as text."""
        return [str(label) for label in self.labels.tolist()]

    @property
    def names(self) -> list[str]:
        """Names of the features here."""
        return self.names_of(self.indices)

    def names_of(self, columns: np.ndarray) -> list[str]:
        """Names of some columns, ``x7`` where there are none."""
        if self.named is not None:
            return self.named(columns)
        return [f"x{column}" for column in columns.tolist()]

    def weight_of_each(self) -> tuple[list[float | None], list[Any]]:
        """One weight a feature, and the class it speaks for where it has a sign.

        Two classes: towards the second one. More: how far the class it speaks for lies
        above the others. What is impossible is very unlikely here.
        """
        if self.weights is None:
            return [None] * self.total, [None] * self.total
        if not self.signed:
            told = self.towards
            towards = [None] * self.total if told is None else told.tolist()
            return self.weights[0].tolist(), towards
        labels = self.labels.tolist()
        weights = np.clip(self.weights, -700.0, 700.0)
        if len(labels) == 2:
            return weights[0].tolist(), [labels[int(w > 0)] for w in weights[0]]
        # Weights are centred, so the others are together as far below as one is above.
        lift = weights.max(axis=0) * len(labels) / (len(labels) - 1)
        return lift.tolist(), [labels[i] for i in np.argmax(weights, axis=0)]

    def strongest(self, limit: int | None = None) -> Description:
        """The features by falling score, only so many; ties go by column."""
        score = np.nan_to_num(self.score, nan=-np.inf)
        order = np.lexsort((self.indices, -score))[:limit]
        changed: dict[str, Any] = {
            name: getattr(self, name)[..., order]
            for name in _BY_FEATURE
            if getattr(self, name) is not None
        }
        return replace(self, **changed)


_BY_FEATURE = (
    "indices",
    "score",
    "weights",
    "towards",
    "discounts",
    "strength",
    "means",
    "deviations",
)


def describe(model: Any, feature_names: Any = None) -> Description:
    """What a fitted classifier, selector or encoder says of itself.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        Whatever `open_model` opens; an `OpenedModel` is taken as it is.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the estimator.
    """
    opened: OpenedModel = model
    if not isinstance(model, OpenedModel):
        opened = open_model(model, feature_names)
    own: SelfDescribing = opened.model
    names = opened.names
    if names is None:
        return replace(own._describe(), owner=type(own).__name__)
    found = own._under_names(names)._describe()
    table = found.table
    if table is not None and table.partitions:
        table = _renamed(table, list(names))
    named = names.of if found.named is None else found.named
    return replace(found, owner=type(own).__name__, table=table, named=named)


def _renamed(table: TableColumns, names: list[str]) -> TableColumns:
    """Columns of a table under other names."""
    shapes = table.shapes
    if shapes is not None:
        columns = [
            replace(own, bins=replace(own.bins, name=name))
            for own, name in zip(shapes.columns, names, strict=True)
        ]
        shapes = replace(shapes, columns=columns)
    partitions = [
        replace(own, name=name)
        for own, name in zip(table.partitions, names, strict=True)
    ]
    return replace(table, partitions=partitions, shapes=shapes)


class SelfDescribing:
    """Base of all estimators: a description for people and one for files."""

    #: The fitted attributes that a class adds to those of its bases.
    _saved: ClassVar[dict[str, Saved]] = {
        "n_features_in_": Saved("int", "m"),
        "feature_names_in_": Saved("names", "m", optional=True),
        "classes_": Saved("labels", "C"),
    }

    def _describe(self) -> Description:
        """Describe the fitted model, features in the order of their columns."""
        raise NotImplementedError(type(self).__name__)

    def _scorecard(self) -> Scorecard:
        """The fitted classifier as a plain additive score, for other engines."""
        raise TypeError(
            "Only classifiers give scores. "
            f"Got {type(self).__name__}, which predicts nothing."
        )

    def _description(self, **own: Any) -> Description:
        """A description with what all estimators call alike."""
        known = vars(self)
        common = {
            "labels": known["classes_"],
            "n_features": known["n_features_in_"],
            "indices": known.get("support_indices_"),
            "named": self._named(),
            "certificate": known.get("certificate_"),
            "class_count": known.get("class_count_"),
            "counts": known.get("counts_"),
        }
        return Description(**(common | own))

    def _named(self) -> Callable[[np.ndarray], list[str]] | None:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return None
        if isinstance(names, ColumnNames):
            return names.of
        return lambda columns: [str(names[column]) for column in columns.tolist()]

    @property
    def _n_named(self) -> int | None:
        """Columns that can be given names; None for a model that names its own."""
        return int(vars(self)["n_features_in_"])

    def _under_names(self, names: ColumnNames) -> SelfDescribing:
        """The fitted model as if its columns had had these names, to be described."""
        named = object.__new__(type(self))
        vars(named).update(vars(self), feature_names_in_=names)
        return named

    # -------------------------------------------------------------------- model files

    @classmethod
    def _read_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Parameters of a file, maybe of an older version, as they are set now."""
        return given

    def _saved_attributes(self) -> dict[str, Saved]:
        """All attributes of a file, in the order they are read: sizes come first."""
        found: dict[str, Saved] = {}
        for base in reversed(type(self).__mro__):
            found |= vars(base).get("_saved", {})
        return found

    def _to_save(self) -> dict[str, Any]:
        """Values of the attributes as they are written; None is left out."""
        return {name: vars(self).get(name) for name in self._saved_attributes()}

    def _restore(self, values: dict[str, Any]) -> None:
        """Take the values of a file, each checked by itself; ValueError if wrong."""
        for name, value in values.items():
            setattr(self, name, value)

    # ---------------------------------------------------------------------- notebooks

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # A property, as in scikit-learn: it is not there when diagrams are off.
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: diagram() + drawn("notebook_summary", self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += drawn("notebook_summary", self)
        return bundle


# ------------------------------------------------------------------------------ weights


def class_contrast(logs: np.ndarray) -> np.ndarray:
    """Log-parameters (n_classes, k) as weights: second less first class, or centred.

    A class for which a feature is impossible has weight minus infinity, and then the
    others are compared among themselves.
    """
    if logs.shape[0] == 2:
        with np.errstate(invalid="ignore"):
            difference = logs[1:] - logs[:1]
        return np.where(np.isnan(difference), 0.0, difference)
    finite = np.isfinite(logs)
    total = np.where(finite, logs, 0.0).sum(axis=0)
    return np.asarray(logs - total / np.maximum(finite.sum(axis=0), 1))


def logit(log_probability: np.ndarray) -> np.ndarray:
    """Log-odds of presence from its log-probability."""
    with np.errstate(divide="ignore"):
        return np.asarray(log_probability - np.log(-np.expm1(log_probability)))


def standardised_means(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Differences of class means in standard deviations, as `class_contrast`."""
    spread = np.sqrt(variance.mean(axis=0))
    return class_contrast(mean / np.where(spread > 0, spread, 1.0))


def odds_name(labels: np.ndarray) -> str:
    """What the weights of `class_weights` are."""
    if labels.shape[0] == 2:
        return f"log-odds of {labels[1]}"
    return "log-probability less its mean"


def class_weights(
    labels: np.ndarray, logs: np.ndarray, discounts: np.ndarray | None = None
) -> dict[str, Any]:
    """The weights of a `Description` from log-parameters of shape (n_classes, k)."""
    weights, strength = class_contrast(logs), None
    if discounts is not None:
        with np.errstate(invalid="ignore"):
            strength = logs.max(axis=0) - logs.min(axis=0)
            # A feature without weight has no say, however certain it would be.
            weights = np.where(discounts > 0, discounts * weights, 0.0)
        strength = np.where(np.isnan(strength), 0.0, strength)
    return {
        "weights": weights,
        "weight_name": odds_name(labels),
        "signed": True,
        "discounts": discounts,
        "strength": strength,
    }


def mean_weights(
    labels: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> dict[str, Any]:
    """The weights of a `Description` from class means and variances."""
    two = labels.shape[0] == 2
    distance = "difference of means" if two else "mean less overall mean"
    return {
        "weights": standardised_means(mean, variance),
        "weight_name": f"{distance} (standard deviations)",
        "signed": True,
        "means": mean,
        "deviations": np.sqrt(variance),
    }


# ---------------------------------------------------------------------------- sentences


def share_in_percent(share: float) -> str:
    """A small share in plain words."""
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def proof_sentence(certificate: Certificate, k: int, n_features: int, noun: str) -> str:
    """What a certificate proves of k features, in one plain sentence."""
    one = noun.removesuffix("s")
    allowed = " that the rules allow" if certificate.under_rules else ""
    if k == 0:
        return f"No {one}{allowed} says anything about the label."
    if certificate.is_optimal and k == n_features:
        words = one if k == 1 else noun
        return f"All {k:,} {words} are used, so there is nothing to prove."
    if certificate.is_optimal and allowed:  # k may count groups: no number here
        return f"Proven: no other {noun}{allowed} explain the labels better."
    if certificate.is_optimal:
        others = f"{one} explains" if k == 1 else f"{k:,} {noun} explain"
        return f"Proven: no other {others} the labels better."
    these = f"this {one} is" if k == 1 else f"these {k:,} {noun} are"
    if not np.isfinite(certificate.relative_gap):
        return f"Not proven: it is open how far {these} from the best possible."
    remark = f"; {certificate.remark}" if certificate.remark else ""
    return (
        f"Proven: {these} at most {share_in_percent(certificate.relative_gap)} short "
        f"of the best {allowed.strip() or 'possible'}{remark}."
    )


def weighted_sentence(
    dual_gap: float, k: int, n_proven: int, noun: str, *, everything: bool = True
) -> str:
    """What the gap of the convex problem proves of the weights of `n_proven` columns.

    These are all there are, or the candidates that were looked at.
    """
    one = noun.removesuffix("s")
    if k == 0:
        return f"No {one} says anything about the label."
    if not np.isfinite(dual_gap):
        return "Not proven: it is open how far these weights are from the best ones."
    among = f"any of the {n_proven:,} {noun}"
    if not everything:
        among = f"the {n_proven:,} {noun} that were looked at"
    return (
        f"Proven: at this penalty, no other weights of {among} fit more than "
        f"{_at_most(float(dual_gap))} nats better."
    )


def _at_most(nats: float) -> str:
    """A bound of two digits that is no less, without powers of ten."""
    if nats <= 0.0:
        return "0"
    exact = Decimal(repr(nats))
    digit = max(exact.adjusted() - 1, -4)
    told = exact.quantize(Decimal(1).scaleb(min(digit, 0)), ROUND_CEILING)
    return f"{told:,f}".rstrip("0").rstrip(".") if "." in f"{told:f}" else f"{told:,f}"


def weighted_support_sentence(certificate: Certificate, noun: str) -> str:
    """What a certificate proves of k features with weights."""
    k, one = int(certificate.k), noun.removesuffix("s")
    others = f"{k:,} {noun}, whatever their weights, explain"
    if k == 1:
        others = f"{one}, whatever its weight, explains"
    if k == 0:
        return f"No {one} says anything about the label."
    if certificate.is_optimal:
        return f"Proven: no other {others} the labels better."
    if not np.isfinite(certificate.relative_gap):
        return f"Not proven: it is open how much better other {noun} could be."
    share = share_in_percent(certificate.relative_gap)
    gain = "gains" if k == 1 else "gain"
    return (
        f"Proven: no {k:,} weighted {one if k == 1 else noun} {gain} more than {share} "
        "over these."
    )


def weighted_detail(
    certificate: Certificate, noun: str, *, everything: bool = True
) -> str:
    """What k weighted features gain and what others could gain, in numbers.

    Others are all there are, or the candidates that were looked at.
    """
    k, one = int(certificate.k), noun.removesuffix("s")
    gain = certificate.objective - certificate.null_objective
    best = certificate.upper_bound - certificate.null_objective
    among = "" if everything else " of these candidates"
    told = f"no {k:,} {one if k == 1 else noun}{among} can gain more than {best:,.1f}"
    if certificate.is_optimal:
        told = f"no others{among} gain more"
    percent = share_in_percent(certificate.relative_gap)
    if not certificate.is_optimal and np.isfinite(certificate.relative_gap):
        told += f" ({percent} over these)"
    searched = ""
    if certificate.nodes > 1:
        searched = f" The search took {certificate.nodes:,} nodes."
    return (
        f"With these weights the labels gain {gain:,.1f} nats of log-likelihood over "
        f"no {noun} at all; whatever the weights in [0, 1], {told}.{searched}"
    )


def gain_detail(certificate: Certificate, k: int, noun: str) -> str:
    """What k features gain and what others could gain, in numbers."""
    gain = certificate.objective - certificate.null_objective
    best = certificate.upper_bound - certificate.null_objective
    nodes = f"{certificate.nodes:,} node{'' if certificate.nodes == 1 else 's'}"
    others = "others" if k == 1 else f"other {k:,}"
    if certificate.under_rules:  # k may count groups: no number here
        others = "others that the rules allow"
    more = f"no {others} can gain more than {best:,.1f}"
    if certificate.is_optimal:
        more = f"no {others} gain more"
    return (
        f"{'It gains' if k == 1 else 'They gain'} {gain:,.1f} nats of "
        f"log-likelihood over no {noun} at all; {more}. The search took {nodes}."
    )
