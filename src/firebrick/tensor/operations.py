"""Which built-in operation serves a tensor of each kind.

A method of `Tensor` names its operation once per kind; the dispatched operation is looked up at
the first call with a tensor of that kind and kept. A kind without an operation is a `KindError`
that says what to call first. Choosing scalars and promoting dtypes is not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.backend import ActivationOps, BoolOps, FloatOps, IntOps
from firebrick.core import DispatchTensor
from firebrick.errors import KindError
from firebrick.opset import dispatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firebrick.core import Device, DType, Kind, Scalar

FLOAT = dispatch(FloatOps)
INT = dispatch(IntOps)
BOOL = dispatch(BoolOps)
ACTIVATION = dispatch(ActivationOps)

FAMILIES: dict[str, tuple[object, ...]] = {
    "float": (FLOAT, ACTIVATION),
    "int": (INT,),
    "bool": (BOOL,),
}
REMEDIES: dict[str, str] = {
    "float": "call `.float()` first",
    "int": "call `.int()` first",
    "bool": "compare it with something, or call `.bool()` first",
}


class Operation(dict["Kind", "Callable[..., Any]"]):
    """The dispatched operation by kind, filled at first use: `EXP[value.kind](value)`."""

    __slots__ = ("names", "remedies", "shown")

    def __init__(
        self, shown: str, names: dict[str, str], remedies: dict[str, str] | None = None
    ) -> None:
        super().__init__()
        self.shown = shown
        self.names = names
        self.remedies = remedies or {}

    def __missing__(self, kind: Kind) -> Callable[..., Any]:
        name = self.names.get(kind)
        if name is None:
            raise self.refusal(kind)
        found = next(f for f in FAMILIES[kind] if hasattr(f, name))
        self[kind] = getattr(found, name)
        return self[kind]

    def refusal(self, kind: Kind) -> KindError:
        """Says which kinds the operation takes, and how to get there."""
        nearest = "int" if kind == "bool" and "int" in self.names else next(iter(self.names))
        remedy = self.remedies.get(kind) or REMEDIES[nearest]
        accepted = " and ".join(self.names)
        return KindError(
            f"`{self.shown}` takes {accepted} tensors; got a tensor of kind {kind}: {remedy}."
        )


def numbers(shown: str, verb: str | None = None) -> Operation:
    """An operation on floats and ints: `float_<verb>` and `int_<verb>`."""
    verb = verb or shown
    return Operation(shown, {"float": f"float_{verb}", "int": f"int_{verb}"})


def floats(shown: str, name: str | None = None) -> Operation:
    """An operation on floats: `float_<shown>`, or the operation called `name`."""
    return Operation(shown, {"float": name or f"float_{shown}"})


def bools(shown: str, verb: str | None = None) -> Operation:
    """An operation on bools: `bool_<verb>`."""
    return Operation(shown, {"bool": f"bool_{verb or shown}"})


def every(shown: str, verb: str | None = None) -> Operation:
    """An operation on all three kinds: `<kind>_<verb>`."""
    return Operation(shown, {kind: f"{kind}_{verb or shown}" for kind in FAMILIES})


def filled(shape: Sequence[int], value: Scalar, device: Device, dtype: DType) -> DispatchTensor:
    """One value everywhere, already fit for `dtype`."""
    if dtype.kind == "float":
        return FLOAT.float_full(shape, value, device, dtype)
    if dtype.kind == "int":
        return INT.int_full(shape, value, device, dtype)
    make = BOOL.bool_ones if value else BOOL.bool_zeros
    return make(shape, device, dtype)


def beside(tensor: DispatchTensor, value: Scalar) -> DispatchTensor:
    """A 0-d constant of the dtype of `tensor`, where that lives.

    The backend is known, so that no call needs to be routed by a device.
    """
    backend: Any = tensor.backend
    place = backend.device_of(tensor.primitive), tensor.dtype
    if tensor.kind == "bool":
        made = (backend.bool_ones if value else backend.bool_zeros)((), *place)
    else:
        made = getattr(backend, f"{tensor.kind}_full")((), value, *place)
    return DispatchTensor(made, tensor.kind, backend)
