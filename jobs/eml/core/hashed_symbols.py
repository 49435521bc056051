"""Symbols of categories as numbers: what stands in a sample where a category has a value.

Called by whoever makes samples of records: the decoder of the stream, the adapter for River. A symbol's number is made
of its text alone, so a symbol means the same in every schema version, process and release, in whatever order an enum
lists it, and nothing has to remember which numbers were given. Calls nothing and knows no feature.
"""

from functools import lru_cache
from hashlib import blake2b

BITS = 52  # a float64 holds such a number exactly, with a bit to spare
REMEMBERED = 4_096  # symbols whose numbers are looked up: most come again and again
LONGEST_REMEMBERED = 256  # characters: a thousand long texts must not be kept alive


def hash_symbol(symbol: str) -> float:
    """The number of a symbol: the low 52 bits of a fixed hash of its UTF-8 text.

    Two symbols of a feature have the same number with a chance of one in 4,503,599,627,370,496.

    >>> hash_symbol("on") == hash_symbol("on") != hash_symbol("off")
    True
    """
    return _looked_up(symbol) if len(symbol) <= LONGEST_REMEMBERED else _hashed(symbol)


def _hashed(symbol: str) -> float:
    digest = blake2b(symbol.encode(errors="surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") & ((1 << BITS) - 1))


_looked_up = lru_cache(maxsize=REMEMBERED)(_hashed)
