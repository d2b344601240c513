"""Prepared folds of the weighted naive Bayes studies, and the options they share.

The preparation (MODL, inside each fold) is learned once; every way to find the weights
then works on the same part indexes. There are ten folds, of which a
study may take the first few.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from ledger import Ledger
from probability_scores import all_classes, stratified_folds
from study_run import names_of, study_parser
from uci_generators import GENERATORS, read_set
from uci_sets import NAMES, available

from bayesieve import MODLEncoder
from bayesieve.preprocessing._prepare import log_likelihood_tables
from bayesieve.weights import (
    AveragedResult,
    Averaging,
    PartTerms,
    SubsetProblem,
    WeightProblem,
    compression_rate_of,
    feature_costs,
)

SEED = 20110601
FOLDS = 10
ALL_SETS = (*NAMES, *GENERATORS)
QUICK_SETS = ("iris", "heart", "glass", "segmentation", "waveform_noise")
QUICK_FOLDS = 2


@dataclass(frozen=True)
class Fold:
    """One fold: its rows, and its informative variables as part indexes.

    `number` seeds whatever is random, so that methods which begin alike stay alike.
    """

    number: int
    train: np.ndarray
    test: np.ndarray
    y: np.ndarray
    encoder: MODLEncoder
    informative: np.ndarray
    train_terms: PartTerms
    test_terms: PartTerms

    @property
    def n_train(self) -> int:
        """Training rows, N of the criterion."""
        return int(self.train.shape[0])

    @cached_property
    def codes(self) -> np.ndarray:
        """Training labels as places in the encoder's classes."""
        return np.searchsorted(self.encoder.classes_, self.y[self.train])

    @cached_property
    def log_prior(self) -> np.ndarray:
        """Logarithm of the class shares of the training rows."""
        return np.log(self.encoder.class_count_ / self.n_train)

    @cached_property
    def preparation(self) -> np.ndarray:
        """B_k of the informative variables."""
        partitions = self.encoder.partitions_
        return np.array([partitions[j].cost.preparation for j in self.informative])

    @property
    def n_variables(self) -> int:
        """K of the costs: all variables, uninformative ones included."""
        return len(self.encoder.partitions_)

    def generator(self) -> np.random.Generator:
        """Return the same draws for every method."""
        return np.random.default_rng([SEED, self.number])

    def problem(self, regularization: float, exponent: float = 1.0) -> WeightProblem:
        """Return the criterion CR on the training rows."""
        return WeightProblem(
            self.train_terms,
            self.codes,
            self.log_prior,
            feature_costs(self.preparation, self.n_variables),
            regularization=regularization,
            exponent=exponent,
        )

    def averaged(self) -> AveragedResult:
        """Return the weights of the baseline SNB, with the prior of its article."""
        levels = self.encoder.levels_[self.informative]
        problem = SubsetProblem(
            self.train_terms,
            self.codes,
            self.log_prior,
            self.preparation,
            self.n_variables,
            regularization=1.0,
            order=np.argsort(-levels, kind="stable"),
        )
        return Averaging().minimise(problem, random_state=self.generator())

    def train_compression(self, weights: np.ndarray) -> float:
        """1 - NLL(w) / NLL(0): the criterion without penalty, so what is optimised."""
        problem = self.problem(0.0)
        return compression_rate_of(
            problem.nll(weights), problem.nll(np.zeros_like(weights))
        )

    def probabilities(self, weights: np.ndarray, *, test: bool) -> np.ndarray:
        """Return predicted probabilities over the classes of the whole set.

        As the estimators predict: softmax, then half a row spread over the classes.
        """
        terms = self.test_terms if test else self.train_terms
        scores = terms.scores(weights, self.log_prior)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        share = 0.5 / (self.n_train + 1.0)
        proba = odds / odds.sum(axis=1, keepdims=True)
        proba = (proba + share / proba.shape[1]) / (1.0 + share)
        return all_classes(proba, self.encoder.classes_, int(self.y.max()) + 1)

    def prior(self) -> np.ndarray:
        """Return class shares of the training rows, over the classes of the set."""
        shares = np.exp(self.log_prior)[None, :]
        return all_classes(shares, self.encoder.classes_, int(self.y.max()) + 1)[0]


def prepare(
    X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, number: int
) -> Fold:
    """Learn the partitions of the training rows and place all rows in them."""
    encoder = MODLEncoder().fit(X.iloc[train], y[train])
    informative = np.flatnonzero(encoder.levels_ > 0)
    tables = log_likelihood_tables(
        [encoder.partitions_[j].counts for j in informative], encoder.class_count_
    )
    n_classes = encoder.classes_.shape[0]
    train_terms, test_terms = (
        PartTerms(encoder.transform(X.iloc[rows])[:, informative], tables, n_classes)
        for rows in (train, test)
    )
    return Fold(number, train, test, y, encoder, informative, train_terms, test_terms)


# --------------------------------------------------------------------------- running

Measure = Callable[[Fold, str], Sequence[float]]


def run_set(
    name: str,
    folder: Path,
    keys: Sequence[str],
    measure: Measure,
    *,
    study: str,
    columns: Sequence[str],
    folds: int,
    part: str = "",
    **header: Any,
) -> Ledger:
    """Measure what is missing of one set, fold by fold, and write after every row."""
    data = read_set(name)
    labels, y = np.unique(data.y, return_inverse=True)
    book = Ledger(
        folder,
        part or name,
        columns=columns,
        study=study,
        data=name,
        seed=SEED,
        shape=list(data.X.shape),
        classes=int(labels.shape[0]),
        **header,
    )
    for number, (train, test) in enumerate(stratified_folds(y, FOLDS, SEED)[:folds]):
        missing = [key for key in keys if book.done(key) <= number]
        if not missing:
            continue
        fold = prepare(data.X, y, train, test, number)
        for key in missing:
            book.extend(key, number, [[rounded(v) for v in measure(fold, key)]])
    return book


def rounded(value: float) -> float:
    """Return six significant digits, and integers as such: the files stay small."""
    value = float(f"{value:.6g}")
    return int(value) if value.is_integer() else value


# --------------------------------------------------------------------------- options


def option_parser(study: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of all three studies."""
    parser = study_parser(study, description, "five sets, two folds")
    add = parser.add_argument
    add("--sets", type=names_of(ALL_SETS), help="names with commas between (all)")
    add("--folds", type=int, help=f"how many of the {FOLDS} folds are run (all)")
    return parser


def parsed(
    parser: argparse.ArgumentParser, arguments: list[str] | None
) -> argparse.Namespace:
    """Return the options with their defaults filled in."""
    options = parser.parse_args(arguments)
    if options.folds is None:
        options.folds = QUICK_FOLDS if options.quick else FOLDS
    if not 1 <= options.folds <= FOLDS:
        parser.error(f"--folds must be in 1..{FOLDS}")
    options.names = options.sets or (QUICK_SETS if options.quick else ALL_SETS)
    absent = set(options.names) & set(NAMES) - set(available())
    if absent and not options.tables_only:
        parser.error(f"no file of {', '.join(sorted(absent))}: set BAYESIEVE_DATA")
    return options
