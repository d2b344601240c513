"""Where terms stand in texts: as often as the compiled core counts them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import SparseTextNB
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._spans import term_spans
from bayesieve.text._term_names import TermNames

OPTIONS = [
    {},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "lowercase": False},
    {"stop_words": "english", "ngram_range": (1, 2)},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 2)},
    {"token_pattern": r"\w+"},
    {"token_pattern": r"(?u)\b\w+\b", "ngram_range": (1, 2)},
    {"token_pattern": r"[a-z]+|[!?]", "ngram_range": (1, 2)},
    {"token_pattern": r"#(\w+)"},
    {"token_pattern": r"\w+ \w+"},
    {"token_pattern": r"x*", "ngram_range": (1, 2)},
    {"analyzer": "char", "ngram_range": (1, 4)},
    {"analyzer": "char", "ngram_range": (2, 3), "strip_accents": "unicode"},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
    {"analyzer": "char_wb", "ngram_range": (1, 4), "strip_accents": "ascii"},
]


def check(texts, options, terms):
    """Terms have as many places as the matcher counts, and stand there."""
    options = TextOptions(**options)
    names = TermNames.from_strings(sorted(terms))
    vocabulary = {term: j for j, term in enumerate(names)}
    counted = TermMatcher(names, options).rows(texts, binary=False).toarray()
    for text, expected in zip(texts, counted, strict=True):
        spans = term_spans(text, options, vocabulary)
        found = np.bincount([number for *_, number in spans], minlength=len(names))
        np.testing.assert_array_equal(found, expected)
        assert spans == sorted(spans)
        assert all(0 <= start <= end <= len(text) for start, end, _ in spans)


def some_terms(texts, options, most=400):
    analyze = CountVectorizer(**options).build_analyzer()
    terms = sorted({term for text in texts for term in analyze(text)})
    return terms[:: max(1, len(terms) // most)]


ODD = [
    "",
    " ",
    "Not good, not GOOD!",
    "ΟΔΟΣ Σ ΣΑΣ. ὈΔΥΣΣΕΎΣ",
    "İstanbul İİ \u0131 I",
    "Café naïve ÀÉÎ ŀ ﬁne ﬀ ½ Å e\u0301 q\u0323\u0307",
    "a  b\t\nc   d\u2003\u2003e \x1c\x1d f",
    "#one #two##three xx x",
    "한국어 テスト 中文 分 词",
    "don't  won\u2019t e-mail",
    "ß ẞ Ǆ ﷺ 🎉🎉",
]


@pytest.mark.parametrize("options", OPTIONS)
def test_odd_texts(options):
    terms = some_terms(ODD, options, most=10**6)
    assert terms
    check(ODD, options, [term for term in terms if term])


@pytest.mark.parametrize("options", OPTIONS)
@settings(max_examples=30, deadline=None)
@given(
    text=st.text(st.sampled_from(" \n\u00a0aAbxß\u0301éİΣ\u03c3ς#_1½ﬁ中"), max_size=14)
)
def test_any_text(options, text):
    terms = [term for term in some_terms([text], options, most=10**6) if term]
    if terms:
        check([text], options, terms)


@pytest.mark.parametrize("name", ["sms_spam", "imdb", "thucnews_titles"])
@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2)},
        {"token_pattern": r"\S+"},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (3, 3), "strip_accents": "unicode"},
    ],
)
def test_real_texts(real_data, name, options):
    texts = real_data(name)["text"].sample(40, random_state=0).tolist()
    check(texts, options, some_terms(texts, options))


def test_letters_of_the_text_itself_are_found():
    options = TextOptions(strip_accents="unicode", ngram_range=(1, 2))
    text = "Un CAFÉ noir, ﬁn."
    spans = term_spans(text, options, {"cafe": 0, "cafe noir": 1, "fin": 2})
    assert [(text[a:b], j) for a, b, j in spans] == [
        ("CAFÉ", 0),
        ("CAFÉ noir", 1),
        ("ﬁn", 2),
    ]


def test_spaces_around_words_have_no_place():
    options = TextOptions(analyzer="char_wb", ngram_range=(2, 2))
    text = "go  on"
    spans = term_spans(text, options, {" o": 0, "o ": 1, "go": 2})
    assert [(text[a:b], j) for a, b, j in spans] == [("go", 2), ("o", 1), ("o", 0)]


def test_a_model_says_where_its_terms_stand():
    texts = ["Free prize now", "free CASH", "see you", "see me now"]
    model = SparseTextNB(3).fit(texts, [1, 1, 0, 0])
    text = "SEE: free, Free!"
    found = [(text[a:b], model.support_terms_[j]) for a, b, j in model._spans(text)]
    assert found == [("SEE", "see"), ("free", "free"), ("Free", "free")]
