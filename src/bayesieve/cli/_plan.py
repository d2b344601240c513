"""What `select` fits: weights or the proven selection, and what it compares with."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from bayesieve._compat import l1_logistic_regression
from bayesieve.cli._command import CommandError
from bayesieve.cli._rules import has_rules

__all__ = ["Plan", "l1_of_frame", "l1_of_matrix"]

#: Entries times classes up to which a rival with weights is fitted beside the proven
#: selection, and rows are fitted again; a few seconds. Rivals whose sizes are chosen
#: anew take longer.
_RIVAL_WORK, _REFIT_WORK, _PAIRS_WORK, _OTHER_WORK = 2e7, 2e7, 2e6, 3e6


@dataclass(frozen=True)
class Plan:
    """How rows become a model.

    Attributes
    ----------
    weighted : bool
        Weights, the better classifier, or the proven selection.
    k : object
        As -k says it; "1se" where weights are to choose, None for the proven default.
    compares : bool
        Whether rivals are fitted as well.
    rival_weights : bool
        Whether a weighted model is among them.
    refits : bool
        Whether models are fitted again to parts of the rows.
    tries_pairs : bool
        Whether pairs of words are few enough to be tried.
    tries_other : bool
        Whether the other model of counts is tried: presences, or counts.
    l1 : bool
        Whether logistic regression with an l1 penalty is among the rivals.
    """

    weighted: bool
    k: Any
    compares: bool = True
    rival_weights: bool = False
    refits: bool = False
    tries_pairs: bool = False
    tries_other: bool = False
    l1: bool = False

    @classmethod
    def of(cls, arguments: argparse.Namespace, model: str, work: float) -> Plan:
        """Read the options; `work` is the entries of the rows times the classes."""
        k = arguments.k
        measured = arguments.test_share > 0 and not arguments.quick
        can_weigh = model != "gaussian" and arguments.alpha > 0
        common = {
            "compares": arguments.test_share > 0,
            "refits": measured and work <= _REFIT_WORK,
            "tries_pairs": measured and work <= _PAIRS_WORK,
            "tries_other": measured and work <= _OTHER_WORK,
            "l1": arguments.l1,
        }
        if arguments.weights:
            if arguments.exact:
                raise CommandError(
                    "--exact is for the proven selection and --weights for weights: "
                    "one of the two. Got both."
                )
            if has_rules(arguments):
                raise CommandError(
                    "--weights keeps to no rules. Hint: without it, --include and the "
                    "others select by the likelihood, with a proof."
                )
            if model == "gaussian":
                raise CommandError(
                    "--weights takes --model multinomial or bernoulli. Got 'gaussian'."
                )
            if not can_weigh:
                raise CommandError(
                    f"--alpha must be above 0 with --weights. Got {arguments.alpha!r}."
                )
            if k == "all":
                raise CommandError(
                    "--weights takes -k as a number, a share, elbow, bic, cv or 1se. "
                    "Got 'all'."
                )
            return cls(True, "1se" if k is None else k, **common)
        proven = arguments.exact or k is not None or has_rules(arguments)
        if proven or not can_weigh:
            rival = measured and can_weigh and work <= _RIVAL_WORK
            return cls(False, k, rival_weights=rival, **common)
        return cls(True, "1se", **common)

    @property
    def chooses_proven(self) -> bool:
        """Whether cross-validation chooses the size of the proven selection."""
        return not self.weighted and self.k in ("cv", "1se")


def l1_of_matrix() -> Any:
    """Logistic regression with an l1 penalty that three folds choose."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    model = l1_logistic_regression(tol=1e-3, max_iter=300, random_state=0)
    grid = {"C": [0.1, 0.3, 1.0, 3.0, 10.0]}
    return make_pipeline(
        MaxAbsScaler(), GridSearchCV(model, grid, cv=3, scoring="neg_log_loss")
    )


def l1_of_frame() -> Any:
    """The same for numbers and categories of a data frame."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    prepared = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (
            OneHotEncoder(handle_unknown="ignore"),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    return make_pipeline(prepared, *l1_of_matrix().named_steps.values())
