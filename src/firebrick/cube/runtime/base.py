"""The narrow interface between the kernel tower and a runtime, and what is built on it alone.

A runtime is one folder with one `Driver`: compile, allocate, upload, launch, read, sync and
properties.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from firebrick.core import DType, Shape, from_numpy_dtype, to_numpy_dtype
from firebrick.cube.ir.types import SCALAR_NAMES, Type
from firebrick.errors import DTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.nodes import Function

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Properties:
    """What a device can do; sizes in bytes, None where nothing limits."""

    types: frozenset[str]
    """Scalar types that can be stored and computed with, such as `f32`."""
    max_units: int | None = None
    """Units of a cube."""
    max_cube_dim: Triple | None = None
    max_cube_count: Triple | None = None
    max_shared_bytes: int | None = None
    max_buffers: int | None = None
    """Tensors that one kernel can take."""
    max_buffer_bytes: int | None = None
    plane_dim: int = 1
    has_planes: bool = True
    has_64_bit_index: bool = True
    max_loop_trips: int | None = None
    """Trips of all loops of a unit together, after which the driver stops silently."""
    vector_bytes: int = 16
    """The widest single access."""


class Driver(Protocol):
    """What a runtime implements. Methods may be called from any thread."""

    @property
    def name(self) -> str:
        """`cpu`, `wgpu`, ..."""
        ...

    @property
    def identity(self) -> str:
        """Compiler and device, as far as compiled code depends on them."""
        ...

    @property
    def properties(self) -> Properties:
        """What the device can do."""
        ...

    def compile(self, function: Function) -> Any:
        """Compiles a kernel for launching; `KernelCompileError` with the target's own words."""
        ...

    def allocate(self, size_bytes: int) -> Any:
        """Memory of that size (at least one byte), contents undefined."""
        ...

    def upload(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copies a contiguous host array into memory; later launches see it."""
        ...

    def launch(
        self,
        compiled: Any,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Queues a kernel; no size in `cube_count` is 0. Errors come here or at the next read."""
        ...

    def read(self, memory: Any, size_bytes: int) -> bytes:
        """Waits, then copies memory to the host; raises what went wrong before."""
        ...

    def sync(self) -> None:
        """Waits for everything queued; raises the first error nobody has read yet."""
        ...


class TensorArgument(NamedTuple):
    """What a device is told of a tensor."""

    memory: Memory
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    length: int
    """Elements in the memory."""


class Memory:
    """A block of a runtime's memory; given back when nothing refers to it any more."""

    __slots__ = ("__weakref__", "raw", "runtime", "size_bytes")

    def __init__(self, runtime: Runtime, raw: Any, size_bytes: int) -> None:
        self.runtime = runtime
        self.raw = raw
        self.size_bytes = size_bytes


class DeviceTensor:
    """Memory of a runtime with a shape, for using the kernel tower by itself."""

    __slots__ = ("__weakref__", "dtype", "handle", "shape", "strides")

    def __init__(
        self, handle: Memory, shape: Shape, strides: tuple[int, ...], dtype: DType
    ) -> None:
        self.handle = handle
        self.shape = shape
        self.strides = strides
        """In elements."""
        self.dtype = dtype

    def numpy(self) -> np.ndarray[Any, Any]:
        """Waits, then copies to the host; raises what went wrong before."""
        runtime = self.handle.runtime
        array_dtype = to_numpy_dtype(self.dtype)
        raw = runtime.driver.read(self.handle.raw, self.handle.size_bytes)
        flat = np.frombuffer(raw, array_dtype)
        itemsize = array_dtype.itemsize
        strides = tuple(stride * itemsize for stride in self.strides)
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides).copy()

    def __repr__(self) -> str:
        runtime = self.handle.runtime.name
        return f"DeviceTensor({list(self.shape)}, {self.dtype}, on {runtime})"


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@dataclass
class Runtime:
    """A device that runs kernels, without tensors on top."""

    driver: Driver
    compiled: int = 0
    """How many kernels were compiled (not found in the cache in memory) so far."""
    variants: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @property
    def name(self) -> str:
        """`cpu`, `wgpu`, `cuda`, `rocm`, `null` or `interpreter`."""
        return self.driver.name

    def tensor(self, array: Any) -> DeviceTensor:
        """Copies a NumPy array."""
        host = np.ascontiguousarray(array).reshape(np.shape(array))
        dtype = from_numpy_dtype(host.dtype)
        made = self._empty(host.shape, dtype)
        if host.size:
            self.driver.upload(made.handle.raw, host)
        return made

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> DeviceTensor:
        """`dtype` is one of `f32`, `u32`, ..."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        return self.tensor(np.zeros(sizes, to_numpy_dtype(dtype_of(dtype))))

    def _empty(self, shape: tuple[int, ...], dtype: DType) -> DeviceTensor:
        if not self.supports_dtype(dtype):
            raise DTypeError(f"runtime `{self.name}` has no {dtype} on this device.")
        sizes = Shape(shape)
        size_bytes = sizes.num_elements() * dtype.itemsize
        raw = self.driver.allocate(max(size_bytes, 1))
        return DeviceTensor(Memory(self, raw, size_bytes), sizes, contiguous_strides(sizes), dtype)

    def sync(self) -> None:
        """Waits; raises the first error nobody has read yet."""
        self.driver.sync()

    def supports(self, dtype: Any) -> bool:
        """Whether values of a type such as `cube.f16` can be stored and computed with."""
        return self.supports_dtype(dtype_of(dtype))

    def supports_dtype(self, dtype: DType) -> bool:
        """As `supports`, for a tensor dtype."""
        return SCALAR_NAMES.get(dtype.name) in self.driver.properties.types

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def dtype_of(number: Any) -> DType:
    """The tensor dtype of a class such as `cube.f32`; `DTypeError` for anything else."""
    scalar = "bool" if number is bool else getattr(number, "scalar", None)
    if scalar is None:
        raise DTypeError(f"{number!r} is no number type; accepted are `cube.f32` and its like.")
    for name, known in SCALAR_NAMES.items():
        if known == scalar:
            return DType.by_name[name]
    raise DTypeError(f"there is no dtype for {scalar!r}.")


def type_of(dtype: DType) -> Type:
    """The kernel type of a tensor dtype."""
    return Type(SCALAR_NAMES[dtype.name])  # pyright: ignore[reportArgumentType] - a scalar's name
