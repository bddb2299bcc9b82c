"""State of the long form on a recorded pass: what becomes tracked, what is refused."""

from __future__ import annotations

import enum
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, raw, shown

from firebrick import Device, Gradients, Tensor
from firebrick.core import TensorSpec, float64
from firebrick.decorators.autodiff import AutodiffTensor
from firebrick.decorators.autodiff.node import noted
from firebrick.errors import AutodiffError
from firebrick.extension import (
    Backend,
    Backward,
    Checkpointer,
    ExtensionType,
    FloatTensor,
    Ops,
    P,
    Tracked,
)


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray().autodiff()


Read = Callable[[Any], Any]
reads: list[Read] = []
states: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    reads.clear()
    states.clear()


class Cube(Backward[Any]):
    """The gradient of `x * y * y` with both operands and the output in the state."""

    def backward(
        self, backend: Backend[Any], ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer
    ) -> None:
        states.append(ops.state)
        x, y, out = reads[0](ops.state)
        grad = grads.consume(ops.node)
        in_x, in_y = ops.parents
        if in_x is not None:
            grads.register(in_x, backend.float_mul(grad, backend.float_div(out, x)))
        if in_y is not None:
            twice = backend.float_mul_scalar(backend.float_mul(x, y), 2.0)
            grads.register(in_y, backend.float_mul(grad, twice))


State = Callable[[Any, Any, Any], Any]


def called(x: AutodiffTensor, y: AutodiffTensor, state: State, read: Read) -> Tensor:
    reads.append(read)
    output = x.primitive * y.primitive * y.primitive
    prepared = Cube.prepare(x.owner.checkpointing, x.node, y.node).compute_bound().stateful()
    assert isinstance(prepared, Tracked)
    return shown(prepared.prep.finish(state(x.primitive, y.primitive, output), output))


class Named(NamedTuple):
    x: Any
    rest: list[Any]


@dataclass
class Loose:
    x: Any
    y: Any
    out: Any = field(init=False)


@dataclass(frozen=True, slots=True)
class Tight:
    x: Any
    rest: tuple[Any, ...]


class Struct(ExtensionType[P]):
    x: FloatTensor[P]
    y: FloatTensor[P]
    out: FloatTensor[P]


class Mode(enum.Enum):
    FAST = 1


def loose(x: Any, y: Any, out: Any) -> Loose:
    state = Loose(x, y)
    state.out = out
    vars(state)["more"] = "kept"
    return state


def ordered(x: Any, y: Any, out: Any) -> OrderedDict[str, Any]:
    return OrderedDict(x=x, y=y, out=out)


STATES: dict[str, tuple[State, Read]] = {
    "tuple": (lambda x, y, o: (x, y, o), lambda s: s),
    "list": (lambda x, y, o: [x, [y, o]], lambda s: (s[0], *s[1])),
    "dict": (
        lambda x, y, o: {"x": x, "y": {"y": y}, "o": o},
        lambda s: (s["x"], s["y"]["y"], s["o"]),
    ),
    "ordered dict": (
        ordered,
        lambda s: tuple(s.values()),
    ),
    "named tuple": (lambda x, y, o: Named(x, [y, o]), lambda s: (s.x, *s.rest)),
    "dataclass": (loose, lambda s: (s.x, s.y, s.out if s.more == "kept" else None)),
    "frozen dataclass": (lambda x, y, o: Tight(x, (y, o)), lambda s: (s.x, *s.rest)),
    "struct": (lambda x, y, o: Struct(x, y, o), lambda s: (s.x, s.y, s.out)),
}


@pytest.mark.parametrize("name", STATES)
def test_tensors_of_a_state_are_differentiated(ndarray: Device, name: str) -> None:
    # f = x y^2 at (2, 3); f_x = y^2, f_xy = 2y = 6; f_y = 2xy, f_yy = 2x = 4
    x, y = leaf([2.0], ndarray), leaf([3.0], ndarray)
    first = called(raw(x), raw(y), *STATES[name]).backward(create_graph=True)
    in_x, in_y = x.grad(first), y.grad(first)
    assert (in_x.tolist(), in_y.tolist()) == ([9.0], [12.0])
    second = in_x.backward(retain_graph=True)
    np.testing.assert_allclose(y.grad(second).numpy(), [6.0], rtol=1e-15)
    np.testing.assert_allclose(x.grad(second).numpy(), [0.0], atol=1e-15)
    np.testing.assert_allclose(y.grad(in_y.backward()).numpy(), [4.0], rtol=1e-15)
    assert type(states[0]) is type(STATES[name][0](1, 2, 3))


def test_an_untracked_input_in_the_state_is_a_constant(ndarray: Device) -> None:
    x, y = Tensor(np.array([2.0]), ndarray), leaf([3.0], ndarray)
    first = called(raw(x), raw(y), *STATES["tuple"]).backward(create_graph=True)
    assert y.grad(y.grad(first).backward()).tolist() == [4.0]


def test_a_state_that_is_not_recorded_is_handed_over_as_it_is(ndarray: Device) -> None:
    x = leaf([2.0], ndarray)
    state = object()
    called(raw(x), raw(x), lambda x, y, o: state, lambda s: (x.numpy(),) * 3).backward()
    assert states == [state]


def test_plain_values_of_a_state_stay_as_they_are(ndarray: Device) -> None:
    plain: list[Any] = [
        None, True, 3, 2.5, 1j, "text", b"bytes", slice(1), range(2), int, Mode.FAST,
        TensorSpec((2,), float64), float64, ndarray, np.dtype("int8"), np.int64(4), np.True_,
        defaultdict(list, a=1),
    ]  # fmt: skip
    x = leaf([2.0], ndarray)
    out = called(raw(x), raw(x), lambda x, y, o: (x, y, o, plain), lambda s: s[:3])
    out.backward(create_graph=True)
    assert states[0][3] == plain
    assert [type(value) for value in states[0][3]] == [type(value) for value in plain]


def test_ints_of_a_state_are_constants_of_the_autodiff_backend(ndarray: Device) -> None:
    ids = np.array([1, 2])
    x = leaf([2.0], ndarray)
    out = called(raw(x), raw(x), lambda x, y, o: (x, y, o, ids), lambda s: s[:3])
    out.backward(create_graph=True)
    found = states[0][3]
    assert isinstance(found, AutodiffTensor)
    assert not found.is_tracked
    assert found.kind == "int"


def test_a_checkpointed_value_in_the_state_is_tracked(ndarray: Device) -> None:
    x = raw(leaf([2.0], ndarray))
    other = raw(leaf([5.0], ndarray))
    reads.append(lambda s: (s[0], s[0], s[0]))
    prepared = Cube.prepare(x.owner.checkpointing, x.node, x.node).compute_bound().stateful()
    assert isinstance(prepared, Tracked)
    prepared.prep.checkpoint(other)
    out = prepared.prep.finish((x.primitive, other.primitive), x.primitive**3)
    shown(out).backward(create_graph=True)
    assert states[0][1].link is other.link


def test_tracked_tensors_in_a_state_are_left_alone(ndarray: Device) -> None:
    x = leaf([2.0], ndarray)
    held = raw(x)
    out = called(raw(x), raw(x), lambda x, y, o: (held, held, held), lambda s: s)
    first = x.grad(out.backward(create_graph=True))
    assert states[0][0] is held
    assert first.is_tracked


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x * 1.0, r"keeps a float tensor in its state that is neither its output nor"),
    (lambda x: {"deep": [x[:1]]}, r"keeps a float tensor .*`prep\.checkpoint\(tensor\)`"),
    (lambda x: x.sum(), r"keeps a float tensor"),
    (lambda x: {1, 2}, r"keeps a set in its state, which a recorded.*cannot look into"),
    (lambda x: lambda: x, r"keeps a function in its state.*keep tuples, lists, dicts or da"),
    (lambda x: object(), r"keeps a object in its state"),
]


@pytest.mark.parametrize(("extra", "message"), REFUSED)
def test_what_would_silently_be_a_constant_is_refused(
    ndarray: Device, extra: Callable[[Any], Any], message: str
) -> None:
    x = leaf([2.0], ndarray)
    out = called(raw(x), raw(x), lambda x, y, o: (x, y, o, extra(x)), lambda s: s[:3])
    with pytest.raises(AutodiffError, match="`Cube` " + message):
        out.backward(create_graph=True)
    np.testing.assert_allclose(x.grad(out.backward()).numpy(), [12.0])


def test_a_later_view_of_the_same_node_does_not_hide_the_first(ndarray: Device) -> None:
    x = raw(leaf([2.0], ndarray))
    out = called(x, x, *STATES["tuple"])
    again = AutodiffTensor(x.primitive.view(), x.link, "float", x.owner)
    assert again.node is x.link
    out.backward(create_graph=True)
    assert states[0][0].link is x.link


def test_values_that_cannot_be_noted_are_refused_rather_than_taken_for_others() -> None:
    assert noted(3.0)() is None
    value = np.ones(1)
    assert noted(value)() is value
