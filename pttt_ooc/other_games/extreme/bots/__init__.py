"""Bots of our own, in the form that the course asks for: examples, and opponents.

``random_bot``: any valid move.  ``alphabeta_bot``: the least that the course asks for, to be read.  ``strong_bot``: the
one to beat; its search is compiled, so it sees this package where others see none.
"""
