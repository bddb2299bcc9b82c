"""`@fusion`, `@views` and `scalar`: what they record, and what they refuse on the spot."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Annotated, Any

import pytest
from tests.opset.calling import declare

from firebrick.errors import FusionFormError, SignatureError
from firebrick.extension import FloatTensor, P, fusion, scalar, views
from firebrick.opset.forms import Decorated, FusionForm, undecorated
from firebrick.opset.nodes import PlainNode

unchecked: Any = fusion


def same(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    return x


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"dtype": "x", "shape": "x"}, "fields"),
        ({"dtype": "x", "shape": len, "id": "mine"}, "fields"),
        ({"meta": len}, "meta"),
        ({"default": True}, "default"),
        ({"sync": True}, "sync"),
        ({"id": "mine"}, "dims"),
    ],
    ids=str,
)
def test_every_form_is_recorded_under_its_name(given: dict[str, Any], name: str) -> None:
    recorded: Any = unchecked(**given)(same)
    assert isinstance(recorded, Decorated)
    assert recorded.form is not None
    assert (recorded.form.name, recorded.form.id) == (name, given.get("id"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"`@fusion` was given nothing; give exactly one of: dtype and shape; meta; default=T"),
        ({"dtype": "x"}, "`@fusion` was given dtype; give exactly one of"),
        ({"shape": "x", "meta": len}, "`@fusion` was given meta, shape; give exactly one of"),
        ({"default": True, "id": "a"}, "`@fusion` was given default, id; give exactly one of"),
        ({"form": 1}, "`@fusion` was given form; give exactly one of"),
        ({"dtype": "x", "shape": 3}, r"`@fusion\(shape=\.\.\.\)` takes a callable or an operand's"),
        ({"meta": "x"}, r"`@fusion\(meta=\.\.\.\)` takes a callable; got 'x'\."),
        ({"default": False}, r"`@fusion\(default=\.\.\.\)` takes True; got False\."),
        ({"id": 3}, r"`@fusion\(id=\.\.\.\)` takes a string; got 3\."),
    ],
    ids=str,
)
def test_anything_but_one_form_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(FusionFormError, match=message):
        unchecked(**given)


def test_a_form_goes_on_an_operation() -> None:
    with pytest.raises(FusionFormError, match=r"`@fusion\(\.\.\.\)` goes on an operation; got 3\."):
        unchecked(sync=True)(3)


def test_two_forms_are_refused() -> None:
    with pytest.raises(
        FusionFormError, match=r"`same` has two `@fusion\(\.\.\.\)` forms; keep one"
    ):
        fusion(sync=True)(fusion(default=True)(same))


def test_views_go_on_an_operation() -> None:
    go: Any = views("x")
    with pytest.raises(SignatureError, match=r"`@views\(\.\.\.\)` goes on an operation; got 3\."):
        go(3)


@pytest.mark.parametrize("names", [(), (3,), (same,)], ids=["nothing", "number", "function"])
def test_views_take_names(names: tuple[Any, ...]) -> None:
    with pytest.raises(
        SignatureError, match=r"`@views` takes names of inputs, such as `@views\('x"
    ):
        views(*names)


def test_forms_and_views_combine_in_any_order() -> None:
    one, other = fusion(sync=True)(views("x")(same)), views("x")(fusion(sync=True)(same))
    assert undecorated(one) == undecorated(other)
    assert undecorated(one) == Decorated(same, FusionForm("sync"), ("x",))


def test_a_plain_function_has_no_form() -> None:
    assert undecorated(same) == Decorated(same)
    assert undecorated(3) is None


def test_a_form_on_a_helper_is_refused() -> None:
    with pytest.raises(
        FusionFormError, match=r"`Ops\._helper` is a helper, as its underscore says"
    ):
        declare(_helper=fusion(sync=True)(same))


def test_a_scalar_encodes_an_ordinary_argument() -> None:
    def op(self: Any, x: FloatTensor[P], mode: Annotated[str, scalar(len)]) -> FloatTensor[P]:
        return x

    (_, mode) = declare(op=op).__operations__["op"].parameters
    assert mode.node == PlainNode(str, len)
