"""What holds for every built-in operation on the array backends, over the table of cases.

Metadata against execution, default bodies against NumPy, and what an operation must not do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.backends.operation_cases import Array, all_cases, flat

from firebrick.backend import BUILTIN_OP_SETS, Backend
from firebrick.backends.flex import Flex
from firebrick.backends.ndarray import NdArray
from firebrick.core import TensorSpec, from_numpy_dtype
from firebrick.opset import Operation, mismatch, output_specs
from firebrick.opset.metadata import check_form
from firebrick.opset.nodes import TensorNode

OPERATIONS: dict[str, Operation] = {
    name: operation
    for op_set in BUILTIN_OP_SETS
    for name, operation in op_set.__operations__.items()
}
CASES = list(flat())
DESCRIBED = [case for case in CASES if (form := OPERATIONS[case[0]].form) and form.name != "sync"]
RANDOM = {name for name in OPERATIONS if name.endswith(("_random", "_empty"))}
RTOL = 1e-12
"""In float64, of a default body that composes several operations."""


class Composed(NdArray):
    """NumPy for the operations that need an implementation, default bodies for all others."""

    name = "composed"


for _operation in OPERATIONS.values():
    if _operation.has_default:
        setattr(Composed, _operation.name, _operation.function)

NDARRAY, FLEX, COMPOSED = NdArray(), Flex(), Composed()


@pytest.fixture(params=[NDARRAY, FLEX, COMPOSED], ids=str, scope="module")
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def spec_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return TensorSpec(value.shape, from_numpy_dtype(value.dtype))
    return [spec_of(item) for item in value] if isinstance(value, list) else value


def specs(name: str, arguments: tuple[Any, ...]) -> Any:
    operation = OPERATIONS[name]
    named = zip(operation.parameters, arguments, strict=True)
    return output_specs(
        operation,
        {p.name: v if name.endswith("from_data") else spec_of(v) for p, v in named},
    )


def mapped(function: Callable[[Array], Array], value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, list):
        return [mapped(function, item) for item in value]
    return value


def arrays_in(value: Any) -> list[Array]:
    if isinstance(value, np.ndarray):
        return [value]
    items = value if isinstance(value, list | tuple) else []
    return [array for item in items for array in arrays_in(item)]


def run(backend: Any, name: str, arguments: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return getattr(backend, name)(*arguments)


def assert_same(found: Any, expected: Any, rtol: float = 0.0) -> None:
    for left, right in zip(arrays_in([found]), arrays_in([expected]), strict=True):
        assert left.shape == right.shape
        assert left.dtype == right.dtype
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)


def strided(array: Array) -> Array:
    """Equal values that lie apart, in reversed order."""
    if array.ndim == 0:
        return array
    apart = np.zeros(tuple(2 * size for size in array.shape), array.dtype)
    view = apart[tuple(slice(None, None, -2) for _ in array.shape)]
    view[...] = array
    return view


def test_every_operation_has_a_case() -> None:
    assert set(all_cases()) == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_a_signature_and_one_form(name: str) -> None:
    operation = OPERATIONS[name]
    operation.validate()
    check_form(operation, required=True)
    assert operation.form is not None


@pytest.mark.parametrize(("name", "arguments"), DESCRIBED)
def test_the_form_says_what_comes_out(backend: Any, name: str, arguments: tuple[Any, ...]) -> None:
    found = run(backend, name, arguments)
    declared = specs(name, arguments)
    assert mismatch(declared, found, OPERATIONS[name].returns, spec_of) is None


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_results_are_arrays_and_inputs_stay_as_they_are(
    backend: Any, name: str, arguments: tuple[Any, ...]
) -> None:
    before = [array.copy() for array in arrays_in(arguments)]
    found = run(backend, name, arguments)
    outputs = found if isinstance(found, tuple) else (found,)
    assert all(type(output) is np.ndarray for output in outputs) or name.endswith("is_require_grad")
    for array, copy in zip(arrays_in(arguments), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_default_body_computes_what_numpy_does(name: str, arguments: tuple[Any, ...]) -> None:
    if OPERATIONS[name].has_default and name not in RANDOM:
        expected = run(NDARRAY, name, arguments)
        assert_same(run(COMPOSED, name, arguments), expected, rtol=RTOL)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_flex_computes_bit_for_bit_what_ndarray_does(name: str, arguments: tuple[Any, ...]) -> None:
    if name not in RANDOM:
        assert_same(run(FLEX, name, arguments), run(NDARRAY, name, arguments))


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_layout_in_memory_does_not_matter(name: str, arguments: tuple[Any, ...]) -> None:
    if name not in RANDOM:
        moved = tuple(mapped(strided, argument) for argument in arguments)
        assert_same(run(NDARRAY, name, moved), run(NDARRAY, name, arguments), rtol=RTOL)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_only_declared_views_share_memory_with_an_input(
    backend: Any, name: str, arguments: tuple[Any, ...]
) -> None:
    declared = OPERATIONS[name].views
    found = run(backend, name, arguments)
    tensors = [p for p in OPERATIONS[name].parameters if isinstance(p.node, TensorNode)]
    by_name = dict(zip([p.name for p in OPERATIONS[name].parameters], arguments, strict=True))
    for parameter in tensors:
        value = by_name[parameter.name]
        shared = any(output is not value and np.shares_memory(output, value) for output in
                     arrays_in([found]))  # fmt: skip
        assert not shared or parameter.name in declared or name.endswith("into_data")


def test_a_backend_is_its_own_backend_and_no_decorator() -> None:
    from firebrick.errors import DispatchError

    assert NDARRAY.backend is NDARRAY
    assert isinstance(NDARRAY, Backend)
    with pytest.raises(DispatchError, match="`ndarray` is not a decorator"):
        _ = NDARRAY.inner
