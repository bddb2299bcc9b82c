"""The capture device: operations are described and recorded, and none is executed."""

from __future__ import annotations

from firebrick.decorators.capture.backend import Capture
from firebrick.decorators.capture.graph import CaptureGraph, Record, capture_scope
from firebrick.decorators.capture.tensor import CaptureTensor

__all__ = ["Capture", "CaptureGraph", "CaptureTensor", "Record", "capture_scope"]
