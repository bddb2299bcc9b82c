"""`tensor[...]`, by NumPy's rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices
from tests.tensor.oracle import Array, assert_matches, floats, tensor

from firebrick import Device, Tensor, int8, int64, uint8, uint64
from firebrick.errors import FirebrickError, KindError, ShapeError

CUBE = np.arange(60.0).reshape(3, 4, 5)


@given(values=floats(max_dims=3), data=st.data())
def test_basic_indexing_is_numpys(device: Device, values: Array, data: Any) -> None:
    index = data.draw(basic_indices(values.shape, allow_newaxis=True))
    assert_matches(tensor(values, device)[index], values[index])


@pytest.mark.parametrize("dtype", [np.int32, np.bool_])
@pytest.mark.parametrize(
    "index",
    [0, slice(None, None, -1), (..., -1), (slice(2, 0, -2), None, 1), (1, 2, 3), (), ..., None],
)
def test_every_kind_is_indexed(index: Any, dtype: Any, device: Device) -> None:
    values = CUBE.astype(dtype)
    assert_matches(tensor(values, device)[index], values[index])


ROWS = np.array([[2, 0], [-1, 1]])
COLUMNS = np.array([3, -4])
MASK = CUBE[0, :, 0] > 3
CASES: dict[str, Any] = {
    "rows": (ROWS,),
    "one row": (np.array(1),),
    "no row": (np.zeros(0, np.int64),),
    "rows after a slice": (slice(None), COLUMNS),
    "rows after a reversed slice": (slice(None, None, -1), COLUMNS, slice(1, 3)),
    "rows at the end": (..., COLUMNS),
    "an int beside rows": (0, COLUMNS),
    "rows beside an int": (COLUMNS % 3, 1),
    "an int apart from rows": (0, slice(None), COLUMNS),
    "an int and None apart from rows": (0, None, COLUMNS),
    "rows beside None": (None, ROWS, None),
    "two tensors": (COLUMNS % 3, COLUMNS),
    "two tensors that broadcast": (ROWS, COLUMNS),
    "two tensors after a slice": (slice(1, None), COLUMNS, COLUMNS),
    "two tensors apart": (COLUMNS % 3, slice(None), COLUMNS),
    "two tensors and an int": (ROWS, 1, COLUMNS),
    "three tensors": (ROWS, COLUMNS, COLUMNS),
    "a mask of the whole": (CUBE % 3 == 0,),
    "a mask of the first dimension": (CUBE[:, 0, 0] > 20,),
    "a mask of a middle dimension": (slice(None), MASK),
    "a mask of two dimensions": (CUBE[:, :, 0] % 2 == 0,),
    "a mask after an int": (1, MASK),
    "a mask apart from an int": (slice(None), MASK, 2),
    "a mask of the last dimensions": (1, CUBE[1] % 2 == 0),
    "a mask without a true": (np.zeros(3, np.bool_),),
}


def as_lists(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index with lists for arrays; an empty or 0-d list would say nothing of its dtype."""
    return tuple(i.tolist() if hasattr(i, "tolist") and i.size > 1 else i for i in index)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_tensors_in_an_index_pick_what_arrays_pick(name: str, dtype: Any, device: Device) -> None:
    index, values = CASES[name], (CUBE % 7).astype(dtype)
    asked = tuple(tensor(i, device) if isinstance(i, np.ndarray) else i for i in index)
    assert_matches(tensor(values, device)[asked], values[index])
    # Arrays and lists are taken for what they hold.
    assert_matches(tensor(values, device)[index], values[index])
    assert_matches(tensor(values, device)[as_lists(index)], values[index])


def test_an_index_of_any_int_dtype(device: Device) -> None:
    x = tensor(np.arange(300), device)
    assert x[Tensor([-1, 127], device, dtype=int8)].tolist() == [299, 127]
    assert x[Tensor([255], device, dtype=uint8)].tolist() == [255]
    assert x[Tensor([-300], device, dtype=int64)].tolist() == [0]
    assert x[[]].shape == (0,)


def test_an_unsigned_index_is_counted_from_the_front(flex: Device) -> None:
    x = tensor(np.arange(3.0), flex)
    assert x[Tensor([2, 0], flex, dtype=uint64)].tolist() == [2.0, 0.0]


def test_a_0d_int_tensor_is_an_index_and_a_bound(device: Device) -> None:
    x, one = tensor([5.0, 6.0, 7.0], device), Tensor(1, device)
    assert x[one].tolist() == 6.0
    assert x[one:].tolist() == [6.0, 7.0]
    assert [10, 20][one] == 20


def test_iterating_gives_the_rows(device: Device) -> None:
    x = tensor(CUBE, device)
    assert len(x) == 3
    for row, expected in zip(x, CUBE, strict=True):
        assert_matches(row, expected)


def test_a_0d_tensor_has_no_rows(device: Device) -> None:
    x = Tensor(1.0, device)
    with pytest.raises(TypeError, match="0-d tensor has no length"):
        len(x)
    with pytest.raises(TypeError, match="nothing to iterate over"):
        iter(x)


REFUSED: dict[str, tuple[Any, str]] = {
    "an int too large": (3, r"index 3 is out of range: dimension 0 has 3 elements; .* -3 to 2"),
    "an int too small": ((0, -5), "index -5 is out of range: dimension 1 has 4"),
    "too many": ((0, 0, 0, 0), r"names 4 dimensions; the tensor has 3: \[0, 0, 0, 0\]"),
    "too many of all sorts": (
        (slice(1, 2), None, slice(None, None, 2), 0, [0]),
        r"names 4 dimensions; .*: \[1:2, None, ::2, 0, int.. tensor\]",
    ),
    "two ellipses": ((..., 0, ...), r"at most one `\.\.\.`; got \[\.\.\., 0, \.\.\.\]"),
    "a step of zero": (slice(None, None, 0), "the step of a slice is not 0"),
    "a mask of another shape": ([True, False], r"got \[2\] for dimensions of sizes \[3\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_index_that_does_not_fit_is_refused(name: str, device: Device) -> None:
    index, message = REFUSED[name]
    with pytest.raises(ShapeError, match=message):
        tensor(CUBE, device)[index]


@pytest.mark.parametrize("index", ["a", 1.0, True, [1.5], (0, "a")])
def test_an_index_of_another_type_is_refused(index: Any, device: Device) -> None:
    with pytest.raises(KindError, match=r"an index has ints|has ints or bools"):
        tensor(CUBE, device)[index]


def test_float_tensors_and_mixed_masks_are_no_index(device: Device) -> None:
    x, mask = tensor(CUBE, device), tensor(CUBE[:, 0, 0] > 1, device)
    with pytest.raises(KindError, match="is an int tensor, or a bool tensor"):
        x[tensor([1.0], device)]
    with pytest.raises(KindError, match="a bool tensor among 2 tensors"):
        x[mask, tensor([1], device)]


@pytest.mark.parametrize("index", [[3], [-4], [0, -7]])
def test_positions_that_do_not_exist_are_refused(index: list[int], device: Device) -> None:
    x = tensor(CUBE, device)
    with pytest.raises((FirebrickError, IndexError)):
        x[tensor(index, device)].numpy()
    with pytest.raises((FirebrickError, IndexError)):
        x[tensor(index, device), tensor([0], device)].numpy()


def test_a_tensor_cannot_be_written(device: Device) -> None:
    x: Any = Tensor([1.0], device)
    with pytest.raises(TypeError, match="does not support item assignment"):
        x[0] = 2.0
