"""Atomic access to one element of a writable tensor or of shared memory; gives the old value."""

from __future__ import annotations

from typing import TypeVar

from firebrick.cube.lang.containers import Tensor
from firebrick.cube.lang.intrinsic import intrinsic
from firebrick.cube.lang.numbers import Int, Numeric

__all__ = [
    "compare_exchange",
    "exchange",
    "fetch_add",
    "fetch_and",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "fetch_sub",
    "fetch_xor",
    "load",
    "store",
]

_N = TypeVar("_N", bound=Numeric)


@intrinsic("atomic.load")
def load(tensor: Tensor[_N], index: int | Int) -> _N:
    """The element."""
    ...


@intrinsic("atomic.store")
def store(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> None:
    """Sets the element."""
    ...


@intrinsic("atomic.exchange")
def exchange(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Sets the element."""
    ...


@intrinsic("atomic.fetch_add")
def fetch_add(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Adds."""
    ...


@intrinsic("atomic.fetch_sub")
def fetch_sub(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Subtracts."""
    ...


@intrinsic("atomic.fetch_max")
def fetch_max(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Keeps the larger."""
    ...


@intrinsic("atomic.fetch_min")
def fetch_min(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Keeps the smaller."""
    ...


@intrinsic("atomic.fetch_and")
def fetch_and(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Bitwise and."""
    ...


@intrinsic("atomic.fetch_or")
def fetch_or(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Bitwise or."""
    ...


@intrinsic("atomic.fetch_xor")
def fetch_xor(tensor: Tensor[_N], index: int | Int, value: _N | int | float) -> _N:
    """Bitwise exclusive or."""
    ...


@intrinsic("atomic.compare_exchange")
def compare_exchange(
    tensor: Tensor[_N], index: int | Int, expected: _N | int | float, value: _N | int | float
) -> _N:
    """Sets the element if it is `expected`."""
    ...
