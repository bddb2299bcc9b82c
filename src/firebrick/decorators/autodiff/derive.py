"""Operations of the autodiff backend, derived: a rule, a default body, or the inner operation.

A call with bare tensors and one tensor output gets generated text, like dispatch; calls with
structs, lists or several outputs are recorded by an interpreting twin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firebrick.decorators.autodiff.derived_text import constant_text, gathered_text, rule_text
from firebrick.decorators.autodiff.record import record, record_later
from firebrick.decorators.autodiff.rule_plan import RulePlan
from firebrick.errors import MissingImplementationError
from firebrick.opset import GradientRule, Operation, bind_instance, linker, own_member
from firebrick.opset.nodes import TensorNode, tensor_nodes


def derive(
    operation: Operation, owner: Any, implementation: type[Any] | None
) -> Callable[..., Any]:
    """The operation on `AutodiffTensor`s of one autodiff backend.

    Args:
        operation: What to derive.
        owner: The autodiff backend instance.
        implementation: The op set's `on=Autodiff` class, if there is one.
    """
    own = None
    if implementation is not None:
        own = own_member(operation.owner, implementation, operation.name)
    if isinstance(own, GradientRule):
        if own.function is None:
            return derive_constant(operation, owner)
        return _recorded(operation, owner, own, own.function, implementation)
    if own is not None and implementation is not None:
        return getattr(bind_instance(implementation, owner), operation.name)
    if not operation.tensor_parameters or not _may_return_float(operation):
        return derive_constant(operation, owner)
    if operation.has_default and operation.is_builtin:
        return operation.function.__get__(owner)
    if operation.has_default and implementation is not None:
        return getattr(bind_instance(implementation, owner), operation.name)
    return derive_constant(operation, owner, refuse_tracked=True)


def derive_constant(
    operation: Operation, owner: Any, *, refuse_tracked: bool = False
) -> Callable[..., Any]:
    """Runs the inner operation; its outputs are untracked."""
    call = linker().operation(operation, owner.inner)
    refuse = (lambda: missing_backward(operation)) if refuse_tracked else None
    return constant_text(operation, owner, call, refuse)


def missing_backward(operation: Operation) -> MissingImplementationError:
    """The error of a tracked call without a backward pass."""
    op_set = operation.owner.__name__
    return MissingImplementationError(
        f"`{operation.label}` was called with a tracked tensor, but it has neither an `Autodiff` "
        f"implementation nor a default body; add `class X({op_set}[AutodiffTensor], on=Autodiff)` "
        f"with `@gradient(...)` on `{operation.name}`, or with `{operation.name} = gradient(None)` "
        "if it has no gradient."
    )


def _may_return_float(operation: Operation) -> bool:
    return any(node.kind == "float" for node in tensor_nodes(operation.returns))


def _recorded(
    operation: Operation,
    owner: Any,
    rule: GradientRule,
    function: Callable[..., Any],
    implementation: Any,
) -> Callable[..., Any]:
    plan = RulePlan(
        operation,
        owner,
        rule,
        function,
        linker().operation(operation, owner.inner),
        (
            bind_instance(implementation, owner),
            bind_instance(implementation, owner, inner_backend=owner),
        ),
    )
    if operation.takes_only_bare_tensors and isinstance(operation.returns, TensorNode):
        return rule_text(plan)
    run = record_later(plan) if operation.is_async else record(plan)
    return gathered_text(operation, run)
