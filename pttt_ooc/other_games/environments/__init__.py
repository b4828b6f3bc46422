"""The package's games as environments of PettingZoo, for external learners.

They need the extra ``environments`` of the package.

Modules: ``catalogue``: environments by the games' names. ``turns``: the common base class. ``open_games``: games
in which both players see everything. ``hidden_games``: Phantom Tic-Tac-Toe, its relatives, and secret goals.
"""
