"""A Python number as the second operand of an operation on two tensors."""

from __future__ import annotations

from firebrick.backend.options import Scalar
from firebrick.opset import OpSet
from firebrick.opset.kinds import P


def scalar_operand(ops: OpSet[P], tensor: P, value: Scalar) -> P:
    """`value` as a 0-d tensor of the dtype and on the device of a float or int `tensor`."""
    b = ops.backend
    dtype = b.dtype_of(tensor)
    full = b.float_full if dtype.kind == "float" else b.int_full
    return full((), value, b.device_of(tensor), dtype)
