"""Experiment 6: the mathematics against oracles, and the page against its JSON."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.studies.study_modules import STUDIES, load, read_parts, write_parts

ROOT = Path(__file__).resolve().parents[2]
RESULTS = STUDIES / "results" / "duality_gap"


@pytest.fixture(scope="module")
def study():
    return load("duality_gap")


@pytest.fixture(scope="module")
def tables():
    return load("duality_gap_tables")


@pytest.fixture(scope="module")
def gains():
    return load("support_gains")


def log_likelihood(f, support):
    """Likelihood of eq. (13) of the paper, written out for two classes."""
    grand, totals = f.sum(), f.sum(axis=0)
    theta = np.tile(totals / grand, (2, 1))
    if len(support):
        part = f[:, support]
        sums = part.sum(axis=1, keepdims=True)
        theta[:, support] = sums.sum() / sums * part / grand
    np.testing.assert_allclose(theta.sum(axis=1), 1.0)
    return float((f * np.log(theta)).sum())


@pytest.mark.parametrize("support", [[0, 3], [1, 2, 4], [0, 1, 2, 3, 4, 5]])
def test_gain_is_the_likelihood_over_the_null_model(study, gains, support):
    f = study.drawn_counts(6, 0)
    expected = log_likelihood(f, support) - log_likelihood(f, [])
    assert gains.gain_of(f, support) == pytest.approx(expected, abs=1e-14)


def test_weights_are_the_differences_of_the_logarithms_of_theta(gains):
    f = np.array([[4.0, 6.0, 10.0], [12.0, 2.0, 1.0]])
    expected = np.log([12 / 13 / (4 / 14), 1 / 13 / (10 / 14)])
    np.testing.assert_allclose(gains.weights_of(f, [0, 2]), expected)


def test_draws_have_sum_one_and_do_not_depend_on_their_number(study):
    np.testing.assert_allclose(study.drawn_counts(7, 3).sum(axis=1), 1.0)
    np.testing.assert_array_equal(study.drawn_counts(7, 3), study.drawn_counts(7, 3))
    assert not np.array_equal(study.drawn_counts(7, 3), study.drawn_counts(7, 4))


@pytest.mark.parametrize("number", range(3))
def test_all_values_are_those_of_enumeration_and_of_a_plain_minimiser(
    study, gains, number
):
    m = 9
    f = study.drawn_counts(m, number)
    values = study.solved(f)
    v = gains.own_values(f)
    for k in range(1, m + 1):

        def upper(a, k=k):
            return np.sort(v - f[0] * np.log(a) - f[1] * np.log1p(-a))[-k:].sum()

        psi = minimize_scalar(upper, bounds=(1e-6, 1 - 1e-6), options={"xatol": 1e-12})
        assert values.psi[k] == pytest.approx(psi.fun, rel=1e-7)
        best = max(gains.gain_of(f, list(t)) for t in combinations(range(m), k))
        if k == 1:
            best = 0.0  # two distributions cannot differ in one place
        else:
            assert study.brute_force_gain(f, k) == pytest.approx(best, rel=1e-12)
        assert values.phi[k] == pytest.approx(best, rel=1e-10, abs=1e-15)
        assert values.worse[k] <= values.better[k] <= best * (1 + 1e-12)
    assert values.proven.all()


def test_a_tie_for_the_last_place_gives_two_sets(study, gains):
    f = np.array([[0.5, 0.1, 0.3, 0.1], [0.1, 0.5, 0.1, 0.3]])
    even = np.array([0.5, 0.5])
    worse, better = study.theorem_gains(f, 3, even)  # columns 2 and 3 tie
    assert worse == pytest.approx(gains.gain_of(f, [0, 1, 2]))
    assert better == pytest.approx(gains.gain_of(f, [0, 1, 3]))
    worse, better = study.theorem_gains(f, 2, even)
    assert worse == better == pytest.approx(gains.gain_of(f, [0, 1]))


def test_bands_cover_every_size_once(study):
    for m in (30, 300, 3000):
        sizes = [k for a, b in study.bands(m) for k in range(a, b + 1)]
        assert sizes == list(range(2, m + 1))
    assert study.bands(3000)[0] == (2, 3)


def test_summaries_count_gaps_and_broken_bounds(study):
    phi = np.array([0.0, 0.0, 1.0, 2.0, 3.0])
    made = study.Values(
        psi=np.array([0.0, 0.5, 1.1, 2.0, 3.0]),
        phi=phi,
        worse=np.array([0.0, 0.0, 0.8, 1.9, 3.0]),
        better=np.array([0.0, 0.0, 1.0, 1.9, 3.0]),
        nodes=np.array([1, 1, 5, 1, 1]),
        proven=np.ones(5, dtype=bool),
    )
    found = study.summary(made, 2, 4)
    assert found["sizes"] == found["proven"] == 3
    assert found["tight"] == 2
    assert found["tight_theorem"] == 1
    assert found["optimal_better"] == 2
    assert found["optimal_worse"] == 1
    assert found["gap_largest"] == pytest.approx(0.1)
    assert found["theorem_largest"] == pytest.approx(0.3)
    assert found["loss_largest"] == pytest.approx(0.2)
    assert found["nodes"] == 5
    # psi(1) .5 <= 1, psi(2) 1.1 <= 2, psi(3) 2 <= 3; psi(k-4) = 0 throughout
    assert found["broken_sharp"] == found["broken_published"] == 0
    assert found["width_published"] == pytest.approx(1.1 + 1.0 + 1.0)
    too_low = study.Values(
        made.psi, 0.4 * phi, made.worse, made.better, made.nodes, made.proven
    )
    assert study.summary(too_low, 2, 4)["broken_sharp"] == 3


def test_a_stopped_study_goes_on_and_other_versions_are_refused(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr(study, "QUICK_DRAWS", {6: 1})
    study.main(["--quick", "--folder", str(tmp_path)])
    first = read_parts(tmp_path)["duality_gap"]
    monkeypatch.setattr(study, "QUICK_DRAWS", {6: 2})
    study.main(["--quick", "--folder", str(tmp_path)])
    second = read_parts(tmp_path)["duality_gap"]
    assert list(second["rows"]) == ["6 0", "6 1"]
    assert second["rows"]["6 0"] == first["rows"]["6 0"]
    assert second["rows"]["6 0"]["all_supports"]["sizes"] == 5
    assert (tmp_path / "figure_m6.png").is_file()
    study.main(["--quick", "--again", "--folder", str(tmp_path)])
    again = read_parts(tmp_path)["duality_gap"]
    assert again["rows"] == second["rows"]
    second["packages"]["numpy"] = "0.1"
    write_parts(tmp_path, {"duality_gap": second})
    with pytest.raises(SystemExit, match="was written with packages"):
        study.main(["--quick", "--folder", str(tmp_path)])


def test_the_committed_results_break_no_bound_and_are_all_proven(study, tables):
    units = read_parts(RESULTS)["duality_gap"]["rows"]
    for m, draws in study.DRAWS.items():
        assert len(tables.draws_of(units, m)) == draws
        for name, found in tables.ranges(units, m).items():
            assert found["proven"] == found["sizes"], name
            for bound in ("broken_upper", "broken_sharp", "broken_published"):
                assert found[bound] == 0, name
