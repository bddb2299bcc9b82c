"""Which types an expression's parts may have: tables, and the walk that holds them against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Argument,
    Binary,
    BinaryOp,
    Buffer,
    Call,
    Cast,
    Compare,
    Constant,
    Expression,
    Extent,
    Function,
    Length,
    Load,
    Logical,
    MathName,
    Memory,
    Read,
    Reinterpret,
    Select,
    Topology,
    Unary,
    operands,
)
from firebrick.cube.ir.symbols import (
    BINARY_SYMBOLS,
    COMPARE_SYMBOLS,
    MATH_NAMES,
    PREDICATES,
    TOPOLOGY_NAMES,
)
from firebrick.cube.ir.types import BITS, BOOL, I32, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class InvalidError(Exception):
    """Inside the package only: what is wrong; the verifier says where."""


Domain = str
"""Which types an operation takes: a key of `DOMAINS`."""
DOMAINS: dict[Domain, Callable[[Type], bool]] = {
    "numbers": lambda type: type != BOOL,
    "floats": lambda type: type.is_float,
    "integers": lambda type: type.is_integer,
    "integers or bools": lambda type: not type.is_float,
    "bools": lambda type: type == BOOL,
    "values": lambda type: type.scalar in BITS,
}
BINARY_DOMAINS: dict[BinaryOp, Domain] = {
    "add": "numbers", "sub": "numbers", "mul": "numbers", "div": "floats", "floordiv": "numbers",
    "mod": "numbers", "min": "numbers", "max": "numbers", "and": "integers or bools",
    "or": "integers or bools", "xor": "integers or bools", "shl": "integers", "shr": "integers",
}  # fmt: skip
UNARY_DOMAINS: dict[str, Domain] = {"neg": "numbers", "invert": "integers", "not": "bools"}
_ON_INTEGERS = frozenset({"count_ones", "reverse_bits", "leading_zeros", "trailing_zeros"})
_ARGUMENTS: dict[MathName, int] = {"atan2": 2, "pow": 2, "powi": 2, "hypot": 2, "fma": 3}
"""How many arguments a function takes; all others take one."""


def math_domain(name: str) -> Domain:
    """What a function of mathematics takes as its first argument."""
    if name in _ON_INTEGERS:
        return "integers"
    return "numbers" if name == "abs" else "floats"


def require(condition: bool, message: str) -> None:
    """Raises `InvalidError` unless the condition holds."""
    if not condition:
        raise InvalidError(message)


def require_domain(domain: Domain, type: Type, what: str) -> None:
    """Raises `InvalidError` if an operation does not take a type."""
    require(DOMAINS[domain](type), f"`{what}` takes {domain}, not {type}.")


def require_type(wanted: Type, found: Type, what: str) -> None:
    """Raises `InvalidError` if a part has another type than it must have."""
    require(found == wanted, f"{what} is of type {wanted}, not {found}.")


@dataclass(frozen=True, slots=True)
class Declared:
    """What a function declares, for looking up whether a node speaks of it."""

    index_type: Type
    storage: frozenset[Memory]
    variables: frozenset[object]
    scalars: frozenset[object]

    @classmethod
    def of(cls, function: Function) -> Declared:
        """The declarations of a function."""
        storage: Sequence[Memory] = (*function.buffers, *function.shared, *function.locals)
        return cls(
            function.index_type,
            frozenset(storage),
            frozenset(function.variables),
            frozenset(function.scalars),
        )

    def require_memory(self, memory: Memory) -> None:
        """Raises `InvalidError` if memory is not declared."""
        require(memory in self.storage, f"the memory `{memory.name}` is not declared like this.")

    def require_index(self, index: Expression) -> None:
        """Raises `InvalidError` if an index does not have the index type."""
        require_type(self.index_type, index.type, "an index")


def check_expression(expression: Expression, declared: Declared) -> None:
    """Raises `InvalidError` if an expression is ill-typed or speaks of something not declared."""
    for part in operands(expression):
        check_expression(part, declared)
    match expression:
        case Constant():
            _constant(expression)
        case Read(variable):
            known = variable in declared.variables
            require(known, f"the variable `{variable.name}` is not declared like this.")
        case Argument(parameter):
            known = parameter in declared.scalars
            require(known, f"the scalar `{parameter.name}` is not declared like this.")
        case Load() | Topology() | Extent() | Length():
            _place(expression, declared)
        case Call():
            _call(expression)
        case _:
            _operator(expression)


def _constant(constant: Constant) -> None:
    value, type = constant.value, constant.type
    if type == BOOL:
        require(isinstance(value, bool), f"the bool {value!r} is a {_python(value)}.")
    elif type.is_float:
        require(isinstance(value, float), f"the {type} {value!r} is a {_python(value)}.")
    else:
        is_int = isinstance(value, int) and not isinstance(value, bool)
        require(is_int, f"the {type} {value!r} is a {_python(value)}.")
        low, high = integer_range(type)
        require(low <= value <= high, f"{value!r} does not fit {type}.")


def _python(value: object) -> str:
    return type(value).__name__


def integer_range(type: Type) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if type.kind == "uint":
        return 0, (1 << type.bits) - 1
    half = 1 << (type.bits - 1)
    return -half, half - 1


def _place(expression: Load | Topology | Extent | Length, declared: Declared) -> None:
    match expression:
        case Load(memory, index):
            declared.require_memory(memory)
            declared.require_index(index)
        case Topology(type, name):
            require(name in TOPOLOGY_NAMES, f"there is no position `{name}`.")
            require_type(declared.index_type, type, f"`{name}`")
        case Length(type, buffer):
            declared.require_memory(buffer)
            require_type(declared.index_type, type, f"the length of `{buffer.name}`")
        case Extent(type, buffer, what, dim):
            declared.require_memory(buffer)
            require_type(declared.index_type, type, f"a {what} of `{buffer.name}`")
            declared.require_index(dim)
            _dimension(buffer, dim)


def _dimension(buffer: Buffer, dim: Expression) -> None:
    require(buffer.rank > 0, f"`{buffer.name}` of rank 0 has no dimensions.")
    if isinstance(dim, Constant):
        known = 0 <= dim.value < buffer.rank
        require(known, f"`{buffer.name}` of rank {buffer.rank} has no dimension {dim.value!r}.")


def _call(call: Call) -> None:
    name, types = call.name, [argument.type for argument in call.arguments]
    require(name in MATH_NAMES, f"there is no function `{name}`.")
    count = _ARGUMENTS.get(name, 1)
    require(len(types) == count, f"`{name}` takes {count} arguments, not {len(types)}.")
    require_domain(math_domain(name), types[0], name)
    if name == "powi":
        require_type(I32, types[1], "the exponent of `powi`")
    else:
        _same(types[0], types[-1], name)
        _same(types[0], types[count // 2], name)
    require_type(BOOL if name in PREDICATES else types[0], call.type, f"what `{name}` gives")


def _same(left: Type, right: Type, what: str) -> None:
    require(left == right, f"`{what}` takes operands of one type, not {left} and {right}.")


def _operator(
    expression: Unary | Binary | Compare | Logical | Select | Cast | Reinterpret,
) -> None:
    match expression:
        case Unary(op, value):
            require(op in UNARY_DOMAINS, f"there is no operator `{op}`.")
            require_domain(UNARY_DOMAINS[op], value.type, op)
        case Binary(op, left, right):
            require(op in BINARY_DOMAINS, f"there is no operator `{op}`.")
            _same(left.type, right.type, BINARY_SYMBOLS.get(op, op))
            require_domain(BINARY_DOMAINS[op], left.type, BINARY_SYMBOLS.get(op, op))
        case Compare(op, left, right):
            require(op in COMPARE_SYMBOLS, f"there is no comparison `{op}`.")
            _same(left.type, right.type, COMPARE_SYMBOLS[op])
            domain = "values" if op in ("eq", "ne") else "numbers"
            require_domain(domain, left.type, COMPARE_SYMBOLS[op])
        case Logical(op, left, right):
            require(op in ("and", "or"), f"there is no operator `{op}`.")
            require_domain("bools", left.type, op)
            require_domain("bools", right.type, op)
        case Select(condition, if_true, if_false):
            require_domain("bools", condition.type, "select")
            _same(if_true.type, if_false.type, "select")
        case Reinterpret(type, value):
            fits = type.bits == value.type.bits and BOOL not in (type, value.type)
            require(fits, f"a {value.type} cannot be reinterpreted as a {type}.")
        case Cast():
            pass  # between any two types
