"""The study without a limit on the features: alpha, objective, cells and tables."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.special import xlogy
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from tests.studies.study_modules import STUDIES, load, read_parts

from bayesieve import solve_multinomial

ROOT = Path(__file__).resolve().parents[2]
RESULTS = STUDIES / "results" / "unlimited_features"
smoothing = load("smoothing_choice")


@pytest.fixture(scope="module")
def cells():
    return load("unlimited_cells")


@pytest.fixture(scope="module")
def tables():
    return load("unlimited_tables")


@pytest.fixture(scope="module")
def study():
    return load("unlimited_features")


def documents(n_rows=240, n_columns=60, seed=0):
    """Counts of two classes in which every column occurs and some tell them apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    rate = np.full((2, n_columns), 0.2)
    telling = min(25, n_columns)
    rate[:, :telling] *= rng.uniform(0.3, 3.0, size=(2, telling))
    X = rng.poisson(rate[y])
    X[0] += X.sum(axis=0) == 0
    return sparse.csr_matrix(X), y


# ------------------------------------------------------------------------- mathematics


@pytest.mark.parametrize("tfidf", [False, True])
def test_accuracies_of_alphas_are_those_of_a_fit_for_each_alpha(cells, tfidf):
    X, y = documents(seed=3)
    if tfidf:
        X = TfidfTransformer().fit_transform(X)
    folds = StratifiedKFold(smoothing.FOLDS, shuffle=True, random_state=cells.SEED)
    alphas = [0.001, 0.1, 1.0, 30.0]
    search = GridSearchCV(MultinomialNB(), {"alpha": alphas}, cv=folds).fit(X, y)
    found = smoothing.accuracies_of_alphas(X, y, alphas, seed=cells.SEED)
    np.testing.assert_allclose(
        found, search.cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )
    assert (
        smoothing.chosen_alpha(X, y, alphas, seed=cells.SEED)
        == search.best_params_["alpha"]
    )
    assert len(set(found)) > 1  # else nothing was chosen


def test_class_sums_are_sums_of_rows(cells):
    X, y = documents()
    dense = X.toarray()
    expected = [dense[y == 0].sum(axis=0), dense[y == 1].sum(axis=0)]
    np.testing.assert_array_equal(smoothing.class_sums(X, y), expected)


def log_likelihood(f, support):
    """The best log-likelihood of two multinomials that differ on the support alone.

    Its parameters are eq. (13) of the paper.
    """
    total = f.sum()
    theta = np.tile(f.sum(axis=0) / total, (2, 1))
    inside = f[:, support]
    theta[:, support] = inside.sum() / inside.sum(axis=1, keepdims=True) * inside
    theta[:, support] /= total
    np.testing.assert_allclose(theta.sum(axis=1), 1)
    return xlogy(f, theta).sum()


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_gain_is_likelihood_over_the_null_model(cells, alpha):
    X, y = documents(seed=1)
    f = smoothing.class_sums(X, y)
    f[0, 3] = 0  # a column of one class
    null = xlogy(f + alpha, (f + alpha).sum(axis=0) / (f + alpha).sum()).sum()
    for support in ([0, 3], [3, 7, 20], list(range(30))):
        found, rounding = cells.gain_of(f, np.array(support), alpha)
        expected = log_likelihood(f + alpha, support) - null
        assert found == pytest.approx(expected, rel=1e-9)
        assert 0 < rounding < 1e-9


def test_gain_of_the_best_support_is_that_of_the_solver_and_of_enumeration(cells):
    X, y = documents(n_columns=9, seed=2)
    f = smoothing.class_sums(X, y)
    solution = solve_multinomial(f, 3, alpha=1.0)
    certificate = solution.certificate
    best = max(
        cells.gain_of(f, np.array(support), 1.0)[0]
        for support in itertools.combinations(range(9), 3)
    )
    found, rounding = cells.gain_of(f, solution.support, 1.0)
    assert found >= best - rounding
    assert found == pytest.approx(certificate.objective - certificate.null_objective)


def test_two_orders_of_one_support_differ_by_less_than_rounding(cells):
    X, y = documents(n_columns=500, seed=4)
    f = smoothing.class_sums(X, y) / 7
    support = np.arange(400)
    a, rounding = cells.gain_of(f, support, 0.01)
    b, _ = cells.gain_of(f, support[::-1], 0.01)
    assert abs(a - b) <= rounding
    worse, _ = cells.gain_of(f, support[:-1], 0.01)
    assert a - worse > rounding


def test_paired_error_is_that_of_the_differences(cells):
    a = np.array([1, 1, 0, 1], dtype=bool)
    b = np.array([1, 0, 1, 0], dtype=bool)
    # Differences 0, 1, -1, 1: variance 3/4 - 1/16 = 11/16, over four rows.
    assert cells.paired_error(a, b) == pytest.approx(np.sqrt(11 / 64))


# ------------------------------------------------------------------------------- cells


class Twin:
    """In place of the published code: it answers the first columns after 0.5 s."""

    def __init__(self, ended=True):
        self.asked = []
        self.ended = ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def ask(self, selector, *, limit, k, alpha):
        self.asked.append((selector, k, alpha))
        if not self.ended:
            return {"ended": False, "why": "no end"}
        return {"ended": True, "support": list(range(k)), "seconds": 0.5}


@pytest.fixture
def job(cells):
    X, y = documents(seed=5)
    vectors = load("text_vectors").Vectors
    return cells.prepared(vectors(X[:180], y[:180], X[180:], y[180:], np.arange(60)))


def test_a_cell_scores_stage_two_on_the_chosen_columns(cells, job):
    worker = Twin()
    row = cells.cell(job, 6, worker, limit=1, run=7)
    at = dict(zip(cells.COLUMNS, row, strict=True))
    data = job.data
    support = solve_multinomial(job.sums, 6, alpha=job.alpha).support
    model = MultinomialNB(alpha=job.alpha).fit(data.X_train[:, support], data.y_train)
    expected = model.score(data.X_test[:, support], data.y_test)
    assert at["ours_accuracy"] == pytest.approx(expected, abs=1e-6)
    assert (at["m"], at["k"], at["alpha"], at["run"]) == (60, 6, job.alpha, 7)
    assert at["published_seconds"] == 0.5
    for which, alpha in (("0", 0.0), ("a", job.alpha)):
        best = solve_multinomial(job.sums, 6, alpha=alpha).support
        ours, _ = cells.gain_of(job.sums, best, alpha)
        theirs, _ = cells.gain_of(job.sums, np.arange(6), alpha)
        assert at[f"gain_{which}"] == pytest.approx(ours)
        assert at[f"below_{which}"] == pytest.approx(ours - theirs, rel=1e-3)
        assert at[f"below_{which}"] > at[f"rounding_{which}"]
    assert set(worker.asked) == {
        ("published", 6, 0.0),
        ("published", 6, job.alpha),
    }
    assert len(worker.asked) == cells.REPEATS + 1


def test_a_peer_without_an_answer_leaves_holes(cells, job):
    at = dict(
        zip(
            cells.COLUMNS,
            cells.cell(job, 4, Twin(ended=False), limit=1, run=0),
            strict=True,
        )
    )
    for name in ("published_seconds", "below_0", "rounding_0", "below_a"):
        assert at[name] is None
    assert at["gain_a"] > 0


def test_slow_sides_are_measured_once_and_the_best_counts(cells):
    seconds = {"slow": iter([9.0]), "quick": iter([0.3, 0.1, 0.2])}
    sides = {name: values.__next__ for name, values in seconds.items()}
    assert cells.best_seconds(sides, 3) == {"slow": 9.0, "quick": 0.1}


# --------------------------------------------------------------------------- the study


def test_the_work_goes_split_by_split_and_a_second_run_goes_on(
    study, cells, tables, tmp_path, monkeypatch
):
    texts = load("text_vectors")
    counted, asked = [], []

    def ready_row(job, k, worker, *, limit, run):
        content = fake_content(cells, m=job.data.X_train.shape[1], k=k, run=run)
        return content["rows"]["1"][0]

    def tiny(data, vector, at, *, max_features):
        assert max_features is None
        counted.append((at, data, vector))
        X, y = documents(seed=at)
        return texts.Vectors(X[:180], y[:180], X[180:], y[180:], np.arange(60))

    class Named(str):
        name = property(str)

    def worker(X, y, environment):
        asked.append(X.shape)
        return Twin()

    monkeypatch.setattr(study, "cell", ready_row)  # it has tests of its own
    monkeypatch.setattr(study, "vectors", tiny)
    monkeypatch.setattr(study, "load", Named)
    monkeypatch.setattr(study, "available", lambda: ["mpqa", "imdb"])
    monkeypatch.setattr(study, "PeerWorker", worker)
    monkeypatch.setattr(study, "SPLITS", {"mpqa": 2, "amazon": 2, "imdb": 1})
    options = ["--folder", str(tmp_path), "--vectors", "count,tfidf"]
    study.main(options)
    assert [(at, name) for at, name, vector in counted if vector == "count"] == [
        (0, "mpqa"),
        (0, "imdb"),
        (1, "mpqa"),
    ]
    assert len(asked) == 6
    study.main(options)
    assert len(asked) == 6  # nothing was left to do
    stored = read_parts(tmp_path)["mpqa_count"]
    assert {key: len(rows) for key, rows in stored["rows"].items()} == {
        f"{p:g}": 2 for p in tables.PERCENTS
    }
    study.main([*options, "--splits", "2", "--sets", "imdb"])
    assert counted[6:] == [(1, "imdb", "count"), (1, "imdb", "tfidf")]
    study.main([*options, "--again", "--sets", "imdb", "--vectors", "count"])
    assert counted[8:] == [(0, "imdb", "count")]
    assert (tmp_path / "tables.md").read_text() == tables.document(tmp_path)
    assert (tmp_path / "figure_gain_and_time.png").is_file()


def test_unknown_sets_are_refused(study, capsys):
    with pytest.raises(SystemExit):
        study.main(["--sets", "mpqa,mars"])
    assert "'mars' is not known; there are mpqa, amazon" in capsys.readouterr().err


# ------------------------------------------------------------------------------ tables


def fake_content(cells, data="mpqa", vector="count", splits=2, **columns):
    """Rows of given columns; a callable gets the place of the share and the split."""
    usual = {
        "m": 1000,
        "k": 10,
        "alpha": 1.0,
        "all_accuracy": 0.9,
        "mnb_seconds": 0.1,
        "ours_seconds": 0.2,
        "refined_seconds": 0.4,
        "published_seconds": 0.8,
        "gain_0": 100.0,
        "gain_a": 50.0,
        "below_0": 0.0,
        "below_a": 0.0,
        "rounding_0": 1e-9,
        "rounding_a": 1e-9,
        "optimal_0": 1,
        "optimal_a": 1,
    }

    def value(name, share, split):
        given = columns.get(name, usual.get(name, 0.5))
        return given(share, split) if callable(given) else given

    rows = {
        key: [[value(c, share, s) for c in cells.COLUMNS] for s in range(splits)]
        for share, key in enumerate(("0.01", "0.05", "0.1", "1"))
    }
    return {"data": data, "vector": vector, "columns": cells.COLUMNS, "rows": rows}


def test_errors_are_over_splits_and_over_rows_where_the_tests_are_fixed(cells, tables):
    def ours(share, split):
        return 0.7 + 0.02 * split

    columns = {
        "ours_accuracy": ours,
        "thresholded_accuracy": 0.6,
        "ours_thresholded_error": 0.03,
    }
    # Three splits, 0.02 apart: the deviation is 0.02.
    for data, expected in (("mpqa", 0.02 / np.sqrt(3)), ("sst2", 0.03)):
        case = tables.case_of(fake_content(cells, data, splits=3, **columns))
        gain, error = case.difference("ours", "thresholded")
        assert gain == pytest.approx([0.12] * 4)
        assert error == pytest.approx([expected] * 4)
    one = tables.case_of(fake_content(cells, splits=2, **columns))
    assert one.difference("ours", "thresholded")[1] == pytest.approx([0.03] * 4)


def test_splits_without_every_share_are_left_out(cells, tables):
    content = fake_content(cells, splits=3)
    content["rows"]["1"] = content["rows"]["1"][:2]
    assert tables.case_of(content).n_splits == 2
    del content["rows"]["1"]
    assert tables.case_of(content) is None


def test_the_verdict_counts_ahead_within_and_behind(cells, tables):
    def ours(share, split):
        return (0.60, 0.485, 0.40, 0.50)[share] + 0.02 * split

    case = tables.case_of(fake_content(cells, splits=3, ours_accuracy=ours))
    # The error is 0.0115; the means are 0.62, 0.505, 0.42 and 0.52 against 0.5.
    counts, mean = tables.verdict([case], "ours", "odds")
    assert counts == [2, 1, 1]
    assert mean == pytest.approx((0.12 + 0.005 - 0.08 + 0.02) / 4)


def test_objectives_below_and_above_are_counted_beyond_rounding(cells, tables):
    def below(share, split):
        return (0.5, 1e-12, -1e-12, -2e-9)[share]

    case = tables.case_of(fake_content(cells, below_0=below))
    text = tables.objective_table([case])
    assert "| MPQA, count | 1 | 8 | 2 | 2 | 0.5 | 5.0e-03 | 8 | 0 | 0 |" in text
    assert "16 of 16" in text
    assert "beyond rounding in 2, strictly above in 2" in " ".join(
        tables.summary([case]).split()
    )


def test_times_stand_beside_the_papers(cells, tables):
    case = tables.case_of(fake_content(cells, "imdb", "word_bigram"))
    line = tables.time_table([case]).splitlines()[-1]
    assert line == (
        "| IMDB, tf-idf word bigram | 8,950,169 | 1,000 | 2 | 9.38 | 0.8 | 0.2 | 0.4 | "
        "0.1 | 4.0 | 2.0 |"
    )
    assert "| 2.0 (8.0) | 2.0 (8.0) |" in tables.slower_table([case])


def test_an_answer_that_is_missing_is_not_counted(cells, tables):
    def published(share, split):
        return None if share == 3 else 0.8

    holes = {"published_seconds": published, "below_0": lambda *_: None}
    case = tables.case_of(fake_content(cells, rounding_0=lambda *_: None, **holes))
    assert "| 0 | 0 | 0 | - | - | 8 |" in tables.objective_table([case])
    assert "in 0 of 6 cells" in " ".join(tables.summary([case]).split())


def test_the_stored_objective_is_never_below_the_published_codes(tables):
    found = [tables.case_of(content) for content in tables.contents_of(RESULTS)]
    assert any(found)
    for case in filter(None, found):
        for at in ("0", "a"):
            below, rounding = case[f"below_{at}"], case[f"rounding_{at}"]
            known = np.isfinite(below)
            assert np.all(below[known] >= -rounding[known]), case.title
