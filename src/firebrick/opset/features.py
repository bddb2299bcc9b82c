"""`feature`: whether what an extra of a package asks for is installed.

Read from the metadata of installed packages; nothing is imported. An extra may name others of the
same package (`firebrick[cpu]; extra == 'all'`) or of another one, and markers of the platform
count. Versions are not compared: installers see to them.
"""

from __future__ import annotations

import ast
import difflib
import operator
import os
import platform
import re
import sys
from typing import TYPE_CHECKING, Any

from firebrick.errors import SelectorError

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import Distribution

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?[^;]*(?:;(?P<marker>.*))?", re.DOTALL
)
_RUN = re.compile(r"[-_.]+")


def feature(extra: str, *, package: str | None = None) -> bool:
    """Whether the packages of an extra are installed; of `package`'s own extras if given.

    Raises: `SelectorError` for a package that is not installed, or has no such extra.
    """
    name = package or "firebrick"
    found = _distribution(name)
    if found is None:
        raise SelectorError(f"`feature({extra!r})`: the package {name!r} is not installed.")
    known = {_normal(e): e for e in found.metadata.get_all("Provides-Extra") or []}
    if _normal(extra) not in known:
        close = difflib.get_close_matches(_normal(extra), known, n=1)
        hint = f" Did you mean {known[close[0]]!r}?" if close else ""
        listed = ", ".join(sorted(known.values())) or "none"
        raise SelectorError(
            f"the package {name!r} has no extra {extra!r}; extras are {listed}.{hint}"
        )
    return _has_extra(name, _normal(extra), frozenset())


def _has_extra(package: str, extra: str, asked: frozenset[tuple[str, str]]) -> bool:
    """Whether all that an extra adds is installed; `asked` ends circles of extras."""
    here = (_normal(package), extra)
    found = _distribution(package)
    if found is None:
        return False
    if here in asked:
        return True
    for requirement in found.requires or []:
        match = _REQUIREMENT.match(requirement)
        if match is None or not _is_added(match["marker"], extra):
            continue
        inner = [_normal(name) for name in (match["extras"] or "").split(",") if name.strip()]
        if _distribution(match["name"]) is None:
            return False
        if not all(_has_extra(match["name"], name, asked | {here}) for name in inner):
            return False
    return True


def _distribution(package: str) -> Distribution | None:
    # Imported here: it takes longer than the rest of the package together.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(package)
    except PackageNotFoundError:
        return None


def _normal(name: str) -> str:
    """A name as PEP 503 and PEP 685 compare it."""
    return _RUN.sub("-", name.strip()).lower()


def _is_added(marker: str | None, extra: str) -> bool:
    """Whether an extra adds a requirement on this platform: only with it does the marker hold."""
    return marker is not None and _holds(marker, extra) and not _holds(marker, "")


def _holds(marker: str, extra: str) -> bool:
    """Whether a marker of PEP 508 holds; one that Python cannot parse holds if it names `extra`."""
    try:
        tree = ast.parse(marker.strip(), mode="eval").body
    except SyntaxError:  # `~=` and `===`
        return bool(extra) and extra in re.findall(r"""extra\s*==\s*['"]([^'"]+)""", marker)
    return _truth(tree, {**_platform(), "extra": extra})


def _platform() -> dict[str, str]:
    """The variables of markers, but for `extra`."""
    return {
        "implementation_name": sys.implementation.name,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_system": platform.system(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


def _truth(node: ast.expr, variables: dict[str, str]) -> bool:
    match node:
        case ast.BoolOp(ast.And(), parts):
            return all(_truth(part, variables) for part in parts)
        case ast.BoolOp(ast.Or(), parts):
            return any(_truth(part, variables) for part in parts)
        case ast.Compare(left, [comparison], [right]):
            compare = _COMPARISONS.get(type(comparison))
            names = {side.id for side in (left, right) if isinstance(side, ast.Name)}
            read = next((_READ[name] for name in names if name in _READ), str)
            if isinstance(comparison, ast.In | ast.NotIn):
                read = str
            sides = [read(_text(side, variables)) for side in (left, right)]
            return compare is None or compare(*sides)
        case _:
            return True


def _text(node: ast.expr, variables: dict[str, str]) -> str:
    match node:
        case ast.Name(name):
            return variables.get(name, "")
        case ast.Constant(str(text)):
            return text
        case _:
            return ""


def _version(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _is_part(one: Any, other: Any) -> bool:
    return one in other


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: _is_part,
    ast.NotIn: lambda one, other: not _is_part(one, other),
}
_READ: dict[str, Callable[[str], Any]] = {
    "extra": _normal,
    "python_version": _version,
    "python_full_version": _version,
}
