"""How exact the functions of mathematics are on the processor runtime, for every float32 there is.

    python -m benchmarks.ulp [--full] [--json FILE] [FUNCTION ...]

Errors are in units in the last place (ULP) of the result, found with the same function in float64:
NumPy's, and the C library's where NumPy has none. The bar is 4 ULP. Without `--full` every 509th of
the 2**32 floats is tried, subnormal ones included; two arguments are drawn at random.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
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
CHUNK = 1 << 23
ALL_FLOATS = 1 << 32
UNITS = 256
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


def errors_ulp(found: Array, exact: Array) -> tuple[Array, Array]:
    """Errors in units in the last place, and which results are of another kind than the exact."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = exact.astype(np.float32)
        largest = np.finfo(np.float32).max
        # What overflows is as far off as the largest float is from it.
        there = np.clip(found.astype(np.float64), -(2.0**128), 2.0**128)
        due = np.clip(exact, -(2.0**128), 2.0**128)
        unit = np.spacing(np.minimum(np.abs(rounded), largest)).astype(np.float64)
        ulp = np.abs(there - due) / unit
    is_nan = np.isnan(exact)
    wrong = (is_nan != np.isnan(found)) | (np.isinf(exact) & (found != exact))
    ulp[is_nan | wrong] = 0.0
    ulp[found == rounded] = np.minimum(ulp[found == rounded], 0.5)
    return ulp, wrong


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
        chunks = pairs_of_arguments(ALL_FLOATS // CHUNK if full else 1)
    else:
        chunks = single_arguments(1 if full else SPARSE_STEP)
    worst, at, wrong, tried = -1.0, [0.0], 0, 0
    for inputs in chunks:
        with np.errstate(all="ignore"):
            exact = oracle(*(each.astype(np.float64) for each in inputs))
        ulp, is_wrong = errors_ulp(ours(*inputs), exact)
        place = int(np.argmax(np.where(is_wrong, np.inf, ulp)))
        if ulp[place] > worst or is_wrong[place]:
            worst, at = float(ulp[place]), [float(each[place]) for each in inputs]
        wrong += int(is_wrong.sum())
        tried += len(ulp)
    return Accuracy(name, tried, worst, at, wrong)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="accuracy of the processor runtime's functions")
    parser.add_argument("--full", action="store_true", help="every float32: minutes per function")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("functions", nargs="*", default=list(ORACLES), metavar="FUNCTION")
    chosen = parser.parse_args()
    runtime = open_runtime("cpu")
    results: list[Accuracy] = []
    for name in chosen.functions:
        found = measure(runtime, name, full=chosen.full)
        results.append(found)
        verdict = "" if found.largest_ulp <= BAR_ULP and not found.wrong else "  TOO MUCH"
        where = ", ".join(f"{value!r}" for value in found.at)
        print(f"{name:<13} {found.largest_ulp:6.3f} ULP at {where}; {found.wrong} of another kind"
              f"{verdict}", flush=True)  # fmt: skip
        if chosen.json is not None:
            chosen.json.write_text(json.dumps([asdict(each) for each in results], indent=2) + "\n")


if __name__ == "__main__":
    main()
