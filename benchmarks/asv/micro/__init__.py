"""Micro-benchmarks in the form that asv (airspeed velocity) runs.

One module for each step: counts, solve, path, weights, screen, text, predict. What is
timed is one call of a public name. What it needs is made in `setup`, outside the time.
"""

from __future__ import annotations
