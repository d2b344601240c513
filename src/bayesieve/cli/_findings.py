"""What is unlike the training data: one line for people, one JSON file for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bayesieve.cli._output import written
from bayesieve.cli._scored_rows import ScoredRows
from bayesieve.cli._show import finite

if TYPE_CHECKING:
    from bayesieve.inspection import ColumnShift, InputShift

__all__ = ["findings_line", "write_findings"]

_SHOWN = 3  # columns named for each kind of finding; all are in the file


def findings_line(scored: ScoredRows, shift: InputShift) -> str | None:
    """Return the sentence that tells what is unlike training, None for nothing."""
    n_rows = shift.n_rows
    told = []
    if scored.missing:
        told.append(f"{_names(scored.missing)} missing, not needed without a weight")
    if scored.new:
        told.append(f"{_names(scored.new)} not known to the model and left out")
    without = shift.rows_without_features
    if without:
        unit = "known term" if scored.saved.takes_texts else "selected feature"
        told.append(f"no {unit} in {without:,} of {n_rows:,} rows")
    unseen = [column for column in shift.columns if column.unseen_rows]
    if unseen:
        parts = [_unseen(column, n_rows) for column in _most(unseen, "unseen_rows")]
        told.append(f"values never met in {_listed(parts, len(unseen))}")
    outside = [column for column in shift.columns if column.outside_rows]
    if outside:
        parts = [_outside(column, n_rows) for column in _most(outside, "outside_rows")]
        told.append(f"outside the range in {_listed(parts, len(outside))}")
    if shift.shifted:
        parts = [_shifted(column) for column in shift.shifted[:_SHOWN]]
        told.append(f"shares have shifted in {_listed(parts, len(shift.shifted))}")
    return f"unlike the training data: {'; '.join(told)}" if told else None


def _most(columns: list[ColumnShift], rows: str) -> list[ColumnShift]:
    return sorted(columns, key=lambda column: -getattr(column, rows))[:_SHOWN]


def _names(names: list[str]) -> str:
    columns = "column" if len(names) == 1 else "columns"
    shown = [repr(_short(name)) for name in names[:_SHOWN]]
    return f"{columns} {_listed(shown, len(names))}"


def _listed(parts: list[str], total: int) -> str:
    more = total - len(parts)
    return ", ".join([*parts, *([f"and {more:,} more"] if more else [])])


def _unseen(column: ColumnShift, n_rows: int) -> str:
    example = column.unseen_example
    shown = "a missing value" if example is None else f"such as {_short(example)!r}"
    return (
        f"{_short(column.name)!r} ({column.unseen_rows:,} of {n_rows:,} rows, {shown})"
    )


def _outside(column: ColumnShift, n_rows: int) -> str:
    low, high = column.training_range or ("", "")
    return (
        f"{_short(column.name)!r} ({column.outside_rows:,} of {n_rows:,} rows, such as "
        f"{_short(column.outside_example)}; {_short(low)} to {_short(high)} in "
        "training)"
    )


def _shifted(column: ColumnShift) -> str:
    was, now = 100 * column.training_share, 100 * column.scored_share
    # A term or feature is there or not; a column has parts with names.
    where = "" if column.part in ("present", "absent") else f"{column.part}: "
    return f"{_short(column.name)!r} ({where}{was:.3g} % to {now:.3g} %)"


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def write_findings(
    path: str, scored: ScoredRows, shift: InputShift, labels: dict[str, Any]
) -> None:
    """Write all findings as one JSON object."""
    found = {
        "rows": shift.n_rows,
        **labels,
        "missing_columns": scored.missing,
        "new_columns": scored.new,
        "rows_without_features": shift.rows_without_features,
        "shift_tested": shift.tested,
        "shifted": [column.name for column in shift.shifted],
        "columns": shift.to_dict()["columns"],
    }
    with written(path) as beside, open(beside, "w", encoding="utf-8") as file:
        json.dump(finite(found), file, ensure_ascii=False, indent=2, default=str)
        file.write("\n")
