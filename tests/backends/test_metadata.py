"""What holds for every built-in operation on the array backends, over the table of cases.

Metadata against execution, default bodies against NumPy, and what an operation must not do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.backends.operation_cases import Array, all_cases

from firebrick.backend import BUILTIN_OP_SETS, Backend
from firebrick.backends.flex import Flex
from firebrick.backends.ndarray import NdArray
from firebrick.core import TensorSpec, from_numpy_dtype
from firebrick.errors import DispatchError
from firebrick.opset import Operation, mismatch, output_specs
from firebrick.opset.metadata import check_form
from firebrick.opset.nodes import TensorNode

OPERATIONS: dict[str, Operation] = {
    name: operation
    for op_set in BUILTIN_OP_SETS
    for name, operation in op_set.__operations__.items()
}
CASES = all_cases()
DESCRIBED = [n for n, o in OPERATIONS.items() if o.form is not None and o.form.name != "sync"]
FIXED = [name for name in OPERATIONS if not name.endswith(("_random", "_empty"))]
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


def spec_of(array: Any) -> TensorSpec:
    return TensorSpec(array.shape, from_numpy_dtype(array.dtype))


def specs(name: str, arguments: tuple[Any, ...]) -> Any:
    operation = OPERATIONS[name]
    named = zip(operation.parameters, arguments, strict=True)
    return output_specs(
        operation,
        {p.name: v if name.endswith("from_data") else mapped(spec_of, v) for p, v in named},
    )


def items_of(value: Any, *containers: type) -> Any:
    """What a container of one of these types holds; nothing for anything else."""
    return value if type(value) in containers else ()


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """`value` with `function` applied to the array, or to those in the list, that it is."""
    if isinstance(value, np.ndarray):
        return function(value)
    return [mapped(function, item) for item in items_of(value, list)] or value


def arrays_in(value: Any) -> list[Array]:
    if isinstance(value, np.ndarray):
        return [value]
    return [array for item in items_of(value, list, tuple) for array in arrays_in(item)]


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
    assert set(CASES) == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_a_signature_and_one_form(name: str) -> None:
    operation = OPERATIONS[name]
    operation.validate()
    check_form(operation, required=True)
    assert operation.form is not None


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_form_says_what_comes_out(backend: Any, name: str) -> None:
    for arguments in CASES[name]:
        found = run(backend, name, arguments)
        declared = specs(name, arguments)
        assert mismatch(declared, found, OPERATIONS[name].returns, spec_of) is None


@pytest.mark.parametrize("name", OPERATIONS)
def test_inputs_stay_as_they_are(backend: Any, name: str) -> None:
    for arguments in CASES[name]:
        before = [array.copy() for array in arrays_in(arguments)]
        run(backend, name, arguments)
        for array, copy in zip(arrays_in(arguments), before, strict=True):
            np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", DESCRIBED)
def test_results_are_arrays_even_where_they_are_0_d(backend: Any, name: str) -> None:
    for arguments in CASES[name]:
        found = run(backend, name, arguments)
        outputs = items_of(found, tuple) or (found,)
        assert [type(output) for output in outputs] == [np.ndarray] * len(outputs)


@pytest.mark.parametrize("name", [n for n in FIXED if OPERATIONS[n].has_default])
def test_the_default_body_computes_what_numpy_does(name: str) -> None:
    for arguments in CASES[name]:
        expected = run(NDARRAY, name, arguments)
        assert_same(run(COMPOSED, name, arguments), expected, rtol=RTOL)


@pytest.mark.parametrize("name", FIXED)
def test_flex_computes_bit_for_bit_what_ndarray_does(name: str) -> None:
    for arguments in CASES[name]:
        assert_same(run(FLEX, name, arguments), run(NDARRAY, name, arguments))


@pytest.mark.parametrize("name", FIXED)
def test_layout_in_memory_does_not_matter(name: str) -> None:
    for arguments in CASES[name]:
        moved = tuple(mapped(strided, argument) for argument in arguments)
        assert_same(run(NDARRAY, name, moved), run(NDARRAY, name, arguments), rtol=RTOL)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if not name.endswith("into_data")])
def test_only_declared_views_share_memory_with_an_input(backend: Any, name: str) -> None:
    operation = OPERATIONS[name]
    for arguments in CASES[name]:
        outputs = arrays_in([run(backend, name, arguments)])
        for parameter, value in zip(operation.parameters, arguments, strict=True):
            if isinstance(parameter.node, TensorNode) and parameter.name not in operation.views:
                apart = [output for output in outputs if output is not value]
                assert not any(np.shares_memory(output, value) for output in apart)


def test_a_backend_is_its_own_backend_and_no_decorator() -> None:
    assert NDARRAY.backend is NDARRAY
    assert isinstance(NDARRAY, Backend)
    with pytest.raises(DispatchError, match="`ndarray` is not a decorator"):
        _ = NDARRAY.inner
