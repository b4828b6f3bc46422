"""The agents that the reports describe.

``base``: the base class.  ``search_limits``: the base class of agents that search.  ``catalogue``: agents by their
names.  ``basic``: random moves, and a user's file.  ``minimax``: minimax, alpha-beta and expectimax with heuristics.
``qlearning``: by pairs of state and action, and by features.  ``value_tables``: two tables of values that learn from
games against each other.
"""
