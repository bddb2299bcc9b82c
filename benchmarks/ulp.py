"""How exact the functions of mathematics are on the processor runtime, for every float32 there is.

    python -m benchmarks.ulp [--full] [--json FILE] [--markdown FILE] [FUNCTION ...]

Errors are in units in the last place (ULP) of the result, found with the same function in float64:
NumPy's, and the C library's where NumPy has none. The bar is 4 ULP. Without `--full` every 509th of
the 2**32 floats is tried, subnormal ones included; two arguments are drawn at random.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from firebrick.cube.ir.nodes import (
    Assign,
    Buffer,
    Call,
    Compare,
    Function,
    If,
    Length,
    Load,
    MathName,
    Read,
    Store,
    Topology,
    Variable,
)
from firebrick.cube.ir.types import F32, F64, I32, Type
from firebrick.cube.runtime.base import Runtime, TensorArgument
from firebrick.cube.runtime.registry import runtime as open_runtime

BAR_ULP = 4.0
SPARSE_STEP = 509
PAIRS, SPARSE_PAIRS = 1 << 30, 1 << 23
CHUNK = 1 << 18
"""Arguments at once: as many as caches hold."""
ALL_FLOATS = 1 << 32
UNITS = 256
LARGEST = np.finfo(np.float32).max
TOO_LARGE = 2.0**128
Array = np.ndarray[Any, np.dtype[Any]]
Oracle = Callable[..., Array]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The worst case of one function."""

    function: str
    tried: int
    largest_ulp: float
    at: list[float]
    wrong: int
    """Results that are NaN or infinite where the exact one is not, or the reverse."""


def _inverse_sqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


ORACLES: dict[MathName, Oracle | None] = {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt,
    "inverse_sqrt": _inverse_sqrt, "recip": np.reciprocal,
    "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "erf": None,
    "atan2": np.arctan2, "pow": np.power, "hypot": np.hypot,
}  # fmt: skip
"""The same functions in float64; None asks the C library."""
TWO_ARGUMENTS: frozenset[MathName] = frozenset({"atan2", "pow", "hypot"})


def elementwise(name: MathName, type: Type) -> Function:
    """A kernel that applies a function to each element."""
    count = 2 if name in TWO_ARGUMENTS else 1
    inputs = [Buffer(f"x{n}", type, 1, mutable=False, position=n) for n in range(count)]
    out = Buffer("out", type, 1, mutable=True, position=count)
    position = Variable("i", I32)
    result = Call(type, name, tuple(Load(each, Read(position)) for each in inputs))
    body = (
        Assign(position, Topology(I32, "ABSOLUTE_POS")),
        If(Compare("lt", Read(position), Length(I32, out)), (Store(out, Read(position), result),)),
    )
    return Function(
        name, (*inputs, out), (), (), (), (position,), body, I32, (UNITS, 1, 1)
    )  # fmt: skip


class Evaluated:
    """A function of mathematics as the processor runtime computes it."""

    def __init__(self, runtime: Runtime, name: MathName, type: Type) -> None:
        self._runtime = runtime
        self._driver = runtime.driver
        self._compiled = self._driver.compile(elementwise(name, type))

    def __call__(self, *inputs: Array) -> Array:
        """The results for flat arrays."""
        tensors = [self._runtime.tensor(each) for each in (*inputs, np.zeros_like(inputs[0]))]
        arguments = [TensorArgument(t.handle, t.shape, t.strides, len(inputs[0])) for t in tensors]
        cubes = -(-len(inputs[0]) // UNITS)
        self._driver.launch(self._compiled, (cubes, 1, 1), arguments, ())
        return tensors[-1].numpy()


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest error of a chunk, at a place in it, and how many results are of another kind."""

    ulp: float
    place: int
    wrong: int


def worst_of(found: Array, exact: Array) -> Worst:
    """Compares float32 results with exact ones in float64."""
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
    # Most results are the exact ones, rounded; those err by half a unit at most.
    places = np.flatnonzero((found != rounded) & ~(np.isnan(found) & np.isnan(exact)))
    if not places.size:
        return Worst(0.5, 0, 0)
    there, due = found[places].astype(np.float64), exact[places]
    is_other = np.isnan(there) | np.isnan(due) | np.isinf(due)
    # What overflows is as far off as it is from the first number that is too large.
    there, due = np.clip(there, -TOO_LARGE, TOO_LARGE), np.clip(due, -TOO_LARGE, TOO_LARGE)
    unit = np.spacing(np.minimum(np.abs(rounded[places]), LARGEST)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        ulp = np.where(is_other, np.inf, np.abs(there - due) / unit)
    at = int(np.argmax(ulp))
    return Worst(float(ulp[at]), int(places[at]), int(is_other.sum()))


def single_arguments(step: int) -> Iterator[tuple[Array, ...]]:
    """All floats, or every `step`-th by its bits, in chunks."""
    span = CHUNK * step
    for start in range(0, ALL_FLOATS, span):
        bits = np.arange(start, min(start + span, ALL_FLOATS), step, dtype=np.uint32)
        yield (bits.view(np.float32),)


def pairs_of_arguments(chunks: int) -> Iterator[tuple[Array, ...]]:
    """Half are any floats, half near 1, where powers are ordinary numbers."""
    random = np.random.default_rng(0)
    for _ in range(chunks):
        bits = random.integers(0, ALL_FLOATS, (2, CHUNK // 2), np.uint32).view(np.float32)
        near = np.exp(random.normal(0.0, 2.0, (2, CHUNK // 2))).astype(np.float32)
        near[1] *= random.choice([-1.0, 1.0], CHUNK // 2).astype(np.float32)
        first, second = np.concatenate([bits, near], axis=1)
        yield first, second


def measure(runtime: Runtime, name: MathName, *, full: bool) -> Accuracy:
    """The worst error of a function."""
    ours = Evaluated(runtime, name, F32)
    oracle = ORACLES[name] or Evaluated(runtime, name, F64)
    if name in TWO_ARGUMENTS:
        chunks = pairs_of_arguments(PAIRS // CHUNK if full else SPARSE_PAIRS // CHUNK)
    else:
        chunks = single_arguments(1 if full else SPARSE_STEP)
    largest, at, wrong, tried = 0.0, [0.0], 0, 0
    for inputs in chunks:
        with np.errstate(all="ignore"):
            exact = oracle(*(each.astype(np.float64) for each in inputs))
        worst = worst_of(ours(*inputs), exact)
        if worst.ulp > largest:
            largest, at = worst.ulp, [float(each[worst.place]) for each in inputs]
        wrong += worst.wrong
        tried += len(exact)
    return Accuracy(name, tried, largest, at, wrong)


PAGE = """# Accuracy of mathematics

The functions of the kernel language on the processor runtime, for float32. Errors are in units in
the last place (ULP) of the result; 0.5 is what rounding the exact result once gives. Functions of
one argument are tried for every one of the 2**32 floats, subnormal ones, infinities and NaN
included; those of two for random pairs. The oracle is the same function in float64. No result is
NaN or infinite where the exact one is not.

`python -m benchmarks.ulp --full --markdown docs/ulp.md` writes this page anew.

| function | tried | largest error (ULP) | at |
| --- | --- | --- | --- |
"""


def page(results: Sequence[Accuracy]) -> str:
    """The table as a page of the documentation."""
    rows: list[str] = []
    for each in results:
        at = ", ".join(f"{value:.9g}" for value in each.at)
        tried = "all" if each.tried == ALL_FLOATS else f"{each.tried:.1e} pairs"
        rows.append(f"| `{each.function}` | {tried} | {each.largest_ulp:.2f} | {at} |")
    return PAGE + "\n".join(rows) + "\n"


def report(found: Accuracy) -> str:
    """One line for the terminal."""
    where = ", ".join(map(repr, found.at))
    verdict = "" if found.largest_ulp <= BAR_ULP and not found.wrong else "  TOO MUCH"
    return (
        f"{found.function:<13} {found.largest_ulp:6.3f} ULP at {where}; "
        f"{found.wrong} of another kind{verdict}"
    )


def main() -> None:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description="accuracy of the processor runtime's functions")
    parser.add_argument("--full", action="store_true", help="every float32: minutes per function")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a page of them")
    parser.add_argument("functions", nargs="*", default=list(ORACLES), metavar="FUNCTION")
    chosen = parser.parse_args()
    runtime = open_runtime("cpu")
    results: list[Accuracy] = []
    for name in chosen.functions:
        results.append(measure(runtime, name, full=chosen.full))
        print(report(results[-1]), flush=True)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps([asdict(each) for each in results], indent=2) + "\n")
    if chosen.markdown is not None:
        chosen.markdown.write_text(page(results))


if __name__ == "__main__":
    main()
