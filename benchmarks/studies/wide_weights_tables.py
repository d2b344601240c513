from __future__ import annotations


def document(folder):
    return ""
