"""Statements as WGSL: memory, atomics, planes and the kernel around them.

Functions of WGSL cannot take pointers into buffers, so atomics that the language does not have are
written out where they stand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firebrick.cube.codegen.statements import INDENT, Statements
from firebrick.cube.codegen.wgsl_expressions import REGISTERS, STORED, WgslExpressions, words
from firebrick.cube.ir.nodes import (
    Atomic,
    AtomicOp,
    Binary,
    BinaryOp,
    Buffer,
    Constant,
    Expression,
    Leave,
    Load,
    Memory,
    Plane,
    Region,
    SharedArray,
    Store,
    Topology,
    VectorLoad,
    VectorStore,
    expressions,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.types import BOOL, F32, U32, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.cube.codegen.snippets import Words
    from firebrick.cube.codegen.target import Target
    from firebrick.cube.ir.nodes import Function

BUILT_IN = {
    "unit_pos": "@builtin(local_invocation_id) unit_pos: vec3<u32>",
    "cube_pos": "@builtin(workgroup_id) cube_pos: vec3<u32>",
    "cube_count": "@builtin(num_workgroups) cube_count: vec3<u32>",
    "plane_dim": "@builtin(subgroup_size) plane_dim: u32",
    "plane_pos": "@builtin(subgroup_id) plane_pos: u32",
    "unit_pos_plane": "@builtin(subgroup_invocation_id) unit_pos_plane: u32",
}
"""Parameters of the entry point that a target's positions speak of."""

_ATOMICS: dict[AtomicOp, str] = {
    "load": "atomicLoad", "store": "atomicStore", "exchange": "atomicExchange",
    "add": "atomicAdd", "sub": "atomicSub", "max": "atomicMax", "min": "atomicMin",
    "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor",
}  # fmt: skip
_COMBINED: dict[AtomicOp, BinaryOp] = {"add": "add", "sub": "sub", "max": "max", "min": "min"}
_PLANES = {
    "sum": "subgroupAdd", "prod": "subgroupMul", "max": "f_plane_max", "min": "f_plane_min",
    "inclusive_sum": "subgroupInclusiveAdd", "exclusive_sum": "subgroupExclusiveAdd",
    "inclusive_prod": "subgroupInclusiveMul", "exclusive_prod": "subgroupExclusiveMul",
    "all": "subgroupAll", "any": "subgroupAny",
}  # fmt: skip
_SOURCES = {
    "broadcast": "{n}", "shuffle": "{n}", "shuffle_xor": "({lane} ^ {n})",
    "shuffle_up": "select({lane}, {lane} - {n}, {lane} >= {n})",
    "shuffle_down": "select({lane}, {lane} + {n}, {n} < {units} - {lane})",
}  # fmt: skip


class WgslStatements(Statements):
    """Statements of WGSL; regions and lazy selections are gone by now."""

    def __init__(self, function: Function, target: Target, expressions: WgslExpressions) -> None:
        super().__init__(function, target, expressions)
        self.w = expressions
        self._rereads = _rereads(function)

    def constant_line(self, type: Type, name: str, text: str) -> str:
        """`let t1 = ...;`."""
        return f"let {name}: {REGISTERS[type.scalar]} = {text};"

    def variable_line(self, type: Type, name: str, text: str) -> str:
        """`var t1: i32 = ...;`."""
        return f"var {name}: {REGISTERS[type.scalar]} = {text};"

    def words(self, type: Type) -> Words:
        """Those of WGSL."""
        return words(type)

    def region(self, region: Region) -> None:
        """Does not occur: `regions.py` has removed them."""
        raise AssertionError(f"the region `{region.label}` is still there")

    def leave(self, leave: Leave) -> None:
        """Does not occur, as `region`."""
        raise AssertionError(f"a way out of the region `{leave.label}` is still there")

    def sync(self, scope: str) -> None:
        """What units write into tensors is visible after a barrier, if they read it again."""
        super().sync(scope)
        if scope == "cube" and self._rereads:
            super().sync("storage")

    # ---- memory -------------------------------------------------------------------------------

    def store(self, store: Store) -> None:
        """Writes an element."""
        self._write(store.memory, store.index, self.text(store.value))

    def _write(self, memory: Memory, index: Expression, text: str) -> None:
        if memory.type == BOOL and isinstance(memory, Buffer):
            self._write_bool(memory, index, text)
            return
        place = self.w.element(memory, index)
        if memory in self.w.atomics:
            self.add(f"atomicStore(&{place}, {self.w.to_atomic(memory.type, text)});")
            return
        is_half = memory.type.scalar == "f16" and isinstance(memory, Buffer | SharedArray)
        self.add(f"{place} = {f'f16({text})' if is_half else text};")

    def _write_bool(self, memory: Buffer, index: Expression, text: str) -> None:
        word, shift = self.w.bool_place(memory, index)
        with self.block(f"if ({text})"):
            self.add(f"atomicOr(&{word}, 1u << {shift});")
        with self.otherwise():
            self.add(f"atomicAnd(&{word}, ~(0xffu << {shift}));")

    def vector_load(self, load: VectorLoad) -> None:
        """One element after the other: a binding has one element type."""
        with self.block():
            for position, index in self._neighbours(load.index, len(load.results)):
                variable = load.results[position]
                text = self.w.load(load.buffer, index)
                self.add(f"{self.names.variable(variable)} = {text};")

    def vector_store(self, store: VectorStore) -> None:
        """One element after the other."""
        with self.block():
            values = [self.temporary(value.type, self.text(value)) for value in store.values]
            for position, index in self._neighbours(store.index, len(store.values)):
                self._write(store.buffer, index, values[position])

    def _neighbours(self, index: Expression, width: int) -> Iterator[tuple[int, Expression]]:
        type = self.function.index_type
        for position in range(width):
            first = Binary("mul", index, Constant(type, width))
            yield position, Binary("add", first, Constant(type, position))

    # ---- atomics ------------------------------------------------------------------------------

    def atomic(self, atomic: Atomic) -> None:
        """An operation of WGSL, or a loop around one."""
        memory, type = atomic.memory, atomic.memory.type
        # A store whose old value is wanted is an exchange.
        op = "exchange" if atomic.op == "store" and atomic.result is not None else atomic.op
        with self.block():
            index = self.temporary(self.function.index_type, self.text(atomic.index))
            values = [self.temporary(type, self.text(value)) for value in atomic.operands]
            place = f"&{self.names.memory(memory)}[{index}]"
            if op == "compare_exchange":
                old = self._compare_exchange(type, place, *values)
            elif type == F32 and op in _COMBINED:
                old = self._combine(_COMBINED[op], type, place, values[0])
            else:
                packed = [self.w.to_atomic(type, value) for value in values]
                old = f"{_ATOMICS[op]}({', '.join([place, *packed])})"
            self._deliver(atomic, old)

    def _deliver(self, atomic: Atomic, old: str) -> None:
        """Puts the old value where it is wanted."""
        if atomic.result is not None:
            text = self.w.from_atomic(atomic.memory.type, old)
            self.add(f"{self.names.variable(atomic.result)} = {text};")
        elif old.endswith(")"):
            self.add(f"{old};" if atomic.op != "load" else f"_ = {old};")

    def _compare_exchange(self, type: Type, place: str, expected: str, value: str) -> str:
        """The language's operation may fail for no reason; then it is tried again."""
        wanted = self.w.to_atomic(type, expected)
        old, found = self.names.temporary(), self.names.temporary()
        self.add(f"var {old} = {wanted};")
        with self.block("loop"):
            new = self.w.to_atomic(type, value)
            self.add(f"let {found} = atomicCompareExchangeWeak({place}, {wanted}, {new});")
            self.add(f"{old} = {found}.old_value;")
            self.add(f"if ({found}.exchanged || {old} != {wanted}) {{ break; }}")
        return old

    def _combine(self, op: BinaryOp, type: Type, place: str, value: str) -> str:
        old, found = self.names.temporary(), self.names.temporary()
        self.add(f"var {old} = atomicLoad({place});")
        with self.block("loop"):
            combined = self.w.combined(op, type, self.w.from_atomic(type, old), value)
            new = self.w.to_atomic(type, combined)
            self.add(f"let {found} = atomicCompareExchangeWeak({place}, {old}, {new});")
            self.add(f"if ({found}.exchanged) {{ break; }}")
            self.add(f"{old} = {found}.old_value;")
        return old

    # ---- planes -------------------------------------------------------------------------------

    def plane(self, plane: Plane) -> None:
        """An operation on subgroups."""
        if plane.op == "ballot":
            with self.block():
                votes = self.names.temporary()
                self.add(f"let {votes} = subgroupBallot({self.text(plane.operands[0])});")
                for axis, variable in zip("xyzw", plane.results, strict=True):
                    self.add(f"{self.names.variable(variable)} = {votes}.{axis};")
            return
        self.add(f"{self.names.variable(plane.results[0])} = {self._exchanged(plane)};")

    def _exchanged(self, plane: Plane) -> str:
        if plane.op == "elect":
            return f"({self._lane()} == 0u)"
        values = [self.text(value) for value in plane.operands]
        type = plane.operands[0].type
        if plane.op in _SOURCES:
            return self._from_unit(plane.op, type, *values)
        function = _PLANES[plane.op]
        suffix = f"_{REGISTERS[type.scalar]}" if function.startswith("f_") else ""
        return self.w.rounded(type, f"{function}{suffix}({values[0]})")

    def _from_unit(self, op: str, type: Type, value: str, number: str) -> str:
        """A source that the plane does not have is the unit itself."""
        index_type = self.function.index_type
        lane, size, position = (
            self.w.converted(U32, index_type, self.text(Topology(index_type, name)))
            for name in ("UNIT_POS_PLANE", "PLANE_DIM", "PLANE_POS")
        )
        units = f"min({size}, {self.function.units}u - {position} * {size})"
        source = _SOURCES[op].format(n=number, lane=lane, units=units)
        return f"f_lane_{REGISTERS[type.scalar]}({value}, {source}, {lane}, {units})"

    def _lane(self) -> str:
        index_type = self.function.index_type
        return self.w.converted(U32, index_type, self.w.position("UNIT_POS_PLANE"))

    # ---- the kernel ---------------------------------------------------------------------------

    def kernel(self) -> str:
        """The whole text."""
        self.body(self.function.body)
        inside = [*self._declarations(), *self.lines]
        text = "\n".join(inside)
        inside = [*self._unused(text), *inside]
        parameters = [line for name, line in BUILT_IN.items() if _mentions(text, name)]
        x, y, z = self.function.cube_dim
        head = (
            f"@compute @workgroup_size({x}, {y}, {z})\n"
            f"fn {self.names.kernel}({', '.join(parameters)}) {{"
        )
        kernel = "\n".join([head, *inside, "}"])
        declared = "\n".join(self._memory())
        snippets = self.snippets(kernel)
        whole = "\n\n".join(part.strip() for part in (declared, *snippets, kernel) if part)
        enabled = "enable f16;\n\n" if _mentions(whole, "f16") else ""
        return f"{enabled}{whole}\n"

    def _memory(self) -> Iterator[str]:
        for binding, buffer in enumerate(self.function.buffers):
            access = "read_write" if buffer.mutable else "read"
            yield (
                f"@group(0) @binding({binding}) var<storage, {access}> "
                f"{self.names.memory(buffer)}: array<{self._element(buffer)}>;"
            )
        index = REGISTERS[self.function.index_type.scalar]
        last = len(self.function.buffers)
        yield f"@group(0) @binding({last}) var<storage, read> words: array<{index}>;"
        for array in self.function.shared:
            element = "bool" if array.type == BOOL else self._element(array)
            name = self.names.memory(array)
            yield f"var<workgroup> {name}: array<{element}, {array.size}>;"

    def _element(self, memory: Memory) -> str:
        stored = STORED[memory.type.scalar]
        if memory not in self.w.atomics:
            return stored
        return f"atomic<{'u32' if memory.type == F32 else stored}>"

    def _declarations(self) -> Iterator[str]:
        for name, definition in self.w.positions().items():
            yield f"{INDENT}let {name} = {definition};"
        for array in self.function.locals:
            element, name = REGISTERS[array.type.scalar], self.names.memory(array)
            yield f"{INDENT}var {name}: array<{element}, {array.size}>;"
        for variable in self.function.variables:
            name = self.names.variable(variable)
            yield f"{INDENT}var {name}: {REGISTERS[variable.type.scalar]};"

    def _unused(self, text: str) -> Iterator[str]:
        """Mentions buffers that nothing else does, so that a layout made of the text has them."""
        names = [*map(self.names.memory, self.function.buffers), "words"]
        for name in names:
            if not _mentions(text, name):
                yield f"{INDENT}_ = &{name};"


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _rereads(function: Function) -> bool:
    """Whether a tensor is both written and read."""
    written = {s.memory for s in walk(function.body) if isinstance(s, Store | Atomic)}
    written |= {s.buffer for s in walk(function.body) if isinstance(s, VectorStore)}
    read: set[Memory] = {s.buffer for s in walk(function.body) if isinstance(s, VectorLoad)}
    for statement in walk(function.body):
        for expression in expressions(statement):
            parts = walk_expressions(expression)
            read.update(part.memory for part in parts if isinstance(part, Load))
    return any(isinstance(memory, Buffer) for memory in written & read)
