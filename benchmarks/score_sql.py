"""Ten million rows scored in DuckDB by `to_sql`, and in Python by `predict_proba`.

Two models: a `SelectiveNB` of a table with seven numbers and three categories, and a
`SparseMultinomialNB` of twenty columns of counts. The rows lie in a table of DuckDB.
Python is timed twice: with the rows in a frame already, and with the seconds to fetch
them. So is DuckDB: it sums the probabilities up, so that none of them is left
uncomputed, and it writes them to a table beside all columns.
"""

from __future__ import annotations

from importlib.metadata import version

import duckdb
import numpy as np
import pandas as pd

from bayesieve import SelectiveNB, SparseMultinomialNB, to_sql
from measurement import interleaved, option_parser, report, target

SEED = 0
LEARNT_FROM = 20_000
CLOSE = 1e-9


def table(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and categories, and a label that some of them tell."""
    rng = np.random.default_rng(SEED)
    frame = pd.DataFrame({f"n{j}": rng.normal(size=rows) for j in range(7)})
    for j, size in enumerate((3, 10, 30)):
        values = np.array([f"value {own}" for own in range(size)], dtype=object)
        frame[f"c{j}"] = values[rng.integers(size, size=rows)]
    score = frame["n0"] + frame["n1"] * (frame["n2"] > 0) + (frame["c0"] == "value 1")
    score += 0.5 * frame["n3"] + (frame["c1"] < "value 4") - (frame["c2"] > "value 20")
    return frame, np.where(score + rng.normal(size=rows) > 0, "yes", "no")


def counts(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Twenty columns of counts."""
    rng = np.random.default_rng(SEED)
    label = rng.integers(2, size=rows)
    values = rng.poisson(1.0, size=(rows, 20)).astype(np.int32)
    values[:, :5] += rng.poisson(1.0 * label[:, None], size=(rows, 5)).astype(np.int32)
    frame = pd.DataFrame(values, columns=[f"n{j}" for j in range(20)])
    return frame, np.where(label, "yes", "no")


def measured(name: str, model: object, rows: int, repeats: int) -> dict:
    """Seconds of both sides, and how far their probabilities are apart."""
    frame, labels = table(rows) if name == "table" else counts(rows)
    learnt = slice(0, LEARNT_FROM)
    model.fit(frame.iloc[learnt], labels[learnt])
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data AS SELECT * FROM frame")
    query = to_sql(model, "data")
    summed = "sum(probability_no), sum(probability_yes), count(prediction)"

    def fetched() -> None:
        model.predict_proba(connection.sql("SELECT * FROM data").df())

    def aggregated() -> None:
        connection.execute(f"SELECT {summed} FROM ({query})").fetchall()

    def written() -> None:
        connection.execute(f"CREATE OR REPLACE TABLE scored AS {query}")

    seconds = interleaved(
        {
            "predict": lambda: model.predict_proba(frame),
            "fetch and predict": fetched,
            "query, summed": aggregated,
            "query, to a table": written,
        },
        repeats,
    )
    few = frame.iloc[:100_000]
    connection.execute("CREATE TABLE sample AS SELECT * FROM few")
    found = connection.execute(to_sql(model, "sample")).fetchnumpy()
    apart = np.abs(found["probability_yes"] - model.predict_proba(few)[:, 1]).max()
    told = ", ".join(f"{side} {min(own):.2f} s" for side, own in seconds.items())
    print(f"{name}: {told}")
    return {"model": name, "rows": rows, "seconds": seconds, "apart": float(apart)}


def main() -> None:
    parser = option_parser("score_sql", __doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    rows, repeats = (100_000, 1) if options.quick else (options.rows, 3)
    found = [
        measured("table", SelectiveNB(), rows, repeats),
        measured("counts", SparseMultinomialNB(20), rows, repeats),
    ]
    targets = []
    for own in found:
        best = {side: min(seconds) for side, seconds in own["seconds"].items()}
        name = own["model"]
        alone = best["predict"] / best["query, summed"]
        whole = best["fetch and predict"] / best["query, to a table"]
        targets += [
            target(f"{name}: predict's seconds to the query's", alone, least=1.0),
            target(f"{name}: the same from table to table", whole, least=1.0),
            target(f"{name}: largest difference", own["apart"], most=CLOSE),
        ]
    results = {"models": found, "targets": targets, "duckdb": version("duckdb")}
    report("score_sql", options, SEED, results)


if __name__ == "__main__":
    main()
