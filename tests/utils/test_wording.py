"""Words that depend on a number."""

from __future__ import annotations

import pytest

from bayesieve.utils._wording import counted


@pytest.mark.parametrize(
    ("n", "what", "told"),
    [
        (0, "k-mers", "0 k-mers"),
        (1, "k-mers", "1 k-mer"),
        (1200, "words", "1,200 words"),
    ],
)
def test_one_is_singular(n, what, told):
    assert counted(n, what) == told
