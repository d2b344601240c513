"""The study of run time against columns: words, exponents, rounds and tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from tests.studies.study_modules import load, read_parts, write_parts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def study():
    return load("run_time_growth")


@pytest.fixture(scope="module")
def tables():
    return load("growth_tables")


# --------------------------------------------------------------------------- the texts


def test_limited_tfidf_is_that_of_the_vectorizer(study):
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(40)]
    share = 1 / np.arange(1, 41)
    texts = [
        " ".join(rng.choice(words, size=30, p=share / share.sum())) for _ in range(50)
    ]
    counts = CountVectorizer(token_pattern=r"\w{1,}").fit_transform(texts)
    rows = np.arange(0, 50, 3)
    totals = np.sort(np.asarray(counts.sum(axis=0)).ravel())[::-1]
    sizes = [m for m in range(4, 35) if totals[m - 1] > totals[m]]  # no tie at the cut
    assert len(sizes) > 5
    for m in sizes:
        maker = TfidfVectorizer(token_pattern=r"\w{1,}", max_features=m).fit(texts)
        expected = maker.transform([texts[i] for i in rows])
        found = study.limited_tfidf(counts, rows, m)
        np.testing.assert_allclose(
            found.toarray(), expected.toarray(), rtol=0, atol=1e-12
        )


# ------------------------------------------------------------------------------ rounds


class Twin:
    """In place of the published class."""

    def ask(self, selector, *, limit, k, alpha):
        return {"ended": True, "support": list(range(k)), "seconds": 0.25 + alpha}


def test_a_round_of_texts(study, tables):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=60)
    X = study.sparse.csr_matrix(rng.poisson(0.6, size=(60, 100)) * (1.0 + y[:, None]))
    row = dict(zip(tables.IMDB, study.text_round(X, y, Twin()), strict=True))
    assert (row["m"], row["k"], row["entries"]) == (100, 5, X.nnz)
    assert row["published"] == 1.25  # alpha = 1 was asked for
    assert row["optimal"] == 1
    for name in ("fit", "solve", "mnb"):
        assert row[name] > 0
        assert 0 < row[f"{name}_processor"] < np.inf


def test_a_round_of_a_table(study, tables, tmp_path, monkeypatch):
    seen = {}

    class Worker(Twin):
        def __init__(self, X, y, environment):
            seen.update(X=X.toarray(), y=y.tolist())

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(study, "PeerWorker", Worker)
    path = tmp_path / "table.npy"
    assert study.make_table(2_000, path) == {"m": 2_000}
    table = np.load(path)
    found = study.table_round(path, tmp_path)
    assert set(tables.GENERATED) <= set(found)
    assert (found["m"], found["k"], found["optimal"]) == (2_000, 100, 1)
    assert found["below"] >= -found["rounding"]
    assert found["published"] == 0.25  # smoothed already
    np.testing.assert_array_equal(seen["X"], table + 1)
    assert seen["y"] == [0, 1]
    assert found["table_bytes"] == 2 * 2_000 * 8
    monkeypatch.setattr(study, "CLASS_LIMIT", 1_000)
    assert study.table_round(path, tmp_path)["published"] is None


def test_slow_sides_have_fewer_turns(study):
    seconds = {
        "slow": iter([9.0]),
        "middle": iter([1.5, 0.6]),
        "quick": iter([0.3, 0.1, 0.2]),
    }
    sides = {name: values.__next__ for name, values in seconds.items()}
    assert study.best_of(sides, 3) == {"slow": 9.0, "middle": 0.6, "quick": 0.1}
    assert study.best_of({"slow": None}, first={"slow": 5.0}) == {"slow": 5.0}
    sides = {"quick": iter([0.3, 0.2]).__next__}
    assert study.best_of(sides, 2, first={"quick": 0.4}) == {"quick": 0.2}


def test_rounds_go_through_all_sizes_and_a_second_run_goes_on(
    study, tables, tmp_path, monkeypatch
):
    asked = []

    def in_own_process(script, arguments):
        kind, *rest = arguments
        assert script == "studies/run_time_growth.py"
        if kind == "--make":
            Path(rest[1]).write_text(rest[0])
            return {}
        m = int(Path(rest[0]).read_text())
        asked.append(m)
        return {**dict.fromkeys(tables.GENERATED, 1.0), "m": m, "published": None}

    monkeypatch.setattr(study, "in_own_process", in_own_process)
    monkeypatch.setattr(study, "SIZES", (10, 20, 40))
    options = ["--folder", str(tmp_path), "--parts", "generated", "--rounds"]
    study.main([*options, "1"])
    study.main([*options, "3"])
    study.main([*options, "3"])
    assert asked == [10, 20, 40] * 3
    stored = read_parts(tmp_path)["generated"]
    assert {m: len(rows) for m, rows in stored["rows"].items()} == {
        "10": 3,
        "20": 3,
        "40": 3,
    }
    study.main([*options, "1", "--again"])
    assert len(asked) == 12
    assert (tmp_path / "tables.md").read_text() == tables.document(tmp_path)
    assert (tmp_path / "figure_growth.png").is_file()


def test_unknown_parts_are_refused(study, capsys):
    with pytest.raises(SystemExit):
        study.main(["--parts", "moon"])
    assert "'moon' is not known; there are generated, imdb" in capsys.readouterr().err


# --------------------------------------------------------------------------- exponents


def test_a_power_law_has_its_exponent_and_no_error(tables):
    m = np.array([10.0, 100.0, 1_000.0, 20_000.0])
    slope = tables.slope_of(m, 3e-6 * m**0.7)
    assert slope.value == pytest.approx(0.7)
    assert slope.error == pytest.approx(0, abs=1e-9)
    assert slope.verdict == "sub-linear"
    assert tables.slope_of(m, m**1.2).verdict == "more than linear"


def test_slope_and_error_are_those_of_least_squares(tables):
    rng = np.random.default_rng(2)
    m = np.geomspace(1e4, 1e7, 9)
    values = m * np.exp(0.2 * rng.standard_normal(9))
    design = np.column_stack([np.ones(9), np.log(m)])
    solution, rest, *_ = np.linalg.lstsq(design, np.log(values), rcond=None)
    covariance = rest[0] / 7 * np.linalg.inv(design.T @ design)
    slope = tables.slope_of(m, values)
    assert slope.value == pytest.approx(solution[1])
    assert slope.error == pytest.approx(np.sqrt(covariance[1, 1]))
    assert slope.verdict == "linear within two standard errors"
    assert np.isnan(tables.slope_of(m[:2], values[:2]).value)


def content_of(tables, name, rows):
    columns = tables.IMDB if name == "imdb" else tables.GENERATED
    return {
        "columns": columns,
        "rows": {
            str(m): [[row.get(c, 1.0) for c in columns] for row in found]
            for m, found in rows.items()
        },
        "packages": {"numpy": "2"},
        "python": "3",
        "processor": "one",
        "processors": 1,
        "published": "0",
        "date": "today",
    }


@pytest.fixture
def stored(tables, tmp_path):
    """The solve is linear from a million on and of exponent 0.5 below."""

    def seconds(m):
        return np.sqrt(m / 1e6) if m <= 1e6 else m / 1e6

    sizes = (10_000, 100_000, 1_000_000, 4_000_000, 16_000_000)
    rows = {
        m: [
            {
                "m": m,
                "k": m // 20,
                "solve": slow * seconds(m),
                "bisection": slow * m / 1e5,
                "published": m / 1e4 if m <= 1e6 else None,
                "below": 0.5 if m == 100_000 else -1e-12,
                "rounding": 1e-9,
                "solve_bytes": 2e6,
            }
            for slow in (3.0, 1.0, 2.0)
        ]
        for m in sizes
    }
    content = content_of(tables, "generated", rows)
    write_parts(tmp_path, {"generated": content})
    return tmp_path


def test_the_best_round_counts(tables, stored):
    part = tables.part_of(stored, "generated")
    assert part.rounds == 3
    assert part.columns["solve"] == pytest.approx([0.1, np.sqrt(0.1), 1, 4, 16])
    assert np.isnan(part.columns["published"]).tolist() == [False] * 3 + [True] * 2


def test_exponents_are_told_by_range(tables, stored):
    text = tables.exponent_table([tables.part_of(stored, "generated")])
    ours = "| generated, certified solve |"
    assert f"{ours} 10,000 | 1,000,000 | 3 | 0.50 ±0.00 | sub-linear |" in text
    assert f"{ours} 1,000,000 | 16,000,000 | 3 | 1.00 ±0.00 |" in text
    lines = [line for line in text.splitlines() if "published class" in line]
    assert len(lines) == 1  # up to the million it was asked for, once


def test_equal_gains_and_memory_are_told(tables, stored):
    text = tables.generated_table(tables.part_of(stored, "generated"))
    lines = text.splitlines()
    assert lines[2].startswith("| 10,000 | 500 | 0.1 | 1 | 0.1 | 1 | 1 | 1 | equal |")
    assert "| 0.5 | 0 | 2 |" in lines[3]
    said = " ".join(tables.document(stored).split())
    assert "its gain is never above ours beyond rounding. At 16,000,000 columns" in said
