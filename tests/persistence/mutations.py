"""Files of counts and models with right checksums and wrong content."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse
from tests.persistence.models import answers, examples

from bayesieve import solve_bernoulli, solve_multinomial
from bayesieve.counts import ClassCounts
from bayesieve.exceptions import NewerVersionWarning
from bayesieve.persistence import load_model, save_model


def members_of(data):
    """The members of an archive, by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members):
    """A well-formed archive with right checksums."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def rewritten(data, change):
    """An archive whose members were changed."""
    return archive_of(change(members_of(data)))


def npy(array):
    """The bytes of an array as `numpy.save` writes it."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def array_of(content):
    """The array of a member."""
    return np.load(io.BytesIO(content), allow_pickle=False)


# ----------------------------------------------------------------- mutations by chance

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u4", "u8", "f2", "f4", "f8", ">i8", ">f8"]
DTYPES += ["?", "c16", "U3", "S3", "M8[s]"]
WHOLE = [-1, 0, 1, 2, 3, 7, 127, 128, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**32]
WHOLE += [2**53, 2**62, -(2**62), 2**63 - 1, -(2**63), -(2**63) + 1]
FLOATS = [np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, 2.0**53]
#: Steps whose differences wrap around, so that each looks larger than the one before.
WRAPS = [[2**62, -(2**63), -1], [2**63 - 1, -(2**63)], [100, -100, 0], [30000, -30000]]
WRAPS += [[2**30, -(2**31), -1]]
DEEP = "a very deep value"
HUGE = "a very large number"
ODD = [None, True, False, -1, 0, 1, 2, 3, 2**31, 2**53, 2**63, 2**64, -(2**63), 0.5]
ODD += [1e308, -1e308, "", "x", "\ud800", "\u0000", "dense", "numbers", "packed"]
ODD += [[], {}, [[]], [0], [2, 3], [10**9, 10], [2**60, 2**60], {"": 1}, DEEP, HUGE]
ODD += [{"$float": "nan"}, {"$float": "x"}, {"$array": 1}, {"$array": 99}, {"$": 0}]
ODD += [{"$tuple": [1, 2**40]}, {"$set": [[]]}, {"$texts": ["", "z" * 9999]}]
ODD += [
    {"$object": [[1]]},
    {"$dict": {"$a": 1}},
    {"$frozenset": ["a"]},
    {"$pairs": [[1]]},
    "z" * 99_999,
]
ODD += ["[" * 2000, "(a+)+$", ["x"] * 1000, {"x": {"y": {"z": [1, {}]}}}]


def mutated(data, rng, others):
    """An archive in which a few members were changed; `others` lend theirs."""
    members = members_of(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not members:
            break
        name = rng.choice(sorted(members))
        kind = rng.random()
        if kind < 0.04:
            del members[name]
        elif kind < 0.07:
            members[rng.choice(["x.npy", "a.b.npy", name + "x", "note.x.txt"])] = (
                members.pop(name)
            )
        elif kind < 0.12:
            other = rng.choice(sorted(members))
            members[name], members[other] = members[other], members[name]
        elif kind < 0.18:
            lent = members_of(rng.choice(others))
            same = sorted(n for n in lent if n.split(".")[0] == name.split(".")[0])
            members[name] = lent[rng.choice(same or sorted(lent))]
        elif kind < 0.24:
            members[name] = _flipped(members[name], rng)
        elif name.endswith(".json"):
            members[name] = _json(members[name], rng)
        elif name.endswith("metadata.npy"):
            text = _json(array_of_any(members[name]).tobytes(), rng)
            members[name] = npy(np.frombuffer(text, np.uint8))
        elif name.endswith(".npy"):
            members[name] = _array(members[name], rng)
    return archive_of(members)


def array_of_any(content):
    """The array of a member that may have been damaged."""
    try:
        return array_of(content)
    except Exception:
        return np.zeros(3, np.uint8)


def _flipped(content, rng):
    content = bytearray(content or b"\0")
    if rng.random() < 0.3:
        return bytes(content[: rng.randrange(len(content))])
    for _ in range(rng.randrange(1, 4)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


def _json(text, rng):
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return text
    places = []

    def walk(holder):
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in list(keys):
            places.append((holder, key))
            if isinstance(holder[key], dict | list) and holder[key]:
                walk(holder[key])

    if isinstance(tree, dict | list):
        walk(tree)
    for _ in range(rng.choice((1, 1, 2))):
        if not places:
            break
        holder, key = rng.choice(places)
        try:
            value = holder[key]
        except (KeyError, IndexError):
            continue
        how = rng.random()
        if how < 0.15:
            del holder[key]
        elif how < 0.3 and type(value) is int:
            holder[key] = rng.choice((value + 1, value - 1, -value, value * 2**31))
        elif how < 0.4 and isinstance(holder, dict):
            holder[rng.choice(["x", "$tuple", "__class__", "k_"])] = rng.choice(ODD)
        elif how < 0.5:
            other, place = rng.choice(places)
            if place in other if isinstance(other, dict) else place < len(other):
                holder[key] = copy.deepcopy(other[place])
        else:
            holder[key] = rng.choice(ODD)
    written = json.dumps(tree)
    written = written.replace(json.dumps(DEEP), "[" * 50_000)
    return written.replace(json.dumps(HUGE), "9" * rng.choice((25, 400, 5000))).encode()


def _array(content, rng):
    array = array_of_any(content)
    how = rng.random()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if how < 0.15:
                array = array.astype(rng.choice(DTYPES))
            elif how < 0.2:
                array = np.ascontiguousarray(array).view(rng.choice(DTYPES[:11]))
            elif how < 0.35:
                array = _reshaped(array, rng)
            elif how < 0.45 and array.ndim:
                array = rng.choice([np.sort, np.flip, np.cumsum, np.negative])(array)
            elif how < 0.6 and array.dtype.kind == "i" and array.ndim == 1:
                array = _wrapping(array, rng)
            elif array.size:
                array = _with_values(array.copy(), rng)
        except (TypeError, ValueError, IndexError):
            pass
    return npy(array)


def _reshaped(array, rng):
    return rng.choice(
        [
            lambda a: a[None],
            lambda a: a.reshape(-1),
            lambda a: np.asfortranarray(a.T),
            lambda a: a[:-1],
            lambda a: a[1:],
            lambda a: a[..., :-1],
            lambda a: a[:0],
            lambda a: a[..., :0],
            lambda a: np.concatenate([a, a[-1:]]),
            lambda a: np.concatenate([a] * 3),
            lambda a: a.sum(),
        ]
    )(array)


def _wrapping(array, rng):
    """Numbers whose differences are all positive, because they wrap around."""
    dtype = np.dtype(rng.choice(("i1", "i2", "i4", "i8")))
    whole, half = 1 << 8 * dtype.itemsize, 1 << 8 * dtype.itemsize - 1
    if array.size < 4 or not 0 <= int(array[-1]) < half:
        return array
    found = [int(array[0])]
    while len(found) < array.size - 2:
        found.append(found[-1] + rng.randrange(half))
    rest = (int(array[-1]) - found[-1]) % whole
    found += [found[-1] + rest // 2, found[-1] + rest]
    wrapped = [(value + half) % whole - half for value in found]
    return np.array(wrapped, dtype=dtype)


def _with_values(array, rng):
    flat = array.flat
    whole = array.dtype.kind in "iub"
    if whole and array.size > 4 and rng.random() < 0.25:
        steps = rng.choice(WRAPS)
        start = rng.randrange(array.size - len(steps))
        for i, value in enumerate(steps):
            flat[start + i] = np.array(value).astype(array.dtype)
        return array
    for _ in range(rng.choice((1, 1, 2, 5))):
        value = rng.choice(WHOLE if whole else FLOATS)
        if rng.random() < 0.2:
            value = rng.randrange(-3, 2 * array.size + 3)
        flat[rng.randrange(array.size)] = np.array(value).astype(array.dtype)
    return array


# ---------------------------------------------------------------- what must not happen


def bases():
    """Whole files by name: counts of every kind, and a model of every class."""
    found = {}
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (40, 5)), np.arange(40) % 3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"

        def keep(name):
            found[name] = path.read_bytes()

        for kind in ("count", "binary", "moments", "category"):
            ClassCounts.from_matrix(X, y, kind=kind).save(path)
            keep(f"counts {kind}")
        names = ["a", "b", "ç", "", "e f"]
        ClassCounts.from_matrix(X, np.array(list("xyz"))[y], feature_names=names).save(
            path
        )
        keep("counts named")
        texts = ["good film", "bad film", "a good plot", "no plot at all"]
        text = ClassCounts.from_text([(texts, [1, 0, 1, 0])], ngram_range=(1, 2))
        text.save(path)
        keep("counts text")
        text._with(
            feature_count=sparse.csc_array(text.feature_count),
            document_count=sparse.csc_array(text.document_count),
        ).save(path)
        keep("counts sparse")
        for name, (model, _) in examples().items():
            save_model(model, path, notes={"report": "{}"})
            keep(name)
    return found


def used(path, name):
    """Read a file and use what is in it; return how far that went.

    Anything but an answer or a ValueError of one sentence is a failure.
    """
    load = ClassCounts.load if name.startswith("counts ") else load_model
    try:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", NewerVersionWarning)
            found = load(path)
    except ValueError as error:
        check_told(error, str(path))
        return "refused"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if load is load_model:
                _use_model(found, examples()[name][1], path)
            else:
                _use_counts(found, path)
    except ValueError as error:
        check_told(error)
        return "refused in use"
    return "used"


def check_told(error, start=""):
    cause = error.__cause__
    assert not isinstance(cause, MemoryError | RecursionError | AssertionError), cause
    text = str(error)
    assert text.startswith(start)
    assert len(text) < 1000, text
    if start:
        assert "\n" not in text, text


def _use_counts(counts, path):
    repr(counts)
    assert counts.scaled(1) == counts
    counts.select(np.arange(counts.n_features)[:2])
    double = counts + counts
    if counts.n_features and counts.n_classes > 1 and counts.class_count.all():
        if counts.kind in ("count", "binary"):
            limits = {"time_limit": 0.1, "node_limit": 3}
            solve_multinomial(counts, min(2, counts.n_features), **limits)
        if counts.kind == "binary":
            solve_bernoulli(counts, min(2, counts.n_features))
    double - counts
    counts.save(path)
    assert ClassCounts.load(path) == counts


def _use_model(model, rows, path):
    repr(model)
    few = rows.iloc[:10] if hasattr(rows, "iloc") else rows[:10]
    before = answers(model, few)
    if model.n_features_in_ < 1000:
        for name in ("support_", "feature_importances_", "weights_", "coef_"):
            with contextlib.suppress(AttributeError):
                getattr(model, name)
        with contextlib.suppress(AttributeError):
            model.get_feature_names_out()
    save_model(model, path)
    for one, two in zip(before, answers(load_model(path), few), strict=True):
        np.testing.assert_array_equal(one, two)
