"""Experiment 1: its vectors, selectors, objective and tables, against plain twins."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from tests.studies.study_modules import STUDIES, load, read_parts

from bayesieve import NaiveFeatureSelector

texts = load("text_vectors")
environment = load("peer_environment")
models = load("two_stage_models")
gains = load("support_gains")
smoothing = load("smoothing_choice")
ledger = load("ledger")
rerun = load("rerun")
selectors = load("two_stage_selectors")
tables = load("two_stage_tables")
study = load("two_stage")
speed = load("two_stage_speed")
objective = load("published_objective")


def documents(seed=0, n_rows=160, n_columns=60):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    rate = rng.gamma(0.5, 0.6, size=(2, n_columns))
    X = sparse.csr_matrix(rng.poisson(rate[y]))
    return X[:, np.flatnonzero(np.asarray(X.sum(axis=0)).ravel())].tocsr(), y


# ----------------------------------------------------------------------------- vectors


def test_the_paper_s_vectors_are_words_of_any_length_and_two_and_three_words(real_data):
    frame = real_data("mpqa")
    count = texts.vectorizer("count", None).fit(frame["text"])
    assert len(count.vocabulary_) == 6_208  # Table 1, MPQA
    grams = texts.vectorizer("word_bigram", None).fit(frame["text"])
    assert len(grams.vocabulary_) == 27_603  # Table 2, MPQA


@pytest.mark.parametrize("name", ["mpqa", "sst2"])
def test_splits_have_the_sizes_of_the_paper_and_share_no_row(real_data, name):
    real_data(texts.FILES[name])
    data = texts.load(name)
    sizes = {"mpqa": (8_484, 2_122), "sst2": (76_961, 1_821)}[name]
    first, second = texts.split_rows(data, 0), texts.split_rows(data, 1)
    assert (len(first[0]), len(first[1])) == sizes
    for train, test in (first, second):
        assert np.intersect1d(train, test).shape[0] == 0
    assert np.array_equal(first[1], second[1]) == (name == "sst2")


def test_the_vocabulary_is_of_the_training_rows():
    rows = np.array(["a red car", "a blue car", "one green boat"] * 4, dtype=object)
    part = np.array(["train", "train", "test"] * 4)
    data = texts.Texts("imdb", rows, np.array([0, 1, 0] * 4), part)
    made = texts.vectors(data, "count", 0)
    assert made.names.tolist() == ["a", "blue", "car", "red"]
    assert made.X_test.nnz == 0
    assert texts.vectors(data, "word_bigram", 0, max_features=2).X_train.shape[1] == 2


def test_sizes_are_rounded_shares_of_two_at_least():
    assert texts.wanted_size(74_851, 5.0) == 3_743
    assert texts.wanted_size(1_000, 0.1) == 2


# ------------------------------------------------------------------------------ models


@pytest.mark.parametrize("seed", range(4))
def test_the_smoothing_is_that_of_a_grid_search_on_the_same_folds(seed):
    X, y = documents(seed)
    folds = StratifiedKFold(smoothing.FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(MultinomialNB(), {"alpha": list(models.ALPHAS)}, cv=folds)
    search.fit(X, y)
    found = models.choose_alpha(X, y)
    scores = search.cv_results_["mean_test_score"]
    mine = scores[models.ALPHAS.index(found)]
    assert mine == pytest.approx(scores.max(), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_gain_is_that_of_the_certificate_and_none_is_larger(alpha):
    X, y = documents(1, n_columns=12)
    sums = smoothing.class_sums(X, y) + alpha
    model = NaiveFeatureSelector(k=4, alpha=alpha).fit(X, y)
    found = gains.gain_of(sums, np.sort(model.support_indices_))
    every = [
        gains.gain_of(sums, np.array(some))
        for some in combinations(range(X.shape[1]), 4)
    ]
    assert found == pytest.approx(max(every), rel=1e-12)
    totals = sums.sum(axis=0)
    constant = np.sum(totals * np.log(totals)) - totals.sum() * np.log(totals.sum())
    assert model.certificate_.objective == pytest.approx(found + constant, rel=1e-12)


# --------------------------------------------------------------------------- selectors


@pytest.fixture(scope="module")
def worker():
    """A worker in this environment: real processes, but no other packages."""
    here, (X, y) = Path(sys.executable), documents()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "peer_python", lambda folder: here)
        with environment.PeerWorker(X, y) as found:
            yield found


def question(worker, sizes=(3, 9), limit=60.0):
    X, y = documents()
    data = texts.Vectors(X, y, X, y, np.arange(X.shape[1]))
    return selectors.Question(data, list(sizes), 1.0, worker, limit)


@pytest.mark.parametrize(
    "name",
    [
        "likelihood",
        "refined",
        "presence",
        "presence_refined",
        "tmnb",
        "odds_ratio",
        "chi2",
        "mutual_information",
        "l1_logistic",
        "l1_saga",
        "l1_svm",
        "lasso",
        "rfe_logistic",
        "rfe_svm",
    ],
)
def test_every_selector_gives_sorted_columns_of_the_wanted_sizes(worker, name):
    found = list(selectors.BY_NAME[name].select(question(worker)))
    assert [one.why for one in found] == ["", ""]
    for k, one in zip((3, 9), found, strict=True):
        assert np.all(np.diff(one.support) > 0)
        exact = not name.startswith(("l1", "lasso"))
        assert k - 1 <= one.support.shape[0] <= k
        assert one.support.shape[0] == k or not exact


def test_elimination_is_that_of_scikit_learn(worker):
    X, y = documents()
    start = LogisticRegression(C=1e4, solver="lbfgs", max_iter=100)
    expected = RFE(start, n_features_to_select=9, step=0.3).fit(X.astype(float), y)
    found = list(selectors.BY_NAME["rfe_logistic"].select(question(worker)))[1]
    np.testing.assert_array_equal(found.support, np.flatnonzero(expected.support_))


def test_who_does_not_end_is_killed_and_the_next_question_is_answered(worker):
    assert worker.ask("l1_svm", limit=60.0, k=3)["ended"]
    os.kill(worker._process.pid, signal.SIGSTOP)  # it cannot answer
    answer = worker.ask("l1_svm", limit=0.2, k=3)
    assert answer == {"ended": False, "why": "no end within 0.2 s"}
    assert worker.ask("l1_svm", limit=60.0, k=3)["ended"]


def test_a_peer_that_dies_is_not_called_slow(worker):
    assert worker.ask("l1_svm", limit=60.0, k=3)["ended"]
    os.kill(worker._process.pid, signal.SIGSTOP)  # so that it dies without an answer
    threading.Timer(0.2, os.kill, (worker._process.pid, signal.SIGKILL)).start()
    answer = worker.ask("l1_svm", limit=60.0, k=3)
    assert answer == {"ended": False, "why": "died, code -9"}


def test_a_size_that_did_not_end_is_the_last_one_asked():
    sizes = []

    class SlowFromNine:
        def ask(self, selector, *, limit, k):
            sizes.append(k)
            if k >= 9:
                return {"ended": False, "why": "too slow"}
            return {"ended": True, "support": [2, 0, 1], "seconds": 0.5}

    asked = question(SlowFromNine(), (3, 9, 12))
    found = list(selectors.one_by_one(asked, selector="l1_svm"))
    assert sizes == [3, 9]
    assert found[0].support.tolist() == [0, 1, 2]
    assert [one.why for one in found] == ["", "too slow", "too slow"]


def test_a_missing_package_is_a_reason_not_an_end(worker):
    answer = worker.ask("abess", limit=60.0, k=3)
    assert not answer["ended"]
    assert "abess" in answer["why"]


# ------------------------------------------------------------------------------ tables


def test_errors_are_over_splits_and_never_too_small_where_tests_repeat(tmp_path):
    def row(accuracy, why=""):
        scores = [accuracy] * 3 if not why else [None] * 3
        features = None if why else 5
        values = [5, 100, 400, 1.0, features, *scores, 1.0, 0.1, 0.1, 1, why]
        return dict(zip(tables.COLUMNS, values, strict=True))

    results = tables.Results(tmp_path)
    for name in ("mpqa", "sst2"):
        results._rows[name, "count"] = {
            "likelihood 5": [row(0.8), row(0.9)],
            "chi2 5": [row(0.95), row(0.95)],
            "mrmr 5": [row(0, "no end"), row(0, "no end")],
        }
    ours = results.cell("mpqa", "count", "likelihood", 5.0, "mnb")
    assert ours.mean == pytest.approx(0.85)
    assert ours.error == pytest.approx(0.05)  # over splits, larger than over rows
    same = results.cell("sst2", "count", "chi2", 5.0, "mnb")
    assert same.error == pytest.approx(np.sqrt(0.95 * 0.05 / 400))
    assert results.cell("mpqa", "count", "mrmr", 5.0, "mnb") is None
    assert results.why("mpqa", "count", "mrmr", 5.0) == "no end"


def results_of(tmp_path, **accuracies):
    results = tables.Results(tmp_path)
    results._rows["mpqa", "count"] = {
        f"{name} 5": [
            dict(
                zip(
                    tables.COLUMNS,
                    [10, 100, 400, 1.0, kept, *[a] * 3, 1.0, 0.1, 0.1, 1, ""],
                    strict=True,
                )
            )
            for a in several
        ]
        for name, (kept, several) in accuracies.items()
    }
    return results


def test_ahead_is_judged_by_differences_on_common_splits(tmp_path):
    where = ("mpqa", "count", 5.0)
    results = results_of(
        tmp_path,
        likelihood=(10, [0.80, 0.70, 0.90]),
        chi2=(10, [0.81, 0.712, 0.909]),  # always better by a little
        odds_ratio=(10, [0.86, 0.64, 0.92]),  # now better, now worse
        l1_saga=(10, [0.80]),  # the same on the one split that both have
        lasso=(6, [0.99, 0.99, 0.99]),  # with fewer columns than asked for
    )
    ahead = {
        name: results.is_ahead(name, "likelihood", where, "mnb")
        for name in ("chi2", "odds_ratio", "l1_saga", "lasso")
    }
    assert ahead == {
        "chi2": True,
        "odds_ratio": False,
        "l1_saga": False,
        "lasso": False,
    }
    few = results.cell("mpqa", "count", "lasso", 5.0, "mnb")
    assert tables.percent_text(few).endswith("(60 % of k)")


def test_reasons_of_the_first_split_are_kept(tmp_path):
    book = ledger.Ledger(tmp_path, "book", columns=tables.COLUMNS)
    nothing = [None] * (len(tables.COLUMNS) - 1)
    book.extend("mrmr 0.1", 0, [[1.0] * (len(tables.COLUMNS) - 1) + [""]])
    book.extend("mrmr 1", 0, [[*nothing, "too slow"]])
    assert study.reasons(book, "mrmr") == {1.0: "too slow"}


def test_the_objective_is_never_below_the_published_one():
    folder = STUDIES / "results" / "published_objective"
    if not folder.is_dir():
        pytest.skip("no results of published_objective (they are not in the sdist)")
    sets = read_parts(folder)["published_objective"]["rows"]
    found = {name: objective.differences(one) for name, one in sets.items()}
    assert all(np.all(d >= -rounding) for d, rounding in found.values())
    assert any(np.any(d > rounding) for d, rounding in found.values())


# ----------------------------------------------------------------------------- scripts


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (json.JSONDecodeError("broken", "x", 0), "damaged"),
        (FileNotFoundError(2, "No such file", "here.json"), "here.json"),
    ],
)
def test_a_script_ends_with_one_sentence(error, code):
    def main():
        raise error

    with pytest.raises(SystemExit) as ended:
        ledger.run_script(main)
    if isinstance(code, str):
        assert code in str(ended.value.code)
    else:
        assert ended.value.code == code


def test_rerun_names_what_there_is(capsys):
    with pytest.raises(SystemExit):
        rerun.main(["--only", "nothing"])
    assert "two_stage, two_stage_speed" in capsys.readouterr().err
    assert all((STUDIES / script).is_file() for script, _ in rerun.SCRIPTS.values())


def test_rerun_goes_on_after_a_failure_and_tells(tmp_path, monkeypatch, capfd):
    (tmp_path / "good.py").write_text("import sys; print(sys.argv[1:])")
    (tmp_path / "bad.py").write_text("raise SystemExit('it failed')")
    scripts = {
        "bad": (str(tmp_path / "bad.py"), "fails"),
        "good": (str(tmp_path / "good.py"), "works"),
    }
    monkeypatch.setattr(rerun, "SCRIPTS", scripts)
    assert rerun.main(["--only", "bad,good", "--folder", str(tmp_path)]) == 1
    said = capfd.readouterr().out
    assert str(["--folder", str(tmp_path / "good")]) in said
    assert "FAILED with code 1" in said
    assert said.rstrip().endswith("done")
