"""Kernels and inlined functions: binding parameters, lowering bodies."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from firebrick.cube.frontend import numbers
from firebrick.cube.frontend.builder import Builder, RestartError, VariableType
from firebrick.cube.frontend.calls import Calls
from firebrick.cube.frontend.expressions import Expressions
from firebrick.cube.frontend.parameters import (
    ComptimeParameter,
    KernelParameter,
    NumberParameter,
    StructParameter,
    TensorParameter,
)
from firebrick.cube.frontend.scope import Captured, Returns, Scope
from firebrick.cube.frontend.statements import Statements
from firebrick.cube.frontend.values import (
    Comptime,
    Dynamic,
    MemoryValue,
    StructValue,
    Value,
    is_number,
)
from firebrick.cube.ir.nodes import (
    Argument,
    Assign,
    Buffer,
    Function,
    Leave,
    Read,
    Region,
    ScalarParameter,
    walk,
)
from firebrick.cube.ir.types import BOOL, F32, Type
from firebrick.cube.lang.numbers import Numeric
from firebrick.cube.lang.outside import only_in_kernels
from firebrick.errors import KernelSyntaxError

if TYPE_CHECKING:
    from firebrick.cube.frontend.source import Source

MAX_DEPTH = 64
"""Inlined calls within each other."""
MAX_RESTARTS = 1000
"""More variables than a kernel can have become stronger; a safeguard, not a limit."""


@dataclass(frozen=True, slots=True)
class TensorBinding:
    """What is known of a tensor argument when compiling."""

    type: Type
    rank: int


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel as IR, with the constants that it read from around it."""

    function: Function
    captured: tuple[Captured, ...]


@dataclass(frozen=True, slots=True)
class CubeFunction:
    """What `@cube.func` makes of a function."""

    source: Source

    @property
    def __name__(self) -> str:
        """As the function itself."""
        return self.source.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - tells where it belongs
        raise only_in_kernels(self.source.name)


def lower_kernel(
    source: Source,
    parameters: tuple[KernelParameter, ...],
    tensors: dict[str, TensorBinding],
    comptime: dict[str, Any],
    types: dict[TypeVar, Type],
    index_type: Type,
    cube_dim: tuple[int, int, int],
) -> Lowered:
    """A kernel for given element types, ranks, compile-time values and geometry.

    Raises: `KernelSyntaxError`, `KernelTypeError` showing the user's line.
    """
    variable_types: dict[str, VariableType] = {}
    for _ in range(MAX_RESTARTS):
        builder = Builder(index_type, cube_dim, variable_types)
        scope = Scope(source, "", types, active=(source.function,))
        try:
            _bind_kernel(builder, scope, parameters, tensors, comptime)
            inliner = Inliner(builder)
            inliner.statements(scope).lower(source.tree.body)
        except RestartError:
            continue
        function = Function(
            builder.fresh(source.name),
            tuple(builder.buffers),
            tuple(builder.scalars),
            tuple(builder.shared),
            tuple(builder.locals),
            tuple(builder.variables.values()),
            tuple(builder.body),
            index_type,
            cube_dim,
        )
        return Lowered(function, (*scope.captured, *inliner.captured))
    return source.refuse(source.tree, "the types of its variables do not settle.")


def _bind_kernel(
    builder: Builder,
    scope: Scope,
    parameters: tuple[KernelParameter, ...],
    tensors: dict[str, TensorBinding],
    comptime: dict[str, Any],
) -> None:
    def value_of(parameter: KernelParameter) -> Value:
        match parameter:
            case TensorParameter(name, _, mutable):
                known = tensors[name]
                position = len(builder.buffers)
                fresh = builder.fresh(name)
                buffer = Buffer(fresh, known.type, known.rank, mutable, position)
                builder.buffers.append(buffer)
                return MemoryValue(buffer)
            case NumberParameter(name, kind):
                type = number_type(kind, scope.types, builder.index_type)
                position = len(builder.scalars)
                scalar = ScalarParameter(builder.fresh(name), type, position)
                builder.scalars.append(scalar)
                return _weak_argument(kind, Argument(scalar))
            case ComptimeParameter(name):
                return Comptime(comptime[name])
            case StructParameter(_, struct, fields):
                values = {field.name.rpartition(".")[2]: value_of(field) for field in fields}
                return StructValue(struct, values)

    for parameter in parameters:
        _bind(builder, scope, parameter.name, value_of(parameter))


def number_type(kind: Any, types: dict[TypeVar, Type], index_type: Type) -> Type:
    """The IR type of a number parameter."""
    if isinstance(kind, TypeVar):
        return types[kind]
    if kind is int:
        return index_type
    if kind is float:
        return F32
    return BOOL if kind is bool else Type(kind.scalar)


def _weak_argument(kind: Any, argument: Argument) -> Dynamic:
    if kind is int:
        return numbers.weak_int(argument)
    if kind is float:
        return numbers.weak_float(lambda type: numbers.convert(argument, type))
    return Dynamic(argument)


def _bind(builder: Builder, scope: Scope, name: str, value: Value) -> None:
    """A parameter; one that the body sets anew is a variable from the start."""
    if is_number(value) and scope.is_variable(name):
        refuser = Expressions(builder, scope, lambda lowering, node: Comptime(None)).refuser(
            scope.source.tree
        )
        key = f"{scope.key}/{name}"
        alone = numbers.alone(value, builder.index_type, refuser)
        known = builder.variable_types.setdefault(
            key, VariableType(alone.type, numbers.is_weak(value) and alone.type != BOOL)
        )
        variable = builder.variable(key, name, known.type)
        builder.emit(Assign(variable, numbers.coerce(value, known.type, refuser, f"`{name}`")))
        read = Read(variable)
        value = numbers.settled(read, weak=known.weak)
    scope.names[name] = value


class Inliner:
    """Inlines calls of `@cube.func` functions."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._calls = 0
        self.captured: list[Captured] = []

    def is_function(self, target: Any) -> bool:
        """Whether a value is one of `@cube.func`."""
        return isinstance(target, CubeFunction)

    def statements(self, scope: Scope) -> Statements:
        """The lowering of one function's statements."""
        return Statements(self._builder, scope, Expressions(self._builder, scope, Calls(self)))

    def inline(self, lowering: Expressions, target: CubeFunction, node: ast.Call) -> Value:
        """The body of a function in place of its call."""
        outer = lowering.scope
        function = target.source.function
        if function in outer.active:
            outer.refuse(
                node, f"`{target.__name__}` calls itself; recursion has no end that compiling "
                "knows. Write a loop.", KernelSyntaxError,
            )  # fmt: skip
        if len(outer.active) > MAX_DEPTH:
            outer.refuse(node, f"calls are nested deeper than {MAX_DEPTH}.", KernelSyntaxError)
        values = lowering.in_order([*node.args, *(k.value for k in node.keywords)])
        bound = self._bound(lowering, target, node, values)
        self._calls += 1
        key = f"{outer.key}/{self._calls}:{target.__name__}"
        scope = Scope(
            target.source,
            key,
            self._types(target, bound, outer),
            (outer.location(node), *outer.calls),
            (*outer.active, function),
        )
        tree = target.source.tree
        returns = scope.returns = Returns(self._builder.fresh(f"call_{target.__name__}"), key)
        returns.used = _returns_early(tree)
        place = self._builder.location
        with self._builder.nested() as body:
            for name, value in bound.items():
                _bind(self._builder, scope, name, self._converted(scope, name, value, node))
            self.statements(scope).lower(tree.body)
        self.captured += scope.captured
        self._builder.location = place
        left = any(isinstance(s, Leave) and s.label == returns.label for s in walk(tuple(body)))
        if left:
            self._builder.emit(Region(returns.label, tuple(body)))
        else:
            self._builder.body.extend(body)
        return Comptime(None) if returns.value is None else returns.value

    def _bound(
        self, lowering: Expressions, target: CubeFunction, node: ast.Call, values: list[Value]
    ) -> dict[str, Value]:
        count = len(node.args)
        named = {k.arg or "": v for k, v in zip(node.keywords, values[count:], strict=True)}
        try:
            signature = inspect.signature(target.source.function)
            bound = signature.bind(*values[:count], **named)
        except TypeError as reason:
            lowering.scope.refuse(node, f"`{target.__name__}`: {reason}.")
        found = dict(bound.arguments)
        for name, parameter in signature.parameters.items():
            if name not in found:
                found[name] = Comptime(parameter.default)
        return {name: self._settled(value) for name, value in found.items()}

    def _settled(self, value: Value) -> Value:
        """An argument is evaluated once, before the body."""
        if not isinstance(value, Dynamic) or isinstance(value.expression, Argument):
            return value
        read = self._builder.temporary(value.expression)
        return numbers.settled(read, weak=value.is_weak)

    def _types(
        self, target: CubeFunction, bound: dict[str, Value], outer: Scope
    ) -> dict[TypeVar, Type]:
        """Type variables of the function, bound by its arguments; else those of the caller."""
        types = dict(outer.types)
        for name, annotation in _annotations(target.source.function).items():
            value = bound.get(name)
            if isinstance(value, Dynamic) and not value.is_weak and isinstance(annotation, TypeVar):
                types[annotation] = value.type
            if isinstance(value, MemoryValue):
                variables = [a for a in get_args(annotation) if isinstance(a, TypeVar)]
                types.update(dict.fromkeys(variables, value.memory.type))
        return types

    def _converted(self, scope: Scope, name: str, value: Value, node: ast.Call) -> Value:
        """A weak argument of a parameter that names a number type takes that type."""
        annotation = _annotations(scope.source.function).get(name)
        if not is_number(value):
            return value
        wanted: Type | None = None
        if isinstance(annotation, TypeVar):
            wanted = scope.types.get(annotation)
        elif isinstance(annotation, type) and issubclass(annotation, Numeric):
            wanted = Type(annotation.scalar) if annotation.scalar is not None else None
        if wanted is None or (
            isinstance(value, Dynamic) and not value.is_weak and value.type == wanted
        ):
            return value
        lowering = Expressions(self._builder, scope, Calls(self))
        return Dynamic(lowering.coerce(value, wanted, scope.source.tree, f"parameter `{name}`"))


def _annotations(function: Any) -> dict[str, Any]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except NameError:
        return {}


def _returns_early(tree: ast.FunctionDef) -> bool:
    """Whether a `return` stands anywhere but at the very end."""
    last = tree.body[-1]
    return any(isinstance(n, ast.Return) and n is not last for n in ast.walk(tree))
