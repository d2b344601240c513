"""A peer of table_classifiers: runs inside that peer's own environment.

One process for one peer and one data set: Python, its imports and a first small fit are
over before anything is measured. Questions come as JSON lines on stdin, an answer each:

    {"fold": 3, "proba": path, "limit": 60}

to fit on that fold's training rows; with a path also to predict its test rows and write
them as .npy. A fit that takes more processor seconds than the limit ends the process
(by SIGPROF): what others do on the machine meanwhile does not count.

Every peer is used as its users do who read no further than its first example, with what
its documentation asks to be done to strings and missing values:

    khiops                  KhiopsClassifier(): ten trees, no pairs
    khiops_no_trees         naive Bayes on the original columns alone
    ebm                     ExplainableBoostingClassifier()
    hist_gradient_boosting  strings as categories
    logistic_regression     strings one-hot, a missing one a category; numbers scaled,
                            a missing one the median and an indicator
    random_forest           strings as codes, missing numbers the median
"""

from __future__ import annotations

import contextlib
import gc
import json
import pickle
import signal
import sys
import time
import warnings
from typing import Any, ClassVar

import numpy as np
import pandas as pd

WITHOUT_TREES = {"n_features": 0, "n_pairs": 0, "n_trees": 0, "n_text_features": 0}
MISSING = "(missing)"


class Peer:
    """A classifier of the study; `prepared` frames go to `fit` and `predict_proba`."""

    def __init__(self, text: list[str]) -> None:
        self.text = text
        self.model: Any = None

    def new(self) -> Any:
        """Return the classifier, not fitted."""
        raise NotImplementedError

    def prepared(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the rows as this classifier takes them."""
        return X

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        """Fit a new one."""
        self.model = self.new()
        self.model.fit(self.prepared(X), y)

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return the probabilities of rows."""
        return self.model.predict_proba(self.prepared(X))

    def facts(self) -> dict[str, Any]:
        """Return `kept`, the columns used, where the model chooses any."""
        return {"kept": None}


# ---------------------------------------------------------------------- other packages


class Khiops(Peer):
    """Khiops as its users run it."""

    settings: ClassVar[dict[str, int]] = {}

    def __init__(self, text: list[str]) -> None:
        super().__init__(text)
        from khiops.core.internals.runner import get_runner

        self._inside = 0.0
        runner = get_runner()
        call = runner.raw_run

        def timed(*arguments: Any, **options: Any) -> Any:
            begin = time.perf_counter()
            try:
                return call(*arguments, **options)
            finally:
                self._inside += time.perf_counter() - begin

        runner.raw_run = timed

    def new(self) -> Any:
        from khiops.sklearn import KhiopsClassifier

        return KhiopsClassifier(**self.settings)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        self._inside = 0.0
        super().fit(X, y)
        self._fit_inside = self._inside

    def facts(self) -> dict[str, Any]:
        """Return the columns of the predictor and of its trees; seconds inside."""
        report = self.model.model_report_
        # Nothing informative: the report has no list of selected variables.
        predictor = report.modeling_report.get_snb_predictor()
        chosen = {variable.name for variable in predictor.selected_variables or []}
        used = set(chosen)
        if report.tree_preparation_report is not None:
            for tree in report.tree_preparation_report.trees or []:
                if tree.name in chosen:
                    used.remove(tree.name)
                    used.update(n.variable for n in tree.nodes if n.variable)
        return {"kept": len(used), "inside": self._fit_inside}


class KhiopsWithoutTrees(Khiops):
    """The univariate preparation and the naive Bayes, which SelectiveNB has too."""

    settings = WITHOUT_TREES


class Ebm(Peer):
    """InterpretML's explainable boosting machine."""

    def new(self) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier()

    def facts(self) -> dict[str, Any]:
        terms = zip(self.model.term_features_, self.model.term_scores_, strict=True)
        used = {column for term, scores in terms if np.any(scores) for column in term}
        return {"kept": len(used)}


# ------------------------------------------------------------------------ scikit-learn


class HistGradientBoosting(Peer):
    """scikit-learn's gradient boosting on binned columns."""

    def new(self) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            categorical_features="from_dtype", random_state=0
        )

    def prepared(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.astype(dict.fromkeys(self.text, "category"))


class Linear(Peer):
    """Logistic regression; its iterations are enough to converge on most sets."""

    def new(self) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        numbers = make_pipeline(
            SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
        )
        categories = OneHotEncoder(handle_unknown="ignore")
        columns = ColumnTransformer(
            [("categories", categories, self.text)], remainder=numbers
        )
        return make_pipeline(columns, LogisticRegression(max_iter=1000))

    def prepared(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.fillna(dict.fromkeys(self.text, MISSING))


class Forest(Peer):
    """A random forest on codes."""

    def new(self) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OrdinalEncoder

        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        columns = ColumnTransformer(
            [("categories", codes, self.text)],
            remainder=SimpleImputer(strategy="median"),
        )
        return make_pipeline(columns, RandomForestClassifier(random_state=0))

    def prepared(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.fillna(dict.fromkeys(self.text, MISSING))


PEERS: dict[str, type[Peer]] = {
    "khiops": Khiops,
    "khiops_no_trees": KhiopsWithoutTrees,
    "ebm": Ebm,
    "hist_gradient_boosting": HistGradientBoosting,
    "logistic_regression": Linear,
    "random_forest": Forest,
}


# ----------------------------------------------------------------------------- answers


def measured(peer: Peer, X: Any, y: np.ndarray, limit: float) -> dict[str, Any]:
    """Fit, and return seconds of the call and what the peer says of itself."""
    gc.collect()
    gc.disable()
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        begin = time.perf_counter()
        peer.fit(X, y)
        seconds = time.perf_counter() - begin
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        gc.enable()
    return {"seconds": seconds, **peer.facts()}


def answer(question: dict[str, Any], peer: Peer, stored: dict[str, Any]) -> dict:
    """Return the answer to one question; a peer's own error is an answer too."""
    X, y = stored["X"], stored["y"]
    train, test = stored["folds"][question["fold"]]
    try:
        result = measured(peer, X.iloc[train], y[train], question["limit"])
        result["classes"] = [int(c) for c in peer.model.classes_]
        if question["proba"]:
            proba = peer.predict_proba(X.iloc[test])
            np.save(question["proba"], np.asarray(proba, dtype=np.float64))
    except Exception as error:  # whatever a peer may raise: its answer is the reason
        told = str(error).strip().partition("\n")[0]
        return {"ended": False, "why": f"{type(error).__name__}: {told}"}
    return {"ended": True, **result}


def main() -> None:
    """Answer until there are no more questions."""
    warnings.simplefilter("ignore")
    channel = sys.stdout  # whatever a peer prints must not get between the answers
    with contextlib.redirect_stdout(sys.stderr):
        # Written by the parent a moment ago, in a folder of its own.
        with open(sys.argv[2], "rb") as file:
            stored = pickle.load(file)
        columns = stored["columns"]
        text = [name for name, values in columns if values.dtype == object]
        stored["X"] = pd.DataFrame(
            {name: pd.Series(values, dtype=values.dtype) for name, values in columns}
        )
        tiny = pd.DataFrame({"x": np.arange(40.0)})
        PEERS[sys.argv[1]]([]).fit(tiny, np.arange(40) // 20)
        peer = PEERS[sys.argv[1]](text)
        print("{}", file=channel, flush=True)
        for line in sys.stdin:
            result = answer(json.loads(line), peer, stored)
            print(json.dumps(result), file=channel, flush=True)


if __name__ == "__main__":
    main()
