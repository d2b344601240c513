"""Which rows are held out, and which columns are guessed."""

from __future__ import annotations

import argparse

import numpy as np
import pytest
from tests.cli.files import PEOPLE, people, write_csv, write_jsonl, write_reviews

from bayesieve import load_model
from bayesieve.cli import main
from bayesieve.cli._columns import choose_columns
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_outcome import CrossValidation
from bayesieve.cli._held_out import held_out
from bayesieve.cli._labelled_rows import LabelledRows

pytest.importorskip("duckdb", reason="reading files needs duckdb")


@pytest.mark.parametrize("share", [0.05, 0.25, 0.33, 0.5, 0.9])
def test_the_share_is_held_out_of_every_class(share):
    codes = np.repeat([0, 1, 2], [4000, 1000, 200])
    np.random.default_rng(0).shuffle(codes)
    held = held_out(codes, share)
    for code in range(3):
        assert held[codes == code].mean() == pytest.approx(share, abs=0.02)


def test_a_row_depends_on_those_before_it_only():
    codes = np.random.default_rng(0).integers(3, size=1000)
    whole = held_out(codes, 0.25, seed=5)
    for n in (1, 2, 77, 500, 999):
        np.testing.assert_array_equal(held_out(codes[:n], 0.25, seed=5), whole[:n])
    assert (held_out(codes, 0.25, seed=6) != whole).any()


def test_every_class_is_learnt_from():
    for seed in range(50):
        held = held_out(np.array([0, 1, 1, 2, 3, 3, 3]), 0.9, seed)
        assert not held[[0, 1, 3, 4]].any()


def test_nothing_is_held_out_for_a_share_of_zero():
    assert not held_out(np.arange(1000) % 2, 0.0).any()


def test_the_rows_held_out_do_not_follow_a_period():
    # A label that repeats every four rows must not put one kind of row aside.
    held = held_out(np.zeros(4000, dtype=int), 0.25)
    shares = held.reshape(-1, 4).mean(axis=0)
    assert shares.min() > 0.2
    assert shares.max() < 0.3


def test_the_smallest_k_within_one_standard_error():
    scores = [[0.8, 0.8], [0.885, 0.905], [0.89, 0.91], [0.88, 0.92]]
    found = CrossValidation.of([2, 5, 9, 20], np.array(scores))
    assert (found.best, found.sparing) == (9, 5)
    assert [row["k"] for row in found.rows] == [2, 5, 9, 20]
    assert found.rows[2]["se"] == pytest.approx(0.01 / np.sqrt(2))


def guessed(path, **given):
    arguments = {"text": [], "label": None, "no_text": False, "drop": [], "types": []}
    arguments |= given
    return choose_columns(DataFiles([str(path)]), argparse.Namespace(**arguments))


def test_texts_and_labels_are_guessed(tmp_path):
    found = guessed(write_reviews(tmp_path, "csv"))
    assert (found.texts, found.label) == (["text"], "label")
    assert found.guessed == {"--text": "text", "--label": "label"}
    assert guessed(write_reviews(tmp_path, "csv"), no_text=True).texts == []


def test_the_label_of_a_table_is_guessed_last(tmp_path):
    path = write_csv(tmp_path / "p.csv", PEOPLE, people())
    found = guessed(path)
    assert (found.texts, found.label) == ([], "bought")
    assert found.features == ["id", "age", "town", "mood", "day"]
    assert guessed(path, drop=["id"]).features == ["age", "town", "mood", "day"]


def test_a_name_goes_before_the_place(tmp_path):
    rows = [(i % 3, i / 7, i % 2) for i in range(60)]
    path = write_csv(tmp_path / "p.csv", ("Class", "x", "flag"), rows)
    assert guessed(path).label == "Class"


def test_a_sorted_file_has_its_label_guessed_by_name(tmp_path):
    rows = [(f"some words about {i}", int(i > 2500), i % 5) for i in range(5000)]
    path = write_csv(tmp_path / "p.csv", ("text", "label", "rating"), rows)
    assert guessed(path).label == "label"


def test_the_wordiest_column_is_the_text(tmp_path):
    rows = [
        (f"a title {i}", f"a longer body of text with number {i}", i % 2)
        for i in range(40)
    ]
    path = write_jsonl(tmp_path / "p.jsonl", ("headline", "story", "label"), rows)
    assert guessed(path).texts == ["story"]


def test_texts_without_spaces_are_texts(tmp_path):
    rows = [("今天天气很好我们一起去公园散步吧" * 4 + str(i), i % 2) for i in range(40)]
    path = write_csv(tmp_path / "p.csv", ("内容", "label"), rows)
    assert guessed(path).texts == ["内容"]


def labels_of(path):
    return LabelledRows(DataFiles([str(path)]), ["x"], "y").labels


def test_labels_are_counted(tmp_path):
    path = write_csv(tmp_path / "p.csv", ("x", "y"), [(1, "b"), (2, "a"), (3, "b")])
    labels = labels_of(path)
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.rows.tolist() == [1, 2]
    assert labels.majority == 1


def test_ones_and_trues_are_two_kinds(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"x": 1, "y": 1}\n{"x": 2, "y": true}\n{"x": 3, "y": "a"}\n')
    labels = labels_of(path)
    assert len(labels.classes) == 3  # all of them are text then


def test_paths_with_wildcards_in_their_names(tmp_path):
    odd = tmp_path / "a[1]*?.csv"
    write_csv(odd, ("x", "y"), [(1, "b"), (2, "a")])
    write_csv(tmp_path / "a1.csv", ("x", "y"), [(1, "c"), (2, "d")])
    labels = labels_of(odd)
    assert labels.classes.tolist() == ["a", "b"]


def test_tables_of_different_columns_are_refused_in_any_order(tmp_path, capsys):
    rows = [(i % 7, i % 2, "yes" if i % 2 else "no") for i in range(60)]
    long = write_csv(tmp_path / "long.csv", ("a", "b", "y"), rows)
    short = write_csv(tmp_path / "short.csv", ("a", "y"), [(a, y) for a, _, y in rows])
    for paths in ((long, short), (short, long)):
        assert main(["select", *map(str, paths), "--label", "y"]) == 2
        assert "'b'" in capsys.readouterr().err


def test_labels_of_several_kinds_in_json_have_no_quotes(tmp_path, capsys):
    path = tmp_path / "mixed.jsonl"
    labels = ['"s"', '"h"'] * 20 + ["1"] * 4
    lines = [f'{{"t": "some words {i}", "l": {own}}}' for i, own in enumerate(labels)]
    path.write_text("\n".join(lines))
    arguments = ["select", str(path), "--text", "t", "--label", "l", "--save"]
    assert main([*arguments, str(tmp_path / "m"), "-k", "4"]) == 0
    assert load_model(tmp_path / "m").classes_.tolist() == ["1", "h", "s"]
    capsys.readouterr()
