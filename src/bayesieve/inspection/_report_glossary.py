"""The words of a report that not everybody knows, each in a sentence or two."""

from __future__ import annotations

from html import escape

__all__ = ["GLOSSARY", "glossary_list"]

#: Word to what it means. The page explains the first of each in a section, and lists
#: all of them at its end.
GLOSSARY: dict[str, str] = {
    "95 % interval": "The range in which a number would lie in 95 of 100 repetitions "
    "with other rows of the same kind. Of words it takes occurrences as independent, "
    "which makes it a little too narrow.",
    "balanced accuracy": "The share of rows that is right in each class, averaged over "
    "the classes: a small class counts as much as a large one.",
    "accuracy": "The share of rows whose class is predicted right.",
    "average precision": "The area under the curve of precision against recall: 1 is "
    "perfect, and guessing reaches the share of the class.",
    "AUC": "The area under the ROC curve: how often a row of the class is ranked above "
    "one that is not. 0.5 is guessing, 1 is perfect.",
    "ROC": "Rows found (up) against false alarms (across) as the threshold falls.",
    "BIC": "Bayesian information criterion: the gain less a penalty for each further "
    "feature. The size where it is least is a choice without a second look at rows.",
    "bound": "No choice of so many features can gain more than this; it is proven.",
    "calibration": "Whether probabilities mean what they say: of the rows given 80 %, "
    "about 80 in 100 should be of that class.",
    "cross-validated": "Measured on rows that were left out of learning.",
    "elbow": "The size after which further features gain much less than those before.",
    "evidence": "By how many nats a model with this term explains the labels better "
    "than one without.",
    "F1": "The harmonic mean of precision and recall.",
    "false alarm": "A row flagged as the class that is not of it.",
    "gain": "By how much the features together explain the labels better than none at "
    "all, in nats of log-likelihood. The model chooses features by it.",
    "gap": "How far the gain may be from the best possible, at most.",
    "level": "The share of the class's information that a column gives: 0 is none, 1 "
    "is all of it.",
    "lift": "How many of a class are found among the rows that look most like it: "
    "looking at a tenth of the rows may find half of them.",
    "log loss": "The surprise at the right answers in nats a row: 0 is certain and "
    "right, and confident mistakes cost most. Lower is better.",
    "log-odds": "How a feature shifts the odds between classes, as a logarithm: 0 is "
    "no shift, +0.7 doubles the odds, +2.3 makes them ten times as large, minus turns "
    "them round.",
    "nats": "The unit of evidence: 1 nat makes odds 2.7 times as large, 2.3 nats ten "
    "times. (A bit is 0.69 nats.)",
    "penalty": "What each unit of weight costs while weights are fitted: the larger it "
    "is, the fewer features keep a weight.",
    "precision": "Of the rows predicted as a class, the share that is of it.",
    "recall": "Of the rows of a class, the share that is predicted as it.",
    "standard deviations": "The usual distance of values from their mean; a difference "
    "of 2 of them separates two classes well.",
    "standard error": "How far a measured number would move, typically, on other rows.",
    "threshold": "The probability from which on a row is flagged as the class.",
}


def _anchor(word: str) -> str:
    return "word-" + "".join(c if c.isalnum() else "-" for c in word.lower())


def glossary_list() -> str:
    """All words as a list; the script shows them where they stand."""
    words = sorted(GLOSSARY, key=str.lower)
    return (
        '<dl class="glossary">'
        + "".join(
            f'<div><dt id="{_anchor(word)}">{escape(word)}</dt>'
            f"<dd>{escape(GLOSSARY[word])}</dd></div>"
            for word in words
        )
        + "</dl>"
    )
