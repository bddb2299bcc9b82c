"""What a target is: tables. The emitters of a family read them, nothing asks a target's name.

Values of the half types live in f32 registers that always hold a number of the half type; every
operation on them is done in f32 and rounded. `registers_of` says so once for all targets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.ir.types import F32, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.cube.ir.nodes import AtomicOp, MathName, TopologyName
    from firebrick.cube.runtime.base import Properties

HALVES: frozenset[str] = frozenset({"f16", "bf16"})
EXACT: frozenset[MathName] = frozenset({"abs", "floor", "ceil", "round", "trunc"})
"""Functions that give a number of a half type for one."""
BASE_POSITIONS: tuple[TopologyName, ...] = (
    "UNIT_POS_X", "UNIT_POS_Y", "UNIT_POS_Z", "CUBE_POS_X", "CUBE_POS_Y", "CUBE_POS_Z",
    "CUBE_COUNT_X", "CUBE_COUNT_Y", "CUBE_COUNT_Z", "PLANE_DIM", "PLANE_POS", "UNIT_POS_PLANE",
)  # fmt: skip
"""Positions that a target spells; `topology.py` makes all others of them."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target, as tables."""

    name: str
    """In messages."""
    types: Mapping[str, str]
    """How registers of a scalar type are declared; a type that is missing does not exist here."""
    stored: Mapping[str, str]
    """How elements in memory of a scalar type are declared."""
    positions: Mapping[TopologyName, str]
    """Base positions as unsigned 32 bit expressions; `{UNIT_POS}` and `{dim_x}` are filled in."""
    math: Mapping[MathName, Mapping[str, str]]
    """Functions by the type of register they work on, as something that is called."""
    spellings: Mapping[str, str]
    """What snippets mean by `@name`."""
    snippets: Mapping[str, str]
    """Texts of functions that generated code calls, by stem; see `snippets.py`."""
    barriers: Mapping[str, tuple[str, ...]]
    """Statements of a barrier by its scope; a scope that is missing does not exist here."""
    atomics: Mapping[AtomicOp, frozenset[str]]
    """Element types that an atomic operation works on."""
    plane_types: frozenset[str]
    """Types that planes exchange; none if there are no planes."""
    index_types: frozenset[str]
    properties: Properties
    """What compiling needs to know of the device; `types` is what `stored` lists."""
    prelude: str = ""
    """Text above everything else."""
    remedies: Mapping[str, str] | None = None
    """What a missing type needs, for messages."""


def registers_of(type: Type) -> Type:
    """The type of the registers that hold values of a type."""
    return F32 if type.scalar in HALVES else type
