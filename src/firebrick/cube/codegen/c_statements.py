"""Statements as C++: memory, atomics, planes, regions and the kernel around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.c_expressions import REGISTERS, STORED, CExpressions, literal, words
from firebrick.cube.codegen.statements import INDENT, Statements
from firebrick.cube.ir.nodes import (
    Atomic,
    Buffer,
    Constant,
    Expression,
    Leave,
    Plane,
    Region,
    Store,
    Topology,
    VectorLoad,
    VectorStore,
)
from firebrick.cube.ir.types import U32, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.cube.codegen.snippets import Words
    from firebrick.cube.codegen.target import Target
    from firebrick.cube.ir.nodes import Function, SharedArray

WORD_BYTES = 4
"""Atomics on smaller elements work on the word of this size around them."""


class CStatements(Statements):
    """Statements of the C family."""

    def __init__(self, function: Function, target: Target, expressions: CExpressions) -> None:
        super().__init__(function, target, expressions)
        self.c = expressions
        self._regions: list[tuple[str, str]] = []
        self._left: set[str] = set()

    def constant_line(self, type: Type, name: str, text: str) -> str:
        """`const int t1 = ...;`."""
        return f"const {REGISTERS[type.scalar]} {name} = {text};"

    def variable_line(self, type: Type, name: str, text: str) -> str:
        """`int t1 = ...;`."""
        return f"{REGISTERS[type.scalar]} {name} = {text};"

    def words(self, type: Type) -> Words:
        """Those of the C family."""
        return words(type)

    # ---- memory -------------------------------------------------------------------------------

    def store(self, store: Store) -> None:
        """Writes an element."""
        place = self.c.element(store.memory, self.text(store.index))
        self.add(f"{place} = {self.c.packed(store.memory.type, self.text(store.value))};")

    def _vector(self, buffer: Buffer, index: Expression, width: int, qualifier: str) -> str:
        pointer = f"({qualifier}f_vec{width}_{buffer.type}*){self.names.memory(buffer)}"
        return f"({pointer})[{self.text(index)}]"

    def vector_load(self, load: VectorLoad) -> None:
        """One aligned access, then an element for each variable."""
        buffer, width = load.buffer, len(load.results)
        with self.block():
            name = self.names.temporary()
            place = self._vector(buffer, load.index, width, "const ")
            self.add(f"const f_vec{width}_{buffer.type} {name} = {place};")
            for position, variable in enumerate(load.results):
                element = self.c.unpacked(buffer.type, f"{name}.e[{position}]")
                self.add(f"{self.names.variable(variable)} = {element};")

    def vector_store(self, store: VectorStore) -> None:
        """One aligned access."""
        buffer, width = store.buffer, len(store.values)
        elements = [self.c.packed(buffer.type, self.text(value)) for value in store.values]
        place = self._vector(buffer, store.index, width, "")
        stored = STORED[buffer.type.scalar]
        listed = ", ".join(f"({stored}){element}" for element in elements)
        self.add(f"{place} = f_vec{width}_{buffer.type}{{{{{listed}}}}};")

    def atomic(self, atomic: Atomic) -> None:
        """A call."""
        place = f"&{self.c.element(atomic.memory, self.text(atomic.index))}"
        values = [place, *map(self.text, atomic.operands)]
        # A store whose old value is wanted is an exchange.
        op = "exchange" if atomic.op == "store" and atomic.result is not None else atomic.op
        call = f"f_atomic_{op}_{atomic.memory.type}({', '.join(values)})"
        if atomic.result is None:
            self.add(f"{call};")
        else:
            self.add(f"{self.names.variable(atomic.result)} = {call};")

    # ---- planes -------------------------------------------------------------------------------

    def plane(self, plane: Plane) -> None:
        """A call that is told the unit's place and how many units the plane has."""
        lane = self.c.converted(U32, self.function.index_type, self.c.position("UNIT_POS_PLANE"))
        values = [*map(self.text, plane.operands), lane, self._plane_units()]
        if plane.op == "ballot":
            self._ballot(plane, values)
            return
        suffix = f"_{plane.operands[0].type}" if plane.operands else ""
        if plane.op in ("all", "any"):
            suffix = ""
        result = self.names.variable(plane.results[0])
        self.add(f"{result} = f_plane_{plane.op}{suffix}({', '.join(values)});")

    def _ballot(self, plane: Plane, values: list[str]) -> None:
        with self.block():
            votes = self.temporary(Type("u64"), f"f_vote({values[0]}, {values[-1]})")
            for position, variable in enumerate(plane.results):
                word = f"(unsigned)({votes} >> {32 * position})" if position < 2 else "0u"
                self.add(f"{self.names.variable(variable)} = {word};")

    def _plane_units(self) -> str:
        """Units of this plane: the last one of a cube may have fewer than the others."""
        index_type = self.function.index_type
        plane = Topology(index_type, "PLANE_DIM")
        size = self.c.converted(U32, index_type, self.text(plane))
        if self.function.units % int(self.target.spellings["widest_plane"]) == 0:
            return size
        position = self.c.converted(U32, index_type, self.text(Topology(index_type, "PLANE_POS")))
        units = self.c.constant(Constant(U32, self.function.units))
        return f"f_min_u32({size}, {units} - {position} * {size})"

    # ---- regions ------------------------------------------------------------------------------

    def region(self, region: Region) -> None:
        """A block with a label behind it, if anything goes there."""
        name = self.names.new_label(region.label)
        self._regions.append((region.label, name))
        with self.block():
            self.body(region.body)
        self._regions.pop()
        if name in self._left:
            self.add(f"{name}: ;")

    def leave(self, leave: Leave) -> None:
        """A jump."""
        name = next(name for label, name in reversed(self._regions) if label == leave.label)
        self._left.add(name)
        self.add(f"goto {name};")

    # ---- the kernel ---------------------------------------------------------------------------

    def kernel(self) -> str:
        """The whole text."""
        self.body(self.function.body)
        inside = [*self._declarations(), *self.lines]
        listed = ", ".join(self._parameters())
        head = (
            f'extern "C" __global__ void __launch_bounds__({self.function.units}) '
            f"{self.names.kernel}({listed}) {{"
        )
        kernel = "\n".join([head, *inside, "}"])
        parts = [self.target.prelude, *self.snippets(kernel), kernel]
        return "\n\n".join(part.strip() for part in parts if part) + "\n"

    def _parameters(self) -> Iterator[str]:
        for buffer in self.function.buffers:
            qualifier = "" if buffer.mutable else "const "
            yield f"{qualifier}{STORED[buffer.type.scalar]}* {self.names.memory(buffer)}"
        yield f"const {REGISTERS[self.function.index_type.scalar]}* words"

    def _declarations(self) -> Iterator[str]:
        for array in self.function.shared:
            yield f"{INDENT}{self._shared(array)};"
        for array in self.function.locals:
            name = self.names.memory(array)
            yield f"{INDENT}{STORED[array.type.scalar]} {name}[{array.size}] = {{}};"
        index = REGISTERS[self.function.index_type.scalar]
        for name, definition in self.c.positions().items():
            yield f"{INDENT}const {index} {name} = {definition};"
        for variable in self.function.variables:
            zero = literal(variable.type, 0)
            name = self.names.variable(variable)
            yield f"{INDENT}{REGISTERS[variable.type.scalar]} {name} = {zero};"

    def _shared(self, array: SharedArray) -> str:
        """Atomics on small elements reach whole words, so it has and begins with whole words."""
        element, element_bytes = STORED[array.type.scalar], array.type.bits // 8
        word_elements = max(WORD_BYTES // element_bytes, 1)
        size = -(-array.size // word_elements) * word_elements
        aligned = f"alignas({max(element_bytes, WORD_BYTES)})"
        return f"{aligned} __shared__ {element} {self.names.memory(array)}[{size}]"
