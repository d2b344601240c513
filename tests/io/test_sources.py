"""Any file can be opened: by what it holds, and what that is is told."""

from __future__ import annotations

import bz2
import datetime
import gc
import glob
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

import pytest
from tests.io.messy_files import read, write_ods, write_xlsx
from tests.patience import HANGS

from bayesieve.io._read_options import ReadOptions

pytest.importorskip("duckdb")
pyarrow = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

CSV = b"text,label\nab cd,x\nef gh,y\n"
JSON = b'{"text": "ab cd", "label": "x"}\n{"text": "ef gh", "label": "y"}\n'
NAMES, ROWS = ["text", "label"], [("ab cd", "x"), ("ef gh", "y")]
TABLE = pyarrow.table({"text": ["ab cd", "ef gh"], "label": ["x", "y"]})


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("packing", [*PACKERS, "zst", "zip"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_packed_files(packing, form, tmp_path):
    content = CSV if form == "csv" else JSON
    path = tmp_path / f"a.{form}.{packing}"
    if packing == "zst":
        with pyarrow.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(content)
    elif packing == "zip":
        path.write_bytes(zipped(**{f"a_{form}": content}))
    else:
        path.write_bytes(PACKERS[packing](content))
    assert read(path) == (NAMES, ROWS, [])


def test_what_a_zip_may_hold(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(a_csv=CSV))
    assert read(path) == (NAMES, ROWS, [])
    path.write_bytes(zipped(a_csv=CSV, b_csv=CSV))
    with pytest.raises(ValueError, match=r"one file of data\. Got 2 in .*'a\.csv', 'b"):
        read(path)
    path.write_bytes(zipped())
    with pytest.raises(ValueError, match=r"one file of data\. Got 0"):
        read(path)


WRONG_NAMES = {
    "gz.csv": (gzip.compress(CSV), "is packed by gzip, unlike its name"),
    "plain.csv.gz": (CSV, "is not packed, unlike its name"),
    "zip.csv": (zipped(a_csv=CSV), "is packed by zip, unlike its name"),
    "csv.xlsx": (CSV, "is read as CSV, which it seems to hold"),
    "csv.parquet": (CSV, "is read as CSV, which it seems to hold"),
    "no ending": (CSV, "is read as CSV, which it seems to hold"),
    "lines": (JSON, "is read as JSON lines, which it seems to hold"),
}


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_a_name_that_is_wrong_is_told(name, tmp_path):
    content, told = WRONG_NAMES[name]
    (tmp_path / name).write_bytes(content)
    names, rows, [note] = read(tmp_path / name)
    assert (names, rows) == (NAMES, ROWS)
    assert note.startswith(f"{str(tmp_path / name)!r} {told}")


def test_parquet_and_workbooks_under_other_names(tmp_path):
    parquet.write_table(TABLE, tmp_path / "a.csv")
    names, rows, [note] = read(tmp_path / "a.csv")
    assert (names, rows) == (NAMES, ROWS)
    assert "is read as Parquet" in note
    write_xlsx(tmp_path / "b.csv", one=[NAMES, *ROWS])
    names, rows, [note] = read(tmp_path / "b.csv")
    assert (names, rows) == (NAMES, ROWS)
    assert "is read as Excel" in note


# ------------------------------------------------------------------------ typed files


@pytest.mark.parametrize("name", ["a.arrow", "a.ipc", "s.arrow", "a.feather"])
def test_arrow(name, tmp_path):
    table = TABLE.append_column("n", pyarrow.array([1, None]))
    table = table.set_column(1, "label", table["label"].dictionary_encode())
    path = tmp_path / name
    if name == "a.feather":
        feather.write_feather(table, str(path), compression="zstd")
    else:
        new = ipc.new_stream if name == "s.arrow" else ipc.new_file
        with new(str(path), table.schema) as writer:
            writer.write_table(table)
    expected = [("ab cd", "x", 1), ("ef gh", "y", None)]
    assert read(path) == ([*NAMES, "n"], expected, [])


def test_a_workbook_has_types(tmp_path):
    rows = [
        ["name", "size", "price", "new", "when", "mixed"],
        ["a", 1, 1.5, True, datetime.date(2024, 1, 1), 7],
        ["b", 2, 2, False, datetime.date(2024, 1, 2), "seven"],
        [None, None, None, None, None, None],
        ["c", None, 3, True, datetime.date(2024, 1, 3), None],
    ]
    names, found, notes = read(write_xlsx(tmp_path / "a.xlsx", one=rows))
    assert names == rows[0]
    day = datetime.date(2024, 1, 1)
    assert found[0] == ("a", 1, 1.5, True, day, "7")
    assert found[1] == ("b", 2, 2.0, False, day + datetime.timedelta(1), "seven")
    assert found[2] == ("c", None, 3.0, True, day + datetime.timedelta(2), None)
    assert notes == []


def test_the_sheet_of_a_workbook(tmp_path):
    other = [["a", "b"], [1, 2], [3, 4]]
    path = write_xlsx(tmp_path / "a.xlsx", empty=[], texts=[NAMES, *ROWS], other=other)
    names, rows, [note] = read(path)
    assert (names, rows) == (NAMES, ROWS)
    assert "Sheet 'texts' of" in note
    assert "'other'; --sheet names another." in note
    for sheet in ("other", 3):
        assert read(path, ReadOptions(sheet=sheet)) == (
            ["a", "b"],
            [(1, 2), (3, 4)],
            [],
        )
    for sheet in ("none", 4, 0):
        with pytest.raises(ValueError, match=r"no sheet .*'empty', 'texts', 'other'"):
            read(path, ReadOptions(sheet=sheet))


def test_a_title_above_the_header_of_a_sheet(tmp_path):
    rows = [["Sales 2024"], [], ["town", "n"], ["Oslo", 3], ["Rome", 4]]
    names, found, [note] = read(write_xlsx(tmp_path / "a.xlsx", one=rows))
    assert names == ["town", "n"]
    assert found == [("Oslo", 3), ("Rome", 4)]
    assert "above the header of" in note
    assert ": 1 row; --no-header" in note
    assert "--no-header" in note


def test_open_document(tmp_path):
    path = write_ods(tmp_path / "a.ods", [["a", "b"], ["x", 1], ["y", 2.5]])
    assert read(path) == (["a", "b"], [("x", 1.0), ("y", 2.5)], [])


# ---------------------------------------------------------------------------- damaged

WHOLE = {
    "a.csv.gz": gzip.compress(CSV * 10_000),
    "a.csv.bz2": bz2.compress(CSV * 10_000),
    "a.csv.xz": lzma.compress(CSV * 10_000),
}


@pytest.mark.parametrize("name", [*WHOLE, "a.parquet", "a.arrow", "a.xlsx", "a.zip"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_a_part_of_a_file_is_one_sentence(name, share, tmp_path):
    path = tmp_path / name
    if name == "a.parquet":
        parquet.write_table(TABLE, path)
    elif name == "a.arrow":
        with ipc.new_file(str(path), TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif name == "a.xlsx":
        write_xlsx(path, one=[NAMES, *ROWS])
    elif name == "a.zip":
        path.write_bytes(zipped(a_csv=CSV * 1000))
    else:
        path.write_bytes(WHOLE[name])
    whole = path.read_bytes()
    path.write_bytes(whole[: max(7, int(share * len(whole)))])
    with pytest.raises(
        ValueError, match=r"^'.*' (cannot be read: |begins as a|holds c)"
    ) as told:
        read(path)
    assert name in str(told.value)
    assert len(str(told.value)) < 300


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.xlsx", "a.feather"])
def test_a_file_that_is_something_else(name, tmp_path):
    (tmp_path / name).write_bytes(b"\x00\x01\x02\x03" * 100)
    with pytest.raises(ValueError, match=rf"{name}' cannot be read: it is"):
        read(tmp_path / name)


@pytest.mark.parametrize("path", ["https://a.org/a.csv", "s3://bucket/a.parquet"])
def test_addresses_are_refused(path):
    from bayesieve.io._files import find_files

    with pytest.raises(ValueError, match=r"on this machine\. .* fetch the file first"):
        find_files([path])


# ----------------------------------------------------------------------- JSON, svmlight


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_json_of_any_encoding(encoding, tmp_path):
    text = '{"text": "à l\'été très français", "label": "é"}\n' * 5
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.encode(encoding))
    _, rows, notes = read(path)
    assert rows == [("à l'été très français", "é")] * 5
    assert len(notes) == (encoding != "utf-8-sig")


BAD_JSON = {
    "list": (b"[1, 2]\n[3]\n", "line 1", "it holds a list, and must hold an object"),
    "twice": (JSON + b'{"text": 1, "text": 2}\n', "line 3", "has the key 'text' twice"),
    "cut": (JSON + b'{"text": "a', "line 3", "it is no JSON"),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_lines_that_are_no_objects(name, tmp_path):
    content, line, told = BAD_JSON[name]
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "bayesieve.cli", "select", str(path)],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    if name != "list":
        assert line in done.stderr
        assert told in done.stderr
    for word in ("sample_size", "maximum_depth", "ignore_errors", "read_json"):
        assert word not in done.stderr


def test_bad_lines_of_svmlight_are_left_out_and_told(tmp_path):
    from bayesieve.io._bad_rows import BadRows
    from bayesieve.io._files import open_files

    path = tmp_path / "a.svm"
    comment = "# très\n".encode("latin-1")
    path.write_bytes(comment + b"1 1:2\nbad 3:x\n-1 2:1\n1 x\n1 3:3\n")
    [file] = open_files([str(path)])
    with pytest.raises(ValueError, match=r"^Line 3 of .*a label and column:value"):
        list(file.matrices(BadRows(False)))
    bad_rows = BadRows(True)
    [(X, y)] = file.matrices(bad_rows)
    assert y.tolist() == [1, -1, 1]
    assert X.toarray().tolist() == [[0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 3]]
    assert bad_rows.skipped == 2
    assert bad_rows.first.startswith("Line 3 of ")
    assert file.notes == []  # numbers are the same in any encoding


# ----------------------------------------------------------- standard input and copies


def piped(content, *arguments, folder, **more):
    return subprocess.run(
        [sys.executable, "-m", "bayesieve.cli", *arguments],
        input=content,
        capture_output=True,
        cwd=folder,
        timeout=HANGS,
        env={**os.environ, "TMPDIR": str(folder)},
        check=False,
        **more,
    )


def arrow_stream():
    sink = io.BytesIO()
    table = pyarrow.table({"text": ["ab cd", "ef gh"] * 20, "label": ["x", "y"] * 20})
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


INPUT = {
    "csv": CSV[:11] + CSV[11:] * 20,
    "json": JSON * 20,
    "gzip": gzip.compress(CSV[:11] + CSV[11:] * 20),
    "arrow": arrow_stream(),
    "utf-16": (CSV[:11] + CSV[11:] * 20).decode().encode("utf-16"),
}


@pytest.mark.parametrize("kind", INPUT)
def test_standard_input(kind, tmp_path):
    done = piped(INPUT[kind], "counts", "-", "--save", "c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"40 rows" in done.stdout
    assert os.listdir(tmp_path) == ["c"]  # no copy is left


def test_nothing_on_standard_input(tmp_path):
    done = piped(b"", "select", "-", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_a_copy_goes_when_the_command_is_interrupted(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "bayesieve.cli", "select", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    process.stdin.write(CSV * 100_000)
    process.stdin.flush()
    end = time.monotonic() + HANGS
    while not glob.glob(f"{tmp_path}/*/*") and time.monotonic() < end:
        time.sleep(0.01)
    assert glob.glob(f"{tmp_path}/*/*")
    process.send_signal(signal.SIGINT)
    process.stdin.close()
    process.wait(HANGS)
    process.stderr.close()
    assert os.listdir(tmp_path) == []


def test_copies_go_with_the_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\nétait là,x\n".encode("utf-16"))
    _, rows, _ = read(path)
    assert rows == [("était là", "x")]
    gc.collect()
    assert os.listdir(tmp_path / "t") == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"  <!DOCTYPE html><html>", "a web page"),
        (b"\x93NUMPY\x01\0", "an array of NumPy"),
        (b"version https://git-lfs.github.com/spec/v1\n", "the data was not fetched"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(content, told, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=told):
        read(path)


@pytest.mark.parametrize(("name", "told"), [("a.csv", "JSON lines"), ("a.jsonl", None)])
def test_json_under_another_name(name, told, tmp_path):
    path = tmp_path / name
    path.write_bytes(JSON)
    names, rows, notes = read(path)
    assert (names, rows) == (NAMES, ROWS)
    assert [told in note for note in notes] == ([True] if told else [])
    listed = tmp_path / "list.jsonl"
    listed.write_bytes(b"[" + JSON.strip().replace(b"\n", b",\n") + b"]")
    names, rows, [note] = read(listed)
    assert (names, rows) == (NAMES, ROWS)
    assert "is read as JSON, which it holds" in note
