"""The kernel language and its launcher.

`unit` = thread, `plane` = warp, `cube` = block. Kernels are parsed, never run: inside them only the
names below, Python's operators with Python's semantics, `if`, `for ... in range`, `while`,
`break`, `continue`, `return`, `match`, conditional expressions, `min`, `max`, `abs`, `len`, tuples
and calls of `@func` functions exist.
"""

from __future__ import annotations

from firebrick.cube.lang import atomic, plane, topology
from firebrick.cube.lang.containers import (
    Array,
    Comptime,
    Mut,
    Shared,
    Tensor,
    cast,
    local,
    reinterpret,
    select,
    shared,
)
from firebrick.cube.lang.control import (
    comptime,
    sync_cube,
    sync_plane,
    sync_storage,
    terminate,
    unroll,
)
from firebrick.cube.lang.math import *  # noqa: F403
from firebrick.cube.lang.numbers import *  # noqa: F403
