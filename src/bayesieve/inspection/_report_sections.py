"""The sections of a report as static HTML: what stands there without a script.

Every text goes through `escape`. Where the script draws, the same numbers stand in
tables inside ``<noscript>``.
"""

from __future__ import annotations

from html import escape
from typing import Any

from bayesieve.inspection._evaluation import costs_told
from bayesieve.inspection._report_alternatives import count_told
from bayesieve.inspection._report_data import ReportData
from bayesieve.inspection._report_glossary import glossary_list
from bayesieve.utils._wording import counted

__all__ = [
    "in_pairs",
    "leads_with_accuracy",
    "measured_on",
    "number",
    "percent",
    "report_sections",
    "seconds",
]

_SHOWN_WITHOUT_SCRIPT = 100
_TERMS_OF_A_CLASS = 12
_ALTERNATIVES_SHOWN = 20


def report_sections(data: ReportData) -> list[tuple[str, str, str]]:
    """Key, title and body of each section that there is something to say in."""
    pairs = " and pairs" if in_pairs(data) else ""
    sections = [
        ("evaluation", "How good is it on new rows?", _evaluation(data)),
        ("features", data.noun.capitalize() + pairs, _features(data)),
        ("classes", "What speaks for each class?", _classes(data)),
        ("documents", "Examples", _documents(data)),
        ("path", f"How many {data.noun}?", _path(data)),
        ("proof", "What is proven", _proof(data)),
        ("weights", "Weights", _weights(data)),
        ("shapes", "Shapes" + pairs, _shapes(data)),
        ("columns", "Intervals and groups", _columns(data)),
        ("data", "Data", _data(data)),
        ("reproduce", "Do it again", _reproduce(data)),
        ("words", "Words", glossary_list()),
    ]
    return [(key, title, body) for key, title, body in sections if body is not None]


def percent(share: float | None) -> str:
    """A share of 1 in percent, nothing if it is not known."""
    return "" if share is None else f"{100 * share:.1f} %"


def number(value: float | None, digits: int = 4) -> str:
    """A number in few digits, whole ones in full."""
    if value is None:
        return ""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.1f}"
    return f"{value:.{digits}g}"


def in_pairs(data: ReportData) -> str:
    """How many pairs a model has beside its columns, in words."""
    n_pairs = 0 if data.shapes is None else data.shapes["n_pairs"]
    if not n_pairs:
        return ""
    return f", alone or in {n_pairs:,} pair{'' if n_pairs == 1 else 's'}"


def seconds(value: float) -> str:
    """A time in the unit that suits it."""
    if value >= 120:
        return f"{value / 60:,.1f} min"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _table(titles: list[str], rows: list[list[str]], *, texts: int = 1) -> str:
    """A static table; the first columns hold text, the others numbers."""
    head = "".join(
        f"<th{' class=n' if i >= texts else ''} scope=col>{escape(title)}</th>"
        for i, title in enumerate(titles)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=n' if i >= texts else ' class=name'}>{escape(cell)}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _live(static: str = "") -> str:
    """Where the script draws, and what stands there without it."""
    return f'<div class="live"></div><noscript>{static}</noscript>'


def _class_titles(data: ReportData, width: int) -> list[str]:
    if width == 1:
        return [data.features["weight_name"]]
    return [item["name"] for item in data.data["classes"][:width]]


def _features(data: ReportData) -> str | None:
    rows = data.features["rows"]
    if not rows:
        return None
    weighted = rows[0]["weights"] is not None
    width = min(len(rows[0]["weights"]), 8) if weighted else 0
    cells = [
        [
            data.names[row["name"]],
            number(row["score"]),
            *(f"{w:+.2f}" for w in (row["weights"] or ())[:width]),
        ]
        for row in rows[:_SHOWN_WITHOUT_SCRIPT]
    ]
    titles = ["name", data.features["score_name"], *_class_titles(data, width)]
    return _live(_table(titles, cells))


def _classes(data: ReportData) -> str | None:
    """The strongest features of each class, where there are more than two."""
    rows = data.features["rows"]
    if not rows or not data.features["signed"] or len(rows[0]["weights"] or ()) < 3:
        return None
    cells = []
    for c, own in enumerate(data.data["classes"]):
        order = sorted(rows, key=lambda row, c=c: -row["weights"][c])  # type: ignore[misc]
        best = [row for row in order[:_TERMS_OF_A_CLASS] if row["weights"][c] > 0]
        cells.append([own["name"], ", ".join(data.names[r["name"]] for r in best)])
    return _live(_table(["class", f"strongest {data.noun}"], cells, texts=2))


def _documents(data: ReportData) -> str | None:
    if not data.documents:
        return None
    parts = []
    for own in data.documents:
        truth = "" if own["label"] is None else f", in truth {own['label']}"
        row = f"Row {own['row']:,}" if own["name"] is None else own["name"]
        head = f"{row}: {own['predicted']} with {percent(own['probability'])}{truth}"
        words = "".join(piece["text"] for piece in own["pieces"])
        words += "; ".join(map(_term_told, own["terms"]))
        told = [own[key] for key in ("note", "flip") if own[key] is not None]
        below = "".join(f"<p>{escape(line)}</p>" for line in told)
        shown = f"<pre>{escape(words)}</pre>" if words else ""
        parts.append(f"<h3>{escape(head)}</h3>{shown}{below}")
    return _live("".join(parts))


def _term_told(term: dict[str, Any]) -> str:
    held = f" = {term['value']}" if term["value"] else ""
    return f"{term['name']}{held} ({term['nats']:+.2f})"


def _path(data: ReportData) -> str | None:
    if data.path is None or not data.path["steps"]:
        return None
    cells = [
        [
            f"{step['k']:,}",
            number(step["gain"]),
            number(step["bound"]),
            number(step["gap"]),
            "" if step["score"] is None else f"{step['score']['mean']:.4f}",
        ]
        for step in data.path["steps"]
    ]
    titles = ["k", "gain (nats)", "bound", "gap", data.path["score_name"]]
    return _live(_table(titles, cells, texts=0))


def _proof(data: ReportData) -> str | None:
    """What is proven: in words where they do not lead the page, then in numbers."""
    parts = []
    if data.verdict is not None or leads_with_accuracy(data):
        parts.append(f'<p class="proven">{escape(data.sentence)}</p>')
        parts.append(
            f'<p class="note">{escape(data.detail)}</p>' if data.detail else ""
        )
    own = data.certificate
    if own is not None:
        gap = "none: nothing is better" if own["is_optimal"] else number(own["gap"])
        title = f"{data.noun} proven about"
        if own["k"] != data.data["selected"] and data.weight_path is None:
            title = "k, counted as the rules do"  # groups, perhaps
        numbers = [
            (title, f"{own['k']:,}"),
            ("gain (nats)", number(own["gain"])),
            ("bound (nats)", number(own["bound"])),
            ("gap", gap),
            ("nodes searched", f"{own['nodes']:,}"),
        ]
        items = "".join(
            f"<div><dt>{escape(title)}</dt><dd>{escape(value)}</dd></div>"
            for title, value in numbers
        )
        parts.append(f'<dl class="numbers">{items}</dl>')
    told = _sizes_told(data)
    if told:
        parts.append(f'<p class="note">{escape(told)}</p>')
    others = _alternatives(data)
    if others is not None:
        parts.append(f'<h3 id="alternatives">Is it the only good answer?</h3>{others}')
    return "".join(parts) or None


def leads_with_accuracy(data: ReportData) -> bool:
    """Whether the page begins with how good the model is, for want of a verdict."""
    found = data.evaluation or {}
    return data.verdict is None and found.get("accuracy") is not None


def _sizes_told(data: ReportData) -> str:
    """Which number of features is which, where a model with weights has several."""
    path, proven = data.weight_path, data.certificate
    if path is None or proven is None or path["chosen"] is None:
        return ""
    kept, k = data.data["selected"], proven["k"]
    steps = [s["features"] for s in path["steps"] if s["penalty"] == path["chosen"]]
    told = []
    if steps and steps[0] != k:
        had = counted(steps[0], data.noun)
        told.append(f"At the chosen penalty {had} had a weight")
    if k != kept:
        told.append(
            f"the proof is about {k:,}, and after the last fit {kept:,} have a weight "
            "above zero: these are the ones kept"
        )
    elif told:
        told.append(f"{k:,} of these were kept and fitted again")
    words = "; ".join(told)
    return words[:1].upper() + words[1:] + "." if words else ""


def _alternatives(data: ReportData) -> str | None:
    found = data.alternatives
    if found is None or not found["items"] or data.certificate is None:
        return None
    cells = [
        [
            data.names[item["name"]],
            ", ".join(data.names[own] for own in item["entered"]),
            number(item["lost"], 3),
        ]
        for item in found["items"]
    ]
    told = count_told(found, data.certificate["k"], data.noun)
    first = next((item for item in found["items"][::-1] if item["entered"]), None)
    if first is not None:
        entered = " and ".join(repr(data.names[own]) for own in first["entered"])
        told += (
            f" Without {data.names[first['name']]!r} {number(first['lost'], 3)} nats "
            f"are lost, and {entered} would take its place."
        )
    one = data.noun.removesuffix("s")
    titles = [f"without this {one}", "these come in", "nats lost"]
    few = _ALTERNATIVES_SHOWN
    shown = f"<p>{escape(told)}</p>{_table(titles, cells[:few], texts=2)}"
    if len(cells) > few:
        rest = _table(titles, cells[few:], texts=2)
        more = f"<span>{len(cells) - few:,} more</span>"
        shown += f"<details><summary>{more}</summary><div>{rest}</div></details>"
    return shown


def _weights(data: ReportData) -> str | None:
    if data.weight_path is None or not data.weight_path["steps"]:
        return None
    cells = [
        [
            number(step["penalty"]),
            f"{step['features']:,}",
            number(step["loss"]),
            "" if step["score"] is None else f"{step['score']['mean']:.4f}",
        ]
        for step in data.weight_path["steps"]
    ]
    titles = ["penalty", data.noun, "loss (nats)", "cross-validated score"]
    return _live(_table(titles, cells, texts=0))


def _evaluation(data: ReportData) -> str | None:
    found = data.evaluation
    if found is None or not any(value is not None for value in found.values()):
        return None
    parts = [f'<p class="note">{escape(measured_on(data))}</p>']
    if found["costs"] is not None and found["two_classes"] is None:
        parts.append(f'<p class="note">{escape(costs_told(found["costs"]))}</p>')
    static = []
    if found["contenders"]:
        cells = [
            [
                own["name"] + (" (this one)" if own["chosen"] else ""),
                number(own["features"]),
                percent(own["accuracy"]),
                number(own["log_loss"], 3),
            ]
            for own in found["contenders"]
        ]
        static.append(_table(["model", data.noun, "accuracy", "log loss"], cells))
    static.append(_confusion(found["confusion"]))
    if found["per_class"]:
        cells = [
            [
                own["name"],
                *(number(own[key]) for key in ("rows", "predicted")),
                *(percent(own[key]) for key in ("precision", "recall", "f1")),
            ]
            for own in found["per_class"]
        ]
        titles = ["class", "rows", "predicted", "precision", "recall", "F1"]
        static.append("<h3>Each class</h3>" + _table(titles, cells))
    static.append(_thresholds(found["two_classes"]))
    static.append(_calibration(data) or "")
    return "".join(parts) + _live("".join(static))


def measured_on(data: ReportData) -> str:
    """Which rows the model was measured on."""
    found = data.evaluation or {}
    rows, splits = found.get("rows"), found.get("splits")
    these = "1 row" if rows == 1 else f"{rows:,} rows" if rows else "rows"
    told = "Measured on rows that the model has not learnt from."
    if rows and splits and splits > 1:
        in_all = found.get("scored_rows")
        if in_all:  # parts of one class each differ in size by a row or so
            these = f"{in_all:,} rows"
        told = (
            f"Measured on {these} held out at random in {splits:,} splits; each "
            "time the model learnt from the others."
        )
    elif rows:
        told = f"Measured on {these} that the model has not learnt from."
    low, high = found.get("accuracy_low"), found.get("accuracy_high")
    if low is not None and high is not None:
        told += (
            f" The 95 % interval of the accuracy is {100 * low:.1f} to {percent(high)}."
        )
    return told


def _confusion(found: dict[str, Any] | None) -> str:
    if found is None or not found["names"]:
        return ""
    cells = [
        [name, *map(number, row)]
        for name, row in zip(found["names"], found["counts"], strict=True)
    ]
    titles = ["truth, then predicted as", *found["names"]]
    return "<h3>What is taken for what</h3>" + _table(titles, cells)


def _thresholds(found: dict[str, Any] | None) -> str:
    if found is None or not found["thresholds"]:
        return ""
    chosen = found["thresholds"][:: max(len(found["thresholds"]) // 20, 1)]
    cells = [
        [
            f"{own['threshold']:.3f}",
            *(percent(own[key]) for key in ("precision", "recall", "flagged")),
            number(own["cost"]),
        ]
        for own in chosen
    ]
    titles = ["threshold", "precision", "recall", "flagged", "cost"]
    return f"<h3>Threshold for {escape(found['label'])}</h3>" + _table(
        titles, cells, texts=0
    )


def _calibration(data: ReportData) -> str | None:
    found = (data.evaluation or {}).get("calibration")
    if found is None or not found["bins"]:
        return None
    cells = [
        [f"{b['predicted']:.3f}", f"{b['observed']:.3f}", f"{b['rows']:,}"]
        for b in found["bins"]
    ]
    table = _table(["predicted", "observed", "rows"], cells, texts=0)
    return f"<h3>Calibration</h3>{table}"


def _columns(data: ReportData) -> str | None:
    if data.columns is None or not data.columns["items"]:
        return None
    cells = [
        [
            item["name"],
            f"{item['n_parts']:,}",
            f"{item['level']:.4f}",
            "" if item["weight"] is None else f"{item['weight']:.3f}",
        ]
        for item in data.columns["items"]
    ]
    return _live(_table(["column", "parts", "level", "weight"], cells))


def _shapes(data: ReportData) -> str | None:
    found = data.shapes
    if found is None or not (found["columns"] or found["pairs"]):
        return None
    terms = [(item["name"], item) for item in found["columns"]]
    terms += [
        (" \u00d7 ".join(axis["name"] for axis in item["axes"]), item)
        for item in found["pairs"]
    ]
    cells = [
        [name, f"{item['weight']:.3f}", number(item["evidence"])]
        for name, item in terms
    ]
    return _live(_table(["term", "weight", "evidence (nats)"], cells))


def _data(data: ReportData) -> str:
    summary = data.data
    total = summary["rows"] or 0
    cells = [
        [
            item["name"],
            number(item["rows"]),
            percent(item["rows"] / total) if item["rows"] is not None and total else "",
        ]
        for item in summary["classes"]
    ]
    left = summary["n_classes"] - len(cells)
    more = f'<p class="note">and {left:,} more</p>' if left else ""
    titles = ["class", "rows", "share"]
    if summary["rows"] is None:  # a selector does not keep them
        titles, cells = titles[:1], [row[:1] for row in cells]
    parts = [f'<div class="narrow">{_table(titles, cells)}{more}</div>']
    if data.reading is not None and any(data.reading.values()):
        parts.append(_read_columns(data.reading))
    if data.seconds:
        times = [[s["step"], seconds(s["seconds"])] for s in data.seconds]
        table = _table(["step", "time"], times)
        parts.append(f'<h3>How long it took</h3><div class="narrow">{table}</div>')
    return "".join(parts)


def _read_columns(reading: dict[str, Any]) -> str:
    """How the file was read: what each column is, what was guessed or is odd."""
    parts = ["<h3>How it was read</h3>"]
    if reading["columns"]:
        cells = [
            [
                own["column"],
                own["role"],
                own["type"],
                own["examples"],
                number(own["missing"]),
                number(own["distinct"]),
            ]
            for own in reading["columns"]
        ]
        titles = ["column", "role", "type", "examples", "missing", "distinct"]
        parts.append(_table(titles, cells, texts=4))
    if reading["notes"]:
        notes = "".join(f"<li>{escape(note)}</li>" for note in reading["notes"])
        parts.append(f'<ul class="note">{notes}</ul>')
    return "".join(parts)


def _reproduce(data: ReportData) -> str:
    parts = []
    if data.command:
        parts.append(f"<h3>On the command line</h3><pre>{escape(data.command)}</pre>")
    parts.append(f"<h3>In Python</h3><pre>{escape(data.python)}</pre>")
    # Those of the model that differ from its defaults stand in the lines above.
    own = f"{data.model}."
    changed = [
        p for p in data.parameters if p["changed"] and not p["name"].startswith(own)
    ]
    usual = [p for p in data.parameters if not p["changed"]]
    if changed:
        parts.append("<h3>Parameters</h3>" + _parameter_table(changed))
    if usual:
        whose = "its default" if len(usual) == 1 else "their defaults"
        title = f"<span>{counted(len(usual), 'parameters')} at {whose}</span>"
        parts.append(
            f"<details><summary>{title}</summary>"
            f"<div>{_parameter_table(usual)}</div></details>"
        )
    return "".join(parts)


def _parameter_table(rows: list[dict[str, Any]]) -> str:
    body = "".join(
        f"<tr><td>{escape(row['name'])}</td>"
        f'<td class="code">{escape(row["value"])}</td></tr>'
        for row in rows
    )
    return (
        '<table><thead><tr><th scope="col">parameter</th><th scope="col">value</th>'
        f"</tr></thead><tbody>{body}</tbody></table>"
    )
