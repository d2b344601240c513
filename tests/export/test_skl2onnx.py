"""Pipelines that skl2onnx converts, run by onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tests.persistence.models import COUNTS, TEXTS, YES_NO, Y

import bayesieve as bs
from bayesieve.export import register_onnx

skl2onnx = pytest.importorskip("skl2onnx", reason="the extra onnx is not installed")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

F = COUNTS.astype(np.float64)
PIPELINES = [
    (StandardScaler(), bs.SparseGaussianNB(3)),
    (MinMaxScaler(), bs.SparseMultinomialNB(3)),
    (StandardScaler(), bs.SparseBernoulliNB(3)),
    (bs.NaiveFeatureSelector(5), bs.SparseMultinomialNB(3)),
    (bs.NaiveFeatureSelector(5), bs.SparseCategoricalNB(3)),
    (StandardScaler(), bs.SelectiveNB()),
    (StandardScaler(), bs.AveragedNB(random_state=0)),
    (StandardScaler(), bs.FDRScreener(0.5, binarize=0.0), bs.SparseGaussianNB(2)),
    (MinMaxScaler(), bs.SelectiveMultinomialNB(k=3)),
    (MinMaxScaler(), bs.SelectiveBernoulliNB(regularization=3.0)),
    (bs.SparseMultinomialNBCV([2, 4], cv=3),),
]


def run(model, X, *, types=None, **options):
    register_onnx()
    made = skl2onnx.to_onnx(
        model,
        None if types else X[:1],
        initial_types=types,
        options={"zipmap": False},
        **options,
    )
    session = ort.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    rows = np.array(X, dtype=object)[:, None] if types else X
    return session.run(None, {session.get_inputs()[0].name: rows})


@pytest.mark.parametrize("labels", [YES_NO, Y, Y == 1], ids=["str", "int", "bool"])
@pytest.mark.parametrize("steps", PIPELINES, ids=repr)
def test_pipelines(steps, labels):
    model = make_pipeline(*steps).fit(F, labels)
    label, found = run(model, F)
    np.testing.assert_allclose(found, model.predict_proba(F), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(label, model.predict(F))


@pytest.mark.parametrize("opset", [13, 15, 18, 21])
def test_opsets(opset):
    for steps in PIPELINES[:6]:
        model = make_pipeline(*steps).fit(F, Y)
        _, found = run(model, F, target_opset={"": opset, "ai.onnx.ml": 3})
        np.testing.assert_allclose(found, model.predict_proba(F), rtol=0, atol=1e-9)


def test_float32_in_is_float32_out():
    model = make_pipeline(MinMaxScaler(), bs.SparseMultinomialNB(3)).fit(F, Y)
    _, found = run(model, F.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, model.predict_proba(F), rtol=0, atol=1e-6)


def test_zipmaps():
    model = make_pipeline(StandardScaler(), bs.SparseGaussianNB(3)).fit(F, YES_NO)
    register_onnx()
    rows = F[:9].astype(np.float32)  # onnxruntime's ZipMap takes no doubles
    made = skl2onnx.to_onnx(model, rows)
    session = ort.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, found = session.run(None, {"X": rows})
    assert label.tolist() == model.predict(F[:9]).tolist()
    maps = [[own["no"], own["yes"]] for own in found]
    np.testing.assert_allclose(maps, model.predict_proba(F[:9]), atol=1e-6)


def test_inside_a_column_transformer():
    steps = ColumnTransformer(
        [("a", StandardScaler(), [0, 3]), ("b", "passthrough", [1])]
    )
    model = make_pipeline(steps, bs.SparseGaussianNB(2)).fit(F, Y)
    _, found = run(model, F)
    np.testing.assert_allclose(found, model.predict_proba(F), rtol=0, atol=1e-9)


@pytest.mark.parametrize("own", [bs.SparseMultinomialNB(3), bs.SparseBernoulliNB(3)])
def test_texts_are_cut_by_skl2onnx(own):
    # ASCII in small letters: there its rules and Python's agree. Others need a locale
    # of the machine.
    texts = [text.replace("für", "fur").replace("日本", "jp") for text in TEXTS]
    vectorizer = CountVectorizer(lowercase=False)
    model = make_pipeline(vectorizer, own).fit(texts, YES_NO)
    string = skl2onnx.common.data_types.StringTensorType([None, 1])
    label, found = run(model, texts, types=[("text", string)])
    np.testing.assert_allclose(found, model.predict_proba(texts), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(label, model.predict(texts))


def test_what_it_cannot_convert():
    model = make_pipeline(StandardScaler(), bs.SparseGaussianNB(2)).fit(F, Y * 2.0)
    with pytest.raises(ValueError, match="labels that are strings, integers or bool"):
        run(model, F)
    register_onnx()
    string = skl2onnx.common.data_types.StringTensorType([None, 1])
    text = bs.SparseTextNB(3).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="needs one tensor of numbers in skl2onnx"):
        skl2onnx.to_onnx(text, initial_types=[("text", string)])
