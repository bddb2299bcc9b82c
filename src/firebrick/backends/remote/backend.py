"""The selector class `Remote`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firebrick.backend import Backend
from firebrick.backends.remote.tensor import RemoteTensor
from firebrick.core import Device, DType, Kind
from firebrick.errors import BackendUnavailableError

UNAVAILABLE = (
    "remote devices come with `pip install 'firebrick[remote]'`, but this version has no client "
    "and no server yet; use `flex`, `ndarray` or `libtorch`."
)


class Remote(Backend[RemoteTensor]):
    """The client of a server. Implementations are derived from the declaration."""

    name = "remote"
    native = RemoteTensor
    kinds: Mapping[Any, Kind] = {known: known.kind for known in DType.by_name.values()}
    has_many_devices = True

    def __init__(self) -> None:
        raise BackendUnavailableError(UNAVAILABLE)

    @classmethod
    def devices(cls) -> list[Device]:
        """None yet. Raises: `BackendUnavailableError`."""
        raise BackendUnavailableError(UNAVAILABLE)
