"""Names for features of a matrix that has none."""

from __future__ import annotations

import pytest
from tests.naive_bayes.wide_examples import word_counts

from bayesieve import (
    DiscountDisplay,
    FeatureWeightsDisplay,
    SelectiveMultinomialNB,
    WeightPathDisplay,
)

DISPLAYS = [DiscountDisplay, FeatureWeightsDisplay, WeightPathDisplay]


@pytest.mark.parametrize("display", DISPLAYS)
def test_names_may_be_given_with_the_picture(display):
    X, y = word_counts(0)
    model = SelectiveMultinomialNB(k=5).fit(X, y)
    names = [f"word{i}" for i in range(X.shape[1])]
    drawn = display.from_estimator(model, feature_names=names)
    drawn.figure_.draw_without_rendering()
    shown = [text.get_text() for text in drawn.ax_.texts]
    shown += [text.get_text() for text in drawn.ax_.get_yticklabels()]
    assert any(text.startswith("word") for text in shown)
    with pytest.raises(ValueError, match="must name each of the 200 features"):
        display.from_estimator(model, feature_names=names[:3])
