"""What errors of a class cost: `class_weight` of the weighted classifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import recall_score

from bayesieve import AveragedNB, SelectiveNB, load_model, save_model

MODELS = [SelectiveNB, AveragedNB]


def rare(n=3000, seed=0):
    """Two columns that tell a rare class apart, and one that says nothing."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    X = rng.normal(size=(n, 3))
    X[:, :2] += 1.2 * y[:, None]
    return X, np.where(y, "rare", "usual")


def texts_of(y, seed=0):
    """A note for each row, in which words of the rare class are a little more often."""
    rng = np.random.default_rng(seed)
    filler = ["the", "man", "came", "by", "and", "had", "a", "long", "talk"]
    return [
        " ".join(
            [
                *rng.choice(filler, 6),
                "urgent" if rng.random() < (0.6 if own == "rare" else 0.2) else "calm",
            ]
        )
        for own in y
    ]


def same(a, b, X):
    np.testing.assert_allclose(
        a.predict_proba(X), b.predict_proba(X), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_balanced_finds_more_of_the_rare_class(model):
    X, y = rare()
    new, labels = rare(seed=1)
    plain = model(random_state=0).fit(X, y)
    balanced = model(random_state=0, class_weight="balanced").fit(X, y)
    found = [
        recall_score(labels, own.predict(new), pos_label="rare")
        for own in (plain, balanced)
    ]
    assert found[0] < 0.2
    assert found[1] > 0.65


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "weights", [{"rare": 3, "usual": 3}, {"rare": 1.0}, {"rare": 1, "usual": 1}, {}]
)
def test_equal_weights_are_no_weights(model, weights):
    X, y = rare()
    same(
        model(random_state=0).fit(X, y),
        model(random_state=0, class_weight=weights).fit(X, y),
        X,
    )


def test_only_ratios_matter():
    X, y = rare()
    same(
        SelectiveNB(class_weight={"rare": 8}).fit(X, y),
        SelectiveNB(class_weight={"rare": 2.0, "usual": 0.25}).fit(X, y),
        X,
    )


def test_balanced_is_a_dict_of_the_inverse_counts():
    X, y = rare()
    labels, counts = np.unique(y, return_counts=True)
    inverse = dict(zip(labels.tolist(), (y.size / 2 / counts).tolist(), strict=True))
    same(
        SelectiveNB(class_weight="balanced").fit(X, y),
        SelectiveNB(class_weight=inverse).fit(X, y),
        X,
    )


@pytest.mark.parametrize("model", MODELS)
def test_partitions_and_tables_are_those_of_the_rows(model):
    X, y = rare()
    plain = model(random_state=0).fit(X, y)
    weighted = model(random_state=0, class_weight="balanced").fit(X, y)
    np.testing.assert_array_equal(plain.class_count_, weighted.class_count_)
    np.testing.assert_array_equal(plain.levels_, weighted.levels_)
    for a, b in zip(plain.partitions_, weighted.partitions_, strict=True):
        np.testing.assert_array_equal(a.counts, b.counts)
        assert a.table() == b.table()


@pytest.mark.parametrize("model", MODELS)
def test_without_information_the_prior_is_the_weighted_one(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.repeat([0, 1, 2], [300, 80, 20])
    rng.shuffle(X)
    fitted = model(class_weight={2: 10.0, 1: 2.0}).fit(X, y)
    assert not fitted.weights_.any()
    share = np.array([300.0, 160.0, 200.0]) / 660.0
    np.testing.assert_allclose(fitted.class_log_prior_, np.log(share), rtol=1e-12)
    np.testing.assert_allclose(
        fitted.predict_joint_log_proba(X[:1]), [np.log(share)], rtol=1e-12
    )
    # The last smoothing: half a row of 400 over three classes.
    part = 0.5 / 401.0
    np.testing.assert_allclose(
        fitted.predict_proba(X[:1]), [(share + part / 3) / (1 + part)], rtol=1e-12
    )
    even = model(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(even.predict_proba(X[:1]), [[1 / 3] * 3], rtol=1e-12)


def test_sample_weights_multiply():
    X, y = rare()
    heavy = np.where(np.arange(y.size) % 3 == 0, 2.0, 1.0)
    again = np.repeat(np.arange(y.size), heavy.astype(int))
    for given in ("balanced", {"rare": 7.0}):
        same(
            SelectiveNB(class_weight=given).fit(X, y, sample_weight=heavy),
            SelectiveNB(class_weight=given).fit(X[again], y[again]),
            X,
        )


def test_the_criterion_counts_rows_by_their_class():
    # With one column whose weight is 1, the criterion is computed by hand.
    X, y = rare(400)
    model = SelectiveNB(
        class_weight={"rare": 4.0}, regularization=0.0, partitions="best"
    ).fit(X, y)
    scores = model.predict_joint_log_proba(X)
    posterior = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    own = posterior[np.arange(y.size), (y == "usual").astype(int)]
    weight = np.where(y == "rare", 4.0, 1.0)
    weight *= y.size / weight.sum()
    assert model.criterion_ == pytest.approx(-float(weight @ own), rel=1e-9)


def test_with_texts():
    X, y = rare(800)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(note=texts_of(y))
    plain = SelectiveNB(text_features=["note"]).fit(table, y)
    equal = SelectiveNB(
        text_features=["note"], class_weight={"rare": 5, "usual": 5}
    ).fit(table, y)
    same(plain, equal, table)
    # Best partitions: averaged ones are fitted with each row left out.
    balanced = SelectiveNB(
        text_features=["note"], class_weight="balanced", partitions="best"
    )
    balanced.fit(table, y)
    assert balanced.text_terms_["note"]
    found = [
        recall_score(y, own.predict(table), pos_label="rare")
        for own in (plain, balanced)
    ]
    assert found[0] < 0.4
    assert found[1] > 0.75
    # Intercepts are fitted with the weights: the mean probability of each class is then
    # its share of the weighted rows, up to the tolerance of the fit.
    weight = np.where(y == "rare", 1 / (y == "rare").sum(), 1 / (y == "usual").sum())
    mean = weight @ balanced.predict_proba(table) / weight.sum()
    np.testing.assert_allclose(mean, [0.5, 0.5], atol=0.01)


def test_ready_made_log_likelihoods():
    rng = np.random.default_rng(0)
    logs = rng.normal(size=(500, 4, 2))
    y = (rng.random(500) < 0.1).astype(int)
    model = SelectiveNB(input="log_likelihood", class_weight="balanced").fit(logs, y)
    np.testing.assert_allclose(model.class_log_prior_, np.log([0.5, 0.5]), rtol=1e-12)
    ones = SelectiveNB(input="log_likelihood", class_weight={0: 2, 1: 2}).fit(logs, y)
    same(SelectiveNB(input="log_likelihood").fit(logs, y), ones, logs)


@pytest.mark.parametrize("with_texts", [False, True])
def test_a_stream(with_texts):
    X, y = rare(2000)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    if with_texts:
        table["note"] = texts_of(y)
    models = [
        SelectiveNB(class_weight=given, text_features=["note"] if with_texts else None)
        for given in (None, {"rare": 6, "usual": 6}, {"rare": 19})
    ]
    for model in models:
        for start in range(0, 2000, 500):
            rows = slice(start, start + 500)
            model.partial_fit(table[rows], y[rows], classes=["rare", "usual"])
    plain, equal, dear = models
    same(plain, equal, table)
    np.testing.assert_array_equal(plain.class_count_, dear.class_count_)
    rare_rows, usual_rows = plain.class_count_
    share = 19 * rare_rows / (19 * rare_rows + usual_rows)
    np.testing.assert_allclose(
        np.exp(dear.class_log_prior_), [share, 1 - share], rtol=1e-12
    )
    found = [
        recall_score(y, own.predict(table), pos_label="rare") for own in (plain, dear)
    ]
    assert found[0] < 0.4
    assert found[1] > 0.7
    dear.refresh()
    np.testing.assert_allclose(np.exp(dear.class_log_prior_).sum(), 1.0, rtol=1e-12)


def test_a_class_that_has_not_come_yet():
    X, y = rare(200)
    model = SelectiveNB(class_weight={"other": 5.0})
    model.partial_fit(X, y, classes=["other", "rare", "usual"])
    assert np.isfinite(model.class_log_prior_).all()
    assert "other" not in model.predict(X)


def test_balanced_is_for_fit():
    X, y = rare(300)
    model = SelectiveNB(class_weight="balanced")
    sentence = "^The 'class_weight' parameter of SelectiveNB must be a dict or None"
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y).partial_fit(X, y)
    model = SelectiveNB().partial_fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        model.set_params(class_weight="balanced").refresh()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"none": 2.0}, r"must name classes of y, which are \['rare', 'usual'\]"),
        ({"rare": 0.0}, "must hold finite numbers > 0. Got 0.0 for class 'rare'."),
        ({"rare": -1}, "must hold finite numbers > 0. Got -1 for class 'rare'."),
        ({"rare": np.inf}, "must hold finite numbers > 0. Got inf"),
        ({"rare": "2"}, "must hold finite numbers > 0. Got '2'"),
        ("even", "class_weight"),
    ],
)
def test_weights_that_cannot_be(model, given, said):
    X, y = rare(200)
    with pytest.raises(ValueError, match=said):
        model(class_weight=given).fit(X, y)


def test_a_refused_weight_leaves_the_stream_as_it_was():
    X, y = rare(600)
    model = SelectiveNB().partial_fit(X[:300], y[:300])
    model.set_params(class_weight={"none": 2.0})
    with pytest.raises(ValueError, match="must name classes of y"):
        model.partial_fit(X[300:], y[300:])
    model.set_params(class_weight=None)
    model.partial_fit(X[300:], y[300:])
    whole = SelectiveNB().partial_fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    assert model.n_rows_seen_ == whole.n_rows_seen_ == 600
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["names", "integers", "booleans"])
def test_in_a_file(model, kind, tmp_path):
    X, y = rare(500)
    first, second = {"names": ("rare", "usual"), "integers": (3, 7)}.get(
        kind, (False, True)
    )
    labels = np.where(y == "rare", first, second)
    fitted = model(class_weight={first: 12.0, second: 0.5}).fit(X, labels)
    save_model(fitted, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.class_weight == fitted.class_weight
    assert [type(key) for key in loaded.class_weight] == [type(first)] * 2
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_the_description_tells_of_it():
    X, y = rare(500)
    plain = SelectiveNB().fit(X, y)._describe().detail
    weighted = SelectiveNB(class_weight="balanced").fit(X, y)._describe().detail
    assert "class_weight" not in plain
    assert "nats, rows weighed by class_weight." in weighted
