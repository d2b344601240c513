from __future__ import annotations

import io

import pytest

from bayesieve.cli._terminal import Terminal


class Stream(io.TextIOWrapper):
    def __init__(self, encoding="utf-8", terminal=False):
        self.raw_bytes = io.BytesIO()
        super().__init__(self.raw_bytes, encoding=encoding, newline="\n")
        self._terminal = terminal

    def isatty(self):
        return self._terminal

    def text(self):
        self.flush()
        return self.raw_bytes.getvalue().decode(self.encoding)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_bars_have_half_columns_in_unicode():
    terminal = Terminal(Stream())
    assert terminal.bar(1.0, 4) == "    │████"
    assert terminal.bar(0.625, 4) == "    │██▌ "  # 0.625 * 4 = 2.5 columns
    assert terminal.bar(-0.625, 4) == " ▐██│    "
    assert terminal.bar(-1.0, 4) == "████│    "


def test_bars_are_ascii_where_unicode_cannot_be_encoded():
    terminal = Terminal(Stream("ascii"))
    assert terminal.bar(1.0, 4) == "    |####"
    assert terminal.bar(-0.625, 4) == " ###|    "


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_every_bar_is_equally_wide_and_empty_for_nothing_alone(encoding):
    terminal = Terminal(Stream(encoding))
    for hundredth in range(-100, 101):
        bar = terminal.bar(hundredth / 100, 18)
        assert len(bar) == 37
        assert (len(bar.replace(" ", "")) >= 2) == bool(hundredth)


def test_colour_only_on_a_terminal(monkeypatch):
    assert Terminal(Stream()).style("word", "red") == "word"
    on_terminal = Terminal(Stream(terminal=True))
    assert on_terminal.style("word", "red") == "\x1b[31mword\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Terminal(Stream(terminal=True)).style("word", "red") == "word"


def test_a_dumb_terminal_gets_no_colour(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert Terminal(Stream(terminal=True)).style("word", "red") == "word"


def test_fit_pads_and_cuts():
    terminal = Terminal(Stream())
    assert terminal.fit("txt", 5) == "txt  "
    assert terminal.fit("guaranteed", 5) == "guar…"
    assert Terminal(Stream("ascii")).fit("guaranteed", 5) == "guar~"


def test_a_word_that_cannot_be_encoded_shows_as_its_escape():
    stream = Stream("ascii")
    terminal = Terminal(stream)
    terminal.line(terminal.fit("für", 8) + "|")
    assert stream.text() == "f\\xfcr  |\n"


def test_wide_characters_take_two_columns():
    terminal = Terminal(Stream())
    assert terminal.fit("日本", 6) == "日本  "
    assert terminal.fit("日本語の", 6) == "日本… "
    assert terminal.fit("日本", 6, right=True) == "  日本"


def test_control_characters_show_as_escapes():
    terminal = Terminal(Stream())
    assert terminal.fit("a\x1b[31mb", 20).rstrip() == "a\\x1b[31mb"
    assert terminal.fit("a\nb\u202e", 20).rstrip() == "a\\nb\\u202e"


def test_paragraphs_are_filled_to_the_width():
    stream = Stream()
    Terminal(stream, width=20).paragraph("a proof is a proof is a proof")
    assert stream.text() == "a proof is a proof\nis a proof\n"


def test_width_is_80_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "47")
    assert Terminal(Stream()).width == 80
    assert Terminal(Stream(terminal=True)).width == 47
    monkeypatch.setenv("COLUMNS", "300")
    assert Terminal(Stream(terminal=True)).width == 100
    monkeypatch.setenv("COLUMNS", "10")
    assert Terminal(Stream(terminal=True)).width == 40


def test_one_sided_bars_never_overflow():
    terminal = Terminal(Stream())
    assert terminal.one_sided_bar(1.0, 4) == "████"
    assert terminal.one_sided_bar(7.0, 4) == "████"
    assert terminal.one_sided_bar(0.0, 4) == ""


def test_long_class_names_do_not_run_together(capsys):
    from bayesieve.cli._features import Feature
    from bayesieve.cli._show import show_features

    rows = [Feature("word", 1.0, 2.0, "b", [3.0, 4.0])]
    classes = ["a very long name of a class", "another long name"]
    show_features(rows, classes, "terms", Terminal(width=90))
    heading = capsys.readouterr().out.splitlines()[0]
    parts = heading.split("  in ")
    assert len(parts) == 3
    assert parts[1].startswith("a very")
    assert parts[2].startswith("another")
