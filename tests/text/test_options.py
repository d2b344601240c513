"""Options: checked when made, and the same as CountVectorizer's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve.text._options import TextOptions


def test_defaults_are_those_of_countvectorizer():
    theirs = CountVectorizer().get_params()
    for name, value in TextOptions().vectorizer().items():
        assert theirs[name] == value
    more = TextOptions(ngram_range=(1, 2)).vectorizer(vocabulary=["a"])
    assert CountVectorizer(**more).get_params()["ngram_range"] == (1, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"analyzer": "words"}, "'analyzer' .* Got 'words'"),
        ({"ngram_range": (2, 1)}, "'ngram_range'"),
        ({"ngram_range": (0, 1)}, "'ngram_range'"),
        ({"ngram_range": (1, 1.5)}, "'ngram_range'"),
        ({"ngram_range": 2}, "'ngram_range' .* Got 2"),
        ({"lowercase": "yes"}, "'lowercase'"),
        ({"binary": 1}, "'binary'"),
        ({"strip_accents": "all"}, "'strip_accents'"),
        ({"token_pattern": "("}, "regular expression"),
        ({"token_pattern": None}, "'token_pattern'"),
        ({"token_pattern": "(a)(b)"}, "more than one group"),
        ({"stop_words": "french"}, "'stop_words' .* 'english', a set"),
        ({"stop_words": [1]}, "'stop_words'"),
    ],
)
def test_wrong_options(wrong, message):
    with pytest.raises(ValueError, match=message):
        TextOptions(**wrong)


def test_options_are_tidied_compared_and_pickled():
    options = TextOptions(
        ngram_range=[np.int64(1), 2], stop_words=["b", "a"], binary=np.True_
    )
    same = TextOptions(
        ngram_range=(1, 2), stop_words=frozenset(["a", "b"]), binary=True
    )
    assert options == same
    assert hash(options) == hash(same)
    assert options.plan is options.plan
    again = pickle.loads(pickle.dumps(options))
    assert again == options
    assert again.words_of("x Aa bb") == options.words_of("x Aa bb") == ["aa", "bb"]


def test_which_patterns_are_compiled():
    for pattern in (r"(?u)\b\w\w+\b", r"\b\w\w+\b", r"\w+", r"(?u)\b\w+\b"):
        assert TextOptions(token_pattern=pattern).is_compiled
    assert not TextOptions(token_pattern=r"\S+").is_compiled
    assert TextOptions(token_pattern=r"\S+", analyzer="char").is_compiled
