"""One self-contained page from the data of a report.

Two rules keep it safe: here every text goes through `escape`, and the script in the
page writes names and labels as text nodes only. The policy in the page's head
allows this one style and this one script by their hashes, and no connection at all.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from html import escape
from importlib import resources

from bayesieve.inspection._report_data import ReportData
from bayesieve.inspection._report_sections import (
    in_pairs,
    leads_with_accuracy,
    number,
    percent,
    report_sections,
    seconds,
)

__all__ = ["render_report"]

_SCRIPTS = (
    "tools.js",
    "evaluation.js",
    "curves.js",
    "features.js",
    "classes.js",
    "documents.js",
    "paths.js",
    "columns.js",
    "shapes.js",
    "words.js",
    "page.js",
)


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
    there = report_sections(data)
    values = {
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "style": style,
        "script": script,
        "title": escape(f"{data.data_name} · bayesieve report"),
        # Letters of k-mers and of bytes are compared place by place.
        "letters": "spelt" if data.noun in ("k-mers", "n-grams") else "words",
        "heading": f'<span class="name">{escape(data.data_name)}</span> · '
        f"{escape(data.model)}",
        "lead": _lead(data),
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
    """JSON that cannot end the script element it stands in.

    Not in ASCII: a Chinese text would be twice as long. What a page cannot hold, lone
    surrogates and control characters, has been replaced.
    """
    text = json.dumps(
        json.loads(data.to_json()), ensure_ascii=False, separators=(",", ":")
    )
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _lead(data: ReportData) -> str:
    """What a person wants to know first."""
    verdict = data.verdict
    if verdict is not None:
        first, *more = verdict["lines"]
        parts = [f'<p class="sentence">{escape(first)}</p>']
        parts += [f'<p class="lead">{escape(line)}</p>' for line in more]
        # What stands in the lines above is not said twice.
        others = [o for o in verdict["remarks"] if o["text"] not in verdict["lines"]]
        if others:
            remarks = "".join(
                f'<li data-code="{escape(own["code"])}">{escape(own["text"])}</li>'
                for own in others
            )
            parts.append(f'<ul class="remarks">{remarks}</ul>')
        if verdict["next"]:
            steps = "".join(
                f"<li><code>{escape(own['command'])}</code>"
                f"<span>{escape(own['meaning'])}</span></li>"
                for own in verdict["next"]
            )
            parts.append(f'<div class="next"><h2>Try next</h2><ul>{steps}</ul></div>')
        return "".join(parts)
    if leads_with_accuracy(data):
        sentence, detail = _accuracy_told(data), data.sentence
    else:
        sentence, detail = data.sentence, data.detail
    return (
        f'<p class="sentence">{escape(sentence)}</p>'
        f'<p class="detail">{escape(detail)}</p>'
    )


def _accuracy_told(data: ReportData) -> str:
    """How good the model is, and whoever says the largest class."""
    found = data.evaluation or {}
    rows = f"{found['rows']:,} new rows" if found.get("rows") else "new rows"
    told = f"{percent(found['accuracy'])} of {rows} are classified right"
    none = found.get("majority_accuracy")
    if none is not None:
        named = found.get("majority")
        always = "the largest class" if named is None else repr(named)
        told += f"; always saying {always} is right for {percent(none)}"
    return told + "."


def _facts(data: ReportData) -> list[str]:
    """The few numbers one looks for first."""
    summary, found = data.data, data.evaluation or {}
    cards = [
        (
            f"{data.noun} kept",
            f"{summary['selected']:,}",
            f"of {summary['features']:,}" + in_pairs(data),
        )
    ]
    if found.get("accuracy") is not None:
        others = [
            f"{percent(found[key])} {words}"
            for key, words in (
                ("all_features_accuracy", f"with all {data.noun}"),
                ("majority_accuracy", "with none"),
            )
            if found.get(key) is not None
        ]
        cards.append(("accuracy", percent(found["accuracy"]), "; ".join(others)))
    if found.get("log_loss") is not None:
        other = found.get("all_features_log_loss")
        small = "" if other is None else f"{other:.3f} with all {data.noun}"
        cards.append(("log loss", f"{found['log_loss']:.3f}", small or "nats a row"))
    if summary["rows"] is not None:
        tested = found.get("rows")
        small = f"{tested:,} rows to measure it" if tested else ""
        cards.append(("rows", number(summary["rows"]), small))
    cards.append(("classes", f"{summary['n_classes']:,}", ""))
    if data.seconds:
        total = sum(step["seconds"] for step in data.seconds)
        cards.append(("time", seconds(total), ""))
    return [
        f"<div><dt>{escape(title)}</dt><dd>{escape(value)}"
        f"{f'<small>{escape(small)}</small>' if small else ''}</dd></div>"
        for title, value, small in cards
    ]
