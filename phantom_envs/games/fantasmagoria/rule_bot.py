"""A rule of thumb player for Fantasmagória."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.bits import lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit


@jit
def rule_action(s: Record, words: Any) -> int:
    """The lowest legal action."""
    return lowest(words[0])
