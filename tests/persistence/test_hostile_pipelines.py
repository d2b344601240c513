"""Damaged and hostile files of pipelines: one sentence, nothing run, no crash."""

from __future__ import annotations

import contextlib
import json
import random
import warnings

import numpy as np
import pytest
from tests.persistence.mutations import array_of, check_told, mutated, npy, rewritten
from tests.persistence.pipelines import fitted, said

from bayesieve.exceptions import NewerVersionWarning, ScikitLearnVersionWarning
from bayesieve.persistence import load_model, save_model

#: One of each family: what is read, and what is checked, differs between them.
FAMILIES = [
    "count stop words",
    "count mapping",
    "tfidf",
    "transformed",
    "hashed",
    "standard holes",
    "range",
    "robust centred",
    "binary",
    "imputed words",
    "one hot",
    "one hot dropped",
    "one hot strings",
    "ordinal",
    "bins",
    "bins one hot",
    "best",
    "percentile",
    "selector",
    "vector machine",
    "their complement",
    "columns",
    "columns by kind",
    "columns of arrays",
    "union",
    "nested",
    "named selector",
    "kept counts",
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    found = {}
    for name in FAMILIES:
        save_model(fitted()[name][0], path)
        found[name] = path.read_bytes()
    return found


def used(path, name):
    """Read a file and use what is in it; anything but a ValueError is a failure."""
    rows = fitted()[name][1]
    rows = rows.iloc[:10] if hasattr(rows, "iloc") else rows[:10]
    try:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", NewerVersionWarning)
            warnings.simplefilter("ignore", ScikitLearnVersionWarning)
            model = load_model(path)
    except ValueError as error:
        check_told(error, str(path))
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        repr(model)
        try:
            before = said(model, rows)
            save_model(model, path)
            after = said(load_model(path), rows)
        except ValueError:
            return "refused in use"
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, two)
    return "used"


def tried(saved, tmp_path, name, seeds):
    path = tmp_path / "model"
    ends = []
    for seed in seeds:
        rng = random.Random(f"{name} {seed}")
        path.write_bytes(mutated(saved[name], rng, list(saved.values())))
        try:
            ends.append(used(path, name))
        except Exception as error:
            raise AssertionError(f"{name!r} with seed {seed}") from error
    return ends


@pytest.mark.parametrize("name", FAMILIES)
def test_files_with_right_checksums_and_wrong_content(name, saved, tmp_path):
    ends = tried(saved, tmp_path, name, range(60))
    assert ends.count("refused") > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_more_wrong_files(name, saved, tmp_path):
    tried(saved, tmp_path, name, range(60, 2000))


@pytest.mark.parametrize("name", FAMILIES)
def test_byte_flips_and_cuts(name, saved, tmp_path):
    path, whole = tmp_path / "model", saved[name]
    rng = np.random.default_rng(0)
    before = said(*fitted()[name])
    for _ in range(25):
        damaged = bytearray(whole)
        for place in rng.integers(len(damaged), size=int(rng.integers(1, 4))):
            damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):
            loaded = load_model(path)
            for one, two in zip(before, said(loaded, fitted()[name][1]), strict=True):
                np.testing.assert_array_equal(one, two)
    for length in np.linspace(0, len(whole) - 1, 20).astype(int).tolist():
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is not a readable model"):
            load_model(path)


def changed(saved, name, path, change):
    """Write a file whose header was changed, with right checksums."""

    def rewrite(members):
        header = json.loads(members["model.json"])
        change(header, members)
        return members | {"model.json": json.dumps(header).encode()}

    path.write_bytes(rewritten(saved[name], rewrite))


def step(header, number=0):
    return header["steps"][number][1]


CLASSES = [
    ("FunctionTransformer", "does not have"),
    ("GridSearchCV", "is not a model of this bayesieve"),
    ("os.system", "is not a model of this bayesieve"),
    ("TruncatedSVD", "is not a model of this bayesieve"),
]


@pytest.mark.parametrize(("name", "told"), CLASSES)
def test_a_file_names_no_other_class(name, told, saved, tmp_path):
    path = tmp_path / "model"

    def change(header, members):
        step(header)["class"] = name

    changed(saved, "count stop words", path, change)
    with pytest.raises(ValueError, match=told):
        load_model(path)


def test_only_a_pipeline_holds_steps_of_others(saved, tmp_path):
    path = tmp_path / "model"

    def change(header, members):
        inner = header["steps"][0][1]
        for name in list(header):
            if name not in ("format", "version", "bayesieve", "scikit-learn"):
                del header[name]
        header |= inner

    changed(saved, "standard holes", path, change)
    with pytest.raises(ValueError, match="is not a model of this bayesieve"):
        load_model(path)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        (
            "count stop words",
            lambda own: own["parameters"].update(input="filename"),
            "'input' must be 'content'",
        ),
        (
            "count stop words",
            lambda own: own["parameters"].update(token_pattern="(a"),
            "not a readable model",
        ),
        (
            "count stop words",
            lambda own: own["parameters"].update(ngram_range={"$tuple": [1, "x"]}),
            "'ngram_range' is not two sizes",
        ),
        (
            "count stop words",
            lambda own: own["parameters"].update(dtype="object"),
            "'dtype' is not the name",
        ),
        (
            "count stop words",
            lambda own: own["parameters"].update(analyzer="lambda text: text"),
            "'analyzer' parameter",
        ),
        (
            "count stop words",
            lambda own: own["parameters"].update(n_jobs=10**6),
            "parameters that a CountVectorizer does not have",
        ),
        (
            "best",
            lambda own: own["parameters"].update(vocabulary="list"),
            "not a readable model",
        ),
        ("tfidf", lambda own: own["attributes"].pop("idf_"), "idf_"),
        (
            "one hot",
            lambda own: own["parameters"].update(max_categories=2),
            "rare categories",
        ),
        (
            "one hot",
            lambda own: own.update(output="numpy.load"),
            "none of the kinds of tables",
        ),
        (
            "range",
            lambda own: own["parameters"].update(feature_range={"$tuple": ["a", 1]}),
            "'feature_range' is not two numbers",
        ),
    ],
)
def test_wrong_settings_are_refused(name, change, told, saved, tmp_path):
    path = tmp_path / "model"
    changed(saved, name, path, lambda header, members: change(step(header)))
    with pytest.raises(ValueError, match=told):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda part: part.update(columns=[99]), "not places of columns"),
        (lambda part: part.update(columns=[-1]), "not places of columns"),
        (lambda part: part.update(by="code"), "does not take its columns|no way"),
        (lambda part: part.update(output=[0, -1]), "not two places"),
        (lambda part: part.update(word="os"), "neither 'drop' nor 'passthrough'"),
        (lambda part: part.update(step="eval"), "neither 'drop' nor 'passthrough'"),
        (lambda part: part.update(name="a__b"), "names that are not allowed"),
    ],
)
def test_wrong_columns_are_refused(change, told, saved, tmp_path):
    path = tmp_path / "model"
    changed(saved, "columns", path, lambda h, _: change(step(h)["parts"][1]))
    with pytest.raises(ValueError, match=told):
        load_model(path)


def test_steps_in_steps_have_an_end(saved, tmp_path):
    path = tmp_path / "model"

    def change(header, members):
        for _ in range(12):
            inner = {"class": "Pipeline", "steps": header["steps"]}
            header["steps"] = [["a", inner]]

    changed(saved, "count stop words", path, change)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_model(path)


@pytest.mark.parametrize("how", ["shuffled", "twice"])
def test_categories_of_numbers_must_rise(how, saved, tmp_path):
    # Unsorted ones would send codes beyond the columns of a sparse matrix.
    path = tmp_path / "model"

    def rewrite(members):
        name = "steps.0.categories__bytes.npy"
        found = array_of(members[name])
        text = found.tobytes().replace(b"0.0", b"9.0" if how == "shuffled" else b"1.0")
        return members | {name: npy(np.frombuffer(text, np.uint8))}

    path.write_bytes(rewritten(saved["one hot dropped"], rewrite))
    with pytest.raises(ValueError, match=r"do not rise|twice"):
        load_model(path)


def test_a_step_that_takes_texts_comes_first(saved, tmp_path):
    path = tmp_path / "model"

    def change(header, members):
        hashing = step(header)
        header["steps"] = [["a", "passthrough"], ["b", hashing], ["c", hashing]]
        for name in list(members):
            if name.startswith("steps.1."):
                del members[name]

    changed(saved, "hashed", path, change)
    with pytest.raises(ValueError, match="behind others takes texts"):
        load_model(path)
