"""Solving and evaluating: update rules, the loop over iterations, best responses, exploitability.

Modules: ``regret``: the update rules. ``solver``: the iterations. ``arrays``: its arrays. ``schedule``: when a run is
evaluated and ends, and which saved run it continues. ``solve_run``: the loop with evaluations, commits and progress.
``evaluation``: value and best responses of two strategies. ``assessment``: one strategy alone, and the gradient
that gives the value of any match against it. ``best_response``: a best response as a strategy. ``textbook``: CFR by
walks over all histories, for reading and for tests. ``linear_program``: linear programs and matrix games.
``highs_solver``: linear programs that grow, and their bases.
"""
