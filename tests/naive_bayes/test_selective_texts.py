"""Texts beside numbers and categories: one model, one set of weights."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss
from sklearn.naive_bayes import MultinomialNB
from tests.naive_bayes.text_tables import reviews

from bayesieve import SelectiveNB
from bayesieve._description import describe
from bayesieve.inspection import FeatureWeightsDisplay, collect_report, render_report
from bayesieve.persistence import load_model, save_model

NEW, NEW_Y = reviews(3000, seed=99)


def loss_of(model, frame=NEW, y=NEW_Y):
    return log_loss(y, model.predict_proba(frame))


@pytest.fixture(scope="module")
def fitted():
    return SelectiveNB(pairs=0).fit(*reviews(1000))


# ------------------------------------------------------------------------ one model


def test_texts_are_found_and_their_ngrams_have_weights(fitted):
    assert fitted._reader.text.tolist() == [True, False, False]
    terms = fitted.text_terms_["review"]
    assert terms == sorted(terms)
    assert {"great", "awful", "lovely", "dull"} <= set(terms)
    assert not {"the", "with", "and"} & set(terms)
    weights = fitted.text_weights_["review"]
    assert ((weights > 0) & (weights <= 1)).all()
    assert fitted.weights_.shape == (3,)
    assert fitted.weights_[0] == weights.max()
    assert fitted.support_.tolist() == [True, True, True]
    assert fitted.text_options_["review"]["analyzer"] == "word"
    assert fitted.text_penalty_ > 0
    assert fitted.stopped_ == "converged"


def test_both_together_beat_either_alone(fitted):
    frame, y = reviews(1000)
    text = SelectiveNB().fit(frame[["review"]], y)
    columns = SelectiveNB().fit(frame[["price", "shop"]], y)
    both = loss_of(fitted)
    assert both < loss_of(text, NEW[["review"]]) - 0.05
    assert both < loss_of(columns, NEW[["price", "shop"]]) - 0.05


@pytest.mark.parametrize("noise", ["text", "columns"])
def test_noise_beside_what_tells_costs_next_to_nothing(noise):
    own = {noise: False}
    frame, y = reviews(1000, **own)
    new, new_y = reviews(3000, seed=99, **own)
    told = ["price", "shop"] if noise == "text" else ["review"]
    both = SelectiveNB().fit(frame, y)
    alone = SelectiveNB().fit(frame[told], y)
    assert loss_of(both, new, new_y) <= loss_of(alone, new[told], new_y) + 0.01
    assert both.support_[1:].any() == (noise == "text")


def test_scores_are_those_of_the_formula(fitted):
    """Intercepts, log-likelihoods of parts, and counts times log theta."""
    rows = NEW.iloc[:50]
    text = fitted._texts[0]
    vectorizer = CountVectorizer(vocabulary=fitted.text_terms_["review"])
    counts = vectorizer.transform(rows["review"])
    expected = np.tile(fitted.class_intercept_, (50, 1))
    expected += counts @ (text.weights[:, None] * text.ngrams.slope)
    price, shop = (own.bins for own in fitted.shapes_[1:])
    below = np.searchsorted(price.parts.bounds, rows["price"], side="left")
    own = shop.assign_levels(np.arange(50), rows["shop"].tolist())
    for j, parts, table in zip((1, 2), (below, own), fitted._used_tables, strict=True):
        expected += fitted.weights_[j] * table[parts]
    np.testing.assert_allclose(
        fitted.predict_joint_log_proba(rows), expected, rtol=1e-10, atol=1e-10
    )


def test_theta_is_that_of_multinomial_naive_bayes(fitted):
    frame, y = reviews(1000)
    vectorizer = CountVectorizer()
    plain = MultinomialNB().fit(vectorizer.fit_transform(frame["review"]), y)
    names = vectorizer.get_feature_names_out().tolist()
    at = [names.index(term) for term in fitted.text_terms_["review"]]
    logs = plain.feature_log_prob_[:, at]
    np.testing.assert_allclose(
        fitted._texts[0].ngrams.slope.T, logs - logs.mean(axis=0), atol=1e-12
    )


def test_the_weights_are_the_optimum(fitted):
    """No weight can be moved for the better, nor any intercept."""
    frame, y = reviews(300)
    model = SelectiveNB(feature_cost={"review": 5.0}).fit(frame, y)

    def criterion(model):
        joint = model.predict_joint_log_proba(frame)
        joint = joint - joint.max(axis=1, keepdims=True)
        own = joint[np.arange(y.size), np.searchsorted(model.classes_, y)]
        return float((np.log(np.exp(joint).sum(axis=1)) - own).sum())

    start = criterion(model)
    # What a penalty of all terms adds; the gap of the solver is 3e-4 of the null NLL.
    spare = 3e-4 * y.size * np.log(2)
    penalty = model.text_penalty_
    for j in range(min(5, model._texts[0].weights.size)):
        for step in (-0.05, 0.05):
            moved = pickle.loads(pickle.dumps(model))
            w = moved._texts[0].weights
            new = min(max(w[j] + step, 0.0), 1.0)
            change = penalty * (new - w[j])
            w[j] = new
            assert criterion(moved) + change >= start - spare
    for c in range(2):
        moved = pickle.loads(pickle.dumps(model))
        moved.class_intercept_[c] += 0.1
        assert criterion(moved) > start


def test_three_classes():
    frame, y = reviews(900, n_classes=3)
    model = SelectiveNB().fit(frame, y)
    new, new_y = reviews(2000, n_classes=3, seed=5)
    assert model.score(new, new_y) > 0.7
    assert model.predict_proba(new).shape == (2000, 3)
    towards = dict(
        zip(describe(model).names, describe(model).towards.tolist(), strict=True)
    )
    assert towards['review: "great"'] == "good"
    assert towards['review: "tame"'] == "so-so"
    assert towards["price"] is None


def with_title(n_rows, seed):
    """Reviews with a second text of the same class."""
    frame, y = reviews(n_rows, seed=seed)
    more, classes = reviews(n_rows, seed=seed + 1)
    titles = np.empty(n_rows, dtype=object)
    titles[np.argsort(y, kind="stable")] = more["review"].to_numpy()[
        np.argsort(classes, kind="stable")
    ]
    return frame[["review"]].assign(title=titles), y


def test_several_text_columns():
    frame, y = with_title(800, 0)
    model = SelectiveNB().fit(frame, y)
    assert set(model.text_terms_) == {"review", "title"}
    assert all(len(terms) > 4 for terms in model.text_terms_.values())
    new, new_y = with_title(2000, 10)
    for name in frame:
        alone = SelectiveNB().fit(frame[[name]], y)
        assert loss_of(model, new, new_y) < loss_of(alone, new[[name]], new_y) - 0.05


def test_at_most_k_columns_and_ngrams():
    frame, y = reviews(1000)
    for k in (1, 4, 9):
        model = SelectiveNB(k=k).fit(frame, y)
        used = sum(map(len, model.text_terms_.values()))
        assert used + model.support_[1:].sum() == k
        assert describe(model).total == k
    losses = [loss_of(SelectiveNB(k=k).fit(frame, y)) for k in (1, 4, 12)]
    assert all(more < less for less, more in pairwise(losses))


def test_an_exponent_below_one_gives_fewer():
    frame, y = reviews(600)
    usual = SelectiveNB().fit(frame, y)
    fewer = SelectiveNB(exponent=0.5).fit(frame, y)
    assert len(fewer.text_terms_["review"]) <= len(usual.text_terms_["review"])
    assert loss_of(fewer) < 0.6


# ------------------------------------------------------------------- what comes in


def test_frames_and_arrays_of_any_library_agree(fitted):
    polars = pytest.importorskip("polars")
    frame, y = reviews(1000)
    expected = fitted.predict_proba(NEW)
    other = SelectiveNB(pairs=0).fit(polars.from_pandas(frame), y)
    np.testing.assert_array_equal(
        other.predict_proba(polars.from_pandas(NEW)), expected
    )
    array = SelectiveNB(pairs=0).fit(frame.to_numpy(dtype=object), y)
    np.testing.assert_array_equal(
        array.predict_proba(NEW.to_numpy(dtype=object)), expected
    )
    assert list(array.text_terms_) == ["x0"]
    # Columns are matched by name, in whatever order they come.
    np.testing.assert_array_equal(
        fitted.predict_proba(NEW[["shop", "review", "price"]]), expected
    )


def test_missing_texts_are_empty_texts():
    frame, y = reviews(600)
    gone = frame.copy()
    gone.loc[::7, "review"] = None
    empty = frame.copy()
    empty.loc[::7, "review"] = ""
    a, b = SelectiveNB().fit(gone, y), SelectiveNB().fit(empty, y)
    np.testing.assert_array_equal(a.predict_proba(gone), b.predict_proba(empty))
    nothing = NEW.assign(review=np.nan)
    np.testing.assert_array_equal(
        a.predict_proba(nothing), a.predict_proba(NEW.assign(review=""))
    )


@pytest.mark.parametrize(
    "named", [["review"], [0], [True, False, False], np.array([0]), "review"]
)
def test_text_columns_can_be_named(named):
    frame, y = reviews(200)
    model = SelectiveNB(text_features=named).fit(frame, y)
    assert list(model.text_terms_) == ["review"]


@pytest.mark.parametrize("none", [None, []])
def test_without_texts_everything_is_as_before(none):
    frame, y = reviews(300)
    model = SelectiveNB(text_features=none).fit(frame, y)
    assert model.text_terms_ == {}
    assert not hasattr(model, "class_intercept_")
    columns = SelectiveNB().fit(frame[["price", "shop"]], y)
    np.testing.assert_array_equal(model.weights_[1:] > 0, columns.weights_ > 0)


def test_categories_by_dtype_or_by_name_are_no_texts():
    frame, y = reviews(200)
    declared = SelectiveNB(categorical_features=["review"]).fit(frame, y)
    assert declared.text_terms_ == {}
    by_dtype = SelectiveNB().fit(frame.astype({"review": "category"}), y)
    assert by_dtype.text_terms_ == {}


def test_options_of_texts():
    frame, y = reviews(500)
    model = SelectiveNB(
        text_options={"ngram_range": (1, 2), "min_df": 3, "stop_words": ["great"]}
    ).fit(frame, y)
    terms = model.text_terms_["review"]
    assert "great" not in terms
    assert model.text_options_["review"]["ngram_range"] == (1, 2)
    assert model._texts[0].ngrams.n_distinct < 500


def test_chinese_texts_are_cut_into_characters():
    rng = np.random.default_rng(0)
    words = ["很好", "喜欢", "满意", "很差", "失望", "退货"]
    y = np.arange(120) % 2
    texts = [
        "".join(rng.choice(list("的是在了我有和人这中大"), 8)) + words[3 * c + i % 3]
        for i, c in enumerate(y)
    ]
    model = SelectiveNB().fit(pd.DataFrame({"评论": texts, "n": rng.random(120)}), y)
    assert model.text_options_["评论"]["analyzer"] == "char"
    assert model.score(pd.DataFrame({"评论": texts, "n": rng.random(120)}), y) > 0.9


def test_texts_without_any_term():
    y = np.arange(40) % 2
    frame = pd.DataFrame({"t": ["a b c"] * 40, "n": y + 0.0})
    model = SelectiveNB(text_features=["t"]).fit(frame, y)
    assert model.text_terms_ == {"t": []}
    assert model.weights_[0] == 0
    assert model.score(frame, y) == 1.0


def test_a_few_rows_are_enough():
    frame = pd.DataFrame({"t": ["one good film", "one bad film here"], "n": [1.0, 2.0]})
    model = SelectiveNB().fit(frame, [0, 1])
    assert model.predict_proba(frame).shape == (2, 2)
    often = SelectiveNB(text_options={"min_df": 10}).fit(frame, [0, 1])
    assert often.text_terms_ == {"t": []}


def test_a_weight_of_two_is_the_same_row_twice():
    """With a given cost: folds of repeated rows would be other folds."""
    frame, y = reviews(300)
    weight = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    options = {"feature_cost": {"review": 2.0}, "text_options": {"min_df": 2}}
    weighted = SelectiveNB(**options).fit(frame, y, sample_weight=weight)
    again = np.repeat(np.arange(300), weight.astype(int))
    repeated = SelectiveNB(**options).fit(frame.iloc[again], y[again])
    assert weighted.text_terms_ == repeated.text_terms_
    np.testing.assert_allclose(
        weighted.predict_proba(NEW), repeated.predict_proba(NEW), atol=2e-3
    )


def test_costs_of_texts_are_the_users_to_give():
    frame, y = reviews(500)
    cheap, dear = (
        SelectiveNB(feature_cost={"review": cost}).fit(frame, y) for cost in (0, 500.0)
    )
    assert len(dear.text_terms_["review"]) < len(cheap.text_terms_["review"])
    # regularization * (ln V - 1 + cost)
    distinct = cheap._texts[0].ngrams.n_distinct
    assert cheap.text_penalty_ == pytest.approx(0.1 * (np.log(distinct) - 1.0))
    free = SelectiveNB(regularization=0.0).fit(frame, y)
    assert free.text_penalty_ == 0.0
    assert len(free.text_terms_["review"]) > len(cheap.text_terms_["review"])


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (
            {"categorical_features": ["review"], "text_features": ["review"]},
            r"not both\. Got column 'review' in both",
        ),
        ({"text_features": ["nothing"]}, r"text_features must be 'auto'.*'nothing'"),
        ({"text_features": "nothing"}, r"text_features must be 'auto'.*'nothing'"),
        ({"text_features": [True, False]}, r"mask of text_features must have 3"),
        ({"text_features": ["price"]}, r"must hold strings.*row 0 of column 'price'"),
        ({"text_options": {"ngrams": (1, 2)}}, r"keys among analyzer.*Got 'ngrams'"),
        ({"text_options": {"analyzer": "words"}}, r"'analyzer'.*Got 'words'"),
        ({"text_options": {"min_df": -1}}, r"'min_df'.*Got -1"),
        ({"optimizer": "vns"}, r"'auto' or 'convex'.*Got 'vns'.*text_features=None"),
        ({"exponent": 2.0}, r"at most 1.*Got 2\.0"),
    ],
)
def test_what_cannot_be_is_refused(parameters, told):
    frame, y = reviews(60)
    with pytest.raises(ValueError, match=told):
        SelectiveNB(**parameters).fit(frame, y)


def test_clones_and_parameters():
    model = SelectiveNB(text_features=["review"], text_options={"min_df": 2})
    again = clone(model)
    assert again.get_params()["text_options"] == {"min_df": 2}
    assert again.text_features == ["review"]
    frame, y = reviews(100)
    assert again.fit(frame, y).text_options == {"min_df": 2}


def test_the_clock_and_the_callback_end_the_search():
    frame, y = reviews(400)
    for ended in (
        SelectiveNB(time_limit=0.0).fit(frame, y),
        SelectiveNB(callback=lambda state: True).fit(frame, y),
    ):
        assert ended.stopped_ in ("time", "callback")
        assert np.isfinite(ended.predict_proba(NEW)).all()


# ----------------------------------------------------------- descriptions and files


def test_ngrams_are_listed_beside_columns(fitted):
    found = describe(fitted)
    names = found.names
    assert names[:2] == ["price", "shop"]
    assert 'review: "great"' in names
    assert "review" not in names
    np.testing.assert_allclose(
        found.score[2:].sum(), fitted.feature_importances_[0], rtol=1e-12
    )
    assert found.weights.shape == (1, len(names))
    assert f"{len(names) - 2:,} of" in found.sentence
    html = fitted._repr_html_()
    assert "review: &quot;" in html
    assert "speaks for" in html
    report = collect_report(fitted, data_name="reviews")
    assert any('"great", for good' in name for name in report.names)
    assert "review" in render_report(report)
    ticks = FeatureWeightsDisplay.from_estimator(fitted).ax_.get_yticklabels()
    assert any("review:" in tick.get_text() for tick in ticks)


def test_the_sentence_of_a_model_says_what_is_used():
    frame, y = reviews(300)
    alone = SelectiveNB().fit(frame[["review"]], y)
    n_terms = len(alone.text_terms_["review"])
    assert describe(alone).sentence.startswith(f"{n_terms} of ")
    assert "columns" not in describe(alone).sentence
    nothing = SelectiveNB().fit(*reviews(300, text=False, columns=False))
    assert describe(nothing).sentence == (
        "No column and no n-gram says anything about the label."
    )


def test_a_saved_model_is_the_same(fitted, tmp_path):
    save_model(fitted, tmp_path / "m.model")
    again = load_model(tmp_path / "m.model")
    np.testing.assert_array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))
    assert again.text_terms_ == fitted.text_terms_
    assert again.text_options_ == fitted.text_options_
    assert describe(again).names == describe(fitted).names
    np.testing.assert_array_equal(
        again.feature_importances_, fitted.feature_importances_
    )


def test_a_pickled_model_is_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))


def test_a_new_fit_forgets_the_texts():
    frame, y = reviews(200)
    model = SelectiveNB().fit(frame, y)
    model.fit(frame[["price", "shop"]], y)
    assert model.text_terms_ == {}
    assert not hasattr(model, "text_penalty_")
    model.predict(frame[["price", "shop"]])
