"""Texts to class counts of (1,2)-grams, against CountVectorizer and class sums.

Generated tweets: 13 words each, Zipf-like over a million words, a tenth of the words
with characters beyond ASCII, mixed case and punctuation. Every side runs in a process
of its own that notes its peak memory before and after: scikit-learn reads a list of
strings, we read Arrow record batches from a mapped file (and the same list, for
comparison). All sides print a digest of names, counts and document counts, which must
agree.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from measurement import in_own_process, option_parser, peak_bytes, report, target, timed

SEED = 20240607
N_WORDS = 1_000_000
LENGTH = 13
BUDGET = 512 << 20
COUNT_SIDES = ("sklearn", "two threads", "one thread", "budget", "list")
TFIDF_SIDES = ("tfidf sklearn", "tfidf")


def make_words(rng: np.random.Generator) -> np.ndarray:
    """Return distinct words, short for frequent ones, some in other scripts."""
    scripts = [
        "abcdefghijklmnopqrstuvwxyz",
        "abcdefghijklmnopqrstuvwxyzäöüéèçñß",
        "абвгдежзиклмнопрст",
        "αβγδεζηθικλμνξοπρστυς",
        "中文字分詞語言模型天地人日月",
    ]
    words: dict[str, None] = {}
    while len(words) < N_WORDS:
        rank = len(words)
        script = np.array(
            list(scripts[0 if rng.random() < 0.9 else rng.integers(1, 5)])
        )
        low = 2 + (rank > 300) + (rank > 5000) + (rank > 50000)
        size = 20_000
        letters = script[rng.integers(0, script.size, (size, low + 4))]
        for row, length in zip(letters, rng.integers(low, low + 5, size), strict=True):
            words["".join(row[:length])] = None
            if len(words) == (rank // 100 + 1) * 100:
                break  # change of script every hundred words
    return np.array(list(words), dtype=object)


def make_tweets(folder: Path, n: int) -> None:
    """Write texts and classes as Arrow record batches."""
    import pyarrow as pa

    rng = np.random.default_rng(SEED)
    words = make_words(rng)
    capital = np.array([word.capitalize() for word in words], dtype=object)
    marks = np.array([" ", " ", " ", " ", " ", ", ", "! ", "... ", " #", " @"])
    schema = pa.schema([("text", pa.string()), ("code", pa.int32())])
    size = 0
    with (
        pa.OSFile(str(folder / "tweets.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        for first in range(0, n, 50_000):
            count = min(50_000, n - first)
            code = rng.integers(0, 2, count, dtype=np.int32)
            # 1/rank: the logarithm of the rank is uniform. Classes differ a little.
            rank = (N_WORDS ** rng.random((count, LENGTH))).astype(np.int64) - 1
            rank[(rng.random(rank.shape) < 0.2) & (code == 1)[:, None]] //= 2
            chosen = np.where(rng.random(rank.shape) < 0.1, capital[rank], words[rank])
            ends = marks[rng.integers(0, marks.size, rank.shape)]
            texts = [
                "".join(map("".join, zip(row, end, strict=True)))
                for row, end in zip(chosen.tolist(), ends.tolist(), strict=True)
            ]
            batch = pa.record_batch([pa.array(texts), pa.array(code)], schema=schema)
            size += batch.nbytes
            writer.write_batch(batch)
    print(json.dumps({"documents": n, "arrow_bytes": size}))


def batches(folder: Path) -> Iterator[tuple[Any, Any]]:
    import pyarrow as pa

    with pa.memory_map(str(folder / "tweets.arrow")) as source:
        reader = pa.ipc.open_file(source)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            yield batch.column(0), batch.column(1).to_numpy()


def digest(names: bytes, *tables: Any) -> str:
    """Return a digest of sorted names, one a line, and of integer tables."""
    state = hashlib.sha256(names)
    for table in tables:
        state.update(np.ascontiguousarray(table, dtype=np.int64))
    return state.hexdigest()


def sklearn_side(folder: Path, tfidf: bool) -> dict[str, Any]:
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    texts: list[str] = []
    codes: list[int] = []
    for text, code in batches(folder):
        texts += text.to_pylist()
        codes += code.tolist()
    Y = sparse.csr_array(
        (np.ones(len(codes), dtype=np.int64), (codes, np.arange(len(codes)))),
        shape=(2, len(codes)),
    )
    kind = TfidfVectorizer if tfidf else CountVectorizer
    vectorizer = kind(ngram_range=(1, 2))
    before = peak_bytes()

    def run() -> Any:
        X = vectorizer.fit_transform(texts)
        if tfidf:
            return (Y @ X,)
        count = Y @ X
        X.data[:] = 1
        return count, Y @ X

    begin = time.process_time()
    seconds, tables = timed(run)
    result = {
        "seconds": seconds,
        "processor_seconds": time.process_time() - begin,
        "before": before,
        "peak": peak_bytes(),
    }
    if tfidf:
        np.save(folder / "tfidf.npy", tables[0].toarray())
    else:
        names = "\n".join(vectorizer.get_feature_names_out()).encode()
        result["digest"] = digest(names, *(table.toarray() for table in tables))
    return result


def our_side(folder: Path, name: str) -> dict[str, Any]:
    from bayesieve.counts import ClassCounts
    from bayesieve.counts._layout import DENSE_CELLS
    from bayesieve.counts._tfidf import tfidf_sums
    from bayesieve.text._counter import TextCounter
    from bayesieve.text._options import TextOptions

    options = TextOptions(ngram_range=(1, 2))
    _ = options.plan  # the tables of characters: a quarter of a second, once
    keywords: dict[str, Any] = {"n_jobs": 1 if name == "one thread" else 2}
    if name == "budget":
        keywords |= {"memory_budget": BUDGET, "spill_folder": folder}
    held = None
    if name == "list":
        texts: list[str] = []
        codes: list[Any] = []
        for text, code in batches(folder):
            texts += text.to_pylist()
            codes.append(code)
        held = (texts, np.concatenate(codes))
    before = peak_bytes()
    spilled = 0
    sums = None

    def run() -> Any:
        nonlocal spilled, sums
        counter = TextCounter(options, 2, **keywords)
        for text, code in [held] if held else batches(folder):
            counter.add(text, code)
        spilled = counter.spilled_bytes
        found = counter.finish(DENSE_CELLS)
        counts = ClassCounts._of(
            np.arange(2),
            found.class_count,
            "count",
            feature_count=found.feature_count,
            feature_names=found.names,
            document_count=found.document_count,
        )
        if name == "tfidf":
            sums = tfidf_sums(batches(folder), counts, options, n_jobs=2)
        return counts

    begin = time.process_time()
    seconds, counts = timed(run)
    result = {
        "seconds": seconds,
        "processor_seconds": time.process_time() - begin,
        "before": before,
        "peak": peak_bytes(),
        "terms": counts.n_features,
        "spilled_bytes": spilled,
    }
    if name == "tfidf":
        expected = folder / "tfidf.npy"
        if expected.is_file():
            table = np.load(expected)
            assert sums is not None
            error = np.abs(sums - table) / np.maximum(table, 1e-300)
            result["largest_relative_difference"] = float(error.max())
        return result
    names = "\n".join(counts.feature_names).encode()
    result["digest"] = digest(names, counts.feature_count, counts.document_count)
    return result


def parse() -> argparse.Namespace:
    parser = option_parser("text_counting", __doc__)
    parser.add_argument("--documents", type=int, help="default: 1.6 million")
    parser.add_argument("--make", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--side", choices=[*COUNT_SIDES, *TFIDF_SIDES])
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.make:
        make_tweets(options.folder, options.make)
        return
    if options.side:
        if options.side.endswith("sklearn"):
            result = sklearn_side(options.folder, options.side.startswith("tfidf"))
        else:
            result = our_side(options.folder, options.side)
        print(json.dumps(result))
        return
    documents = options.documents or (20_000 if options.quick else 1_600_000)
    runs: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = ["--folder", folder]
        script = "text_counting.py"
        data = in_own_process(script, ["--make", str(documents), *place])
        print(data)
        for name in (*COUNT_SIDES, *TFIDF_SIDES):
            # The other side takes minutes and varies by a few per cent.
            for _ in range(1 if options.quick or "sklearn" in name else 3):
                run = in_own_process(script, ["--side", name, *place])
                print(
                    f"{name}: {run['seconds']:.2f} s, peak {run['peak'] / 1e6:.0f} MB"
                )
                runs.setdefault(name, []).append(run)
    best = {
        name: {
            "seconds": min(run["seconds"] for run in values),
            "processor_seconds": min(run["processor_seconds"] for run in values),
            "peak_bytes": min(run["peak"] for run in values),
            "extra_bytes": min(run["peak"] - run["before"] for run in values),
        }
        for name, values in runs.items()
    }
    digests = {run["digest"] for name in COUNT_SIDES for run in runs[name]}
    speed = best["sklearn"]["seconds"] / best["two threads"]["seconds"]
    memory = best["two threads"]["peak_bytes"] / best["sklearn"]["peak_bytes"]
    tfidf = best["tfidf sklearn"]["seconds"] / best["tfidf"]["seconds"]
    error = max(run["largest_relative_difference"] for run in runs["tfidf"])
    targets = [
        target("CountVectorizer / ours, seconds", speed, least=20),
        target("ours / CountVectorizer, peak memory", memory, most=0.25),
        target("TfidfVectorizer / ours, seconds", tfidf, least=8),
        target("different counts", len(digests) - 1, most=0),
        target("tf-idf sums, largest relative difference", error, most=1e-12),
    ]
    results = {"data": data, "best": best, "targets": targets, "runs": runs}
    report("text_counting", options, SEED, results)


if __name__ == "__main__":
    main()
