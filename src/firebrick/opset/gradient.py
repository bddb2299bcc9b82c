"""`@gradient`: a backward pass as a rule by names. How rules run is the autodiff decorator's."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from firebrick.errors import GradientError, GradientRuleError
from firebrick.opset.paths import is_path, known_paths

if TYPE_CHECKING:
    from firebrick.opset.signature import Operation

Grads: TypeAlias = Mapping[str, Any]
Cost = Literal["compute", "memory"]


@dataclass(frozen=True, slots=True)
class GradientRule:
    """A recorded rule; `function` is None where an operation has no gradient."""

    function: Callable[..., Grads] | None
    save: tuple[str, ...] = ()
    cost: Cost = "compute"


@overload
def gradient(rule: None, /) -> Any: ...
@overload
def gradient(
    *, save: Sequence[str] = (), cost: Cost = "compute"
) -> Callable[[Callable[..., Grads]], Any]: ...
def gradient(rule: Any = ..., /, *, save: Sequence[str] = (), cost: Cost = "compute") -> Any:
    """On a method of an `on=Autodiff` class: the backward pass of the operation of that name.

    The method takes `(self, saved, grad, need)`, with one `grad` per float output leaf in order
    (zeros where unused), and returns a gradient by input name. None means zero; every input
    that `need` names has an entry. `save` names inputs and outputs: `lhs`, `boxes.coords`, `out`,
    `out.coords`, `out.0`. `cost="memory"`: the outputs are recomputed in backward when
    checkpointing. Broadcast dimensions are summed back. `nms = gradient(None)` declares that an
    operation has no gradient: its outputs are constants.

    Raises: `GradientRuleError` when the class is defined; `GradientError` in backward for an
    unknown name, or a gradient of another shape or dtype than its input.
    """
    if rule is None:
        return GradientRule(None)
    if rule is not ...:
        raise GradientRuleError(
            "`gradient` takes options: write `@gradient()` or `@gradient(save=(...))`, or "
            "`gradient(None)` for an operation without a gradient."
        )
    if isinstance(save, str):
        raise GradientRuleError(f"`save` is a sequence of names; write `save=({save!r},)`.")
    if cost not in ("compute", "memory"):
        raise GradientRuleError(
            f"`cost` is 'compute' (outputs are kept) or 'memory' (recomputed); got {cost!r}."
        )

    def record(function: Callable[..., Grads]) -> GradientRule:
        return GradientRule(function, tuple(save), cost)

    return record


def check_rule(operation: Operation, rule: GradientRule) -> None:
    """`GradientRuleError` for saved names that do not exist, or a wrong number of gradients."""
    if rule.function is None:
        return
    nodes = {parameter.name: parameter.node for parameter in operation.parameters}
    nodes["out"] = operation.returns
    for name in rule.save:
        if not is_path(nodes, name):
            known = list(known_paths(nodes))
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean `{close[0]}`?" if close else ""
            raise GradientRuleError(
                f"the gradient of `{operation.label}` saves `{name}`, which is no input or output; "
                f"accepted are {', '.join(known)}.{hint}"
            )
    outputs = operation.float_outputs
    if outputs is None:
        return
    try:
        inspect.signature(rule.function).bind(None, None, *outputs, None)
    except TypeError:
        wanted = ", ".join(["self", "saved", *(_gradient_name(path) for path in outputs), "need"])
        raise GradientRuleError(
            f"the gradient of `{operation.label}` takes one gradient per float output: "
            f"`({wanted})`; got `{inspect.signature(rule.function)}`."
        ) from None


def _gradient_name(path: str) -> str:
    return "grad" if path == "out" else f"grad_{path.rpartition('.')[2]}"


class Need:
    """Which inputs want a gradient: `need.lhs`, `need["boxes.coords"]`.

    The name of a struct or list stands for any tensor in it.
    """

    __slots__ = ("_wanted",)

    def __init__(self, wanted: Mapping[str, bool]) -> None:
        self._wanted = wanted

    def __getattr__(self, name: str) -> bool:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, path: str) -> bool:
        if path in self._wanted:
            return self._wanted[path]
        below = [wanted for known, wanted in self._wanted.items() if known.startswith(f"{path}.")]
        if not below:
            raise GradientError(
                f"`need` has no input `{path}`; float inputs are {', '.join(self._wanted)}."
            )
        return any(below)

    def __repr__(self) -> str:
        return f"Need({dict(self._wanted)})"
