"""Damaged and hostile files: one sentence, nothing run, little memory."""

from __future__ import annotations

import io
import json
import pickle
import struct
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.persistence.models import answers, examples
from tests.persistence.mutations import array_of, npy, rewritten

from bayesieve.persistence import load_model, load_notes, save_model

# One of each family: what is read, and what is checked, differs between them.
FAMILIES = [
    "multinomial chunks",
    "bernoulli cv",
    "categorical",
    "categorical table",
    "text bernoulli",
    "text weights",
    "selector counts",
    "L0",
    "mixed",
    "selective",
    "selective ready-made",
    "averaged",
    "wide frame",
    "wide cv",
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    found = {}
    for name in FAMILIES:
        save_model(examples()[name][0], folder / "model", notes={"report": "{}"})
        found[name] = (folder / "model").read_bytes()
    return found


def refusal(path, load=load_model):
    """The message of the ValueError that a file must give: one sentence."""
    with pytest.raises(ValueError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < 500
    return message


def tried(path, name):
    """Load a file that may be damaged; a model it gives must not crash."""
    model, rows = examples()[name]
    try:
        loaded = load_model(path)
    except ValueError as error:
        if "\n" in str(error):
            pytest.fail(f"more than one line: {error}")
        return None
    assert type(loaded) is type(model)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return answers(loaded, rows)
    except ValueError:
        return None


@pytest.mark.parametrize("name", FAMILIES)
def test_random_byte_flips(name, saved, tmp_path):
    model, rows = examples()[name]
    before = answers(model, rows)
    path = tmp_path / "model"
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        damaged = bytearray(saved[name])
        for place in rng.integers(len(damaged), size=int(rng.integers(1, 4))):
            damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        after = tried(path, name)
        refused += after is None
        # Checksums find what matters; what they do not cover (dates) changes nothing.
        if after is not None:
            for x, y in zip(before, after, strict=True):
                np.testing.assert_array_equal(x, y)
    assert refused > 100


@pytest.mark.parametrize("name", FAMILIES)
def test_truncated_files(name, saved, tmp_path):
    whole = saved[name]
    for length in [0, 1, 4, 30, *range(50, len(whole), max(len(whole) // 40, 1))]:
        path = tmp_path / "model"
        path.write_bytes(whole[:length])
        assert "is not a readable model" in refusal(path)


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_arrays_that_do_not_fit_together(saved, tmp_path, data):
    # Behind the checksums: members of the right kind with other sizes and values.
    name = data.draw(st.sampled_from(FAMILIES))

    def change(members):
        arrays = sorted(m for m in members if m.endswith(".npy"))
        member = data.draw(st.sampled_from(arrays))
        array = array_of(members[member])
        how = data.draw(
            st.sampled_from(["drop", "shorter", "longer", "value", "dtype", "shape"])
        )
        if how == "drop":
            del members[member]
            return members
        if how == "shorter" and array.ndim:
            array = array[:-1]
        elif how == "longer" and array.ndim:
            array = np.concatenate([array, array[:1]])
        elif how == "value" and array.size:
            array = array.copy()
            place = data.draw(st.integers(0, array.size - 1))
            odd = (
                [0, 1, 2, 127] if array.dtype.kind in "ub" else [-1, 0, 1, 2**31, 2**62]
            )
            if array.dtype.kind == "f":
                odd = [np.nan, np.inf, -np.inf, -1.0, 1e308]
            value = data.draw(st.sampled_from(odd))
            array.flat[place] = np.array(value).astype(array.dtype)
        elif how == "dtype":
            other = data.draw(st.sampled_from(["f4", "i2", "U4", ">f8"]))
            with np.errstate(all="ignore"):
                array = array.astype(other)
        elif how == "shape":
            array = array[None]
        members[member] = npy(array)
        return members

    path = tmp_path / "model"
    path.write_bytes(rewritten(saved[name], change))
    tried(path, name)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["$array", "$tuple", "$float", "$dict", "$pairs", "$object", "a"]
            ),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_headers_that_hold_anything(saved, tmp_path, data):
    name = data.draw(st.sampled_from(FAMILIES))

    def change(members):
        header = json.loads(members["model.json"])
        where = data.draw(st.sampled_from(["", "parameters", "attributes"]))
        holder = header[where] if where else header
        key = data.draw(st.sampled_from([*holder, "__class__", "__reduce__", "_x"]))
        if data.draw(st.booleans()):
            holder.pop(key, None)
        else:
            holder[key] = data.draw(JSON_VALUES)
        members["model.json"] = json.dumps(header).encode()
        return members

    path = tmp_path / "model"
    path.write_bytes(rewritten(saved[name], change))
    tried(path, name)


def with_header(data, **changes):
    def change(members):
        header = json.loads(members["model.json"]) | changes
        return members | {"model.json": json.dumps(header).encode()}

    return rewritten(data, change)


def test_a_newer_version_says_so(saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(with_header(saved["L0"], version=2))
    for load in (load_model, load_notes):
        assert "was written by a newer bayesieve (format 2)" in refusal(path, load)


@pytest.mark.parametrize("version", [0, -1, "1", None, True, 1.0, [1]])
def test_an_odd_version_is_refused(version, saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(with_header(saved["L0"], version=version))
    assert "this version reads format 1" in refusal(path)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "KFold",
        "LogisticRegression",
        "",
        None,
        3,
        ["L0Screener"],
        "ClassCounts",
    ],
)
def test_other_classes_are_refused(name, saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(with_header(saved["L0"], **{"class": name}))
    assert "which is not a model of this bayesieve" in refusal(path)


def test_parameters_the_class_does_not_allow_are_refused(saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(with_header(saved["L0"], parameters={"k": -3}))
    assert "'k' parameter of L0Screener" in refusal(path)
    path.write_bytes(with_header(saved["L0"], parameters={"kk": 3}))
    assert "parameters that a L0Screener does not have" in refusal(path)


def test_a_file_of_class_counts_is_told_apart(tmp_path):
    path = tmp_path / "counts"
    examples()["L0 counts"][0].counts_.save(path)
    assert "is not a model written by bayesieve.save_model" in refusal(path)


def test_a_pickle_is_refused_and_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "run"), "w"))

    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(Bomb()))
    refusal(path)
    assert not (tmp_path / "run").exists()


def test_pickled_arrays_are_refused_and_not_run(saved, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "run"), "w"))

    bomb = np.empty(1, dtype=object)
    bomb[0] = Bomb()
    for member in ("classes_.npy", "scores_.npy", "support_indices_.npy"):
        path = tmp_path / "model"
        content = npy(bomb)
        path.write_bytes(
            rewritten(saved["L0"], lambda m, k=member, c=content: m | {k: c})
        )
        refusal(path)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../evil.npy",
        "/etc/evil.npy",
        "a/b.npy",
        "C:\\x.npy",
        "x.py",
        "x",
        "a..npy",
        "é.npy",
    ],
)
def test_path_tricks_are_refused(name, saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(rewritten(saved["L0"], lambda members: members | {name: b"x"}))
    message = refusal(path)
    assert "no name that a model file uses" in message
    assert {item.name for item in tmp_path.iterdir()} == {"model"}


def test_members_that_do_not_belong_are_refused(saved, tmp_path):
    path = tmp_path / "model"
    extra = npy(np.zeros(3))
    path.write_bytes(rewritten(saved["L0"], lambda members: members | {"x.npy": extra}))
    assert "a member 'x.npy' that does not belong" in refusal(path)


def test_a_member_twice_is_refused(saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(saved["L0"])
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("scores_.npy", npy(np.zeros(12)))
    assert "has two members 'scores_.npy'" in refusal(path)


def test_compressed_members_are_refused_before_they_are_unpacked(saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(saved["L0"])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(200_000_000))
    assert path.stat().st_size < 1_000_000
    tracemalloc.start()
    message = refusal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "a compressed member 'bomb.npy'" in message
    assert peak < 20_000_000


def test_overlapping_members_are_refused(tmp_path):
    # Fifty members that all lie on the same megabyte.
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.npy", bytes(1_000_000))
        info = archive.infolist()[0]
        for number in range(50):
            again = zipfile.ZipInfo(f"a{number}.npy")
            again.header_offset, again.CRC = info.header_offset, info.CRC
            again.file_size = again.compress_size = info.file_size
            archive.filelist.append(again)
    path = tmp_path / "model"
    path.write_bytes(out.getvalue())
    assert "more than the file has" in refusal(path)


def test_a_shape_that_promises_too_much_is_refused(saved, tmp_path):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    text = header.ljust(117).encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)
    path = tmp_path / "model"
    path.write_bytes(rewritten(saved["L0"], lambda m: m | {"scores_.npy": content}))
    tracemalloc.start()
    message = refusal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "wrong shape" in message
    assert peak < 20_000_000


def test_a_large_header_is_refused_before_it_is_read(saved, tmp_path):
    path = tmp_path / "model"
    huge = b"[" + b"[]," * 3_000_000 + b"[]]"
    path.write_bytes(rewritten(saved["L0"], lambda m: m | {"model.json": huge}))
    tracemalloc.start()
    message = refusal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "of more than 8 MB" in message
    assert peak < 20_000_000


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a": NaN}',
        b"{}",
        b'"x"',
    ],
)
def test_headers_that_are_none(header, saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(rewritten(saved["L0"], lambda m: m | {"model.json": header}))
    refusal(path)


def test_a_name_twice_in_the_header_is_refused(saved, tmp_path):
    def change(members):
        text = members["model.json"].replace(
            b'"version"', b'"version": 1, "version"', 1
        )
        return members | {"model.json": text}

    path = tmp_path / "model"
    path.write_bytes(rewritten(saved["L0"], change))
    assert "a name is there twice" in refusal(path)


def test_a_folder_and_a_device_are_errors_of_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"must be a regular file\. Got a folder\.$"):
        load_model(tmp_path)
