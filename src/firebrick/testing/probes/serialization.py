"""Structs of a case survive copying and pickling, which is how they are saved and sent."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

from firebrick.opset import ExtensionType
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import exactly, find_difference
from firebrick.testing.nests import children, find_leaves, is_struct
from firebrick.testing.placement import place
from firebrick.testing.subject import attempt, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def probe_serialization(bench: Bench) -> Iterator[Fault]:
    """A struct that was copied, or pickled and loaded, has the same fields."""
    for expected in bench.plain:
        structs = find_leaves(place(expected.case, bench.device), ExtensionType)
        for path, struct in structs:
            for verb, restore in (("copied", copy.deepcopy), ("pickled", _pickled)):
                yield from _restored(struct, path, verb, restore)


def _restored(struct: Any, path: str, verb: str, restore: Callable[[Any], Any]) -> Iterator[Fault]:
    if verb == "pickled" and not _can_be_pickled(struct):
        return
    outcome = attempt(lambda: restore(struct))
    if outcome.error is not None:
        yield Fault("serialization", f"`{path}` cannot be {verb}: {one_line(outcome.error)}")
        return
    difference = find_difference(outcome.value, struct, exactly, path)
    if difference is not None:
        yield Fault("serialization", f"{verb}, {difference}")


def _can_be_pickled(struct: Any) -> bool:
    """Whether class and ordinary fields are what Python can pickle: no local class, no lock."""
    if is_struct(struct):
        if "<locals>" in type(struct).__qualname__:
            return False
        return all(_can_be_pickled(part) for part in (children(struct) or {}).values())
    return attempt(lambda: pickle.dumps(struct)).error is None


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
