"""Claims about positions of Ultimate tic-tac-toe, each with its proof: what a player can force, and by which moves.

``proof/verify_ultimate.py`` checks them with nothing but Python, and says what the format is.  Here they are written,
and found for endings.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, UNFINISHED, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.ultimate_endings import can_win
from pttt_ooc.other_games.arena.solvers.endings import Ending, EndingSolver

HEADER = "ultimate claims 1"


@dataclass(frozen=True)
class Claim:
    """What a player can force after some moves.

    Attributes
    ----------
    begin
        The moves that come first.
    player
        0 or 1.
    plies
        The player wins within so many plies of the whole game; None: the player does not lose.
    moves
        The player's, in the order of a walk over all games: see :func:`strategy`.
    """

    begin: tuple[int, ...]
    player: int
    plies: int | None
    moves: tuple[int, ...]

    def line(self) -> str:
        """As text."""
        goal = "draws" if self.plies is None else f"wins {self.plies}"
        return f"{_digits(self.begin) or '-'} {self.player} {goal} {_digits(self.moves)}\n"


def encode_claims(claims: Iterable[Claim], *, open_boards: bool) -> bytes:
    """A file of claims, compressed."""
    boards = "open boards" if open_boards else "closed boards"
    text = f"{HEADER}\n{boards}\n" + "".join(claim.line() for claim in claims)
    return gzip.compress(text.encode("ascii"), mtime=0)


def strategy(
    game: Ultimate, state: State, player: int, choose: Callable[[State], int], *, draws: bool
) -> tuple[int, ...]:
    """A player's moves in all games from a position on.

    Parameters
    ----------
    choose
        The player's move in a position.
    draws
        The player is not to lose, so that no moves are needed once the other one cannot win any more.

    Returns
    -------
    One move for each position of the player, in the order of a walk that tries all replies, the lowest first.
    """
    moves: list[int] = []
    seen: set[bytes] = set()

    def walk(state: State) -> None:
        if state[RESULT] != UNFINISHED or state.tobytes() in seen or (draws and not can_win(state, 1 - player)):
            return
        seen.add(state.tobytes())
        if state[PLAYER] == player:
            moves.append(choose(state))
            walk(game.play(state, moves[-1]))
        else:
            for reply in game.legal(state):
                walk(game.play(state, reply))

    walk(state)
    return tuple(moves)


def of_ending(ending: Ending, solver: EndingSolver) -> Iterator[Claim]:
    """The value of each move of an ending: a win of one of the players, or that neither of them loses."""
    game = Ultimate()
    before = game.after(ending.moves)
    mover = int(before[PLAYER])
    for move, value in ending.values.items():
        state = game.play(before, move)
        for player in (mover, 1 - mover) if value == 0 else [mover if value > 0 else 1 - mover]:
            least = abs(value)

            def choose(state: State, player: int = player, least: int = least) -> int:
                return _short(game, state, player, least, solver)

            moves = strategy(game, state, player, choose, draws=least == 0)
            yield Claim((*ending.moves, move), player, None if least == 0 else rules.LENGTH, moves)


def _short(game: Ultimate, state: State, player: int, least: int, solver: EndingSolver) -> int:
    """A move that keeps a value, after which the other player has few replies: so the proof is short."""

    def replies(move: int) -> tuple[int, int]:
        return len(game.legal(game.play(state, move))), move

    for move in sorted(game.legal(state), key=replies):
        after = game.play(state, move)
        if after[RESULT] != UNFINISHED:
            kept = after[RESULT] == FIRST + player or (least == 0 and after[RESULT] == DRAW)
        else:
            kept = solver.at_most(after, -least)
        if kept:
            return move
    raise AssertionError("no move keeps the value of an ending")


def _digits(moves: Sequence[int]) -> str:
    """Small board and cell of each move."""
    return "".join(f"{move // 9}{move % 9}" for move in moves)
