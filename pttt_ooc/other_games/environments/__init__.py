"""The package's games as environments of PettingZoo, for external learners.

They need the extra ``environments`` of the package.

Modules: ``catalogue``: environments by the games' names. ``turns``: the common base class. ``open_games``: the games
in which both players see everything. ``phantom``: Phantom Tic-Tac-Toe and its relatives. ``secret_goals``:
tic-tac-toe with secret goals.
"""
