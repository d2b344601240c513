"""`bayesieve.io.inspect`: what is in a table, from files and from frames."""

from __future__ import annotations

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from bayesieve.io import Inspection, inspect  # noqa: E402

N = 120


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    bought = rng.choice(["yes", "no"], N)
    return pd.DataFrame(
        {
            "id": np.arange(N),
            "mail": [f"person{i}@example.org" for i in range(N)],
            "income": [f"{v:,.0f} €" for v in rng.integers(1000, 90000, N)],
            "since": [
                f"{rng.integers(1, 29):02}.{rng.integers(1, 13):02}.2024"
                for _ in range(N)
            ],
            "town": rng.choice(["Rome", "Bonn", None], N),
            "note": [f"a few words about customer {i}" for i in range(N)],
            "country": "IT",
            "paid": np.where(bought == "yes", "1", "0"),
            "bought": bought,
        }
    )


ROLES = {
    "id": "id",
    "mail": "id",
    "income": "number",
    "since": "date",
    "town": "category",
    "note": "text",
    "country": "constant",
    "paid": "number",
    "bought": "label",
}


def roles(found):
    return {own.name: own.role for own in found.columns}


def column(found, name):
    return next(own for own in found.columns if own.name == name)


@pytest.mark.parametrize(
    "kind", ["frame", "polars", "arrow", "csv", "parquet", "jsonl"]
)
def test_roles_from_any_source(frame, tmp_path, kind):
    if kind == "frame":
        source = frame
    elif kind == "polars":
        source = pytest.importorskip("polars").from_pandas(frame)
    elif kind == "arrow":
        source = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    else:
        source = tmp_path / f"f.{kind}"
        if kind == "csv":
            frame.to_csv(source, index=False)
        elif kind == "parquet":
            frame.to_parquet(source)
        else:
            frame.to_json(source, orient="records", lines=True)
    found = inspect(source, label="bought")
    assert isinstance(found, Inspection)
    assert roles(found) == ROLES
    assert found.n_rows == N
    town = column(found, "town")
    assert town.missing == frame["town"].isna().sum()
    assert town.distinct == 2
    assert set(town.examples) == {"Rome", "Bonn"}
    assert column(found, "note").type == "text (latin)"
    assert any("tells the label in 100 %" in n for n in column(found, "paid").notes)
    assert any("€ as" in note for note in column(found, "income").notes)
    json.dumps(found.to_dict())
    assert "bought" in str(found)


def test_the_label_is_guessed_and_others_offered(frame):
    found = inspect(frame)
    assert found.label == "bought"
    [note] = [n for n in column(found, "bought").notes if "guessed" in n]
    assert "'paid'" in note


def test_what_is_said_goes_before_what_is_guessed(frame):
    found = inspect(
        frame,
        label="town",
        text="mail",
        types={"id": "number", "country": "ignore", "income": "category"},
    )
    assert found.label == "town"
    assert roles(found) | {"note": "id"} == ROLES | {
        "id": "number",
        "mail": "text",
        "note": "id",
        "country": "ignored",
        "income": "category",
        "town": "label",
        "bought": "category",
    }
    doubtful = pd.DataFrame({"a": ["1,250", "900"] * 40, "y": ["u", "v"] * 40})
    assert any("two ways" in note for note in column(inspect(doubtful), "a").notes)
    told = column(inspect(doubtful, decimal=","), "a")
    assert not any("two ways" in note for note in told.notes)


def test_repeated_rows_are_told():
    frame = pd.DataFrame(
        {"a": [1, 2, 1, 2, 3] * 10, "y": ["u", "v", "u", "v", "u"] * 10}
    )
    assert inspect(frame).notes == ["47 rows repeat an earlier one in every column."]


def test_bad_rows_are_counted_and_told(tmp_path):
    path = tmp_path / "ragged.csv"
    rows = "\n".join(f"{i},{'uv'[i % 2]}" for i in range(50))
    path.write_text(f"a,y\n{rows}\n1,2,3,4\n")
    found = inspect(path)
    assert found.n_rows == 50
    [note] = found.notes
    assert note.startswith("1 row cannot be read")
    assert "Line 52" in note


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (5, "must be a path"),
        ("nowhere.csv", "There is no file"),
        ("https://example.org/a.csv", "must be on this machine"),
    ],
)
def test_what_is_no_table(source, told):
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match=told):
        inspect(source)


def test_a_column_that_is_not_there(frame):
    with pytest.raises(ValueError, match="Did you mean 'income'"):
        inspect(frame, label="incom")
    with pytest.raises(ValueError, match="There is no column 'x'"):
        inspect(frame, types={"x": "number"})
    with pytest.raises(ValueError, match="must be among"):
        inspect(frame, types={"town": "numeral"})
    with pytest.raises(ValueError, match="decimal"):
        inspect(frame, decimal=";")


def test_a_matrix_and_an_empty_file(tmp_path):
    matrix = tmp_path / "m.svm"
    matrix.write_text("1 1:2\n0 2:1\n")
    with pytest.raises(ValueError, match="holds a matrix"):
        inspect(matrix)
    for text in ("", "a,b\n"):
        empty = tmp_path / "e.csv"
        empty.write_text(text)
        with pytest.raises(ValueError, match=r"empty|no rows"):
            inspect(empty)
