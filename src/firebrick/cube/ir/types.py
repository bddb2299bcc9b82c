"""Types of kernel values. Vectors are tuples of scalars before they get here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScalarName = Literal[
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"
]  # fmt: skip
TypeKind = Literal["bool", "int", "uint", "float"]

BITS: dict[str, int] = {
    "bool": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip
"""Bits in memory; a bool takes a byte."""

DTYPE_NAMES: dict[str, str] = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64",
}  # fmt: skip
"""Name of the tensor dtype that a scalar type is stored as."""

SCALAR_NAMES: dict[str, str] = {dtype: scalar for scalar, dtype in DTYPE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type."""

    scalar: ScalarName

    @property
    def kind(self) -> TypeKind:
        """Bool, signed or unsigned integer, or float."""
        if self.scalar == "bool":
            return "bool"
        first = self.scalar[0]
        return "int" if first == "i" else "uint" if first == "u" else "float"

    @property
    def bits(self) -> int:
        """In memory."""
        return BITS[self.scalar]

    @property
    def is_float(self) -> bool:
        """Whether values are floating point numbers."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether values are integers; bools are not."""
        return self.kind in ("int", "uint")

    def __str__(self) -> str:
        return self.scalar


BOOL = Type("bool")
I32 = Type("i32")
I64 = Type("i64")
U32 = Type("u32")
U64 = Type("u64")
F16 = Type("f16")
BF16 = Type("bf16")
F32 = Type("f32")
F64 = Type("f64")


def parse_type(text: str) -> Type:
    """The type of that name; `ValueError` for anything else."""
    if text not in BITS:
        raise ValueError(f"there is no kernel type {text!r}; known are {', '.join(BITS)}.")
    return Type(text)  # pyright: ignore[reportArgumentType] - checked above
