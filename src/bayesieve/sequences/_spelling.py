"""How windows of symbols become keys of 64 bits, and what the keys are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import is_whole

__all__ = ["Spelling"]

_COMPLEMENT = str.maketrans("ACGT", "TGCA")


@dataclass(frozen=True)
class Spelling:
    """Windows of `length` symbols: bases in two bits each, or bytes.

    The order of keys is that of the names they have: a k-mer is called by its bases, a
    window of bytes by their hexadecimal digits.
    """

    is_dna: bool
    length: int
    canonical: bool = False

    @classmethod
    def of_kmers(
        cls, k: Any, canonical: Any, *, owner: str, parameter: str = "k"
    ) -> Spelling:
        """Check the parameters of k-mers."""
        if not is_whole(k) or not 1 <= k <= 31:
            raise ValueError(
                f"The {parameter!r} parameter of {owner}, the length of a k-mer, must "
                f"be an int in 1..31. Got {k!r}."
            )
        if not isinstance(canonical, bool | np.bool_):
            raise TypeError(
                f"The 'canonical' parameter of {owner} must be True or False. Got "
                f"{canonical!r}."
            )
        return cls(True, int(k), bool(canonical))

    @classmethod
    def of_bytes(cls, n: Any, *, owner: str, parameter: str = "n") -> Spelling:
        """Check the parameter of n-grams of bytes."""
        if not is_whole(n) or not 1 <= n <= 8:
            raise ValueError(
                f"The {parameter!r} parameter of {owner}, the number of bytes in a "
                f"row, must be an int in 1..8. Got {n!r}."
            )
        return cls(False, int(n))

    def __str__(self) -> str:
        if not self.is_dna:
            return f"{self.length} bytes in a row"
        strands = "canonical" if self.canonical else "not canonical"
        return f"k-mers of {self.length} bases, {strands}"

    @property
    def settings(self) -> tuple[bool, int, bool]:
        """What the compiled core takes."""
        return self.is_dna, self.length, self.canonical

    @property
    def name_length(self) -> int:
        """Letters of a name."""
        return self.length if self.is_dna else 2 * self.length

    def canonical_name(self, name: str) -> str:
        """What a window is called: a k-mer in capitals, on the strand that is first."""
        if not self.is_dna:
            return name.lower()
        name = name.upper().replace("U", "T")
        return min(name, name.translate(_COMPLEMENT)[::-1]) if self.canonical else name

    def is_name(self, text: str) -> bool:
        """Whether this is what a window can be called, in capitals or not."""
        return bool(self.keys([self.canonical_name(text)])[1][0])

    def names(self, keys: Array) -> list[str]:
        """Return the names of keys."""
        text = _core.spell_keys(keys, self.is_dna, self.length).tobytes()
        letters = text.decode("ascii") if self.is_dna else text.hex()
        step = self.name_length
        return [letters[i : i + step] for i in range(0, len(letters), step)]

    def keys(self, names: Iterable[str]) -> tuple[Array, Array]:
        """Return the keys of names, and which of the names are any."""
        names = list(names)
        keys = np.zeros(len(names), dtype=np.uint64)
        known = np.zeros(len(names), dtype=bool)
        letters = "[ACGT]" if self.is_dna else "[0-9a-f]"
        pattern = re.compile(f"{letters}{{{self.name_length}}}")
        for i, name in enumerate(names):
            known[i] = isinstance(name, str) and pattern.fullmatch(name) is not None
            if known[i] and self.canonical:
                known[i] = name == self.canonical_name(name)
            if known[i]:
                number = name.translate(_DIGITS) if self.is_dna else name
                keys[i] = int(number, 4 if self.is_dna else 16)
        return keys, known


_DIGITS = str.maketrans("ACGT", "0123")
