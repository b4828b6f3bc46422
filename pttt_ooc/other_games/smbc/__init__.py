"""Tic-tac-toe with secret goals, the SMBC comic's "Incomplete information tic-tac-toe": one round, and the match.

The board is open.  Before a round each player draws a secret goal: win, tie or lose.  A player whose goal is met scores
a point, and the first player with five points wins the match.

``pages/``: in the browser.  ``terminal/``: on a terminal.

Modules: ``rules``, ``tree``: a round. ``settings``: of a solve. ``kernels``: all kernels of the wing. ``round``,
``match``: solvers. ``best_response``: best responses. ``solve``: results on disk, and snapshots of a running solver.
``findings``: their analysis. ``goals``: values of goals in all equilibria, by linear programs. ``study``: pure
strategies, bonuses. ``simulation``: simulated matches. ``oriented_position``: positions in the viewer's orientation.
``match_play``: matches of a person. ``match_results``: their results. ``inspection``: strategies and values at a
position. ``bot``: the solution as an opponent. ``vocabulary``: words for goals and scores. ``pipeline``: the stages of
the workflow. ``findings_stage``, ``equilibria_stage``: two of them. ``report``: the report and its pictures. ``wing``:
the wing describes itself.
"""
