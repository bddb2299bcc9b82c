"""The selector of remote devices and the type of their tensors.

There is no client in this version: the names are here so that extensions can be declared for
`Remote`, and making the backend says what is missing.
"""

from __future__ import annotations

from firebrick.backends.remote.backend import Remote
from firebrick.backends.remote.tensor import RemoteTensor

__all__ = ["Remote", "RemoteTensor"]
