"""Runs the IR with Python numbers: what it computes is right, and what it refuses is wrong.

Every other target is tested against it. It checks each access (bounds, races within a cube, shared
memory that nobody wrote), each barrier and plane operation, and loops that do not end.
"""

from __future__ import annotations

from firebrick.cube.interpreter.arguments import InterpreterBuffer
from firebrick.cube.interpreter.memory import storage_dtype
from firebrick.cube.interpreter.program import Program, run, translate

__all__ = ["InterpreterBuffer", "Program", "run", "storage_dtype", "translate"]
