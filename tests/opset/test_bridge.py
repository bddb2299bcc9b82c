"""From user tensors to dispatched ones and back, in any nesting."""

# Nests of anything are taken apart here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from tests.opset.calling import floats

from firebrick import Device, Tensor
from firebrick.core import DispatchTensor
from firebrick.extension import ExtensionType, FloatTensor, P, from_dispatch, into_dispatch
from firebrick.opset import is_user_tensor


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    rest: Any | None = None


class Pair(NamedTuple):
    one: Any
    other: Any


TENSOR = floats([1.0, 2.0], Device.flex())
PLAIN = st.one_of(st.none(), st.integers(), st.text(max_size=3))
NESTS = st.recursive(
    st.one_of(PLAIN, st.just(TENSOR)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.tuples(inner, inner).map(lambda items: Pair(*items)),
        inner.map(lambda item: Boxes(TENSOR, [item])),
    ),
    max_leaves=8,
)


def shape(value: Any) -> Any:
    """A value with every tensor, of either sort, replaced by a mark."""
    if isinstance(value, Tensor | DispatchTensor):
        return "tensor"
    if isinstance(value, Boxes):
        boxes: Boxes[Any] = value
        return (Boxes, shape(boxes.coords), shape(boxes.rest))
    if isinstance(value, list | tuple):
        items: Any = value
        return (type(items), [shape(item) for item in items])
    if isinstance(value, dict):
        entries: Any = value
        return {key: shape(item) for key, item in entries.items()}
    return value


def tensors(value: Any) -> list[Any]:
    if isinstance(value, Tensor | DispatchTensor):
        return [value]
    if isinstance(value, Boxes):
        boxes: Boxes[Any] = value
        return [*tensors(boxes.coords), *tensors(boxes.rest)]
    parts: Any = value if isinstance(value, list | tuple | dict) else ()
    items = parts.values() if isinstance(parts, dict) else parts
    return [t for item in items for t in tensors(item)]


@given(value=NESTS)
def test_every_user_tensor_becomes_a_dispatched_one_and_back(value: Any) -> None:
    dispatched = into_dispatch(value)
    assert shape(dispatched) == shape(value)
    assert all(type(t) is DispatchTensor for t in tensors(dispatched))
    back = from_dispatch(dispatched)
    assert shape(back) == shape(value)
    assert all(isinstance(t, Tensor) for t in tensors(back))


@given(value=NESTS)
def test_a_container_without_tensors_passes_by_identity(value: Any) -> None:
    if not tensors(value):
        assert into_dispatch(value) is value
        assert from_dispatch(value) is value


def test_a_part_without_tensors_passes_by_identity() -> None:
    plain = [1, 2, {"a": 3}]
    converted = into_dispatch({"x": TENSOR, "plain": plain})
    assert converted["plain"] is plain


def test_a_struct_is_rebuilt_without_being_initialized() -> None:
    class Counted(ExtensionType[P]):
        x: FloatTensor[P]

        def __post_init__(self) -> None:
            built.append(self)

    built: list[Any] = []
    value: Counted[Any] = Counted(TENSOR)
    assert from_dispatch(into_dispatch(value)).x.tolist() == [1.0, 2.0]
    assert built == [value]


def test_a_subclass_of_dict_with_tensors_becomes_a_dict() -> None:
    converted = into_dispatch(OrderedDict(a=TENSOR))
    assert type(converted) is dict


def test_only_user_tensors_are_user_tensors() -> None:
    assert is_user_tensor(TENSOR)
    assert not is_user_tensor(TENSOR.into_dispatch())
    assert not is_user_tensor(3)
