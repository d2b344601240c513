"""The built-in data set and its loader."""

from __future__ import annotations

from bayesieve.datasets._sms_spam import load_sms_spam

__all__ = ["load_sms_spam"]
