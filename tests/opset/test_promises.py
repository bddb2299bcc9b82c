"""Annotated dimensions at a call: inputs are checked, outputs are what they promise."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, floats, ints, ones, run

from firebrick import Device, Tensor
from firebrick.errors import MetadataMismatchError, ShapeError
from firebrick.extension import (
    Autodiff,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    Int,
    NdArray,
    OpSet,
    P,
    backend_extension,
    dispatch,
    fusion,
)
from firebrick.opset import dispatcher_of
from firebrick.opset.dispatcher import MAX_SIGNATURES


class Boxes(ExtensionType[P]):
    coords: Float[P, "n 4"]
    scores: Float[P, "n"]


@backend_extension(Flex, NdArray, Autodiff)
class Sized(OpSet[P]):
    def matmul(self, lhs: Float[P, "*b m k"], rhs: Float[P, "*b k n"]) -> Float[P, "*b m n"]:
        return self.backend.float_matmul(lhs, rhs)

    def broadcast(self, x: Float[P, "#m n"], y: Float[P, "m #n"]) -> Float[P, "m n"]:
        return self.backend.float_add(x, y)

    def doubled(self, x: Float[P, "n"], y: Float[P, "2*n"]) -> Float[P, "n+n"]:
        return y

    def answer(self, x: FloatTensor[P], value: Any) -> Float[P, "2 2"]:
        return value

    def same(self, x: Float[P, "..."], value: Any) -> Float[P, "..."]:
        return value

    def cast(self, x: Float[P, "n"], value: Any) -> Int[P, "n"]:
        return value

    @fusion(default=True)
    def described(self, x: Float[P, "n"], value: Any) -> Float[P, "n"]:
        return value

    def pair(
        self, x: Float[P, "n"], value: Any
    ) -> tuple[Float[P, "n"], list[Float[P, "n 2"]], Int[P, "n"] | None]:
        return value

    def either(self, x: Float[P, "n"] | Int[P, "n n"]) -> Float[P, "n"] | Int[P, "n n"]:
        return x

    def mixed(self, x: Float[P, "n"], y: Float[P, "n"] | float) -> Float[P, "n"]:
        return x

    def optional(self, x: Float[P, "m"], bias: Float[P, "n"] | None) -> Float[P, "n"]:
        return x if bias is None else bias

    def boxes(self, boxes: list[Boxes[P]], x: Float[P, "n"]) -> Boxes[P]:
        return boxes[0]

    def make(self, x: FloatTensor[P], coords: Any, scores: Any) -> Boxes[P]:
        return Boxes(coords, scores)

    def named(self, parts: dict[str, Float[P, "n"]]) -> Float[P, "n"]:
        return next(iter(parts.values()))

    async def later(self, x: Float[P, "n"], value: Any) -> Float[P, "n"]:
        return value

    def quotient(self, x: Float[P, "m n"]) -> Float[P, "m//n"]:
        return x


Sized.default_on(Flex, NdArray, Autodiff)
sized = dispatch(Sized)


@pytest.fixture(scope="module", params=["flex", "flex+autodiff"])
def place(request: pytest.FixtureRequest) -> Device:
    return Device.flex() if request.param == "flex" else Device.flex().autodiff()


def raw(tensor: Tensor) -> Any:
    """What an implementation would return."""
    return tensor.into_dispatch().primitive


def test_inputs_that_fit_pass(place: Device) -> None:
    assert run(sized.matmul, ones((5, 2, 3), place), ones((5, 3, 4), place)).shape == (5, 2, 4)
    assert run(sized.broadcast, ones((1, 3), place), ones((2, 1), place)).shape == (2, 3)
    assert run(sized.doubled, ones((2,), place), ones((4,), place)).shape == (4,)


@pytest.mark.parametrize(
    ("name", "shapes", "message"),
    [
        ("matmul", [(2, 3), (4, 5)], r"`Sized\.matmul`: `rhs` .* `k` is 3 in `lhs` but 4 here\."),
        (
            "matmul",
            [(1, 2, 3), (3, 5)],
            r"`Sized\.matmul`: `rhs` .* `\*b` is 1 in `lhs` but \[\] he",
        ),
        (
            "matmul",
            [(3,), (3, 5)],
            r"`Sized\.matmul`: `lhs` .* has at least 2 dimensions; got shape",
        ),
        ("broadcast", [(3, 3), (2, 3)], r"`Sized\.broadcast`: `x` .* `m` is 2 in `y` but 3 here\."),
        ("doubled", [(2,), (3,)], r"`Sized\.doubled`: `y` .* `2\*n` is 4 but 3 here\."),
    ],
)
def test_inputs_that_do_not_fit_are_refused_before_the_call(
    place: Device, name: str, shapes: list[tuple[int, ...]], message: str
) -> None:
    with pytest.raises(ShapeError, match=message):
        run(getattr(sized, name), *(ones(shape, place) for shape in shapes))


def test_names_in_dicts_are_shared(place: Device) -> None:
    with pytest.raises(ShapeError, match=r"`parts\.b` .* `n` is 2 in `parts\.a` but 3 here\."):
        run(sized.named, {"a": ones((2,), place), "b": ones((3,), place)})


def test_names_in_structs_are_their_own(place: Device) -> None:
    two, three = (Boxes(ones((n, 4), place), ones((n,), place)) for n in (2, 3))
    assert run(sized.boxes, [two, three], ones((7,), place)).coords.shape == (2, 4)


def test_a_struct_that_disagrees_with_itself_is_refused(place: Device) -> None:
    wrong = Boxes(ones((2, 4), place), ones((3,), place))
    with pytest.raises(
        ShapeError, match=r"`boxes\.1\.scores` .* `n` is 2 in `boxes\.1\.coords` but"
    ):
        run(sized.boxes, [Boxes(ones((1, 4), place), ones((1,), place)), wrong], ones((7,), place))


def test_the_kind_chooses_the_dimensions_in_a_union(place: Device) -> None:
    assert run(sized.either, ones((3,), place)).shape == (3,)
    assert run(sized.either, ints([[1]], place)).shape == (1, 1)
    with pytest.raises(ShapeError, match=r"`x` is declared `n n` and has shape \[1, 2\]"):
        run(sized.either, ints([[1, 2]], place))


def test_an_ordinary_value_in_a_union_has_no_dimensions(place: Device) -> None:
    assert run(sized.mixed, ones((3,), place), 2.0).shape == (3,)
    with pytest.raises(ShapeError, match=r"`y` .* `n` is 3 in `x` but 2 here\."):
        run(sized.mixed, ones((3,), place), ones((2,), place))


def test_an_absent_optional_promises_nothing(place: Device) -> None:
    assert run(sized.optional, ones((3,), place), None).shape == (3,)
    assert run(sized.optional, ones((3,), place), ones((2,), place)).shape == (2,)


def test_an_expression_without_a_value_is_a_shape_error(flex: Device) -> None:
    with pytest.raises(ShapeError, match=r"`Sized\.quotient`: `m//n` divides by zero\."):
        run(sized.quotient, ones((2, 0), flex))


# ---- outputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "returned", "found"),
    [
        (
            "same",
            np.ones((3,), np.float32),
            r"`out` with shape \[2\] and dtype float32 .* shape \[3\]",
        ),
        ("same", np.ones((2,), np.float64), r"`out` with .* dtype float32 .* and dtype float64"),
        ("described", np.ones((3,), np.float32), r"`out` with shape \[2\] by its .* shape \[3\]\."),
        (
            "cast",
            np.ones((3,), np.int32),
            r"`out` with shape \[2\] by its .* returned shape \[3\]\.",
        ),
        (
            "answer",
            np.ones((2, 3), np.float32),
            r"`out` with shape \[2, 2\] .* returned shape \[2, 3\]",
        ),
    ],
)
def test_an_output_of_other_dimensions_than_promised_is_refused(
    flex: Device, name: str, returned: Array, found: str
) -> None:
    with pytest.raises(MetadataMismatchError, match=rf"`Sized\.{name}` declares {found}"):
        run(getattr(sized, name), ones((2,), flex), returned)


@pytest.mark.parametrize(
    ("name", "returned"),
    [
        ("described", np.ones((2,), np.float64)),
        ("cast", np.ones((2,), np.int64)),
    ],
)
def test_a_dtype_that_nothing_promises_is_free(flex: Device, name: str, returned: Array) -> None:
    assert run(getattr(sized, name), ones((2,), flex), returned).dtype.name == str(returned.dtype)


FLOATS, PAIRS = np.ones((2,), np.float32), np.ones((2, 2), np.float32)


PARTS: list[tuple[Any, str]] = [
    ((np.ones((3,), np.float32), [], None), r"`out\.0` with shape \[2\]"),
    ((FLOATS, [PAIRS, FLOATS], None), r"`out\.1\.1` with shape \[2, 2\]"),
    ((FLOATS, [], np.ones((3,), np.int32)), r"`out\.2` with shape \[2\]"),
]


@pytest.mark.parametrize(("returned", "message"), PARTS)
def test_a_part_of_an_output_is_named_by_its_path(
    flex: Device, returned: Any, message: str
) -> None:
    with pytest.raises(MetadataMismatchError, match=message):
        run(sized.pair, ones((2,), flex), returned)


def test_parts_that_are_as_promised_pass(flex: Device) -> None:
    first, rest, ids = run(sized.pair, ones((2,), flex), (FLOATS, [PAIRS], None))
    assert (first.shape, rest[0].shape, ids) == ((2,), (2, 2), None)


def test_a_promise_holds_on_the_autodiff_path(flex: Device) -> None:
    x = ones((2,), flex.autodiff())
    assert run(sized.same, x, raw(x)).shape == (2,)
    with pytest.raises(
        MetadataMismatchError, match=r"`Sized\.same` declares .* on `autodiff<flex>`"
    ):
        run(sized.same, x, raw(ones((3,), flex.autodiff())))


def test_an_output_struct_that_disagrees_with_itself_is_refused(flex: Device) -> None:
    coords, scores = np.ones((2, 4), np.float32), np.ones((3,), np.float32)
    message = (
        r"`Sized\.make`: .* on `flex` returned a struct whose dimensions disagree: `out\.scores`"
    )
    with pytest.raises(MetadataMismatchError, match=message):
        run(sized.make, ones((1,), flex), coords, scores)
    assert run(sized.make, ones((1,), flex), coords, scores[:2]).scores.shape == (2,)


def test_an_asynchronous_operation_keeps_its_promise(flex: Device) -> None:
    x = ones((2,), flex).into_dispatch()

    async def main(value: Array) -> Any:
        return await sized.later(x, value)

    assert asyncio.run(main(FLOATS)).shape == (2,)
    with pytest.raises(
        MetadataMismatchError, match=r"`Sized\.later` declares `out` with shape \[2\]"
    ):
        asyncio.run(main(PAIRS))


# ---- the cache of signatures -------------------------------------------------------------------


def test_a_signature_is_checked_once(flex: Device) -> None:
    dispatcher = dispatcher_of(sized.same)
    assert dispatcher is not None
    run(sized.same, ones((2, 5), flex), np.ones((2, 5), np.float32))
    dispatcher.seen.clear()
    for _ in range(3):
        run(sized.same, ones((2, 5), flex), np.ones((2, 5), np.float32))
    assert len(dispatcher.seen) == 1


def test_another_structure_is_another_signature(flex: Device) -> None:
    dispatcher = dispatcher_of(sized.optional)
    assert dispatcher is not None
    run(sized.optional, ones((3,), flex), None)
    dispatcher.seen.clear()
    run(sized.optional, ones((3,), flex), None)
    run(sized.optional, ones((3,), flex), ones((3,), flex))
    assert len(dispatcher.seen) == 2


def test_the_cache_of_signatures_is_bounded(flex: Device) -> None:
    dispatcher = dispatcher_of(sized.same)
    assert dispatcher is not None
    for index in range(MAX_SIGNATURES + 10):
        dispatcher.check(index, (floats([1.0], flex).into_dispatch(), None))
    assert len(dispatcher.seen) <= MAX_SIGNATURES
