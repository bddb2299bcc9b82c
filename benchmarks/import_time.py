"""What `import firebrick` adds to the start of an interpreter. The bar is 150 ms.

    python -m benchmarks.import_time [--quick] [--json FILE]

Each measurement is a process of its own; a bare interpreter and one that imports NumPy, which
firebrick cannot do without, are the peers.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from time import perf_counter

from benchmarks.harness import Result, options, publish, result

BARE = "pass"
NUMPY = "import numpy"
OURS = "import firebrick"
ROUNDS = 21
QUICK_ROUNDS = 5


def started_ms(code: str) -> float:
    """The time of one interpreter that runs `code`, in milliseconds."""
    # An installed package has its byte code; without it every start would compile the sources.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return (perf_counter() - start) * 1e3


def measure(rounds: int) -> list[Result]:
    """Medians of interleaved rounds, without the bare interpreter's own time."""
    taken: dict[str, list[float]] = {BARE: [], NUMPY: [], OURS: []}
    for code in taken:
        started_ms(code)  # the first writes byte code and fills the file cache
    for _ in range(rounds):
        for code, times in taken.items():
            times.append(started_ms(code))
    bare, numpy, ours = (statistics.median(times) for times in taken.values())
    return [
        result("interpreter with firebrick / bare interpreter", ours, bare, "ms"),
        result("import of firebrick / import of NumPy", ours - bare, numpy - bare, "ms"),
        result("import of firebrick / allowed 150 ms", ours - bare, 150.0, "ms"),
    ]


def main() -> None:
    """Measures and prints."""
    chosen = options("what `import firebrick` adds to the start of an interpreter")
    publish(measure(QUICK_ROUNDS if chosen.quick else ROUNDS), chosen.json)


if __name__ == "__main__":
    main()
