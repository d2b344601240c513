"""Encodings are found and told; what is not sure is told as well."""

from __future__ import annotations

import pytest
from tests.io.messy_files import read

from bayesieve.io import _encodings
from bayesieve.io._read_options import ReadOptions

pytest.importorskip("duckdb")

TEXTS = {
    "French": "une très belle journée à l'école, où l'été fut gâché",
    "German": "schöne Grüße aus München, die Straße war laut",
    "Spanish": "la película fue muy buena, ¿no? mañana habrá más acción",
    "Polish": "zażółć gęślą jaźń, świetna książka i łódź",
    "Czech": "příliš žluťoučký kůň úpěl ďábelské ódy",
    "Russian": "очень хороший фильм, мне понравилось",
    "Chinese": "这部电影非常好看。我很喜欢。推荐给大家",
    "Traditional": "這部電影非常好看。我很喜歡。推薦給大家",
    "Japanese": "この映画はとても面白かったです。音楽も素晴らしい。",
    "Korean": "이 영화는 정말 재미있었어요 배우들도 훌륭해요",
    "Greek": "πολύ καλή ταινία, μου άρεσε",
    "Turkish": "çok güzel bir film, şahane oyunculuk ve müzik",
    "Hebrew": "סרט מצוין ומרגש מאוד",
    "Thai": "หนังเรื่องนี้สนุกมาก",
}
LEGACY = {
    "French": ["cp1252", "latin-1", "mac_roman", "cp850"],
    "German": ["cp1252", "cp850"],
    "Spanish": ["cp1252"],
    "Polish": ["cp1250", "iso8859_2"],
    "Czech": ["cp1250", "iso8859_2"],
    "Russian": ["cp1251", "koi8_r", "cp866", "iso8859_5"],
    "Chinese": ["gbk", "gb18030"],
    "Traditional": ["big5"],
    "Japanese": ["shift_jis", "euc_jp"],
    "Korean": ["euc_kr"],
    "Greek": ["cp1253"],
    "Turkish": ["cp1254"],
    "Hebrew": ["cp1255"],
    "Thai": ["cp874"],
}
CASES = [(name, own) for name, all_ in LEGACY.items() for own in all_]
UNICODE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


def table(text, times=10):
    """A table whose header and most rows are ASCII."""
    text = text.replace(",", "")
    rows = [f"{i},{text if i % 2 else 'plain words'},x\n" for i in range(times)]
    return "number,text,label\n" + "".join(rows)


def check(path, text, times=10):
    names, rows, notes = read(path)
    assert names == ["number", "text", "label"]
    assert {row[1] for row in rows} == {text.replace(",", ""), "plain words"}
    assert len(rows) == times
    return notes


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_legacy_encodings_are_found_and_told(language, encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(table(TEXTS[language]).encode(encoding))
    [note] = check(path, TEXTS[language])
    assert note.startswith(f"{str(path)!r} is read as ")
    assert note.endswith("; --encoding changes it.")
    assert "may be wrong" not in note


@pytest.mark.parametrize("language", TEXTS)
def test_utf_8_needs_no_word(language, tmp_path):
    path = tmp_path / "a.csv"
    for mark in ("", "\ufeff"):
        path.write_bytes((mark + table(TEXTS[language])).encode())
        assert check(path, TEXTS[language]) == []


@pytest.mark.parametrize("encoding", UNICODE)
@pytest.mark.parametrize("language", ["French", "Chinese", "Russian"])
def test_wide_encodings_with_and_without_marks(language, encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(table(TEXTS[language]).encode(encoding))
    [note] = check(path, TEXTS[language])
    assert f"is read as {encoding.upper()}" in note


def test_a_guess_that_may_be_wrong_says_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nna\xefve,x\n\xe8,y\n")
    _, _, [note] = read(path)
    assert "which may be wrong: it may be " in note
    assert note.endswith("; --encoding changes it.")


def test_what_the_user_says_is_taken(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(table(TEXTS["Russian"]).encode("koi8_r"))
    options = ReadOptions(encoding="KOI8-R")
    assert read(path, options)[1][1][1] == TEXTS["Russian"].replace(",", "")
    assert read(path, options)[2] == []
    assert read(path, ReadOptions(encoding="cp1251"))[1][1][1] != TEXTS["Russian"]


@pytest.mark.parametrize("name", ["", "no-such", "base64", "rot13", "a\0b"])
def test_names_of_no_encoding_are_refused(name):
    with pytest.raises(ValueError, match=r"name that Python knows, .* Got "):
        ReadOptions(encoding=name)


def test_bytes_that_an_encoding_has_not_make_bad_rows(tmp_path):
    path = tmp_path / "a.csv"
    good = table(TEXTS["Chinese"]).encode("gb18030")
    path.write_bytes(good + b"10,bad \xff\xff word,x\n")
    with pytest.raises(ValueError, match=r"^Line 12 of .*: it is not GB18030"):
        read(path)
    _, rows, _ = read(path, skip=True)
    assert len(rows) == 10


@pytest.mark.parametrize("others", [1, 30])
def test_lines_of_two_encodings_are_never_decoded_as_one(others, tmp_path):
    path = tmp_path / "a.csv"
    french = TEXTS["French"].replace(",", "")
    good = "text,label\n" + f"{french},x\n" * 20
    path.write_bytes(good.encode() + f"{french},y\n".encode("cp1252") * others)
    with pytest.raises(ValueError, match=r"^Line 22 of .*20 other lines are") as told:
        read(path)
    assert "may be Windows-1252" in str(told.value)
    _, rows, [note] = read(path, skip=True)
    assert rows == [(french, "x")] * 20
    assert f"20 with characters beyond ASCII are UTF-8, and {others} are not" in note
    assert "line 22 first" in note


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_late_line_of_another_encoding(form, tmp_path, monkeypatch):
    # Only the beginning is looked at, so that the encoding is found while reading.
    monkeypatch.setattr(_encodings, "_BEGINNING", 1000)
    monkeypatch.setattr(_encodings, "_PARTS", 0)
    path = tmp_path / f"a.{form}"
    rows = [("plain words", "x")] * 30_000 + [("très français, été", "y")] * 3
    if form == "csv":
        text = "text,label\n" + "".join(f'"{a}",{b}\n' for a, b in rows)
    else:
        text = "".join(f'{{"text": "{a}", "label": "{b}"}}\n' for a, b in rows)
    path.write_bytes(text.encode("cp1252"))
    _, found, [note] = read(path)
    assert found == rows
    assert "is read as Windows-1252" in note


def test_a_reading_of_utf_8_does_not_look_at_all_of_a_file(tmp_path, monkeypatch):
    def refused(*_):
        raise AssertionError("all lines were looked at")

    monkeypatch.setattr(_encodings, "_line_kinds", refused)
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "déjà vu,x\n" * 100_000, encoding="utf-8")
    assert len(read(path)[1]) == 100_000
