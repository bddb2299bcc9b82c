"""The IR as text that people read and `parser.py` reads back.

    kernel halve
    index i32
    cube_dim 64, 1, 1
    buffer x: f32, rank 1, position 0
    buffer out: mut f32, rank 1, position 1
    variable i: i32
    body:
        i = cube.ABSOLUTE_POS
        if i < len(out):
            out[i] = x[i] * 0.5_f32

Expressions are Python's with typed literals: `f32(x)` is a cast, `a if c else b` a lazy select and
`select(c, a, b)` one that evaluates both sides. Besides Python's statements there are

    a, b = x.vector[i]                   two or four neighbouring elements; also the other way
    old = atomic.add(out[i], v)          or without a result
    total = plane.sum(v)
    region done: / leave done
    sync cube                            or plane, or storage
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.ir.nodes import (
    Argument,
    Assign,
    Atomic,
    Binary,
    Body,
    Break,
    Buffer,
    Call,
    Cast,
    Compare,
    Constant,
    Continue,
    Expression,
    Extent,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    Logical,
    Plane,
    Read,
    Region,
    Reinterpret,
    Return,
    Select,
    Statement,
    Store,
    Sync,
    Topology,
    Unary,
    VectorLoad,
    VectorStore,
    While,
)
from firebrick.cube.ir.symbols import (
    ATOM_PRECEDENCE,
    BINARY_SYMBOLS,
    COMPARE_SYMBOLS,
    PRECEDENCE,
    UNARY_PRECEDENCE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

INDENT = "    "
_Infix: TypeAlias = Unary | Binary | Compare | Logical | Select
_Block: TypeAlias = If | For | While | Region
_Simple: TypeAlias = (
    Assign
    | Store
    | VectorLoad
    | VectorStore
    | Atomic
    | Plane
    | Break
    | Continue
    | Return
    | Leave
    | Sync
)


def print_function(function: Function, *, locations: bool = False) -> str:
    """The text of a function; with `locations` the places in the user's source as comments."""
    lines = chain(_header(function), _indented(function.body, INDENT, locations=locations))
    return "\n".join(lines) + "\n"


def print_statement(statement: Statement) -> str:
    """One statement, without the bodies inside."""
    return _head(statement) if isinstance(statement, _Block) else _simple(statement)


def print_expression(expression: Expression) -> str:
    """One expression."""
    return _expression(expression, 0)


# ---- declarations -----------------------------------------------------------------------------


def _header(function: Function) -> Iterator[str]:
    yield f"kernel {function.name}"
    yield f"index {function.index_type}"
    yield f"cube_dim {', '.join(map(str, function.cube_dim))}"
    for buffer in function.buffers:
        yield f"buffer {buffer.name}: {_buffer_type(buffer)}"
    for scalar in function.scalars:
        yield f"scalar {scalar.name}: {scalar.type}, position {scalar.position}"
    for shared in function.shared:
        yield f"shared {shared.name}: {shared.type}[{shared.size}]"
    for local in function.locals:
        yield f"local {local.name}: {local.type}[{local.size}]"
    for variable in function.variables:
        yield f"variable {variable.name}: {variable.type}"
    yield "body:"


def _buffer_type(buffer: Buffer) -> str:
    mutable = "mut " if buffer.mutable else ""
    return f"{mutable}{buffer.type}, rank {buffer.rank}, position {buffer.position}"


# ---- statements -------------------------------------------------------------------------------


def _indented(body: Body, indent: str, *, locations: bool) -> Iterator[str]:
    if not body:
        yield f"{indent}pass"
    for statement in body:
        yield f"{indent}{print_statement(statement)}{_comment(statement, locations=locations)}"
        if isinstance(statement, _Block):
            yield from _inside(statement, indent, locations=locations)


def _comment(statement: Statement, *, locations: bool) -> str:
    place = statement.location
    return f"  # {place.file}:{place.line}" if locations and place is not None else ""


def _inside(block: _Block, indent: str, *, locations: bool) -> Iterator[str]:
    if not isinstance(block, If):
        yield from _indented(block.body, indent + INDENT, locations=locations)
        return
    yield from _indented(block.then, indent + INDENT, locations=locations)
    # A chain of conditions is walked, not descended: it may be hundreds long.
    while len(block.orelse) == 1 and isinstance(following := block.orelse[0], If):
        comment = _comment(following, locations=locations)
        yield f"{indent}elif {print_expression(following.condition)}:{comment}"
        yield from _indented(following.then, indent + INDENT, locations=locations)
        block = following
    if block.orelse:
        yield f"{indent}else:"
        yield from _indented(block.orelse, indent + INDENT, locations=locations)


def _head(statement: _Block) -> str:
    match statement:
        case If(condition=condition):
            return f"if {print_expression(condition)}:"
        case While(condition=condition):
            return f"while {print_expression(condition)}:"
        case For(variable=variable, start=start, stop=stop, step=step):
            return f"for {variable.name} in range({_arguments((start, stop, step))}):"
        case Region(label=label):
            return f"region {label}:"


def _simple(statement: _Simple) -> str:
    match statement:
        case Assign(variable=variable, value=value):
            return f"{variable.name} = {print_expression(value)}"
        case Atomic(op=op, memory=memory, index=index, operands=operands, result=result):
            place = f"{memory.name}[{print_expression(index)}]"
            values = "".join(f", {print_expression(value)}" for value in operands)
            target = "" if result is None else f"{result.name} = "
            return f"{target}atomic.{op}({place}{values})"
        case Plane(op=op, operands=operands, results=results):
            names = ", ".join(result.name for result in results)
            return f"{names} = plane.{op}({_arguments(operands)})"
        case Store() | VectorLoad() | VectorStore():
            return _access(statement)
        case _:
            return _jump(statement)


def _access(statement: Store | VectorLoad | VectorStore) -> str:
    index = print_expression(statement.index)
    match statement:
        case Store(memory=memory, value=value):
            return f"{memory.name}[{index}] = {print_expression(value)}"
        case VectorLoad(buffer=buffer, results=results):
            names = ", ".join(result.name for result in results)
            return f"{names} = {buffer.name}.vector[{index}]"
        case VectorStore(buffer=buffer, values=values):
            return f"{buffer.name}.vector[{index}] = {_arguments(values)}"


def _jump(statement: Break | Continue | Return | Leave | Sync) -> str:
    match statement:
        case Break():
            return "break"
        case Continue():
            return "continue"
        case Return():
            return "return"
        case Leave(label=label):
            return f"leave {label}"
        case Sync(scope=scope):
            return f"sync {scope}"


# ---- expressions ------------------------------------------------------------------------------


def _arguments(values: tuple[Expression, ...]) -> str:
    return ", ".join(map(print_expression, values))


def _expression(expression: Expression, level: int) -> str:
    """The text, in parentheses if it binds less tightly than `level`."""
    if isinstance(expression, _Infix):
        text, precedence = _infix(expression)
        return text if precedence >= level else f"({text})"
    if isinstance(expression, Call | Cast | Reinterpret | Load | Extent | Length):
        return _reference(expression)
    return _leaf(expression)


def _infix(expression: _Infix) -> tuple[str, int]:
    match expression:
        case Unary(op=op, value=value):
            return _unary(op, value)
        case Binary(op=op, left=left, right=right):
            if op not in BINARY_SYMBOLS:  # `min` and `max`
                return f"{op}({_arguments((left, right))})", ATOM_PRECEDENCE
            return _between(BINARY_SYMBOLS[op], left, right)
        case Compare(op=op, left=left, right=right):
            above = PRECEDENCE["=="] + 1  # comparisons are not chained
            symbol = COMPARE_SYMBOLS.get(op, op)
            return f"{_expression(left, above)} {symbol} {_expression(right, above)}", above - 1
        case Logical(op=op, left=left, right=right):
            return _between(op, left, right)
        case Select(condition=condition, if_true=if_true, if_false=if_false, lazy=lazy):
            if not lazy:
                return f"select({_arguments((condition, if_true, if_false))})", ATOM_PRECEDENCE
            yes, no = _expression(if_true, 1), _expression(if_false, 0)
            return f"{yes} if {_expression(condition, 1)} else {no}", PRECEDENCE["if"]


def _unary(op: str, value: Expression) -> tuple[str, int]:
    if op == "not":
        return f"not {_expression(value, PRECEDENCE['not'])}", PRECEDENCE["not"]
    operand = _expression(value, UNARY_PRECEDENCE)
    if isinstance(value, Constant):  # `-1_i32` is a literal
        operand = f"({operand})"
    return f"{'-' if op == 'neg' else '~'}{operand}", UNARY_PRECEDENCE


def _between(symbol: str, left: Expression, right: Expression) -> tuple[str, int]:
    level = PRECEDENCE.get(symbol, 0)  # the verifier shows wrong functions too
    return f"{_expression(left, level)} {symbol} {_expression(right, level + 1)}", level


def _reference(expression: Call | Cast | Reinterpret | Load | Extent | Length) -> str:
    match expression:
        case Call(name=name, arguments=arguments):
            return f"{name}({_arguments(arguments)})"
        case Cast(type=type, value=value):
            return f"{type}({print_expression(value)})"
        case Reinterpret(type=type, value=value):
            return f"reinterpret({print_expression(value)}, {type})"
        case Load(memory=memory, index=index):
            return f"{memory.name}[{print_expression(index)}]"
        case Extent(buffer=buffer, what=what, dim=dim):
            return f"{buffer.name}.{what}[{print_expression(dim)}]"
        case Length(buffer=buffer):
            return f"len({buffer.name})"


def _leaf(expression: Constant | Read | Argument | Topology) -> str:
    match expression:
        case Constant():
            return _literal(expression)
        case Read(variable=variable):
            return variable.name
        case Argument(parameter=parameter):
            return parameter.name
        case Topology(name=name):
            return f"cube.{name}"


def _literal(constant: Constant) -> str:
    value, type = constant.value, constant.type
    if isinstance(value, float) and not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        return f"{'-' if value < 0 else ''}{type}.{name}"
    return repr(value) if isinstance(value, bool) else f"{value!r}_{type}"
