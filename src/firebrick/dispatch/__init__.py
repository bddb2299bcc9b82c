"""Who executes a call: devices, backends by name, the routing rules, moving tensors.

Importing this package gives `Device` its behaviour; no backend is imported before its first use.
"""

from __future__ import annotations

from firebrick.core import Device, DispatchTensor, install_resolver
from firebrick.dispatch.explain import Explanation, explain
from firebrick.dispatch.linking import DispatchLinker
from firebrick.dispatch.registry import REGISTRY, backend_for, instance_of, register_backend
from firebrick.dispatch.resolver import Resolver
from firebrick.dispatch.settings import Settings
from firebrick.dispatch.transfers import transfer
from firebrick.opset import install_linker

__all__ = [
    "Device",
    "DispatchTensor",
    "Explanation",
    "backend_for",
    "explain",
    "instance_of",
    "register_backend",
    "transfer",
]

install_resolver(Resolver(REGISTRY, Settings(REGISTRY)))
install_linker(DispatchLinker())
