"""Generated text that walks values: round trips, and agreement with the interpreting walk."""

# Nests of anything are taken apart here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from tests.opset.nestings import Nothing, Point, nodes_and_values, tensor, tensors_in

from firebrick.core import DispatchTensor
from firebrick.opset.leaves import Leaf, Misfit, leaves
from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    Node,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    struct_fields,
)
from firebrick.opset.traversal import (
    Source,
    UnusualValueError,
    collect_lines,
    compile_convert,
)

FLOAT = TensorNode("float")


def collected(value: Any, node: Node) -> list[DispatchTensor]:
    """What the generated text collects."""
    source = Source()
    source.define(tensor=DispatchTensor)
    source.add(0, "def @collect(@value, @leaves, @marks):")
    source.add(1, "pass")
    collect_lines(node, "@value", source, 1)
    found: list[DispatchTensor] = []
    source.compile("@collect", "test")(value, found, [])
    return found


def same_structure(one: Any, other: Any) -> bool:
    """Whether two values differ in nothing but tensors, which are compared by identity."""
    fields = struct_fields(one)
    if fields is not None:
        parts = [(getattr(one, n), getattr(other, n)) for n in fields]
        return type(one) is type(other) and all(same_structure(a, b) for a, b in parts)
    if isinstance(one, list | tuple):
        pairs: Any = zip(one, other, strict=True)
        return type(one) is type(other) and all(same_structure(a, b) for a, b in pairs)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same_structure(one[k], other[k]) for k in one)
    return one is other


@given(given_case=nodes_and_values())
def test_generated_text_collects_what_the_walk_finds(given_case: tuple[Node, Any]) -> None:
    node, value = given_case
    found = collected(value, node)
    walked = [leaf.value for leaf in leaves(value, node, "x") if isinstance(leaf, Leaf)]
    dispatched = [item for item in walked if isinstance(item, DispatchTensor)]
    assert [id(t) for t in found] == [id(t) for t in dispatched]
    assert [id(t) for t in found] == [id(t) for t in tensors_in(value, node)]


@given(given_case=nodes_and_values())
def test_a_value_of_a_node_has_no_misfit(given_case: tuple[Node, Any]) -> None:
    node, value = given_case
    assert [place for place in leaves(value, node, "x") if isinstance(place, Misfit)] == []


@given(given_case=nodes_and_values())
def test_converting_there_and_back_gives_the_same_value(given_case: tuple[Node, Any]) -> None:
    node, value = given_case
    convert = compile_convert(node, "test")

    def box(leaf: Any, _: Node) -> Any:
        return [leaf] if isinstance(leaf, DispatchTensor) else leaf

    def unbox(leaf: Any, _: Node) -> Any:
        return leaf[0] if isinstance(leaf, list) else leaf

    back = convert(convert(value, box), unbox)
    assert same_structure(value, back)


@given(given_case=nodes_and_values())
def test_conversion_visits_leaves_in_order(given_case: tuple[Node, Any]) -> None:
    node, value = given_case
    seen: list[int] = []

    def visit(leaf: Any, _: Node) -> Any:
        if isinstance(leaf, DispatchTensor):
            seen.append(id(leaf))
        return leaf

    compile_convert(node, "test")(value, visit)
    assert seen == [id(t) for t in tensors_in(value, node)]


class Pair(NamedTuple):
    one: Any
    other: Any


PAIR = TupleNode((FLOAT, TensorNode("int")))


@pytest.mark.parametrize("kind", [list, Pair._make], ids=["list", "named tuple"])
def test_what_is_like_a_tuple_becomes_one(kind: Any) -> None:
    given_pair = kind([tensor("float"), tensor("int")])
    converted = compile_convert(PAIR, "test")(given_pair, lambda leaf, _: leaf)
    assert type(converted) is tuple
    assert list(converted) == list(given_pair)


def test_what_is_like_a_dict_becomes_one() -> None:
    value = OrderedDict(b=tensor("float"), a=tensor("float"))
    converted = compile_convert(DictNode(FLOAT), "test")(value, lambda leaf, _: leaf)
    assert type(converted) is dict
    assert list(converted) == ["b", "a"]


UNFIT: dict[str, tuple[Node, Any]] = {
    "a tensor for a list": (ListNode(FLOAT), tensor("float")),
    "a string for a list": (ListNode(FLOAT), "ab"),
    "a list for a dict": (DictNode(FLOAT), []),
    "int keys": (DictNode(FLOAT), {1: tensor("float")}),
    "a long tuple": (PAIR, (tensor("float"), tensor("int"), 3)),
    "a short tuple": (PAIR, (tensor("float"),)),
    "a tensor for a tuple": (PAIR, tensor("float")),
    "another struct": (StructNode(Point), Nothing()),
    "a tensor for a struct": (StructNode(Point), tensor("float")),
    "a struct that is no option": (UnionNode((StructNode(Point), PlainNode(str))), Nothing()),
    "a struct among tensors": (UnionNode((FLOAT, PlainNode(float))), Nothing()),
    "deep inside": (ListNode(OptionalNode(StructNode(Point))), [None, Nothing()]),
}


@pytest.mark.parametrize("case", UNFIT)
def test_another_structure_is_left_to_the_walk(case: str) -> None:
    node, value = UNFIT[case]
    with pytest.raises(UnusualValueError):
        compile_convert(node, "test")(value, lambda leaf, _: leaf)
    with pytest.raises(UnusualValueError):
        collected(value, node)
    assert any(isinstance(place, Misfit) for place in leaves(value, node, "x"))


def test_a_tensor_of_another_kind_is_left_to_the_walk() -> None:
    with pytest.raises(UnusualValueError):
        collected(tensor("int"), FLOAT)
    with pytest.raises(UnusualValueError):
        collected(tensor("bool"), UnionNode((FLOAT, TensorNode("int"))))


def test_names_of_the_text_avoid_those_of_others() -> None:
    source = Source()
    source.avoid(["_f_x", "__f_y", "type"])
    source.define(answer=41)
    source.add(0, "def @run(_f_x, __f_y, type):")
    source.add(1, "return @answer + _f_x + @len([__f_y, type]) + (@type(type) is not int)")
    run = source.compile("@run", "test")
    assert run(_f_x=1, __f_y=0, type=0) == 44


def test_the_label_stands_in_tracebacks() -> None:
    source = Source()
    source.add(0, "def @run():")
    source.add(1, "return 1 / 0")
    with pytest.raises(ZeroDivisionError) as caught:
        source.compile("@run", "dispatch of Ops.op")()
    assert caught.traceback[-1].path == "<firebrick dispatch of Ops.op>" or (
        caught.tb.tb_next is not None
        and caught.tb.tb_next.tb_frame.f_code.co_filename == "<firebrick dispatch of Ops.op>"
    )


@pytest.mark.parametrize(
    ("node", "value", "path", "expected"),
    [
        (StructNode(Point), 3, "x", "a `Point`"),
        (UnionNode((StructNode(Point), StructNode(Nothing))), 3, "x", "a `Point` or a `Nothing`"),
        (
            UnionNode((StructNode(Point), FLOAT, PlainNode(str))),
            Nothing(),
            "x",
            "a `Point`, a tensor of kind float or a `str`",
        ),
        (PAIR, (1, 2, 3), "x", "a tuple of 2"),
        (ListNode(FLOAT), 3, "x", "a list"),
        (DictNode(ListNode(FLOAT)), {"a": [], "b": 3}, "x.b", "a list"),
        (DictNode(FLOAT), [], "x", "a dict with str keys"),
        (ListNode(TupleNode((StructNode(Point),))), [(3,)], "x.0.0", "a `Point`"),
    ],
)
def test_a_misfit_names_its_path_and_what_is_expected(
    node: Node, value: Any, path: str, expected: str
) -> None:
    (misfit,) = (place for place in leaves(value, node, "x") if isinstance(place, Misfit))
    assert (misfit.path, misfit.expected) == (path, expected)


def test_dimensions_inside_a_struct_have_its_path_as_their_scope() -> None:
    value = [Point(tensor("float"), "a", tensor("int"))]
    found = list(leaves(value, ListNode(StructNode(Point)), "points"))
    assert [(leaf.path, getattr(leaf, "scope", None)) for leaf in found] == [
        ("points.0.x", "points.0"),
        ("points.0.ids", "points.0"),
    ]
