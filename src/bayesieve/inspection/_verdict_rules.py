"""The rules of a verdict: each looks at the facts and gives a remark, or None."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesieve.inspection._evaluation import Evaluation, RowScores
from bayesieve.inspection._verdict_facts import Remark, VerdictFacts, percent
from bayesieve.solvers._criteria import largest_advised_size
from bayesieve.utils._wording import counted

__all__ = ["RULES"]

_WIDE = 0.2  # of an interval: what lies within it can hardly be told apart
_FEW_OF_A_CLASS = 10  # training rows
_HARDLY_FOUND = 0.2  # recall
_ENOUGH_TO_JUDGE = 5  # rows of a class
_LARGEST_CLASS = 0.8  # share from which accuracy says little
_TELLS_ALONE = 0.97  # share of rows that one feature has right
_SURELY = 2.0  # standard errors
#: What twice the rows must bring to be worth it: accuracy, or share of the log loss.
_WORTH_ROWS, _WORTH_LOSS = 0.005, 0.03


def _points(share: float) -> str:
    """A difference of shares."""
    points = 100 * abs(share)
    return f"{points:.1f} points" if points >= 0.1 else f"{points:.2f} points"


def _judged(facts: VerdictFacts) -> Evaluation | None:
    """The evaluation of a model that knows something."""
    found = facts.evaluation
    return found if found is not None and facts.k and found.beats_guessing else None


def _guessing(facts: VerdictFacts) -> Remark | None:
    found = facts.evaluation
    if found is None or not facts.k or found.one_class or found.beats_guessing:
        return None
    if found.may_beat_guessing:
        return None
    say = "says" if facts.k == 1 else "say"
    told = f"What {facts.these} {say} does not hold on new rows"
    if facts.proven:
        told += ": the proof is about the training rows alone"
    return Remark("guessing", f"{told}. Is the label the right one?", "label")


def _leak(facts: VerdictFacts) -> Remark | None:
    if facts.telling is None or facts.evaluation is None:
        return None
    name, share = facts.telling
    alone = facts.evaluation.majority_accuracy
    # Of rows that guessing has wrong, it must have nearly all right.
    if share < _TELLS_ALONE or (1.0 - share) > 0.1 * (1.0 - alone):
        return None
    doubt = (
        "does it hold what is known only afterwards? Then it will not help on new rows."
    )
    if facts.noun == "k-mers":  # nobody writes the label into a genome
        doubt = (
            "is it the cause, or what rows of one descent share? Then it will not help "
            "on others."
        )
    return Remark(
        "leak",
        f"{name!r} alone tells the label of {percent(share)} of the rows: {doubt}",
        f"drop={name}",
    )


def _drift(facts: VerdictFacts) -> Remark | None:
    found = facts.drift
    if found is None or found.lost <= 3.0 * found.error:
        return None
    behind = found.any_accuracy - found.past_accuracy
    if behind <= 0.01 and found.lost < 0.05:
        return None
    return Remark(
        "drift",
        "Rows change along the file: those of its second half are predicted right on "
        f"{percent(found.past_accuracy)} by the first half, and on "
        f"{percent(found.any_accuracy)} by as many from all of it. Expect the lower "
        "figure for rows to come.",
    )


def _tiny(facts: VerdictFacts) -> Remark | None:
    found, rows = facts.evaluation, np.asarray(facts.class_rows, dtype=np.float64)
    if found is not None:
        low, high = found.interval
        if high - low > _WIDE:
            told = percent(found.accuracy)
            others = [end for end in map(percent, (low, high)) if end != told]
            return Remark(
                "tiny",
                f"The rows are few: {told} may as well be {' or '.join(others)}.",
                "rows",
            )
    if facts.train_rows and facts.train_rows < 3 * max(len(rows), 2):
        return Remark(
            "tiny",
            f"{facts.train_rows:,} training rows are too few to learn from.",
            "rows",
        )
    return None


def _missed_class(facts: VerdictFacts) -> Remark | None:
    found = _judged(facts)
    if found is None:
        return None
    rows = found.confusion.sum(axis=1)
    recall = np.where(rows >= _ENOUGH_TO_JUDGE, found.recall, np.nan)
    missed = np.flatnonzero(recall < _HARDLY_FOUND)
    if not missed.size:
        return None
    worst = missed[np.argsort(recall[missed], kind="stable")]
    first = int(worst[0])
    hits = int(found.confusion[first, first])
    told = f"{hits:,} of {rows[first]:,} rows of {found.classes[first]!r} are found"
    if found.splits > 1:
        told = f"{percent(recall[first])} of the rows of {found.classes[first]!r} are"
        told += " found"
    if worst.size > 1:
        others = "class is" if worst.size == 2 else "classes are"
        told += f", and {worst.size - 1:,} more {others} hardly found"
    action = f"recall={found.classes[first]}"
    return Remark("missed class", f"Hardly recalled: {told}.", action)


def _unbalanced(facts: VerdictFacts) -> Remark | None:
    found = _judged(facts)
    if found is None or found.majority_accuracy < _LARGEST_CLASS:
        return None
    if _missed_class(facts) is not None:
        return None  # said already
    recall, rows = found.recall, found.confusion.sum(axis=1)
    others = [c for c in range(len(rows)) if c != found.majority and rows[c]]
    if not others:
        return None
    rare = min(others, key=lambda c: recall[c])
    return Remark(
        "unbalanced",
        f"Accuracy says little where {percent(found.majority_accuracy)} of the rows "
        f"are {found.classes[found.majority]}: of {found.classes[rare]!r}, "
        f"{percent(recall[rare])} are found.",
        f"recall={found.classes[rare]}",
    )


def _rare_class(facts: VerdictFacts) -> Remark | None:
    rows = np.asarray(facts.class_rows, dtype=np.float64)
    few = np.flatnonzero((rows > 0) & (rows < _FEW_OF_A_CLASS))
    if facts.evaluation is None or not few.size:
        return None
    name = facts.evaluation.classes[int(few[np.argmin(rows[few])])]
    own = f"{rows[few].min():,.0f}"
    told = f"{name!r} has {own} training row{'' if own == '1' else 's'}"
    if few.size > 1:
        told = f"{few.size:,} classes have fewer than {_FEW_OF_A_CLASS} training rows"
    them = "it" if few.size == 1 else "them"
    return Remark("rare class", f"{told}: too few to learn what tells {them}.", "rows")


def _overconfident(facts: VerdictFacts) -> Remark | None:
    found = _judged(facts)
    if found is None or found.log_loss <= found.prior_log_loss:
        return None
    return Remark(
        "overconfident",
        f"Its probabilities are worse than the shares of the classes (log loss "
        f"{found.log_loss:.2f} against {found.prior_log_loss:.2f}): trust the labels, "
        "not the probabilities.",
        "" if facts.weighted else "weights",
    )


def _rival(facts: VerdictFacts, name: str) -> tuple[float, float, RowScores] | None:
    """How far a rival is ahead by accuracy and by log loss, where that is sure.

    Sure is two standard errors of the rows' differences, or one of the accuracy of a
    model that is better than guessing.
    """
    found, rival = facts.evaluation, facts.rivals.get(name)
    if found is None or rival is None:
        return None
    right, error = rival.rows_ahead(found.scores)
    nats, nats_error = rival.nats_ahead(found.scores)
    own = np.sqrt(
        found.accuracy * (1.0 - found.accuracy) * rival.repeats / rival.codes.size
    )
    # Where nothing is known, chance alone puts one of several rivals ahead.
    own = own if _judged(facts) is not None else np.inf
    more_right = right > 0.0 and (right > _SURELY * error or right > own)
    knows_more = nats > _SURELY * nats_error and nats > 0.01
    if not more_right and not knows_more:
        return None
    return (right if more_right else 0.0), (nats if knows_more else 0.0), rival


def _ahead(facts: VerdictFacts, rival: RowScores, right: float, nats: float) -> str:
    """What a rival reaches, in the words of what it wins by."""
    found = facts.evaluation
    assert found is not None
    told = []
    if right > 0.0:
        told.append(f"right on {percent(rival.accuracy)}")
    if nats > 0.0:
        told.append(f"log loss {rival.log_loss:.3f} in place of {found.log_loss:.3f}")
    return " and ".join(told)


def _verb(right: float) -> str:
    """They are right on more rows, or have a lower loss."""
    return "are" if right > 0.0 else "have"


def _weights(facts: VerdictFacts) -> Remark | None:
    known = None if facts.weighted else _rival(facts, "weighted")
    if known is None:
        return None
    right, nats, rival = known
    size = facts.sizes.get("weighted")
    words = "" if size is None else f"{counted(size, facts.noun)} with "
    return Remark(
        "weights",
        f"Weights would pay: {words}weights {_verb(right)} "
        f"{_ahead(facts, rival, right, nats)}.",
        "weights",
    )


def _all_features(facts: VerdictFacts) -> Remark | None:
    known = _rival(facts, "all")
    fewer = _size_without_weights(facts)
    if known is None or not known[0]:
        if fewer is None:
            return None
        k, share = fewer
        return Remark(
            "no weights",
            f"Without weights, {k:,} {facts.noun} are right more often: "
            f"{percent(share)} of the rows.",
            f"k={k}",
        )
    n_all = facts.sizes.get("all") or facts.n_features
    told = f"All {n_all:,} {facts.noun} together are right more often, by "
    told += _points(known[0])
    if fewer is not None and fewer[0] < facts.n_features:
        told += f", and so are the best {fewer[0]:,} of them without weights"
    return Remark("all features", f"{told}.", "all")


def _size_without_weights(facts: VerdictFacts) -> tuple[int, float] | None:
    """The fewest features without weights that are right more often by an error."""
    found = _judged(facts)
    if found is None or not facts.weighted:
        return None
    error = np.sqrt(found.accuracy * (1.0 - found.accuracy) / found.n_rows)
    ahead = [own for own in facts.by_size if own[1] > found.accuracy + error]
    return min(ahead) if ahead else None


def _pairs(facts: VerdictFacts) -> Remark | None:
    known = _rival(facts, "pairs")
    if known is None:
        return None
    right, nats, rival = known
    told = _ahead(facts, rival, right, nats)
    return Remark("pairs", f"Pairs of words would pay: {told}.", "ngrams")


def _more_features(facts: VerdictFacts) -> Remark | None:
    known = _rival(facts, "more") if facts.weighted else None
    if known is None:
        return None
    told = _ahead(facts, known[2], *known[:2])
    size = facts.sizes.get("more", 0)
    return Remark(
        "more features",
        f"More {facts.noun} would pay: {size:,} with weights {_verb(known[0])} {told}.",
        "more",
    )


def _other_model(facts: VerdictFacts) -> Remark | None:
    for name, words in (
        ("presence", "Whether a feature is there says more than how often"),
        ("counts", "How often a feature is there says more than whether it is"),
    ):
        known = _rival(facts, name)
        if known is not None:
            words = words.replace("feature", facts.one)
            return Remark(
                "other model", f"{words}: {_ahead(facts, known[2], *known[:2])}.", name
            )
    return None


def _proven_better(facts: VerdictFacts) -> Remark | None:
    known = _rival(facts, "proven") if facts.weighted else None
    if known is None:
        return None
    right, nats, rival = known
    size = facts.sizes.get("proven")
    words = "The proven selection" if size is None else f"The proven {size:,}"
    return Remark(
        "proven",
        f"{words} without weights is better here: {_ahead(facts, rival, right, nats)}.",
        "proven",
    )


def _l1_better(facts: VerdictFacts) -> Remark | None:
    known = _rival(facts, "l1")
    if known is None:
        return None
    right, nats, rival = known
    size = facts.sizes.get("l1")
    words = "" if size is None else f" with {counted(size, facts.noun)}"
    return Remark(
        "l1",
        f"Logistic regression with an l1 penalty is better here{words}: "
        f"{_ahead(facts, rival, right, nats)}.",
    )


def _perfect(facts: VerdictFacts) -> Remark | None:
    found = _judged(facts)
    if found is None or found.accuracy < 1.0 or found.n_rows < 50:
        return None
    return Remark(
        "perfect",
        f"All {found.n_rows:,} held-out rows are right, which is rare in earnest: is "
        "the label written into the data, or are rows there twice?",
    )


def _empty_proof(facts: VerdictFacts) -> Remark | None:
    if not facts.k or facts.k < facts.n_features or facts.weighted:
        return None
    return Remark(
        "empty proof",
        f"All {facts.k:,} {facts.noun} are in use, so nothing was selected and nothing "
        "had to be proven.",
        "fewer",
    )


def _many_for_the_rows(facts: VerdictFacts) -> Remark | None:
    if facts.weighted or facts.k >= facts.n_features or not facts.train_rows:
        return None
    if facts.k <= max(largest_advised_size(facts.train_rows), 20):
        return None
    return Remark(
        "many features",
        f"{counted(facts.k, facts.noun)} for {facts.train_rows:,} rows: so few rows "
        "can be told apart in many ways, and which of them matter on others is open.",
        "fewer",
    )


def _copies(facts: VerdictFacts) -> Remark | None:
    if facts.copies < max(2, 0.05 * facts.n_features):
        return None
    return Remark(
        "copies",
        f"{facts.copies:,} of {facts.n_features:,} {facts.noun} are copies of others; "
        "the first of each was taken.",
    )


def _redundant(facts: VerdictFacts) -> Remark | None:
    """Weights that win big over plain naive Bayes: many features say the same."""
    rival = facts.rivals.get("all")
    found = _judged(facts)
    if found is None or rival is None or not facts.weighted:
        return None
    nats, error = found.scores.nats_ahead(rival)
    if nats <= max(_SURELY * error, 0.5 * found.prior_log_loss):
        return None
    return Remark(
        "redundant",
        f"Many {facts.noun} say the same, and naive Bayes counts it each time: all "
        f"{facts.n_features:,} without weights have a log loss of "
        f"{rival.log_loss:.2f}.",
    )


def _more_rows(facts: VerdictFacts) -> Remark | None:
    found, half = _judged(facts), facts.rivals.get("half")
    if found is None or half is None:
        return None
    right, error = found.scores.rows_ahead(half)
    nats, nats_error = found.scores.nats_ahead(half)
    by_rows = right > max(_SURELY * error, _WORTH_ROWS)
    by_loss = nats > max(_SURELY * nats_error, _WORTH_LOSS * half.log_loss)
    if by_rows or by_loss:
        return Remark(
            "more rows",
            f"More rows would pay: half of them are right on {percent(half.accuracy)}"
            f" (log loss {half.log_loss:.3f} in place of {found.log_loss:.3f}).",
            "rows",
        )
    return Remark(
        "enough rows",
        f"More rows would hardly help: half of them are right on "
        f"{percent(half.accuracy)}.",
    )


#: From the gravest on.
RULES: tuple[Callable[[VerdictFacts], Remark | None], ...] = (
    _guessing,
    _leak,
    _drift,
    _tiny,
    _missed_class,
    _perfect,
    _unbalanced,
    _weights,
    _pairs,
    _other_model,
    _more_features,
    _all_features,
    _proven_better,
    _l1_better,
    _overconfident,
    _empty_proof,
    _many_for_the_rows,
    _copies,
    _rare_class,
    _more_rows,
    _redundant,
)
