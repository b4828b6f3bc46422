"""The bots of a league: how they are kept, checked and played.  The web process never runs a bot.

Modules: ``league``: its settings and files. ``submissions``: taking in, finding and listing bots. ``worker``: checks
bots, and plays the tournament. ``practice``: matches before it. ``opponents``: games of people against bots.
``processes``: the worker and the analyst.
"""
