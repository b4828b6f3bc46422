"""The agents of the arena.

``base``: what an agent is, and its budget.  ``catalogue``: agents by their names.  ``simple``: random, and files of
one's own.  ``searching``: minimax, alpha-beta and expectimax with heuristics.  ``growing``: Monte Carlo
tree search.  ``learnt``: what has been learnt by self-play.
"""
