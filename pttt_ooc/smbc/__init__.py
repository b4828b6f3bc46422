"""Tic-tac-toe with secret goals, the SMBC comic's "Incomplete information tic-tac-toe": one round, and the match.

The board is open.  Before a round each player draws a secret goal: win, tie or lose.  Whose goal is met scores a point,
and who comes first to five points wins the match.

Modules: ``rules``, ``tree``: a round. ``settings``: of a solve. ``kernels``: all kernels of the wing. ``round``,
``match``: solvers. ``response``: best responses. ``solve``: results on disk. ``findings``: what they show.
``goals``, ``programs``: what goals are worth in all equilibria. ``study``: without chance. ``simulation``.
``snapshots``: of a solver on the way. ``place``: the board as somebody holds it. ``looking``: what a solution does
there. ``playing``: matches of a person, ``bot``: against a solution, ``tally``: counted. ``words``,
``terminal_explore``, ``terminal_play``: on a terminal. ``pipeline``: in the workflow, with the stages ``finding``,
``bounding`` and ``reporting``, which has ``pictures``. ``local`` serves the pages: ``localserver`` is the web process,
with ``part``, ``seat`` (what a person may know), ``view``, ``matches`` (kept in ``matches_file``), ``asked`` (the bot),
which asks the ``answerer``. ``commands``.
"""
