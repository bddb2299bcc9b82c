"""One entry of the disk cache as bytes: a header, then the payload.

The header is 4 bytes of magic, 2 of the version of this layout, 32 of the key (an entry under
another entry's name is not taken for it), 32 of the payload's SHA-256 and 8 of its length; numbers
are big-endian.
"""

from __future__ import annotations

import hashlib
import struct

MAGIC = b"FBKC"
VERSION = 1
_HEADER = struct.Struct(">4sH32s32sQ")


def encode(key: str, payload: bytes) -> bytes:
    """An entry; `key` is 64 hexadecimal digits."""
    digest = hashlib.sha256(payload).digest()
    return _HEADER.pack(MAGIC, VERSION, bytes.fromhex(key), digest, len(payload)) + payload


def decode(key: str, entry: bytes) -> bytes:
    """The payload; `ValueError` saying what is wrong with an entry that is damaged or swapped."""
    if len(entry) < _HEADER.size:
        raise ValueError(f"it ends inside its header, after {len(entry)} bytes")
    magic, version, name, digest, length = _HEADER.unpack_from(entry)
    payload = entry[_HEADER.size :]
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError("it is no entry of this version")
    if name != bytes.fromhex(key):
        raise ValueError("it belongs to another key")
    if len(payload) != length:
        raise ValueError(f"it has {len(payload)} bytes where {length} were written")
    if digest != hashlib.sha256(payload).digest():
        raise ValueError("its contents are not what was written")
    return payload
