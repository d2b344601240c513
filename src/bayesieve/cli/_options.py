"""Arguments that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from bayesieve.io._read_options import KINDS, LONGEST_ROW, ReadOptions

__all__ = [
    "above_zero",
    "add_data_arguments",
    "add_model_arguments",
    "add_sequence_arguments",
    "add_text_arguments",
    "at_least_one",
    "at_least_zero",
    "search_seconds",
    "seed",
    "share_or_none",
    "share_within",
    "text_parameters",
    "wanted_size",
]

MODELS = ("auto", "multinomial", "bernoulli", "gaussian", "selective")


def _number(
    allowed: Callable[[float], bool], told: str, whole: bool = False
) -> Callable[[str], Any]:
    """Return a reader of numbers; `told` says which are allowed."""

    def read(text: str) -> Any:
        try:
            # Whole numbers in digits only: neither 1_000 nor 1e3.
            value = float(text) if not whole else int(text) if text.isdigit() else -1
        except ValueError:
            value = math.nan
        if not allowed(value):
            raise argparse.ArgumentTypeError(f"must be {told}. Got {text!r}.")
        return value

    return read


share_or_none = _number(
    lambda value: 0 <= value < 1, "a share of the rows in [0, 1), 0 for none"
)
share_within = _number(lambda value: 0 <= value < 1, "a share in [0, 1)")
seed = _number(lambda value: 0 <= value < 2**63, "a number >= 0", whole=True)
at_least_one = _number(lambda value: 1 <= value < 2**63, "a number >= 1", whole=True)
at_least_zero = _number(lambda value: 0 <= value < math.inf, "a number >= 0")
above_zero = _number(lambda value: 0 < value < math.inf, "a number > 0")
_seconds = above_zero
_row_bytes = _number(
    lambda value: 1 <= value <= 1 << 30,
    f"a number of bytes in 1...{1 << 30:,}",
    whole=True,
)


_SEPARATORS = {
    **{"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "},
    **{"pipe": "|", "colon": ":"},
}


def _type_of_column(text: str) -> str:
    column, _, kind = text.partition("=date:")
    if not kind:
        column, _, kind = text.rpartition("=")
        if kind not in KINDS:
            column = ""
    if not column:
        raise argparse.ArgumentTypeError(
            "must be COLUMN=KIND with number, category, text, date, date:FORMAT or "
            f"ignore. Got {text!r}."
        )
    return text


def _thousands(text: str) -> str:
    mark = {"space": " ", "comma": ",", "point": ".", "apostrophe": "'"}.get(text, text)
    if mark not in (",", ".", " ", "'"):
        raise argparse.ArgumentTypeError(
            f"must be a comma, a point, a space or an apostrophe. Got {text!r}."
        )
    return mark


def _separator(text: str) -> str:
    """Read --sep: a character or its name."""
    sep = _SEPARATORS.get(text.lower(), text)
    _read_options(sep=sep)
    return sep


def _encoding(text: str) -> str:
    _read_options(encoding=text)
    return text


def _sheet(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _read_options(**options: Any) -> None:
    try:
        ReadOptions(**options)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_data_arguments(
    parser: argparse.ArgumentParser, *, labelled: bool, required: bool = True
) -> None:
    """Add DATA and the arguments that say what its columns are."""
    parser.add_argument(
        "data",
        nargs="+" if required else "*",
        metavar="DATA",
        help="files or globs: CSV, TSV, JSON, JSON lines, Parquet, Arrow, "
        "Excel, OpenDocument, lines of text, svmlight, FASTA or FASTQ, packed or not; "
        "- is standard input",
    )
    columns = parser.add_argument_group("columns")
    columns.add_argument(
        "--text",
        action="append",
        default=[],
        metavar="COL",
        help="column of texts (guessed where it is clear); may be repeated",
    )
    columns.add_argument(
        "--no-text",
        action="store_true",
        help="there are no texts: every column is a number or a category",
    )
    columns.add_argument(
        "--label",
        metavar="COL",
        help="column of labels (guessed where it is clear)"
        if labelled
        else "column of labels, to say how many predictions are right",
    )
    columns.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COL",
        help="column to leave out of a table, or a pattern such as 'x*'; may be "
        "repeated",
    )
    if labelled:
        columns.add_argument(
            "--keep",
            action="append",
            default=[],
            metavar="COL",
            help="columns to use, and no others: a name or a pattern; may be repeated",
        )
    columns.add_argument(
        "--types",
        action="append",
        default=[],
        type=_type_of_column,
        metavar="COL=KIND",
        help="what a column is: number, category, text, date (or date:%%d.%%m.%%Y) or "
        "ignore; may be repeated (found out)",
    )
    columns.add_argument(
        "--decimal",
        choices=[".", ","],
        metavar="C",
        help="mark before decimals, a point or a comma (found out by column)",
    )
    columns.add_argument(
        "--thousands",
        type=_thousands,
        metavar="C",
        help="mark between groups of digits: a comma, point, space or apostrophe "
        "(found out by column)",
    )
    columns.add_argument(
        "--skip-bad-rows",
        action="store_true",
        help="leave out rows without a label or that cannot be read",
    )
    columns.add_argument(
        "--encoding",
        type=_encoding,
        metavar="ENC",
        help="encoding of the files, such as cp1252 or gb18030 (found out)",
    )
    columns.add_argument(
        "--sep",
        type=_separator,
        metavar="C",
        help="what separates fields: a character, or tab, comma, semicolon, space, "
        "pipe, colon (found out)",
    )
    columns.add_argument(
        "--no-header",
        action="store_true",
        help="the first row holds values: columns are called 'column 1', 'column 2'...",
    )
    columns.add_argument(
        "--sheet",
        type=_sheet,
        metavar="NAME|N",
        help="sheet of a workbook, by its name or number (default: the first filled)",
    )
    columns.add_argument(
        "--max-row-bytes",
        type=_row_bytes,
        default=LONGEST_ROW,
        metavar="N",
        help="longest row of a file, unpacked (default: 33554432)",
    )


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how texts are cut into terms."""
    text = parser.add_argument_group("texts")
    text.add_argument(
        "--ngrams",
        type=_ngrams,
        metavar="N",
        help="terms of up to N words, or A-B (default: 1; 1-2 characters of Chinese "
        "and Japanese, 2-4 of Thai and the like)",
    )
    text.add_argument(
        "--analyzer",
        choices=["word", "char", "char_wb"],
        help="terms of words or of characters (default: word, and char where words "
        "have no spaces between them)",
    )
    text.add_argument(
        "--min-df",
        type=_documents,
        default=1,
        metavar="N",
        help="leave out terms in fewer than N texts, k-mers in fewer than N files, or "
        "a share (default: 1)",
    )
    text.add_argument(
        "--max-df",
        type=_documents,
        default=1.0,
        metavar="N",
        help="leave out terms in more than N texts, k-mers in more than N files, or a "
        "share (default: 1.0)",
    )
    text.add_argument(
        "--stop-words",
        choices=["english"],
        help="leave out the most common English words",
    )


def add_sequence_arguments(
    parser: argparse.ArgumentParser, *, labelled: bool = True
) -> None:
    """Add what rows of files of sequences are, and how they are cut into k-mers."""
    sequences = parser.add_argument_group("sequences and bytes")
    sequences.add_argument(
        "--labels",
        metavar="FILE",
        help="table with a column that names each file, by its path, name or name "
        "without endings, and a column of labels"
        + (" (default: the label of a file is its folder)" if labelled else ""),
    )
    sequences.add_argument(
        "--records",
        action="store_true",
        help="each record is a row, not each file; --labels names records by header",
    )
    if not labelled:
        return
    sequences.add_argument(
        "--length",
        type=at_least_one,
        metavar="N",
        help="bases of a k-mer, 1 to 31 (default: 31), or bytes in a row, 1 to 8 "
        "(default: 6)",
    )
    sequences.add_argument(
        "--alphabet",
        choices=["dna", "bytes"],
        help="k-mers of FASTA and FASTQ, or bytes in a row of files of any kind "
        "(default: dna where files hold sequences)",
    )


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which model counts and with how much smoothing."""
    model = parser.add_argument_group("model")
    model.add_argument(
        "--model",
        choices=MODELS,
        default="auto",
        help="what is modelled: counts (multinomial), presence (bernoulli), "
        "measurements (gaussian), mixed columns (selective); default: multinomial for "
        "texts and svmlight files, selective for tables, bernoulli for sequences",
    )
    model.add_argument(
        "--alpha",
        type=at_least_zero,
        default=1.0,
        metavar="A",
        help="smoothing added to every count (default: 1.0)",
    )
    model.add_argument(
        "--time-limit",
        type=_seconds,
        metavar="S",
        help="seconds a search may take (default: 10 for a proof, no limit of weights)",
    )


def search_seconds(arguments: argparse.Namespace) -> float:
    """How long the search for a proof may take."""
    return 10.0 if arguments.time_limit is None else float(arguments.time_limit)


def text_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `add_text_arguments` as estimators name them."""
    return {
        "ngram_range": arguments.ngrams or (1, 1),
        "analyzer": arguments.analyzer or "word",
        "min_df": arguments.min_df,
        "max_df": arguments.max_df,
        "stop_words": arguments.stop_words,
    }


def wanted_size(text: str) -> Any:
    """Read -k: a number, a share, or a way to choose."""
    if text in ("all", "elbow", "bic", "cv", "1se"):
        return text
    try:
        value: float = int(text)
    except ValueError:
        try:
            value = float(text)
        except ValueError:
            value = -1
    if (isinstance(value, int) and value >= 1) or 0 < value < 1:
        return value
    raise argparse.ArgumentTypeError(
        "must be a number of features >= 1, a share in (0, 1), all, elbow, bic, cv or "
        f"1se. Got {text!r}."
    )


def _ngrams(text: str) -> tuple[int, int]:
    parts = text.replace(",", "-").split("-")
    try:
        low, high = (1, int(parts[0])) if len(parts) == 1 else map(int, parts)
    except ValueError:
        low, high = 0, 0
    if not 1 <= low <= high <= 100:
        raise argparse.ArgumentTypeError(
            f"must be a number >= 1 or a range such as 2-3. Got {text!r}."
        )
    return low, high


def _documents(text: str) -> float:
    if text.lstrip("+-").isdecimal():
        return int(text)
    share = _number(
        lambda value: 0 <= value <= 1, "a number of texts or a share in [0, 1]"
    )
    return float(share(text))
