"""The generated fast path of dispatch: source text specialised to one signature.

The text proves that a call is ordinary (every leaf is a dispatched tensor of the declared kind, all
of one backend, on one device, dimensions seen before), looks the implementation up by backend,
calls it with the backend's own tensors and wraps what comes back. Whatever is not ordinary goes
to the linker, which knows the routing rules and makes the errors. Names that begin with `_f_` or `_p_`
belong to the text; parameters keep theirs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from firebrick.core import DispatchTensor
from firebrick.opset.dispatcher import Dispatcher
from firebrick.opset.linkage import linker
from firebrick.opset.nodes import Node, TensorNode
from firebrick.opset.signature import Operation, Parameter
from firebrick.opset.traversal import (
    Source,
    UnusualValueError,
    collect_lines,
    convert_expression,
)


def compile_dispatch(dispatcher: Dispatcher) -> Callable[..., Any]:
    """The function that executes an operation on dispatched tensors."""
    operation = dispatcher.operation
    source = Source()
    names = [parameter.name for parameter in operation.parameters]

    def slow(*values: Any) -> Any:
        return linker().route(dispatcher, dict(zip(names, values, strict=True)))

    source.names.update(
        _f_tensor=DispatchTensor,
        _f_slow=slow,
        _f_entries=dispatcher.entries,
        _f_plain=dispatcher.plain_entries,
        _f_seen=dispatcher.seen,
        _f_check=dispatcher.check,
        _f_finish=dispatcher.finish,
        _f_diagnose=dispatcher.diagnose,
        _f_unusual=UnusualValueError,
        _f_primitive=_primitive,
    )
    head = "async def" if operation.is_async else "def"
    source.add(0, f"{head} {operation.name}({parameters_text(operation, source)}):")
    leave = f"return {'await ' if operation.is_async else ''}_f_slow({', '.join(names)})"
    if not operation.tensor_parameters:
        source.add(1, leave)
    elif operation.takes_only_bare_tensors:
        _bare(operation, source, leave)
    else:
        _structured(operation, source, leave)
    function = source.compile(operation.name, f"dispatch of {operation.label}")
    function.__doc__ = operation.function.__doc__
    function.__qualname__ = operation.label
    function.__module__ = operation.owner.__module__
    return function


def parameters_text(operation: Operation, source: Source) -> str:
    """The parameter list of the declaration, defaults as constants of the text."""
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
    name = f"_f_default_{parameter.name}"
    source.names[name] = parameter.default
    return f"{parameter.name}={name}"


def _bare(operation: Operation, source: Source, leave: str) -> None:
    """Every tensor input is one tensor: checks and unwrapping stand in line."""
    first, *others = operation.tensor_parameters
    source.add(1, f"if type({first.name}) is not _f_tensor or {_other_kind(first)}:")
    source.add(2, leave)
    source.add(1, f"_f_backend = {first.name}.backend")
    for other in others:
        wrong = f"type({other.name}) is not _f_tensor or {_other_kind(other)}"
        source.add(1, f"if {wrong} or {other.name}.backend is not _f_backend:")
        source.add(2, leave)
    table = "_f_entries" if operation.always_has_float else "_f_plain"
    _find_entry(source, table, leave)
    tensors = [parameter.name for parameter in operation.tensor_parameters]
    for name in tensors:
        source.add(1, f"_p_{name} = {name}.primitive")
    if others:
        place = "_f_backend.device_of"
        differs = " or ".join(f"{place}(_p_{o.name}) != _f_place" for o in others)
        source.add(1, "if _f_many:")
        source.add(2, f"_f_place = {place}(_p_{first.name})")
        source.add(2, f"if {differs}:")
        source.add(3, leave)
    if operation.has_dims:
        key = ", ".join(f"_p_{n}.shape, _p_{n}.dtype" for n in tensors)
        _check_dims(operation, source, f"({key})")
    values = {name: f"_p_{name}" for name in tensors}
    _call(operation, source, lambda parameter: values.get(parameter.name, parameter.name))


def _other_kind(parameter: Parameter) -> str:
    node: Any = parameter.node
    return f"{parameter.name}.kind != {node.kind!r}"


def _find_entry(source: Source, table: str, leave: str) -> None:
    source.add(1, f"_f_entry = {table}.get(_f_backend)")
    source.add(1, "if _f_entry is None:")
    source.add(2, leave)
    source.add(1, "_f_call, _f_native, _f_tag, _f_kinds, _f_many = _f_entry")


def _structured(operation: Operation, source: Source, leave: str) -> None:
    """Structs, unions and containers: leaves are collected, then converted."""
    source.names["tensor_type"] = DispatchTensor
    source.add(1, "leaves = []")
    source.add(1, "marks = []")
    source.add(1, "try:")
    for parameter in operation.tensor_parameters:
        collect_lines(parameter.node, parameter.name, source, 2)
    source.add(1, "except _f_unusual:")
    source.add(2, leave)
    source.add(1, "if not leaves:")
    source.add(2, leave)
    source.add(1, "_f_backend = leaves[0].backend")
    source.add(1, "for _f_leaf in leaves:")
    source.add(2, "if _f_leaf.backend is not _f_backend:")
    source.add(3, leave)
    table = "_f_entries" if operation.always_has_float else "_f_plain"
    if operation.may_have_float and not operation.always_has_float:
        is_float = "any([_f_leaf.kind == 'float' for _f_leaf in leaves])"
        source.add(1, f"_f_table = _f_entries if {is_float} else _f_plain")
        table = "_f_table"
    _find_entry(source, table, leave)
    source.add(1, "if _f_many and len({_f_backend.device_of(x.primitive) for x in leaves}) > 1:")
    source.add(2, leave)
    if operation.has_dims:
        leaf_key = "(x.primitive.shape, x.primitive.dtype) for x in leaves"
        _check_dims(operation, source, f"(*marks, *[{leaf_key}])")
    source.names["f"] = _primitive

    def unwrapped(parameter: Parameter) -> str:
        return convert_expression(parameter.node, parameter.name, source)

    _call(operation, source, unwrapped)


def _primitive(value: Any, node: Node) -> Any:
    return value.primitive if type(value) is DispatchTensor else value


def _check_dims(operation: Operation, source: Source, key: str) -> None:
    names = ", ".join(parameter.name for parameter in operation.parameters)
    source.add(1, f"_f_key = {key}")
    source.add(1, "_f_expected = _f_seen.get(_f_key)")
    source.add(1, "if _f_expected is None:")
    source.add(2, f"_f_expected = _f_check(_f_key, ({names},))")


def _call(operation: Operation, source: Source, value: Callable[[Parameter], str]) -> None:
    arguments = ", ".join(
        f"{p.name}={value(p)}" if p.keyword_only else value(p) for p in operation.parameters
    )
    call = f"_f_out = {'await ' if operation.is_async else ''}_f_call({arguments})"
    if operation.is_builtin:
        names = ", ".join(parameter.name for parameter in operation.parameters)
        source.add(1, "try:")
        source.add(2, call)
        source.add(1, "except Exception as _f_error:")
        source.add(2, f"_f_diagnose(_f_error, ({names},))")
        source.add(2, "raise")
    else:
        source.add(1, call)
    node = operation.returns
    expected = ", _f_expected" if operation.has_dims else ""
    if isinstance(node, TensorNode):
        right = f"type(_f_out) is _f_native and _f_kinds.get(_f_tag(_f_out)) == {node.kind!r}"
        if operation.has_dims:
            same = "_f_out.shape == _f_expected[0] and _f_out.dtype == _f_expected[1]"
            right += f" and (_f_expected[0] is None or ({same}))"
        source.add(1, f"if {right}:")
        source.add(2, f"return _f_tensor(_f_out, {node.kind!r}, _f_backend)")
    source.add(1, f"return _f_finish(_f_backend, _f_out{expected})")
