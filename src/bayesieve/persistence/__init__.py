"""Fitted models as files: an open format that runs no code when it is read."""

from __future__ import annotations

from bayesieve.persistence._model_file import load_model, load_notes, save_model

__all__ = ["load_model", "load_notes", "save_model"]
