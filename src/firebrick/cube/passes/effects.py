"""What statements read, change and leave: questions that several passes ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Break,
    Constant,
    Continue,
    Extent,
    For,
    If,
    Leave,
    Load,
    Plane,
    Read,
    Region,
    Return,
    Store,
    Variable,
    VectorLoad,
    VectorStore,
    bodies,
    expressions,
    walk,
    walk_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.cube.ir.nodes import Body, Expression, Memory, Statement


def results(statement: Statement) -> tuple[Variable, ...]:
    """The variables that a statement sets itself."""
    match statement:
        case Assign(variable=variable) | For(variable=variable):
            return (variable,)
        case VectorLoad(results=results) | Plane(results=results):
            return results
        case Atomic(result=Variable() as result):
            return (result,)
        case _:
            return ()


def assigned(body: Body) -> dict[Variable, None]:
    """The variables that a body sets, in the order of their first setting."""
    return dict.fromkeys(variable for statement in walk(body) for variable in results(statement))


def written(body: Body) -> dict[Memory, None]:
    """The memory that a body writes."""
    found: dict[Memory, None] = {}
    for statement in walk(body):
        match statement:
            case Store(memory=memory) | Atomic(memory=memory):
                found[memory] = None
            case VectorStore(buffer=buffer):
                found[buffer] = None
            case _:
                pass
    return found


def all_expressions(body: Body) -> Iterator[Expression]:
    """Every expression of a body and everything inside them."""
    for statement in walk(body):
        for expression in expressions(statement):
            yield from walk_expressions(expression)


def read_variables(expression: Expression) -> frozenset[Variable]:
    """The variables that an expression reads."""
    return frozenset(e.variable for e in walk_expressions(expression) if isinstance(e, Read))


def node_count(expression: Expression) -> int:
    """The size of an expression."""
    return sum(1 for _ in walk_expressions(expression))


def body_count(body: Body) -> int:
    """The size of a body: statements, and nodes of their expressions."""
    return sum(1 + sum(map(node_count, expressions(s))) for s in walk(body))


def has_load(expression: Expression) -> bool:
    """Whether memory is read, or a size at a position that only a run knows."""
    return any(isinstance(e, Load) or is_open_extent(e) for e in walk_expressions(expression))


def is_open_extent(expression: Expression) -> bool:
    """Whether this is the size of a dimension that only a run knows, and that may not exist."""
    return isinstance(expression, Extent) and not isinstance(expression.dim, Constant)


def has_float(expression: Expression) -> bool:
    """Whether a float occurs: 0.0 and -0.0 are equal constants that are not the same."""
    return any(e.type.is_float for e in walk_expressions(expression))


def is_identical(left: Expression, right: Expression) -> bool:
    """Whether two expressions are the same, down to the sign of zeros."""
    return left is right or (left == right and signs_of_zeros(left) == signs_of_zeros(right))


def signs_of_zeros(expression: Expression) -> list[str]:
    """The zeros of an expression with their signs, in the order of the walk."""
    parts = walk_expressions(expression)
    return [repr(part.value) for part in parts if isinstance(part, Constant) and not part.value]


# ---- jumps ------------------------------------------------------------------------------------


def own_jumps(body: Body) -> Iterator[Break | Continue]:
    """The `break`s and `continue`s of the loop that has this body."""
    for statement in body:
        match statement:
            case Break() | Continue():
                yield statement
            case If(then=then, orelse=orelse):
                yield from own_jumps(then)
                yield from own_jumps(orelse)
            case _:
                pass  # they do not leave regions


def left_labels(body: Body) -> dict[str, None]:
    """The labels of regions around a body that it leaves."""
    found: dict[str, None] = {}
    for statement in body:
        match statement:
            case Leave(label=label):
                found[label] = None
            case _:
                inner = [label for part in bodies(statement) for label in left_labels(part)]
                own = statement.label if isinstance(statement, Region) else None
                found |= dict.fromkeys(label for label in inner if label != own)
    return found


def may_jump_out(body: Body) -> bool:
    """Whether a body may be left in another way than at its end, `break`s of its loop included."""
    jumps = next(own_jumps(body), None) is not None
    return jumps or bool(left_labels(body)) or any(isinstance(s, Return) for s in walk(body))


def never_ends(body: Body) -> bool:
    """Whether what follows a body is surely not reached from its end."""
    if not body:
        return False
    match body[-1]:
        case Break() | Continue() | Return() | Leave():
            return True
        case If(then=then, orelse=orelse):
            return never_ends(then) and never_ends(orelse)
        case _:
            return False
