"""Large elementwise operations of `flex`: bit for bit what one thread computes."""

from __future__ import annotations

import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.backends.array_backends import Array

from firebrick.backends.flex import Flex, chunks
from firebrick.backends.ndarray import NdArray
from firebrick.core import bool_

FLEX, ONE_THREAD = Flex(), NdArray()
LARGE = Flex.large
UNARY = ["exp", "log", "sin", "tanh", "erf", "sqrt", "neg"]
SIZES = [LARGE - 1, LARGE, LARGE + 1, 2 * LARGE + 7]


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> chunks.Threads:
    """A pool of three threads, whatever the machine has."""
    threads = chunks.Threads()
    threads.count = 3
    monkeypatch.setattr(chunks, "THREADS", threads)
    return threads


def large(size: int, seed: int = 0, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).normal(size=size).astype(dtype)


def assert_identical(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_function_of_one_array_is_that_of_one_thread(name: str, size: int, dtype: str) -> None:
    x = large(size, dtype=dtype)
    operation = f"float_{name}"
    assert_identical(getattr(FLEX, operation)(x), getattr(ONE_THREAD, operation)(x))


@pytest.mark.parametrize("shape", [(2 * LARGE,), (512, 1025), (1, LARGE + 1, 1)])
def test_functions_of_two_arrays_and_of_numbers_too(shape: tuple[int, ...]) -> None:
    x, y = (large(math.prod(shape), seed).reshape(shape) for seed in (1, 2))
    for name in ("float_mul", "float_div", "float_powf", "float_remainder"):
        assert_identical(getattr(FLEX, name)(x, y), getattr(ONE_THREAD, name)(x, y))
    assert_identical(FLEX.float_add_scalar(x, 0.1), ONE_THREAD.float_add_scalar(x, 0.1))
    assert_identical(FLEX.float_lower(x, y, bool_), ONE_THREAD.float_lower(x, y, bool_))


def test_integers_that_need_a_function_of_ours(three_threads: chunks.Threads) -> None:
    x = np.arange(-LARGE, LARGE, dtype=np.int64)
    y = x[::-1] % 7 - 3
    y = np.ascontiguousarray(y)
    assert_identical(FLEX.int_div(x, y), ONE_THREAD.int_div(x, y))
    assert_identical(FLEX.int_powi(x, y), ONE_THREAD.int_powi(x, y))
    assert_identical(FLEX.sigmoid(x / 9.0), ONE_THREAD.sigmoid(x / 9.0))
    assert_identical(FLEX.log_sigmoid(x / 9.0), ONE_THREAD.log_sigmoid(x / 9.0))


def test_arrays_that_broadcast_or_are_not_contiguous_are_not_split() -> None:
    x = large(2 * LARGE).reshape(2, LARGE)
    for rhs in (large(LARGE), np.asfortranarray(x), x[:, ::-1], x[:1], np.array(2.0, "float32")):
        assert_identical(FLEX.float_mul(x, rhs), ONE_THREAD.float_mul(x, rhs))
        assert_identical(FLEX.float_mul(rhs, x), ONE_THREAD.float_mul(rhs, x))


def test_one_processor_needs_no_threads(three_threads: chunks.Threads) -> None:
    three_threads.count = 1
    before = threading.active_count()
    x = large(LARGE)
    assert_identical(FLEX.float_exp(x), ONE_THREAD.float_exp(x))
    assert threading.active_count() == before


def test_small_operations_start_no_threads() -> None:
    before = threading.active_count()
    FLEX.float_exp(np.zeros(1000))
    assert threading.active_count() == before


@pytest.mark.filterwarnings("error")
def test_threads_do_not_warn_either() -> None:
    x = np.zeros(LARGE)
    assert np.isnan(FLEX.float_div(x, x)).all()
    assert np.isneginf(FLEX.float_log(x)).all()


def test_an_error_in_a_part_reaches_the_caller_and_the_next_call_works() -> None:
    x = np.zeros(LARGE)
    with pytest.raises(TypeError, match="ufunc"):
        FLEX.binary(np.bitwise_and, x, x)
    assert FLEX.float_add_scalar(x, 1.0).sum() == LARGE


def test_many_threads_may_call_at_once() -> None:
    x = large(LARGE)
    expected = ONE_THREAD.float_exp(x)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(FLEX.float_exp, [x] * 40):
            assert_identical(found, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    x = large(LARGE)
    FLEX.float_exp(x)
    child = os.fork()
    if child == 0:
        right = np.array_equal(FLEX.float_exp(x), ONE_THREAD.float_exp(x))
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
