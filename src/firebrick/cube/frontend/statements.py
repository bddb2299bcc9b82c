"""Lowering statements: assignments, branches, loops, ends."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from firebrick.cube.frontend import numbers
from firebrick.cube.frontend.builder import Builder, RestartError, VariableType
from firebrick.cube.frontend.expressions import BINARY, Expressions
from firebrick.cube.frontend.scope import Loop, Scope
from firebrick.cube.frontend.values import (
    Comptime,
    Dynamic,
    MemoryValue,
    ShapeValue,
    TupleValue,
    Value,
    describe_value,
    is_number,
)
from firebrick.cube.ir.nodes import (
    Assign,
    Body,
    Break,
    Buffer,
    Constant,
    Continue,
    Expression,
    For,
    If,
    Leave,
    Load,
    Logical,
    Read,
    Region,
    Return,
    Store,
    Unary,
    Variable,
    While,
    walk,
)
from firebrick.cube.ir.types import BOOL
from firebrick.cube.lang.control import unroll
from firebrick.errors import KernelSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_UNROLLED = 4096
"""Trips of one unrolled loop; more would be code that no compiler likes."""


class Statements:
    """Turns the statements of one function into IR."""

    def __init__(self, builder: Builder, scope: Scope, expressions: Expressions) -> None:
        self.builder = builder
        self.scope = scope
        self.expressions = expressions

    def lower(self, statements: Sequence[ast.stmt]) -> bool:
        """Lowers a body; False when what follows it cannot be reached."""
        for statement in statements:
            self.builder.location = self.scope.location(statement)
            if not self._statement(statement):
                return False
        return True

    def _statement(self, node: ast.stmt) -> bool:
        """Lowers one statement; False when what follows it cannot be reached."""
        match node:
            case ast.If(test, body, orelse):
                return self._if(self.expressions.condition(test), body, orelse)
            case ast.Match():
                return self._match(node)
            case ast.Break() | ast.Continue():
                self._jump(node)
                return False
            case ast.Return(value):
                self._return(value)
                return False
            case ast.Expr(value):
                self._expression(value)
                return not _ends(self.builder)
            case ast.For():
                self._for(node)
            case ast.While(test, body):
                self._while(test, body)
            case _:
                self._assignment(node)
        return True

    def _assignment(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets, value):
                lowered = self.expressions.lower(value)
                for target in targets:
                    self._assign(target, lowered)
            case ast.AnnAssign(target, _, value):
                if value is not None:
                    self._assign(target, self.expressions.lower(value))
            case ast.AugAssign(target, op, value):
                self._update(target, BINARY.get(type(op)), value)
            case _:  # `pass`: the syntax check lets nothing else through
                return

    def _expression(self, value: ast.expr) -> None:
        """A call for its effect, or a docstring."""
        if isinstance(value, ast.Constant):
            return
        self.expressions.lower(value)

    # ---- assignments --------------------------------------------------------------------------

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self.bind(name, value, target)
            case ast.Tuple(elts):
                items = self.items(value, target)
                if len(items) != len(elts):
                    self.scope.refuse(target, f"{len(items)} values are set to {len(elts)} names.")
                if len(elts) > 1:  # `a, b = b, a` reads everything before it sets anything
                    items = [self._settled(item) for item in items]
                for element, item in zip(elts, items, strict=True):
                    self._assign(element, item)
            case ast.Subscript(container, index):
                memory, position = self._element(container, index)
                self._store(memory, position, value, target)
            case _:
                self.scope.refuse(target, "only names and elements can be set.")

    def items(self, value: Value, node: ast.AST) -> list[Value]:
        """The items of a tuple, a shape, or a host sequence."""
        match value:
            case TupleValue(items):
                return list(items)
            case ShapeValue(buffer):
                dims = range(buffer.rank)
                return [self.expressions.extent(buffer, "shape", Comptime(d), node) for d in dims]
            case Comptime(known) if isinstance(known, tuple | list | range):
                sequence = cast("Iterable[Any]", known)  # of whatever the user put there
                return [Comptime(item) for item in sequence]
            case _:
                return self.scope.refuse(node, f"{describe_value(value)} cannot be taken apart.")

    def _settled(self, value: Value) -> Value:
        if not isinstance(value, Dynamic) or isinstance(value.expression, Constant):
            return value
        read = self.builder.temporary(value.expression)
        return numbers.settled(read, weak=value.is_weak)

    def bind(self, name: str, value: Value, node: ast.AST) -> None:
        """Gives a name a value: a binding while compiling, or a variable of the unit."""
        if not is_number(value):
            if self.scope.is_variable(name):
                self.scope.refuse(
                    node,
                    f"`{name}` is set more than once, so it must be a number; got "
                    f"{describe_value(value)}.",
                )
            self.scope.names[name] = value
            return
        if isinstance(value, Comptime) and not self.scope.is_variable(name):
            self.scope.names[name] = value
            return
        variable = self._variable(name, value, node)
        what = f"`{name}`"
        self.builder.emit(
            Assign(variable, self.expressions.coerce(value, variable.type, node, what))
        )

    def _variable(self, name: str, value: Value, node: ast.AST) -> Variable:
        """The variable behind a name; a stronger type than known starts the lowering anew."""
        key = f"{self.scope.key}/{name}"
        weak = numbers.is_weak(value)
        type = self.expressions.alone(value, node).type
        if type == BOOL:
            weak = False
        known = self.builder.variable_types.get(key)
        if known is None:
            known = self.builder.variable_types[key] = VariableType(type, weak)
        elif known.weak and type != known.type and (not weak or type.is_float):
            if known.type.is_float and type.is_integer:
                return self._declared(key, name, known)
            self.builder.variable_types[key] = VariableType(type, weak)
            raise RestartError
        elif known.weak and not weak:
            self.builder.variable_types[key] = VariableType(type, weak=False)
            raise RestartError
        return self._declared(key, name, known)

    def _declared(self, key: str, name: str, known: VariableType) -> Variable:
        variable = self.builder.variable(key, name, known.type)
        self.scope.names[name] = numbers.settled(Read(variable), weak=known.weak)
        return variable

    def _element(self, container: ast.expr, index: ast.expr) -> tuple[Any, Expression]:
        found, position = self.expressions.in_order([container, index])
        if not isinstance(found, MemoryValue):
            self.scope.refuse(
                container, f"{describe_value(found)} has no elements that can be set."
            )
        if isinstance(found.memory, Buffer) and not found.memory.mutable:
            name = found.memory.name
            self.scope.refuse(
                container,
                f"`{name}` is read only; annotate it `{name}: cube.Mut[cube.Tensor[...]]` to "
                "write.",
            )
        return found.memory, self.expressions.index(position, index)

    def _store(self, memory: Any, position: Expression, value: Value, node: ast.AST) -> None:
        what = f"an element of `{memory.name}`"
        self.builder.emit(
            Store(memory, position, self.expressions.coerce(value, memory.type, node, what))
        )

    def _update(self, target: ast.expr, op: str | None, value: ast.expr) -> None:
        """`target op= value`; the target's index is evaluated once."""
        if isinstance(target, ast.Name):
            old = self.expressions.lower(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            mark = len(self.builder.body)
            new = self.expressions.lower(value)
            if len(self.builder.body) > mark and isinstance(old, Dynamic):
                old = replace(old, expression=self.builder.spill(mark, old.expression))
            self.bind(target.id, self.expressions.binary(op, old, new, target), target)
            return
        if not isinstance(target, ast.Subscript):
            self.scope.refuse(target, "only names and elements can be updated.")
        memory, position = self._element(target.value, target.slice)
        if not isinstance(position, Constant | Read):
            position = self.builder.temporary(position, "index")
        new = self.expressions.lower(value)
        old = Dynamic(Load(memory, position))
        self._store(memory, position, self.expressions.binary(op, old, new, target), target)

    # ---- branches -----------------------------------------------------------------------------

    def _body(self, statements: Sequence[ast.stmt]) -> tuple[Body, bool]:
        with self.builder.nested() as body:
            goes_on = self.lower(statements)
        return tuple(body), goes_on

    def _if(
        self, test: Expression | bool, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
    ) -> bool:
        if isinstance(test, bool):
            return self.lower(body if test else orelse)
        place = self.builder.location
        then, then_goes_on = self._body(body)
        otherwise, otherwise_goes_on = self._body(orelse)
        self.builder.emit(If(test, then, otherwise, place))
        return then_goes_on or otherwise_goes_on

    def _match(self, node: ast.Match) -> bool:
        subject = self.expressions.lower(node.subject)
        if isinstance(subject, Dynamic) and not isinstance(subject.expression, Read):
            read = self.builder.temporary(subject.expression, "subject")
            subject = numbers.settled(read, weak=subject.is_weak)
        return self._cases(subject, node.cases)

    def _cases(self, subject: Value, cases: Sequence[ast.match_case]) -> bool:
        if not cases:
            return True
        case, *rest = cases
        test = self._pattern(subject, case.pattern)
        if case.guard is not None:
            self.scope.refuse(case.guard, "a `case` has no guard; write an `if` inside.")
        if isinstance(test, bool):
            return self.lower(case.body) if test else self._cases(subject, rest)
        place = self.builder.location
        then, then_goes_on = self._body(case.body)
        with self.builder.nested() as otherwise:
            otherwise_goes_on = self._cases(subject, rest)
        self.builder.emit(If(test, then, tuple(otherwise), place))
        return then_goes_on or otherwise_goes_on

    def _pattern(self, subject: Value, pattern: ast.pattern) -> Expression | bool:
        match pattern:
            case ast.MatchAs(None, None):
                return True
            case ast.MatchOr(patterns):
                tests = [self._pattern(subject, one) for one in patterns]
                return _any(tests)
            case ast.MatchValue(value):
                known = self.expressions.lower(value)
            case ast.MatchSingleton(value):
                known = Comptime(value)
            case _:
                self.scope.refuse(
                    pattern, "a `case` is a literal, a constant, `|` of those, or `_`.",
                    KernelSyntaxError,
                )  # fmt: skip
        if isinstance(subject, Comptime) and isinstance(known, Comptime):
            return bool(subject.value == known.value)
        equal = self.expressions.binary("eq", subject, known, pattern)
        return self.expressions.truth(equal, pattern)

    # ---- loops --------------------------------------------------------------------------------

    def _for(self, node: ast.For) -> None:
        values, unrolled = self._iterated(node.iter)
        if isinstance(values, list):
            self._unrolled(node, values)
        elif unrolled:
            self.scope.refuse(node.iter, "`unroll` takes bounds that are known when compiling.")
        else:
            self._counted(node, values)

    def _iterated(self, node: ast.expr) -> tuple[list[Value] | tuple[Value, Value, Value], bool]:
        """What a loop goes through: known values, or start, stop and step."""
        if isinstance(node, ast.Call):
            callee = self.expressions.lower(node.func)
            if callee == Comptime(unroll):
                if len(node.args) != 1:
                    self.scope.refuse(node, "`unroll` takes one iterable.")
                inner, _ = self._iterated(node.args[0])
                return (self._known(inner) or inner), True
            if callee == Comptime(range):
                return self._range(node), False
        return self.items(self.expressions.lower(node), node), False

    def _range(self, node: ast.Call) -> tuple[Value, Value, Value]:
        bounds = self.expressions.in_order(node.args)
        if not 1 <= len(bounds) <= 3 or node.keywords:
            self.scope.refuse(node, "`range` takes one to three integers.")
        start, stop = (Comptime(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2] if len(bounds) == 3 else Comptime(1)
        if not isinstance(step, Comptime) or not isinstance(step.value, int) or step.value == 0:
            self.scope.refuse(
                node, "the step of `range` is an integer other than 0, known when compiling."
            )
        return start, stop, step

    def _known(self, values: list[Value] | tuple[Value, Value, Value]) -> list[Value] | None:
        """The trips of a range whose bounds are known."""
        if isinstance(values, list):
            return values
        bounds = [value.value for value in values if isinstance(value, Comptime)]
        if len(bounds) < 3 or not all(isinstance(bound, int) for bound in bounds):
            return None
        return [Comptime(i) for i in range(*bounds)]

    def _unrolled(self, node: ast.For, values: list[Value]) -> None:
        if len(values) > MAX_UNROLLED:
            self.scope.refuse(
                node.iter, f"{len(values)} trips are unrolled; at most {MAX_UNROLLED} may be."
            )
        around = Loop(self.builder.fresh("unrolled"), None)
        with self.builder.nested() as whole:
            for value in values:
                around.next = self.builder.fresh("trip")
                with self.builder.nested() as trip:
                    self._assign(node.target, value)
                    self.scope.loops.append(around)
                    self.lower(node.body)
                    self.scope.loops.pop()
                self._add_region(around.next, tuple(trip))
        self._add_region(around.leave or "", tuple(whole))

    def _add_region(self, label: str, body: Body) -> None:
        """A region where something leaves it, else its statements."""
        if _leaves(body, label):
            self.builder.emit(Region(label, body))
        else:
            self.builder.body.extend(body)

    def _counted(self, node: ast.For, bounds: tuple[Value, Value, Value]) -> None:
        if not isinstance(node.target, ast.Name):
            self.scope.refuse(node.target, "a loop over `range` sets one name.")
        type = self.builder.index_type
        what = "`range`"
        start, stop, step = (self.expressions.coerce(b, type, node.iter, what) for b in bounds)
        place = self.builder.location
        counter = self._variable(node.target.id, numbers.weak_int(start), node.target)
        if counter.type != type:
            self.scope.refuse(
                node.target,
                f"`{node.target.id}` counts a loop and is set to a {counter.type} elsewhere; use "
                "another name there.",
            )
        assert isinstance(step, Constant)
        with self.builder.nested() as body:
            self.scope.loops.append(Loop())
            self.lower(node.body)
            self.scope.loops.pop()
        self.builder.emit(For(counter, start, stop, step, tuple(body), place))

    def _while(self, test: ast.expr, statements: Sequence[ast.stmt]) -> None:
        place = self.builder.location
        with self.builder.nested() as before:
            condition = self.expressions.condition(test)
        if condition is False:
            return
        with self.builder.nested() as body:
            if before and not isinstance(condition, bool):
                body.extend(before)
                leave = If(Unary("not", condition), (Break(place),), (), place)
                body.append(leave)
            self.scope.loops.append(Loop())
            self.lower(statements)
            self.scope.loops.pop()
        runs = Constant(BOOL, True) if before or condition is True else condition
        assert not isinstance(runs, bool)
        self.builder.emit(While(runs, tuple(body), place))

    def _jump(self, node: ast.Break | ast.Continue) -> None:
        if not self.scope.loops:
            self.scope.refuse(
                node, "`break` and `continue` stand inside a loop.", KernelSyntaxError
            )
        loop = self.scope.loops[-1]
        if loop.leave is None:
            self.builder.emit(Break() if isinstance(node, ast.Break) else Continue())
        else:
            label = loop.leave if isinstance(node, ast.Break) else loop.next
            self.builder.emit(Leave(label or ""))

    # ---- ends ---------------------------------------------------------------------------------

    def _return(self, value: ast.expr | None) -> None:
        returns = self.scope.returns
        if returns is None:
            self.builder.emit(Return())
            return
        result = Comptime(None) if value is None else self.expressions.lower(value)
        self.finish(result, value or self.scope.source.tree)
        if returns.used:
            self.builder.emit(Leave(returns.label))

    def finish(self, result: Value, node: ast.AST) -> None:
        """Hands the result of an inlined function out."""
        returns = self.scope.returns
        assert returns is not None
        if not returns.used:
            returns.value = result
            return
        items = result.items if isinstance(result, TupleValue) else (result,)
        if result == Comptime(None):
            returns.value = result
            return
        shaped: list[Value] = []
        for position, item in enumerate(items):
            name = f"{returns.key}/result{position}"
            self.bind_result(name, item, node)
            shaped.append(self.scope.names[name])
        returns.value = TupleValue(tuple(shaped)) if isinstance(result, TupleValue) else shaped[0]

    def bind_result(self, name: str, value: Value, node: ast.AST) -> None:
        """Sets a result that several `return`s set."""
        if not is_number(value):
            self.scope.refuse(
                node,
                f"several `return`s give numbers only; got {describe_value(value)}.",
            )
        variable = self._variable(name, value, node)
        what = "the result"
        self.builder.emit(
            Assign(variable, self.expressions.coerce(value, variable.type, node, what))
        )


def _any(tests: Sequence[Expression | bool]) -> Expression | bool:
    result: Expression | bool = False
    for test in tests:
        if isinstance(test, bool):
            if test:
                return True
        else:
            result = test if isinstance(result, bool) else Logical("or", result, test)
    return result


def _leaves(body: Body, label: str) -> bool:
    return any(isinstance(s, Leave) and s.label == label for s in walk(body))


def _ends(builder: Builder) -> bool:
    return bool(builder.body) and isinstance(builder.body[-1], Return)
