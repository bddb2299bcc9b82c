"""Gradients of updates by indices: scatter along a dimension, and the same for whole rows.

Several values may meet in one place. `add` and `mul` count all of them, and so does the gradient.
Of an assignment, and of a minimum or maximum, exactly one of the candidates gets the gradient:
the value that stayed; of equal extremes the tensor's own element, then the first value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firebrick.core import TensorSpec, bool_, normalize_dim
from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.rules.scans import index_dtype, products_of_others_in_groups
from firebrick.decorators.autodiff.rules.zeros import zeros
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class UpdateRules(Rules[P]):
    """A tensor and values that are written into it."""

    @gradient(save=("indices",), cost="compute")
    def float_scatter_add(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The gradient itself, and what is gathered from it."""
        b = self.inner.backend
        gathered = b.float_gather(saved.dim, grad, saved.indices) if need.value else None
        return {"tensor": grad, "value": gathered}

    @gradient(save=("indices",), cost="memory")
    def float_select_add(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The gradient itself, and the rows selected from it."""
        b = self.inner.backend
        selected = b.float_select(grad, saved.dim, saved.indices) if need.value else None
        return {"tensor": grad, "value": selected}

    @gradient(save=("tensor", "indices", "value"), cost="compute")
    def float_scatter(self, saved: Saved, grad: P, need: Need) -> Grads:
        """By kind of update, see `Written`."""
        dim = normalize_dim(saved.dim, len(saved.spec("tensor").shape))
        written = Written(self.inner.backend, dim, saved.tensor, saved.indices, saved.value)
        return written.gradients(saved.update, grad, need)

    @gradient(save=("tensor", "indices", "value"), cost="memory")
    def float_select_assign(self, saved: Saved, grad: P, need: Need) -> Grads:
        """As a scatter whose indices are the same for all elements of a row."""
        b = self.inner.backend
        shape = saved.spec("value").shape
        dim = normalize_dim(saved.dim, len(shape))
        one_each = [size if axis == dim else 1 for axis, size in enumerate(shape)]
        indices = b.int_expand(b.int_reshape(saved.indices, one_each), shape)
        written = Written(b, dim, saved.tensor, indices, saved.value)
        return written.gradients(saved.update, grad, need)


@dataclass(frozen=True, slots=True)
class Written:
    """Values, the places along `dim` where they went, and the tensor as it was before."""

    b: Any
    dim: int
    tensor: Any
    indices: Any
    value: Any

    def gradients(self, update: str, grad: Any, need: Need) -> Grads:
        """Of the tensor and of the values, where they are needed."""
        return {
            "tensor": self._of_tensor(update, grad) if need.tensor else None,
            "value": self._of_value(update, grad) if need.value else None,
        }

    def _of_tensor(self, update: str, grad: Any) -> Any:
        b = self.b
        if update == "add":
            return grad
        if update == "mul":
            return b.float_scatter(self.dim, grad, self.indices, self.value, "mul")
        if update == "assign":
            nothing = zeros(b, grad, TensorSpec(self.value.shape, b.dtype_of(grad)))
            return b.float_scatter(self.dim, grad, self.indices, nothing, "assign")
        return b.float_mask_fill(grad, b.bool_not(self._is_own(self._extremes(update))), 0.0)

    def _of_value(self, update: str, grad: Any) -> Any:
        b = self.b
        if update == "mul":
            others = products_of_others_in_groups(b, self.value, self.indices, self.dim)
            return b.float_mul(self._read(b.float_mul(grad, self.tensor)), others)
        if update == "add":
            return self._read(grad)
        stayed = self._assigned() if update == "assign" else self._first_extreme(update)
        return b.float_mask_fill(self._read(grad), b.bool_not(stayed), 0.0)

    def _read(self, tensor: Any) -> Any:
        """What is in the places of the values."""
        return self.b.float_gather(self.dim, tensor, self.indices)

    def _extremes(self, update: str) -> Any:
        return self.b.float_scatter(self.dim, self.tensor, self.indices, self.value, update)

    def _is_own(self, extremes: Any) -> Any:
        return self.b.float_equal(self.tensor, extremes, bool_)

    def _assigned(self) -> Any:
        """Whether a value is the one that stayed: its number stays if it is assigned likewise."""
        numbers = self._numbers()
        return self.b.int_equal(self._after_scatter(numbers, "assign"), numbers, bool_)

    def _first_extreme(self, update: str) -> Any:
        """Whether a value is the first of those that are the extreme, if the tensor's is not."""
        b = self.b
        extremes = self._extremes(update)
        own = b.bool_gather(self.dim, self._is_own(extremes), self.indices)
        equal = b.float_equal(self.value, self._read(extremes), bool_)
        candidate = b.bool_and(equal, b.bool_not(own))
        numbers = self._numbers()
        late = b.int_mask_fill(numbers, b.bool_not(candidate), self.value.shape[self.dim])
        return b.bool_and(candidate, b.int_equal(self._after_scatter(late, "min"), numbers, bool_))

    def _numbers(self) -> Any:
        """The position of each value along `dim`; no two that may meet have the same."""
        b = self.b
        shape = self.value.shape
        one_each = [size if axis == self.dim else 1 for axis, size in enumerate(shape)]
        numbers = b.int_arange(
            range(shape[self.dim]), b.device_of(self.value), index_dtype(b, self.value)
        )
        return b.int_expand(b.int_reshape(numbers, one_each), shape)

    def _after_scatter(self, numbers: Any, update: str) -> Any:
        """Numbers updated in the places of the values, and read again."""
        b = self.b
        device, dtype = b.device_of(self.value), index_dtype(b, self.value)
        base = b.int_full(self.tensor.shape, self.value.shape[self.dim], device, dtype)
        updated = b.int_scatter(self.dim, base, self.indices, numbers, update)
        return b.int_gather(self.dim, updated, self.indices)
