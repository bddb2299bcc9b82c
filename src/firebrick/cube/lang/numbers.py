"""Element types of the kernel language. A call such as `f32(x)` converts, inside kernels.

Kernels are parsed, never run: the classes carry names for the parser and signatures for editors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from firebrick.cube.ir.types import ScalarName
from firebrick.cube.lang.outside import only_in_kernels

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    Number: TypeAlias = "int | float | Numeric"

__all__ = [
    "Float", "Int", "Numeric", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16",
    "u32", "u64",
]  # fmt: skip


class Numeric:
    """Any number; `TypeVar("N", bound=cube.Numeric)` makes a kernel generic."""

    scalar: ClassVar[ScalarName | None] = None
    """Name of the type in the IR; None for a family of types."""

    def __init__(self, value: Any = 0) -> None:
        raise only_in_kernels(type(self).__name__)

    if TYPE_CHECKING:

        def __add__(self, other: Number) -> Self: ...
        def __radd__(self, other: Number) -> Self: ...
        def __sub__(self, other: Number) -> Self: ...
        def __rsub__(self, other: Number) -> Self: ...
        def __mul__(self, other: Number) -> Self: ...
        def __rmul__(self, other: Number) -> Self: ...
        def __floordiv__(self, other: Number) -> Self: ...
        def __mod__(self, other: Number) -> Self: ...
        def __neg__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __lt__(self, other: Number) -> bool: ...
        def __le__(self, other: Number) -> bool: ...
        def __gt__(self, other: Number) -> bool: ...
        def __ge__(self, other: Number) -> bool: ...


class Float(Numeric):
    """Any float type."""

    if TYPE_CHECKING:

        def __truediv__(self, other: Number) -> Self: ...
        def __rtruediv__(self, other: Number) -> Self: ...
        def __pow__(self, other: Number) -> Self: ...


class Int(Numeric):
    """Any integer type."""

    if TYPE_CHECKING:

        def __index__(self) -> int: ...
        def __and__(self, other: Int | int) -> Self: ...
        def __or__(self, other: Int | int) -> Self: ...
        def __xor__(self, other: Int | int) -> Self: ...
        def __invert__(self) -> Self: ...
        def __lshift__(self, other: Int | int) -> Self: ...
        def __rshift__(self, other: Int | int) -> Self: ...


class f16(Float):  # noqa: N801 - named like the types of the targets
    """IEEE half precision."""

    scalar = "f16"


class bf16(Float):  # noqa: N801
    """Brain float: the upper half of an f32."""

    scalar = "bf16"


class f32(Float):  # noqa: N801
    """IEEE single precision."""

    scalar = "f32"


class f64(Float):  # noqa: N801
    """IEEE double precision."""

    scalar = "f64"


class i8(Int):  # noqa: N801
    """Signed, 8 bits."""

    scalar = "i8"


class i16(Int):  # noqa: N801
    """Signed, 16 bits."""

    scalar = "i16"


class i32(Int):  # noqa: N801
    """Signed, 32 bits."""

    scalar = "i32"


class i64(Int):  # noqa: N801
    """Signed, 64 bits."""

    scalar = "i64"


class u8(Int):  # noqa: N801
    """Unsigned, 8 bits."""

    scalar = "u8"


class u16(Int):  # noqa: N801
    """Unsigned, 16 bits."""

    scalar = "u16"


class u32(Int):  # noqa: N801
    """Unsigned, 32 bits."""

    scalar = "u32"


class u64(Int):  # noqa: N801
    """Unsigned, 64 bits."""

    scalar = "u64"
