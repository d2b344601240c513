"""Warnings of the package: results that are valid but may surprise.

Errors are plain ``ValueError`` and ``TypeError``, as in scikit-learn.
"""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "BadRowsWarning",
    "DegenerateSupportWarning",
    "FewFeaturesWarning",
    "GapWarning",
    "GuessWarning",
    "InterruptedFitWarning",
    "LowCountWarning",
    "MergedValuesWarning",
    "NewerVersionWarning",
    "NotConvergedWarning",
    "NotCountsWarning",
    "ScikitLearnVersionWarning",
    "SmallWeightsWarning",
    "UnspacedTextWarning",
]


class BadRowsWarning(UserWarning):
    """Rows without text or label, or that could not be read, were left out."""


class SmallWeightsWarning(UserWarning):
    """Weights count as rows, and these add up to far fewer rows than there are."""


class UnspacedTextWarning(UserWarning):
    """Texts without spaces between words, as in Chinese, were cut at spaces."""


class GapWarning(UserWarning):
    """The search stopped at a time or node limit; the answer carries its true gap."""


class GuessWarning(UserWarning):
    """Something about a file was found out or changed: its encoding, delimiter, names.

    What was read is as the sentence says; a wrong guess gives wrong rows.
    """


class InterruptedFitWarning(UserWarning):
    """Ctrl-C ended a fit, and the best model so far was kept."""


class NotConvergedWarning(ConvergenceWarning):
    """The weights are valid, but not as near to the optimum as `tol` asks."""


class FewFeaturesWarning(UserWarning):
    """Fewer features than asked for carry any count, so fewer were selected."""


class DegenerateSupportWarning(UserWarning):
    """The wanted number of features cannot improve on the null model.

    Two distributions over the features cannot differ in exactly one coordinate, so a
    single feature has gain zero under the multinomial model.
    """


class NotCountsWarning(UserWarning):
    """A model of counts was given rows that were scaled to length or sum 1.

    What is lost: how much a row says, and the balance of counts and smoothing.
    """


class LowCountWarning(UserWarning):
    """Some selected features have an expected count under 5 in a class.

    Their counts are no whole numbers, so their p-values come from the chi-square
    approximation, which is not to be trusted there.
    """


class MergedValuesWarning(UserWarning):
    """Different integers or times of a column are one value, as doubles are too coarse.

    This needs values that lie 2**53 steps and more from the middle one, such as times
    in nanoseconds over many months.
    """


class NewerVersionWarning(UserWarning):
    """A file was written by a newer bayesieve, in a format that this one can read."""


class ScikitLearnVersionWarning(UserWarning):
    """A saved Pipeline was written with another version of scikit-learn."""
