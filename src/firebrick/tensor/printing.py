"""How a tensor shows itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firebrick.tensor.reading import Reading, values_of

if TYPE_CHECKING:
    from firebrick.core import DispatchTensor

MOST_ELEMENTS_SHOWN = 1000
EDGE_ELEMENTS_SHOWN = 3
# Nothing was computed there, so there is nothing to show.
WITHOUT_VALUES = ("capture",)
START = "Tensor("


def description(value: DispatchTensor) -> str:
    """Values, shape, dtype and device, such as `Tensor([1.5, 2.0], shape=[2], ...)`."""
    device = value.device
    facts = f"shape={list(value.shape)}, dtype={value.dtype}, device={device}"
    if device.backend in WITHOUT_VALUES:
        return f"{START}{facts})"
    text = np.array2string(
        values_of(value),
        separator=", ",
        prefix=START,
        threshold=MOST_ELEMENTS_SHOWN,
        edgeitems=EDGE_ELEMENTS_SHOWN,
        floatmode="maxprec_equal",
    )
    # Several lines of values leave the facts a line of their own.
    gap = ",\n" + " " * len(START) if "\n" in text else ", "
    return f"{START}{text}{gap}{facts})"


class Printing(Reading):
    """`repr` and `str`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return description(self._value)
