"""`ClassCounts.from_anndata` against counting by NumPy, and what it refuses."""

from __future__ import annotations

import re
import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesieve import (
    ClassCounts,
    SparseBernoulliNB,
    SparseMultinomialNB,
    StratifiedCounts,
    report,
)
from bayesieve.counts import _from_anndata
from bayesieve.exceptions import BadRowsWarning

anndata = pytest.importorskip("anndata")
pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")


def cells(X, **obs):
    n, m = X.shape
    return anndata.AnnData(
        X,
        obs=pd.DataFrame(obs, index=[f"cell{i}" for i in range(n)]),
        var=pd.DataFrame(index=[f"gene{i}" for i in range(m)]),
    )


def example(n=200, m=30, seed=0, kind="csr"):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, m)).astype(np.float32)
    make = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "dense": np.array}
    return cells(
        make[kind](X),
        type=pd.Categorical(rng.choice(["B", "NK", "T"], n), ["T", "B", "none", "NK"]),
        donor=rng.choice(["d1", "d2", "d3", "d4"], n),
    )


def dense(adata):
    X = adata.X
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def by_numpy(adata, where, binary):
    """Sums of the cells that are `where`, class by class."""
    X = dense(adata)
    X = (X > 0) if binary else X
    types = np.asarray(adata.obs["type"])
    rows = [where & (types == label) for label in ["B", "NK", "T"]]
    return (
        np.array([X[own].sum(axis=0, dtype=float) for own in rows]),
        np.array([float(own.sum()) for own in rows]),
    )


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
@pytest.mark.parametrize("where", ["memory", "file", "backed"])
def test_counts_are_those_of_numpy(tmp_path, kind, where, binary):
    adata = example(kind=kind)
    source = adata
    if where != "memory":
        source = tmp_path / "c.h5ad"
        adata.write_h5ad(source)
    if where == "backed":
        source = anndata.read_h5ad(source, backed="r")
    counts = ClassCounts.from_anndata(
        source, "type", binary=binary, memory_budget=2000, n_jobs=2
    )
    sums, rows = by_numpy(adata, np.ones(200, dtype=bool), binary)
    assert counts.kind == ("binary" if binary else "count")
    assert counts.classes.tolist() == ["B", "NK", "T"]  # sorted; "none" has no cell
    np.testing.assert_array_equal(counts.feature_count, sums)
    np.testing.assert_array_equal(counts.class_count, rows)
    assert counts.feature_names[:2].tolist() == ["gene0", "gene1"]
    if where == "backed":
        source.file.close()


@pytest.mark.parametrize("sparse_table", [False, True])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_strata_are_those_of_numpy_and_add_up(
    tmp_path, kind, binary, sparse_table, monkeypatch
):
    if sparse_table:  # as if there were too many groups for a table of numbers
        monkeypatch.setattr(_from_anndata, "is_dense_layout", lambda *_: False)
    adata = example(kind=kind)
    adata.write_h5ad(tmp_path / "c.h5ad")
    for source in (adata, tmp_path / "c.h5ad"):
        strata = ClassCounts.from_anndata(
            source, "type", batch="donor", binary=binary, memory_budget=2000
        )
        assert isinstance(strata, StratifiedCounts)
        assert strata.strata == ["d1", "d2", "d3", "d4"]
        for donor, part in strata.items():
            sums, rows = by_numpy(
                adata, np.asarray(adata.obs["donor"] == donor), binary
            )
            np.testing.assert_array_equal(part.feature_count, sums)
            np.testing.assert_array_equal(part.class_count, rows)
        assert strata.total == ClassCounts.from_anndata(adata, "type", binary=binary)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 99),
    n=st.integers(1, 60),
    m=st.integers(1, 20),
    budget=st.integers(1, 4000),
    packing=st.sampled_from([None, "gzip"]),
    kind=st.sampled_from(["csr", "csc", "dense"]),
)
# The last cells have no counts, and the chunks end before them.
@hypothesis.example(seed=3, n=10, m=10, budget=1, packing=None, kind="csr")
def test_any_budget_and_storage_give_the_same(
    tmp_path, seed, n, m, budget, packing, kind
):
    adata = example(n, m, seed, kind)
    adata.write_h5ad(tmp_path / "c.h5ad", compression=packing)
    whole = ClassCounts.from_matrix(
        dense(adata), np.asarray(adata.obs["type"]), feature_names=list(adata.var_names)
    )
    found = ClassCounts.from_anndata(
        tmp_path / "c.h5ad", "type", memory_budget=budget, n_jobs=1 + seed % 3
    )
    assert found == whole


def test_real_cells_in_every_storage(tmp_path, real_data):
    frame = real_data("sc_citeseq")
    label = frame.columns[-1] if "label" not in frame else "label"
    types = frame[label].astype(str).to_numpy()
    X = frame.drop(columns=label)
    wanted = ClassCounts.from_matrix(X, types)
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        adata = anndata.AnnData(
            kind(X.to_numpy(dtype=np.float32)),
            obs=pd.DataFrame(
                {"type": pd.Categorical(types)}, index=X.index.astype(str)
            ),
            var=pd.DataFrame(index=X.columns),
        )
        adata.obs["half"] = np.where(np.arange(len(X)) % 2, "odd", "even")
        adata.write_h5ad(tmp_path / "c.h5ad", compression="gzip")
        path = tmp_path / "c.h5ad"
        assert ClassCounts.from_anndata(path, "type") == wanted
        strata = ClassCounts.from_anndata(path, "type", batch="half")
        assert strata.total == wanted
        odd = np.arange(len(X)) % 2 == 1
        assert strata["odd"] == ClassCounts.from_matrix(
            X[odd], types[odd], classes=wanted.classes
        )


def test_layers_raw_and_classes():
    adata = example()
    wanted = ClassCounts.from_anndata(adata, "type")
    adata.layers["counts"] = adata.X.copy()
    adata.raw = adata
    adata.X = adata.X.log1p()
    assert ClassCounts.from_anndata(adata, "type", layer="counts") == wanted
    assert ClassCounts.from_anndata(adata, "type", use_raw=True) == wanted
    more = ClassCounts.from_anndata(
        adata, "type", layer="counts", classes=["B", "NK", "T", "other"]
    )
    assert more.class_count[3] == 0
    assert not more.feature_count[3].any()
    # Presence is the same in normalised data.
    assert (
        ClassCounts.from_anndata(adata, "type", binary=True).feature_count
        == ClassCounts.from_anndata(
            adata, "type", layer="counts", kind="binary"
        ).feature_count
    ).all()


@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("on_disk", [False, True])
def test_what_is_no_raw_count_is_refused_by_gene_and_cell(tmp_path, storage, on_disk):
    X = np.ones((4, 3), dtype=np.float32)
    X[2, 1] = 0.5
    adata = cells(storage(X), type=list("aabb"))
    adata.layers["counts"] = np.ones((4, 3))
    adata.layers["scaled"] = storage(X - 0.6)
    adata.layers["missing"] = storage(np.where(X == 0.5, np.nan, X))
    source = adata
    if on_disk:
        source = tmp_path / "c.h5ad"
        adata.write_h5ad(source)
    options = {"memory_budget": 1}
    with pytest.raises(ValueError, match=r"Value 0.5 found in gene 'gene1'") as error:
        ClassCounts.from_anndata(source, "type", **options)
    told = str(error.value)
    assert "cell 'cell2' (row 2) of X; class counts need raw counts" in told
    assert "this matrix looks normalised. Other matrices here: layer='counts'" in told
    assert "Hint: name the matrix of raw counts by layer=... or use_raw=True" in told
    kept = ClassCounts.from_anndata(source, "type", check_counts=False, **options)
    assert kept.feature_count.tolist() == [[2, 2, 2], [2, 1.5, 2]]
    for layer, kind, wanted in (
        (
            "scaled",
            "binary",
            "presence needs values >= 0, and this matrix looks scaled",
        ),
        ("missing", "count", "holds missing values"),
        ("missing", "binary", "Value nan found in gene 'gene1', cell 'cell2'"),
    ):
        with pytest.raises(ValueError, match=wanted):
            ClassCounts.from_anndata(source, "type", layer=layer, kind=kind, **options)


def test_cells_without_label_are_refused_or_left_out(tmp_path):
    adata = example()
    adata.obs["type"] = adata.obs["type"].where(np.arange(200) >= 7)
    adata.obs["donor"] = adata.obs["donor"].where(np.arange(200) < 190).astype(object)
    adata.write_h5ad(tmp_path / "c.h5ad")
    for source in (adata, tmp_path / "c.h5ad"):
        with pytest.raises(
            ValueError,
            match=r"7 of 200 cells have no 'type'; the first is cell 'cell0' \(row 0\)"
            r". Hint: on_bad_rows='skip'",
        ):
            ClassCounts.from_anndata(source, "type")
        with pytest.warns(BadRowsWarning, match="17 bad rows were left out"):
            strata = ClassCounts.from_anndata(
                source, "type", batch="donor", on_bad_rows="skip"
            )
        kept = (np.arange(200) >= 7) & (np.arange(200) < 190)
        sums, rows = by_numpy(adata, kept, False)
        np.testing.assert_array_equal(strata.total.feature_count, sums)
        np.testing.assert_array_equal(strata.total.class_count, rows)


def test_no_cell_at_all_is_an_error():
    adata = example(n=3)
    adata.obs["none"] = pd.Categorical([None] * 3, ["a"])
    with (
        pytest.warns(BadRowsWarning, match="3 bad rows"),
        pytest.raises(ValueError, match="at least one cell"),
    ):
        ClassCounts.from_anndata(adata, "none", on_bad_rows="skip")


def test_options_that_are_refused():
    adata = example()
    for options, wanted in (
        ({"kind": "moments"}, "must be 'count' or 'binary'. Got 'moments'"),
        ({"on_bad_rows": "keep"}, "'on_bad_rows' parameter must be"),
        ({"memory_budget": 0}, "'memory_budget' must be None or a number"),
        ({"classes": ["B", "T"]}, "'NK'"),
        ({"batch": "site"}, "has no column 'site'. It has 'type', 'donor'"),
        ({"layer": "counts"}, r"has no layers\['counts'\]"),
    ):
        with pytest.raises(ValueError, match=wanted):
            ClassCounts.from_anndata(adata, "type", **options)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("given", [["type"], 3, b"type", True], ids=repr)
@pytest.mark.parametrize("parameter", ["label", "batch", "layer"])
def test_what_is_no_name_is_refused(tmp_path, parameter, given, on_disk):
    source = example()
    if on_disk:
        source.write_h5ad(tmp_path / "c.h5ad")
        source = tmp_path / "c.h5ad"
    told = rf"The '{parameter}' parameter of from_anndata must be the name of a .* Got "
    with pytest.raises(TypeError, match=told + re.escape(repr(given))):
        ClassCounts.from_anndata(source, **{"label": "type", parameter: given})


def test_equal_names_of_genes_are_refused():
    adata = example()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata.var_names = ["same"] * 3 + [f"g{i}" for i in range(27)]
    with pytest.raises(ValueError, match="Got 'same' 3 times, and 2 repeated names"):
        ClassCounts.from_anndata(adata, "type")


def test_names_that_differ_in_a_null_character_are_different():
    adata = example()
    adata.var_names = ["g", "g\0", *[f"g{i}" for i in range(28)]]
    names = ClassCounts.from_anndata(adata, "type").feature_names
    assert list(names)[:2] == ["g", "g\0"]


def test_indices_outside_the_shape_are_an_error(tmp_path):
    h5py = pytest.importorskip("h5py")
    example().write_h5ad(tmp_path / "c.h5ad")
    with h5py.File(tmp_path / "c.h5ad", "r+") as file:
        file["X/indices"][5] = 30
    for binary in (False, True):
        with pytest.raises(ValueError, match="malformed"):
            ClassCounts.from_anndata(tmp_path / "c.h5ad", "type", binary=binary)


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_half_precision_in_a_file(tmp_path, kind):
    import h5py

    adata, path = example(kind=kind), tmp_path / "half.h5ad"
    wanted = ClassCounts.from_anndata(adata, "type")
    adata.write_h5ad(path)
    with h5py.File(path, "r+") as file:
        place = "X" if kind == "dense" else "X/data"
        values, told = file[place][:].astype(np.float16), dict(file[place].attrs)
        del file[place]
        file[place] = values
        file[place].attrs.update(told)
    assert ClassCounts.from_anndata(path, "type") == wanted


def test_entries_stored_twice(tmp_path):
    """1 + 2 in one cell are three molecules, and one presence."""
    twice = sparse.csr_matrix(
        (np.array([1.0, 2, 5]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    cells(twice, type=["a", "b"]).write_h5ad(tmp_path / "c.h5ad")
    for binary, wanted in ((False, [[3, 0], [0, 5]]), (True, [[1, 0], [0, 1]])):
        found = ClassCounts.from_anndata(tmp_path / "c.h5ad", "type", binary=binary)
        assert found.feature_count.tolist() == wanted


@pytest.mark.parametrize("model", [SparseMultinomialNB, SparseBernoulliNB])
def test_names_of_genes_travel_to_models(tmp_path, model):
    adata = example()
    adata.write_h5ad(tmp_path / "c.h5ad")
    counts = ClassCounts.from_anndata(
        tmp_path / "c.h5ad", "type", binary=model is SparseBernoulliNB
    )
    fitted = model(k=5).fit_counts(counts)
    assert fitted.feature_names_in_.tolist() == adata.var_names.tolist()
    page = tmp_path / "report.html"
    report(fitted, adata.to_df(), np.asarray(adata.obs["type"]), page)
    chosen = adata.var_names[fitted.support_indices_]
    assert all(name in page.read_text("utf-8") for name in chosen)


# ---------------------------------------------------------------------- strata


def test_strata_are_a_mapping():
    a = ClassCounts.from_matrix([[1, 0], [2, 3]], ["x", "y"])
    strata = StratifiedCounts({"one": a, 2: a})
    assert list(strata) == strata.strata == ["one", 2]
    assert strata[2] is a
    assert strata.total == a.scaled(2)
    assert strata == StratifiedCounts({"one": a, 2: a}) != StratifiedCounts({"one": a})
    assert "2 strata, kind='count', 2 classes, 2 features" in repr(strata)


def test_strata_must_fit_together():
    a = ClassCounts.from_matrix([[1, 0], [2, 3]], ["x", "y"])
    b = ClassCounts.from_matrix([[1, 0], [2, 3]], ["x", "z"])
    with pytest.raises(ValueError, match="with the same classes and the same features"):
        StratifiedCounts({"one": a, "two": b})
    with pytest.raises(ValueError, match="at least one stratum"):
        StratifiedCounts({})
