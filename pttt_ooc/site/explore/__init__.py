"""Pages on which strategies are looked into and played against: Explore and Play.

Modules: ``part`` plugs in Explore: ``explorer`` gets what an ``address`` asks for, ``pages`` show it, drawn by
``boards`` in fixed shades; ``api`` gives it as JSON. Beside it are ``loss_lists``, the lists of infosets at which
something is lost, the ``flow_map`` of a ``flow``, and the files of ``exports``. ``sources`` is what may be seen. The
web process imports no numerics: it asks an answerer, whose ``strategy_answers`` are about a ``listed_pair`` of
strategies, which is opened from the ``profile_cache``, or are plans where nothing is listed; its ``jobs`` are done by
the ``preparer``, so that memory goes back when they end. ``play_pages`` plug in Play, ``play_api`` gives it as JSON;
both work on the ``game_store``, which keeps and referees them, ``player_view`` is what a person may know, ``opponents``
whom they meet (in an answerer, or ``local_opponents``), ``results`` and ``review`` what comes after. ``terminal_play``
and ``terminal_explore`` are their twins on a terminal. ``wing`` describes the wing, ``local_sources`` are the
strategies that a command names.
"""
