"""What goes wrong, each with its own type, derived from the built-in one that callers may already catch."""

from __future__ import annotations


class PhantomError(Exception):
    """Base of all errors that this package raises on purpose."""


class UnknownGame(PhantomError, LookupError):
    """No game of that name is registered."""


class InvalidPlayers(PhantomError, ValueError):
    """The game is not played by that many."""


class UnknownOption(PhantomError, TypeError):
    """The game has no option of that name."""


class InvalidOption(PhantomError, ValueError):
    """The option does not take that value."""


class InvalidBatch(PhantomError, ValueError):
    """A batch size, row, buffer or thread count that cannot be used."""


class InvalidRow(InvalidBatch, IndexError):
    """A row that the batch does not have."""


class InvalidSeat(PhantomError, ValueError):
    """A seat in which nobody sits."""


class UnknownAgent(PhantomError, KeyError):
    """No agent of that name plays."""

    __str__ = Exception.__str__  # a KeyError would show the message in quotes


class InvalidAction(PhantomError, TypeError):
    """An action of the wrong type or shape."""


class IllegalAction(PhantomError, ValueError):
    """An action that the rules do not allow now; the state is as it was."""


class NotReset(PhantomError, RuntimeError):
    """The environment was used before `reset`."""


class GameOver(PhantomError, RuntimeError):
    """A step into a game that is over."""
