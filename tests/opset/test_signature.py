"""Signatures that an op set refuses when its class is defined, and what it says."""

# Annotations of the declarations are meant to be wrong, so that checkers complain of many.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownVariableType=false, reportReturnType=false, reportGeneralTypeIssues=false
# pyright: reportUnusedClass=false, reportArgumentType=false

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from tests.opset.calling import declare

from firebrick import Device
from firebrick.errors import SignatureError
from firebrick.extension import ExtensionType, FloatTensor, IntTensor, OpSet, P, fusion, views
from firebrick.opset.nodes import DeviceNode, PlainNode, TensorNode


class Late(ExtensionType[P]):
    values: Undefined[P]  # pyright: ignore


def bare(self: Any, x: FloatTensor[P]):  # noqa: ANN201 - on purpose
    return x


def nothing(self: Any, x: FloatTensor[P]) -> None: ...


def unannotated(self: Any, x: FloatTensor[P], scale) -> FloatTensor[P]:  # noqa: ANN001 - on purpose
    return x


def positional(self: Any, x: FloatTensor[P], *rest: int) -> FloatTensor[P]:
    return x


def keywords(self: Any, x: FloatTensor[P], **rest: int) -> FloatTensor[P]:
    return x


def takes_out(self: Any, out: FloatTensor[P]) -> FloatTensor[P]:
    return out


def generator(self: Any, x: FloatTensor[P]) -> Iterator[int]:
    yield 1


async def async_generator(self: Any, x: FloatTensor[P]) -> AsyncIterator[int]:
    yield 1


def takes_late(self: Any, x: Late[P]) -> FloatTensor[P]: ...


@views("y")
def wrong_view(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    return x


def plain_function(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    return x


CASES: dict[str, tuple[Any, str]] = {
    "no return annotation": (bare, r"`Ops\.op` has no return annotation; say what it returns"),
    "no return value": (nothing, r"`Ops\.op` returns nothing; an operation returns a value\."),
    "no annotation": (unannotated, r"`Ops\.op`: parameter `scale` has no annotation; every input"),
    "variadic": (positional, r"`Ops\.op` is variadic in `rest`; take a list or a dict of tensors"),
    "variadic keywords": (keywords, r"`Ops\.op` is variadic in `rest`"),
    "an input named out": (takes_out, r"`Ops\.op` has an input named `out`, which names outputs"),
    "a generator": (generator, r"`Ops\.op` is a generator; return the outputs instead\."),
    "an async generator": (async_generator, r"`Ops\.op` is a generator"),
    "an unreadable struct": (takes_late, r"field `values` of struct `Late`: name 'Undefined'"),
    "a wrong view": (wrong_view, r"`@views` on `Ops\.op` names `y`; inputs are x\."),
    "a static method": (
        staticmethod(plain_function), r"`Ops\.op` is a staticmethod; operations are plain methods",
    ),
    "a class method": (classmethod(plain_function), r"`Ops\.op` is a classmethod"),
    "a property": (property(plain_function), r"`Ops\.op` is a property; .* helpers start with an"),
    "a partial": (functools.partial(plain_function), r"`Ops\.op` is a partial; operations are"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_signature_that_cannot_be_used_is_refused(case: str) -> None:
    member, message = CASES[case]
    with pytest.raises(SignatureError, match=message):
        declare(op=member)


@pytest.mark.parametrize("name", ["backend", "inner", "checkpointing", "default_on", "report"])
def test_names_of_every_op_set_are_reserved(name: str) -> None:
    with pytest.raises(SignatureError, match=rf"the name `{name}` belongs to every op set; rename"):
        declare(**{name: plain_function})


def test_an_op_set_is_generic_in_the_tensor_type_and_nothing_else() -> None:
    with pytest.raises(
        SignatureError, match=r"op set `Plain` is generic in the tensor type and no"
    ):

        class Plain(OpSet): ...


class Members(OpSet[P]):
    """What stands in an op set besides operations."""

    version = 3
    Options = dict[str, int]

    class Config:
        scale = 1.0

    def keep(
        self, x: FloatTensor[P], /, by: float = 2.0, *, device: Device, ids: IntTensor[P]
    ) -> FloatTensor[P]:
        return x

    def _helper(self, anything: Any) -> Any:
        return anything

    async def later(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    @fusion(dtype="x", shape="x", id="mine")
    @views("x")
    def described(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    alias = described


def test_constants_types_and_helpers_are_no_operations() -> None:
    assert list(Members.__operations__) == ["keep", "later", "described", "alias"]


def test_parameters_are_read_with_their_kinds_and_defaults() -> None:
    x, by, device, ids = Members.__operations__["keep"].parameters
    assert (x.node, x.positional_only, x.is_required) == (TensorNode("float"), True, True)
    assert (by.node, by.default, by.is_required) == (PlainNode(float), 2.0, False)
    assert (device.node, device.keyword_only) == (DeviceNode(), True)
    assert (ids.node, ids.is_bare_tensor) == (TensorNode("int"), True)


def test_an_operation_knows_how_it_is_called() -> None:
    operations = Members.__operations__
    assert [operations[name].is_async for name in ("keep", "later")] == [False, True]
    assert (operations["keep"].label, operations["keep"].id) == ("Members.keep", "Members.keep")
    assert repr(operations["later"]) == "<operation Members.later>"


def test_decorators_leave_a_function_and_a_record() -> None:
    operation = Members.__operations__["described"]
    function: Callable[..., Any] = vars(Members)["described"]
    assert function is operation.function
    assert (operation.id, operation.views) == ("mine", ("x",))


def test_an_operation_has_the_name_of_its_attribute() -> None:
    assert Members.__operations__["alias"].label == "Members.alias"
