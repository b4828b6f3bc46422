"""The arena: games in which both players see everything, agents that play them, and matches.

It shares with the core only files, commits, configuration and the web shell.  ``games/``: the games.  ``kernels/``: all
that is compiled.

Modules: ``compiled`` (the decorators of kernels), ``commands`` (``pttt arena``).
"""
