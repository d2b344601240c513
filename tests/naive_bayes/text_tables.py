"""Small tables with texts, numbers and categories, whose classes are known."""

from __future__ import annotations

import numpy as np
import pandas as pd

_FILLERS = "the a of and in with it was on for this that at from by"
_WORDS = {
    0: "awful broken poor waste dull refund sad noisy",
    1: "great lovely fine superb bright solid happy quiet",
    2: "middling average plain usual common fair normal tame",
}


def reviews(n_rows=400, *, n_classes=2, seed=0, text=True, columns=True):
    """Texts, a number and a category, each of which says something or nothing."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    told = y if text else rng.permutation(y)
    fillers = np.array(_FILLERS.split())
    texts = []
    for label in told:
        own = np.array(_WORDS[int(label)].split())
        words = [*rng.choice(fillers, rng.integers(5, 12))]
        if rng.random() < 0.6:
            words += [*rng.choice(own, rng.integers(1, 3))]
        texts.append(" ".join(rng.permutation(words)) + f" nr{rng.integers(10**6)}")
    shown = y if columns else rng.permutation(y)
    price = shown + rng.normal(0.0, 1.2, n_rows)
    shop = np.where(rng.random(n_rows) < 0.5, shown, rng.integers(0, 3, n_rows))
    frame = pd.DataFrame(
        {"review": texts, "price": price, "shop": [f"shop {s}" for s in shop]}
    )
    return frame, np.array(["bad", "good", "so-so"])[y]
