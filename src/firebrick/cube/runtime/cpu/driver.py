"""The driver of the processor runtime: compiles with LLVM, runs at once, in several threads.

A launch is finished when `launch` returns, so nothing is ever queued and errors come at once.
"""

from __future__ import annotations

import ctypes
import math
import struct
import threading
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from firebrick.cube.cache import KernelCache, kernel_key, shared_cache
from firebrick.cube.codegen.llvm import PROPERTIES, write_module
from firebrick.cube.codegen.llvm.kernel import symbol_of
from firebrick.cube.geometry import too_many
from firebrick.cube.ir.types import BITS
from firebrick.cube.passes import prepare
from firebrick.cube.runtime.base import Properties
from firebrick.cube.runtime.cpu.llvm import Compiler, Loaded
from firebrick.cube.runtime.cpu.memory import Aligned, HostMemory, HostPool, aligned
from firebrick.cube.runtime.cpu.threads import PIECES_PER_THREAD, Threads, thread_count
from firebrick.cube.runtime.cpu.work import launch_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.ir.types import Type
    from firebrick.cube.runtime.base import TensorArgument, Triple

MAX_UNITS = 1024
MAX_SHARED_BYTES = 64 * 1024
_LARGEST_POSITION = (1 << 31) - 1
_WORTH_THREADS_NS = 100_000
"""Handing work to other threads and waiting for them takes about a quarter of this."""
_SURELY_LONG_NS = 2_000_000.0
"""An estimate from which on already the first launch uses threads."""
_SIZES_KEPT = 256
_HEADER = struct.Struct("<q")
"""In front of a stored object file: the bytes of scratch memory that it needs."""
_HALF_FEATURES = ("+f16c", "+avx512fp16", "+fullfp16", "+neon")


class Sizes(NamedTuple):
    """What a launch of known geometry and shapes needs, worked out once."""

    words: bytes
    """`sizes` of the function (see `codegen/llvm/arguments.py`)."""
    cubes: int
    pieces: int
    """For how many threads to take turns at; 1 where other threads are not worth it."""


@dataclass(slots=True)
class Compiled:
    """A kernel that can be launched."""

    function: Function
    loaded: Loaded
    call: Callable[[bytes, bytes], None]
    """The function, given `launch` and `sizes`."""
    pack: Callable[..., bytes]
    """Makes `launch` of first cube, end, scratch, addresses and numbers."""
    scratch_bytes: int
    sizes: dict[Any, Sizes] = field(default_factory=dict[Any, Sizes])
    """By geometry and shapes."""


class CpuDriver:
    """All processors of this machine that the process may use.

    Args:
        threads: How many; by default what the environment and the machine say.
        cache: Where object files are kept; by default the one that all runtimes share.
        checked: Whether accesses out of range are guarded; without, they are undefined.
        processor: LLVM's name of an older processor to compile for.
    """

    name = "cpu"

    def __init__(
        self,
        threads: int | None = None,
        cache: KernelCache | None = None,
        *,
        checked: bool = True,
        processor: str | None = None,
    ) -> None:
        self._compiler = Compiler(processor)
        self._threads = Threads(thread_count() if threads is None else threads)
        self._cache = cache
        self._checked = checked
        self._pool = HostPool()
        self._own = threading.local()
        compiler = self._compiler
        self.identity = f"{compiler.triple} {compiler.processor} {compiler.features}"
        self.properties = Properties(
            types=_types(compiler),
            max_units=MAX_UNITS,
            max_shared_bytes=MAX_SHARED_BYTES,
            plane_dim=PROPERTIES.plane_dim,
            vector_bytes=PROPERTIES.vector_bytes,
        )

    # ---- compiling ----------------------------------------------------------------------------

    def compile(self, function: Function) -> Compiled:
        """Compiles a kernel, or finds it compiled.

        Raises: `KernelCompileError`, `TooManyResourcesError` for too much shared memory.
        """
        cache = shared_cache() if self._cache is None else self._cache
        key = kernel_key(
            function,
            identity=self.identity,
            compiler=self._compiler.version,
            options="checked" if self._checked else "unchecked",
        )
        stored = cache.get_or_build(key, lambda: self._build(function))
        (scratch_bytes,) = _HEADER.unpack_from(stored)
        loaded = self._compiler.load(stored[_HEADER.size :], symbol_of(function))
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)
        return Compiled(
            function=function,
            loaded=loaded,
            call=prototype(loaded.address),
            pack=struct.Struct(_launch_format(function)).pack,
            scratch_bytes=scratch_bytes,
        )

    def _build(self, function: Function) -> bytes:
        shared = sum(array.size * array.type.bits // 8 for array in function.shared)
        if shared > MAX_SHARED_BYTES:
            raise too_many(function.name, "bytes of shared memory", shared, MAX_SHARED_BYTES)
        module = write_module(prepare(function, self.properties, checked=self._checked))
        return _HEADER.pack(module.scratch_bytes) + self._compiler.compile_object(module.text)

    # ---- memory -------------------------------------------------------------------------------

    def allocate(self, size_bytes: int) -> HostMemory:
        """Memory of that size, contents undefined."""
        return self._pool.take(size_bytes)

    def upload(self, memory: HostMemory, data: np.ndarray[Any, Any]) -> None:
        """Copies a contiguous host array into memory."""
        memory.array[: data.nbytes] = np.frombuffer(data, np.uint8)

    def read(self, memory: HostMemory, size_bytes: int) -> bytes:
        """A copy."""
        return memory.array[:size_bytes].tobytes()

    def sync(self) -> None:
        """Nothing is ever queued."""

    # ---- launching ----------------------------------------------------------------------------

    def launch(
        self,
        compiled: Compiled,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Runs a kernel.

        Raises: `TooManyResourcesError` for more units than positions can count.
        """
        known: list[Any] = [cube_count]
        addresses: list[int] = []
        for memory, shape, strides, length in tensors:
            known += (shape, strides, length)
            addresses.append(memory.raw.address)
        key = tuple(known)
        sizes = compiled.sizes.get(key)
        if sizes is None:
            self._launch_first(compiled, key, tensors, [*addresses, *numbers])
            return
        words, cubes, pieces = sizes
        if pieces > 1:
            self._launch_threads(compiled, sizes, [*addresses, *numbers])
            return
        scratch = self._scratch(compiled.scratch_bytes) if compiled.scratch_bytes else 0
        compiled.call(compiled.pack(0, cubes, scratch, *addresses, *numbers), words)

    def _launch_first(
        self,
        compiled: Compiled,
        key: tuple[Any, ...],
        tensors: Sequence[TensorArgument],
        rest: list[Any],
    ) -> None:
        """A launch of sizes that are new. How long it takes tells whether others use threads."""
        function, cube_count = compiled.function, key[0]
        cubes = math.prod(cube_count)
        units = cubes * function.units
        if function.index_type.bits < 64 and units > _LARGEST_POSITION:
            raise too_many(
                function.name, "units in all with 32 bit positions", units, _LARGEST_POSITION
            )
        words = [*cube_count]
        for tensor in tensors:
            words += (tensor.length, *tensor.shape, *tensor.strides)
        pieces = min(self._threads.count * PIECES_PER_THREAD, cubes)
        if self._threads.count == 1:
            pieces = 1
        sizes = Sizes(struct.pack(f"={len(words)}q", *words), cubes, pieces)
        elements = sum(tensor.length for tensor in tensors)
        if launch_ns(function, units, elements) >= _SURELY_LONG_NS:
            self._launch_threads(compiled, sizes, rest)
        else:
            start = perf_counter_ns()
            self._launch_threads(compiled, sizes._replace(pieces=1), rest)
            if perf_counter_ns() - start < _WORTH_THREADS_NS:
                sizes = sizes._replace(pieces=1)
        if len(compiled.sizes) >= _SIZES_KEPT:
            compiled.sizes.clear()
        compiled.sizes[key] = sizes

    def _launch_threads(self, compiled: Compiled, sizes: Sizes, rest: list[Any]) -> None:
        words, cubes, pieces = sizes

        def run(piece: int) -> None:
            begin, end = cubes * piece // pieces, cubes * (piece + 1) // pieces
            scratch = self._scratch(compiled.scratch_bytes) if compiled.scratch_bytes else 0
            compiled.call(compiled.pack(begin, end, scratch, *rest), words)

        self._threads.run(run, pieces)

    def _scratch(self, size_bytes: int) -> int:
        """The address of memory that belongs to the calling thread."""
        own = self._own
        scratch: Aligned | None = getattr(own, "scratch", None)
        if scratch is None or len(scratch.array) < size_bytes:
            scratch = own.scratch = aligned(size_bytes)
        return scratch.address


def _launch_format(function: Function) -> str:
    scalars = "".join(_number_format(scalar.type) for scalar in function.scalars)
    return f"=qqQ{'Q' * len(function.buffers)}{scalars}"


def _number_format(type: Type) -> str:
    if type.is_float:
        return "d"
    return "Q" if type.scalar == "u64" else "q"


def _types(compiler: Compiler) -> frozenset[str]:
    """Old processors have no conversion of f16, and no library that every system has brings it."""
    has_half = any(feature in compiler.features for feature in _HALF_FEATURES)
    return frozenset(BITS) - (frozenset() if has_half else {"f16"})
