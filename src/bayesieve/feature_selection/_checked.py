"""What all selectors do before they take columns out of a matrix."""

from __future__ import annotations

from typing import Any

from sklearn.feature_selection import SelectorMixin

from bayesieve.utils._sparse_structure import own_structure

__all__ = ["CheckedSelector"]


class CheckedSelector(SelectorMixin):
    """scikit-learn's selector, for sparse matrices that need not be sound."""

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
