"""The data sets of the naive Bayes studies: loaders and the four generators."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.conftest import data_folder
from tests.studies.study_modules import load

uci_sets = load("uci_sets")
uci_generators = load("uci_generators")
needs_data = pytest.mark.skipif(
    not (data_folder() / "uci_iris.parquet").is_file(), reason="no real data here"
)
# Rows, input variables, classes: Table 1.1 of the paper, with the differences that the
# data's manifest states.
SIZES = {
    "abalone": (4177, 8, 28),
    "adult": (48842, 14, 2),
    "australian": (690, 14, 2),
    "breast": (699, 9, 2),
    "bupa": (345, 6, 2),
    "crx": (690, 15, 2),
    "flag": (194, 28, 8),
    "german_numeric": (1000, 24, 2),
    "glass": (214, 9, 6),
    "heart": (270, 13, 2),
    "horsecolic": (368, 26, 2),
    "horsecolic_no_lesion": (368, 23, 2),
    "hypothyroid": (3163, 25, 2),
    "ionosphere": (351, 34, 2),
    "iris": (150, 4, 3),
    "letter": (20000, 16, 26),
    "mushroom": (8124, 22, 2),
    "pendigits": (10992, 16, 10),
    "phoneme": (4509, 256, 5),
    "pima": (768, 8, 2),
    "segmentation": (2310, 19, 7),
    "shuttle": (58000, 9, 7),
    "sick_euthyroid": (3163, 25, 2),
    "sonar": (208, 60, 2),
    "soybean": (683, 35, 19),
    "soybean_376": (376, 35, 19),
    "spam": (4601, 57, 2),
    "thyroid": (7200, 21, 3),
    "tictactoe": (958, 9, 2),
    "vehicle": (846, 18, 4),
    "wine": (178, 13, 3),
}


def test_every_set_and_variant_has_an_expected_size():
    assert set(SIZES) == {*uci_sets.NAMES, *uci_sets.VARIANTS}


@needs_data
@pytest.mark.parametrize("name", SIZES)
def test_set_has_its_size_and_plain_columns(name):
    found, X, y = uci_sets.load(name)
    assert found == name
    assert (*X.shape, np.unique(y).shape[0]) == SIZES[name]
    assert y.dtype.kind in "iU"
    for column in X:
        if uci_sets.is_text(X[column]):
            kinds = {type(value) for value in X[column]}
            assert kinds <= {str, type(None)}, (column, kinds)
        else:
            assert X[column].dtype.kind in "if", column
            assert not np.isinf(X[column]).any(), column
    dropped = {"label", "split", "speaker", "Id", "name", "Hospital Number"}
    assert not dropped & set(X.columns)


@needs_data
def test_missing_values_are_nan_in_numbers_and_none_in_text():
    X = uci_sets.load("crx").X
    assert sum(value is None for value in X["A1"]) == 12
    assert int(np.isnan(X["A2"]).sum()) == 12


def test_available_looks_into_the_folder_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIEVE_DATA", str(tmp_path))
    assert uci_sets.available() == []
    (tmp_path / "esl_phoneme.parquet").touch()
    assert uci_sets.available() == ["phoneme"]


def test_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"one of abalone, .* Got 'abalon'"):
        uci_sets.load("abalon")
    with pytest.raises(ValueError, match=r"one of led, led17, .* Got 'lcd'"):
        uci_generators.generate("lcd")


def segment_patterns(noise):
    """Probability of each of the 128 patterns (columns) for each digit (rows)."""
    patterns = np.array(list(itertools.product([0, 1], repeat=7)))
    wrong = (uci_generators.DIGITS[:, None, :] != patterns[None]).sum(axis=2)
    return patterns, noise**wrong * (1 - noise) ** (7 - wrong)


def test_led_has_the_published_bayes_accuracy_and_reaches_it():
    patterns, probability = segment_patterns(0.1)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    best = probability.max(axis=0).sum() / 10
    assert best == pytest.approx(0.74, abs=0.005)  # Breiman et al. 1984: error 0.26
    bits, digit = uci_generators.led(50_000)
    at = bits.astype(int) @ (2 ** np.arange(6, -1, -1))
    np.testing.assert_array_equal(patterns[at], bits)
    accuracy = np.mean(probability.argmax(axis=0)[at] == digit)
    assert accuracy == pytest.approx(best, abs=0.01)  # 5 standard errors


def test_led_without_noise_shows_the_digits_and_all_differ():
    bits, digit = uci_generators.led(500, noise=0.0)
    np.testing.assert_array_equal(bits, uci_generators.DIGITS[digit])
    assert len({tuple(row) for row in uci_generators.DIGITS}) == 10
    # Lit segments of 0 to 9 on a display.
    np.testing.assert_array_equal(
        uci_generators.DIGITS.sum(axis=1), [6, 2, 5, 5, 4, 5, 6, 3, 7, 6]
    )


def test_irrelevant_bits_are_fair_and_independent_of_the_digit():
    bits, digit = uci_generators.led(20_000, irrelevant=17)
    assert bits.shape == (20_000, 24)
    means = np.stack([bits[digit == d, 7:].mean(axis=0) for d in range(10)])
    # About 2,000 rows a digit: a standard error of 0.011, 170 means.
    assert np.abs(means - 0.5).max() < 0.055


def test_waves_are_the_triangles_of_the_book():
    h1, h2, h3 = uci_generators.waves()
    assert h1.tolist() == [0] * 5 + [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1] + [0] * 5
    # h2(i) = h1(i - 4) and h3(i) = h1(i + 4).
    np.testing.assert_array_equal(h2[4:], h1[:-4])
    np.testing.assert_array_equal(h3[:-4], h1[4:])


def test_waveform_has_the_means_and_variances_of_its_mixture():
    values, label = uci_generators.waveform(30_000, irrelevant=19)
    assert values.shape == (30_000, 40)
    waves = uci_generators.waves()
    for c, (a, b) in enumerate(uci_generators.PAIRS):
        mine = values[label == c]
        assert abs(mine.shape[0] - 10_000) < 500
        mean = np.concatenate([(waves[a] + waves[b]) / 2, np.zeros(19)])
        np.testing.assert_allclose(mine.mean(axis=0), mean, atol=0.1)
        # Var of u a + (1 - u) b + e, u uniform: (a - b)^2 / 12 + 1.
        variance = np.concatenate([(waves[a] - waves[b]) ** 2 / 12 + 1, np.ones(19)])
        np.testing.assert_allclose(mine.var(axis=0), variance, rtol=0.08)
    # Neighbouring points share u: cov = (a_i - b_i)(a_j - b_j) / 12, noise adds none.
    first = values[label == 0]
    difference = waves[0] - waves[1]
    covariance = np.cov(first[:, :21], rowvar=False)
    expected = np.outer(difference, difference) / 12 + np.eye(21)
    np.testing.assert_allclose(covariance, expected, atol=0.2)


def test_waveform_is_as_hard_as_the_book_says():
    # Bayes rule by integrating over u on a grid; Breiman et al. give an error of 14 %.
    values, label = uci_generators.waveform(4_000)
    waves = uci_generators.waves()
    likelihood = np.zeros((3, 4_000))
    for c, (a, b) in enumerate(uci_generators.PAIRS):
        for share in np.linspace(0.005, 0.995, 100):
            centre = share * waves[a] + (1 - share) * waves[b]
            likelihood[c] += np.exp(-0.5 * ((values - centre) ** 2).sum(axis=1))
    error = np.mean(likelihood.argmax(axis=0) != label)
    assert error == pytest.approx(0.14, abs=0.02)


@pytest.mark.parametrize(
    ("name", "shape", "classes", "text"),
    [
        ("led", (1_000, 7), 10, True),
        ("led17", (10_000, 24), 10, True),
        ("waveform", (5_000, 21), 3, False),
        ("waveform_noise", (5_000, 40), 3, False),
    ],
)
def test_generated_sets_are_those_of_the_paper_and_always_the_same(
    name, shape, classes, text
):
    found, X, y = uci_generators.generate(name)
    assert (found, X.shape) == (name, shape)
    counts = np.bincount(y)
    assert counts.shape[0] == classes
    # Uniform classes: within 5 standard deviations of a binomial count.
    share = 1 / classes
    spread = np.sqrt(shape[0] * share * (1 - share))
    assert np.abs(counts - shape[0] * share).max() < 5 * spread
    assert all(uci_sets.is_text(X[column]) == text for column in X)
    assert set(X.iloc[0]) <= {"0", "1"} or not text
    again = uci_generators.generate(name)
    assert again.X.equals(X)
    np.testing.assert_array_equal(again.y, y)
