"""Tic-tac-toe with secret goals, the SMBC comic's "Incomplete information tic-tac-toe": one round, and the match.

The board is open.  Before a round each player draws a secret goal: win, tie or lose.  Whose goal is met scores a point,
and who comes first to five points wins the match.  ``pages/``: in the browser.  ``terminal/``: on a terminal.
``stages/``: in the workflow.

Modules: ``rules``, ``tree``: a round. ``settings``: of a solve. ``kernels``: all kernels of the wing. ``round``,
``match``: solvers. ``best_response``: best responses. ``solve``: results on disk. ``findings``: what they show.
``goals``, ``programs``: what goals are worth in all equilibria. ``study``: without chance. ``simulation``.
``snapshots``: of a solver on the way. ``oriented_position``: the board as somebody holds it. ``inspection``: what a
solution does there. ``match_play``: matches of a person, ``bot``: against a solution, ``match_results``: counted.
``vocabulary``: for both. ``pipeline``: the stages of the workflow. ``commands``. ``wing``: the wing describes
itself.
"""
