from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from tests.patience import HANGS

from bayesieve import ClassCounts
from bayesieve.counts import _checkpoint
from bayesieve.exceptions import BadRowsWarning

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

N_FILES = 20


@pytest.fixture(autouse=True)
def _save_after_every_file(monkeypatch):
    monkeypatch.setattr(_checkpoint, "SAVE_SECONDS", 0.0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Twenty files with words of their own, and words and classes they share."""
    folder = tmp_path_factory.mktemp("files")
    rng = random.Random(0)
    for number in range(N_FILES):
        rows = ["text,label"]
        for row in range(400):
            words = [f"w{rng.randrange(1000)}" for _ in range(8)]
            rows.append(f"{' '.join(words)} own{number}x{row},{rng.choice('abc')}")
        (folder / f"{number:02}.csv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="module")
def whole(files):
    return ClassCounts.from_text(files / "*.csv", ngram_range=(1, 2))


def resumed(files, folder, **options):
    return ClassCounts.from_text(
        files / "*.csv", ngram_range=(1, 2), checkpoint=folder, **options
    )


def names_in(folder):
    return sorted(os.listdir(folder))


def test_a_checkpoint_gives_the_same_counts(files, whole, tmp_path, monkeypatch):
    folder = tmp_path / "new" / "folder"
    assert resumed(files, folder) == whole
    parts = [name for name in names_in(folder) if name.startswith("counts-")]
    assert len(parts) == 1
    assert names_in(folder) == sorted([*parts, "lock", "manifest.json"])
    assert ClassCounts.load(folder / parts[0]) == whole

    def read(*_):
        raise AssertionError("a file was counted again")

    monkeypatch.setattr("bayesieve.io._files.TextFile.batches", read)
    assert resumed(files, folder) == whole
    # What happens after the count may change.
    pruned = resumed(files, folder, min_df=2, max_features=50)
    assert pruned.n_features == 50


@pytest.mark.parametrize("stop_after", [0, 8, 19])
def test_a_count_that_failed_goes_on(files, whole, tmp_path, monkeypatch, stop_after):
    from bayesieve.io._files import TextFile

    read = TextFile.batches
    counted = []

    def failing(self, bad_rows):
        if len(counted) == stop_after:
            raise KeyboardInterrupt
        counted.append(self.path)
        return read(self, bad_rows)

    with monkeypatch.context() as patch:
        patch.setattr(TextFile, "batches", failing)
        with pytest.raises(KeyboardInterrupt):
            resumed(files, tmp_path)
    again = []

    def noted(self, bad_rows):
        again.append(self.path)
        return read(self, bad_rows)

    monkeypatch.setattr(TextFile, "batches", noted)
    assert resumed(files, tmp_path) == whole
    assert sorted(counted + again) == sorted(map(str, files.glob("*.csv")))


def test_few_parts_at_any_time(files, whole, tmp_path, monkeypatch):
    most = 0
    commit = _checkpoint.Checkpoint._commit

    def watched(self, *arguments):
        nonlocal most
        commit(self, *arguments)
        most = max(most, len([n for n in names_in(tmp_path) if "counts-" in n]))

    monkeypatch.setattr(_checkpoint.Checkpoint, "_commit", watched)
    monkeypatch.setattr(_checkpoint, "FAN_IN", 3)
    assert resumed(files, tmp_path) == whole
    assert most <= 3 * 3


def test_saves_are_seldom_by_default(files, whole, tmp_path, monkeypatch):
    saves = []
    save = _checkpoint.Checkpoint.save
    monkeypatch.setattr(_checkpoint, "SAVE_SECONDS", 3600.0)
    monkeypatch.setattr(
        _checkpoint.Checkpoint,
        "save",
        lambda self, *rest: saves.append(1) or save(self, *rest),
    )
    assert resumed(files, tmp_path) == whole
    assert len(saves) == 1


# --------------------------------------------------------------------------- refusals


def test_other_options_are_refused(files, whole, tmp_path):
    resumed(files, tmp_path)
    with pytest.raises(ValueError, match=r"other settings. Got binary=True instead of"):
        resumed(files, tmp_path, binary=True)
    with pytest.raises(ValueError, match=r"stop_words=\['w1'\] instead of None"):
        resumed(files, tmp_path, stop_words={"w1"})
    with pytest.raises(ValueError, match=r"classes=\['a', 'b', 'c'\]"):
        resumed(files, tmp_path, classes=list("abc"))
    assert resumed(files, tmp_path) == whole


def test_changed_files_are_refused_and_new_ones_counted(tmp_path):
    folder, data = tmp_path / "checkpoint", tmp_path / "data"
    data.mkdir()
    for i in range(3):
        (data / f"{i}.csv").write_text(f"text,label\nword{i} shared,{i}\n")

    def count(paths):
        return ClassCounts.from_text(paths, checkpoint=folder)

    paths = sorted(data.glob("*.csv"))
    count(paths[:2])
    assert count(paths) == ClassCounts.from_text(paths)
    with pytest.raises(ValueError, match=r"2\.csv', which is not among the files"):
        count(paths[:2])
    state = paths[1].stat()
    paths[1].write_text("text,label\nother words,1\n")
    with pytest.raises(ValueError, match=r"1\.csv' was changed after it was counted"):
        count(paths)
    paths[1].write_text("text,label\nword9 shared,1\n")  # of the same size
    os.utime(paths[1], ns=(state.st_atime_ns, state.st_mtime_ns + 1000))
    with pytest.raises(ValueError, match=r"1\.csv' was changed after it was counted"):
        count(paths)


def test_a_file_that_grows_while_it_is_counted(tmp_path, monkeypatch):
    from bayesieve.io._files import TextFile

    path = tmp_path / "a.csv"
    path.write_text("text,label\nsome words,1\n")
    read = TextFile.batches

    def growing(self, bad_rows):
        yield from read(self, bad_rows)
        with open(path, "a") as file:
            file.write("more words,2\n")

    monkeypatch.setattr(TextFile, "batches", growing)
    with pytest.raises(ValueError, match=r"a\.csv' was changed while it was counted"):
        ClassCounts.from_text(path, checkpoint=tmp_path / "checkpoint")


def test_foreign_folders_are_left_alone(files, tmp_path):
    (tmp_path / "counts-mine.npz").write_text("precious")
    with pytest.raises(ValueError, match=r"which holds 'counts-mine\.npz'"):
        resumed(files, tmp_path)
    assert (tmp_path / "counts-mine.npz").read_text() == "precious"
    for manifest in ("{", "[]", '{"format": "other", "version": 1}'):
        (tmp_path / "manifest.json").write_text(manifest)
        with pytest.raises(ValueError, match="not the manifest"):
            resumed(files, tmp_path)
    assert (tmp_path / "counts-mine.npz").read_text() == "precious"


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_leftovers_of_a_killed_run_are_removed(files, whole, tmp_path):
    resumed(files, tmp_path)
    kept = names_in(tmp_path)
    part = manifest_of(tmp_path)["next"]
    ending = "0123456789abcdef.tmp"
    for name in (part, f".{part}.{ending}", f".manifest.json.{ending}"):
        (tmp_path / name).write_bytes(b"half a file")
    assert resumed(files, tmp_path) == whole
    assert names_in(tmp_path) == kept


def test_what_the_manifest_never_named_is_left_alone(files, whole, tmp_path):
    resumed(files, tmp_path)
    mine = ["counts-mine.npz", "counts-0123456789abcdef.npz", ".counts-x", "notes.txt"]
    for name in mine:
        (tmp_path / name).write_bytes(b"precious")
    assert resumed(files, tmp_path) == whole
    for name in mine:
        assert (tmp_path / name).read_bytes() == b"precious"


def test_content_decides_whether_a_file_was_changed(tmp_path):
    path, folder = tmp_path / "a.csv", tmp_path / "checkpoint"
    path.write_text("text,label\nword1 here,x\n")
    state = path.stat()
    counts = ClassCounts.from_text(path, checkpoint=folder)
    os.utime(path)  # the same content at another time
    assert ClassCounts.from_text(path, checkpoint=folder) == counts
    path.write_text("text,label\nword2 here,x\n")  # another at the same time
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(ValueError, match=r"a\.csv' was changed after it was counted"):
        ClassCounts.from_text(path, checkpoint=folder)


def test_content_changed_while_it_is_counted_with_its_time_kept(tmp_path, monkeypatch):
    from bayesieve.io._files import TextFile

    path = tmp_path / "a.csv"
    path.write_text("text,label\nword1 here,x\n")
    state = path.stat()
    read = TextFile.batches
    contents = iter(["text,label\nword1 here,x\n", "text,label\nword2 here,x\n"])

    def changing(self, bad_rows):
        yield from read(self, bad_rows)
        path.write_text(next(contents))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    monkeypatch.setattr(TextFile, "batches", changing)
    ClassCounts.from_text(path, checkpoint=tmp_path / "same")
    with pytest.raises(ValueError, match=r"a\.csv' was changed while it was counted"):
        ClassCounts.from_text(path, checkpoint=tmp_path / "checkpoint")


@pytest.fixture
def counted(tmp_path):
    """A checkpoint of one file, and a file beside the folder."""
    (tmp_path / "a.csv").write_text("text,label\nword1 here,x\nother,y\n")
    counts = ClassCounts.from_text(tmp_path / "a.csv", checkpoint=tmp_path / "folder")
    counts.save(tmp_path / "counts-0123456789abcdef.npz")
    return tmp_path


def edited(change):
    """The text of a manifest with one thing changed."""

    def edit(manifest):
        change(manifest)
        return json.dumps(manifest)

    return edit


def _set(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(holder):
        for key in keys:
            holder = holder[key]
        holder[last] = value

    return edited(change)


ODD = [None, True, -1, 1.5, 2**64, "x", [], {}, [[]], float("nan")]
OUTSIDE = ["../counts-0123456789abcdef.npz", "/etc/passwd", "..", "", "lock"]
OUTSIDE += ["manifest.json", "counts-0123456789abcdef.npz\n", "counts-x.npz", 5]
MANIFESTS = {
    **{
        f"{key}={value!r}": _set(key, value)
        for key in ("format", "version", "settings", "parts", "next", "replaced")
        for value in ODD
        if not (value == [] and key in ("replaced", "parts"))
        and not (value == {} and key == "settings")
    },
    **{
        f"part {key}={value!r}": _set("parts", 0, key, value)
        for key in ("file", "level", "sources", "skipped", "first")
        for value in ODD
        if (key, value) != ("first", "x")
    },
    **{
        f"source {key}={value!r}": _set("parts", 0, "sources", 0, key, value)
        for key in ("path", "size", "sha256")
        for value in ODD
    },
    **{f"file={name!r}": _set("parts", 0, "file", name) for name in OUTSIDE},
    **{f"next={name!r}": _set("next", name) for name in OUTSIDE},
    **{f"replaced={name!r}": _set("replaced", [name]) for name in OUTSIDE},
    "a field more": _set("more", 1),
    "no field": edited(lambda manifest: manifest.pop("next")),
    "a part twice": edited(lambda m: m["parts"].append(m["parts"][0])),
    "a part to be removed": edited(
        lambda m: m["replaced"].append(m["parts"][0]["file"])
    ),
    "deep": lambda manifest: "[" * 100_000,
    "deep settings": lambda m: json.dumps(m).replace(
        '"settings": {', '"settings": {"x": ' + "[" * 500 + "]" * 500 + ", "
    ),
    "a huge number": lambda m: json.dumps(m).replace(
        '"level": 0', '"level": ' + "9" * 10_000
    ),
    "a field twice": lambda m: json.dumps(m).replace('"next"', '"next": 1, "next"'),
    "no text": lambda m: "\ud800",
}


def test_manifests_that_are_none(counted):
    folder = counted / "folder"
    whole = (folder / "manifest.json").read_text()
    before = {path: path.read_bytes() for path in counted.rglob("*.npz")}
    assert len(before) == 2
    for name, edit in MANIFESTS.items():
        text = edit(json.loads(whole)).encode("utf-8", "surrogatepass")
        (folder / "manifest.json").write_bytes(text)
        try:
            ClassCounts.from_text(counted / "a.csv", checkpoint=folder)
        except ValueError as error:
            message = str(error)
        except Exception as error:
            message = repr(error)
        else:
            message = "nothing"
        wanted = r"[^\n]*(manifest of a checkpoint that this|with other settings)[^\n]*"
        assert re.fullmatch(wanted, message), (name, message)
        assert len(message) < 500
    assert {path: path.read_bytes() for path in counted.rglob("*.npz")} == before


def test_a_manifest_of_an_earlier_run_that_names_nothing_is_a_new_start(counted):
    folder = counted / "folder"
    text = MANIFESTS["format=None"](manifest_of(folder) | {"parts": []})
    (folder / "manifest.json").write_text(
        text.replace('"format": null', '"format": "bayesieve.checkpoint"')
    )
    counts = ClassCounts.from_text(counted / "a.csv", checkpoint=folder)
    assert counts == ClassCounts.from_text(counted / "a.csv")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
@pytest.mark.parametrize("name", ["lock", "manifest.json", "part"])
def test_links_out_of_the_folder_are_refused(name, counted):
    folder = counted / "folder"
    if name == "part":
        name = manifest_of(folder)["parts"][0]["file"]
    (folder / name).rename(counted / "elsewhere")
    (folder / name).symlink_to(counted / "elsewhere")
    before = (counted / "elsewhere").read_bytes()
    with pytest.raises(ValueError, match="must be a regular file"):
        ClassCounts.from_text(counted / "a.csv", checkpoint=folder)
    assert (counted / "elsewhere").read_bytes() == before


def test_a_part_that_is_gone_is_told(counted):
    folder = counted / "folder"
    (folder / manifest_of(folder)["parts"][0]["file"]).unlink()
    with pytest.raises(ValueError, match="lacks its part 'counts-"):
        ClassCounts.from_text(counted / "a.csv", checkpoint=folder)


def test_a_damaged_part_is_an_error(files, tmp_path):
    resumed(files, tmp_path)
    (part,) = tmp_path.glob("counts-*")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with pytest.raises(ValueError, match="not a readable file of class counts"):
        resumed(files, tmp_path)


def test_two_processes_do_not_share_a_checkpoint(files, tmp_path):
    with (
        _checkpoint.Checkpoint(_checkpoint.TableParts(ClassCounts), tmp_path, {}),
        pytest.raises(RuntimeError, match="in use by another process"),
    ):
        resumed(files, tmp_path)


def test_skipped_rows_are_reported_over_all_runs(tmp_path):
    paths = []
    for i in range(3):
        path = tmp_path / f"{i}.csv"
        path.write_text(f"text,label\nword{i} here,x\nbad,row,here\nno label,\n")
        paths.append(path)
    folder = tmp_path / "checkpoint"
    for n in (1, 3, 3):
        with pytest.warns(
            BadRowsWarning, match=rf"^{2 * n} bad rows .*Line 3 of .*0\."
        ):
            counts = ClassCounts.from_text(
                paths[:n], checkpoint=folder, on_bad_rows="skip"
            )
        assert counts.class_count.tolist() == [n]
    with pytest.raises(ValueError, match=r"^Line 3 of .*0\.csv' cannot be read"):
        ClassCounts.from_text(paths, checkpoint=folder)


def test_a_run_that_met_a_bad_row_can_go_on_without_it(tmp_path):
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_text(f"text,label\nword{i} here,x\n" + "no label,\n" * (i == 2))
    folder = tmp_path / "checkpoint"
    with pytest.raises(ValueError, match=r"2\.csv' has no label"):
        ClassCounts.from_text(paths, checkpoint=folder)
    assert len(counted_in(folder)) == 2
    with pytest.warns(BadRowsWarning, match="^1 bad row"):
        counts = ClassCounts.from_text(paths, checkpoint=folder, on_bad_rows="skip")
    assert counts.class_count.tolist() == [3]


def test_files_without_rows(tmp_path):
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    for path in paths:
        path.write_text("text,label\n")
    folder = tmp_path / "checkpoint"
    with pytest.raises(ValueError, match="at least one row"):
        ClassCounts.from_text(paths[:2], checkpoint=folder)
    paths[2].write_text("text,label\nsome words,2\n")
    counts = ClassCounts.from_text(paths, checkpoint=folder)
    assert counts == ClassCounts.from_text(paths)
    assert counts.classes.tolist() == [2]


# --------------------------------------------------------------------------- SIGKILL

SCRIPT = """
import sys
from bayesieve import ClassCounts
from bayesieve.counts import _checkpoint
_checkpoint.SAVE_SECONDS = 0.0
_checkpoint.FAN_IN = 3
print("ready", flush=True)
ClassCounts.from_text(
    sys.argv[1], ngram_range=(1, 2), checkpoint=sys.argv[2], n_jobs=1
).save(sys.argv[3])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("seed", "kills"), [(0, 4), pytest.param(1, 8, marks=pytest.mark.slow)]
)
def test_killed_at_any_moment_and_resumed(files, whole, tmp_path, seed, kills):
    rng = random.Random(seed)
    folder, result = tmp_path / "checkpoint", tmp_path / "result.npz"
    command = [sys.executable, "-c", SCRIPT, str(files / "*.csv")]
    command += [str(folder), str(result)]
    progress = []
    for kill in (*[True] * kills, False):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            # A file or a few more, and then at a random moment.
            wanted = min(len(counted_in(folder)) + rng.choice((0, 1, 4)), N_FILES)
            while kill and process.poll() is None and len(counted_in(folder)) < wanted:
                time.sleep(0.001)
            try:
                process.wait(rng.random() * 0.2 if kill else HANGS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        counted = counted_in(folder)
        assert len(set(counted)) == len(counted)
        progress.append(len(counted))
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
    assert progress == sorted(progress)  # nothing is lost
    assert len(set(progress)) >= 2  # it was killed in the middle
    assert result.exists()
    assert ClassCounts.load(result) == whole
    assert resumed(files, folder) == whole


def counted_in(folder):
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except FileNotFoundError:
        return []
    return [source["path"] for part in manifest["parts"] for source in part["sources"]]
