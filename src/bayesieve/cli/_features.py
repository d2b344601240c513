"""The selected features of a fitted model, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesieve._description import Description, TableColumns

__all__ = ["Feature", "certificate_fields", "selected_features"]


@dataclass(frozen=True)
class Feature:
    """One selected feature.

    Attributes
    ----------
    name : str
    weight : float
        Two classes: log-odds towards the second one (of a measurement, the difference
        of the means in standard deviations). More classes: how far the class it speaks
        for lies above the others. Mixed table: weight in [0, 1].
    gain : float
        Log-likelihood in nats; of a mixed table, mean size of the term in the scores.
    towards : object
        The class that the feature speaks for; None for a column of a mixed table that
        is cut into parts.
    by_class : list of float or None
        Count, rows or mean in each class.
    parts : str or None
        Of a mixed table: how the column or pair was cut, or what an n-gram speaks for.
    copies : int or None
        Of sequences: others that occur in the same training rows.
    """

    name: str
    weight: float
    gain: float
    towards: Any = None
    by_class: list[float] | None = None
    parts: str | None = None
    copies: int | None = None


def certificate_fields(certificate: Any) -> dict[str, Any]:
    """Return the parts of a certificate that are reported, as plain numbers."""
    numbers = ("objective", "null_objective", "upper_bound", "gap", "relative_gap")
    fields: dict[str, Any] = {
        name: float(getattr(certificate, name)) for name in numbers
    }
    fields["is_optimal"] = bool(certificate.is_optimal)
    fields["nodes"] = int(certificate.nodes)
    fields["under_rules"] = bool(certificate.under_rules)
    if certificate.remark:
        fields["remark"] = certificate.remark
    return fields


def selected_features(found: Description, counts: Any = None) -> list[Feature]:
    """Return the features of a model, strongest towards the last class first."""
    columns = found.indices.tolist()
    names = found.names
    if found.named is None and found.table is None:  # columns of a matrix
        names = [str(j) for j in columns]
    copies: list[int | None] = [None] * len(columns)
    if counts is not None and counts.copies is not None:
        names = counts.feature_names[found.indices].tolist()  # without their number
        copies = (counts.copies.sizes[found.indices] - 1).tolist()
    weights, towards = found.weight_of_each()
    by_class = _by_class(found, counts)
    parts: list[str | None] = [None] * len(columns)
    if found.table is not None:
        parts = [
            _cut(found.table, j, own) for j, own in zip(columns, towards, strict=True)
        ]
    rows = [
        Feature(*row)
        for row in zip(
            *(names, weights, found.score.tolist(), towards, by_class, parts, copies),
            strict=True,
        )
    ]
    if found.signed and len(found.labels) == 2:
        return sorted(rows, key=lambda row: (-row.weight, row.name))
    return sorted(rows, key=lambda row: (-row.gain, row.name))


def _by_class(found: Description, counts: Any) -> list[Any]:
    """Return count, rows or mean of each feature in each class."""
    if found.means is not None:
        return list(found.means.T.tolist())
    # Rare terms may have been left out of a model of texts, so places can differ.
    counted = counts is not None and counts.kind in ("count", "binary")
    if not counted or counts.n_features != found.n_features:
        return [None] * found.total
    table = counts.feature_count[:, found.indices]
    table = table.toarray() if hasattr(table, "toarray") else table
    return list(table.T.tolist())


def _cut(table: TableColumns, j: int, towards: Any) -> str:
    """How a column or pair was cut, or what an n-gram speaks for."""
    shapes = table.shapes
    if j < len(table.partitions):
        partition = table.partitions[j]
        if shapes is not None and partition.n_parts == 1:
            # The best single cut is none; what is used is the mean over all of them.
            return "a curve" if partition.kind == "numerical" else "an average"
        return partition.parts_told
    if shapes is not None and j >= shapes.first_pair:
        sizes = shapes.pairs[j - shapes.first_pair].n_cells
        return f"{' x '.join(map(str, sizes))} cells"
    return f"for {towards}"
