"""Files as people have them: read as the clean one is, or a word says what is odd.

`make_files` writes them, `cases` says what must come out. Nothing else may be told:
words that nobody needs hide those that somebody does.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tests.cli.files import run_script
from tests.messy import make_files
from tests.messy.cases import CASES, TEXTS, Case

from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pyarrow", reason="reading files needs pyarrow")
pytest.importorskip("pandas", reason="reading tables needs pandas")

CLEAN_ROLES = {
    **{"age": "number", "income": "number", "rate": "number", "city": "category"},
    **{"joined": "date", "bought": "label"},
}
#: Columns and notes that are not looked at.
_GUESSED_LABEL = re.compile("guessed to be the label(;.*)?$")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("messy")
    make_files.write_files(path)
    return path


def ran(capsys, *arguments):
    code = main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    return code, out, err.splitlines()


#: Files whose rates are those of the clean one less five.
SHIFTED = ("minus signs.csv", "trailing minus.csv", "plus signs.csv")


def model_of(outcome, names):
    """What two files must have in common, by the names of the clean one."""
    clean = {new: old for old, new in names.items()}
    found = {f"rows {name}": outcome[name] for name in ("train_rows", "n_features")}
    for own in outcome["features"]:
        parts = [own["name"]] if own["name"] in clean else own["name"].split(" \u00d7 ")
        name = " \u00d7 ".join(clean.get(part, part) for part in parts)
        found[f"weight of {name}"] = own.get("weight") or 0.0
    for name in ("accuracy", "log_loss", "majority_accuracy"):
        found[name] = outcome["evaluation"][name]
    return found


_CLEAN: dict[str, dict[str, float]] = {}


def clean_model(capsys, folder, case: Case):
    """The model of a clean file, fitted once."""
    if case.same not in _CLEAN:
        options = TEXTS if "reviews" in case.same else ("--label", "bought")
        code, out, _ = ran(capsys, "select", "--json", folder / case.same, *options)
        assert code == 0
        _CLEAN[case.same] = model_of(json.loads(out), {})
    return _CLEAN[case.same]


def check_told(lines, patterns):
    """Each line is what some pattern says, and each pattern is said once."""
    left = list(lines)
    for pattern in patterns:
        found = [line for line in left if re.search(pattern, line)]
        assert len(found) == 1, (pattern, lines)
        left.remove(found[0])
    assert not left, left


def name_of(case: Case) -> str:
    return " ".join([case.file, *case.options[:1], *case.options[2:]])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_select_reads_it_right_or_says_so(case, folder, capsys):
    if case.needs:
        pytest.importorskip(case.needs, reason=f"{case.file} needs {case.needs}")
    path = folder / case.file
    code, out, told = ran(capsys, "select", "--json", path, *case.options)
    assert all(line.startswith("bayesieve: ") for line in told)
    if case.error is not None:
        assert code == 2
        assert not out
        assert re.search(case.error, told[-1]), told
        return
    assert code == 0, told
    check_told(told, case.told)
    outcome = json.loads(out)
    assert outcome["warnings"] == [line.removeprefix("bayesieve: ") for line in told]
    assert outcome["evaluation"]["accuracy"] >= case.least
    if case.same is not None:
        clean = clean_model(capsys, folder, case)
        # A held-out number may lie on a bound halfway between two others; where a file
        # has all numbers less five, rounding may put it on the other side.
        near = 1e-5 if case.file in SHIFTED else 1e-9
        assert model_of(outcome, case.names) == pytest.approx(clean, abs=near)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_inspect_shows_it(case, folder, capsys):
    if case.needs:
        pytest.importorskip(case.needs, reason=f"{case.file} needs {case.needs}")
    path = folder / case.file
    code, out, told = ran(capsys, "inspect", "--json", path, *case.options)
    if not case.rows:
        assert code == 2
        assert len(told) == 1
        return
    assert code == 0, told
    assert not told
    found = json.loads(out)
    assert found["n_rows"] == case.rows
    roles = {own["name"]: own["role"] for own in found["columns"]}
    for name, role in roles.items():
        old = {new: old for old, new in case.names.items()}.get(name, name)
        expected = case.roles.get(name, CLEAN_ROLES.get(old))
        assert expected is None or role == expected, roles
    notes = [*found["notes"]]
    for own in found["columns"]:
        notes += [f"{own['name']!r} {note}" for note in own["notes"]]
    if case.inspected is not None:
        for pattern in case.inspected:
            assert any(re.search(pattern, note) for note in notes), (pattern, notes)
    elif case.error is None and not case.told:
        others = [note for note in notes if not _GUESSED_LABEL.search(note)]
        assert not others
    elif case.told:
        assert len(notes) >= len(case.told)


def test_every_file_is_looked_at(folder):
    """A file without a case would be read in vain; counts are matrices."""
    there = {path.name for path in folder.iterdir()} - {"counts.svm"}
    assert there == {case.file for case in CASES}
    assert len(there) >= 200


def test_a_matrix_is_read_without_a_word(folder, capsys):
    code, out, told = ran(capsys, "select", "--json", folder / "counts.svm")
    assert code == 0
    assert not told
    assert json.loads(out)["evaluation"]["accuracy"] >= 0.99


@pytest.mark.parametrize(
    "file",
    [
        *("german.csv", "dollars.csv", "one unit.csv", "percents.csv", "strays.csv"),
        *("dates mixed.csv", "dates day first.csv", "zip codes.csv", "utf-16.csv"),
        *("arabic digits.csv", "excel germany.csv", "title lines.csv", "row names.csv"),
        *("cp1252.csv", "clean.csv.xz", "list.json", "nested.jsonl", "typed.parquet"),
        *("single quotes.csv", "backslash quotes.csv", "sep line.csv", "uuid.csv"),
    ],
)
def test_predict_reads_as_select_did(file, folder, tmp_path, capsys):
    model = tmp_path / "own.model"
    options = ("--label", "bought", "--test-share", "0", "--save", model)
    assert ran(capsys, "select", folder / file, *options)[0] == 0
    code, out, told = ran(capsys, "predict", model, folder / file)
    assert code == 0, told
    labels = [line.split(",")[1] for line in out.splitlines()[1:]]
    right = [row[-1] for row in make_files.customers()]
    share = sum(a == b for a, b in zip(labels, right, strict=True)) / len(right)
    assert share >= 0.94


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("german.csv", "'income' held numbers .* Got .* --decimal and --thousands"),
        ("dates day first.csv", "'joined' held dates .* Got '26/07/2024'"),
        ("mixed units.csv", "'income' held numbers .* Got '8242.52 kg'"),
        ("no header.csv", "'age'"),
    ],
)
def test_predict_refuses_what_is_written_otherwise(
    file, told, folder, tmp_path, capsys
):
    """The worst would be labels for values that were read in another way."""
    model = tmp_path / "own.model"
    options = ("--label", "bought", "--test-share", "0", "--save", model)
    assert ran(capsys, "select", folder / "clean.csv", *options)[0] == 0
    code, out, lines = ran(capsys, "predict", model, folder / file)
    assert code == 2
    assert not out
    assert re.search(told, lines[-1]), lines


def test_the_three_files_of_the_issue(tmp_path, capsys):
    """One perfect predictor, written in three ways: all right, each time."""
    for name, how in {
        "plain": lambda v: f"{v:.1f}",
        "commas": lambda v: f'"{v:,.0f}"',
        "decimal": lambda v: f'"{v:.2f}"'.replace(".", ","),
    }.items():
        path = tmp_path / f"{name}.csv"
        rows = [(25_000 if i % 2 else 1_000) + 1_370 * (i % 5) for i in range(200)]
        rows = [(how(v), "yes" if v > 20_000 else "no") for v in rows]
        path.write_text("income,bought\n" + "".join(f"{v},{y}\n" for v, y in rows))
        code, out, told = ran(capsys, "select", "--json", path, "--label", "bought")
        assert code == 0
        assert json.loads(out)["evaluation"]["accuracy"] == 1.0
        if name != "plain":
            assert any("'income'" in line and "--decimal" in line for line in told)


def test_the_script_runs_by_hand(tmp_path):
    folder = tmp_path / "files"
    command = [sys.executable, make_files.__file__, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(f"{len(list(folder.iterdir()))} files")
    done = run_script("inspect", folder / "german.csv")
    assert done.returncode == 0, done.stderr
    assert "10.539,85 as 10539.85" in " ".join(done.stdout.split())


def test_files_are_the_same_each_time():
    for group in make_files.GROUPS[:6]:
        assert group() == group()
