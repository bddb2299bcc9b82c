"""The kernel IR: a typed, structured program as frozen dataclasses.

Expressions are trees without side effects; whatever has one (stores, atomics, plane operations,
barriers) is a statement. Functions are inlined before this point and compile-time values are
gone. `docs/kernels.md` says what every node means on every target.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from firebrick.cube.ir.types import BOOL, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

# ---- where a statement comes from -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source; `calls` are the places of the inlined calls around it."""

    file: str
    line: int
    column: int
    end_column: int
    function: str
    calls: tuple[Location, ...] = ()


# ---- storage ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor argument; `position` counts the buffers in the order of the parameters."""

    name: str
    type: Type
    rank: int
    mutable: bool
    position: int


@dataclass(frozen=True, slots=True)
class SharedArray:
    """Memory of a cube."""

    name: str
    type: Type
    size: int


@dataclass(frozen=True, slots=True)
class LocalArray:
    """Memory of a unit."""

    name: str
    type: Type
    size: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A number of a unit; names are unique in a function."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A number given at launch; `position` counts the scalars in the order of the parameters."""

    name: str
    type: Type
    position: int


Memory: TypeAlias = Buffer | SharedArray | LocalArray

# ---- expressions ------------------------------------------------------------------------------

UnaryOp = Literal["neg", "invert", "not"]
BinaryOp = Literal[
    "add", "sub", "mul", "div", "floordiv", "mod", "and", "or", "xor", "shl", "shr", "min", "max"
]
CompareOp = Literal["eq", "ne", "lt", "le", "gt", "ge"]
TopologyName = Literal[
    "UNIT_POS", "UNIT_POS_X", "UNIT_POS_Y", "UNIT_POS_Z",
    "CUBE_POS", "CUBE_POS_X", "CUBE_POS_Y", "CUBE_POS_Z",
    "CUBE_DIM", "CUBE_DIM_X", "CUBE_DIM_Y", "CUBE_DIM_Z",
    "CUBE_COUNT", "CUBE_COUNT_X", "CUBE_COUNT_Y", "CUBE_COUNT_Z",
    "ABSOLUTE_POS", "ABSOLUTE_POS_X", "ABSOLUTE_POS_Y", "ABSOLUTE_POS_Z",
    "PLANE_DIM", "PLANE_POS", "UNIT_POS_PLANE",
]  # fmt: skip
MathName = Literal[
    "exp", "log", "log1p", "sqrt", "inverse_sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "erf", "floor", "ceil", "round", "trunc", "abs", "recip", "degrees",
    "radians", "atan2", "pow", "powi", "hypot", "fma", "is_nan", "is_inf", "count_ones",
    "reverse_bits", "leading_zeros", "trailing_zeros",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; a float may be inf or NaN."""

    type: Type
    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Read:
    """The present value of a variable."""

    variable: Variable

    @property
    def type(self) -> Type:
        """That of the variable."""
        return self.variable.type


@dataclass(frozen=True, slots=True)
class Argument:
    """A number given at launch."""

    parameter: ScalarParameter

    @property
    def type(self) -> Type:
        """That of the parameter."""
        return self.parameter.type


@dataclass(frozen=True, slots=True)
class Load:
    """One element."""

    memory: Memory
    index: Expression

    @property
    def type(self) -> Type:
        """That of the memory's elements."""
        return self.memory.type


@dataclass(frozen=True, slots=True)
class Topology:
    """Where a unit is, or the geometry of the launch, in the function's index type."""

    type: Type
    name: TopologyName


@dataclass(frozen=True, slots=True)
class Extent:
    """Size (`what` is shape) or stride in elements of a dimension of a buffer; index type.

    `dim` counts from the front and is in range when it is a constant.
    """

    type: Type
    buffer: Buffer
    what: Literal["shape", "stride"]
    dim: Expression


@dataclass(frozen=True, slots=True)
class Length:
    """How many elements a buffer has; index type."""

    type: Type
    buffer: Buffer


@dataclass(frozen=True, slots=True)
class Unary:
    """`neg` and `invert` keep the type; `not` takes and gives a bool."""

    op: UnaryOp
    value: Expression

    @property
    def type(self) -> Type:
        """That of the operand."""
        return self.value.type


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands of one type, which the result has; a shift count has it too."""

    op: BinaryOp
    left: Expression
    right: Expression

    @property
    def type(self) -> Type:
        """That of the operands."""
        return self.left.type


@dataclass(frozen=True, slots=True)
class Compare:
    """Two operands of one type; a bool."""

    op: CompareOp
    left: Expression
    right: Expression

    @property
    def type(self) -> Type:
        """A bool."""
        return BOOL


@dataclass(frozen=True, slots=True)
class Logical:
    """Short circuit: the right side is evaluated only if the left one does not decide."""

    op: Literal["and", "or"]
    left: Expression
    right: Expression

    @property
    def type(self) -> Type:
        """A bool."""
        return BOOL


@dataclass(frozen=True, slots=True)
class Select:
    """`if_true if condition else if_false`; with `lazy` only the chosen side is evaluated."""

    condition: Expression
    if_true: Expression
    if_false: Expression
    lazy: bool = False

    @property
    def type(self) -> Type:
        """That of both sides."""
        return self.if_true.type


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion between numbers and bools."""

    type: Type
    value: Expression


@dataclass(frozen=True, slots=True)
class Reinterpret:
    """The same bits as another type of equal size."""

    type: Type
    value: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function of mathematics; `powi` takes an i32 exponent as its second argument."""

    type: Type
    name: MathName
    arguments: tuple[Expression, ...]


Expression: TypeAlias = (
    Constant
    | Read
    | Argument
    | Load
    | Topology
    | Extent
    | Length
    | Unary
    | Binary
    | Compare
    | Logical
    | Select
    | Cast
    | Reinterpret
    | Call
)

# ---- statements -------------------------------------------------------------------------------

AtomicOp = Literal[
    "load", "store", "exchange", "add", "sub", "max", "min", "and", "or", "xor", "compare_exchange"
]
PlaneOp = Literal[
    "sum", "prod", "max", "min", "inclusive_sum", "exclusive_sum", "inclusive_prod",
    "exclusive_prod", "broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "elect",
    "all", "any", "ballot",
]  # fmt: skip
_NOWHERE: Location | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """Sets a variable; one that was never set holds zero."""

    variable: Variable
    value: Expression
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """Writes one element."""

    memory: Memory
    index: Expression
    value: Expression
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class VectorLoad:
    """Reads 2 or 4 neighbouring elements at once, from `index * len(results)` on.

    The elements exist and their address is a multiple of their size together.
    """

    buffer: Buffer
    index: Expression
    results: tuple[Variable, ...]
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class VectorStore:
    """Writes 2 or 4 neighbouring elements at once, from `index * len(values)` on."""

    buffer: Buffer
    index: Expression
    values: tuple[Expression, ...]
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Atomic:
    """One indivisible access to an element of a buffer or of shared memory.

    `result` receives the old value, if it is wanted. `compare_exchange` has two operands: what is
    expected, then the new value; `load` has none; all others one.
    """

    op: AtomicOp
    memory: Buffer | SharedArray
    index: Expression
    operands: tuple[Expression, ...]
    result: Variable | None = None
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Plane:
    """Exchange among the units of a plane, all of which arrive.

    `ballot` fills four u32 variables, every other operation one. The second operand of
    `broadcast` and the shuffles is a u32.
    """

    op: PlaneOp
    operands: tuple[Expression, ...]
    results: tuple[Variable, ...]
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """Runs one of two bodies."""

    condition: Expression
    then: Body
    orelse: Body = ()
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """Python's `for variable in range(start, stop, step)`.

    The bounds are evaluated once, `step` is a constant that is not 0; setting the variable inside
    does not change how often the body runs; after the loop it keeps its last value.
    """

    variable: Variable
    start: Expression
    stop: Expression
    step: Constant
    body: Body
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """Runs the body as long as the condition holds."""

    condition: Expression
    body: Body
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Break:
    """Leaves the innermost loop."""

    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Continue:
    """Goes on with the next trip of the innermost loop."""

    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """Ends the unit."""

    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Region:
    """The body of an inlined function; `Leave(label)` goes on behind it, out of loops too."""

    label: str
    body: Body
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Leave:
    """Leaves the enclosing region of that label."""

    label: str
    location: Location | None = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Sync:
    """A barrier: of the cube, of the plane, or of storage within the cube."""

    scope: Literal["cube", "plane", "storage"]
    location: Location | None = field(default=_NOWHERE, compare=False)


Statement: TypeAlias = (
    Assign
    | Store
    | VectorLoad
    | VectorStore
    | Atomic
    | Plane
    | If
    | For
    | While
    | Break
    | Continue
    | Return
    | Region
    | Leave
    | Sync
)
Body: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """One kernel for one set of element types and compile-time values."""

    name: str
    buffers: tuple[Buffer, ...]
    scalars: tuple[ScalarParameter, ...]
    shared: tuple[SharedArray, ...]
    locals: tuple[LocalArray, ...]
    variables: tuple[Variable, ...]
    body: Body
    index_type: Type
    """`i32` or `i64`: of positions, lengths, shapes and strides."""
    cube_dim: tuple[int, int, int]
    """Units along x, y, z: known when compiling."""

    @property
    def units(self) -> int:
        """How many units a cube has."""
        x, y, z = self.cube_dim
        return x * y * z


# ---- walking ----------------------------------------------------------------------------------


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts of an expression."""
    match expression:
        case Load(index=index):
            return (index,)
        case Extent(dim=dim):
            return (dim,)
        case Unary(value=value) | Cast(value=value) | Reinterpret(value=value):
            return (value,)
        case Binary(left=left, right=right) | Compare(left=left, right=right):
            return (left, right)
        case Logical(left=left, right=right):
            return (left, right)
        case Select(condition, if_true, if_false):
            return (condition, if_true, if_false)
        case Call(arguments=arguments):
            return arguments
        case _:
            return ()


def expressions(statement: Statement) -> tuple[Expression, ...]:
    """The expressions that a statement evaluates itself, bodies left out."""
    match statement:
        case Assign(value=value):
            return (value,)
        case Store(index=index, value=value):
            return (index, value)
        case VectorLoad(index=index):
            return (index,)
        case VectorStore(index=index, values=values):
            return (index, *values)
        case Atomic(index=index, operands=values):
            return (index, *values)
        case Plane(operands=values):
            return values
        case If(condition=condition) | While(condition=condition):
            return (condition,)
        case For(start=start, stop=stop, step=step):
            return (start, stop, step)
        case _:
            return ()


def bodies(statement: Statement) -> tuple[Body, ...]:
    """The bodies inside a statement."""
    match statement:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case For(body=body) | While(body=body) | Region(body=body):
            return (body,)
        case _:
            return ()


def walk(body: Body) -> Iterator[Statement]:
    """Every statement of a body, outer ones first."""
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from walk(inner)


def walk_expressions(expression: Expression) -> Iterator[Expression]:
    """An expression and everything inside it, outer parts first, from left to right."""
    pending = [expression]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(reversed(operands(one)))
