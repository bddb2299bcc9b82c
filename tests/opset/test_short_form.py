"""`@op`: one function on user tensors, and what can be added to it."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import floats, ints

from firebrick import Device, Tensor
from firebrick.errors import (
    BackendMismatchError,
    DuplicateImplementationError,
    GradientError,
    GradientRuleError,
    ImplementationError,
    KindError,
    SelectorError,
    SignatureError,
)
from firebrick.extension import (
    Autodiff,
    Cube,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    Grads,
    Int,
    LibTorch,
    NdArray,
    Need,
    NoDefault,
    Operation,
    P,
    Saved,
    op,
)

unchecked: Any = op


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    count: int


@op(Flex, NdArray, Autodiff)
def scaled(
    x: Float[Tensor, "..."], by: float = 2.0, *, offset: float = 0.0
) -> Float[Tensor, "..."]:
    """Returns `x * by + offset`."""
    return x * by + offset


@op(Flex, Autodiff)
def boxed(
    boxes: Boxes[Tensor], parts: list[Float[Tensor, "n"]], bias: Float[Tensor, "n"] | None
) -> tuple[Boxes[Tensor], dict[str, Float[Tensor, "n"]]]:
    total = sum(parts, parts[0] * 0) if bias is None else bias
    return Boxes(boxes.coords * 2.0, boxes.count + 1), {"total": total}


@op(Flex, Autodiff)
async def later(x: Float[Tensor, "n"], *, by: float = 2.0) -> Float[Tensor, "n"]:
    return x * by


@op(Flex, NdArray)
def _hidden(x: Int[Tensor, "n"]) -> Int[Tensor, "n"]:
    return x + 1


@op(Flex, NdArray, Autodiff)
def given(x: Float[Tensor, "..."], value: Any) -> Float[Tensor, "..."]:
    return value


@pytest.fixture(scope="module", params=["flex", "autodiff"])
def place(request: pytest.FixtureRequest) -> Device:
    return Device.flex() if request.param == "flex" else Device.flex().autodiff()


def test_a_function_is_called_as_it_is_declared(place: Device) -> None:
    x = floats([1.0, 2.0], place)
    assert scaled(x).tolist() == [2.0, 4.0]
    assert scaled(x, 3.0).tolist() == [3.0, 6.0]
    assert scaled(x=x, by=1.0, offset=1.0).tolist() == [2.0, 3.0]


def test_it_looks_like_the_function() -> None:
    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Returns `x * by + offset`.")
    assert list(inspect.signature(scaled).parameters) == ["x", "by", "offset"]
    assert repr(scaled) == "<operation scaled>"
    assert isinstance(scaled, Operation)


def test_structs_and_containers_go_in_and_out(place: Device) -> None:
    x = floats([1.0], place)
    boxes, parts = boxed(Boxes(x, 3), [x, x], None)
    assert (boxes.coords.tolist(), boxes.count, parts["total"].tolist()) == ([2.0], 4, [2.0])
    assert boxed(Boxes(x, 3), [x], x)[1]["total"].tolist() == [1.0]


def test_inputs_may_be_positional_only_or_called_self(place: Device) -> None:
    @op(Flex, Autodiff)
    def first(x: Float[Tensor, "n"], /, self: float = 2.0) -> Float[Tensor, "n"]:
        return x * self

    assert first(floats([1.0], place)).tolist() == [2.0]
    assert first(floats([1.0], place), self=3.0).tolist() == [3.0]
    with pytest.raises(TypeError, match="positional-only"):
        first(x=floats([1.0], place))  # pyright: ignore[reportCallIssue] - on purpose


def test_an_asynchronous_function_is_awaited(place: Device) -> None:
    async def main() -> Tensor:
        return await later(floats([1.0], place), by=3.0)

    result = asyncio.run(main())
    assert isinstance(result, Tensor)
    assert result.tolist() == [3.0]


def test_a_function_may_begin_with_an_underscore(flex: Device) -> None:
    assert _hidden(ints([1], flex)).tolist() == [2]
    assert list(_hidden.op_set.__operations__) == ["hidden"]

    @_hidden.impl(NdArray)
    def _(x: Any) -> Any:
        return x + 10

    assert _hidden(ints([1], Device.ndarray())).tolist() == [11]


def test_a_function_may_call_another(place: Device) -> None:
    @op(Flex, Autodiff)
    def twice(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return scaled(scaled(x))

    x = floats([1.0], place.autodiff()).require_grad()
    assert x.grad(twice(x).sum().backward()).tolist() == [4.0]


def test_a_wrong_kind_is_refused_by_the_public_name(place: Device) -> None:
    with pytest.raises(
        KindError, match=r"`Scaled\.scaled`: `x` is declared a tensor of kind float; "
    ):
        scaled(ints([1], place))


# ---- what the body returns ---------------------------------------------------------------------


def test_a_constant_of_the_plain_device_is_lifted(tracked: Device, flex: Device) -> None:
    x = floats([1.0], tracked)
    assert given(x, floats([5.0], flex)).device.is_autodiff


def test_a_tensor_of_another_backend_is_refused(flex: Device) -> None:
    message = r"`Elsewhere\.elsewhere` returned a tensor on `ndarray`, its inputs are on `flex`\."
    with pytest.raises(BackendMismatchError, match=message):
        _elsewhere(floats([1.0], flex))


@op(Flex)
def _elsewhere(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x.to(Device.ndarray())


@pytest.mark.parametrize(("value", "found"), [("text", "a str"), (None, "None"), (2.0, "a float")])
def test_an_output_that_is_no_tensor_is_refused(place: Device, value: Any, found: str) -> None:
    with pytest.raises(
        KindError, match=rf"`Given\.given`: .* returned {found} where `out` is declare"
    ):
        given(floats([1.0], place), value)


# ---- what is refused ---------------------------------------------------------------------------


def kindless(x: Tensor) -> Tensor:
    return x


def unannotated(x):  # noqa: ANN001, ANN201 - on purpose # pyright: ignore
    return x  # pyright: ignore


def reserved(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x


reserved.__name__ = "report"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (3, r"`@op\(\.\.\.\)` goes on a function; got 3\."),
        (max, r"`@op\(\.\.\.\)` goes on a function; got <built-in function max>\."),
        (
            kindless,
            r"`Kindless\.kindless`, parameter `x`: the annotation is the bare tensor type `T",
        ),
        (
            unannotated,
            r"`Unannotated\.unannotated`: parameter `x` has no annotation|no return annot",
        ),
        (reserved, "the name `report` belongs to every op set; rename it"),
    ],
)
def test_a_function_that_cannot_be_an_operation_is_refused(function: Any, message: str) -> None:
    with pytest.raises(SignatureError, match=message):
        unchecked(Flex)(function)


def test_selectors_are_checked() -> None:
    with pytest.raises(SelectorError, match="'Flex' is a string"):
        unchecked("Flex")(kindless_no_more)


def kindless_no_more(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x


# ---- implementations and gradients -------------------------------------------------------------


def fresh() -> Any:
    @op(Flex, NdArray, Autodiff)
    def tripled(x: Float[Tensor, "n"], by: float = 3.0) -> Float[Tensor, "n"]:
        return x * by

    return tripled


def same(x: Any, by: float) -> Any:
    return x * np.float32(by)


def test_an_implementation_replaces_the_body_on_its_backend(flex: Device) -> None:
    tripled = fresh()
    seen: list[Any] = []

    @tripled.impl(Flex)
    def fast(x: Any, by: float) -> Any:
        seen.append(type(x))
        return x * np.float32(by)

    assert tripled(floats([1.0], flex)).tolist() == [3.0]
    assert tripled(floats([1.0], Device.ndarray())).tolist() == [3.0]
    assert seen == [np.ndarray]
    assert fast(np.float32(2), 2.0) == 4.0


def test_a_second_implementation_is_refused() -> None:
    tripled = fresh()
    tripled.impl(Flex)(same)
    tripled.impl(Flex)(same)  # the same function again

    def other(x: Any, by: float) -> Any:
        return x

    with pytest.raises(
        DuplicateImplementationError, match=r"on `Flex`, which `same` .module .* does al"
    ):
        tripled.impl(Flex)(other)


@pytest.mark.parametrize(
    ("selector", "error", "message"),
    [
        (
            LibTorch,
            ImplementationError,
            "on `LibTorch`, which is not listed; .* lists Flex, NdArray",
        ),
        ("Flex", SelectorError, "'Flex' is a string"),
    ],
)
def test_an_implementation_is_on_a_listed_backend(
    selector: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fresh().impl(selector)(same)


def test_an_implementation_takes_what_is_declared() -> None:
    def wrong(x: Any, amount: float) -> Any: ...

    with pytest.raises(
        ImplementationError, match=r"`FlexTripled\.tripled` calls `amount` what the de"
    ):
        fresh().impl(Flex)(wrong)


def test_a_kernel_needs_a_kernel_runtime() -> None:
    with pytest.raises(
        SelectorError, match=r"`scaled\.impl\(\.\.\., kernel=\.\.\.\)` needs a kernel r"
    ):
        scaled.impl(Cube, kernel=object(), grid="m n")


def test_a_gradient_is_a_function_of_user_tensors(tracked: Device) -> None:
    tripled = fresh()

    @tripled.gradient(save=("x", "out"))
    def _(saved: Saved, grad: Tensor, need: Need) -> Grads:
        assert isinstance(saved.x, Tensor)
        assert isinstance(saved["out"], Tensor)
        assert saved.spec("x").shape == (1,)
        return {"x": grad * 7.0 if need.x else None}

    x = floats([2.0], tracked).require_grad()
    assert x.grad(tripled(x).sum().backward()).tolist() == [7.0]


def test_saved_containers_hold_user_tensors(tracked: Device) -> None:
    @op(Flex, Autodiff)
    def first(parts: dict[str, Float[Tensor, "n"]], boxes: Boxes[Tensor]) -> Float[Tensor, "n"]:
        raise NoDefault

    @first.impl(Flex)
    def _(parts: Any, boxes: Any) -> Any:
        return parts["a"] * boxes.count

    @first.gradient(save=("parts", "boxes"))
    def _(saved: Saved, grad: Tensor, need: Need) -> Grads:
        assert isinstance(saved.parts["a"], Tensor)
        assert isinstance(saved.boxes.coords, Tensor)
        return {"parts.a": grad * float(saved.boxes.count), "boxes.coords": None}

    x = floats([2.0], tracked).require_grad()
    assert x.grad(first({"a": x}, Boxes(x, 5)).sum().backward()).tolist() == [5.0]


def test_a_gradient_on_another_backend_is_refused(tracked: Device) -> None:
    tripled = fresh()

    @tripled.gradient()
    def _(saved: Saved, grad: Tensor, need: Need) -> Grads:
        return {"x": grad.to(Device.ndarray())}

    x = floats([2.0], tracked).require_grad()
    message = (
        r"the gradient of `tripled` for `x` is on `ndarray`; gradients are tensors on `flex`, ma"
    )
    with pytest.raises(GradientError, match=message):
        tripled(x).sum().backward()


def test_a_gradient_that_is_no_tensor_is_refused(tracked: Device) -> None:
    tripled = fresh()
    tripled.gradient()(lambda saved, grad, need: {"x": 3.0})
    x = floats([2.0], tracked).require_grad()
    with pytest.raises(
        GradientError, match="the gradient of `tripled` for `x` is on `float`; gradien"
    ):
        tripled(x).sum().backward()


def test_a_gradient_needs_autodiff_in_the_list() -> None:
    with pytest.raises(
        ImplementationError, match=r"`_hidden`|`hidden` has a gradient, but `@op` does no"
    ):
        _hidden.gradient()(lambda saved, grad, need: {})


def test_a_gradient_saves_only_what_exists() -> None:
    with pytest.raises(
        GradientRuleError, match="saves `y`, which is no input or output; accepted are "
    ):
        fresh().gradient(save=("y",))(lambda saved, grad, need: {})


def test_a_second_gradient_is_refused() -> None:
    tripled = fresh()

    @tripled.gradient()
    def first(saved: Saved, grad: Tensor, need: Need) -> Grads:
        return {"x": grad}

    with pytest.raises(
        DuplicateImplementationError, match=r"on `Autodiff`, which `.*first` .* does alr"
    ):

        @tripled.gradient()
        def second(saved: Saved, grad: Tensor, need: Need) -> Grads:
            return {"x": grad}


def test_a_body_that_raises_no_default_is_none() -> None:
    @op(Flex, NdArray)
    def bodiless(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        raise NoDefault

    assert {row.state for row in bodiless.op_set.report()} == {"missing"}
