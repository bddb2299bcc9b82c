"""The type variable of every declaration, and the marks that say what a parameter is.

A type checker sees `P` in place of every mark; the signature plan reads the mark from the
annotation, through aliases, `Optional` and strings. `Float[P, "batch m k"]` carries dimensions
in jaxtyping's syntax: names, literals, `...`, `*batch`, `#m` (broadcastable), `m+n`, `2*k`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from firebrick.errors import SignatureError

if TYPE_CHECKING:
    from firebrick.core import DispatchTensor, Kind

__all__ = [
    "Bool",
    "BoolTensor",
    "Float",
    "FloatTensor",
    "Int",
    "IntTensor",
    "P",
    "Primitive",
    "QuantizedTensor",
    "TensorMark",
]


class Primitive(Protocol):
    """What a backend's tensor type shows of itself."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes, outermost first."""
        ...

    @property
    def dtype(self) -> Any:
        """The element type, as the backend's library names it."""
        ...


@dataclass(frozen=True, slots=True)
class TensorMark:
    """What `FloatTensor[P]` leaves in the annotation: the kind, and dimensions if given."""

    kind: Kind
    dims: str | None = None


if TYPE_CHECKING:
    from typing import Annotated as Bool
    from typing import Annotated as Float
    from typing import Annotated as Int
    from typing import TypeAlias

    from typing_extensions import TypeVar

    P = TypeVar("P", bound=Primitive, default=DispatchTensor)
    FloatTensor: TypeAlias = Annotated[P, "float"]
    IntTensor: TypeAlias = Annotated[P, "int"]
    BoolTensor: TypeAlias = Annotated[P, "bool"]
    QuantizedTensor: TypeAlias = Annotated[P, "quantized"]
else:
    from typing import TypeVar

    # Without the default: with it, `Generic[P, T]` fails before our own checks can speak.
    P = TypeVar("P", bound=Primitive)
    FloatTensor = Annotated[P, TensorMark("float")]
    IntTensor = Annotated[P, TensorMark("int")]
    BoolTensor = Annotated[P, TensorMark("bool")]
    QuantizedTensor = Annotated[P, TensorMark("quantized")]

    class _WithDims:
        """`Float[P, "m k"]`: an annotation of the tensor type with kind and dimensions."""

        kind: Kind

        def __class_getitem__(cls, arguments: object) -> object:
            """The mark, as `FloatTensor[P]` leaves it, with dimensions."""
            if not (isinstance(arguments, tuple) and len(arguments) == 2):
                raise SignatureError(
                    f"`{cls.__name__}` takes the tensor type and dimensions, such as "
                    f'`{cls.__name__}[P, "m k"]`; got {arguments!r}.'
                )
            tensor, dims = arguments
            if not isinstance(dims, str):
                raise SignatureError(
                    f"the dimensions of `{cls.__name__}` are a string; got {dims!r}."
                )
            return Annotated[tensor, TensorMark(cls.kind, dims)]

    class Float(_WithDims):
        """A float tensor with dimensions: `Float[P, "batch m k"]`."""

        kind = "float"

    class Int(_WithDims):
        """An int tensor with dimensions: `Int[P, "n"]`."""

        kind = "int"

    class Bool(_WithDims):
        """A bool tensor with dimensions: `Bool[P, "#m n"]`."""

        kind = "bool"
