"""The generated fast path of dispatch: source text specialised to one signature.

The text proves that a call is ordinary (every leaf is a dispatched tensor of the declared kind, all
of one backend, on one device, dimensions seen before), looks the implementation up by backend,
calls it with the backend's own tensors and wraps what comes back. Whatever is not ordinary goes
to the linker, which knows the routing rules and makes the errors.

Names that begin with `@` belong to the text; parameters keep theirs. See `traversal.py`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

from firebrick.core import DispatchTensor
from firebrick.opset.bridge import user_tensor
from firebrick.opset.linkage import linker
from firebrick.opset.no_default import NoDefault
from firebrick.opset.nodes import TensorNode, always_holds
from firebrick.opset.traversal import (
    Source,
    UnusualValueError,
    collect_lines,
    convert_expression,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

    from firebrick.errors import MissingImplementationError
    from firebrick.opset.dispatcher import Dispatcher
    from firebrick.opset.nodes import Node
    from firebrick.opset.signature import Operation, Parameter


def compile_dispatch(dispatcher: Dispatcher) -> Callable[..., Any]:
    """The function that executes an operation on dispatched tensors."""
    operation = dispatcher.operation
    source = Source()
    names = [parameter.name for parameter in operation.parameters]

    def slow(*values: Any) -> Any:
        return linker().route(dispatcher, dict(zip(names, values, strict=True)))

    def missing(reason: NoDefault, backend: Any) -> MissingImplementationError:
        return linker().missing(operation, backend, reason)

    source.define(
        tensor=DispatchTensor,
        slow=slow,
        missing=missing,
        no_default=NoDefault,
        error=Exception,
        entries=dispatcher.entries,
        plain=dispatcher.plain_entries,
        seen=dispatcher.seen,
        check=dispatcher.check,
        finish=dispatcher.finish,
        diagnose=dispatcher.diagnose,
        unusual=UnusualValueError,
        f=_primitive,
    )
    head = "async def" if operation.is_async else "def"
    source.add(0, f"{head} @run({parameters_text(operation, source)}):")
    leave = f"return {'await ' if operation.is_async else ''}@slow({', '.join(names)})"
    _check_ordinary(operation, source, leave)
    if not operation.tensor_parameters:
        source.add(1, leave)
    elif operation.takes_only_bare_tensors:
        _bare(operation, source, leave)
    else:
        _structured(operation, source, leave)
    return compile_run(operation, source, f"dispatch of {operation.label}")


def _check_ordinary(operation: Operation, source: Source, leave: str) -> None:
    """A tensor where an ordinary argument is due goes to the rules, which refuse it."""
    ordinary = [p.name for p in operation.parameters if p.refuses_tensors]
    if operation.is_builtin or not ordinary or not operation.tensor_parameters:
        return
    source.define(tensors=frozenset({DispatchTensor, user_tensor()}))
    tests = (f"@type({name}) in @tensors" for name in ordinary)
    source.add(1, f"if {' or '.join(tests)}:")
    source.add(2, leave)


def compile_run(operation: Operation, source: Source, label: str) -> FunctionType:
    """The function `@run` of a text, by the public name of the operation."""
    function: FunctionType = source.compile("@run", label)
    function.__code__ = function.__code__.replace(
        co_name=operation.name, co_qualname=operation.label
    )
    function.__name__ = operation.name
    function.__qualname__ = operation.label
    function.__module__ = operation.owner.__module__
    function.__doc__ = operation.function.__doc__
    return function


def parameters_text(operation: Operation, source: Source) -> str:
    """The parameter list of the declaration, defaults as constants of the text."""
    source.avoid(parameter.name for parameter in operation.parameters)
    parts: list[str] = []
    seen_star = False
    for index, parameter in enumerate(operation.parameters):
        if parameter.keyword_only and not seen_star:
            parts.append("*")
            seen_star = True
        parts.append(_with_default(parameter, source))
        later = operation.parameters[index + 1 :]
        if parameter.positional_only and not (later and later[0].positional_only):
            parts.append("/")
    return ", ".join(parts)


def _with_default(parameter: Parameter, source: Source) -> str:
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    name = f"default_{parameter.name}"
    source.define(**{name: parameter.default})
    return f"{parameter.name}=@{name}"


def _bare(operation: Operation, source: Source, leave: str) -> None:
    """Every tensor input is one tensor: checks and unwrapping stand in line."""
    first, *others = operation.tensor_parameters
    source.add(1, f"if {_is_other(first)}:")
    source.add(2, leave)
    source.add(1, f"@backend = {first.name}.backend")
    for other in others:
        source.add(1, f"if {_is_other(other)} or {other.name}.backend is not @backend:")
        source.add(2, leave)
    _find_entry(source, "@entries" if operation.always_has_float else "@plain", leave)
    tensors = [parameter.name for parameter in operation.tensor_parameters]
    for name in tensors:
        source.add(1, f"@p_{name} = {name}.primitive")
    if others:
        place = "@backend.device_of"
        differs = " or ".join(f"{place}(@p_{other.name}) != @place" for other in others)
        source.add(1, "if @many:")
        source.add(2, f"@place = {place}(@p_{first.name})")
        source.add(2, f"if {differs}:")
        source.add(3, leave)
    if operation.has_dims:
        key = ", ".join(f"@p_{name}.shape, @p_{name}.dtype" for name in tensors)
        _check_dims(operation, source, f"({key})")
    values = {name: f"@p_{name}" for name in tensors}
    _call(operation, source, lambda parameter: values.get(parameter.name, parameter.name))


def _is_other(parameter: Parameter) -> str:
    """The condition that a value is not the bare tensor that a parameter declares."""
    kind = cast("TensorNode", parameter.node).kind  # `_bare` is for bare tensors only
    return f"@type({parameter.name}) is not @tensor or {parameter.name}.kind != {kind!r}"


def _find_entry(source: Source, table: str, leave: str) -> None:
    source.add(1, f"@entry = {table}.get(@backend)")
    source.add(1, "if @entry is None:")
    source.add(2, leave)
    source.add(1, "@call, @native, @tag, @kinds, @many = @entry")


def _structured(operation: Operation, source: Source, leave: str) -> None:
    """Structs, unions and containers: leaves are collected, then converted."""
    source.add(1, "@leaves = []")
    source.add(1, "@marks = []")
    source.add(1, "try:")
    for parameter in operation.tensor_parameters:
        collect_lines(parameter.node, parameter.name, source, 2)
    source.add(1, "except @unusual:")
    source.add(2, leave)
    source.add(1, "if not @leaves:")
    source.add(2, leave)
    source.add(1, "@backend = @leaves[0].backend")
    source.add(1, "for @leaf in @leaves:")
    source.add(2, "if @leaf.backend is not @backend:")
    source.add(3, leave)
    table = "@entries" if operation.always_has_float else "@plain"
    if operation.may_have_float and not operation.always_has_float:
        is_float = "@any([@leaf.kind == 'float' for @leaf in @leaves])"
        source.add(1, f"@table = @entries if {is_float} else @plain")
        table = "@table"
    _find_entry(source, table, leave)
    places = "{@backend.device_of(@leaf.primitive) for @leaf in @leaves}"
    source.add(1, f"if @many and @len({places}) > 1:")
    source.add(2, leave)
    if operation.has_dims:
        leaf_key = "(@leaf.primitive.shape, @leaf.primitive.dtype) for @leaf in @leaves"
        _check_dims(operation, source, f"(*@marks, *[{leaf_key}])")

    def unwrapped(parameter: Parameter) -> str:
        return convert_expression(parameter.node, parameter.name, source)

    _call(operation, source, unwrapped)


def _primitive(value: Any, node: Node) -> Any:
    return value.primitive if type(value) is DispatchTensor else value


def _check_dims(operation: Operation, source: Source, key: str) -> None:
    names = ", ".join(parameter.name for parameter in operation.parameters)
    source.add(1, f"@key = {key}")
    source.add(1, "@expected = @seen.get(@key)")
    source.add(1, "if @expected is None:")
    source.add(2, f"@expected = @check(@key, ({names},))")


def _call(operation: Operation, source: Source, value: Callable[[Parameter], str]) -> None:
    arguments = ", ".join(
        f"{p.name}={value(p)}" if p.keyword_only else value(p) for p in operation.parameters
    )
    source.add(1, "try:")
    source.add(2, f"@out = {'await ' if operation.is_async else ''}@call({arguments})")
    source.add(1, "except @no_default as @reason:")
    source.add(2, "raise @missing(@reason, @backend) from @reason")
    if operation.is_builtin:
        names = ", ".join(parameter.name for parameter in operation.parameters)
        source.add(1, "except @error as @reason:")
        source.add(2, f"@diagnose(@reason, ({names},))")
        source.add(2, "raise")
    node = operation.returns
    if isinstance(node, TensorNode):
        right = f"@type(@out) is @native and @kinds.get(@tag(@out)) == {node.kind!r}"
        source.add(1, f"if {right}{_is_promised(operation, node)}:")
        source.add(2, f"return @tensor(@out, {node.kind!r}, @backend)")
    expected = ", @expected" if operation.has_dims else ""
    source.add(1, f"return @finish(@backend, @out{expected})")


def _is_promised(operation: Operation, node: TensorNode) -> str:
    """The condition that a tensor output is what annotated dimensions promise."""
    if node.dims is None:
        return ""
    promised = "@out.shape == @expected[0]"
    if operation.promises_dtype:
        dtype = "@out.dtype == @expected[1]"
        is_certain = any(always_holds(p.node, node.kind) for p in operation.tensor_parameters)
        promised += f" and {dtype}" if is_certain else f" and (@expected[1] is None or {dtype})"
    return f" and (@expected[0] is None or ({promised}))"
