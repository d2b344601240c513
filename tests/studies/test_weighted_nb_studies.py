"""The studies of the weighted naive Bayes paper, on few folds of generated sets."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import ttest_rel
from tests.studies.study_modules import load, read_parts, write_parts

pytest.importorskip("pandas")


folds = load("weighted_nb_folds")
results = load("fold_results")
optimisation = load("weighted_nb_optimisation")
regularisation = load("weighted_nb_regularisation")
optimizers = load("weighted_nb_optimizers")
figures = load("weighted_nb_figures")
scores = load("probability_scores")
generators = load("uci_generators")


@pytest.fixture(scope="module")
def led():
    data = generators.read_set("led")
    return data.X, np.unique(data.y, return_inverse=True)[1]


@pytest.fixture(scope="module")
def fold(led):
    X, y = led
    train, test = scores.stratified_folds(y, folds.FOLDS, folds.SEED)[0]
    return folds.prepare(X, y, train, test, 0)


def test_a_fold_predicts_as_the_estimators_do(fold, led):
    from bayesieve import AveragedNB, SelectiveNB
    from bayesieve.weights import Convex

    X, y = led
    found = Convex().minimise(fold.problem(0.1)).weights
    model = SelectiveNB(optimizer="convex", partitions="best")
    model.fit(X.iloc[fold.train], y[fold.train])
    np.testing.assert_allclose(model.weights_[fold.informative], found, atol=1e-12)
    for rows, test in ((fold.train, False), (fold.test, True)):
        np.testing.assert_allclose(
            fold.probabilities(found, test=test),
            model.predict_proba(X.iloc[rows]),
            atol=1e-12,
        )
    # The baseline differs by its draws only: the same variables, close weights.
    snb = AveragedNB(random_state=0).fit(X.iloc[fold.train], y[fold.train])
    own = fold.averaged().weights
    np.testing.assert_allclose(snb.weights_[fold.informative], own, atol=0.1)


def test_compressions_are_those_of_the_criterion_and_of_the_scores(fold):
    nothing = np.zeros(fold.informative.shape[0])
    assert fold.train_compression(nothing) == 0.0
    proba = fold.probabilities(nothing, test=True)
    rate = scores.compression(fold.y[fold.test], proba, fold.prior())
    assert rate == pytest.approx(0.0, abs=1e-4)  # the last smoothing alone
    half = np.full_like(nothing, 0.5)
    proba = fold.probabilities(half, test=False)
    rate = scores.compression(fold.y[fold.train], proba, fold.prior())
    assert fold.train_compression(half) == pytest.approx(rate, abs=1e-3)


def test_a_class_without_training_rows_gets_no_probability(led):
    X, y = led
    train = np.flatnonzero(y != 9)
    fold = folds.prepare(X, y, train, np.flatnonzero(y == 9)[:5], 0)
    proba = fold.probabilities(np.ones(fold.informative.shape[0]), test=True)
    assert proba.shape == (5, 10)
    assert (proba[:, 9] == 0).all()
    assert fold.prior()[9] == 0
    assert fold.prior().sum() == pytest.approx(1.0)


def test_restarts_begin_with_the_single_descent_and_only_improve_on_it(fold):
    setting = optimisation.PLAIN[100]
    key = "L=100 VNS4"
    optimisation.METHODS[key] = (setting, "VNS", 4)
    try:
        single, several, exact = (
            optimisation.optimised(fold, one) for one in ("L=100", key, "convex")
        )
    finally:
        del optimisation.METHODS[key]
    first = single.history[:, 2]
    np.testing.assert_array_equal(several.history[: first.shape[0], 2], first)
    assert exact.value <= several.value <= single.value


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        ([0.0, 0.0, 0.0, 0.0], False),
        ([0.5, 0.5, 0.5, 0.5], True),
        ([-0.5, -0.5, -0.5, -0.5], False),
        ([0.01, 0.012, 0.011, 0.009], True),
        ([0.01, -0.02, 0.03, -0.01], False),
        ([0.01, np.nan, 0.011, 0.009], True),
    ],
)
def test_significance_is_a_paired_test_of_a_greater_mean(difference, expected):
    base = np.array([0.5, 0.25, 0.125, 0.75])
    left = base + np.array(difference)
    assert results.significantly_greater(left, base) is expected
    if np.ptp(difference) > 0:
        p = ttest_rel(left, base).pvalue
        assert (p < 0.05) is np.bool_(expected)


def test_numbers_are_stored_short():
    assert folds.rounded(0.123456789) == 0.123457
    assert json.dumps(folds.rounded(3.0)) == "3"
    assert np.isnan(folds.rounded(float("nan")))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The optimisation study on two folds of one set."""
    folder = tmp_path_factory.mktemp("optimisation")
    arguments = ["--sets", "led", "--folds", "1", "--folder", str(folder)]
    optimisation.main(arguments)
    return folder, arguments


def test_optimisation_is_stored_and_goes_on(page):
    folder, arguments = page
    before = read_parts(folder)["led"]
    assert set(before["rows"]) == set(optimisation.KEYS)
    arguments = [word.replace("1", "2") if word == "1" else word for word in arguments]
    optimisation.main(arguments)
    after = read_parts(folder)["led"]
    for key in optimisation.KEYS:
        assert len(after["rows"][key]) == 2
        assert after["rows"][key][0] == before["rows"][key][0]
    (one,) = results.read_results(folder, optimisation.KEYS)
    exact = one.column("convex", "criterion")
    for key, (setting, _, _) in optimisation.METHODS.items():
        if not setting.regularization:
            assert (one.column(key, "criterion") >= exact - 1e-6).all()
    text = (folder / "tables.md").read_text()
    assert "1 set, ten folds each, but fewer of led (2)." in text
    assert text.count("| VNS | 5 |") == 4
    if find_spec("matplotlib"):
        assert (folder / "figure_1_1.png").stat().st_size > 10_000


def test_figures_of_paths_come_from_the_stored_file(page, tmp_path):
    pytest.importorskip("matplotlib")
    folder, _ = page
    stored = {
        key: [[1.0 + 1 / (at + 1), 1.0 + 1 / (at + 1)] for at in range(20)]
        for key in optimisation.PATH_KEYS
    }
    parts = {**read_parts(folder), optimisation.PATHS: {"rows": stored}}
    write_parts(tmp_path, parts)
    optimisation.draw(tmp_path)
    drawn = {one.name for one in tmp_path.glob("*.png")}
    assert drawn == {f"figure_1_{number}.png" for number in (1, 2, 3)}


def test_regularisation_keeps_fewer_variables_with_more_of_it(tmp_path):
    arguments = ["--sets", "led17", "--folds", "1", "--optimizer", "convex"]
    regularisation.main([*arguments, "--folder", str(tmp_path)])
    (one,) = results.read_results(tmp_path, regularisation.KEYS, "convex/")
    sums = [one.mean("lambda=0", "weight sum")]
    sums += [
        one.mean(regularisation.key_of(strength, 1.0), "weight sum")
        for strength in regularisation.STRENGTHS
    ]
    assert sums == sorted(sums, reverse=True)
    assert sums[-1] < sums[0]
    assert one.mean("SNB", "test AUC") > 0.9
    text = (tmp_path / "tables.md").read_text()
    assert "## convex" in text
    assert "## vns" not in text


def test_optimizers_are_compared_by_the_same_criterion(tmp_path):
    arguments = ["--sets", "led", "--folds", "1", "--folder", str(tmp_path)]
    optimizers.main(arguments)
    (one,) = results.read_results(tmp_path, optimizers.KEYS)
    gaps = {key: one.mean(key, "gap") for key in optimizers.KEYS}
    assert gaps["SelectiveNB optimizer=convex"] == pytest.approx(0.0, abs=1e-9)
    assert all(gap >= -1e-9 for gap in gaps.values())
    text = (tmp_path / "tables.md").read_text()
    assert "| auto (the default) |" in text
    assert "| vns batch_size=None |" in text


def test_folds_and_sets_are_checked(capsys):
    with pytest.raises(SystemExit):
        optimisation.main(["--folds", "11"])
    assert "1..10" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        optimisation.main(["--sets", "nothing"])
    assert "'nothing' is not known" in capsys.readouterr().err
