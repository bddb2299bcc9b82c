"""Forms and dimensions checked against the signature, when an op set is declared or opened."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import pytest
from tests.opset.calling import declare, opened

from firebrick.errors import FusionFormError, SignatureError
from firebrick.extension import (
    Cube,
    ExtensionType,
    Float,
    FloatTensor,
    Fusion,
    Int,
    IntTensor,
    NoDefault,
    P,
    fusion,
)
from firebrick.opset.metadata import outputs_bound

form: Any = fusion


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]


def bound(self: Any, x: Float[P, "m n"]) -> Float[P, "n m"]:
    raise NoDefault


def bound_pair(self: Any, x: Float[P, "..."]) -> tuple[Float[P, "..."], Float[P, "2"]]:
    raise NoDefault


def bound_from_tuple(self: Any, pair: tuple[Float[P, "n"], int]) -> Float[P, "n+n"]:
    raise NoDefault


def in_an_optional(self: Any, x: Float[P, "m"], bias: Float[P, "n"] | None) -> Float[P, "n"]:
    raise NoDefault


def in_a_list(self: Any, x: Float[P, "m"], rest: list[Float[P, "n"]]) -> Float[P, "n"]:
    raise NoDefault


def in_a_union(self: Any, x: Float[P, "m"] | Int[P, "m"]) -> Float[P, "m"]:
    raise NoDefault


def of_another_kind(self: Any, x: Float[P, "m"]) -> Int[P, "m"]:
    raise NoDefault


def two_ellipses(self: Any, x: Float[P, "..."], y: Float[P, "..."]) -> Float[P, "..."]:
    raise NoDefault


def wildcard(self: Any, x: Float[P, "m"]) -> Float[P, "m _"]:
    raise NoDefault


def no_dims(self: Any, x: Float[P, "m"]) -> FloatTensor[P]:
    raise NoDefault


async def asynchronous(self: Any, x: Float[P, "m"]) -> Float[P, "m"]:
    raise NoDefault


@pytest.mark.parametrize("function", [bound, bound_pair, bound_from_tuple])
def test_inputs_that_are_always_there_bind_outputs(function: Any) -> None:
    assert outputs_bound(declare(op=function).__operations__["op"])


@pytest.mark.parametrize(
    "function",
    [
        in_an_optional, in_a_list, in_a_union, of_another_kind, two_ellipses, wildcard, no_dims,
        asynchronous,
    ],
)  # fmt: skip
def test_inputs_that_some_calls_lack_do_not_bind_outputs(function: Any) -> None:
    assert not outputs_bound(declare(op=function).__operations__["op"])


def test_a_name_that_no_input_binds_is_refused() -> None:
    def op(self: Any, x: Float[P, "m k"], y: Float[P, "*batch"]) -> Float[P, "m n"]: ...

    message = r"`Ops\.op` uses the dimension `n`, which no input binds; inputs bind \*batch, k, m\."
    with pytest.raises(SignatureError, match=message):
        declare(op=op)


def test_a_name_in_an_expression_of_an_input_must_be_bound_too() -> None:
    def op(self: Any, x: Float[P, "2*m"]) -> FloatTensor[P]: ...

    with pytest.raises(SignatureError, match=r"uses the dimension `m`, .*; inputs bind none\."):
        declare(op=op)


def test_fusion_is_satisfied_by_bound_outputs() -> None:
    assert opened(Cube, Fusion, op=bound).__operations__["op"].form is None


def test_fusion_asks_for_a_form_otherwise() -> None:
    with pytest.raises(
        FusionFormError, match=r"`Ops\.op` has no `@fusion\(\.\.\.\)` form, which the"
    ):
        opened(Cube, Fusion, op=no_dims)


def with_default(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    return x


def pair(self: Any, x: FloatTensor[P]) -> tuple[FloatTensor[P], Boxes[P]]: ...


def with_count(self: Any, x: FloatTensor[P]) -> tuple[FloatTensor[P], int]: ...


def many(self: Any, x: FloatTensor[P]) -> list[FloatTensor[P]]: ...


async def later(self: Any, x: FloatTensor[P]) -> FloatTensor[P]: ...


def either(self: Any, x: FloatTensor[P]) -> FloatTensor[P] | IntTensor[P]: ...


def of_boxes(self: Any, boxes: Boxes[P], axis: int) -> FloatTensor[P]: ...


WRONG: dict[str, tuple[Any, str]] = {
    "a body that raises": (
        form(default=True)(no_dims),
        r"`@fusion\(default=True\)` on `Ops\.op` needs a default body; the body raises NoDefault",
    ),
    "an id without dimensions": (
        form(id="a")(with_default),
        r"`@fusion\(id=\.\.\.\)` on `Ops\.op` has no dtype and shape, and the inputs do not bind",
    ),
    "fields of a pair": (
        form(dtype="x", shape="x")(pair),
        r"dtype and shape describe a single tensor, and `Ops\.op` returns more; use `@fusion\(m",
    ),
    "a plain output": (
        form(meta=lambda x: (x, 1))(with_count),
        r"`Ops\.op` returns something that is no tensor, so it cannot be lazy: put plain values",
    ),
    "a list": (form(meta=lambda x: [x])(many), "returns something that is no tensor"),
    "a union of tensors": (form(meta=lambda x: x)(either), "returns something that is no tensor"),
    "an async operation": (form(meta=lambda x: x)(later), r"`Ops\.op` is async, so it cannot be"),
    "an unknown name": (
        form(dtype="x", shape="shap")(with_default),
        r"`@fusion\(shape=\.\.\.\)` on `Ops\.op` names `shap`, which is no input; inputs are x\.$",
    ),
    "a misspelt parameter": (
        form(dtype=lambda axis: axis, shape=lambda boxs: boxs)(of_boxes),
        r"names `boxs`, which is no input; inputs are boxes, axis\. Did you mean `boxes`\?",
    ),
    "a copied struct": (
        form(dtype="boxes", shape=lambda axis: (axis,))(of_boxes),
        r"`@fusion\(dtype=\.\.\.\)` on `Ops\.op` copies `boxes`, which is not one tensor; give a",
    ),
    "a builtin without names": (
        form(dtype="x", shape=max)(with_default),
        r"on `Ops\.op` is <built-in function max>, whose parameter names cannot be read; use a la",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_form_that_does_not_fit_the_signature_is_refused(case: str) -> None:
    function, message = WRONG[case]
    function.function.__name__ = "op"
    with pytest.raises(FusionFormError, match=message):
        declare(op=function)


@pytest.mark.parametrize(
    "function",
    [
        form(default=True)(with_default),
        form(sync=True)(with_count),
        form(sync=True)(later),
        form(meta=lambda x: (x, Boxes(x)))(pair),
        form(id="a")(bound),
        form(dtype=lambda boxes: boxes.coords.dtype, shape=lambda axis: (axis,))(of_boxes),
    ],
)
def test_a_form_that_fits_is_accepted(function: Any) -> None:
    assert declare(op=function).__operations__["op"].form == function.form
