from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from tests.oracle.text_oracle import count_batches

from bayesieve import ClassCounts
from bayesieve.counts import _layout, merge_saved
from bayesieve.exceptions import BadRowsWarning
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames

TEXTS = [
    "Good film, good plot",
    "a bad film",
    "",
    "Ünïcode — 中文 film",
    "nul\0byte film",
    "the plot of the film",
]
LABELS = ["pos", "neg", "pos", "pos", "neg", "neg"]


def reference(texts, labels, vectorizer=None):
    """Names, class sums and document counts through a document-term matrix."""
    vectorizer = vectorizer or CountVectorizer()
    X = vectorizer.fit_transform(texts)
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    onehot = np.eye(classes.size)[codes]
    return (
        classes,
        vectorizer.get_feature_names_out().tolist(),
        onehot.T @ X.toarray(),
        onehot.T @ (X.toarray() > 0),
        onehot.sum(axis=0),
    )


def assert_counts(counts, texts, labels, vectorizer=None):
    classes, names, sums, documents, n = reference(texts, labels, vectorizer)
    assert counts.classes.tolist() == classes.tolist()
    kinds = {"U": "U", "O": "U", "i": "i", "u": "i", "f": "f", "b": "b"}
    assert counts.classes.dtype.kind == kinds[classes.dtype.kind]
    assert isinstance(counts.feature_names, TermNames)
    assert counts.feature_names.tolist() == names
    np.testing.assert_allclose(counts.feature_count, sums, rtol=1e-12)
    np.testing.assert_array_equal(counts.document_count, documents)
    np.testing.assert_array_equal(counts.class_count, n)


# --------------------------------------------------------------------------- batches


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        [1, 0, 1, 1, 0, 0],
        [True, False, True, True, False, False],
        np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
        np.array([3, 2, 3, 3, 2, 2], dtype=np.uint8),
        [10, 9, 10, 10, 9, 9],
    ],
)
def test_labels_of_every_kind(labels):
    assert_counts(ClassCounts.from_text([(TEXTS, labels)]), TEXTS, labels)


def test_batches_may_bring_new_labels():
    texts = [f"word{i} shared" for i in range(9)]
    labels = list("hgfedcbaz")
    one_by_one = [([t], [y]) for t, y in zip(texts, labels, strict=True)]
    counts = count_batches(iter(one_by_one))
    assert_counts(counts, texts, labels)
    assert counts == count_batches(one_by_one[::-1])


def test_new_labels_in_sparse_tables(monkeypatch):
    texts = [f"word{i % 7} shared w{i}" for i in range(40)]
    labels = sorted(f"class {i % 13}" for i in range(40))
    batches = [(texts[i : i + 3], labels[i : i + 3]) for i in range(0, 40, 3)]
    dense = count_batches(batches)
    monkeypatch.setattr(_layout, "DENSE_CELLS", 0)
    counts = count_batches(batches)
    assert sparse.issparse(counts.feature_count)
    assert counts == count_batches([(texts, labels)])
    np.testing.assert_array_equal(counts.feature_count.toarray(), dense.feature_count)
    np.testing.assert_array_equal(counts.document_count.toarray(), dense.document_count)
    assert sum(count_batches([batch]) for batch in batches).n_classes == 13
    assert counts.feature_names == dense.feature_names


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.text("ab é中\0", max_size=12), st.integers(0, 5)), min_size=1
    ),
    st.lists(st.integers(0, 30), max_size=4),
    st.booleans(),
)
def test_the_cuts_between_batches_do_not_matter(rows, cuts, binary):
    texts, labels = [t for t, _ in rows], [y for _, y in rows]
    options = TextOptions(binary=binary, token_pattern=r"\w+")
    whole = count_batches([(texts, labels)], options)
    assert whole.kind == ("binary" if binary else "count")
    ends = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    batches = [(texts[a:b], labels[a:b]) for a, b in pairwise(ends)]
    assert count_batches(batches, options) == whole
    parts = [count_batches([batch], options) for batch in batches if batch[0]]
    assert sum(parts) == whole
    assert sum(parts[::-1]) == whole


def test_the_result_pickles():
    counts = ClassCounts.from_text([(TEXTS, LABELS)], ngram_range=(1, 2), n_jobs=1)
    assert pickle.loads(pickle.dumps(counts)) == counts


def test_no_rows_at_all_can_be_added_to_others():
    nothing = count_batches([])
    assert (nothing.n_classes, nothing.n_features) == (0, 0)
    some = count_batches([(TEXTS, LABELS)])
    assert nothing + some == some
    assert some + nothing == some


def test_known_classes_are_kept_and_others_refused():
    counts = ClassCounts.from_text(
        [(["a good film"], ["pos"])], classes=["pos", "neg", "so"]
    )
    assert counts.classes.tolist() == ["neg", "pos", "so"]
    assert counts.class_count.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"label 'other' is not one of the classes"):
        ClassCounts.from_text([(["a"], ["other"])], classes=["pos", "neg"])


@pytest.mark.parametrize("labels", [["a", 1], [True, 1], ["a", b"b"], [1, "1"]])
def test_labels_of_two_kinds_are_refused(labels):
    with pytest.raises(ValueError, match="Labels must"):
        ClassCounts.from_text([(["x y", "z"], labels)])
    with pytest.raises(ValueError, match="Labels must"):
        ClassCounts.from_text([(["x y"], labels[:1]), (["z"], labels[1:])])


@pytest.mark.parametrize("missing", [None, float("nan"), "NA"])
def test_missing_labels_and_texts(missing):
    if missing == "NA":
        missing = pytest.importorskip("pandas").NA
    batches = [
        (["one film", "two films"], ["a", "b"]),
        (["three films", missing, "four", None], [missing, "a", "b", missing]),
    ]
    with pytest.raises(ValueError, match=r"^Row 0 of batch 1 has no label.*'skip'"):
        ClassCounts.from_text(batches)
    with pytest.raises(ValueError, match=r"^Row 1 of batch 1 has no text.*'skip'"):
        ClassCounts.from_text([batches[0], (["x", None], ["a", "b"])])
    with pytest.warns(BadRowsWarning, match="^3 bad rows were left out") as caught:
        counts = ClassCounts.from_text(batches, on_bad_rows="skip")
    assert len(caught) == 1
    assert_counts(counts, ["one film", "two films", "four"], ["a", "b", "b"])


def test_bytes_that_are_not_text():
    texts = [b"good film", b"bad \xff film"]
    with pytest.raises(ValueError, match="row 1"):
        ClassCounts.from_text([(texts, [0, 1])])
    with pytest.warns(BadRowsWarning, match="^1 bad row .*not valid UTF-8"):
        counts = ClassCounts.from_text([(texts, [0, 1])], on_bad_rows="skip")
    assert counts.class_count.tolist() == [1, 0]


def test_wrong_settings_are_refused_before_anything_is_read():
    def batches():
        raise AssertionError("read")
        yield

    with pytest.raises(ValueError, match="on_bad_rows"):
        ClassCounts.from_text(batches(), on_bad_rows="drop")
    for settings_, match in (
        ({"n_jobs": 0}, "n_jobs"),
        ({"memory_budget": 0}, "memory_budget"),
        ({"min_df": 2.0}, "min_df"),
        ({"min_df": 0}, "'min_df' must be a number of documents"),
        ({"max_df": 0}, "'max_df' must be a number of documents"),
        ({"max_features": 0}, "max_features"),
        ({"stop_words": "french"}, "stop_words"),
        ({"analyzer": "line"}, "analyzer"),
        ({"min_df": 3, "max_df": 2}, "max_df"),
        ({"classes": []}, "classes"),
        ({"tfidf": True}, "read once"),
        ({"checkpoint": "x"}, "needs files"),
    ):
        with pytest.raises(ValueError, match=match):
            ClassCounts.from_text(batches(), **settings_)
    with pytest.raises(ValueError, match="2 labels for 1 texts"):
        ClassCounts.from_text([(["a"], [1, 2])])


# --------------------------------------------------------------------------- sources


def frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    data = {"other": range(6), "text": TEXTS, "label": LABELS}
    table = pa.table(data)
    return {
        "pandas": pandas.DataFrame(data),
        "polars": polars.DataFrame(data),
        "lazy": polars.LazyFrame(data),
        "arrow": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(max_chunksize=2),
        "categorical": pandas.DataFrame(data).astype({"label": "category"}),
        "views": table.cast(
            pa.schema(
                [
                    ("other", pa.int64()),
                    ("text", pa.large_string()),
                    ("label", pa.dictionary(pa.int8(), pa.string())),
                ]
            )
        ),
        "dataset": __import__("pyarrow.dataset").dataset.dataset(table),
        "tables": [table[:2], table[2:]],
        "generator": (table[i : i + 1] for i in range(6)),
        "pairs": [(TEXTS[:4], LABELS[:4]), (tuple(TEXTS[4:]), np.array(LABELS[4:]))],
        "generated pairs": ((t, y) for t, y in [(iter(TEXTS), LABELS)]),
    }


@pytest.mark.parametrize("name", list("ab"))
def test_tables_with_a_missing_column(name):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": TEXTS, "Label": LABELS})
    with pytest.raises(ValueError, match=r"no column 'label'.*Did you mean 'Label'\?"):
        ClassCounts.from_text(table if name == "a" else [table])
    with pytest.raises(ValueError, match=r"no column 'zzz' in the table.*'Label'\.$"):
        ClassCounts.from_text(table, "text", "zzz")


@pytest.mark.parametrize(
    "name",
    [
        "pandas",
        "polars",
        "lazy",
        "arrow",
        "batch",
        "reader",
        "categorical",
        "views",
        "dataset",
        "tables",
        "generator",
        "pairs",
        "generated pairs",
    ],
)
def test_tables_and_batches(name):
    assert_counts(ClassCounts.from_text(frames()[name]), TEXTS, LABELS)


def test_a_table_with_missing_values():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["x film", None, "y film"], "label": [1, 2, None]})
    with pytest.raises(ValueError, match="Row 2 has no label"):
        ClassCounts.from_text(table)
    with pytest.warns(BadRowsWarning, match="^2 bad rows"):
        counts = ClassCounts.from_text(table, on_bad_rows="skip")
    assert counts.class_count.tolist() == [1, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2), "stop_words": "english"},
        {"binary": True, "min_df": 2},
        {"max_df": 0.5, "lowercase": False},
        {"max_features": 3},
        {"analyzer": "char_wb", "ngram_range": (2, 3), "strip_accents": "unicode"},
        {"token_pattern": r"[a-z]+", "stop_words": {"film"}},
    ],
)
def test_the_options_of_count_vectorizer(options):
    counts = ClassCounts.from_text([(TEXTS, LABELS)], **options)
    if isinstance(options.get("stop_words"), set):
        options = {**options, "stop_words": sorted(options["stop_words"])}
    assert_counts(counts, TEXTS, LABELS, CountVectorizer(**options))
    assert counts.kind == ("binary" if options.get("binary") else "count")


def test_tf_idf_sums_by_a_second_scan():
    batches = [(TEXTS[:2], LABELS[:2]), (TEXTS[2:], LABELS[2:])]
    counts = ClassCounts.from_text(batches, tfidf=True, min_df=2)
    assert_counts(counts, TEXTS, LABELS, TfidfVectorizer(min_df=2))
    pairs = [([*TEXTS, None], [*LABELS, "pos"])]
    with pytest.warns(BadRowsWarning, match="^1 bad row"):
        counts = ClassCounts.from_text(pairs, tfidf=True, on_bad_rows="skip")
    assert_counts(counts, TEXTS, LABELS, TfidfVectorizer())
    with pytest.raises(ValueError, match="read once"):
        ClassCounts.from_text(iter(batches), tfidf=True)


@pytest.mark.parametrize("source", [3, None, [3], [("only texts",)], [("a b", "x")]])
def test_sources_that_are_none(source):
    with pytest.raises((TypeError, ValueError), match=r"source|batch"):
        ClassCounts.from_text(source)


def test_nothing_to_count_is_an_error():
    with pytest.raises(ValueError, match="at least one row"):
        ClassCounts.from_text([([], [])])
    with pytest.raises(ValueError, match="at least one row"):
        ClassCounts.from_text([])
    with pytest.raises(ValueError, match="at least one term"):
        ClassCounts.from_text([(["a b", ""], [1, 2])])


def test_saved_counts_are_merged_in_any_order(tmp_path):
    paths = []
    for i in range(6):
        count_batches([(TEXTS[i : i + 1], LABELS[i : i + 1])]).save(tmp_path / f"{i}")
        paths.append(tmp_path / f"{i}")
    merged = merge_saved(paths)
    assert_counts(merged, TEXTS, LABELS)
    assert merge_saved(reversed(paths)) == merged
    with pytest.raises(ValueError, match="once"):
        merge_saved([*paths, paths[0]])
    with pytest.raises(ValueError, match="at least one"):
        merge_saved([])
