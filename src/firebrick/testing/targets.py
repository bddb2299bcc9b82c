"""Which devices an op set is checked on, and which of its implementations are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from firebrick.core import Device, resolver
from firebrick.errors import DispatchError, SelectorError
from firebrick.opset import Conditional, OpSet, Selector, ShortOperation
from firebrick.opset.report import ReportRow, report_rows
from firebrick.testing.report import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def op_set_of(target: Any) -> type[OpSet[Any]]:
    """The op set itself, or the one behind a short-form operation.

    Raises: `SelectorError` for anything but an op set that is open to backends.
    """
    op_set: Any = target.op_set if isinstance(target, ShortOperation) else target
    if not (isinstance(op_set, type) and issubclass(op_set, OpSet) and op_set is not OpSet):
        raise SelectorError(f"`check` takes an op set or an `@op` operation; got {target!r}.")
    if op_set.__declaration__ is not op_set:
        raise SelectorError(
            f"`check` takes the declaration `{op_set.__declaration__.__name__}`, not its "
            f"implementation `{op_set.__name__}`."
        )
    if not op_set.__selectors__:
        raise SelectorError(
            f"`{op_set.__name__}` is not open to any backend, so nothing can be checked; decorate "
            "it with `@backend_extension(...)`."
        )
    return cast("type[OpSet[Any]]", op_set)


class Targets:
    """The devices of one check, each with the selector that it belongs to."""

    def __init__(self, op_set: type[OpSet[Any]], devices: Sequence[Device] | None) -> None:
        self._op_set = op_set
        self._is_limited = devices is not None
        self.notes: list[str] = []
        listed = op_set.__selectors__ or {}
        wanted = list(self._usable(listed)) if devices is None else list(devices)
        plain = dict.fromkeys(device.inner() for device in wanted)
        self._by_device = {device: self._selector_of(device, listed) for device in plain}
        self.notes += [
            f"{device} was not checked: `{op_set.__name__}` does not list its backend"
            for device, selector in self._by_device.items()
            if selector is None
        ]
        self._rows = report_rows(op_set)

    @property
    def devices(self) -> list[Device]:
        """Those of listed selectors whose condition is true."""
        return [device for device, selector in self._by_device.items() if selector is not None]

    def implementing(self, operation: str) -> list[Device]:
        """The devices on which an operation is implemented."""
        missing = {row.selector for row in self._missing(operation)}
        return [d for d in self.devices if _name(self._by_device[d]) not in missing]

    def missing(self, operation: str) -> Iterator[Finding]:
        """A finding per listed selector that nobody implemented; limited to the devices given."""
        for row in self._missing(operation):
            selector = next(s for s in self._op_set.__selectors__ or {} if _name(s) == row.selector)
            device = next((d for d, s in self._by_device.items() if s is selector), None)
            if device is None and self._is_limited and selector.role == "execution":
                continue
            name = self._op_set.__name__
            yield Finding(
                operation,
                row.selector.lower() if device is None else str(device),
                "missing",
                f"`{name}` lists `{row.selector}`, but nothing implements `{operation}` there; add "
                f"`class X({name}[...], on={row.selector})` or `{name}.default_on({row.selector})`",
            )

    def _missing(self, operation: str) -> list[ReportRow]:
        return [row for row in self._rows if (row.operation, row.state) == (operation, "missing")]

    def _usable(self, listed: Mapping[Selector, Conditional]) -> Iterator[Device]:
        for selector, condition in listed.items():
            if selector.role != "execution" or not condition.holds():
                continue
            try:
                found = Device.enumerate(selector.name)
            except DispatchError as reason:
                self.notes.append(f"`{_name(selector)}` was not checked: {reason}")
                continue
            if not found:
                self.notes.append(f"`{_name(selector)}` was not checked: it has no device here")
            yield from found

    def _selector_of(
        self, device: Device, listed: Mapping[Selector, Conditional]
    ) -> Selector | None:
        """The listed selector that serves a device, exact class first; None if none does."""
        for base in type(resolver().open(device)).__mro__:
            condition = listed.get(base)
            if condition is not None:
                return base if condition.holds() else None
        return None


def _name(selector: Selector | None) -> str:
    return "" if selector is None else selector.__name__
