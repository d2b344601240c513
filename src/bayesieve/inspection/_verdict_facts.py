"""What a verdict is made from, and one thing that it may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bayesieve.inspection._evaluation import Evaluation, RowScores

__all__ = ["Drift", "Remark", "VerdictFacts", "interval_told", "percent"]


@dataclass(frozen=True)
class Drift:
    """Rows that come later, predicted by the earlier ones and by as many of any time.

    `lost` is what a row loses by learning from the past only, in nats, with its
    standard error; the accuracies are those of the same later rows.
    """

    lost: float
    error: float
    past_accuracy: float
    any_accuracy: float


@dataclass(frozen=True, eq=False)
class VerdictFacts:
    """All that a verdict is made from.

    Attributes
    ----------
    noun : str
        What features are called: "terms", "columns", "features", "k-mers" or "n-grams".
    k, n_features : int
        Features in use, and those there were.
    train_rows : int or None
    evaluation : Evaluation or None
        Of the model, on rows that were held out.
    weighted : bool
        Whether the model has weights.
    proven : bool
        Whether it is claimed that no other features do better.
    rivals : mapping of str to RowScores
        Others on the same rows: "all" features, the "proven" selection, the "weighted"
        model, the same with "pairs" of words, with "more" features, by "presence" or
        by "counts", "l1" logistic regression, the model with "half" of the rows.
    sizes : mapping of str to int
        Features that rivals use.
    class_rows : sequence of float
        Training rows of each class, in the order of the evaluation.
    telling : tuple (str, float) or None
        The one feature that tells most, and the share of training rows it has right
        alone.
    drift : Drift or None
    copies : int
        Features that are the same as others in every row.
    by_size : sequence of (int, float)
        Accuracy of naive Bayes without weights on the best k features, over k.
    """

    noun: str
    k: int
    n_features: int
    train_rows: int | None = None
    evaluation: Evaluation | None = None
    weighted: bool = False
    proven: bool = False
    rivals: Mapping[str, RowScores] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    class_rows: Sequence[float] = ()
    telling: tuple[str, float] | None = None
    drift: Drift | None = None
    copies: int = 0
    by_size: Sequence[tuple[int, float]] = ()

    @property
    def one(self) -> str:
        """A single feature."""
        return self.noun.removesuffix("s")

    @property
    def these(self) -> str:
        """The features in use."""
        return f"this {self.one}" if self.k == 1 else f"these {self.k:,} {self.noun}"


@dataclass(frozen=True)
class Remark:
    """One thing to know: a code for programs, and a sentence.

    `action` names what would help, as the commands to try next know it: "weights",
    "all", "proven", "more", "presence", "counts", "ngrams", "rows", "label", "drop=",
    "recall=" and a class, "fewer", a size such as "k=20", or nothing.
    """

    code: str
    text: str
    action: str = ""


def percent(share: float) -> str:
    """A share; nearly all is not all."""
    if 0.9995 <= share < 1.0:
        return f"{int(10_000 * share) / 100:.2f} %"
    return f"{100 * share:.1f} %"


def interval_told(found: Evaluation) -> str:
    low, high = found.interval
    return f"{100 * low:.1f} to {percent(high)}"
