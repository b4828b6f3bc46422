"""Exact equilibria, and proofs of their values.

``double_oracle/``: equilibria without listing the game.  ``cluster/``: its best responses on many machines.
``equilibria/``: which equilibria there are.  ``certificates/``: values as fractions, with certificates that prove them.
"""
