"""LLVM through llvmlite: the only module that knows that package, which has no type hints.

Text becomes an object file, which is plain bytes that another process can load again; loading links
it to the C library and makes it executable.
"""

from __future__ import annotations

import importlib
import os
import threading
from dataclasses import dataclass
from typing import Any

from firebrick.errors import KernelCompileError

# Any: the package has no type hints
llvmlite: Any = importlib.import_module("llvmlite")
binding: Any = importlib.import_module("llvmlite.binding")

_OPTIMIZATION = 3

# LLVM's own state is not made for several threads, and compiling is rare.
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):  # Windows does not fork
    # A child must not begin in the middle of another thread's compilation.
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


@dataclass(frozen=True, slots=True)
class Loaded:
    """An executable function; it stays so as long as this object lives."""

    address: int
    engine: Any


class Compiler:
    """Compiles for the processor that this process runs on.

    Args:
        processor: LLVM's name of an older processor of the same kind, to do without what it lacks.
    """

    def __init__(self, processor: str | None = None) -> None:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self.processor: str = processor or binding.get_host_cpu_name()
        self.features: str = "" if processor else binding.get_host_cpu_features().flatten()
        version = ".".join(map(str, binding.llvm_version_info))
        self.version = f"llvmlite {llvmlite.__version__}, LLVM {version}"
        self.triple: str = binding.get_process_triple()

    def _machine(self) -> Any:
        target = binding.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.processor, features=self.features, opt=_OPTIMIZATION, jit=True
        )

    def compile_object(self, text: str) -> bytes:
        """An object file from the text of a module.

        Raises: `KernelCompileError` with LLVM's words.
        """
        with _lock:
            machine = self._machine()
            return machine.emit_object(_optimized(text, machine))

    def optimized(self, text: str) -> str:
        """The text that is left after LLVM's passes, to look at what became a vector.

        Raises: `KernelCompileError` with LLVM's words.
        """
        with _lock:
            return str(_optimized(text, self._machine()))

    def load(self, object_file: bytes, symbol: str) -> Loaded:
        """Makes a function of an object file from `compile_object` executable.

        Raises: `KernelCompileError` if it cannot be linked, or has no such function.
        """
        with _lock:
            empty = binding.parse_assembly("")
            engine = binding.create_mcjit_compiler(empty, self._machine())
            try:
                engine.add_object_file(binding.ObjectFileRef.from_data(object_file))
                engine.finalize_object()
                address = engine.get_function_address(symbol)
            except RuntimeError as reason:
                raise KernelCompileError(f"LLVM cannot load `{symbol}`: {reason}") from reason
        if not address:
            raise KernelCompileError(f"the object file holds no function `{symbol}`.")
        return Loaded(address, engine)


def _optimized(text: str, machine: Any) -> Any:
    """The module of a text after LLVM's passes."""
    try:
        module = binding.parse_assembly(text)
        module.verify()
    except RuntimeError as reason:
        raise KernelCompileError(f"LLVM refuses the generated text: {reason}") from reason
    options = binding.create_pipeline_tuning_options(speed_level=_OPTIMIZATION)
    options.loop_vectorization = True
    options.loop_interleaving = True
    options.loop_unrolling = True
    options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module
