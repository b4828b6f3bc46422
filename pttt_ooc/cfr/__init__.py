"""Counterfactual regret minimisation, out of core.

``sweep/``: the kernels that pass up and down a player's tree.  ``solving/``: update rules, the loop over iterations,
evaluation, best responses.
"""
