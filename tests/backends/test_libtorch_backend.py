"""The PyTorch backend before it computes: import, devices, host data, constants, random values."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from tests.backends.libtorch_values import (
    BACKEND,
    DEVICES,
    FLOATS,
    INF,
    INTS,
    NAN,
    Array,
    assert_same,
    put,
    sample,
    torch,
    values,
)

from firebrick import core
from firebrick.backend import BUILTIN_OP_SETS
from firebrick.backends.libtorch import LibTorch
from firebrick.backends.libtorch.lazy import LazyModule
from firebrick.core import Device, Distribution, DType
from firebrick.errors import BackendUnavailableError, DTypeError, KindError


@pytest.fixture(params=DEVICES, ids=str, scope="module")
def device(request: pytest.FixtureRequest) -> Device:
    return request.param


# ---- importing -------------------------------------------------------------------------------


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_backend_does_not_import_torch() -> None:
    code = "import sys, firebrick.backends.libtorch; print('torch' in sys.modules)"
    assert run_python(code) == "False\n"


def test_making_an_instance_imports_torch() -> None:
    code = (
        "import sys\n"
        "from firebrick.backends.libtorch import LibTorch\n"
        "LibTorch()\n"
        "print('torch' in sys.modules)"
    )
    assert run_python(code) == "True\n"


def test_a_missing_package_is_named_with_its_extra() -> None:
    missing = LazyModule("no_such_package_here", extra="firebrick[torch]")
    with pytest.raises(BackendUnavailableError, match=r"pip install 'firebrick\[torch\]'"):
        _ = missing.Tensor


def test_a_lazy_module_keeps_what_was_looked_up() -> None:
    lazy = LazyModule("math", extra="none")
    assert lazy.pi is math.pi
    assert vars(lazy)["pi"] is math.pi


def test_inspecting_a_lazy_module_does_not_import_it() -> None:
    lazy = LazyModule("no_such_package_here", extra="none")
    assert not hasattr(lazy, "__wrapped__")


# ---- operations, devices and tensors ---------------------------------------------------------


def test_every_operation_is_implemented_but_the_marks_of_differentiation() -> None:
    inherited = {
        name
        for op_set in BUILTIN_OP_SETS
        for name in op_set.__operations__
        if getattr(LibTorch, name) is getattr(op_set, name)
    }
    assert inherited == {"float_detach", "float_set_require_grad", "float_is_require_grad"}


def test_the_processor_is_the_first_device() -> None:
    assert BACKEND.devices()[0] == Device.of("libtorch", "cpu")


def test_every_cuda_device_is_listed() -> None:
    listed = [found.index for found in BACKEND.devices() if found.place == "cuda"]
    assert listed == list(range(torch.cuda.device_count()))


def test_a_device_that_is_not_here_is_refused() -> None:
    with pytest.raises(BackendUnavailableError, match="usable are `libtorch:cpu`"):
        BACKEND.float_zeros((2,), Device.of("libtorch", "cuda", 63), core.float32)


def test_a_tensor_tells_its_device_and_dtype(device: Device) -> None:
    x = put([1.0], device, "float32")
    assert BACKEND.device_of(x) == device
    assert BACKEND.dtype_of(x) is core.float32


def test_kinds_follow_from_torchs_dtypes(device: Device) -> None:
    assert BACKEND.kind_of(put([1.0], device)) == "float"
    assert BACKEND.kind_of(put([1], device)) == "int"
    assert BACKEND.kind_of(put([True], device)) == "bool"


def test_default_dtypes_are_torchs(device: Device) -> None:
    defaults = BACKEND.default_dtypes(device)
    assert defaults == {"float": core.float32, "int": core.int64, "bool": core.bool_}


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_wide_unsigned_ints_are_not_supported(device: Device, name: str) -> None:
    assert not BACKEND.supports_dtype(device, core.dtype(name))
    with pytest.raises(DTypeError, match=f"cannot compute with {name}"):
        BACKEND.int_from_data(np.zeros(2, name), device)


@pytest.mark.parametrize("name", [*FLOATS, "bfloat16", *INTS, "bool"])
def test_other_dtypes_are_supported(device: Device, name: str) -> None:
    assert BACKEND.supports_dtype(device, core.dtype(name))
    zeros = getattr(BACKEND, f"{core.dtype(name).kind}_zeros")
    assert BACKEND.dtype_of(zeros((2,), device, core.dtype(name))).name == name


def test_a_tensor_of_the_user_that_requires_a_gradient_is_cut_from_its_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    assert not BACKEND.adopt(x * 2).requires_grad
    plain = torch.ones(2)
    assert BACKEND.adopt(plain) is plain


def test_views_share_memory_and_copies_do_not(device: Device) -> None:
    x = put(np.arange(6.0), device)
    assert BACKEND.shares_memory(x, BACKEND.float_slice(x, [slice(2, 4)]))
    assert not BACKEND.shares_memory(x[:2], x[2:])
    assert not BACKEND.shares_memory(x, BACKEND.float_add_scalar(x, 1.0))
    assert not BACKEND.shares_memory(x, x[:0])
    assert not BACKEND.shares_memory(x[::2], x[1::2])
    assert BACKEND.shares_memory(x[::2], x[::3])


def test_waiting_for_a_device_returns(device: Device) -> None:
    BACKEND.sync(device)


# ---- host data -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, "bool"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_host_data_comes_back_as_it_was(device: Device, dtype: str, shape: tuple[int, ...]) -> None:
    array = sample(shape, dtype, 0.0, 9.0)
    assert_same(put(array, device), array, dtype)


@pytest.mark.filterwarnings("error")
def test_read_only_data_is_copied_without_a_warning(device: Device) -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    assert_same(put(array, device), [0.0, 1.0, 2.0])


def backward(array: Array) -> Array:
    return array[::-1]


def swapped_bytes(array: Array) -> Array:
    return array.astype(">f8")


def every_second(array: Array) -> Array:
    return array[:, ::2]


@pytest.mark.parametrize("make", [backward, swapped_bytes, every_second])
def test_data_in_any_layout_is_taken(device: Device, make: Callable[[Array], Array]) -> None:
    array = make(np.arange(12.0).reshape(3, 4))
    assert_same(put(array, device), array)


def test_changing_the_source_changes_no_tensor(device: Device) -> None:
    array = np.zeros(2)
    x = put(array, device)
    array[0] = 9.0
    assert_same(x, [0.0, 0.0])


def test_values_on_the_host_cannot_be_written(device: Device) -> None:
    assert not values(put([1.0], device)).flags.writeable


def test_bfloat16_is_computed_but_not_read(device: Device) -> None:
    x = BACKEND.float_cast(put([1.5, 2.5], device, "float32"), core.bfloat16)
    doubled = BACKEND.float_add(x, x)
    assert BACKEND.dtype_of(doubled) is core.bfloat16
    with pytest.raises(DTypeError, match="cast to float32"):
        BACKEND.float_into_data(doubled)
    assert_same(BACKEND.float_cast(doubled, core.float32), [3.0, 5.0])


def test_moving_to_the_same_device_returns_the_input(device: Device) -> None:
    x = put([1.0], device)
    assert BACKEND.float_to_device(x, device) is x


def test_moving_keeps_values(device: Device) -> None:
    there = BACKEND.float_to_device(put([1.0, 2.0], Device.of("libtorch", "cpu")), device)
    assert BACKEND.device_of(there) == device
    assert_same(there, [1.0, 2.0])


# ---- creation --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value"), [("zeros", 0), ("ones", 1)])
def test_constants_have_their_shape_and_dtype(device: Device, name: str, value: int) -> None:
    for kind, dtype in (("float", core.float16), ("int", core.int8), ("bool", core.bool_)):
        made = getattr(BACKEND, f"{kind}_{name}")((2, 0, 3), device, dtype)
        assert_same(made, np.full((2, 0, 3), value, dtype.name), dtype.name)
        made = getattr(BACKEND, f"{kind}_{name}")((), device, dtype)
        assert_same(made, np.full((), value, dtype.name), dtype.name)


def test_a_dtype_or_data_of_another_kind_is_refused(device: Device) -> None:
    with pytest.raises(KindError, match="of kind float; got int8"):
        BACKEND.float_zeros((2,), device, core.int8)
    with pytest.raises(KindError, match="of kind int; got float32"):
        BACKEND.float_into_int(put([1.0], device), core.float32)
    with pytest.raises(KindError, match="of kind bool; got an array of int64"):
        BACKEND.bool_from_data(np.zeros(2, np.int64), device)


def test_empty_tensors_have_their_shape_and_dtype(device: Device) -> None:
    made = BACKEND.float_empty((2, 3), device, core.float16)
    assert (tuple(made.shape), BACKEND.dtype_of(made)) == ((2, 3), core.float16)


def test_a_constant_that_a_float_dtype_does_not_hold_is_infinite(device: Device) -> None:
    assert_same(BACKEND.float_full((2,), -1e10, device, core.float16), [-INF, -INF])
    assert_same(BACKEND.float_full((), 65519, device, core.float16), 65504.0)
    assert_same(BACKEND.float_full((), NAN, device, core.float16), NAN)


def test_a_constant_that_an_int_dtype_does_not_hold_is_refused(device: Device) -> None:
    assert_same(BACKEND.int_full((2,), 7, device, core.uint8), [7, 7], "uint8")
    with pytest.raises(DTypeError, match="int8, which holds whole numbers from -128 to 127"):
        BACKEND.int_full((2,), 300, device, core.int8)


RANGES = [range(5), range(3, 3), range(5, 2, -1), range(0, 7, 3), range(9, 0)]


@pytest.mark.parametrize("numbers", RANGES)
def test_ranges_are_pythons(device: Device, numbers: range) -> None:
    made = BACKEND.int_arange(numbers, device, core.int32)
    assert_same(made, np.array(list(numbers), np.int32), "int32")
    made = BACKEND.int_arange_step(numbers, 2, device, core.int64)
    assert_same(made, np.array(list(numbers)[::2], np.int64), "int64")


def test_ranges_reach_the_ends_of_64_bits(device: Device) -> None:
    for numbers in (range(2**63 - 3, 2**63), range(-(2**63), 2**63 - 1, 2**64 - 2**33)):
        made = BACKEND.int_arange(numbers, device, core.int64)
        assert_same(made, np.array(list(numbers), np.int64), "int64")


def test_a_range_beyond_the_dtype_is_refused(device: Device) -> None:
    with pytest.raises(DTypeError, match="got 199"):
        BACKEND.int_arange(range(200), device, core.int8)


def test_kinds_convert(device: Device) -> None:
    b, x = BACKEND, put([1.9, -1.9, 0.0], device)
    assert_same(b.float_into_int(x, core.int32), [1, -1, 0], "int32")
    assert_same(b.int_into_float(put([1, -2], device), core.float16), [1.0, -2.0], "float16")
    assert_same(b.int_cast(put([300], device), core.uint8), [44], "uint8")
    assert_same(b.bool_into_int(put([True, False], device), core.int8), [1, 0], "int8")
    assert_same(b.bool_into_float(put([True, False], device), core.float32), [1, 0], "float32")


# ---- random ----------------------------------------------------------------------------------


def test_a_seed_makes_random_values_repeatable(device: Device) -> None:
    def draw() -> list[float]:
        drawn = BACKEND.float_random((8,), Distribution.normal(), device, core.float32)
        return values(drawn).tolist()

    BACKEND.seed(device, 42)
    first = draw()
    assert draw() != first
    BACKEND.seed(device, 42)
    assert draw() == first


@pytest.mark.parametrize("seed", [-1, 2**64 - 1, 2**80])
def test_any_integer_is_a_seed(device: Device, seed: int) -> None:
    BACKEND.seed(device, seed)
    assert 0 <= float(BACKEND.float_random((), Distribution.default(), device, core.float32)) < 1


@pytest.mark.parametrize("name", [*FLOATS, "bfloat16"])
def test_uniform_floats_stay_below_the_upper_end(device: Device, name: str) -> None:
    for distribution in (Distribution.uniform(2.0, 3.0), Distribution.default()):
        low = 2.0 if distribution.family == "uniform" else 0.0
        drawn = BACKEND.float_random((20000,), distribution, device, core.dtype(name))
        assert BACKEND.dtype_of(drawn).name == name
        found = values(BACKEND.float_cast(drawn, core.float64))
        assert found.min() >= low
        assert found.max() < low + 1
        # 20000 draws: the standard deviation of the mean is 0.002.
        assert abs(found.mean() - low - 0.5) < 0.02


def test_normal_values_have_their_mean_and_deviation(device: Device) -> None:
    drawn = BACKEND.float_random((40000,), Distribution.normal(3.0, 2.0), device, core.float64)
    found = values(drawn)
    assert abs(found.mean() - 3.0) < 0.1
    assert abs(found.std() - 2.0) < 0.1


def test_bernoulli_values_are_0_or_1(device: Device) -> None:
    for make, dtype in ((BACKEND.float_random, core.float32), (BACKEND.int_random, core.int32)):
        found = values(make((4000,), Distribution.bernoulli(0.25), device, dtype))
        assert set(found.tolist()) == {0, 1}
        assert abs(found.mean() - 0.25) < 0.05


@pytest.mark.parametrize(
    ("dtype", "greatest"), [(core.int64, 255), (core.uint8, 255), (core.int8, 127)]
)
def test_default_ints_go_to_255_or_as_far_as_the_dtype(
    device: Device, dtype: DType, greatest: int
) -> None:
    found = values(BACKEND.int_random((20000,), Distribution.default(), device, dtype))
    assert (found.min(), found.max(), found.dtype) == (0, greatest, np.dtype(dtype.name))


def test_uniform_ints_are_the_whole_numbers_between_the_ends(device: Device) -> None:
    drawn = BACKEND.int_random((500,), Distribution.uniform(-1.5, 3.0), device, core.int32)
    assert set(values(drawn).tolist()) == {-1, 0, 1, 2}


def test_uniform_ints_stay_in_the_range_of_their_dtype(device: Device) -> None:
    drawn = BACKEND.int_random((500,), Distribution.uniform(-9, 1e30), device, core.uint8)
    assert values(drawn).dtype == np.uint8
    drawn = BACKEND.int_random((500,), Distribution.uniform(0, 1e30), device, core.int64)
    assert values(drawn).min() >= 0


def test_normal_ints_stay_in_the_range_of_their_dtype(device: Device) -> None:
    for dtype in (core.int8, core.int32, core.int64):
        ends = np.iinfo(dtype.name)
        drawn = values(BACKEND.int_random((50,), Distribution.normal(1e30), device, dtype))
        assert (drawn > 0.99 * ends.max).all()
        drawn = values(BACKEND.int_random((50,), Distribution.normal(-1e30), device, dtype))
        assert (drawn == ends.min).all()


def test_uniform_ints_without_any_whole_number_are_refused(device: Device) -> None:
    with pytest.raises(DTypeError, match=r"from 0\.2 up to 0\.8"):
        BACKEND.int_random((5,), Distribution.uniform(0.2, 0.8), device, core.int32)


def test_normal_ints_round_to_the_nearest(device: Device) -> None:
    drawn = BACKEND.int_random((5,), Distribution.normal(2.7, 0.0), device, core.int32)
    assert_same(drawn, [3] * 5, "int32")
    exact = 2**31 - 1
    drawn = BACKEND.int_random((5,), Distribution.normal(exact, 0.0), device, core.int32)
    assert_same(drawn, [exact] * 5, "int32")
