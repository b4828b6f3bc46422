"""The package's games as environments of PettingZoo, for external learners.

They need the extra ``environments`` of the package.

Modules: ``catalogue``: environments by the games' names. ``turns``: the common base class. ``game_environments``: one
class for each kind of game.
"""
