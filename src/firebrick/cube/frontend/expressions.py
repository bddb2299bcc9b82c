"""Lowering expressions: names, operators, conditions, attributes, elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from firebrick.cube.frontend import numbers
from firebrick.cube.frontend.values import (
    Comptime,
    Dynamic,
    MemoryValue,
    MethodValue,
    ShapeValue,
    StructValue,
    TupleValue,
    Value,
    describe_value,
    is_number,
)
from firebrick.cube.ir.nodes import (
    Assign,
    Buffer,
    Constant,
    Expression,
    Extent,
    If,
    Load,
    Logical,
    Read,
    Select,
    Topology,
    Unary,
    Variable,
)
from firebrick.cube.ir.types import BOOL, DTYPE_NAMES, F32, Type
from firebrick.cube.lang.numbers import Numeric
from firebrick.cube.lang.topology import TopologyConstant
from firebrick.errors import KernelTypeError

if TYPE_CHECKING:
    from firebrick.cube.frontend.builder import Builder
    from firebrick.cube.frontend.scope import Scope
    from firebrick.cube.ir.nodes import Memory

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
NUMBER_CLASSES: dict[str, type[Numeric]] = {
    cls.scalar: cls
    for base in Numeric.__subclasses__()
    for cls in base.__subclasses__()
    if cls.scalar is not None
}


class Expressions:
    """Turns syntax trees of expressions into values, in the scope of one function."""

    def __init__(self, builder: Builder, scope: Scope, call: CallLowering) -> None:
        self.builder = builder
        self.scope = scope
        self._call = call

    # ---- helpers ------------------------------------------------------------------------------

    def refuser(self, node: ast.AST) -> Callable[[str], NoReturn]:
        """Raises `KernelTypeError` at a node."""

        def refuse(message: str) -> NoReturn:
            self.scope.refuse(node, message, KernelTypeError)

        return refuse

    def number(self, node: ast.expr) -> Expression:
        """An expression's value in the type that it has by itself."""
        return self.alone(self.lower(node), node)

    def alone(self, value: Value, node: ast.AST) -> Expression:
        """A number in the type that it has by itself."""
        return numbers.alone(value, self.builder.index_type, self.refuser(node))

    def coerce(self, value: Value, type: Type, node: ast.AST, what: str) -> Expression:
        """A number in a given type."""
        return numbers.coerce(value, type, self.refuser(node), what)

    def condition(self, node: ast.expr) -> Expression | bool:
        """A condition: a bool if it is known when compiling."""
        return self.truth(self.lower(node), node)

    def truth(self, value: Value, node: ast.AST) -> Expression | bool:
        """Python's truth of a value."""
        if isinstance(value, Comptime):
            return bool(value.value)
        if isinstance(value, Dynamic):
            if value.type == BOOL:
                return value.expression
            zero = Constant(value.type, 0.0 if value.type.is_float else 0)
            compared = numbers.binary("ne", value, Dynamic(zero), value.type, self.refuser(node))
            return self.alone(compared, node)
        return self.scope.refuse(node, f"{describe_value(value)} is no condition; compare numbers.")

    def in_order(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Lowers expressions from left to right.

        What statements of a later one could change in an earlier one is put aside first.
        """
        values: list[Value] = []
        for node in nodes:
            mark = len(self.builder.body)
            value = self.lower(node)
            if len(self.builder.body) > mark:
                values = [self._put_aside(mark, earlier) for earlier in values]
            values.append(value)
        return values

    def _put_aside(self, mark: int, value: Value) -> Value:
        if not isinstance(value, Dynamic) or isinstance(value.expression, Constant):
            return value
        read = self.builder.spill(mark, value.expression)
        return numbers.settled(read, weak=value.is_weak)

    # ---- expressions --------------------------------------------------------------------------

    def lower(self, node: ast.expr) -> Value:
        """The value of an expression."""
        match node:
            case ast.Constant(value):
                return self._constant(node, value)
            case ast.Name():
                return self._seen(self.scope.read(node))
            case ast.BoolOp():
                return self._bool_op(node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test, body, orelse):
                return self._conditional(self.condition(test), body, orelse, node)
            case _:
                return self._lower_parts(node)

    def _lower_parts(self, node: ast.expr) -> Value:
        """Expressions whose parts are all evaluated."""
        match node:
            case ast.Tuple(elts):
                return TupleValue(tuple(self.in_order(elts)))
            case ast.BinOp(left, op, right):
                first, second = self.in_order([left, right])
                return self.binary(BINARY.get(type(op)), first, second, node)
            case ast.UnaryOp(op, operand):
                return self._unary(op, operand, node)
            case ast.Attribute(value, name):
                return self.attribute(self.lower(value), name, node)
            case ast.Subscript(value, index):
                return self._subscript(value, index, node)
            case ast.Call():
                return self._call(self, node)
            case _:
                return self.scope.refuse(node, f"`{ast.unparse(node)}` cannot stand in a kernel.")

    def _constant(self, node: ast.AST, value: Any) -> Value:
        if isinstance(value, complex | bytes):
            self.scope.refuse(
                node, f"{value!r} is of type {type(value).__name__}, which kernels lack."
            )
        return Comptime(value)

    def _seen(self, value: Value) -> Value:
        """Positions are written as names, and mean values of the running unit."""
        if isinstance(value, Comptime) and isinstance(value.value, TopologyConstant):
            return numbers.weak_int(Topology(self.builder.index_type, value.value.name))
        return value

    def binary(self, op: str | None, left: Value, right: Value, node: ast.AST) -> Value:
        """`left op right`."""
        if op is None:
            self.scope.refuse(node, "`@` is not part of the kernel language: write the loops.")
        if op == "pow" and isinstance(left, Dynamic) and not isinstance(left.expression, Read):
            left = numbers.settled(self.builder.temporary(left.expression), weak=left.is_weak)
        if (
            isinstance(left, Comptime)
            and isinstance(right, Comptime)
            and not (is_number(left) and is_number(right))
        ):
            return self._comptime_binary(op, left, right, node)
        return numbers.binary(op, left, right, self.builder.index_type, self.refuser(node))

    def _comptime_binary(self, op: str, left: Comptime, right: Comptime, node: ast.AST) -> Value:
        try:
            return Comptime(numbers.PYTHON[op](left.value, right.value))
        except (TypeError, ValueError, ArithmeticError) as reason:
            self.scope.refuse(node, f"this cannot be evaluated when compiling: {reason}.")

    def _unary(self, op: ast.unaryop, operand: ast.expr, node: ast.AST) -> Value:
        value = self.lower(operand)
        if isinstance(op, ast.Not):
            truth = self.truth(value, operand)
            return Comptime(not truth) if isinstance(truth, bool) else Dynamic(Unary("not", truth))
        if not is_number(value):
            self.scope.refuse(node, f"an operator takes a number; got {describe_value(value)}.")
        if isinstance(value, Comptime):
            known = value.value
            result: Any = -known if isinstance(op, ast.USub) else +known
            return Comptime(~int(known) if isinstance(op, ast.Invert) else result)
        assert isinstance(value, Dynamic)
        return self._dynamic_unary(op, value, node)

    def _dynamic_unary(self, op: ast.unaryop, value: Dynamic, node: ast.AST) -> Value:
        if isinstance(op, ast.UAdd):
            return value
        is_invert = isinstance(op, ast.Invert)
        if value.type == BOOL or (is_invert and value.type.is_float):
            sign = "~" if is_invert else "-"
            self.scope.refuse(node, f"`{sign}` is not defined for {value.type}.")
        name = "invert" if is_invert else "neg"
        done = Unary(name, value.expression)
        if value.at is None:
            return Dynamic(done)
        if value.type.is_integer:
            return numbers.weak_int(done)
        at = value.at
        return numbers.weak_float(lambda type: Unary(name, at(type)))

    # ---- conditions ---------------------------------------------------------------------------

    def _bool_op(self, node: ast.BoolOp) -> Value:
        is_and = isinstance(node.op, ast.And)
        result = self.condition(node.values[0])
        for right in node.values[1:]:
            if isinstance(result, bool):
                if result is not is_and:
                    return Comptime(result)
                result = self.condition(right)
            else:
                result = self._logical(result, right, is_and=is_and)
        return Comptime(result) if isinstance(result, bool) else Dynamic(result)

    def _logical(self, left: Expression, node: ast.expr, *, is_and: bool) -> Expression | bool:
        with self.builder.nested() as statements:
            right = self.condition(node)
        if isinstance(right, bool):
            # `x and False` is False whatever x is; `x and True` is x
            return left if right is is_and else right
        if not statements:
            return Logical("and" if is_and else "or", left, right)
        result = self._variable(BOOL)
        self.builder.emit(Assign(result, left))
        taken: Expression = Read(result) if is_and else Unary("not", Read(result))
        body = (*statements, Assign(result, right, self.builder.location))
        self.builder.emit(If(taken, body))
        return Read(result)

    def _variable(self, type: Type) -> Variable:
        name = self.builder.fresh("t")
        variable = self.builder.variables[name] = Variable(name, type)
        return variable

    def _compare(self, node: ast.Compare) -> Value:
        left, *rest = self.in_order([node.left, *node.comparators])
        result: Expression | bool = True
        for op, right in zip(node.ops, rest, strict=True):
            one = self._compare_pair(op, left, right, node)
            result = _both(result, one)
            left = right
        return Comptime(result) if isinstance(result, bool) else Dynamic(result)

    def _compare_pair(
        self, op: ast.cmpop, left: Value, right: Value, node: ast.AST
    ) -> Expression | bool:
        if isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            if isinstance(left, Comptime) and isinstance(right, Comptime):
                return _membership(op, left.value, right.value)
            self.scope.refuse(node, "`is` and `in` compare compile-time values only.")
        known = self.binary(COMPARE[type(op)], left, right, node)
        return self.truth(known, node)

    def _conditional(
        self, test: Expression | bool, body: ast.expr, orelse: ast.expr, node: ast.AST
    ) -> Value:
        if isinstance(test, bool):
            return self.lower(body if test else orelse)
        with self.builder.nested() as if_true:
            yes = self.lower(body)
        with self.builder.nested() as if_false:
            no = self.lower(orelse)
        if not (is_number(yes) and is_number(no)):
            self.scope.refuse(node, "both sides of a conditional expression are numbers.")
        if not if_true and not if_false:
            return self.choose(test, yes, no, node, lazy=True)
        left, right = self._meet(yes, no, node)
        result = self._variable(left.type)
        place = self.builder.location
        then = (*if_true, Assign(result, left, place))
        self.builder.emit(If(test, then, (*if_false, Assign(result, right, place))))
        return Dynamic(Read(result))

    def choose(
        self, test: Expression, yes: Value, no: Value, node: ast.AST, *, lazy: bool
    ) -> Value:
        """`yes if test else no` for numbers."""
        left, right = self._meet(yes, no, node)
        done = Select(test, left, right, lazy)
        if not (numbers.is_weak(yes) and numbers.is_weak(no)) or left.type == BOOL:
            return Dynamic(done)
        if left.type.is_integer:
            return numbers.weak_int(done)

        def at(type: Type) -> Expression:
            sides = (self.coerce(yes, type, node, "`if`"), self.coerce(no, type, node, "`if`"))
            return Select(test, *sides, lazy)

        return numbers.weak_float(at)

    def _meet(self, yes: Value, no: Value, node: ast.AST) -> tuple[Expression, Expression]:
        """Both numbers in the type that they have together."""
        type = self.common(yes, no, node)
        what = "a side of a conditional expression"
        return self.coerce(yes, type, node, what), self.coerce(no, type, node, what)

    def common(self, left: Value, right: Value, node: ast.AST) -> Type:
        """The type that two numbers have together."""
        strong = [v.type for v in (left, right) if isinstance(v, Dynamic) and not v.is_weak]
        if strong:
            return strong[0]
        types = {self.alone(left, node).type, self.alone(right, node).type}
        return types.pop() if len(types) == 1 else F32

    # ---- attributes and elements --------------------------------------------------------------

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """`value.name`."""
        match value:
            case MemoryValue(memory):
                return self._memory_attribute(memory, name, node)
            case StructValue(struct, fields):
                if name in fields:
                    return fields[name]
                return self.scope.refuse(node, f"`{struct.__name__}` has no field `{name}`.")
            case Comptime(known):
                try:
                    return self._seen(Comptime(getattr(known, name)))
                except AttributeError as reason:
                    return self.scope.refuse(node, f"{reason}.")
            case _:
                return self.scope.refuse(
                    node, f"{describe_value(value)} has no attribute `{name}`."
                )

    def _memory_attribute(self, memory: Memory, name: str, node: ast.AST) -> Value:
        if name == "dtype":
            return Comptime(NUMBER_CLASSES.get(memory.type.scalar, bool))
        if isinstance(memory, Buffer):
            if name == "shape":
                return ShapeValue(memory)
            if name == "rank":
                return Comptime(memory.rank)
            if name == "stride":
                return MethodValue(memory, name)
        known = "shape, rank, stride, dtype" if isinstance(memory, Buffer) else "dtype"
        return self.scope.refuse(
            node, f"`{memory.name}` has no attribute `{name}`; it has {known}."
        )

    def _subscript(self, value: ast.expr, index: ast.expr, node: ast.AST) -> Value:
        container, position = self.in_order([value, index])
        match container:
            case MemoryValue(memory):
                return Dynamic(Load(memory, self.index(position, node)))
            case ShapeValue(buffer):
                return self.extent(buffer, "shape", position, node)
            case TupleValue(items):
                if isinstance(position, Comptime) and isinstance(position.value, int):
                    if -len(items) <= position.value < len(items):
                        return items[position.value]
                    self.scope.refuse(
                        node, f"index {position.value} is outside of {len(items)} items."
                    )
                return self.scope.refuse(node, "the index of a tuple is known when compiling.")
            case Comptime(known) if isinstance(position, Comptime):
                try:
                    return Comptime(known[position.value])
                except (TypeError, LookupError) as reason:
                    return self.scope.refuse(
                        node, f"this cannot be evaluated when compiling: {reason}."
                    )
            case _:
                return self.scope.refuse(node, f"{describe_value(container)} has no elements.")

    def index(self, position: Value, node: ast.AST) -> Expression:
        """The index of an element, in the index type."""
        if isinstance(position, TupleValue):
            self.scope.refuse(
                node, "memory has one flat index; compute it, with `stride(dim)` for tensors."
            )
        known = position.value if isinstance(position, Comptime) else None
        if isinstance(known, int) and known < 0:
            self.scope.refuse(node, f"index {known} is negative; count from the front.")
        expression = self.alone(position, node)
        if not expression.type.is_integer:
            self.scope.refuse(node, f"an index is an integer; got type {expression.type}.")
        return numbers.convert(expression, self.builder.index_type)

    def extent(self, buffer: Buffer, what: Any, dim: Value, node: ast.AST) -> Value:
        """A size or stride of a tensor."""
        type = self.builder.index_type
        if isinstance(dim, Comptime) and isinstance(dim.value, int):
            if not -buffer.rank <= dim.value < buffer.rank:
                self.scope.refuse(
                    node,
                    f"`{buffer.name}` has {buffer.rank} dimensions; there is no {dim.value}.",
                )
            position: Expression = Constant(type, dim.value % buffer.rank)
        else:
            position = self.index(dim, node)
        return numbers.weak_int(Extent(type, buffer, what, position))


def _both(left: Expression | bool, right: Expression | bool) -> Expression | bool:
    if isinstance(left, bool):
        return right if left else False
    if isinstance(right, bool):
        return left if right else False
    return Logical("and", left, right)


def _membership(op: ast.cmpop, left: Any, right: Any) -> bool:
    match op:
        case ast.Is():
            return left is right
        case ast.IsNot():
            return left is not right
        case ast.In():
            return left in right
        case _:
            return left not in right


CallLowering = Callable[[Expressions, ast.Call], Value]
"""Lowers a call; given from outside, since inlining a function lowers statements."""


def dtype_name(type: Type) -> str:
    """How users know a type: the dtype's name."""
    return DTYPE_NAMES[type.scalar]
