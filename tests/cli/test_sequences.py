"""FASTA, FASTQ and bytes on the command line, and every way they can be refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.cli.files import (
    SCRIPT,
    run_script,
    write_csv,
    write_genomes,
    write_reviews,
)
from tests.patience import HANGS

from bayesieve import SparseSequenceNB, load_model
from bayesieve.cli import main
from bayesieve.cli._held_out import held_out
from bayesieve.cli._terminal import Terminal
from bayesieve.naive_bayes import _sparse_sequence
from bayesieve.sequences import read_records

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")

HEADER = ("sample", "town", "phenotype")
LABELS = ["--labels", "labels.csv"]
ALL = ["--test-share", "0"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Genomes in files, in folders by label, and as records of one file."""
    folder = tmp_path_factory.mktemp("sequences")
    gene, label_of = write_genomes(folder / "genomes", folder / "labels.csv")
    records = []
    for name, label in label_of.items():
        text = (folder / "genomes" / f"{name}.fasta").read_text()
        own = folder / "by_label" / label / f"{name}.fna.gz"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_bytes(gzip.compress(text.encode()))
        records.append(text)
    (folder / "all.fasta").write_text("".join(records))
    model = folder / "a.model"
    data = [folder / "genomes/*.fasta", "--labels", folder / "labels.csv"]
    arguments = ["select", *data, "-k", "1", "--save", model]
    assert main([*map(str, arguments)]) == 0
    return folder, gene, label_of


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


def selected(capsys, *arguments):
    capsys.readouterr()
    assert main(["select", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """The last line on stderr of a command that must fail; before it only what is
    told of the labels."""
    capsys.readouterr()
    assert main([*map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    *told, line = captured.err.splitlines()
    assert all("label" in own or "name none of" in own for own in told)
    assert line.startswith("bayesieve: ")
    assert "unexpected" not in line
    return line


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# ----------------------------------------------------------------------------- select


def test_the_installed_program_finds_the_gene(made):
    folder, gene, _ = made
    done = run_script("select", "genomes/*.fasta", *LABELS, "-k", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "in column 'phenotype' (guessed; --label COL is another)" in done.stderr
    assert "the names in 'sample'" in done.stderr
    assert "Which k-mers tell resistant from susceptible?" in done.stdout
    assert "copies in the same rows" in done.stdout
    [line] = [own for own in done.stdout.splitlines() if " +29 " in own]
    name = line.split()[0]  # whole, so that it can be looked for
    opposite = gene[::-1].translate(str.maketrans("ACGT", "TGCA"))
    assert len(name) == 31
    assert name in gene or name in opposite
    assert "what rows of one descent share?" in " ".join(done.stdout.split())
    assert "Proven: no other k-mer explains the labels better" in done.stdout


def test_json_has_the_keys_of_other_data_and_copies(folder, tmp_path, capsys):
    found = selected(capsys, "genomes/*.fasta", *LABELS, "-k", "1")
    of_texts = selected(capsys, write_reviews(tmp_path, "csv"), "-k", "4")
    assert list(found) == list(of_texts)
    assert list(found["features"][0]) == list(of_texts["features"][0])
    assert of_texts["features"][0]["copies"] is None
    assert of_texts["n_copies"] is None
    [feature] = found["features"]
    assert feature["copies"] == 29
    assert feature["towards"] == "resistant"
    assert feature["by_class"][1] == 0
    assert found["unit"] == "k-mers"
    assert found["guessed"] == {"--label": "phenotype"}
    assert found["evaluation"]["accuracy"] == 1.0
    assert any("'phenotype'" in told for told in found["warnings"])


def test_the_model_is_that_of_the_library(made, folder, tmp_path, capsys):
    saved = tmp_path / "model"
    selected(capsys, "genomes/*.fasta", *LABELS, *ALL, "-k", "3", "--save", saved)
    own = SparseSequenceNB(3).fit_files("genomes/*.fasta", made[2])
    loaded = load_model(saved)
    assert loaded.members_ == own.members_
    paths = sorted(Path("genomes").iterdir())
    np.testing.assert_array_equal(loaded.predict_proba(paths), own.predict_proba(paths))


def test_files_that_are_held_out_are_not_learnt_from(made, folder, tmp_path, capsys):
    saved = tmp_path / "model"
    found = selected(
        capsys, "genomes/*.fasta", *LABELS, "-k", "2", "--quick", "--save", saved
    )
    paths = sorted(Path("genomes").iterdir())
    labels = np.array([made[2][path.stem] for path in paths])
    test = held_out(np.unique(labels, return_inverse=True)[1], 0.25)
    train = [path for path, own in zip(paths, test, strict=True) if not own]
    own = SparseSequenceNB(2).fit(train, labels[~test])
    loaded = load_model(saved)
    assert loaded.members_ == own.members_
    assert loaded.class_count_.sum() == found["train_rows"] == (~test).sum()
    assert found["evaluation"]["rows"] == test.sum()
    assert found["evaluation"]["splits"] == 1
    # Few files: several splits, as for other data, without --quick.
    whole = selected(capsys, "genomes/*.fasta", *LABELS, "-k", "2")
    assert whole["evaluation"]["splits"] > 1


def test_without_k_features_have_weights(folder, capsys):
    found = selected(capsys, "genomes/*.fasta", *LABELS)
    assert found["dual_gap"] is not None
    assert 29 in [row["copies"] for row in found["features"]]
    names = [row["name"] for row in found["evaluation"]["contenders"]]
    assert names[0] == "k-mers with weights"
    assert "proven best k-mers" in names
    assert "all k-mers, no weights" in names


def test_too_many_k_mers_to_choose_by_rows_are_told(folder, capsys, monkeypatch):
    monkeypatch.setattr(_sparse_sequence, "_MOST_CHOOSING", 1)
    found = selected(capsys, "genomes/*.fasta", *LABELS, "--quick")
    [told] = [own for own in found["warnings"] if "too many k-mers" in own]
    assert "20 get weights" in told
    assert found["dual_gap"] is not None
    assert found["k"] > 1
    # Somebody who asks for the choice is refused, in the words of the command line.
    line = refused(
        capsys, "select", "genomes/*.fasta", *LABELS, "--weights", "-k", "1se"
    )
    assert "-k must be an int" in line
    assert "memory_budget" not in line


def test_folders_are_labels(folder, capsys):
    found = selected(capsys, "by_label/*/*.gz", "-k", "1")
    assert found["classes"] == ["resistant", "susceptible"]
    assert found["guessed"] == {"--labels": "the folder of each file"}
    told = found["warnings"][0]
    assert "the label of a file is its folder, 'resistant' (8), 'susceptible'" in told
    assert found["features"][0]["copies"] == 29


def test_records_are_rows(folder, capsys, tmp_path):
    files = selected(capsys, "genomes/*.fasta", *LABELS, *ALL, "-k", "2")
    records = selected(capsys, "all.fasta", "--records", *LABELS, *ALL, "-k", "2")
    assert records["features"] == files["features"]
    assert records["train_rows"] == 24
    measured = selected(capsys, "all.fasta", "--records", *LABELS, "-k", "1")
    assert measured["evaluation"]["accuracy"] == 1.0
    # The whole header is a name as well, and rows without a label may be left out.
    rows = [(f"g{i} strain {i}", "ab"[i % 3 == 0]) for i in range(20)]
    table = write_csv(tmp_path / "headers.csv", ("header", "kind"), rows)
    options = ["--records", "--labels", table, "-k", "1"]
    assert "'g20 strain 20' has no label" in refused(
        capsys, "select", "all.fasta", *options
    )
    found = selected(capsys, "all.fasta", *options, *ALL, "--skip-bad-rows")
    assert found["train_rows"] == 20
    assert found["features"][0]["copies"] == 29


@pytest.mark.parametrize("named", ["path", "file", "stem"])
def test_ways_to_name_files(named, made, folder, tmp_path, capsys):
    rows = []
    for name, label in made[2].items():
        path = folder / "genomes" / f"{name}.fasta"
        written = {"path": str(path), "file": path.name, "stem": path.stem}[named]
        rows.append((label, written))
    table = write_csv(tmp_path / "t.tsv", ("y", "which"), rows, "\t")
    found = selected(
        capsys, folder / "genomes/*.fasta", "--labels", table, "-k", "1", *ALL
    )
    assert found["guessed"] == {"--label": "y"}
    assert found["features"][0]["copies"] == 29


@pytest.mark.parametrize(
    "folder_of", ["./genomes/", "genomes/../genomes/", "{}/genomes/"]
)
def test_spellings_of_a_path(folder_of, made, folder, tmp_path, capsys):
    own = folder_of.format(folder)
    rows = [(f"{own}{name}.fasta", label) for name, label in made[2].items()]
    table = write_csv(tmp_path / "t.csv", ("path", "y"), rows)
    options = ["--labels", table, "-k", "1", "--quick"]
    found = selected(capsys, "genomes/*.fasta", *options)
    assert found["features"][0]["copies"] == 29
    assert not [told for told in found["warnings"] if "name none of" in told]
    # Two spellings of one file are one name.
    write_csv(table, ("path", "y"), [*rows, ("genomes/g0.fasta", "susceptible")])
    line = refused(capsys, "select", "genomes/*.fasta", *options)
    assert "more than once, with the labels" in line


def test_other_labels_options_and_models(folder, capsys, tmp_path):
    towns = selected(capsys, "genomes/*.fasta", *LABELS, "--label", "town", "-k", "1")
    assert towns["classes"] == ["Oslo", "Rome"]
    assert towns["guessed"] == {}
    short = ["--length", "8", "--model", "multinomial"]
    found = selected(capsys, "genomes/*.fasta", *LABELS, *short, "-k", "3", "--quick")
    assert all(len(row["name"]) == 8 for row in found["features"])
    common = selected(capsys, "genomes/*.fasta", *LABELS, "--min-df", "4", "-k", "1")
    every = selected(capsys, "genomes/*.fasta", *LABELS, "-k", "1")
    assert common["n_features"] < every["n_features"]
    assert common["features"] == every["features"]
    rare = ["--max-df", "0.5", "--min-df", "2"]
    assert selected(capsys, "genomes/*.fasta", *LABELS, *rare, "-k", "1")["k"] == 1
    for k in ("0.01", "all", "elbow", "bic", "cv", "1se"):
        found = selected(capsys, "genomes/*.fasta", *LABELS, "-k", k, "--quick")
        assert 1 <= found["k"] <= found["n_features"]
        assert (found["cross_validation"] is not None) == (k in ("cv", "1se"))
    name = every["features"][0]["name"]
    without = ["-k", "1", "--exclude", name, "--quick"]
    found = selected(capsys, "genomes/*.fasta", *LABELS, *without)
    assert found["features"][0]["name"] != name


@pytest.mark.parametrize("strand", ["own", "other"])
def test_rules_name_any_copy_on_either_strand(made, folder, capsys, strand):
    gene = made[1]  # its 31-mers are copies
    name = gene[20:51]
    if strand == "other":
        name = name.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    data = ["genomes/*.fasta", *LABELS, *ALL, "-k", "1", "--quick"]
    usual = selected(capsys, *data)["features"]
    assert selected(capsys, *data, "--include", name)["features"] == usual
    dear = ["--cost", f"{name}=2", "--budget", "1"]
    for rules in (["--exclude", name], dear):
        assert selected(capsys, *data, *rules)["features"][0] != usual[0]
    path = ["path", *map(str, data[:3]), "--sizes", "1", "--json"]
    for rules, is_there in (([], True), (["--exclude", name], False)):
        assert main([*path, *rules]) == 0
        assert (usual[0]["name"] in capsys.readouterr().out) == is_there


def test_more_than_two_classes(folder, tmp_path, capsys):
    rows = [(f"g{i}", "abc"[i % 3]) for i in range(24)]
    table = write_csv(tmp_path / "three.csv", ("f", "y"), rows)
    assert main(["select", "genomes/*.fasta", "--labels", str(table), "-k", "1"]) == 0
    out = capsys.readouterr().out
    assert "tell 3 classes apart" in out
    assert "copies" in out
    assert "+29" in out


def test_rows_of_the_table_that_name_no_file_are_told(made, folder, tmp_path, capsys):
    rows = [(*own, "x") for own in made[2].items()] + [("g77", "resistant", "y")]
    table = write_csv(tmp_path / "more.csv", ("f", "y", "z"), rows)
    options = ["--labels", table, "--label", "y", "-k", "1", "--quick"]
    found = selected(capsys, "genomes/*.fasta", *options)
    [told] = [own for own in found["warnings"] if "name none of the files" in own]
    assert told.startswith("1 of 25 rows of")
    assert told.endswith("'g77'")


def test_one_name_of_several_files_is_told(made, folder, tmp_path, capsys):
    for path in Path("genomes").iterdir():  # reads of both ends of one sample
        for end in ("R1", "R2"):
            (tmp_path / f"{path.stem}.{end}.fa").write_text(path.read_text())
    found = selected(capsys, tmp_path / "*.fa", *LABELS, "-k", "1", "--quick")
    [told] = [own for own in found["warnings"] if "for several files" in own]
    assert "for 2: each is a row" in told


def test_bytes_of_files(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for i in range(16):
        head = b"\x7fELF\x02\x01\x01" if i % 2 else b"MZ\x90\x00\x03\x00\x00"
        own = tmp_path / ("elf" if i % 2 else "pe") / f"program{i}"
        own.parent.mkdir(exist_ok=True)
        own.write_bytes(head + rng.bytes(200))
    model = tmp_path / "model"
    options = ["--alphabet", "bytes", "-k", "2", "--save", model]
    found = selected(capsys, tmp_path / "*" / "program*", *options)
    assert found["unit"] == "n-grams"
    assert [row["name"] for row in found["features"]] == [
        "4d5a90000300",
        "454c46020101",
    ]
    assert main(["predict", str(model), str(tmp_path / "*" / "program1*")]) == 0
    for row in rows_of(capsys.readouterr().out):
        assert row["prediction"] == Path(row["file"]).parent.name
    line = refused(capsys, "predict", model, tmp_path / "elf" / "program1", "--records")
    assert "each file is a row" in line
    data = tmp_path / "*" / "program*"
    line = refused(capsys, "select", data, "--alphabet", "bytes", "--records")
    assert "with --alphabet bytes each file is a row" in line
    line = refused(capsys, "select", data, "--alphabet", "bytes", "--length", "9")
    assert "--length, the number of bytes in a row, must be an int in 1..8" in line


# ------------------------------------------------------------------------------ predict


def test_predictions_have_a_line_for_each_file(made, folder, capsys):
    assert main(["predict", "a.model", "genomes/*.fasta", *LABELS]) == 0
    captured = capsys.readouterr()
    rows = rows_of(captured.out)
    assert list(rows[0]) == ["file", "prediction", "probability"]
    assert {Path(row["file"]).stem: row["prediction"] for row in rows} == made[2]
    assert "100.0 % of 24 labelled rows are predicted right" in captured.err
    assert main(["predict", "a.model", "genomes/g0.fasta", "--json", "--explain"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == ["file", "prediction", "probability", "explanation"]
    assert found["prediction"] == "resistant"


def test_predictions_have_a_line_for_each_record(made, folder, tmp_path, capsys):
    assert main(["predict", "a.model", "all.fasta", "--records", *LABELS]) == 0
    captured = capsys.readouterr()
    rows = rows_of(captured.out)
    assert list(rows[0]) == ["row", "record", "prediction", "probability"]
    assert {row["record"].split()[0]: row["prediction"] for row in rows} == made[2]
    assert "100.0 % of 24 labelled rows" in captured.err
    # A model that was learnt from records takes records.
    model = str(tmp_path / "model")
    selected(capsys, "all.fasta", "--records", *LABELS, "-k", "1", "--save", model)
    assert main(["predict", model, "all.fasta", "genomes/g0.fasta"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert list(rows[0]) == ["file", "row", "record", "prediction", "probability"]
    assert len(rows) == 25
    headers = [header for header, _ in read_records("all.fasta")]
    assert [row["record"] for row in rows[:24]] == headers


def test_predictions_where_few_labels_are_known(folder, tmp_path, capsys):
    table = write_csv(tmp_path / "t.csv", ("f", "y"), [("g0", "resistant")])
    data = ["a.model", "genomes/g0.fasta", "genomes/g1.fasta"]
    assert main(["predict", *data, "--labels", str(table)]) == 0
    assert "100.0 % of 1 labelled rows" in capsys.readouterr().err


def test_explain_and_compare(folder, tmp_path, capsys):
    assert main(["explain", "a.model", "genomes/g0.fasta", "genomes/g1.fasta"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("genomes/g0.fasta: resistant predicted")
    assert "genomes/g1.fasta: susceptible predicted" in out
    assert main(["explain", "a.model", "all.fasta", "--records", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [own["record"] for own in found] == [f"g{i} strain {i}" for i in range(3)]
    other = str(tmp_path / "other")
    selected(capsys, "genomes/*.fasta", *LABELS, "-k", "2", "--save", other)
    arguments = ["compare", "a.model", other, "genomes/*.fasta", *LABELS]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert "They agree on" in captured.out
    assert captured.err.count("in column 'phenotype'") == 1
    records = str(tmp_path / "records")
    selected(capsys, "all.fasta", "--records", *LABELS, "-k", "1", "--save", records)
    line = refused(capsys, "compare", "a.model", records, "all.fasta")
    assert "one model takes files as rows, the other records" in line
    assert main(["compare", "a.model", records, "all.fasta", "--records"]) == 0


def test_path_report_and_alternatives(folder, tmp_path, capsys):
    assert main(["path", "genomes/*.fasta", *LABELS, "--sizes", "1,2"]) == 0
    assert "How many k-mers are enough?" in capsys.readouterr().out
    for report in ("a.html", "b.html"):
        page = tmp_path / report
        options = ["--report", page, *(["-k", "2"] if report == "b.html" else [])]
        found = selected(capsys, "genomes/*.fasta", *LABELS, *options)
        assert found["features"][0]["name"] in page.read_text(encoding="utf-8")
    assert main(["report", "a.model", "--out", str(tmp_path / "c.html")]) == 0
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "model.fit_files(paths, labels)" in page
    assert "genomes/g" in page  # the names of the examples
    page = tmp_path / "d.html"
    selected(capsys, "all.fasta", "--records", *LABELS, "-k", "1", "--report", page)
    text = page.read_text(encoding="utf-8")
    assert "model.fit_files(paths, labels, records=True)" in text
    data = json.loads(text.partition('id="report">')[2].partition("</script>")[0])
    headers = [f"g{i} strain {i}" for i in range(24)]
    assert {own["name"] for own in data["documents"]} <= set(headers)
    for own in data["documents"]:
        resists = int(own["name"].split()[-1]) % 3 == 0
        assert own["label"] == ("resistant" if resists else "susceptible")
        [term] = own["terms"]
        assert term["value"] == ("present" if resists else "absent")
        assert (own["note"] is None) == resists
    assert "cannot be exported" in refused(capsys, "export", "a.model", "--to", "sql")


def test_inspect_counts_records_and_letters(folder, tmp_path, capsys):
    protein = tmp_path / "p.faa"
    protein.write_text(">p\nMKVLAAGIVG\n")
    assert main(["inspect", "all.fasta", str(protein)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "all.fasta: 24 records, 12,480 letters, all of them bases or N." in out
    assert "1 record, 10 letters, 60 % of them neither bases nor N." in out
    assert main(["inspect", "all.fasta"]) == 0
    assert "--labels FILE" in capsys.readouterr().out
    assert main(["inspect", str(protein), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["letters"], found["other_letters"]) == (1, 10, 6)


def test_inspect_names_the_file_and_offers_what_can_be_done(folder, tmp_path, capsys):
    odd, empty, protein = (tmp_path / own for own in ("odd.fa", "empty.fa", "p.faa"))
    odd.write_text("@r\nACGT\n+\n")
    empty.write_text("")
    protein.write_text(">p\nMKVLAAGIVG\n")
    line = refused(capsys, "inspect", odd)
    assert main(["inspect", "all.fasta", str(odd), "--skip-bad-rows"]) == 0
    assert "1 bad row was left out" in capsys.readouterr().err
    assert f"{str(odd)!r} must hold sequences as FASTA or FASTQ; line" in line
    assert main(["inspect", str(empty)]) == 0
    out = capsys.readouterr().out
    assert "0 records, no letters." in out
    assert "select" not in out
    assert main(["inspect", str(protein)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "select takes DNA and RNA, and at most half other letters" in out
    assert "--labels" not in out


# -------------------------------------------------------------------- files left out


@pytest.fixture
def damaged(made, folder, tmp_path):
    """Copies of the genomes, three of which cannot be read, and their labels."""
    for path in Path("genomes").iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    whole = gzip.compress(Path("genomes/g3.fasta").read_bytes())
    (tmp_path / "g3.fasta").unlink()
    (tmp_path / "g3.fasta.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "g4.fasta").write_text("")
    (tmp_path / "g5.fasta").unlink()
    (tmp_path / "g5.fasta.gz").write_bytes(whole[:5])
    return tmp_path


def test_files_that_cannot_be_read_are_left_out(damaged, capsys):
    data = [*map(str, [damaged / "g*", *LABELS])]
    told = "warning: 3 bad rows were left out. The first: "
    assert "begins as a gzip" in refused(capsys, "predict", "a.model", *data)
    found = selected(capsys, *data, "-k", "1", *ALL, "--skip-bad-rows")
    assert found["train_rows"] == 21
    assert found["data"] == "g0.fasta and 20 more"
    assert found["features"][0]["copies"] == 29
    assert any(own.startswith(told) for own in found["warnings"])
    assert main(["predict", "a.model", *data, "--skip-bad-rows"]) == 0
    captured = capsys.readouterr()
    assert len(rows_of(captured.out)) == 21
    assert "100.0 % of 21 labelled rows" in captured.err
    assert told in captured.err
    for command in (["explain", "--rows", "99"], ["compare", "a.model"]):
        assert main([*command, "a.model", *data, "--skip-bad-rows"]) == 0
        assert "3 bad rows were left out" in capsys.readouterr().err
    options = ["--records", "-k", "1", *ALL, "--skip-bad-rows"]
    assert selected(capsys, *data, *options)["train_rows"] == 21


def test_no_file_that_can_be_read(damaged, capsys):
    data = [damaged / "g4.fasta", damaged / "g5.fasta.gz"]
    for command in (["select", *data, *LABELS], ["predict", "a.model", *data]):
        line = refused(capsys, *command, "--skip-bad-rows")
        assert "no file of 2 can be read. The first:" in line


def test_files_without_a_label_are_not_in_the_name_of_the_data(
    folder, tmp_path, capsys
):
    table = write_csv(
        tmp_path / "t.csv", ("f", "y"), [(f"g{i}", "ab"[i % 3 == 0]) for i in range(20)]
    )
    options = ["--labels", table, "-k", "1", "--quick", "--skip-bad-rows"]
    found = selected(capsys, "genomes/*.fasta", *options)
    assert found["data"] == "g0.fasta and 19 more"


def test_names_of_files_that_are_no_text_can_be_told(folder, tmp_path):
    name = os.fsencode(tmp_path) + b"/g\xff.fasta"
    try:
        with open(name, "wb") as file:
            file.write(Path("genomes/g0.fasta").read_bytes())
    except OSError:
        pytest.skip("names of files are text here")
    command = [str(SCRIPT), "predict", "a.model", name]
    done = subprocess.run(command, capture_output=True, check=True, timeout=HANGS)
    assert name in done.stdout
    out = tmp_path / "out.csv"
    subprocess.run([*command, "--out", out], check=True, timeout=HANGS)
    assert name in out.read_bytes()
    done = subprocess.run([*command, "--json"], capture_output=True, timeout=HANGS)
    assert os.fsencode(json.loads(done.stdout)["file"]) == name


# ----------------------------------------------------------------------- wide names


def test_k_mers_are_shown_whole(folder, tmp_path, capsys, monkeypatch):
    [name] = load_model("a.model").support_terms_
    assert main(["explain", "a.model", "genomes/g0.fasta"]) == 0
    assert name in capsys.readouterr().out
    assert main(["path", "genomes/*.fasta", *LABELS, "--sizes", "1,2"]) == 0
    assert name in capsys.readouterr().out
    monkeypatch.setattr(Terminal, "_columns", lambda self: 100)
    assert main(["compare", "a.model", "a.model"]) == 0
    assert name in capsys.readouterr().out


def test_held_out_rows_add_up(folder, capsys):
    assert main(["select", "genomes/*.fasta", *LABELS, "-k", "1"]) == 0
    out = capsys.readouterr().out
    [told] = re.findall(r"On (\d+) held-out rows of 10 splits", out)
    by_class = re.findall(r"^  (?:resistant|susceptible) +(\d+) ", out, re.M)
    assert int(told) == sum(map(int, by_class))


# ------------------------------------------------------------------------------ errors


@pytest.fixture
def zoo(folder, tmp_path):
    """Files that are wrong in some way, and a table that names them."""
    tables = {
        "miss.csv": "f,y\ng0,r\ng1,s\n",
        "one class.csv": "f,y\ng0,r\ng1,r\n",
        "twice.csv": "f,y\ng0,r\ng1,s\ng0,s\n",
        "others.csv": "f,y\nzz,r\nyy,s\n",
        "names.csv": "f\ng0\ng1\n",
        "empty.csv": "",
        "no label.csv": "f,y\ng0,r\ng1,\n",
        "zoo.csv": "f,y\nprotein,r\nempty,r\nheader,r\ncut,r\nodd,r\ng0,s\n",
    }
    for name, content in tables.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "protein.faa").write_text(">p\n" + "MKVLAAGIVG" * 5 + "\n")
    (tmp_path / "empty.fasta").write_text("")
    (tmp_path / "header.fasta").write_text(">nothing\n")
    (tmp_path / "odd.fastq").write_text("neither records nor a table\n")
    whole = (folder / "by_label" / "resistant" / "g0.fna.gz").read_bytes()
    (tmp_path / "cut.fna.gz").write_bytes(whole[: len(whole) // 2])
    return tmp_path


TWO = ["genomes/g0.fasta", "genomes/g1.fasta"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["genomes/*.fasta"], "the folder of each file, which is its label without"),
        (["genomes/*.fasta", "--label", "y"], "the table that --labels FILE names"),
        (["genomes/*.fasta", "--labels", "Z/miss.csv"], "has no label in"),
        ([*TWO, "--labels", "Z/one class.csv"], "has one value only, 'r'; two classes"),
        ([*TWO, "--labels", "Z/twice.csv"], "names 'g0' more than once, with the"),
        ([*TWO, "--labels", "Z/others.csv"], "names the files: 'genomes/g0.fasta' is"),
        ([*TWO, "--labels", "Z/names.csv"], "no column besides the names 'f'"),
        ([*TWO, "--labels", "Z/empty.csv"], "is empty"),
        ([*TWO, "--labels", "Z/no label.csv"], "has no label in column 'y'"),
        ([*TWO, "--labels", "nothing.csv"], "there is no file 'nothing.csv'"),
        ([*TWO, "--labels", "all.fasta"], "--labels must be a table"),
        ([*TWO, "--labels", "a.model"], "--labels must be a table"),
        ([*TWO, *LABELS, "--label", "twon"], "Did you mean 'town'?"),
        (["Z/protein.faa", TWO[0], "--labels", "Z/zoo.csv"], "60% other letters"),
        (["Z/empty.fasta", TWO[0], "--labels", "Z/zoo.csv"], "0 records and no base"),
        (["Z/header.fasta", TWO[0], "--labels", "Z/zoo.csv"], "1 records and no base"),
        (["Z/odd.fastq", TWO[0], "--labels", "Z/zoo.csv"], "FASTA or FASTQ"),
        (["Z/cut.fna.gz", TWO[0], "--labels", "Z/zoo.csv"], "is cut off or damaged"),
        (["Z/cut.fna.gz", "--records", *LABELS], "is cut off or damaged"),
        (["labels.csv", TWO[0], *LABELS], "must be of one format"),
        ([*TWO, "labels.csv", *LABELS], "must be of one format"),
        (["labels.csv", *LABELS], "--labels is for FASTA and FASTQ"),
        (["labels.csv", "--records"], "--records is for FASTA and FASTQ"),
        (["labels.csv", "--length", "4"], "--length is for FASTA and FASTQ"),
        (["all.fasta", "--records"], "--records needs --labels FILE"),
        (["all.fasta", *LABELS], "names the files: 'all.fasta' is in none of"),
        (["all.fasta", *LABELS], "Hint: its names are those of records: --records"),
        ([*TWO, *LABELS, "--label", "sample"], "Got 'sample', which names the files"),
        (["genomes"], "a glob such as 'genomes/*.fasta' names the files in it"),
        (["by_label"], "a glob such as 'by_label/*/*.fna.gz' names the files in it"),
        (["-", *LABELS], "sequences must be in files"),
        ([*TWO, *LABELS, "--length", "32"], "--length, the length of a k-mer, must be"),
        ([*TWO, *LABELS, "--ngrams", "2"], "--ngrams is for texts"),
        ([*TWO, *LABELS, "--text", "x"], "--text is for texts"),
        ([*TWO, *LABELS, "--l1"], "--l1 is for texts, tables and matrices"),
        ([*TWO, *LABELS, "--model", "gaussian"], "--model bernoulli or multinomial"),
        (
            ["genomes/*.fasta", *LABELS, "--model", "multinomial", "--min-df", "2"],
            "need --model bernoulli",
        ),
        (["genomes/*.fasta", *LABELS, "--min-df", "99"], "number of files up to 20"),
        ([*TWO, *LABELS, "--save", "labels.csv"], "would overwrite 'labels.csv'"),
    ],
)
def test_what_select_refuses(arguments, told, zoo, capsys):
    named = [own.replace("Z/", f"{zoo}/") for own in arguments]
    assert told in refused(capsys, "select", *named, "-k", "1")


def test_standard_input_is_no_row(made):
    sequences = (made[0] / "all.fasta").read_text()
    done = run_script("predict", "a.model", "-", cwd=made[0], input=sequences)
    assert done.returncode == 2
    assert "sequences must be in files" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    # It need not be read for that.
    done = run_script("predict", "a.model", "-", cwd=made[0], input="")
    assert "sequences must be in files" in done.stderr


def test_a_pipe_has_no_name_for_a_row(made, tmp_path, capsys):
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes with names here")
    os.mkfifo(tmp_path / "pipe")
    line = refused(capsys, "predict", made[0] / "a.model", tmp_path / "pipe")
    assert "reads a table from standard input" in line
    assert "sequences must be in files" in line


def test_links(folder, tmp_path, capsys):
    link, gone = tmp_path / "link.fa", tmp_path / "gone.fa"
    try:
        link.symlink_to(folder / "genomes" / "g0.fasta")
        gone.symlink_to(tmp_path / "nothing.fa")
    except OSError:
        pytest.skip("there are no links here")
    line = refused(capsys, "predict", "a.model", "genomes/g0.fasta", link)
    assert f"Got 'genomes/g0.fasta' and {str(link)!r}, which lead to the same" in line
    line = refused(capsys, "predict", "a.model", gone)
    assert f"link {str(gone)!r} leads to {str(tmp_path / 'nothing.fa')!r}" in line
    assert "Did you mean" not in line


def test_what_other_commands_refuse(folder, zoo, tmp_path, capsys):
    line = refused(capsys, "counts", *TWO, "--save", tmp_path / "c")
    assert "holds sequences, which select and path take" in line
    line = refused(capsys, "predict", "a.model", "labels.csv")
    assert "takes files of sequences, FASTA or FASTQ. Got 'labels.csv'" in line
    line = refused(capsys, "predict", "a.model", *TWO, "--keep", "town")
    assert "--keep is for tables" in line
    line = refused(capsys, "predict", "a.model", *TWO, "--text", "x")
    assert "--text is for texts. Got sequences" in line
    line = refused(capsys, "predict", "a.model", *TWO, "--label", "x")
    assert "--label names a column of the table that --labels FILE names" in line
    line = refused(capsys, "explain", "a.model", *TWO, "--by-column")
    assert "--by-column is for models of mixed tables. Got 'a.model', a Spars" in line
    line = refused(capsys, "predict", "a.model", zoo / "cut.fna.gz", "--records")
    assert "is cut off or damaged" in line
    assert "is cut off or damaged" in refused(capsys, "inspect", zoo / "cut.fna.gz")
    texts = tmp_path / "texts"
    reviews = write_reviews(tmp_path, "csv")
    selected(capsys, reviews, "-k", "2", "--save", texts)
    line = refused(capsys, "predict", texts, TWO[0])
    assert (
        "takes tables or texts. Got 'genomes/g0.fasta', which holds sequences" in line
    )
    line = refused(capsys, "predict", texts, reviews, "--records")
    assert "--records is for models of sequences. Got" in line
    line = refused(capsys, "explain", texts, reviews, "--by-column")
    assert "--by-column is for models of mixed tables" in line
    # One file for each class: none can be held out, and there is a model all the same.
    found = selected(capsys, *TWO, "--labels", zoo / "miss.csv", "-k", "1")
    assert found["evaluation"] is None
