"""Texts and files of texts as one does not expect them."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve import ClassCounts
from bayesieve.counts import merge_saved
from bayesieve.exceptions import BadRowsWarning, GuessWarning

pytest.importorskip("duckdb")


def write(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("name", ["report[1].csv", "wh?t.csv", "st*r.csv"])
def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path, name):
    """DuckDB took it for a pattern, and counted the decoy instead."""
    decoy = name.replace("[1]", "1").replace("?", "a").replace("*", "a")
    write(tmp_path / name, "text,label\nfirst,1\nxx,0\n")
    write(tmp_path / decoy, "text,label\nsecond,1\nxx,0\n")
    counts = ClassCounts.from_text([tmp_path / name])
    assert counts.feature_names.tolist() == ["first", "xx"]
    both = ClassCounts.from_text(str(tmp_path / "*.csv"))
    assert both.feature_names.tolist() == ["first", "second", "xx"]


@pytest.mark.parametrize("start", ["\n", "\n\n", "\r\n", "\ufeff\n"])
@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.GuessWarning")
def test_blank_lines_above_the_header(tmp_path, start, delimiter):
    end = "\r\n" if "\r" in start else "\n"
    lines = ["text,label", "good film,1", "bad,0", ""]
    text = start + end.join(lines).replace(",", delimiter)
    counts = ClassCounts.from_text(write(tmp_path / "a.csv", text))
    assert counts.classes.tolist() == [0, 1]
    assert counts.feature_names.tolist() == ["bad", "film", "good"]


def test_a_share_and_a_number_of_documents():
    batches = [(["good film", "bad film"], [1, 0])]
    counts = ClassCounts.from_text(batches, min_df=0.5, max_df=2)
    assert counts.n_features == 3
    with pytest.raises(ValueError, match="must not be below"):
        ClassCounts.from_text(batches, min_df=3, max_df=2)
    with pytest.raises(ValueError, match="must not be below"):
        ClassCounts.from_text(batches, min_df=0.9, max_df=1)


def test_labels_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="too large to be told apart"):
        ClassCounts.from_text([(["aa", "bb", "cc"], [2**53 + 1, 2**53, 0.5])])
    with pytest.raises(ValueError, match="too large to be told apart"):
        ClassCounts.from_text([(["aa", "bb"], [2**63 + 5, 1.5])])
    plain = ClassCounts.from_text([(["aa", "bb"], [2**53 + 1, 2**53])])
    assert plain.class_count.tolist() == [1, 1]


def test_nothing_left_says_what_was_left_out(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\nlost,\n")
    with (
        pytest.warns(BadRowsWarning),
        pytest.raises(ValueError, match="at least one row"),
    ):
        ClassCounts.from_text(path, on_bad_rows="skip")


def test_merging_one_file(tmp_path):
    counts = ClassCounts.from_text([(["aa", "bb"], [1, 0])])
    counts.save(tmp_path / "a.npz")
    assert merge_saved(tmp_path / "a.npz") == counts
    assert merge_saved(str(tmp_path / "a.npz")) == counts


def test_very_many_threads():
    counts = ClassCounts.from_text([(["aa", "bb"], [1, 0])], n_jobs=10**6)
    np.testing.assert_array_equal(counts.class_count, [1, 1])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_utf_16_is_read_and_told(encoding, mark, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_bytes((mark + "text,label\ngood,1\nbad,0\n").encode(encoding))
    with pytest.warns(GuessWarning, match=r"wide\.csv' is read as UTF-16"):
        counts = ClassCounts.from_text(path, text="text", label="label")
    assert counts.feature_names.tolist() == ["bad", "good"]


def test_another_encoding_is_read_and_told(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("text,label\ngood,1\ncafé,0\n".encode("latin-1"))
    with pytest.warns(GuessWarning, match=r"latin\.csv' is read as Windows-1252"):
        counts = ClassCounts.from_text(path, text="text", label="label")
    assert counts.feature_names.tolist() == ["café", "good"]
