"""Phantom Tic-Tac-Toe and its relatives, solved exactly, out of core."""

__version__ = "0.1.0"
