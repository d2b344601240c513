from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from bayesieve import ClassCounts, NaiveFeatureSelector
from bayesieve.exceptions import BadRowsWarning, GuessWarning

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = [
    "Good film, good plot",
    'a "bad" film\nof two lines',
    "",
    "Ünïcode — 中文 film; | tab\there",
    "the plot 'of' the film",
    "nul\0byte film",
]
LABELS = ["pos", "neg", "pos", "pos", "neg", "neg"]


def write_csv(path, texts=TEXTS, labels=LABELS, delimiter=",", newline="\n", bom=""):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        file.write(bom)
        rows = csv.writer(file, delimiter=delimiter, lineterminator=newline)
        rows.writerow(["number", "label", "text", ""])
        for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
            rows.writerow([i, label, text, "x"])
    return path


def write_jsonl(path, texts=TEXTS, labels=LABELS):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        for text, label in zip(texts, labels, strict=True):
            file.write(json.dumps({"id": 1, "text": text, "label": label}) + "\n")
    return path


def write_json(path, texts=TEXTS, labels=LABELS):
    rows = [{"text": t, "label": y} for t, y in zip(texts, labels, strict=True)]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def write_parquet(path, texts=TEXTS, labels=LABELS):
    pq.write_table(pa.table({"label": labels, "text": texts}), path)
    return path


WRITERS = {
    "a.csv": write_csv,
    "a.CSV": write_csv,
    "a.csv.gz": write_csv,
    "crlf.csv": lambda path: write_csv(path, newline="\r\n"),
    "bom.csv": lambda path: write_csv(path, bom="\ufeff"),
    'it\'s a "name".csv': write_csv,
    "a.tsv": lambda path: write_csv(path, delimiter="\t"),
    "a.jsonl": write_jsonl,
    "a.ndjson.gz": write_jsonl,
    "a.json": write_json,
    "a.parquet": write_parquet,
}


def expected(texts=TEXTS, labels=LABELS, **keywords):
    return ClassCounts.from_text([(texts, labels)], **keywords)


# --------------------------------------------------------------------------- formats


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", [str, Path])
def test_formats(tmp_path, name, kind):
    path = WRITERS[name](tmp_path / name)
    counts = ClassCounts.from_text(kind(path))
    assert counts == expected()
    names = CountVectorizer().fit(TEXTS).get_feature_names_out()
    assert counts.feature_names.tolist() == names.tolist()


@pytest.mark.parametrize("name", ["z.csv.zst", "z.jsonl.zst"])
def test_zstandard(tmp_path, name):
    plain = WRITERS[f"a{name[1:-4]}"](tmp_path / "plain")
    with pa.output_stream(str(tmp_path / name), compression="zstd") as stream:
        stream.write(plain.read_bytes())
    assert ClassCounts.from_text(tmp_path / name) == expected()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet"])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([10, 9, 10, 10, 9, -1], [-1, 9, 10]),
        ([True, False, True, True, False, False], [False, True]),
        (["1", "a", "1", "1", "a", "a"], ["1", "a"]),
    ],
)
def test_labels_keep_their_kind(tmp_path, name, labels, classes):
    path = tmp_path / name
    writer = {".csv": write_csv, ".jsonl": write_jsonl, ".json": write_json}
    writer.get(path.suffix, write_parquet)(path, labels=labels)
    counts = ClassCounts.from_text(path)
    assert counts.classes.tolist() == classes
    assert counts == expected(labels=labels)
    assert ClassCounts.from_text(path, classes=classes) == counts
    more = [*classes, type(classes[0])(77)] if isinstance(classes[0], int) else None
    if more and not isinstance(classes[0], bool):
        assert ClassCounts.from_text(path, classes=more).classes.tolist() == more
        with pytest.raises(ValueError, match="not one of the classes"):
            ClassCounts.from_text(path, classes=[5, 6])


@pytest.mark.parametrize("labels", [["01", "1"], ["1.0", "2"], ["1", "x"], ["+1", "2"]])
def test_csv_labels_that_are_not_plain_integers_stay_text(tmp_path, labels):
    path = write_csv(tmp_path / "a.csv", ["one two", "three"], labels)
    assert ClassCounts.from_text(path).classes.tolist() == sorted(labels)


def test_json_labels_of_two_kinds_are_refused(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", ["one", "two"], [1, "1"])
    with pytest.raises(ValueError, match="Labels must all be of one kind"):
        ClassCounts.from_text(path)
    path = write_jsonl(tmp_path / "b.jsonl", ["one", "two"], [{"a": 1}, {"a": 2}])
    with pytest.raises(ValueError, match="Labels must be strings"):
        ClassCounts.from_text(path)


# --------------------------------------------------------------------------- many files


def test_globs_lists_and_progress(tmp_path, capsys):
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        write_csv(tmp_path / f"part-{i}.csv", [text], [label])
    whole = expected()
    assert ClassCounts.from_text(str(tmp_path / "part-*.csv")) == whole
    assert ClassCounts.from_text(tmp_path / "part-?.csv", progress=True) == whole
    listed = sorted(tmp_path.iterdir(), reverse=True)
    assert ClassCounts.from_text(listed) == whole
    assert ClassCounts.from_text([str(tmp_path / "part-[0-4].csv"), listed[0]]) == whole
    with pytest.raises(ValueError, match="more than once"):
        ClassCounts.from_text([*listed, str(tmp_path / "part-0.csv")])
    assert capsys.readouterr().err == ""  # not a terminal


def test_progress_by_bytes(tmp_path, monkeypatch):
    class Terminal:
        def __init__(self):
            self.text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("time.monotonic", iter(range(10**9)).__next__)
    paths = [write_csv(tmp_path / f"{i}.csv") for i in range(2)]
    ClassCounts.from_text(paths, progress=True)
    assert " 50 %" in terminal.text
    assert "100 %" in terminal.text
    assert "12 documents" in terminal.text
    assert terminal.text.endswith("\r")


def test_threads_and_budget_do_not_matter(tmp_path, real_data):
    data = real_data("sms_spam")
    path = write_csv(tmp_path / "a.csv", data["text"], data["label"])
    whole = ClassCounts.from_text(path, ngram_range=(1, 2))
    for n_jobs, budget in ((1, None), (3, 1 << 20)):
        again = ClassCounts.from_text(
            path,
            ngram_range=(1, 2),
            n_jobs=n_jobs,
            memory_budget=budget,
            spill_folder=tmp_path,
        )
        assert again == whole
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    X = vectorizer.fit_transform(data["text"])
    assert whole.feature_names.tolist() == vectorizer.get_feature_names_out().tolist()
    direct = ClassCounts.from_matrix(X, data["label"].to_numpy())
    np.testing.assert_array_equal(whole.feature_count, direct.feature_count)


def test_fit_on_counts_of_a_file(real_data):
    real_data("sms_spam")
    from tests.conftest import data_folder

    counts = ClassCounts.from_text(data_folder() / "sms_spam.parquet")
    selector = NaiveFeatureSelector(k=20).fit_counts(counts)
    assert isinstance(selector.feature_names_in_, np.ndarray)
    assert "claim" in selector.get_feature_names_out()


def test_tf_idf_of_files(tmp_path):
    paths = [
        write_csv(tmp_path / "a.csv", TEXTS[:3], [1, 0, 1]),
        write_csv(tmp_path / "b.csv", TEXTS[3:], [10, 0, 10]),
    ]
    counts = ClassCounts.from_text(paths, tfidf=True)
    X = TfidfVectorizer().fit_transform(TEXTS).toarray()
    assert counts.classes.tolist() == [0, 1, 10]
    sums = np.stack([X[[1, 4]].sum(0), X[[0, 2]].sum(0), X[[3, 5]].sum(0)])
    np.testing.assert_allclose(counts.feature_count, sums, rtol=1e-12)


# --------------------------------------------------------------------------- DuckDB


def test_queries_and_relations(tmp_path):
    path = write_csv(tmp_path / "a.csv")
    query = f"""
        SELECT coalesce(text, '') AS words, label = 'pos' AS good
        FROM read_csv('{path}', all_varchar = true)
    """
    labels = [label == "pos" for label in LABELS]
    counts = ClassCounts.from_text(None, "words", "good", sql=query)
    assert counts == expected(labels=labels)
    assert ClassCounts.from_text(duckdb.sql(query), "words", "good") == counts
    own = duckdb.connect()
    assert ClassCounts.from_text(own.sql(query), "words", "good") == counts
    weighted = ClassCounts.from_text(own.sql(query), "words", "good", tfidf=True)
    assert weighted.document_count.tolist() == counts.document_count.tolist()
    again = ClassCounts.from_text(None, "words", "good", sql=query, tfidf=True)
    assert again == weighted
    own.close()


def test_queries_that_fail(tmp_path):
    with pytest.raises(ValueError, match="The query failed"):
        ClassCounts.from_text(sql="SELECT nothing FROM nowhere")
    with pytest.raises(ValueError, match=r"no column 'label'.*Did you mean 'labels'\?"):
        ClassCounts.from_text(sql="SELECT 'a b' AS text, 1 AS labels")
    with pytest.raises(ValueError, match="Row 2 of the query has no label"):
        ClassCounts.from_text(
            sql="FROM (VALUES ('ab', 1), ('cd', NULL)) t(text, label)"
        )
    with pytest.raises(ValueError, match="The query failed"):
        ClassCounts.from_text(
            sql="SELECT 'a' AS text, error('no') AS label FROM range(3)"
        )


def test_tables_of_ones_own_come_as_a_relation():
    own = duckdb.connect()
    own.execute("CREATE TABLE reviews AS SELECT 'ab cd' AS text, 3 AS label")
    counts = ClassCounts.from_text(own.sql("SELECT * FROM reviews"))
    assert counts.classes.tolist() == [3]
    with pytest.raises(ValueError, match=r"Hint: .* pass a relation"):
        ClassCounts.from_text(sql="SELECT * FROM reviews")
    own.close()


@pytest.mark.parametrize(
    "name", ["select 1.csv", "SELECT * FROM x.csv", "from here; drop.csv", "with a.csv"]
)
def test_a_name_of_a_file_is_never_a_query(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        ClassCounts.from_text(name)
    write_csv(tmp_path / name)
    assert ClassCounts.from_text(name) == expected()
    assert ClassCounts.from_text([name]) == expected()


# --------------------------------------------------------------------------- errors


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing\.csv"):
        ClassCounts.from_text(tmp_path / "nothing.csv")
    with pytest.raises(FileNotFoundError, match=r"No file matches .*\*\.csv"):
        ClassCounts.from_text(tmp_path / "*.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        ClassCounts.from_text(tmp_path)
    with pytest.raises(ValueError, match="on this machine"):
        ClassCounts.from_text("https://example.org/a.csv")


@pytest.mark.parametrize("name", ["a.doc", "a", "a.gz"])
def test_unknown_endings(tmp_path, name):
    (tmp_path / name).write_text("nothing that is a table\n")
    with pytest.raises(ValueError, match=r"\.parquet.*content tells none"):
        ClassCounts.from_text(tmp_path / name)


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm.gz"])
def test_svmlight_is_a_matrix(tmp_path, name):
    (tmp_path / name).write_text("1 1:2\n")
    with pytest.raises(ValueError, match=r"load_svmlight_file.*from_matrix"):
        ClassCounts.from_text(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet"])
def test_wrong_columns(tmp_path, name):
    path = WRITERS[name](tmp_path / name)
    with pytest.raises(ValueError, match=r"no column 'lable'.*Did you mean 'label'\?"):
        ClassCounts.from_text(path, label="lable")
    with pytest.raises(ValueError, match=r"no column 'Text'.*Did you mean 'text'\?"):
        ClassCounts.from_text(path, text="Text")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.csv.gz"])
@pytest.mark.parametrize("content", [b"", b"\n", b"text,label\n"])
def test_empty_files(tmp_path, name, content):
    if "json" in name and content.strip():
        content = b"[]" if name == "a.json" else b""
    if ".tsv" in name:
        content = content.replace(b",", b"\t")
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match="at least one row"):
        ClassCounts.from_text(path)
    full = write_csv(tmp_path / "full.csv") if "json" not in name else None
    if full is not None:
        assert ClassCounts.from_text([path, full]) == expected()


def test_two_columns_of_one_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label,text\nab cd,x,ef\n")
    with pytest.warns(GuessWarning, match=r"'text' \(column 3\) is 'text_2'\.$"):
        counts = ClassCounts.from_text(path)
    assert counts.feature_names.tolist() == ["ab", "cd"]


def test_formats_that_write_labels_differently_are_not_mixed(tmp_path):
    paths = [write_csv(tmp_path / "a.csv"), write_parquet(tmp_path / "b.parquet")]
    with pytest.raises(ValueError, match="count them apart"):
        ClassCounts.from_text(paths)


def test_a_clear_line_without_duckdb(tmp_path):
    path = write_csv(tmp_path / "a.csv")
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from bayesieve import ClassCounts\n"
        "print(ClassCounts.from_text([(['a film'], [1])]).n_features)\n"
        f"ClassCounts.from_text({str(path)!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout == "1\n"
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: Reading files needs duckdb")
    assert last.endswith("Hint: pip install duckdb pyarrow")


# --------------------------------------------------------------------------- bad rows

BAD_CSV = {
    "too many": (b'text,label\n"a\nb",x\nbad,row,extra\nok here,y\n', 4),
    "too few": (b"text,label\nab,x\nbad\nok here,y\n", 3),
    "quote": (b'text,label\nab,x\n"open" x,b\nok here,y\n', 3),
    "utf-8": (b'text,label\r\n"a\r\nb",x\r\nb\xffad,y\r\nok h\xc3\xa9re,y\r\n', 4),
}


@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.GuessWarning")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_lines_of_csv(tmp_path, name, packed):
    content, line = BAD_CSV[name]
    path = tmp_path / ("bad.csv.gz" if packed else "bad.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    where = rf"^Line {line} of '.*bad\.csv.*cannot be read: .*'skip'"
    with pytest.raises(ValueError, match=where):
        ClassCounts.from_text(path, token_pattern=r"\w+")
    with pytest.warns(BadRowsWarning, match=rf"^1 bad row .*Line {line} of "):
        counts = ClassCounts.from_text(path, on_bad_rows="skip", token_pattern=r"\w+")
    assert counts.class_count.tolist() == [1, 1]
    assert "bad" not in counts.feature_names.tolist()


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_told(delimiter, tmp_path):
    path = write_csv(tmp_path / "a.csv", delimiter=delimiter)
    with pytest.warns(GuessWarning, match=r"The fields of .*a\.csv' are separated by"):
        assert ClassCounts.from_text(path) == expected()


def test_many_bad_lines_are_counted_once_each(tmp_path):
    rows = [f"word{i},x" if i % 100 else "much,too,long" for i in range(20_000)]
    path = tmp_path / "bad.csv"
    path.write_text("text,label\n" + "\n".join(rows) + "\n")
    good = write_csv(tmp_path / "good.csv")
    with pytest.warns(BadRowsWarning, match=r"^200 bad rows .*Line 2 of") as caught:
        counts = ClassCounts.from_text([good, path], on_bad_rows="skip")
    assert len(caught) == 1
    assert counts.class_count.sum() == 20_000 - 200 + len(TEXTS)
    with pytest.raises(ValueError, match=r"^Line 2 of .*bad\.csv"):
        ClassCounts.from_text([good, path])


def test_a_quote_that_is_never_closed(tmp_path):
    path = tmp_path / "open.csv"
    path.write_text('text,label\nab cd,x\n"open,b\n' + "ef gh,y\n" * 100)
    with pytest.raises(ValueError, match=r"^Line 3 .*\(a row of 10[12] lines\)"):
        ClassCounts.from_text(path)
    with pytest.warns(BadRowsWarning, match=r"^1 bad row .*\(a row of 10[12] lines\)"):
        counts = ClassCounts.from_text(path, on_bad_rows="skip")
    assert counts.class_count.tolist() == [1]


@pytest.mark.parametrize("mode", ["error", "skip"])
def test_lines_that_end_in_different_ways_are_never_lost(tmp_path, mode):
    path = tmp_path / "mixed.csv"
    path.write_bytes(b"text,label\r\nab cd,x\r\nef gh,y\nij kl,x\r\n")
    assert ClassCounts.from_text(path, on_bad_rows=mode).class_count.tolist() == [2, 1]


def test_a_glob_that_looks_like_a_query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "from here 1.csv")
    assert ClassCounts.from_text("from here *.csv") == expected()


@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.GuessWarning")
def test_bad_lines_of_json(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(
        '{"text": "ab cd", "label": 1}\n{"text": "bad, "label": 1}\n'
        '{"text": "ef gh", "label": 2}\n'
    )
    with pytest.raises(ValueError, match=r"^Line 2 of .*bad\.jsonl.*'skip'"):
        ClassCounts.from_text(path)
    with pytest.warns(BadRowsWarning, match=r"^1 bad row .*Row 2 of"):
        counts = ClassCounts.from_text(path, on_bad_rows="skip")
    assert counts.classes.tolist() == [1, 2]
    path.write_bytes(
        b'{"text": "\xc3\xa9t\xc3\xa9", "label": 1}\n{"text": "\xff", "label": 1}\n'
    )
    with pytest.raises(ValueError, match=r"^Line 2 of .*bad\.jsonl.*UTF-8, while 1 "):
        ClassCounts.from_text(path)
    with pytest.warns(BadRowsWarning, match=r"^1 bad row"):
        ClassCounts.from_text(path, on_bad_rows="skip")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet"])
def test_missing_labels(tmp_path, name):
    path = tmp_path / name
    writer = {".csv": write_csv, ".jsonl": write_jsonl, ".json": write_json}
    labels = ["x", "y", None, "x"]
    texts = ["ab cd", "ef", "gh", "ij"]
    writer.get(path.suffix, write_parquet)(path, texts=texts, labels=labels)
    with pytest.raises(ValueError, match=rf"^Row 3 of '.*{name}' has no label"):
        ClassCounts.from_text(path)
    with pytest.warns(BadRowsWarning, match=r"^1 bad row .*Row 3 of"):
        counts = ClassCounts.from_text(path, on_bad_rows="skip")
    assert counts.class_count.tolist() == [2, 1]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.parquet"])
def test_missing_texts(tmp_path, name):
    path = tmp_path / name
    writer = {".jsonl": write_jsonl, ".json": write_json}
    texts, labels = ["ab cd", "", None], ["x", "y", "x"]
    writer.get(path.suffix, write_parquet)(path, texts=texts, labels=labels)
    with pytest.raises(ValueError, match=rf"^Row 3 of '.*{name}' has no text"):
        ClassCounts.from_text(path)
    with pytest.warns(BadRowsWarning, match=r"^1 bad row"):
        counts = ClassCounts.from_text(path, on_bad_rows="skip")
    assert counts.class_count.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_huge_lines(tmp_path, name):
    texts = ["word " * 2_000_000 + "end", "short text"]
    path = tmp_path / name
    writer = {".csv": write_csv, ".jsonl": write_jsonl}
    writer.get(path.suffix, write_parquet)(path, texts=texts, labels=["x", "y"])
    counts = ClassCounts.from_text(path)
    names = counts.feature_names.tolist()
    assert counts.feature_count[0, names.index("word")] == 2_000_000


def test_files_that_are_something_else(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(ValueError, match=r"a\.parquet' cannot be read"):
        ClassCounts.from_text(tmp_path / "a.parquet")
    (tmp_path / "a.csv.gz").write_bytes(b"text,label\nab,x\n")
    with pytest.warns(GuessWarning, match=r"a\.csv\.gz' is not packed, unlike"):
        counts = ClassCounts.from_text(tmp_path / "a.csv.gz")
    assert counts.feature_names.tolist() == ["ab"]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.ndjson.gz", "a.parquet"])
@pytest.mark.parametrize("mode", ["error", "skip"])
def test_a_file_that_ends_too_early_is_an_error(tmp_path, name, mode):
    rng = np.random.default_rng(0)
    texts = [f"word{i} number{i}" for i in rng.integers(0, 10**9, 10_000)]
    writer = {"a.csv.gz": write_csv, "a.ndjson.gz": write_jsonl}
    path = writer.get(name, write_parquet)(tmp_path / name, texts, ["x"] * 10_000)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=f"{name}' cannot be read"):
        ClassCounts.from_text(path, on_bad_rows=mode)
