"""What a source kernel in C++ takes, read from its text.

A launch hands the device as many values as the kernel declares, whatever was given, so that a wrong
number of them would read memory of the host. And a Python number does not tell how wide it is.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Literal

from firebrick.errors import KernelCompileError, KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence

ParameterKind = Literal["pointer", "float", "double", "integer", "other"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INTEGER = r"\b(?:bool|char|short|int|long|unsigned|signed|size_t|u?int(?:8|16|32|64)_t)\b"
_KINDS: tuple[tuple[re.Pattern[str], ParameterKind], ...] = (
    (re.compile(r"[*\[]"), "pointer"),
    (re.compile(r"\bfloat\b"), "float"),
    (re.compile(r"\bdouble\b"), "double"),
    (re.compile(_INTEGER), "integer"),
)
"""How a declaration shows what it is; the first that fits counts."""


def parameters_of(text: str, entry: str) -> tuple[ParameterKind, ...]:
    """What each parameter of a function is; `KernelCompileError` if the text has no such function.

    Macros and templates are not looked into: what they name is `other`.
    """
    plain = _COMMENT.sub(" ", text)
    found = re.search(rf"\b__global__\b[^;{{}}]*?\b{re.escape(entry)}\s*\(([^)]*)\)", plain)
    if found is None:
        raise KernelCompileError(
            f"the text has no kernel `{entry}`; it is declared as "
            f'`extern "C" __global__ void {entry}(...)`.'
        )
    listed = found[1].strip()
    if listed in ("", "void"):
        return ()
    return tuple([_kind(parameter) for parameter in listed.split(",")])


def _kind(parameter: str) -> ParameterKind:
    for pattern, kind in _KINDS:
        if pattern.search(parameter):
            return kind
    return "other"


def check_arguments(
    name: str, kinds: Sequence[ParameterKind], tensors: int, numbers: Sequence[bool | int | float]
) -> None:
    """`KernelLaunchError` unless tensors and numbers, in that order, are what the kernel takes."""
    if tensors + len(numbers) != len(kinds):
        raise KernelLaunchError(
            f"`{name}` has {len(kinds)} parameters; got {tensors} tensors and {len(numbers)} "
            "numbers."
        )
    for position, kind in enumerate(kinds):
        is_tensor = position < tensors
        if is_tensor != (kind == "pointer"):
            given = "tensor" if is_tensor else f"number {numbers[position - tensors]!r}"
            raise KernelLaunchError(
                f"`{name}`: parameter {position} is of kind `{kind}`, got a {given}; tensors come "
                "first and are pointers, numbers follow."
            )
        if kind == "other":
            raise KernelLaunchError(
                f"`{name}`: parameter {position} has a type that takes no Python number; accepted "
                "are float, double, bool and integers."
            )


def encode(kind: ParameterKind, value: float) -> int:
    """A number as eight bytes, the first of which a narrower parameter reads (little-endian)."""
    if kind in ("float", "double"):
        packed = struct.pack("<f" if kind == "float" else "<d", value)
        return int.from_bytes(packed, "little")
    if isinstance(value, float):
        raise KernelLaunchError(f"a parameter that is an integer takes no {value!r}.")
    return int(value) & (1 << 64) - 1
