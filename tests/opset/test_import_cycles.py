"""No file of the mechanism imports another that imports it, not even for types."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import firebrick.core
import firebrick.opset


def imports_within(package: str, file: Path) -> set[str]:
    """The files of a package that a file imports, anywhere in its text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            found.add((node.module or "").removeprefix(f"{package}."))
    return found


def order_of(package: str, folder: Path) -> list[str]:
    """The files of a package, each after those that it imports; `CycleError` if there is none."""
    files = [file for file in folder.glob("*.py") if file.stem != "__init__"]
    return list(
        TopologicalSorter(
            {file.stem: imports_within(package, file) for file in files}
        ).static_order()
    )


def test_the_files_of_opset_can_be_read_in_an_order() -> None:
    order = order_of("firebrick.opset", Path(firebrick.opset.__file__).parent)
    assert order.index("nodes") < order.index("annotations") < order.index("declaration")
    assert len(order) > 20


def test_the_files_of_core_can_be_read_in_an_order() -> None:
    order = order_of("firebrick.core", Path(firebrick.core.__file__).parent)
    assert order.index("shape") < order.index("spec")


def test_no_file_of_opset_enters_its_own_package_by_the_door() -> None:
    folder = Path(firebrick.opset.__file__).parent
    entering = [
        file.stem
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "firebrick.opset"
    ]
    assert entering == []
