"""The agents of the arena.

``base``: what an agent is, and its budget.  ``catalogue``: agents by their names.  ``simple``: random, and files of
one's own.  ``bounded``: what agents that search share.  ``searching``: minimax, alpha-beta and expectimax with
heuristics.  ``growing``: Monte Carlo tree search.  ``tuned``: alpha-beta as strong programs do it.  ``qlearning``: by
pairs of state and action, and by features.  ``learnt``: what has been learnt by self-play.
"""
