"""The rules of a game in sentences, for programs and language models."""

from __future__ import annotations

from pttt_ooc.games.rules.catalogue import describe_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.pipeline.show.boards import MARKS

_MOST_SETS = 24
"""More winning sets than this are not listed: they are all paths across a Hex board."""


def rules_text(game: Game) -> str:
    """All that a player has to know, in lines."""
    turns = (
        "Placed or not, it is then the other player's turn."
        if game.turn_rule == "abrupt"
        else "If your mark is placed, it is the other player's turn; if not, you attempt another square."
    )
    lines = [
        f"{game.name}: {describe_game(game)}.",
        "",
        f"The board has {game.rows} rows of {game.columns} squares, numbered row by row from 0:",
        *numbered_board(game),
        "",
        f"Player 0 has the mark {MARKS[0]}, player 1 the mark {MARKS[1]}. Player {game.first_player} begins.",
        "Neither player sees the other's marks. In turn, you attempt a square that you have not attempted before. If "
        "it is empty, your mark is placed. If the other player's mark is there, the attempt fails, and nothing "
        f"changes. You alone learn which. {turns}",
    ]
    lines += [_setup(game, player) for player in (0, 1) if game.setup[player]]
    lines += _winning(game)
    lines += [
        "When the board is full and nobody has won, it is a draw. The payoff is 1 for a win, -1 for a loss, 0 for a "
        "draw.",
        "",
        "An infoset is what you know, as text: after the bar, each of your attempts in order, the square and its "
        "outcome, * for placed and . for failed. |0*4. means: placed 0, then found the other player's mark on 4."
        + (" Squares from 10 on are letters, a for 10." if game.squares > 10 else ""),
    ]
    return "\n".join(lines) + "\n"


def numbered_board(game: Game) -> list[str]:
    """The numbers of the squares, row by row."""
    width = len(str(game.squares - 1))
    return [
        " ".join(str(row * game.columns + column).rjust(width) for column in range(game.columns)).rstrip()
        for row in range(game.rows)
    ]


def _setup(game: Game, player: int) -> str:
    squares = ", ".join(DIGITS[square] for square in game.setup[player])
    return f"Player {player} begins with marks on {squares}, which the other player has not seen."


def _winning(game: Game) -> list[str]:
    if game.winning_sets[0] == game.winning_sets[1]:
        return [f"Whoever has marks on all squares of one of these sets wins at once: {_sets(game, 0)}."]
    if max(map(len, game.winning_sets)) > _MOST_SETS:
        return [
            "Neighbours of a square are the squares left and right of it, above and below, above to the right, and "
            "below to the left. Player 0 wins with a connected path of marks from the top row to the bottom row, "
            "player 1 with one from the left column to the right column."
        ]
    return [
        f"Player {player} wins at once with marks on all squares of one of these sets: {_sets(game, player)}."
        for player in (0, 1)
    ]


def _sets(game: Game, player: int) -> str:
    found = [[s for s in range(game.squares) if mask >> s & 1] for mask in game.winning_sets[player]]
    return "; ".join(" ".join(map(str, one)) for one in sorted(found))
