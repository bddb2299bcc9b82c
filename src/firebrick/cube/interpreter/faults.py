"""What a unit does wrong while it runs. The scheduler adds where: unit, cube and source line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firebrick.errors import KernelError


class FaultError(Exception):
    """Inside the package only: the class of the error to come, and the fact.

    A read of shared memory that nobody wrote is `unwritten`: if another unit writes the element
    before the next barrier, the two race, and that is the better thing to say.
    """

    def __init__(self, error: type[KernelError], fact: str, *, unwritten: bool = False) -> None:
        super().__init__(fact)
        self.error = error
        self.fact = fact
        self.unwritten = unwritten
