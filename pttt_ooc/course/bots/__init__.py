"""Bots of a league: kept, checked, and played.  The web process never runs a bot.

Modules: ``league``: its settings and files. ``submissions``: bots in the database. ``worker``: checks bots, and plays
the tournament. ``practice``: matches before it. ``seats``: checks come before practice. ``opponents``: games of
people. ``processes``: the worker and the analyst.
"""
