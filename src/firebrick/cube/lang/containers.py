"""Types of parameters and of memory: tensors, arrays of a unit, memory of a cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from firebrick.cube.lang.intrinsic import intrinsic

if TYPE_CHECKING:
    from typing import TypeAlias

    from firebrick.cube.lang.numbers import Int

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mark:
    """What `Mut` and `Comptime` leave in an annotation."""

    name: str


MUT = Mark("mut")
COMPTIME = Mark("comptime")

if TYPE_CHECKING:
    Mut: TypeAlias = Annotated[T, "mut"]
    Comptime: TypeAlias = Annotated[T, "comptime"]
else:
    Mut = Annotated[T, MUT]
    Comptime = Annotated[T, COMPTIME]


class Tensor(Generic[T]):
    """Device memory with shape and strides, indexed by flat element position."""

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def rank(self) -> int:
            """Known when compiling."""
            ...

        @property
        def dtype(self) -> type[T]:
            """The element type, for `shared`, `local` and `cast`. Known when compiling."""
            ...

        def stride(self, dim: int) -> int:
            """In elements; negative `dim` counts from the end."""
            ...

        def __len__(self) -> int:
            """Elements in the buffer."""
            ...

        def __getitem__(self, index: int | Int) -> T: ...
        def __setitem__(self, index: int | Int, value: T | int | float) -> None: ...


class Array(Tensor[T]):
    """Memory of one unit, zero at first."""


class Shared(Tensor[T]):
    """Memory of one cube, uninitialised."""


@intrinsic("local")
def local(dtype: type[T], size: int) -> Array[T]:
    """Memory of one unit; `size` is known when compiling."""
    ...


@intrinsic("shared")
def shared(dtype: type[T], size: int) -> Shared[T]:
    """Memory of one cube; `size` is known when compiling."""
    ...


@intrinsic("cast")
def cast(value: Any, dtype: type[T]) -> T:
    """Converts a number; floats truncate to integers and saturate, NaN gives 0."""
    ...


@intrinsic("reinterpret")
def reinterpret(value: Any, dtype: type[T]) -> T:
    """The same bits; equal sizes."""
    ...


@intrinsic("select")
def select(condition: bool, if_true: T, if_false: T) -> T:
    """Both sides are evaluated."""
    ...
