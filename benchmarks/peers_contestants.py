"""Who is compared in peers.py: our selectors and what a user would pick instead.

A contestant is made with k and returns a function of the training rows. Whatever it
imports is imported when it is made, so that neither the clock nor the memory sees it.
Some live in an environment of their own (studies/peer_environment.py), where bayesieve
is not installed; nothing here imports it before it is needed.

Settings are those of the documentation. The l1 models have no k: C is searched until
the number of columns is within half a percent of k (studies/wide_peers.py), and the
seconds of the last fit alone are told as well.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent / "studies"))


@dataclass(frozen=True)
class Chosen:
    """Columns, the fitted classifier where the method is one, and what to tell."""

    support: np.ndarray
    model: Any = None
    notes: dict[str, Any] = field(default_factory=dict)


Run = Callable[[Any, np.ndarray], Chosen]


@dataclass(frozen=True)
class Contestant:
    """One line of a table; `make(k, C, limit)` returns what is timed."""

    name: str
    owner: str  # "bayesieve", "scikit-learn" or the package
    make: Callable[[int, float | None, float], Run]
    parts: tuple[str, ...]
    floats: bool = False  # takes float64 rows only, so it is given those
    needs_penalty: bool = False  # one fit at the C that liblinear was found to need
    model_on: str = "all columns"

    @property
    def in_peers_environment(self) -> bool:
        return self.owner not in ("bayesieve", "scikit-learn")


# ---------------------------------------------------------------------------- ours


def certificate_notes(certificate: Any) -> dict[str, Any]:
    """Return what is proven."""
    return {
        "is_optimal": bool(certificate.is_optimal),
        "relative_gap": float(certificate.relative_gap),
    }


def our_selector(refine: bool = False, **options: Any) -> Callable[..., Run]:
    """Return NaiveFeatureSelector, by likelihood alone or refined by weights."""

    def make(k: int, C: float | None, limit: float) -> Run:
        from bayesieve import NaiveFeatureSelector

        def run(X: Any, y: np.ndarray) -> Chosen:
            model = NaiveFeatureSelector(k, refine=refine, **options).fit(X, y)
            # The certificate is of the best k by likelihood, not of the refined ones.
            notes = {} if refine else certificate_notes(model.certificate_)
            return Chosen(model.support_indices_, None, notes)

        return run

    return make


def our_model(name: str, **options: Any) -> Callable[..., Run]:
    """Return one of our classifiers or screeners with options."""

    def make(k: int, C: float | None, limit: float) -> Run:
        import bayesieve

        kind = getattr(bayesieve, name)

        def run(X: Any, y: np.ndarray) -> Chosen:
            model = kind(k=k, **options).fit(X, y)
            found = np.flatnonzero(model.get_support())
            certificate = getattr(model, "certificate_", None)
            notes = certificate_notes(certificate) if certificate is not None else {}
            own = model if hasattr(model, "predict") else None
            return Chosen(found, own, notes)

        return run

    return make


def our_classifier(name: str, **options: Any) -> Callable[..., Run]:
    """Return one of our classifiers; they have `support_indices_`, no get_support."""

    def make(k: int, C: float | None, limit: float) -> Run:
        import bayesieve

        kind = getattr(bayesieve, name)

        def run(X: Any, y: np.ndarray) -> Chosen:
            model = kind(k=k, **options).fit(X, y)
            weighted = hasattr(model, "dual_gap_")  # its certificate is of screening
            notes = {} if weighted else certificate_notes(model.certificate_)
            return Chosen(model.support_indices_, model, notes)

        return run

    return make


def above_medians(k: int, C: float | None, limit: float) -> Run:
    """L0Screener on "above the median of the training rows"."""
    from bayesieve import L0Screener

    def run(X: np.ndarray, y: np.ndarray) -> Chosen:
        model = L0Screener(k=k).fit((np.median(X, axis=0) < X).astype(np.int8), y)
        return Chosen(np.flatnonzero(model.get_support()))

    return run


# -------------------------------------------------------------------- scikit-learn


def filter_by(score: str) -> Callable[..., Run]:
    """Return SelectKBest with one of scikit-learn's scores."""

    def make(k: int, C: float | None, limit: float) -> Run:
        from sklearn import feature_selection

        function = getattr(feature_selection, score)

        def run(X: Any, y: np.ndarray) -> Chosen:
            model = feature_selection.SelectKBest(function, k=k).fit(X, y)
            return Chosen(np.flatnonzero(model.get_support()))

        return run

    return make


def of_found(found: Any) -> Chosen:
    """Return what a search of wide_peers.py found."""
    notes = {
        "fits": int(found.fits),
        "fit_seconds": float(found.fit_seconds),
        "C": found.C,
        "converged": bool(found.converged),
    }
    return Chosen(found.support, found.model, notes)


def l1_search(name: str, loss: str) -> Callable[..., Run]:
    """Return the search for the C at which liblinear leaves k columns."""

    def make(k: int, C: float | None, limit: float) -> Run:
        import wide_peers

        model = getattr(wide_peers, name)

        def run(X: Any, y: np.ndarray) -> Chosen:
            return of_found(
                wide_peers.search_penalty(model, X, y, k, loss=loss, seconds=limit / 2)
            )

        return run

    return make


def l1_search_scaled(k: int, C: float | None, limit: float) -> Run:
    """Search C on standardised columns, as l1 models want dense ones to be."""
    import wide_peers
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def run(X: np.ndarray, y: np.ndarray) -> Chosen:
        scaler = StandardScaler().fit(X)
        found = wide_peers.search_penalty(
            wide_peers.l1_logistic,
            scaler.transform(X),
            y,
            k,
            loss="log",
            seconds=limit / 10,  # half of the limit, for five folds together
        )
        chosen = of_found(found)
        return Chosen(chosen.support, make_pipeline(scaler, found.model), chosen.notes)

    return run


def l1_saga(k: int, C: float | None, limit: float) -> Run:
    """The paper's solver: saga, at most 100 passes, at a C that is known."""
    import wide_peers
    from sklearn.linear_model import LogisticRegression

    def run(X: Any, y: np.ndarray) -> Chosen:
        model = LogisticRegression(
            l1_ratio=1.0, solver="saga", C=C, max_iter=100, random_state=0
        )
        _, converged = wide_peers.fitted(model, X, y)
        return Chosen(strongest(model, k), model, one_fit_notes(model, C, converged))

    return run


def strongest(model: Any, k: int) -> np.ndarray:
    """Return at most k columns with a coefficient, those with the largest."""
    import wide_peers

    size = np.abs(wide_peers.coefficients(model)).max(axis=0)
    return wide_peers.best_columns(size, min(k, int(np.count_nonzero(size))))


def one_fit_notes(model: Any, C: float | None, converged: bool) -> dict[str, Any]:
    """Return what to tell about one fit at a known penalty."""
    nonzero = int(np.count_nonzero(model.coef_))
    return {"fits": 1, "C": C, "converged": converged, "nonzero": nonzero}


def elimination(k: int, C: float | None, limit: float) -> Run:
    """RFE with logistic regression, a tenth of all columns at each step."""
    import wide_peers

    return lambda X, y: of_found(wide_peers.eliminate(X, y, k))


def elimination_scaled(k: int, C: float | None, limit: float) -> Run:
    """RFE with a linear SVM on standardised columns, in steps of a tenth of all."""
    from sklearn.feature_selection import RFE
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    def run(X: np.ndarray, y: np.ndarray) -> Chosen:
        start = LinearSVC(dual=True, random_state=0, max_iter=5_000)
        search = RFE(start, n_features_to_select=k, step=0.1)
        search.fit(StandardScaler().fit_transform(X), y)
        return Chosen(np.flatnonzero(search.support_))

    return run


# ------------------------------------------------------------------ other packages


def celer_l1(k: int, C: float | None, limit: float) -> Run:
    """Celer at a known C; it has no intercept and wants columns."""
    import celer
    import wide_peers
    from scipy import sparse

    def run(X: Any, y: np.ndarray) -> Chosen:
        model = celer.LogisticRegression(C=C)
        _, converged = wide_peers.fitted(model, sparse.csc_matrix(X), y)
        return Chosen(strongest(model, k), model, one_fit_notes(model, C, converged))

    return run


def of_peer_worker(name: str, module: str) -> Callable[..., Run]:
    """Return a selector of studies/peer_worker.py."""

    def make(k: int, C: float | None, limit: float) -> Run:
        import peer_worker

        importlib.import_module(module)
        function = peer_worker.SELECTORS[name]

        def run(X: Any, y: np.ndarray) -> Chosen:
            answer = function(X, y, k=k, limit=limit)
            return Chosen(np.array(answer["support"], dtype=np.int64))

        return run

    return make


def published(k: int, C: float | None, limit: float) -> Run:
    """The paper's own code, which imports only with a name that scikit-learn moved."""
    import peer_worker
    import sklearn.feature_selection._base

    sys.modules["sklearn.feature_selection.base"] = sklearn.feature_selection._base
    importlib.import_module("naive_feature_selection")

    def run(X: Any, y: np.ndarray) -> Chosen:
        answer = peer_worker.published(X, y, k=k, limit=limit)
        return Chosen(np.array(answer["support"], dtype=np.int64))

    return run


def mrmr_dense(k: int, C: float | None, limit: float) -> Run:
    """Run mRMR by F statistic and correlation on a dense table."""
    import pandas as pd
    from mrmr import mrmr_classif

    def run(X: np.ndarray, y: np.ndarray) -> Chosen:
        table, target = pd.DataFrame(X), pd.Series(y)
        names = mrmr_classif(X=table, y=target, K=k, show_progress=False, n_jobs=1)
        return Chosen(np.array([int(name) for name in names]))

    return run


def abess_classes(k: int, C: float | None, limit: float) -> Run:
    """Best subset of a multinomial regression."""
    from abess import MultinomialRegression

    def run(X: np.ndarray, y: np.ndarray) -> Chosen:
        model = MultinomialRegression(support_size=k)
        model.fit(X, np.eye(int(y.max()) + 1)[y])  # one column of 0 and 1 a class
        return Chosen(np.flatnonzero(np.any(model.coef_ != 0, axis=1)))

    return run


# ------------------------------------------------------------------------ the list

SPARSE, TEXT, GENES = ("text", "wide"), ("text",), ("genes",)
OURS, LEARN = "bayesieve", "scikit-learn"
CONTESTANTS = (
    Contestant("NaiveFeatureSelector", OURS, our_selector(), SPARSE),
    Contestant(
        "NaiveFeatureSelector(refine=True)", OURS, our_selector(refine=True), SPARSE
    ),
    Contestant(
        "SparseMultinomialNB", OURS, our_classifier("SparseMultinomialNB"), SPARSE
    ),
    Contestant(
        "SelectiveMultinomialNB", OURS, our_classifier("SelectiveMultinomialNB"), SPARSE
    ),
    Contestant(
        "NaiveFeatureSelector(model='bernoulli')",
        OURS,
        our_selector(model="bernoulli"),
        SPARSE,
    ),
    Contestant(
        "SelectiveBernoulliNB", OURS, our_classifier("SelectiveBernoulliNB"), SPARSE
    ),
    Contestant("SelectKBest(chi2)", LEARN, filter_by("chi2"), SPARSE),
    Contestant("SelectKBest(f_classif)", LEARN, filter_by("f_classif"), SPARSE),
    Contestant(
        "SelectKBest(mutual_info_classif)",
        LEARN,
        filter_by("mutual_info_classif"),
        SPARSE,
    ),
    Contestant(
        "l1 logistic regression, liblinear",
        LEARN,
        l1_search("l1_logistic", "log"),
        SPARSE,
        floats=True,
    ),
    Contestant(
        "LinearSVC, l1",
        LEARN,
        l1_search("l1_svm", "squared_hinge"),
        SPARSE,
        floats=True,
    ),
    Contestant(
        "l1 logistic regression, saga",
        LEARN,
        l1_saga,
        SPARSE,
        floats=True,
        needs_penalty=True,
    ),
    Contestant(
        "l1 logistic regression, celer",
        "celer",
        celer_l1,
        SPARSE,
        floats=True,
        needs_penalty=True,
    ),
    Contestant(
        "RFE(LogisticRegression, step=0.1)",
        LEARN,
        elimination,
        SPARSE,
        floats=True,
        model_on="chosen",
    ),
    Contestant(
        "NaiveFeatureSelection",
        "naive-feature-selection",
        published,
        SPARSE,
        floats=True,
    ),
    Contestant(
        "abess.LogisticRegression",
        "abess",
        of_peer_worker("abess", "abess"),
        SPARSE,
        floats=True,
    ),
    Contestant(
        "mrmr_classif",
        "mrmr-selection",
        of_peer_worker("mrmr", "mrmr"),
        SPARSE,
        floats=True,
    ),
    Contestant("SparseGaussianNB", OURS, our_classifier("SparseGaussianNB"), GENES),
    Contestant(
        "SparseGaussianNB(variance='pooled')",
        OURS,
        our_classifier("SparseGaussianNB", variance="pooled"),
        GENES,
    ),
    Contestant("MixedScreener", OURS, our_model("MixedScreener"), GENES),
    Contestant("L0Screener, above the median", OURS, above_medians, GENES),
    Contestant("SelectKBest(f_classif), dense", LEARN, filter_by("f_classif"), GENES),
    Contestant(
        "SelectKBest(mutual_info_classif), dense",
        LEARN,
        filter_by("mutual_info_classif"),
        GENES,
    ),
    Contestant(
        "l1 logistic regression, scaled columns", LEARN, l1_search_scaled, GENES
    ),
    Contestant("RFE(LinearSVC, step=0.1)", LEARN, elimination_scaled, GENES),
    Contestant("mrmr_classif, dense", "mrmr-selection", mrmr_dense, GENES),
    Contestant("abess.MultinomialRegression", "abess", abess_classes, GENES),
)


def of_part(part: str) -> list[Contestant]:
    """Return who takes part; sets of genes share one list."""
    kind = "genes" if part.startswith("gene_") else part
    return [one for one in CONTESTANTS if kind in one.parts]


def by_name(name: str) -> Contestant:
    """Return a contestant by its name."""
    return next(one for one in CONTESTANTS if one.name == name)
