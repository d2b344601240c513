"""Scores, folds and tables of the comparisons with Khiops and River, without either."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from tests.studies.study_modules import load, read_parts, write_parts

scores = load("probability_scores")
comparison = load("khiops_comparison")
tables = load("khiops_tables")
candidates = load("candidates")
streams = load("streams")


@given(
    st.lists(st.integers(1, 25), min_size=2, max_size=6),
    st.integers(2, 10),
    st.integers(0, 5),
)
def test_folds_part_the_rows_and_spread_every_class(counts, folds, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    parts = scores.stratified_folds(y, folds, seed)
    tests = np.concatenate([test for _, test in parts])
    np.testing.assert_array_equal(np.sort(tests), np.arange(y.shape[0]))
    sizes = [test.shape[0] for _, test in parts]
    assert max(sizes) - min(sizes) <= 1
    for train, test in parts:
        assert np.intersect1d(train, test).shape[0] == 0
        assert train.shape[0] + test.shape[0] == y.shape[0]
        share = np.bincount(y[test], minlength=len(counts))
        assert np.all(np.abs(share - np.array(counts) / folds) < 1)


def test_folds_depend_on_the_seed_alone():
    y = np.arange(60) % 3
    first, again = (scores.stratified_folds(y, 5, 7) for _ in range(2))
    other = scores.stratified_folds(y, 5, 8)
    for (_, a), (_, b) in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any((a[1] != b[1]).any() for a, b in zip(first, other, strict=True))


def test_auc_is_that_of_scikit_learn_with_ties():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=200)
    proba = np.round(rng.dirichlet(np.ones(4), size=200) + 0.3 * np.eye(4)[y], 1)
    proba /= proba.sum(axis=1, keepdims=True)
    expected = roc_auc_score(y, proba, multi_class="ovr", average="weighted")
    assert scores.weighted_auc(y, proba) == pytest.approx(expected, abs=1e-12)
    first = np.round(8 * proba[:, :1]) / 8  # complements without rounding, with ties
    binary = np.hstack([first, 1 - first])
    expected = roc_auc_score(y == 0, first[:, 0])
    found = scores.weighted_auc((y != 0).astype(int), binary)
    assert found == pytest.approx(expected, abs=1e-12)


def test_auc_leaves_out_classes_without_test_rows():
    y = np.array([0, 0, 2, 2])
    proba = np.array(
        [[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.1, 0.5, 0.4], [0.3, 0.3, 0.4]]
    )
    assert scores.weighted_auc(y, proba) == 1.0
    assert np.isnan(scores.weighted_auc(np.zeros(4, dtype=int), proba))


def test_log_loss_is_that_of_scikit_learn_and_clipped_at_zero_probability():
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    proba = rng.dirichlet(np.ones(3), size=90)
    assert scores.row_losses(y, proba).mean() == pytest.approx(log_loss(y, proba))
    # Class 2 had no training rows: its column is zero, its rows cost ln 1e15.
    proba = scores.all_classes(np.full((1, 2), 0.5), np.array([0, 1]), 3)
    np.testing.assert_array_equal(proba, [[0.5, 0.5, 0.0]])
    loss = scores.row_losses(np.array([2]), proba)
    assert loss[0] == pytest.approx(15 * np.log(10))


def test_compression_is_zero_for_the_priors_and_one_for_certainty():
    y = np.array([0, 1, 1, 1])
    prior = np.array([0.4, 0.6])
    assert scores.compression(y, np.tile(prior, (4, 1)), prior) == pytest.approx(0.0)
    assert scores.compression(y, np.eye(2)[y], prior) == 1.0
    # ln 2 a row against -(ln 0.4 + 3 ln 0.6) in all.
    expected = 1 - 4 * np.log(2) / -(np.log(0.4) + 3 * np.log(0.6))
    half = np.full((4, 2), 0.5)
    assert scores.compression(y, half, prior) == pytest.approx(expected)


def test_candidates_are_read_from_words():
    words = ["optimizer=vns", "exponent=0.95", "k=None", "effort=3"]
    assert candidates.candidate(words) == (
        "SelectiveNB",
        {"optimizer": "vns", "exponent": 0.95, "k": None, "effort": 3},
    )
    assert candidates.key_of([]) == "SelectiveNB"
    assert candidates.key_of(["AveragedNB", "b=2", "a=1"]) == "AveragedNB a=1 b=2"
    with pytest.raises(SystemExit, match="has no NoSuchNB"):
        candidates.make(["NoSuchNB"])
    assert candidates.make(["SparseBernoulliNB", "k=3"]).k == 3


class Weighted(GaussianNB):
    """Stands for ours: a naive Bayes that gives every variable a weight."""

    @property
    def support_(self):
        return np.ones(self.n_features_in_, dtype=bool)


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A folder with both sides: ours by a stand-in, Khiops a copy that is worse."""
    monkeypatch.setattr(comparison, "make", lambda words: Weighted())
    arguments = ["--ours-only", "--sets", "waveform,waveform_noise", "--folds", "4"]
    comparison.main([*arguments, "--folder", str(tmp_path)])
    worse = {}
    for part, content in read_parts(tmp_path).items():
        content["side"] = "khiops"
        for row in content["rows"]["folds"]:
            row[tables.AUC] -= 0.01
            row[tables.SECONDS] *= 3
        worse[part.replace("SelectiveNB", "khiops")] = content
    write_parts(tmp_path, {**read_parts(tmp_path), **worse})
    return tmp_path, arguments


def test_a_run_scores_every_fold_and_a_second_one_adds_nothing(finished):
    folder, arguments = finished
    parts = read_parts(folder)
    content = parts["SelectiveNB/waveform"]
    rows = np.array(content["rows"]["folds"])
    assert rows.shape == (4, len(tables.COLUMNS))
    assert rows[:, tables.TEST_ROWS].sum() == 5_000
    assert (rows[:, tables.KEPT] == 21).all()
    assert (rows[:, tables.TOGETHER] == 0).all()
    # Waves: plain Gaussian naive Bayes is right for about 81 % of the rows.
    assert (rows[:, tables.AUC] > 0.9).all()
    comparison.main([*arguments, "--folder", str(folder)])
    assert read_parts(folder) == parts
    # --again measures anew, also over a file that other versions have written.
    content["packages"]["numpy"] = "0.0.1"
    write_parts(folder, parts)
    with pytest.raises(SystemExit, match="was written with packages"):
        comparison.main([*arguments, "--folder", str(folder)])
    comparison.main([*arguments, "--again", "--folder", str(folder)])
    anew = np.array(read_parts(folder)["SelectiveNB/waveform"]["rows"]["folds"])
    np.testing.assert_array_equal(anew[:, : tables.SECONDS], rows[:, : tables.SECONDS])


def test_tables_compare_the_sides(finished):
    folder, _ = finished
    text, found = tables.document(folder), tables.summaries(folder)["SelectiveNB"]
    assert found["sets"] == 2
    assert found["auc"]["clearly better"] == 2
    assert found["auc"]["ours"] - found["auc"]["khiops"] == pytest.approx(0.01)
    assert found["log loss"]["better"] == found["log loss"]["worse"] == 0
    assert found["times faster"]["median"] == pytest.approx(3.0)
    assert "3.0*" in text  # not measured in turns
    assert text.count("| waveform_noise |") == 2  # both sides, and Khiops alone


def test_half_a_run_is_not_in_the_tables(finished):
    folder, _ = finished
    parts = read_parts(folder)
    parts["SelectiveNB/waveform"]["rows"]["folds"].pop()
    write_parts(folder, parts)
    assert tables.summaries(folder)["SelectiveNB"]["sets"] == 1


def test_marks_say_who_is_better_and_how_surely():
    base = np.array([0.9, 0.8, 0.85, 0.95])
    assert tables.mark(base + 0.0004, base, more=True) == "="
    assert tables.mark(base + 0.01, base, more=True) == "++"
    assert tables.mark(base + 0.01, base, more=False) == "--"
    noisy = base + np.array([0.1, -0.09, 0.1, -0.09])
    assert tables.mark(noisy, base, more=True) == "+"


def test_streams_are_scored_from_the_second_chunk_on():
    rows = [[10, 99.0, 10, 1.0, 4.0], [10, 5.0, 2, 0.5, 3.0], [5, 1.0, 1, 0.5, 2.0]]
    assert streams.summary_of(rows) == {
        "tested rows": 15,
        "log loss": pytest.approx(0.4),
        "accuracy": pytest.approx(0.8),
        "rows per second": pytest.approx(12.5),
        "kept at the end": 2.0,
    }


def test_a_chunk_is_predicted_before_it_is_learned():
    pd = pytest.importorskip("pandas")
    X, y = load("uci_generators").waveform(1_050)
    stream = streams.Stream("waves", [], pd.DataFrame(X), y, [0, 1, 2])
    rows = streams.run_model(streams.by_chunk(Weighted(), stream), stream, 100)
    assert [row[streams.ROWS] for row in rows] == [100] * 10 + [50]
    # Nothing is known of the first chunk: ln 3 a row.
    assert rows[0][streams.LOSS] == pytest.approx(100 * np.log(3))
    facts = streams.summary_of(rows)
    assert facts["tested rows"] == 950
    assert facts["accuracy"] > 0.7
    # What a chunk's prediction should be: a model of the chunks before it.
    before = GaussianNB().fit(X[:900], y[:900]).predict_proba(X[900:1000])
    loss = scores.row_losses(y[900:1000], before, streams.CLIP).sum()
    assert rows[9][streams.LOSS] == pytest.approx(loss, rel=1e-6)


def test_streams_say_how_to_get_their_peers(monkeypatch):
    monkeypatch.setattr(streams, "find_spec", lambda name: None)
    with pytest.raises(
        SystemExit, match=r"Not installed here: river and capymoa(.|\n)*pip install"
    ):
        streams.main(["--quick"])
