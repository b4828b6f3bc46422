"""Replays of Ultimate tic-tac-toe that OpenSpiel or its environments wrote.

OpenSpiel's ``ultimate_tic_tac_toe`` has the rules of ``ultimate`` here.  A player who may play anywhere makes two
actions: the small board, then the cell.  Before version 2.0.1, the mark of such a move was that of the player whose
turn it would have been in that small board, had the players alternated there since somebody was last sent to it: often
the other player's.  So a game of an older version may be another game from there on.

Nobody has solved the game, but endings are: their losses are exact.  A loss counts payoffs: from a win to a draw 1,
from a win to a loss 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pttt_ooc.library.scoring.replay_judge import JudgedReplay, ReplayedMove, remarks_on_end
from pttt_ooc.library.scoring.replays import Replay
from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE, FULL, HAS_LINE
from pttt_ooc.other_games.arena.research.solvers.endings import EndingSolver, open_squares

GAME = "ultimate_tic_tac_toe"
"""OpenSpiel's name."""

MOST_OPEN = 22
"""Open squares of an ending that is solved."""

Cells = dict[tuple[int, int], int]
"""The player of each mark, by small board and cell."""

_MOST_POSITIONS = 2_000_000  # of one ending
_REMARK = (
    "Moves with many open squares have no loss: nobody has solved the game, and only endings with at most "
    f"{MOST_OPEN} open squares are solved here."
)


def judge_ultimate(replay: Replay) -> JudgedReplay:
    """Tell what is true about a replay of Ultimate tic-tac-toe."""
    game, solver = Ultimate(), EndingSolver(table_bits=18, most_positions=_MOST_POSITIONS)
    state, moves, remarks = game.start(), [], []
    board: int | None = None  # that was chosen for a move anywhere
    for number, action in enumerate(replay.actions, start=1):
        player = int(state[PLAYER])
        if state[RESULT] != UNFINISHED:
            remarks.append(f"The game is over after {number - 1} actions, but the file has {len(replay.actions)}.")
            break
        legal = game.legal(state)
        anywhere = int(state[rules.TARGET]) == ANYWHERE
        if anywhere and board is None:
            if any(move // 9 == action for move in legal):
                board = action
                continue
            what = f"small board {action} cannot be chosen"
        else:
            at = board if anywhere and board is not None else int(state[rules.TARGET])
            move = 9 * at + action
            if 0 <= action < 9 and move in legal:
                loss = _loss(solver, state, move)
                state, board = game.play(state, move), None
                moves.append(ReplayedMove(player, game.show_move(move), True, "", _outcome(state), loss))
                continue
            what = f"cell {action} of small board {at} cannot be marked"
        moves.append(ReplayedMove(player, str(action), False, "", "illegal"))
        remarks.append(f"Action {number}: player {player}: {what}; what follows in the file is not told.")
        break
    remarks += _remarks_on_version(replay, state, all(move.legal for move in moves))
    result, payoffs = _result(state)
    remarks += remarks_on_end(replay, payoffs)
    if any(move.legal and move.loss is None for move in moves):
        remarks.append(_REMARK)
    return JudgedReplay(replay.source, game.text, tuple(moves), result, tuple(remarks))


def _loss(solver: EndingSolver, state: State, move: int) -> float | None:
    """What a move lost, if the ending is solved."""
    if open_squares(state) > MOST_OPEN:
        return None
    try:
        values = solver.values(state)
    except ArenaError:  # too large
        return None
    return float(max(values.values()) - values[move])


def _outcome(state: State) -> str:
    return "placed" if state[RESULT] == UNFINISHED else "ends in a draw" if state[RESULT] == DRAW else "wins"


def _result(state: State) -> tuple[str, tuple[float, float] | None]:
    if state[RESULT] == UNFINISHED:
        return "is not over", None
    if state[RESULT] == DRAW:
        return "is a draw", (0.0, 0.0)
    winner = 0 if state[RESULT] == FIRST else 1
    return f"is won by player {winner}", (1.0 - 2 * winner, 2.0 * winner - 1)


class _OlderGame:
    """The game of some actions, as versions before 2.0.1 played it."""

    def __init__(self, actions: Iterable[int]) -> None:
        self.cells: Cells = {}
        self.wrong: int | None = None  # the first move with the other player's mark, counted from 1
        self.follows = True  # whether all actions are possible there
        turn = [0] * 9  # the player to move in each small board, as those versions kept it
        player, board, moves = 0, -1, 0
        for action in actions:
            if not 0 <= action < 9 or (board < 0 and self._is_closed(action)) or (board, action) in self.cells:
                self.follows = False
                return
            if board < 0:
                board = action  # and whose turn it is there stays as it was
                continue
            moves += 1
            if turn[board] != player and self.wrong is None:
                self.wrong = moves
            self.cells[board, action] = turn[board]
            turn[board] = 1 - turn[board]
            player, board = 1 - player, -1 if self._is_closed(action) else action
            if board >= 0:
                turn[board] = player

    def _is_closed(self, board: int) -> bool:
        marks = [sum(1 << cell for cell in range(9) if self.cells.get((board, cell)) == p) for p in (0, 1)]
        return bool(HAS_LINE[marks[0]] or HAS_LINE[marks[1]] or marks[0] | marks[1] == FULL)


def _remarks_on_version(replay: Replay, state: State, all_legal: bool) -> list[str]:
    """A sentence, if the version of OpenSpiel matters: the file shows the older marks, or does not show its marks."""
    older, shown = _OlderGame(replay.actions), _shown_cells(replay.board)
    by_rules = all_legal and shown in (None, _cells_of(state))
    if older.wrong is None or (by_rules and shown is not None):
        return []
    where = f"move {older.wrong}, for which the player chose the small board"
    if older.follows and not by_rules and shown in (None, older.cells):
        return [
            f"An OpenSpiel before 2.0.1 made this file: it placed the other player's mark at {where}, so that from "
            "there on the file's game is another one than the rules give."
        ]
    return [
        f"If an OpenSpiel before 2.0.1 made this file, it placed the other player's mark at {where}; what is told here "
        "is by the rules of 2.0.1 and later."
    ]


def _cells_of(state: State) -> Cells:
    return {
        (board, cell): player
        for player in (0, 1)
        for board in range(9)
        for cell in range(9)
        if state[rules.MARKS + 9 * player + board] >> cell & 1
    }


def _shown_cells(text: str) -> Cells | None:
    """The marks of a state as the environment's JSON, or as OpenSpiel's rows of cells; None: it shows none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = {"board": _rows_of_text(text)}
    boards = found.get("board") if isinstance(found, dict) else None
    if not isinstance(boards, list) or len(boards) != 9 or not all(isinstance(b, list) and len(b) == 9 for b in boards):
        return None
    return _marks((b, c, boards[b][c]) for b in range(9) for c in range(9))


def _marks(cells: Iterable[tuple[int, int, Any]]) -> Cells:
    return {(board, cell): "xo".index(mark) for board, cell, mark in cells if mark in ("x", "o")}


def _rows_of_text(text: str) -> list[list[str]] | None:
    """The cells of each small board from nine rows of nine."""
    rows = [line.replace(" ", "") for line in text.splitlines() if line.strip()][:9]
    if len(rows) != 9 or any(len(row) != 9 for row in rows):
        return None
    return [[rows[3 * (b // 3) + c // 3][3 * (b % 3) + c % 3] for c in range(9)] for b in range(9)]
