"""Solving and judging: update rules, the loop over iterations, best responses, exploitability.

Modules: ``regret``: the update rules. ``solver``: the loop. ``arrays``: what it works in. ``state_precision``: its
state between iterations. ``schedule``: when a run ends, and which saved run goes on. ``times``: what it has spent.
``evaluation``: value and best responses of two strategies. ``assessment``: one strategy on its own, and the gradient
that gives the value of each of its matches. ``best_response``: the best reply as a strategy. ``textbook``: CFR by walks
over all histories, to read and to compare with. ``restricted_game``: games in which only some actions are allowed, and
``linear_program``: their equilibria, and those of matrix games.
"""
