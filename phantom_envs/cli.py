"""The command line: `phantom-envs games | describe | arena | record | replay | cache`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import tyro
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from phantom_envs.console import Page, color_help, console
from phantom_envs.core.compile_cache import VARIABLE, cache_folder, cached_files, remove_files
from phantom_envs.core.cpus import usable_cpus
from phantom_envs.core.errors import InvalidOption, PhantomError
from phantom_envs.core.rng import as_seed
from phantom_envs.core.terminal import is_terminal, lead_nowhere, open_streams, printable, takes_color
from phantom_envs.describe import markdown as page_of
from phantom_envs.registry import game_ids, get_game
from phantom_envs.tables import NumberTable

FAILED, INTERRUPTED, UNREAD = 2, 130, 141
"""Exit statuses; the latter two, for Ctrl-C and an output that nobody reads any longer, as a shell has them."""


def games() -> None:
    """List all games."""
    known = [get_game(name) for name in game_ids()]
    rows = [(game.id, game.title, ", ".join(map(str, game.players)), game.summary) for game in known]
    console().print(NumberTable(("game", "title", "players", "summary"), rows, words=(1, 3)))


def describe(
    game: tyro.conf.Positional[str], /, players: int | None = None, markdown: bool = False, page: str | None = None
) -> None:
    """Say what there is to know about a game: players, options, actions, observation, rewards, limits.

    Args:
        game: Id of the game, as `phantom-envs games` lists it.
        players: Player count that the observation and the rewards are described for; by default the game's default.
        markdown: Print Markdown as it stands.
        page: Print this further page of the game instead (a board, say); `--board` is short for `--page board`.
    """
    about = get_game(game)
    if page is not None:
        if page not in about.extras:
            pages = ", ".join(about.extras) or "none"
            raise InvalidOption(f"{game} has no page {page!r}; its further pages: {pages}")
        print(about.extras[page]())
        return
    text = page_of(about, players)
    if markdown:
        print(text, end="")
    else:
        console().print(Page(text))


def arena(
    game: str,
    agents: tuple[str, ...],
    players: int | None = None,
    deals: int = 1000,
    seed: int = 0,
    options: str = "{}",
    out: Path | None = None,
    workers: int | None = None,
) -> None:
    """Let agents play the same deals in every seat rotation, and show how they did.

    As many agents as seats sit in the order given; with fewer, the last one fills the seats left; with more, every
    choice of them meets.

    Args:
        game: Id of the game.
        agents: Specs: random, rule, pimc:worlds=100, ismcts:milliseconds=10, neural:run/agent.safetensors,
            module:Class(value), cmd:./my_bot.
        players: Seats; by default the game's default.
        deals: Number of deals; each is played in every rotation.
        seed: Fixes deals and the agents' randomness.
        options: The game's options as JSON, as in '{"reward": "score"}'.
        out: Write the results to this .json or .csv file, too.
        workers: Processes; by default one for each processor that this one may use.
    """
    from phantom_envs.arena import report
    from phantom_envs.arena.match import MatchBroken, MatchInterrupted, Results, Setting, play_match
    from phantom_envs.arena.summary import FEW_RESAMPLES, RESAMPLES, summarize
    from phantom_envs.arena.workers import one_interrupt

    def show(setting: Setting, results: Results, resamples: int) -> None:
        summaries = summarize(setting, results, resamples)
        try:  # whether who reads them has left or the disk is full: one of the two goes on
            if out is not None:
                report.write(out, setting, results, summaries)
        finally:
            console().print(report.table(setting, results, summaries))

    if out is not None:
        report.check_name(out)
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    shown_on = console(stderr=True)
    with one_interrupt():
        try:
            bar = Progress(*columns, console=shown_on, transient=True)
            with bar if shown_on.is_terminal else nullcontext():  # one that is disabled may still end its line
                task = bar.add_task("games", total=None, visible=False)  # until there is something to tell
                setting, results = play_match(
                    game,
                    agents,
                    players,
                    _options(options),
                    deals,
                    _seed(seed),
                    usable_cpus() if workers is None else workers,
                    lambda over, total: bar.update(task, completed=over, total=total, visible=True),
                    own_process=True,
                )
        except (MatchInterrupted, MatchBroken) as broken_off:
            if broken_off.results is None:
                print("phantom-envs: broken off before any deal was finished", file=sys.stderr)
            else:
                show(broken_off.setting, broken_off.results, FEW_RESAMPLES)
            raise
        show(setting, results, RESAMPLES)


def record(
    game: str,
    out: Path,
    players: int | None = None,
    seed: int = 0,
    agents: tuple[str, ...] = ("random",),
    games: int = 1,
    options: str = "{}",
) -> None:
    """Play games and write their records as JSON Lines.

    Args:
        game: Id of the game.
        out: File to write.
        players: Seats; by default the game's default.
        seed: Seed of the first game; each further game has the next number.
        agents: Specs, as for `arena`, at most one a seat; the last one fills the seats left.
        games: Number of games.
        options: The game's options as JSON, as in '{"reward": "score"}'.
    """
    from phantom_envs.arena.record import write_games

    lines = write_games(out, get_game(game), agents, players, _options(options), _seed(seed), games)
    print(f"{games} games, {lines} lines written to {out}")


def replay(file: tyro.conf.Positional[Path], /, show: bool = False, seat: int | None = None) -> None:
    """Check a record against the engine, line by line.

    Args:
        file: The record.
        show: Show every position; in a terminal Enter goes on and q ends, as does the end of input.
        seat: Show it as this seat sees it; by default with all that is hidden.
    """
    from phantom_envs.arena.record import read_lines
    from phantom_envs.arena.record import replay as check

    color = takes_color(sys.stdout)
    pausing = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    count = steps = 0
    for step in check(read_lines(file)):
        count += step.first
        steps += not step.first
        if not show:
            continue
        print(step.picture(seat, color), end="\n\n")
        if pausing and _has_seen_enough():
            return
    print(f"{file}: {count} games, {steps} decisions, all as the engine has them")


def _has_seen_enough() -> bool:
    """Wait for a line of input; its end counts as q."""
    try:
        return input().strip().lower() == "q"
    except EOFError:
        print()
        return True


def cache(clear: bool = False) -> None:
    """Say where compiled code is kept, and how much of it there is.

    Args:
        clear: Remove it; games compile anew when they are next used.
    """
    folder = cache_folder()
    if folder is None:
        print(f"compiled code is not kept: there is no home directory; set {VARIABLE} to a folder")
        return
    if clear:
        print(f"{remove_files(folder)} files removed from {folder}")
        return
    sizes = [path.stat().st_size for path in cached_files(folder)]
    print(f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB, in {folder}")


COMMANDS: dict[str, Callable[..., None]] = {
    "games": games,
    "describe": describe,
    "arena": arena,
    "record": record,
    "replay": replay,
    "cache": cache,
}


def _options(text: str) -> dict[str, Any]:
    try:
        options = json.loads(text)
    except ValueError as error:
        raise InvalidOption(f"--options {text}: no JSON ({error})") from error
    if not isinstance(options, dict):
        raise InvalidOption(f"""--options {text}: give a JSON object, as in '{{"reward": "score"}}'""")
    return options


def _seed(seed: int) -> int:
    try:
        return as_seed(seed)
    except ValueError as error:
        raise InvalidOption(f"--seed {seed}: {error}") from error


def _pages_by_name(args: Sequence[str]) -> list[str]:
    """`describe … --board` written out as `describe … --page board`, for the pages that games have."""
    if not args or args[0] != "describe":
        return list(args)
    pages = {f"--{page}": page for name in game_ids() for page in get_game(name).extras}
    return [part for arg in args for part in (("--page", pages[arg]) if arg in pages else (arg,))]


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    The working directory can be imported from, so that specs may name classes that lie there. It comes last: no file
    there can take the place of a module that the program itself needs.
    """
    open_streams()
    _import_from_here()
    try:
        try:
            return _run(sys.argv[1:] if args is None else args)
        finally:
            sys.stdout.flush()  # what is wrong with the output shows here, not when Python has ended
    except BrokenPipeError:
        lead_nowhere(sys.stdout)
        lead_nowhere(sys.stderr)
        return UNREAD
    except OSError as error:
        lead_nowhere(sys.stdout)
        return _fail(error)


def _run(args: Sequence[str]) -> int:
    color_help()
    try:
        tyro.extras.subcommand_cli_from_dict(
            COMMANDS,
            prog="phantom-envs",
            description="Games of hidden information: looked up, played by agents, recorded and checked.",
            args=_pages_by_name(args),
        )
    except BrokenPipeError:
        raise
    except (PhantomError, OSError) as error:
        return _fail(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _fail(error: Exception) -> int:
    lines = [printable(line) for line in str(error).splitlines()]
    if _here() is None:
        lines.append("the working directory has been deleted; change to one that is there")
    print("phantom-envs:", "\n".join(lines), file=sys.stderr)
    return FAILED


def _import_from_here() -> None:
    here = _here()
    if here is not None and not {"", here} & set(sys.path):
        sys.path.append(here)


def _here() -> str | None:
    """The working directory, None if it is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


if __name__ == "__main__":
    sys.exit(main())
