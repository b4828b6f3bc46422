"""Tic-tac-toe with secret goals, the SMBC comic's "Incomplete information tic-tac-toe": one round, and the match.

The board is open.  Before a round each player draws a secret goal: win, tie or lose.  A player whose goal is met scores
a point, and the first player with five points wins the match.

``pages/``: in the browser.  ``terminal/``: on a terminal.  ``stages/``: in the workflow.

Modules: ``rules``, ``tree``: a round. ``settings``: of a solve. ``kernels``: all kernels of the wing. ``round``,
``match``: solvers. ``best_response``: best responses. ``solve``: results on disk. ``findings``: their analysis.
``goals``, ``programs``: values of goals in all equilibria. ``study``: pure strategies and bonuses. ``simulation``.
``snapshots``: states of a running solver. ``oriented_position``: positions in the viewer's orientation.
``inspection``: strategies and values at a position. ``match_play``: matches of a person, ``bot``: against a solution,
``match_results``: their results. ``vocabulary``: words for goals and scores. ``pipeline``: the stages of the
workflow. ``wing``: the wing describes itself.
"""
