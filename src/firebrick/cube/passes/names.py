"""New names in a function: variables and labels that nothing else has."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import Leave, Region, Variable, walk
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.passes.effects import left_labels

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Statement
    from firebrick.cube.ir.types import Type


class Names:
    """The names of a function, and the variables that a pass adds."""

    def __init__(self, function: Function) -> None:
        declared = (
            *function.buffers,
            *function.scalars,
            *function.shared,
            *function.locals,
            *function.variables,
        )
        labels = (s.label for s in walk(function.body) if isinstance(s, Region))
        self._taken = {function.name, *(item.name for item in declared), *labels}
        self.variables: list[Variable] = []

    def fresh(self, stem: str) -> str:
        """A new name; `stem` itself if it is free."""
        numbered = (stem if number == 1 else f"{stem}_{number}" for number in count(1))
        name = next(name for name in numbered if name not in self._taken)
        self._taken.add(name)
        return name

    def variable(self, stem: str, type: Type) -> Variable:
        """A new variable."""
        variable = Variable(self.fresh(stem), type)
        self.variables.append(variable)
        return variable

    def declare(self, function: Function, body: Body) -> Function:
        """The function with another body and the new variables."""
        return replace(function, body=body, variables=(*function.variables, *self.variables))

    def relabeled(self, body: Body) -> Body:
        """A copy of a body whose regions have new labels."""
        labels = [s.label for s in walk(body) if isinstance(s, Region)]
        new = {label: self.fresh(label) for label in labels if label not in left_labels(body)}
        return rename_labels(body, new)


def rename_labels(body: Body, new: dict[str, str]) -> Body:
    """A body with other labels."""

    def expand(statement: Statement) -> Body:
        if isinstance(statement, Region | Leave) and statement.label in new:
            return (replace(statement, label=new[statement.label]),)
        return (statement,)

    return rewrite_body(body, expand=expand) if new else body
