"""`ReportData`: everything a report shows, as plain values that can be kept as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import Any

from bayesieve.inspection._report_schema import SECTIONS, check_report

__all__ = ["ReportData"]

_FORMAT = 1
_LONGEST_TEXT = 50_000_000
#: Sections that reports saved earlier do not have.
_LATER = ("reading", "shapes", "alternatives", "verdict", "documents")


@dataclass(frozen=True)
class ReportData:
    """What a report shows, checked, in plain values.

    Made by `collect_report`, drawn by `render_report`. All names, labels and values are
    text of somebody else's choosing: they are kept within bounds here and escaped
    wherever they are shown.

    Attributes
    ----------
    data_name, model : str
        What was looked at, and by which class.
    verdict : dict or None
        What the result is worth and what to do next, in ``lines``, ``remarks`` and
        ``next``; it stands at the top.
    sentence, detail : str
        What is proven, in one plain sentence and in numbers.
    noun : str
        What the features are called: "features", "terms", "columns", "k-mers" or
        "n-grams".
    names : list of str
        Names of the features that the other sections refer to by place.
    certificate, data, features, path, weight_path, discounts, columns, shapes,
    alternatives, evaluation, documents, reading : dict, list or None
    seconds, parameters, versions : list of dict
    command : str or None
    python : str
        Lines that fit the same model again.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNB
    >>> from bayesieve.inspection import ReportData, collect_report
    >>> X = np.array([[3, 0, 1, 0], [4, 1, 0, 0], [0, 3, 1, 1], [0, 5, 0, 1]])
    >>> model = SparseMultinomialNB(k=2).fit(X, ["a", "a", "b", "b"])
    >>> report = collect_report(model, data_name="four rows")
    >>> report.sentence
    'Proven: no other 2 features explain the labels better.'
    >>> ReportData.from_json(report.to_json()) == report
    True
    """

    data_name: str
    model: str
    verdict: dict[str, Any] | None
    sentence: str
    detail: str
    noun: str
    versions: list[dict[str, str]]
    names: list[str]
    certificate: dict[str, Any] | None
    data: dict[str, Any]
    features: dict[str, Any]
    path: dict[str, Any] | None
    weight_path: dict[str, Any] | None
    discounts: list[dict[str, Any]] | None
    columns: dict[str, Any] | None
    shapes: dict[str, Any] | None
    alternatives: dict[str, Any] | None
    evaluation: dict[str, Any] | None
    documents: list[dict[str, Any]] | None
    reading: dict[str, Any] | None
    seconds: list[dict[str, Any]]
    parameters: list[dict[str, Any]]
    command: str | None
    python: str

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in check_report(given).items():
            object.__setattr__(self, name, value)

    def to_json(self) -> str:
        """The report as one line of JSON, strictly valid, in ASCII."""
        plain = {"format": _FORMAT} | {name: getattr(self, name) for name in SECTIONS}
        return json.dumps(_plain(plain), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> ReportData:
        """Read what `to_json` wrote; anything else is refused in one sentence.

        Parameters
        ----------
        text : str
            May come from anywhere: nothing in it is trusted.
        """
        if not isinstance(text, str) or len(text) > _LONGEST_TEXT:
            got = f"{len(text):,}" if isinstance(text, str) else type(text).__name__
            raise ValueError(
                f"A report must be text of at most {_LONGEST_TEXT:,} characters. "
                f"Got {got}."
            )
        try:
            found = json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            reason = str(error).split("\n")[0] or type(error).__name__
            raise ValueError(f"A report must be JSON. Got: {reason}.") from None
        if not isinstance(found, dict) or "format" not in found:
            raise ValueError(
                "A report must be a JSON object with a field 'format'. "
                f"Got {type(found).__name__} without."
            )
        number = found.pop("format")
        if number != _FORMAT or isinstance(number, bool):
            newer = isinstance(number, int) and number > _FORMAT
            hint = " Hint: a newer bayesieve reads it." if newer else ""
            raise ValueError(
                f"A report must be of format {_FORMAT}. Got {str(number)[:20]!r}.{hint}"
            )
        for later in _LATER:
            found.setdefault(later, None)
        missing = [name for name in SECTIONS if name not in found]
        unknown = [name for name in found if name not in SECTIONS]
        if missing or unknown:
            what = "no " + ", ".join(missing) if missing else repr(unknown[0][:40])
            raise ValueError(
                f"A report must have the sections {', '.join(SECTIONS)} and no others. "
                f"Got {what}."
            )
        return cls(**found)


def _no_constant(name: str) -> Any:
    raise ValueError(f"the number {name}, which JSON does not have")


def _plain(value: Any) -> Any:
    """Numbers in few digits; infinities as text."""
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
