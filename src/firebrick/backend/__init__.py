"""The contract of a backend: the built-in op sets by family, and a few members about devices."""

from __future__ import annotations

from typing import Generic, Self

from firebrick.backend.activation_ops import ActivationOps
from firebrick.backend.bool_ops import BoolOps
from firebrick.backend.float_ops import FloatOps
from firebrick.backend.int_ops import IntOps
from firebrick.backend.options import (
    Array,
    AttentionOptions,
    ConvOptions,
    ConvTransposeOptions,
    DeformConvOptions,
    Distribution,
    GridSampleOptions,
    InterpolateOptions,
    QuantScheme,
    Scalar,
    UnfoldOptions,
    Update,
)
from firebrick.core import Device, DType, bool_, float32, int64
from firebrick.opset import BackendRoot
from firebrick.opset.kinds import P

__all__ = [
    "BUILTIN_OP_SETS",
    "ActivationOps",
    "Array",
    "AttentionOptions",
    "Backend",
    "BoolOps",
    "ConvOptions",
    "ConvTransposeOptions",
    "DeformConvOptions",
    "Distribution",
    "FloatOps",
    "GridSampleOptions",
    "IntOps",
    "InterpolateOptions",
    "QuantScheme",
    "Scalar",
    "UnfoldOptions",
    "Update",
]

BUILTIN_OP_SETS = (FloatOps, IntOps, BoolOps, ActivationOps)
"""What every backend implements by inheritance."""


class Backend(  # pyright: ignore[reportIncompatibleVariableOverride] - an op set asks its backend
    BackendRoot, FloatOps[P], IntOps[P], BoolOps[P], ActivationOps[P], Generic[P]
):
    """Executes operations on its own tensor type `P`.

    Operations are methods, named `<kind>_<verb>`; those that take a `dim` keep it with size 1,
    the others reduce to 0-d. Creation operations take a concrete dtype. Inputs are never changed.
    A method that a backend does not define keeps the default body, if the operation has one.
    """

    @property
    def backend(self) -> Self:
        """This backend, so that default bodies run on it."""
        return self

    @classmethod
    def devices(cls) -> list[Device]:
        """The usable devices, in index order; one unless a backend says otherwise.

        Raises: `BackendUnavailableError` naming what to install when packages are missing.
        """
        return [Device.of(cls.name)]

    def default_dtypes(self, device: Device) -> dict[str, DType]:
        """Of values that say no dtype, by kind: `float`, `int` and `bool`."""
        if self.role == "execution":
            return {"float": float32, "int": int64, "bool": bool_}
        return self.inner.default_dtypes(device.inner())

    def seed(self, device: Device, seed: int) -> None:
        """The same seed gives the same random tensors on this device."""
        raise NotImplementedError

    def sync(self, device: Device) -> None:
        """Waits for all submitted work; raises the first error nobody has read yet."""

    def supports_dtype(self, device: Device, dtype: DType) -> bool:
        """Whether values of `dtype` can be stored and computed with."""
        raise NotImplementedError

    def shares_memory(self, first: P, second: P) -> bool:
        """Whether two tensors of this backend have a byte in common."""
        raise NotImplementedError
