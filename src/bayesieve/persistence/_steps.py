"""The steps of scikit-learn that a file can hold, and what is written of each.

A step is its parameters and plain fitted arrays. What a step holds beside these, be it
a function or an attribute of another version of scikit-learn, is refused when it is
saved, so that a file is never half of a model. Attributes that follow from others are
made anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from sklearn import feature_selection
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from bayesieve import baselines
from bayesieve._description import Saved
from bayesieve.counts._storage import RefusedError
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._kinds import Arrays
from bayesieve.persistence._own import packed_value, read_attributes
from bayesieve.persistence._step_kinds import (
    STEP_KINDS,
    is_nan,
    packed_terms,
    read_terms,
    vocabulary_of,
)
from bayesieve.persistence._values import unpack_plain

__all__ = ["RUN_ONLY", "STEPS", "VECTORIZERS", "pack_step", "read_step"]

#: Parameters that say how a step runs and not what it computes: they belong to the
#: machine, and a file does not say them.
RUN_ONLY = frozenset({"n_jobs", "verbose", "memory"})
#: Fitted attributes that are neither written nor missed.
_PASSING = frozenset({"_sklearn_output_config", "_stop_words_id"})
_SCORES: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(feature_selection, name)
        for name in (
            *("chi2", "f_classif", "f_regression", "mutual_info_classif"),
            *("mutual_info_regression", "r_regression"),
        )
    },
    "thresholded_nb": baselines.thresholded_nb,
    "odds_ratio": baselines.odds_ratio,
}
_DTYPE = re.compile(r"bool|u?int(8|16|32|64)|float(32|64)")
_COLUMNS = {
    "n_features_in_": Saved("int", "m"),
    "feature_names_in_": Saved("names", "m", optional=True),
}
_SEEN = {"n_samples_seen_": Saved("number or numbers", "m")}


class UnsavedError(ValueError):
    """What a step holds that a file cannot; the message follows the step's name."""


def _nothing(step: Any) -> None:
    pass


@dataclass(frozen=True)
class StepClass:
    """A class of scikit-learn, and what is written of its objects.

    Attributes
    ----------
    of : type
    saved : dict of str to Saved
    derived : tuple of str
        Attributes that `settle` makes again.
    nones : tuple of str
        Attributes that are None where they are not written.
    needed : dict of str to str
        Attributes that must be there if a parameter is true.
    refuse : callable
        Raises `UnsavedError` for settings that are not kept.
    settle : callable
        Checks a step that was read, and adds what follows from its attributes.
    more : callable
        Further values to write, by the names of `saved`.
    """

    of: type
    saved: dict[str, Saved] = field(default_factory=dict)
    derived: tuple[str, ...] = ()
    nones: tuple[str, ...] = ()
    needed: dict[str, str] = field(default_factory=dict)
    refuse: Callable[[Any], None] = _nothing
    settle: Callable[[Any], None] = _nothing
    more: Callable[[Any], dict[str, Any]] = lambda step: {}


def pack_step(step: Any, arrays: Arrays) -> dict[str, Any]:
    """Return a fitted step as JSON; its arrays are added."""
    kept = STEPS[type(step).__name__]
    own, known = vars(step), step.get_params(deep=False)
    kept.refuse(step)
    parameters = {
        name: _packed_parameter(step, name, value, arrays)
        for name, value in known.items()
        if name not in RUN_ONLY
    }
    extra = own.keys() - known.keys() - kept.saved.keys()
    extra -= {*_PASSING, *kept.derived, *kept.nones}
    if extra:
        raise UnsavedError(
            f"this version of scikit-learn gives it {min(extra)!r}, which no file holds"
        )
    values, packed = {**own, **kept.more(step)}, {}
    for name, declared in kept.saved.items():
        value = values.get(name)
        if value is not None:
            try:
                packed[name] = STEP_KINDS[declared.kind](declared).put(
                    name, value, arrays
                )
            except TypeError as error:
                raise UnsavedError(f"{name!r} holds {error}") from None
        elif not declared.optional:
            raise NotFittedError(
                f"This {type(step).__name__} is not fitted: it has no {name}."
            )
    return {
        "class": type(step).__name__,
        "parameters": parameters,
        "attributes": packed,
    }


def _packed_parameter(step: Any, name: str, value: Any, arrays: Arrays) -> Any:
    if name == "dtype" and value is not None:
        found = np.dtype(value).name
        if _DTYPE.fullmatch(found) is None:
            raise UnsavedError(f"its 'dtype' is {found}, which is none of numbers")
        return found
    if name == "score_func":
        known = {function: own for own, function in _SCORES.items()}
        if value not in known:
            raise UnsavedError(
                "its 'score_func' must be one of sklearn.feature_selection or "
                f"bayesieve.baselines. Got {getattr(value, '__name__', 'an object')!r}"
            )
        return known[value]
    if name == "vocabulary" and value is not None:
        kind = "dict" if isinstance(value, dict) else "list"
        try:
            packed_terms(f"parameters.{name}", value, arrays)
        except (TypeError, ValueError, IndexError) as error:
            raise UnsavedError(f"its 'vocabulary' holds {error}") from None
        return kind
    if callable(value):
        raise UnsavedError(f"its {name!r} parameter is a function, which no file holds")
    return packed_value(step, name, value, arrays)


def read_step(node: dict[str, Any], archive: ModelArchive) -> Any:
    """Undo `pack_step`."""
    owner = node["class"]
    kept = STEPS[owner]
    entries = node.get("parameters")
    known = kept.of().get_params(deep=False).keys() - RUN_ONLY
    if not isinstance(entries, dict) or not entries.keys() <= known:
        raise RefusedError(f"has parameters that a {owner} does not have.")
    given = {
        name: _read_parameter(name, entry, archive) for name, entry in entries.items()
    }
    step = kept.of(**given)
    step._validate_params()
    values = read_attributes(
        owner, kept.saved, node.get("attributes"), archive, STEP_KINDS
    )
    for name in kept.nones:
        setattr(step, name, None)
    for name, value in values.items():
        setattr(step, name, value)
    for name, parameter in kept.needed.items():
        if getattr(step, parameter) and getattr(step, name, None) is None:
            raise RefusedError(f"lacks {name!r} of its {owner}.")
    kept.settle(step)
    return step


def _read_parameter(name: str, entry: Any, archive: ModelArchive) -> Any:
    place = f"parameters.{name}"
    if name == "dtype" and entry is not None:
        if not isinstance(entry, str) or _DTYPE.fullmatch(entry) is None:
            raise ValueError("'dtype' is not the name of a dtype")
        return np.dtype(entry).type
    if name == "score_func":
        return _SCORES[entry]
    if name == "vocabulary" and entry is not None:
        terms = read_terms(place, archive)
        if entry not in ("dict", "list"):
            raise ValueError("'vocabulary' is neither a list nor a mapping")
        found = vocabulary_of(terms, name)
        return found if entry == "dict" else terms
    return unpack_plain(entry, place, archive)


# ------------------------------------------------------------------------------- texts


def _check_reads_texts(step: Any) -> None:
    if step.input != "content":
        raise UnsavedError(f"its 'input' must be 'content'. Got {step.input!r}")


def _settle_vectorizer(step: Any) -> None:
    _check_reads_texts(step)
    bounds = step.ngram_range
    if len(bounds) != 2 or not all(type(n) is int and n > 0 for n in bounds):
        raise ValueError("'ngram_range' is not two sizes")
    # The fit has looked at them, and would warn of what it found each time anew.
    step._stop_words_id = id(step.stop_words)
    if isinstance(step.stop_words, list | set | frozenset) and not all(
        isinstance(word, str) for word in step.stop_words
    ):
        raise ValueError("'stop_words' are not strings")
    step.build_analyzer()("a word")  # patterns and stop words that cannot be used


def _settle_hashing(step: Any) -> None:
    _settle_vectorizer(step)
    if np.dtype(step.dtype).name not in ("float32", "float64", "int32", "int64"):
        raise ValueError("'dtype' is none that hashes are counted in")


def _inner_tfidf(step: Any) -> dict[str, Any]:
    inner = vars(step).get("_tfidf")
    return {"idf_": None if inner is None else vars(inner).get("idf_")}


def _settle_tfidf_vectorizer(step: Any) -> None:
    _settle_vectorizer(step)
    names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
    inner = TfidfTransformer(**{name: getattr(step, name) for name in names})
    inner.n_features_in_ = len(step.vocabulary_)
    found = _inner_tfidf(step)["idf_"]
    if step.use_idf:
        if found is None:
            raise RefusedError("lacks 'idf_' of its TfidfVectorizer.")
        inner.idf_ = found
    step._tfidf = inner


# ------------------------------------------------------------------------- categories


def _check_no_rare(step: Any) -> None:
    if getattr(step, "_infrequent_enabled", False):
        raise UnsavedError("it puts rare categories together, which no file holds")


def _dropped(step: Any) -> dict[str, Any]:
    found = vars(step).get("drop_idx_")
    if found is None:
        return {}
    return {"drop_idx_": np.array([-1 if j is None else int(j) for j in found])}


def _settle_one_hot(step: Any) -> None:
    _settle_rare(step)
    sizes = [len(own) for own in step.categories_]
    drops = vars(step).get("drop_idx_")
    if (drops is None) != (step.drop is None):
        raise ValueError("'drop' and 'drop_idx_' do not fit together")
    if drops is not None:
        if not all(-1 <= j < n for j, n in zip(drops.tolist(), sizes, strict=True)):
            raise ValueError("'drop_idx_' is out of range")
        made = np.empty(drops.size, dtype=object)
        made[:] = [None if j < 0 else j for j in drops.tolist()]
        step.drop_idx_ = made
        sizes = [n - (j is not None) for j, n in zip(made, sizes, strict=True)]
    step._drop_idx_after_grouping = step.drop_idx_
    step._n_features_outs = sizes


def _settle_rare(step: Any) -> None:
    if step.min_frequency is not None or step.max_categories is not None:
        raise ValueError("rare categories are put together")
    step._infrequent_enabled = False


def _settle_ordinal(step: Any) -> None:
    _settle_rare(step)
    if step.handle_unknown == "use_encoded_value" and not (
        isinstance(step.unknown_value, Real) or is_nan(step.unknown_value)
    ):
        raise ValueError("'unknown_value' is not a number")
    step._missing_indices = {
        j: place
        for j, own in enumerate(step.categories_)
        for place, value in enumerate(own.tolist())
        if is_nan(value)
    }


def _encoder_dtype(step: Any) -> dict[str, Any]:
    encoder = vars(step).get("_encoder")
    return {} if encoder is None else {"_encoder_dtype": encoder.dtype}


def _settle_bins(step: Any) -> None:
    edges = [len(own) - 1 for own in step.bin_edges_]
    if edges != step.n_bins_.tolist():
        raise ValueError("'n_bins_' and 'bin_edges_' do not fit together")
    dtype = vars(step).pop("_encoder_dtype", None)
    if (step.encode == "ordinal") != (dtype is None):
        raise ValueError("'encode' does not fit the bins")
    if dtype is None:
        return
    if dtype.kind != "f":
        raise ValueError("'_encoder_dtype' is none of numbers")
    step._encoder = OneHotEncoder(
        categories=[np.arange(n) for n in edges],
        sparse_output=step.encode == "onehot",
        dtype=dtype,
    ).fit(np.zeros((1, len(edges))))


def _check_no_indicator(step: Any) -> None:
    if step.add_indicator:
        raise UnsavedError("it has add_indicator=True, which no file holds")


def _settle_imputer(step: Any) -> None:
    if step.add_indicator:
        raise ValueError("'add_indicator' is true")
    dtypes = [step._fit_dtype, getattr(step, "_fill_dtype", step._fit_dtype)]
    of_objects = step.statistics_.dtype.kind == "O"
    if any((own.kind == "O") != of_objects for own in dtypes):
        raise ValueError("'statistics_' does not fit the dtype of the columns")


def _settle_range(step: Any) -> None:
    limits = step.feature_range
    real = all(type(own) in (int, float) and own == own for own in limits)
    if len(limits) != 2 or not real or not limits[0] < limits[1]:
        raise ValueError("'feature_range' is not two numbers")


# --------------------------------------------------------------------------- the others


def _check_identity(step: Any) -> None:
    if step.func is not None or step.inverse_func is not None:
        raise UnsavedError("its function is code, which no file holds")


def _settle_identity(step: Any) -> None:
    if step.kw_args is not None or step.feature_names_out not in (None, "one-to-one"):
        raise ValueError("'kw_args' is not empty")


def _settle_linear(step: Any) -> None:
    n_classes = step.classes_.shape[0]
    if step.coef_.shape[0] != (1 if n_classes == 2 else n_classes):
        raise ValueError("'coef_' does not fit 'classes_'")


_TERMS = {
    "vocabulary_": Saved("vocabulary", "v"),
    "fixed_vocabulary_": Saved("bool"),
}
_SCORED = _COLUMNS | {
    "scores_": Saved("numbers", "m"),
    "pvalues_": Saved("numbers", "m", optional=True),
}
_ENCODED = _COLUMNS | {"categories_": Saved("categories", "m")}
_LINEAR = _COLUMNS | {
    "classes_": Saved("labels", "C"),
    "coef_": Saved("numbers", "r", "m"),
    "intercept_": Saved("number or numbers", "r"),
    "n_iter_": Saved("number or numbers", "i"),
}
_COUNTED = _COLUMNS | {
    "classes_": Saved("labels", "C"),
    "class_count_": Saved("numbers", "C"),
    "feature_count_": Saved("numbers", "C", "m"),
    "feature_log_prob_": Saved("numbers", "C", "m"),
    "class_log_prior_": Saved("numbers", "C"),
}

#: The steps of scikit-learn that can be saved, by the names of their classes.
STEPS: dict[str, StepClass] = {
    kept.of.__name__: kept
    for kept in (
        StepClass(
            CountVectorizer,
            _TERMS,
            refuse=_check_reads_texts,
            settle=_settle_vectorizer,
        ),
        StepClass(
            TfidfVectorizer,
            _TERMS | {"idf_": Saved("numbers", "v", optional=True)},
            derived=("_tfidf",),
            refuse=_check_reads_texts,
            settle=_settle_tfidf_vectorizer,
            more=_inner_tfidf,
        ),
        StepClass(HashingVectorizer, refuse=_check_reads_texts, settle=_settle_hashing),
        StepClass(
            TfidfTransformer,
            _COLUMNS | {"idf_": Saved("numbers", "m", optional=True)},
            needed={"idf_": "use_idf"},
        ),
        StepClass(
            StandardScaler,
            _COLUMNS
            | _SEEN
            | {
                name: Saved("numbers", "m", optional=True)
                for name in ("mean_", "var_", "scale_")
            },
            nones=("mean_", "var_", "scale_"),
            needed={"mean_": "with_mean", "scale_": "with_std"},
        ),
        StepClass(
            MinMaxScaler,
            _COLUMNS
            | _SEEN
            | {
                name: Saved("numbers", "m")
                for name in ("scale_", "min_", "data_min_", "data_max_", "data_range_")
            },
            settle=_settle_range,
        ),
        StepClass(
            MaxAbsScaler,
            _COLUMNS
            | _SEEN
            | {name: Saved("numbers", "m") for name in ("scale_", "max_abs_")},
        ),
        StepClass(
            RobustScaler,
            _COLUMNS
            | {
                name: Saved("numbers", "m", optional=True)
                for name in ("center_", "scale_")
            },
            nones=("center_", "scale_"),
            needed={"center_": "with_centering", "scale_": "with_scaling"},
        ),
        StepClass(Normalizer, _COLUMNS),
        StepClass(Binarizer, _COLUMNS),
        StepClass(
            SimpleImputer,
            _COLUMNS
            | {
                "statistics_": Saved("values", "m"),
                "_fit_dtype": Saved("dtype"),
                "_fill_dtype": Saved("dtype", optional=True),
            },
            nones=("indicator_",),
            refuse=_check_no_indicator,
            settle=_settle_imputer,
        ),
        StepClass(
            OneHotEncoder,
            _ENCODED | {"drop_idx_": Saved("integers", "m", optional=True)},
            derived=(
                "_drop_idx_after_grouping",
                "_infrequent_enabled",
                "_n_features_outs",
            ),
            nones=("drop_idx_",),
            refuse=_check_no_rare,
            settle=_settle_one_hot,
            more=_dropped,
        ),
        StepClass(
            OrdinalEncoder,
            _ENCODED,
            derived=("_infrequent_enabled", "_missing_indices"),
            refuse=_check_no_rare,
            settle=_settle_ordinal,
        ),
        StepClass(
            KBinsDiscretizer,
            _COLUMNS
            | {
                "bin_edges_": Saved("edges", "m"),
                "n_bins_": Saved("integers", "m"),
                "_encoder_dtype": Saved("dtype", optional=True),
            },
            derived=("_encoder",),
            settle=_settle_bins,
            more=_encoder_dtype,
        ),
        StepClass(
            feature_selection.VarianceThreshold,
            _COLUMNS | {"variances_": Saved("numbers", "m")},
        ),
        StepClass(feature_selection.SelectKBest, _SCORED, nones=("pvalues_",)),
        StepClass(feature_selection.SelectPercentile, _SCORED, nones=("pvalues_",)),
        StepClass(
            FunctionTransformer,
            {name: _COLUMNS[name] for name in _COLUMNS},
            refuse=_check_identity,
            settle=_settle_identity,
        ),
        StepClass(LogisticRegression, _LINEAR, settle=_settle_linear),
        StepClass(LinearSVC, _LINEAR, settle=_settle_linear),
        StepClass(MultinomialNB, _COUNTED),
        StepClass(BernoulliNB, _COUNTED),
        StepClass(ComplementNB, _COUNTED | {"feature_all_": Saved("numbers", "m")}),
    )
}
#: Those whose rows are texts.
VECTORIZERS = (CountVectorizer, HashingVectorizer)
