"""State of a long-form backward pass on a recorded pass: its tensors stand for tracked ones.

A tensor in the state that is the output, or the value of an input, becomes the tracked tensor. Any
other tensor would silently count as a constant, so it is refused.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Any, cast

from firebrick.core import Device, Distribution, DType, TensorSpec
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, NodeId
from firebrick.errors import AutodiffError

if TYPE_CHECKING:
    from firebrick.decorators.autodiff.long_step import LongStep

_PLAIN = (
    None | int | float | complex | str | bytes | slice | range | type | enum.Enum
    | NodeId | Node | DType | Device | Distribution | TensorSpec
)  # fmt: skip


def tracked_state(step: LongStep, state: Any, kept: list[tuple[Any, Node]]) -> Any:
    """The state with tracked tensors; `AutodiffError` for tensors and objects it cannot place.

    Looked into: tuples, lists, dicts and dataclasses.
    """
    owner = step.backend
    inner = owner.inner
    links = {id(value): link for value, link in kept}
    nodes: list[Node] = [step, *(parent for parent in step.parents if parent is not None)]

    def replaced(value: Any) -> Any:
        kind = cast("type[Any]", type(value))  # `type` of an unknown value is unknown to pyright
        if issubclass(kind, AutodiffTensor | _PLAIN):
            return value
        if issubclass(kind, inner.native):
            return _tracked(value)
        if issubclass(kind, tuple | list):
            items: list[Any] = [replaced(item) for item in value]
            rebuilt: Any = kind(*items) if hasattr(kind, "_fields") else kind(items)
            return rebuilt
        if issubclass(kind, dict):
            return {key: replaced(item) for key, item in value.items()}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return dataclasses.replace(value, **{n: replaced(getattr(value, n)) for n in names})
        raise AutodiffError(
            f"`{step.label}` keeps a {type(value).__name__} in its state, which a recorded "
            "backward pass cannot look into; keep tuples, lists, dicts or dataclasses."
        )

    def _tracked(value: Any) -> AutodiffTensor:
        link = links.get(id(value)) or next((n for n in nodes if n.stands_for(value)), None)
        kind = inner.kind_of(value)
        if link is None and kind == "float":
            raise AutodiffError(
                f"`{step.label}` keeps a float tensor in its state that is neither its output nor "
                "an input, so a recorded backward pass would take it for a constant; keep the id of `prep.checkpoint(tensor)` instead."
            )
        return AutodiffTensor(value, link if kind == "float" else None, kind, owner)

    return replaced(state)
