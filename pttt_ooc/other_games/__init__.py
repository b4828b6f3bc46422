"""Games beside Phantom Tic-Tac-Toe, each with its own rules, agents and pages.

``smbc/``: tic-tac-toe with secret goals.  ``arena/``: games in which both players see everything.  ``extreme/``: the
Extreme TicTacToe tournament.  ``environments/``: all games as environments of PettingZoo,
phantom games in JAX.
"""
