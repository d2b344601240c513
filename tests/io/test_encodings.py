"""Encodings are found and told; what is not sure is told as well."""

from __future__ import annotations

import re
from ast import literal_eval

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


#: What English tables have beyond ASCII: `{}` is a number, other for each row.
SIGNS = {
    **{"pound": "£{}", "euro": "€{}", "euro after": "{} €", "yen": "¥{}"},
    **{"cent": "{}¢", "long dash": "yes—{}", "single quotes": "‘maybe’ {}"},
    **{"degree": "{}°", "celsius": "{} °C", "micro": "{} µm", "square": "{} m²"},
    **{"half": "{}½", "no break": "{}\xa0kg", "section": "see §{}", "times": "{}×"},
    **{"plus or minus": "±{}", "dash": "one – {}", "range": "1–{}", "copyright": "©"},
    **{"trade mark": "Acme™ {}", "registered": "Acme® {}"},
    **{"ellipsis": "so it goes… {}", "bullet": "• item {}", "quarter": "1 ¼ {}"},
    **{"curly quotes": "“about” it {}"},
}
APOSTROPHES = ["it’s", "don’t", "I’m", "you’re", "we’ll", "they’ve", "John’s", "dogs’"]
TOWNS = {
    "cp1252": ["Köln", "Zürich", "Málaga", "Århus"],
    "cp1254": ["İstanbul", "Eskişehir", "Muğla", "Iğdır"],
    "cp1250": ["Łódź", "Kraków", "Gdańsk", "Częstochowa"],
}


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


def words_table(words, encoding):
    """300 rows of English, with a word in each that may be beyond ASCII."""
    rows = [f"{i},{words[i % len(words)]},x\n" for i in range(300)]
    return ("number,text,label\n" + "".join(rows)).encode(encoding)


@pytest.mark.parametrize("sign", SIGNS)
def test_signs_in_english_are_of_windows_1252_with_a_word_of_doubt(sign, tmp_path):
    path = tmp_path / "a.csv"
    words = [SIGNS[sign].format(i / 7) for i in range(300)]
    path.write_bytes(words_table(words, "cp1252"))
    _, rows, [note] = read(path)
    assert [row[1] for row in rows] == words
    assert "is read as Windows-1252 (Western European), which may be wrong: " in note
    [shown] = re.findall(r"where ('.*') is '.*'; --encoding changes it\.$", note)
    example = literal_eval(shown)
    assert any(example in word for word in words)
    assert not example.isascii()


@pytest.mark.parametrize("words", [APOSTROPHES[:1], APOSTROPHES, ["café"]])
@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
def test_words_with_apostrophes_and_of_french_in_english(words, encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(words_table(words, encoding))
    _, rows, [note] = read(path)
    right = {row[1] for row in rows} == set(words)
    assert right or "which may be wrong: it may be Mac Roman" in note
    if encoding == "cp1252" or len(words) > 1:
        assert right


@pytest.mark.parametrize("encoding", TOWNS)
def test_a_few_towns(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(words_table(TOWNS[encoding], encoding))
    _, rows, [note] = read(path)
    assert {row[1] for row in rows} == set(TOWNS[encoding])
    if encoding == "cp1252":
        assert "it may be Windows-1250 (Central European), where 'Århus' is " in note


@pytest.mark.parametrize("encoding", UNICODE)
def test_chinese_with_little_else_in_wide_encodings(encoding, tmp_path):
    # "一" is a zero beside a letter, at the other place than in ASCII.
    path = tmp_path / "a.csv"
    lines = ["评论,标签"] + [f"一个一个{TEXTS['Chinese']}一,好"] * 50
    path.write_bytes("\n".join(lines).encode(encoding))
    names, rows, [note] = read(path)
    assert names == ["评论", "标签"]
    assert rows == [(f"一个一个{TEXTS['Chinese']}一", "好")] * 50
    assert f"is read as {encoding.upper()}" in note


def test_japanese_by_escapes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(table(TEXTS["Japanese"]).encode("iso2022_jp"))
    [note] = check(path, TEXTS["Japanese"])
    assert "is read as ISO-2022-JP (Japanese); --encoding changes it." in note


def test_zeros_in_a_text_do_not_make_it_wide(tmp_path):
    path = tmp_path / "a.csv"
    text = "number,text,label\n" + "".join(f"{i},a\0b word,x\n" for i in range(99))
    path.write_bytes(text.encode())
    assert read(path)[0] == ["number", "text", "label"]


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
