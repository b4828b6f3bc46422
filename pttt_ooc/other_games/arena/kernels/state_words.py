"""The words that the states of all games begin with, and their values."""

from __future__ import annotations

PLAYER, RESULT, PLY, KEY = 0, 1, 2, 3
"""The words of a state that all games share: the player to move (0 or 1); how the game has ended; the number of moves
made; a Zobrist key of the position, which contains all that later play depends on, the player to move included."""

UNFINISHED, FIRST, SECOND, DRAW = 0, 1, 2, 3
"""Values of the word RESULT: the game goes on; player 0 has won; player 1 has won; a draw."""
