"""What a kernel is stored under: a hash of everything that its compiled form depends on.

A kernel is hashed after lowering. By then its callees are inlined, and the globals, closure values
and compile-time values that it or they read have become constants, so the text of the IR holds all
of them, wherever they were defined; nothing has to be traced through modules. What does not reach
the IR (comments, names of unread globals, places in the source) does not change the key.

The rest is named by the caller and by this file: compiler and device, what was asked of the
compiler, and the kernel tower itself, whose passes and code generators turn the IR into code.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
from typing import TYPE_CHECKING

from firebrick.cube.ir.printer import print_function

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from firebrick.cube.ir.nodes import Function

FORMAT = "1"
"""Changes when stored payloads are to be read in another way."""
_SOURCES = (".py", ".pyc")


def kernel_key(content: Function | str, *, identity: str, compiler: str, options: str = "") -> str:
    """The key of a compiled kernel: 64 hexadecimal digits, the same in every process.

    Args:
        content: The kernel as lowered, or the whole text of a source kernel.
        identity: `Driver.identity`: the device, as far as compiled code depends on it.
        compiler: Name and version of the target's compiler, such as `llvmlite 0.46.0`.
        options: What else was asked of the compiler, such as `checked`.
    """
    text = content if isinstance(content, str) else print_function(content)
    return content_key("kernel", toolchain(), identity, compiler, options, text)


def content_key(*parts: str) -> str:
    """A hash of texts in order; moving a letter from one text to the next changes it."""
    digest = hashlib.sha256()
    for part in (FORMAT, *parts):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


@functools.cache
def toolchain() -> str:
    """A hash of the kernel tower's own files: another code generator makes other kernels."""
    digest = hashlib.sha256()
    for name, file in sorted(_files(importlib.resources.files("firebrick.cube"), "")):
        data = file.read_bytes()
        digest.update(f"{name}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        name = f"{prefix}/{item.name}"
        if item.is_dir():
            if item.name != "__pycache__":
                yield from _files(item, name)
        elif item.name.endswith(_SOURCES):
            yield name, item
