"""A million-row CSV file: `DataFile.batches` against DuckDB's own reader, in turns.

Both give Arrow batches of all columns. DuckDB finds types (`read_csv`), or gives text
as this package does (`all_varchar`); pandas and pyarrow are there to compare. The files
are the same table as plain ASCII, with accents in UTF-8, in Windows-1252, which is
rewritten as UTF-8 before it is read, and packed; the last one has a bad row. Then what
`bayesieve.io.inspect` takes for the plain file and for one of eleven columns with
identifiers, dates and amounts in dollars.
"""

from __future__ import annotations

import gzip
import tempfile
from importlib.metadata import version
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from pyarrow import csv

from bayesieve.io import inspect
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._files import open_files
from measurement import interleaved, option_parser, report, target

SEED = 0
MOST = 1.5
MOST_SECONDS = 5.0  # for a million rows


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    """The same table in several ways."""
    rng = np.random.default_rng(SEED)
    frame = pd.DataFrame(
        {
            "id": np.arange(rows),
            "amount": rng.normal(100, 20, rows).round(2),
            "share": rng.random(rows).round(4),
            "town": rng.choice(["Oslo", "Rome", "Paris", "Lima"], rows),
            "note": rng.choice(["a short note", "words, and a comma", "none"], rows),
            "label": rng.integers(0, 2, rows),
        }
    )
    paths = {name: folder / f"{name}.csv" for name in ("ASCII", "UTF-8", "cp1252")}
    frame.to_csv(paths["ASCII"], index=False)
    frame["town"] = frame["town"].replace({"Lima": "Málaga", "Paris": "Köln"})
    frame.to_csv(paths["UTF-8"], index=False)
    frame.to_csv(paths["cp1252"], index=False, encoding="cp1252")
    amounts = [f"${own:,.2f}" for own in rng.random(rows) * 5000]
    hashes = [f"{own:016x}" for own in rng.integers(0, 2**62, rows)]
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rows * [1], unit="D")
    days += pd.to_timedelta(rng.integers(0, 1500, rows), unit="D")
    towns = rng.choice([f"town {own}" for own in range(2000)], rows)
    more = {"price": amounts, "hash": hashes, "day": days, "street": towns}
    mixed = frame.drop(columns="label").assign(**more, mood=rng.choice([*"ab"], rows))
    paths["mixed"] = folder / "mixed.csv"
    mixed.assign(label=frame["label"]).to_csv(paths["mixed"], index=False)
    paths["gzip"] = folder / "gzip.csv.gz"
    with gzip.open(paths["gzip"], "wb", compresslevel=1) as file:
        file.write(paths["ASCII"].read_bytes())
    paths["bad row"] = folder / "bad.csv"
    lines = paths["ASCII"].read_bytes().splitlines(keepends=True)
    lines[rows // 2] = b"one,bad,row\n"
    paths["bad row"].write_bytes(b"".join(lines))
    return paths


def own(path: Path) -> int:
    """All columns as batches of text, as the commands read them."""
    [file] = open_files([str(path)])
    batches = file.batches(file.columns, BadRows(skip=True))
    return sum(batch.num_rows for batch in batches)


def by_duckdb(path: Path, more: str = "") -> int:
    """All columns as DuckDB reads them by default."""
    with duckdb.connect() as connection:
        relation = connection.sql(f"FROM read_csv('{path}'{more})")
        stream = getattr(relation, "to_arrow_reader", relation.fetch_record_batch)
        return sum(batch.num_rows for batch in stream(1 << 16))


def main() -> None:
    """Measure, print and store."""
    options = option_parser("read_csv", __doc__).parse_args()
    rows = 20_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), rows)
        sizes = {name: path.stat().st_size for name, path in paths.items()}
        sides = {
            f"bayesieve, {name}": lambda path=path: own(path)
            for name, path in paths.items()
        }
        for name in ("ASCII", "UTF-8", "gzip"):
            path = paths[name]
            sides[f"duckdb, {name}"] = lambda path=path: by_duckdb(path)
        plain = paths["ASCII"]
        sides["duckdb as text, ASCII"] = lambda: by_duckdb(plain, ", all_varchar=true")
        sides["pandas, ASCII"] = lambda: pd.read_csv(plain)
        sides["pyarrow, ASCII"] = lambda: csv.read_csv(plain)
        for name, run in sides.items():
            if name.startswith(("bayesieve", "duckdb")):
                assert run() == rows - (name == "bayesieve, bad row"), name
        for name in ("ASCII", "mixed"):
            path = paths[name]
            sides[f"inspect, {name}"] = lambda path=path: inspect(path)
        seconds = interleaved(sides, 2 if options.quick else 5)
    best = {name: min(spent) for name, spent in seconds.items()}
    for name, spent in best.items():
        print(f"{name:24} {spent:6.3f} s")
    targets = [
        target(
            f"bayesieve / duckdb, {name}",
            best[f"bayesieve, {name}"] / best[f"duckdb, {name}"],
            most=MOST,
        )
        for name in ("ASCII", "UTF-8", "gzip")
    ]
    targets += [
        target(f"inspect, {name}, seconds", best[f"inspect, {name}"], most=MOST_SECONDS)
        for name in ("ASCII", "mixed")
    ]
    readers = {name: version(name) for name in ("duckdb", "pandas", "pyarrow")}
    results = {
        "rows": rows,
        "bytes": sizes,
        "readers": readers,
        "seconds": seconds,
        "targets": targets,
    }
    report("read_csv", options, SEED, results)


if __name__ == "__main__":
    main()
