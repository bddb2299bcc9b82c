"""The routing rules: which implementation a call reaches, and with which words it is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, floats, ints, run

from firebrick import BalancedCheckpointing, Device, float32, int32
from firebrick.errors import (
    AutodiffNotSupportedError,
    BackendMismatchError,
    BackendNotSupportedError,
    CheckpointingMismatchError,
    DeviceError,
    KindError,
    MissingImplementationError,
    NoTensorInputError,
    SelectorError,
)
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Cube,
    ExtensionType,
    Flex,
    FloatTensor,
    Grads,
    IntTensor,
    LibTorch,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
    register_backend,
    when,
)

calls: list[str] = []


@pytest.fixture(autouse=True)
def _fresh_log() -> None:
    calls.clear()


class Boxes(ExtensionType[P]):
    ids: IntTensor[P]
    coords: FloatTensor[P]


class Empty(ExtensionType[P]): ...


@backend_extension(Flex, NdArray, Autodiff)
class Ops(OpSet[P]):
    def add(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        calls.append(str(self.backend))
        return self.backend.float_add(lhs, rhs)

    def pick(self, operand: Boxes[P] | Empty[P], rest: list[FloatTensor[P]]) -> FloatTensor[P]:
        calls.append(str(self.backend))
        return rest[0] if isinstance(operand, Empty) else operand.coords

    def floats(self, ids: IntTensor[P]) -> FloatTensor[P]:
        calls.append(str(self.backend))
        return self.backend.float_ones((2,), self.backend.device_of(ids), float32)

    def either(self, ids: IntTensor[P], x: FloatTensor[P] | None) -> tuple[IntTensor[P], int]:
        calls.append(str(self.backend))
        return ids, 3


Ops.default_on(Flex, NdArray)


class AutodiffOps(Ops[AutodiffTensor], on=Autodiff): ...


ops = dispatch(Ops)


# ---- rules 1 to 3 ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flex", "ndarray"])
def test_the_tensors_choose_the_backend(name: str) -> None:
    x = floats([1.0], Device(name))
    assert run(ops.add, x, x).device == Device(name)
    assert calls == [name]


def test_a_variant_without_tensors_leaves_the_choice_to_the_next_input(flex: Device) -> None:
    assert run(ops.pick, Empty(), [floats([4.0], flex)]).tolist() == [4.0]


def test_a_call_without_a_tensor_is_refused(flex: Device) -> None:
    message = (
        r"`Ops\.pick` was called without any tensor, so nothing chooses a backend; at least one "
    )
    with pytest.raises(
        NoTensorInputError, match=message + "of `operand`, `rest` must hold a tensor"
    ):
        run(ops.pick, Empty(), [])
    assert calls == []


def test_tensors_of_two_backends_are_refused_by_path(flex: Device) -> None:
    here, there = floats([1.0], flex), floats([1.0], Device.ndarray())
    message = (
        r"`Ops\.add`: `lhs` is on backend `flex`, `rhs` on `ndarray`; a call needs tensors of o"
    )
    with pytest.raises(BackendMismatchError, match=message):
        run(ops.add, here, there)
    with pytest.raises(
        BackendMismatchError, match=r"`operand\.coords` is .* `rest\.1` on `ndarray`"
    ):
        run(ops.pick, Boxes(ints([1], flex), here), [here, there])
    assert calls == []


def test_the_first_float_is_what_others_are_compared_with(flex: Device) -> None:
    boxes = Boxes(ints([1], Device.ndarray()), floats([1.0], flex))
    message = r"`operand\.coords` is on backend `flex`, `operand\.ids` on `ndarray`"
    with pytest.raises(BackendMismatchError, match=message):
        run(ops.pick, boxes, [])


class ManyDevices(NdArray):
    """Devices are told by the length of their arrays."""

    name = "many"
    has_many_devices = True

    @classmethod
    def devices(cls) -> list[Device]:
        return [Device.of("many", "host", index) for index in range(4)]

    def device_of(self, tensor: Array) -> Device:
        return Device.of("many", "host", len(tensor))


register_backend(ManyDevices)


def test_devices_of_one_backend_are_compared() -> None:
    device = Device.of("many", "host", 1)
    one, two = floats([1.0], device), floats([1.0, 2.0], device)
    message = r"`Ops\.add`: `lhs` is on device `many:host:1`, `rhs` on `many:host:2`; move one with"
    with pytest.raises(DeviceError, match=message):
        run(ops.add, one, two)
    with pytest.raises(DeviceError, match=r"`rest\.0` is on device .*, `rest\.1` on `many:host:2`"):
        run(ops.pick, Empty(), [one, two])
    assert calls == []
    assert run(ops.add, one, one).tolist() == [2.0]
    with pytest.raises(DeviceError, match=r"`rhs` on `many:host:2`"):
        run(ops.add, one, two)


# ---- rules 4 and 5 -----------------------------------------------------------------------------


def test_a_plain_operand_is_a_constant_in_a_tracked_call(flex: Device, tracked: Device) -> None:
    x = floats([1.0], tracked).require_grad()
    out = run(ops.add, x, floats([2.0], flex))
    assert calls == ["autodiff<flex>"]
    assert x.grad(out.sum().backward()).tolist() == [1.0]


def test_two_strategies_are_refused_before_the_call(flex: Device) -> None:
    one = floats([1.0], flex.autodiff())
    other = floats([1.0], flex.autodiff(checkpointing=BalancedCheckpointing))
    message = (
        r"`Ops\.add`: `lhs` has strategy NoCheckpointing, `rhs` has BalancedCheckpointing; tens"
    )
    with pytest.raises(CheckpointingMismatchError, match=message):
        run(ops.add, one, other)
    assert calls == []


def test_ints_carry_the_context_too(flex: Device, tracked: Device) -> None:
    ids, _ = run(ops.either, ints([1], tracked), None)
    assert ids.device.is_autodiff
    ids, _ = run(ops.either, ints([1], flex), floats([1.0], tracked))
    assert ids.device.is_autodiff
    assert calls == ["flex", "flex"]


def test_without_a_float_the_concrete_implementation_runs(tracked: Device) -> None:
    out = run(ops.floats, ints([1], tracked))
    assert calls == ["flex"]
    assert out.device.is_autodiff
    assert not out.is_tracked


@backend_extension(Flex, when(Autodiff, False))
class Switched(OpSet[P]):
    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_neg(x)


@backend_extension(Flex)
class Plain(OpSet[P]):
    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_neg(x)


Switched.default_on(Flex)
Plain.default_on(Flex)


@pytest.mark.parametrize(
    ("op_set", "why"),
    [(Plain, "is not listed"), (Switched, "is listed with a condition that is false")],
)
def test_an_autodiff_device_needs_autodiff_in_the_list(
    tracked: Device, op_set: Any, why: str
) -> None:
    message = (
        rf"`{op_set.__name__}\.negate` was called on an autodiff device, but `Autodiff` {why} "
    )
    with pytest.raises(AutodiffNotSupportedError, match=message):
        run(dispatch(op_set).negate, floats([1.0], tracked))


@backend_extension(Flex, Autodiff)
class Classless(OpSet[P]):
    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_neg(x)

    def sorted(self, x: FloatTensor[P]) -> IntTensor[P]:
        return self.backend.float_argsort(x, 0, False, int32)


Classless.default_on(Flex)


def test_without_an_autodiff_class_only_untracked_calls_run(tracked: Device) -> None:
    x = floats([1.0], tracked)
    out = run(dispatch(Classless).negate, x)
    assert (out.tolist(), out.device.is_autodiff, out.is_tracked) == ([-1.0], True, False)
    with pytest.raises(
        MissingImplementationError, match=r"`Classless\.negate` was called with a trac"
    ):
        run(dispatch(Classless).negate, x.require_grad())


@backend_extension(Flex, Autodiff)
class Ruled(OpSet[P]):
    def doubled(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class FlexRuled(Ruled[Array], on=Flex):
    def doubled(self, x: Array) -> Array:
        return x * np.float32(2)


class AutodiffRuled(Ruled[AutodiffTensor], on=Autodiff):
    @gradient()
    def doubled(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": self.inner.backend.float_mul_scalar(grad, 2.0)}


def test_a_rule_needs_the_concrete_implementation_as_well(tracked: Device) -> None:
    x = floats([1.0], tracked).require_grad()
    assert x.grad(run(dispatch(Ruled).doubled, x).sum().backward()).tolist() == [2.0]
    with pytest.raises(
        BackendNotSupportedError, match=r"`Ruled\.doubled` does not support backend `n"
    ):
        run(dispatch(Ruled).doubled, floats([1.0], Device.ndarray().autodiff()))


# ---- rule 6 ------------------------------------------------------------------------------------


def asks() -> bool:
    raise OSError("no driver")


@backend_extension(when(Flex, False), when(NdArray, asks), LibTorch, when(Cube, False))
class Gated(OpSet[P]):
    def same(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    def bodiless(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


def test_a_backend_that_is_not_listed_is_not_supported() -> None:
    class Other(ManyDevices):
        name = "other"

    register_backend(Other)
    message = (
        r"`Ruled\.doubled` does not support backend `other`: `@backend_extension` lists Flex, Au"
    )
    with pytest.raises(BackendNotSupportedError, match=message):
        run(dispatch(Ruled).doubled, floats([1.0], Device("other")))


def test_a_false_condition_is_not_supported(flex: Device) -> None:
    message = (
        r"`Gated\.same` does not support `Flex` here: the condition in `@backend_extension` of `"
    )
    with pytest.raises(BackendNotSupportedError, match=message):
        run(dispatch(Gated).same, floats([1.0], flex))


def test_a_condition_that_raises_is_told_at_the_call() -> None:
    with pytest.raises(
        SelectorError, match=r"the condition of `NdArray` raised OSError \(no driver\)"
    ):
        run(dispatch(Gated).same, floats([1.0], Device.ndarray()))


def test_a_listed_backend_without_a_class_says_which_to_add() -> None:
    pytest.importorskip("torch")
    message = (
        r"`Gated\.same` lists `LibTorch`, but nobody implemented `Gated` for it; add `class LibTorc"
        r".*\(Gated\[.*\], on=LibTorch\): \.\.\.` or `Gated\.default_on\(LibTorch\)`\."
    )
    with pytest.raises(MissingImplementationError, match=message):
        run(dispatch(Gated).same, floats([1.0], Device.libtorch()))


def test_a_class_without_the_method_says_what_to_add(flex: Device) -> None:
    @backend_extension(Flex)
    class Partial(OpSet[P]):
        def bodiless(self, x: FloatTensor[P]) -> FloatTensor[P]:
            raise NoDefault

    Partial.default_on(Flex)
    message = (
        r"`Partial\.bodiless` has no default body, and the implementation of `Partial` on `Flex` do"
        r".*not define it; add a method `bodiless` to `class \.\.\.\(Partial\[ndarray\], on=Flex"
    )
    with pytest.raises(MissingImplementationError, match=message):
        run(dispatch(Partial).bodiless, floats([1.0], flex))


# ---- third parties -----------------------------------------------------------------------------


class Mirror(NdArray):
    """A backend of somebody else, made of one of ours."""

    name = "routed_mirror"


class Twin(Mirror):
    """Made of that one."""

    name = "routed_twin"


register_backend(Mirror)
register_backend(Twin)


@backend_extension(NdArray, Mirror)
class Shared(OpSet[P]):
    def who(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], str]:
        raise NoDefault


class OnNdArray(Shared[Array], on=NdArray):
    def who(self, x: Array) -> tuple[Array, str]:
        return x, f"ndarray for {self.backend}"


class OnMirror(Shared[Array], on=Mirror):
    def who(self, x: Array) -> tuple[Array, str]:
        return x, f"mirror for {self.backend}"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ndarray", "ndarray for ndarray"),
        ("routed_mirror", "mirror for routed_mirror"),
        ("routed_twin", "mirror for routed_twin"),
        ("many", "ndarray for many"),
    ],
)
def test_the_nearest_class_serves_a_backend(name: str, answer: str) -> None:
    device = Device.of("many", "host", 1) if name == "many" else Device(name)
    out, told = run(dispatch(Shared).who, floats([1.0], device))
    assert (told, out.device.backend) == (answer, name)


def test_another_kind_is_refused_first(flex: Device) -> None:
    with pytest.raises(
        KindError, match=r"`Ops\.add`: `rhs` is declared a tensor of kind float; got a"
    ):
        run(ops.add, floats([1.0], flex), ints([1], Device.ndarray()))


def test_the_next_call_works_after_any_error(flex: Device, tracked: Device) -> None:
    for arguments in ((floats([1.0], flex), ints([1], flex)), (floats([1.0], flex), None)):
        with pytest.raises(KindError, match=r"`rhs` is declared"):
            run(ops.add, *arguments)
    assert run(ops.add, floats([1.0], flex), floats([1.0], flex)).tolist() == [2.0]
    assert run(ops.add, floats([1.0], tracked), floats([1.0], tracked)).tolist() == [2.0]
