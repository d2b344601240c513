"""Counts of k-mers and bytes against a plain twin that holds windows as strings."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from bayesieve import _core

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def spelled(keys, dna, length):
    text = _core.spell_keys(np.asarray(keys, np.uint64), dna, length).tobytes()
    parts = [text[i : i + length] for i in range(0, len(text), length)]
    return [part.decode("ascii") for part in parts] if dna else parts


def windows(row, dna, length, canonical):
    """The windows of a row, as strings; bases are numbers and 4 is none."""
    for i in range(len(row) - length + 1):
        part = row[i : i + length]
        if not dna:
            yield bytes(part)
            continue
        if max(part) > 3:
            continue
        word = "".join("ACGT"[base] for base in part)
        other = word.translate(COMPLEMENT)[::-1]
        yield min(word, other) if canonical else word


def twin(rows, codes, prints, dna, length, canonical, binary):
    """Counts by (key, class), and the print of each key."""
    counts, marks = defaultdict(int), defaultdict(int)
    for row, code, own in zip(rows, codes, prints, strict=True):
        if code < 0:
            continue
        words = list(windows(row.tolist(), dna, length, canonical))
        for word in set(words) if binary else words:
            counts[word, code] += 1
            marks[word] += int(own)
    return counts, {word: mark % 2**64 for word, mark in marks.items()}


def pieces(rows, codes, prints, overlap, rng, most):
    """The rows as calls of `add`, cut anywhere, with the overlap that windows need."""
    symbols = np.concatenate(rows) if rows else np.empty(0, np.uint8)
    ends = np.cumsum([len(row) for row in rows])
    starts = ends - [len(row) for row in rows]
    at, row = 0, 0
    while at < len(symbols) or row < len(rows):
        stop = min(len(symbols), at + int(rng.integers(1, most)))
        # The rows that begin in [at, stop), or at the very end.
        new = [
            r
            for r in range(row, len(rows))
            if starts[r] < stop or (stop == len(symbols) and starts[r] <= stop)
        ]
        goes_on = not new or starts[new[0]] > at
        own = ([row - 1] if goes_on else []) + new
        kept = min(overlap, at - starts[row - 1]) if goes_on else 0
        local = [0] if goes_on else []
        local += [int(starts[r]) - at + kept for r in new]
        yield symbols[at - kept : stop], local, codes[own], prints[own], goes_on
        row += len(new)
        at = stop


def random_rows(rng, dna, n_rows, longest):
    least = np.array([0, 1, 2, 3, 4, 0, 0]) if dna else np.arange(6)
    return [
        rng.choice(least, size=int(rng.integers(0, longest))).astype(np.uint8)
        for _ in range(n_rows)
    ]


def tables(found, n_classes, n_keys):
    if len(found) == 1:
        return found[0]
    data, code, start = found
    dense = np.zeros((n_classes, n_keys))
    column = np.repeat(np.arange(n_keys), np.diff(start))
    dense[code, column] = data
    return dense


@pytest.mark.parametrize("dna", [True, False])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_counts_equal_those_of_a_plain_twin(dna, binary, seed, tmp_path):
    rng = np.random.default_rng([seed, dna, binary])
    length = int(rng.integers(1, 32 if dna else 9))
    if seed % 3 == 0:
        length = 1 + seed % 5  # many equal windows
    canonical = bool(rng.integers(2))
    n_classes = int(rng.choice([2, 3, 7]))
    rows = random_rows(rng, dna, int(rng.integers(1, 40)), 2000)
    if seed % 4 == 1:  # a row longer than anything that is held
        rows[0] = random_rows(rng, dna, 1, 60_000)[0]
    codes = rng.integers(-1, n_classes, len(rows)).astype(np.int32)
    prints = rng.integers(0, 2**64, len(rows), dtype=np.uint64)
    budget = int(rng.choice([0, 1, 100_000]))
    threads = int(rng.integers(1, 4))
    make = (dna, length, canonical, binary, threads, budget)
    row_of = rng.permutation(n_classes).astype(np.int32)
    dense_cells = int(rng.choice([0, 10**8]))

    def counted(name):
        counter = _core.KeyCounter(*make, str(tmp_path / f"{name}.spill"))
        most = int(rng.choice([50, 5000, 10**6]))
        for symbols, local, own, marks, goes_on in pieces(
            rows, codes, prints, length - 1, rng, most
        ):
            counter.add(symbols, np.array(local, np.int64), own, marks, bool(goes_on))
        return counter

    counts, marks = twin(rows, codes, prints, dna, length, canonical, binary)
    for least in (1, 3):
        total = defaultdict(int)
        for (word, _), count in counts.items():
            total[word] += count
        words = sorted(word for word, count in total.items() if count >= least)
        expected = np.zeros((n_classes, len(words)))
        for i, word in enumerate(words):
            for code in range(n_classes):
                expected[row_of[code], i] = counts.get((word, code), 0)

        keys, found = counted("a").finish(row_of, dense_cells, least)
        assert spelled(keys, dna, length) == words
        assert np.array_equal(tables(found, n_classes, len(words)), expected)

        # From a file, alone, and as two halves.
        counted("b").write(str(tmp_path / "whole.keys"))
        again = _core.KeyCounter(*make, str(tmp_path / "c.spill"))
        again.attach(str(tmp_path / "whole.keys"))
        rows_of_classes = np.bincount(codes[codes >= 0], minlength=n_classes)
        assert (
            again.class_rows().tolist() == np.trim_zeros(rows_of_classes, "b").tolist()
        )
        keys, found = again.finish(row_of, dense_cells, least)
        assert spelled(keys, dna, length) == words
        assert np.array_equal(tables(found, n_classes, len(words)), expected)

        # Keys of equal prints and counts are one column.
        keys, group, first, found = counted("d").finish_groups(
            row_of, dense_cells, least
        )
        assert spelled(keys, dna, length) == words
        own = [(marks[w], *expected[:, i]) for i, w in enumerate(words)]
        order = list(dict.fromkeys(own))
        assert [order.index(mark) for mark in own] == group.tolist()
        assert first.tolist() == [own.index(mark) for mark in order]
        merged = tables(found, n_classes, len(order))
        assert np.array_equal(merged, expected[:, first])


def test_files_of_parts_add_up(tmp_path):
    rng = np.random.default_rng(3)
    rows = random_rows(rng, True, 60, 3000)
    codes = rng.integers(0, 2, 60).astype(np.int32)
    prints = rng.integers(0, 2**64, 60, dtype=np.uint64)
    make = (True, 9, True, True, 2, 0)
    row_of = np.arange(2, dtype=np.int32)
    expected = _core.KeyCounter(*make, str(tmp_path / "s"))
    together = _core.KeyCounter(*make, str(tmp_path / "s"))
    for first in range(0, 60, 20):
        part = _core.KeyCounter(*make, str(tmp_path / "s"))
        for i in range(first, first + 20):
            call = (rows[i], np.zeros(1, np.int64), codes[i : i + 1], prints[i : i + 1])
            part.add(*call, False)
            expected.add(*call, False)
        part.write(str(tmp_path / f"{first}.keys"))
        together.attach(str(tmp_path / f"{first}.keys"))
    together.write(str(tmp_path / "all.keys"))
    expected.write(str(tmp_path / "expected.keys"))
    read = [(tmp_path / name).read_bytes() for name in ("all.keys", "expected.keys")]
    assert read[0] == read[1]
    for ours, theirs in zip(
        together.finish_groups(row_of, 0, 1),
        expected.finish_groups(row_of, 0, 1),
        strict=True,
    ):
        pairs = (
            zip(ours, theirs, strict=True)
            if isinstance(ours, tuple)
            else [(ours, theirs)]
        )
        assert all(np.array_equal(a, b) for a, b in pairs)


def test_a_damaged_or_foreign_file_is_refused(tmp_path):
    make = (True, 5, True, True, 1, 0, str(tmp_path / "s"))
    counter = _core.KeyCounter(*make)
    row = np.array([0, 1, 2, 3, 0, 1, 1, 1], np.uint8)
    counter.add(
        row, np.zeros(1, np.int64), np.zeros(1, np.int32), np.ones(1, np.uint64), False
    )
    counter.write(str(tmp_path / "good.keys"))
    good = (tmp_path / "good.keys").read_bytes()
    for bad in (b"", good[:30], good[:-1], b"x" + good[1:], good + b"x"):
        (tmp_path / "bad.keys").write_bytes(bad)
        with pytest.raises(ValueError, match=r"cut off|another kind"):
            _core.KeyCounter(*make).attach(str(tmp_path / "bad.keys"))
    other = _core.KeyCounter(True, 6, *make[2:])
    with pytest.raises(ValueError, match="another kind"):
        other.attach(str(tmp_path / "good.keys"))


@pytest.mark.parametrize("dna", [True, False])
def test_windows_are_found_where_they_are(dna):
    rng = np.random.default_rng(5)
    length = 4
    rows = random_rows(rng, dna, 30, 500)
    words = sorted(
        {w for row in rows for w in windows(row.tolist(), dna, length, True)}
    )
    sought = words[::3]
    packed = [
        sum("ACGT".index(c) << 2 * (3 - i) for i, c in enumerate(word))
        if dna
        else int.from_bytes(word, "big")
        for word in sought
    ]
    matcher = _core.KeyMatcher(dna, length, True, np.array(packed, np.uint64), 2)
    symbols = np.concatenate(rows)
    starts = np.cumsum([0, *map(len, rows)])[:-1].astype(np.int64)
    found_rows, found = matcher.match(symbols, starts)
    expected = [
        (r, sought.index(word))
        for r, row in enumerate(rows)
        for word in windows(row.tolist(), dna, length, True)
        if word in sought
    ]
    assert list(zip(found_rows.tolist(), found.tolist(), strict=True)) == expected


def test_merged_keys_are_those_of_numpy():
    rng = np.random.default_rng(6)
    for n, m in ((0, 0), (0, 5), (7, 0), (400, 300)):
        a, b = (
            np.unique(rng.integers(0, 600, size)).astype(np.uint64) for size in (n, m)
        )
        both, own, others = _core.merge_keys(a, b)
        assert np.array_equal(both, np.union1d(a, b))
        assert np.array_equal(both[own], a)
        assert np.array_equal(both[others], b)


def records_of(text):
    """A plain reader of FASTA and FASTQ: (name, bases with 4 for no base)."""
    numbers = {**{c: i for i, c in enumerate("ACGT")}, "U": 3}
    lines, found, i = text.split("\n"), [], 0
    while i < len(lines):
        line = lines[i].rstrip("\r")
        if line.startswith(">"):
            found.append((line[1:].rstrip(), []))
            i += 1
            while i < len(lines) and not lines[i].startswith(">"):
                found[-1][1].extend(c for c in lines[i].upper() if c > " ")
                i += 1
        elif line.startswith("@"):
            found.append((line[1:].rstrip(), []))
            i += 1
            while not lines[i].startswith("+"):
                found[-1][1].extend(c for c in lines[i].upper() if c > " ")
                i += 1
            seen, i = 0, i + 1
            while seen < len(found[-1][1]):
                seen += len(lines[i].strip())
                i += 1
        else:
            i += 1
    return [(name, [numbers.get(c, 4) for c in bases]) for name, bases in found]


def random_file(rng, fastq, end):
    out = []
    for i in range(int(rng.integers(1, 12))):
        bases = "".join(rng.choice(list("ACGTacgtNU-"), size=int(rng.integers(0, 120))))
        width = int(rng.integers(1, 50))
        lines = [bases[j : j + width] for j in range(0, len(bases), width)]
        out.append(f"{'@' if fastq else '>'}record {i} > @ +;x")
        out += lines or ([""] if fastq else [])
        if fastq:
            quality = "".join(rng.choice(list("@+>!I~"), size=len(bases)))
            out += [
                "+",
                *(
                    [quality[j : j + width] for j in range(0, len(bases), width)]
                    or [""]
                ),
            ]
        elif rng.integers(2):
            out.append("")
    return end.join(out) + (end if rng.integers(2) else "")


@pytest.mark.parametrize("fastq", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(15))
def test_files_of_sequences_are_read_in_any_pieces(fastq, end, seed):
    rng = np.random.default_rng([seed, fastq, len(end)])
    text = random_file(rng, fastq, end)
    expected = records_of(text)
    data = np.frombuffer(text.encode(), np.uint8)
    for records in (True, False):
        overlap = int(rng.integers(0, 8))
        reader = _core.SequenceReader(overlap, records)
        rows, names, at = [], [], 0
        while True:
            stop = at + int(rng.integers(1, 90))
            last = at >= len(data)
            piece = reader.finish() if last else reader.read(data[at:stop].copy())
            bases, starts, text_names, ends, goes_on = piece
            assert len(ends) - 1 == (len(starts) - goes_on if records else 0)
            for i, own in enumerate(np.split(bases, starts)[1:] if len(starts) else []):
                if i == 0 and goes_on:
                    kept = min(overlap, len(rows[-1]))
                    assert rows[-1][len(rows[-1]) - kept :] == own[:kept].tolist()
                    rows[-1] += own[kept:].tolist()
                else:
                    rows.append(own.tolist())
            blob = text_names.tobytes().decode()
            names += [blob[a:b] for a, b in pairwise(ends)]
            if last:
                break
            at = stop
        if records:
            assert list(zip(names, rows, strict=True)) == expected
        else:
            joined = [base for _, bases in expected for base in [4, *bases]][1:]
            assert rows == ([joined] if expected else [])
        assert reader.records == len(expected)
        assert reader.letters == sum(len(bases) for _, bases in expected)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ACGT\n", "line 1: a FASTA file begins with '>'"),
        (">a\nAC1T\n", "line 2: bases must be letters. Got '1'"),
        (">a\nACGT\nAC\xe4\n", "line 3: bases must be letters. Got the byte 195"),
        ("@a\nACGT\n+\nIII\n", "qualities are missing or too few"),
        ("@a\nACGT\n", "line 3: the file ends within a record"),
        ("@a\nACGT\n+\nIIII\n@b", "line 6: the file ends within a record"),
        ("@a\nACGT\n+\nIIII\n", None),
        ("@a\nACGT\n+\nIIIII\n", "more qualities than bases"),
        (
            "@a\nACGT\n+\nIIII\nACGT\n",
            "line 5: a record of a FASTQ file begins with '@'",
        ),
    ],
)
def test_what_is_no_file_of_sequences_is_told_with_its_line(text, told):
    reader = _core.SequenceReader(3, True)

    def read():
        reader.read(np.frombuffer(text.encode(), np.uint8))
        reader.finish()

    if told is None:
        read()
    else:
        with pytest.raises(ValueError, match=told.replace(".", r"\.")):
            read()
