"""Random expressions that every target must evaluate alike: no index out of range."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import get_args

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import (
    Argument,
    Binary,
    BinaryOp,
    Buffer,
    Call,
    Cast,
    Compare,
    CompareOp,
    Constant,
    Expression,
    Extent,
    Length,
    Load,
    LocalArray,
    Logical,
    MathName,
    Memory,
    Read,
    Reinterpret,
    ScalarParameter,
    Select,
    SharedArray,
    Topology,
    TopologyName,
    Unary,
    Variable,
)
from firebrick.cube.ir.types import BITS, BOOL, I32, ScalarName, Type

ALL_TYPES: tuple[ScalarName, ...] = get_args(ScalarName)
PLANE_POSITIONS = {"PLANE_DIM", "PLANE_POS", "UNIT_POS_PLANE"}
POSITIONS: tuple[TopologyName, ...] = get_args(TopologyName)
EXACT_MATH: tuple[MathName, ...] = ("floor", "ceil", "round", "trunc", "abs")
INEXACT_MATH: tuple[MathName, ...] = (
    "exp", "log", "log1p", "sqrt", "inverse_sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "erf", "recip", "degrees", "radians", "atan2", "pow", "powi", "hypot",
    "fma",
)  # fmt: skip
BIT_MATH: tuple[MathName, ...] = ("count_ones", "reverse_bits", "leading_zeros", "trailing_zeros")
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1e-3, 1e4, 65504.0, 1e30, math.inf, -math.inf)


@dataclass(frozen=True, slots=True)
class Options:
    """What random kernels may contain."""

    types: tuple[ScalarName, ...] = ALL_TYPES
    index_type: Type = I32
    exact: bool = False
    """Only what all targets round alike: no transcendental functions."""
    planes: bool = True
    """Plane operations and positions; targets then need the same plane size."""
    shared: bool = True
    atomics: tuple[ScalarName, ...] = ("i32", "u32")
    """Types of atomics."""
    special_floats: bool = True
    """Infinities and NaN as literals."""
    reinterpret: bool = True
    statements: int = 30
    """About as many in a kernel."""


@dataclass(slots=True)
class Scope:
    """What expressions may read at a place."""

    inputs: list[Buffer] = field(default_factory=list[Buffer])
    """Never written; any element may be read."""
    outputs: list[tuple[Buffer, int]] = field(default_factory=list[tuple[Buffer, int]])
    """Each unit touches a block of so many elements, its own."""
    scalars: list[ScalarParameter] = field(default_factory=list[ScalarParameter])
    locals: list[LocalArray] = field(default_factory=list[LocalArray])
    readable_shared: list[SharedArray] = field(default_factory=list[SharedArray])
    variables: list[Variable] = field(default_factory=list[Variable])


class RandomExpressions:
    """Makes expressions of a wanted type."""

    def __init__(self, random: Random, options: Options, scope: Scope) -> None:
        self.random = random
        self.options = options
        self.scope = scope
        self.index_type = options.index_type
        self.positions: list[TopologyName] = [
            p for p in POSITIONS if options.planes or p not in PLANE_POSITIONS
        ]

    def type(self, fits: Callable[[Type], bool] = lambda _: True) -> Type:
        """One of the allowed types; the index type if none fits."""
        found = [Type(name) for name in self.options.types if fits(Type(name))]
        return self.random.choice(found or [self.index_type])

    def constant(self, type: Type) -> Constant:
        """A literal, often at an edge."""
        if type == BOOL:
            return Constant(type, self.random.random() < 0.5)
        if type.is_float:
            values = [v for v in FLOATS if self.options.special_floats or math.isfinite(v)]
            return Constant(type, self.random.choice([*values, self.random.uniform(-9, 9)]))
        low, high = integer_range(type)
        near = min(max(self.random.randint(-9, 9), low), high)
        return Constant(type, self.random.choice([low, high, near, near, near]))

    def make(self, type: Type, depth: int = 3) -> Expression:
        """An expression with at most so many levels above its leaves."""
        if depth <= 0 or self.random.random() < 0.15:
            return self._leaf(type)
        makers: list[Callable[[Type, int], Expression]] = [self._operator, self._operator]
        makers += [self._select, self._cast, self._leaf_at, self._load, self._any_call]
        if self.options.reinterpret:
            makers.append(self._reinterpret)
        return self.random.choice(makers)(type, depth - 1)

    # ---- leaves -------------------------------------------------------------------------------

    def _leaf_at(self, type: Type, depth: int) -> Expression:
        del depth  # leaves have none
        return self._leaf(type)

    def _leaf(self, type: Type) -> Expression:
        known: list[Expression] = [self.constant(type)]
        known += [Read(variable) for variable in self.scope.variables if variable.type == type]
        known += [Argument(scalar) for scalar in self.scope.scalars if scalar.type == type]
        if type.is_integer:
            name: TopologyName = self.random.choice(self.positions)
            position = Topology(self.index_type, name)
            known.append(position if type == self.index_type else Cast(type, position))
        if type == self.index_type:
            known += [self._size(buffer) for buffer in self.scope.inputs]
        return self.random.choice(known)

    def _size(self, buffer: Buffer) -> Expression:
        what = self.random.choice(["length", "shape", "stride"])
        if buffer.rank == 0 or what == "length":
            return Length(self.index_type, buffer)
        dim: Expression = Constant(self.index_type, self.random.randrange(buffer.rank))
        if self.random.random() < 0.3:
            rank = Constant(self.index_type, buffer.rank)
            dim = Binary("mod", Topology(self.index_type, "UNIT_POS"), rank)
        return Extent(self.index_type, buffer, "shape" if what == "shape" else "stride", dim)

    # ---- loads --------------------------------------------------------------------------------

    def _load(self, type: Type, depth: int) -> Expression:
        places: list[Memory] = [*self.scope.inputs, *self.scope.locals, *self.scope.readable_shared]
        places = [memory for memory in places if memory.type == type]
        own = [(b, width) for b, width in self.scope.outputs if b.type == type]
        if own and (not places or self.random.random() < 0.3):
            return self._own_load(*self.random.choice(own))
        if not places:
            return self._leaf(type)
        memory = self.random.choice(places)
        index = self.make(self.index_type, depth)
        if self.random.random() < 0.5:
            return Load(memory, self.wrap_index(memory, index))
        return self._lazy_load(memory, index)

    def size(self, memory: Memory) -> Expression:
        """How many elements memory has, which is never 0."""
        if isinstance(memory, Buffer):
            return Length(self.index_type, memory)
        return Constant(self.index_type, memory.size)

    def wrap_index(self, memory: Memory, index: Expression) -> Expression:
        """An index brought into the range of memory."""
        return Binary("mod", index, self.size(memory))

    def inside(self, memory: Memory, index: Expression) -> Expression:
        """Whether an index is in the range of memory."""
        above = Compare("le", Constant(self.index_type, 0), index)
        return Logical("and", above, Compare("lt", index, self.size(memory)))

    def _lazy_load(self, memory: Memory, index: Expression) -> Expression:
        load = Load(memory, index)
        if memory.type == BOOL and self.random.random() < 0.5:
            if self.random.random() < 0.5:
                return Logical("and", self.inside(memory, index), load)
            return Logical("or", Unary("not", self.inside(memory, index)), load)
        other = self.constant(memory.type)
        return Select(self.inside(memory, index), load, other, lazy=True)

    def own_index(self, width: int) -> Expression:
        """An element of a unit's own block."""
        position = Topology(self.index_type, "ABSOLUTE_POS")
        if width == 1:
            return position
        start = Binary("mul", position, Constant(self.index_type, width))
        return Binary("add", start, Constant(self.index_type, self.random.randrange(width)))

    def _own_load(self, buffer: Buffer, width: int) -> Expression:
        return self._lazy_load(buffer, self.own_index(width))

    # ---- operators ----------------------------------------------------------------------------

    def _operator(self, type: Type, depth: int) -> Expression:
        if type == BOOL:
            return self._condition(depth)
        if self.random.random() < 0.15:
            return Unary("neg", self.make(type, depth))
        left, right = self.make(type, depth), self.make(type, depth)
        if type.is_float:
            return self._float_binary(left, right)
        op = self.random.choice([op for op in get_args(BinaryOp) if op != "div"])
        if self.random.random() < 0.1:
            return Unary("invert", left)
        return Binary(op, left, right)

    def _float_binary(self, left: Expression, right: Expression) -> Expression:
        op: BinaryOp = self.random.choice(
            ["add", "sub", "mul", "div", "floordiv", "mod", "min", "max"]
        )
        if op in ("min", "max"):
            # Which zero is given is open, so that there is only one.
            zero = Constant(left.type, 0.0)
            left, right = Binary("add", left, zero), Binary("add", right, zero)
        return Binary(op, left, right)

    def _condition(self, depth: int) -> Expression:
        match self.random.randrange(6):
            case 0:
                return Unary("not", self.make(BOOL, depth))
            case 1:
                left, right = self.make(BOOL, depth), self.make(BOOL, depth)
                return Logical(self.random.choice(["and", "or"]), left, right)
            case 2:
                bitwise: BinaryOp = self.random.choice(["and", "or", "xor"])
                return Binary(bitwise, self.make(BOOL, depth), self.make(BOOL, depth))
            case 3:
                equal: CompareOp = self.random.choice(["eq", "ne"])
                return Compare(equal, self.make(BOOL, depth), self.make(BOOL, depth))
            case _:
                type = self.type(lambda type: type != BOOL)
                op: CompareOp = self.random.choice(get_args(CompareOp))
                return Compare(op, self.make(type, depth), self.make(type, depth))

    def _select(self, type: Type, depth: int) -> Expression:
        lazy = self.random.random() < 0.5
        condition = self.make(BOOL, depth)
        return Select(condition, self.make(type, depth), self.make(type, depth), lazy)

    def _cast(self, type: Type, depth: int) -> Expression:
        return Cast(type, self.make(self.type(), depth))

    def _reinterpret(self, type: Type, depth: int) -> Expression:
        fits = [t for t in map(Type, self.options.types) if t.bits == BITS[type.scalar]]
        fits = [t for t in fits if BOOL not in (t, type)]
        if not fits:
            return self._leaf(type)
        value = self.make(self.random.choice(fits), depth)
        if value.type.is_float and not type.is_float:
            # The bits of a NaN are not defined.
            clean = Constant(value.type, 1.0)
            value = Select(Call(BOOL, "is_nan", (value,)), clean, value)
        return Reinterpret(type, value)

    # ---- mathematics --------------------------------------------------------------------------

    def _any_call(self, type: Type, depth: int) -> Expression:
        if type == BOOL:
            source = self.type(lambda type: type.is_float)
            if not source.is_float:
                return self._condition(depth)
            return Call(BOOL, self.random.choice(["is_nan", "is_inf"]), (self.make(source, depth),))
        if type.is_integer:
            name: MathName = self.random.choice([*BIT_MATH, "abs"])
            return Call(type, name, (self.make(type, depth),))
        names = EXACT_MATH if self.options.exact else (*EXACT_MATH, *INEXACT_MATH)
        name = self.random.choice(names)
        value = self.make(type, depth)
        match name:
            case "powi":
                return Call(type, name, (value, Constant(I32, self.random.randint(-5, 9))))
            case "atan2" | "pow" | "hypot":
                return Call(type, name, (value, self.make(type, depth)))
            case "fma":
                return Call(type, name, (value, self.make(type, depth), self.make(type, depth)))
            case _:
                return Call(type, name, (value,))
