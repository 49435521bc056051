"""Hashes of category symbols: the number that stands in a sample for a category's value.

Called by whoever turns records into samples: the decoder in `stream` and the River adapter. The hash depends on the
symbol's text alone, so a symbol has the same number in every schema version, process and release, in whatever order an
enum lists it, and no table of numbers is kept. Knows no feature.
"""

from functools import lru_cache
from hashlib import blake2b

BITS = 52  # a float64 holds such a number exactly
CACHED = 4_096  # size of the cache: most symbols recur
LONGEST_CACHED = 256  # characters: long texts are not cached


def hash_symbol(symbol: str) -> float:
    """The low 52 bits of a fixed hash of the symbol's UTF-8 text.

    Two symbols of a feature collide with a chance of one in 4,503,599,627,370,496.

    >>> hash_symbol("on") == hash_symbol("on") != hash_symbol("off")
    True
    """
    return _cached(symbol) if len(symbol) <= LONGEST_CACHED else _hashed(symbol)


def _hashed(symbol: str) -> float:
    digest = blake2b(symbol.encode(errors="surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") & ((1 << BITS) - 1))


_cached = lru_cache(maxsize=CACHED)(_hashed)
