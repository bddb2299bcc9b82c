"""Operations of the autodiff backend: their signatures, and what implementations may return."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import ints, leaf, run

from firebrick import Device, Tensor, bfloat16, float16, float32, float64
from firebrick.decorators.autodiff import AutodiffTensor, autodiff_of
from firebrick.dispatch import backend_for
from firebrick.errors import GradientError, KindError, MissingImplementationError
from firebrick.extension import (
    Autodiff,
    BoolTensor,
    FloatTensor,
    Grads,
    IntTensor,
    NdArray,
    Need,
    NoCheckpointing,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
)
from firebrick.opset import InnerOpSet, from_dispatch, into_dispatch

Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray()


@backend_extension(NdArray, Autodiff)
class Shaped(OpSet[P]):
    def ruled(
        self, x: FloatTensor[P], factor: float = 2.0, *, bias: FloatTensor[P], power: int = 1
    ) -> FloatTensor[P]:
        raise NoDefault

    def listed(
        self, tensors: list[FloatTensor[P]], factor: float = 2.0, *, power: int = 1
    ) -> FloatTensor[P]:
        raise NoDefault

    def constant(
        self, x: FloatTensor[P], /, factor: float = 2.0, *, power: int = 1
    ) -> FloatTensor[P]:
        raise NoDefault

    def positions(self, ids: IntTensor[P], offset: int = 1, *, device: Device) -> IntTensor[P]:
        raise NoDefault

    def parts(
        self, x: FloatTensor[P], rest: FloatTensor[P] | None = None
    ) -> tuple[IntTensor[P], int]:
        raise NoDefault

    def made(self, size: int, device: Device, value: float = 3.0) -> FloatTensor[P]:
        raise NoDefault


class NdArrayShaped(Shaped[Array], on=NdArray):
    """Its defaults never count: those of the declaration do."""

    def ruled(self, x: Array, factor: float = 99.0, *, bias: Array, power: int = 99) -> Array:
        return (x * factor + bias) ** power

    def listed(self, tensors: list[Array], factor: float = 99.0, *, power: int = 99) -> Array:
        return (tensors[0] * factor) ** power

    def constant(self, x: Array, /, factor: float = 99.0, *, power: int = 99) -> Array:
        return (x * factor) ** power

    def positions(self, ids: Array, offset: int = 99, *, device: Device) -> Array:
        assert not device.is_autodiff
        return ids + offset

    def parts(self, x: Array, rest: Array | None = None) -> tuple[Array, int]:
        return np.arange(len(x)), len(x)

    def made(self, size: int, device: Device, value: float = 99.0) -> Array:
        assert not device.is_autodiff
        return np.full(size, value)


class AutodiffShaped(Shaped[AutodiffTensor], on=Autodiff):
    @gradient()
    def ruled(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        return {"x": b.float_mul_scalar(grad, saved.factor * saved.power), "bias": grad}

    @gradient()
    def listed(self, saved: Saved, grad: P, need: Need) -> Grads:
        scaled = self.inner.backend.float_mul_scalar(grad, saved.factor * saved.power)
        return {"tensors.0": scaled}

    constant = gradient(None)


def raw(values: Any, ndarray: Device) -> AutodiffTensor:
    return leaf(values, ndarray).into_dispatch().primitive


def derived(ndarray: Device) -> Any:
    """The op set on the own tensors of the autodiff backend, as a default body has it."""
    return InnerOpSet(Shaped, autodiff_of(backend_for(ndarray), NoCheckpointing))


def test_a_recorded_operation_takes_keywords_and_defaults_of_the_declaration(
    ndarray: Device,
) -> None:
    x, bias = raw([3.0], ndarray), raw([1.0], ndarray)
    op = derived(ndarray).ruled
    assert op(x, bias=bias).primitive.tolist() == [7.0]
    assert op(factor=4.0, x=x, bias=bias, power=2).primitive.tolist() == [169.0]


def test_a_recorded_operation_with_a_list_takes_keywords_and_defaults(ndarray: Device) -> None:
    x = raw([3.0], ndarray)
    op = derived(ndarray).listed
    assert op([x]).primitive.tolist() == [6.0]
    assert op(power=2, tensors=(x,)).primitive.tolist() == [36.0]


def test_a_constant_operation_takes_keywords_and_defaults(ndarray: Device) -> None:
    x = raw([3.0], ndarray)
    op = derived(ndarray).constant
    assert op(x).primitive.tolist() == [6.0]
    assert op(x, power=2, factor=1.0).primitive.tolist() == [9.0]


@pytest.mark.parametrize(
    ("name", "arguments", "named", "message"),
    [
        ("ruled", ("x", 1.0, 2), {"bias": "x"}, "positional"),
        ("ruled", ("x",), {}, "bias"),
        ("ruled", ("x",), {"bias": "x", "other": 1}, "other"),
        ("listed", (["x"], 1.0, 2), {}, "positional"),
        ("listed", (["x"],), {"other": 1}, "other"),
        ("listed", (), {}, "tensors"),
        ("constant", (), {"x": "x"}, "x"),
        ("constant", ("x",), {"other": 1}, "other"),
    ],
)
def test_arguments_that_the_declaration_does_not_take_are_refused(
    ndarray: Device, name: str, arguments: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\).*{message}"):
        getattr(derived(ndarray), name)(*arguments, **named)


def test_default_factors_reach_the_gradient_rule(ndarray: Device) -> None:
    x, bias = leaf([3.0], ndarray), leaf([1.0], ndarray)
    gradients = run(dispatch(Shaped).ruled, x, bias=bias).backward()
    assert x.grad(gradients).tolist() == [2.0]
    listed = run(dispatch(Shaped).listed, [x], power=3).backward()
    assert x.grad(listed).tolist() == [6.0]


def test_an_operation_on_ints_receives_the_device_without_autodiff(ndarray: Device) -> None:
    device = ndarray.autodiff()
    out = run(dispatch(Shaped).positions, ints([1, 2], device), device=device)
    assert out.tolist() == [2, 3]
    assert out.device.is_autodiff


def test_an_operation_without_tensors_makes_them_on_the_autodiff_device(ndarray: Device) -> None:
    out = run(dispatch(Shaped).made, 2, ndarray.autodiff())
    assert out.tolist() == [3.0, 3.0]
    assert out.device.is_autodiff
    assert not out.is_tracked


def test_outputs_of_a_constant_operation_keep_their_structure(ndarray: Device) -> None:
    positions, size = run(dispatch(Shaped).parts, leaf([5.0, 6.0], ndarray))
    assert (positions.tolist(), size) == ([0, 1], 2)
    assert positions.device.is_autodiff


# ---- what implementations return -------------------------------------------------------------


@backend_extension(NdArray, Autodiff)
class Returned(OpSet[P]):
    def itself(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def ruled_itself(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def scalar(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def primitive(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def wrapped(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def wrong(self, x: FloatTensor[P], what: str) -> FloatTensor[P]:
        raise NoDefault

    def wrong_constant(self, x: FloatTensor[P]) -> BoolTensor[P]:
        raise NoDefault

    def wrong_pair(self, x: FloatTensor[P]) -> tuple[IntTensor[P], IntTensor[P]]:
        raise NoDefault

    def unruled(self, x: FloatTensor[P], others: list[FloatTensor[P]]) -> FloatTensor[P]:
        raise NoDefault

    def either(
        self, x: FloatTensor[P], other: list[FloatTensor[P] | int]
    ) -> list[FloatTensor[P] | int]:
        raise NoDefault

    def constant_either(self, x: FloatTensor[P], other: FloatTensor[P] | int) -> IntTensor[P]:
        raise NoDefault

    def composed(self, x: FloatTensor[P], *, factor: float = 3.0) -> FloatTensor[P]:
        return self.backend.float_mul_scalar(self.backend.float_mul(x, x), factor)


class NdArrayReturned(Returned[Array], on=NdArray):
    def itself(self, x: Array) -> Array:
        return x

    def ruled_itself(self, x: Array) -> Array:
        return x

    def scalar(self, x: Array) -> Any:
        return x.sum()  # a NumPy scalar

    def primitive(self, x: Array) -> Array:
        return x

    def wrapped(self, x: Array) -> Any:
        return AutodiffTensor(x, None, "float", None)

    def wrong(self, x: Array, what: str) -> Any:
        return {"int": np.arange(2), "none": None, "text": "x", "list": [x]}[what]

    def wrong_constant(self, x: Array) -> Array:
        return x

    def wrong_pair(self, x: Array) -> tuple[Array, Array]:
        return np.arange(2), x

    def unruled(self, x: Array, others: list[Array]) -> Array:
        return x

    def either(self, x: Array, other: list[Array | int]) -> list[Array | int]:
        return [*other, x * 2.0]

    def constant_either(self, x: Array, other: Array | int) -> Array:
        return np.asarray([other if isinstance(other, int) else 0])


class AutodiffReturned(Returned[AutodiffTensor], on=Autodiff):
    def itself(self, x: AutodiffTensor) -> AutodiffTensor:
        return x

    @gradient(save=("x", "out"))
    def ruled_itself(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}

    @gradient()
    def scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": self.inner.backend.float_expand(grad, saved.spec("x").shape)}

    def primitive(self, x: AutodiffTensor) -> AutodiffTensor:
        return x.primitive

    @gradient()
    def wrapped(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}

    @gradient()
    def either(self, saved: Saved, *grads: P, need: Need) -> Grads:
        doubled = self.inner.backend.float_mul_scalar(grads[-1], 2.0)
        return {"x": doubled, "other.1": grads[0]}

    @gradient()
    def wrong(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}


returned = dispatch(Returned)


def test_an_implementation_may_return_its_input_itself(ndarray: Device) -> None:
    x = leaf([1.0, 2.0], ndarray)
    assert x.grad((run(returned.itself, x) * 3.0).backward()).tolist() == [3.0, 3.0]


def test_a_recorded_operation_may_return_its_input_itself(ndarray: Device) -> None:
    x = leaf([1.0, 2.0], ndarray)
    out = run(returned.ruled_itself, x)
    assert not out.is_require_grad
    assert x.grad((out * out).backward()).tolist() == [2.0, 4.0]


def test_a_scalar_of_the_library_is_wrapped(ndarray: Device) -> None:
    x = leaf([1.0, 2.0], ndarray)
    out = run(returned.scalar, x)
    gradient = x.grad((out * out).backward())
    assert type(gradient.into_dispatch().primitive) is np.ndarray
    assert gradient.tolist() == [6.0, 6.0]


def test_a_primitive_from_an_autodiff_implementation_is_refused(ndarray: Device) -> None:
    with pytest.raises(KindError, match=r"`Returned\.primitive`.*autodiff<ndarray>.*ndarray"):
        run(returned.primitive, leaf([1.0], ndarray))


def test_an_autodiff_tensor_from_an_inner_implementation_is_refused(ndarray: Device) -> None:
    with pytest.raises(KindError, match=r"`Returned\.wrapped`.*`ndarray` returned a AutodiffTe"):
        run(returned.wrapped, leaf([1.0], ndarray))


def test_numbers_among_tensors_pass_through_a_recorded_call(ndarray: Device) -> None:
    x, y = leaf([1.0], ndarray), leaf([5.0], ndarray)
    number, same, doubled = run(returned.either, x, [7, y])
    assert number == 7
    gradients = (same + doubled).backward()
    assert (x.grad(gradients).tolist(), y.grad(gradients).tolist()) == ([2.0], [1.0])


def test_a_number_where_a_tensor_may_be_reaches_a_constant_operation(ndarray: Device) -> None:
    x = leaf([1.0], ndarray)
    assert run(returned.constant_either, x, 7).tolist() == [7]
    assert run(returned.constant_either, x, x).tolist() == [0]


def test_a_default_body_is_differentiated(ndarray: Device) -> None:
    x = leaf([2.0], ndarray)
    assert x.grad(run(returned.composed, x).backward()).tolist() == [12.0]
    assert x.grad(run(returned.composed, x, factor=1.0).backward()).tolist() == [4.0]


@pytest.mark.parametrize(
    ("what", "found"),
    [("int", "tensor of kind int"), ("none", "NoneType"), ("text", "str"), ("list", "list")],
)
def test_an_output_of_another_kind_is_refused(ndarray: Device, what: str, found: str) -> None:
    message = rf"`Returned\.wrong`.*returned a {found} where `out` is declared a tensor of kind fl"
    with pytest.raises(KindError, match=message):
        run(returned.wrong, leaf([1.0], ndarray), what)


def test_a_constant_output_of_another_kind_is_refused(ndarray: Device) -> None:
    with pytest.raises(KindError, match=r"returned a tensor of kind float where `out` is declar"):
        run(returned.wrong_constant, leaf([1.0], ndarray))
    with pytest.raises(KindError, match=r"`Returned\.wrong_pair`.*kind float where.*kind int"):
        run(returned.wrong_pair, leaf([1.0], ndarray))


def test_a_tracked_call_without_a_backward_pass_is_refused_wherever_the_tensor_stands(
    ndarray: Device,
) -> None:
    x = Tensor(np.array([1.0]), ndarray.autodiff())
    assert run(returned.unruled, x, [x]).tolist() == [1.0]
    for arguments in ((x.require_grad(), [x]), (x, [x, x.require_grad()])):
        with pytest.raises(MissingImplementationError, match=r"`Returned\.unruled`.*gradient\(No"):
            run(returned.unruled, *arguments)


def test_a_primitive_given_to_a_derived_operation_is_named(ndarray: Device) -> None:
    backend: Any = autodiff_of(backend_for(ndarray), NoCheckpointing)
    message = r"`FloatOps\.float_mul` on `autodiff<ndarray>` takes an AutodiffTensor for `rhs`; got"
    with pytest.raises(KindError, match=message):
        backend.float_mul(raw([1.0], ndarray), np.ones(1))
    with pytest.raises(KindError, match=r"AutodiffTensor for `tensor`; got a ndarray"):
        backend.int_neg(np.ones(1, np.int64))


# ---- async operations ------------------------------------------------------------------------


@backend_extension(NdArray, Autodiff)
class Later(OpSet[P]):
    async def doubled(self, x: FloatTensor[P], *, factor: float = 2.0) -> FloatTensor[P]:
        raise NoDefault

    async def split(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], FloatTensor[P]]:
        raise NoDefault

    async def counted(self, x: FloatTensor[P]) -> IntTensor[P]:
        raise NoDefault

    async def late_rule(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class NdArrayLater(Later[Array], on=NdArray):
    async def doubled(self, x: Array, *, factor: float = 99.0) -> Array:
        await asyncio.sleep(0)
        return x * factor

    async def split(self, x: Array) -> tuple[Array, Array]:
        await asyncio.sleep(0)
        return x * 2.0, x * 3.0

    async def counted(self, x: Array) -> Array:
        await asyncio.sleep(0)
        return np.arange(len(x))

    async def late_rule(self, x: Array) -> Array:
        return x


class AutodiffLater(Later[AutodiffTensor], on=Autodiff):
    @gradient(save=("out",), cost="memory")
    def doubled(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        return {"x": b.float_mul_scalar(b.float_mul(grad, saved.out), saved.factor)}

    @gradient()
    def split(self, saved: Saved, first: P, second: P, need: Need) -> Grads:
        b = self.inner.backend
        return {"x": b.float_add(b.float_mul_scalar(first, 2.0), b.float_mul_scalar(second, 3.0))}

    @gradient()  # pyright: ignore[reportArgumentType] # refused at run time
    async def late_rule(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}


def awaited(method: Any, *arguments: Any) -> Any:
    return from_dispatch(asyncio.run(method(*into_dispatch(arguments))))


later = dispatch(Later)


@pytest.mark.parametrize("balanced", [False, True])
def test_a_rule_differentiates_an_async_operation(ndarray: Device, balanced: bool) -> None:
    device = ndarray.autodiff()
    device = device.gradient_checkpointing() if balanced else device
    x = leaf([3.0], device)
    assert x.grad(awaited(later.doubled, x).backward()).tolist() == [12.0]


def test_a_rule_differentiates_an_async_operation_with_two_outputs(ndarray: Device) -> None:
    x = leaf([3.0], ndarray)
    _, triple = awaited(later.split, x)
    assert x.grad(triple.backward()).tolist() == [3.0]


def test_an_async_operation_without_float_outputs_gives_constants(ndarray: Device) -> None:
    assert awaited(later.counted, leaf([3.0, 4.0], ndarray)).tolist() == [0, 1]


def test_a_rule_that_is_a_coroutine_is_refused(ndarray: Device) -> None:
    out = awaited(later.late_rule, leaf([3.0], ndarray))
    with pytest.raises(
        GradientError, match=r"`Later\.late_rule`.*returned a coroutine.*plain `def`"
    ):
        out.backward()


# ---- sizes and dtypes ------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (1, 1)])
def test_gradients_of_odd_shapes_have_the_leafs_shape(
    device: Device, shape: tuple[int, ...]
) -> None:
    x = leaf(np.full(shape, 2.0), device)
    bias = leaf(3.0, device)
    gradients = (x * x + bias).backward()
    np.testing.assert_array_equal(x.grad(gradients).numpy(), np.full(shape, 4.0))
    assert bias.grad(gradients).tolist() == float(np.prod(shape))


@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64])
def test_gradients_have_the_leafs_dtype(dtype: Any) -> None:
    device = Device.libtorch().autodiff()
    x = Tensor([1.5, -2.0], device, dtype=dtype).require_grad()
    gradient = x.grad((x * x * x).backward())
    assert gradient.dtype is dtype
    assert gradient.cast(float64).tolist() == [6.75, 12.0]  # exact in every one of them
