"""`Autodiff`, the decorator: a backend made of a backend, with every operation derived."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from firebrick.backend import BUILTIN_OP_SETS, Backend
from firebrick.core import BalancedCheckpointing, Device, DispatchTensor, NoCheckpointing
from firebrick.decorators.autodiff.derive import derive
from firebrick.decorators.autodiff.node import AutodiffTensor, LeafNode

if TYPE_CHECKING:
    from firebrick.core import CheckpointStrategy, DType, Kind
    from firebrick.opset import Operation


class Autodiff(Backend[AutodiffTensor]):
    """Decorator: records operations on floats for the backward pass."""

    name = "autodiff"
    role = "autodiff"
    is_autodiff = True
    native = AutodiffTensor
    tag = attrgetter("kind")
    kinds: Mapping[Any, Kind] = {"float": "float", "int": "int", "bool": "bool"}

    def __init__(
        self, inner: Backend[Any], checkpointing: type[CheckpointStrategy] = NoCheckpointing
    ) -> None:
        self._inner = inner
        self.checkpointing = checkpointing
        self.recomputes = issubclass(checkpointing, BalancedCheckpointing)
        self.has_many_devices = inner.has_many_devices
        self._devices: dict[Device, Device] = {}

    def __str__(self) -> str:
        """With what it is made of: `autodiff<flex>`."""
        return f"autodiff<{self._inner}>"

    @property
    def inner(self) -> Backend[Any]:
        """The decorated backend."""
        return self._inner

    def device_of(self, tensor: AutodiffTensor) -> Device:
        """Where the values live, as an autodiff device."""
        device = self._inner.device_of(tensor.primitive)
        known = self._devices.get(device)
        if known is None:
            known = self._devices[device] = device.autodiff(checkpointing=self.checkpointing)
        return known

    def dtype_of(self, tensor: Any) -> DType:
        """The element type of a tensor."""
        return self._inner.dtype_of(tensor.primitive)

    def lift(self, tensor: DispatchTensor) -> DispatchTensor:
        """A tensor of the decorated backend as an untracked one of this; others unchanged."""
        if tensor.backend is not self._inner:
            return tensor
        constant = AutodiffTensor(tensor.primitive, None, tensor.kind, self)
        return DispatchTensor(constant, tensor.kind, self)

    def read_only(self, tensor: AutodiffTensor) -> AutodiffTensor:
        """The same tensor with values that cannot be written."""
        value = self._inner.read_only(tensor.primitive)
        return AutodiffTensor(value, tensor.link, tensor.kind, self)

    def shares_memory(self, first: AutodiffTensor, second: AutodiffTensor) -> bool:
        """Whether two tensors have storage in common."""
        return self._inner.shares_memory(first.primitive, second.primitive)

    def seed(self, device: Device, seed: int) -> None:
        """Seeds the decorated backend."""
        self._inner.seed(device.inner(), seed)

    def sync(self, device: Device) -> None:
        """Waits for the decorated backend."""
        self._inner.sync(device.inner())

    def supports_dtype(self, device: Device, dtype: DType) -> bool:
        """What the decorated backend says."""
        return self._inner.supports_dtype(device.inner(), dtype)

    def float_detach(self, tensor: AutodiffTensor) -> AutodiffTensor:
        """Cut from the graph; a marked leaf gives a marked leaf."""
        link = tensor.link
        fresh = _leaf(tensor) if link is not None and link.is_leaf else None
        return AutodiffTensor(tensor.primitive, fresh, tensor.kind, self)

    def float_set_require_grad(self, tensor: AutodiffTensor, require_grad: bool) -> AutodiffTensor:
        """A leaf with that flag."""
        link = tensor.link
        if require_grad and link is not None and link.is_leaf:
            return tensor
        fresh = _leaf(tensor) if require_grad else None
        return AutodiffTensor(tensor.primitive, fresh, tensor.kind, self)

    def float_is_require_grad(self, tensor: AutodiffTensor) -> bool:
        """Whether the leaf is marked."""
        return tensor.link is not None and tensor.link.is_leaf


def _leaf(tensor: AutodiffTensor) -> LeafNode:
    return LeafNode(tensor.owner, tuple(tensor.primitive.shape), tensor.primitive.dtype)


class DerivedOperation:
    """An operation of `Autodiff`, derived for an instance at its first use and kept there."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    def __get__(self, instance: Autodiff | None, owner: type[Autodiff]) -> Callable[..., Any]:
        if instance is None:
            return self._operation.function
        operation = self._operation
        derived = derive(operation, instance, _rules_of(operation.owner))
        instance.__dict__[operation.name] = derived
        return derived


_rules_loaded = threading.Event()


def _rules_of(op_set: Any) -> Any:
    """The class with the gradient rules of a built-in op set; loaded when first asked for."""
    if not _rules_loaded.is_set():
        import_module("firebrick.decorators.autodiff.rules")
        _rules_loaded.set()
    return op_set.__implementations__.find(Autodiff)


for _op_set in BUILTIN_OP_SETS:
    for _operation in _op_set.__operations__.values():
        if _operation.name not in vars(Autodiff):
            setattr(Autodiff, _operation.name, DerivedOperation(_operation))


_instances: dict[tuple[Any, type[CheckpointStrategy]], Autodiff] = {}
_instances_lock = threading.Lock()


def autodiff_of(inner: Backend[Any], checkpointing: type[CheckpointStrategy]) -> Autodiff:
    """The one autodiff backend made of `inner` with a strategy."""
    with _instances_lock:
        known = _instances.get((inner, checkpointing))
        if known is None:
            known = _instances[inner, checkpointing] = Autodiff(inner, checkpointing)
    return known
