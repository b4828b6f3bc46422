"""The package's games as environments of PettingZoo, for learners of other people's.

They need the extra ``environments`` of the package.

Modules: ``catalogue``: environments by the games' names. ``turns``: what all have in common. ``open_games``: the games
in which both players see everything. ``phantom``: Phantom Tic-Tac-Toe and its relatives. ``secret_goals``:
tic-tac-toe with secret goals.
"""
