"""The agents of the arena.

``base``: what an agent is, and its budget.  ``catalogue``: agents by their names.  ``basic``: random, and files of
one's own.  ``search_limits``: what agents that search share.  ``minimax``: minimax, alpha-beta and expectimax with
heuristics.  ``mcts``: Monte Carlo tree search.  ``alphabeta``: alpha-beta as strong programs do it.  ``qlearning``: by
pairs of state and action, and by features.  ``trained``: what has been learnt by self-play.
"""
