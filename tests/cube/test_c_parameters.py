"""What source kernels in C++ take: read from the text, compared with what is given."""

from __future__ import annotations

import struct

import pytest

from firebrick.cube.runtime.c_parameters import (
    ParameterKind,
    check_arguments,
    encode,
    parameters_of,
)
from firebrick.errors import KernelCompileError, KernelLaunchError

TEXT = """
__device__ float entry(float x) { return x; }
// extern "C" __global__ void entry(int commented) {}
extern "C" __global__ void __launch_bounds__(64) entry(
    const float* x, float factor, unsigned long long count, double /* not int */ precise,
    bool flag, __half half, float* out
) {}
extern "C" __global__ void entry_of_another(int a) {}
extern "C" __global__ void nothing(void) {}
"""


def test_parameters_are_read_from_the_declaration() -> None:
    assert parameters_of(TEXT, "entry") == (
        "pointer", "float", "integer", "double", "integer", "other", "pointer",
    )  # fmt: skip
    assert parameters_of(TEXT, "nothing") == ()


def test_a_text_without_the_kernel_is_refused() -> None:
    with pytest.raises(KernelCompileError, match="no kernel `main`"):
        parameters_of(TEXT, "main")


REFUSED: dict[str, tuple[tuple[ParameterKind, ...], int, tuple[float, ...], str]] = {
    "too few": (("pointer", "float"), 1, (), "has 2 parameters; got 1 tensors and 0 numbers"),
    "too many": (("pointer",), 1, (1.0,), "has 1 parameters; got 1 tensors and 1 numbers"),
    "a tensor for a number": (("pointer", "float"), 2, (), "parameter 1 is of kind `float`"),
    "a number for a tensor": (("pointer", "pointer"), 1, (2,), "got a number 2"),
    "an unknown type": (("pointer", "other"), 1, (2,), "takes no Python number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_that_do_not_fit_are_refused(case: str) -> None:
    kinds, tensors, numbers, words = REFUSED[case]
    with pytest.raises(KernelLaunchError, match=words):
        check_arguments("k", kinds, tensors, numbers)


def test_numbers_are_as_wide_as_they_are_declared() -> None:
    assert encode("float", 1.5).to_bytes(8, "little")[:4] == struct.pack("<f", 1.5)
    assert encode("double", 1.5).to_bytes(8, "little") == struct.pack("<d", 1.5)
    assert encode("integer", -2).to_bytes(8, "little") == struct.pack("<q", -2)
    assert encode("integer", -2).to_bytes(8, "little")[:4] == struct.pack("<i", -2)
    assert encode("integer", True) == 1


def test_an_integer_takes_no_float() -> None:
    with pytest.raises(KernelLaunchError, match=r"takes no 1\.5"):
        encode("integer", 1.5)
