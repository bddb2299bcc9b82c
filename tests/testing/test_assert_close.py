"""What `assert_close` accepts, and what it says of a difference."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from firebrick import Device, Tensor, bfloat16, float16, float32, float64
from firebrick.extension import ExtensionType, FloatTensor, P
from firebrick.testing import assert_close


class Pair(ExtensionType[P]):
    left: FloatTensor[P]
    right: FloatTensor[P]
    label: str


class Single(ExtensionType[P]):
    left: FloatTensor[P]


def pair(*values: Any) -> Any:
    make: Any = Pair
    return make(*values)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (Tensor([1.0, 2.0]), [1.0, 2.0]),
        (Tensor([1.0, 2.0]), np.array([1.0, 2.0])),
        ([1.0, 2.0], Tensor([1.0, 2.0])),
        ([Tensor([1.0]), Tensor([2])], [np.array([1.0]), [2]]),
        ({"a": Tensor(1.0)}, {"a": 1.0}),
        (pair(Tensor(1.0), Tensor([2.0]), "a"), pair(1.0, [2.0], "a")),
        (Tensor([float("nan"), float("inf")]), [float("nan"), float("inf")]),
        (Tensor([]), np.zeros(0)),
        ((Tensor(1.0), None, "x"), (1.0, None, "x")),
        (Tensor([1, 2]), [1.0, 2.0]),
        (Tensor([True]), np.array([True])),
    ],
)
def test_equal_values_are_close_whatever_holds_them(actual: Any, expected: Any) -> None:
    assert_close(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (
            Tensor([[1.0, 2.0], [3.0, 4.0]]),
            [[1.0, 2.0], [3.25, 4.5]],
            "`actual` differs by 0.5 at [1, 1]: 4.0 instead of 4.5 (rtol 1.3e-06, atol 1e-05; "
            "2 of 4 elements differ).",
        ),
        (Tensor(1.0), 2.0, "`actual` differs by 1: 1.0 instead of 2.0 (rtol 1.3e-06, atol 1e-05)."),
        (Tensor([1.0]), [[1.0]], "`actual` has shape [1], expected shape [1, 1]."),
        (Tensor([1]), [2], "`actual` differs by 1 at [0]: 1 instead of 2 (rtol 0, atol 0)."),
        ([Tensor(1.0)], [1.0, 2.0], "`actual` has 1 items, expected 2 items."),
        ({"a": 1.0}, {"b": 1.0}, "`actual` has `a`, expected `b`."),
        (None, Tensor(1.0), "`actual` is None, expected a `Tensor`."),
        ("x", "y", "`actual` is 'x', expected 'y'."),
        (
            pair(Tensor(1.0), Tensor(2.0), "a"),
            pair(Tensor(1.0), Tensor(3.0), "a"),
            "`actual.right` differs by 1: 2.0 instead of 3.0 (rtol 1.3e-06, atol 1e-05).",
        ),
        (
            pair(Tensor(1.0), Tensor(2.0), "a"),
            pair(Tensor(1.0), Tensor(2.0), "b"),
            "`actual.label` is 'a', expected 'b'.",
        ),
        (
            Single(Tensor(1.0)),
            pair(Tensor(1.0), Tensor(2.0), "a"),
            "`actual` is a `Single`, expected a `Pair`.",
        ),
        (
            Tensor([1.0, float("nan")]),
            [1.0, 2.0],
            "`actual` differs by inf at [1]: nan instead of 2.0 (rtol 1.3e-06, atol 1e-05; 1 of 2 "
            "elements differ).",
        ),
        (
            Tensor([float("inf")]),
            [-float("inf")],
            "`actual` differs by inf at [0]: inf instead of -inf (rtol 1.3e-06, atol 1e-05).",
        ),
    ],
)
def test_a_difference_is_told_with_size_place_and_both_values(
    actual: Any, expected: Any, message: str
) -> None:
    with pytest.raises(AssertionError, match=f"^{re.escape(message)}$"):
        assert_close(actual, expected)


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [(float64, 1e-8, 1e-6), (float32, 1e-6, 1e-4), (float16, 1e-3, 1e-2)],
)
def test_the_tolerance_follows_the_dtype(dtype: Any, near: float, far: float) -> None:
    x = Tensor([1.0], dtype=dtype)
    assert_close(x, np.array([1.0 + near]))
    with pytest.raises(AssertionError, match="differs by"):
        assert_close(x, np.array([1.0 + far]))


def test_a_given_tolerance_counts() -> None:
    assert_close(Tensor([1.0]), [1.5], atol=0.5)
    assert_close(Tensor([1.0]), [1.5], rtol=0.4)
    with pytest.raises(AssertionError, match=r"rtol 0, atol 0\.25"):
        assert_close(Tensor([1.0]), [1.5], rtol=0.0, atol=0.25)


def test_brain_floats_are_compared_as_such() -> None:
    pytest.importorskip("torch")
    x = Tensor([1.0, 2.0], Device("libtorch"), dtype=bfloat16)
    assert_close(x, [1.01, 2.0])
    with pytest.raises(AssertionError, match="differs by"):
        assert_close(x, [1.1, 2.0])
