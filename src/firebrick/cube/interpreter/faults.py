"""What a unit does wrong while it runs. The scheduler adds where: unit, cube and source line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firebrick.errors import KernelError


class FaultError(Exception):
    """Inside the package only: the class of the error to come, and the fact."""

    def __init__(self, error: type[KernelError], fact: str) -> None:
        super().__init__(fact)
        self.error = error
        self.fact = fact
