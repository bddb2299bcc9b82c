"""Passes: what a kernel goes through between the frontend and a target."""

from __future__ import annotations

from firebrick.cube.passes.prepare import prepare

__all__ = ["prepare"]
