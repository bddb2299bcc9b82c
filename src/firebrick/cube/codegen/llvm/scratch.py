"""Accesses to the scratch memory that `storage.py` has divided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.types import memory_type, register_type
from firebrick.cube.ir.nodes import LocalArray, SharedArray

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.arguments import Arguments
    from firebrick.cube.codegen.llvm.storage import Storage
    from firebrick.cube.codegen.llvm.text import Builder, Value
    from firebrick.cube.ir.nodes import Variable

TAKES_PART = 0
"""What the skip byte of a unit holds that takes part in every run."""


class Scratch:
    """The scratch memory of the cube that runs."""

    def __init__(self, builder: Builder, arguments: Arguments, storage: Storage) -> None:
        self._builder = builder
        self._arguments = arguments
        self.storage = storage

    def _at(self, offset: int) -> Value:
        return self._builder.element(self._arguments.scratch(), "i8", offset)

    def clear(self) -> None:
        """What a cube begins with."""
        for offset, size in self.storage.zeroed:
            self._builder.clear(self._at(offset), size)

    # ---- arrays -------------------------------------------------------------------------------

    def element(self, array: SharedArray | LocalArray, index: Value, unit: Value) -> Value:
        """The address of an element of an array that is not on the stack."""
        storage, type = self.storage, memory_type(array.type)
        if isinstance(array, SharedArray):
            return self._builder.element(self._at(storage.shared[array]), type, index)
        if array in storage.lent:
            return self._builder.element(self._at(storage.lent[array]), type, index)
        place = index * storage.units + unit
        return self._builder.element(self._at(storage.spread[array]), type, place)

    # ---- variables ----------------------------------------------------------------------------

    def _place(self, variable: Variable, unit: Value) -> Value:
        offset = self.storage.spilled[variable]
        return self._builder.element(self._at(offset), _stored_type(variable), unit)

    def load(self, variable: Variable, unit: Value) -> Value:
        """A unit's value of a variable."""
        builder, stored = self._builder, _stored_type(variable)
        value = builder.load(stored, self._place(variable, unit), builder.group)
        return value if stored == register_type(variable.type) else value.compare("ne", 0)

    def store(self, variable: Variable, unit: Value, value: Value) -> None:
        """Keeps a unit's value of a variable."""
        builder = self._builder
        stored = value.convert("zext", _stored_type(variable))
        builder.store(stored, self._place(variable, unit), builder.group)

    # ---- units that sit out -------------------------------------------------------------------

    def _skip_place(self, unit: Value) -> Value:
        assert self.storage.skip is not None
        return self._builder.element(self._at(self.storage.skip), "i8", unit)

    def skip(self, unit: Value) -> Value:
        """Where a unit goes on, or `TAKES_PART`."""
        return self._builder.load("i8", self._skip_place(unit), self._builder.group)

    def set_skip(self, unit: Value, code: Value) -> None:
        """Sets where a unit goes on."""
        self._builder.store(code, self._skip_place(unit), self._builder.group)


def _stored_type(variable: Variable) -> str:
    """A bool takes a byte, so that vectors of them are ordinary vectors."""
    register = register_type(variable.type)
    return "i8" if register == "i1" else register
