"""Dispatch of one operation: its caches, and the interpreted course of a call.

`dispatch_source.py` writes the fast path, which handles ordinary calls; what it leaves here are new
signatures of dimensions, outputs that are more than one tensor, and everything that goes wrong.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from firebrick.core import DispatchTensor, TensorSpec
from firebrick.errors import FirebrickError, KindError, TensorError
from firebrick.opset.leaves import Misfit, describe_node, describe_value, leaves
from firebrick.opset.nodes import TensorNode, option_of_kind, takes_plain
from firebrick.opset.promises import NOTHING, Expected, check_promises, expect, has_promises
from firebrick.opset.specs import output_specs
from firebrick.opset.traversal import UnusualValueError, compile_convert

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from firebrick.core import Kind
    from firebrick.opset.backend_root import BackendRoot
    from firebrick.opset.nodes import Node
    from firebrick.opset.registrations import Implementations
    from firebrick.opset.signature import Operation

MAX_SIGNATURES = 1024
"""Checked signatures kept per operation; beyond, the cache starts anew."""


class Entry(NamedTuple):
    """Who executes an operation on one backend, and how to look at what it returns."""

    call: Callable[..., Any]
    native: type
    tag: Callable[[Any], Any]
    kinds: Mapping[Any, Kind]
    many_devices: bool


class Dispatcher:
    """One operation with the caches that its generated function uses."""

    def __init__(self, operation: Operation, implementations: Implementations) -> None:
        self.operation = operation
        self.entries: dict[BackendRoot, Entry] = {}
        """By backend, for calls with a float among the inputs."""
        self.plain_entries: dict[BackendRoot, Entry] = {}
        """By backend, for calls without a float."""
        self.seen: dict[Any, Expected] = {}
        """What dimensions promise, by signature of shapes, dtypes and structure."""
        self._lock = threading.Lock()
        self._implementations = implementations
        self._unwraps = tuple(compile_convert(p.node, p.name) for p in operation.parameters)
        self._wrap = compile_convert(operation.returns, operation.label)
        self._has_promises = has_promises(operation)
        implementations.on_change(self._forget)

    def _forget(self) -> None:
        with self._lock:
            self.entries.clear()
            self.plain_entries.clear()

    def entry(
        self, backend: BackendRoot, resolve: Callable[[], Callable[..., Any]], *, float_input: bool
    ) -> Entry:
        """The cached entry of a backend, made by `resolve` at first use."""
        table = self.entries if float_input else self.plain_entries
        known = table.get(backend)
        if known is not None:
            return known
        generation = self._implementations.generation
        made = Entry(
            resolve(), backend.native, backend.tag, backend.kinds, backend.has_many_devices
        )
        with self._lock:
            if generation == self._implementations.generation:
                table[backend] = made
        return made

    def expect(self, arguments: Sequence[Any]) -> Expected:
        """What dimensions promise; `ShapeError` for inputs that do not fit them."""
        return expect(self.operation, arguments) if self.operation.has_dims else NOTHING

    def check(self, key: Any, arguments: Sequence[Any]) -> Expected:
        """Checks dimensions of a signature not seen before and remembers what they promise."""
        expected = self.expect(arguments)
        with self._lock:
            if len(self.seen) >= MAX_SIGNATURES:
                self.seen.clear()
            self.seen[key] = expected
        return expected

    def convert_argument(self, index: int, value: Any, replace: Callable[[Any, Node], Any]) -> Any:
        """One argument with its tensors replaced."""
        return self._unwraps[index](value, replace)

    def diagnose(self, error: Exception, arguments: Sequence[Any]) -> None:
        """Raises what the form of a built-in operation finds wrong with a failed call, if anything.

        The caller raises `error` otherwise.
        """
        form = self.operation.form
        if isinstance(error, FirebrickError) or form is None or form.name not in ("fields", "meta"):
            return
        names = [parameter.name for parameter in self.operation.parameters]
        specs = [unwrap(a, _spec_of) for unwrap, a in zip(self._unwraps, arguments, strict=True)]
        try:
            output_specs(self.operation, dict(zip(names, specs, strict=True)))
        except TensorError as fact:
            raise type(fact)(f"`{self.operation.name}`: {fact}") from error
        except Exception:  # the form stumbles over the same arguments: the backend's error stands
            return

    def run(self, entry: Entry, backend: BackendRoot, arguments: Sequence[Any]) -> Any:
        """The course of a call, interpreted: for calls that routing had to prepare."""
        parameters = self.operation.parameters
        expected = self.expect(arguments)
        raw = [unwrap(a, _primitive_of) for unwrap, a in zip(self._unwraps, arguments, strict=True)]
        pairs = list(zip(parameters, raw, strict=True))
        positional = [value for parameter, value in pairs if not parameter.keyword_only]
        keywords = {parameter.name: value for parameter, value in pairs if parameter.keyword_only}
        if self.operation.is_async:
            return self._run_async(entry.call(*positional, **keywords), backend, expected)
        try:
            out = entry.call(*positional, **keywords)
        except Exception as error:
            if self.operation.is_builtin:
                self.diagnose(error, arguments)
            raise
        return self.finish(backend, out, expected)

    async def _run_async(self, running: Any, backend: BackendRoot, expected: Expected) -> Any:
        return self.finish(backend, await running, expected)

    def finish(self, backend: BackendRoot, out: Any, expected: Expected = NOTHING) -> Any:
        """Wraps outputs of any structure.

        Raises: `KindError` for another kind or structure than declared, `MetadataMismatchError`
        for other dimensions than annotated.
        """
        native, tag, kinds = backend.native, backend.tag, backend.kinds

        def wrap(value: Any, node: Node) -> Any:
            if type(node) is TensorNode and type(value) is native:
                kind = node.kind
                if kinds.get(tag(value)) == kind:
                    return DispatchTensor(value, kind, backend)
            return _wrap_unusual(backend, value, node)

        try:
            wrapped = self._wrap(out, wrap)
        except UnusualValueError:
            self._refuse_output(backend, out)
        if self._has_promises:
            check_promises(self.operation, backend, wrapped, expected)
        return wrapped

    def _refuse_output(self, backend: BackendRoot, out: Any) -> NoReturn:
        """`KindError` that names the first part of an output that is not what is declared."""
        path, declared, returned = "out", "something else", describe_value(out)
        for place in leaves(out, self.operation.returns, "out"):
            if isinstance(place, Misfit):
                path, declared, returned = place.path, place.expected, describe_value(place.value)
                break
            adopted = backend.adopt(place.value)
            kind = kind_or_none(backend, adopted)
            if option_of_kind(place.node, kind) is None and (kind or not takes_plain(place.node)):
                path, declared = place.path, describe_node(place.node)
                returned = f"a tensor of kind {kind}" if kind else describe_value(adopted)
                break
        raise KindError(
            f"`{self.operation.label}`: its implementation on `{backend}` returned {returned} "
            f"where `{path}` is declared {declared}."
        )


def _wrap_unusual(backend: BackendRoot, value: Any, node: Node) -> Any:
    """A scalar where an array is due, a leaf of a union; `UnusualValueError` for what is wrong."""
    adopted = backend.adopt(value)
    kind = kind_or_none(backend, adopted)
    if kind is None:
        if takes_plain(node):
            return value
    elif option_of_kind(node, kind) is not None:
        return DispatchTensor(adopted, kind, backend)
    raise UnusualValueError


def kind_or_none(backend: BackendRoot, value: Any) -> Kind | None:
    """The kind of a backend's own tensor; None for anything else."""
    return backend.kinds.get(backend.tag(value)) if isinstance(value, backend.native) else None


def _primitive_of(value: Any, node: Node) -> Any:
    return value.primitive if isinstance(value, DispatchTensor) else value


def _spec_of(value: Any, node: Node) -> Any:
    return TensorSpec(value.shape, value.dtype) if isinstance(value, DispatchTensor) else value
