"""The package's games as environments of PettingZoo and of JAX, for external learners.

They need the extras ``environments`` and ``batched`` of the package.

Modules: ``catalogue``: environments by the games' names. ``turns``: the common base class. ``open_games``: games
in which both players see everything. ``hidden_games``: Phantom Tic-Tac-Toe, its relatives, and secret goals.
``batched``: phantom games in JAX, with the conventions of pgx.
"""
