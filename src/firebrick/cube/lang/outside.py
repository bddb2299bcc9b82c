"""What names of the kernel language do when plain Python runs them: say where they belong."""

from __future__ import annotations

from firebrick.errors import KernelError


def only_in_kernels(name: str) -> KernelError:
    """The error for a name of the language used outside of a kernel."""
    return KernelError(
        f"`cube.{name}` exists inside `@cube.kernel` and `@cube.func` functions only: they are "
        "compiled, never run by Python."
    )
