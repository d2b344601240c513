"""The study of table classifiers, without Khiops and InterpretML."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.study_modules import load, read_parts, write_parts

pd = pytest.importorskip("pandas")
study = load("table_classifiers")
sides = load("table_sides")
tables = load("table_classifiers_tables")
worker = load("table_worker")
candidates = load("candidates")
DataSet = load("uci_sets").DataSet
PEER = "logistic_regression"
SCIKIT_LEARN = (PEER, "random_forest", "hist_gradient_boosting")


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


# ------------------------------------------------------------------------------- sides


def mixed_table(n=240):
    """Numbers and strings with holes; one string is in test rows only."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    number = rng.normal(y.astype(float), 0.7)
    number[::7] = np.nan
    text = np.array(["a", "b", "c"], dtype=object)[(y + (rng.random(n) < 0.2)) % 3]
    text[::5] = None
    text[-1] = "never seen"
    X = pd.DataFrame({"number": number, "text": pd.Series(text, dtype=object)})
    return DataSet("mixed", X, y), y, [(np.arange(0, n - 60), np.arange(n - 60, n))]


@pytest.mark.parametrize("peer", SCIKIT_LEARN)
def test_peers_of_scikit_learn_take_strings_and_holes(peer, tmp_path):
    data, y, folds = mixed_table()
    with sides.PeerSide(peer, tmp_path, data, y, folds) as side:
        facts, proba = side.fit(0, limit=60.0)
        again, _ = side.fit(0, limit=60.0, predict=False)
    assert facts["ended"]
    assert again["ended"]
    assert facts["classes"] == [0, 1, 2]
    assert facts["kept"] is None
    assert facts["seconds"] > 0
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.mean(proba.argmax(axis=1) == y[folds[0][1]]) > 0.6


def test_the_error_of_a_peer_is_its_answer(tmp_path):
    data, y, folds = mixed_table()
    one_class = [(np.flatnonzero(y == 1), folds[0][1])]
    with sides.PeerSide(PEER, tmp_path, data, y, one_class) as side:
        facts, proba = side.fit(0, limit=60.0)
    assert not facts["ended"]
    assert proba is None
    assert facts["why"].startswith("ValueError: ")


def test_ours_answers_as_a_peer_does():
    data, y, folds = mixed_table()
    facts, proba = sides.OwnSide([], data, y, folds).fit(0, limit=60.0)
    assert set(facts) == {"ended", "seconds", "kept", "classes"}
    assert facts["kept"] == 2
    assert np.mean(proba.argmax(axis=1) == y[folds[0][1]]) > 0.6


def test_every_peer_has_a_label():
    assert list(tables.LABELS) == list(worker.PEERS)
    assert set(sides.PACKAGES) < set(worker.PEERS)


# -------------------------------------------------------------------------------- runs


@pytest.fixture
def finished(tmp_path):
    """A folder with ours, a peer, and Khiops played by a copy of ours that is worse."""
    arguments = ["--sides", f"ours,{PEER}", "--sets", "waveform,led", "--folds", "4"]
    study.main([*arguments, "--folder", str(tmp_path)])
    parts = read_parts(tmp_path)
    for name in ("waveform", "led"):
        content = read_parts(tmp_path)[f"SelectiveNB/{name}"]
        for row in content["rows"]["folds"]:
            row[tables.COLUMNS.index("AUC")] -= 0.01
        parts[f"khiops/{name}"] = content
    write_parts(tmp_path, parts)
    return tmp_path, arguments


def test_a_run_scores_every_fold_and_a_second_one_adds_nothing(finished):
    folder, arguments = finished
    parts = read_parts(folder)
    ours = tables.stored(folder)["SelectiveNB"]["waveform"]
    assert ours.folds == 4
    assert ours.column("test rows").sum() == 5_000
    assert (ours.column("kept") <= 21).all()
    assert (ours.column("kept") > 10).all()
    # Waves: naive Bayes is right for about 81 % of the rows.
    assert ours.mean("AUC") > 0.9
    assert 0.75 < ours.mean("accuracy") < 0.9
    assert ours.rows[:, len(tables.MEASURES) :][:, : tables.BINS].sum() == 5_000
    assert 0.0 < ours.mean("calibration error") < 0.1
    study.main([*arguments, "--folder", str(folder)])
    assert read_parts(folder) == parts
    # --again measures anew, also over a file that other versions have written.
    parts["SelectiveNB/waveform"]["packages"]["numpy"] = "0.0.1"
    write_parts(folder, parts)
    with pytest.raises(SystemExit, match="was written with packages"):
        study.main([*arguments, "--folder", str(folder)])
    study.main([*arguments, "--again", "--folder", str(folder)])
    anew = tables.stored(folder)["SelectiveNB"]["waveform"]
    for name in (*tables.SCORES, "kept"):
        np.testing.assert_array_equal(anew.column(name), ours.column(name))


def test_the_first_folds_are_those_of_a_whole_run(finished, tmp_path):
    folder, arguments = finished
    few = tmp_path / "few"
    study.main([*arguments, "--first", "2", "--folder", str(few)])
    whole, part = (tables.stored(at)[PEER]["led"] for at in (folder, few))
    assert part.folds == 2
    np.testing.assert_array_equal(part.column("AUC"), whole.column("AUC", 2))
    text = tables.document(few)
    assert "2 sets, 2 to 2 folds." in text


def test_a_peer_over_the_limit_is_ended_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "LIMITED", ("random_forest",))
    arguments = ["--sides", "ours,random_forest", "--sets", "led", "--folds", "4"]
    arguments += ["--limit", "0.02", "--folder", str(tmp_path)]
    study.main(arguments)
    found = tables.stored(tmp_path)
    assert found["random_forest"]["led"].unfinished == "no end within 0.02 s"
    assert found["SelectiveNB"]["led"].folds == 4
    stored = read_parts(tmp_path)
    study.main(arguments)  # is not tried again
    assert read_parts(tmp_path) == stored
    text = tables.document(tmp_path)
    assert "0, then no end within 0.02 s" in text
    assert "There is no set that every side has." in text


def test_seconds_are_taken_in_turns_of_one_run(tmp_path):
    arguments = ["--seconds", "--sets", "led", "--folder", str(tmp_path)]
    study.main([*arguments, "--sides", "ours"])
    study.main([*arguments, "--sides", f"ours,{PEER}"])
    stored = read_parts(tmp_path)
    taken = stored["seconds/led"]["rows"]
    assert set(taken) == {"SelectiveNB", PEER}
    for found in taken.values():
        assert len(found) == study.REPEATS or sum(found) >= study.ENOUGH
    study.main([*arguments, "--sides", f"ours,{PEER}"])
    assert read_parts(tmp_path) == stored
    ratio = min(taken[PEER]) / min(taken["SelectiveNB"])
    seconds = tables.fastest(tmp_path)
    assert tables.times_faster(seconds, "SelectiveNB", PEER)["led"] == ratio
    assert f"({ratio:.1f})" in tables.document(tmp_path)


def test_wide_rows_are_kept_by_side(tmp_path):
    for side in ("ours", PEER):
        arguments = ["--quick", "--wide-rows", "--sides", side]
        study.main([*arguments, "--folder", str(tmp_path)])
    wide = read_parts(tmp_path)["wide_rows"]
    assert (wide["rows"], wide["columns"]) == (20_000, 20)
    assert set(wide["sides"]) == {"SelectiveNB", PEER}
    assert wide["sides"]["SelectiveNB"]["kept"] >= 8


# ------------------------------------------------------------------------------ tables


def test_tables_compare_ours_with_khiops(finished):
    folder, _ = finished
    found = tables.compared(tables.stored(folder), "SelectiveNB", "khiops")
    assert found["sets"] == 2
    assert found["AUC"]["ahead"] == ["led", "waveform"]
    assert found["AUC"]["ours"] - found["AUC"]["peer"] == pytest.approx(0.01)
    assert found["log loss"]["ahead"] == found["log loss"]["behind"] == []
    text = tables.document(folder)
    assert "## SelectiveNB against Khiops\n" in text
    assert "AUC: ahead by more than a standard error on 2 sets, behind on 0." in text
    assert text.count("### ") == 2


def test_tables_tell_apart_sets_of_one_side_and_of_all(finished):
    folder, _ = finished
    parts = read_parts(folder)
    del parts[f"{PEER}/waveform"]
    parts[f"{PEER}/led"]["rows"]["folds"].pop()
    write_parts(folder, parts)
    found = tables.stored(folder)
    assert tables.common(found) == {"led": 3}
    lines = tables.overview(found).splitlines()
    assert lines[2].startswith("| Khiops | 2 | 4 |")
    assert lines[3].startswith("| LogisticRegression | 1 | 3 |")
    text = tables.common_overview(found)
    assert "Not every side has waveform." in text
    mean = found["SelectiveNB"]["led"].column("AUC")[:3].mean()
    assert f"| SelectiveNB | {mean:.4f} |" in text


def test_places_count_from_the_best_side():
    found = {"a": {"led": one_side([0.9, 0.8])}, "b": {"led": one_side([0.7, 0.6])}}
    assert tables.mean_ranks(found, {"led": 2}, "AUC") == {"a": 1.0, "b": 2.0}
    assert tables.mean_ranks(found, {"led": 1}, "log loss") == {"a": 2.0, "b": 1.0}


def one_side(auc):
    """A side with these AUCs and nothing else."""
    rows = np.zeros((len(auc), len(tables.COLUMNS)))
    rows[:, tables.COLUMNS.index("AUC")] = auc
    rows[:, tables.COLUMNS.index("log loss")] = auc
    return tables.Stored(rows, None, {})


@pytest.mark.parametrize(
    ("apart", "marks"),
    [
        ([0.01, 0.01, 0.012, 0.01], ("ahead", "behind")),
        ([0.1, -0.09, 0.1, -0.09], ("", "")),
        ([0.0, 0.0, 0.0, 0.0], ("", "")),
        ([0.5], ("", "")),
        ([0.01, np.nan, 0.012, 0.01], ("ahead", "behind")),
    ],
)
def test_a_side_is_ahead_by_more_than_a_standard_error(apart, marks):
    base = np.array([0.9, 0.8, 0.85, 0.95])[: len(apart)]
    ours, peer = one_side(base + apart), one_side(base)
    found = [tables.difference(ours, peer, name) for name in ("AUC", "log loss")]
    assert tuple(one.mark for one in found) == marks
    values = np.array(apart)[~np.isnan(apart)]
    assert found[0].mean == pytest.approx(values.mean())
    if len(values) > 1:
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert found[0].error == pytest.approx(error)
