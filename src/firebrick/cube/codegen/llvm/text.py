"""LLVM IR as text: values, the builder that writes instructions, and the finished module.

The builder knows nothing of kernels. A `Value` has Python's operators, so that formulas read as
formulas; they write instructions into the builder that made the value.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.codegen.llvm.types import FLOATS, bits_of, literal

if TYPE_CHECKING:
    from collections.abc import Generator


@dataclass(frozen=True, slots=True)
class Value:
    """A typed LLVM operand. Integers wrap; `/` is for floats, `>>` copies the sign."""

    builder: Builder
    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"

    @property
    def is_float(self) -> bool:
        """Whether it is a `float` or `double`."""
        return self.type in FLOATS

    def same(self, number: Operand) -> Value:
        """A number as a value of this one's type."""
        return number if isinstance(number, Value) else self.builder.constant(self.type, number)

    def binary(self, instruction: str, other: Operand) -> Value:
        """An instruction of two operands of one type."""
        right = self.same(other)
        return self.builder.value(self.type, f"{instruction} {self}, {right.text}")

    def compare(self, predicate: str, other: Operand) -> Value:
        """`fcmp` for floats, else `icmp`."""
        right = self.same(other)
        kind = "fcmp" if self.is_float else "icmp"
        return self.builder.value("i1", f"{kind} {predicate} {self}, {right.text}")

    def select(self, if_true: Value, if_false: Operand) -> Value:
        """Itself as the condition."""
        no = if_true.same(if_false)
        return self.builder.value(if_true.type, f"select {self}, {if_true}, {no}")

    def convert(self, instruction: str, type: str) -> Value:
        """A conversion such as `sext`."""
        if type == self.type:
            return self
        return self.builder.value(type, f"{instruction} {self} to {type}")

    def bits(self) -> Value:
        """A float's bits as an integer."""
        return self.convert("bitcast", f"i{bits_of(self.type)}")

    def call(self, name: str, *others: Operand, type: str = "") -> Value:
        """An intrinsic that is overloaded on this type and has its type, or `type`."""
        operands = [self, *(self.same(other) for other in others)]
        suffix = {"float": "f32", "double": "f64"}.get(self.type, self.type)
        return self.builder.call(f"llvm.{name}.{suffix}", type or self.type, operands)

    def frozen(self) -> Value:
        """Itself, in a way that keeps LLVM from moving the load that it comes from.

        LLVM 22 makes `select(mask, load under mask, other)` one load where the select stands, even
        if the memory is written in between.
        """
        return self.builder.value(self.type, f"freeze {self}")

    def times_plus(self, factor: Operand, term: Operand) -> Value:
        """`self * factor + term`, rounded once where the processor does that in one instruction."""
        return self.call("fmuladd", factor, term)

    def _arithmetic(self, name: str, other: Operand) -> Value:
        return self.binary(f"f{name}" if self.is_float else name, other)

    def __add__(self, other: Operand) -> Value:
        return self._arithmetic("add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._arithmetic("sub", other)

    def __mul__(self, other: Operand) -> Value:
        return self._arithmetic("mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self.binary("fdiv", other)

    def __radd__(self, other: int | float) -> Value:
        return self.same(other) + self

    def __rsub__(self, other: int | float) -> Value:
        return self.same(other) - self

    def __rtruediv__(self, other: int | float) -> Value:
        return self.same(other) / self

    def __neg__(self) -> Value:
        if self.is_float:
            return self.builder.value(self.type, f"fneg {self}")
        return self.same(0) - self

    def __and__(self, other: Operand) -> Value:
        return self.binary("and", other)

    def __or__(self, other: Operand) -> Value:
        return self.binary("or", other)

    def __xor__(self, other: Operand) -> Value:
        return self.binary("xor", other)

    def __lshift__(self, other: Operand) -> Value:
        return self.binary("shl", other)

    def __rshift__(self, other: Operand) -> Value:
        return self.binary("ashr", other)


Operand: TypeAlias = Value | bool | int | float


class Builder:
    """Writes the body of one function, block by block."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._entry: list[str] = []
        self._slots: list[str] = []
        self._declarations: dict[str, None] = {}
        self._tables: dict[str, str] = {}
        self._metadata: list[str] = []
        self._count = 0
        self._is_open = True
        self._group = ""
        self.block = "entry"
        """The block that instructions go into, for `phi`."""

    # ---- instructions -------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"{stem}.{self._count}"

    def add(self, instruction: str) -> None:
        """An instruction without a value."""
        if not self._is_open:  # nothing leads here; LLVM drops the block
            self.place(self.fresh("unreachable"))
        self._lines.append(f"  {instruction}")

    def value(self, type: str, instruction: str) -> Value:
        """The value of an instruction."""
        name = self.fresh("%v")
        self.add(f"{name} = {instruction}")
        return Value(self, type, name)

    def constant(self, type: str, number: bool | int | float) -> Value:
        """A literal."""
        return Value(self, type, literal(type, number))

    def call(self, name: str, type: str, operands: list[Value], attributes: str = "") -> Value:
        """A call of a function outside of the module, or of an intrinsic."""
        types = ", ".join(operand.type for operand in operands)
        self._declarations[f"declare {type} @{name}({types}){attributes}"] = None
        return self.value(type, f"call {type} @{name}({', '.join(map(str, operands))})")

    def table(self, name: str, type: str, numbers: list[int] | list[float]) -> str:
        """The name of a constant array, which is written once."""
        elements = ", ".join(f"{type} {literal(type, number)}" for number in numbers)
        self._tables[name] = (
            f"@{name} = private unnamed_addr constant [{len(numbers)} x {type}] [{elements}], "
            "align 64"
        )
        return f"@{name}"

    def address(self, name: str) -> Value:
        """The address of something global."""
        return Value(self, "ptr", name)

    # ---- memory -------------------------------------------------------------------------------

    def slot(self, type: str, stem: str = "slot") -> Value:
        """A place on the stack, made once per call; LLVM turns it into registers."""
        name = self.fresh(f"%{stem}")
        self._slots.append(f"  {name} = alloca {type}, align 64")
        return Value(self, "ptr", name)

    def load(self, type: str, address: Value, marks: str = "") -> Value:
        """Reads memory."""
        return self.value(type, f"load {type}, {address}{marks}")

    def store(self, value: Value, address: Value, marks: str = "") -> None:
        """Writes memory."""
        self.add(f"store {value}, {address}{marks}")

    def clear(self, address: Value, size_bytes: int) -> None:
        """Fills memory with zeros."""
        self._declarations["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"] = None
        self.add(f"call void @llvm.memset.p0.i64({address}, i8 0, i64 {size_bytes}, i1 false)")

    def element(self, base: Value, type: str, index: Operand) -> Value:
        """The address of an element."""
        at = index if isinstance(index, Value) else self.constant("i64", index)
        return self.value("ptr", f"getelementptr inbounds {type}, {base}, {at}")

    # ---- control flow -------------------------------------------------------------------------

    def place(self, label: str) -> None:
        """Starts a block; an open one goes on there."""
        if self._is_open:
            self._lines.append(f"  br label %{label}")
        self._lines.append(f"{label}:")
        self._is_open = True
        self.block = label

    def jump(self, label: str, marks: str = "") -> None:
        """Goes to a block."""
        self.add(f"br label %{label}{marks}")
        self._is_open = False

    def branch(self, condition: Value, if_true: str, if_false: str) -> None:
        """Goes to one of two blocks."""
        self.add(f"br {condition}, label %{if_true}, label %{if_false}")
        self._is_open = False

    def end(self) -> None:
        """Returns from the function."""
        self.add("ret void")
        self._is_open = False

    @contextmanager
    def counted(self, start: Value, end: Value, marks: str = "") -> Generator[Value]:
        """A loop from `start` up to `end`; `marks` are those of the loop."""
        slot = self.slot(start.type, "count")
        head, body, after = (self.fresh(stem) for stem in ("each", "inside", "behind"))
        self.store(start, slot)
        self.place(head)
        number = self.load(start.type, slot)
        self.branch(number.compare("slt", end), body, after)
        self.place(body)
        yield number
        self.store(number.binary("add nuw nsw", 1), slot)
        self.jump(head, marks)
        self.place(after)

    def phi(self, type: str, sources: list[tuple[Value, str]]) -> Value:
        """The value that belongs to the block that control came from."""
        choices = ", ".join(f"[ {value.text}, %{block} ]" for value, block in sources)
        return self.value(type, f"phi {type} {choices}")

    @contextmanager
    def at_entry(self) -> Generator[None]:
        """Instructions inside go into the first block; their values can be used anywhere."""
        outer = self._lines, self._is_open, self.block
        self._lines, self._is_open, self.block = self._entry, True, "entry"
        yield
        self._lines, self._is_open, self.block = outer

    # ---- metadata -----------------------------------------------------------------------------

    @property
    def group(self) -> str:
        """The mark of an access that no other unit's access depends on; empty outside of loops."""
        return self._group

    @contextmanager
    def independent(self, *, promised: bool = True) -> Generator[str]:
        """Accesses inside belong to a new group; gives the mark of the loop that runs them.

        Without `promised` LLVM has to find out whether they depend on each other.
        """
        if not promised:
            yield ""
            return
        outer = self._group
        group = self._node("distinct !{}")
        accesses = self._node(f'!{{!"llvm.loop.parallel_accesses", {group}}}')
        # Unrolled as a whole, a short loop would come to no vectors.
        whole = self._node('!{!"llvm.loop.unroll.disable"}')
        loop = self._loop_node([accesses, whole])
        self._group = f", !llvm.access.group {group}"
        yield f", !llvm.loop {loop}"
        self._group = outer

    def _loop_node(self, properties: list[str]) -> str:
        name = f"!{len(self._metadata)}"
        return self._node(f"distinct !{{{', '.join([name, *properties])}}}")

    def _node(self, text: str) -> str:
        self._metadata.append(f"!{len(self._metadata)} = {text}")
        return f"!{len(self._metadata) - 1}"

    def empty_node(self) -> str:
        """Metadata that says nothing, such as `!invariant.load` takes."""
        return self._node("!{}")

    # ---- the module ---------------------------------------------------------------------------

    def module(self, head: str) -> str:
        """The text of a module with this one function."""
        lines = [
            *self._tables.values(),
            "",
            f"{head} {{",
            "entry:",
            *self._slots,
            *self._entry,
            *self._lines,
            "}",
            "",
            *self._declarations,
            "",
            *self._metadata,
        ]
        return "\n".join(lines) + "\n"
