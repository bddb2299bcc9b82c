"""`@gradient`: what it refuses, where its names lead, and `need`."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Any

import pytest
from tests.opset.calling import implement, opened

from firebrick.errors import GradientError, GradientRuleError
from firebrick.extension import (
    Autodiff,
    ExtensionType,
    Flex,
    FloatTensor,
    IntTensor,
    Need,
    NoDefault,
    P,
    gradient,
)
from firebrick.opset.gradient import GradientRule

unchecked: Any = gradient


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    ids: IntTensor[P] | None


class Tree(ExtensionType[P]):
    value: FloatTensor[P]
    rest: Tree[P] | Boxes[P] | None


def op(
    self: Any,
    x: FloatTensor[P],
    boxes: Boxes[P] | None,
    parts: list[Boxes[P]],
    named: dict[str, FloatTensor[P]],
    pair: tuple[FloatTensor[P], Boxes[P]],
    tree: Tree[P],
    size: int,
) -> tuple[FloatTensor[P], Boxes[P]]:
    raise NoDefault


def rule(self: Any, saved: Any, first: Any, second: Any, need: Any) -> Any: ...


def ruled(save: tuple[str, ...] = (), function: Any = rule) -> Any:
    return implement(opened(Flex, Autodiff, op=op), Autodiff, op=gradient(save=save)(function))


@pytest.mark.parametrize(
    "name",
    [
        "x", "boxes", "boxes.coords", "parts", "parts.0", "parts.17.ids", "named.any", "pair.1",
        "pair.1.coords", "tree.rest.rest.value", "tree.rest.coords", "size", "out", "out.0",
        "out.1.coords",
    ],
)  # fmt: skip
def test_a_rule_saves_any_place_of_inputs_and_outputs(name: str) -> None:
    assert ruled(save=(name,))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "ouput",
            r"saves `ouput`, which is no input or output; accepted are x, boxes, boxes\.coord",
        ),
        ("boxes.cords", r"saves `boxes\.cords`, .*Did you mean `boxes\.coords`\?"),
        ("x.y", r"saves `x\.y`"),
        ("pair.2", r"saves `pair\.2`"),
        ("parts.a", r"saves `parts\.a`"),
        ("tree.rest.nothing", r"saves `tree\.rest\.nothing`"),
        ("out.1.count", r"saves `out\.1\.count`"),
        ("zzz", r"saves `zzz`, .*out\.1\.ids\.$"),
    ],
)
def test_a_rule_saves_nothing_else(name: str, message: str) -> None:
    with pytest.raises(GradientRuleError, match=r"the gradient of `Ops\.op` " + message):
        ruled(save=(name,))


def test_a_rule_takes_one_gradient_per_float_output() -> None:
    def short(self: Any, saved: Any, grad: Any, need: Any) -> Any: ...

    message = (
        r"the gradient of `Ops\.op` takes one gradient per float output: `\(self, saved, grad_0, "
        r"grad_coords, need\)`; got `\(self: .*grad: .*\)"
    )
    with pytest.raises(GradientRuleError, match=message):
        ruled(function=short)


def test_the_number_of_gradients_of_a_list_is_not_known_before_the_call() -> None:
    def listed(self: Any, x: FloatTensor[P]) -> list[FloatTensor[P]]:
        raise NoDefault

    def any_number(self: Any, saved: Any, *grads: Any, need: Any) -> Any: ...

    op_set = opened(Flex, Autodiff, op=listed)
    assert implement(op_set, Autodiff, op=gradient()(any_number))


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (
            (rule,),
            {},
            r"`gradient` takes options: write `@gradient\(\)` or `@gradient\(save=\(\.\.\.\)",
        ),
        ((3,), {}, "`gradient` takes options"),
        ((), {"save": "x"}, r"`save` is a sequence of names; write `save=\('x',\)`\."),
        (
            (),
            {"cost": "free"},
            r"`cost` is 'compute' \(outputs are kept\) or 'memory' \(recomputed\); g",
        ),
    ],
)
def test_wrong_options_are_refused(given: Any, options: Any, message: str) -> None:
    with pytest.raises(GradientRuleError, match=message):
        unchecked(*given, **options)


def test_a_rule_is_recorded_with_its_options() -> None:
    assert gradient(save=["x"], cost="memory")(rule) == GradientRule(rule, ("x",), "memory")
    assert gradient(None) == GradientRule(None)


# ---- need --------------------------------------------------------------------------------------

NEED = Need({"x": True, "boxes.coords": False, "boxes.scores": True, "out_of": False})


def test_need_answers_by_attribute_and_by_path() -> None:
    assert NEED.x
    assert not NEED["boxes.coords"]
    assert not NEED.out_of


def test_the_name_of_a_structure_stands_for_any_tensor_in_it() -> None:
    assert NEED.boxes


def test_need_knows_no_other_names() -> None:
    with pytest.raises(
        GradientError, match=r"`need` has no input `y`; float inputs are x, boxes.coo"
    ):
        _ = NEED.y
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = NEED.__wrapped__


def test_need_shows_what_it_knows() -> None:
    assert repr(Need({"x": True})) == "Need({'x': True})"
