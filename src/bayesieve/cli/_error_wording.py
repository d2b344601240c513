"""Errors of the library in the words of the command line."""

from __future__ import annotations

import re

from bayesieve.utils._optional import install_hint

__all__ = ["in_options"]

_OPTIONS = {
    "k": "-k",
    "ks": "--sizes",
    "alpha": "--alpha",
    "alphas": "--alpha",
    "time_limit": "--time-limit",
    "ngram_range": "--ngrams",
    "analyzer": "--analyzer",
    "stop_words": "--stop-words",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "random_state": "--seed",
    "include": "--include",
    "exclude": "--exclude",
    "groups": "--groups",
    "max_per_group": "--max-per-group",
    "feature_cost": "--cost",
    "budget": "--budget",
    "length": "--length",
}
_NAMES = "|".join(_OPTIONS)
#: Of `to_sql`, `to_onnx` and `to_sklearn`, which have an option for each parameter.
_OF_EXPORTS = (
    (r"The '(\w+)' parameter of to_(?:sql|onnx)", r"--\1"),
    (
        r"A table of terms needs 'row' and 'term', and maybe 'count'\. Got no '(\w+)'",
        r"a table of terms needs --row and --term, and maybe --count. Got no --\1",
    ),
    (r"by 'row', 'term' and 'count'", "by --row, --term and --count"),
    (r"in order by 'row'", "in order by --row"),
    (r"Got order_by='(.*)'\.", r"Got --order-by \1."),
    (r"(Got '.*') with row='(.*)'\.", r"\1 with --row \2."),
    (r"tells the rows apart\. Got key=None", "tells the rows apart. Got no --key"),
    (
        r"other names by 'prediction' and 'probability', or None to leave them out",
        "--prediction and --probability give other names",
    ),
    (r"Hint: texts='counts'", "Hint: --texts counts"),
    (r"Hint: missing='<missing>'", "Hint: --missing '<missing>'"),
    (r"(; |, or )to_(onnx|sklearn)(?= takes|\.$)", r"\1--to \2"),
)
_WORDS = (
    (r", row \d+(?=; )", ""),  # of the rows learnt from, which are not those of a file
    (r"use k >= 2 or the Bernoulli model", "use -k 2 or more, or --model bernoulli"),
    (
        r"Negative values in data cannot be counted; use a Bernoulli model "
        r"\(kind='binary'\) with a threshold, or bin the column first",
        "--model bernoulli takes values above 0 as present, and --model gaussian takes "
        "measurements",
    ),
    (r"with weights=True", "with --weights"),
    (
        r"needs 'groups'\. Got max_per_group=(\d+) without",
        r"needs --groups. Got \1 without",
    ),
    (r"needs 'feature_cost': (.*) Got feature_cost=None", r"needs --cost: \1 Got none"),
    (r"needs 'budget': (.*) Got budget=None", r"needs --budget: \1 Got none"),
    (
        r"is not a readable file of class counts; it must be one written by "
        r"ClassCounts\.save\. Got: .*",
        "is no file of counts, or a damaged one. Hint: bayesieve counts DATA --save "
        "FILE writes one",
    ),
    (r"a larger memory_budget or min_df", "a larger --min-df"),
    (r"\bmax_row_bytes\b", "--max-row-bytes"),
    (r"on_bad_rows='skip'", "--skip-bad-rows"),
    (r"min_df, max_df and max_features leave", "--min-df and --max-df leave"),
    (r"\bmin_df\b", "--min-df"),
    (r"\bmax_df\b", "--max-df"),
    (r"(--m(?:in|ax)-df .*)\bdocuments\b", r"\1texts"),
    *_OF_EXPORTS,
)


def in_options(message: str) -> str:
    """Return a message that names options where the library names parameters.

    Examples
    --------
    >>> in_options("The 'k' parameter of SparseTextNB must be an int. Got 'x'.")
    "-k must be an int. Got 'x'."
    """
    message = re.sub(
        rf"The '({_NAMES})' parameter of \w+", lambda m: _OPTIONS[m[1]], message
    )
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    message = message.replace(install_hint("text"), install_hint("cli"))
    # A sentence goes on after "bayesieve: "; names of classes keep their capitals.
    return re.sub(r"^[A-Z](?=[a-z]*[ :,])", lambda first: first[0].lower(), message)
