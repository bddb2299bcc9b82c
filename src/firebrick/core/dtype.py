"""Element types: names, kinds and sizes. How a backend stores them is the backend's affair."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import numpy as np

from firebrick.errors import DTypeError

Kind: TypeAlias = Literal["float", "int", "bool", "quantized"]
Scalar: TypeAlias = bool | int | float

KINDS: tuple[Kind, ...] = ("float", "int", "bool", "quantized")


class DType:
    """An element type. One object per name, so that `is` and `==` agree; `str()` is the name."""

    __slots__ = ("_itemsize", "_kind", "_name")
    by_name: ClassVar[dict[str, DType]] = {}

    def __init__(self, name: str, kind: Kind, itemsize: int) -> None:
        self._name = name
        self._kind: Kind = kind
        self._itemsize = itemsize
        DType.by_name[name] = self

    @property
    def name(self) -> str:
        """Such as `float32`."""
        return self._name

    @property
    def kind(self) -> Kind:
        """Unsigned integers are of kind `int`."""
        return self._kind

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._itemsize

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> tuple[object, ...]:
        return dtype, (self._name,)


def dtype(name: str) -> DType:
    """The dtype of that name; `DTypeError` listing all names for an unknown one."""
    found = DType.by_name.get(name)
    if found is None:
        raise DTypeError(f"there is no dtype {name!r}; known are {', '.join(DType.by_name)}.")
    return found


float64 = DType("float64", "float", 8)
float32 = DType("float32", "float", 4)
float16 = DType("float16", "float", 2)
bfloat16 = DType("bfloat16", "float", 2)
int64 = DType("int64", "int", 8)
int32 = DType("int32", "int", 4)
int16 = DType("int16", "int", 2)
int8 = DType("int8", "int", 1)
uint64 = DType("uint64", "int", 8)
uint32 = DType("uint32", "int", 4)
uint16 = DType("uint16", "int", 2)
uint8 = DType("uint8", "int", 1)
bool_ = DType("bool", "bool", 1)

# NumPy has no bfloat16: arrays of it do not exist on the host.
FROM_NUMPY: dict[np.dtype[np.generic], DType] = {
    np.dtype(name): known for name, known in DType.by_name.items() if name != "bfloat16"
}
TO_NUMPY: dict[DType, np.dtype[np.generic]] = {d: n for n, d in FROM_NUMPY.items()}


def from_numpy_dtype(array_dtype: np.dtype[np.generic]) -> DType:
    """The dtype that a NumPy array of `array_dtype` has here; `DTypeError` if there is none."""
    found = FROM_NUMPY.get(array_dtype) or FROM_NUMPY.get(array_dtype.newbyteorder("="))
    if found is None:
        raise DTypeError(
            f"NumPy's dtype {str(array_dtype)!r} has no counterpart; "
            f"convert the array to one of {', '.join(str(d) for d in FROM_NUMPY.values())}."
        )
    return found


def to_numpy_dtype(wanted: DType) -> np.dtype[np.generic]:
    """NumPy's name for a dtype; `DTypeError` for those that NumPy does not have."""
    found = TO_NUMPY.get(wanted)
    if found is None:
        raise DTypeError(f"NumPy has no {wanted}; cast to float32 before reading values.")
    return found
