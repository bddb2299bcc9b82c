"""What a unit does wrong while it runs. The scheduler adds where: unit, cube and source line."""

from __future__ import annotations

from firebrick.errors import KernelError


class Fault(Exception):
    """Inside the package only: the class of the error to come, and the fact."""

    def __init__(self, error: type[KernelError], fact: str) -> None:
        super().__init__(fact)
        self.error = error
        self.fact = fact
