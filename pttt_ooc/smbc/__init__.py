"""Tic-tac-toe with secret goals, the SMBC comic's "Incomplete information tic-tac-toe": one round, and the match.

The board is open.  Before a round each player draws a secret goal: win, tie or lose.  Whose goal is met scores a point,
and who comes first to five points wins the match.
"""
