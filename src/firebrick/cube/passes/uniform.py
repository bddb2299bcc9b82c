"""Which values are the same for all units of a cube (or plane), and where units part ways.

The rules, named where they apply:

    SAME       constants, arguments, sizes, positions of the cube, and what is made of them.
    VARIABLE   is the same while every assignment gives it a value that is the same, where no units
               are apart. A variable never set is zero.
    APART      units are apart inside an `if` or loop whose condition is not the same for all, and
               behind a jump that only some take, up to where they meet again.
    MEET       they meet behind the `if`, the loop or the region that was left. A `break` or `leave`
               that only some take parts them in all of the loop: in the next trip some are missing.
    ENDED      units that return are missing until the end, but they make no value differ.
    LOAD       from memory that the kernel cannot write, at a position that is the same, is the
               same; a local array is like a variable.
    RACE FREE  so is a load from other memory where all units read the same element together: if a
               unit wrote it without a barrier between, that would be a race, which is an error.
               Barriers are checked under this rule; `uniform_variables` does without it.
    PLANE      a plane's reductions are the same for its units, `UNIT_POS // PLANE_DIM` is, and so
               are comparisons of `UNIT_POS` with multiples of the plane's size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Binary,
    Body,
    Break,
    Buffer,
    Compare,
    Constant,
    Continue,
    Expression,
    For,
    Function,
    If,
    Leave,
    Load,
    LocalArray,
    Plane,
    PlaneOp,
    Read,
    Region,
    Return,
    Statement,
    Store,
    Topology,
    Variable,
    VectorLoad,
    While,
    operands,
)
from firebrick.cube.passes.positions import simplify_position

if TYPE_CHECKING:
    from collections.abc import Callable

Scope = Literal["cube", "plane"]
Jumps = dict[str, Statement]
"""Where some units have gone while others have not, each with the statement that parted them."""
REDUCTIONS: frozenset[PlaneOp] = frozenset(
    {"sum", "prod", "max", "min", "broadcast", "all", "any", "ballot"}
)
BREAK, CONTINUE = "break", "continue"


def uniform_variables(function: Function) -> frozenset[Variable]:
    """The variables that always have one value for all units of a cube that have not ended.

    Sound without assuming that the kernel is free of races.
    """
    found = Uniformity(function, "cube", trusts_races=False)
    found.solve()
    return frozenset(v for v in function.variables if v not in found.varying)


@dataclass
class Uniformity:
    """What differs among the units of a cube, or of a plane."""

    function: Function
    scope: Scope
    plane_dim: int = 1
    """Units of a plane, for comparisons with known numbers."""
    trusts_races: bool = True
    visit: Callable[[Statement, Statement | None, Statement | None], None] | None = None
    """Called in `walk` for each statement with what parted the units there, and with what ended
    some of them.
    """
    varying: set[Variable] = field(default_factory=set[Variable])
    varying_arrays: set[LocalArray] = field(default_factory=set[LocalArray])
    parted_loops: set[int] = field(default_factory=set[int])
    """`id`s of the loops in which units are apart, or that only some leave early."""
    _ended: Statement | None = None

    def solve(self) -> None:
        """Finds what differs: everything is the same until something shows that it is not."""
        if self.function.units == 1:
            return
        size = -1
        while size != len(self.varying) + len(self.varying_arrays):
            size = len(self.varying) + len(self.varying_arrays)
            self.walk()

    def walk(self) -> None:
        """Goes through the function once."""
        self._ended = None
        self._body(self.function.body, None)

    # ---- expressions --------------------------------------------------------------------------

    def is_uniform(self, expression: Expression) -> bool:
        """Whether units that evaluate an expression together get one value."""
        match expression:
            case Read(variable):
                return variable not in self.varying  # VARIABLE
            case Topology():
                return self._is_shared_position(expression)
            case Load(memory, index):
                return self._is_uniform_load(memory) and self.is_uniform(index)
            case _:
                if self.scope == "plane" and self._is_plane_aligned(expression):
                    return True
                return all(map(self.is_uniform, operands(expression)))  # SAME

    def _is_shared_position(self, position: Topology) -> bool:
        known = simplify_position(position, self.function)
        if isinstance(known, Constant):
            return True
        name = known.name if isinstance(known, Topology) else position.name
        is_plane = name == "PLANE_DIM" or (name == "PLANE_POS" and self.scope == "plane")
        return is_plane or name.startswith("CUBE_")

    def _is_uniform_load(self, memory: object) -> bool:
        if isinstance(memory, LocalArray):
            return memory not in self.varying_arrays
        is_constant = isinstance(memory, Buffer) and not memory.mutable
        return is_constant or self.trusts_races  # LOAD, RACE FREE

    def _is_plane_aligned(self, expression: Expression) -> bool:
        match expression:
            case Compare("lt" | "ge", Topology(name=name), bound):
                return self._counts_units(name) and self._is_whole_planes(bound)  # PLANE
            case Binary("floordiv", Topology(name=name), size):
                return self._counts_units(name) and self._is_whole_planes(size)
            case Binary("shr", Topology(name=name), Constant(value=shift)):
                return self._counts_units(name) and (1 << int(shift)) % self.plane_dim == 0
            case _:
                return False

    def _counts_units(self, name: str) -> bool:
        is_flat = self.function.cube_dim[1:] == (1, 1)
        return name == "UNIT_POS" or (name == "UNIT_POS_X" and is_flat)

    def _is_whole_planes(self, size: Expression) -> bool:
        match size:
            case Constant(value=value):
                return int(value) % self.plane_dim == 0
            case Topology(name="PLANE_DIM"):
                return True
            case Binary("mul", left, right):
                sides = self._is_whole_planes(left), self._is_whole_planes(right)
                return any(sides) and self.is_uniform(left) and self.is_uniform(right)
            case _:
                return False

    # ---- statements ---------------------------------------------------------------------------

    def _body(self, body: Body, apart: Statement | None) -> Jumps:
        """Goes through a body; `apart` is what parted the units that come to it, if anything."""
        jumps: Jumps = {}
        for statement in body:
            here = apart or next(iter(jumps.values()), None)
            if self.visit is not None:
                self.visit(statement, here, self._ended)
            jumps |= self._statement(statement, here)
        return jumps

    def _statement(self, statement: Statement, apart: Statement | None) -> Jumps:
        match statement:
            case If():
                return self._if(statement, apart)
            case For() | While():
                return self._loop(statement, apart)
            case Region(label=label, body=body):
                jumps = self._body(body, apart)
                jumps.pop(label, None)  # MEET
                return jumps
            case Break() | Continue() | Leave() | Return():
                return self._jump(statement, apart)
            case _:
                self._set(statement, apart)
                return {}

    def _jump(self, jump: Break | Continue | Leave | Return, apart: Statement | None) -> Jumps:
        if apart is None:
            return {}  # all of them, together
        match jump:
            case Return():
                self._ended = self._ended or apart  # ENDED
                return {}
            case Leave(label=label):
                return {label: apart}
            case Break():
                return {BREAK: apart}
            case Continue():
                return {CONTINUE: apart}

    def _if(self, statement: If, apart: Statement | None) -> Jumps:
        inside = apart
        if apart is None and not self.is_uniform(statement.condition):
            inside = statement  # APART
        before = self._ended
        jumps = self._body(statement.then, inside)
        after_then, self._ended = self._ended, before
        jumps |= self._body(statement.orelse, inside)
        self._ended = self._ended or after_then
        return jumps

    def _loop(self, loop: For | While, apart: Statement | None) -> Jumps:
        inside = apart
        heads = (loop.start, loop.stop) if isinstance(loop, For) else (loop.condition,)
        if apart is None and not all(map(self.is_uniform, heads)):
            inside = loop
        before = self._ended
        jumps = self._body(loop.body, inside)
        left = next((cause for jump, cause in jumps.items() if jump != CONTINUE), None)
        inside = inside or left
        if left is not None or self._ended is not before:  # MEET, ENDED
            jumps |= self._body(loop.body, inside)
        if inside is not None:
            self.parted_loops.add(id(loop))
            if isinstance(loop, For):
                self.varying.add(loop.variable)
        jumps.pop(BREAK, None)
        jumps.pop(CONTINUE, None)
        return jumps

    def _set(self, statement: Statement, apart: Statement | None) -> None:
        match statement:
            case Assign(variable=variable, value=value):
                if apart is not None or not self.is_uniform(value):
                    self.varying.add(variable)
            case Store(memory=LocalArray() as array, index=index, value=value):
                is_same = self.is_uniform(index) and self.is_uniform(value)
                if apart is not None or not is_same:
                    self.varying_arrays.add(array)
            case Plane(op=op, results=results):
                is_same = self.scope == "plane" and op in REDUCTIONS
                if apart is not None or not is_same:
                    self.varying.update(results)
            case Atomic(result=Variable() as result):
                self.varying.add(result)
            case VectorLoad(buffer=buffer, index=index, results=results):
                is_same = self._is_uniform_load(buffer) and self.is_uniform(index)
                if apart is not None or not is_same:
                    self.varying.update(results)
            case _:
                pass
