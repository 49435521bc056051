"""The share of right answers among the newest ones.

Kept by `device` and `fleet_accuracy`. Pure.
"""


class Lately:
    """The last `most` answers, a bit each."""

    __slots__ = ("_bits", "_known", "_mask")

    def __init__(self, most: int) -> None:
        self._mask = (1 << most) - 1
        self._bits = 0
        self._known = 0  # the same number of low bits is set as there are answers

    def add(self, *, right: bool) -> None:
        """The newest answer."""
        self._bits = (self._bits << 1 | right) & self._mask
        self._known = (self._known << 1 | 1) & self._mask

    @property
    def share(self) -> float | None:
        """Of right answers; None before the first."""
        return self._bits.bit_count() / self._known.bit_count() if self._known else None
