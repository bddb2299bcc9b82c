"""NdArray with every built-in operation validated by its form before it runs.

Backends trust what dispatch and `Tensor` let through: NumPy multiplies vectors where `float_matmul`
is declared for matrices. A default body calls its backend directly, so that here the declarations
decide which arguments are a case of an operation at all.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, cast

import numpy as np

from firebrick.backend import BUILTIN_OP_SETS
from firebrick.core import Device, TensorSpec, from_numpy_dtype, resolver
from firebrick.opset import Operation, output_specs
from firebrick.testing.nests import replace_leaves


@cache
def checked_backend() -> Any:
    """The backend; one per process."""
    reference = cast("Any", type(resolver().open(Device.ndarray())))
    checked = {
        operation.name: _checked(operation, getattr(reference, operation.name))
        for op_set in BUILTIN_OP_SETS
        for operation in op_set.__operations__.values()
        if operation.form is not None and operation.form.name in ("fields", "meta")
    }
    return type("CheckedNdArray", (reference,), checked)()


def _checked(operation: Operation, method: Any) -> Any:
    signature = inspect.signature(operation.function)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments = replace_leaves(dict(bound.arguments), np.ndarray, _spec)
        output_specs(operation, arguments)
        return method(self, *args, **kwargs)

    return run


def _spec(array: np.ndarray[Any, np.dtype[Any]]) -> TensorSpec:
    return TensorSpec(array.shape, from_numpy_dtype(array.dtype))
