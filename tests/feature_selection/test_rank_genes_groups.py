"""Markers in the layout of scanpy: the layout itself, files, and scanpy's own plots."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy import stats

from bayesieve import (
    ClassCounts,
    NaiveFeatureSelector,
    StratifiedCounts,
    solve_multinomial,
    to_rank_genes_groups,
)

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

FIELDS = {
    "names": "O",
    "scores": "<f4",
    "logfoldchanges": "<f4",
    "pvals": "<f8",
    "pvals_adj": "<f8",
}


def example(seed=0, n=240):
    """Three types with two markers each, and 14 genes that tell nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    rates = np.full((n, 20), 1.0)
    for c in range(3):
        rates[codes == c, 2 * c : 2 * c + 2] = 6.0
    types = pd.Categorical(np.array(["T", "B", "NK"])[codes], ["T", "B", "NK", "none"])
    return anndata.AnnData(
        rng.poisson(rates).astype(np.float32),
        obs=pd.DataFrame(
            {"type": types, "donor": rng.choice(["x", "y"], n)},
            index=[f"cell{i}" for i in range(n)],
        ),
        var=pd.DataFrame(index=[f"gene{i}" for i in range(20)]),
    )


def test_the_layout_and_the_order_of_groups_and_genes():
    adata = example()
    counts = ClassCounts.from_anndata(adata, "type")
    to_rank_genes_groups(counts, adata, "type", key_added="markers", layer="lognorm")
    written = adata.uns["markers"]
    assert written["params"] == {
        "groupby": "type",
        "reference": "rest",
        "method": "bayesieve multinomial",
        "use_raw": False,
        "layer": "lognorm",
        "corr_method": "benjamini-hochberg",
    }
    for field, dtype in FIELDS.items():
        # As categories stand, and not "none", which has no cell.
        assert written[field].dtype.names == ("T", "B", "NK")
        assert written[field].shape == (20,)
        assert written[field].dtype["T"] == dtype
    for c, group in enumerate(["T", "B", "NK"]):
        assert set(written["names"][group][:2]) == {f"gene{2 * c}", f"gene{2 * c + 1}"}
        assert (np.diff(written["scores"][group]) <= 0).all()
        assert (written["logfoldchanges"][group][:2] > 1.5).all()
        signs = np.sign(written["scores"][group])
        assert (signs == np.sign(written["logfoldchanges"][group])).all()
        # Molecules of a cell are not independent: there is no p-value to tell.
        assert np.isnan(written["pvals"][group]).all()


def test_presence_has_exact_pvalues_over_all_genes():
    adata = example(n=60)
    counts = ClassCounts.from_anndata(adata, "type", binary=True)
    to_rank_genes_groups(counts, adata, "type", support=["gene2", "gene9"])
    written = adata.uns["rank_genes_groups"]
    assert written["names"]["B"].tolist() == ["gene2", "gene9"]
    assert written["params"]["method"] == "bayesieve bernoulli"
    seen = np.asarray(adata.X) > 0
    own = np.asarray(adata.obs["type"] == "B")
    pvals = []
    for gene in range(20):
        x = seen[:, gene]
        table = [
            [(x & own).sum(), (x & ~own).sum()],
            [(~x & own).sum(), (~x & ~own).sum()],
        ]
        pvals.append(stats.fisher_exact(table).pvalue)
    # Fisher orders outcomes by probability and this test by likelihood ratio, so tails
    # may differ by an outcome; over all 20 genes they are adjusted alike.
    np.testing.assert_allclose(written["pvals"]["B"][0], pvals[2], rtol=0.5)
    to_rank_genes_groups(counts, adata, "type")
    whole = adata.uns["rank_genes_groups"]
    adjusted = stats.false_discovery_control(whole["pvals"]["B"])
    np.testing.assert_allclose(whole["pvals_adj"]["B"], adjusted)
    at = whole["names"]["B"].tolist().index("gene9")
    assert written["pvals_adj"]["B"][1] == whole["pvals_adj"]["B"][at]


def test_supports_of_all_kinds_are_the_same_genes():
    adata = example()
    counts = ClassCounts.from_anndata(adata, "type")
    solution = solve_multinomial(counts, k=6)
    names = counts.feature_names[solution.support]
    mask = np.isin(np.arange(20), solution.support)
    selector = NaiveFeatureSelector(k=6).fit_counts(counts)
    answers = []
    for support in (solution, selector, solution.support, names, mask):
        to_rank_genes_groups(counts, adata, "type", support=support)
        answers.append(adata.uns["rank_genes_groups"])
    assert set(answers[0]["names"]["T"]) == {f"gene{i}" for i in range(6)}
    for answer in answers:
        for field in FIELDS:
            for group in ("T", "B", "NK"):
                one, other = answer[field][group], answers[0][field][group]
                np.testing.assert_array_equal(one, other)


def test_strata_are_summed():
    adata = example()
    strata = ClassCounts.from_anndata(adata, "type", batch="donor")
    scores = []
    for counts in (strata, strata["x"], strata["y"]):
        to_rank_genes_groups(counts, adata, "type")
        written = adata.uns["rank_genes_groups"]
        order = np.argsort(written["names"]["NK"])
        scores.append(written["scores"]["NK"][order])
    np.testing.assert_allclose(scores[0], scores[1] + scores[2], rtol=1e-5, atol=1e-4)
    to_rank_genes_groups(strata, adata, "type")
    params = adata.uns["rank_genes_groups"]["params"]
    assert params["method"] == "bayesieve multinomial within strata"


def test_through_a_file_and_back(tmp_path):
    adata = example()
    to_rank_genes_groups(ClassCounts.from_anndata(adata, "type"), adata, "type")
    adata.write_h5ad(tmp_path / "c.h5ad")
    again = anndata.read_h5ad(tmp_path / "c.h5ad")
    for field in FIELDS:
        one, other = (x.uns["rank_genes_groups"][field] for x in (adata, again))
        assert one.dtype.names == other.dtype.names
        for group in one.dtype.names:
            np.testing.assert_array_equal(one[group], other[group])


def test_what_is_refused():
    adata = example()
    counts = ClassCounts.from_anndata(adata, "type")
    nameless = ClassCounts.from_matrix(np.asarray(adata.X), list(adata.obs["type"]))
    for options, wanted in (
        ({"counts": nameless}, "with names of genes"),
        ({"groupby": "cluster"}, "must be a column of obs. Got 'cluster'"),
        (
            {"groupby": "donor"},
            "must have the classes that were counted. It has no 'B'",
        ),
        (
            {"support": ["gene1", "CD3D"]},
            "must name genes that were counted. Got 'CD3D'",
        ),
        ({"support": [1, 1]}, "at least one distinct gene"),
        ({"support": [20]}, "at least one distinct gene out of 20"),
        ({"support": "BA"}, r"at least one .* Got 'BA'\. Hint: \['BA'\]\."),
        ({"support": {"gene1"}}, r"at least one .* Got \{'gene1'\}\."),
        ({"support": {"gene1": 1}}, "at least one distinct gene"),
        ({"support": []}, "name genes|at least one distinct gene"),
        ({"support": [["gene1"]]}, r"must name genes .* Got \['gene1'\]\."),
        ({"support": ["gene1", ["gene2"]]}, r"must name genes .* Got \['gene2'\]\."),
        ({"support": ["gene1", 2]}, r"must name genes .* Got 2\."),
        ({"support": np.zeros(20, dtype=bool)}, "at least one distinct gene"),
        ({"support": NaiveFeatureSelector()}, "must be fitted on the 20 genes"),
        ({"use_raw": True}, "use_raw=True needs adata.raw"),
        ({"adata": adata[:, :5].copy()}, "It has no 'gene5'"),
        ({"alpha": -1.0}, "alpha"),
    ):
        given = {"counts": counts, "adata": adata, "groupby": "type", **options}
        with pytest.raises(ValueError, match=wanted):
            to_rank_genes_groups(**given)
    for parameter in ("groupby", "key_added", "layer"):
        told = f"The '{parameter}' parameter of .* must be the name of .* Got "
        for other in (["type"], 3):
            options = {"groupby": "type", parameter: other}
            with pytest.raises(TypeError, match=told + re.escape(repr(other))):
                to_rank_genes_groups(counts, adata, **options)
    with pytest.raises(TypeError, match="needs a ClassCounts or a StratifiedCounts"):
        to_rank_genes_groups(np.ones((2, 3)), adata, "type")
    assert "rank_genes_groups" not in adata.uns


@pytest.fixture
def scanpy():
    """Scanpy, whose import and plots warn of what is none of our business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pytest.importorskip("scanpy", reason="scanpy is not installed")
        import matplotlib

        matplotlib.use("agg")
        yield found
        import matplotlib.pyplot as plt

        plt.close("all")


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("batch", [None, "donor"])
def test_plots_and_tables_of_scanpy(scanpy, tmp_path, binary, batch):
    adata = example()
    # The plots of scanpy stumble over categories without cells, whoever made the ranks.
    adata.obs["type"] = adata.obs["type"].cat.remove_unused_categories()
    counts = ClassCounts.from_anndata(adata, "type", batch=batch, binary=binary)
    total = counts.total if isinstance(counts, StratifiedCounts) else counts
    support = np.argsort(-total.feature_count.sum(axis=0))[:8]
    to_rank_genes_groups(counts, adata, "type", support=support)
    table = scanpy.get.rank_genes_groups_df(adata, group="B")
    assert list(table.columns) == list(FIELDS)
    assert set(table["names"][:2]) == {"gene2", "gene3"}
    everything = scanpy.get.rank_genes_groups_df(adata, group=None)
    assert len(everything) == 24
    if binary and batch is None:
        found = scanpy.get.rank_genes_groups_df(
            adata, group="B", pval_cutoff=0.01, log2fc_min=0
        )
        assert set(found["names"]) == {"gene2", "gene3"}
    options = {"n_genes": 3, "show": False}
    scanpy.pl.rank_genes_groups(adata, **options)
    scanpy.pl.rank_genes_groups_dotplot(adata, **options)
    scanpy.pl.rank_genes_groups_matrixplot(adata, **options)
    scanpy.pl.rank_genes_groups_stacked_violin(adata, **options)
    scanpy.pl.rank_genes_groups_heatmap(adata, **options)
    scanpy.pl.rank_genes_groups_tracksplot(adata, **options)
    scanpy.pl.rank_genes_groups_violin(adata, groups=["T"], **options)
    # These plots show the numbers of all genes, and so do those of scanpy's own tests.
    to_rank_genes_groups(counts, adata, "type")
    scanpy.pl.rank_genes_groups_dotplot(
        adata, values_to_plot="logfoldchanges", min_logfoldchange=0.5, **options
    )
    scanpy.pl.rank_genes_groups_matrixplot(adata, values_to_plot="scores", **options)
    scanpy.tl.filter_rank_genes_groups(
        adata, min_fold_change=0.3, max_out_group_fraction=1
    )
    kept = adata.uns["rank_genes_groups_filtered"]["names"]["B"]
    assert {"gene2", "gene3"} <= set(kept)


def test_the_fields_are_those_of_scanpy(scanpy):
    adata = example()
    counts = ClassCounts.from_anndata(adata, "type")
    to_rank_genes_groups(counts, adata, "type", key_added="ours")
    adata.obs["type"] = adata.obs["type"].cat.remove_unused_categories()
    adata.layers["lognorm"] = np.log1p(adata.X)
    scanpy.tl.rank_genes_groups(adata, "type", key_added="theirs", layer="lognorm")
    ours, theirs = adata.uns["ours"], adata.uns["theirs"]
    assert set(ours) == set(theirs)
    assert list(ours["params"]) == list(theirs["params"])
    for field in FIELDS:
        assert ours[field].dtype == theirs[field].dtype
        assert type(ours[field]) is type(theirs[field])
    for group in ("T", "B", "NK"):
        assert set(ours["names"][group][:2]) == set(theirs["names"][group][:2])
