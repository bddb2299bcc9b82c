"""Where tensors live. A value without behaviour: dispatch installs a resolver that has it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from firebrick.core.checkpointing import (
    BalancedCheckpointing,
    CheckpointStrategy,
    NoCheckpointing,
)
from firebrick.errors import AutodiffError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from firebrick.core.dtype import DType

FUSED_BACKENDS = frozenset({"cube"})


class DeviceResolver(Protocol):
    """What dispatch knows of devices."""

    def parse(self, text: str) -> tuple[str, str | None, int]:
        """Backend, place and index that a text names."""
        ...

    def default(self) -> tuple[str, str | None, int]:
        """Backend, place and index of the device that is used where none is given."""
        ...

    def enumerate(self, kind: str | None, token: str | None) -> list[Device]:
        """Usable devices of a kind, of all kinds for None."""
        ...

    def open(self, device: Device) -> Any:
        """The backend of a device."""
        ...

    def configure(self, device: Device, dtypes: dict[str, DType]) -> None:
        """Sets default dtypes by kind."""
        ...

    def default_dtype(self, device: Device, kind: Literal["float", "int", "bool"]) -> DType:
        """The dtype of tensors made from Python values of a kind."""
        ...

    def connect(self, url: str, index: int, options: dict[str, Any]) -> Device:
        """Device `index` of a server."""
        ...


_installed: list[DeviceResolver] = []


def install_resolver(resolver: DeviceResolver) -> None:
    """Gives devices their behaviour; the last one installed counts."""
    _installed[:] = [resolver]


def resolver() -> DeviceResolver:
    """The installed resolver."""
    return _installed[0]


class Device:
    """Where tensors live, and whether operations there are differentiated or fused.

    Equality and hash look at the hardware only: backend, place and index. Autodiff, fusion
    and checkpointing are properties, not identity. Constructors touch no hardware and import no
    package (`remote` connects); what is missing raises `BackendUnavailableError` at the first
    operation, naming the extra to install.
    """

    __slots__ = ("_backend", "_checkpointing", "_fused", "_hash", "_index", "_place")

    def __init__(self, text: str) -> None:
        """Parses `flex`, `ndarray`, `libtorch:cuda:0`, `cpu`, `cuda:0`, `rocm:1`, `wgpu`, ...

        Raises `DispatchError` with a suggestion for anything else.
        """
        self._set(*resolver().parse(text))

    def _set(
        self,
        backend: str,
        place: str | None,
        index: int,
        *,
        fused: bool | None = None,
        checkpointing: type[CheckpointStrategy] | None = None,
    ) -> None:
        self._backend = backend
        self._place = place
        self._index = index
        self._fused = _fused_by_default(backend) if fused is None else fused
        self._checkpointing = checkpointing
        self._hash = hash((backend, place, index))

    @classmethod
    def of(
        cls,
        backend: str,
        place: str | None = None,
        index: int = 0,
        *,
        fused: bool | None = None,
        checkpointing: type[CheckpointStrategy] | None = None,
    ) -> Self:
        """A device from its parts: `place` is a runtime of cube, or torch's device type."""
        device = cls.__new__(cls)
        device._set(backend, place, index, fused=fused, checkpointing=checkpointing)
        return device

    @classmethod
    def default(cls) -> Self:
        """`FIREBRICK_DEVICE` (case-insensitive) if set, else `flex`."""
        return cls.of(*resolver().default())

    @classmethod
    def flex(cls) -> Self:
        """The fast CPU backend."""
        return cls.of("flex")

    @classmethod
    def ndarray(cls) -> Self:
        """Plain NumPy."""
        return cls.of("ndarray")

    @classmethod
    def libtorch(cls, name: str = "cpu") -> Self:
        """PyTorch's device of that name, such as `cpu` or `cuda:1`."""
        return cls.of(*resolver().parse(f"libtorch:{name}"))

    @classmethod
    def cpu(cls, *, fusion: bool = True) -> Self:
        """Kernels compiled for the processor."""
        return cls.of("cube", "cpu", fused=_fusion_allowed(fusion))

    @classmethod
    def cuda(cls, index: int = 0, *, fusion: bool = True) -> Self:
        """Kernels on NVIDIA hardware."""
        return cls.of("cube", "cuda", index, fused=_fusion_allowed(fusion))

    @classmethod
    def rocm(cls, index: int = 0, *, fusion: bool = True) -> Self:
        """Kernels on AMD hardware."""
        return cls.of("cube", "rocm", index, fused=_fusion_allowed(fusion))

    @classmethod
    def wgpu(
        cls,
        index: int = 0,
        *,
        kind: Literal["default", "discrete", "integrated", "virtual", "cpu"] = "default",
        fusion: bool = True,
    ) -> Self:
        """Kernels through WebGPU, on an adapter of that kind."""
        place = "wgpu" if kind == "default" else f"wgpu-{kind}"
        return cls.of("cube", place, index, fused=_fusion_allowed(fusion))

    @classmethod
    def remote(
        cls,
        url: str,
        index: int = 0,
        *,
        token: str | None = None,
        tls_ca: str | PathLike[str] | None = None,
        timeout_s: float = 10.0,
    ) -> Device:
        """Device `index` of a server. Connects now.

        Raises: `RemoteConnectionError`, `RemoteAuthorizationError`, `RemoteDeviceError`,
        `RemoteProtocolError`.
        """
        options = {"token": token, "tls_ca": tls_ca, "timeout_s": timeout_s}
        return resolver().connect(url, index, options)

    @classmethod
    def capture(cls) -> Self:
        """A device that records operations and executes none."""
        return cls.of("capture")

    @staticmethod
    def enumerate(kind: str | None = None, *, token: str | None = None) -> list[Device]:
        """Usable devices, in index order. `kind`: `cuda`, `cpu`, ..., or the URL of a server."""
        return resolver().enumerate(kind, token)

    @property
    def backend(self) -> str:
        """`flex`, `ndarray`, `libtorch`, `cube`, `remote`, `capture` or a third party's name."""
        return self._backend

    @property
    def place(self) -> str | None:
        """A runtime of cube, torch's device type, or None for backends with one place."""
        return self._place

    @property
    def runtime(self) -> str | None:
        """`cpu`, `wgpu`, `cuda`, `rocm` on the cube backend, else None."""
        return self._place.partition("-")[0] if self._backend == "cube" and self._place else None

    @property
    def index(self) -> int:
        """Which of several like devices, from 0."""
        return self._index

    @property
    def fused(self) -> bool:
        """Whether operations are queued and merged."""
        return self._fused

    @property
    def is_autodiff(self) -> bool:
        """Whether operations are differentiated."""
        return self._checkpointing is not None

    @property
    def checkpointing(self) -> type[CheckpointStrategy] | None:
        """None unless `is_autodiff`."""
        return self._checkpointing

    def _with(self, checkpointing: type[CheckpointStrategy] | None) -> Self:
        return type(self).of(
            self._backend, self._place, self._index, fused=self._fused, checkpointing=checkpointing
        )

    def autodiff(self, *, checkpointing: type[CheckpointStrategy] | None = None) -> Self:
        """The same hardware, differentiated. On an autodiff device without argument: itself."""
        if checkpointing is None:
            if self._checkpointing is not None:
                return self
            checkpointing = NoCheckpointing
        given: Any = checkpointing
        if not (isinstance(given, type) and issubclass(given, CheckpointStrategy)):
            raise AutodiffError(
                f"`autodiff(checkpointing=...)` takes a strategy such as `BalancedCheckpointing`; "
                f"got {given!r}."
            )
        return self._with(checkpointing)

    def gradient_checkpointing(self) -> Self:
        """Strategy `BalancedCheckpointing`. `AutodiffError` unless `is_autodiff`."""
        if self._checkpointing is None:
            raise AutodiffError(
                f"`gradient_checkpointing` needs an autodiff device; {self} is none: "
                "call `.autodiff()` first."
            )
        return self._with(BalancedCheckpointing)

    def inner(self) -> Self:
        """The same hardware without autodiff; idempotent."""
        return self if self._checkpointing is None else self._with(None)

    def sync(self) -> None:
        """Waits for all submitted work; raises the first error nobody has read yet."""
        resolver().open(self).sync(self)

    def seed(self, seed: int) -> None:
        """The same seed gives the same random tensors on this device."""
        resolver().open(self).seed(self, seed)

    def supports_dtype(self, dtype: DType) -> bool:
        """Whether values of `dtype` can be stored and computed with."""
        return resolver().open(self).supports_dtype(self, dtype)

    def configure(
        self,
        *,
        float_dtype: DType | None = None,
        int_dtype: DType | None = None,
        bool_dtype: DType | None = None,
    ) -> None:
        """Default dtypes of this hardware; once, before its first tensor, else `SettingsError`."""
        given = {"float": float_dtype, "int": int_dtype, "bool": bool_dtype}
        resolver().configure(self, {kind: d for kind, d in given.items() if d is not None})

    @property
    def float_dtype(self) -> DType:
        """Of tensors made from Python floats; `float32` unless configured."""
        return resolver().default_dtype(self, "float")

    @property
    def int_dtype(self) -> DType:
        """Of tensors made from Python ints: `int32` (flex, cube), `int64` (ndarray, libtorch)."""
        return resolver().default_dtype(self, "int")

    @property
    def bool_dtype(self) -> DType:
        """Of tensors made from Python bools."""
        return resolver().default_dtype(self, "bool")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (
            self._backend == other._backend
            and self._place == other._place
            and self._index == other._index
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        """The text that `Device(text)` parses, with `+autodiff` where it is differentiated."""
        parts = [self._backend] if self._backend != "cube" else []
        if self._place is not None:
            parts.append(self._place)
        if self._place is not None and self._place != "cpu":
            parts.append(str(self._index))
        text = ":".join(parts)
        if self._checkpointing is None:
            return text
        balanced = self._checkpointing is not NoCheckpointing
        return f"{text}+autodiff" + ("+checkpointing" if balanced else "")

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __reduce__(self) -> tuple[Callable[..., Device], tuple[Any, ...]]:
        return _rebuild, (
            self._backend,
            self._place,
            self._index,
            self._fused,
            self._checkpointing,
        )


def _rebuild(
    backend: str,
    place: str | None,
    index: int,
    fused: bool,
    checkpointing: type[CheckpointStrategy] | None,
) -> Device:
    return Device.of(backend, place, index, fused=fused, checkpointing=checkpointing)


def _fusion_allowed(wanted: bool) -> bool:
    return wanted and os.environ.get("FIREBRICK_FUSION", "1") != "0"


def _fused_by_default(backend: str) -> bool:
    return backend in FUSED_BACKENDS and _fusion_allowed(True)
