"""Pipelines of scikit-learn alone say what the classifiers say."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tests.export.exported import EXPORTED
from tests.persistence.models import COUNTS, TABLE, TEXTS, YES_NO, Y, examples

import bayesieve as bs
from bayesieve.export import to_sklearn

#: What scikit-learn has no faithful steps for: times, pairs, ready-made terms.
REFUSED = {
    name
    for name in EXPORTED
    if name.startswith("selective") and name != "selective array"
} | {"averaged"}
CLASSIFIERS = [name for name in EXPORTED if name not in REFUSED]
PLAIN = TABLE.drop(columns="day")
ALONE = """
import pickle, sys
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "bayesieve":
            raise ImportError(name)
sys.meta_path.insert(0, Gone())
given = pickle.load(open(sys.argv[1], "rb"))
found = {
    name: (model.predict(X), model.predict_proba(X))
    for name, (model, X) in given.items()
}
assert not any(name.startswith("bayesieve") for name in sys.modules)
pickle.dump(found, open(sys.argv[2], "wb"))
"""


def check(model, X):
    """The pipeline gives labels and probabilities of these rows."""
    found = to_sklearn(model)
    assert b"bayesieve" not in pickle.dumps(found)
    wanted = model.predict_proba(X)
    np.testing.assert_allclose(found.predict_proba(X), wanted, rtol=0, atol=1e-9)
    top = np.sort(wanted, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9  # rounding may break a tie
    np.testing.assert_array_equal(found.predict(X)[clear], model.predict(X)[clear])
    if hasattr(found, "predict_log_proba"):
        np.testing.assert_allclose(
            found.predict_log_proba(X),
            model.predict_log_proba(X),
            rtol=1e-9,
            atol=1e-9,
        )
    return found


def weighted(table, y, **options):
    """A model in which every column has a weight."""
    start = bs.weights.VNS(start=[0.4] * table.shape[1], effort=1)
    options = {"pairs": 0, "optimizer": start, "random_state": 0} | options
    return bs.SelectiveNB(**options).fit(table, y)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier(name):
    model, X = examples()[name]
    found = check(model, X)
    assert len(pickle.dumps(found)) < 20_000


def test_it_runs_where_bayesieve_is_not(tmp_path):
    given = {name: examples()[name] for name in CLASSIFIERS}
    given["table"] = weighted(PLAIN, YES_NO), PLAIN
    plain = {name: (to_sklearn(model), X) for name, (model, X) in given.items()}
    (tmp_path / "in").write_bytes(pickle.dumps(plain))
    subprocess.run(
        [sys.executable, "-c", ALONE, tmp_path / "in", tmp_path / "out"], check=True
    )
    found = pickle.loads((tmp_path / "out").read_bytes())
    for name, (model, X) in given.items():
        label, probabilities = found[name]
        np.testing.assert_array_equal(label, model.predict(X))
        np.testing.assert_allclose(
            probabilities, model.predict_proba(X), rtol=0, atol=1e-9
        )


# --------------------------------------------------------------------------- counts


def test_sparse_rows_stay_sparse():
    X = sparse.random_array((50, 1_000_000), density=1e-5, rng=0, format="csr")
    X.data[:] = 1.0
    X = sparse.csr_array(
        sparse.hstack([sparse.csr_array(COUNTS[:50]), X[:, 12:]], format="csr")
    )
    model = bs.SparseMultinomialNB(4).fit(X, Y[:50])
    found = check(model, X)
    assert sparse.issparse(found[0].transform(X))
    check(model, X[:3].toarray())
    check(bs.SparseGaussianNB(3).fit(X, Y[:50]), X)
    check(bs.SparseBernoulliNB(3).fit(X, Y[:50]), X)


def test_frames_are_checked_by_name():
    model, frame = examples()["multinomial frame"]
    found = check(model, frame)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[frame.columns[::-1]])
    model = weighted(PLAIN, Y)
    found = check(model, PLAIN)
    np.testing.assert_array_equal(
        found.predict_proba(PLAIN[PLAIN.columns[::-1]]), found.predict_proba(PLAIN)
    )


def test_far_out_log_probabilities_keep_their_digits():
    X = np.repeat(COUNTS, 1, axis=0) * 200
    model = bs.SparseMultinomialNB("all").fit(X, YES_NO)
    assert model.predict_log_proba(X).min() < -100
    check(model, X)


def test_probabilities_of_zero_are_refused():
    X = np.array([[2, 0, 1], [1, 0, 0], [0, 2, 1], [0, 1, 0]])
    for model in (
        bs.SparseMultinomialNB("all", alpha=0.0),
        bs.SparseCategoricalNB("all", alpha=0.0),
        bs.SparseGaussianNB("all", var_smoothing=0.0, variance="class"),
    ):
        model.fit(X, [0, 0, 1, 1])
        with pytest.raises(ValueError, match="scikit-learn has no faithful steps for"):
            to_sklearn(model)


# ------------------------------------------------------------------------ pipelines


def test_the_last_step_of_a_pipeline_is_replaced():
    model = make_pipeline(
        CountVectorizer(), TfidfTransformer(), bs.SparseMultinomialNB(4)
    ).fit(TEXTS, Y)
    found = check(model, TEXTS)
    assert found[0] is model[0]
    search = GridSearchCV(model, {"sparsemultinomialnb__k": [2, 3]}, cv=2)
    check(search.fit(TEXTS, Y), TEXTS)


def test_selectors_before_a_model_are_replaced_too():
    frame = pd.DataFrame(COUNTS, columns=[f"c{j}" for j in range(12)])
    model = make_pipeline(bs.NaiveFeatureSelector(6), bs.SparseMultinomialNB(3))
    check(model.fit(COUNTS, Y), COUNTS)
    model = make_pipeline(bs.NaiveFeatureSelector(6), bs.SparseBernoulliNB(3))
    found = check(model.fit(frame, Y), frame)
    assert found[0].get_feature_names_out().tolist() == [
        f"c{j}" for j in model[0].get_support(indices=True)
    ]
    model = make_pipeline(bs.MODLEncoder(), bs.SparseCategoricalNB("all")).fit(
        COUNTS, Y
    )
    with pytest.raises(ValueError, match="Got a MODLEncoder"):
        to_sklearn(model)
    with pytest.raises(TypeError, match="Only classifiers give scores"):
        to_sklearn(bs.NaiveFeatureSelector(3).fit(COUNTS, Y))


# --------------------------------------------------------------------------- tables


DTYPES = {
    "number": ["Int64", "Float64", "Float32", "int64[pyarrow]", "double[pyarrow]"],
    "flag": ["boolean", "bool[pyarrow]", "Int8"],
    "word": ["string[python]", "string[pyarrow]", "category", object],
}


@pytest.mark.parametrize("partitions", ["averaged", "best"])
@pytest.mark.parametrize("column", DTYPES)
def test_missing_values_of_any_dtype(column, partitions):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    flag = rng.random(600) < 0.2 + 0.5 * y
    full = pd.DataFrame(
        {
            "number": rng.integers(9, size=600) + 4 * y,
            "flag": flag,
            "word": np.where(flag, "nan", "None"),  # which are strings like others
        }
    )[[column]].astype(object)
    holes = full.where((rng.random(600) < 0.8 - 0.5 * y)[:, None], None)
    first = DTYPES[column][0]
    model = bs.SelectiveNB(partitions=partitions).fit(holes.astype(first), y)
    pipeline = to_sklearn(model)
    wanted = model.predict_proba(holes.astype(first))
    for dtype in DTYPES[column]:
        for rows in (holes, full):
            check(model, rows.astype(dtype))
        found = pipeline.predict_proba(holes.astype(dtype))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    for gone in (None, np.nan, pd.NA) if column == "word" else (None, np.nan):
        check(model, full.where(holes.notna(), gone))
    pickle.dumps(pipeline)  # after use


def test_strings_of_numpy_among_objects():
    words = np.array(["up", "down"] * 100)
    table = pd.DataFrame({"word": words.astype(object)})
    model = bs.SelectiveNB().fit(table, words)
    others = np.empty((200, 1), dtype=object)
    others[:, 0] = list(words)  # of type np.str_
    assert type(others[0, 0]) is np.str_
    check(model, pd.DataFrame(others, columns=["word"]))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["x", 1], "int and str"),
        ([True, "x"], "bool and str"),
        ([b"x", b"z"], "bytes"),
        ([("x", 1), ("z", 2)], "tuple"),
        ([np.inf, 1.0], "float"),
    ],
    ids=str,
)
def test_categories_that_encoders_do_not_take_are_refused(values, told):
    y = np.array([0, 1] * 50)
    column = np.empty(100, dtype=object)
    column[:] = [values[own] for own in y]
    X = pd.DataFrame({"odd": column})
    model = bs.SelectiveNB(categorical_features=["odd"]).fit(X, y)
    told = f"all strings or all finite numbers in .* Got {told} in column 'odd'"
    with pytest.raises(ValueError, match=told):
        to_sklearn(model)


@pytest.mark.parametrize("partitions", ["best", "averaged"])
@pytest.mark.parametrize("labels", [YES_NO, Y, Y == 1], ids=["str", "int", "bool"])
def test_mixed_tables(partitions, labels):
    model = weighted(PLAIN, labels, partitions=partitions)
    check(model, PLAIN)
    nobody = PLAIN.assign(town="Atlantis", mood=None, age=np.nan, size=1e300)
    check(model, nobody)
    check(model, nobody.assign(code=9, town=None, mood="?", size=-1e30))
    check(model, PLAIN.assign(code=PLAIN["code"].astype(float)))
    check(model, PLAIN.assign(age=PLAIN["age"].astype(np.float32)))


def test_words_of_a_table():
    noted = PLAIN.assign(note=[f"{text} nr{row}" for row, text in enumerate(TEXTS)])
    model = bs.SelectiveNB(text_options={"ngram_range": (1, 2)}, pairs=0)
    model.fit(noted, YES_NO)
    assert "note" in [list(noted)[j] for j in model.support_indices_]
    check(model, noted)


def test_what_scikit_learn_has_no_steps_for():
    for name, what in (
        ("selective", "times such as column 'day'"),
        ("selective pairs", "pairs of columns"),
    ):
        with pytest.raises(ValueError, match=f"no faithful steps for {what}"):
            to_sklearn(examples()[name][0])
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=400)
    table = pd.DataFrame({"id": 2**60 + rng.integers(0, 100, size=400) + 60 * y})
    with pytest.raises(ValueError, match="integers that doubles cannot tell apart"):
        to_sklearn(bs.SelectiveNB().fit(table, y))


def test_numbers_at_the_bounds():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 2)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) > 0
    values = np.unique(X[~np.isnan(X)])
    middle = (values[1:] + values[:-1]) / 2
    edges = np.concatenate(
        [np.nextafter(middle, -9), middle, np.nextafter(middle, 9), [np.nan, 1e308]]
    )
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions, pairs=0).fit(X, y)
        check(model, X)
        check(model, rng.choice(edges, size=(2000, 2)))


def test_nothing_selected():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(60), "b": rng.random(60)})
    model = bs.SelectiveNB().fit(frame, rng.integers(3, size=60))
    found = check(model, frame)
    assert not isinstance(found[-1], DummyClassifier)  # the last smoothing is there


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_random_counts(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(40, 5)) * (rng.random((40, 5)) < 0.5)
    y = np.r_[np.arange(n_classes), rng.integers(n_classes, size=40 - n_classes)]
    new = rng.integers(0, 4, size=(30, 5)) * (rng.random((30, 5)) < 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few useful features
        for model in (
            bs.SparseMultinomialNB(3),
            bs.SparseBernoulliNB(3, binarize=float(rng.integers(2))),
            bs.SparseCategoricalNB(3, min_categories=4),
            bs.SparseGaussianNB(3, variance="class"),
            bs.SparseGaussianNB(3, variance="pooled"),
        ):
            check(model.fit(X, y), new)
            if not isinstance(model, bs.SparseCategoricalNB):
                check(model, sparse.csr_array(new))


@pytest.mark.parametrize("name", ["uci_crx", "uci_glass", "uci_soybean", "uci_heart"])
def test_real_tables(real_data, name):
    frame = real_data(name)
    y = frame.pop("label")
    frame = frame.drop(columns="split", errors="ignore")
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions, pairs=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rare labels
            model.fit(frame[::2], y[::2])
        check(model, frame)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("name", ["trec", "sms_spam"])
def test_real_texts(real_data, name, weights):
    frame = real_data(name).iloc[:3000]
    model = bs.SparseTextNB(60, ngram_range=(1, 2), weights=weights)
    model.fit(frame["text"], frame["label"])
    found = check(model, frame["text"].tolist())
    assert isinstance(found[0], CountVectorizer)
