"""Which of the examples other engines can score."""

from __future__ import annotations

from tests.persistence.models import examples

__all__ = ["EXPORTED", "REFUSED"]

#: Classifiers whose rows no other engine reads, and what is said of them.
REFUSED = {
    "selective ready-made": "ready-made log-likelihoods cannot be",
    "sequences": "no other engine cuts sequences",
    "bytes": "no other engine cuts sequences",
}
EXPORTED = [
    name
    for name, (model, _) in examples().items()
    if hasattr(model, "predict") and name not in REFUSED
]
