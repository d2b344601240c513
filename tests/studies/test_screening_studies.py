"""The studies of benchmarks/studies: reduced runs through the same code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import data_folder
from tests.patience import HANGS
from tests.studies.study_modules import STUDIES, load, read_parts, write_parts

ROOT = Path(__file__).resolve().parents[2]
SMALL = [
    *("--settings", "p500_d20_n500", "p500_d20_n1000"),
    *("--replications", "12", "--draws", "3", "--per-draw", "4"),
    *("--slow-replications", "1", "--jobs", "1"),
]


@pytest.fixture(scope="module")
def simulation():
    return load("screening_simulation")


@pytest.fixture(scope="module")
def text():
    return load("screening_text")


@pytest.fixture(scope="module")
def small_run(simulation, tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulation")
    simulation.main([*SMALL, "--folder", str(folder)])
    return folder


def stored_rows(folder):
    return {name: part["rows"] for name, part in read_parts(folder).items()}


def test_paper_numbers_are_complete(simulation):
    assert len(simulation.PAPER) == 18
    assert all(len(cells) == 3 + 3 + 8 for cells in simulation.PAPER.values())
    first = simulation.PAPER[simulation.Setting(500, 20, 500)]
    last = simulation.PAPER[simulation.Setting(1000, 50, 2000)]
    # The corners of the printed tables.
    assert first["PCZ PC-SIS"].split() == ["27.3", "(44.3)"]
    assert first["PIZ L0NB"].split() == ["8.3", "(2.8)"]
    assert first["AMR KNN"].split() == ["11.3", "(2.2)"]
    assert last["PIZ L0NB"].split() == ["5.2", "(1.8)"]
    assert last["AMR L0NB"].split() == ["0.7", "(0.3)"]


def test_theta_is_kept_over_replications_n_and_p(simulation):
    small = simulation.draw_theta(simulation.Setting(500, 30, 500), 2)
    large = simulation.draw_theta(simulation.Setting(1000, 30, 2000), 2)
    assert small.shape == (3, 500)
    assert large.shape == (3, 1000)
    np.testing.assert_array_equal(small, large[:, :500])
    assert small.min() >= 0.1
    assert small.max() <= 0.9
    differs = np.ptp(small, axis=0) > 0
    np.testing.assert_array_equal(np.flatnonzero(differs), np.arange(30))
    other = simulation.draw_theta(simulation.Setting(500, 30, 500), 3)
    assert not np.array_equal(small, other)


def test_rows_follow_theta(simulation):
    setting = simulation.Setting(500, 50, 2000)
    theta = simulation.draw_theta(setting, 0)
    X, y = simulation.draw_rows(np.random.default_rng(0), theta, 60_000)
    assert set(np.unique(X)) == {0, 1}
    # A share of 20,000 rows has a standard deviation of at most 0.0036; 1,500 shares
    # stay within five of them but once in a thousand times.
    np.testing.assert_allclose(np.bincount(y) / 60_000, 1 / 3, atol=0.01)
    for code in range(3):
        np.testing.assert_allclose(X[y == code].mean(axis=0), theta[code], atol=0.018)


def test_counts_of_a_replication_are_those_of_the_definition(simulation):
    # Recomputed from the data of the replication, without the study's own bookkeeping.
    import bayesieve

    setting = simulation.Setting(500, 20, 500)
    row = dict(
        zip(
            simulation.SCREENING_COLUMNS,
            simulation.screen(setting, 1, 7, 8)[0],
            strict=True,
        )
    )
    X, y, X_test, y_test = simulation.replicate(setting, 1, 7)
    selected = bayesieve.L0Screener().fit(X, y).support_indices_
    assert row["L0NB kept"] == len(set(selected) - set(range(20)))
    assert row["L0NB missed"] == len(set(range(20)) - set(selected))
    model = bayesieve.SparseBernoulliNB(k="bic", smoothing="truncated").fit(X, y)
    np.testing.assert_array_equal(model.support_indices_, selected)
    assert row["L0NB errors"] == np.sum(model.predict(X_test) != y_test)


def test_small_run_has_the_shape_and_sane_numbers(simulation, small_run):
    rows = stored_rows(small_run)
    assert sorted(rows) == [
        f"{part}/p500_d20_n{n}"
        for part in ("classifiers", "screeners")
        for n in (1000, 500)
    ]
    for name, by_draw in rows.items():
        if name.startswith("classifiers"):
            assert list(by_draw) == ["draw 0"]
            # On 20 informative columns every classifier beats guessing (667 errors).
            assert np.shape(by_draw["draw 0"]) == (1, 4)
            assert np.max(by_draw["draw 0"]) < 500
            continue
        assert {draw: len(values) for draw, values in by_draw.items()} == {
            "draw 0": 12,
            "draw 1": 4,
            "draw 2": 4,
            "draw 3": 4,
        }
        columns = dict(
            zip(
                simulation.SCREENING_COLUMNS, np.array(by_draw["draw 0"]).T, strict=True
            )
        )
        for screener in ("L0NB", "L1NB"):
            pcz = 100 * (1 - columns[f"{screener} kept"] / 480)
            assert pcz.mean() >= 99.4
        assert columns["L0NB missed"].mean() < 8  # 40 %, over three times the paper's
        assert columns["NB errors"].mean() <= columns["PC-SIS errors"].mean()


def test_tables_are_written(small_run):
    page = (small_run / "tables.md").read_text(encoding="utf-8")
    tables = [block for block in page.split("\n\n") if block.startswith("| p |")]
    # PCZ, PIZ, AMR of naive Bayes, AMR of the others: two settings under head and rule.
    assert [len(block.strip().splitlines()) for block in tables] == [4, 4, 4, 4]
    for block in tables:
        widths = {line.count("|") for line in block.strip().splitlines()}
        assert len(widths) == 1
    assert "27.3\N{NO-BREAK SPACE}(44.3)" in tables[0]
    assert "8.3\N{NO-BREAK SPACE}(2.8)" in tables[1]
    assert "over 12 replications" in page.replace("\n", " ")
    assert "holds: PCZ of L0NB at least 99.4 % in all 2 settings" in page


def test_interrupted_run_goes_on_to_the_same_numbers(
    simulation, small_run, tmp_path, monkeypatch
):
    calls = []
    screen, columns = simulation.PARTS["screeners"]

    def stopping(*block):
        calls.append(block)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return screen(*block)

    monkeypatch.setitem(simulation.PARTS, "screeners", (stopping, columns))
    arguments = [*SMALL, "--folder", str(tmp_path)]
    with pytest.raises(KeyboardInterrupt):
        simulation.main(arguments)
    # Two blocks were finished and are there: draw 0 and draw 1 of the first setting.
    part = stored_rows(tmp_path)
    assert {len(rows) for rows in part["screeners/p500_d20_n500"].values()} == {
        12,
        4,
    }
    assert not list(tmp_path.rglob("*.tmp"))
    assert not (tmp_path / "tables.md").exists()

    simulation.main(arguments)
    # The first setting has 4 blocks, the second too; those done were not done again.
    assert len(calls) == 3 + 6
    assert stored_rows(tmp_path) == stored_rows(small_run)
    assert (tmp_path / "tables.md").read_text() == (small_run / "tables.md").read_text()


def test_more_replications_extend_what_is_there(simulation, tmp_path):
    arguments = ["--parts", "screeners", "--draws", "0", "--jobs", "1"]
    arguments += ["--settings", "p500_d20_n500", "--folder", str(tmp_path)]
    simulation.main([*arguments, "--replications", "2"])
    before = stored_rows(tmp_path)["screeners/p500_d20_n500"]["draw 0"]
    simulation.main([*arguments, "--replications", "5"])
    after = stored_rows(tmp_path)["screeners/p500_d20_n500"]["draw 0"]
    assert len(after) == 5
    assert after[:2] == before
    # A run of another setting leaves this one in the tables.
    arguments[arguments.index("p500_d20_n500")] = "p500_d30_n500"
    simulation.main([*arguments, "--replications", "2"])
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "| 500 | 20 | 500 |" in page
    assert "| 500 | 30 | 500 |" in page
    assert "over 2 to 5 replications" in page.replace("\n", " ")


def test_results_of_other_versions_are_not_mixed(simulation, small_run, tmp_path):
    stored = read_parts(small_run)
    stored["screeners/p500_d20_n500"]["packages"]["numpy"] = "0.1"
    write_parts(tmp_path, stored)
    with pytest.raises(
        SystemExit, match=r"was written with packages.*another --folder"
    ):
        simulation.main([*SMALL, "--folder", str(tmp_path)])


def test_neighbours_are_those_of_hamming_distance():
    comparators = load("comparators")
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 60)
    # 200 columns: distances hardly ever tie, and ties are what sides break differently.
    X = (rng.random((180, 200)) < np.array([0.3, 0.5, 0.7])[y][:, None]).astype(float)
    X_test = (rng.random((50, 200)) < 0.5).astype(float)
    model = comparators.HammingNeighbours(seed=0).fit(X, y)
    assert 1 <= model.k_ <= 10
    model.k_ = 1
    nearest = KNeighborsClassifier(1, metric="hamming").fit(X, y)
    distance = np.sort((X_test[:, None, :] != X[None]).sum(axis=2), axis=1)
    clear = distance[:, 0] < distance[:, 1]
    assert clear.sum() > 10
    np.testing.assert_array_equal(
        model.predict(X_test)[clear], nearest.predict(X_test)[clear]
    )


def test_text_study_on_few_rows(text, tmp_path):
    if not (data_folder() / "thucnews_titles.parquet").is_file():
        pytest.skip("data set thucnews_titles is not here")
    arguments = ["--data", "thucnews_titles", "--rows", "600", "--boosts", "5"]
    arguments += ["--jobs", "1", "--folder", str(tmp_path)]
    text.main([*arguments, "--splits", "1"])
    first = stored_rows(tmp_path)["thucnews_titles"]
    text.main([*arguments, "--splits", "2"])
    rows = stored_rows(tmp_path)["thucnews_titles"]
    assert list(rows) == list(text.MODELS)
    for model in text.MODELS:
        assert np.shape(rows[model]) == (2, len(text.COLUMNS))
        assert rows[model][0] == first[model][0]
        columns, test_rows, *errors, seconds = rows[model][1]
        assert 1 <= columns <= rows["FULL"][0][0]
        assert test_rows == 300
        assert all(0 <= count <= 300 for count in errors)
        assert seconds >= 0
    assert rows["L0NB"][0][0] < rows["FULL"][0][0]
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "2 random halves" in page
    assert "4778 (0)" in page


@pytest.mark.slow
def test_quick_simulation_from_the_command_line(tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, STUDIES / "screening_simulation.py"),
            *("--quick", "--folder", tmp_path),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "- holds: PCZ of L0NB at least 99.4 % in all 4 settings" in page
    assert "- holds: PC-SIS unstable" in page
