"""What the tests of the documentation share."""

from __future__ import annotations

import pytest


@pytest.fixture
def quiet_pictures(monkeypatch):
    """Draw without a screen, and close what was drawn."""
    pytest.importorskip("matplotlib", reason="the pages draw: matplotlib is missing")
    from matplotlib import pyplot as plt

    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt.switch_backend("Agg")
    yield
    plt.close("all")
