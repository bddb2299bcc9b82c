"""What the mechanism needs from any backend: its name, its role, and how to look at tensors.

The operations are not here: `firebrick.backend` adds them.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from firebrick.core import NoCheckpointing
from firebrick.errors import DispatchError, KindError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.core import CheckpointStrategy, Device, DType, Kind

Role = Literal["execution", "autodiff", "fusion"]


class BackendRoot:
    """The common base of all backends, by which selectors are known."""

    name: ClassVar[str]
    """Of the backend's devices; unique in the process."""
    role: ClassVar[Role] = "execution"
    native: Any
    """The type of the backend's own tensors."""
    kinds: Mapping[Any, Kind]
    """Kind by the backend's own dtype, or by whatever `tag` reads."""
    tag: Callable[[Any], Any] = attrgetter("dtype")
    """Reads the key of `kinds` from a tensor."""
    is_autodiff: bool = False
    checkpointing: type[CheckpointStrategy] = NoCheckpointing
    has_many_devices: bool = False
    """Whether two tensors of this backend can live on different devices."""

    @property
    def inner(self) -> Any:
        """What a decorator decorates. `DispatchError` on a backend that is not a decorator."""
        raise DispatchError(
            f"`{self}` is not a decorator, so it has no inner backend; `inner` exists on "
            "autodiff and fused backends."
        )

    def __str__(self) -> str:
        """With what it is made of: `flex`, `autodiff<flex>`."""
        return self.name

    def device_of(self, tensor: Any) -> Device:
        """Where `tensor` lives."""
        raise NotImplementedError

    def dtype_of(self, tensor: Any) -> DType:
        """The element type of `tensor`."""
        raise NotImplementedError

    def adopt(self, value: Any) -> Any:
        """`value` as this backend's tensor if it is a scalar of its library; else unchanged."""
        return value

    def read_only(self, tensor: Any) -> Any:
        """The same values in a tensor that cannot be written, if the library can tell."""
        return tensor

    def kind_of(self, tensor: Any) -> Kind:
        """The kind of a tensor of this backend; `KindError` for another type or dtype."""
        kind = self.kinds.get(self.tag(tensor)) if isinstance(tensor, self.native) else None
        if kind is None:
            raise KindError(
                f"`{self}` has tensors of type `{self.native.__name__}` and of kinds float, int "
                f"and bool; got {type(tensor).__name__}"
                + (f" of dtype {tensor.dtype}." if hasattr(tensor, "dtype") else ".")
            )
        return kind
