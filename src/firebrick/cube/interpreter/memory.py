"""Elements of buffers and shared memory while a launch runs, with every access checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from firebrick.cube.interpreter.arithmetic import NAMES, binary_function
from firebrick.cube.interpreter.faults import FaultError
from firebrick.cube.ir.types import DTYPE_NAMES, Type
from firebrick.errors import KernelBoundsError, KernelError

if TYPE_CHECKING:
    from firebrick.cube.interpreter.races import Shadow
    from firebrick.cube.ir.nodes import AtomicOp

Number = bool | int | float
HostArray = np.ndarray[Any, np.dtype[Any]]


class Elements(Protocol):
    """Numbers by position; None where shared memory was never written."""

    def __getitem__(self, index: int, /) -> Any: ...
    def __setitem__(self, index: int, value: Any, /) -> None: ...


class NarrowElements:
    """float16 or bfloat16 elements, kept as bits."""

    def __init__(self, bits: memoryview, type: Type) -> None:
        self._bits = bits
        self._decode: Callable[[int], float] = NAMES[f"{type}_of_bits"]
        self._encode: Callable[[float], int] = NAMES[f"bits_{type}"]

    def __getitem__(self, index: int) -> float:
        return self._decode(self._bits[index])

    def __setitem__(self, index: int, value: float) -> None:
        self._bits[index] = self._encode(value)


def storage_dtype(type: Type) -> np.dtype[Any]:
    """How NumPy stores elements of a type; it has no bfloat16, whose bits are kept instead."""
    return np.dtype("uint16" if type.scalar == "bf16" else DTYPE_NAMES[type.scalar])


def elements_of(values: HostArray, type: Type) -> Elements:
    """The elements of a flat array of `storage_dtype(type)`; writes go into the array."""
    if type.scalar in ("f16", "bf16"):
        return NarrowElements(values.view(np.uint16).data, type)
    return values.data


@dataclass(frozen=True, slots=True)
class LiveMemory:
    """A buffer or shared memory during a launch; no `shadow` where no race is possible."""

    name: str
    type: Type
    elements: Elements
    length: int
    shadow: Shadow | None

    def out_of_range(self, index: int) -> FaultError:
        """The fault of an index past the ends."""
        return out_of_range(self.name, self.length, index)

    def uninitialized(self, index: int) -> FaultError:
        """The fault of reading shared memory before it is written."""
        return FaultError(
            KernelError,
            f"element {index} of shared memory `{self.name}` is read, and no unit of the cube has "
            "written it",
            unwritten=True,
        )


def out_of_range(name: str, length: int, index: int) -> FaultError:
    """The fault of an index past the ends of some memory."""
    return FaultError(
        KernelBoundsError,
        f"index {index} is out of range for `{name}`, which has {length} elements",
    )


# ---- accesses by generated code; `tag` is that of the unit ------------------------------------


def reader(memory: LiveMemory) -> Callable[[int, int], Number]:
    """`read(index, tag)`."""
    elements, length, shadow = memory.elements, memory.length, memory.shadow

    def read(index: int, tag: int) -> Number:
        if not 0 <= index < length:
            raise memory.out_of_range(index)
        if shadow is not None:
            shadow.read(index, tag)
        value = elements[index]
        if value is None:
            raise memory.uninitialized(index)
        return value

    return read


def writer(memory: LiveMemory) -> Callable[[int, Number, int], None]:
    """`write(index, value, tag)`."""
    elements, length, shadow = memory.elements, memory.length, memory.shadow

    def write(index: int, value: Number, tag: int) -> None:
        if not 0 <= index < length:
            raise memory.out_of_range(index)
        if shadow is not None:
            shadow.write(index, tag)
        elements[index] = value

    return write


Combine = Callable[..., Number]
"""The new value of an element, from the old one and the operands of an atomic."""


def atomic(memory: LiveMemory, op: AtomicOp) -> Callable[..., Number | None]:
    """`update(index, *operands, tag)`, which gives the old value.

    None if there is none yet, which `store` and `exchange` allow.
    """
    elements, length, shadow = memory.elements, memory.length, memory.shadow
    combine = _combine(op, memory.type)
    needs_old = op not in ("store", "exchange")

    def update(index: int, *operands_and_tag: Any) -> Number | None:
        *operands, tag = operands_and_tag
        if not 0 <= index < length:
            raise memory.out_of_range(index)
        if shadow is not None:
            access = shadow.atomic_load if op == "load" else shadow.update
            access(index, tag)
        old = elements[index]
        if old is None and needs_old:
            raise memory.uninitialized(index)
        if op != "load":
            elements[index] = combine(old, *operands)
        return old

    return update


def _combine(op: AtomicOp, type: Type) -> Combine:
    match op:
        case "load" | "store" | "exchange":
            return _last
        case "compare_exchange":
            return _exchange_if_equal(type)
        case _:
            return binary_function(op, type)


def _last(*values: Number) -> Number:
    return values[-1]


def _exchange_if_equal(type: Type) -> Combine:
    """Floats are compared by their bits, as hardware does."""
    bits: Callable[[Number], int] = NAMES[f"bits_{type}"] if type.is_float else int

    def exchange(old: Number, expected: Number, new: Number) -> Number:
        return new if bits(old) == bits(expected) else old

    return exchange


def known(value: Number | None, name: str) -> Number:
    """What an atomic gave, where the program wants it."""
    if value is None:
        raise FaultError(
            KernelError,
            f"`exchange` gives an element of shared memory `{name}`, and no unit of the cube has "
            "written it",
            unwritten=True,
        )
    return value


# ---- local arrays, which need no tag ----------------------------------------------------------


def read_local(array: list[Number], index: int, name: str) -> Number:
    """An element of a unit's own array."""
    if 0 <= index < len(array):
        return array[index]
    raise out_of_range(name, len(array), index)


def write_local(array: list[Number], index: int, value: Number, name: str) -> None:
    """Sets an element of a unit's own array."""
    if not 0 <= index < len(array):
        raise out_of_range(name, len(array), index)
    array[index] = value


def extent(sizes: tuple[int, ...], dim: int, name: str) -> int:
    """A size or stride of a buffer."""
    if 0 <= dim < len(sizes):
        return sizes[dim]
    raise FaultError(KernelBoundsError, f"`{name}` of rank {len(sizes)} has no dimension {dim}")
