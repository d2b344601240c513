"""Warnings of the package: results that are valid but may surprise.

Errors are plain ``ValueError`` and ``TypeError``, as in scikit-learn.
"""

from __future__ import annotations

__all__ = [
    "BadRowsWarning",
    "DegenerateSupportWarning",
    "FewFeaturesWarning",
    "GapWarning",
    "LowCountWarning",
    "NotCountsWarning",
    "SmallWeightsWarning",
]


class BadRowsWarning(UserWarning):
    """Rows without text or label, or that could not be read, were left out."""


class SmallWeightsWarning(UserWarning):
    """Weights count as rows, and these add up to far fewer rows than there are."""


class GapWarning(UserWarning):
    """The search stopped at a time or node limit; the answer carries its true gap."""


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
