"""Sizes, and the arithmetic on them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebrick.core import Shape, broadcast_shapes, normalize_dim
from firebrick.errors import ShapeError

SIZES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def test_a_shape_is_equal_to_a_tuple() -> None:
    assert Shape((2, 3)) == (2, 3)
    assert repr(Shape((2, 3))) == "Shape([2, 3])"


@given(sizes=SIZES)
def test_the_number_of_elements_is_the_product(sizes: tuple[int, ...]) -> None:
    assert Shape(sizes).num_elements() == np.empty(sizes).size


def test_two_dimensions_are_swapped() -> None:
    assert Shape((2, 3, 4)).swap(0, -1) == (4, 3, 2)


def test_one_dimension_is_replaced() -> None:
    assert Shape((2, 3, 4)).replace(-2, 7) == (2, 7, 4)
    assert isinstance(Shape((2,)).replace(0, 1), Shape)


@given(ndim=st.integers(1, 5), dim=st.integers(-5, 4))
def test_dimensions_count_from_either_end(ndim: int, dim: int) -> None:
    if -ndim <= dim < ndim:
        assert normalize_dim(dim, ndim) == range(ndim)[dim]
    else:
        with pytest.raises(ShapeError, match=f"dimension {dim} does not exist in a tensor"):
            normalize_dim(dim, ndim)


def test_a_0d_tensor_has_no_dimension() -> None:
    with pytest.raises(ShapeError, match="dimension 0 does not exist: the tensor is 0-d"):
        normalize_dim(0, 0)


@given(shapes=st.lists(SIZES, max_size=3))
def test_shapes_broadcast_as_in_numpy(shapes: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ShapeError, match=r"shapes .* do not broadcast: sizes \d and \d meet i"):
            broadcast_shapes(*shapes)
    else:
        assert broadcast_shapes(*shapes) == expected


def test_shapes_that_do_not_broadcast_are_listed() -> None:
    message = r"shapes \[2, 3\] and \[4\] do not broadcast: sizes 3 and 4 meet in dimension -1; siz"
    with pytest.raises(ShapeError, match=message):
        broadcast_shapes((2, 3), (4,))
