"""Find the few features that matter among millions, with a proof.

Public names only; heavy parts are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AveragedNB": "bayesieve.naive_bayes",
    "Certificate": "bayesieve.solvers",
    "ClassCounts": "bayesieve.counts",
    "DiscountDisplay": "bayesieve.inspection",
    "FDRScreener": "bayesieve.feature_selection",
    "FeatureWeightsDisplay": "bayesieve.inspection",
    "Interactions": "bayesieve.feature_selection",
    "L0Screener": "bayesieve.feature_selection",
    "L1Screener": "bayesieve.feature_selection",
    "MODLEncoder": "bayesieve.preprocessing",
    "MixedScreener": "bayesieve.feature_selection",
    "NaiveFeatureSelector": "bayesieve.feature_selection",
    "PartitionDisplay": "bayesieve.inspection",
    "PearsonScreener": "bayesieve.feature_selection",
    "ReliabilityDisplay": "bayesieve.inspection",
    "SelectiveBernoulliNB": "bayesieve.naive_bayes",
    "SelectiveBernoulliNBCV": "bayesieve.naive_bayes",
    "SelectiveMultinomialNB": "bayesieve.naive_bayes",
    "SelectiveMultinomialNBCV": "bayesieve.naive_bayes",
    "SelectiveNB": "bayesieve.naive_bayes",
    "Solution": "bayesieve.solvers",
    "SparseBernoulliNB": "bayesieve.naive_bayes",
    "SparseBernoulliNBCV": "bayesieve.naive_bayes",
    "SparseCategoricalNB": "bayesieve.naive_bayes",
    "SparseGaussianNB": "bayesieve.naive_bayes",
    "SparseMultinomialNB": "bayesieve.naive_bayes",
    "SparseMultinomialNBCV": "bayesieve.naive_bayes",
    "SparseTextNB": "bayesieve.naive_bayes",
    "SparsityPath": "bayesieve.solvers",
    "SparsityPathDisplay": "bayesieve.inspection",
    "WeightHistoryDisplay": "bayesieve.inspection",
    "WeightPathDisplay": "bayesieve.inspection",
    "compression_rate": "bayesieve.metrics",
    "load_model": "bayesieve.persistence",
    "save_model": "bayesieve.persistence",
    "screen_interactions": "bayesieve.feature_selection",
    "solve_bernoulli": "bayesieve.solvers",
    "solve_multinomial": "bayesieve.solvers",
    "sparsity_path": "bayesieve.solvers",
    "to_vectorizer": "bayesieve.feature_extraction",
}
_MODULES = ("baselines", "datasets", "exceptions", "metrics")

__all__ = [
    "AveragedNB",
    "Certificate",
    "ClassCounts",
    "DiscountDisplay",
    "FDRScreener",
    "FeatureWeightsDisplay",
    "Interactions",
    "L0Screener",
    "L1Screener",
    "MODLEncoder",
    "MixedScreener",
    "NaiveFeatureSelector",
    "PartitionDisplay",
    "PearsonScreener",
    "ReliabilityDisplay",
    "SelectiveBernoulliNB",
    "SelectiveBernoulliNBCV",
    "SelectiveMultinomialNB",
    "SelectiveMultinomialNBCV",
    "SelectiveNB",
    "Solution",
    "SparseBernoulliNB",
    "SparseBernoulliNBCV",
    "SparseCategoricalNB",
    "SparseGaussianNB",
    "SparseMultinomialNB",
    "SparseMultinomialNBCV",
    "SparseTextNB",
    "SparsityPath",
    "SparsityPathDisplay",
    "WeightHistoryDisplay",
    "WeightPathDisplay",
    "baselines",
    "compression_rate",
    "datasets",
    "exceptions",
    "load_model",
    "metrics",
    "save_model",
    "screen_interactions",
    "solve_bernoulli",
    "solve_multinomial",
    "sparsity_path",
    "to_vectorizer",
]

if TYPE_CHECKING:
    from bayesieve import baselines, datasets, exceptions, metrics
    from bayesieve.counts import (
        ClassCounts,
    )
    from bayesieve.feature_extraction import (
        to_vectorizer,
    )
    from bayesieve.feature_selection import (
        FDRScreener,
        Interactions,
        L0Screener,
        L1Screener,
        MixedScreener,
        NaiveFeatureSelector,
        PearsonScreener,
        screen_interactions,
    )
    from bayesieve.inspection import (
        DiscountDisplay,
        FeatureWeightsDisplay,
        PartitionDisplay,
        ReliabilityDisplay,
        SparsityPathDisplay,
        WeightHistoryDisplay,
        WeightPathDisplay,
    )
    from bayesieve.metrics import (
        compression_rate,
    )
    from bayesieve.naive_bayes import (
        AveragedNB,
        SelectiveBernoulliNB,
        SelectiveBernoulliNBCV,
        SelectiveMultinomialNB,
        SelectiveMultinomialNBCV,
        SelectiveNB,
        SparseBernoulliNB,
        SparseBernoulliNBCV,
        SparseCategoricalNB,
        SparseGaussianNB,
        SparseMultinomialNB,
        SparseMultinomialNBCV,
        SparseTextNB,
    )
    from bayesieve.persistence import (
        load_model,
        save_model,
    )
    from bayesieve.preprocessing import (
        MODLEncoder,
    )
    from bayesieve.solvers import (
        Certificate,
        Solution,
        SparsityPath,
        solve_bernoulli,
        solve_multinomial,
        sparsity_path,
    )


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(f"bayesieve.{name}")
    else:
        raise AttributeError(f"module 'bayesieve' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
