"""Structs, unions and containers as inputs and outputs of calls, plain and tracked."""

from __future__ import annotations

from typing import Any

import pytest
from tests.opset.calling import bools, floats, ints, run

from firebrick import Device
from firebrick.errors import KindError
from firebrick.extension import (
    Autodiff,
    BoolTensor,
    ExtensionType,
    Flex,
    FloatTensor,
    IntTensor,
    NdArray,
    OpSet,
    P,
    backend_extension,
    dispatch,
)


class Base(ExtensionType[P]):
    values: FloatTensor[P]
    count: int = 1


class Derived(Base[P]):
    ids: IntTensor[P] | None = None


class Tree(ExtensionType[P]):
    value: FloatTensor[P]
    children: list[Tree[P]]


class Empty(ExtensionType[P]): ...


class Stranger(ExtensionType[P]):
    values: FloatTensor[P]


@backend_extension(Flex, NdArray, Autodiff)
class Ops(OpSet[P]):
    def same(self, base: Base[P]) -> Base[P]:
        return base

    def negated(self, tree: Tree[P]) -> Tree[P]:
        children = [self.negated(child) for child in tree.children]
        return Tree(self.backend.float_neg(tree.value), children)

    def scaled(self, x: FloatTensor[P], by: FloatTensor[P] | float) -> FloatTensor[P]:
        b = self.backend
        return b.float_mul_scalar(x, by) if isinstance(by, float | int) else b.float_mul(x, by)

    def either(
        self, x: FloatTensor[P] | IntTensor[P] | Empty[P], y: FloatTensor[P]
    ) -> FloatTensor[P] | IntTensor[P] | str:
        return "empty" if isinstance(x, Empty) else x

    def answer(self, x: FloatTensor[P], value: Any) -> Base[P] | FloatTensor[P] | float:
        return value

    def nested(
        self,
        xs: list[tuple[FloatTensor[P], Base[P] | None]],
        named: dict[str, list[IntTensor[P]]],
        rest: tuple[BoolTensor[P], ...] = (),
    ) -> tuple[dict[str, FloatTensor[P]], list[Base[P] | None], tuple[BoolTensor[P], ...]]:
        parts = {str(i): x for i, (x, _) in enumerate(xs)}
        return parts, [base for _, base in xs], rest


Ops.default_on(Flex, NdArray, Autodiff)
ops = dispatch(Ops)


@pytest.fixture(scope="module", params=["flex", "ndarray", "flex+autodiff"])
def place(request: pytest.FixtureRequest) -> Device:
    name, _, context = request.param.partition("+")
    return Device(name).autodiff() if context else Device(name)


def test_a_derived_struct_goes_where_its_base_is_declared(place: Device) -> None:
    out = run(ops.same, Derived(floats([1.0], place), 7, ints([2], place)))
    assert type(out).__name__ == "Derived"
    assert (out.values.tolist(), out.count, out.ids.tolist()) == ([1.0], 7, [2])


def test_a_recursive_struct_is_walked_to_its_end(place: Device) -> None:
    leaf = Tree(floats([1.0], place), [])
    out = run(ops.negated, Tree(floats([2.0], place), [leaf, Tree(floats([3.0], place), [leaf])]))
    assert out.value.tolist() == [-2.0]
    assert out.children[1].children[0].value.tolist() == [-1.0]


def test_a_tensor_or_a_number_is_taken(place: Device) -> None:
    x = floats([3.0], place)
    assert run(ops.scaled, x, 2.0).tolist() == [6.0]
    assert run(ops.scaled, x, x).tolist() == [9.0]


def test_the_value_decides_between_kinds(place: Device) -> None:
    y = floats([1.0], place)
    assert run(ops.either, floats([2.0], place), y).kind == "float"
    assert run(ops.either, ints([2], place), y).kind == "int"
    assert run(ops.either, Empty(), y) == "empty"


def test_a_plain_operand_meets_a_tracked_one_inside_a_union(flex: Device) -> None:
    x = floats([3.0], flex.autodiff()).require_grad()
    out = run(ops.scaled, x, floats([2.0], flex))
    assert x.grad(out.sum().backward()).tolist() == [2.0]


def test_an_output_may_be_any_option_of_a_union(flex: Device) -> None:
    x = floats([1.0], flex)
    raw = x.into_dispatch().primitive
    assert run(ops.answer, x, 2.5) == 2.5
    assert run(ops.answer, x, raw).tolist() == [1.0]
    assert run(ops.answer, x, Base(raw, 3)).count == 3


def test_an_output_that_is_no_option_of_a_union_is_refused(flex: Device) -> None:
    x = floats([1.0], flex)
    accepted = r"a `Base`, a tensor of kind float or a `float`"
    with pytest.raises(KindError, match=rf"returned a Stranger where `out` is declared {accepted}"):
        run(ops.answer, x, Stranger(x.into_dispatch().primitive))
    with pytest.raises(
        KindError, match=rf"a tensor of kind int where `out` is declared {accepted}"
    ):
        run(ops.answer, x, ints([1], flex).into_dispatch().primitive)


def test_containers_nest_at_will(place: Device) -> None:
    x = floats([1.0], place)
    parts, bases, rest = run(
        ops.nested,
        [(x, None), (x, Base(x))],
        {"a": [ints([1], place)], "b": []},
        (bools([True], place), bools([False], place)),
    )
    assert [part.tolist() for part in parts.values()] == [[1.0], [1.0]]
    assert [None if base is None else base.count for base in bases] == [None, 1]
    assert [mask.tolist() for mask in rest] == [[True], [False]]


def test_a_default_container_is_used(place: Device) -> None:
    _, _, rest = run(ops.nested, [(floats([1.0], place), None)], {})
    assert rest == ()


X = Device.flex()
WRONG: dict[str, tuple[Any, str]] = {
    "a kind in a struct in a tuple in a list": (
        ([(floats([1.0], X), Base(ints([1], X)))], {}),
        r"`xs\.0\.1\.values` is declared a tensor of kind float; got a tensor of kind int\.",
    ),
    "a kind in a list in a dict": (
        ([], {"a": [], "b": [ints([1], X), floats([1.0], X)]}),
        r"`named\.b\.1` is declared a tensor of kind int; got a tensor of kind float\.",
    ),
    "another struct": (
        ([(floats([1.0], X), Stranger(floats([1.0], X)))], {}),
        r"`xs\.0\.1` is declared a `Base`; got a Stranger\.",
    ),
    "a tuple that is too long": (
        ([(floats([1.0], X), None, 3)], {}),
        r"`xs\.0` is declared a tuple of 2; got a tuple of 3\.",
    ),
    "no list": ((floats([1.0], X), {}), r"`xs` is declared a list; got a tensor of kind float\."),
    "no dict": (([], [("a", [])]), r"`named` is declared a dict with str keys; got a list of 1\."),
    "None where nothing is optional": (
        ([(None, None)], {}), r"`xs\.0\.0` is declared a tensor of kind float; got None\.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_an_input_that_is_not_as_declared_is_named_by_its_path(case: str) -> None:
    arguments, message = WRONG[case]
    with pytest.raises(KindError, match=rf"`Ops\.nested`: {message}"):
        run(ops.nested, *arguments)


@pytest.mark.parametrize("position", [0, 1])
def test_a_user_tensor_that_was_not_converted_is_told(flex: Device, position: int) -> None:
    user = floats([1.0], flex)
    arguments: list[Any] = [user.into_dispatch(), user.into_dispatch()]
    arguments[position] = user
    message = (
        r"got a user `Tensor`; convert it with `\.into_dispatch\(\)` or `into_dispatch\(\.\.\.\)"
    )
    with pytest.raises(
        KindError, match=rf"`Ops\.scaled`: `{'x' if position == 0 else 'by'}`.*{message}"
    ):
        ops.scaled(*arguments)


def test_a_user_tensor_inside_a_struct_is_told(flex: Device) -> None:
    value: Any = Base(floats([1.0], flex))
    with pytest.raises(
        KindError, match=r"`Ops\.same`: `base\.values` .* got a user `Tensor`; convert"
    ):
        ops.same(value)
