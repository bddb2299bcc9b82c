"""Cases that the user gives: argument tuples with user tensors inside."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firebrick.core import Device
from firebrick.errors import SignatureError
from firebrick.tensor import Tensor
from firebrick.testing.case import Case, DevicePlace, HostTensor
from firebrick.testing.comparison import host_values
from firebrick.testing.nests import children, replace_leaves

if TYPE_CHECKING:
    from firebrick.opset import Operation

GivenCases = Mapping[str, Sequence[tuple[Any, ...]]]


def require_known(cases: Iterable[str], operations: Mapping[str, Operation], name: str) -> None:
    """`SignatureError` for cases of an operation that the op set does not have."""
    for given in cases:
        if given not in operations:
            close = difflib.get_close_matches(given, operations, n=1)
            hint = f" Did you mean `{close[0]}`?" if close else ""
            raise SignatureError(
                f"`check` was given cases for `{given}`, which is no operation of `{name}`; it has "
                f"{', '.join(operations)}.{hint}"
            )


def read_cases(operation: Operation, given: Sequence[tuple[Any, ...]]) -> list[Case]:
    """The given argument tuples as cases, on the host.

    Raises: `SignatureError` for a tuple that has too many or too few arguments.
    """
    return [_read_case(operation, position, values) for position, values in enumerate(given)]


def _read_case(operation: Operation, position: int, given: object) -> Case:
    parameters = operation.parameters
    required = sum(parameter.is_required for parameter in parameters)
    parts = children(given) if issubclass(type(given), tuple) else None
    values = None if parts is None else list(parts.values())
    if values is None or not required <= len(values) <= len(parameters):
        found = f"a `{type(given).__name__}`" if values is None else f"{len(values)} arguments"
        raise SignatureError(
            f"case {position} of `{operation.label}` is a tuple of its arguments "
            f"({', '.join(p.name for p in parameters)}), at least {required}; got {found}."
        )
    arguments = {p.name: p.default for p in parameters[len(values) :]}
    for parameter, value in zip(parameters, values, strict=False):
        on_host = replace_leaves(value, Tensor, _host_tensor)
        arguments[parameter.name] = replace_leaves(on_host, Device, lambda _: DevicePlace())
    ordered = {parameter.name: arguments[parameter.name] for parameter in parameters}
    return Case(ordered, "plain", is_given=True)


def _host_tensor(tensor: Tensor) -> Any:
    values = host_values(tensor.inner())
    return tensor if values is None else HostTensor(values.array.copy(), tensor.kind, values.dtype)
