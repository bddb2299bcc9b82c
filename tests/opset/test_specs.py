"""What outputs will be, worked out from specs, and compared with what came back."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.opset.calling import declare

from firebrick import float32, float64, int32
from firebrick.errors import FusionFormError, ShapeError
from firebrick.extension import (
    ExtensionType,
    Float,
    FloatTensor,
    Int,
    IntTensor,
    P,
    TensorSpec,
    fusion,
)
from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
)
from firebrick.opset.specs import mismatch, output_specs

form: Any = fusion


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    count: int
    ids: IntTensor[P] | None = None


class Other(ExtensionType[P]):
    values: FloatTensor[P]


def spec(*shape: int, dtype: Any = float32) -> TensorSpec:
    return TensorSpec(shape, dtype)


def specs(function: Any, **arguments: Any) -> Any:
    return output_specs(declare(op=function).__operations__["op"], arguments)


def one(self: Any, x: FloatTensor[P], size: int = 2) -> FloatTensor[P]: ...


def ids_of(self: Any, x: FloatTensor[P]) -> IntTensor[P]: ...


def pair(self: Any, x: FloatTensor[P]) -> tuple[FloatTensor[P], Boxes[P]]: ...


def test_a_name_copies_an_operand() -> None:
    assert specs(form(dtype="x", shape="x")(one), x=spec(2, 3), size=1) == spec(2, 3)


def test_callables_see_dtypes_shapes_and_values() -> None:
    function = form(dtype=lambda x: x, shape=lambda size, x: (size, *x))(one)
    assert specs(function, x=spec(3, dtype=float64), size=4) == spec(4, 3, dtype=float64)


def test_callables_may_take_operands_by_keyword() -> None:
    function = form(dtype="x", shape=lambda x, *, size: (*x, size))(one)
    assert specs(function, x=spec(3), size=4) == spec(3, 4)


def test_meta_sees_specs() -> None:
    found = specs(form(meta=lambda x: (x, Boxes(x, x.shape[0])))(pair), x=spec(5))
    assert found == (spec(5), Boxes(spec(5), 5))


def test_an_ordinary_argument_that_is_a_spec_is_its_value() -> None:
    def filled(self: Any, x: FloatTensor[P], like: TensorSpec) -> FloatTensor[P]: ...

    function = form(dtype=lambda like: like.dtype, shape=lambda like: like.shape)(filled)
    like = spec(7, dtype=float64)
    assert specs(function, x=spec(1), like=like) == like


def test_containers_are_seen_through() -> None:
    def stacked(
        self: Any,
        xs: list[FloatTensor[P]],
        named: dict[str, FloatTensor[P]],
        two: tuple[FloatTensor[P], int],
        bias: FloatTensor[P] | None,
    ) -> FloatTensor[P]: ...

    def shape(xs: Any, named: Any, two: Any, bias: Any) -> Any:
        assert (xs, named, two, bias) == ([(1,), (2,)], {"a": (3,)}, ((4,), 5), None)
        return xs[1]

    arguments: dict[str, Any] = {
        "xs": (spec(1), spec(2)), "named": {"a": spec(3)}, "two": (spec(4), 5), "bias": None,
    }  # fmt: skip
    assert specs(form(dtype=lambda xs: xs[0], shape=shape)(stacked), **arguments) == spec(2)


def test_bound_dimensions_need_no_form() -> None:
    def op(
        self: Any, x: Float[P, "m k"], ids: Int[P, "n"]
    ) -> tuple[Float[P, "m n"], Int[P, "k"]]: ...

    found = specs(op, x=spec(2, 3, dtype=float64), ids=spec(5, dtype=int32))
    assert found == (spec(2, 5, dtype=float64), spec(3, dtype=int32))


def test_dimensions_that_do_not_fit_are_a_shape_error() -> None:
    def op(self: Any, x: Float[P, "m"], y: Float[P, "m"]) -> Float[P, "m"]: ...

    with pytest.raises(
        ShapeError, match=r"`y` is declared `m` and has shape \[3\]: `m` is 2 in `x`"
    ):
        specs(op, x=spec(2), y=spec(3))


@pytest.mark.parametrize("given", [{"default": True}, {"sync": True}])
def test_a_form_that_describes_nothing_says_so(given: dict[str, Any]) -> None:
    def op(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    with pytest.raises(
        FusionFormError, match=r"`Ops\.op` does not describe its outputs beforehand"
    ):
        specs(form(**given)(op), x=spec(2))


def test_no_form_and_no_dimensions_describe_nothing() -> None:
    with pytest.raises(
        FusionFormError, match=r"`Ops\.op` does not describe its outputs beforehand"
    ):
        specs(one, x=spec(2), size=2)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (form(dtype=lambda x: "float32", shape="x")(one), r"`dtype` of `Ops\.op` gives 'float32',"),
        (form(dtype="x", shape=lambda x: 3)(one), r"`shape` of `Ops\.op` gives 3, which is no sha"),
        (form(dtype="x", shape="x")(ids_of), r"gives TensorSpec\(\[2\], float32\) where `out` is de"
         r".* a tensor of kind int\."),
        (form(meta=lambda x: x)(pair), r"gives TensorSpec.* where `out` is declared a tuple of 2"),
        (form(meta=lambda x: (x, Other(x)))(pair), r"gives Other.* where `out\.1` is declared a `"),
        (form(meta=lambda x: (3, Boxes(x, 1)))(pair), r"gives 3 where `out\.0` is declared a tens"),
    ],
)  # fmt: skip
def test_a_form_that_gives_something_else_than_declared_is_refused(
    function: Any, message: str
) -> None:
    with pytest.raises(FusionFormError, match=message):
        specs(function, x=spec(2), size=1)


# ---- comparison --------------------------------------------------------------------------------

FLOAT, BOXES = TensorNode("float"), StructNode(Boxes)
CASES: list[tuple[Any, Any, Any, str | None]] = [
    (FLOAT, spec(2), spec(2), None),
    (FLOAT, spec(2), spec(3), r"`out` is declared as .*\[2\].* but the backend returned .*\[3\]"),
    (FLOAT, spec(2), spec(2, dtype=float64), "float32.* but the backend returned .*float64"),
    (TupleNode((FLOAT, FLOAT)), (spec(2), spec(3)), (spec(2), spec(4)), r"`out\.1` is declared as"),
    (TupleNode((FLOAT, FLOAT)), (spec(2), spec(3)), (spec(2),), "with 2 items, got 1"),
    (BOXES, Boxes(spec(2), 1), Boxes(spec(2), 1), None),
    (BOXES, Boxes(spec(2), 1), Boxes(spec(2), 2), r"`out\.count` is declared as 1 but is 2"),
    (BOXES, Boxes(spec(2), 1, spec(1)), Boxes(spec(2), 1), r"`out\.ids` is declared as TensorSpec"),
    (BOXES, Boxes(spec(2), 1), Boxes(spec(2), 1, spec(1)), r"`out\.ids` is declared as None but i"),
    (BOXES, Boxes(spec(2), 1, spec(1)), Boxes(spec(2), 1, spec(4)), r"`out\.ids` is declared as"),
    (UnionNode((BOXES, StructNode(Other))), Boxes(spec(2), 1), Other(spec(2)),
     "`out` is declared as `Boxes` but is `Other`"),
    (ListNode(FLOAT), [spec(2)], [spec(2), spec(2)], "`out` is declared with 1 items, got 2"),
    (DictNode(FLOAT), {"a": spec(2)}, {"a": spec(3)}, r"`out\.a` is declared as"),
    (OptionalNode(FLOAT), None, None, None),
    (PlainNode(int), 3, 3, None),
    (PlainNode(int), 3, 4, "`out` is declared as 3 but is 4"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "declared", "found", "message"), CASES)
def test_the_first_difference_is_told(
    node: Any, declared: Any, found: Any, message: str | None
) -> None:
    def look(value: Any) -> TensorSpec:
        return value if isinstance(value, TensorSpec) else spec()

    told = mismatch(declared, found, node, look)
    assert (told is None) is (message is None)
    assert re.search(message or "", told or "")
