"""Cases made up from signatures: sizes, structures, values, ordinary arguments."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NewType

import numpy as np
import pytest

from firebrick import Device, DType
from firebrick.core import Shape
from firebrick.extension import (
    BoolTensor,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    Int,
    IntTensor,
    OpSet,
    P,
    QuantizedTensor,
    backend_extension,
    scalar,
)
from firebrick.opset import Operation
from firebrick.testing.case import Case, DevicePlace
from firebrick.testing.generation import Generator, Recipe
from firebrick.testing.ordinary import options_for
from firebrick.testing.structure import CannotMakeError


class Dense(ExtensionType[P]):
    values: Float[P, "n m"]
    scale: float


class Sparse(ExtensionType[P]):
    values: Float[P, "n"]
    rows: Int[P, "n"]


class Nothing(ExtensionType[P]): ...


class Tree(ExtensionType[P]):
    value: FloatTensor[P]
    left: Tree[P] | None
    others: list[Tree[P]]


Either = Dense[P] | Sparse[P] | Nothing[P]


class Opaque:
    """Something that nobody can make up."""


@backend_extension(Flex)
class Ops(OpSet[P]):
    def matmul(self, lhs: Float[P, "*batch m k"], rhs: Float[P, "k n"]) -> FloatTensor[P]:
        return lhs

    def expressions(
        self, x: Float[P, "m k"], y: Float[P, "m-k 2*k 3"], z: Float[P, "#m _"]
    ) -> FloatTensor[P]:
        return x

    def dots(self, x: Float[P, "... n"], y: Float[P, "n"]) -> FloatTensor[P]:
        return x

    def plain(self, x: FloatTensor[P], y: FloatTensor[P], z: BoolTensor[P]) -> FloatTensor[P]:
        return x

    def optional(self, x: FloatTensor[P], bias: FloatTensor[P] | None = None) -> FloatTensor[P]:
        return x

    def union(self, x: Either[P], other: Dense[P]) -> FloatTensor[P]:
        return other.values

    def tree(self, tree: Tree[P]) -> FloatTensor[P]:
        return tree.value

    def containers(
        self,
        items: list[FloatTensor[P]],
        named: dict[str, IntTensor[P]],
        pair: tuple[FloatTensor[P], BoolTensor[P]],
        many: tuple[FloatTensor[P], ...],
    ) -> FloatTensor[P]:
        return items[0]

    def scalars(
        self, x: FloatTensor[P] | float, dim: int, *, flag: bool, mode: Literal["a", "b"] = "b"
    ) -> FloatTensor[P]:
        raise ValueError

    def create(self, device: Device, rows: int) -> FloatTensor[P]:
        raise ValueError

    def opaque(self, x: FloatTensor[P], what: Opaque) -> FloatTensor[P]:
        return x

    def quantized(self, x: QuantizedTensor[P]) -> FloatTensor[P]:
        raise ValueError


def accept_all(_: Case) -> bool:
    return True


def operation(name: str) -> Operation:
    return Ops.__operations__[name]


def every_case(name: str, seed: int = 0) -> list[Case]:
    """The base and its variants."""
    generator = Generator(operation(name), seed)
    base = generator.base(accept_all)
    assert base is not None
    recipes = [base, *generator.variants(base, accept_all)]
    return [case for case in map(generator.make, recipes) if case is not None]


def shapes(case: Case) -> dict[str, tuple[int, ...]]:
    return {path: tensor.array.shape for path, tensor in case.tensors()}


# ---- sizes -----------------------------------------------------------------------------------


def test_a_name_has_one_size_in_every_input() -> None:
    for case in every_case("matmul"):
        found = shapes(case)
        assert found["lhs"][-1] == found["rhs"][0]


def test_names_have_different_sizes_in_the_base() -> None:
    assert shapes(every_case("matmul")[0]) == {"lhs": (2, 2, 3), "rhs": (3, 4)}


def test_each_name_is_0_and_1_once_and_each_batch_has_several_ranks() -> None:
    found = [shapes(case) for case in every_case("matmul") if case.role == "sizes"]
    assert {"lhs": (2, 0, 3), "rhs": (3, 4)} in found
    assert {"lhs": (2, 2, 0), "rhs": (0, 4)} in found
    assert {"lhs": (2, 2, 3), "rhs": (3, 0)} in found
    assert {"lhs": (2, 1, 1), "rhs": (1, 1)} in found
    assert {"lhs": (2, 3), "rhs": (3, 4)} in found
    assert {"lhs": (2, 3, 2, 3), "rhs": (3, 4)} in found


def test_expressions_follow_from_their_names_and_are_never_negative() -> None:
    for case in every_case("expressions"):
        found = shapes(case)
        m, k = found["x"]
        assert found["y"] == (m - k, 2 * k, 3)
        assert found["z"][0] in (1, m)
    assert any(
        shapes(case)["z"][0] == 1 < shapes(case)["x"][0] for case in every_case("expressions")
    )


def test_dots_stand_for_several_ranks() -> None:
    ranks = {len(shapes(case)["x"]) for case in every_case("dots")}
    assert {1, 2, 3, 4} <= ranks


def test_tensors_without_dimensions_have_one_shape() -> None:
    found = [shapes(case) for case in every_case("plain")]
    assert all(len(set(case.values())) == 1 for case in found)
    every = {case["x"] for case in found}
    assert {(2, 3), (), (0,), (1,), (1, 1), (0, 3), (4,), (2, 3, 2)} <= every


def test_structs_share_names_at_first_and_have_their_own_in_one_case() -> None:
    found = [shapes(case) for case in every_case("union")]
    both = [case for case in found if "x.values" in case and len(case["x.values"]) == 2]
    assert both[0]["x.values"] == both[0]["other.values"]
    assert any(case["x.values"] != case["other.values"] for case in both)
    sparse = [case for case in found if "x.rows" in case]
    assert sparse
    assert all(case["x.rows"] == case["x.values"] for case in sparse)


# ---- structures ------------------------------------------------------------------------------


def test_an_optional_is_there_and_is_absent() -> None:
    cases = every_case("optional")
    assert {case.arguments["bias"] is None for case in cases} == {True, False}


def test_every_variant_of_a_union_comes_up() -> None:
    found: set[Any] = {type(case.arguments["x"]) for case in every_case("union")}
    assert found == {Dense, Sparse, Nothing}


def test_a_struct_that_contains_itself_ends() -> None:
    found = [set(shapes(case)) for case in every_case("tree")]
    assert {"tree.value", "tree.left.value", "tree.others.0.value", "tree.others.1.value"} in found
    assert {"tree.value", "tree.others.0.value", "tree.others.1.value"} in found


def test_containers_have_lengths_from_1_to_3() -> None:
    cases = every_case("containers")
    assert {len(case.arguments["items"]) for case in cases} == {1, 2, 3}
    assert {len(case.arguments["named"]) for case in cases} == {1, 2, 3}
    assert {len(case.arguments["many"]) for case in cases} == {1, 2, 3}
    assert type(cases[0].arguments["pair"]) is tuple


def test_a_device_is_left_open() -> None:
    assert isinstance(every_case("create")[0].arguments["device"], DevicePlace)


# ---- ordinary arguments ----------------------------------------------------------------------


def test_ordinary_arguments_take_other_values_one_at_a_time() -> None:
    cases = every_case("scalars")
    assert {case.arguments["flag"] for case in cases} == {False, True}
    assert {case.arguments["mode"] for case in cases} == {"a", "b"}
    assert {case.arguments["dim"] for case in cases} == {0, 1, 2}
    assert cases[0].arguments["mode"] == "b"  # its default
    scalars = {case.arguments["x"] for case in cases if isinstance(case.arguments["x"], float)}
    assert scalars == {0.5, 2.0}


class Color(enum.Enum):
    RED = 1
    BLUE = 2


Meters = NewType("Meters", float)


@pytest.mark.parametrize(
    ("annotation", "first"),
    [
        (bool, False),
        (int, 1),
        (float, 0.5),
        (str, "a"),
        (Color, Color.RED),
        (Literal[3, 4], 3),
        (Meters, 0.5),
        (Annotated[int, scalar(int)], 1),
        (int | None, 1),
        (Sequence[int], [1]),
        (tuple[int, float], (1, 0.5)),
        (tuple[int, ...], (1,)),
        (dict[str, int], {}),
        (Shape, Shape((2, 3))),
    ],
)
def test_a_value_of_a_common_type_can_be_made_up(annotation: Any, first: Any) -> None:
    assert options_for(annotation)[0] == first


@pytest.mark.parametrize("annotation", [Opaque, object, list[Opaque], Any])
def test_other_types_cannot_be_made_up(annotation: Any) -> None:
    assert options_for(annotation) == ()


def test_dtypes_of_every_kind_are_tried() -> None:
    assert {dtype.kind for dtype in options_for(DType)} == {"float", "int", "bool"}


@pytest.mark.parametrize(
    ("name", "message"),
    [("opaque", "`what` is of type `Opaque`"), ("quantized", "`x` is a quantized tensor")],
)
def test_what_cannot_be_made_up_is_named(name: str, message: str) -> None:
    with pytest.raises(CannotMakeError, match=message):
        Generator(operation(name), 0).base(accept_all)


# ---- values ----------------------------------------------------------------------------------


def test_floats_keep_away_from_0_and_from_each_other() -> None:
    case = every_case("plain")[0]
    floats = np.sort(np.concatenate([values.ravel() for values in case.floats()]))
    assert np.abs(floats).min() >= 1e-2
    assert np.diff(floats).min() >= 1e-2
    assert floats.min() < 0 < floats.max()


def test_floats_are_exact_in_float32() -> None:
    for case in every_case("plain"):
        assert all((values.astype(np.float32) == values).all() for values in case.floats())


def test_floats_lie_in_other_ranges_too() -> None:
    ranges = [np.concatenate([v.ravel() for v in case.floats()]) for case in every_case("plain")]
    filled = [values for values in ranges if values.size]
    assert any(values.min() > 0 and values.max() < 1 for values in filled)
    assert any(values.min() > 1 for values in filled)


def test_ints_are_indices_into_the_smallest_size() -> None:
    for case in every_case("union"):
        for path, tensor in case.tensors():
            if path == "x.rows" and tensor.array.size:
                assert tensor.array.min() >= 0
                sizes = [size for shape in shapes(case).values() for size in shape if size]
                assert tensor.array.max() < min(sizes)


def test_bools_are_of_both_values() -> None:
    values = dict(every_case("plain")[0].tensors())["z"].array
    assert values.any()
    assert not values.all()


def test_the_same_seed_gives_the_same_values() -> None:
    first, again, other = (every_case("plain", seed)[0] for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(first.floats(), again.floats(), strict=True))
    assert any((a != b).any() for a, b in zip(first.floats(), other.floats(), strict=True))


# ---- what an operation takes -----------------------------------------------------------------


def test_the_base_is_the_first_case_that_is_taken() -> None:
    generator = Generator(operation("plain"), 0)
    base = generator.base(lambda case: shapes(case)["x"] == (4,))
    assert base is not None
    case = generator.make(base)
    assert case is not None
    assert shapes(case)["y"] == (4,)


def test_there_is_no_base_where_nothing_is_taken() -> None:
    assert Generator(operation("plain"), 0).base(lambda case: False) is None


def test_a_variant_that_is_never_taken_is_remembered() -> None:
    generator = Generator(operation("union"), 0)
    list(generator.variants(Recipe(every_sizing()), lambda c: type(c.arguments["x"]) is Dense))
    assert [text.partition(" ")[0] for text in generator.refused] == [
        "x.values",  # of a sparse one
        "other.values",
    ]


def every_sizing() -> Any:
    base = Generator(operation("union"), 0).base(accept_all)
    assert base is not None
    return base.sizing


def test_a_case_is_shown_with_its_shapes_and_ordinary_arguments() -> None:
    assert str(every_case("scalars")[0]) == "x float [2, 3], dim=1, flag=False, mode='b'"
    assert str(every_case("create")[0]) == "device=the device, rows=1"
