"""Which classes can be saved, and which of their attributes: the whole list.

Nothing outside these tables is ever written, and a file can name nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bayesieve.counts._mixed import LevelCounts, ValueMoments
from bayesieve.feature_selection import (
    FDRScreener,
    L0Screener,
    L1Screener,
    MixedScreener,
    NaiveFeatureSelector,
    PearsonScreener,
)
from bayesieve.naive_bayes import (
    AveragedNB,
    SelectiveBernoulliNB,
    SelectiveBernoulliNBCV,
    SelectiveMultinomialNB,
    SelectiveMultinomialNBCV,
    SelectiveNB,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    SparseTextNB,
)
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.persistence._kinds import (
    Booleans,
    CertificateKind,
    Counts,
    Floats,
    Indices,
    Integers,
    Kind,
    Labels,
    Names,
    Number,
    Plain,
    Table,
    Text,
    WeightPathKind,
)
from bayesieve.persistence._mixed import MixedColumns
from bayesieve.persistence._partitions import (
    Partitions,
    ReaderKind,
    named_partitions,
)
from bayesieve.preprocessing import MODLEncoder
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames

__all__ = ["FORMATS", "ModelFormat", "format_of"]

Values = dict[str, Any]


def _attributes_of(model: Any, names: list[str]) -> Values:
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def _set_attributes(model: Any, values: Values) -> None:
    for name, value in values.items():
        setattr(model, name, value)


@dataclass(frozen=True)
class ModelFormat:
    """How the fitted attributes of one class are written and read.

    Attributes
    ----------
    model : type
    attributes : dict of str to Kind
        In the order in which they are read: sizes before what is checked by them.
    optional : frozenset of str
        Attributes that are there after some ways of fitting only.
    gather : callable
        ``gather(model, names)`` returns what is to be written.
    restore : callable
        ``restore(model, values)`` sets what was read.
    """

    model: type
    attributes: dict[str, Kind]
    optional: frozenset[str] = frozenset()
    gather: Callable[[Any, list[str]], Values] = _attributes_of
    restore: Callable[[Any, Values], None] = _set_attributes


# -------------------------------------------------------------- estimators on counts

_COUNTING: dict[str, Kind] = {
    "n_features_in_": Number(int, "m"),
    "feature_names_in_": Names("m"),
    "classes_": Labels("C"),
    "support_indices_": Indices("k", "m"),
    "k_": Number(int, "k"),
    "counts_": Counts("m"),
    "_counted_with": Plain(),
}
_COUNTING_OPTIONAL = frozenset({"feature_names_in_", "counts_", "_counted_with"})
_SPARSE: dict[str, Kind] = {
    **_COUNTING,
    "class_count_": Floats("C", domain="counts"),
    "class_log_prior_": Floats("C", domain="logs"),
    "certificate_": CertificateKind(),
    "support_gains_": Floats("k", domain="known"),
}
_PRESENCE: dict[str, Kind] = {
    "feature_log_prob_": Floats("C", "k", domain="logs"),
    "_absent_log_prob": Floats("C", "k", domain="logs"),
}
_CHOSEN: dict[str, Kind] = {
    "alpha_": Number(domain="counts"),
    "k_best_": Number(int),
    "k_1se_": Number(int),
    "best_score_": Number(),
    "cv_results_": Table(),
}


def _set_counting(model: Any, values: Values) -> None:
    _set_attributes(model, values)
    counts = values.get("counts_")
    if counts is not None and counts.kind != model._count_kind():
        raise ValueError(f"'counts_' is of kind {counts.kind!r}")


def _sparse(model: type, own: dict[str, Kind], *optional: str) -> ModelFormat:
    return ModelFormat(
        model,
        {**_SPARSE, **own},
        _COUNTING_OPTIONAL | set(optional),
        restore=_set_counting,
    )


def _gather_categorical(model: Any, names: list[str]) -> Values:
    values = _attributes_of(model, names)
    empty = np.zeros((model.classes_.shape[0], 0))
    values["feature_log_prob_"] = np.hstack([empty, *model.feature_log_prob_])
    return values


def _set_categorical(model: Any, values: Values) -> None:
    sizes, table = values["n_categories_"], values["feature_log_prob_"]
    if (sizes < 1).any() or sum(sizes.tolist()) != table.shape[1]:
        raise ValueError("'n_categories_' does not add up to 'feature_log_prob_'")
    split = np.split(table, np.cumsum(sizes)[:-1], axis=1) if sizes.size else []
    _set_counting(model, values | {"feature_log_prob_": split})


#: With ``weights=True`` all of these are there, else none.
_TEXT_WEIGHTS: dict[str, Kind] = {
    "weights_": Floats("k", domain="counts"),
    "_start": Floats("C", domain="logs"),
    "lambda_": Number(domain="known"),
    "dual_gap_": Number(),
    "path_": WeightPathKind(),
}


def _gather_text(model: Any, names: list[str]) -> Values:
    options = asdict(model._options)
    return _attributes_of(model, names) | {"_options": options}


def _set_text(model: Any, values: Values) -> None:
    options = TextOptions(**values["_options"])
    if options.ngram_range[1] >= 2**31:
        raise ValueError("'_options' asks for n-grams that no text has")
    names = values["_names"]
    if not isinstance(names, TermNames) or not names.is_sorted:
        raise ValueError("'_names' must be packed, distinct and sorted")
    if 0 < len(_TEXT_WEIGHTS.keys() & values.keys()) < len(_TEXT_WEIGHTS):
        raise ValueError("'weights_' lacks what belongs to it")
    terms = values["_names"].tolist()
    derived = {
        "_options": options,
        "_matcher": None,
        "text_options_": options.vectorizer(),
        "support_terms_": terms,
        "vocabulary_": {term: i for i, term in enumerate(terms)},
    }
    _set_counting(model, values | derived)


# --------------------------------------------------------------------------- selectors

_SCREENED: dict[str, Kind] = {
    **_COUNTING,
    "scores_": Floats("m", domain="known"),
    "_small_counts": Counts("m"),
}


def _gather_screener(model: Any, names: list[str]) -> Values:
    values = _attributes_of(model, names)
    # The same counts are not written twice, and None is not written at all.
    if values.get("_small_counts") is None or "counts_" in values:
        values.pop("_small_counts", None)
    if values.get("_penalty", 0.0) is None:
        del values["_penalty"]
    return values


def _set_selector(model: Any, values: Values) -> None:
    mask = np.zeros(model_width(values), dtype=bool)
    mask[values["support_indices_"]] = True
    _set_counting(model, values | {"support_": mask})


def _set_screener(model: Any, values: Values) -> None:
    small = values.get("_small_counts", values.get("counts_"))
    if small is not None and small.kind != "binary":
        raise ValueError(f"'_small_counts' is of kind {small.kind!r}")
    values = values | {"_small_counts": small}
    if isinstance(model, L1Screener):
        values.setdefault("_penalty", None)
    _set_selector(model, values)


def model_width(values: Values) -> int:
    """Number of features; the scores are as long, so the file has that many numbers."""
    return int(values["scores_"].shape[0])


def _screener(model: type, own: dict[str, Kind], *optional: str) -> ModelFormat:
    return ModelFormat(
        model,
        {**_SCREENED, **own},
        _COUNTING_OPTIONAL | {"_small_counts", *optional},
        gather=_gather_screener,
        restore=_set_screener,
    )


def _set_mixed(model: Any, values: Values) -> None:
    columns = values["_columns"]
    kinds = [
        "continuous" if isinstance(c, ValueMoments) else "categorical" for c in columns
    ]
    mask = np.zeros(len(columns), dtype=bool)
    mask[values["support_indices_"]] = True
    derived = {
        "kinds_": np.array(kinds),
        "support_": mask,
        "levels_": [
            list(c.levels) if isinstance(c, LevelCounts) else None for c in columns
        ],
    }
    _set_attributes(model, values | derived)


# ----------------------------------------------------------- weights on wide matrices

_WIDE: dict[str, Kind] = {
    "n_features_in_": Number(int, "m"),
    "feature_names_in_": Names("m"),
    "classes_": Labels("C"),
    "class_count_": Floats("C", domain="counts"),
    "class_log_prior_": Floats("C", domain="logs"),
    "class_intercept_": Floats("C", domain="logs"),
    "support_indices_": Indices("k", "m"),
    "k_": Number(int, "k"),
    "_support_weights": Floats("k", domain="counts"),
    "weights_": Floats("m", domain="counts"),
    "feature_log_prob_": Floats("C", "k", domain="logs"),
    "_weighted_slope": Floats("k", "C"),
    "_weighted_offset": Floats("k", "C"),
    "_importances": Floats("k"),
    "lambda_": Number(domain="known"),
    "relaxation_": Number(domain="finite"),
    "dual_gap_": Number(),
    "path_": WeightPathKind(),
    "certificate_": CertificateKind(),
    "n_candidates_": Number(int),
    "stopped_": Text(),
    "n_iter_": Number(int),
}
_WIDE_OPTIONAL = frozenset(
    {"feature_names_in_", "_support_weights", "weights_", "_weighted_offset"}
)
_WIDE_CV: dict[str, Kind] = {
    "lambda_best_": Number(),
    "lambda_1se_": Number(),
    "best_score_": Number(),
    "cv_results_": Table(),
    "cv_stopped_": Text(),
}


def _gather_wide(model: Any, names: list[str]) -> Values:
    return _attributes_of(model, [name for name in names if name != "weights_"])


def _set_wide(model: Any, values: Values) -> None:
    values = {"_weighted_offset": None} | values
    if "_support_weights" not in values:  # files of version 0.1 with many features
        values["_support_weights"] = values["weights_"][values["support_indices_"]]
    values.pop("weights_", None)
    _set_attributes(model, values)


def _wide(model: type, own: dict[str, Kind]) -> ModelFormat:
    attributes = {**_WIDE, **own}
    return ModelFormat(model, attributes, _WIDE_OPTIONAL, _gather_wide, _set_wide)


# ------------------------------------------------------------------------ mixed tables

_TABLE: dict[str, Kind] = {
    "n_features_in_": Number(int, "m"),
    "feature_names_in_": Names("m"),
    "classes_": Labels("C"),
    "class_count_": Floats("C", domain="counts"),
    "levels_": Floats("m", domain="any"),
    "_reader": ReaderKind(),
    "partitions_": Partitions(),
}
_WEIGHTED: dict[str, Kind] = {
    **_TABLE,
    "class_log_prior_": Floats("C", domain="logs"),
    "weights_": Floats("m", domain="counts"),
    "_used_tables": Floats("used parts", "C", domain="logs"),
}
_SEARCHED: dict[str, Kind] = {
    "criterion_": Number(),
    "history_": Floats("points", 4, domain="any"),
    "n_iter_": Number(int),
    "stopped_": Text(),
    "drifts_": Integers("drifts"),
    "n_rows_seen_": Number(int),
}
# Ready-made log-likelihoods: n_features_in_ is the number of columns times classes.
_READY_MADE: dict[str, Kind] = {
    "n_features_in_": Number(int, "m"),
    "feature_names_in_": Names("m"),
    "classes_": Labels("C"),
    "class_count_": Floats("C", domain="counts"),
    "class_log_prior_": Floats("C", domain="logs"),
    "weights_": Floats("columns", domain="counts"),
    "levels_": Floats("columns", domain="any"),
    "_term_sizes": Floats("columns", domain="known"),
    **_SEARCHED,
}
_SEARCHED_OPTIONAL = frozenset({"feature_names_in_", "n_rows_seen_"})


def _set_table(model: Any, values: Values) -> None:
    reader, stored = values["_reader"], values["partitions_"]
    grouped = [isinstance(own.parts, ValueGrouping) for own in stored]
    if grouped != reader.categorical.tolist():
        raise ValueError("'partitions_' and '_reader' differ in what columns are")
    if not values["class_count_"].any():
        raise ValueError("'class_count_' does not hold counts")
    model.n_features_in_ = values["n_features_in_"]
    if "feature_names_in_" in values:
        model.feature_names_in_ = values["feature_names_in_"]
        reader.names = [f"column {n!r}" for n in values["feature_names_in_"]]
    else:
        reader.names = [f"column {j}" for j in range(len(stored))]
    partitions = named_partitions(
        stored, model._column_names(), values["classes_"], reader
    )
    _set_attributes(model, values | {"partitions_": partitions})


def _gather_weighted(model: Any, names: list[str]) -> Values:
    values = _attributes_of(model, names)
    if "_used_tables" in names:
        empty = np.zeros((0, model.classes_.shape[0]))
        values["_used_tables"] = np.vstack([empty, *model._used_tables])
    if getattr(model, "_stream", None) is not None:
        values["partitions_"] = _stream_partitions(model)
    return values


def _stream_partitions(model: Any) -> list[ColumnPartition]:
    """Partitions of a stream with the values it has met since they were made."""
    found = []
    for partition, bins in zip(model.partitions_, model._stream.bins, strict=True):
        parts = partition.parts
        if isinstance(parts, ValueGrouping):
            values = tuple(bins.row)
            new = np.full(len(values) - len(partition.values), parts.default_group)
            partition = replace(
                partition,
                parts=replace(parts, group=np.concatenate([parts.group, new])),
                values=values,
                value_counts=bins.counts[1:].copy(),
            )
        found.append(partition)
    return found


def _set_weighted(model: Any, values: Values) -> None:
    values = dict(values)
    if "drifts_" in values:
        values["drifts_"] = values["drifts_"].tolist()
    if "partitions_" not in values:  # ready-made log-likelihoods
        _set_attributes(model, values | {"partitions_": []})
        return
    tables = values.pop("_used_tables")
    used = np.flatnonzero(values["weights_"])
    sizes = [values["partitions_"][j].parts.n_parts for j in used]
    if sum(sizes) != tables.shape[0]:
        raise ValueError("'_used_tables' does not fit 'partitions_'")
    split = np.split(tables, np.cumsum(sizes)[:-1]) if sizes else []
    _set_table(model, values | {"_used_tables": split})


_TABLE_FORMAT = ModelFormat(
    SelectiveNB,
    {**_WEIGHTED, **_SEARCHED},
    _SEARCHED_OPTIONAL,
    gather=_gather_weighted,
    restore=_set_weighted,
)
_READY_MADE_FORMAT = replace(_TABLE_FORMAT, attributes=_READY_MADE)

_FORMATS = [
    _sparse(
        SparseMultinomialNB, {"feature_log_prob_": Floats("C", "k", domain="logs")}
    ),
    _sparse(SparseBernoulliNB, _PRESENCE),
    _sparse(
        SparseMultinomialNBCV,
        {"feature_log_prob_": Floats("C", "k", domain="logs"), **_CHOSEN},
    ),
    _sparse(SparseBernoulliNBCV, {**_PRESENCE, **_CHOSEN}),
    _sparse(
        SparseGaussianNB,
        {
            "theta_": Floats("C", "k"),
            "var_": Floats("C", "k", domain="counts"),
            "epsilon_": Number(domain="counts"),
        },
    ),
    replace(
        _sparse(
            SparseCategoricalNB,
            {
                "n_categories_": Integers("k"),
                "feature_log_prob_": Floats("C", "categories", domain="logs"),
            },
        ),
        gather=_gather_categorical,
        restore=_set_categorical,
    ),
    replace(
        _sparse(
            SparseTextNB,
            {
                **_PRESENCE,
                "_names": Names("k"),
                "_options": Plain(),
                "document_frequency_": Floats("k", domain="counts"),
                "counts_": Counts(None),  # rare terms are among them
                **_TEXT_WEIGHTS,
            },
            "document_frequency_",
            *_TEXT_WEIGHTS,
        ),
        gather=_gather_text,
        restore=_set_text,
    ),
    ModelFormat(
        NaiveFeatureSelector,
        {
            **_COUNTING,
            "scores_": Floats("m", domain="known"),
            "certificate_": CertificateKind(),
            "refined_": Number(bool),
        },
        _COUNTING_OPTIONAL,
        restore=_set_selector,
    ),
    _screener(L0Screener, {"bic_threshold_": Number(domain="known")}),
    _screener(
        L1Screener,
        {
            "_penalty": Number(domain="known"),
            "_size": Number(int),
            "cv_results_": Table(),
        },
        "_penalty",
        "_size",
        "cv_results_",
    ),
    _screener(PearsonScreener, {}),
    _screener(
        FDRScreener,
        {"pvalues_": Floats("m", domain="counts"), "low_count_": Booleans("m")},
    ),
    ModelFormat(
        MixedScreener,
        {
            "n_features_in_": Number(int, "m"),
            "feature_names_in_": Names("m"),
            "classes_": Labels("C"),
            "_columns": MixedColumns(),
            "_class_count": Floats("C", domain="counts"),
            "support_indices_": Indices("k", "m"),
            "k_": Number(int, "k"),
            "scores_": Floats("m", domain="known"),
            "gains_": Floats("m", domain="known"),
            "degrees_of_freedom_": Floats("m", domain="counts"),
        },
        frozenset({"feature_names_in_"}),
        restore=_set_mixed,
    ),
    ModelFormat(
        AveragedNB,
        {**_WEIGHTED, "map_support_": Booleans("m"), "criterion_": Number()},
        frozenset({"feature_names_in_"}),
        gather=_gather_weighted,
        restore=_set_weighted,
    ),
    ModelFormat(
        MODLEncoder,
        {
            **_TABLE,
            "costs_": Floats("m", 3, domain="known"),
            "null_cost_": Number(domain="known"),
        },
        frozenset({"feature_names_in_"}),
        gather=_gather_weighted,
        restore=_set_table,
    ),
    _TABLE_FORMAT,
    _wide(SelectiveMultinomialNB, {}),
    _wide(SelectiveBernoulliNB, {}),
    _wide(SelectiveMultinomialNBCV, _WIDE_CV),
    _wide(SelectiveBernoulliNBCV, _WIDE_CV),
]

#: Class name to its format.
FORMATS: dict[str, ModelFormat] = {own.model.__name__: own for own in _FORMATS}


def format_of(model: Any) -> ModelFormat:
    """Return how a model is written; `SelectiveNB` has two ways."""
    if isinstance(model, SelectiveNB) and model.input == "log_likelihood":
        return _READY_MADE_FORMAT
    return FORMATS[type(model).__name__]
