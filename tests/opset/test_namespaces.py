"""What names in string annotations mean, and where a class statement stands."""

# Names that checkers cannot know are what this is about.
# pyright: reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportUnusedClass=false

from __future__ import annotations

import abc
import types
from typing import Any

import pytest
from tests.opset.calling import floats, run

from firebrick import Device
from firebrick.errors import SignatureError
from firebrick.extension import ExtensionType, Flex, FloatTensor, IntTensor, OpSet, P
from firebrick.opset.namespaces import Origin, Unresolved, defining_namespace, origin_of, resolve
from firebrick.opset.nodes import ListNode, PlainNode, StructNode, TensorNode, TupleNode

Shared = IntTensor


def test_names_of_the_module_count() -> None:
    class Ops(OpSet[P]):
        def same(self, x: Shared[P]) -> Shared[P]:
            return x

    assert Ops.__operations__["same"].returns == TensorNode("int")


def test_names_of_the_function_around_the_class_count() -> None:
    Local = FloatTensor  # noqa: N806 - a type

    class Ops(OpSet[P]):
        def same(self, x: Local[P]) -> Local[P]:
            return x

    assert Ops.__operations__["same"].returns == TensorNode("float")


def test_aliases_in_the_class_body_count() -> None:
    class Ops(OpSet[P]):
        Pair = tuple[FloatTensor[P], int]

        def pair(self, x: FloatTensor[P]) -> Pair:
            return x, 1

    assert Ops.__operations__["pair"].returns == TupleNode((TensorNode("float"), PlainNode(int)))


def test_an_operation_does_not_hide_the_type_of_its_name() -> None:
    class Ops(OpSet[P]):
        def list(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return x

        def float(self, xs: list[FloatTensor[P]], by: float) -> FloatTensor[P]:
            return xs[0]

    nodes = [parameter.node for parameter in Ops.__operations__["float"].parameters]
    assert nodes == [ListNode(TensorNode("float")), PlainNode(float)]


def test_a_name_that_means_nothing_is_refused_in_a_declaration() -> None:
    message = (
        r"`Ops\.op`, parameter `x`: the annotation 'Missing\[P\]' cannot be resolved .*Missing"
    )
    with pytest.raises(SignatureError, match=message):

        class Ops(OpSet[P]):
            def op(self, x: Missing[P]) -> FloatTensor[P]: ...  # pyright: ignore


def test_a_name_that_means_nothing_is_skipped_in_an_implementation() -> None:
    from firebrick.extension import backend_extension

    @backend_extension(Flex)
    class Ops(OpSet[P]):
        def scale(self, x: FloatTensor[P], by: float) -> FloatTensor[P]:
            return x

    class FlexOps(Ops[Any], on=Flex):
        def scale(self, x: Any, by: Missing) -> Any:  # pyright: ignore
            return x

    assert Ops.__implementations__.find(Flex) is FlexOps


def test_the_frame_of_the_class_statement_is_found_through_other_metaclasses() -> None:
    local = object()

    class Meta(abc.ABCMeta, type): ...

    class Base(OpSet[P], metaclass=Meta):
        def same(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return x

    assert Base.__operations__["same"].namespace.locals["local"] is local


def test_the_frame_is_found_through_new_class() -> None:
    Local = FloatTensor  # noqa: N806 - a type

    def same(self: Any, x: Local[P]) -> Local[P]:
        return x

    made: Any = types.new_class("Made", (OpSet[P],), {}, lambda body: body.update(same=same))
    assert made.__operations__["same"].returns == TensorNode("float")


def test_locals_of_a_module_are_looked_up_when_they_are_needed() -> None:
    module: dict[str, Any] = {"__name__": "made_up"}
    exec("from firebrick.opset.namespaces import defining_namespace", module)
    exec("found = defining_namespace()", module)
    assert module["found"].locals == {}
    assert module["found"].globals is module


def test_an_annotation_that_raises_keeps_the_reason() -> None:
    found = resolve("1 / 0", defining_namespace(), {})
    assert isinstance(found, Unresolved)
    assert (found.text, type(found.reason)) == ("1 / 0", ZeroDivisionError)


def test_a_class_originates_where_its_statement_stands() -> None:
    class Here: ...

    origin = origin_of(Here)
    assert isinstance(origin, Origin)
    assert (origin.module, origin.qualname) == (__name__, Here.__qualname__)
    assert origin.line > 0


class Leaf(ExtensionType[P]):
    values: FloatTensor[P]


def test_strings_of_structs_mean_the_same() -> None:
    class Ops(OpSet[P]):
        def pick(self, leaf: Leaf[P]) -> FloatTensor[P]:
            return leaf.values

    assert Ops.__operations__["pick"].parameters[0].node == StructNode(Leaf)


def test_a_mixin_of_another_module_has_its_own_names(flex: Device) -> None:
    from firebrick.extension import backend_extension, dispatch

    module: dict[str, Any] = {"__name__": "made_up"}
    exec(
        "from __future__ import annotations\n"
        "from firebrick.extension import FloatTensor as Elsewhere, P\n"
        "class Mixin:\n"
        "    def twice(self, x: Elsewhere[P]) -> Elsewhere[P]:\n"
        "        return self.backend.float_add(x, x)\n",
        module,
    )
    mixin: Any = module["Mixin"]

    @backend_extension(Flex)
    class Ops(mixin, OpSet[P]): ...

    Ops.default_on(Flex)
    call: Any = dispatch(Ops)
    assert run(call.twice, floats([1.5], flex)).tolist() == [3.0]
