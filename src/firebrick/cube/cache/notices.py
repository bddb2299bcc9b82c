"""Warnings of a cache, each kind once: a cache that cannot help must not flood a log."""

from __future__ import annotations

import warnings


class Notices:
    """What has been said already."""

    def __init__(self) -> None:
        self._said: dict[str, object] = {}

    def warn(self, kind: str, message: str) -> None:
        """A `RuntimeWarning`, unless one of that kind was given before."""
        token = object()
        if self._said.setdefault(kind, token) is token:  # atomic: one thread finds its own token
            warnings.warn(message, RuntimeWarning, stacklevel=2)
