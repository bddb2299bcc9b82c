"""What a `@gradient` rule returned: its names checked, its gradients brought to their inputs."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

from firebrick.decorators.autodiff.gradients import described, own_float
from firebrick.decorators.autodiff.reduce_broadcast import broadcast_shape
from firebrick.errors import GradientError, ShapeError

if TYPE_CHECKING:
    from firebrick.decorators.autodiff.rule_step import RuleStep


class RuleResult:
    """Gradients by input name, as one rule gave them for one call."""

    def __init__(self, step: RuleStep, answer: Any, *, recorded: bool) -> None:
        self._step = step
        self._recorded = recorded
        self._executor = step.backend if recorded else step.backend.inner
        self._gradients = self._by_name(answer)

    def __getitem__(self, path: str) -> Any:
        return self._gradients[path]

    def check_names(self, wanted: Mapping[str, bool], absent: Collection[str]) -> None:
        """`GradientError` for a name that is no input, and for a wanted one left out.

        `absent` are inputs that this call could have had; they have no gradient to take.
        """
        for name in self._gradients:
            if name not in self._step.layout.index and name not in absent:
                raise GradientError(
                    f"{self._label} returned one for {name!r}, which is no tensor input; accepted "
                    f"are {self._accepted}."
                )
        for path, needed in wanted.items():
            if needed and path not in self._gradients:
                raise GradientError(
                    f"{self._label} left out `{path}`, which `need` names; return a gradient for "
                    "it, or None for zero."
                )

    def fitted(self, path: str) -> Any:
        """A gradient in its input's shape, broadcast dimensions summed back."""
        given = self._gradients[path]
        value = own_float(self._executor, given)
        if value is None:
            raise GradientError(
                f"{self._label} returned {described(given)} for `{path}`; "
                "gradients are float tensors of `self.inner.backend`."
            )
        raw = value.primitive if self._recorded else value
        kept = self._step.input(path)
        wanted, shape = tuple(kept.shape), tuple(raw.shape)
        if raw.dtype != kept.dtype:
            raise GradientError(
                f"{self._label} for `{path}` has dtype {raw.dtype}, the input has {kept.dtype}; "
                "cast it with `float_cast`."
            )
        if shape == wanted:
            return value
        if not any(shape == tuple(node.shape) for node in self._step.outputs):
            raise GradientError(
                f"{self._label} for `{path}` has shape {list(shape)}, the input has "
                f"{list(wanted)}; return the input's shape, or the output's where the input was "
                "broadcast to it."
            )
        try:
            return broadcast_shape(self._executor, value, wanted)
        except ShapeError as fact:
            raise GradientError(f"{self._label} for `{path}` does not fit: {fact}") from None

    @property
    def _label(self) -> str:
        return f"the gradient of `{self._step.label}`"

    @property
    def _accepted(self) -> str:
        return ", ".join(f"`{path}`" for path in self._step.layout.floats)

    def _by_name(self, answer: Any) -> Mapping[Any, Any]:
        if isinstance(answer, Mapping):
            return cast("Mapping[Any, Any]", answer)
        found = f"a {type(answer).__name__}"
        if inspect.iscoroutine(answer):
            answer.close()
            found = "a coroutine (a rule is a plain `def`, also of an async operation)"
        raise GradientError(
            f"{self._label} returned {found}; it returns a dict from input names to gradients: "
            f"{self._accepted}."
        )
