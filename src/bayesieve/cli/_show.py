"""Tables and sentences for people, within the width of the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from bayesieve.cli._features import Feature
from bayesieve.cli._terminal import Terminal, display_width, plain_text

__all__ = [
    "certificate_sentence",
    "finite",
    "show_evaluation",
    "show_features",
    "show_next",
    "size_in_bytes",
]

_LONGEST_TABLE = 40  # features shown; of more, those of largest gain
_LONGEST_NAME = 30


def show_features(
    features: Sequence[Feature], classes: Sequence[Any], unit: str, terminal: Terminal
) -> None:
    """Print one line for each feature, with a bar for its weight."""
    shown = list(features)
    if len(shown) > _LONGEST_TABLE:
        order = sorted(features, key=lambda row: (-row.gain, -abs(row.weight)))
        strongest = {id(row) for row in order[:_LONGEST_TABLE]}
        shown = [row for row in features if id(row) in strongest]
    if not shown:
        return
    if shown[0].parts is not None:
        _show_columns(shown, unit, terminal)
    elif len(classes) == 2:
        _show_two_sides(shown, classes, unit, terminal)
    else:
        _show_many_sides(shown, unit, terminal)
    if len(shown) < len(features):
        terminal.line(f"  and {len(features) - len(shown):,} more that say less")


def _name_width(rows: Sequence[Feature], unit: str, terminal: Terminal) -> int:
    longest = max(display_width(plain_text(row.name)) for row in rows)
    most = min(_LONGEST_NAME, terminal.width // 3)
    return max(min(longest, most), len(unit) - 1) + 1


def _show_two_sides(
    rows: Sequence[Feature], classes: Sequence[Any], unit: str, terminal: Terminal
) -> None:
    """Bars to the left for the first class, to the right for the second."""
    left, right = (plain_text(str(label)) for label in classes)
    name = _name_width(rows, unit, terminal)
    headings = [f"in {left}", f"in {right}"]
    numbers = [_numbers(row) for row in rows]
    # Counts make way for bars where the terminal is narrow.
    cells = [
        max(min(len(headings[c]), 12), *(len(n[c]) for n in numbers)) + 2
        if rows[0].by_class is not None
        else 0
        for c in range(2)
    ]
    weight = 8
    rest = terminal.width - 2 - name - weight - 2
    half = min((rest - sum(cells) - 1) // 2, 18)
    if half < 8 and cells[0]:
        cells, half = [0, 0], min((rest - 1) // 2, 18)
    half = max(half, 3)
    heading = f"  {terminal.fit(unit[:-1], name)}"
    for c in range(2):
        if cells[c]:  # two columns stay free, or long names run together
            heading += "  " + terminal.fit(headings[c], cells[c] - 2, right=True)
    heading += f"{'weight':>{weight}}  {terminal.fit(left, half, right=True)} "
    heading += terminal.fit(right, half)
    terminal.line(terminal.style(heading.rstrip(), "dim"))
    largest = max(abs(row.weight) for row in rows) or 1.0
    for row, counted in zip(rows, numbers, strict=True):
        line = f"  {terminal.fit(row.name, name)}"
        for c in range(2):
            line += f"{counted[c]:>{cells[c]}}" if cells[c] else ""
        line += f"{_signed(row.weight):>{weight}}  "
        terminal.line(line + terminal.bar(row.weight / largest, half).rstrip())


def _signed(weight: float) -> str:
    """A weight with its sign; one that is small is not shown as nothing."""
    if not weight:
        return "0"
    return f"{weight:+.2f}" if abs(weight) >= 0.005 else f"{weight:+.0e}"


def _numbers(row: Feature) -> list[str]:
    if row.by_class is None:
        return ["", ""]
    return [
        f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"
        for value in row.by_class
    ]


def _show_many_sides(rows: Sequence[Feature], unit: str, terminal: Terminal) -> None:
    """The class each feature speaks for, and a bar for its gain."""
    name = _name_width(rows, unit, terminal)
    labels = [plain_text(str(row.towards)) for row in rows]
    side = max(min(max(map(display_width, labels)), terminal.width // 4), 10) + 1
    bar = max(min(terminal.width - 2 - name - side - 10 - 2, 30), 3)
    heading = f"  {terminal.fit(unit[:-1], name)}{terminal.fit('speaks for', side)}"
    terminal.line(terminal.style(f"{heading}{'gain':>10}", "dim"))
    largest = max(row.gain for row in rows) or 1.0
    for row, label in zip(rows, labels, strict=True):
        line = f"  {terminal.fit(row.name, name)}{terminal.fit(label, side)}"
        line += f"{row.gain:>10,.1f}  "
        terminal.line(line + terminal.one_sided_bar(row.gain / largest, bar))


def _show_columns(rows: Sequence[Feature], unit: str, terminal: Terminal) -> None:
    """How a column of a mixed table was cut, and a bar for its weight."""
    name = _name_width(rows, unit, terminal)
    cut = max(len(row.parts or "") for row in rows) + 2
    has_terms = any(row.towards is not None for row in rows)
    how = "cut into, or for" if has_terms else "cut into"
    cut = max(cut, len(how) + 2)
    heading = f"  {terminal.fit(unit[:-1], name)}{how:>{cut}}{'weight':>8}"
    terminal.line(terminal.style(heading, "dim"))
    bar = max(min(terminal.width - 2 - name - cut - 8 - 2, 30), 3)
    for row in rows:
        line = f"  {terminal.fit(row.name, name)}{row.parts:>{cut}}{row.weight:>8.2f}  "
        terminal.line(line + terminal.one_sided_bar(row.weight, bar))


def certificate_sentence(certificate: dict[str, Any], k: int, unit: str) -> str:
    """Say in one sentence what the certificate proves."""
    from bayesieve._description import proof_sentence

    proof: Any = SimpleNamespace(**({"remark": "", "under_rules": False} | certificate))
    return proof_sentence(proof, k, -1, unit)


def show_evaluation(
    evaluation: dict[str, Any],
    rows: list[tuple[str, float | None, float | None]],
    names: tuple[str, str],
    terminal: Terminal,
    unit: str = "rows",
) -> None:
    """Print how classifiers did on held-out rows: (label, number, number) each."""
    title = f"On {evaluation['rows']:,} held-out {unit}"
    width = min(max(len(title), *(len(label) + 2 for label, *_ in rows)) + 2, 52)
    width = max(min(width, terminal.width - 21), 12)
    terminal.line(f"{terminal.fit(title, width)}{names[0]:>10}{names[1]:>11}")
    for label, first, second in rows:
        line = "  " + terminal.fit(label, width - 2)
        line += f"{100 * first:>8.1f} %" if first is not None else " " * 10
        if second is not None:
            percent = names[1] != "log loss"
            line += f"{100 * second:>9.1f} %" if percent else f"{second:>11.3f}"
        terminal.line(line.rstrip())


def show_next(steps: Sequence[tuple[str, str]], terminal: Terminal) -> None:
    """Print commands to try, each with what it does."""
    width = max(len(command) for command, _ in steps) + 2
    for command, meaning in steps:
        if 2 + width + len(meaning) <= terminal.width:
            terminal.line(f"  {command:{width}}{terminal.style(meaning, 'dim')}")
        else:
            terminal.line(f"  {command}")


def finite(value: Any) -> Any:
    """Return a value for JSON, which has no infinities and no NaN."""
    if isinstance(value, dict):
        return {key: finite(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [finite(own) for own in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def size_in_bytes(size: float) -> str:
    """Return a size in a unit that keeps it short."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
