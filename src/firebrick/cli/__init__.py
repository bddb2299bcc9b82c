"""The `firebrick` command: which devices are here, and whether operations are right.

`app.py` has the commands, `targets.py` finds what `package.module:Name` names, `devices.py`
makes the table of devices.
"""

from __future__ import annotations

from firebrick.cli.app import main

__all__ = ["main"]
