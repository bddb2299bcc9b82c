"""Whether a function makes sense: types, declarations, loops and labels.

Run after the frontend and after every pass in tests. Whether all units reach a barrier is not its
affair, nor are values that only a run knows.
"""

from __future__ import annotations

import keyword
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias, get_args

from firebrick.cube.ir.expression_rules import (
    Declared,
    InvalidError,
    check_expression,
    require,
    require_domain,
    require_type,
)
from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    AtomicOp,
    Body,
    Break,
    Buffer,
    Continue,
    Expression,
    For,
    Function,
    If,
    Leave,
    Memory,
    Plane,
    PlaneOp,
    Region,
    Return,
    Statement,
    Store,
    Sync,
    Variable,
    VectorLoad,
    VectorStore,
    While,
    expressions,
)
from firebrick.cube.ir.printer import print_statement
from firebrick.cube.ir.symbols import KEYWORDS
from firebrick.cube.ir.types import BITS, BOOL, I32, I64, U32, Type
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.expression_rules import Domain

SCOPES = ("cube", "plane", "storage")
VECTOR_WIDTHS = (2, 4)
BALLOT_WORDS = 4
"""A ballot holds a bit for each of up to 128 units."""
ATOMIC_OPERANDS: dict[AtomicOp, int] = {"load": 0, "compare_exchange": 2}
"""All others take one."""
ATOMIC_BITWISE: frozenset[AtomicOp] = frozenset({"and", "or", "xor"})
PLANE_EXCHANGES: frozenset[PlaneOp] = frozenset(
    {"broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"}
)
"""They take a value and a u32."""
PLANE_VOTES: frozenset[PlaneOp] = frozenset({"all", "any", "ballot"})
"""They take a bool."""
_Simple: TypeAlias = Assign | Store | VectorLoad | VectorStore | Atomic | Plane


def verify(function: Function) -> None:
    """Raises `KernelError` saying what is wrong with a function, and in which statement."""
    try:
        _check_header(function)
    except InvalidError as reason:
        raise KernelError(f"invalid IR in the header of `{function.name}`: {reason}") from None
    _Verifier(function).body(function.body)


def _check_header(function: Function) -> None:
    _check_name(function.name)
    require(function.index_type in (I32, I64), "the index type is i32 or i64.")
    sizes = function.cube_dim
    require(len(sizes) == 3 and min(sizes) >= 1, f"a cube has three sizes, not {sizes}.")
    storage: list[Memory] = [*function.buffers, *function.shared, *function.locals]
    declared = [*storage, *function.scalars, *function.variables]
    for item in declared:
        _check_name(item.name)
        require(item.type.scalar in BITS, f"there is no type `{item.type}`.")
    for name, count in Counter(item.name for item in declared).items():
        require(count == 1, f"`{name}` is declared {count} times.")
    for array in (*function.shared, *function.locals):
        require(array.size >= 1, f"`{array.name}` has {array.size} elements.")
    for buffer in function.buffers:
        require(buffer.rank >= 0, f"`{buffer.name}` has rank {buffer.rank}.")
    _check_positions([buffer.position for buffer in function.buffers], "buffers")
    _check_positions([scalar.position for scalar in function.scalars], "scalars")


def _check_name(name: str) -> None:
    is_name = name.isidentifier() and not keyword.iskeyword(name) and name not in KEYWORDS
    require(is_name, f"{name!r} is no name.")


def _check_positions(positions: Sequence[int], what: str) -> None:
    distinct = len(set(positions)) == len(positions) and all(p >= 0 for p in positions)
    require(distinct, f"the positions of the {what}, {list(positions)}, are not distinct.")


class _Verifier:
    def __init__(self, function: Function) -> None:
        self._name = function.name
        self._declared = Declared.of(function)
        self._locals: tuple[Memory, ...] = function.locals
        self._around: list[str | None] = []
        """The loops (None) and regions (their labels) around the present statement."""

    def body(self, body: Body) -> None:
        for statement in body:
            try:
                self._check(statement)
            except InvalidError as reason:
                raise self._error(statement, str(reason)) from None
            self._inside(statement)

    def _error(self, statement: Statement, reason: str) -> KernelError:
        message = f"invalid IR in `{self._name}`, `{print_statement(statement)}`: {reason}"
        place = statement.location
        return KernelError(message if place is None else describe(place, message))

    def _inside(self, statement: Statement) -> None:
        match statement:
            case If(then=then, orelse=orelse):
                self.body(then)
                self.body(orelse)
            case For(body=body) | While(body=body):
                self._nested(None, body)
            case Region(label=label, body=body):
                self._nested(label, body)
            case _:
                pass

    def _nested(self, label: str | None, body: Body) -> None:
        self._around.append(label)
        self.body(body)
        self._around.pop()

    def _check(self, statement: Statement) -> None:
        for expression in expressions(statement):
            check_expression(expression, self._declared)
        if isinstance(statement, _Simple):
            self._check_simple(statement)
        else:
            self._check_flow(statement)

    # ---- flow ---------------------------------------------------------------------------------

    def _check_flow(
        self,
        statement: If | For | While | Break | Continue | Return | Region | Leave | Sync,
    ) -> None:
        match statement:
            case If(condition=condition) | While(condition=condition):
                require_type(BOOL, condition.type, "a condition")
            case For():
                self._check_for(statement)
            case Break() | Continue():
                inside = bool(self._around) and self._around[-1] is None
                require(inside, "there is no loop around it in the same region.")
            case Region(label=label):
                require(label.isidentifier(), f"{label!r} is no label.")
                require(label not in self._around, f"there is a region `{label}` around it.")
            case Leave(label=label):
                require(label in self._around, f"there is no region `{label}` around it.")
            case Sync(scope=scope):
                require(scope in SCOPES, f"there is no barrier `{scope}`.")
            case Return():
                pass

    def _check_for(self, loop: For) -> None:
        self._check_variable(loop.variable)
        type = loop.variable.type
        require_domain("integers", type, "for")
        for bound, what in ((loop.start, "start"), (loop.stop, "stop"), (loop.step, "step")):
            require_type(type, bound.type, f"the {what} of a loop over `{loop.variable.name}`")
        require(loop.step.value != 0, "the step of a loop is 0.")

    # ---- statements with a result -------------------------------------------------------------

    def _check_simple(self, statement: _Simple) -> None:
        match statement:
            case Assign(variable=variable, value=value):
                self._check_result(variable, value.type)
            case Store(memory=memory, index=index, value=value):
                self._check_access(memory, index, writes=True)
                require_type(memory.type, value.type, f"an element of `{memory.name}`")
            case VectorLoad(buffer=buffer, index=index, results=results):
                self._check_access(buffer, index, writes=False)
                self._check_width(len(results))
                self._check_results(results, buffer.type)
            case VectorStore(buffer=buffer, index=index, values=values):
                self._check_access(buffer, index, writes=True)
                self._check_width(len(values))
                for value in values:
                    require_type(buffer.type, value.type, f"an element of `{buffer.name}`")
            case Atomic():
                self._check_atomic(statement)
            case Plane():
                self._check_plane(statement)

    def _check_variable(self, variable: Variable) -> None:
        known = variable in self._declared.variables
        require(known, f"the variable `{variable.name}` is not declared like this.")

    def _check_result(self, variable: Variable, type: Type) -> None:
        self._check_variable(variable)
        require_type(variable.type, type, f"what is put into `{variable.name}`")

    def _check_results(self, results: Sequence[Variable], type: Type) -> None:
        names = {result.name for result in results}
        require(len(names) == len(results), "a variable is set twice at once.")
        for result in results:
            self._check_result(result, type)

    def _check_access(self, memory: Memory, index: Expression, *, writes: bool) -> None:
        self._declared.require_memory(memory)
        self._declared.require_index(index)
        allowed = not writes or not isinstance(memory, Buffer) or memory.mutable
        require(allowed, f"`{memory.name}` is read only.")

    def _check_width(self, width: int) -> None:
        require(width in VECTOR_WIDTHS, f"a vector has 2 or 4 elements, not {width}.")

    def _check_atomic(self, atomic: Atomic) -> None:
        op, memory = atomic.op, atomic.memory
        require(op in get_args(AtomicOp), f"there is no atomic `{op}`.")
        is_private = memory in self._locals
        require(not is_private, "atomics work on buffers and shared memory.")
        self._check_access(memory, atomic.index, writes=True)
        domain: Domain = "integers" if op in ATOMIC_BITWISE else "numbers"
        require_domain(domain, memory.type, f"atomic.{op}")
        count = ATOMIC_OPERANDS.get(op, 1)
        given = len(atomic.operands)
        require(given == count, f"`atomic.{op}` takes {count} operands, not {given}.")
        for operand in atomic.operands:
            require_type(memory.type, operand.type, f"an operand of `atomic.{op}`")
        if atomic.result is not None:
            self._check_result(atomic.result, memory.type)

    def _check_plane(self, plane: Plane) -> None:
        op, types = plane.op, [operand.type for operand in plane.operands]
        require(op in get_args(PlaneOp), f"there is no plane operation `{op}`.")
        count = 0 if op == "elect" else 2 if op in PLANE_EXCHANGES else 1
        require(len(types) == count, f"`plane.{op}` takes {count} operands, not {len(types)}.")
        if types:
            require_domain("bools" if op in PLANE_VOTES else "numbers", types[0], f"plane.{op}")
        if op in PLANE_EXCHANGES:
            require_type(U32, types[1], f"the second operand of `plane.{op}`")
        given, wanted = len(plane.results), BALLOT_WORDS if op == "ballot" else 1
        require(given == wanted, f"`plane.{op}` has {wanted} results, not {given}.")
        self._check_results(plane.results, _plane_type(op, types))


def _plane_type(op: PlaneOp, types: Sequence[Type]) -> Type:
    """The type of a plane operation's results."""
    if op == "ballot":
        return U32
    return types[0] if types else BOOL
