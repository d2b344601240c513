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

_LONGEST_TABLE = 30  # features shown; of more, those of largest gain
_LONGEST_NAME = 30
_MOST_CLASSES = 12


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
    if rows[0].copies is not None:  # part of a k-mer is another one
        most = max(most, terminal.width // 2)
    return max(min(longest, most), len(unit) - 1) + 1


def _copies(rows: Sequence[Feature]) -> list[str]:
    """How many others each stands for, in columns of one width, under a heading."""
    if rows[0].copies is None:
        return [""] * (len(rows) + 1)
    cells = ["copies", *(f"+{row.copies:,}" if row.copies else "" for row in rows)]
    width = max(map(len, cells)) + 2
    return [f"{own:>{width}}" for own in cells]


def _names(rows: Sequence[Feature], width: int, terminal: Terminal) -> list[str]:
    """The names in so many columns, told apart."""
    return terminal.fit_apart([_visible(row.name) for row in rows], width)


def _visible(name: str) -> str:
    """A name whose outer blanks can be seen: n-grams of characters have them."""
    inner = name.strip(" ")
    left = len(name) - len(name.lstrip(" "))
    return "␣" * left + inner + "␣" * (len(name) - left - len(inner))


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
    copies, *others = _copies(rows)
    rest = terminal.width - 2 - name - len(copies) - weight - 2
    half = min((rest - sum(cells) - 1) // 2, 18)
    if half < 8 and cells[0]:
        cells, half = [0, 0], min((rest - 1) // 2, 18)
    half = max(half, 3)
    heading = f"  {terminal.fit(unit[:-1], name)}{copies}"
    for c in range(2):
        if cells[c]:  # two columns stay free, or long names run together
            heading += "  " + terminal.fit(headings[c], cells[c] - 2, right=True)
    heading += f"{'weight':>{weight}}  {terminal.fit(left, half, right=True)} "
    heading += terminal.fit(right, half)
    terminal.line(terminal.style(heading.rstrip(), "dim"))
    largest = max(abs(row.weight) for row in rows) or 1.0
    names = _names(rows, name, terminal)
    for row, shown, n, counted in zip(rows, names, others, numbers, strict=True):
        line = f"  {shown}{n}"
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
    copies, *others = _copies(rows)
    apart = "  " if copies else ""
    rest = terminal.width - 2 - name - len(copies + apart)
    bar = max(min(rest - side - 10 - 2, 30), 3)
    heading = f"  {terminal.fit(unit[:-1], name)}{copies}{apart}"
    heading += terminal.fit("speaks for", side)
    terminal.line(terminal.style(f"{heading}{'gain':>10}", "dim"))
    largest = max(row.gain for row in rows) or 1.0
    # Gains of weights are those of one row, far below one nat.
    digits = min(max(1, 2 - math.floor(math.log10(largest))), 6) if largest < 10 else 1
    names = _names(rows, name, terminal)
    for row, shown, n, label in zip(rows, names, others, labels, strict=True):
        line = f"  {shown}{n}{apart}{terminal.fit(label, side)}"
        line += f"{row.gain:>10,.{digits}f}  "
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
    for row, shown in zip(rows, _names(rows, name, terminal), strict=True):
        line = f"  {shown}"
        line += f"{row.parts:>{cut}}{row.weight:>8.2f}  "
        terminal.line(line + terminal.one_sided_bar(row.weight, bar))


def certificate_sentence(certificate: dict[str, Any], k: int, unit: str) -> str:
    """Say in one sentence what the certificate proves."""
    from bayesieve._description import proof_sentence

    proof: Any = SimpleNamespace(**({"remark": "", "under_rules": False} | certificate))
    return proof_sentence(proof, k, -1, unit)


def show_evaluation(found: dict[str, Any], unit: str, terminal: Terminal) -> None:
    """Print how the model and its rivals did on held-out rows, and each class."""
    from bayesieve.inspection._evaluation import costs_told

    title = f"On {found['rows']:,} held-out rows"
    if found["splits"] > 1:
        # Those of a class fall into splits unevenly: only their sum is one number.
        title = f"On {found['scored_rows']:,} held-out rows of {found['splits']} splits"
    names = [own["name"] for own in found["contenders"]]
    width = max(display_width(title), *(display_width(own) + 2 for own in names)) + 2
    width = max(min(width, terminal.width - 32), 12)
    heading = f"{terminal.fit(title, width)}{unit:>10}{'accuracy':>10}{'log loss':>10}"
    terminal.line(terminal.style(heading, "dim"))
    for own in found["contenders"]:
        line = "  " + terminal.fit(own["name"], width - 2)
        line += f"{own['features']:>10,}" if own["features"] is not None else " " * 10
        line += f"{100 * own['accuracy']:>8.1f} %{own['log_loss']:>10.3f}"
        terminal.line(terminal.style(line, "bold") if own["chosen"] else line)
    terminal.line()
    _show_classes(found["per_class"], terminal)
    two = found["two_classes"]
    if two is not None:
        tenth = _at(two["lift"], 0.1)
        terminal.paragraph(
            f"Area under the ROC curve {two['auc']:.3f}, average precision "
            f"{two['average_precision']:.3f}. The tenth of the rows that looks most "
            f"like {plain_text(two['label'])} holds {100 * tenth:.0f} % of them."
        )
        _show_costs(two, terminal)
    elif found["costs"] is not None:
        terminal.paragraph(plain_text(costs_told(found["costs"])))


def _show_classes(rows: list[dict[str, Any]], terminal: Terminal) -> None:
    """Recall and precision of each class; of many those that are recalled least."""
    shown = rows
    if len(rows) > _MOST_CLASSES:
        known = [own for own in rows if own["recall"] is not None]
        shown = sorted(known, key=lambda own: own["recall"])[:_MOST_CLASSES]
    longest = max(display_width(plain_text(own["name"])) for own in shown)
    width = max(min(longest, terminal.width - 46), 12) + 2
    title = "class" if shown is rows else "hardest classes"
    heading = (
        f"{terminal.fit(title, width)}{'rows':>10}{'found':>10}{'right if said':>16}"
    )
    terminal.line(terminal.style(heading, "dim"))
    for own in shown:
        line = f"  {terminal.fit(own['name'], width - 2)}{own['rows']:>10,}"
        for share, size in ((own["recall"], 10), (own["precision"], 16)):
            text = "-" if share is None else f"{100 * share:.1f} %"
            line += f"{text:>{size}}"
        terminal.line(line)


def _show_costs(two: dict[str, Any], terminal: Terminal) -> None:
    if two["costs"] is None:
        return
    at = two["chosen_threshold"]
    by_threshold = {own["threshold"]: own for own in two["thresholds"]}
    usual = by_threshold[0.5]
    best = by_threshold[min(by_threshold, key=lambda own: abs(own - at))]
    if best["cost"] >= usual["cost"]:
        terminal.paragraph(
            "With these costs of errors no other threshold than 0.50 does better here: "
            f"{usual['cost']:.3f} a row."
        )
        return
    terminal.paragraph(
        f"With these costs of errors, say {plain_text(two['label'])} from a "
        f"probability of {at:.2f} on: {best['cost']:.3f} a row in place of "
        f"{usual['cost']:.3f}, {100 * best['recall']:.0f} % found."
    )


def _at(curve: list[list[float]], x: float) -> float:
    """Value of a rising curve, between its points."""
    before = [0.0, 0.0]
    for point in curve:
        if point[0] >= x:
            run = point[0] - before[0]
            share = (x - before[0]) / run if run else 1.0
            return before[1] + share * (point[1] - before[1])
        before = point
    return before[1]


def show_next(steps: Sequence[tuple[str, str]], terminal: Terminal) -> None:
    """Print commands to try, each with what it does beside it, or above long ones."""
    width = max((len(command) for command, _ in steps), default=0) + 2
    beside = all(2 + width + len(told) <= terminal.width for _, told in steps)
    for command, told in steps:
        meaning = terminal.style(told, "dim")
        if beside:
            terminal.line(f"  {command:{width}}{meaning}")
        else:
            terminal.line(f"  {meaning}")
            terminal.line(f"    {command}")


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
