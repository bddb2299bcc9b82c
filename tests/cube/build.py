"""Kernels for tests: from text, from expressions, and running them in the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from firebrick.cube.interpreter import InterpreterBuffer, run, storage_dtype
from firebrick.cube.ir.nodes import (
    Binary,
    BinaryOp,
    Body,
    Buffer,
    Call,
    Cast,
    Compare,
    CompareOp,
    Constant,
    Expression,
    For,
    Function,
    Load,
    Location,
    MathName,
    Read,
    Reinterpret,
    Store,
    Unary,
    UnaryOp,
    Variable,
)
from firebrick.cube.ir.parser import parse_function
from firebrick.cube.ir.types import I32, Type
from firebrick.cube.ir.verifier import verify

Array = np.ndarray[Any, np.dtype[Any]]
Numbers = Sequence[bool | int | float]


def parse(header: str, body: str, *, cube_dim: tuple[int, int, int] = (1, 1, 1)) -> Function:
    """A valid kernel named `k` with `i32` indices, from declarations and statements."""
    x, y, z = cube_dim
    start = f"kernel k\nindex i32\ncube_dim {x}, {y}, {z}\n"
    function = parse_function(f"{start}{header}\nbody:\n{body}")
    verify(function)
    return function


def execute(
    function: Function,
    *arrays: Array,
    cube_count: tuple[int, int, int] = (1, 1, 1),
    scalars: Numbers = (),
    plane_size: int = 32,
    statement_limit: int = 10_000_000,
) -> None:
    """Runs a kernel on contiguous arrays, by the position of the parameters."""
    buffers = [InterpreterBuffer.of(array) for array in arrays]
    run(
        function, cube_count, buffers, scalars,
        plane_size=plane_size, statement_limit=statement_limit,
    )  # fmt: skip


def to_storage(values: Numbers, type: Type) -> Array:
    """Numbers as a buffer of a type stores them."""
    if type.scalar == "bf16":
        rounded = torch.tensor(values, dtype=torch.float64).to(torch.bfloat16)
        return rounded.view(torch.int16).numpy().view(np.uint16)
    return np.array(values, storage_dtype(type))


def from_storage(array: Array, type: Type) -> list[Any]:
    """The numbers that a buffer holds."""
    if type.scalar == "bf16":
        bits = torch.tensor(array.view(np.int16))
        return bits.view(torch.bfloat16).to(torch.float64).numpy().tolist()
    return array.tolist()


def evaluate(
    make: Callable[..., Expression], *operands: tuple[Type, Numbers], index: Type = I32
) -> list[Any]:
    """`make(a, b, ...)` for each row of the operands, as the interpreter computes it.

    The operands are loads, so that nothing is known before the kernel runs.
    """
    count = len(operands[0][1])
    position = Variable("i", index)
    inputs = [Buffer(f"x{n}", type, 1, False, n) for n, (type, _) in enumerate(operands)]
    result = make(*(Load(buffer, Read(position)) for buffer in inputs))
    output = Buffer("out", result.type, 1, True, len(inputs))
    body: Body = (
        For(
            position, Constant(index, 0), Constant(index, count), Constant(index, 1),
            (Store(output, Read(position), result),),
        ),
    )  # fmt: skip
    function = Function(
        "k", (*inputs, output), (), (), (), (position,), body, index, (1, 1, 1)
    )  # fmt: skip
    verify(function)
    arrays = [to_storage(values, type) for type, values in operands]
    results = np.zeros(count, storage_dtype(result.type))
    execute(function, *arrays, results)
    return from_storage(results, result.type)


# ---- for `evaluate` ---------------------------------------------------------------------------


def unary(op: UnaryOp) -> Callable[[Expression], Expression]:
    """An operator."""
    return lambda a: Unary(op, a)


def binary(op: BinaryOp) -> Callable[[Expression, Expression], Expression]:
    """An operator."""
    return lambda a, b: Binary(op, a, b)


def compare(op: CompareOp) -> Callable[[Expression, Expression], Expression]:
    """A comparison."""
    return lambda a, b: Compare(op, a, b)


def call(type: Type, name: MathName) -> Callable[..., Expression]:
    """A function of mathematics that gives a type."""

    def make(*arguments: Expression) -> Expression:
        return Call(type, name, arguments)

    return make


def cast_to(type: Type) -> Callable[[Expression], Expression]:
    """A conversion."""
    return lambda a: Cast(type, a)


def bits_as(type: Type) -> Callable[[Expression], Expression]:
    """The same bits."""
    return lambda a: Reinterpret(type, a)


# ---- places -----------------------------------------------------------------------------------


def located(line: int, file: str = "user.py") -> Location:
    """A place in a file that does not exist."""
    return Location(file, line, 5, 9, "k")
