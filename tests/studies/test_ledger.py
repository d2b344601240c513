"""The one file of a study: what goes in comes out, the same bytes each time."""

from __future__ import annotations

import pytest
from tests.studies.study_modules import ledger, read_parts, write_parts


def book(folder, part, **header):
    return ledger.Ledger(folder, part, columns=["a", "b"], study="made", **header)


def test_parts_live_in_one_file_and_are_written_after_every_row(tmp_path):
    one, two = book(tmp_path, "x/one", seed=1), book(tmp_path, "x/two", seed=1)
    one.extend("key", 0, [(1, 0.1)])
    two.put("unit", {"any": ["JSON", None]})  # opened before the other was written
    one.extend("key", 1, [(2, float("inf"))])
    assert [path.name for path in tmp_path.iterdir()] == [ledger.FILE]
    parts = read_parts(tmp_path)
    assert parts["x/one"]["rows"] == {"key": [[1, 0.1], [2, float("inf")]]}
    assert parts["x/two"]["rows"] == {"unit": {"any": ["JSON", None]}}
    again = book(tmp_path, "x/one", seed=1)
    assert again.done("key") == 2
    assert again.done("other") == 0
    with pytest.raises(ValueError, match=r"must be 2\. Got 1\."):
        again.extend("key", 1, [(3, 3)])
    with pytest.raises(SystemExit, match=r"x/one in .* was written with seed = 1"):
        book(tmp_path, "x/one", seed=2)


def test_the_same_content_has_the_same_bytes(tmp_path):
    parts = {"b": {"rows": {"k": [[1.5]]}}, "a": {"rows": {}}}
    write_parts(tmp_path / "one", parts)
    write_parts(tmp_path / "two", dict(reversed(parts.items())))
    one, two = ((tmp_path / n / ledger.FILE).read_bytes() for n in ("one", "two"))
    assert one == two


def test_parts_are_forgotten_by_name(tmp_path):
    write_parts(tmp_path, {"a": 1, "b": 2})
    ledger.forget(tmp_path, ["a", "never there"])
    assert read_parts(tmp_path) == {"b": 2}
    ledger.forget(tmp_path / "nowhere", ["a"])
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_file_is_told_in_one_sentence(tmp_path):
    (tmp_path / ledger.FILE).write_bytes(b"no such thing")
    with pytest.raises(SystemExit, match=r"A stored file is damaged .* Hint: "):
        ledger.run_script(lambda: read_parts(tmp_path))
