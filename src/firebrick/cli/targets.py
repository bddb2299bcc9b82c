"""Finds the op sets and operations that `package.module` or `package.module:Name` names.

The module is imported as Python would from the current folder. What counts is what the module
declares itself: names that it imports from elsewhere are somebody else's to check.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

from firebrick.opset import OpSet
from firebrick.opset import ShortOperation as Operation

if TYPE_CHECKING:
    from types import ModuleType

Subject: TypeAlias = type[OpSet[Any]] | Operation[..., Any]
Cases: TypeAlias = Sequence[tuple[Any, ...]]

CASES = "CASES"
"""What a module calls its cases: operation name to argument tuples, or to a function for them."""


class TargetError(Exception):
    """A target that names nothing, with what might have been meant."""


@dataclass(frozen=True, slots=True)
class Target:
    """One op set or short-form operation, by the name its module gives it."""

    name: str
    subject: Subject
    module: ModuleType

    @property
    def op_set(self) -> type[OpSet[Any]]:
        """The op set itself, or the one behind a short-form operation."""
        return self.subject.op_set if isinstance(self.subject, Operation) else self.subject

    def cases(self) -> dict[str, Cases]:
        """What `CASES` of the module has for the operations of this target."""
        given = getattr(self.module, CASES, {})
        if not isinstance(given, Mapping):
            raise TargetError(
                f"`{self.module.__name__}.{CASES}` is a dict from operation names to lists of "
                f"argument tuples; got {type(given).__name__}."
            )
        by_operation = cast("Mapping[str, Cases | Callable[[], Cases]]", given)
        return {
            operation: found() if callable(found) else found
            for operation, found in by_operation.items()
            if operation in self.op_set.__operations__
        }


def find_targets(text: str) -> list[Target]:
    """Everything that `text` names, in the order of its module; `TargetError` if nothing."""
    module_name, separator, name = text.partition(":")
    module = _import(module_name)
    declared = [
        Target(f"{module.__name__}:{known}", value, module)
        for known, value in vars(module).items()
        if _is_declared_in(module, value)
    ]
    _refuse_cases_of_nothing(module, declared)
    if separator:
        return [_named(module, name, declared)]
    if not declared:
        raise TargetError(
            f"`{module.__name__}` declares no operations: a target is a module with a subclass "
            "of `OpSet` or a function decorated with `@op(...)`."
        )
    return declared


def _import(name: str) -> ModuleType:
    """The module of that name, the current folder first on the path, as for `python -m`."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise TargetError(
            f"a target is `package.module` or `package.module:Name`; got {name!r}."
            + _meant(_from_path(name))
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise TargetError(f"importing `{name}` failed: {error}.") from error
    except (Exception, SystemExit) as error:
        raise TargetError(f"importing `{name}` failed with {type(error).__name__}.") from error
    raise TargetError(f"there is no module `{name}`." + _meant(_neighbors(name)))


def _is_declared_in(module: ModuleType, value: object) -> bool:
    """Whether `value` is an op set or operation that `module` declares."""
    if isinstance(value, Operation):
        return cast("Operation[..., Any]", value).op_set.__module__ == module.__name__
    return _is_declaration(value) and value.__module__ == module.__name__


def _is_declaration(value: object) -> TypeGuard[type[OpSet[Any]]]:
    """Whether `value` declares operations, as opposed to implementing them."""
    if not (isinstance(value, type) and issubclass(value, OpSet)):
        return False
    return value is not OpSet and value.__declaration__ is value


def _named(module: ModuleType, name: str, declared: Sequence[Target]) -> Target:
    """The one of `declared`, or of what `module` imports, that is called `name`."""
    value = getattr(module, name, None)
    if isinstance(value, Operation) or _is_declaration(value):
        return Target(f"{module.__name__}:{name}", cast("Subject", value), module)
    if value is not None:
        raise TargetError(
            f"`{module.__name__}:{name}` is a {type(value).__name__}; a target is a subclass of "
            "`OpSet` or a function decorated with `@op(...)`."
        )
    known = [target.name.partition(":")[2] for target in declared]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    listed = f" It declares {', '.join(known)}." if known else " It declares no operations."
    raise TargetError(f"`{module.__name__}` has no `{name}`.{listed}" + _meant(close))


def _refuse_cases_of_nothing(module: ModuleType, declared: Iterable[Target]) -> None:
    """A misspelt operation in `CASES` would go unnoticed: its cases would never be run."""
    operations = [name for target in declared for name in target.op_set.__operations__]
    for name in cast("Iterable[str]", getattr(module, CASES, ())):
        if operations and name not in operations:
            close = difflib.get_close_matches(name, operations, n=1)
            raise TargetError(
                f"`{module.__name__}.{CASES}` has cases for `{name}`, which is no operation of "
                "that module." + _meant(close)
            )


def _neighbors(name: str) -> list[str]:
    """Modules beside the missing one whose names are close to its name."""
    package, _, last = name.rpartition(".")
    try:
        places = importlib.import_module(package).__path__ if package else None
    except (ImportError, AttributeError):
        return _neighbors(package)
    prefix = f"{package}." if package else ""
    found = [f"{prefix}{module.name}" for module in pkgutil.iter_modules(places)]
    return difflib.get_close_matches(f"{prefix}{last}", found, n=1)


def _from_path(text: str) -> list[str]:
    """The module that a path such as `examples/square.py` would be."""
    path = Path(text)
    if path.suffix != ".py" and "/" not in text:
        return []
    return [".".join(path.with_suffix("").parts).strip("./")]


def _meant(close: Sequence[str]) -> str:
    return f" Did you mean `{close[0]}`?" if close else ""
