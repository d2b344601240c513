"""Queries that score rows give what the models give, in real databases."""

from __future__ import annotations

import numpy as np
import pytest
from tests.export.sql_checks import check_rows
from tests.persistence.models import examples

ROWS = [
    name
    for name, (model, _) in examples().items()
    if hasattr(model, "predict")
    and "text" not in name
    and name != "selective ready-made"
]


@pytest.mark.parametrize("name", ROWS)
def test_every_classifier_of_rows(name, engine):
    model, X = examples()[name]
    if engine.dialect == "sqlite" and hasattr(X, "columns") and "day" in X:
        pytest.skip("SQLite has no dates")
    X = X.head(200) if hasattr(X, "head") else X[:200]
    if hasattr(X, "columns") and "day" in X:
        X = X.assign(day=X["day"].dt.floor("us"))  # PostgreSQL has nothing finer
    check_rows(engine, model, X)
