"""`bayesieve.io.inspect`: what is in a table, from files and from frames."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

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


ANSWERS = ["yes", "no"] * 20


def of_column(values, **options):
    """Inspect a column beside labels; its facts."""
    return column(inspect(pd.DataFrame({"x": values, "y": ANSWERS}), **options), "x")


def test_values_of_several_types_are_strings():
    own = of_column([1, "x", None, 2.5] * 10)
    assert (own.role, own.type, own.missing) == ("category", "string", 10)
    assert own.examples == ["1", "x", "2.5"]
    assert of_column([[1], "a"] * 20).role == "category"
    # Too many digits for a number: told apart as codes, of which each is there once.
    assert of_column([2**70 * i for i in range(40)]).role == "id"


@pytest.mark.parametrize(
    ("values", "role", "type", "example"),
    [
        (pd.cut(np.arange(40.0), [-1, 10, 50]), "category", "string", "(-1, 10]"),
        (pd.arrays.SparseArray([0, 1.5] * 20), "number", "decimal", "0"),
        (
            pd.period_range("2020-01", periods=40, freq="M"),
            "date",
            "date",
            "2020-01-01",
        ),
        (pd.to_timedelta(np.arange(40), unit="min"), "number", "integer", "60"),
        ([Decimal("1.5") * i for i in range(40)], "number", "decimal", "1.5"),
        ([Decimal("1.5"), None] * 20, "number", "decimal", "1.5"),
    ],
)
def test_dtypes_of_pandas(values, role, type, example):
    own = of_column(values)
    assert (own.role, own.type) == (role, type)
    assert example in own.examples


def test_dtypes_of_polars():
    pl = pytest.importorskip("polars")
    if not hasattr(pl, "Int128"):
        pytest.skip("this polars has no integers of 128 bits")
    lasts = [timedelta(minutes=i) for i in range(40)]
    table = pl.DataFrame({"n": range(40), "t": lasts, "y": ANSWERS})
    table = table.with_columns(pl.col("n").cast(pl.Int128) * 2**40)
    found = inspect(table)
    assert [(own.role, own.type) for own in found.columns[:2]] == [
        ("number", "integer")
    ] * 2
    assert column(found, "t").examples == ["0", "60", "120"]


def test_durations_in_arrow_files_are_seconds(tmp_path):
    path = tmp_path / "t.feather"
    lasts = pd.to_timedelta(np.arange(40), unit="min")
    pd.DataFrame({"t": lasts, "y": ANSWERS}).to_feather(path)
    assert column(inspect(path), "t").examples == ["0", "60", "120"]


def test_columns_that_are_numbered():
    numbered = pd.DataFrame({0: np.arange(40) / 4, 1: ANSWERS, 2: "a b c"})
    found = inspect(numbered, label=1, text=[2], types={0: "category"})
    assert roles(found) == {"0": "category", "1": "label", "2": "text"}


def test_record_batches():
    pyarrow = pytest.importorskip("pyarrow")
    batch = pyarrow.record_batch({"x": list(range(40)), "y": ANSWERS})
    assert inspect(batch).n_rows == 40


def twice(frame):
    frame.columns = ["a"] * frame.shape[1]
    return frame


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (lambda f: f["town"], TypeError, r"Got Series\. Hint: to_frame\(\)"),
        (twice, ValueError, "must have different names. Got more than one 'a'"),
        (
            lambda f: f.rename(columns={"id": 1, "mail": "1"}),
            ValueError,
            "Got more than one '1'",
        ),
        (lambda f: f.assign(c=1j), ValueError, "Column 'c' holds complex128"),
        (lambda f: f[:0], ValueError, "The DataFrame is empty: it has no rows"),
        (lambda f: f[[]], ValueError, "The DataFrame is empty: it has no columns"),
        (
            lambda f: pd.concat({"a": f}, axis=1),
            ValueError,
            "Columns must have one name each. Got names of 2 levels",
        ),
    ],
)
def test_frames_that_are_refused(frame, change, error, told):
    with pytest.raises(error, match=told):
        inspect(change(frame))


def test_arrow_tables_that_are_refused():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table([ANSWERS, ANSWERS], names=["a", "a"])
    with pytest.raises(ValueError, match="Got more than one 'a'"):
        inspect(table)
    with pytest.raises(ValueError, match="The Table is empty: it has no columns"):
        inspect(table.select([]))


def test_parquet_files_whose_types_differ(tmp_path):
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, values in zip(paths, (np.arange(40), np.arange(40) + 0.5), strict=True):
        pd.DataFrame({"x": values, "y": ANSWERS}).to_parquet(path)
    assert column(inspect(paths), "x").distinct == 80
    pd.DataFrame({"x": ANSWERS, "y": ANSWERS}).to_parquet(paths[1])
    told = r"column 'x' as \w*string in '.*b.parquet', and as int64 in '.*a.parquet'"
    with pytest.raises(ValueError, match=told):
        inspect(paths)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["a"] * 400, "has one value only, 'a'; two classes or more are needed"),
        (["a", "b", None, "b"] * 100, "has no value in 100 rows: select stops there"),
        ([1.0, 0.0, None, 1.0] * 100, "has no value in 100 rows: select stops there"),
        ([f"k{i}" for i in range(400)], "400 different values in 400 rows, too many"),
        ([f"k{i % 60}" for i in range(400)], "(60): --label 'label' takes it"),
    ],
)
def test_labels_that_stop_select_are_told(labels, told):
    frame = pd.DataFrame({"x": np.arange(400) / 7, "label": labels})
    for own in (frame, frame.assign(z=np.arange(400) % 5)):
        notes = column(inspect(own), "label").notes
        assert any(told in note for note in notes)


def test_no_label_is_told():
    found = inspect(pd.DataFrame({"x": np.arange(40) / 7, "z": np.arange(40) / 3}))
    assert found.label is None
    assert "Which column is the label is not clear: --label COL says it." in found.notes
    found = inspect(pd.DataFrame({"x": np.arange(40) / 7}))
    assert found.notes == ["'x' is the only column: a label must be in another."]


def test_words_for_nothing_are_labels(tmp_path):
    path = tmp_path / "t.csv"
    labels = ["NA", "None", "a", "a"] * 10
    pd.DataFrame({"x": np.arange(40) / 7, "label": labels}).to_csv(path, index=False)
    own = column(inspect(path), "label")
    assert (own.missing, own.distinct) == (0, 3)
    assert own.examples == ["NA", "None", "a"]
