"""Words of ASCII text, found in blocks of 64 characters, against `re`."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from tests.oracle.text_oracle import count_text

from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames


def words_of(text, shortest):
    return [w for w in re.findall(r"\w+", text.lower()) if len(w) >= shortest]


def random_texts(seed, count=400):
    """Runs of all lengths, so that blocks end everywhere in words and between them."""
    rng = np.random.default_rng(seed)
    letters = np.array([chr(c) for c in range(128)])
    word = np.array([c.isalnum() or c == "_" for c in letters])
    texts = []
    for _ in range(count):
        pieces, inside = [], bool(rng.integers(2))
        while sum(map(len, pieces)) < rng.integers(0, 260):
            size = int(rng.choice([1, 2, 3, 7, 62, 63, 64, 65, 130]))
            pieces.append("".join(rng.choice(letters[word == inside], size)))
            inside = not inside
        texts.append("".join(pieces))
    return texts


@pytest.mark.parametrize("shortest", [1, 2])
def test_words_at_every_place_of_a_block(shortest):
    options = TextOptions(token_pattern=r"\w\w+" if shortest == 2 else r"\w+")
    texts = random_texts(shortest)
    texts += [
        " " * before + "a" * size
        for before in (0, 1, 62, 63, 64)
        for size in (0, 1, 2, 63, 64, 65, 127, 128, 129)
    ]
    found = count_text(texts, [0] * len(texts), 1, options)
    expected = Counter(w for text in texts for w in words_of(text, shortest))
    assert found.feature_names.tolist() == sorted(expected)
    assert found.feature_count[0].tolist() == [expected[w] for w in sorted(expected)]


@pytest.mark.parametrize("n_terms", [1, 64, 65, 4096, 4097, 6000])
def test_few_and_many_terms_are_found_alike(n_terms):
    # Beyond 4,096 terms a document's columns are sorted instead of tallied.
    rng = np.random.default_rng(n_terms)
    names = sorted({f"w{i:05d}" for i in range(n_terms)})
    texts = [
        " ".join(f"W{i:05d}" for i in rng.integers(0, 2 * n_terms, rng.integers(0, 80)))
        for _ in range(50)
    ]
    for high in (1, 2):
        options = TextOptions(ngram_range=(1, high))
        X = TermMatcher(TermNames.from_strings(names), options).rows(texts)
        assert X.has_canonical_format
        expected = [Counter(words_of(text, 2)) for text in texts]
        rows = [
            {names[j]: v for j, v in zip(row.indices, row.data, strict=True)}
            for row in (X[[i]] for i in range(len(texts)))
        ]
        wanted = [{w: n for w, n in row.items() if w in names} for row in expected]
        assert rows == wanted
