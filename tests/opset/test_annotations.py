"""What annotations are read as, and with which words they are refused."""

# ruff: noqa: UP045 - both ways to write an Optional are read
# Annotations are values here, which checkers read as types.
# pyright: reportGeneralTypeIssues=false, reportInvalidTypeArguments=false
# pyright: reportUnknownArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, Optional, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from firebrick import Device, Tensor
from firebrick.errors import SignatureError
from firebrick.extension import (
    Bool,
    BoolTensor,
    ExtensionType,
    Float,
    FloatTensor,
    Int,
    IntTensor,
    P,
    QuantizedTensor,
    scalar,
)
from firebrick.opset.annotations import node_of
from firebrick.opset.dims import parse_dims
from firebrick.opset.nodes import (
    DeviceNode,
    DictNode,
    ListNode,
    Node,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
)


class Dense(ExtensionType[P]):
    values: FloatTensor[P]


class Empty(ExtensionType[P]): ...


FLOAT, INT = TensorNode("float"), TensorNode("int")
Alias = FloatTensor
Operand = Dense[P] | Empty[P]
Named = TypeAliasType("Named", FloatTensor[P])
Q = TypeVar("Q")
Generic = TypeAliasType("Generic", Dense[Q] | Empty[Q], type_params=(Q,))
Meters = NewType("Meters", float)


def read(annotation: Any, tensor: Any = P) -> Node:
    return node_of(annotation, tensor=tensor, where="`Ops.op`, parameter `x`")


@pytest.mark.parametrize(
    ("annotation", "node"),
    [
        (FloatTensor[P], FLOAT),
        (IntTensor[P], INT),
        (BoolTensor[P], TensorNode("bool")),
        (QuantizedTensor[P], TensorNode("quantized")),
        (Float[P, "m k"], TensorNode("float", parse_dims("m k"))),
        (Int[P, "*batch"], TensorNode("int", parse_dims("*batch"))),
        (Bool[P, "#n"], TensorNode("bool", parse_dims("#n"))),
        (Alias[P], FLOAT),
        (Named, FLOAT),
        (Annotated[FloatTensor[P], "in meters"], FLOAT),
        (Optional[FloatTensor[P]], OptionalNode(FLOAT)),
        (FloatTensor[P] | None, OptionalNode(FLOAT)),
        (list[FloatTensor[P]], ListNode(FLOAT)),
        (Sequence[IntTensor[P]], ListNode(INT)),
        (tuple[FloatTensor[P], ...], TupleNode((FLOAT,), variadic=True)),
        (dict[str, FloatTensor[P]], DictNode(FLOAT)),
        (Mapping[str, FloatTensor[P]], DictNode(FLOAT)),
        (Dense[P], StructNode(Dense)),
        (Annotated[Dense[P], "boxes"], StructNode(Dense)),
        (Operand, UnionNode((StructNode(Dense), StructNode(Empty)))),
        (Generic[P], UnionNode((StructNode(Dense), StructNode(Empty)))),
        (Optional[Operand], OptionalNode(UnionNode((StructNode(Dense), StructNode(Empty))))),
        (FloatTensor[P] | IntTensor[P], UnionNode((FLOAT, INT))),
        (FloatTensor[P] | float, UnionNode((FLOAT, PlainNode(float)))),
        (FloatTensor[P] | Device, UnionNode((FLOAT, PlainNode(Device)))),
        (list[FloatTensor[P]] | None, OptionalNode(ListNode(FLOAT))),
        (list[FloatTensor[P] | None], ListNode(OptionalNode(FLOAT))),
        (Device, DeviceNode()),
        (tuple[FloatTensor[P], int], TupleNode((FLOAT, PlainNode(int)))),
        (
            dict[str, list[tuple[FloatTensor[P], IntTensor[P]]]],
            DictNode(ListNode(TupleNode((FLOAT, INT)))),
        ),
    ],
    ids=str,
)
def test_an_annotation_with_tensors_is_read_through_everything_around_them(
    annotation: Any, node: Node
) -> None:
    assert read(annotation) == node


@pytest.mark.parametrize(
    "annotation",
    [
        int,
        Any,
        object,
        np.ndarray,
        list[int],
        tuple[int, ...],
        tuple[()],
        dict[str, float],
        Optional[float],
        Device | None,
        Literal["a", "b"],
        Callable[[float], float],
        Meters,
        list,
        tuple,
    ],
    ids=str,
)
def test_an_annotation_without_tensors_is_an_ordinary_argument(annotation: Any) -> None:
    assert read(annotation) == PlainNode(annotation)


def test_an_ordinary_argument_may_say_how_optimizers_see_it() -> None:
    def encode(value: str) -> int:
        return len(value)

    assert read(Annotated[str, scalar(encode)]) == PlainNode(str, encode)


def test_the_short_form_has_another_tensor_type() -> None:
    dense: Any = Dense[Tensor]
    assert read(Float[Tensor, "n"], Tensor) == TensorNode("float", parse_dims("n"))
    assert read(dense, Tensor) == StructNode(Dense)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (P, r"is the bare type variable `P`; say which kind, as in `FloatTensor\[P\]`"),
        (list[P], "is the bare type variable `P`"),
        (FloatTensor[np.ndarray], r"names the tensor type ndarray; write `P` there, as in `Float"),
        (IntTensor[Tensor], r"names the tensor type Tensor; .* `IntTensor\[P\]`"),
        (Dense, r"`Dense` should be `Dense\[P\]`"),
        (Dense[np.ndarray], r"`Dense\[ndarray\]` should be `Dense\[P\]`"),
        (set[FloatTensor[P]], "hides a tensor; accepted around tensors are structs, unions"),
        (Callable[[FloatTensor[P]], int], "hides a tensor"),
        (dict[int, FloatTensor[P]], "has keys of type int; dicts of tensors have str keys"),
        (
            list[FloatTensor[P]] | FloatTensor[P],
            "mixes a container of tensors with other types; use a struct",
        ),
        (
            Float[P, "n"] | Float[P, "m n"],
            "has two tensors of one kind; only the kind tells a union's tensors apart",
        ),
        (Int[FloatTensor[P], "n"], "says twice what it is"),
        (
            Annotated[FloatTensor[P], scalar(float)],
            r"says twice what it is; one of `FloatTensor`, `Int`, \.\.\. is enough",
        ),
        (
            Annotated[FloatTensor[P] | None, scalar(float)],
            r"has `scalar\(\.\.\.\)`, which is for ordinary arguments, on tensors",
        ),
        (Float[P, "m n?"], r"'n\?' in dimensions 'm n\?' cannot be read"),
    ],
    ids=str,
)
def test_an_annotation_that_cannot_be_used_is_refused(annotation: Any, message: str) -> None:
    with pytest.raises(SignatureError, match=rf"`Ops\.op`, parameter `x`: .*{message}"):
        read(annotation)


@pytest.mark.parametrize("annotation", [Tensor, list[Tensor], Optional[Tensor]], ids=str)
def test_a_user_tensor_without_a_kind_is_refused_in_the_short_form(annotation: Any) -> None:
    message = (
        r"is the bare tensor type `Tensor`; say which kind, as in `Float\[Tensor, \"\.\.\.\"\]`"
    )
    with pytest.raises(SignatureError, match=message):
        read(annotation, Tensor)


@pytest.mark.parametrize("arguments", [P, (P,), (P, "m", "k")], ids=str)
def test_dimensions_come_with_the_tensor_type(arguments: Any) -> None:
    mark: Any = Float
    with pytest.raises(SignatureError, match=r"`Float` takes the tensor type and dimensions, such"):
        mark[arguments]


def test_dimensions_are_a_string() -> None:
    mark: Any = Int
    with pytest.raises(SignatureError, match=r"the dimensions of `Int` are a string; got 3\."):
        mark[P, 3]
