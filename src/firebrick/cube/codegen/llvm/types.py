"""How scalar types look in LLVM: in registers, in memory, as literals.

A bool is an `i1` in registers and a byte in memory. The half types live in `float` registers that
always hold a number of the half type: arithmetic on them is done in float and rounded, as the
language says. A bf16 is an `i16` in memory, because not every processor that LLVM serves rounds to
`bfloat` correctly (AVX512-BF16 flushes subnormal numbers).
"""

from __future__ import annotations

import struct
from ctypes import c_float
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firebrick.cube.ir.types import Type

_REGISTERS = {"bool": "i1", "f16": "float", "bf16": "float", "f32": "float", "f64": "double"}
_MEMORY = {"bool": "i8", "f16": "half", "bf16": "i16", "f32": "float", "f64": "double"}
HALVES = frozenset({"f16", "bf16"})
FLOATS = frozenset({"float", "double"})


def register_type(type: Type) -> str:
    """The LLVM type of a value."""
    return _REGISTERS.get(type.scalar, f"i{type.bits}")


def memory_type(type: Type) -> str:
    """The LLVM type of an element in memory."""
    return _MEMORY.get(type.scalar, f"i{type.bits}")


def size_bytes(type: Type) -> int:
    """Of an element in memory, which is its alignment too."""
    return type.bits // 8


def bits_of(register: str) -> int:
    """The size of a register's type."""
    return {"float": 32, "double": 64}.get(register) or int(register[1:])


def literal(register: str, value: bool | int | float) -> str:
    """A constant of a register's type; floats are rounded to it."""
    if register == "i1":
        return "true" if value else "false"
    if register not in FLOATS:
        return str(int(value))
    number = c_float(value).value if register == "float" else float(value)
    # LLVM writes a float by the bits of the double of the same value.
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def zero(register: str) -> str:
    """What a variable holds that was never set."""
    return "zeroinitializer" if register in FLOATS else literal(register, 0)
