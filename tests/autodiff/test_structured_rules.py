"""Gradient rules of operations with several outputs, and with structs, unions and containers."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import pytest
from tests.autodiff.tensors import ints, leaf, run

from firebrick import Device, Tensor
from firebrick.errors import GradientError, KindError
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    ExtensionType,
    FloatTensor,
    Grads,
    IntTensor,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
)

STRATEGIES = ["NoCheckpointing", "BalancedCheckpointing"]
Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(params=STRATEGIES)
def device(request: pytest.FixtureRequest) -> Device:
    plain = Device.ndarray().autodiff()
    return plain if request.param == "NoCheckpointing" else plain.gradient_checkpointing()


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    scores: FloatTensor[P]
    labels: IntTensor[P]
    count: int


class Dense(ExtensionType[P]):
    values: FloatTensor[P]


class Sparse(ExtensionType[P]):
    values: FloatTensor[P]
    indices: IntTensor[P]


class Empty(ExtensionType[P]):
    size: int


seen: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()


@backend_extension(NdArray, Autodiff)
class Outputs(OpSet[P]):
    def double_and_triple(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], FloatTensor[P]]:
        raise NoDefault

    def ranked(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], IntTensor[P]]:
        raise NoDefault

    def boxed(self, x: FloatTensor[P]) -> Boxes[P]:
        raise NoDefault

    def whole(self, x: FloatTensor[P]) -> Boxes[P]:
        raise NoDefault

    def with_rest(
        self, x: FloatTensor[P], wanted: bool
    ) -> tuple[FloatTensor[P], Optional[FloatTensor[P]]]:
        raise NoDefault

    def pieces(self, x: FloatTensor[P]) -> list[FloatTensor[P]]:
        raise NoDefault

    def listed(self, x: FloatTensor[P]) -> list[FloatTensor[P]]:
        raise NoDefault

    def measured(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], int]:
        raise NoDefault

    def misfit(self, x: FloatTensor[P], what: str) -> tuple[FloatTensor[P], FloatTensor[P]]:
        raise NoDefault


def _boxed(x: Array) -> Boxes[Array]:
    return Boxes(x * 2.0, np.exp(x), np.arange(len(x)), len(x))


class NdArrayOutputs(Outputs[Array], on=NdArray):
    def double_and_triple(self, x: Array) -> tuple[Array, Array]:
        return x * 2.0, x * 3.0

    def ranked(self, x: Array) -> tuple[Array, Array]:
        order = np.argsort(x)
        return x[order], order

    def boxed(self, x: Array) -> Boxes[Array]:
        return _boxed(x)

    def whole(self, x: Array) -> Boxes[Array]:
        return _boxed(x)

    def with_rest(self, x: Array, wanted: bool) -> tuple[Array, Array | None]:
        return x * 2.0, x * 5.0 if wanted else None

    def pieces(self, x: Array) -> list[Array]:
        return list(x)  # numpy scalars: they are wrapped

    def listed(self, x: Array) -> list[Array]:
        return [x * 2.0, x * 4.0]

    def measured(self, x: Array) -> tuple[Array, int]:
        return x * 2.0, len(x)

    def misfit(self, x: Array, what: str) -> Any:
        found: dict[str, Any] = {
            "three": (x, x, x), "one": x, "int": (x, np.arange(2)), "text": (x, "y"),
        }  # fmt: skip
        return found[what]


class AutodiffOutputs(Outputs[AutodiffTensor], on=Autodiff):
    @gradient()
    def double_and_triple(self, saved: Saved, double: P, triple: P, need: Need) -> Grads:
        b = self.inner.backend
        seen.append((tuple(double.shape), tuple(triple.shape)))
        return {"x": b.float_add(b.float_mul_scalar(double, 2.0), b.float_mul_scalar(triple, 3.0))}

    @gradient(save=("out.1",), cost="memory")
    def ranked(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        spec = saved.spec("x")
        zeros = b.float_zeros(spec.shape, b.device_of(grad), spec.dtype)
        return {"x": b.float_select_add(zeros, 0, saved["out.1"], grad)}

    @gradient(save=("out.scores", "out.labels"), cost="memory")
    def boxed(self, saved: Saved, coords: P, scores: P, need: Need) -> Grads:
        b = self.inner.backend
        seen.append(saved["out.labels"])
        grad = b.float_mul(scores, saved["out.scores"])
        return {"x": b.float_add(b.float_mul_scalar(coords, 2.0), grad)}

    @gradient(save=("out",), cost="memory")
    def whole(self, saved: Saved, coords: P, scores: P, need: Need) -> Grads:
        b = self.inner.backend
        out = saved.out
        seen.append((type(out), out.count, saved["out.count"]))
        grad = b.float_mul(scores, out.scores)
        return {"x": b.float_add(b.float_mul_scalar(coords, 2.0), grad)}

    @gradient(save=("out.1",), cost="memory")
    def with_rest(self, saved: Saved, *grads: Any) -> Grads:
        *outputs, need = grads
        b = self.inner.backend
        seen.append((len(outputs), saved["out.1"] is None, need.x))
        grad = b.float_mul_scalar(outputs[0], 2.0)
        for rest in outputs[1:]:
            grad = b.float_add(grad, b.float_mul_scalar(rest, 5.0))
        return {"x": grad}

    @gradient(save=("out",), cost="memory")
    def pieces(self, saved: Saved, *grads: P, need: Need) -> Grads:
        b = self.inner.backend
        seen.append((len(saved.out), [tuple(piece.shape) for piece in saved.out]))
        return {"x": b.float_cat([b.float_reshape(grad, (1,)) for grad in grads], 0)}

    @gradient()
    def listed(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}

    @gradient()
    def measured(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": self.inner.backend.float_mul_scalar(grad, 2.0)}

    @gradient()
    def misfit(self, saved: Saved, first: P, second: P, need: Need) -> Grads:
        return {"x": first}


outputs = dispatch(Outputs)


def test_both_outputs_of_a_tuple_send_gradients(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    double, triple = run(outputs.double_and_triple, x)
    gradients = (double + triple * 10.0).backward()
    assert x.grad(gradients).tolist() == [32.0, 32.0]


@pytest.mark.parametrize(("used", "slope"), [(0, 2.0), (1, 3.0)])
def test_an_output_that_is_not_used_has_a_gradient_of_zeros(
    device: Device, used: int, slope: float
) -> None:
    x = leaf([1.0, 2.0], device)
    out = run(outputs.double_and_triple, x)[used]
    assert x.grad(out.backward()).tolist() == [slope, slope]
    assert seen == [((2,), (2,))]


def test_an_output_may_be_the_root_while_others_are_used_elsewhere(device: Device) -> None:
    x = leaf([1.0], device)
    double, triple = run(outputs.double_and_triple, x)
    del triple
    first = double.backward(retain_graph=True)
    second = (double * double).backward()
    assert x.grad(first).tolist() == [2.0]
    assert x.grad(second).tolist() == [8.0]


def test_a_saved_int_output_is_read_by_its_path(device: Device) -> None:
    x = leaf([3.0, 1.0, 2.0], device)
    values, order = run(outputs.ranked, x)
    weights = Tensor.from_floats([1.0, 10.0, 100.0], device).cast(x.dtype)
    gradients = (values * weights).backward()
    assert order.tolist() == [1, 2, 0]
    assert not order.is_tracked
    assert x.grad(gradients).tolist() == [100.0, 1.0, 10.0]


def test_saved_fields_of_an_output_struct_are_read_by_their_paths(device: Device) -> None:
    x = leaf([0.0, 1.0], device)
    boxes = run(outputs.boxed, x)
    gradients = (boxes.coords + boxes.scores).backward()
    np.testing.assert_allclose(x.grad(gradients).numpy(), 2.0 + np.exp([0.0, 1.0]), rtol=1e-15)
    assert boxes.count == 2
    np.testing.assert_array_equal(seen[0], [0, 1])


def test_the_name_out_stands_for_the_whole_output_struct(device: Device) -> None:
    x = leaf([0.0, 1.0], device)
    gradients = run(outputs.whole, x).scores.backward()
    np.testing.assert_allclose(x.grad(gradients).numpy(), np.exp([0.0, 1.0]), rtol=1e-15)
    assert seen == [(Boxes, 2, 2)]


def test_second_derivatives_pass_through_a_saved_output_struct(device: Device) -> None:
    x = leaf([0.0, 1.0], device)
    first = x.grad(run(outputs.whole, x).scores.backward(create_graph=True))
    second = x.grad(first.backward())
    np.testing.assert_allclose(second.numpy(), np.exp([0.0, 1.0]), rtol=1e-15)


@pytest.mark.parametrize(("wanted", "slope"), [(True, 7.0), (False, 2.0)])
def test_an_optional_output_counts_only_where_it_is(
    device: Device, wanted: bool, slope: float
) -> None:
    x = leaf([1.0], device)
    first, rest = run(outputs.with_rest, x, wanted)
    out = first if rest is None else first + rest
    assert x.grad(out.backward()).tolist() == [slope]
    assert seen == [(1 + wanted, not wanted, True)]


def test_a_list_of_outputs_gives_the_rule_one_gradient_each(device: Device) -> None:
    x = leaf([1.0, 2.0, 3.0], device)
    first, _, last = run(outputs.pieces, x)
    assert x.grad((first + last * 3.0).backward()).tolist() == [1.0, 0.0, 3.0]
    assert seen == [(3, [(), (), ()])]


def test_a_rule_for_another_number_of_outputs_says_how_to_write_it(device: Device) -> None:
    first, _ = run(outputs.listed, leaf([1.0], device))
    with pytest.raises(GradientError, match=r"`Outputs\.listed`.*this call has 2.*\*grads, need"):
        first.backward()


def test_a_plain_value_beside_a_tensor_passes_through(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    out, size = run(outputs.measured, x)
    assert size == 2
    assert x.grad(out.backward()).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("three", r"returned a tuple where `out` is declared a tuple of 2"),
        ("one", r"returned a ndarray where `out` is declared a tuple of 2"),
        ("int", r"returned a tensor of kind int where `out.1` is declared a tensor of kind float"),
        ("text", r"returned a str where `out.1` is declared a tensor of kind float"),
    ],
)
def test_outputs_of_another_structure_are_refused(device: Device, out: str, message: str) -> None:
    with pytest.raises(KindError, match=r"`Outputs\.misfit`: .*`ndarray` " + message):
        run(outputs.misfit, leaf([1.0, 2.0], device), out)


# ---- inputs ----------------------------------------------------------------------------------


@backend_extension(NdArray, Autodiff)
class Inputs(OpSet[P]):
    def weighed(self, boxes: Boxes[P], factor: float) -> FloatTensor[P]:
        raise NoDefault

    def by_field(self, boxes: Boxes[P]) -> FloatTensor[P]:
        raise NoDefault

    def applied(self, operand: Dense[P] | Sparse[P] | Empty[P], x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def total(self, tensors: list[FloatTensor[P]]) -> FloatTensor[P]:
        raise NoDefault

    def named(self, tensors: dict[str, FloatTensor[P]]) -> FloatTensor[P]:
        raise NoDefault

    def biased(self, x: FloatTensor[P], bias: Optional[FloatTensor[P]] = None) -> FloatTensor[P]:
        raise NoDefault

    def scaled(self, x: FloatTensor[P], factor: FloatTensor[P] | float) -> FloatTensor[P]:
        raise NoDefault


class NdArrayInputs(Inputs[Array], on=NdArray):
    def weighed(self, boxes: Boxes[Array], factor: float) -> Array:
        return boxes.coords * boxes.scores * factor * boxes.count

    def by_field(self, boxes: Boxes[Array]) -> Array:
        return boxes.coords * boxes.count

    def applied(self, operand: Dense[Array] | Sparse[Array] | Empty[Array], x: Array) -> Array:
        match operand:
            case Dense(values):
                return values * x
            case Sparse(values, indices):
                out = np.zeros_like(x)
                out[indices] = values * x[indices]
                return out
            case _:
                return x * 0.0

    def total(self, tensors: list[Array]) -> Array:
        return sum(tensors, start=np.zeros(2))

    def named(self, tensors: dict[str, Array]) -> Array:
        return tensors["a"] * tensors["b"]

    def biased(self, x: Array, bias: Array | None = None) -> Array:
        return x if bias is None else x + bias

    def scaled(self, x: Array, factor: Array | float) -> Array:
        return x * factor


class AutodiffInputs(Inputs[AutodiffTensor], on=Autodiff):
    @gradient(save=("boxes",))
    def weighed(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        boxes = saved.boxes
        seen.append((type(boxes), boxes.count, saved["boxes.count"], need.boxes))
        grad = b.float_mul_scalar(grad, saved.factor * boxes.count)
        return {
            "boxes.coords": b.float_mul(grad, boxes.scores) if need["boxes.coords"] else None,
            "boxes.scores": b.float_mul(grad, boxes.coords) if need["boxes.scores"] else None,
        }

    @gradient(save=("boxes.labels",))
    def by_field(self, saved: Saved, grad: P, need: Need) -> Grads:
        count = saved["boxes.count"]
        return {
            "boxes.coords": self.inner.backend.float_mul_scalar(grad, count),
            "boxes.scores": saved.boxes,
        }

    @gradient(save=("operand", "x"))
    def applied(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        seen.append((type(saved.operand), need["operand.values"], need.x))
        match saved.operand:
            case Dense(values):
                return {
                    "operand.values": b.float_mul(grad, saved.x) if need["operand.values"] else None,
                    "x": b.float_mul(grad, values) if need.x else None,
                }
            case Sparse(values, indices):
                part = b.float_select(grad, 0, indices)
                zeros = b.float_zeros(tuple(grad.shape), b.device_of(grad), saved.spec("x").dtype)
                here = b.float_mul(part, b.float_select(saved.x, 0, indices))
                back = b.float_select_add(zeros, 0, indices, b.float_mul(part, values))
                return {"operand.values": here, "x": back}
            case _:
                return {"operand.values": None, "x": None}

    @gradient()
    def total(self, saved: Saved, grad: P, need: Need) -> Grads:
        seen.append((saved.count("tensors"), need.tensors))
        return {f"tensors.{index}": grad for index in range(saved.count("tensors"))}

    @gradient(save=("tensors",))
    def named(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        tensors = saved.tensors
        return {
            "tensors.a": b.float_mul(grad, tensors["b"]),
            "tensors.b": b.float_mul(grad, saved["tensors.a"]),
        }

    @gradient(save=("bias",))
    def biased(self, saved: Saved, grad: P, need: Need) -> Grads:
        seen.append((saved.bias is None, need.bias))
        return {"x": grad, "bias": grad if need.bias else None}

    @gradient(save=("x", "factor"))
    def scaled(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        factor = saved.factor
        if isinstance(factor, float):
            return {"x": b.float_mul_scalar(grad, factor)}
        return {"x": b.float_mul(grad, factor), "factor": b.float_mul(grad, saved.x)}


inputs = dispatch(Inputs)


def boxes_of(coords: Tensor, scores: Tensor, device: Device) -> Boxes[Tensor]:
    return Boxes(coords, scores, ints([7, 8], device), 3)


def test_saving_a_struct_gives_the_struct(device: Device) -> None:
    boxes = boxes_of(leaf([1.0, 2.0], device), leaf([3.0, 4.0], device), device)
    gradients = run(inputs.weighed, boxes, 10.0).backward()
    assert boxes.coords.grad(gradients).tolist() == [90.0, 120.0]
    assert boxes.scores.grad(gradients).tolist() == [30.0, 60.0]
    assert seen == [(Boxes, 3, 3, True)]


def test_the_same_tensor_in_two_fields_gets_the_sum(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    gradients = run(inputs.weighed, boxes_of(x, x, device), 1.0).backward()
    assert x.grad(gradients).tolist() == [6.0, 12.0]  # 3 x ** 2


def test_second_derivatives_pass_through_a_saved_struct(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    out = run(inputs.weighed, boxes_of(x, x, device), 1.0)
    first = x.grad(out.backward(create_graph=True))
    assert x.grad(first.backward()).tolist() == [6.0, 6.0]


def test_a_struct_that_is_saved_in_part_cannot_be_read_whole(device: Device) -> None:
    boxes = boxes_of(leaf([1.0, 2.0], device), leaf([3.0, 4.0], device), device)
    with pytest.raises(GradientError, match=r"`Inputs\.by_field` reads `boxes`.*add 'boxes' to"):
        run(inputs.by_field, boxes).backward()


def test_a_dense_variant_of_a_union_gets_its_gradient(device: Device) -> None:
    values, x = leaf([2.0, 3.0], device), leaf([5.0, 7.0], device)
    gradients = run(inputs.applied, Dense(values), x).backward()
    assert values.grad(gradients).tolist() == [5.0, 7.0]
    assert x.grad(gradients).tolist() == [2.0, 3.0]
    assert seen == [(Dense, True, True)]


def test_a_variant_with_indices_gets_its_gradient(device: Device) -> None:
    values, x = leaf([2.0], device), leaf([5.0, 7.0], device)
    gradients = run(inputs.applied, Sparse(values, ints([1], device)), x).backward()
    assert values.grad(gradients).tolist() == [7.0]
    assert x.grad(gradients).tolist() == [0.0, 2.0]


def test_need_is_false_for_fields_that_the_active_variant_has_not(device: Device) -> None:
    x = leaf([5.0, 7.0], device)
    gradients = run(inputs.applied, Empty(2), x).backward()
    assert x.grad(gradients) is None
    assert seen == [(Empty, False, True)]


def test_need_is_false_for_an_untracked_tensor_of_a_struct(device: Device) -> None:
    x = leaf([5.0, 7.0], device)
    constant = Tensor(np.array([2.0, 3.0]), device)
    run(inputs.applied, Dense(constant), x).backward()
    assert seen == [(Dense, False, True)]


def test_every_tensor_of_a_list_gets_its_gradient(device: Device) -> None:
    tensors = [leaf([1.0, 2.0], device), leaf([3.0, 4.0], device)]
    gradients = run(inputs.total, tensors).backward()
    assert [x.grad(gradients).tolist() for x in tensors] == [[1.0, 1.0]] * 2
    assert seen == [(2, True)]


def test_a_tensor_that_is_twice_in_a_list_gets_both_gradients(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    gradients = run(inputs.total, [x, x, x]).backward()
    assert x.grad(gradients).tolist() == [3.0, 3.0]


def test_tensors_of_a_dict_get_gradients_by_key(device: Device) -> None:
    a, b = leaf([1.0, 2.0], device), leaf([3.0, 4.0], device)
    gradients = run(inputs.named, {"a": a, "b": b}).backward()
    assert a.grad(gradients).tolist() == [3.0, 4.0]
    assert b.grad(gradients).tolist() == [1.0, 2.0]


def test_an_optional_input_may_be_absent(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    assert x.grad(run(inputs.biased, x).backward()).tolist() == [1.0, 1.0]
    assert seen == [(True, False)]


def test_an_optional_input_gets_its_gradient_where_it_is(device: Device) -> None:
    x, bias = leaf([1.0, 2.0], device), leaf([5.0], device)
    gradients = run(inputs.biased, x, bias=bias).backward()
    assert bias.grad(gradients).tolist() == [2.0]
    assert seen == [(False, True)]


def test_a_tensor_or_a_number_may_be_what_scales(device: Device) -> None:
    x, factor = leaf([1.0, 2.0], device), leaf([5.0, 7.0], device)
    by_number = run(inputs.scaled, x, 3.0).backward()
    by_tensor = run(inputs.scaled, x, factor).backward()
    assert x.grad(by_number).tolist() == [3.0, 3.0]
    assert x.grad(by_tensor).tolist() == [5.0, 7.0]
    assert factor.grad(by_tensor).tolist() == [1.0, 2.0]
