"""What each package can do, cell by cell, with where that was looked up or how tried.

"tried" means: done with the version named in peers.md, on a small table of 200 to
1,000 rows. A cell without a note is plain from the documentation of the package.
"""

from __future__ import annotations

PACKAGES = (
    "bayesieve",
    "scikit-learn filters",
    "scikit-learn l1, RFE",
    "naive-feature-selection",
    "mrmr-selection",
    "abess",
    "celer",
    "Khiops",
    "River",
)
YES, NO, PARTLY = "yes", "no", "partly"

# Feature: one (mark, note) for each package.
FEATURES: dict[str, tuple[tuple[str, str], ...]] = {
    "exactly k features": (
        (YES, "`Selective...NB`: at most k; all: fewer when no others help"),
        (YES, ""),
        (PARTLY, "RFE: yes; l1: only by searching C"),
        (YES, ""),
        (YES, ""),
        (YES, "`support_size`"),
        (NO, "a penalty only"),
        (PARTLY, "`n_selected_features` is an upper limit"),
        (YES, "`SelectKBest`, as of the rows so far"),
    ),
    "proof how far from the best k": (
        (YES, "`certificate_`; for weights a dual gap of the penalised problem"),
        (NO, "a score for each column alone"),
        (NO, ""),
        (NO, "solves the relaxation, reports no bound"),
        (NO, "greedy"),
        (NO, "splicing; recovery is a theorem, not a bound for your data"),
        (PARTLY, "dual gap of the l1 problem (`path`), not of the best k"),
        (NO, ""),
        (NO, ""),
    ),
    "more than two classes": (
        (YES, ""),
        (YES, ""),
        (YES, "liblinear through `OneVsRestClassifier`"),
        (NO, "takes three classes and treats them as 1 against the rest (tried)"),
        (YES, "tried"),
        (YES, "`MultinomialRegression`, one column a class (tried)"),
        (YES, "one against the rest (tried)"),
        (YES, "tried"),
        (YES, ""),
    ),
    "sparse rows, never made dense": (
        (YES, "counts and yes/no columns; `SelectiveNB` wants a table"),
        (YES, ""),
        (YES, ""),
        (YES, "tried"),
        (NO, "a sparse matrix and a sparse frame both fail (tried)"),
        (YES, "tried"),
        (YES, "tried"),
        (YES, "since 11 (tried)"),
        (PARTLY, "dicts; `MultinomialNB.learn_many` takes sparse frames"),
    ),
    "learns in parts or out of core": (
        (YES, "`partial_fit`, `fit_chunks`, `from_text`, Dask, Spark"),
        (NO, ""),
        (PARTLY, "`SGDClassifier(penalty='l1')` only"),
        (NO, ""),
        (PARTLY, "modules for polars, Spark and BigQuery tables"),
        (NO, ""),
        (NO, ""),
        (PARTLY, "files of many gigabytes in `khiops.core`; no `partial_fit`"),
        (YES, "made for it"),
    ),
    "mixed columns": (
        (YES, "`SelectiveNB`, `MixedScreener`"),
        (PARTLY, "`mutual_info_classif(discrete_features=...)` on coded columns"),
        (NO, "code the categories first"),
        (NO, ""),
        (YES, "`cat_features` (tried)"),
        (NO, ""),
        (NO, ""),
        (YES, "tried"),
        (PARTLY, "trees take strings, `GaussianNB` fails on them (tried)"),
    ),
    "missing values": (
        (PARTLY, "`SelectiveNB`, `MixedScreener`, `MODLEncoder`; count models refuse"),
        (NO, "refused (tried)"),
        (NO, "refused (tried)"),
        (NO, "refused (tried)"),
        (YES, "tried"),
        (NO, "refused (tried)"),
        (NO, "refused (tried)"),
        (YES, "tried"),
        (PARTLY, "a key may be absent; NaN is taken as a number (tried)"),
    ),
    "sample weights": (
        (YES, ""),
        (NO, "no such argument (tried)"),
        (YES, "tried with RFE"),
        (NO, "`fit(X, y)`"),
        (NO, ""),
        (YES, "tried"),
        (NO, "`fit(X, y)`"),
        (NO, "refused (tried)"),
        (PARTLY, "logistic regression and trees (`w`), naive Bayes not"),
    ),
    "p-values, false discovery rate": (
        (PARTLY, "`FDRScreener`, yes/no columns"),
        (YES, "`pvalues_`, `SelectFdr`"),
        (NO, ""),
        (NO, ""),
        (NO, ""),
        (NO, ""),
        (NO, ""),
        (NO, ""),
        (NO, ""),
    ),
    # Five telling columns in three nearly equal copies each, 20 of noise, k = 5: how
    # many of the five are among the chosen.
    "discounts columns that say the same": (
        (PARTLY, "likelihood alone finds 2 of 5 groups of copies, `refine=True` 4"),
        (NO, "2 of 5"),
        (PARTLY, "RFE 5 of 5, l1 3 of 5"),
        (NO, "2 of 5"),
        (YES, "what it is for; 4 of 5"),
        (YES, "5 of 5"),
        (PARTLY, "3 of 5 where it keeps five columns"),
        (YES, "5 of 5"),
        (NO, "`SelectKBest` scores each column alone"),
    ),
    "scikit-learn's interface": (
        (YES, "passes its `check_estimator`"),
        (YES, ""),
        (YES, ""),
        (PARTLY, "a selector; imports only with a moved name put back"),
        (NO, "a function that returns names"),
        (PARTLY, "clones and predicts, has no `transform` (tried)"),
        (YES, ""),
        (YES, "`khiops.sklearn`"),
        (PARTLY, "through `river.compat`"),
    ),
    "all k at once": (
        (YES, "`sparsity_path`, cross-validation on counts"),
        (YES, "the ranking of the scores"),
        (PARTLY, "RFE: its ranking; l1: a grid of C"),
        (NO, ""),
        (YES, "the order of choice"),
        (YES, "a list of `support_size`"),
        (PARTLY, "a path over C"),
        (NO, ""),
        (NO, ""),
    ),
    "probabilities fitted by log loss": (
        (PARTLY, "`Selective...NB`; `Sparse...NB` is as sure of itself as naive Bayes"),
        (NO, "no model"),
        (PARTLY, "logistic regression; `LinearSVC` has none"),
        (NO, "no model"),
        (NO, "no model"),
        (YES, ""),
        (YES, ""),
        (YES, "weights of its naive Bayes"),
        (PARTLY, "logistic regression; naive Bayes not"),
    ),
}

REFERENCES = (
    (
        "scikit-learn filters, RFE, l1",
        "https://scikit-learn.org/stable/modules/feature_selection.html",
    ),
    ("naive-feature-selection", "https://pypi.org/project/naive-feature-selection/"),
    ("mrmr-selection", "https://github.com/smazzanti/mrmr"),
    ("abess", "https://abess.readthedocs.io"),
    ("celer", "https://mathurinm.github.io/celer/"),
    ("Khiops", "https://khiops.org and https://pypi.org/project/khiops/"),
    ("River", "https://riverml.xyz"),
)


def check() -> None:
    """Raise unless every feature has a mark for every package."""
    for feature, cells in FEATURES.items():
        if len(cells) != len(PACKAGES):
            raise ValueError(
                f"{feature!r} must have {len(PACKAGES)} cells. Got {len(cells)}."
            )
        wrong = {mark for mark, _ in cells} - {YES, NO, PARTLY}
        if wrong:
            raise ValueError(f"{feature!r} has marks that are none: {wrong}.")
