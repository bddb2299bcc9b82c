"""`dispatch(Ops)`: the object, and what its functions take and return."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, declare, floats, implement, ints, opened, run

from firebrick import Device
from firebrick.backend import FloatOps
from firebrick.core import DispatchTensor
from firebrick.errors import KindError, SelectorError
from firebrick.extension import (
    Autodiff,
    BoolTensor,
    Flex,
    FloatTensor,
    IntTensor,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
)
from firebrick.opset import dispatcher_of

unchecked: Any = dispatch


@backend_extension(Flex, NdArray, Autodiff)
class Ops(OpSet[P]):
    def keep(
        self, x: FloatTensor[P], /, by: float = 2.0, *, y: FloatTensor[P] | None = None
    ) -> FloatTensor[P]:
        """Returns `x * by + y`."""
        scaled = self.backend.float_mul_scalar(x, by)
        return scaled if y is None else self.backend.float_add(scaled, y)

    def given(self, x: FloatTensor[P], value: Any) -> FloatTensor[P]:
        return value

    async def later(self, x: FloatTensor[P], value: Any = None) -> FloatTensor[P]:
        return x if value is None else value

    def parts(
        self, x: FloatTensor[P], value: Any
    ) -> tuple[list[FloatTensor[P]], dict[str, IntTensor[P]], BoolTensor[P] | None]:
        return value


Ops.default_on(Flex, NdArray, Autodiff)
ops = dispatch(Ops)


def test_it_is_the_same_object_each_time() -> None:
    assert dispatch(Ops) is ops
    assert ops.keep is ops.keep
    assert repr(ops) == "dispatch(Ops)"


def test_a_function_has_the_signature_and_the_text_of_the_declaration() -> None:
    assert list(inspect.signature(ops.keep).parameters) == ["x", "by", "y"]
    assert (ops.keep.__name__, ops.keep.__qualname__) == ("keep", "Ops.keep")
    assert (ops.keep.__doc__, ops.keep.__module__) == ("Returns `x * by + y`.", __name__)


def test_arguments_are_bound_as_python_does(flex: Device) -> None:
    x = floats([1.0], flex)
    assert run(ops.keep, x).tolist() == [2.0]
    assert run(ops.keep, x, 3.0).tolist() == [3.0]
    assert run(ops.keep, x, by=3.0, y=x).tolist() == [4.0]
    with pytest.raises(TypeError, match=r"keep\(\) got some positional-only arguments"):
        run(ops.keep, x=x)
    with pytest.raises(TypeError, match=r"keep\(\) takes from 1 to 2 positional arguments but 3"):
        run(ops.keep, x, 2.0, x)


def test_an_unknown_operation_gets_a_suggestion() -> None:
    with pytest.raises(
        AttributeError, match=r"`Ops` has no operation `kep`; it has .*mean `keep`\?"
    ):
        _ = unchecked(Ops).kep


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (3, r"`dispatch` takes an op set, a subclass of `OpSet`; got 3\."),
        (OpSet, "`dispatch` takes an op set, a subclass of `OpSet`; got <class"),
        (declare(), "`Ops` is not open to any backend; decorate it with `@backend_extension"),
    ],
)
def test_only_an_open_op_set_is_dispatched(target: Any, message: str) -> None:
    with pytest.raises(SelectorError, match=message):
        unchecked(target)


def test_an_implementation_is_not_dispatched() -> None:
    mine = implement(opened(Flex), Flex)
    with pytest.raises(
        SelectorError, match="takes the declaration `Ops`, not the implementation `Mi"
    ):
        unchecked(mine)


def test_built_in_op_sets_are_dispatched_like_others(flex: Device) -> None:
    out = dispatch(FloatOps).float_neg(floats([1.0], flex).into_dispatch())
    assert type(out) is DispatchTensor


def test_a_dispatcher_belongs_to_functions_of_dispatch_only() -> None:
    found = dispatcher_of(ops.keep)
    assert found is not None
    assert found.operation.label == "Ops.keep"
    others: list[Any] = [len, 3, [], Ops.keep]
    for other in others:
        assert dispatcher_of(other) is None


def test_many_threads_compile_an_operation_once() -> None:
    def same(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    op_set = opened(Flex, same=same)
    barrier, found = threading.Barrier(4), list[Any]()

    def ask() -> None:
        barrier.wait()
        found.append(dispatch(op_set).same)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(function) for function in found}) == 1


# ---- outputs -----------------------------------------------------------------------------------

ONE = np.ones(1, np.float32)


def test_a_numpy_scalar_where_an_array_is_due_is_wrapped(flex: Device) -> None:
    assert run(ops.given, floats([1.0], flex), np.float32(3)).tolist() == 3.0
    first, _, _ = run(ops.parts, floats([1.0], flex), ([np.float32(3)], {}, None))
    assert first[0].tolist() == 3.0


WRONG: dict[str, tuple[str, Any, str]] = {
    "another kind": ("given", np.ones(1, np.int32), "a tensor of kind int where `out` is declared"),
    "no tensor": ("given", "text", r"a str where `out` is declared a tensor of kind float\."),
    "nothing": ("given", None, "None where `out` is declared a tensor of kind float"),
    "too few": ("parts", ([], {}), r"a tuple of 2 where `out` is declared a tuple of 3\."),
    "an array for a list": ("parts", (ONE, {}, None), r"a ndarray where `out\.0` is declared a li"),
    "a list for a dict": ("parts", ([], [], None), r"a list of 0 where `out\.1` is declared a dic"),
    "a kind in a list": ("parts", ([ONE, ONE > 0], {}, None), r"kind bool where `out\.0\.1` is de"),
    "a kind in a dict": ("parts", ([], {"a": ONE}, None), r"of kind float where `out\.1\.a` is de"),
    "a kind in an optional": ("parts", ([], {}, ONE), r"of kind float where `out\.2` is declared "),
    "int keys": ("parts", ([], {1: ONE}, None), r"a dict where `out\.1` is declared a dict with s"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_an_output_that_is_not_as_declared_is_refused(flex: Device, case: str) -> None:
    name, value, message = WRONG[case]
    start = rf"`Ops\.{name}`: its implementation on `flex` returned "
    with pytest.raises(KindError, match=f"{start}.*{message}"):
        run(getattr(ops, name), floats([1.0], flex), value)


def test_an_asynchronous_operation_checks_its_output(flex: Device, tracked: Device) -> None:
    async def main(device: Device, value: Any) -> Any:
        return await ops.later(floats([1.0], device).into_dispatch(), value)

    assert asyncio.run(main(flex, None)).kind == "float"
    assert asyncio.run(main(tracked, None)).is_autodiff
    with pytest.raises(
        KindError, match=r"`Ops\.later`: its implementation on `flex` returned a str"
    ):
        asyncio.run(main(flex, "text"))


def test_an_asynchronous_operation_routes_when_it_is_awaited(flex: Device) -> None:
    waiting = ops.later(ints([1], flex).into_dispatch())
    with pytest.raises(
        KindError, match="`x` is declared a tensor of kind float; got a tensor of kin"
    ):
        asyncio.run(waiting)


# ---- names of inputs ---------------------------------------------------------------------------


def any_name(
    self: Any,
    tensor: FloatTensor[P],
    leaves: list[FloatTensor[P]],
    marks: FloatTensor[P] | float = 1.0,
    f: int = 2,
    _f_x: int = 1,
    _f_: int = 1,
    __f_y: int = 1,
    type: int = 1,
    len: int = 1,
    list: int = 1,
    tuple: int = 1,
    any: int = 1,
    Exception: int = 1,  # noqa: N803 - any name
    *,
    _f_tensor: int = 1,
    self_: int = 3,
    default_f: int = 1,
) -> FloatTensor[P]:
    scale = f * _f_x * _f_ * type * len * list * tuple * any * Exception * _f_tensor * self_
    return self.backend.float_mul_scalar(leaves[0], scale)


def bare_names(
    self: Any, _f_out: FloatTensor[P], _f_call: FloatTensor[P], x: int = 2, _p_x: int = 3
) -> FloatTensor[P]:
    return self.backend.float_mul_scalar(self.backend.float_add(_f_out, _f_call), x * _p_x)


def test_inputs_may_have_any_name(flex: Device, tracked: Device) -> None:
    op_set = opened(Flex, Autodiff, any_name=any_name, bare_names=bare_names)
    op_set.default_on(Flex, Autodiff)
    for device in (flex, tracked):
        x = floats([1.0], device)
        assert run(dispatch(op_set).any_name, x, [x]).tolist() == [6.0]
        assert run(dispatch(op_set).any_name, x, [x], x, f=5, self_=1).tolist() == [5.0]
        assert run(dispatch(op_set).bare_names, x, x).tolist() == [12.0]


@pytest.mark.parametrize(
    "name", ["type", "len", "list", "tuple", "dict", "any", "print", "f", "run"]
)
def test_an_operation_may_be_called_like_anything(flex: Device, name: str) -> None:
    def listed(self: Any, x: FloatTensor[P], rest: list[FloatTensor[P]]) -> FloatTensor[P]:
        return self.backend.float_add(x, rest[0])

    op_set = opened(Flex, **{name: listed})
    op_set.default_on(Flex)
    x = floats([1.0], flex)
    assert run(getattr(dispatch(op_set), name), x, [x]).tolist() == [2.0]


def test_the_public_name_stands_in_tracebacks(flex: Device) -> None:
    def failing(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
        raise RuntimeError("user")

    op_set = opened(Flex, failing=failing)
    op_set.default_on(Flex)
    with pytest.raises(RuntimeError, match="user") as caught:
        run(dispatch(op_set).failing, floats([1.0], flex))
    assert [entry.name for entry in caught.traceback].count("failing") == 2


def test_a_primitive_is_not_copied_on_its_way(flex: Device) -> None:
    seen: list[Array] = []

    def look(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def looking(self: Any, x: Array) -> Array:
        seen.append(x)
        return x

    op_set = opened(Flex, look=look)
    implement(op_set, Flex, look=looking)
    x = floats([1.0], flex).into_dispatch()
    assert dispatch(op_set).look(x).primitive is x.primitive
    assert seen[0] is x.primitive


@backend_extension(Flex)
class Scaled(OpSet[P]):
    def scaled(self, x: FloatTensor[P], factor: float) -> FloatTensor[P]:
        return self.backend.float_mul_scalar(x, factor)


Scaled.default_on(Flex)


def test_a_tensor_in_an_ordinary_argument_is_refused_before_the_implementation(
    flex: Device,
) -> None:
    x = floats([1.0], flex)
    for given in (x, x.into_dispatch()):
        with pytest.raises(KindError, match=r"scaled.*`factor` is declared an ordinary argument"):
            unchecked(Scaled).scaled(x.into_dispatch(), given)
    assert run(dispatch(Scaled).scaled, x, 2.0).tolist() == [2.0]
