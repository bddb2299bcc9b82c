"""A case: the arguments of one call, on the host until a device is chosen.

Where cases come from is not here: `generation.py` makes them up, `given.py` reads the user's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from firebrick.testing.nests import find_leaves, replace_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from firebrick.core import DType, Kind
    from firebrick.testing.comparison import Array

Role: TypeAlias = Literal["plain", "sizes"]
"""Whether a case is what the operation is for, or one with sizes of 0 and 1 or other ranks."""


@dataclass(frozen=True, slots=True, eq=False)
class HostTensor:
    """A tensor argument: its values, and its dtype where the user chose one."""

    array: Array
    kind: Kind
    dtype: DType | None = None

    def with_values(self, array: Array) -> HostTensor:
        """Other values of the same kind."""
        return replace(self, array=array)


@dataclass(frozen=True, slots=True)
class DevicePlace:
    """Stands for the device on which a case runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Arguments by parameter name, with a `HostTensor` in place of each tensor."""

    arguments: Mapping[str, Any]
    role: Role
    is_given: bool = False

    def tensors(self) -> Iterator[tuple[str, HostTensor]]:
        """Every tensor with its path."""
        return find_leaves(dict(self.arguments), HostTensor)

    def floats(self) -> list[Array]:
        """The values of the float tensors, in order, in float64."""
        return [t.array.astype("float64") for _, t in self.tensors() if t.kind == "float"]

    def filled(self, tensor: Callable[[str, HostTensor], Any], device: Any) -> dict[str, Any]:
        """The arguments with every tensor replaced by what `tensor` makes of it."""
        paths = iter([path for path, _ in self.tensors()])
        filled = replace_leaves(
            dict(self.arguments), HostTensor, lambda leaf: tensor(next(paths), leaf)
        )
        return replace_leaves(filled, DevicePlace, lambda _: device)

    def changed(self, change: Callable[[HostTensor], HostTensor]) -> Case:
        """The same case with other values."""
        arguments = self.filled(lambda _, leaf: change(leaf), DevicePlace())
        return replace(self, arguments=arguments)

    def __str__(self) -> str:
        """Such as `x float [2, 3], dim=1`."""
        tensors = {path: f"{t.kind} {list(t.array.shape)}" for path, t in self.tensors()}
        shown = [f"{path} {text}" for path, text in tensors.items()]
        for name, value in self.arguments.items():
            if not any(path == name or path.startswith(f"{name}.") for path in tensors):
                shown.append(f"{name}={_short(value)}")
        return ", ".join(shown) or "no arguments"


def _short(value: Any) -> str:
    text = "the device" if isinstance(value, DevicePlace) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
