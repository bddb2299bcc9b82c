"""Op sets as classes: what opens them to backends, and what they refuse to be made of."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Any

import pytest
from tests.opset.calling import declare, floats, implement, run

from firebrick import Device
from firebrick.backend import FloatOps
from firebrick.errors import (
    DispatchError,
    GradientRuleError,
    ImplementationError,
    SelectorError,
    SignatureError,
)
from firebrick.extension import (
    Autodiff,
    Flex,
    Float,
    FloatTensor,
    Fusion,
    IntTensor,
    NdArray,
    NoCheckpointing,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
    gradient,
    when,
)
from firebrick.opset import bind_instance

unchecked: Any = backend_extension


@backend_extension(Flex, NdArray)
class Ops(OpSet[P]):
    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_neg(x)


def negate(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    return self.backend.float_neg(x)


def source(self: Any, count: int) -> IntTensor[P]:
    raise NoDefault


def placed(self: Any, count: int, device: Device) -> IntTensor[P]:
    raise NoDefault


def test_an_op_set_is_not_derived_from_without_a_backend() -> None:
    with pytest.raises(
        ImplementationError, match=r"`More` derives from op set `Ops` without `on=`"
    ):

        class More(Ops[P]): ...  # pyright: ignore[reportUnusedClass] - on purpose


def test_a_declaration_has_nothing_to_implement() -> None:
    with pytest.raises(
        ImplementationError, match=r"derives from `OpSet` itself, so `on=` has nothi"
    ):
        implement(OpSet[P], Flex)


def test_an_implementation_has_one_op_set() -> None:
    other = unchecked(Flex)(declare(negate=negate))
    message = (
        r"`Both` derives from `Ops` and `Ops`; an implementation has one op set, so write a cl"
    )
    with pytest.raises(ImplementationError, match=message):

        class Both(Ops[Any], other, on=Flex): ...  # pyright: ignore[reportUnusedClass] - on purpose


def test_a_gradient_rule_does_not_belong_into_a_declaration() -> None:
    with pytest.raises(
        GradientRuleError, match=r"`Ops\.negate` is a gradient rule in a declaration"
    ):
        declare(negate=gradient(None))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (3, r"`@backend_extension` goes on an op set; got 3\."),
        (int, r"`@backend_extension` goes on an op set; got <class 'int'>\."),
        (OpSet, r"goes on an op set of yours; `OpSet` is built in\."),
        (FloatOps, r"goes on an op set of yours; `FloatOps` is built in\."),
    ],
)
def test_only_an_op_set_is_opened(target: Any, message: str) -> None:
    with pytest.raises(SelectorError, match=message):
        unchecked(Flex)(target)


def test_an_implementation_is_not_opened() -> None:
    op_set = unchecked(Flex)(declare(negate=negate))
    mine = implement(op_set, Flex)
    with pytest.raises(SelectorError, match=r"goes on a declaration; `Mine` implements `Ops`\."):
        unchecked(Flex)(mine)


def test_without_tensors_nothing_chooses_between_two_backends() -> None:
    message = (
        r"`Ops\.source` takes no tensors, so nothing chooses between Flex, NdArray; list exact"
    )
    with pytest.raises(SignatureError, match=message):
        unchecked(Flex, NdArray)(declare(source=source))


def test_without_tensors_there_is_nothing_to_differentiate() -> None:
    message = (
        r"`Ops\.source` takes no tensors and no `Device`, so it cannot be combined with `Autod"
    )
    with pytest.raises(SignatureError, match=message):
        unchecked(Flex, Autodiff)(declare(source=source))


def test_a_device_chooses_between_backends() -> None:
    assert unchecked(Flex, NdArray, Autodiff)(declare(placed=placed)).__selectors__


def test_a_form_is_needed_only_where_fusion_counts() -> None:
    opened = unchecked(Flex, when(Fusion, False))(declare(negate=negate))
    assert [selector.__name__ for selector in opened.__selectors__] == ["Flex", "Fusion"]


def test_default_bodies_run_where_an_empty_class_stands(flex: Device) -> None:
    Ops.default_on(Flex)
    assert run(dispatch(Ops).negate, floats([1.0], flex)).tolist() == [-1.0]


def test_operations_of_a_mixin_belong_to_the_op_set(flex: Device) -> None:
    class Mixin:
        def twice(self: Any, x: Float[P, "n"]) -> Float[P, "n"]:
            return self.backend.float_add(x, x)

        def _helper(self) -> int:
            return 1

    @backend_extension(Flex)
    class Mixed(Mixin, OpSet[P]):
        def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_neg(self.twice(x))

    Mixed.default_on(Flex)
    assert list(Mixed.__operations__) == ["twice", "negate"]
    assert run(dispatch(Mixed).twice, floats([1.0], flex)).tolist() == [2.0]
    assert run(dispatch(Mixed).negate, floats([1.0], flex)).tolist() == [-2.0]


def test_helpers_may_have_any_name_with_an_underscore(flex: Device) -> None:
    @backend_extension(Flex)
    class Named(OpSet[P]):
        def twice(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self._inner_backend(self._backend(x))

        def _backend(self, x: Any) -> Any:
            return self.backend.float_add(x, x)

        def _inner_backend(self, x: Any) -> Any:
            return x

    Named.default_on(Flex)
    assert run(dispatch(Named).twice, floats([1.5], flex)).tolist() == [3.0]


# ---- instances ---------------------------------------------------------------------------------


class Backend:
    """Stands for a backend."""


def test_an_instance_knows_its_backend_and_the_one_inside() -> None:
    outer, inner = Backend(), Backend()
    bound = bind_instance(Ops, outer, inner)
    assert (bound.backend, bound.inner.backend) == (outer, inner)
    assert bound.checkpointing is NoCheckpointing


def test_an_execution_backend_has_nothing_inside(flex: Device) -> None:
    @backend_extension(Flex)
    class Inner(OpSet[P]):
        def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.inner.negate(x)

    Inner.default_on(Flex)
    with pytest.raises(
        DispatchError, match="`flex` is not a decorator, so it has no inner backend"
    ):
        run(dispatch(Inner).negate, floats([1.0], flex))


def test_an_implementation_is_made_without_arguments() -> None:
    def init(self: Any, scale: float) -> None: ...

    mine = implement(unchecked(Flex)(declare(negate=negate)), Flex, __init__=init)
    message = (
        r"`Mine` cannot be made without arguments \(.*'scale'\); an implementation has no `__in"
    )
    with pytest.raises(ImplementationError, match=message):
        bind_instance(mine, Backend())


def test_an_op_set_is_opened_once() -> None:
    with pytest.raises(SelectorError, match=r"`Twice` is open to backends already"):

        @backend_extension(NdArray)
        @backend_extension(Flex)
        class Twice(OpSet[P]):
            def twice(self, x: FloatTensor[P]) -> FloatTensor[P]:
                return self.backend.float_add(x, x)
