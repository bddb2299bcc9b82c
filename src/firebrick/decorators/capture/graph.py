"""What was recorded: operations in the order of their calls, and values from the host.

Recording is opt-in: without an open `capture_scope` an operation is described and forgotten, so
that a program that never asks for a graph does not grow one.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from firebrick.decorators.capture.tensor import CaptureTensor

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from firebrick.backend import Array


@dataclass(frozen=True, slots=True)
class Record:
    """One call of an operation."""

    operation: str
    """The id of the operation, such as `FloatMath.float_add`."""
    arguments: Mapping[str, Any]
    """By parameter name; a tensor is its `CaptureTensor`, a list is a tuple."""
    outputs: tuple[CaptureTensor, ...]
    """In order, depth first."""

    @property
    def inputs(self) -> tuple[CaptureTensor, ...]:
        """The tensors among the arguments, in order, depth first."""
        return tuple(_tensors(tuple(self.arguments.values())))

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={_text(item)}" for name, item in self.arguments.items())
        outputs = ", ".join(repr(output) for output in self.outputs)
        return f"{outputs} = {self.operation}({arguments})"


class CaptureGraph:
    """What one `capture_scope` recorded. Threads that share a scope may record at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_open = True
        self._records: list[Record] = []
        self._initial: dict[CaptureTensor, Array] = {}

    @property
    def records(self) -> tuple[Record, ...]:
        """Operations in the order of their calls."""
        with self._lock:
            return tuple(self._records)

    @property
    def initial_values(self) -> Mapping[CaptureTensor, Array]:
        """Tensors that came from the host, with their values, which cannot be written."""
        with self._lock:
            return MappingProxyType(dict(self._initial))

    @property
    def inputs(self) -> tuple[CaptureTensor, ...]:
        """Tensors that operations read and that were made outside of the scope."""
        with self._lock:
            made = set(self._initial)
            read: dict[CaptureTensor, None] = {}
            for record in self._records:
                read.update((tensor, None) for tensor in record.inputs if tensor not in made)
                made.update(record.outputs)
        return tuple(read)

    def clear(self) -> None:
        """Forgets what was recorded; recording goes on."""
        with self._lock:
            self._records.clear()
            self._initial.clear()

    def __str__(self) -> str:
        initial = [f"{tensor!r} = initial value" for tensor in self.initial_values]
        return "\n".join([*initial, *map(str, self.records)])

    def add(self, record: Record) -> None:
        """Appends a call, unless the scope was left."""
        with self._lock:
            if self._is_open:
                self._records.append(record)

    def add_initial(self, tensor: CaptureTensor, data: Array) -> None:
        """Keeps a copy of host data, unless the scope was left."""
        kept = np.array(data)
        kept.flags.writeable = False
        with self._lock:
            if self._is_open:
                self._initial[tensor] = kept

    def close(self) -> None:
        """Ends recording; what was recorded stays."""
        with self._lock:
            self._is_open = False


_open_graph: ContextVar[CaptureGraph | None] = ContextVar("firebrick_capture", default=None)


def open_graph() -> CaptureGraph | None:
    """The graph of the innermost scope around this call, if there is one."""
    return _open_graph.get()


@contextmanager
def capture_scope() -> Generator[CaptureGraph]:
    """Records what is called on the capture device inside the `with` block.

    Of nested scopes the innermost records. The scope belongs to its context, as `contextvars`
    has it: another thread records into it only when run in a copy of that context.
    """
    graph = CaptureGraph()
    token = _open_graph.set(graph)
    try:
        yield graph
    finally:
        _open_graph.reset(token)
        graph.close()


def _tensors(value: object) -> Iterator[CaptureTensor]:
    if isinstance(value, CaptureTensor):
        yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):  # of any items
            yield from _tensors(item)


def _text(value: object) -> str:
    if isinstance(value, CaptureTensor):
        return f"%{value.id}"
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)  # of any items
        return f"[{', '.join(_text(item) for item in items)}]"
    return str(value)
