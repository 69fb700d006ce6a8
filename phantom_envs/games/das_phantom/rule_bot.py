"""A rule of thumb player for Das Phantom: for now the first legal action."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.bits import EMPTY, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit


@jit
def rule_action(s: Record, words: Any) -> int:
    """The legal action of the lowest index."""
    for word in range(len(words)):
        if words[word] != EMPTY:
            return 64 * word + lowest(words[word])
    return -1
