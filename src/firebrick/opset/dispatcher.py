"""Dispatch of one operation: its caches, and the interpreted course of a call.

`dispatch_source.py` writes the fast path, which handles ordinary calls; what it leaves here are new
signatures of dimensions, outputs that are more than one tensor, and everything that goes wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from firebrick.core import DispatchTensor, TensorSpec
from firebrick.errors import FirebrickError, KindError, MetadataMismatchError, TensorError
from firebrick.opset.implementation import Implementations
from firebrick.opset.metadata import bind_inputs, output_specs, outputs_bound
from firebrick.opset.nodes import Node, TensorNode, TupleNode, UnionNode
from firebrick.opset.signature import Operation
from firebrick.opset.traversal import Leaf, Misfit, UnusualValueError, compile_convert, leaves

MAX_SIGNATURES = 1024
"""Checked signatures kept per operation; beyond, the cache starts anew."""


class Entry(NamedTuple):
    """Who executes an operation on one backend, and how to look at what it returns."""

    call: Callable[..., Any]
    native: type
    tag: Callable[[Any], Any]
    kinds: Any
    many_devices: bool


class Expected(NamedTuple):
    """What annotated dimensions promise of the outputs, by path; empty where they say nothing."""

    shape: tuple[int, ...] | None = None
    dtype: Any = None
    others: tuple[tuple[str, tuple[int, ...], Any], ...] = ()


NOTHING = Expected()


class Dispatcher:
    """One operation with the caches that its generated function uses."""

    def __init__(self, operation: Operation, implementations: Implementations) -> None:
        self.operation = operation
        self.entries: dict[Any, Entry] = {}
        self.plain_entries: dict[Any, Entry] = {}
        self.seen: dict[Any, Expected] = {}
        self._lock = threading.Lock()
        self._implementations = implementations
        self._unwraps = tuple(compile_convert(p.node, p.name) for p in operation.parameters)
        self._wrap = compile_convert(operation.returns, operation.label)
        implementations.on_change(self._forget)

    def _forget(self) -> None:
        with self._lock:
            self.entries.clear()
            self.plain_entries.clear()

    def entry(
        self, backend: Any, resolve: Callable[[], Callable[..., Any]], *, float_input: bool
    ) -> Entry:
        """The cached entry of a backend, made by `resolve` at first use."""
        table = self.entries if float_input else self.plain_entries
        found = table.get(backend)
        if found is not None:
            return found
        generation = self._implementations.generation
        made = Entry(
            resolve(), backend.native, backend.tag, backend.kinds, backend.has_many_devices
        )
        with self._lock:
            if generation == self._implementations.generation:
                table[backend] = made
        return made

    def check(self, key: Any, arguments: tuple[Any, ...]) -> Expected:
        """Checks dimensions of a signature not seen before and remembers what they promise."""
        expected = self.expect(arguments)
        with self._lock:
            if len(self.seen) >= MAX_SIGNATURES:
                self.seen.clear()
            self.seen[key] = expected
        return expected

    def expect(self, arguments: tuple[Any, ...]) -> Expected:
        """Binds the dimensions of one call; `ShapeError` with the operation's name in front."""
        operation = self.operation
        found = self._tensors(arguments)
        try:
            binding = bind_inputs(operation, found)
        except TensorError as fact:
            raise type(fact)(f"`{operation.label}`: {fact}") from None
        described = operation.form is None or operation.form.name in ("dims", "default")
        if not described or not outputs_bound(operation):
            return NOTHING
        dtypes: dict[str, Any] = {}
        for leaf in found:
            dtypes.setdefault(leaf.value.kind, leaf.value.primitive.dtype)

        def promises(node: Node, path: str) -> list[tuple[str, tuple[int, ...], Any]]:
            if isinstance(node, TensorNode) and node.dims is not None:
                return [(path, tuple(binding.shape(node.dims)), dtypes[node.kind])]
            items = node.items if isinstance(node, TupleNode) else ()
            return [p for i, item in enumerate(items) for p in promises(item, f"{path}.{i}")]

        promised = promises(operation.returns, "out")
        if isinstance(operation.returns, TensorNode):
            return Expected(promised[0][1], promised[0][2])
        return Expected(others=tuple(promised))

    def _tensors(self, arguments: tuple[Any, ...]) -> list[Leaf]:
        return [
            place
            for parameter, value in zip(self.operation.parameters, arguments, strict=True)
            for place in leaves(value, parameter.node, parameter.name)
            if isinstance(place, Leaf) and isinstance(place.value, DispatchTensor)
        ]

    def convert_argument(
        self, index: int, value: Any, replace: Callable[[Any, Node], Any]
    ) -> Any:
        """One argument with its tensors replaced."""
        return self._unwraps[index](value, replace)

    def diagnose(self, error: Exception, arguments: tuple[Any, ...]) -> None:
        """Raises what the metadata of a built-in operation finds wrong with a failed call."""
        if isinstance(error, FirebrickError) or self.operation.form is None:
            return
        if self.operation.form.name not in ("fields", "meta"):
            return
        names = [parameter.name for parameter in self.operation.parameters]
        specs = [unwrap(a, _spec_of) for unwrap, a in zip(self._unwraps, arguments, strict=True)]
        try:
            output_specs(self.operation, dict(zip(names, specs, strict=True)))
        except TensorError as fact:
            raise type(fact)(f"`{self.operation.name}`: {fact}") from error

    def run(self, entry: Entry, backend: Any, arguments: tuple[Any, ...]) -> Any:
        """The course of a call, interpreted: for calls that routing had to prepare."""
        parameters = self.operation.parameters
        expected = self.expect(arguments) if self.operation.has_dims else NOTHING
        raw = [unwrap(a, _primitive_of) for unwrap, a in zip(self._unwraps, arguments, strict=True)]
        pairs = list(zip(parameters, raw, strict=True))
        positional = [value for parameter, value in pairs if not parameter.keyword_only]
        keywords = {parameter.name: value for parameter, value in pairs if parameter.keyword_only}
        if self.operation.is_async:
            return self._run_async(entry, backend, positional, keywords)
        try:
            out = entry.call(*positional, **keywords)
        except Exception as error:
            if self.operation.is_builtin:
                self.diagnose(error, arguments)
            raise
        return self.finish(backend, out, expected)

    async def _run_async(
        self, entry: Entry, backend: Any, positional: list[Any], keywords: dict[str, Any]
    ) -> Any:
        return self.finish(backend, await entry.call(*positional, **keywords), NOTHING)

    def finish(self, backend: Any, out: Any, expected: Expected = NOTHING) -> Any:
        """Wraps outputs of any structure.

        Raises: `KindError` for another kind or structure than declared, `MetadataMismatchError`
        for other dimensions than annotated.
        """

        def wrap(value: Any, node: Node) -> Any:
            adopted = backend.adopt(value)
            kind = kind_or_none(backend, adopted)
            if kind is not None and kind in _kinds(node):
                return DispatchTensor(adopted, kind, backend)
            if isinstance(node, UnionNode) and kind is None:
                return value
            raise UnusualValueError

        try:
            wrapped = self._wrap(out, wrap)
        except (UnusualValueError, TypeError, AttributeError, LookupError, ValueError):
            self._refuse_output(backend, out)
            raise
        if expected is not NOTHING:
            self._compare(backend, wrapped, expected)
        return wrapped

    def _refuse_output(self, backend: Any, out: Any) -> None:
        start = f"`{self.operation.label}`: its implementation on `{backend}` returned "
        for place in leaves(out, self.operation.returns, "out"):
            if isinstance(place, Misfit):
                found = type(place.value).__name__
                raise KindError(
                    f"{start}{found} where `{place.path}` is declared {place.expected}."
                )
            adopted = backend.adopt(place.value)
            kind = kind_or_none(backend, adopted)
            declared = _kinds(place.node)
            if kind not in declared and not (isinstance(place.node, UnionNode) and kind is None):
                found = f"a tensor of kind {kind}" if kind else f"a {type(adopted).__name__}"
                raise KindError(
                    f"{start}{found} where `{place.path}` is declared a tensor of kind "
                    f"{' or '.join(declared)}."
                )

    def _compare(self, backend: Any, wrapped: Any, expected: Expected) -> None:
        promised = {path: (shape, dtype) for path, shape, dtype in expected.others}
        if expected.shape is not None:
            promised["out"] = (expected.shape, expected.dtype)
        for place in leaves(wrapped, self.operation.returns, "out"):
            if not isinstance(place, Leaf) or place.path not in promised:
                continue
            shape, dtype = promised[place.path]
            found = place.value.primitive
            if tuple(found.shape) != shape or found.dtype != dtype:
                raise MetadataMismatchError(
                    f"`{self.operation.label}` declares `{place.path}` with shape {list(shape)} and "
                    f"dtype {dtype} by its annotated dimensions, but its implementation on "
                    f"`{backend}` returned shape {list(found.shape)} and dtype {found.dtype}."
                )


def kind_or_none(backend: Any, value: Any) -> Any:
    """The kind of a backend's own tensor; None for anything else."""
    return backend.kinds.get(backend.tag(value)) if isinstance(value, backend.native) else None


def _kinds(node: Node) -> list[str]:
    options = node.options if isinstance(node, UnionNode) else (node,)
    return [option.kind for option in options if isinstance(option, TensorNode)]


def _primitive_of(value: Any, node: Node) -> Any:
    return value.primitive if isinstance(value, DispatchTensor) else value


def _spec_of(value: Any, node: Node) -> Any:
    if not isinstance(value, DispatchTensor):
        return value
    return TensorSpec(value.shape, value.dtype)
