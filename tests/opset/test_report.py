"""`report()`: every state, with file and line, as rows and as a table."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from tests.opset.calling import Array, implement, opened

from firebrick import Tensor
from firebrick.errors import MissingImplementationError
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Cube,
    Flex,
    Float,
    FloatTensor,
    Fusion,
    Grads,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Remote,
    Saved,
    backend_extension,
    fusion,
    gradient,
    op,
    when,
)
from firebrick.opset import place


@backend_extension(Flex, NdArray, Autodiff, when(Cube, False), Fusion, Remote)
class Ops(OpSet[P]):
    @fusion(dtype="x", shape="x")
    def plain(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    @fusion(default=True)
    def bodied(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    def sized(self, x: Float[P, "n"]) -> Float[P, "n"]:
        raise NoDefault


class FlexOps(Ops[Array], on=Flex):
    def plain(self, x: Array) -> Array:
        return x


class AutodiffOps(Ops[AutodiffTensor], on=Autodiff):
    @gradient()
    def plain(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}

    sized = gradient(None)


HERE = Path(__file__).name


def states(op_set: Any) -> dict[tuple[str, str], str]:
    return {(row.operation, row.selector): row.state for row in op_set.report()}


def test_every_state_is_told() -> None:
    assert states(Ops) == {
        ("plain", "Flex"): "own",
        ("plain", "NdArray"): "missing",
        ("plain", "Autodiff"): "own",
        ("plain", "Cube"): "condition false",
        ("plain", "Fusion"): "derived",
        ("plain", "Remote"): "derived",
        ("bodied", "Flex"): "default",
        ("bodied", "NdArray"): "missing",
        ("bodied", "Autodiff"): "default",
        ("bodied", "Cube"): "condition false",
        ("bodied", "Fusion"): "derived",
        ("bodied", "Remote"): "derived",
        ("sized", "Flex"): "missing",
        ("sized", "NdArray"): "missing",
        ("sized", "Autodiff"): "own",
        ("sized", "Cube"): "condition false",
        ("sized", "Fusion"): "derived",
        ("sized", "Remote"): "derived",
    }


def test_a_row_says_where_what_runs_is_written() -> None:
    lines = Path(__file__).read_text().splitlines()
    for row in Ops.report():
        if row.state in ("missing", "condition false"):
            assert (row.file, row.line) == (None, None)
            continue
        assert row.file is not None
        assert row.line is not None
        assert Path(row.file).name == HERE
        near = "\n".join(lines[row.line - 1 : row.line + 1])
        assert row.operation in near or "class AutodiffOps" in near


def test_the_table_has_a_line_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = Ops.report()
    title, header, *lines = capsys.readouterr().out.splitlines()
    assert (title, header.split()) == ("Ops", ["operation", "selector", "state", "where"])
    assert len(lines) == len(rows)
    assert lines[0].split()[:3] == ["plain", "Flex", "own"]
    assert lines[1].split() == ["plain", "NdArray", "missing"]


def test_an_implementation_reports_for_its_op_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert FlexOps.report() == Ops.report()
    assert capsys.readouterr().out.startswith("Ops\n")


def test_a_strict_report_names_all_that_is_missing() -> None:
    message = (
        r"`Ops` lists selectors without an implementation: `plain` on `NdArray`, `bodied` on `N"
    )
    with pytest.raises(MissingImplementationError, match=message):
        Ops.report(strict=True)


def test_a_strict_report_without_missing_rows_passes() -> None:
    def same(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    op_set = opened(Flex, same=same)
    op_set.default_on(Flex)
    assert [row.state for row in op_set.report(strict=True)] == ["default"]


def test_the_short_form_is_placed_where_its_functions_are() -> None:
    @op(Flex, NdArray)
    def doubled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x + x

    @doubled.impl(Flex)
    def _(x: Any) -> Any:
        return x + x

    flex, ndarray = doubled.op_set.report()
    assert (flex.state, ndarray.state) == ("own", "default")
    assert [Path(row.file or "").name for row in (flex, ndarray)] == [HERE, HERE]
    assert flex.line is not None
    assert ndarray.line is not None
    assert ndarray.line < flex.line


def test_a_member_without_code_is_placed_at_its_class() -> None:
    def same(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
        return x

    op_set = opened(Flex, same=same)
    implement(op_set, Flex, same=functools.partial(max))
    (row,) = op_set.report()
    assert row.state == "own"


@pytest.mark.parametrize("value", [None, 3, max, len])
def test_what_has_no_source_has_no_place(value: Any) -> None:
    assert place(value) == (None, None)


def test_a_class_is_placed_at_its_statement() -> None:
    file, line = place(FlexOps)
    assert Path(file or "").name == HERE
    assert line is not None
