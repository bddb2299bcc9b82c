"""What the host launches: `Kernel`, its compiled variants, and `@kernel` and `@func`."""

from __future__ import annotations

import ast
import inspect
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from firebrick.cube import arguments, geometry
from firebrick.cube.frontend.functions import CubeFunction, Lowered, lower_kernel
from firebrick.cube.frontend.parameters import (
    KernelParameter,
    TensorParameter,
    flatten,
    read_parameters,
)
from firebrick.cube.frontend.source import Source, read_source
from firebrick.cube.frontend.syntax import check_syntax
from firebrick.cube.ir.rewrite import replace_buffers
from firebrick.cube.targets import source_text
from firebrick.errors import KernelTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.frontend.scope import Captured
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import Triple

Ps = ParamSpec("Ps")
R = TypeVar("R")

DEFAULT_CUBE_DIM: Triple = (64, 1, 1)
"""Units of a cube where only the text of a kernel is asked for."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A kernel compiled for one set of types, values and geometry on one runtime."""

    function: Function
    compiled: Any
    captured: tuple[Captured, ...]

    def is_current(self) -> bool:
        """Whether the globals and closure values that it read are what they were."""
        return all(_same(known.current(), known.value) for known in self.captured)


def _same(now: Any, then: Any) -> bool:
    return now is then or (type(now) is type(then) and bool(now == then))


class Kernel(Generic[Ps]):
    """`kernel[cube_count, cube_dim](*arguments)`; a count or dim is an int or up to 3 ints.

    Zero cubes: nothing runs. `cube_count="auto"` is enough cubes for the first `Mut` argument.
    """

    def __init__(self, source: Source, parameters: tuple[KernelParameter, ...]) -> None:
        self._source = source
        self._parameters = parameters
        self._signature = inspect.signature(source.function)
        self._lock = threading.RLock()
        self.__doc__ = source.function.__doc__
        self.__name__ = source.name
        self.__module__ = source.function.__module__

    @property
    def name(self) -> str:
        """Of the function."""
        return self._source.name

    @property
    def tensor_parameters(self) -> list[TensorParameter]:
        """Tensor parameters in order, those inside structs included."""
        return [p for p in flatten(self._parameters) if isinstance(p, TensorParameter)]

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def __getitem__(self, launch: tuple[Any, Any]) -> Launcher:
        """A launcher for that geometry: `(cube_count, cube_dim)`."""
        given: Any = launch
        if not isinstance(given, tuple) or len(launch) != 2:
            raise arguments.KernelLaunchError(
                f"`{self.name}` is launched as `{self.name}[cube_count, cube_dim](...)`; got "
                f"[{launch!r}]."
            )
        count, dim = launch
        cube_dim = geometry.read_triple(self.name, "the cube dim", dim, at_least=1)
        if count == geometry.AUTO:
            return Launcher(self, None, cube_dim)
        cube_count = geometry.read_triple(self.name, "the cube count", count, at_least=0)
        return Launcher(self, cube_count, cube_dim)

    def source(self, runtime: str, *values: Any) -> str:
        """The target text for these arguments, without running it.

        Args:
            runtime: `cpu` (LLVM IR), `wgpu` (WGSL), `cuda` or `rocm` (C++).
            values: As for a launch, tensors of any runtime.

        Raises:
            KernelError: the kernel does not compile, or the target lacks something it uses.
        """
        bound = self.bind(values)
        return source_text(runtime, self._lowered(bound, DEFAULT_CUBE_DIM).function)

    def bind(self, values: tuple[Any, ...]) -> arguments.Bound:
        """Checks arguments."""
        return arguments.bind(self.name, self._signature, self._parameters, values)

    def variant(self, bound: arguments.Bound, cube_dim: Triple) -> Variant:
        """The compiled variant for these arguments; compiled once, however many threads ask."""
        variants = bound.runtime.variants
        key = (self, bound.key(), cube_dim)
        found = variants.get(key)
        if found is not None and found.is_current():
            return found
        with self._lock:
            found = variants.get(key)
            if found is None or not found.is_current():
                found = variants[key] = self._compile(bound, cube_dim)
        return found

    def _compile(self, bound: arguments.Bound, cube_dim: Triple) -> Variant:
        lowered = self._lowered(bound, cube_dim)
        runtime = bound.runtime
        compiled = runtime.driver.compile(lowered.function)
        runtime.compiled += 1
        return Variant(lowered.function, compiled, lowered.captured)

    def _lowered(self, bound: arguments.Bound, cube_dim: Triple) -> Lowered:
        flat = self.tensor_parameters
        shared = {p.name: replace(p, mutable=True) for p in flat if p.name in bound.aliased}
        lowered = lower_kernel(
            self._source,
            self._parameters,
            bound.bindings,
            bound.comptime,
            bound.types,
            bound.index_type,
            cube_dim,
        )
        if not shared:
            return lowered
        return replace(lowered, function=_writable(lowered.function, flat, set(shared)))


def _writable(function: Function, flat: list[TensorParameter], names: set[str]) -> Function:
    """The kernel with parameters that share memory with a written one declared writable."""
    positions = {i for i, parameter in enumerate(flat) if parameter.name in names}
    new = {b: replace(b, mutable=True) for b in function.buffers if b.position in positions}
    return replace_buffers(function, new)


class Launcher:
    """A kernel with its geometry; calling it queues the kernel."""

    __slots__ = ("_cube_count", "_cube_dim", "_kernel")

    def __init__(self, kernel: Kernel[...], cube_count: Triple | None, cube_dim: Triple) -> None:
        self._kernel = kernel
        self._cube_count = cube_count
        self._cube_dim = cube_dim

    def __call__(self, *values: Any) -> None:
        """Queues the kernel. Arguments: `DeviceTensor`, `CubeTensor`, numbers, compile-time values.

        Raises: `KernelLaunchError` at once for wrong arguments; `TooManyResourcesError` here or
        at the next `sync` or read.
        """
        kernel = self._kernel
        bound = kernel.bind(values)
        driver = bound.runtime.driver
        cube_count = self._count(bound)
        geometry.check_geometry(kernel.name, cube_count, self._cube_dim, driver.properties)
        variant = kernel.variant(bound, self._cube_dim)
        if 0 in cube_count:
            return
        driver.launch(variant.compiled, cube_count, bound.tensors, bound.numbers)

    def _count(self, bound: arguments.Bound) -> Triple:
        if self._cube_count is not None:
            return self._cube_count
        kernel = self._kernel
        flat = kernel.tensor_parameters
        outputs = [a for p, a in zip(flat, bound.tensors, strict=True) if p.mutable]
        if not outputs:
            raise arguments.KernelLaunchError(
                f"`{kernel.name}` has no `Mut` tensor, so an automatic cube count covers nothing; "
                "give the count."
            )
        elements = 1
        for size in outputs[0].shape:
            elements *= size
        x, y, z = self._cube_dim
        return geometry.automatic_count(elements, x * y * z, bound.runtime.driver.properties)


def kernel(function: Callable[Ps, None]) -> Kernel[Ps]:
    """What the host launches.

    Raises: `KernelSyntaxError` with line and caret for what is outside the language,
    `KernelTypeError` for writing to a parameter that is not `Mut`.
    """
    source = read_source(function)
    check_syntax(source, is_kernel=True)
    frame = inspect.currentframe()
    around = frame.f_back.f_locals if frame is not None and frame.f_back is not None else {}
    parameters = read_parameters(source, dict(around))
    _check_writes(source, parameters)
    return Kernel(source, parameters)


def func(function: Callable[Ps, R]) -> Callable[Ps, R]:
    """What kernels call. `func` objects can be generic and call each other; no recursion.

    Raises: `KernelSyntaxError` with line and caret for what is outside the language.
    """
    source = read_source(function)
    check_syntax(source, is_kernel=False)
    return cast("Callable[Ps, R]", CubeFunction(source))  # is called in kernels only


def _check_writes(source: Source, parameters: tuple[KernelParameter, ...]) -> None:
    read_only = {
        p.name for p in flatten(parameters) if isinstance(p, TensorParameter) and not p.mutable
    }
    for node in ast.walk(source.tree):
        match node:
            case ast.Subscript(ast.Name(name), ctx=ast.Store()) if name in read_only:
                source.refuse(
                    node,
                    f"`{name}` is read only; annotate it `{name}: cube.Mut[cube.Tensor[...]]` to "
                    "write.",
                    KernelTypeError,
                )
            case _:
                continue
