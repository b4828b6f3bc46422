"""Pages on which strategies are looked into and played against: Explore and Play.

Modules: ``part`` plugs in Explore: ``inspection`` gets what an ``address`` asks for, ``pages`` show it, drawn by
``boards`` in the shades of ``scales``, and by ``curves``; ``api`` gives it as JSON of the ``schemas``. Beside it are
``differences`` and ``losses``, the rows of its list, the ``flow_map`` of a ``flow``, and the files of ``exports``.
``sources`` is what may be seen, ``solver_runs`` what a solver has left beside a solution, ``explorer`` holds them. The
web process imports no numerics: it asks an answerer, whose ``answers`` open ``profiles``, or, where nothing is listed,
whose ``plan_answers`` read plans; its ``jobs`` are done by the ``preparer``, so that memory goes back when they end.
``play`` plugs in Play, ``play_api`` gives it as JSON of ``play_schemas``; both work on ``games``, which keeps and
referees them, ``player_view`` is what a person may know, ``opponents`` whom they meet (through the
``answerer_client``, or ``local_opponents``), ``results``, ``review`` and ``statistics`` what comes after.
``terminal_play`` and ``terminal_explore`` are their twins on a terminal. ``json_values`` are answers as JSON.
``wing`` describes the wing, ``local_sources`` are the strategies that a command names.
"""
