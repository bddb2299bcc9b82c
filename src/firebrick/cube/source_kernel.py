"""Kernels written in a target's own language, with strict `{{ name }}` placeholders."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from firebrick.core import DType
from firebrick.cube import geometry
from firebrick.cube.ir.types import SCALAR_NAMES
from firebrick.cube.runtime.base import Memory, Runtime, TensorArgument, Triple
from firebrick.errors import KernelLaunchError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Sequence

Language = Literal["wgsl", "cuda", "hip"]

RUNTIMES: dict[Language, str] = {"wgsl": "wgpu", "cuda": "cuda", "hip": "rocm"}
C_NAMES = {
    "bool": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
    "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int",
    "u64": "unsigned long long", "f16": "__half", "bf16": "__nv_bfloat16", "f32": "float",
    "f64": "double",
}  # fmt: skip
"""How C++ spells a kernel type."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORKGROUP = re.compile(r"@workgroup_size\(([^)]*)\)")


class SourceDriver(Protocol):
    """What a runtime with a text language adds to `Driver`."""

    def compile_source(self, text: str, entry: str, buffers: int) -> Any:
        """Compiles text; `KernelCompileError` with the target's own words."""
        ...

    def launch_source(
        self,
        compiled: Any,
        cube_count: Triple,
        cube_dim: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Queues it: buffers in argument order, then numbers."""
        ...


@dataclass(frozen=True)
class SourceKernel:
    """A kernel written in the target's language, with `{{ name }}` placeholders.

    Buffers bind in argument order; the entry point is `main`. It runs on the matching runtime
    only, elsewhere `KernelLaunchError`. The whole text is the identity of the kernel.
    """

    language: Language
    template: str
    entry: str
    values: dict[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    def wgsl(template: str, *, entry: str = "main") -> SourceKernel:
        """For `wgpu`. Buffers are `@group(0)`, bindings 0, 1, ..."""
        return SourceKernel("wgsl", template, entry)

    @staticmethod
    def cuda(template: str, *, entry: str = "main") -> SourceKernel:
        """For `cuda`: an `extern "C" __global__` function."""
        return SourceKernel("cuda", template, entry)

    @staticmethod
    def hip(template: str, *, entry: str = "main") -> SourceKernel:
        """For `rocm`: an `extern "C" __global__` function."""
        return SourceKernel("hip", template, entry)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names in the template, in order of first use."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.template)))

    def fill(self, **values: object) -> SourceKernel:
        """Replaces placeholders.

        Accepted values: an int of 64 bits, a finite float, a bool, an identifier, a dtype or a
        number type such as `cube.f32`.

        Raises: `TemplateError` for a name that the template does not have, or another value.
        """
        known = self.placeholders
        for name in values:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean `{close[0]}`?" if close else ""
                raise TemplateError(
                    f"the template has no placeholder `{name}`{hint} It has "
                    f"{', '.join(known) or 'none'}."
                )
        spelled = {name: self._spell(name, value) for name, value in values.items()}
        return SourceKernel(self.language, self.template, self.entry, {**self.values, **spelled})

    def _spell(self, name: str, value: object) -> str:
        scalar = _scalar_name(value)
        if scalar is not None:
            return scalar if self.language == "wgsl" else C_NAMES[scalar]
        match value:
            case bool():
                return "true" if value else "false"
            case int() if -(1 << 63) <= value < 1 << 64:
                return str(value)
            case float() if math.isfinite(value):
                return repr(value)
            case str() if _IDENTIFIER.fullmatch(value):
                return value
            case _:
                raise TemplateError(
                    f"placeholder `{name}` cannot be {value!r}; accepted are a 64-bit int, a "
                    "finite float, a bool, an identifier, or a number type."
                )

    @property
    def text(self) -> str:
        """The filled text. `TemplateError` naming the placeholders that are still open."""
        missing = [name for name in self.placeholders if name not in self.values]
        if missing:
            raise TemplateError(
                f"placeholders without a value: {', '.join(missing)}; give them to `fill(...)`."
            )
        return _PLACEHOLDER.sub(lambda match: self.values[match[1]], self.template)

    def __getitem__(self, launch: tuple[Any, Any]) -> SourceLauncher:
        """A launcher for that geometry: `(cube_count, cube_dim)`."""
        count, dim = launch
        cube_dim = geometry.read_triple(self.entry, "the cube dim", dim, at_least=1)
        cube_count = geometry.read_triple(self.entry, "the cube count", count, at_least=0)
        return SourceLauncher(self, cube_count, cube_dim)


def _scalar_name(value: object) -> str | None:
    if isinstance(value, DType):
        return SCALAR_NAMES[value.name]
    scalar = getattr(value, "scalar", None) if isinstance(value, type) else None
    return scalar if isinstance(scalar, str) else None


@dataclass(frozen=True, slots=True)
class SourceLauncher:
    """A source kernel with its geometry; calling it queues the kernel."""

    kernel: SourceKernel
    cube_count: Triple
    cube_dim: Triple

    def __call__(self, *values: Any) -> None:
        """Queues the kernel: tensors first, in binding order, then numbers.

        Raises: `KernelLaunchError` for wrong arguments or another runtime, `TemplateError` for an
        open placeholder, `KernelCompileError` for text that the target refuses.
        """
        tensors = [_tensor(value) for value in values if hasattr(value, "handle")]
        numbers = [value for value in values if not hasattr(value, "handle")]
        if not tensors:
            raise KernelLaunchError("a source kernel takes at least one tensor on its runtime.")
        runtime = tensors[0].memory.runtime
        wanted = RUNTIMES[self.kernel.language]
        for tensor in tensors:
            if tensor.memory.runtime.name != wanted:
                raise KernelLaunchError(
                    f"a {self.kernel.language} kernel runs on `{wanted}`; the tensors are on "
                    f"runtime `{tensor.memory.runtime.name}`."
                )
        for number in numbers:
            if not isinstance(number, bool | int | float):
                raise KernelLaunchError(
                    f"a source kernel takes tensors, then numbers; got a {type(number).__name__}."
                )
        text = self.kernel.text
        self._check_workgroup(text)
        driver: Any = runtime.driver
        geometry.check_geometry(
            self.kernel.entry, self.cube_count, self.cube_dim, driver.properties
        )
        compiled = _compiled(runtime, text, self.kernel.entry, len(tensors))
        if 0 not in self.cube_count:
            driver.launch_source(compiled, self.cube_count, self.cube_dim, tensors, numbers)

    def _check_workgroup(self, text: str) -> None:
        """WGSL states its workgroup size in the text; it must be what is launched."""
        found = _WORKGROUP.search(text) if self.kernel.language == "wgsl" else None
        if found is None:
            return
        sizes = [part.strip() for part in found[1].split(",") if part.strip()]
        if all(size.isdigit() for size in sizes):
            stated = tuple(int(size) for size in sizes) + (1,) * (3 - len(sizes))
            if stated != self.cube_dim:
                raise KernelLaunchError(
                    f"the text has @workgroup_size{stated}, the launch a cube dim of "
                    f"{self.cube_dim}."
                )


def _compiled(runtime: Runtime, text: str, entry: str, buffers: int) -> Any:
    key = ("source", text, entry, buffers)
    found = runtime.variants.get(key)
    if found is None:
        driver: Any = runtime.driver
        found = runtime.variants[key] = driver.compile_source(text, entry, buffers)
        runtime.compiled += 1
    return found


def _tensor(value: Any) -> TensorArgument:
    memory = value.handle
    if not isinstance(memory, Memory):
        raise KernelLaunchError(
            f"a source kernel takes tensors on a kernel runtime; got a {type(value).__name__}."
        )
    length = memory.size_bytes // value.dtype.itemsize
    return TensorArgument(memory, tuple(value.shape), tuple(value.strides), length)


def build_info(*tensors: Any) -> list[int]:
    """`[rank, strides of each, shapes of each]`, for source kernels.

    Raises: `KernelLaunchError` without a tensor, or for tensors of different ranks.
    """
    if not tensors:
        raise KernelLaunchError("`build_info` takes at least one tensor.")
    rank = len(tensors[0].shape)
    if any(len(tensor.shape) != rank for tensor in tensors):
        ranks = ", ".join(str(len(tensor.shape)) for tensor in tensors)
        raise KernelLaunchError(f"`build_info` takes tensors of one rank; got {ranks}.")
    strides = [int(stride) for tensor in tensors for stride in tensor.strides]
    sizes = [int(size) for tensor in tensors for size in tensor.shape]
    return [rank, *strides, *sizes]
