"""Random valid kernels with one right result: no races, no divergent barriers, loops that end.

Each unit writes its own block of the outputs. Barriers, plane operations and accesses to shared
memory stand where all units arrive ("together"); everything else may depend on the unit ("apart"),
and what it leaves (loops, regions) began apart too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, get_args

from tests.cube.random_expressions import ALL_TYPES, Options, RandomExpressions, Scope

from firebrick.cube.ir.nodes import (
    Argument,
    Assign,
    Atomic,
    AtomicOp,
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
    LocalArray,
    Plane,
    PlaneOp,
    Read,
    Region,
    Return,
    ScalarParameter,
    SharedArray,
    Statement,
    Store,
    Sync,
    Topology,
    Variable,
    VectorLoad,
    VectorStore,
    While,
)
from firebrick.cube.ir.types import BOOL, I32, U32, Type

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["ALL_TYPES", "Options", "random_function"]

CUBE_DIMS = [(1, 1, 1), (4, 1, 1), (8, 1, 1), (4, 2, 1), (2, 2, 4), (3, 1, 1), (32, 1, 1)]
COMMUTATIVE: tuple[AtomicOp, ...] = ("add", "max", "min", "and", "or", "xor")
SCANS = ("sum", "prod", "inclusive_sum", "exclusive_sum", "inclusive_prod", "exclusive_prod")
SHUFFLES: tuple[PlaneOp, ...] = ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")
SHUFFLED_UNITS = 4
"""Shuffles stay among neighbours, which every plane of a multiple of 4 units has."""


def random_function(random: Random, options: Options | None = None) -> Function:
    """A kernel for any launch whose buffers have at least one element."""
    return _Generator(random, options or Options()).function()


class _Generator:
    def __init__(self, random: Random, options: Options) -> None:
        self.random = random
        self.options = options
        self.scope = Scope()
        self.values = RandomExpressions(random, options, self.scope)
        self.cube_dim = random.choice(CUBE_DIMS)
        self.units = self.cube_dim[0] * self.cube_dim[1] * self.cube_dim[2]
        self.budget = options.statements
        self.variables: list[Variable] = []
        self.assignable: list[Variable] = []
        self.counters: list[tuple[Buffer, AtomicOp]] = []
        self.shared: list[SharedArray] = []
        self.leavable: list[str | None] = []
        """What units may leave on their own: labels of regions, None for loops."""
        self.labels = 0
        self.may_return = False

    def function(self) -> Function:
        self._declare()
        body = [*self._together(3), *self._last()]
        buffers = [*self.scope.inputs, *(buffer for buffer, _ in self.scope.outputs)]
        buffers += [buffer for buffer, _ in self.counters]
        buffers.sort(key=lambda buffer: buffer.position)
        return Function(
            "random_kernel", tuple(buffers), tuple(self.scope.scalars), tuple(self.shared),
            tuple(self.scope.locals), tuple(self.variables), tuple(body), self.options.index_type,
            self.cube_dim,
        )  # fmt: skip

    # ---- declarations -------------------------------------------------------------------------

    def _declare(self) -> None:
        count, any_of = self.random.randint, self.values.type
        kinds = ["in"] * count(1, 3) + ["out"] * count(1, 3) + ["counter"] * count(0, 1)
        self.random.shuffle(kinds)
        for position, kind in enumerate(kinds):
            self._declare_buffer(kind, position)
        scalars = [any_of() for _ in range(count(0, 3))]
        self.scope.scalars += [ScalarParameter(f"s{n}", t, n) for n, t in enumerate(scalars)]
        self.scope.locals += [LocalArray(f"a{n}", any_of(), 3) for n in range(count(0, 2))]
        if self.options.shared:
            # An element for each unit, so that all are written before any is read.
            shared = [SharedArray(f"m{n}", any_of(), self.units) for n in range(count(0, 2))]
            self.shared += shared
        self.assignable += [self._variable(any_of()) for _ in range(count(2, 5))]
        self.scope.variables += self.assignable

    def _declare_buffer(self, kind: str, position: int) -> None:
        name, rank = f"b{position}", self.random.randint(0, 3)
        if kind == "in":
            self.scope.inputs.append(Buffer(name, self.values.type(), rank, False, position))
        elif kind == "out" or not self.options.atomics:
            buffer = Buffer(name, self.values.type(), rank, True, position)
            self.scope.outputs.append((buffer, self.random.choice([1, 2, 4])))
        else:
            type = Type(self.random.choice(self.options.atomics))
            # Floats are added in no order, so that only the largest or smallest is one result.
            ops = ("max", "min") if type.is_float else COMMUTATIVE
            counter = Buffer(name, type, rank, True, position)
            self.counters.append((counter, self.random.choice(ops)))

    def _variable(self, type: Type) -> Variable:
        variable = Variable(f"v{len(self.variables)}", type)
        self.variables.append(variable)
        return variable

    def _label(self) -> str:
        self.labels += 1
        return f"r{self.labels}"

    # ---- together -----------------------------------------------------------------------------

    def _together(self, depth: int) -> list[Statement]:
        """Statements that all units of a cube reach."""
        statements: list[Statement] = []
        for _ in range(self.random.randint(1, 3)):
            makers = [self._apart_block, self._phase]
            if depth > 0:
                makers += [self._joint_loop, self._joint_if, self._joint_region]
            if self.options.planes:
                makers.append(self._plane)
            statements += self.random.choice(makers)(depth - 1)
        return statements

    def _apart_block(self, depth: int) -> list[Statement]:
        return self._apart(max(depth, 1))

    def _phase(self, depth: int) -> list[Statement]:
        """All units write shared memory, then read it; none is written while others read."""
        if not self.shared:
            return [Sync(self.random.choice(["cube", "storage"]))]
        memory = self.random.choice(self.shared)
        index = Topology(self.options.index_type, "UNIT_POS")
        before = [*self._apart(0), Store(memory, index, self.values.make(memory.type))]
        self.scope.readable_shared.append(memory)
        inside = self._apart(max(depth, 0))
        self.scope.readable_shared.pop()
        return [*before, Sync("cube"), *inside, Sync("cube")]

    def _joint_condition(self) -> Expression:
        """A condition on which all units of a cube agree."""
        index = self.options.index_type
        cube = Topology(index, "CUBE_POS")
        halves = Binary("mod", cube, Constant(index, 2))
        known: list[Expression] = [Compare("eq", halves, Constant(index, 0)), Constant(BOOL, True)]
        known += [
            Compare("gt", Argument(scalar), self.values.constant(scalar.type))
            for scalar in self.scope.scalars
            if scalar.type != BOOL
        ]
        return self.random.choice(known)

    def _joint_loop(self, depth: int) -> list[Statement]:
        variable = self._variable(self.options.index_type)
        self.scope.variables.append(variable)
        body = self._joint_body(lambda: self._together(depth), Break(), Continue())
        trips = self.random.randint(0, 3)
        step = self.random.choice([-2, -1, 1, 2])
        return [self._for(variable, trips * (-1 if step < 0 else 1), step, body)]

    def _joint_body(
        self, make: Callable[[], list[Statement]], *jumps: Statement
    ) -> list[Statement]:
        """A body that all units leave at one place, or none."""
        body = make()
        if self.random.random() < 0.3:
            body.append(If(self._joint_condition(), (self.random.choice(jumps),)))
            body += make()
        return body

    def _joint_if(self, depth: int) -> list[Statement]:
        condition = self._joint_condition()
        then = self._together(depth)
        return [If(condition, tuple(then), tuple(self._together(depth)))]

    def _joint_region(self, depth: int) -> list[Statement]:
        label = self._label()
        body = self._joint_body(lambda: self._together(depth), Leave(label))
        return [Region(label, tuple(body))]

    # ---- planes -------------------------------------------------------------------------------

    def _plane(self, depth: int) -> list[Statement]:
        del depth  # has no body
        if self.random.random() < 0.2:
            return [Sync("plane")]
        op: PlaneOp = self.random.choice(get_args(PlaneOp))
        if op in ("elect", "all", "any", "ballot"):
            operands = () if op == "elect" else (self.values.make(BOOL),)
            type, count = (U32, 4) if op == "ballot" else (BOOL, 1)
            results = [self._result(type) for _ in range(count)]
            return [Plane(op, operands, tuple(results))]
        # Floats are added in no order.
        type = self.values.type(lambda t: t.is_integer if op in SCANS else t != BOOL)
        if op in SHUFFLES and self.units % SHUFFLED_UNITS:
            op = "broadcast"
        number = self.random.randrange(SHUFFLED_UNITS if op in SHUFFLES else 1)
        second = () if op in SCANS or op in ("max", "min") else (Constant(U32, number),)
        return [Plane(op, (self._plane_value(op, type), *second), (self._result(type),))]

    def _plane_value(self, op: PlaneOp, type: Type) -> Expression:
        value = self.values.make(type)
        is_order = op in ("max", "min") and type.is_float
        return Binary("add", value, Constant(type, 0.0)) if is_order else value

    def _result(self, type: Type) -> Variable:
        """A new variable, which may be read from here on."""
        variable = self._variable(type)
        self.scope.variables.append(variable)
        return variable

    # ---- apart --------------------------------------------------------------------------------

    def _last(self) -> list[Statement]:
        """The end of the kernel, where units may return."""
        self.may_return = True
        stores: list[Statement] = []
        for buffer, width in self.scope.outputs:
            stores += self._own_store(buffer, width)
        return [*self._apart(3), *stores]

    def _apart(self, depth: int) -> list[Statement]:
        statements: list[Statement] = []
        for _ in range(self.random.randint(1, 3)):
            self.budget -= 1
            nested = depth > 0 and self.budget > 0
            makers = [self._assign, self._assign, self._store, self._update]
            if nested:
                makers += [self._if, self._counted, self._while, self._region, self._if]
            if self.leavable or self.may_return:
                makers.append(self._jump)
            statements += self.random.choice(makers)(depth - 1)
        return statements

    def _assign(self, depth: int) -> list[Statement]:
        del depth  # has no body
        variable = self.random.choice(self.assignable)
        return [Assign(variable, self.values.make(variable.type))]

    def _store(self, depth: int) -> list[Statement]:
        del depth  # has no body
        if self.scope.locals and self.random.random() < 0.4:
            memory = self.random.choice(self.scope.locals)
            index = self.values.wrap_index(memory, self.values.make(self.options.index_type, 1))
            return [Store(memory, index, self.values.make(memory.type))]
        return self._own_store(*self.random.choice(self.scope.outputs))

    def _own_store(self, buffer: Buffer, width: int) -> list[Statement]:
        if width > 1 and self.random.random() < 0.5:
            return self._vector(buffer, width)
        index = self.values.own_index(width)
        store = Store(buffer, index, self.values.make(buffer.type))
        return [If(self.values.inside(buffer, index), (store,))]

    def _vector(self, buffer: Buffer, width: int) -> list[Statement]:
        """A vector load or store of a unit's whole block, if it exists."""
        index = self.options.index_type
        place = Topology(index, "ABSOLUTE_POS")
        behind = Binary("add", place, Constant(index, 1))
        end = Binary("mul", behind, Constant(index, width))
        exists = Compare("le", end, self.values.size(buffer))
        values = tuple(self.values.make(buffer.type) for _ in range(width))
        body: Statement = VectorStore(buffer, place, values)
        if self.random.random() < 0.3:
            results = tuple(self._result(buffer.type) for _ in range(width))
            body = VectorLoad(buffer, place, results)
        return [If(exists, (body,))]

    def _update(self, depth: int) -> list[Statement]:
        """An atomic: of a counter in any order, or of a unit's own element."""
        atomics = [Type(name) for name in self.options.atomics]
        own = [(b, w) for b, w in self.scope.outputs if b.type in atomics]
        if self.counters and (not own or self.random.random() < 0.5):
            counter, op = self.random.choice(self.counters)
            index = self.values.make(self.options.index_type, 1)
            value = self._counted_value(op, counter.type)
            return [Atomic(op, counter, self.values.wrap_index(counter, index), (value,))]
        if not own:
            return self._store(depth)
        buffer, width = self.random.choice(own)
        index = self.values.own_index(width)
        ops = [op for op in get_args(AtomicOp) if not buffer.type.is_float or op not in COMMUTATIVE]
        op = self.random.choice(ops)
        count = {"load": 0, "compare_exchange": 2}.get(op, 1)
        operands = tuple(self.values.make(buffer.type) for _ in range(count))
        result = self._result(buffer.type) if self.random.random() < 0.6 else None
        return [
            If(self.values.inside(buffer, index), (Atomic(op, buffer, index, operands, result),))
        ]

    def _counted_value(self, op: AtomicOp, type: Type) -> Expression:
        value = self.values.make(type)
        is_order = op in ("max", "min") and type.is_float
        return Binary("add", value, Constant(type, 0.0)) if is_order else value

    # ---- flow apart ---------------------------------------------------------------------------

    def _if(self, depth: int) -> list[Statement]:
        condition = self.values.make(BOOL, 2)
        then = self._apart(depth)
        orelse = self._apart(depth) if self.random.random() < 0.5 else []
        return [If(condition, tuple(then), tuple(orelse))]

    @contextmanager
    def _leaving(self, label: str | None) -> Generator[None]:
        self.leavable.append(label)
        yield
        self.leavable.pop()

    def _for(self, variable: Variable, stop: int, step: int, body: list[Statement]) -> For:
        type = variable.type
        start = Constant(type, 0)
        return For(variable, start, Constant(type, stop), Constant(type, step), tuple(body))

    def _counted(self, depth: int) -> list[Statement]:
        variable = self._variable(self.values.type(lambda t: t.kind == "int"))
        self.scope.variables.append(variable)
        with self._leaving(None):
            body = self._apart(depth)
        step = self.random.choice([-2, -1, 1, 2])
        stop = self.random.randint(0, 3) * (-1 if step < 0 else 1)
        loop = self._for(variable, stop, step, body)
        if self.random.random() < 0.3:  # a number of trips that only the unit knows
            low = Constant(variable.type, -3)
            high = Constant(variable.type, 3)
            bound = self.values.make(variable.type, 1)
            limits = Binary("max", low, Binary("min", bound, high))
            loop = For(variable, loop.start, limits, loop.step, loop.body)
        return [loop]

    def _while(self, depth: int) -> list[Statement]:
        counter = self._variable(I32)
        with self._leaving(None):
            body = self._apart(depth)
        count = Assign(counter, Binary("add", Read(counter), Constant(I32, 1)))
        bounded: Body = (
            count,
            If(Compare("gt", Read(counter), Constant(I32, 3)), (Break(),)),
            *body,
        )
        return [Assign(counter, Constant(I32, 0)), While(self.values.make(BOOL, 2), bounded)]

    def _region(self, depth: int) -> list[Statement]:
        label = self._label()
        with self._leaving(label):
            body = self._apart(depth)
        return [Region(label, tuple(body))]

    def _jump(self, depth: int) -> list[Statement]:
        del depth  # has no body
        jumps: list[Statement] = [Leave(label) for label in self.leavable if label is not None]
        if self.leavable and self.leavable[-1] is None:
            jumps += [Break(), Continue()]
        if self.may_return:
            jumps.append(Return())
        if not jumps:
            return []
        return [If(self.values.make(BOOL, 2), (self.random.choice(jumps),))]
