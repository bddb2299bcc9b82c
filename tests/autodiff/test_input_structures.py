"""Gradient rules of operations that take structs, unions, containers and optional tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import ints, leaf, run

from firebrick import Device, Tensor
from firebrick.errors import GradientError
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


class Tree(ExtensionType[P]):
    value: FloatTensor[P]
    left: Tree[P] | None
    right: Tree[P] | None


seen: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()


@backend_extension(NdArray, Autodiff)
class Inputs(OpSet[P]):
    def weighed(self, boxes: Boxes[P], factor: float) -> FloatTensor[P]:
        raise NoDefault

    def by_field(self, boxes: Boxes[P]) -> FloatTensor[P]:
        raise NoDefault

    def applied(
        self, operand: Dense[P] | Sparse[P] | Empty[P], x: FloatTensor[P]
    ) -> FloatTensor[P]:
        raise NoDefault

    def total(self, tensors: list[FloatTensor[P]]) -> FloatTensor[P]:
        raise NoDefault

    def named(self, tensors: dict[str, FloatTensor[P]]) -> FloatTensor[P]:
        raise NoDefault

    def biased(self, x: FloatTensor[P], bias: FloatTensor[P] | None = None) -> FloatTensor[P]:
        raise NoDefault

    def scaled(self, x: FloatTensor[P], factor: FloatTensor[P] | float) -> FloatTensor[P]:
        raise NoDefault

    def shifted(self, x: FloatTensor[P], by: FloatTensor[P] | IntTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def sized(self, x: FloatTensor[P], option: Dense[P] | int) -> FloatTensor[P]:
        raise NoDefault

    def climbed(self, tree: Tree[P]) -> FloatTensor[P]:
        raise NoDefault


def _climbed(tree: Tree[Array] | None) -> Any:
    return 0.0 if tree is None else tree.value + _climbed(tree.left) + 2.0 * _climbed(tree.right)


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

    def shifted(self, x: Array, by: Array) -> Array:
        return x + by

    def sized(self, x: Array, option: Dense[Array] | int) -> Array:
        return x * (option if isinstance(option, int) else option.values)

    def climbed(self, tree: Tree[Array]) -> Array:
        return _climbed(tree)


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
                    "operand.values": b.float_mul(grad, saved.x)
                    if need["operand.values"]
                    else None,
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

    @gradient(save=("by",))
    def shifted(self, saved: Saved, grad: P, need: Need) -> Grads:
        seen.append((saved.spec("by").dtype.kind, need["by"]))
        return {"x": grad, "by": grad if need["by"] else None}

    @gradient(save=("x", "option"))
    def sized(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        option = saved.option
        if isinstance(option, int):
            return {"x": b.float_mul_scalar(grad, float(option)), "option.values": None}
        grads = b.float_mul(grad, option.values), b.float_mul(grad, saved.x)
        return dict(zip(("x", "option.values"), grads, strict=True))

    @gradient(save=("tree",))
    def climbed(self, saved: Saved, grad: P, need: Need) -> Grads:
        seen.append((need["tree.left"], need["tree.right"], need["tree.value"]))
        found: dict[str, Any] = {}

        def climb(tree: Any, path: str, factor: float) -> None:
            if tree is not None:
                found[f"{path}.value"] = self.inner.backend.float_mul_scalar(grad, factor)
                climb(tree.left, f"{path}.left", factor)
                climb(tree.right, f"{path}.right", 2.0 * factor)

        climb(saved.tree, "tree", 1.0)
        return found


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


@pytest.mark.parametrize("kind", ["float", "int"])
def test_the_value_decides_which_kind_of_a_union_counts(device: Device, kind: str) -> None:
    x = leaf([1.0, 2.0], device)
    by = leaf([5.0, 6.0], device) if kind == "float" else ints([5, 6], device)
    gradients = run(inputs.shifted, x, by).backward()
    assert x.grad(gradients).tolist() == [1.0, 1.0]
    assert seen == [(kind, kind == "float")]


def test_a_union_of_a_struct_and_a_number_takes_either(device: Device) -> None:
    x, values = leaf([1.0, 2.0], device), leaf([5.0, 6.0], device)
    by_number = run(inputs.sized, x, 3).backward()
    by_struct = run(inputs.sized, x, Dense(values)).backward()
    assert x.grad(by_number).tolist() == [3.0, 3.0]
    assert x.grad(by_struct).tolist() == [5.0, 6.0]
    assert values.grad(by_struct).tolist() == [1.0, 2.0]


def test_a_recursive_struct_gets_gradients_at_every_depth(device: Device) -> None:
    root, left, below = (leaf([value], device) for value in (1.0, 2.0, 3.0))
    tree = Tree(root, Tree(left, None, Tree(below, None, None)), None)
    gradients = run(inputs.climbed, tree).backward()
    assert [x.grad(gradients).item() for x in (root, left, below)] == [1.0, 1.0, 2.0]
    assert seen == [(True, False, True)]
