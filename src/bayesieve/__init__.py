"""Find the few features that matter among millions, with a proof.

Public names only, listed in ``__init__.pyi``; heavy parts are imported when first used.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

del annotations, attach_stub
