"""The comparison with peers: contestants on small data, the record, and the page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tests.patience import HANGS
from tests.studies.study_modules import BENCHMARKS, load, write_parts

ROOT = Path(__file__).resolve().parents[2]
LOGISTIC = "logistic regression"


@pytest.fixture(scope="module")
def peers():
    return load("peers")


@pytest.fixture(scope="module")
def contestants():
    return load("peers_contestants")


@pytest.fixture(scope="module")
def tables():
    return load("peers_tables")


@pytest.fixture(scope="module")
def cited():
    return load("peers_cited")


def documents(n_rows=300, n_columns=80, seed=0):
    """Counts whose first twenty columns tell two classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    rate = np.full((2, n_columns), 0.4)
    rate[1, :10] *= 3.0
    rate[0, 10:20] *= 3.0
    return sparse.csr_matrix(rng.poisson(rate[y])), y


# ------------------------------------------------------------------------- contestants


def ours_and_scikit_learn(contestants, part):
    return [one for one in contestants.of_part(part) if not one.in_peers_environment]


def test_everybody_in_this_environment_chooses_about_ten_telling_columns(contestants):
    X, y = documents()
    for one in ours_and_scikit_learn(contestants, "text"):
        rows = X.astype(np.float64) if one.floats else X
        chosen = one.make(10, 0.3, 60.0)(rows, y)
        assert 5 <= len(chosen.support) <= 10, one.name
        telling = np.mean(np.asarray(chosen.support) < 20)
        assert telling >= 0.7, one.name
        if chosen.model is not None:
            new = X[:, chosen.support] if one.model_on == "chosen" else X
            assert np.mean(chosen.model.predict(new) == y) > 0.8, one.name


def test_everybody_in_this_environment_chooses_measurements(contestants):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 40))
    X[:, :8] += 2.0 * np.stack([y == 1, y == 2], axis=1)[:, [0, 1] * 4]
    for one in ours_and_scikit_learn(contestants, "gene_bladder"):
        chosen = one.make(6, None, 60.0)(X, y)
        assert 3 <= len(chosen.support) <= 6, one.name
        assert np.mean(np.asarray(chosen.support) < 8) >= 0.8, one.name
        if chosen.model is not None:
            assert np.mean(chosen.model.predict(X) == y) > 0.8, one.name


def test_only_a_proof_of_the_chosen_columns_is_told(contestants):
    X, y = documents()
    notes = {
        one.name: one.make(10, None, 60.0)(X, y).notes
        for one in contestants.of_part("text")
        if one.owner == "bayesieve"
    }
    assert notes["NaiveFeatureSelector"]["is_optimal"]
    assert notes["SparseMultinomialNB"]["is_optimal"]
    assert notes["NaiveFeatureSelector(refine=True)"] == {}
    assert notes["SelectiveMultinomialNB"] == {}


def test_names_are_unique_and_the_quick_ones_exist(contestants, peers):
    names = [one.name for one in contestants.CONTESTANTS]
    assert len(names) == len(set(names))
    assert set(peers.QUICK) <= set(names)
    assert peers.PENALTY_OF in names


def test_a_worker_answers_with_cost_and_accuracy(tmp_path, peers):
    X, y = documents(n_rows=400)
    sparse.save_npz(tmp_path / "train.npz", X[:300])
    sparse.save_npz(tmp_path / "test.npz", X[300:])
    np.save(tmp_path / "y_train.npy", y[:300])
    np.save(tmp_path / "y_test.npy", y[300:])
    command = peers.worker_command(sys.executable, "run", "text", tmp_path)
    command += ["--name", "SparseMultinomialNB", "--k", "10", "--limit", "60"]
    answer = peers.one_run(command, 60.0)
    assert answer["ended"], answer
    assert answer["chosen"] == 10
    assert answer["notes"]["is_optimal"]
    assert len(answer["seconds"]) == 2  # cold, then warm
    assert set(answer["accuracy"]) == {"naive Bayes", "logistic regression", "own"}
    assert min(answer["accuracy"].values()) > 0.8
    assert answer["extra_bytes"] >= 0


def test_an_error_of_a_contestant_is_an_answer(tmp_path, peers):
    command = peers.worker_command(sys.executable, "run", "text", tmp_path)
    command += ["--name", "NaiveFeatureSelector", "--k", "10", "--limit", "60"]
    answer = peers.one_run(command, 60.0)  # there are no rows in the folder
    assert not answer["ended"]
    assert "FileNotFoundError" in answer["why"]


def test_whoever_is_late_is_ended(peers):
    program = "import time; print('{\"ready\": true}', flush=True); time.sleep(600)"
    answer = peers.one_run([sys.executable, "-c", program], 0.2)
    assert not answer["ended"]
    assert answer["why"] == "no end within 0.2 s"
    broken = peers.one_run([sys.executable, "-c", "raise SystemExit(3)"], 60.0)
    assert broken["why"] == "the process broke off"


# -------------------------------------------------------------------------- the record


def run(*seconds, **more):
    base = {"ended": True, "seconds": list(seconds), "notes": {}, "date": "2026-01-01"}
    accuracy = {"naive Bayes": 0.8, LOGISTIC: 0.7}
    cost = {"processor_seconds": sum(seconds), "extra_bytes": 1_000_000, "load": 1.0}
    return {**base, **cost, "chosen": 5, "accuracy": accuracy, **more}


def test_quick_contestants_are_repeated_slow_ones_are_not(peers):
    assert peers.missing([], 3, 20.0) == 3
    assert peers.missing([run(1.0)], 3, 20.0) == 2
    assert peers.missing([run(30.0)], 3, 20.0) == 0
    assert peers.missing([{"ended": False, "why": "late"}], 3, 20.0) == 0


def test_the_penalty_is_that_of_liblinear(peers):
    assert peers.penalty_of({}) is None
    assert peers.penalty_of({peers.PENALTY_OF: [run(1.0, notes={"C": 0.25})]}) == 0.25


def test_a_record_goes_on_and_refuses_other_versions(tmp_path, peers):
    path = tmp_path / "peers.json"
    record = peers.Record(path, quick=False)
    record.begin("text", {"k": 5}, 60.0)
    record.add("text", "NaiveFeatureSelector", run(1.0))
    again = peers.Record(path, quick=False)
    assert len(again.runs("text")["NaiveFeatureSelector"]) == 1
    with pytest.raises(SystemExit, match="other rows"):
        again.begin("text", {"k": 6}, 60.0)
    content = json.loads(path.read_text())
    content["packages"]["numpy"] = "1.0"
    path.write_text(json.dumps(content))
    with pytest.raises(SystemExit, match="was written with packages"):
        peers.Record(path, quick=False)


def test_an_unknown_part_is_named():
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "peers.py"), "--parts", "texts"],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode != 0
    assert "--parts takes text, wide" in done.stderr
    assert "Got texts." in done.stderr


# ---------------------------------------------------------------------------- the page


def small_content(**runs):
    data = {"rows": 10, "test_rows": 400, "columns": 7, "entries": 9}
    data |= {"classes": 2, "k": 5}
    part = {"data": data, "limit": 60.0, "runs": {n: [r] for n, r in runs.items()}}
    return {"parts": {"text": part}}


def test_wins_and_losses_are_both_told(tables):
    content = small_content(
        **{
            "NaiveFeatureSelector": run(0.1, extra_bytes=5_000_000),
            "SelectKBest(chi2)": run(
                0.4,
                extra_bytes=2_000_000,
                accuracy={"naive Bayes": 0.81, LOGISTIC: 0.7},
            ),
            "SelectKBest(f_classif)": run(
                0.5, accuracy={"naive Bayes": 0.9, LOGISTIC: 0.7}
            ),
            "mrmr_classif": {"ended": False, "why": "needs dense rows", "load": 1.0},
        }
    )
    speed, memory, accuracy, logistic, first, silent = tables.ahead(content, "text")
    assert "ours is ahead (NaiveFeatureSelector, 0.10 s)" in speed
    assert "4.0 times as much" in speed
    assert "**ahead of ours** (NaiveFeatureSelector, 5 MB)" in memory
    assert "SelectKBest(f_classif) (1 MB), SelectKBest(chi2) (2 MB)" in memory
    # The standard error of 80 % of 400 rows is 2 points.
    assert "standard error 2.0" in accuracy
    assert "**ahead of our best**" in accuracy
    assert "): SelectKBest(f_classif) 90.0 %; higher by less" in accuracy
    assert accuracy.endswith("than that error: SelectKBest(chi2) 81.0 %.")
    assert "on the columns: a draw" in logistic  # equal on all sides
    assert first.startswith("Ahead of NaiveFeatureSelector alone")
    assert first.endswith("naive Bayes (80.0 %): SelectKBest(f_classif) 90.0 %.")
    assert silent == "Without an answer: mrmr_classif."


def test_at_a_glance_every_column_has_its_own_best(tables):
    content = small_content(
        **{
            "NaiveFeatureSelector": run(0.2),
            "SparseMultinomialNB": run(0.3, accuracy={"naive Bayes": 0.7, "own": 0.75}),
            "SelectKBest(chi2)": run(0.4, extra_bytes=2_000_000),
        }
    )
    last = tables.glance(content).splitlines()[-1]
    assert last.endswith(
        "| 0.20 s / 0.40 s | 1 MB / 2 MB | 80.0 / 80.0 | 70.0 / 70.0 | 75.0 / — |"
    )


def test_best_seconds_are_of_all_repetitions(tables):
    one = tables.summary([run(3.0, 2.0), run(1.5), {"ended": False, "why": "late"}])
    assert one["seconds"] == 1.5
    assert one["repetitions"] == 3
    late = tables.summary([{"ended": False, "why": "late", "processor_seconds": 7.0}])
    assert late == {"ended": False, "why": "late", "processor_seconds": 7.0}


def test_every_feature_has_a_mark_for_every_package():
    features = load("peers_features")
    features.check()
    broken = {"exactly k": ((features.YES, ""),)}
    whole = features.FEATURES
    features.FEATURES = broken
    try:
        with pytest.raises(ValueError, match=r"must have 9 cells\. Got 1\."):
            features.check()
    finally:
        features.FEATURES = whole


def test_two_stage_results_are_paired_with_ours(tmp_path, cited):
    columns = ["features", "logistic", "svm", "mnb"]
    rows = {
        "likelihood 5": [[3, 0.8, 0.7, 0.6], [3, 0.6, 0.7, 0.8]],
        "likelihood 1": [[1, 0.1, 0.1, 0.1]],
        "chi2 5": [[3, 0.72, 0.69, 0.7]],
        "mrmr 5": [[0, 0.0, 0.0, 0.0]],
    }
    content = {"columns": columns, "rows": rows}
    write_parts(tmp_path, {"made_count": content, "made_tfidf": content})
    assert cited.two_stage(tmp_path) == [
        ["ours, likelihood alone", "+0.0", "+0.0", "+0.0", "1"],
        ["chi2", "+2.0", "-1.0", "+0.0", "1"],
    ]
    assert cited.two_stage(tmp_path / "nothing") is None
    assert cited.unlimited_features(tmp_path / "nothing") is None


def test_a_search_cut_before_k_takes_no_part_in_the_verdicts(tables):
    assert tables.is_whole({"chosen": 48}, 50)
    assert not tables.is_whole({"chosen": 47}, 50)
    assert tables.is_whole({"chosen": [50, 49, 50]}, 50)
    assert not tables.is_whole({"chosen": [50, 29, 50]}, 50)
    notes = {"fits": 3, "C": 0.1, "fit_seconds": 1.0}
    told = tables.remarks({"chosen": [50, 29], "notes": notes}, 50)
    assert "search for C ended before k" in told
