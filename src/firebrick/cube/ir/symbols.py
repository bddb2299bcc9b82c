"""What printer and parser share: how operators are written and how tightly they bind."""

from __future__ import annotations

from typing import get_args

from firebrick.cube.ir.nodes import AtomicOp, BinaryOp, CompareOp, MathName, PlaneOp, TopologyName

BINARY_SYMBOLS: dict[BinaryOp, str] = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
}  # fmt: skip
"""`min` and `max` are written as calls."""

COMPARE_SYMBOLS: dict[CompareOp, str] = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip

PRECEDENCE: dict[str, int] = {
    "if": 0, "or": 1, "and": 2, "not": 3,
    "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
}  # fmt: skip
"""Python's; a higher number binds more tightly."""
UNARY_PRECEDENCE = 11
ATOM_PRECEDENCE = 12

BINARY_OPS: dict[str, BinaryOp] = {symbol: op for op, symbol in BINARY_SYMBOLS.items()}
COMPARE_OPS: dict[str, CompareOp] = {symbol: op for op, symbol in COMPARE_SYMBOLS.items()}
MATH_NAMES: dict[str, MathName] = {name: name for name in get_args(MathName)}
TOPOLOGY_NAMES: dict[str, TopologyName] = {name: name for name in get_args(TopologyName)}
ATOMIC_OPS: dict[str, AtomicOp] = {op: op for op in get_args(AtomicOp)}
PLANE_OPS: dict[str, PlaneOp] = {op: op for op in get_args(PlaneOp)}

PREDICATES: frozenset[str] = frozenset({"is_nan", "is_inf"})
"""Functions of mathematics that give a bool; all others give the type of their first argument."""

KEYWORDS: frozenset[str] = frozenset(
    {"True", "False", "and", "or", "not", "if", "else", "elif", "for", "in", "while", "break",
     "continue", "return", "pass"}
)  # fmt: skip
"""Words of the text that no name can be; none is a name in Python either."""
