"""One reader: files, queries, tables and batches, as columns with names."""

from __future__ import annotations
