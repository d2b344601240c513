"""Whatever a file holds: code 0 or 2, one line on stderr, nothing that steers a screen.

Run in one process. What reaches the last resort of the program, which hides where it
stopped, fails here.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
import zipfile

import numpy as np
import pytest
from tests.cli.files import SCRIPT, reviews
from tests.patience import HANGS

from bayesieve.cli import main
from bayesieve.io import _row_bounds

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

GOOD = "text,label\n" + "good film here,pos\nbad plot here,neg\n" * 30
JUNK = np.random.default_rng(0).integers(0, 256, 5000).astype(np.uint8).tobytes()
DEEP = "[" * 100_000 + "]" * 100_000
EVIL = "te\x1b[31mxt,la\u202ebel\n" + (
    "good \x1b]0;x\x07film,po\x1b[1ms\nbad \x9bplot,ne\u202eg\n" * 20
)
#: What may be told before an error.
NOTES = re.compile(
    "guessed|: warning: |is read (as|so)|; --(sep|encoding|no-header|sheet) "
)


def stored(**columns):
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


TABLE = stored(text=["a b c", "b c d"] * 10, label=[1, 2] * 10)
ZOO = {
    "header.csv": "text,label\n",
    "wide.csv": ",".join(f"c{i}" for i in range(150_000)) + "\n",
    "huge field.csv": f"text,{'a' * 200_000},label\nx y z,1,2\n",
    "twice.csv": "a,a\n1,2\n",
    "controls.csv": EVIL,
    "deep.jsonl": f'{{"text":"a b","label":{DEEP}}}\n{{"text":"b","label":1}}\n',
    "deep.json": DEEP,
    "numbers.jsonl": "1\n2\n3\n",
    "lists.jsonl": "[1,2]\n[3,4]\n",
    "objects.jsonl": '{"text":{"a":1},"label":{"b":2}}\n' * 3,
    "mixed.jsonl": '{"text":"a","label":1}\n{"text":2,"label":"x"}\n{"text":null}\n',
    "half.jsonl": '{"text":"a","label":1}\n{"text":"b"',
    "column.svm": "1 2000000000:1\n-1 3:1\n",
    "no column.svm": "1 99999999999999999999:1\n-1 3:1\n",
    "negative.svm": "1 -5:1\n-1 3:1\n",
    "not a number.svm": "1 3:nan\n-1 3:inf\n" * 5,
    "label.svm": "abc 1:2\nnan 1:2\n",
    "infinite label.svm": "inf 1:2\n1 1:1\n",
    "order.svm": "1 5:1 3:1\n-1 3:1 3:2\n" * 3,
    "large.svm": "1 1:1e400\n-1 1:-1e400\n" * 3,
    "comment.svm": "# nothing\n",
    "cut.csv.gz": gzip.compress(GOOD.encode() * 1000)[:1500],
    "cut.jsonl.gz": gzip.compress(b'{"text":"a b","label":1}\n' * 10_000)[:200],
    "cut.svm.gz": gzip.compress(b"1 3:1\n-1 2:1\n" * 100_000)[:200],
    "cut.parquet": TABLE[:300],
    "other.parquet": TABLE[:20] + JUNK[:180] + TABLE[200:],
    "footer.parquet": TABLE[:4] + JUNK + TABLE[-200:],
    "lists.parquet": stored(a=[[1], [2]], label=[1, 2]),
    "bytes.parquet": stored(text=[b"\xff\xfe x y", b"a b c"] * 9, label=[1, 2] * 9),
    "labels.parquet": stored(text=["a b", "c d"] * 9, label=[b"\xff", b"\xfe"] * 9),
    "new\nline.csv": GOOD,
    "\x1b[31mred.csv": "text\n",
    "\udcff.csv": GOOD,
}
for ending in ("csv", "tsv", "jsonl", "json", "parquet", "svm", "csv.gz", "model"):
    ZOO |= {
        f"junk.{ending}": JUNK,
        f"empty.{ending}": b"",
        f"blank.{ending}": b"\n\n\n",
        f"nul.{ending}": b"\0" * 1000,
        f"one line.{ending}": b"a" * 10_000_000,
        f"mark.{ending}": "\ufefftext,label\nab,1\ncd,2\n",
        f"utf-16.{ending}": "text,label\nab,1\n".encode("utf-16"),
        f"latin.{ending}": b"text,label\nb\xe4d one,1\nc d,2\n",
        f"quote.{ending}": b'text,label\n"ab,1\ncd,2\n',
        f"zip.{ending}": b"PK\x03\x04" + JUNK,
    }
COMMANDS = [
    ["select", "{}"],
    ["select", "{}", "--label", "label", "--text", "text"],
    ["select", "{}", "--label", "label", "--no-text", "--skip-bad-rows"],
    ["path", "{}"],
    ["path", "{}", "--model", "multinomial", "--no-text"],
    ["predict", "good.model", "{}"],
    ["predict", "{}", "good.csv"],
    ["predict", "good.model", "{}", "--keep", "*", "--escape-formulas", "--json"],
    ["compare", "good.model", "{}"],
    ["compare", "good.model", "good.model", "{}"],
    ["counts", "{}", "--save", "out.counts"],
    ["counts", "merge", "{}", "good.counts", "--save", "out.counts"],
    ["report", "{}", "--out", "out.html"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a good file, a model and counts."""
    place = tmp_path_factory.mktemp("zoo")
    (place / "good.csv").write_text(GOOD)
    data = [str(place / "good.csv"), "--text", "text", "--label", "label"]
    assert main(["select", *data, "-k", "2", "--save", str(place / "good.model")]) == 0
    assert main(["counts", *data, "--save", str(place / "good.counts")]) == 0
    return place


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def check(arguments, capsys):
    capsys.readouterr()
    code = main(arguments)
    out, err = capsys.readouterr()
    what = (arguments, err)
    assert code in (0, 2), what
    lines = [line for line in err.split("\n") if line]
    told = [line for line in lines if not NOTES.search(line)]
    assert len(told) == 1 if code else True, what
    assert all(line.startswith("bayesieve: ") for line in lines), what
    assert "Traceback" not in err, what
    assert "a fault of bayesieve" not in err, what
    assert max(map(len, lines), default=0) < 1500, what
    shown = out if arguments[0] != "predict" else ""  # a table, not a screen
    assert "".join((shown + err).split("\n")).isprintable(), what
    return code, err


@pytest.mark.parametrize("name", ZOO)
def test_any_file_for_any_command(name, here, capsys):
    content = ZOO[name]
    path = os.fsencode(name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    for command in COMMANDS:
        check([word.replace("{}", name) for word in command], capsys)
    os.unlink(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("name", ["a.csv", "a.model"])
def test_a_pipe_is_refused_and_not_waited_for(name, tmp_path, folder, capsys):
    os.mkfifo(tmp_path / name)
    os.mkdir(tmp_path / "folder.csv")
    os.symlink("loop.csv", tmp_path / "loop.csv")
    for place in (name, "folder.csv", "loop.csv"):
        for command in COMMANDS:
            words = [word.replace("{}", str(tmp_path / place)) for word in command]
            words = [str(folder / w) if w.startswith("good.") else w for w in words]
            words = [str(tmp_path / w) if w.startswith("out.") else w for w in words]
            assert check(words, capsys)[0] == 2


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may")
def test_a_file_that_may_not_be_read(here, capsys):
    (here / "closed.csv").write_text(GOOD)
    os.chmod(here / "closed.csv", 0)
    assert check(["select", "closed.csv"], capsys)[0] == 2


def test_damaged_models_and_counts(here, capsys):
    for name in ("good.model", "good.counts"):
        whole = (here / name).read_bytes()
        for cut in (4, 100, len(whole) // 2, len(whole) - 10):
            (here / "cut").write_bytes(whole[:cut])
            (here / "other").write_bytes(whole[:cut] + JUNK[:40] + whole[cut + 40 :])
            for command in COMMANDS[5:]:
                for place in ("cut", "other"):
                    check([word.replace("{}", place) for word in command], capsys)
    with zipfile.ZipFile(here / "other", "w") as file:
        file.writestr("nothing", "here")
    for command in COMMANDS:
        assert check([w.replace("{}", "other") for w in command], capsys)[0] == 2


@pytest.mark.parametrize("note", ["cli", "report"])
def test_notes_of_a_model_that_are_nested_without_end(note, here, capsys):
    with (
        zipfile.ZipFile(here / "good.model") as old,
        zipfile.ZipFile("deep", "w") as new,
    ):
        for name in old.namelist():
            deep = name == f"note.{note}.txt"
            new.writestr(name, DEEP if deep else old.read(name))
    command = ["report", "deep", "--out", "out.html"]
    if note == "cli":
        command = ["predict", "deep", "good.csv"]
    assert check(command, capsys)[0] == 2


def test_a_column_beyond_memory_is_named(here, capsys):
    (here / "a.svm").write_text("1 3:1\n\n# more\n-1 4:1 2000000000:1\n1 7:1\n")
    _, err = check(["select", "a.svm"], capsys)
    assert "line 4 of 'a.svm' has the column 2,000,000,000" in err


def test_rows_without_end_are_told_before_they_are_read(here, capsys, monkeypatch):
    batch = pyarrow.table({"a": [1.0] * 100_000, "label": [1, 2] * 50_000})
    with parquet.ParquetWriter(here / "many.parquet", batch.schema) as file:
        file.write_table(batch)
    monkeypatch.setattr(_row_bounds, "physical_memory", lambda: 100_000)
    code, err = check(
        ["select", "many.parquet", "--no-text", "--label", "label"], capsys
    )
    assert code == 2
    pattern = r"takes more than (\d+) bytes: its first (\d+) rows of 1 columns"
    n_bytes, n_rows = re.search(pattern, err.replace(",", "")).groups()
    assert int(n_bytes) == 8 * int(n_rows) < 200_000


def test_a_packed_row_without_end(here, capsys):
    (here / "bomb.csv.gz").write_bytes(gzip.compress(b"a" * 40_000_000, 1))
    code, err = check(["select", "bomb.csv.gz"], capsys)
    assert code == 2
    assert "at most 33,554,432 bytes. Got more." in err
    assert "raise --max-row-bytes" in err
    (here / "long.csv").write_text(GOOD + f"{'word ' * 30_000},pos\n")
    arguments = ["select", "long.csv", "--text", "text", "--label", "label"]
    assert check(arguments, capsys)[0] == 0
    code, err = check([*arguments, "--max-row-bytes", "100000"], capsys)
    assert code == 2
    assert "at most 100,000 bytes" in err


def test_a_file_that_is_rewritten_while_it_is_in_use(here, capsys, monkeypatch):
    from bayesieve.cli import _text_data

    # A machine whose memory does not hold the rows, so that they are read again.
    monkeypatch.setattr(_row_bounds, "physical_memory", lambda: 100)
    (here / "a.csv").write_text(GOOD)
    count = _text_data.TextData.count

    def count_and_write(*arguments):
        counts = count(*arguments)
        (here / "a.csv").write_text(GOOD.replace("film", "plot"))
        return counts

    monkeypatch.setattr(_text_data.TextData, "count", count_and_write)
    code, err = check(["select", "a.csv", "--text", "text", "--label", "label"], capsys)
    assert code == 2
    assert "'a.csv' changed while it was in use" in err


# ------------------------------------------------------------------------- predictions


@pytest.fixture
def formulas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = {"pos": "=1+1", "neg": 'a\r,"b'}
    rows = [
        f'{text.replace(",", "")},"{labels[y].replace(chr(34), 2 * chr(34))}"'
        for text, y in reviews(60)
    ]
    (tmp_path / "a.csv").write_text("text,label\n" + "\n".join(rows) + "\n", newline="")
    arguments = ["select", "a.csv", "--text", "text", "--label", "label", "--save", "m"]
    assert main(arguments) == 0
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_formulas_are_told_and_escaped_when_asked(formulas, ending, capsys):
    import csv

    out = f"out.{ending}"
    expected = {"=1+1", 'a\r,"b'}
    for options, labels in (
        ([], expected),
        (["--escape-formulas"], {"'=1+1", 'a\r,"b'}),
    ):
        capsys.readouterr()
        assert main(["predict", "m", "a.csv", "--out", out, "--proba", *options]) == 0
        err = capsys.readouterr().err
        assert ("'=1+1' begins as a formula does" in err) == (not options)
        with open(out, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter="," if ending == "csv" else "\t"))
        assert rows[0][:2] == ["row", "prediction"]
        assert len(rows) == 61
        assert {row[1] for row in rows[1:]} == labels
        assert all(len(row) == 4 for row in rows)


def test_numbers_are_no_formulas(here, capsys):
    rows = "".join(
        f"{'good' if i % 2 else 'bad'} film,{2 * (i % 2) - 1}\n" for i in range(40)
    )
    (here / "signs.csv").write_text("text,label\n" + rows)
    data = ["signs.csv", "--text", "text", "--label", "label"]
    assert main(["select", *data, "--save", "signs.model"]) == 0
    capsys.readouterr()
    assert main(["predict", "signs.model", "signs.csv"]) == 0
    assert "formula" not in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_predictions_do_not_steer_a_terminal(form, tmp_path, monkeypatch):
    import pty
    import subprocess

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(EVIL)
    columns = EVIL.split("\n")[0].split(",")
    data = ["a.csv", "--text", columns[0], "--label", columns[1]]
    assert main(["select", *data, "--save", "m"]) == 0
    near, far = pty.openpty()
    command = [SCRIPT, "predict", "m", "a.csv", *form]
    with subprocess.Popen(command, stdout=far, stderr=subprocess.PIPE) as process:
        os.close(far)
        seen = b""
        while True:
            try:
                block = os.read(near, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            seen += block
        process.communicate(timeout=HANGS)
    os.close(near)
    shown = seen.decode().replace("\r\n", "\n")
    assert shown.replace("\n", "").isprintable()
    assert shown.count("\n") == 40 + (not form)
    if form:
        assert json.loads(shown.split("\n")[0])["row"] == 1
    piped = subprocess.run(command, capture_output=True, check=True, timeout=HANGS)
    assert "\u202e" in piped.stdout.decode()  # whoever reads a pipe gets the labels
