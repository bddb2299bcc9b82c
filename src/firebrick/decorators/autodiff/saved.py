"""`Saved`: what a gradient rule sees of the forward call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from firebrick.core import Shape, TensorSpec
from firebrick.decorators.autodiff.kept import is_saved
from firebrick.errors import GradientError

if TYPE_CHECKING:
    from firebrick.core import Device
    from firebrick.decorators.autodiff.backward_pass import BackwardPass


class Forward(Protocol):
    """The forward call of a rule, as its step remembers it."""

    @property
    def label(self) -> str:
        """The operation's public name."""
        ...

    @property
    def backend(self) -> Any:
        """The autodiff backend of the call."""
        ...

    def input(self, path: str) -> Any:
        """What is kept for a tensor input; None if there is no such input."""
        ...

    def ordinary(self, path: str) -> Any:
        """An ordinary argument or field; `LookupError` if there is none."""
        ...

    def saved(self, path: str, backward: BackwardPass) -> Any:
        """The value of a saved tensor or structure; `LookupError` if it is not saved."""
        ...

    def paths(self) -> tuple[str, ...]:
        """Paths of all tensor inputs."""
        ...


class Saved:
    """Values kept for a gradient rule: `saved.lhs`, `saved["boxes.coords"]`.

    Holds what `save` names and every ordinary argument of the call. Values cannot be written. An
    argument named like a method of this class is read by `saved["device"]`.
    """

    __slots__ = ("_backward", "_forward")

    def __init__(self, forward: Forward, backward: BackwardPass) -> None:
        self._forward = forward
        self._backward = backward

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, path: str) -> Any:
        try:
            return self._forward.saved(path, self._backward)
        except LookupError:
            pass
        try:
            return self._forward.ordinary(path)
        except LookupError:
            raise GradientError(
                f"the gradient of `{self._forward.label}` reads `{path}`, which it does not save; "
                f"add {path!r} to `save`."
            ) from None

    def spec(self, path: str) -> TensorSpec:
        """Shape and dtype of any input tensor, saved or not."""
        kept = self._input(path)
        inner = self._forward.backend.inner
        return TensorSpec(Shape(kept.shape), inner.dtype_of(kept))

    def device(self, path: str) -> Device:
        """Where a saved input tensor lives."""
        kept = self._input(path)
        if not is_saved(kept):
            raise GradientError(
                f"the gradient of `{self._forward.label}` asks for the device of `{path}`, which "
                f"it does not save; add {path!r} to `save`."
            )
        return self._forward.backend.inner.device_of(self._backward.primitive(kept))

    def count(self, path: str) -> int:
        """How many tensors a list or struct input holds."""
        return sum(known.startswith(f"{path}.") for known in self._forward.paths())

    def _input(self, path: str) -> Any:
        kept = self._forward.input(path)
        if kept is None:
            raise GradientError(
                f"`{self._forward.label}` has no tensor input `{path}`; inputs are "
                f"{', '.join(self._forward.paths())}."
            )
        return kept
