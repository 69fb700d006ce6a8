"""Das Phantom, written down slowly and plainly from its rules file, to check a fast engine against.

Nothing here is meant to be quick. Cells are strings ("r,c"), hands are lists of item names, and every numbered
ruling of the rules (R1, R2, ...) is cited where it is applied. Places where the rules leave a choice are marked
AMBIGUOUS. (R31 speaks of `resample`, which is no part of this file; so it is not applied anywhere.)
"""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

State = dict[str, Any]

# --------------------------------------------------------------------------------------------- the board (R1)

ROWS, COLUMNS = 14, 16
DIRECTIONS = ("E", "NE", "NW", "W", "SW", "SE")
SYMMETRIC_DIRECTIONS = ("E", "SW", "SE")


def cell_name(row: int, column: int) -> str:
    return f"{row},{column}"


def cell_index(cell: str) -> int:
    row, column = cell.split(",")
    return int(row) * COLUMNS + int(column)


def by_index(cells: set[str]) -> list[str]:
    return sorted(cells, key=cell_index)


def load_board() -> dict[str, str]:
    """The sign of each cell, from the package's copy of the plan if there is one, else from the rules."""
    root = Path(__file__).resolve().parents[2]
    path = root / "phantom_envs" / "games" / "das_phantom" / "board.txt"
    if not path.exists():
        path = root.parent / "shared" / "rules" / "das_phantom_board.txt"
    board: dict[str, str] = {}
    rows = path.read_text(encoding="utf-8").split("\n\n")[0].splitlines()  # up to the first empty line
    assert len(rows) == ROWS, "the plan must have 14 rows"
    for row, line in enumerate(rows):
        signs = line.split()
        assert len(signs) == COLUMNS, f"row {row} of the plan must have 16 cells"
        for column, sign in enumerate(signs):
            assert sign in "#.SFVRMTabcdefghijklm", f"unknown sign {sign}"
            board[cell_name(row, column)] = sign
    return board


def neighbours_of(row: int, column: int) -> dict[str, str]:
    """Direction -> neighbouring cell; directions that leave the board are left out ("odd-r" offsets)."""
    shift = row % 2  # odd rows stand half a cell to the right
    places = {
        "E": (row, column + 1),
        "NE": (row - 1, column + shift),
        "NW": (row - 1, column - 1 + shift),
        "W": (row, column - 1),
        "SW": (row + 1, column - 1 + shift),
        "SE": (row + 1, column + shift),
    }
    return {direction: cell_name(r, c) for direction, (r, c) in places.items() if 0 <= r < ROWS and 0 <= c < COLUMNS}


BOARD = load_board()
CELLS = list(BOARD)  # in index order
NEIGHBOURS = {cell_name(r, c): neighbours_of(r, c) for r in range(ROWS) for c in range(COLUMNS)}
ROOM_OF = {cell: f"room-{sign}" for cell, sign in BOARD.items() if sign in "abcdefghijklm"}
ROOMS = [f"room-{letter}" for letter in "abcdefghijklm"]


def cells_with(sign: str) -> list[str]:
    return [cell for cell in CELLS if BOARD[cell] == sign]


START = cells_with("S")[0]
FINISH = cells_with("F")[0]
assert set(ROOM_OF.values()) == set(ROOMS), "the plan must have thirteen rooms"
assert len(cells_with("R")) == 14, "the plan must have fourteen roses"

# --------------------------------------------------------------------------------------------- the components

FACES = ["4", "5", "6", "1-3", "mask"]  # R2: the mask twice on each black die; only the odds know of that
STEPS_OF_FACE = {"4": [4], "5": [5], "6": [6], "1-3": [1, 2, 3], "mask": [1, 2]}
STEPS_OF_SWIFT = {"swift-4": [4], "swift-6": [6]}
WHITE_NUMBERS = ["1", "2", "3", "4", "5"]

SINGLES = {"path": 10, "wall": 10}  # R3
DOUBLES = {"path-path": 4, "path-wall": 4, "wall-wall": 4}  # R3
CARDS = {"swift-4": 6, "swift-6": 3, "passage": 6, "swap": 5, "encore": 4}  # R4
TILE_KINDS = [*SINGLES, *DOUBLES]
ITEMS = [*TILE_KINDS, *CARDS]  # in the order of the actions
HALVES = {
    "path-path": ("path", "path"),
    "path-wall": ("path", "wall"),
    "wall-wall": ("wall", "wall"),
}
REQUIRED_ROSES = {2: 6, 3: 4, 4: 3, 5: 2, 6: 2}
HAND_LIMIT = 6


def sorted_items(items: list[str]) -> list[str]:
    return sorted(items, key=ITEMS.index)


class Reference:
    def __init__(self, state: State, options: dict[str, Any]) -> None:
        state = copy.deepcopy(state)
        self.reward: str = options.get("reward", "win")
        assert self.reward in ("win", "progress"), f"no such reward: {self.reward}"  # "score" is not offered

        self.num_players: int = state["num_players"]
        self.max_rounds: int = state["max_rounds"]
        assert self.num_players in REQUIRED_ROSES, "2 to 6 players"
        assert self.max_rounds >= 1, "max_rounds must be at least 1"
        for option in ("num_players", "max_rounds"):
            if options.get(option) is not None:
                assert options[option] == state[option], f"{option} of the state is not that of the options"
        n = self.num_players

        # What setup says ...
        self.phase = "die"
        self.to_act: int | None = 0
        self.round = 1
        self.first = 0
        self.pawns = [START] * n
        self.roses = [0] * n
        self.violins = [False] * n
        self.board_roses: set[str] = set(cells_with("R"))  # R8: each rose space has its own rose
        self.phantom = "room-a"
        self.laid: dict[str, str] = {}
        self.hands: list[list[str]] = [[] for _ in range(n)]
        self.magic_discard: list[str] = []
        self.tiles_out: list[str] = []
        self.blocked = [0] * n
        self.winners: list[int] = []
        self._clear_turn()
        self._clear_phantom()
        # ... and what chance says.
        self.dice: list[str] = state["dice"]
        self.single_pile: list[str] = state["single_pile"]
        self.double_pile: list[str] = state["double_pile"]
        self.magic_pile: list[str] = state["magic_pile"]
        self._check_dice(self.dice)
        assert Counter(self.single_pile) == Counter(SINGLES), "the single tiles are not the right ones"
        assert Counter(self.double_pile) == Counter(DOUBLES), "the double tiles are not the right ones"
        assert Counter(self.magic_pile) == Counter(CARDS), "the magic cards are not the right ones"

        self.terminated = False
        self.truncated = False
        self._gains = [0.0] * n  # of the step being played, for reward="progress"

        setup = self.state_dict()
        for key in setup.keys() | state.keys():
            assert key in setup, f"the state has an unknown key {key}"
            assert key in state, f"the state lacks the key {key}"
            assert state[key] == setup[key], f"{key} is {state[key]} at the start, but should be {setup[key]}"

    def _clear_turn(self) -> None:
        """The fields of the turn, as they are between turns."""
        self.face: str | None = None
        self.swift: str | None = None
        self.passage = False  # R13: it lapses at the end of the turn
        self.rolls = 0
        self.takes = 0
        self.met = False
        self.torches: set[str] = set()
        self.fresh: list[str] = []
        self.shifted = False
        self.stuck = False
        self.using: str | None = None
        self.from_cell: str | None = None

    def _clear_phantom(self) -> None:
        """The fields of the Phantom's move, as they are outside of it."""
        self.steps = 0
        self.to_chase: list[int] = []
        self.chased: list[int] = []

    def state_dict(self) -> State:
        state: State = {
            "game": "das_phantom",
            "num_players": self.num_players,
            "max_rounds": self.max_rounds,
            "phase": self.phase,
            "to_act": self.to_act,
            "round": self.round,
            "first": self.first,
            "dice": self.dice,
            "pawns": self.pawns,
            "roses": self.roses,
            "violins": self.violins,
            "board_roses": by_index(self.board_roses),
            "phantom": self.phantom,
            "laid": self.laid,
            "hands": self.hands,
            "single_pile": self.single_pile,
            "double_pile": self.double_pile,
            "magic_pile": self.magic_pile,
            "magic_discard": self.magic_discard,
            "tiles_out": self.tiles_out,
            "blocked": self.blocked,
            "winners": self.winners,
            "face": self.face,
            "swift": self.swift,
            "passage": self.passage,
            "rolls": self.rolls,
            "takes": self.takes,
            "met": self.met,
            "torches": by_index(self.torches),
            "fresh": self.fresh,
            "shifted": self.shifted,
            "stuck": self.stuck,
            "using": self.using,
            "from": self.from_cell,
            "steps": self.steps,
            "to_chase": self.to_chase,
            "chased": self.chased,
        }
        return copy.deepcopy(state)

    # ---------------------------------------------------------------------------------------- chance

    def chance(self, kind: str, after: State) -> list[str]:
        """The outcome of one chance event, as the engine tells it in `after`. To be overridden in self-play.

        "black die": one face. "black dice": the faces of a round, in the order of FACES. "white die": one number or
        "phantom". "white number": one number. "shuffle": the magic discard pile in its new order, next to draw last.
        """
        if kind == "black die":
            return [str(after["face"])]
        if kind == "black dice":
            return [str(face) for face in after["dice"]]
        if kind == "white die":
            return ["phantom"] if after["phase"] == "haunt" else [str(after["steps"])]
        if kind == "white number":
            return [str(after["steps"])]
        if kind == "shuffle":
            # The first card of the new pile was drawn already: it is what is missing from the rest.
            rest = [str(card) for card in after["magic_pile"]]
            drawn = list((Counter(self.magic_discard) - Counter(rest)).elements())
            assert len(drawn) == 1, f"a pile {rest} can't be left after one card of {self.magic_discard} was drawn"
            return [*rest, drawn[0]]
        raise ValueError(kind)

    def _roll_black(self, after: State) -> str:
        outcome = self.chance("black die", after)
        assert [face for face in outcome if face in FACES] == outcome[:1] == outcome, (
            f"a black die can't show {outcome}"
        )
        return outcome[0]

    def _roll_black_dice(self, after: State) -> list[str]:
        faces = self.chance("black dice", after)
        self._check_dice(faces)
        return list(faces)

    def _check_dice(self, faces: list[str]) -> None:
        assert len(faces) == self.num_players, f"{len(faces)} black dice for {self.num_players} players"
        assert all(face in FACES for face in faces), f"black dice can't show {faces}"
        assert faces == sorted(faces, key=FACES.index), f"dice out of order: {faces}"

    def _roll_white(self, after: State, *, number_only: bool) -> str:
        outcome = self.chance("white number" if number_only else "white die", after)
        possible = WHITE_NUMBERS if number_only else [*WHITE_NUMBERS, "phantom"]
        assert [face for face in outcome if face in possible] == outcome[:1] == outcome, (
            f"the white die can't show {outcome}"
        )
        return outcome[0]

    def _shuffle_discard(self, after: State) -> None:
        pile = self.chance("shuffle", after)
        assert Counter(pile) == Counter(self.magic_discard), f"{self.magic_discard} can't be shuffled into {pile}"
        self.magic_pile = list(pile)
        self.magic_discard = []

    # ---------------------------------------------------------------------------------------- questions about the board

    @property
    def me(self) -> int:
        assert self.to_act is not None
        return self.to_act

    def _seats_from_left_of(self, seat: int) -> list[int]:
        """The other seats, the next to the left first."""
        return [(seat + distance) % self.num_players for distance in range(1, self.num_players)]

    def _required(self) -> int:
        return REQUIRED_ROSES[self.num_players]

    def _below_rose_limit(self, seat: int) -> bool:
        return self.roses[seat] < self._required() + 1

    def _is_path(self, cell: str) -> bool:
        """Whether a cell is a path space now, special ones included, whatever stands on it."""
        if cell in self.laid:
            return self.laid[cell] == "path"
        return BOARD[cell] in ".SFVRMT"

    def _sign(self, cell: str) -> str:
        """The sign of a cell; a laid hex makes it plain path or wall."""
        if cell in self.laid:
            return "." if self.laid[cell] == "path" else "#"
        return BOARD[cell]  # R25: what a hex covered counts again when the hex is gone

    def _may_enter(self, seat: int, cell: str, passage: bool) -> bool:
        """Whether a pawn could take a step onto this cell. Other pawns do not block."""
        if cell in ROOM_OF or cell == self.phantom:
            return False  # R30: also the pawn that stands under the Phantom can't come back there
        if cell == FINISH and not (self.violins[seat] and self.roses[seat] >= self._required()):
            return False
        return passage or self._is_path(cell)

    def _is_blocked(self, seat: int) -> bool:
        """R14: a passage, in hand or in force, changes nothing about being blocked."""
        return not any(self._may_enter(seat, cell, False) for cell in NEIGHBOURS[self.pawns[seat]].values())

    def _walk_ends(self, steps: int) -> set[str]:
        """Where walks of exactly so many steps of the acting pawn end."""
        # AMBIGUOUS: "straight back" is meant within one move; a new move may begin with the space the last came from.
        # A walk is remembered by the space it just came from and the space it is on.
        walks: set[tuple[str, str]] = {("", self.pawns[self.me])}
        for _ in range(steps):
            walks = {
                (here, there)
                for came_from, here in walks
                for there in NEIGHBOURS[here].values()
                if there != came_from and self._may_enter(self.me, there, self.passage)
            }
        # With a passage a walk may pass through walls, but must end on a path space.
        return {here for _, here in walks if self._is_path(here)}

    def _destinations(self, counts: list[int]) -> dict[str, bool]:
        """The cells to `go` to -> whether they are reached by exact count."""
        exact: set[str] = set()
        for steps in counts:
            exact |= self._walk_ends(steps)
        # AMBIGUOUS: a walk that stops early need not be one that could have gone on to the full count (dead ends).
        early: set[str] = set()
        for steps in range(1, max(counts)):
            early |= self._walk_ends(steps)
        early -= exact  # what can be reached by exact count counts as exact
        early -= {FINISH}  # the finish must be reached by exact count
        early -= {self.pawns[self.me]}  # R22: stopping early where the move began is not a `go`
        return {cell: cell in exact for cell in by_index(exact | early)}

    def _move_counts(self) -> list[int]:
        """The exact counts of the move that is asked for."""
        if self.phase == "swift":
            assert self.swift is not None
            return STEPS_OF_SWIFT[self.swift]
        assert self.face is not None
        return STEPS_OF_FACE[self.face]

    def _occupied(self, cell: str) -> bool:
        """Whether a pawn or the Phantom is there (R12: one's own pawn too)."""
        return cell in self.pawns or cell == self.phantom

    def _can_lay(self, cell: str) -> bool:
        """Whether a hex may be laid there. R24: path on path and wall on wall are fine."""
        if cell in ROOM_OF or BOARD[cell] in "RVF":
            return False
        return cell not in self.laid and not self._occupied(cell)

    def _directions(self, kind: str, cell: str) -> list[str]:
        """Where the second half of a double may point when the first lies on the cell."""
        if not self._can_lay(cell):
            return []
        allowed = DIRECTIONS if kind == "path-wall" else SYMMETRIC_DIRECTIONS
        around = NEIGHBOURS[cell]
        return [direction for direction in allowed if direction in around and self._can_lay(around[direction])]

    def _places(self, kind: str) -> list[str]:
        """The cells for (the first half of) a tile."""
        if kind in SINGLES:
            return [cell for cell in CELLS if self._can_lay(cell)]
        return [cell for cell in CELLS if self._directions(kind, cell)]

    def _free_laid(self) -> list[str]:
        """The laid hexes free of pawns and Phantom."""
        return by_index({cell for cell in self.laid if not self._occupied(cell)})

    def _swap_partners(self, cell: str) -> list[str]:
        return [other for other in self._free_laid() if self.laid[other] != self.laid[cell]]

    def _swap_sources(self) -> list[str]:
        return [cell for cell in self._free_laid() if self._swap_partners(cell)]

    def _shift_targets(self) -> list[str]:
        # "To another place": the hex is still down while we look, so its own cell is not among them.
        return [cell for cell in CELLS if self._can_lay(cell)]

    def _shift_sources(self) -> list[str]:
        return self._free_laid() if self._shift_targets() else []

    def _may_shift(self) -> bool:
        # AMBIGUOUS: R15 says "with a count of two"; a player who let the third blocked turn pass has a count of three
        # and is surely not worse off, so two or more.
        if self.shifted or not self._is_blocked(self.me):
            return False
        return (self.face == "mask" or self.blocked[self.me] >= 2) and bool(self._shift_sources())

    def _phantom_moves(self) -> list[str]:
        """The spaces one step of the Phantom from where it is, cells first, then rooms. R16: back is allowed too."""
        here = [cell for cell in CELLS if self.phantom in (cell, ROOM_OF.get(cell))]
        around = {there for cell in here for there in NEIGHBOURS[cell].values()} - set(here)
        cells = {cell for cell in around if cell not in ROOM_OF and BOARD[cell] not in "FV"}
        rooms = {ROOM_OF[cell] for cell in around if cell in ROOM_OF}
        return by_index(cells) + sorted(rooms)

    def _chase_targets(self, seat: int) -> list[str]:
        """Path spaces at distance 1 to 4, counted over all spaces but rooms."""
        distance = {self.pawns[seat]: 0}
        for steps in range(1, 5):
            for cell in [cell for cell, far in distance.items() if far == steps - 1]:
                for there in NEIGHBOURS[cell].values():
                    if there not in ROOM_OF and there not in distance:
                        distance[there] = steps
        return by_index(
            {
                cell
                for cell, far in distance.items()
                if far >= 1 and self._is_path(cell) and cell != FINISH and cell != self.phantom
            }
        )

    def _playable(self, item: str) -> bool:
        """In hand, and not only such as were taken this turn (R6)."""
        return self.hands[self.me].count(item) > self.fresh.count(item)

    def _robbable(self) -> list[int]:
        """Whom the acting player may rob where it stands, the next to the left first."""
        if not self._below_rose_limit(self.me):
            return []
        here = self.pawns[self.me]
        return [s for s in self._seats_from_left_of(self.me) if self.pawns[s] == here and self.roses[s] > 0]

    def _takeable(self) -> list[str]:
        piles = []
        if self.single_pile:
            piles.append("single")
        if self.double_pile:
            piles.append("double")
        if self.magic_pile or self.magic_discard:  # R23
            piles.append("magic")
        return piles

    # ---------------------------------------------------------------------------------------- legal actions

    def legal(self) -> list[str]:
        if self.phase == "over":
            return []
        if self.phase == "die":
            return [f"die {face}" for face in FACES if face in self.dice]
        if self.phase == "move":
            return self._legal_move()
        if self.phase == "swift":
            return [f"go {cell}" for cell in self._destinations(self._move_counts())] + ["stay"]
        if self.phase == "rob":
            return ["leave"] + [f"rob player_{seat}" for seat in self._robbable()]
        if self.phase == "take":
            return ["leave"] + [f"take {pile}" for pile in self._takeable()]
        if self.phase == "after":
            return self._legal_after()
        if self.phase == "at":
            assert self.using is not None
            return [f"at {cell}" for cell in self._places(self.using)]
        if self.phase == "toward":
            assert self.using is not None
            assert self.from_cell is not None
            return [f"toward {direction}" for direction in self._directions(self.using, self.from_cell)]
        if self.phase == "swap-from":
            return [f"swap from {cell}" for cell in self._swap_sources()]
        if self.phase == "swap-with":
            assert self.from_cell is not None
            return [f"swap with {cell}" for cell in self._swap_partners(self.from_cell)]
        if self.phase == "shift-from":
            return [f"shift from {cell}" for cell in self._shift_sources()]
        if self.phase == "shift-to":
            return [f"shift to {cell}" for cell in self._shift_targets()]
        if self.phase == "haunt":
            return [f"haunt {room}" for room in ROOMS]
        if self.phase == "phantom":
            return [f"phantom to {space}" for space in self._phantom_moves()]
        if self.phase == "chase":
            return [f"chase to {cell}" for cell in self._chase_targets(self.to_chase[0])]
        raise AssertionError(f"no such phase: {self.phase}")

    def _legal_move(self) -> list[str]:
        # AMBIGUOUS: "otherwise it can only stay or play items": a blocked pawn with a passage in force (an item it
        # played) may still `go` through the walls around it; without one it has nowhere to go anyway.
        actions = [f"go {cell}" for cell in self._destinations(self._move_counts())]
        actions.append("stay")
        if self._may_shift():
            actions.append("shift")
        return actions + self._legal_uses() + self._legal_plays()

    def _legal_after(self) -> list[str]:
        actions = []
        over_limit = len(self.hands[self.me]) > HAND_LIMIT
        if not over_limit:
            actions.append("end")
        actions += self._legal_uses() + self._legal_plays()
        if over_limit:  # R5, R6, R21: any item, but only in this phase and only over the limit
            actions += [f"discard {item}" for item in ITEMS if item in self.hands[self.me]]
        return actions

    def _legal_uses(self) -> list[str]:
        return [f"use {kind}" for kind in TILE_KINDS if self._playable(kind) and self._places(kind)]

    def _legal_plays(self) -> list[str]:
        return [f"play {card}" for card in CARDS if self._playable(card) and self._may_play(card)]

    def _may_play(self, card: str) -> bool:
        if card == "passage":
            return not self.passage  # R27
        if card == "swap":
            return bool(self._swap_sources())
        if card == "encore":
            return self.phase == "after"  # R28
        return True

    # ---------------------------------------------------------------------------------------- one step

    def step(self, action: str, after: State) -> list[float]:
        assert action in self.legal(), f"{action} is not legal in phase {self.phase} for seat {self.to_act}"
        self._gains = [0.0] * self.num_players
        verb, _, what = action.rpartition(" ")
        if verb == "die":
            self.dice.remove(what)
            self.face = what
            self.phase = "move"
        elif verb == "go":
            self._go(what, after)
        elif action == "stay":
            self._stay(after)
        elif action == "shift":
            self.phase = "shift-from"
        elif action == "end":
            self._end_turn(after)
        elif action == "leave":
            self._leave(after)
        elif verb == "take":
            self._take(what, after)
        elif verb == "rob":
            self._rob(int(what.removeprefix("player_")), after)
        elif verb == "use":
            self.hands[self.me].remove(what)
            self.using = what
            self.phase = "at"
        elif verb == "at":
            self._lay_at(what)
        elif verb == "toward":
            self._lay_toward(what)
        elif verb == "play":
            self._play(what, after)
        elif verb == "discard":
            self._discard(what)
        elif verb == "swap from":
            self.from_cell = what
            self.phase = "swap-with"
        elif verb == "swap with":
            self._swap_with(what)
        elif verb == "shift from":
            self.from_cell = what
            self.phase = "shift-to"
        elif verb == "shift to":
            self._shift_to(what)
        elif verb == "haunt":
            self.phantom = what
            self.steps = int(self._roll_white(after, number_only=True))
            self.phase = "phantom"
        elif verb == "phantom to":
            self._phantom_step(what, after)
        elif verb == "chase to":
            self._chase_to(what, after)
        else:
            raise AssertionError(f"no such action: {action}")
        return self._rewards()

    def _rewards(self) -> list[float]:
        rewards = [0.0] * self.num_players  # R19: a truncated game gives 0 to all
        n, w = self.num_players, len(self.winners)
        if self.terminated:
            rewards = [(n / w - 1) / (n - 1) if seat in self.winners else -1 / (n - 1) for seat in range(n)]
        if self.reward == "progress":  # R20
            rewards = [reward + gain for reward, gain in zip(rewards, self._gains, strict=True)]
        return rewards

    def _book(self, seat: int, amount: int) -> None:
        """R20: a rose or violin gained (+1) or lost (-1)."""
        for other in range(self.num_players):
            self._gains[other] += 0.1 * amount if other == seat else -0.1 * amount / (self.num_players - 1)

    # ---------------------------------------------------------------------------------------- moving

    def _go(self, cell: str, after: State) -> None:
        exact = self._destinations(self._move_counts())[cell]
        self.pawns[self.me] = cell
        self.passage = False  # the passage was for this move
        self.stuck = False
        self._move_done(exact, after)

    def _stay(self, after: State) -> None:
        # R22: no landing and no effects. R27: a passage in force stays in force.
        if self.phase == "move":
            self.stuck = self._is_blocked(self.me)  # R15
        self._move_done(False, after)

    def _move_done(self, exact: bool, after: State) -> None:
        if self.phase == "swift":
            self.swift = None  # R26: the die's move, if still to come, comes next
        else:
            if self.face == "mask":
                self.takes += 1  # R10, R29: the die's own item, besides that of the space
            self.face = None
        if exact:
            self._land(after)
        else:
            self._go_on(after)

    def _land(self, after: State) -> None:
        here = self.pawns[self.me]
        if here == FINISH:  # effect 1
            self.winners = [self.me]
            self.terminated = True
            # AMBIGUOUS: the winner's count of blocked turns: the turn never comes to its `end`, so it stays as it is.
            self._over()
            return
        others = [seat for seat in self._seats_from_left_of(self.me) if self.pawns[seat] == here]
        meeting = bool(others) and not self.met  # effect 2; R7: only one meeting has effect per turn
        if meeting:
            self.met = True
            self.rolls += 1
            if self._robbable():
                self.phase = "rob"
                return
        self._space_effects(meeting, after)

    def _rob(self, seat: int, after: State) -> None:
        self.roses[seat] -= 1
        self._book(seat, -1)
        self.roses[self.me] += 1
        self._book(self.me, +1)
        self._space_effects(True, after)

    def _space_effects(self, roll_given: bool, after: State) -> None:
        """Effects 3 to 6 of an exact landing; roll_given: the landing was a meeting and gave its roll (R11)."""
        here = self.pawns[self.me]
        sign = self._sign(here)
        if sign == "R":
            if here in self.board_roses and self._below_rose_limit(self.me):  # R8
                self.board_roses.remove(here)
                self.roses[self.me] += 1
                self._book(self.me, +1)
            else:
                self.takes += 1
        elif sign == "V":
            if not self.violins[self.me]:
                self.violins[self.me] = True
                self._book(self.me, +1)
        elif sign == "M":
            self.takes += 1
        elif sign == "T" and here not in self.torches:  # R9
            self.torches.add(here)  # R11: used up even if the meeting gives the roll
            if not roll_given:
                self.rolls += 1
        self._go_on(after)

    def _go_on(self, after: State) -> None:
        """What comes after a move and its landing: items, then the die's move, then rolls, then `after`."""
        if self.takes and self._takeable():
            self.phase = "take"
            return
        self.takes = 0  # no pile has anything: nothing is asked
        if self.face is not None:  # R26
            self.phase = "move"
        elif self.rolls:  # R11: one at a time
            self.rolls -= 1
            self._roll_for_move(after)
        else:
            self.phase = "after"

    def _roll_for_move(self, after: State) -> None:
        self.face = self._roll_black(after)
        self.phase = "move"

    def _leave(self, after: State) -> None:
        if self.phase == "rob":
            self._space_effects(True, after)
        else:
            self.takes -= 1
            self._go_on(after)

    def _take(self, pile: str, after: State) -> None:
        if pile == "single":
            item = self.single_pile.pop()
        elif pile == "double":
            item = self.double_pile.pop()
        else:
            item = self._draw_magic(after)
        self.hands[self.me] = sorted_items([*self.hands[self.me], item])
        self.fresh = sorted_items([*self.fresh, item])
        self.takes -= 1
        self._go_on(after)

    def _draw_magic(self, after: State) -> str:
        if not self.magic_pile:  # R23: shuffled only when a card is to be taken and none is left
            self._shuffle_discard(after)
        return self.magic_pile.pop()

    # ---------------------------------------------------------------------------------------- tiles and cards

    def _back_to_turn(self) -> None:
        """Back to `move` or `after` when a tile, a swap or a shift is complete."""
        self.using = None
        self.from_cell = None
        self.phase = "after" if self.face is None else "move"

    def _lay_at(self, cell: str) -> None:
        assert self.using is not None
        if self.using in SINGLES:
            self.laid[cell] = self.using
            self._back_to_turn()
        else:
            self.from_cell = cell
            self.phase = "toward"

    def _lay_toward(self, direction: str) -> None:
        assert self.using is not None
        assert self.from_cell is not None
        first, second = HALVES[self.using]
        self.laid[self.from_cell] = first
        self.laid[NEIGHBOURS[self.from_cell][direction]] = second
        self._back_to_turn()

    def _play(self, card: str, after: State) -> None:
        self.hands[self.me].remove(card)
        self.magic_discard.append(card)  # at once
        if card in STEPS_OF_SWIFT:
            self.swift = card
            self.phase = "swift"  # R26: the move is made at once
        elif card == "passage":
            self.passage = True
        elif card == "swap":
            self.phase = "swap-from"
        else:
            self._roll_for_move(after)  # encore

    def _swap_with(self, cell: str) -> None:
        assert self.from_cell is not None
        self.laid[self.from_cell], self.laid[cell] = self.laid[cell], self.laid[self.from_cell]
        self._back_to_turn()

    def _shift_to(self, cell: str) -> None:
        assert self.from_cell is not None
        self.laid[cell] = self.laid.pop(self.from_cell)  # R25
        self.shifted = True
        self._back_to_turn()

    def _discard(self, item: str) -> None:
        self.hands[self.me].remove(item)
        if item in self.fresh:  # R6: of equal items those taken this turn go first
            self.fresh.remove(item)
        if item in CARDS:  # R21
            self.magic_discard.append(item)
        else:
            self.tiles_out.append(item)

    # ---------------------------------------------------------------------------------------- end of a turn

    def _end_turn(self, after: State) -> None:
        seat = self.me
        self.blocked[seat] = self.blocked[seat] + 1 if self.stuck else 0  # R15
        self._clear_turn()
        if self.dice:
            self.to_act = (seat + 1) % self.num_players
            self.phase = "die"
            return
        self.to_act = self.first
        shown = self._roll_white(after, number_only=False)
        if shown == "phantom":
            self.phase = "haunt"
        else:
            self.steps = int(shown)
            self.phase = "phantom"

    # ---------------------------------------------------------------------------------------- the Phantom's move

    def _phantom_step(self, space: str, after: State) -> None:
        self.phantom = space
        self.steps -= 1
        # Seating order starting left of the mover; nobody is chased twice in one Phantom's move.
        self.to_chase = [
            seat for seat in self._seats_from_left_of(self.me) if self.pawns[seat] == space and seat not in self.chased
        ]
        if self.pawns[self.me] == space:  # R30: the mover's own pawn stays where it is
            left = (self.me + 1) % self.num_players
            if left not in self.chased and left not in self.to_chase:
                self.to_chase.append(left)  # last of all
        self._next_chase(after)

    def _next_chase(self, after: State) -> None:
        """R17: all chases of a step are settled before the next step."""
        # R18. AMBIGUOUS: a pawn with nowhere to go leaves `to_chase` when its turn in it comes, not before.
        while self.to_chase and not self._chase_targets(self.to_chase[0]):
            self.to_chase.pop(0)
        if self.to_chase:
            self.phase = "chase"
        elif self.steps:
            self.phase = "phantom"
        else:
            self._end_round(after)

    def _chase_to(self, cell: str, after: State) -> None:
        seat = self.to_chase.pop(0)
        self.pawns[seat] = cell
        self.blocked[seat] = 0  # R15
        self.chased.append(seat)
        self._next_chase(after)

    def _end_round(self, after: State) -> None:
        if self.chased and (self.magic_pile or self.magic_discard):
            card = self._draw_magic(after)
            self.hands[self.me] = sorted_items([*self.hands[self.me], card])
        if self.round == self.max_rounds:  # R19
            # AMBIGUOUS: round and first stay those of the last round.
            self.truncated = True
            self._over()
            return
        self._clear_phantom()
        self.round += 1
        self.first = (self.first + 1) % self.num_players
        self.dice = self._roll_black_dice(after)
        self.to_act = self.first
        self.phase = "die"

    def _over(self) -> None:
        self._clear_turn()
        self._clear_phantom()
        self.phase = "over"
        self.to_act = None
