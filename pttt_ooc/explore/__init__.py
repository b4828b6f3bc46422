"""Pages on which strategies are looked into and played against: Explore, Mistakes, Play.

Modules: ``part`` plugs in Explore: ``looking`` gets what an ``address`` asks for, ``pages`` show it, drawn by
``boards`` and ``curves``, ``api`` gives it as JSON of the ``shapes`` that are described; ``differences`` and
``mistakes`` are beside it. ``sources`` is what may be seen, ``runs`` what a solver has left beside a solution,
``submitted`` a grader's, ``explorer`` holds them. Web processes (``webserver`` beside a grader, ``localserver``;
``local`` starts it) import no numerics: they ask the ``answerer``, a process whose ``answering`` opens
``profiles``; its ``jobs`` are done by the ``preparer``, so that memory goes back when they end. ``play`` plugs in Play,
``play_api`` gives it as JSON of ``play_shapes``; both work on ``playing``: ``games`` keeps (in ``games_file``) and
referees, ``seat`` is what a person may know, ``opponents`` whom they meet (``asked`` of the answerer, or ``here``),
``results``, ``review`` and ``statistics`` what comes after. ``terminal_play`` and ``terminal_explore`` are their twins
on a terminal. ``records`` are answers as JSON.
"""
