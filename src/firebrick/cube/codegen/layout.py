"""The metadata of a launch: lengths, shapes, strides and numbers, in one buffer on every target.

The buffer begins with words of the function's index type, for each tensor in the order of
`Function.buffers`

    length, sizes of its dimensions, strides in elements of its dimensions

and ends with the numbers in the order of `Function.scalars`. Integers of 8 and 16 bits and bools
take 4 bytes; the half types and f32 are an f32; 64 bits are aligned to 8 bytes. The size is a
multiple of 8 bytes. Everything is little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from firebrick.cube.codegen.literals import round_to
from firebrick.cube.codegen.target import registers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.nodes import Buffer, Extent, Function, ScalarParameter
    from firebrick.cube.ir.types import Type

_SIZE_MULTIPLE = 8


class TensorSizes(Protocol):
    """What a launch says of a tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        ...

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        ...

    @property
    def length(self) -> int:
        """Elements in the memory."""
        ...


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands: words count in the index type, offsets in bytes."""

    word_bytes: int
    lengths: dict[Buffer, int]
    scalars: dict[ScalarParameter, int]
    size_bytes: int

    def length(self, buffer: Buffer) -> int:
        """The word that holds a buffer's length."""
        return self.lengths[buffer]

    def extent(self, extent: Extent) -> int:
        """The word of the first dimension; that of dimension `n` is `n` words behind."""
        first = self.lengths[extent.buffer] + 1
        return first if extent.what == "shape" else first + extent.buffer.rank

    def scalar(self, parameter: ScalarParameter) -> int:
        """The byte at which a number begins; a multiple of its size."""
        return self.scalars[parameter]


def layout_of(function: Function) -> Layout:
    """The layout of a function's metadata."""
    word_bytes = function.index_type.bits // 8
    lengths: dict[Buffer, int] = {}
    words = 0
    for buffer in function.buffers:
        lengths[buffer] = words
        words += 1 + 2 * buffer.rank
    position = words * word_bytes
    scalars: dict[ScalarParameter, int] = {}
    for scalar in function.scalars:
        size = stored_bytes(scalar.type)
        position = _round_up(position, size)
        scalars[scalar] = position
        position += size
    return Layout(word_bytes, lengths, scalars, max(_round_up(position, 8), _SIZE_MULTIPLE))


def stored_bytes(type: Type) -> int:
    """Bytes of a number in the metadata."""
    return 8 if registers_of(type).bits == 64 else 4


def _round_up(position: int, multiple: int) -> int:
    return -(-position // multiple) * multiple


def metadata(
    function: Function, tensors: Sequence[TensorSizes], numbers: Sequence[bool | int | float]
) -> bytes:
    """The metadata of a launch.

    Args:
        function: The compiled function.
        tensors: All tensor arguments of the launch; a buffer's `position` is its index.
        numbers: All number arguments of the launch; a scalar's `position` is its index.
    """
    layout = layout_of(function)
    buffer = bytearray(layout.size_bytes)
    words: list[int] = []
    for item in function.buffers:
        tensor = tensors[item.position]
        words += (tensor.length, *tensor.shape, *tensor.strides)
    index_dtype = np.dtype(f"<i{layout.word_bytes}")
    packed = np.array(words, index_dtype).tobytes()
    buffer[: len(packed)] = packed
    for scalar in function.scalars:
        start = layout.scalar(scalar)
        number = _encode(scalar.type, numbers[scalar.position])
        buffer[start : start + len(number)] = number
    return bytes(buffer)


def _encode(type: Type, value: float) -> bytes:
    if type.is_float:
        kind = "f8" if type.scalar == "f64" else "f4"
        return np.array(round_to(type, float(value)), f"<{kind}").tobytes()
    kind = "u" if type.kind == "uint" else "i"
    return np.array(int(value), f"<{kind}{stored_bytes(type)}").tobytes()
