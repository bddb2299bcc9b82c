"""Which annotations accept everything that others do."""

# ruff: noqa: UP007, UP045 - both ways to write a union are compared

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, Optional, Protocol, Union

import pytest

from firebrick.opset.widening import is_wider

Meters = NewType("Meters", float)


class Shaped(Protocol):
    shape: int


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (int, int),
        (Any, int),
        (object, list[int]),
        (int, bool),
        (float, int),
        (complex, float),
        (Optional[int], int),
        (int | str, int),
        (int | str | None, Optional[int]),
        (Sequence[int], list[int]),
        (Sequence[float], list[int]),
        (list, list[int]),
        (Iterable[Any], tuple[int, ...]),
        (Sequence[int], range),
        (Mapping[str, int], dict[str, int]),
        (str, Literal["a", "b"]),
        (Literal["a", "b", "c"], Literal["a", "b"]),
        (float, Meters),
        (int, Annotated[int, "count"]),
        (Annotated[int, "count"], int),
        (None, type(None)),
        (Callable[[int], str], Callable[[int], str]),
    ],
    ids=str,
)
def test_a_wider_annotation_is_accepted(wide: Any, narrow: Any) -> None:
    assert is_wider(wide, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (str, int),
        (int, float),
        (bool, int),
        (int, Optional[int]),
        (int, int | str),
        (list[int], Sequence[int]),
        (dict[str, int], list[int]),
        (list[str], list[int]),
        (list[int], list),
        (tuple[int, int], tuple[int, int, int]),
        (Literal["a"], Literal["a", "b"]),
        (int, Literal["a"]),
        (Meters, float),
        (Shaped, int),
        (Callable[[int], str], Callable[[str], str]),
        (Union[int, str], float),
    ],
    ids=str,
)
def test_a_narrower_annotation_is_not(wide: Any, narrow: Any) -> None:
    assert not is_wider(wide, narrow)
