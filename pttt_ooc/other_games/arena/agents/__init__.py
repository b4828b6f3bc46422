"""The agents of the arena.

``base``: the base class, and budgets.  ``catalogue``: agents by their names.  ``basic``: random, and a user's file.
``engine``: programs of other people.  ``search_limits``: the base of agents that search.  ``minimax``: minimax,
alpha-beta and expectimax with heuristics.  ``mcts``: Monte Carlo tree search.  ``alphabeta``: alpha-beta as strong
programs do it.  ``extreme_strong``: the strong player of Extreme.  ``qlearning``: by pairs of state and action, and by
features.  ``trained``: tables and weights learnt by self-play.
"""
