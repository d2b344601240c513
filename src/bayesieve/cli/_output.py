"""Files a command writes: reports, models, predictions; whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from bayesieve.cli._command import CommandError
from bayesieve.utils._whole_files import whole_file

__all__ = [
    "check_outputs",
    "check_writable",
    "report_data",
    "report_page",
    "saved_notes",
    "written",
]


_LOOKED_AT = 20_000  # held-out rows that examples are taken from
#: Options that name archives, which are read by seeking and so need a regular file.
_ARCHIVES = ("--save",)


def check_writable(path: str | None, option: str) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if path is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise CommandError(f"{option} must name a file. Got the folder {path!r}.")
    if _is_stream(path) and option not in _ARCHIVES:
        return
    if os.path.exists(path) and not os.path.isfile(path):
        raise CommandError(
            f"{option} must name a regular file or a new one. Got {path!r}, which is "
            "a pipe, a socket or a device."
        )
    if not os.path.isdir(folder):
        raise CommandError(
            f"{option} {path!r} cannot be written: the folder {folder!r} is not there."
        )
    if not os.access(folder, os.W_OK):
        raise CommandError(
            f"{option} {path!r} cannot be written: the folder {folder!r} is read-only."
        )


def check_outputs(outputs: dict[str, str | None], inputs: Sequence[str]) -> None:
    """Refuse outputs that cannot be written, and those that would destroy a file.

    Parameters
    ----------
    outputs : dict of str to str or None
        Option to the path it names.
    inputs : sequence of str
        Paths of files that the command reads.
    """
    named = [(option, path) for option, path in outputs.items() if path is not None]
    for place, (option, path) in enumerate(named):
        check_writable(path, option)
        for own in inputs:
            if _same_file(path, own):
                raise CommandError(
                    f"{option} {path!r} would overwrite {own!r}, which the command "
                    "reads. Hint: name another file."
                )
        for other, before in named[:place]:
            if _same_file(path, before):
                raise CommandError(
                    f"{other} and {option} must name two files. Got {before!r} and "
                    f"{path!r}."
                )


def _same_file(a: str, b: str) -> bool:
    """Tell whether two paths are one file, also one that is not there yet."""
    with contextlib.suppress(OSError):
        return os.path.samefile(a, b)
    a, b = (os.path.normcase(os.path.realpath(path)) for path in (a, b))
    return a == b


@contextlib.contextmanager
def written(path: str) -> Iterator[str]:
    """Give the name of a file to write; it is under ``path`` when all went well.

    A pipe or a device is written straight through.
    """
    if _is_stream(path):
        yield path
        return
    with whole_file(path) as beside:
        yield beside


def _is_stream(path: str) -> bool:
    """Tell whether a name is that of a pipe or a device such as /dev/stdout."""
    with contextlib.suppress(OSError):
        mode = os.stat(path).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
    return False


def report_page(path: str, data: Any) -> None:
    """Write the report to a file."""
    from bayesieve.inspection import render_report

    page = render_report(data)
    with written(path) as beside, open(beside, "w", encoding="utf-8") as file:
        file.write(page)


def report_data(
    fitted: Any,
    *,
    data_name: str,
    judgement: Any,
    steps: Sequence[tuple[str, str]] = (),
    seconds: dict[str, float],
    command_line: list[str],
    inspected: Any = None,
) -> Any:
    """Collect everything a report shows."""
    from bayesieve.inspection import collect_report

    collected = collect_report(
        fitted.model,
        data_name=data_name,
        # Counts from which a model has left rare terms out have other places.
        counts=fitted.counts if _same_features(fitted) else None,
        evaluation=judgement.as_dict(),
        verdict=judgement.verdict.as_dict(steps) if judgement.verdict.lines else None,
        seconds=seconds,
        command=shlex.join(command_line),
        cv=_scores_over_k(fitted, judgement),
        inspected=inspected,
        **_examples(fitted, judgement),
    )
    if fitted.unit not in ("k-mers", "n-grams"):
        return collected
    records = ", records=True" if fitted.settings.get("rows") == "records" else ""
    fit = f"model.fit_files(paths, labels{records})"  # the rows are no arrays
    python = collected.python.replace("model.fit(X, y)", fit)
    return replace(collected, python=python)


def _examples(fitted: Any, judgement: Any) -> dict[str, Any]:
    """Rows to look at, of the first that were held out, and terms in use."""
    from bayesieve._description import describe
    from bayesieve._pipeline import open_model
    from bayesieve.inspection._examples import contexts_of, examples_of
    from bayesieve.inspection._rows import some_texts

    if fitted.held_out is None or judgement.evaluation is None:
        return {}
    batch = next(iter(fitted.held_out()), None)
    if batch is None:
        return {}
    X, codes = batch
    X, codes = X[:_LOOKED_AT], codes[:_LOOKED_AT]
    opened, found = open_model(fitted.model), describe(fitted.model)
    proba = fitted.model.predict_proba(X)
    names = judgement.evaluation.classes
    return {
        "documents": examples_of(
            *(opened, X, codes, names, proba), row_names=fitted.held_out_names
        )
        or None,
        "contexts": contexts_of(opened, found, some_texts(X)) or None,
    }


def _scores_over_k(fitted: Any, judgement: Any) -> list[dict[str, Any]] | None:
    """How the proven selection does for each k; weights know their own scores."""
    if fitted.cv is not None:
        return list(fitted.cv.rows)
    if hasattr(fitted.model, "weights_"):
        return None
    return judgement.by_size or None


def _same_features(fitted: Any) -> bool:
    counts = fitted.counts
    return counts is not None and counts.n_features == fitted.model.n_features_in_


def saved_notes(settings: dict[str, Any], data: Any) -> dict[str, str]:
    """Return what is kept beside a model: how to predict, and its report."""
    return {"cli": json.dumps(settings), "report": data.to_json()}
