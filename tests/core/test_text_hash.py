"""Words written to collide do not: where things are kept depends on a secret."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from bayesieve import _core
from bayesieve.text._options import TextOptions

MIX = np.uint64(0x9E3779B97F4A7C15)
# No search among as many random words is near this long: shards and partitions have
# some twenty words each, and tables are at most 70 % full.
LONG = 40


def finished(x):
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xD6E8FEB86659FD93)
    x ^= x >> np.uint64(32)
    return x


def unkeyed_hash_of_words(words):
    """The hash of words of eight bytes that had no secret."""
    h = (np.array([8], dtype=np.uint64) * MIX ^ words) * MIX
    h ^= h >> np.uint64(29)
    return finished(h * MIX)


def unkeyed_hash_of_pairs(pairs):
    """The hash of n-grams of two characters that had no secret."""
    h = pairs * MIX
    h ^= h >> np.uint64(32)
    return finished(h)


def alike(found, n_top, n_low):
    """Tell which hashes share their first and last bits with the first one."""
    top, low = np.uint64(64 - n_top), np.uint64((1 << n_low) - 1)
    return (found >> top == found[0] >> top) & (found & low == found[0] & low)


def longest_search(hashes, n_slots):
    slots, longest = np.zeros(n_slots, dtype=bool), 0
    for at in (hashes % np.uint64(n_slots)).tolist():
        steps = int(np.argmin(np.roll(slots, -at)))
        slots[(at + steps) % n_slots] = True
        longest = max(longest, steps + 1)
    return longest


def tables_of(texts, analyzer, ngram_range):
    options = TextOptions(analyzer=analyzer, ngram_range=ngram_range)
    data = [text.encode() for text in texts]
    counter = _core.TextCounter(options.plan, 2, 1, 0, "", False, 1)
    counter.add(
        np.frombuffer(b"".join(data), dtype=np.uint8),
        np.cumsum([0, *map(len, data)]),
        np.zeros(len(texts), dtype=np.int32),
    )
    return counter


def test_words_that_collide_without_a_secret_do_not_collide():
    random = np.random.default_rng(0)
    letters = random.integers(ord("a"), ord("z") + 1, size=(1 << 24, 8), dtype=np.uint8)
    words = letters.view("<u8").ravel()
    chosen = alike(unkeyed_hash_of_words(words), 6, 8)  # one shard, one place in 256
    flood = np.unique(words[chosen])
    assert flood.size > 800
    assert longest_search(unkeyed_hash_of_words(flood), 2048) > 2 * LONG
    texts = [" ".join(word.tobytes().decode() for word in flood)]
    counter = tables_of(texts, "word", (1, 1))
    assert counter.longest_search < LONG
    assert counter.finish(0)[1].size == flood.size + 1


def test_characters_that_collide_without_a_secret_do_not_collide():
    random = np.random.default_rng(0)
    pairs = random.integers(0x4E00, 0x9FFF, size=(1 << 24, 2), dtype=np.uint32)
    keys = (pairs + np.uint32(1)).view("<u8").ravel()
    hashes = unkeyed_hash_of_pairs(keys)
    top, hashes = hashes >> np.uint64(56), hashes * MIX >> np.uint64(16)
    chosen = (top == top[0]) & (hashes % np.uint64(256) == hashes[0] % np.uint64(256))
    flood, kept = np.unique(keys[chosen], return_index=True)
    assert longest_search(hashes[chosen][kept], 512) > LONG
    texts = ["".join(map(chr, pair)) for pair in pairs[chosen][kept].tolist()]
    counter = tables_of(texts, "char", (2, 2))
    assert counter.longest_search < LONG
    assert counter.finish(0)[1].size == flood.size + 1


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64])
def test_every_byte_and_the_size_matter(size):
    word = np.arange(1, size + 1, dtype=np.uint8)
    hashes = {_core.text_hash(word), _core.text_hash(np.append(word, np.uint8(0)))}
    for place in range(size):
        for bit in range(8):
            other = word.copy()
            other[place] ^= 1 << bit
            hashes.add(_core.text_hash(other))
    assert len(hashes) == 2 + 8 * size


PROGRAM = """
import hashlib
import pandas as pd
import numpy as np
from bayesieve import ClassCounts, _core
random = np.random.default_rng(0)
words = ["w%d" % word for word in random.zipf(1.2, 30_000) % 5_000]
texts = [" ".join(words[i : i + 30]) for i in range(0, len(words), 30)]
table = pd.DataFrame({"text": texts, "label": np.arange(len(texts)) % 3})
print(_core.text_hash(np.frombuffer(b"word", dtype=np.uint8)))
for options in ({"ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (2, 4)}):
    counts = ClassCounts.from_text(table, **options)
    digest = hashlib.sha256("|".join(counts.feature_names).encode())
    digest.update(counts.feature_count.tobytes())
    digest.update(counts.document_count.tobytes())
    print(counts.n_features, digest.hexdigest())
"""


def test_processes_with_other_secrets_count_the_same():
    pytest.importorskip("pandas")
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
        ).stdout.split("\n", 1)
        for _ in range(2)
    ]
    assert runs[0][0] != runs[1][0]
    assert runs[0][1] == runs[1][1]
    assert int(runs[0][1].split()[0]) > 10_000
