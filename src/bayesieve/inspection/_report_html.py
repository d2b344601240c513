"""One self-contained page from the data of a report.

Two rules keep it safe: here every text goes through `escape`, and the script in the
page writes names and labels as text nodes only. The policy in the page's head
allows this one style and this one script by their hashes, and no connection at all.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from bayesieve.inspection._report_alternatives import count_told
from bayesieve.inspection._report_data import ReportData

__all__ = ["render_report"]

_SHOWN_WITHOUT_SCRIPT = 100
_SCRIPTS = ("tools.js", "features.js", "paths.js", "columns.js", "shapes.js", "page.js")


def render_report(data: ReportData) -> str:
    """Draw a report as one HTML file that needs nothing else, from disk or a server.

    Parameters
    ----------
    data : ReportData

    Returns
    -------
    str
        The page, ASCII apart from names; write it as UTF-8.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import SparseGaussianNB
    >>> from bayesieve.inspection import collect_report, render_report
    >>> model = SparseGaussianNB(k=2).fit(*load_iris(return_X_y=True))
    >>> page = render_report(collect_report(model, data_name="irises <3"))
    >>> "irises &lt;3" in page and "irises <3" not in page
    True
    """
    if not isinstance(data, ReportData):
        raise TypeError(
            f"render_report draws a ReportData. Got {type(data).__name__}. "
            "Hint: collect_report makes one from a fitted model."
        )
    page, style, script = _asset("page.html"), _asset("style.css"), _script()
    sections = [
        ("features", _features_title(data), _features(data)),
        ("path", f"How many {data.noun}?", _path(data)),
        ("alternatives", "Is it the only good answer?", _alternatives(data)),
        ("weights", "Weights", _weights(data)),
        ("calibration", "Calibration", _calibration(data)),
        ("shapes", "Shapes" + (" and pairs" if _in_pairs(data) else ""), _shapes(data)),
        ("columns", "Intervals and groups", _columns(data)),
        ("data", "Data", _data(data)),
        ("reproduce", "Do it again", _reproduce(data)),
    ]
    there = [section for section in sections if section[2] is not None]
    values = {
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "style": style,
        "script": script,
        "title": escape(f"{data.data_name} · bayesieve report"),
        "heading": f'<span class="name">{escape(data.data_name)}</span> · '
        f"{escape(data.model)}",
        "sentence": escape(data.sentence),
        "detail": escape(data.detail),
        "facts": "".join(_facts(data)),
        "links": "".join(
            f'<a href="#{key}">{escape(title)}</a>' for key, title, _ in there
        ),
        "sections": "\n".join(
            f'<section id="{key}" aria-labelledby="{key}-title">'
            f'<h2 id="{key}-title">{escape(title)}</h2>{body}</section>'
            for key, title, body in there
        ),
        "footer": escape(
            "Made by " + ", ".join(f"{v['name']} {v['version']}" for v in data.versions)
        ),
        "data": _embedded(data),
    }
    # One pass over the page: what is put in is never searched for places again.
    pieces = page.split("{")
    made = [pieces[0]]
    for piece in pieces[1:]:
        key, rest = piece.split("}", 1)
        made += [values[key], rest]
    return "".join(made)


@cache
def _asset(name: str) -> str:
    folder = resources.files("bayesieve.inspection") / "report"
    return (folder / name).read_text(encoding="utf-8").replace("\r\n", "\n")


@cache
def _script() -> str:
    """The files of the script, one after the other in a scope of their own."""
    parts = "\n".join(map(_asset, _SCRIPTS))
    return f'"use strict";\n(function () {{\n{parts}}})();\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + b64encode(digest).decode("ascii")


def _embedded(data: ReportData) -> str:
    """JSON that cannot end the script element it stands in; it is ASCII already."""
    text = data.to_json()
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _number(value: float | None, digits: int = 4) -> str:
    """A number in few digits, whole ones in full."""
    if value is None:
        return ""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.1f}"
    return f"{value:.{digits}g}"


def _facts(data: ReportData) -> list[str]:
    """The few numbers one looks for first."""
    summary, found = data.data, data.evaluation or {}
    cards = [
        (
            f"{data.noun} kept",
            f"{summary['selected']:,}",
            f"of {summary['features']:,}" + _in_pairs(data),
        )
    ]
    if found.get("accuracy") is not None:
        others = [
            f"{_percent(found[key])} {words}"
            for key, words in (
                ("all_features_accuracy", f"with all {data.noun}"),
                ("majority_accuracy", "with none"),
            )
            if found.get(key) is not None
        ]
        cards.append(("accuracy", _percent(found["accuracy"]), "; ".join(others)))
    if found.get("log_loss") is not None:
        other = found.get("all_features_log_loss")
        small = "" if other is None else f"{other:.3f} with all {data.noun}"
        cards.append(("log loss", f"{found['log_loss']:.3f}", small or "nats a row"))
    if summary["rows"] is not None:
        tested = found.get("rows")
        small = f"{tested:,} more held out" if tested else ""
        cards.append(("rows", _number(summary["rows"]), small))
    cards.append(("classes", f"{summary['n_classes']:,}", ""))
    if data.seconds:
        total = sum(step["seconds"] for step in data.seconds)
        cards.append(("time", _seconds(total), ""))
    return [
        f"<div><dt>{escape(title)}</dt><dd>{escape(value)}"
        f"{f'<small>{escape(small)}</small>' if small else ''}</dd></div>"
        for title, value, small in cards
    ]


def _features_title(data: ReportData) -> str:
    return data.noun.capitalize() + (" and pairs" if _in_pairs(data) else "")


def _in_pairs(data: ReportData) -> str:
    n_pairs = 0 if data.shapes is None else data.shapes["n_pairs"]
    if not n_pairs:
        return ""
    return f", alone or in {n_pairs:,} pair{'' if n_pairs == 1 else 's'}"


def _seconds(value: float) -> str:
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
            _number(row["score"]),
            *(f"{w:+.2f}" for w in (row["weights"] or ())[:width]),
        ]
        for row in rows[:_SHOWN_WITHOUT_SCRIPT]
    ]
    titles = ["name", data.features["score_name"], *_class_titles(data, width)]
    return _live(_table(titles, cells))


def _path(data: ReportData) -> str | None:
    if data.path is None or not data.path["steps"]:
        return None
    cells = [
        [
            f"{step['k']:,}",
            _number(step["gain"]),
            _number(step["bound"]),
            _number(step["gap"]),
            "" if step["score"] is None else f"{step['score']['mean']:.4f}",
        ]
        for step in data.path["steps"]
    ]
    titles = ["k", "gain (nats)", "bound", "gap", data.path["score_name"]]
    return _live(_table(titles, cells, texts=0))


def _alternatives(data: ReportData) -> str | None:
    found = data.alternatives
    if found is None or not found["items"] or data.certificate is None:
        return None
    cells = [
        [
            data.names[item["name"]],
            ", ".join(data.names[own] for own in item["entered"]),
            _number(item["lost"], 3),
        ]
        for item in found["items"]
    ]
    told = count_told(found, data.certificate["k"], data.noun)
    first = next((item for item in found["items"][::-1] if item["entered"]), None)
    if first is not None:
        entered = " and ".join(repr(data.names[own]) for own in first["entered"])
        told += (
            f" Without {data.names[first['name']]!r} {_number(first['lost'], 3)} nats "
            f"are lost, and {entered} would take its place."
        )
    one = data.noun.removesuffix("s")
    titles = [f"without this {one}", "these come in", "nats lost"]
    return f"<p>{escape(told)}</p>{_table(titles, cells, texts=2)}"


def _weights(data: ReportData) -> str | None:
    if data.weight_path is None or not data.weight_path["steps"]:
        return None
    cells = [
        [
            _number(step["penalty"]),
            f"{step['features']:,}",
            _number(step["loss"]),
            "" if step["score"] is None else f"{step['score']['mean']:.4f}",
        ]
        for step in data.weight_path["steps"]
    ]
    titles = ["penalty", data.noun, "loss (nats)", "cross-validated score"]
    return _live(_table(titles, cells, texts=0))


def _calibration(data: ReportData) -> str | None:
    found = (data.evaluation or {}).get("calibration")
    if found is None or not found["bins"]:
        return None
    cells = [
        [f"{b['predicted']:.3f}", f"{b['observed']:.3f}", f"{b['rows']:,}"]
        for b in found["bins"]
    ]
    return _live(_table(["predicted", "observed", "rows"], cells, texts=0))


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
        [name, f"{item['weight']:.3f}", _number(item["evidence"])]
        for name, item in terms
    ]
    return _live(_table(["term", "weight", "evidence (nats)"], cells))


def _data(data: ReportData) -> str:
    summary = data.data
    total = summary["rows"] or 0
    cells = [
        [
            item["name"],
            _number(item["rows"]),
            _percent(item["rows"] / total)
            if item["rows"] is not None and total
            else "",
        ]
        for item in summary["classes"]
    ]
    left = summary["n_classes"] - len(cells)
    more = f'<p class="note">and {left:,} more classes</p>' if left else ""
    titles = ["class", "rows", "share"]
    if summary["rows"] is None:  # a selector does not keep them
        titles, cells = titles[:1], [row[:1] for row in cells]
    parts = [f'<div class="narrow">{_table(titles, cells)}{more}</div>']
    if data.reading is not None and any(data.reading.values()):
        parts.append(_read_columns(data.reading))
    if data.seconds:
        times = [[s["step"], _seconds(s["seconds"])] for s in data.seconds]
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
                _number(own["missing"]),
                _number(own["distinct"]),
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
    changed = [p for p in data.parameters if p["changed"]]
    usual = [p for p in data.parameters if not p["changed"]]
    if changed:
        parts.append("<h3>Parameters</h3>" + _parameter_table(changed))
    if usual:
        parts.append(
            f"<details><summary><span>{len(usual)} parameters at their defaults"
            f"</span></summary><div>{_parameter_table(usual)}</div></details>"
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
