"""ONNX models, run by onnxruntime, say what the classifiers say."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.export.exported import EXPORTED
from tests.export.random_models import fitted_to_counts, fitted_to_tables
from tests.persistence.models import COUNTS, TABLE, TEXTS, YES_NO, Y, examples

import bayesieve as bs
from bayesieve.export import onnx_inputs, to_onnx

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

SMALL = ["uci_crx", "uci_horsecolic", "uci_glass", "uci_soybean", "uci_sonar"]
TABLES = [
    *["uci_abalone", "uci_adult", "uci_australian", "uci_breast", "uci_bupa"],
    *["uci_flag", "uci_german_numeric", "uci_heart", "uci_hypothyroid", "uci_iris"],
    *["uci_ionosphere", "uci_letter", "uci_mushroom", "uci_pendigits", "uci_pima"],
    *["uci_segmentation", "uci_shuttle", "uci_sick_euthyroid", "uci_spam"],
    *["uci_thyroid", "uci_tictactoe", "uci_vehicle", "uci_wine", "esl_phoneme"],
]


def session_of(model, **options):
    """A model in onnxruntime; the file is checked on the way."""
    made = to_onnx(model, **options)
    onnx.checker.check_model(made, full_check=True)
    return ort.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def check(model, X, **options):
    """The model in onnxruntime gives labels and probabilities of these rows."""
    session = session_of(model, **options)
    label, found = session.run(["label", "probabilities"], onnx_inputs(session, X))
    wanted = model.predict_proba(X)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    top = np.sort(wanted, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9  # rounding may break a tie
    np.testing.assert_array_equal(label[clear], model.predict(X)[clear])
    assert label.shape == (len(wanted),)
    return session


@pytest.mark.parametrize("name", EXPORTED)
def test_every_classifier(name):
    model, X = examples()[name]
    check(model, X, texts="counts")


@pytest.mark.parametrize("name", EXPORTED)
def test_files_are_small(name):
    model, _ = examples()[name]
    made = to_onnx(model, texts="counts")
    assert len(made.SerializeToString()) < 30_000
    assert [(own.domain, own.version) for own in made.opset_import] == [
        ("", 16),
        ("ai.onnx.ml", 3),
    ]


# -------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (YES_NO, object),
        (YES_NO.astype(object), object),
        (Y, np.int64),
        (Y.astype(np.uint8), np.int64),
        (Y == 1, np.bool_),
        (Y * 2.0, np.float64),
    ],
)
def test_labels_keep_their_type(labels, dtype):
    model = bs.SparseMultinomialNB(2).fit(COUNTS, labels)
    session = check(model, COUNTS)
    (label,) = session.run(["label"], onnx_inputs(session, COUNTS[:5]))
    assert label.dtype == dtype


def test_other_labels_are_refused():
    model = bs.SparseMultinomialNB(2).fit(COUNTS, Y)
    model.classes_ = np.array([1, "a", None], dtype=object)
    with pytest.raises(ValueError, match="Labels must be strings, integers"):
        to_onnx(model)


def test_of_equal_scores_the_first_class_wins():
    X = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    model = bs.SparseMultinomialNB("all").fit(X, ["b", "a", "b", "a"])
    session = check(model, X)
    (label,) = session.run(["label"], {"X": np.array([[1.0, 1.0], [0.0, 0.0]])})
    assert label.tolist() == ["a", "a"] == model.predict([[1, 1], [0, 0]]).tolist()


# -------------------------------------------------------------------------- inputs


def test_inputs_of_a_table_have_safe_names():
    frame = pd.DataFrame(
        {
            "a b": Y + np.linspace(0, 1, len(Y)),
            "a_b": np.where(Y > 0, "é", "ü"),
            "1": Y * 2.0 + np.linspace(0, 1, len(Y)) ** 2,
            "label": np.where(Y > 1, "u", "v"),
            "für": Y % 2 * 3 + np.linspace(0, 1, len(Y)) ** 3,
        }
    )
    start = [0.5] * 5
    model = bs.SelectiveNB(
        pairs=0, optimizer=bs.weights.VNS(start=start, effort=1), random_state=0
    ).fit(frame, Y)
    used = [list(frame)[j] for j in model.support_indices_]
    session = check(model, frame)
    names = [own.name for own in session.get_inputs()]
    safe = {"a b": "a_b", "a_b": "a_b_2", "1": "_1", "label": "label_2", "für": "f_r"}
    assert names == [safe[name] for name in used]
    check(model, frame[::-1])


def test_strings_stand_for_missing():
    model, table = examples()["selective search"]
    other = table.assign(
        town=["", *table["town"][1:]], mood=table["mood"].astype("str")
    )
    with pytest.raises(ValueError, match="'' stands for missing in this model"):
        onnx_inputs(to_onnx(model), other)
    check(model, other, missing="<none>")
    assert "up" in [v for v in table["mood"] if v]
    with pytest.raises(ValueError, match="Got 'up', a value of column 'mood'"):
        to_onnx(model, missing="up")


def test_values_never_seen():
    model, table = examples()["selective search"]
    nobody = table.assign(
        town="Atlantis", mood=None, code=9, age=np.nan, day=pd.NaT, size=1e300
    )
    check(model, nobody)


def test_numbers_at_the_bounds():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ (np.nan_to_num(X[:, 1]) > 0)
    values = np.unique(X[~np.isnan(X)])
    middle = (values[1:] + values[:-1]) / 2
    edges = np.concatenate(
        [
            *(np.nextafter(own, side) for own in (values, middle) for side in (-9, 9)),
            *(values, middle, [np.nan, 1e308, -1e308, 0.0, -0.0, 5e-324]),
        ]
    )
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions).fit(X, y)
        session = check(model, rng.choice(edges, size=(3000, 3)))
        assert [own.name for own in session.get_inputs()] == ["X"]
        check(model, X, inputs="columns")


def test_times_and_integers_that_doubles_merge():
    rng = np.random.default_rng(1)
    n = 400
    y = rng.integers(2, size=n)
    table = pd.DataFrame(
        {
            "id": 2**60 + rng.integers(0, 100, size=n) + 60 * y,
            "at": pd.Timestamp("2024-05-01").value + rng.integers(0, 100, n) + 60 * y,
            "span": pd.to_timedelta(y * 3.0 + rng.random(n), "s"),
            "far": rng.integers(0, 2**63 - 1, size=n, dtype=np.int64) * (2 * y - 1),
        }
    )
    table["at"] = table["at"].astype("datetime64[ns]")
    for name in table:
        for partitions in ("averaged", "best"):
            model = bs.SelectiveNB(partitions=partitions).fit(table[[name]], y)
            session = check(model, table[[name]])
            integers = session.get_inputs()[0].type == "tensor(int64)"
            assert integers == (name != "far")
    model = bs.SelectiveNB().fit(table[["id"]], y)
    edge = pd.DataFrame({"id": [2**63 - 1, -(2**63) + 1, 0, 2**60, 2**60 + 80]})
    check(model, edge)


@pytest.mark.parametrize("column", ["id", "at"])
def test_integers_without_a_place_are_refused_and_not_taken_for_others(column):
    # The smallest int64 came as missing, 2**64 - 1 as -1, and NaT overflowed.
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=400)
    whole = 2**60 + rng.integers(0, 100, size=400) + 60 * y
    table = pd.DataFrame({"id": whole})
    if column == "at":
        table = pd.DataFrame({"at": whole.view("M8[ns]")})
        coarse = pd.Series(["2006-07-14", None, "1970-01-01"], dtype="datetime64[s]")
        check(bs.SelectiveNB().fit(table, y), coarse.to_frame("at"))
        wrong = [pd.Series(["9999-12-31", None], dtype="datetime64[s]")]
    else:
        wrong = [
            pd.Series([5, -(2**63)]),
            pd.Series([5, -(2**63), None], dtype="Int64"),
            pd.Series([2**64 - 1, 5], dtype=np.uint64),
            pd.Series([5, None, 10**30], dtype=object),
        ]
    onnx_model = to_onnx(bs.SelectiveNB().fit(table, y))
    told = (
        r"must lie between -9223372036854775807 and 9223372036854775807 in ONNX, "
        rf"where .* Got -?\d+ in column '{column}'\."
    )
    for rows in wrong:
        with pytest.raises(ValueError, match=told):
            onnx_inputs(onnx_model, rows.to_frame(column))


@pytest.mark.parametrize("form", ["matrix", "columns"])
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_numbered_categories_that_doubles_do_not_hold(form, kind):
    # 2**53 + 1 is unseen in Python and came as 2**53.
    y = np.array([0, 1] * 50)
    X = np.stack([y * 2**53, y], axis=1)
    make = pd.DataFrame if kind == "frame" else np.array
    model = bs.SelectiveNB(categorical_features=[0]).fit(make(X), y)
    check(model, make(X), inputs=form)
    onnx_model = to_onnx(model, inputs=form)
    for value in (2**53 + 1, -(2**63) + 1):
        X[1, 0] = value
        with pytest.raises(ValueError, match=rf"must be doubles in .* Got {value} in "):
            onnx_inputs(onnx_model, make(X))
    X[1, 0] = -(2**63)
    check(model, make(X), inputs=form)


def test_frames_with_equal_names_are_refused():
    y = np.array([0, 1] * 50)
    named = pd.DataFrame({"a": y, "b": 1 - y})
    words = named.replace({0: "no", 1: "yes"})
    told = r"names must differ\. Got 'a' more than once\."
    for table in (named, words):
        for inputs in ("matrix", "columns") if table is named else ("auto",):
            onnx_model = to_onnx(bs.SelectiveNB().fit(table, y), inputs=inputs)
            twice = pd.concat([table, table[["a"]]], axis=1)
            with pytest.raises(ValueError, match=told):
                onnx_inputs(onnx_model, twice)


def test_float32_is_rounded_and_nothing_else():
    session = session_of(bs.SparseGaussianNB(3).fit(COUNTS, Y), dtype=np.float32)
    assert session.get_inputs()[0].type == "tensor(float)"
    check(bs.SparseGaussianNB(3).fit(COUNTS, Y), COUNTS, dtype="float32")
    model, table = examples()["selective search"]
    rounded = table.assign(
        age=table["age"].astype(np.float32), size=table["size"].astype(np.float32)
    )
    check(model, rounded, dtype=np.float32)


def test_a_million_columns():
    X = np.zeros((4, 1_000_000), dtype=np.int8)
    X[[0, 1], 77] = X[[2, 3], 999_999] = 3
    model = bs.SparseMultinomialNB(2).fit(X, [0, 0, 1, 1])
    session = check(model, X)
    assert len(to_onnx(model).SerializeToString()) < 2_000
    assert session.get_inputs()[0].shape == ["rows", 1_000_000]


def test_nothing_selected():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(60), "b": rng.random(60)})
    y = rng.integers(3, size=60)
    model = bs.SelectiveNB().fit(frame, y)
    assert not model.support_.any()
    assert check(model, frame).get_inputs()[0].shape == ["rows", 2]


def test_many_classes_and_one_feature():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 5)
    X = (y[:, None] + rng.random((300, 1))).round(2)
    for model in (
        bs.SelectiveNB(),
        bs.SparseGaussianNB(1),
        bs.SparseBernoulliNB(1, binarize=30.0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few useful features
            check(model.fit(X, y), X)


# ---------------------------------------------------------------- what cannot be done


def test_rows_that_the_model_refuses_have_no_probabilities():
    cases = [
        (bs.SparseMultinomialNB("all").fit(COUNTS, Y), [-1, np.nan, np.inf]),
        (bs.SparseMultinomialNB("all", alpha=0).fit(COUNTS, Y), [-1, np.nan, np.inf]),
        (bs.SparseBernoulliNB("all").fit(COUNTS, Y), [np.nan, np.inf, -np.inf]),
        (
            bs.SparseBernoulliNB("all", binarize=None).fit(COUNTS > 1, Y),
            [2, -1, np.nan],
        ),
        (bs.SparseGaussianNB("all").fit(COUNTS, Y), [np.nan, np.inf, -np.inf]),
        (bs.SparseCategoricalNB("all").fit(COUNTS, Y), [-1, 0.5, -np.inf]),
        (bs.SelectiveNB(partitions="best").fit(COUNTS, Y), [np.inf, -np.inf]),
    ]
    for model, values in cases:
        session = session_of(model)
        for value in values:
            rows = np.zeros((2, 12))
            rows[1] = value
            with pytest.raises(ValueError, match=r"."):
                model.predict_proba(rows)
            (found,) = session.run(["probabilities"], {"X": rows})
            np.testing.assert_allclose(found[0], model.predict_proba(rows[:1])[0])
            assert np.isnan(found[1]).all(), (model, value)


def test_texts_are_refused_or_counted():
    model = bs.SparseTextNB(4).fit(TEXTS, YES_NO)
    with pytest.raises(ValueError, match="no operator that cuts texts"):
        to_onnx(model)
    session = check(model, TEXTS, texts="counts")
    counts = bs.to_vectorizer(model).transform(TEXTS).toarray().astype(float)
    (found,) = session.run(["probabilities"], {"text": counts})
    np.testing.assert_allclose(found, model.predict_proba(TEXTS), atol=1e-9)
    whole = make_pipeline(CountVectorizer(), bs.SparseBernoulliNB(3)).fit(TEXTS, Y)
    check(whole, TEXTS, texts="counts")


def test_what_has_no_place_in_onnx():
    model, _ = examples()["selective ready-made"]
    with pytest.raises(ValueError, match="ready-made log-likelihoods"):
        to_onnx(model)
    whole = make_pipeline(StandardScaler(), bs.SparseGaussianNB(2)).fit(COUNTS, Y)
    with pytest.raises(ValueError, match="Got a StandardScaler before"):
        to_onnx(whole)
    table = TABLE[["age"]].assign(v=pd.Series([1 if y else "1" for y in Y > 0]))
    model = bs.SelectiveNB(partitions="best", pairs=0).fit(table, Y > 0)
    with pytest.raises(ValueError, match="all strings or all numbers in ONNX"):
        to_onnx(model)
    wrong = [("inputs", "rows"), ("texts", 1), ("dtype", "int8"), ("dtype", "nonsense")]
    for name, value in [*wrong, ("dtype", None), ("dtype", [3]), ("inputs", [3])]:
        with pytest.raises(ValueError, match=f"The '{name}' parameter of to_onnx"):
            to_onnx(examples()["multinomial"][0], **{name: value})
    with pytest.raises(ValueError, match="One matrix needs columns of numbers"):
        to_onnx(examples()["selective search"][0], inputs="matrix")
    with pytest.raises(ValueError, match="needs a model or session of to_onnx"):
        onnx_inputs(object(), COUNTS)


def test_halves_of_surrogate_pairs_have_no_place_in_onnx():
    half = pd.DataFrame({"v": np.array(["\ud800", "b"], dtype=object)[Y % 2]})
    model = bs.SparseCategoricalNB(1).fit(half, Y)
    with pytest.raises(ValueError, match=r"A category .*Got '\\ud800' in column 'v'"):
        to_onnx(model)
    model = bs.SparseMultinomialNB(2).fit(COUNTS, half["v"])
    with pytest.raises(ValueError, match=r"A label .*Got '\\ud800'"):
        to_onnx(model)
    with pytest.raises(ValueError, match=r"'missing' .*Got '\\ud800'"):
        to_onnx(examples()["selective"][0], missing="\ud800")


def test_steps_that_take_columns_are_seen_through():
    model = make_pipeline(SelectKBest(chi2, k=6), bs.SparseMultinomialNB(3))
    check(model.fit(COUNTS, YES_NO), COUNTS)


def test_frames_are_read_by_name():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=90)
    X = pd.DataFrame(rng.poisson(1 + 2 * y[:, None], size=(90, 3)), columns=[*"abc"])
    X["c"] = 9 - X["c"].clip(upper=9)
    for model in (bs.SparseMultinomialNB(3), bs.SparseGaussianNB(2), bs.SelectiveNB()):
        session = session_of(model.fit(X, y))
        moved = X[[*"cba"]].assign(other="word")
        _, found = session.run(None, onnx_inputs(session, moved))
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-9)
        with pytest.raises(ValueError, match="needs the column 'b'"):
            onnx_inputs(session, X.drop(columns="b").assign(d=1))


def test_columns_that_are_not_read_may_hold_anything():
    town = np.array(["Oslo", "Rome"] * 45, dtype=object)
    X = np.array([np.arange(90) // 45 * 5 + np.arange(90) % 7, town], dtype=object).T
    model = bs.SelectiveNB().fit(X, np.arange(90) // 45)
    assert model.support_.tolist() == [True, False]
    check(model, X)
    nothing = bs.SelectiveNB().fit(pd.DataFrame({"town": town}), np.arange(90) // 45)
    check(nothing, pd.DataFrame({"town": town}))


def test_measurements_so_far_out_that_no_class_can_be():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + (np.arange(90) % 3 > 0)[:, None]
    far = np.array([[1e160, 0.0], [-1e300, 1.0], [0.0, 1.0]])
    for variance in ("pooled", "class"):
        model = bs.SparseGaussianNB(1, variance=variance).fit(X, np.arange(90) % 3 > 0)
        with np.errstate(over="ignore"):
            check(model, far)


def test_without_the_extra_it_says_what_to_install():
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import bayesieve\n"
        "try: bayesieve.to_onnx(None)\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "Hint: pip install onnx" in done.stdout


# -------------------------------------------------------------------------- random


@given(
    seed=st.integers(0, 2**32 - 1),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    n_classes=st.integers(2, 4),
    k=st.sampled_from([2, 3, "all"]),
    dtype=st.sampled_from([np.float64, np.float32, np.int16]),
)
@settings(max_examples=30, deadline=None)
def test_random_counts(seed, alpha, n_classes, k, dtype):
    for model, new in fitted_to_counts(seed, n_classes, k, alpha, dtype):
        check(model, new)


@given(seed=st.integers(0, 2**32 - 1), partitions=st.sampled_from(["averaged", "best"]))
@settings(max_examples=12, deadline=None)
def test_random_tables(seed, partitions):
    for model, rows in fitted_to_tables(seed, partitions):
        check(model, rows)


# ----------------------------------------------------------------------- real data


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(own, marks=pytest.mark.slow) for own in TABLES)]
)
def test_real_tables(real_data, name):
    frame = real_data(name)
    y = frame.pop("label")
    frame = frame.drop(columns="split", errors="ignore")
    part = np.random.default_rng(0).permutation(len(frame))[:2000]
    first = part[: len(part) // 2]
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions, time_limit=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of time that is up, of rare labels
            model.fit(frame.iloc[first], y.iloc[first])
        check(model, frame.iloc[part])


@pytest.mark.parametrize("name", ["gene_alon", "gene_khan"])
def test_real_genes(real_data, name):
    frame = real_data(name)
    y = frame.pop("label").to_numpy()
    X = frame.to_numpy(np.float64)
    for variance in ("class", "pooled"):
        check(bs.SparseGaussianNB(20, variance=variance).fit(X, y), X)


@pytest.mark.parametrize("name", ["trec", "sms_spam", "cr", "sst2_sentences"])
def test_real_texts(real_data, name):
    frame = real_data(name).iloc[:4000]
    model = bs.SparseTextNB(60, ngram_range=(1, 2)).fit(frame["text"], frame["label"])
    check(model, frame["text"].tolist(), texts="counts")
