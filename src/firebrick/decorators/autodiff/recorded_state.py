"""State of a long-form backward pass on a recorded pass: its tensors stand for tracked ones.

A tensor in the state that is the output, or the value of an input, becomes the tracked tensor. Any
other float tensor would silently count as a constant, so it is refused.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Callable
from typing import Any, cast

from firebrick.core import Device, Distribution, DType, TensorSpec
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, NodeId
from firebrick.errors import AutodiffError
from firebrick.opset import kind_or_none

_PLAIN = (
    None | int | float | complex | str | bytes | slice | range | type | enum.Enum
    | NodeId | Node | DType | Device | Distribution | TensorSpec | AutodiffTensor
)  # fmt: skip


class StateReader:
    """Rebuilds a state; looked into are tuples, lists, dicts and dataclasses."""

    def __init__(self, label: str, owner: Any, native_dtype: Any) -> None:
        self._label = label
        self._owner = owner
        self._plain = _PLAIN | type(native_dtype).__mro__[-2]  # NumPy has a class per dtype
        self._known: dict[int, tuple[Any, Node | None]] = {}

    def know(self, value: Any, link: Node | None) -> None:
        """`value` stands for a tensor with this place in the graph; the first to say so counts."""
        self._known.setdefault(id(value), (value, link))

    def read(self, value: Any) -> Any:
        """`value` with tracked tensors; `AutodiffError` for what cannot be placed."""
        inner = self._owner.inner
        tensor = inner.adopt(value)
        kind = kind_or_none(inner, tensor)
        if kind is not None and (tensor is value or kind == "float"):
            return AutodiffTensor(tensor, self._link(value, kind), kind, self._owner)
        # What is left of a kind are whole numbers and truth values of the library.
        if kind is not None or isinstance(value, self._plain):
            return value
        return self._rebuilt(value)

    def _rebuilt(self, value: Any) -> Any:
        kind = cast("type[Any]", type(value))
        if issubclass(kind, tuple | list):
            items = [self.read(item) for item in value]
            make = cast("Callable[..., Any]", kind)
            return make(*items) if hasattr(value, "_fields") else make(items)
        if issubclass(kind, dict):
            rebuilt = copy.copy(value)
            rebuilt.update({key: self.read(item) for key, item in value.items()})
            return rebuilt
        if dataclasses.is_dataclass(kind):
            return self._rebuilt_dataclass(value, kind)
        raise AutodiffError(
            f"`{self._label}` keeps a {kind.__name__} in its state, which a recorded backward pass "
            "cannot look into; keep tuples, lists, dicts or dataclasses."
        )

    def _rebuilt_dataclass(self, value: Any, kind: type[Any]) -> Any:
        """Without `__init__`, which may want other arguments than fields."""
        rebuilt: Any = object.__new__(kind)
        for name, item in getattr(value, "__dict__", {}).items():
            object.__setattr__(rebuilt, name, item)
        for field in dataclasses.fields(kind):
            object.__setattr__(rebuilt, field.name, self.read(getattr(value, field.name)))
        return rebuilt

    def _link(self, value: Any, kind: str) -> Node | None:
        known = self._known.get(id(value))
        if kind != "float":
            return None
        if known is None:
            raise AutodiffError(
                f"`{self._label}` keeps a float tensor in its state that is neither its output nor "
                "an input, so a recorded backward pass would take it for a constant; keep the id "
                "of `prep.checkpoint(tensor)` instead, or a Python number."
            )
        return known[1]
