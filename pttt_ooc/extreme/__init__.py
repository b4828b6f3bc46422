"""The Extreme TicTacToe tournament.

Modules: ``commands`` (``pttt extreme``).
"""
