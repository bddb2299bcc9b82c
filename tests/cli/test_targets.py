"""What `package.module:Name` names, and what a wrong one is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firebrick.cli.targets import TargetError, find_targets

SOURCE = '''
"""Two op sets, a short-form operation, and somebody else's."""
import numpy as np
from square import SquareOps
from firebrick import Tensor
from firebrick.extension import Flex, Float, FloatTensor, NdArray, OpSet, P, backend_extension, op

@backend_extension(Flex, NdArray)
class Doubles(OpSet[P]):
    def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_add(x, x)

class FlexDoubles(Doubles[np.ndarray], on=Flex): ...
class NdArrayDoubles(Doubles[np.ndarray], on=NdArray): ...

@op(Flex, NdArray)
def tripled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * 3.0

number = 3
CASES = {"double": [(Tensor([1.0]),)], "tripled": lambda: [(Tensor([2.0]),), (Tensor([3.0]),)]}
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The name of a module with `SOURCE`, of its own for each test."""
    name = f"targets_{request.node.name.split('[')[0]}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return name


def test_a_module_means_the_operations_it_declares_itself(module: str) -> None:
    assert [target.name for target in find_targets(module)] == [
        f"{module}:Doubles",
        f"{module}:tripled",
    ]


def test_a_name_means_one_of_them(module: str) -> None:
    (target,) = find_targets(f"{module}:Doubles")
    assert target.op_set.__name__ == "Doubles"


def test_a_name_may_be_one_that_the_module_imports(module: str) -> None:
    (target,) = find_targets(f"{module}:SquareOps")
    assert target.op_set.__module__ == "square"


def test_cases_are_given_to_the_operation_they_are_for(module: str) -> None:
    doubles, tripled = find_targets(module)
    assert {name: len(cases) for name, cases in doubles.cases().items()} == {"double": 1}
    assert {name: len(cases) for name, cases in tripled.cases().items()} == {"tripled": 2}


def test_cases_of_an_unknown_operation_are_refused(module: str) -> None:
    path = Path(f"{module}.py")
    path.write_text(path.read_text() + 'CASES["dubble"] = []\n')
    with pytest.raises(TargetError, match=r"`dubble`, which is no operation.*mean `double`"):
        find_targets(module)


def test_cases_that_are_no_dict_are_refused(module: str) -> None:
    path = Path(f"{module}.py")
    path.write_text(path.read_text() + "CASES = []\n")
    target, *_ = find_targets(module)
    with pytest.raises(TargetError, match=r"is a dict from operation names .* got list"):
        target.cases()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Dubbles", r"has no `Dubbles`. It declares Doubles, tripled. Did you mean `Doubles`\?"),
        ("number", r"is a int; a target is a subclass of `OpSet`"),
        ("FlexDoubles", r"a target is a subclass of `OpSet`"),
    ],
)
def test_a_name_that_is_no_operation_is_refused(module: str, name: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        find_targets(f"{module}:{name}")


def test_a_missing_module_gets_a_suggestion(module: str) -> None:
    with pytest.raises(TargetError, match=rf"no module `{module}s`. Did you mean `{module}`\?"):
        find_targets(f"{module}s")


def test_a_missing_submodule_gets_a_suggestion_from_its_package() -> None:
    with pytest.raises(TargetError, match=r"Did you mean `firebrick.errors`\?"):
        find_targets("firebrick.erors")


def test_a_path_is_told_to_be_a_module(module: str) -> None:
    with pytest.raises(TargetError, match=r"got 'examples/square.py'. .*mean `examples.square`"):
        find_targets("examples/square.py")


def test_a_module_without_operations_is_refused() -> None:
    with pytest.raises(TargetError, match=r"`firebrick.errors` declares no operations"):
        find_targets("firebrick.errors")


def test_a_module_that_fails_keeps_its_own_error(module: str) -> None:
    Path(f"{module}.py").write_text("1 / 0\n")
    with pytest.raises(TargetError, match="failed with ZeroDivisionError") as caught:
        find_targets(module)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_module_that_imports_a_missing_one_names_that(module: str) -> None:
    Path(f"{module}.py").write_text("import no_such_package_at_all\n")
    with pytest.raises(TargetError, match=r"importing .* failed: .*no_such_package_at_all"):
        find_targets(module)
