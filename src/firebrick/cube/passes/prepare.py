"""The passes in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.linearize import linearize
from firebrick.cube.ir.verifier import verify
from firebrick.cube.passes.barriers import check_barriers
from firebrick.cube.passes.bounds import insert_guards
from firebrick.cube.passes.dead import remove_dead
from firebrick.cube.passes.fold import fold
from firebrick.cube.passes.hoist import hoist
from firebrick.cube.passes.limit_loops import limit_loops
from firebrick.cube.passes.reuse import reuse
from firebrick.cube.passes.unroll import unroll

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import Properties


def prepare(function: Function, properties: Properties, *, checked: bool = True) -> Function:
    """A function as a target's emitter takes it.

    Where `properties.max_loop_trips` is set the result may have one buffer more than `function`,
    which the driver has to give and to look at: see `limit_loops.py`.

    Args:
        function: What the frontend made.
        properties: Of the device.
        checked: Whether accesses out of range are guarded; without, they are undefined.

    Raises:
        KernelCompileError: a barrier that not all units reach, or loops that the device would end.
    """
    verify(function)
    function = linearize(function, selects=False)  # no pass has to go deep from here on
    function = fold(unroll(fold(function)))
    check_barriers(function, properties.plane_dim)
    if checked:
        function = insert_guards(function)
    function = limit_loops(function, properties)
    function = reuse(hoist(function))
    function = remove_dead(fold(remove_dead(function)))
    verify(function)
    return function
