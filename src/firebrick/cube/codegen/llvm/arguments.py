"""What a launch hands to a kernel, read once when the function is entered.

The function is `void name(ptr launch, ptr sizes)`. Both point to 8 byte words:

    launch   first cube, end of the cubes, address of the scratch memory,
             then the addresses of the buffers, then the numbers (floats as doubles)
    sizes    cubes along x, y, z, then for each buffer its length, shape and strides

`launch` differs from call to call and thread to thread; `sizes` only with geometry and shapes, so
that the host can keep it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.conversions import cast
from firebrick.cube.codegen.llvm.types import register_type
from firebrick.cube.ir.types import F64, I64

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.codegen.llvm.text import Builder, Value
    from firebrick.cube.ir.nodes import Buffer, Extent, Function, ScalarParameter

PARAMETERS = "ptr noalias readonly %launch, ptr noalias readonly %sizes"
_BEGIN, _END, _SCRATCH, _FIRST_BUFFER = range(4)
_FIRST_LENGTH = 3
_WORD_BYTES = 8


class Arguments:
    """The arguments of one function."""

    def __init__(self, builder: Builder, function: Function) -> None:
        self._builder = builder
        self._function = function
        self._known: dict[object, Value] = {}
        self._constant = f", !invariant.load {builder.empty_node()}"
        self._lengths: dict[Buffer, int] = {}
        word = _FIRST_LENGTH
        for buffer in function.buffers:
            self._lengths[buffer] = word
            word += 1 + 2 * buffer.rank

    @property
    def unchanging(self) -> str:
        """The mark of a load from memory that nothing writes during the launch."""
        return self._constant

    def _once(self, key: object, make: Callable[[], Value]) -> Value:
        if key not in self._known:
            with self._builder.at_entry():
                self._known[key] = make()
        return self._known[key]

    def _word(self, block: str, word: int, type: str, marks: str = "") -> Value:
        builder = self._builder
        base = builder.address(f"%{block}")
        address = builder.element(base, "i64", word)
        return builder.load(type, address, f", align {_WORD_BYTES}{marks}{self._constant}")

    # ---- the range of cubes -------------------------------------------------------------------

    def first_cube(self) -> Value:
        """As `i64`."""
        return self._once("begin", lambda: self._word("launch", _BEGIN, "i64"))

    def end_of_cubes(self) -> Value:
        """As `i64`."""
        return self._once("end", lambda: self._word("launch", _END, "i64"))

    def scratch(self) -> Value:
        """Memory that no other thread uses."""
        return self._once("scratch", lambda: self._word("launch", _SCRATCH, "ptr"))

    def cube_count(self, axis: int) -> Value:
        """Cubes along an axis, in the index type."""
        return self._once(("count", axis), lambda: self._index_word(axis))

    def _index_word(self, word: int) -> Value:
        index = register_type(self._function.index_type)
        return self._word("sizes", word, "i64").convert("trunc", index)

    # ---- tensors and numbers ------------------------------------------------------------------

    def pointer(self, buffer: Buffer) -> Value:
        """The address of the first element."""
        word = _FIRST_BUFFER + buffer.position
        return self._once(buffer, lambda: self._word("launch", word, "ptr"))

    def length(self, buffer: Buffer) -> Value:
        """In the index type."""
        word = self._lengths[buffer]
        return self._once(("length", buffer), lambda: self._index_word(word))

    def extent(self, extent: Extent, dim: int) -> Value:
        """A size or stride of a known dimension, in the index type."""
        word = self._extent_word(extent) + dim
        return self._once(word, lambda: self._index_word(word))

    def extent_at(self, extent: Extent, dim: Value) -> Value:
        """A size or stride of a computed dimension; one out of range is taken for the last."""
        builder, rank = self._builder, extent.buffer.rank
        if rank == 0:
            return dim.same(0)
        inside = dim.call("umin", rank - 1).convert("zext", "i64")
        word = inside + self._extent_word(extent)
        address = builder.element(builder.address("%sizes"), "i64", word)
        marks = f", align {_WORD_BYTES}{self._constant}{builder.group}"
        return builder.load("i64", address, marks).convert("trunc", dim.type)

    def _extent_word(self, extent: Extent) -> int:
        first = self._lengths[extent.buffer] + 1
        return first if extent.what == "shape" else first + extent.buffer.rank

    def scalar(self, parameter: ScalarParameter) -> Value:
        """A number."""
        return self._once(parameter, lambda: self._scalar(parameter))

    def _scalar(self, parameter: ScalarParameter) -> Value:
        function = self._function
        word = _FIRST_BUFFER + len(function.buffers) + parameter.position
        stored = F64 if parameter.type.is_float else I64
        value = self._word("launch", word, register_type(stored))
        return cast(value, stored, parameter.type)
