"""What of Python's syntax kernels have; everything else is refused when a kernel is decorated."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firebrick.cube.frontend.source import Source

STATEMENTS = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Break, ast.Continue,
    ast.Return, ast.Expr, ast.Pass, ast.Match,
)  # fmt: skip
EXPRESSIONS = (
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant,
    ast.Attribute, ast.Subscript, ast.Name, ast.Tuple,
)  # fmt: skip

REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("`try`", "errors cannot be caught on a device; check with `if` instead"),
    ast.ListComp: ("a list comprehension", "write a `for` loop over `range(...)`"),
    ast.SetComp: ("a set comprehension", "write a `for` loop over `range(...)`"),
    ast.DictComp: ("a dict comprehension", "write a `for` loop over `range(...)`"),
    ast.GeneratorExp: ("a generator comprehension", "write a `for` loop over `range(...)`"),
    ast.Lambda: ("a `lambda`", "write a `@cube.func` function"),
    ast.Dict: ("a dict", "use `match` or tensors"),
    ast.Set: ("a set", "use `match` or tensors"),
    ast.List: ("a list", "use a tuple, or `cube.local(dtype, size)` for memory"),
    ast.Yield: ("`yield`", "a kernel is no generator; write results to a `Mut` tensor"),
    ast.YieldFrom: ("`yield from`", "a kernel is no generator"),
    ast.Await: ("`await`", "use `cube.sync_cube()` to wait for other units"),
    ast.FunctionDef: ("a nested `def`", "write a `@cube.func` function outside"),
    ast.AsyncFunctionDef: ("a nested `async def`", "write a `@cube.func` function outside"),
    ast.ClassDef: ("a `class`", "define it outside"),
    ast.With: ("`with`", "there is nothing to enter on a device"),
    ast.AsyncWith: ("`async with`", "there is nothing to enter on a device"),
    ast.AsyncFor: ("`async for`", "write a `for` loop"),
    ast.Raise: ("`raise`", "a device cannot raise; write a flag to a tensor"),
    ast.Assert: ("`assert`", "a device cannot raise; write a flag to a tensor"),
    ast.Delete: ("`del`", "names end with the kernel"),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Global: ("`global`", "globals are compile-time constants and cannot be set"),
    ast.Nonlocal: ("`nonlocal`", "closure values are compile-time constants and cannot be set"),
    ast.NamedExpr: ("`:=`", "assign on a line of its own"),
    ast.JoinedStr: ("an f-string", "text exists at compile time only"),
    ast.Starred: ("`*`", "name the values one by one"),
    ast.Slice: ("a slice", "index single elements in a loop"),
}


def check_syntax(source: Source, *, is_kernel: bool) -> None:
    """`KernelSyntaxError` with line and caret for the first construct outside the language."""
    tree = source.tree
    for statement in tree.body:
        _check(source, statement)
    arguments = tree.args
    for variadic in (arguments.vararg, arguments.kwarg):
        if variadic is not None:
            source.refuse(variadic, f"`{variadic.arg}` is variadic; name every parameter.")
    if not is_kernel:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            source.refuse(
                node, "a kernel cannot `return` a value; write it to a `cube.Mut` parameter."
            )


def _check(source: Source, node: ast.AST) -> None:
    refused = REFUSED.get(type(node))
    if refused is not None:
        what, instead = refused
        source.refuse(node, f"{what} is not part of the kernel language: {instead}.")
    if isinstance(node, ast.stmt) and not isinstance(node, STATEMENTS):
        source.refuse(node, f"kernels have no `{type(node).__name__.lower()}` statement.")
    if isinstance(node, ast.expr) and not isinstance(node, EXPRESSIONS):
        source.refuse(node, f"kernels have no `{type(node).__name__.lower()}` expression.")
    if isinstance(node, ast.For | ast.While) and node.orelse:
        source.refuse(node.orelse[0], "kernels have no `else` of a loop: use a flag variable.")
    if isinstance(node, ast.Call) and node.keywords and node.keywords[0].arg is None:
        source.refuse(node, "kernels have no `**`: name the arguments.")
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr_context | ast.operator | ast.unaryop | ast.cmpop):
            _check(source, child)


def assigned_names(tree: ast.FunctionDef) -> dict[str, tuple[int, bool]]:
    """How often each name is assigned, and whether any of it happens inside a branch or loop."""
    found: dict[str, tuple[int, bool]] = {}

    def note(target: ast.AST, inside: bool) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                count, before = found.get(node.id, (0, False))
                found[node.id] = (count + 1, before or inside)

    def visit(statements: list[ast.stmt], inside: bool) -> None:
        for statement in statements:
            for target in _targets(statement):
                note(target, inside or isinstance(statement, ast.For))
            for body in _bodies(statement):
                visit(body, True)

    visit(tree.body, False)
    return found


def _targets(statement: ast.stmt) -> list[ast.expr]:
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            return [target]
        case _:
            return []


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    match statement:
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.For(body=body) | ast.While(body=body):
            return [body]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
        case _:
            return []
