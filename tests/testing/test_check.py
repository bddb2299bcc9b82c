"""`check` itself: what it runs where, given cases, targets, and its report."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.testing.planted import ARRAYS, FLEX, doubling, kinds, message

from firebrick import Device, Tensor
from firebrick.core import Distribution
from firebrick.errors import SelectorError, SignatureError
from firebrick.extension import (
    Autodiff,
    Cube,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    Fusion,
    IntTensor,
    LibTorch,
    NdArray,
    NoDefault,
    OpSet,
    P,
    Remote,
    backend_extension,
    fusion,
    op,
    register_backend,
    views,
    when,
)
from firebrick.testing import CheckReport, Finding, check


class Layer(ExtensionType[P]):
    weight: Float[P, "k n"]
    bias: Float[P, "n"]


class Scaled(ExtensionType[P]):
    values: FloatTensor[P]
    factor: float


class Rows(ExtensionType[P]):
    values: Float[P, "n m"]
    rows: IntTensor[P]


Values = Scaled[P] | Rows[P]


@backend_extension(Autodiff, Flex, NdArray, LibTorch)
class Many(OpSet[P]):
    """One operation of every form."""

    def linear(self, x: Float[P, "*batch m k"], layer: Layer[P]) -> FloatTensor[P]:
        b = self.backend
        return b.float_add(b.float_matmul(x, layer.weight), layer.bias)

    def scaled(self, values: Values[P]) -> Scaled[P]:
        b = self.backend
        match values:
            case Scaled(tensor, factor):
                return Scaled(b.float_mul_scalar(tensor, factor), factor + 1)
            case Rows(tensor, rows):
                return Scaled(b.float_select(tensor, 0, rows), 0.0)

    def summed(
        self, items: list[FloatTensor[P]], bias: FloatTensor[P] | None, *, factor: float = 2.0
    ) -> FloatTensor[P]:
        b = self.backend
        total = items[0] if bias is None else b.float_add(items[0], bias)
        for item in items[1:]:
            total = b.float_mul(total, item)
        return b.float_mul_scalar(total, factor)

    async def later(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_log(x)

    def made(self, device: Device, rows: int) -> FloatTensor[P]:
        return self.backend.float_ones((rows,), device, device.float_dtype)

    @views("x")
    def turned(self, x: Float[P, "m n"]) -> Float[P, "n m"]:
        return self.backend.float_transpose(x)


class FlexMany(Many[np.ndarray], on=Flex): ...


Many.default_on(Autodiff, NdArray, LibTorch)


@pytest.fixture(scope="module")
def report() -> CheckReport:
    return check(Many)


def test_operations_of_every_form_are_right_on_every_backend(report: CheckReport) -> None:
    assert report.findings == []
    assert {name for name, _ in report.exercised} == set(Many.__operations__)
    assert {"flex", "ndarray"} <= {device for _, device in report.exercised}


def test_the_table_has_a_line_per_operation_and_device_with_costs(report: CheckReport) -> None:
    lines = str(report).splitlines()
    assert lines[0].split() == ["operation", "device", "us", "us", "tracked", "found"]
    table = lines[1 : 1 + len(report.exercised)]
    assert [(line.split()[0], line.split()[1]) for line in table] == report.exercised
    assert all(float(cell) > 0 for line in table for cell in line.split()[2:4])
    assert lines[-1] == "no findings"


def test_a_few_operations_take_a_few_seconds() -> None:
    start = time.perf_counter()
    check(Many, devices=ARRAYS)
    assert time.perf_counter() - start < 20  # far above what it takes, for a loaded machine


def test_a_right_report_does_not_raise(report: CheckReport) -> None:
    assert report.ok
    report.raise_if_failed()


def test_a_failed_report_raises_with_the_table() -> None:
    failed = check(doubling(lambda x: x * 3), devices=ARRAYS)
    assert not failed.ok
    with pytest.raises(
        AssertionError, match=r"(?s)`check` found 1 finding\..*double +flex .*forward"
    ):
        failed.raise_if_failed()


def test_a_finding_is_one_line() -> None:
    finding = Finding("double", "flex", "forward", "first\nsecond")
    assert str(finding) == "double on flex: forward: first second"


# ---- devices ---------------------------------------------------------------------------------


def test_devices_limit_what_is_run() -> None:
    limited = check(Many, devices=[Device.ndarray().autodiff(), Device.ndarray()])
    assert {device for _, device in limited.exercised} == {"ndarray"}


def test_a_device_of_a_backend_that_is_not_listed_is_left_out() -> None:
    pytest.importorskip("torch")
    report = check(doubling(lambda x: x + x), devices=[*FLEX, Device("libtorch")])
    assert report.exercised == [("double", "flex")]
    assert report.ok
    assert report.notes == ["libtorch:cpu was not checked: `Doubles` does not list its backend"]


def test_backends_that_are_not_here_are_noted() -> None:
    @backend_extension(Flex, Cube, Remote, when(NdArray, False))
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    Doubles.default_on(Flex, Cube)
    report = check(Doubles)
    assert report.exercised == [("double", "flex")]
    assert any("`Cube` was not checked" in note for note in report.notes)
    assert any("`Remote` was not checked" in note for note in report.notes)
    assert "note: `Cube`" in str(report)


def test_a_backend_derived_from_a_listed_one_is_served_by_it() -> None:
    @register_backend
    class CheckedTwin(NdArray):
        name = "checkedtwin"

        @classmethod
        def devices(cls) -> list[Device]:
            return [Device.of(cls.name)]

        def device_of(self, tensor: Any) -> Device:
            return Device.of(self.name)

    report = check(doubling(lambda x: x + x), devices=[Device("checkedtwin")])
    assert report.findings == []
    assert report.exercised == [("double", "checkedtwin")]


# ---- missing implementations -----------------------------------------------------------------


@backend_extension(Flex, NdArray, Autodiff, Fusion)
class Half(OpSet[P]):
    @fusion(dtype="x", shape="x")
    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_neg(x)

    @fusion(dtype="x", shape="x")
    def invert(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


Half.default_on(Flex, NdArray)


def test_what_nobody_implements_is_missing_with_the_line_to_add() -> None:
    report = check(Half, devices=FLEX)
    assert kinds(report) == {"missing"}
    found = {(finding.operation, finding.device) for finding in report.findings}
    assert found == {("negate", "autodiff"), ("invert", "flex"), ("invert", "autodiff")}
    assert report.exercised == [("negate", "flex")]
    assert report.findings[0].message == (
        "`Half` lists `Autodiff`, but nothing implements `negate` there; add "
        "`class X(Half[...], on=Autodiff)` or `Half.default_on(Autodiff)`"
    )


def test_what_is_missing_elsewhere_is_told_unless_devices_are_given() -> None:
    everywhere = {(f.operation, f.device) for f in check(Half).findings}
    assert ("invert", "ndarray") in everywhere
    assert ("invert", "ndarray") not in {
        (f.operation, f.device) for f in check(Half, devices=FLEX).findings
    }


# ---- cases -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    size: int


@backend_extension(Flex, NdArray)
class Needy(OpSet[P]):
    def reshaped(self, x: FloatTensor[P], options: Options) -> FloatTensor[P]:
        return self.backend.float_add_scalar(x, float(options.size))

    def picky(self, x: FloatTensor[P], rows: int = 1) -> FloatTensor[P]:
        if x.shape != (7,):
            raise ValueError("seven are needed")
        return self.backend.float_neg(x)


Needy.default_on(Flex, NdArray)


def test_arguments_that_cannot_be_made_up_ask_for_cases() -> None:
    report = check(Needy, devices=ARRAYS)
    assert {finding.kind for finding in report.findings} == {"error"}
    assert [finding.message for finding in report.findings] == [
        "arguments cannot be made up: `options` is of type `Options`; give cases: "
        "`check(..., cases={'reshaped': [(...)]})`",
        "every case raises, the last one (x float [1, 2, 4, 4], rows=2) ValueError: seven are "
        "needed; give cases: `check(..., cases={'picky': [(...)]})`",
    ]
    assert report.exercised == []


def test_given_cases_take_their_place() -> None:
    cases = {
        "reshaped": [(Tensor([1.0, 2.0]), Options(2)), (Tensor(3.0), Options(1))],
        "picky": [(Tensor.ones((7,)),)],
    }
    report = check(Needy, devices=ARRAYS, cases=cases)
    assert report.findings == []
    assert len(report.exercised) == 4


def test_given_structs_keep_their_fields_and_dtypes() -> None:
    seen: list[Any] = []

    @backend_extension(Flex, NdArray)
    class Takes(OpSet[P]):
        def take(self, item: Scaled[P], ids: IntTensor[P]) -> FloatTensor[P]:
            seen.append((item.factor, getattr(item.values, "dtype", None)))
            return self.backend.float_select(item.values, 0, ids)

    Takes.default_on(Flex, NdArray)
    half = Tensor(np.array([1.0, 2.0], np.float16), Device.flex().autodiff())
    report = check(Takes, devices=ARRAYS, cases={"take": [(Scaled(half, 7.0), Tensor([1, 0]))]})
    assert report.findings == []
    assert {factor for factor, _ in seen} == {7.0}
    assert np.dtype(np.float16) in {dtype for _, dtype in seen}


def test_given_cases_that_all_raise_are_an_error() -> None:
    report = check(Needy, devices=FLEX, cases={"picky": [(Tensor.ones((6,)),)],
                                              "reshaped": [(Tensor(1.0), Options(1))]})  # fmt: skip
    assert message(report, "error").startswith(
        "every case raises, the last one (x float [6], rows=1) ValueError: seven are needed"
    )


def test_cases_of_an_unknown_operation_are_refused() -> None:
    with pytest.raises(SignatureError, match=r"no operation of `Needy`.*Did you mean `picky`\?"):
        check(Needy, cases={"piky": []})


@pytest.mark.parametrize(
    ("case", "found"),
    [((), "0 arguments"), ((1, 2, 3), "3 arguments"), (Tensor([1.0]), "a `Tensor`")],
)
def test_a_case_with_another_number_of_arguments_is_refused(case: Any, found: str) -> None:
    wanted = rf"case 0 of `Needy\.picky` is a tuple .*\(x, rows\), at least 1; got {found}"
    with pytest.raises(SignatureError, match=wanted):
        check(Needy, devices=FLEX, cases={"picky": [case]})


def test_a_variant_that_is_never_taken_is_noted() -> None:
    @backend_extension(Flex)
    class Takes(OpSet[P]):
        def take(self, item: Values[P]) -> FloatTensor[P]:
            if not isinstance(item, Scaled):
                raise SignatureError("not these")
            return self.backend.float_neg(item.values)

    Takes.default_on(Flex)
    report = check(Takes, devices=FLEX)
    assert report.ok
    assert report.notes == [
        "take: nothing was run with item.values float [2, 3], item.rows int [2, 3], which raises; "
        "give cases if need be"
    ]


def test_the_same_seed_finds_the_same() -> None:
    def wrong(x: np.ndarray) -> np.ndarray:
        return x + x + (x > 1)

    first, again, other = (check(doubling(wrong), devices=FLEX, seed=seed) for seed in (1, 1, 2))
    assert first.findings == again.findings
    assert first.findings != other.findings


@backend_extension(Flex, NdArray, LibTorch, Autodiff)
class Unusual(OpSet[P]):
    def dropped(self, x: FloatTensor[P], keep: float) -> FloatTensor[P]:
        b = self.backend
        chance = Distribution.bernoulli(keep)
        return b.float_mul(x, b.float_random(x.shape, chance, b.device_of(x), b.dtype_of(x)))

    def undefined(self, x: FloatTensor[P]) -> FloatTensor[P]:
        b = self.backend
        return b.float_log(b.float_neg(b.float_mul(x, x)))


Unusual.default_on(Flex, NdArray, LibTorch, Autodiff)


def test_a_random_operation_is_compared_with_the_same_seed() -> None:
    report = check(Unusual)
    assert report.findings == []
    assert (
        "dropped: results are random, so they were compared with those of the same seed only, and "
        "devices were seeded"
    ) in report.notes


def test_an_operation_without_finite_results_is_noted() -> None:
    assert check(Unusual, devices=FLEX).notes[-1] == (
        "undefined on flex: gradients were not checked, since no case gives finite numbers only; "
        "give cases"
    )


# ---- targets ---------------------------------------------------------------------------------


@op(Flex, NdArray, Autodiff)
def cubed(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x * x * x + Tensor.ones(x.shape, x.device) * 2.0


def test_a_short_form_operation_is_checked_through_its_op_set() -> None:
    report = check(cubed, devices=ARRAYS)
    assert report.findings == []
    assert report.exercised == [("cubed", "flex"), ("cubed", "ndarray")]


class Closed(OpSet[P]):
    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return x


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Closed, "`Closed` is not open to any backend"),
        (FlexMany, "takes the declaration `Many`, not its implementation `FlexMany`"),
        (3, "takes an op set or an `@op` operation; got 3"),
        (OpSet, "takes an op set or an `@op` operation"),
    ],
)
def test_what_cannot_be_checked_is_refused(target: Any, expected: str) -> None:
    with pytest.raises(SelectorError, match=expected):
        check(target)


def test_an_async_operation_is_checked_where_a_loop_runs() -> None:
    async def inside() -> CheckReport:
        return check(Many, devices=FLEX)

    report = asyncio.run(inside())
    assert ("later", "flex") in report.exercised
    assert report.ok


# ---- the plugin of pytest --------------------------------------------------------------------

SUITE = """
from tests.testing.planted import doubling, FLEX

def test_right(firebrick_check):
    report = firebrick_check(doubling(lambda x: x + x), devices=FLEX)
    assert report.exercised == [("double", "flex")]

def test_wrong(firebrick_check):
    firebrick_check(doubling(lambda x: x * 3), devices=FLEX)
"""


def test_the_plugin_fails_a_test_with_the_table(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    root = str(Path(__file__).parents[2])
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "test_suite.py", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 1 passed" in result.stdout, result.stdout + result.stderr
    assert "double on flex: forward: with x float [2, 3]" in result.stdout
