"""What all selectors share: mask, description, and care with sparse matrices."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from bayesieve._description import Description, SelfDescribing
from bayesieve.utils._resources import KeepsToJobs
from bayesieve.utils._sparse_structure import own_structure

__all__ = ["CheckedSelector"]


class CheckedSelector(KeepsToJobs, SelfDescribing, SelectorMixin):
    """scikit-learn's selector, for sparse matrices that need not be sound.

    A subclass sets ``scores_``, and its support by `_set_support`.
    """

    _score_name: ClassVar[str] = "score"

    def _set_support(self, columns: np.ndarray) -> None:
        self.support_indices_ = columns
        self.support_ = np.zeros(self.scores_.shape[0], dtype=bool)
        self.support_[columns] = True
        self.k_ = int(columns.shape[0])

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _describe(self) -> Description:
        k, n_features = self.k_, self.n_features_in_
        sentence = "No feature says anything about the label."
        if k > 0:
            rest = ", the others screened out" if k < n_features else ""
            sentence = f"{k:,} of {n_features:,} features kept{rest}."
        return self._description(
            score=self.scores_[self.support_indices_],
            score_name=self._score_name,
            sentence=sentence,
        )

    def _restore(self, values: dict[str, Any]) -> None:
        super()._restore(values)
        self._set_support(values["support_indices_"])

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        X_r : {array, sparse matrix} of shape (n_samples, n_selected_features)
        """
        return super().transform(own_structure(X))

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected features back in their places, with zeros between them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_selected_features)

        Returns
        -------
        X_original : {array, sparse matrix} of shape (n_samples, n_features)
        """
        return super().inverse_transform(own_structure(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
