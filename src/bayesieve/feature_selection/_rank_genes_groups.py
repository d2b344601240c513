"""Marker genes in the layout of scanpy, so that its plots and tables show them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from bayesieve.counts import ClassCounts, StratifiedCounts
from bayesieve.solvers import Solution
from bayesieve.solvers._inputs import check_alpha
from bayesieve.solvers._strata import class_contrasts, class_pvalues
from bayesieve.utils._arrays import Array
from bayesieve.utils._validation import check_name

__all__ = ["to_rank_genes_groups"]

_NAME = "to_rank_genes_groups"


def to_rank_genes_groups(
    counts: ClassCounts | StratifiedCounts,
    adata: Any,
    groupby: str,
    *,
    support: Any = None,
    alpha: float = 1.0,
    key_added: str = "rank_genes_groups",
    layer: str | None = None,
    use_raw: bool = False,
) -> None:
    """Write what genes tell of each class to ``adata.uns``, as scanpy lays it out.

    The plots and tables that scanpy has for ``sc.tl.rank_genes_groups`` show it then.
    In each group the genes are ordered by falling score. **Exact**.

    Parameters
    ----------
    counts : ClassCounts or StratifiedCounts
        Of kind "count" or "binary", with the names of the genes. With strata, scores
        and fold changes are those within strata.
    adata : AnnData
        Written to: ``adata.uns[key_added]``, and nothing else.
    groupby : str
        Column of obs with the classes, by which plots group the cells. The groups come
        in the order of its categories.
    support : Solution, fitted selector or classifier, or array-like, default=None
        The genes to write: those of a result, or numbers, names or a mask of genes;
        None for all genes, which plots with ``values_to_plot`` ask for.
    alpha : float, default=1.0
        Counts that are added for the fold changes, so that they stay finite.
    key_added : str, default="rank_genes_groups"
        The key in ``adata.uns``.
    layer, use_raw
        Noted for scanpy: which matrix its plots of single genes should take.

    See Also
    --------
    bayesieve.ClassCounts.from_anndata : The counts.
    bayesieve.stratified_gains : What genes tell within strata.

    Notes
    -----
    Time O(K k) for k genes. The fields, each of which has one array for each group:

    ``names``
        The genes.
    ``scores``
        The gain in nats of telling the group from all other cells by this gene alone,
        given how many molecules (for presence, cells) the group has in all; negative
        where the group has less of the gene. Strata are summed: a gene that is up in
        one and down in another cancels.
    ``logfoldchanges``
        log2 of the molecules of the gene per molecule of the group over the same of the
        other cells; for presence, of the shares of cells that have it. With strata, the
        common ratio of Mantel and Haenszel.
    ``pvals``, ``pvals_adj``
        For presence without strata, exact p-values of each gene in a group against all
        other cells, and these after Benjamini and Hochberg over all genes counted. They
        hold if cells are independent and the groups were not made from the same data.
        NaN otherwise: molecules of one cell are not independent, so the likelihood
        ratio of molecules gives no p-value.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> from bayesieve import ClassCounts, to_rank_genes_groups
    >>> adata = anndata.AnnData(
    ...     np.array([[9.0, 0, 5], [8, 1, 6], [0, 7, 5], [1, 9, 5]]),
    ...     obs=pd.DataFrame({"type": list("TTBB")}, index=list("wxyz")),
    ...     var=pd.DataFrame(index=["CD3D", "CD79A", "ACTB"]),
    ... )
    >>> counts = ClassCounts.from_anndata(adata, label="type")
    >>> to_rank_genes_groups(counts, adata, "type", support=["CD3D", "CD79A"])
    >>> adata.uns["rank_genes_groups"]["names"]["T"].tolist()
    ['CD3D', 'CD79A']
    >>> adata.uns["rank_genes_groups"]["scores"]["T"].round(1)
    array([ 8.1, -8.5], dtype=float32)
    """
    if not isinstance(counts, (ClassCounts, StratifiedCounts)):
        raise TypeError(
            f"{_NAME} needs a ClassCounts or a StratifiedCounts. Got "
            f"{type(counts).__name__}."
        )
    if counts.kind not in ("count", "binary") or counts.feature_names is None:
        raise ValueError(
            f"{_NAME} needs counts of kind 'count' or 'binary' with names of genes. "
            f"Got {counts!r}."
        )
    check_name(groupby, "groupby", _NAME, "a column of obs")
    check_name(key_added, "key_added", _NAME, "a key of uns")
    check_name(layer, "layer", _NAME, "a layer", optional=True)
    parts = list(counts.values()) if isinstance(counts, StratifiedCounts) else [counts]
    added = float(check_alpha(alpha, 1, solver=_NAME)[0])
    columns = _columns(support, parts[0])
    order = _groups(counts, adata, groupby)
    names = np.asarray(counts.feature_names, dtype=object)
    _check_genes(names[columns], adata, use_raw)
    found = class_contrasts(parts, columns, added)
    pvalues = adjusted = np.full_like(found.gains, np.nan)
    exact = class_pvalues(counts) if isinstance(counts, ClassCounts) else None
    if exact is not None:
        pvalues = exact[:, columns]
        adjusted = false_discovery_control(exact, axis=1)[:, columns]
    ranking = np.argsort(-found.gains, axis=1, kind="stable")
    fields = {
        "names": (np.broadcast_to(names[columns], ranking.shape), "O"),
        "scores": (found.gains, "f4"),
        "logfoldchanges": (found.log2_ratios, "f4"),
        "pvals": (pvalues, "f8"),
        "pvals_adj": (adjusted, "f8"),
    }
    model = "multinomial" if counts.kind == "count" else "bernoulli"
    strata = " within strata" if isinstance(counts, StratifiedCounts) else ""
    written: dict[str, Any] = {
        "params": {
            "groupby": groupby,
            "reference": "rest",
            "method": f"bayesieve {model}{strata}",
            "use_raw": use_raw,
            "layer": layer,
            "corr_method": "benjamini-hochberg",
        }
    }
    labels = [str(label) for label in counts.classes[order].tolist()]
    for field, (values, kind) in fields.items():
        ranked = np.take_along_axis(values, ranking, axis=1)[order]
        written[field] = np.rec.fromarrays(
            list(ranked), dtype=[(label, kind) for label in labels]
        )
    adata.uns[key_added] = written


def _columns(support: Any, counts: ClassCounts) -> Array:
    """Numbers of the genes to write."""
    m = counts.n_features
    chosen: Any
    if support is None:
        return np.arange(m)
    if isinstance(support, Solution):
        chosen = support.support
    elif hasattr(support, "get_params"):
        chosen = getattr(support, "support_indices_", None)
        if chosen is None or support.n_features_in_ != m:
            raise ValueError(
                f"The 'support' parameter of {_NAME} must be fitted on the {m} genes "
                f"that were counted. Got {support!r}."
            )
    else:
        chosen = _listed(support)
        if chosen.ndim != 1:
            raise _no_support(support, m)
        if chosen.dtype.kind == "O":
            names = counts.feature_names
            assert names is not None  # as was checked before
            place = {name: i for i, name in enumerate(names)}
            for name in chosen.tolist():
                if not isinstance(name, str) or name not in place:
                    raise ValueError(
                        f"The 'support' parameter of {_NAME} must name genes that were "
                        f"counted. Got {name!r}."
                    )
            chosen = np.array([place[name] for name in chosen.tolist()], dtype=np.int64)
        elif chosen.dtype == bool and chosen.shape == (m,):
            chosen = np.flatnonzero(chosen)
    fits = (
        chosen.ndim == 1
        and chosen.dtype.kind in "iu"
        and chosen.size > 0
        and int(chosen.min()) >= 0
        and int(chosen.max()) < m
        and np.unique(chosen).size == chosen.size
    )
    if not fits:
        raise _no_support(support, m)
    return np.asarray(chosen, dtype=np.int64)


def _listed(support: Any) -> Array:
    """Numbers or a mask as they are, anything else as objects in one dimension.

    A str, a set and a dict have no dimension, though Python would iterate over them.
    """
    if isinstance(support, list | tuple):
        if support and all(isinstance(o, int | np.integer | np.bool_) for o in support):
            return np.array(support)
        found = np.empty(len(support), dtype=object)
        found[:] = support
        return found
    found = np.asarray(support)
    return found.astype(object) if found.dtype.kind in "UT" else found


def _no_support(support: Any, m: int) -> ValueError:
    hint = f" Hint: [{support!r}]." if isinstance(support, str) else ""
    return ValueError(
        f"The 'support' parameter of {_NAME} must be at least one distinct gene out of "
        f"{m}: a result, numbers, names or a mask. Got {support!r}.{hint}"
    )


def _groups(counts: Any, adata: Any, groupby: str) -> Array:
    """The classes in the order of the categories of a column of obs."""
    if groupby not in adata.obs:
        raise ValueError(
            f"The 'groupby' parameter must be a column of obs. Got {groupby!r}."
        )
    column = adata.obs[groupby]
    kept = getattr(column, "cat", None)
    present = (
        list(dict.fromkeys(column.tolist()))
        if kept is None
        else kept.categories.tolist()
    )
    place = {label: i for i, label in enumerate(counts.classes.tolist())}
    unknown = [label for label in place if label not in present]
    if unknown:
        raise ValueError(
            f"obs[{groupby!r}] must have the classes that were counted. It has no "
            f"{unknown[0]!r}."
        )
    if kept is None:
        return np.arange(len(place))
    return np.array([place[label] for label in present if label in place])


def _check_genes(names: Array, adata: Any, use_raw: bool) -> None:
    holder, told = (adata.raw, "adata.raw") if use_raw else (adata, "adata")
    if holder is None:
        raise ValueError("use_raw=True needs adata.raw, which is None.")
    missing = [name for name in names.tolist() if name not in holder.var_names]
    if missing:
        raise ValueError(
            f"{told} must have the genes that are written. It has no {missing[0]!r}."
        )
