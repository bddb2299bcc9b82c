"""Every exception of firebrick, in one tree.

    FirebrickError
    |- DefinitionError (also TypeError)      what a declaration says, found when it is declared
    |  |- SelectorError                      unknown selector, string, runtime name, bad condition
    |  |- SignatureError                     an operation whose signature cannot be used
    |  |- FusionFormError                    missing, mixed or wrong `@fusion(...)`
    |  |- GradientRuleError                  wrong `@gradient(...)`: unknown name, operation, cost
    |  |- ExtensionTypeError                 a struct that cannot be one
    |  `- ImplementationError                an implementation that does not fit its op set
    |     `- DuplicateImplementationError    a second one for the same backend
    |- DispatchError                         who executes this call
    |  |- NoTensorInputError                 no argument holds a tensor
    |  |- BackendMismatchError               arguments live on different backends
    |  |- BackendNotSupportedError           not listed, or its condition is false
    |  |- AutodiffNotSupportedError          tracked device, `Autodiff` not listed
    |  |- MissingImplementationError         listed, but nobody implemented it
    |  |- CheckpointingMismatchError         two strategies in one call
    |  `- BackendUnavailableError            its packages or hardware are not here
    |- TensorError                           values that do not fit an operation
    |  |- ShapeError (also ValueError)
    |  |- DTypeError (also TypeError)
    |  |- KindError (also TypeError)         an int tensor where a float is declared, ...
    |  |- DeviceError                        different devices of one backend
    |  `- SettingsError                      dtype settings changed too late or unsupported
    |- AutodiffError
    |  |- NotTrackedError                    backward from a tensor without a graph
    |  |- GraphConsumedError                 backward through a part already consumed
    |  |- NonLeafError                       require_grad on a derived tensor
    |  `- GradientError                      a rule returned a wrong name, shape or dtype
    |- FusionError
    |  |- MetadataMismatchError              the backend returned something else than declared
    |  |- ExecutionError                     queued work failed; `__cause__` is the reason
    |  `- OptimizerError
    |     `- DuplicateOptimizerError         the name is in use
    |- KernelError
    |  |- KernelSyntaxError                  a construct the language does not have; has a caret
    |  |- KernelTypeError
    |  |- KernelCompileError                 the target's own compiler refused the text
    |  |- KernelLaunchError                  wrong arguments or geometry
    |  |  `- TooManyResourcesError           has `resource`, `requested`, `maximum`
    |  |- KernelBoundsError                  interpreter: an index out of range
    |  |- KernelRaceError                    interpreter: two units, one place, no sync between
    |  |- DivergentBarrierError              interpreter: a sync not reached by all units
    |  `- TemplateError                      a placeholder without a value
    `- RemoteError
       |- RemoteConnectionError              no server, or it went away
       |- RemoteAuthorizationError           the token was refused
       |- RemoteProtocolError                other version, or declarations that differ
       |- RemoteDeviceError                  no such device index
       `- RemoteExecutionError               the server failed; carries the operation's name

A message says what was asked (operation by its public name), what was found, what would be
accepted and what to do. After any of them the next, independent call works.
"""

from __future__ import annotations

__all__ = [
    "AutodiffError",
    "AutodiffNotSupportedError",
    "BackendMismatchError",
    "BackendNotSupportedError",
    "BackendUnavailableError",
    "CheckpointingMismatchError",
    "DTypeError",
    "DefinitionError",
    "DeviceError",
    "DispatchError",
    "DivergentBarrierError",
    "DuplicateImplementationError",
    "DuplicateOptimizerError",
    "ExecutionError",
    "ExtensionTypeError",
    "FirebrickError",
    "FusionError",
    "FusionFormError",
    "GradientError",
    "GradientRuleError",
    "GraphConsumedError",
    "ImplementationError",
    "KernelBoundsError",
    "KernelCompileError",
    "KernelError",
    "KernelLaunchError",
    "KernelRaceError",
    "KernelSyntaxError",
    "KernelTypeError",
    "KindError",
    "MetadataMismatchError",
    "MissingImplementationError",
    "NoTensorInputError",
    "NonLeafError",
    "NotTrackedError",
    "OptimizerError",
    "RemoteAuthorizationError",
    "RemoteConnectionError",
    "RemoteDeviceError",
    "RemoteError",
    "RemoteExecutionError",
    "RemoteProtocolError",
    "SelectorError",
    "SettingsError",
    "ShapeError",
    "SignatureError",
    "TemplateError",
    "TensorError",
    "TooManyResourcesError",
]


class FirebrickError(Exception):
    """Base of everything that firebrick raises on purpose."""


class DefinitionError(FirebrickError, TypeError):
    """What a declaration says cannot be used; raised where it is declared."""


class SelectorError(DefinitionError):
    """An unknown selector, a string, a runtime's name or a bad condition."""


class SignatureError(DefinitionError):
    """An operation whose signature cannot be used."""


class FusionFormError(DefinitionError):
    """A missing, mixed or wrong `@fusion(...)`."""


class GradientRuleError(DefinitionError):
    """A `@gradient(...)` with an unknown name, operation or cost."""


class ExtensionTypeError(DefinitionError):
    """A struct of tensors that cannot be one."""


class ImplementationError(DefinitionError):
    """An implementation that does not fit its op set."""


class DuplicateImplementationError(ImplementationError):
    """A second implementation for the same backend."""


class DispatchError(FirebrickError):
    """No backend can execute a call."""


class NoTensorInputError(DispatchError):
    """No argument of a call holds a tensor."""


class BackendMismatchError(DispatchError):
    """Arguments of one call live on different backends."""


class BackendNotSupportedError(DispatchError):
    """The backend is not listed, or its condition is false."""


class AutodiffNotSupportedError(DispatchError):
    """A call on an autodiff device, and `Autodiff` is not listed."""


class MissingImplementationError(DispatchError):
    """The backend is listed, but nobody implemented it."""


class CheckpointingMismatchError(DispatchError):
    """Two checkpointing strategies in one call."""


class BackendUnavailableError(DispatchError):
    """A backend's packages or hardware are not here."""


class TensorError(FirebrickError):
    """Values that do not fit an operation."""


class ShapeError(TensorError, ValueError):
    """A shape that an operation cannot use."""


class DTypeError(TensorError, TypeError):
    """A dtype that an operation or a device cannot use."""


class KindError(TensorError, TypeError):
    """An int tensor where a float is declared, and the like."""


class DeviceError(TensorError):
    """Different devices of one backend in one call."""


class SettingsError(TensorError):
    """Default dtypes changed too late, or to something unsupported."""


class AutodiffError(FirebrickError):
    """Differentiation was asked for where it cannot be done."""


class NotTrackedError(AutodiffError):
    """A backward pass from a tensor without a graph."""


class GraphConsumedError(AutodiffError):
    """A backward pass through a part that is already consumed."""


class NonLeafError(AutodiffError):
    """`require_grad` on a derived tensor."""


class GradientError(AutodiffError):
    """A gradient rule returned a wrong name, shape or dtype."""


class FusionError(FirebrickError):
    """Something went wrong in lazy execution."""


class MetadataMismatchError(FusionError):
    """A backend returned something else than was declared."""


class ExecutionError(FusionError):
    """Queued work failed; `__cause__` is the reason."""


class OptimizerError(FusionError):
    """A fusion optimizer cannot be used."""


class DuplicateOptimizerError(OptimizerError):
    """The name of an optimizer is in use."""


class KernelError(FirebrickError):
    """A kernel cannot be compiled or launched."""


class KernelSyntaxError(KernelError):
    """A construct that the kernel language does not have."""


class KernelTypeError(KernelError):
    """Types in a kernel that do not fit."""


class KernelCompileError(KernelError):
    """The target's own compiler refused the generated text."""


class KernelLaunchError(KernelError):
    """Wrong arguments or geometry of a launch."""


class TooManyResourcesError(KernelLaunchError):
    """A launch asks for more than the device has, in the units that `resource` names."""

    def __init__(self, message: str, *, resource: str, requested: int, maximum: int) -> None:
        super().__init__(message)
        self.resource = resource
        self.requested = requested
        self.maximum = maximum


class KernelBoundsError(KernelError):
    """Interpreter: an index out of range."""


class KernelRaceError(KernelError):
    """Interpreter: two units touched one place without a sync between."""


class DivergentBarrierError(KernelError):
    """Interpreter: a sync that not all units reach."""


class TemplateError(KernelError):
    """A template placeholder without a value."""


class RemoteError(FirebrickError):
    """Something went wrong between a client and a server."""


class RemoteConnectionError(RemoteError):
    """There is no server, or it went away."""


class RemoteAuthorizationError(RemoteError):
    """The server refused the token."""


class RemoteProtocolError(RemoteError):
    """Another protocol version, or declarations that differ."""


class RemoteDeviceError(RemoteError):
    """The server has no device of that index."""


class RemoteExecutionError(RemoteError):
    """The server failed to execute an operation."""
