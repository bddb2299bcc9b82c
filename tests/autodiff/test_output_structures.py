"""Gradient rules of operations that return tuples, structs, lists, and optional tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, run

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


seen: list[Any] = []
reads: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()
    reads.clear()


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
    ) -> tuple[FloatTensor[P], FloatTensor[P] | None]:
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
        for read in reads:
            read(saved)
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


@pytest.mark.parametrize("name", ["out.none", "out.scores.shape", "out.labels.0"])
def test_what_an_output_struct_has_not_cannot_be_read(device: Device, name: str) -> None:
    def read(saved: Saved) -> None:
        with pytest.raises(GradientError, match=rf"`Outputs\.whole` reads `{name}`"):
            saved[name]

    reads.append(read)
    run(outputs.whole, leaf([0.0, 1.0], device)).scores.backward()
    assert len(seen) == 1


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
