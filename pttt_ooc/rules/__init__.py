"""Rules of the games, as data: boards, winning sets, turn rules, setups.

Modules: ``game``: boards, winning sets, turn rule, symmetries, setup. ``catalogue``: the named games, their known
counts and values. ``play``: one history, attempt by attempt.
"""
