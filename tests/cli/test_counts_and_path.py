"""`bayesieve counts` and `bayesieve path`."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.cli.files import (
    PEOPLE,
    people,
    reviews,
    write_csv,
    write_reviews,
    write_svmlight,
)
from tests.cli.test_select import refused, selected

from bayesieve import ClassCounts, load_model, sparsity_path
from bayesieve.cli import main
from bayesieve.cli._path import _advice

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


def counted(capsys, *arguments):
    assert main(["counts", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_counts_are_those_of_the_library(tmp_path, capsys):
    data, saved = write_reviews(tmp_path, "csv"), tmp_path / "c"
    out = counted(capsys, data, "--save", saved, "--ngrams", "2", "--min-df", "2")
    assert "200 rows" in out
    own = ClassCounts.from_text(
        [tuple(zip(*reviews(), strict=True))], ngram_range=(1, 2), min_df=2
    )
    assert ClassCounts.load(saved) == own


def test_merged_counts_are_those_of_all_rows(tmp_path, capsys):
    files = [
        write_reviews(tmp_path, "csv", n, n=90, seed=i) for i, n in enumerate("ab")
    ]
    for file in files:
        counted(capsys, file, "--save", file.with_suffix(".counts"))
    saved = [file.with_suffix(".counts") for file in files]
    out = counted(capsys, "merge", *saved, "--save", tmp_path / "ab")
    assert "180 rows" in out
    counted(capsys, *files, "--save", tmp_path / "whole")
    assert ClassCounts.load(tmp_path / "ab") == ClassCounts.load(tmp_path / "whole")


def test_counts_as_json(tmp_path, capsys):
    data = write_svmlight(tmp_path / "w.svm")
    found = json.loads(
        counted(
            capsys, data, "--save", tmp_path / "c", "--model", "bernoulli", "--json"
        )
    )
    assert found["kind"] == "binary"
    assert found["classes"] == [-1, 1]
    assert found["rows"] == [100.0, 100.0]


def test_selecting_from_counts_is_selecting_from_data(tmp_path, capsys):
    data, saved = write_reviews(tmp_path, "csv"), tmp_path / "c"
    counted(capsys, data, "--save", saved)
    from_counts = selected(capsys, saved, "-k", "6", "--save", tmp_path / "m")
    from_data = selected(capsys, data, "-k", "6", "--test-share", "0")
    assert from_counts["features"] == from_data["features"]
    assert load_model(tmp_path / "m").predict(["a good film"]).tolist() == ["pos"]


def test_counts_with_other_options_are_refused(tmp_path, capsys):
    data, saved = write_reviews(tmp_path, "csv"), tmp_path / "c"
    counted(capsys, data, "--save", saved, "--ngrams", "2-2")
    line = refused(capsys, "select", saved, "-k", "4")
    assert "was counted with other options" in line
    selected(capsys, saved, "-k", "4", "--ngrams", "2-2")
    assert "-k cv needs rows" in refused(capsys, "select", saved, "-k", "cv")
    line = refused(capsys, "select", saved, "--model", "bernoulli")
    assert "for --model multinomial" in line


def test_counts_of_measurements(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [[*rng.normal(size=3), "ab"[i % 2]] for i in range(40)]
    for i, row in enumerate(rows):
        row[1] += 4 * (i % 2)
    data = write_csv(tmp_path / "m.csv", ("x", "y", "z", "kind"), rows)
    counted(capsys, data, "--save", tmp_path / "c", "--model", "gaussian")
    found = selected(capsys, tmp_path / "c", "-k", "1")
    assert [row["name"] for row in found["features"]] == ["y"]


def test_errors_of_counts(tmp_path, capsys):
    data = write_reviews(tmp_path, "csv")
    assert "--save" in refused(capsys, "counts", data)
    line = refused(capsys, "counts", "merge", data, "--save", tmp_path / "c")
    assert "two files of counts or more" in line
    other = write_reviews(tmp_path, "tsv")
    line = refused(capsys, "counts", "merge", data, data, "--save", tmp_path / "c")
    assert "more than once" in line
    line = refused(capsys, "counts", "merge", data, other, "--save", tmp_path / "c")
    assert "of one format" in line
    table = write_csv(tmp_path / "people.csv", PEOPLE, people(50))
    line = refused(capsys, "counts", table, "--save", tmp_path / "c")
    assert "whose columns are all of one kind" in line
    assert "Got" not in line  # nobody typed a model
    assert f"bayesieve select {table} takes any table" in line
    line = refused(capsys, "path", table, "--model", "selective")
    assert "Got 'selective'." in line
    (tmp_path / "zip").write_bytes(b"PK\x03\x04 nothing")
    line = refused(capsys, "path", tmp_path / "zip")
    assert "is no file of counts, or a damaged one" in line


# -------------------------------------------------------------------------------- path


def test_the_path_is_that_of_the_library(tmp_path, capsys):
    data = write_reviews(tmp_path, "csv")
    assert main(["path", str(data), "--sizes", "2,4,8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    counts = ClassCounts.from_text([tuple(zip(*reviews(), strict=True))])
    own = sparsity_path(counts, [2, 4, 8])
    gain = own.objective - own.null_objective
    assert [row["k"] for row in found["path"]] == [2, 4, 8]
    assert [row["gain"] for row in found["path"]] == pytest.approx(gain.tolist())
    assert (found["elbow"], found["bic"]) == (own.elbow, own.bic)
    first = {str(counts.feature_names[j]) for j in own.support(2)}
    assert set(found["path"][0]["entering"]) == first


@pytest.mark.parametrize(
    ("write", "options"),
    [
        (lambda folder: write_reviews(folder, "csv"), []),
        (lambda folder: write_svmlight(folder / "w.svm"), ["--model", "bernoulli"]),
        (lambda folder: write_svmlight(folder / "w.svm"), ["--sizes", "2,3,5,2000"]),
    ],
)
def test_the_table_of_the_path(write, options, tmp_path, capsys):
    assert main(["path", str(write(tmp_path)), *options]) == 0
    out = capsys.readouterr().out
    assert "short by" in out
    assert "proven" in out
    assert "<- " in out
    command = re.search(r"^  bayesieve select .* -k (\d+)$", out, re.M)
    assert command
    assert "--sizes" not in command[0]
    assert all(
        len(line) <= 80 for line in out.splitlines() if "bayesieve select" not in line
    )


def test_a_long_path_keeps_the_names_that_enter(tmp_path, capsys):
    texts = [f"common w{i % 60} x{i % 45} y{i % 37}" for i in range(600)]
    rows = [(text, "ab"[(i * i) % 7 % 2]) for i, text in enumerate(texts)]
    data = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    assert main(["path", str(data)]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if re.match(r"^ +\d", line)]
    assert len(table) <= 27


@pytest.mark.parametrize("sizes", ["0", "a", "", "2,,3"])
def test_wrong_sizes(sizes, tmp_path, capsys):
    data = write_reviews(tmp_path, "csv", n=20)
    assert "must be numbers >= 1" in refused(capsys, "path", data, "--sizes", sizes)


def told_of_bic(capsys, *arguments):
    assert main(["path", *map(str, arguments)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert main(["path", *map(str, arguments), "--json"]) == 0
    return text, json.loads(capsys.readouterr().out)


def test_the_end_of_the_sizes_is_not_called_the_least_bic(tmp_path, capsys):
    # Twelve words say all, forty are noise: BIC is least at about twelve words.
    rng = np.random.default_rng(0)
    rows = []
    for i in range(400):
        own = [f"w{i % 2}x{j}" for j in rng.choice(6, size=3)]
        rows.append((" ".join([*own, *(f"n{j}" for j in rng.choice(40, 5))]), i % 2))
    data = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    text, found = told_of_bic(capsys, data, "--sizes", "2,4,6")
    assert "BIC still falls at 6, the largest size tried" in text
    assert "least BIC" not in text
    assert "and bic" not in text
    assert (found["bic"], found["bic_at_edge"]) == (6, "largest")
    text, found = told_of_bic(capsys, data, "--sizes", "20,30,40")
    assert "BIC rises from 20 on, the smallest size tried" in text
    assert (found["bic"], found["bic_at_edge"]) == (20, "smallest")
    text, found = told_of_bic(capsys, data, "--sizes", "6")
    assert "One size alone has neither elbow nor least BIC." in text
    assert "<-" not in text
    assert found["bic_at_edge"] == "only"
    for sizes in (["--sizes", "2,4,8,12,16,30"], []):
        text, found = told_of_bic(capsys, data, *sizes)
        assert f"least BIC at {found['bic']}" in text
        assert 8 <= found["bic"] <= 16
        assert found["bic_at_edge"] is None


@pytest.mark.parametrize("command", ["path", "select"])
@pytest.mark.parametrize("stream", ["/dev/null"])
def test_a_stream_is_refused_in_one_true_sentence(command, stream, capsys):
    line = refused(capsys, command, stream)
    assert f"{stream!r} is a stream, and data must be in files" in line
    assert "Did you mean" not in line


def test_new_terms_of_a_row_are_in_its_support_and_not_in_the_row_above(
    tmp_path, capsys, monkeypatch
):
    from bayesieve.cli import _path

    monkeypatch.setattr(_path, "_LONGEST_TABLE", 4)
    shown = []
    monkeypatch.setattr(_path, "_show", lambda outcome, *_: shown.append(outcome))
    path = write_reviews(tmp_path, "csv")
    assert main(["path", str(path), "--text", "text", "--label", "label"]) == 0
    counts = ClassCounts.from_text(path)
    names = np.asarray(counts.feature_names)
    whole = sparsity_path(counts)
    before = set()
    assert len(shown[0]["path"]) < whole.k.size
    for row in shown[0]["path"]:
        support = set(names[whole.support(row["k"])])
        assert set(row["entering"]) == support - before
        before = support
    capsys.readouterr()


def test_few_rows_are_not_advised_to_take_many_features(tmp_path, capsys):
    """Sixty rows of noise: the elbow is no size to recommend."""
    rng = np.random.default_rng(0)
    names = ",".join(f"gene{j}" for j in range(400))
    lines = [",".join(f"{x:.3f}" for x in row) for row in rng.normal(size=(60, 400))]
    labels = np.where(rng.integers(2, size=60), "yes", "no")
    rows = [f"{line},{label}" for line, label in zip(lines, labels, strict=True)]
    data = str(tmp_path / "genes.csv")
    (tmp_path / "genes.csv").write_text("\n".join([f"{names},tumour", *rows]))
    arguments = ["path", data, "--label", "tumour", "--model", "gaussian"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bic"] < found["largest_advised"] == 30 < found["elbow"]
    assert main(arguments) == 0
    told = " ".join(capsys.readouterr().out.split())
    least = f"Least BIC at {found['bic']}. The elbow advises no size here: 60 rows"
    assert least in told
    assert "<- elbow" not in told
    assert "-k 1se" in told


@pytest.mark.parametrize(
    ("sizes", "edge", "told"),
    [
        ((10, 20), None, "The elbow is at 10 terms, least BIC at 20."),
        ((10, 90), None, "The elbow is at 10 terms. BIC advises no size here: 60 "),
        ((90, 90), None, "Neither elbow nor BIC advises a size here: 60 rows cannot"),
        ((90, 20), "largest", "BIC still falls at 20, the largest size tried. The el"),
        ((90, 90), "only", "One size alone has neither elbow nor least BIC."),
    ],
)
def test_advice_in_words(sizes, edge, told):
    outcome = dict(zip(("elbow", "bic"), sizes, strict=True))
    outcome |= {"rows": 60, "unit": "terms", "bic_at_edge": edge, "largest_advised": 30}
    assert _advice(outcome).startswith(told)
