"""Every snippet of the pages and every `>>>` example of the docstrings runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import firebrick

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SNIPPETS = Sybil(parsers=[PythonCodeBlockParser()])
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(firebrick.__path__, "firebrick.")
    if ".libtorch" not in module.name or find_spec("torch")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run_as_one_program(page: Path) -> None:
    document = SNIPPETS.parse(page)
    document.namespace["__name__"] = f"snippets_of_{page.stem}"
    for example in document.examples():
        example.evaluate()


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_a_page_for_readers_has_snippets(page: str) -> None:
    assert list(SNIPPETS.parse(ROOT / page).examples())


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_hold(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as reason:
        if (reason.name or "").startswith("firebrick"):
            raise
        pytest.skip(f"{name} needs {reason.name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = [text.split(")")[0] for text in page.read_text().split("](")[1:]]
    local = [target.split("#")[0] for target in targets if not target.startswith("http")]
    assert [target for target in local if not (page.parent / target).exists()] == []
