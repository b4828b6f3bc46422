"""Pages for looking into strategies and playing against them: Explore and Play.

Modules: ``part`` plugs in Explore: ``explorer`` gets what an ``address`` asks for, ``pages`` show it, drawn by
``boards`` in fixed shades; ``api`` gives it as JSON. Beside it are ``loss_lists``, the lists of infosets where
something is lost, the ``flow_map`` of a ``flow``, and the files of ``exports``. ``sources`` are the strategies to look
at. The web process imports no numerics: it asks an answerer, whose ``strategy_answers`` are about a ``listed_pair`` of
strategies from the ``profile_cache``, or about plans where nothing is listed; the ``preparer`` does its ``jobs`` in
processes that free their memory. ``match_estimates``: AIVAT, for the host. ``play_pages`` plug in Play, ``play_api``
gives it as JSON; both use the ``game_store``, which keeps games and enforces the rules. ``player_view`` is what a
person may know, ``opponents`` are asked through an answerer, ``local_opponents`` without one; ``results`` and
``review`` follow a game. ``terminal_play`` and ``terminal_explore`` are the same on a terminal. ``wing`` describes the
wing, ``local_sources`` are the strategies that a command names.
"""
