"""Texts of devices, such as `flex`, `libtorch:cuda:0` or `wgpu:1`, into backend, place and index.

Only the text is looked at: nothing is imported and no hardware is asked whether it is there.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Protocol, TypeAlias

from firebrick.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Backend, place, index.
Parts: TypeAlias = "tuple[str, str | None, int]"

RUNTIMES = ("cpu", "wgpu", "cuda", "rocm")
"""Of the kernel backend `cube`; they name devices, never backends."""
ADAPTER_KINDS = ("discrete", "integrated", "virtual", "cpu")
"""A WebGPU device of a wanted kind is written `wgpu-discrete:0`."""
TORCH_PLACES = ("cpu", "cuda", "mps", "xpu")
"""Device types of PyTorch that can follow `libtorch:`."""

_CUBE_PLACES = (*RUNTIMES, *(f"wgpu-{kind}" for kind in ADAPTER_KINDS))
_ONE_DEVICE = frozenset({"flex", "ndarray", "capture", "cpu", "libtorch:cpu"})
_NO_DEVICE_TEXT = {
    "cube": "`cube` is a backend with several runtimes and names no device; "
    f"write one of {', '.join(RUNTIMES)}.",
    "remote": "a remote device is made by `Device.remote(url)`, not from the text 'remote'.",
}
# More digits than any machine has devices are a slip, not an index.
_INDEX = re.compile(r"[0-9]{1,9}")


class KnownBackends(Protocol):
    """What parsing asks of the registry."""

    def spelling(self, name: str) -> str | None:
        """The known name that equals `name` but for letter case."""
        ...

    def names(self) -> list[str]:
        """Every backend."""
        ...


def parse_device(text: object, backends: KnownBackends) -> Parts:
    """Backend, place and index that `text` names; `DispatchError` with a suggestion if none."""
    if not isinstance(text, str):
        raise DispatchError(f"a device is made from a text such as 'cuda:0'; got {text!r}.")
    name, *rest = text.split(":")
    if name == "libtorch":
        place = rest.pop(0) if rest else "cpu"
        if place not in TORCH_PLACES:
            raise unknown_device(text, [f"libtorch:{known}" for known in TORCH_PLACES])
        return "libtorch", place, _index(f"libtorch:{place}", rest, text)
    if name in _CUBE_PLACES:
        return "cube", name, _index(name, rest, text)
    if name in _NO_DEVICE_TEXT:
        raise DispatchError(_NO_DEVICE_TEXT[name])
    if backends.spelling(name) != name:
        raise unknown_device(text, known_devices(backends))
    return name, None, _index(name, rest, text)


def parse_environment(text: str, backends: KnownBackends) -> Parts:
    """As `parse_device`, for the value of `FIREBRICK_DEVICE`: letter case does not matter."""
    name, separator, rest = text.strip().casefold().partition(":")
    if name not in _CUBE_PLACES:
        # Built-in names are lower-case; a third party's may have capitals.
        name = backends.spelling(name) or name
    try:
        return parse_device(f"{name}{separator}{rest}", backends)
    except DispatchError as error:
        raise DispatchError(
            f"the environment variable FIREBRICK_DEVICE is {text!r}, but {error}"
        ) from error


def known_devices(backends: KnownBackends) -> list[str]:
    """What the text of a device can begin with, backends first."""
    return [*(name for name in backends.names() if name not in _NO_DEVICE_TEXT), *RUNTIMES]


def unknown_device(text: str, known: Sequence[str]) -> DispatchError:
    """An error that says `text` names no device, what it might have meant, and what there is."""
    listed = ", ".join(known)
    plain, plus, _ = text.partition("+")
    if plus:
        return DispatchError(
            f"there is no device {text!r}: autodiff is not part of the text; "
            f"write `Device({plain!r}).autodiff()`. Known are {listed}."
        )
    written = text.casefold()
    close = [
        *difflib.get_close_matches(written, known, n=1),
        *difflib.get_close_matches(written.partition(":")[0], known, n=1),
    ]
    meant = f"did you mean `{close[0]}`? " if close else ""
    return DispatchError(f"there is no device {text!r}; {meant}known are {listed}.")


def _index(name: str, rest: list[str], text: str) -> int:
    """The number after `name:`, 0 if there is none."""
    if not rest:
        return 0
    if len(rest) > 1 or _INDEX.fullmatch(rest[0]) is None:
        raise DispatchError(
            f"the device {text!r} needs a number from 0 after `{name}:`; got {':'.join(rest)!r}."
        )
    index = int(rest[0])
    if index and name in _ONE_DEVICE:
        raise DispatchError(f"`{name}` has one device, of index 0; got {text!r}.")
    return index
