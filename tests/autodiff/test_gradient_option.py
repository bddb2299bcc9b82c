"""What a `@gradient` rule may read and return, and what is said of anything else."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import ints, leaf, run

from firebrick import Device, Tensor, float32
from firebrick.decorators.autodiff import AutodiffTensor, autodiff_of
from firebrick.dispatch import backend_for
from firebrick.errors import FirebrickError, GradientError
from firebrick.extension import (
    Autodiff,
    FloatTensor,
    Grads,
    IntTensor,
    LibTorch,
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

Array = np.ndarray[Any, np.dtype[Any]]
Answer = Callable[[Any, Saved, Any, Need], Any]


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray()


answers: list[Answer] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    answers.clear()


@backend_extension(NdArray, LibTorch, Autodiff)
class Answered(OpSet[P]):
    def sum_of(self, x: FloatTensor[P], y: FloatTensor[P], ids: IntTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def scaled(self, x: FloatTensor[P], device: str, options: dict[str, Any]) -> FloatTensor[P]:
        raise NoDefault

    def joined(self, x: FloatTensor[P], y: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class NdArrayAnswered(Answered[Array], on=NdArray):
    def sum_of(self, x: Array, y: Array, ids: Array) -> Array:
        return x + y

    def scaled(self, x: Array, device: str, options: dict[str, Any]) -> Array:
        return x * options["factor"]

    def joined(self, x: Array, y: Array) -> Array:
        return np.concatenate([x, y])


class LibTorchAnswered(Answered[Any], on=LibTorch):
    def sum_of(self, x: Any, y: Any, ids: Any) -> Any:
        return x + y

    def scaled(self, x: Any, device: str, options: dict[str, Any]) -> Any:
        return x * options["factor"]

    def joined(self, x: Any, y: Any) -> Any:
        raise NotImplementedError


class AutodiffAnswered(Answered[AutodiffTensor], on=Autodiff):
    @gradient(save=("x", "ids"))
    def sum_of(self, saved: Saved, grad: P, need: Need) -> Grads:
        return answers[0](self.inner.backend, saved, grad, need)

    @gradient()
    def scaled(self, saved: Saved, grad: P, need: Need) -> Grads:
        return answers[0](self.inner.backend, saved, grad, need)

    @gradient()
    def joined(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad, "y": None}


answered = dispatch(Answered)


def called(answer: Answer, device: Device, **options: Any) -> tuple[Tensor, Tensor, Any]:
    """Both leaves, and the gradients of `sum_of` with a rule that gives this answer."""
    answers.append(answer)
    x, y = leaf([[1.0, 2.0], [3.0, 4.0]], device), leaf([10.0, 20.0], device)
    out = run(answered.sum_of, x, y, ints([0, 1], device))
    return x, y, out.backward(**options)


# ---- answers that fit ------------------------------------------------------------------------


def test_none_is_a_gradient_of_zero(ndarray: Device) -> None:
    x, y, gradients = called(lambda b, s, g, n: {"x": None, "y": g}, ndarray)
    assert x.grad(gradients) is None
    assert y.grad(gradients).tolist() == [2.0, 2.0]


def test_gradients_that_nobody_needs_are_not_looked_at(ndarray: Device) -> None:
    answers.append(lambda b, s, g, n: {"x": g, "y": "not a gradient", "ids": object()})
    x, y = leaf([1.0, 2.0], ndarray), Tensor(np.array([1.0, 2.0]), ndarray)
    gradients = run(answered.sum_of, x, y, ints([0], ndarray)).backward()
    assert x.grad(gradients).tolist() == [1.0, 1.0]


def test_need_tells_what_is_tracked(ndarray: Device) -> None:
    seen: list[Any] = []

    def answer(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        seen.append((need.x, need["y"], repr(need)))
        return {"x": grad}

    answers.append(answer)
    x, y = leaf([1.0], ndarray), Tensor(np.array([1.0]), ndarray)
    run(answered.sum_of, x, y, ints([0], ndarray)).backward()
    assert seen == [(True, False, "Need({'x': True, 'y': False})")]


def test_any_mapping_will_do(ndarray: Device) -> None:
    x, _, gradients = called(lambda b, s, g, n: MappingProxyType({"x": g, "y": g}), ndarray)
    assert x.grad(gradients).tolist() == [[1.0, 1.0]] * 2


def test_a_scalar_of_the_library_is_a_gradient_of_a_0d_input(ndarray: Device) -> None:
    answers.append(lambda b, s, g, n: {"x": np.float64(4.0), "y": g})
    x = leaf(1.0, ndarray)
    gradients = run(answered.sum_of, x, leaf(2.0, ndarray), ints([0], ndarray)).backward()
    assert type(x.grad(gradients).into_dispatch().primitive) is np.ndarray
    assert x.grad(gradients).tolist() == 4.0


def test_the_same_tensor_given_twice_gets_both_gradients(device: Device) -> None:
    # f(x, x) = x * x + x + x
    def f(lhs: Tensor, rhs: Tensor) -> Tensor:
        return lhs * rhs + lhs + rhs

    x = leaf([1.5, -2.0], device)
    assert x.grad(f(x, x).backward()).tolist() == [5.0, -2.0]


def test_the_same_tensor_given_twice_to_a_rule_gets_both_gradients(ndarray: Device) -> None:
    answers.append(lambda b, s, g, n: {"x": g, "y": b.float_mul_scalar(g, 10.0)})
    x = leaf([1.0], ndarray)
    gradients = run(answered.sum_of, x, x, ints([0], ndarray)).backward()
    assert x.grad(gradients).tolist() == [11.0]


# ---- answers that do not ---------------------------------------------------------------------


def foreign(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
    """A gradient that belongs to another autodiff backend."""
    other = autodiff_of(backend_for(Device.flex()), NoCheckpointing)
    return {"x": AutodiffTensor(saved.x.primitive, None, "float", other), "y": grad}


MISFITS: list[tuple[Answer, str]] = [
    (lambda b, s, g, n: None, r"returned a NoneType; it returns a dict.*`x`, `y`"),
    (lambda b, s, g, n: [g, g], r"returned a list; it returns a dict"),
    (lambda b, s, g, n: {"x": g, "z": g, "y": g}, r"one for 'z', which is no tensor input"),
    (lambda b, s, g, n: {"x": g, "y": g, 3: g}, r"one for 3, which is no tensor input"),
    (lambda b, s, g, n: {"x": g}, r"left out `y`, which `need` names"),
    (lambda b, s, g, n: {"x": "g", "y": g}, r"returned a str for `x`; gradients are float"),
    (lambda b, s, g, n: {"x": 1.0, "y": g}, r"returned a float for `x`"),
    (lambda b, s, g, n: {"x": s.ids, "y": g}, r"returned a ndarray of dtype int64 for `x`"),
    (
        lambda b, s, g, n: {"x": AutodiffTensor(g, None, "float", None), "y": g},
        r"returned a AutodiffTensor",
    ),
    (lambda b, s, g, n: {"x": b.float_cast(g, float32), "y": g}, r"`x` has dtype float32, the"),
    (lambda b, s, g, n: {"x": b.float_sum(g), "y": g}, r"`x` has shape \[\], .*\[2, 2\]; ret"),
    (
        lambda b, s, g, n: {"x": b.float_reshape(g, (4,)), "y": g},
        r"`x` has shape \[4\], the input has \[2, 2\]",
    ),
]


@pytest.mark.parametrize(("answer", "message"), MISFITS)
def test_an_answer_that_is_no_gradient_is_refused(
    ndarray: Device, answer: Answer, message: str
) -> None:
    with pytest.raises(GradientError, match=r"the gradient of `Answered\.sum_of`.*" + message):
        called(answer, ndarray)


FOREIGNERS: list[tuple[Answer, str]] = [
    (lambda b, s, g, n: {"x": g.primitive, "y": g}, r"returned a ndarray of dtype float64 for"),
    (foreign, r"returned a AutodiffTensor of dtype float64 for `x`"),
]


@pytest.mark.parametrize(("answer", "message"), FOREIGNERS)
def test_a_recorded_pass_refuses_gradients_of_another_backend(
    ndarray: Device, answer: Answer, message: str
) -> None:
    with pytest.raises(GradientError, match=r"`Answered\.sum_of`.*" + message):
        called(answer, ndarray, create_graph=True)


def test_a_gradient_that_was_not_broadcast_is_not_summed(ndarray: Device) -> None:
    gradients = pytest.raises(GradientError, match=r"`x` does not fit: .*\[4\] cannot be summed")
    with gradients:
        run(answered.joined, leaf([1.0, 2.0], ndarray), leaf([3.0, 4.0], ndarray)).backward()


# ---- what a rule may read --------------------------------------------------------------------


def reading(name: str, seen: list[Any]) -> Answer:
    def answer(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        seen.append(saved[name])
        return {"x": grad, "y": grad}

    return answer


@pytest.mark.parametrize("name", ["y", "out", "z", "x.shape", "ids.0"])
def test_what_is_not_saved_cannot_be_read(ndarray: Device, name: str) -> None:
    with pytest.raises(GradientError, match=rf"`Answered\.sum_of` reads `{name}`, which it does"):
        called(reading(name, []), ndarray)


def test_saved_tensors_cannot_be_written(ndarray: Device) -> None:
    def answer(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        for value in (saved.x, saved["ids"], grad):
            with pytest.raises(ValueError, match="read-only"):
                value += 1
        return {"x": grad, "y": grad}

    x, _, gradients = called(answer, ndarray)
    assert x.grad(gradients).tolist() == [[1.0, 1.0]] * 2
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_forward_inputs_stay_as_they_were(ndarray: Device) -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]], ndarray)
    primitive = x.into_dispatch().primitive.primitive
    writeable = primitive.flags.writeable
    answers.append(lambda b, s, g, n: {"x": s.x, "y": g})
    run(answered.sum_of, x, leaf([1.0, 2.0], ndarray), ints([0], ndarray)).backward()
    assert primitive.flags.writeable == writeable


def test_ordinary_arguments_are_read_by_name_and_below(ndarray: Device) -> None:
    seen: list[Any] = []

    def answer(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        seen.append(
            (saved["device"], saved.options, saved["options.factor"], saved["options.at.1"])
        )
        return {"x": grad}

    answers.append(answer)
    options = {"factor": 3.0, "at": (5, 6)}
    run(answered.scaled, leaf([1.0], ndarray), "here", options).backward()
    assert seen == [("here", options, 3.0, 6)]


@pytest.mark.parametrize("name", ["options.none", "options.at.7", "device.none"])
def test_parts_of_ordinary_arguments_that_do_not_exist_are_errors(
    ndarray: Device, name: str
) -> None:
    answers.append(reading(name, []))
    options = {"factor": 3.0, "at": (5, 6)}
    with pytest.raises(GradientError, match=rf"reads `{name}`"):
        run(answered.scaled, leaf([1.0], ndarray), "here", options).backward()


@pytest.mark.parametrize("name", ["ndarray", "libtorch"])
def test_specs_of_all_inputs_can_be_read(name: str) -> None:
    device = Device(name)
    seen: list[Any] = []

    def answer(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        seen.extend(repr(saved.spec(name)) for name in ("x", "y", "ids"))
        seen.append((saved.count("x"), saved.device("x").backend))
        return {"x": grad, "y": grad}

    called(answer, device)
    assert seen == [
        "TensorSpec([2, 2], float64)",
        "TensorSpec([2], float64)",
        "TensorSpec([2], int64)",
        (0, device.backend),
    ]


QUESTIONS: list[tuple[Callable[[Saved], Any], str]] = [
    (lambda saved: saved.spec("z"), r"has no tensor input `z`; inputs are x, y, ids"),
    (lambda saved: saved.device("z"), r"has no tensor input `z`"),
    (lambda saved: saved.device("y"), r"asks for the device of `y`.*add 'y' to `save`"),
]


@pytest.mark.parametrize(("ask", "message"), QUESTIONS)
def test_questions_about_other_tensors_are_errors(
    ndarray: Device, ask: Callable[[Saved], Any], message: str
) -> None:
    with pytest.raises(GradientError, match=message):
        called(lambda b, s, g, n: ask(s), ndarray)


def test_saved_has_no_special_methods_of_its_own_making(ndarray: Device) -> None:
    seen: list[bool] = []

    def answer(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        seen.append(hasattr(saved, "__length_hint__"))
        return {"x": grad, "y": grad}

    called(answer, ndarray)
    assert seen == [False]


def test_every_error_of_a_rule_is_one_of_the_tree(ndarray: Device) -> None:
    with pytest.raises(FirebrickError):
        called(lambda b, s, g, n: {}, ndarray)
