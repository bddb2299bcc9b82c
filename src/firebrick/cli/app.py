"""The commands. Each prints to standard output; errors are one line on standard error.

Exit status: 0 when all is well, 1 when something was found, 2 when the command line is wrong,
130 when interrupted.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, NoReturn

import typer
from rich.console import Console

import firebrick
from firebrick.cli.devices import device_table
from firebrick.cli.targets import Target, TargetError, find_targets
from firebrick.core import Device
from firebrick.errors import FirebrickError, MissingImplementationError
from firebrick.testing import check as check_operations

INTERRUPTED = 130
"""What a shell reports for a process that ended by Ctrl-C."""

app = typer.Typer(
    name="firebrick",
    help="Tensor operations on every backend.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="MODULE[:NAME]...",
        help="A module whose operations are meant, or one op set or operation of it.",
        show_default=False,
    ),
]


def main() -> None:
    """Runs the command line of this process, and exits."""
    try:
        app()
    except SystemExit as done:
        if done.code == INTERRUPTED:
            print("firebrick: interrupted", file=sys.stderr)
        raise


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"firebrick {firebrick.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Tensor operations on every backend."""


@app.command()
def devices() -> None:
    """List the devices of every backend, and what those that are missing need."""
    Console().print(device_table())


@app.command()
def check(
    targets: Targets,
    device: Annotated[
        list[str] | None,
        typer.Option(help="Only on this device, such as `flex`; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the generated cases.")] = 0,
) -> None:
    """Exercise operations on every backend of this machine; exit 1 on any finding.

    A module may give arguments that cannot be made up from a signature as `CASES`: a dict from
    the name of an operation to a list of argument tuples, or to a function returning one.
    """
    ok = True
    found = _targets(targets)
    try:
        chosen = [Device(text) for text in device] if device else None
        for target in found:
            outcome = check_operations(
                target.subject, devices=chosen, cases=target.cases(), seed=seed
            )
            print(f"{target.name}\n{outcome}\n")
            ok = ok and outcome.ok
    except (FirebrickError, TargetError) as error:
        _fail(error)
    raise typer.Exit(0 if ok else 1)


@app.command()
def report(
    targets: Targets,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 when an implementation is missing.")
    ] = False,
) -> None:
    """Show which implementation each operation has on each selector it lists."""
    for target in _targets(targets):
        try:
            target.op_set.report(strict=strict)
        except MissingImplementationError as error:
            print(f"firebrick: {error}", file=sys.stderr)
            raise typer.Exit(1) from error


def _targets(texts: list[str]) -> list[Target]:
    """What the arguments name; exits with 2 when one of them names nothing."""
    try:
        return [target for text in texts for target in find_targets(text)]
    except TargetError as error:
        _fail(error)


def _fail(error: Exception) -> NoReturn:
    """One line for a wrong command line; the user's own frames where their module failed."""
    if error.__cause__ is not None:
        traceback.print_exception(error.__cause__)
    print(f"firebrick: {error}", file=sys.stderr)
    raise typer.Exit(2) from error
