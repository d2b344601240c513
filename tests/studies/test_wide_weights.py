"""The study of screening and weights: sets, peers, ledger and tables on small data."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import mutual_info_classif
from tests.studies.study_modules import STUDIES, load, read_parts, write_parts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sets():
    return load("wide_sets")


@pytest.fixture(scope="module")
def peers():
    return load("wide_peers")


@pytest.fixture(scope="module")
def methods():
    return load("wide_methods")


@pytest.fixture(scope="module")
def tables():
    return load("wide_weights_tables")


def documents(n_classes=2, n_rows=300, n_columns=120, seed=0):
    """Counts in which the first columns tell the classes apart, each a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    rate = np.full((n_classes, n_columns), 0.3)
    rate[:, :30] *= rng.uniform(0.3, 3.0, size=(n_classes, 30))
    return sparse.csr_matrix(rng.poisson(rate[y])), y


# ------------------------------------------------------------------------------ sets


def test_posts_lose_header_footer_and_quotes(sets):
    post = (
        "From: a@b.c (A)\nSubject: wheels\n\n"
        "In article <1@b.c> d@e.f writes:\n> how many?\nFour of them.\nNo more.\n\n"
        "--\nA. Person, Wheel Street"
    )
    body = sets.body(post)
    assert "Four of them." in body
    assert "No more." in body
    for gone in ("Subject", "writes", "how many", "Person"):
        assert gone not in body


def test_resplits_are_stratified_fifths_and_do_not_depend_on_their_number(sets):
    y = np.repeat([0, 1], [300, 100])
    five = sets.resplits(y)
    assert len(five) == 5
    for train, test in five:
        assert np.bincount(y[test]).tolist() == [60, 20]
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(400))
    assert not np.array_equal(five[0][1], five[1][1])
    for few, many in zip(sets.resplits(y, 2), five, strict=False):
        np.testing.assert_array_equal(few[1], many[1])


def test_the_vocabulary_is_of_the_training_rows(sets):
    texts = np.array(["red red car", "blue car", "green boat"], dtype=object)
    y = np.array([0, 1, 0])
    rows = ((np.array([0, 1]), np.array([2])),)
    part = sets.counted(sets.WideSet("made", texts, y, True, rows), 0)
    assert part.X_train.toarray().tolist() == [[0, 1, 2], [1, 1, 0]]
    assert part.X_test.nnz == 0
    counts = sparse.csr_matrix([[2, 0, 1], [1, 0, 0], [0, 3, 1]])
    part = sets.counted(sets.WideSet("made", counts, y, True, rows), 0)
    assert part.X_train.toarray().tolist() == [[2, 1], [1, 0]]
    assert part.X_test.toarray().tolist() == [[0, 1]]


def test_sizes_are_rounded_shares(sets):
    assert sets.wanted_sizes(74_851, (0.1, 1, 5, 10)) == [75, 749, 3743, 7485]
    assert sets.wanted_sizes(120, (0.1,)) == [1]


def test_real_sets_have_the_rows_that_the_manifest_states(sets, real_data):
    real_data("trec")
    real_data("twitter_s140_sample")
    trec = sets.load("trec")
    assert [len(rows) for rows in trec.splits[0]] == [5452, 500]
    assert trec.n_classes == 6
    assert trec.fixed
    twitter = sets.load("twitter")
    assert [len(rows) for rows in twitter.splits[0]] == [37_472, 177 + 182]
    assert twitter.n_classes == 2


# ----------------------------------------------------------------------------- peers


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("k", [1, 7, 25])
@pytest.mark.parametrize("kind", ["l1_logistic", "l1_svm"])
def test_the_search_ends_at_k_or_just_below(peers, kind, n_classes, k):
    X, y = documents(n_classes)
    X = X.astype(float)
    loss = {"l1_logistic": "log", "l1_svm": "squared_hinge"}[kind]
    found = peers.search_penalty(getattr(peers, kind), X, y, k, loss=loss)
    np.testing.assert_array_equal(found.support, peers.used_columns(found.model))
    # Four classes enter columns together, so k itself may not be among the sizes.
    assert k - 1 <= found.support.shape[0] <= k
    again = getattr(peers, kind)(found.C, n_classes).fit(X, y)
    np.testing.assert_array_equal(peers.used_columns(again), found.support)
    assert found.fit_seconds < found.seconds


def test_a_size_out_of_reach_gives_the_most_columns_there_are(peers):
    X = sparse.csr_matrix(np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]))
    y = np.array([0, 0, 1, 1])
    found = peers.search_penalty(peers.l1_logistic, X, y, 3, loss="log")
    assert 1 <= found.support.shape[0] <= 2
    assert found.fits < peers.MOST_FITS


def test_mutual_information_is_that_of_scikit_learn(peers):
    X, y = documents(3, n_columns=40)
    expected = mutual_info_classif(X > 0, y, discrete_features=True)
    np.testing.assert_allclose(peers.mutual_information(X, y), expected, atol=1e-12)


def test_best_columns_takes_the_first_of_equals_and_no_nan(peers):
    scores = np.array([1.0, np.nan, 3.0, 1.0, 0.5])
    assert peers.best_columns(scores, 2).tolist() == [0, 2]
    assert peers.best_columns(scores, 3).tolist() == [0, 2, 3]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_small_steps_stop_at_every_size(peers, n_classes):
    X, y = documents(n_classes)
    found = peers.eliminate_finely(X.astype(float), y, [5, 40, 60])
    assert {k: f.support.shape[0] for k, f in found.items()} == {5: 5, 40: 40, 60: 60}
    assert set(found[5].support) < set(found[40].support) < set(found[60].support)
    assert found[5].seconds > found[60].seconds
    # One step of a tenth of 120 is what RFE does as well.
    one = peers.eliminate_finely(X.astype(float), y, [108])[108]
    np.testing.assert_array_equal(
        one.support, peers.eliminate(X.astype(float), y, 108).support
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shared_steps_end_where_rfe_ends(peers, n_classes):
    X, y = documents(n_classes, n_columns=125)
    X = X.astype(float)
    sizes = [1, 13, 14, 60, 124]
    found = peers.eliminate_to_all(X, y, sizes)
    assert sorted(found) == sizes
    for k in sizes:
        alone = peers.eliminate(X, y, k)
        np.testing.assert_array_equal(found[k].support, alone.support)
        np.testing.assert_array_equal(
            peers.coefficients(found[k].model), peers.coefficients(alone.model)
        )
        assert found[k].fits == alone.fits


# --------------------------------------------------------------------------- methods


def test_scores_and_their_errors_over_rows(methods):
    y = np.array([0, 0, 1, 1])
    proba = np.array([[0.8, 0.2], [0.4, 0.6], [0.5, 0.5], [0.1, 0.9]])
    row = methods.scored(y, np.array([0, 1, 1, 1]), proba)
    losses = -np.log([0.8, 0.4, 0.5, 0.9])
    expected = [0.75, np.sqrt(0.75 * 0.25 / 4), losses.mean(), losses.std() / 2]
    np.testing.assert_allclose(row, expected)
    assert methods.scored(y, y, None) == [1.0, 0.0, None, None]


def test_every_job_gives_a_row_of_each_of_its_methods(methods, sets):
    X, y = documents(3)
    part = sets.Part(X[:200], y[:200], X[200:], y[200:])
    for job in methods.JOBS:
        if job.missing():
            continue
        for k, rows in zip((4, 9), methods.quietly(job, part, (4, 9), 60), strict=True):
            assert list(rows) == list(job.methods)
            for method, row in rows.items():
                facts = dict(zip(methods.COLUMNS[1:-1], row, strict=True))
                assert 1 / 3 < facts["accuracy"] <= 1, method
                assert facts["features"] <= (X.shape[1] if job.name == "all" else k)
                assert (facts["log loss"] is None) == (method == "l1_svm")


def test_own_answer_and_naive_bayes_differ_as_they_should(methods, sets):
    X, y = documents()
    part = sets.Part(X[:200], y[:200], X[200:], y[200:])
    (l1,) = methods.BY_NAME["l1_logistic"].rows(part, [10], 60.0)
    assert l1["l1_logistic"][0] != l1["l1_logistic_mnb"][0] or (
        l1["l1_logistic"][2] != l1["l1_logistic_mnb"][2]
    )
    assert l1["l1_logistic"][4] == l1["l1_logistic_mnb"][4]


def test_naive_and_weighted_methods_are_told_apart(methods):
    assert "sparse_bernoulli" in methods.NAIVE
    assert "rfe_mnb" in methods.NAIVE
    assert "refined_auto" in methods.NAIVE
    assert not {"l1_logistic", "all", "weighted_bernoulli"} & set(methods.NAIVE)
    assert set(methods.WEIGHTED) == {
        "weighted_multinomial",
        "weighted_bernoulli",
        "weighted_auto",
    }


# ---------------------------------------------------------------------------- runner

# In a process of its own: the runner forks, which a process with threads should not.
DRIVER = """
import shutil, sys, time
sys.path.insert(0, {studies!r})
import ledger, numpy as np
import wide_methods, wide_sets, wide_weights
sys.path.insert(0, {tests!r})
from test_wide_weights import documents

X, y = documents()
made = wide_sets.WideSet("cr", X, y, False, wide_sets.resplits(y))
wide_weights.load = lambda name: made
wide_weights.available = lambda: list(wide_sets.NAMES)

def lazy(part, sizes, limit):
    for k in sizes:
        time.sleep(30 if k == 12 else 0)
        yield {{"chi2": [0.5, 0.1, 0.7, 0.1, k, 0.0, 0.0, 1, None, 1]}}

for order in {orders!r}:
    if order.pop("lazy", False):
        jobs = [wide_methods.Job("chi2", "peers", {{"chi2": "chi2"}}, lazy)]
        wide_weights.BY_NAME = {{"chi2": jobs[0]}}
    wide_weights.main(order["arguments"])
    if "copy" in order:
        shutil.copytree(order["arguments"][1], order["copy"])
        time.sleep(1.1)  # the time of a run is kept in whole seconds
"""


def drive(*orders):
    text = DRIVER.format(
        studies=str(STUDIES), tests=str(ROOT / "tests" / "studies"), orders=list(orders)
    )
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )


def arguments(folder, *more):
    usual = ["--folder", str(folder), "--sets", "cr", "--splits", "2"]
    return {"arguments": [*usual, "--shares", "5,10", *more]}


def stored(folder, job):
    return read_parts(folder)[f"{job}/cr"]["rows"]


def test_a_second_run_goes_on_and_again_forgets_only_what_is_asked(tmp_path):
    here = tmp_path / "here"
    seen = [tmp_path / f"after_{at}" for at in range(4)]
    both = ("--jobs", "chi2,sparse_bernoulli")
    drive(
        {**arguments(here, "--jobs", "chi2", "--splits", "1"), "copy": str(seen[0])},
        {**arguments(here, *both), "copy": str(seen[1])},
        {**arguments(here, *both), "copy": str(seen[2])},  # nothing is left to do
        {**arguments(here, "--jobs", "chi2", "--again"), "copy": str(seen[3])},
    )
    first, second, third, fourth = (stored(folder, "chi2") for folder in seen)
    assert {key: len(rows) for key, rows in first.items()} == {
        "chi2 5": 1,
        "chi2 10": 1,
    }
    assert {key: len(rows) for key, rows in second.items()} == {
        "chi2 5": 2,
        "chi2 10": 2,
    }
    assert all(second[key][:1] == rows for key, rows in first.items())
    assert third == second
    at = load("wide_methods").COLUMNS.index("run")
    for key, rows in fourth.items():
        assert [row[:5] for row in rows] == [row[:5] for row in second[key]]
        assert all(
            row[at] > old[at] for row, old in zip(rows, second[key], strict=True)
        )
    assert stored(seen[3], "sparse_bernoulli") == stored(seen[1], "sparse_bernoulli")


def test_a_cell_over_its_limit_is_noted_and_the_next_goes_on(tmp_path):
    order = arguments(tmp_path, "--jobs", "chi2", "--limit", "1", "--splits", "1")
    order["arguments"][order["arguments"].index("5,10")] = "5,10,20"
    drive({**order, "lazy": True})  # k = 6, 12, 24
    rows = stored(tmp_path, "chi2")
    assert rows["chi2 5"][0][:2] == [6, 0.5]
    assert rows["chi2 10"][0][:2] == [12, None]
    assert rows["chi2 20"][0][:2] == [24, 0.5]
    assert "CR 10 %, chi2, MNB: did not end" in (tmp_path / "tables.md").read_text()


# ---------------------------------------------------------------------------- tables


def fake_row(k, accuracy, loss, *, error=0.01, loss_error=0.02, run=1):
    return [k, accuracy, error, loss, loss_error, k, 0.5, 0.25, 1, None, 1, run]


def fake_content(tables, job, data, rows, fixed=True):
    return {
        "job": job,
        "data": data,
        "fixed": fixed,
        "columns": tables.COLUMNS,
        "rows": rows,
        "packages": {"numpy": "2"},
        "python": "3",
        "processor": "one",
        "processors": 1,
    }


@pytest.fixture
def fake(tables):
    """Two sets; ours wins on TREC and is behind on SST2."""
    contents = []
    scores = {
        ("weighted_multinomial", "trec"): (0.90, 0.30),
        ("weighted_multinomial", "sst2"): (0.70, 0.60),
        ("l1_logistic", "trec"): (0.85, 0.40),
        ("l1_logistic", "sst2"): (0.73, 0.50),
        ("chi2", "trec"): (0.80, 0.45),
        ("chi2", "sst2"): (0.705, 0.70),
    }
    for (method, data), (accuracy, loss) in scores.items():
        rows = {f"{method} 1": [fake_row(50, accuracy, loss)]}
        contents.append(fake_content(tables, method, data, rows))
    rows = {"l1_svm 1": [fake_row(50, 0.95, None)]}
    contents.append(fake_content(tables, "l1_svm", "trec", rows))
    return tables.cells_of(contents)


def test_means_and_errors_over_resplits(tables):
    rows = {"chi2 1": [fake_row(50, a, a) for a in (0.7, 0.8, 0.9)]}
    rows["chi2 5"] = [fake_row(250, 0.8, 0.4), [250, *[None] * 10, 1]]
    content = fake_content(tables, "chi2", "cr", rows, fixed=False)
    cells = tables.cells_of([content])
    cell = cells[("cr", 1.0)]["chi2"]
    assert cell.scores["accuracy"] == pytest.approx(0.8)
    assert cell.errors["accuracy"] == pytest.approx(0.1 / np.sqrt(3))
    assert cells[("cr", 5.0)]["chi2"].scores == {}
    assert "CR 5 %, chi2, MNB: did not end" in tables.caveats(cells)


def test_unfinished_cells_are_left_out(tables):
    full = {"chi2 1": [fake_row(50, 0.7, 0.5)] * 3}
    part = {"rfe 1": [fake_row(50, 0.9, 0.5)] * 2}
    contents = [
        fake_content(tables, "chi2", "cr", full, fixed=False),
        fake_content(tables, "rfe", "cr", part, fixed=False),
    ]
    assert list(tables.cells_of(contents)[("cr", 1.0)]) == ["chi2"]


def test_ranks_are_of_cells_that_all_methods_have(tables, fake):
    methods = ["weighted_multinomial", "l1_logistic", "chi2"]
    found, places = tables.ranks(fake, methods, "accuracy")
    assert places == [("trec", 1.0), ("sst2", 1.0)]
    assert found.tolist() == [[1, 2, 3], [3, 1, 2]]
    found, _ = tables.ranks(fake, methods, "log loss")
    assert found.tolist() == [[1, 2, 3], [2, 1, 3]]
    found, places = tables.ranks(fake, [*methods, "l1_svm"], "accuracy")
    assert places == [("trec", 1.0)]
    assert found.tolist() == [[2, 3, 4, 1]]


def test_a_method_that_did_not_end_is_last(tables, fake):
    late = tables.cell_of([[50, *[None] * 10, 1]], True)
    cells = {("trec", 1.0): {**fake[("trec", 1.0)], "rfe": late}}
    for measure in tables.MEASURES:
        found, _ = tables.ranks(cells, ["rfe", "chi2", "l1_logistic"], measure)
        assert found.tolist() == [[3, 2, 1]]


def test_where_ours_is_behind(tables, fake):
    # SST2: 3 points behind, three times its standard error of 1; TREC: the SVM leads.
    text = tables.behind_table(fake, "accuracy")
    assert text.startswith("Of 2 cells behind by more than one standard error: best")
    assert "best of ours 2; weighted multinomial 2." in text
    assert "| SST2 1 % | l1 logistic regression: 73.0 |" in text
    assert "| 3.0 (3.0) |" in text
    assert "| TREC 1 % | l1 SVM: 95.0 |" in text
    text = tables.behind_table(fake, "log loss")
    assert "best of ours 1; weighted multinomial 1." in text
    assert "0.100 (5.0)" in text
    assert "TREC" not in text


def test_within_one_standard_error_is_not_behind(tables, fake):
    cell = fake[("sst2", 1.0)]["weighted_multinomial"]
    gap, errors = tables.behind(cell, 0.7099, "accuracy")
    assert gap == pytest.approx(0.0099)
    assert errors == pytest.approx(0.99)
    assert tables.behind(cell, 0.69, "accuracy") is None
    assert tables.behind(cell, 0.61, "log loss") is None


def test_log_loss_ratios(tables, fake):
    text = tables.loss_ratios(fake)
    assert "at most 1.05 of l1 logistic regression's in 1 of 2 cells" in text
    assert "below every naive Bayes in 2, in 2 when" in text
    assert "| TREC 1 % | 0.400 | chi2, MNB: 0.450 | 0.750 | 0.667 |" in text
    assert "| SST2 1 % | 0.500 | chi2, MNB: 0.700 | 1.200 ! | 0.857 |" in text


def test_the_best_of_a_column_is_bold(tables, fake):
    accuracy = "\n".join(tables.score_tables(fake, "accuracy"))
    assert "| l1 SVM | **95.0** ±1.0 |  |" in accuracy
    assert "| l1 logistic regression | 85.0 ±1.0 | **73.0** ±1.0 |" in accuracy
    loss = "\n".join(tables.score_tables(fake, "log loss"))
    assert "| weighted multinomial | **0.300** ±0.020 | 0.600 ±0.020 |" in loss
    assert "SVM" not in loss


def test_seconds_of_another_run_are_in_brackets(tables):
    def one(method, run):
        rows = {f"{method} 1": [fake_row(50, 0.8, 0.4, run=run)]}
        return fake_content(tables, method, "trec", rows)

    cells = tables.cells_of(
        [one("weighted_multinomial", 7), one("chi2", 7), one("l1_logistic", 3)]
    )
    assert "| TREC 1 % | 0.25 | 0.25 | (0.25) | (0.5) |" in tables.seconds_table(cells)


# ----------------------------------------------------------------------------- speed


@pytest.fixture(scope="module")
def speed():
    return load("wide_weights_speed")


def test_ratios_are_of_each_peer_over_each_of_ours(speed):
    best = {"SelectiveMultinomialNB": 2.0, "l1 logistic regression": 3.0, "RFE": 50.0}
    assert speed.ratios(best) == {
        "l1 logistic regression": {"SelectiveMultinomialNB": 1.5},
        "RFE": {"SelectiveMultinomialNB": 25.0},
    }


def test_the_penalty_of_the_study_is_taken_for_the_same_size_only(
    speed, methods, tmp_path, monkeypatch
):
    monkeypatch.setattr(speed, "STUDY", tmp_path)
    assert speed.stored_penalty("imdb", 1.0, 50) is None
    row = fake_row(50, 0.8, 0.4)
    row[methods.COLUMNS.index("C")] = 0.125
    content = {"columns": methods.COLUMNS, "rows": {"l1_logistic 1": [row]}}
    write_parts(tmp_path, {"l1_logistic/imdb": content})
    assert speed.stored_penalty("imdb", 1.0, 50) == 0.125
    assert speed.stored_penalty("imdb", 1.0, 51) is None
    assert speed.stored_penalty("imdb", 5.0, 50) is None
