"""Class counts that `bayesieve counts` or `ClassCounts.save` has written."""

from __future__ import annotations

import argparse
from typing import Any

from bayesieve import naive_bayes
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_outcome import Clock, Fitted, default_size
from bayesieve.cli._labelled_rows import Labels
from bayesieve.cli._options import search_seconds, text_parameters
from bayesieve.cli._rules import rules_from
from bayesieve.counts import merge_saved
from bayesieve.feature_extraction import to_vectorizer

__all__ = ["CountsData"]


class CountsData:
    """Counts in files; they know no rows."""

    interrupted = False

    def __init__(self, files: DataFiles, arguments: argparse.Namespace) -> None:
        self.files, self.arguments = files, arguments
        self.counts = merge_saved(files.paths)
        if self.counts.n_classes < 2:
            raise CommandError(f"{files.name!r} has counts of one class only.")
        models = {"count": "multinomial", "binary": "bernoulli", "moments": "gaussian"}
        self.model = models.get(self.counts.kind, "categorical")
        if arguments.model not in ("auto", self.model):
            raise CommandError(
                f"{files.name!r} has counts of kind {self.counts.kind!r}, which are "
                f"for --model {self.model}. Got {arguments.model!r}."
            )
        named = self.counts.feature_names is not None
        texts = named and self.counts.document_count is not None
        self.is_text = texts and not arguments.no_text
        self.unit = "terms" if self.is_text else "features"
        self.labels = Labels("label", self.counts.classes, self.counts.class_count)

    def count(self, interrupt: Any = None) -> Any:
        """Return the counts."""
        return self.counts

    def fit(self, clock: Clock, *, saves: bool) -> Fitted:
        """Select and estimate from the counts."""
        if self.arguments.weights:
            raise CommandError("--weights needs rows, which counts no longer know.")
        k = self.arguments.k
        k = default_size(self.counts.n_features) if k is None else k
        if k in ("cv", "1se"):
            raise CommandError(
                f"-k {k} needs rows, which counts no longer know. Hint: -k bic or "
                "-k elbow."
            )
        common: dict[str, Any] = {"time_limit": search_seconds(self.arguments)}
        if self.model != "gaussian":
            common["alpha"] = self.arguments.alpha
        make = getattr(naive_bayes, f"Sparse{self.model.title()}NB")
        if self.is_text:
            make = naive_bayes.SparseTextNB
            common |= {"model": self.model, **text_parameters(self.arguments)}
        with clock.measure("selection"):
            names, n_features = self.counts.feature_names, self.counts.n_features
            common |= rules_from(self.arguments, names, n_features)
            model = make(k, **common).fit_counts(self.counts)
        if self.is_text:
            self._check_terms(model)
        rows = int(self.counts.class_count.sum())
        return Fitted(model, self.unit, model.n_features_in_, rows, counts=self.counts)

    def _check_terms(self, model: Any) -> None:
        """Refuse terms that were counted with other options than these."""
        analyze = to_vectorizer(model).build_analyzer()
        for term in model.support_terms_:
            if term not in analyze(term):
                raise CommandError(
                    f"the term {term!r} was counted with other options. Hint: give "
                    "the --ngrams, --analyzer and --stop-words of the counts."
                )
