"""What a family of rules is: a mixin of the class that implements an op set on `Autodiff`.

A rule computes with `self.inner.backend` and nothing else: that is the decorated backend or, where
the backward pass is itself recorded, a tracked one. So it never looks into a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from firebrick.opset import OpSet, P

if TYPE_CHECKING:
    Rules = OpSet  # where `inner` comes from in the end
else:

    class Rules(Generic[P]):
        """No op set by itself, so that rules are not taken for declarations."""
