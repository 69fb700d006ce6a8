"""A training script as a command: what goes wrong is a line on standard error and an exit status, no traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import tyro

from phantom_envs.console import color_help
from phantom_envs.core.errors import PhantomError
from phantom_envs.core.terminal import lead_nowhere, open_streams, printable

FAILED, INTERRUPTED = 2, 130
"""Exit statuses; the latter as a shell has it."""

Config = TypeVar("Config")


def command(name: str, config: type[Config], train: Callable[[Config], object], description: str | None) -> int:
    """Train with the settings of the command line and return the exit status.

    Args:
        name: Module, as for `python -m`.
        config: Dataclass of the settings, from which the flags are made.
        train: Does the work.
        description: For `--help`.
    """
    open_streams()
    color_help()
    try:
        train(tyro.cli(config, prog=f"python -m {name}", description=description))
        sys.stdout.flush()
    except BrokenPipeError:
        lead_nowhere(sys.stdout)  # whoever read has left; the work is done all the same
    except PhantomError as error:
        return _fail(name, str(error))
    except OSError as error:
        return _fail(name, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        return _fail(name, f"out of memory ({error}); fewer games at a time, shorter rollouts or a smaller network")
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    return 0


def _fail(name: str, reason: str) -> int:
    print(f"{name}:", "\n".join(map(printable, reason.splitlines())), file=sys.stderr)
    return FAILED
