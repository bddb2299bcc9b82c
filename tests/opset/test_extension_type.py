"""Structs of tensors: what they have of dataclasses, what they inherit, what is refused."""

# Classes are defined for what happens then.
# pyright: reportUnusedClass=false, reportGeneralTypeIssues=false

from __future__ import annotations

import copy
import dataclasses
import pickle
import types
from dataclasses import KW_ONLY, InitVar, field
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
import pytest

from firebrick import float32
from firebrick.errors import ExtensionTypeError, SignatureError
from firebrick.extension import ExtensionType, Float, FloatTensor, IntTensor, P, TensorSpec
from firebrick.opset.nodes import (
    ListNode,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    struct_fields,
)

T = TypeVar("T")
ONES = np.ones(2, dtype=np.float32)


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    count: int = 3
    names: list[str] = field(default_factory=list[str])
    limit: ClassVar[int] = 100

    def __post_init__(self) -> None:
        if self.count > self.limit:
            raise ValueError("too many")

    def label(self) -> str:
        return f"{self.count} boxes"

    @property
    def doubled(self) -> int:
        return 2 * self.count


class Scored(Boxes[P]):
    scores: FloatTensor[P] | None = None
    count: int = 5

    def label(self) -> str:
        return f"scored {super().label()}"


class Tree(ExtensionType[P]):
    value: FloatTensor[P]
    children: list[Tree[P]]
    left: Tree[P] | None = None


def boxes(**given: Any) -> Boxes[Any]:
    return Boxes(ONES, **given)


def test_fields_have_defaults_and_factories() -> None:
    one, other = boxes(), boxes()
    assert (one.count, one.names) == (3, [])
    assert one.names is not other.names


def test_a_class_variable_is_no_field() -> None:
    assert list(Boxes.__nodes__()) == ["coords", "count", "names"]
    assert Boxes.limit == 100


def test_post_init_runs_when_a_struct_is_built() -> None:
    with pytest.raises(ValueError, match="too many"):
        boxes(count=101)


def test_methods_and_properties_are_kept() -> None:
    assert (boxes().label(), boxes().doubled) == ("3 boxes", 6)


def test_fields_of_the_base_come_first_and_keep_their_place() -> None:
    assert list(Scored.__nodes__()) == ["coords", "count", "names", "scores"]
    assert Scored.__match_args__ == ("coords", "count", "names", "scores")


def test_a_redeclared_field_has_the_new_default() -> None:
    assert Scored(ONES).count == 5


def test_super_without_arguments_works() -> None:
    assert Scored(ONES).label() == "scored 5 boxes"


def test_a_struct_of_structs_may_hold_itself_in_lists_and_optionals() -> None:
    assert Tree.__nodes__() == {
        "value": TensorNode("float"),
        "children": ListNode(StructNode(Tree)),
        "left": OptionalNode(StructNode(Tree)),
    }


def test_a_struct_has_slots_and_no_dict() -> None:
    assert not hasattr(Scored(ONES), "__dict__")
    assert vars(Scored)["__slots__"] == ("scores",)


def test_a_struct_cannot_be_changed() -> None:
    value: Any = boxes()
    with pytest.raises(
        dataclasses.FrozenInstanceError, match="a `Boxes` is immutable; build a new"
    ):
        value.count = 4
    with pytest.raises(dataclasses.FrozenInstanceError, match="immutable; `count` cannot be del"):
        del value.count


def test_dataclass_functions_know_structs() -> None:
    value = Scored(ONES, 7)
    assert [f.name for f in dataclasses.fields(Scored)] == ["coords", "count", "names", "scores"]
    replaced = dataclasses.replace(value, count=9)
    assert (replaced.count, replaced.coords is ONES) == (9, True)


def test_the_repr_shows_the_fields() -> None:
    assert repr(boxes(names=["a"])).endswith("count=3, names=['a'])")


def test_keyword_only_fields_and_init_variables_are_those_of_dataclasses() -> None:
    class Options(ExtensionType[P]):
        x: FloatTensor[P]
        _: KW_ONLY
        scale: InitVar[float]
        total: float = field(init=False)

        def __post_init__(self, scale: float) -> None:
            object.__setattr__(self, "total", scale * 2)

    made: Any = cast("Any", Options)(ONES, scale=1.5)
    assert (made.total, list(Options.__nodes__())) == (3.0, ["x", "total"])


@pytest.mark.parametrize("value", [boxes(names=["a"]), Scored(ONES, 1, [], ONES)], ids=repr)
def test_a_struct_survives_pickling_and_deep_copies(value: Any) -> None:
    for made in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert type(made) is type(value)
        assert repr(made) == repr(value)


def test_a_shallow_copy_is_the_struct_itself() -> None:
    value = boxes()
    assert copy.copy(value) is value


def test_structs_with_tensors_are_equal_by_identity() -> None:
    value = boxes()
    assert value == value
    assert value != boxes()
    assert len({value, value, boxes()}) == 2


def test_structs_of_specs_are_equal_by_value_and_class() -> None:
    spec, other = TensorSpec((2,), float32), TensorSpec((3,), float32)
    assert Boxes(spec, 1, []) == Boxes(spec, 1, [])
    assert Boxes(spec, 1, []) != Boxes(spec, 2, [])
    assert Boxes(spec, 1, []) != Boxes(other, 1, [])
    assert Boxes(spec, 5, []) != Scored(spec, 5, [])
    assert (Boxes(spec) == 3) is False


def test_structs_of_specs_hash_by_value() -> None:
    one, other = (Tree(TensorSpec((2,), float32), cast("Any", ())) for _ in range(2))
    assert hash(one) == hash(other)


def test_only_structs_have_fields() -> None:
    assert struct_fields(boxes()) == Boxes.__nodes__()
    assert struct_fields((1, 2)) is None


# ---- what is refused ---------------------------------------------------------------------------


def test_a_struct_is_generic_in_the_tensor_type_and_nothing_else() -> None:
    bases: Any = (ExtensionType[P], Generic[P, T])
    with pytest.raises(
        ExtensionTypeError, match=r"struct `Two` is generic in P, T; write `class Two"
    ):
        types.new_class("Two", bases)


def test_a_struct_says_its_parameter() -> None:
    with pytest.raises(ExtensionTypeError, match=r"struct `Plain` is generic in nothing; write"):

        class Plain(ExtensionType): ...


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (FloatTensor[np.ndarray], r"field `x` of struct `Bad`: .*names the tensor type ndarray"),
        (set[FloatTensor[P]], "field `x` of struct `Bad`: .*hides a tensor"),
        ("1 / 0", r"field `x` of struct `Bad`: .*'1 / 0' cannot be resolved \(division by zero\)"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(annotation: Any, message: str) -> None:
    with pytest.raises(ExtensionTypeError, match=message):
        types.new_class(
            "Bad",
            cast("Any", (ExtensionType[P],)),
            {},
            lambda body: body.update(__annotations__={"x": annotation}, __module__=__name__),
        )


def test_a_mutable_default_is_refused() -> None:
    with pytest.raises(ExtensionTypeError, match="`Mutable` cannot be a struct: mutable default"):

        class Mutable(ExtensionType[P]):
            names: list[str] = []  # noqa: RUF012 - on purpose


def test_a_default_for_a_field_of_the_base_needs_an_annotation() -> None:
    with pytest.raises(
        ExtensionTypeError, match="`Fewer` sets `count`, which is a field of its base"
    ):

        class Fewer(Boxes[P]):
            count = 1


def test_fields_come_from_one_line_of_bases() -> None:
    with pytest.raises(
        ExtensionTypeError, match="`Both` has two bases with fields; a struct inherit"
    ):

        class Both(One[P], Other[P]): ...


def test_dimensions_of_a_struct_are_bound_inside_it() -> None:
    with pytest.raises(ExtensionTypeError, match=r"struct `Grid` uses the dimension `k`, which no"):

        class Grid(ExtensionType[P]):
            values: Float[P, "m n"]
            flat: Float[P, "m*k"]


def test_a_struct_that_could_never_be_built_is_refused() -> None:
    with pytest.raises(
        ExtensionTypeError, match="every `Endless` holds another `Endless`, so none"
    ):

        class Endless(ExtensionType[P]):
            pair: tuple[FloatTensor[P], Endless[P]]


class One(ExtensionType[P]):
    one: FloatTensor[P]


class Other(ExtensionType[P]):
    other: FloatTensor[P]


class Early(ExtensionType[P]):
    later: Later[P] | None


class Later(ExtensionType[P]):
    early: Early[P]
    ids: IntTensor[P]


def test_a_struct_may_name_one_that_is_defined_later() -> None:
    assert Early.__nodes__() == {"later": OptionalNode(StructNode(Later))}
    assert Later.__nodes__()["early"] == StructNode(Early)


def test_a_struct_that_names_nothing_is_refused_at_its_first_use() -> None:
    class Lost(ExtensionType[P]):
        values: Nowhere[P]  # pyright: ignore

    with pytest.raises(
        SignatureError, match="field `values` of struct `Lost`: name 'Nowhere' is no"
    ):
        Lost.__nodes__()


def test_ordinary_fields_of_any_type_pass() -> None:
    class Odd(ExtensionType[P]):
        x: FloatTensor[P]
        options: int | str | None = None

    assert Odd.__nodes__()["options"] == PlainNode(int | str | None)
