"""How many nodes the exact search needs on real text.

IMDB (two classes) and 20 newsgroups (20 classes, posts as they are, and
without headers, footers and quotes), train rows, CountVectorizer defaults, alpha = 1.
Tables made to be hard are in hard_searches.py.
"""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.datasets import _twenty_newsgroups as newsgroups
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import ClassCounts, solve_multinomial
from bayesieve.exceptions import GapWarning
from measurement import option_parser, read_data, report, timed

SIZES = (2, 3, 5, 9, 10, 20, 50, 100, 200, 500, 1_000)
TIME_LIMIT, NODE_LIMIT = 10.0, 10_000


def body(post: str) -> str:
    """Return a post without header, footer and quotes, as scikit-learn strips them."""
    post = newsgroups.strip_newsgroup_header(post)
    post = newsgroups.strip_newsgroup_quoting(post)
    return newsgroups.strip_newsgroup_footer(post)


def text_counts(name: str, rows: int | None, strip: bool = False) -> ClassCounts:
    frame = read_data(name)
    train = frame[frame["split"] == "train"]
    if rows is not None:
        train = train.sample(rows, random_state=0)
    texts = [body(text) for text in train["text"]] if strip else train["text"]
    X = CountVectorizer().fit_transform(texts)
    return ClassCounts.from_matrix(X, train["label"].to_numpy())


def solve(table: Any, k: int, alpha: float) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        seconds, solution = timed(
            lambda: solve_multinomial(
                table, k, alpha=alpha, time_limit=TIME_LIMIT, node_limit=NODE_LIMIT
            )
        )
    certificate = solution.certificate
    gain = certificate.objective - certificate.null_objective
    return {
        "k": k,
        "nodes": certificate.nodes,
        "gain": gain,
        "relaxation_gap": (certificate.relaxation_bound - certificate.objective) / gain,
        "final_gap": certificate.relative_gap,
        "is_optimal": certificate.is_optimal,
        "gap_warning": any(issubclass(w.category, GapWarning) for w in met),
        "seconds": seconds,
    }


def print_table(title: str, rows: list[dict[str, Any]], first: str = "k") -> None:
    print(f"\n**{title}**\n")
    print(f"| {first} | nodes | relaxation gap | final gap | optimal | seconds |")
    print("|---:|---:|---:|---:|:---:|---:|")
    for row in rows:
        ends = "yes" if row["is_optimal"] else "no"
        ends += ", GapWarning" if row["gap_warning"] else ""
        print(
            f"| {row[first]} | {row['nodes']:,} | {100 * row['relaxation_gap']:.3g} % "
            f"| {100 * row['final_gap']:.2g} % | {ends} | {row['seconds']:.3f} |",
            flush=True,
        )


def main() -> None:
    options = option_parser("search_nodes", __doc__).parse_args()
    rows = 2_000 if options.quick else None
    sizes = SIZES[::3] if options.quick else SIZES
    texts: dict[str, Any] = {}
    for title, name, strip in (
        ("IMDB", "imdb", False),
        ("20 newsgroups", "newsgroups20", False),
        ("20 newsgroups, bodies only", "newsgroups20", True),
    ):
        counts = text_counts(name, rows, strip)
        shape = list(counts.feature_count.shape)
        solved = [solve(counts, k, 1.0) for k in sizes]
        print_table(f"{title}: {shape[0]} classes, {shape[1]:,} words", solved)
        texts[title] = {"shape": shape, "solved": solved}
    limits = {"seconds": TIME_LIMIT, "nodes": NODE_LIMIT}
    report("search_nodes", options, None, {"limits": limits, "text": texts})


if __name__ == "__main__":
    main()
