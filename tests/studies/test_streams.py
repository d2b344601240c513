"""The study of streams, without River and CapyMOA."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.studies.study_modules import load

scores = load("probability_scores")
streams = load("streams")


class Weighted(GaussianNB):
    """Stands for ours: a naive Bayes that gives every variable a weight."""

    @property
    def support_(self):
        return np.ones(self.n_features_in_, dtype=bool)


def test_streams_are_scored_from_the_second_chunk_on():
    rows = [[10, 99.0, 10, 1.0, 4.0], [10, 5.0, 2, 0.5, 3.0], [5, 1.0, 1, 0.5, 2.0]]
    assert streams.summary_of(rows) == {
        "tested rows": 15,
        "log loss": pytest.approx(0.4),
        "accuracy": pytest.approx(0.8),
        "rows per second": pytest.approx(12.5),
        "kept at the end": 2.0,
    }


def test_a_chunk_is_predicted_before_it_is_learned():
    pd = pytest.importorskip("pandas")
    X, y = load("uci_generators").waveform(1_050)
    stream = streams.Stream("waves", [], pd.DataFrame(X), y, [0, 1, 2])
    rows = streams.run_model(streams.by_chunk(Weighted(), stream), stream, 100)
    assert [row[streams.ROWS] for row in rows] == [100] * 10 + [50]
    # Nothing is known of the first chunk: ln 3 a row.
    assert rows[0][streams.LOSS] == pytest.approx(100 * np.log(3))
    facts = streams.summary_of(rows)
    assert facts["tested rows"] == 950
    assert facts["accuracy"] > 0.7
    # What a chunk's prediction should be: a model of the chunks before it.
    before = GaussianNB().fit(X[:900], y[:900]).predict_proba(X[900:1000])
    loss = scores.row_losses(y[900:1000], before, streams.CLIP).sum()
    assert rows[9][streams.LOSS] == pytest.approx(loss, rel=1e-6)


def test_streams_say_how_to_get_their_peers(monkeypatch):
    monkeypatch.setattr(streams, "find_spec", lambda name: None)
    with pytest.raises(
        SystemExit, match=r"Not installed here: river and capymoa(.|\n)*pip install"
    ):
        streams.main(["--quick"])
