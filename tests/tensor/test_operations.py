"""The bridge to built-in operations: names that exist, and what is refused on the way."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

import firebrick.tensor
from firebrick import Device, Tensor
from firebrick.core import DispatchTensor
from firebrick.errors import KindError
from firebrick.extension import from_dispatch, into_dispatch
from firebrick.tensor.operations import FAMILIES, Operation


def declared() -> list[Operation]:
    """Every operation that a module of the package names."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(firebrick.tensor.__path__, "firebrick.tensor.")
    ]
    values = [value for module in modules for value in vars(module).values()]
    nested = [
        getattr(value, name, None)
        for value in values
        for name in ("tensor", "scalar", "total", "along")
    ]
    return [value for value in [*values, *nested] if isinstance(value, Operation)]


def test_every_named_operation_is_a_built_in_one() -> None:
    missing = [
        name
        for operation in declared()
        for kind, name in operation.names.items()
        if not any(hasattr(family, name) for family in FAMILIES[kind])
    ]
    assert len(declared()) > 100
    assert missing == []


def test_the_bridge_gives_the_same_tensor_back(device: Device) -> None:
    x = Tensor([1.0], device)
    inner = x.into_dispatch()
    assert isinstance(inner, DispatchTensor)
    assert Tensor.from_dispatch(inner).into_dispatch() is inner


def test_the_bridge_goes_through_containers(device: Device) -> None:
    x = Tensor([1.0], device)
    there: Any = into_dispatch({"a": [x, 1]})
    assert there["a"][0] is x.into_dispatch()
    assert isinstance(from_dispatch(there)["a"][0], Tensor)


def test_only_dispatched_tensors_are_wrapped(device: Device) -> None:
    wrong: Any = Tensor([1.0], device)
    with pytest.raises(
        KindError, match=r"`from_dispatch` takes the dispatched tensor .* got Tensor"
    ):
        Tensor.from_dispatch(wrong)


TAKING_TENSORS: dict[str, Callable[[Tensor, Any], Any]] = {
    "matmul": lambda x, other: x.matmul(other),
    "cat": lambda x, other: Tensor.cat([x, other]),
    "stack": lambda x, other: Tensor.stack([x, other]),
    "select": lambda x, other: x.select(0, other),
    "select_assign": lambda x, other: x.select_assign(0, x.int(), other),
    "gather": lambda x, other: x.gather(0, other),
    "scatter": lambda x, other: x.scatter(0, x.int(), other),
    "mask_where": lambda x, other: x.mask_where(x > 0, other),
    "mask_fill": lambda x, other: x.mask_fill(other, 0.0),
    "slice_assign": lambda x, other: x.slice_assign(0, other),
}


@pytest.mark.parametrize("name", TAKING_TENSORS)
def test_what_is_no_tensor_is_refused_with_the_way_to_make_one(name: str, flex: Device) -> None:
    with pytest.raises(KindError, match=rf"`{name}` takes tensors; got list: `Tensor\(data, dev"):
        TAKING_TENSORS[name](Tensor([0.0], flex), [1.0])


def test_a_refusal_names_the_kinds_and_the_remedy(device: Device) -> None:
    with pytest.raises(
        KindError,
        match=r"`exp` takes float tensors; got a tensor of kind int: call `\.float\(\)` first",
    ):
        Tensor([1], device).exp()
