"""Kernels on a device that CuPy reaches: compiled once per machine, launched at low cost.

The driver's functions are called directly, with places for the arguments that are made once per
kernel: CuPy's own launch looks at every argument anew.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from firebrick.cube.cache import kernel_key, shared_cache
from firebrick.cube.codegen.names import entry_point
from firebrick.cube.passes import prepare
from firebrick.cube.passes.vectorize import vectorize
from firebrick.cube.runtime import c_parameters
from firebrick.cube.runtime.cupy_device import CupyDevice, Failures, PinnedPage, driver, runtime
from firebrick.cube.runtime.metadata_page import SIZE_BYTES, MetadataPage, launch_key
from firebrick.errors import KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.passes.vectorize import Vectorized
    from firebrick.cube.runtime.base import Properties, TensorArgument, Triple
    from firebrick.cube.runtime.c_parameters import ParameterKind


PLANS = 1024
"""Kept for launches like earlier ones, for each kernel."""


class Loaded:
    """A kernel on the device. Dropping it queues its module: finalizers do no more."""

    __slots__ = ("_dropped", "_module", "handle", "name")

    def __init__(self, name: str, module: int, handle: int, dropped: deque[int]) -> None:
        self.name = name
        """In messages."""
        self.handle = handle
        self._module = module
        self._dropped = dropped

    def __del__(self) -> None:
        self._dropped.append(self._module)


class Places:
    """Where a launch finds its arguments: eight bytes each, and a list of their addresses."""

    __slots__ = ("_pointers", "address", "values")

    def __init__(self, count: int) -> None:
        self.values = (ctypes.c_uint64 * count)()
        first = ctypes.addressof(self.values)
        self._pointers = (ctypes.c_void_p * count)(*[first + 8 * i for i in range(count)])
        self.address = ctypes.addressof(self._pointers)


class Version:
    """A kernel of the kernel language, element by element or by vectors."""

    __slots__ = ("function", "loaded", "places", "positions", "units")

    def __init__(self, function: Function, loaded: Loaded) -> None:
        self.function = function
        self.loaded = loaded
        self.units = function.cube_dim
        self.positions = [buffer.position for buffer in function.buffers]
        self.places = Places(len(self.positions) + 1)


class Plan(NamedTuple):
    """What launches of equal geometry, sizes and numbers have in common."""

    version: Version
    cubes: Triple
    metadata: int
    """Its address, as long as the page of the metadata has this generation."""
    generation: int


class Compiled:
    """A kernel of the kernel language and its versions."""

    __slots__ = ("name", "plain", "plans", "vectorized", "wide")

    def __init__(self, name: str, plain: Version, vectorized: Vectorized | None) -> None:
        self.name = name
        """In messages."""
        self.plain = plain
        self.vectorized = vectorized
        self.wide: Version | None = None
        """By vectors; compiled when a launch can use it."""
        self.plans: dict[Hashable, Plan] = {}


class CompiledSource:
    """A kernel of the user's."""

    __slots__ = ("kinds", "loaded")

    def __init__(self, loaded: Loaded, kinds: tuple[ParameterKind, ...]) -> None:
        self.loaded = loaded
        self.kinds = kinds


class CupyDriver(CupyDevice, ABC):
    """A driver but for the compiler and the text it takes."""

    def __init__(self, name: str, index: int, *, is_hip: bool) -> None:
        super().__init__(name, index, is_hip=is_hip)
        self._dropped: deque[int] = deque()
        with self.using("opening the device"):
            self._pinned = PinnedPage(SIZE_BYTES, self._stream)
        self._page = MetadataPage(self._pinned.write)

    @property
    @abstractmethod
    def identity(self) -> str:
        """Architecture and device."""

    @property
    @abstractmethod
    def properties(self) -> Properties:
        """What the device can do."""

    @property
    @abstractmethod
    def compiler(self) -> str:
        """Name, version and options."""

    @abstractmethod
    def emit(self, function: Function) -> str:
        """The text of a prepared kernel."""

    @abstractmethod
    def translate(self, name: str, text: str, *, with_headers: bool) -> bytes:
        """Machine code; `KernelCompileError` with the compiler's own words."""

    # ---- compiling ----------------------------------------------------------------------------

    def compile(self, function: Function) -> Compiled:
        """Guards, C++, machine code from the cache or the compiler."""
        plain = self._version(function.name, function)
        return Compiled(function.name, plain, vectorize(function, self.properties))

    def _version(self, name: str, function: Function) -> Version:
        prepared = prepare(function, self.properties, checked=True)
        entry = entry_point(prepared.name)
        return Version(prepared, self._load(name, self.emit(prepared), entry, with_headers=False))

    def compile_source(self, text: str, entry: str, buffers: int) -> CompiledSource:
        """A text of the user's, which may include the headers that come with the compiler."""
        kinds = c_parameters.parameters_of(text, entry)
        return CompiledSource(self._load(entry, text, entry, with_headers=True), kinds)

    def _load(self, name: str, text: str, entry: str, *, with_headers: bool) -> Loaded:
        key = kernel_key(
            text,
            identity=self.identity,
            compiler=self.compiler,
            options="headers" if with_headers else "",
        )
        image = shared_cache().get_or_build(
            key, lambda: self.translate(name, text, with_headers=with_headers)
        )
        with self.using(f"`{name}` is loaded"):
            self._unload_dropped()
            try:
                module: int = driver.moduleLoadData(image)
                handle: int = driver.moduleGetFunction(module, entry)
            except driver.CUDADriverError as reason:
                raise KernelCompileError(
                    f"`{name}` cannot be loaded as `{entry}` on {self.title}: {reason}"
                ) from reason
        return Loaded(name, module, handle, self._dropped)

    def _unload_dropped(self) -> None:
        if self._dropped:
            runtime.streamSynchronize(self._stream)
        while self._dropped:
            driver.moduleUnload(self._dropped.popleft())

    # ---- launches -----------------------------------------------------------------------------

    def launch(
        self,
        compiled: Compiled,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Queues a kernel."""
        # As `using`, without its cost: this is called more often than anything else.
        before = self.enter()
        key = (cube_count, launch_key(tensors, numbers))
        try:
            with self._lock:
                plan = compiled.plans.get(key)
                if plan is None or plan.generation != self._page.generation:
                    plan = self._plan(compiled, cube_count, tensors, numbers)
                    compiled.plans[key] = plan
                version, (x, y, z), metadata, _ = plan
                units_x, units_y, units_z = version.units
                places = version.places
                values = places.values
                count = 0
                for position in version.positions:
                    values[count] = tensors[position].memory.raw.block.raw
                    count += 1
                values[count] = metadata
                driver.launchKernel(
                    version.loaded.handle, x, y, z, units_x, units_y, units_z,
                    0, self._stream, places.address, 0,
                )  # fmt: skip
        except Failures as reason:
            raise self.failure(f"`{compiled.name}` is launched", reason) from reason
        finally:
            self.leave(before)

    def _plan(
        self,
        compiled: Compiled,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> Plan:
        """Chooses the version, and writes the metadata."""
        if len(compiled.plans) >= PLANS:
            compiled.plans.clear()
        version, cubes = self._choose(compiled, cube_count, tensors)
        offset = self._page.place(version, version.function, tensors, numbers)
        if offset is None:
            runtime.streamSynchronize(self._stream)
            self._page.restart()
            offset = self._page.place(version, version.function, tensors, numbers)
        assert offset is not None
        return Plan(version, cubes, self._pinned.address + offset, self._page.generation)

    def _choose(
        self, compiled: Compiled, cube_count: Triple, tensors: Sequence[TensorArgument]
    ) -> tuple[Version, Triple]:
        """By vectors where the launch allows it; addresses are aligned, as `allocate` says."""
        vectorized = compiled.vectorized
        if vectorized is None:
            return compiled.plain, cube_count
        cubes = vectorized.cube_count(cube_count, tensors, self.properties)
        if cubes is None:
            return compiled.plain, cube_count
        if compiled.wide is None:
            compiled.wide = self._version(compiled.name, vectorized.function)
        return compiled.wide, cubes

    def launch_source(
        self,
        compiled: CompiledSource,
        cube_count: Triple,
        cube_dim: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Queues it: pointers in the order of the tensors, then numbers of the declared types."""
        name, kinds = compiled.loaded.name, compiled.kinds
        c_parameters.check_arguments(name, kinds, len(tensors), numbers)
        places = Places(len(kinds))
        for place, tensor in enumerate(tensors):
            places.values[place] = tensor.memory.raw.block.raw
        for place, number in enumerate(numbers, len(tensors)):
            places.values[place] = c_parameters.encode(kinds[place], number)
        with self.using(f"`{name}` is launched"):
            driver.launchKernel(
                compiled.loaded.handle, *cube_count, *cube_dim, 0, self._stream, places.address, 0
            )
