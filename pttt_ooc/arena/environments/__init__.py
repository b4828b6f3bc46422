"""The games as environments of PettingZoo, for learners of other people's.

``catalogue``: environments by the games' names.  ``turns``: what all have in common.  ``games``: the games in which
both players see everything, and Phantom Tic-Tac-Toe and its relatives.  They need the extra ``environments`` of the
package.
"""
