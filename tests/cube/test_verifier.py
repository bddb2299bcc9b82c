"""What the verifier refuses, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.cube.build import located

from firebrick.cube.ir.nodes import (
    Argument,
    Assign,
    Atomic,
    Binary,
    Break,
    Buffer,
    Call,
    Cast,
    Compare,
    Constant,
    Continue,
    Expression,
    Extent,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    LocalArray,
    Logical,
    Plane,
    Read,
    Region,
    Reinterpret,
    Return,
    ScalarParameter,
    Select,
    SharedArray,
    Statement,
    Store,
    Sync,
    Topology,
    Unary,
    Variable,
    VectorLoad,
    VectorStore,
    While,
)
from firebrick.cube.ir.types import BOOL, F16, F32, I32, I64, U32, Type
from firebrick.cube.ir.verifier import verify
from firebrick.errors import KernelError

X = Buffer("x", F32, 2, False, 0)
OUT = Buffer("out", F32, 1, True, 1)
WORDS = Buffer("words", U32, 1, True, 2)
FLAGS = Buffer("flags", BOOL, 0, True, 3)
N = ScalarParameter("n", I32, 0)
TILE = SharedArray("tile", F32, 4)
PART = LocalArray("part", I32, 4)
K, J, A, B = Variable("i", I32), Variable("j", I32), Variable("a", F32), Variable("b", F32)
P, W = Variable("p", BOOL), Variable("w", U32)
ZERO, ONE, TRUE = Constant(I32, 0), Constant(I32, 1), Constant(BOOL, True)
F, U = Constant(F32, 1.0), Constant(U32, 1)
EMPTY = Function(
    "k", (X, OUT, WORDS, FLAGS), (N,), (TILE,), (PART,), (K, J, A, B, P, W), (), I32, (8, 1, 1)
)


def with_body(*statements: Statement) -> Function:
    return replace(EMPTY, body=statements)


def value(expression: Expression) -> Function:
    """A function that puts an expression into a variable of its type."""
    target = Variable("target", expression.type)
    return replace(EMPTY, variables=(*EMPTY.variables, target), body=(Assign(target, expression),))


GOOD: list[Statement] = [
    Assign(K, Binary("add", Read(J), Argument(N))),
    Assign(P, Binary("xor", Read(P), TRUE)),
    Assign(P, Compare("eq", Read(P), Logical("or", Read(P), TRUE))),
    Assign(A, Cast(F32, Read(P))),
    Assign(W, Reinterpret(U32, Read(A))),
    Assign(K, Extent(I32, X, "shape", ONE)),
    Assign(A, Call(F32, "powi", (Read(A), ONE))),
    Assign(P, Call(BOOL, "is_nan", (Read(A),))),
    Store(PART, ZERO, ONE),
    VectorLoad(X, ZERO, (A, B)),
    VectorStore(OUT, ZERO, (F, F, F, F)),
    Atomic("compare_exchange", WORDS, ZERO, (U, U), W),
    Atomic("add", TILE, ZERO, (F,)),
    Plane("ballot", (Read(P),), (W, Variable("w1", U32), Variable("w2", U32), Variable("w3", U32))),
    Plane("shuffle", (Read(A), U), (A,)),
    Plane("elect", (), (P,)),
    For(K, ZERO, ONE, Constant(I32, -1), (If(TRUE, (Break(),), (Continue(),)),)),
    Region("r", (While(TRUE, (Leave("r"),)),)),
    Region("r", (Region("s", (Leave("r"), Return(), Sync("storage"))),)),
]


def test_what_makes_sense_passes() -> None:
    more = tuple(Variable(f"w{n}", U32) for n in range(1, 4))
    verify(replace(with_body(*GOOD), variables=(*EMPTY.variables, *more)))


# ---- expressions ------------------------------------------------------------------------------

i32, f32, flag = Read(K), Read(A), Read(P)
BAD_EXPRESSIONS: list[tuple[Expression, str]] = [
    (Constant(I32, 2**31), "2147483648 does not fit i32"),
    (Constant(U32, -1), "-1 does not fit u32"),
    (Constant(I32, True), "the i32 True is a bool"),
    (Constant(I32, 1.0), "the i32 1.0 is a float"),
    (Constant(F32, 1), "the f32 1 is a int"),
    (Constant(BOOL, 1), "the bool 1 is a int"),
    (Read(Variable("z", I32)), "the variable `z` is not declared like this"),
    (Read(Variable("i", F32)), "the variable `i` is not declared like this"),
    (Argument(ScalarParameter("n", I32, 1)), "the scalar `n` is not declared like this"),
    (Load(replace(X, rank=1), ZERO), "the memory `x` is not declared like this"),
    (Load(X, U), "an index is of type i32, not u32"),
    (Topology(I64, "UNIT_POS"), "`UNIT_POS` is of type i32, not i64"),
    (Length(U32, X), "the length of `x` is of type i32, not u32"),
    (Length(I32, replace(X, name="y")), "the memory `y` is not declared like this"),
    (Extent(U32, X, "shape", ZERO), "a shape of `x` is of type i32, not u32"),
    (Extent(I32, X, "stride", U), "an index is of type i32, not u32"),
    (Extent(I32, X, "shape", Constant(I32, 2)), "`x` of rank 2 has no dimension 2"),
    (Extent(I32, X, "shape", Constant(I32, -1)), "`x` of rank 2 has no dimension -1"),
    (Extent(I32, FLAGS, "shape", i32), "`flags` of rank 0 has no dimensions"),
    (Unary("neg", flag), "`neg` takes numbers, not bool"),
    (Unary("invert", f32), "`invert` takes integers, not f32"),
    (Unary("not", i32), "`not` takes bools, not i32"),
    (Binary("add", i32, U), r"`\+` takes operands of one type, not i32 and u32"),
    (Binary("add", flag, flag), r"`\+` takes numbers, not bool"),
    (Binary("div", i32, i32), "`/` takes floats, not i32"),
    (Binary("and", f32, f32), "`&` takes integers or bools, not f32"),
    (Binary("shl", flag, flag), "`<<` takes integers, not bool"),
    (Binary("max", flag, flag), "`max` takes numbers, not bool"),
    (Compare("lt", flag, flag), "`<` takes numbers, not bool"),
    (Compare("eq", i32, f32), "`==` takes operands of one type, not i32 and f32"),
    (Logical("and", flag, i32), "`and` takes bools, not i32"),
    (Logical("or", i32, flag), "`or` takes bools, not i32"),
    (Select(i32, f32, f32), "`select` takes bools, not i32"),
    (Select(flag, f32, i32), "`select` takes operands of one type, not f32 and i32"),
    (Reinterpret(F16, i32), "a i32 cannot be reinterpreted as a f16"),
    (Reinterpret(Type("u8"), flag), "a bool cannot be reinterpreted as a u8"),
    (Call(F32, "exp", ()), "`exp` takes 1 arguments, not 0"),
    (Call(F32, "pow", (f32,)), "`pow` takes 2 arguments, not 1"),
    (Call(I32, "exp", (i32,)), "`exp` takes floats, not i32"),
    (Call(F32, "count_ones", (f32,)), "`count_ones` takes integers, not f32"),
    (Call(BOOL, "abs", (flag,)), "`abs` takes numbers, not bool"),
    (Call(F32, "pow", (f32, i32)), "`pow` takes operands of one type, not f32 and i32"),
    (Call(F32, "fma", (f32, i32, f32)), "`fma` takes operands of one type, not f32 and i32"),
    (Call(F32, "powi", (f32, U)), "the exponent of `powi` is of type i32, not u32"),
    (Call(I32, "exp", (f32,)), "what `exp` gives is of type f32, not i32"),
    (Call(F32, "is_nan", (f32,)), "what `is_nan` gives is of type bool, not f32"),
]


@pytest.mark.parametrize(("expression", "message"), BAD_EXPRESSIONS)
def test_an_ill_typed_expression_is_refused(expression: Expression, message: str) -> None:
    with pytest.raises(KernelError, match=f"^invalid IR in `k`, `target = .*`: {message}"):
        verify(value(expression))


def test_every_part_of_an_expression_is_looked_at() -> None:
    wrong = Unary("neg", flag)
    deep = Binary("add", i32, Cast(I32, Select(flag, Read(P), Logical("or", flag, wrong))))
    with pytest.raises(KernelError, match="`neg` takes numbers"):
        verify(value(deep))


def test_names_that_do_not_exist_are_refused() -> None:
    nothing: Any = "nothing"
    for expression, message in (
        (Unary(nothing, i32), "there is no operator `nothing`"),
        (Binary(nothing, i32, i32), "there is no operator `nothing`"),
        (Logical(nothing, flag, flag), "there is no operator `nothing`"),
        (Compare(nothing, i32, i32), "there is no comparison `nothing`"),
        (Call(F32, nothing, (f32,)), "there is no function `nothing`"),
        (Topology(I32, nothing), "there is no position `nothing`"),
    ):
        with pytest.raises(KernelError, match=message):
            verify(replace(EMPTY, body=(If(Cast(BOOL, expression), ()),)))
    for statement, message in (
        (Sync(nothing), "there is no barrier `nothing`"),
        (Plane(nothing, (), (P,)), "there is no plane operation `nothing`"),
        (Atomic(nothing, OUT, ZERO, (F,)), "there is no atomic `nothing`"),
    ):
        with pytest.raises(KernelError, match=message):
            verify(with_body(statement))


# ---- statements -------------------------------------------------------------------------------

BAD_STATEMENTS: list[tuple[Statement, str]] = [
    (Assign(K, F), "what is put into `i` is of type i32, not f32"),
    (Assign(Variable("z", I32), ONE), "the variable `z` is not declared like this"),
    (Store(X, ZERO, F), "`x` is read only"),
    (Store(OUT, ZERO, ONE), "an element of `out` is of type f32, not i32"),
    (Store(OUT, U, F), "an index is of type i32, not u32"),
    (Store(replace(TILE, size=5), ZERO, F), "the memory `tile` is not declared like this"),
    (VectorLoad(X, ZERO, (A,)), "a vector has 2 or 4 elements, not 1"),
    (VectorLoad(X, ZERO, (A, K)), "what is put into `i` is of type i32, not f32"),
    (VectorLoad(X, ZERO, (A, A)), "a variable is set twice at once"),
    (VectorStore(X, ZERO, (F, F)), "`x` is read only"),
    (VectorStore(OUT, ZERO, (F, F, F)), "a vector has 2 or 4 elements, not 3"),
    (VectorStore(OUT, ZERO, (F, ONE)), "an element of `out` is of type f32, not i32"),
    (Atomic("add", X, ZERO, (F,)), "`x` is read only"),
    (Atomic("load", X, ZERO, ()), "`x` is read only"),
    (Atomic("and", OUT, ZERO, (F,)), "`atomic.and` takes integers, not f32"),
    (Atomic("store", FLAGS, ZERO, (TRUE,)), "`atomic.store` takes numbers, not bool"),
    (Atomic("add", OUT, ZERO, ()), "`atomic.add` takes 1 operands, not 0"),
    (Atomic("load", OUT, ZERO, (F,)), "`atomic.load` takes 0 operands, not 1"),
    (Atomic("compare_exchange", OUT, ZERO, (F,)), "takes 2 operands, not 1"),
    (Atomic("add", OUT, ZERO, (ONE,)), "an operand of `atomic.add` is of type f32, not i32"),
    (Atomic("add", OUT, ZERO, (F,), K), "what is put into `i` is of type i32, not f32"),
    (Plane("sum", (flag,), (P,)), "`plane.sum` takes numbers, not bool"),
    (Plane("all", (f32,), (P,)), "`plane.all` takes bools, not f32"),
    (Plane("elect", (flag,), (P,)), "`plane.elect` takes 0 operands, not 1"),
    (Plane("sum", (f32, f32), (A,)), "`plane.sum` takes 1 operands, not 2"),
    (Plane("shuffle", (f32, i32), (A,)), "the second operand of `plane.shuffle` is of type u32"),
    (Plane("ballot", (flag,), (W,)), "`plane.ballot` has 4 results, not 1"),
    (Plane("sum", (f32,), (A, B)), "`plane.sum` has 1 results, not 2"),
    (Plane("sum", (f32,), (K,)), "what is put into `i` is of type i32, not f32"),
    (Plane("any", (flag,), (K,)), "what is put into `i` is of type i32, not bool"),
    (If(ONE, ()), "a condition is of type bool, not i32"),
    (While(ONE, ()), "a condition is of type bool, not i32"),
    (For(A, F, F, F, ()), "`for` takes integers, not f32"),
    (For(K, U, ONE, ONE, ()), "the start of a loop over `i` is of type i32, not u32"),
    (For(K, ONE, U, ONE, ()), "the stop of a loop over `i` is of type i32, not u32"),
    (For(K, ONE, ONE, U, ()), "the step of a loop over `i` is of type i32, not u32"),
    (For(K, ONE, ONE, ZERO, ()), "the step of a loop is 0"),
    (For(Variable("z", I32), ONE, ONE, ONE, ()), "the variable `z` is not declared like this"),
    (Break(), "there is no loop around it in the same region"),
    (If(TRUE, (Continue(),)), "there is no loop around it in the same region"),
    (While(TRUE, (Region("r", (Break(),)),)), "there is no loop around it in the same region"),
    (Leave("r"), "there is no region `r` around it"),
    (Region("r", (Region("r", ()),)), "there is a region `r` around it"),
    (Region("a b", ()), "'a b' is no label"),
    (Region("r", (Region("s", ()), Leave("s"))), "there is no region `s` around it"),
    (If(TRUE, (), (Assign(K, F),)), "what is put into `i`"),
]


@pytest.mark.parametrize(("statement", "message"), BAD_STATEMENTS)
def test_a_statement_that_makes_no_sense_is_refused(statement: Statement, message: str) -> None:
    with pytest.raises(KernelError, match=f"^invalid IR in `k`, `.*`: .*{message}"):
        verify(with_body(statement))


def test_atomics_on_local_memory_are_refused() -> None:
    private: Any = PART
    with pytest.raises(KernelError, match="atomics work on buffers and shared memory"):
        verify(with_body(Atomic("add", private, ZERO, (ONE,))))


def test_the_error_shows_the_statement_and_its_place() -> None:
    with pytest.raises(KernelError) as caught:
        verify(with_body(Assign(K, F, located(7))))
    assert str(caught.value).splitlines() == [
        "invalid IR in `k`, `i = 1.0_f32`: what is put into `i` is of type i32, not f32.",
        "  at user.py:7, in k",
    ]


# ---- declarations -----------------------------------------------------------------------------

BAD_HEADERS: list[tuple[dict[str, Any], str]] = [
    ({"name": "a b"}, "'a b' is no name"),
    ({"name": "if"}, "'if' is no name"),
    ({"index_type": U32}, "the index type is i32 or i64"),
    ({"cube_dim": (0, 1, 1)}, r"a cube has three sizes, not \(0, 1, 1\)"),
    ({"cube_dim": (4, 1)}, r"a cube has three sizes, not \(4, 1\)"),
    ({"variables": (Variable("1x", I32),)}, "'1x' is no name"),
    ({"variables": (Variable("x", I32),)}, "`x` is declared 2 times"),
    ({"variables": (Variable("pass", I32),)}, "'pass' is no name"),
    ({"scalars": (replace(N, name="tile"),)}, "`tile` is declared 2 times"),
    ({"shared": (replace(TILE, size=0),)}, "`tile` has 0 elements"),
    ({"locals": (replace(PART, size=-1),)}, "`part` has -1 elements"),
    ({"buffers": (replace(X, rank=-1),)}, "`x` has rank -1"),
    ({"buffers": (X, replace(OUT, position=0))}, r"the positions of the buffers, \[0, 0\]"),
    ({"scalars": (replace(N, position=-1),)}, r"the positions of the scalars, \[-1\]"),
    ({"locals": (replace(PART, type=Type("f99")),)}, "there is no type `f99`"),  # pyright: ignore[reportArgumentType] - on purpose
]


@pytest.mark.parametrize(("changed", "message"), BAD_HEADERS)
def test_a_declaration_that_makes_no_sense_is_refused(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(KernelError, match=f"^invalid IR in the header of `.*`: {message}"):
        verify(replace(EMPTY, **changed))
