"""The processor runtime: memory, threads, limits, the object cache, forked processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pytest
from tests.cube.codegen_kernels import make, zeros
from tests.cube.cpu_launch import argument, contents, cpu_runtime, driver, launch
from tests.cube.runtime_kernels import check_works, fill_shared, flip, increment, scale

import firebrick.cube as cube
from firebrick.cube.cache import KernelCache
from firebrick.cube.runtime.base import Runtime
from firebrick.errors import (
    BackendUnavailableError,
    KernelCompileError,
    KernelError,
    TooManyResourcesError,
)

if TYPE_CHECKING:
    from firebrick.cube.runtime.cpu.driver import CpuDriver

N = TypeVar("N", bound=cube.Numeric)


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    """The runtime with two threads."""
    return cpu_runtime()


@cube.kernel
def count_all(x: cube.Tensor[N], total: cube.Mut[cube.Tensor[N]]) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(x):
        cube.atomic.fetch_add(total, 0, x[i])


@cube.kernel
def largest(x: cube.Tensor[N], found: cube.Mut[cube.Tensor[N]]) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(x):
        cube.atomic.fetch_max(found, 0, x[i])


# ---- memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "float64", "float32", "float16", "int8", "uint64"])
@pytest.mark.parametrize("elements", [1, 3, 1000, 1_000_001])
def test_what_is_uploaded_is_read(runtime: Runtime, dtype: str, elements: int) -> None:
    array = (np.arange(elements) % 100).astype(dtype)
    np.testing.assert_array_equal(runtime.tensor(array).numpy(), array)


def test_a_tensor_without_elements_is_read(runtime: Runtime) -> None:
    assert runtime.zeros((3, 0), cube.f32).numpy().shape == (3, 0)


def test_memory_is_aligned_for_vectors() -> None:
    addresses = [driver().allocate(size).address for size in (1, 100, 10_000, 10_000_000)]
    assert [address % 64 for address in addresses] == [0, 0, 0, 0]


def test_memory_that_is_given_back_is_used_again() -> None:
    first = driver().allocate(123_457)
    address = first.address
    del first
    assert driver().allocate(123_450).address == address


def test_memory_in_use_is_not_given_out_again() -> None:
    blocks = [driver().allocate(4096) for _ in range(50)]
    assert len({block.address for block in blocks}) == 50


def test_more_memory_than_can_be_is_refused_and_no_harm_done(runtime: Runtime) -> None:
    with pytest.raises(TooManyResourcesError, match="bytes of memory"):
        runtime.driver.allocate(1 << 60)
    check_works(runtime)


# ---- launches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [1, 15, 16, 17, 63, 64, 65, 1000, 300_001])
@pytest.mark.parametrize("units", [1, 48, 256])
def test_every_element_is_computed(runtime: Runtime, elements: int, units: int) -> None:
    array = np.arange(elements, dtype=np.float32)
    x, out = runtime.tensor(array), runtime.zeros(elements + 5, cube.f32)
    scale["auto", units](x, 3.0, out)
    np.testing.assert_array_equal(out.numpy(), np.append(array * 3, np.zeros(5)))


def test_bools_are_stored_as_bytes(runtime: Runtime) -> None:
    x, out = runtime.tensor(np.array([True, False, True])), runtime.zeros(3, bool)
    flip[1, 8](x, out)
    assert out.numpy().tolist() == [False, True, False]


NUMBERS = make(
    "numbers",
    """
        buffer a: mut i64, rank 1, position 0
        buffer b: mut f64, rank 1, position 1
        scalar i: i64, position 0
        scalar u: u64, position 1
        scalar h: f16, position 2
        scalar d: f64, position 3
        scalar t: bool, position 4
        scalar s: f32, position 5
        body:
            a[0_i32] = i
            a[1_i32] = reinterpret(u, i64)
            a[2_i32] = i64(t)
            b[0_i32] = f64(h)
            b[1_i32] = d
            b[2_i32] = f64(s)
        """,
    zeros(3, "i64"),
    np.zeros(3),
    numbers=(-(2**63), 2**64 - 1, 0.1, 0.1, True, 1e300),
    units=(1, 1, 1),
)


def test_numbers_of_every_type_arrive_rounded_to_it() -> None:
    integers, floats = launch(NUMBERS.function, NUMBERS.arrays, NUMBERS.numbers)
    assert integers.tolist() == [-(2**63), -1, 1]
    assert floats.tolist() == [float(np.float16(0.1)), 0.1, np.inf]


def test_threads_share_a_launch_and_lose_no_update(runtime: Runtime) -> None:
    values = np.arange(400_000, dtype=np.int32) % 7
    x, total = runtime.tensor(values), runtime.zeros(1, cube.i32)
    count_all[6250, 64](x, total)
    assert total.numpy().tolist() == [values.sum()]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_atomics_of_floats_lose_no_update(runtime: Runtime, dtype: str) -> None:
    values = np.linspace(-5, 5, 50_000).astype(dtype)
    x, found = runtime.tensor(values), runtime.tensor(np.full(1, -9, dtype))
    largest[1000, 64](x, found)
    assert found.numpy().tolist() == [values.max()]
    ones, total = runtime.tensor(np.ones(2000, dtype)), runtime.tensor(np.zeros(1, dtype))
    count_all[40, 64](ones, total)
    assert total.numpy().tolist() == [2000]


def test_several_python_threads_launch_at_once(runtime: Runtime) -> None:
    tensors = [runtime.zeros(200_000, cube.f32) for _ in range(4)]

    def work(number: int) -> None:
        for _ in range(20):
            increment[800, 256](tensors[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {value for tensor in tensors for value in tensor.numpy().tolist()} == {20}


def test_a_failure_on_another_thread_comes_to_the_caller() -> None:
    driver()
    from firebrick.cube.runtime.cpu.threads import Threads

    caller = threading.get_ident()
    turns = threading.Barrier(2)

    def piece(number: int) -> None:
        if number < 2:
            turns.wait()  # both threads have taken one
        if threading.get_ident() != caller:
            raise KernelError("out of order")

    threads = Threads(2)
    with pytest.raises(KernelError, match="out of order"):
        threads.run(piece, 4)
    done: list[int] = []
    threads.run(done.append, 100)
    assert sorted(done) == list(range(100))


def test_an_interrupted_launch_ends_only_when_all_threads_have_left_it() -> None:
    driver()
    from firebrick.cube.runtime.cpu.threads import Threads

    caller = threading.get_ident()
    turns = threading.Barrier(2)
    left = threading.Event()

    def piece(number: int) -> None:
        turns.wait()
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        time.sleep(0.05)
        left.set()

    with pytest.raises(KeyboardInterrupt):
        Threads(2).run(piece, 2)
    assert left.is_set()


def test_shared_memory_of_cubes_on_different_threads_is_apart() -> None:
    kernel = make(
        "reverse",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[64]
        body:
            m[63_i32 - cube.UNIT_POS] = cube.ABSOLUTE_POS
            sync cube
            out[cube.ABSOLUTE_POS] = m[cube.UNIT_POS]
        """,
        zeros(64 * 5000),
        cubes=(5000, 1, 1),
    )
    (found,) = launch(kernel.function, kernel.arrays, (), kernel.cubes, threads=3)
    expected = np.arange(64 * 5000).reshape(5000, 64)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(found, expected)


# ---- limits and errors ------------------------------------------------------------------------


def test_too_much_shared_memory_is_refused(runtime: Runtime) -> None:
    with pytest.raises(TooManyResourcesError, match="65540 bytes of shared memory") as caught:
        fill_shared[1, 1](65540 // 4, runtime.zeros(1, cube.u32))
    assert (caught.value.requested, caught.value.maximum) == (65540, 65536)


def test_more_units_than_positions_can_count_are_refused() -> None:
    kernel = make(
        "nothing",
        """
        buffer out: mut i32, rank 1, position 0
        body:
            out[0_i32] = cube.ABSOLUTE_POS
        """,
        zeros(1),
    )
    compiled = driver().compile(kernel.function)
    with pytest.raises(TooManyResourcesError, match="`nothing` asks for 2147483648 units in all"):
        driver().launch(compiled, (1 << 25, 1, 1), [argument(zeros(1))], ())


def test_there_is_one_device() -> None:
    driver()
    with pytest.raises(BackendUnavailableError, match="one device, number 0; got 1"):
        cube.runtime("cpu", 1)


def test_without_llvmlite_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "from firebrick.cube.runtime.cpu import open_driver\n"
        "open_driver(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        "firebrick.errors.BackendUnavailableError: the kernel runtime `cpu` needs the package "
        "llvmlite; install it with `pip install firebrick[cpu]`."
    )


def test_text_that_llvm_refuses_is_a_typed_error() -> None:
    driver()
    from firebrick.cube.runtime.cpu.llvm import Compiler

    compiler = Compiler()
    empty = compiler.compile_object("define void @f() { ret void }")
    with pytest.raises(KernelCompileError, match="holds no function `g`"):
        compiler.load(empty, "g")
    with pytest.raises(
        KernelCompileError, match=r"(?s)LLVM refuses the generated text: .*expected"
    ):
        compiler.compile_object("define nonsense")


@pytest.mark.parametrize("value", ["0", "two", ""])
def test_a_number_of_threads_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    from firebrick.cube.runtime.cpu.threads import thread_count

    monkeypatch.setenv("FIREBRICK_CPU_THREADS", value)
    with pytest.raises(KernelError, match=r"FIREBRICK_CPU_THREADS is .* a positive number"):
        thread_count()


# ---- compiling --------------------------------------------------------------------------------


def fresh(cache: KernelCache) -> CpuDriver:
    driver()
    from firebrick.cube.runtime.cpu.driver import CpuDriver

    return CpuDriver(2, cache)


def test_an_object_file_is_loaded_by_another_driver(tmp_path: Path) -> None:
    outcomes: list[list[int]] = []
    for _ in range(2):
        cache = KernelCache(tmp_path)
        runner = fresh(cache)
        tensors = [argument(array) for array in NUMBERS.arrays]
        runner.launch(runner.compile(NUMBERS.function), (1, 1, 1), tensors, NUMBERS.numbers)
        outcomes.append(contents(tensors[0], NUMBERS.arrays[0]).tolist())
        info = cache.info()
        assert (info.builds, info.disk_hits) == ((1, 0) if len(outcomes) == 1 else (0, 1))
    assert outcomes[0] == outcomes[1] == [-(2**63), -1, 1]


def test_several_threads_compile_at_once() -> None:
    runner, errors = fresh(KernelCache()), []

    def work(number: int) -> None:
        text = f"""
        buffer out: mut i32, rank 1, position 0
        body:
            out[0_i32] = {number}_i32
        """
        kernel = make(f"store_{number}", text, zeros(1))
        tensor = argument(zeros(1))
        runner.launch(runner.compile(kernel.function), (1, 1, 1), [tensor], ())
        if contents(tensor, zeros(1)).tolist() != [number]:
            errors.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_launches_and_compiles(runtime: Runtime) -> None:
    x = runtime.zeros(400_000, cube.i32)
    increment["auto", 64](x)  # the threads have started
    child = os.fork()
    if child == 0:
        try:
            increment["auto", 64](x)
            flags = runtime.tensor(np.array([True, False]))
            flip[1, 2](flags, flags)
            right = set(x.numpy().tolist()) == {2} and flags.numpy().tolist() == [False, True]
            os._exit(0 if right else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert set(x.numpy().tolist()) == {1}
