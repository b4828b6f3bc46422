"""The league of a course: its teams submit bots, and a worker checks and plays them.  The web process never runs a bot.

Modules: ``league``: its settings and files. ``submissions``: bots in the database. ``context``: what requests share.
``submission_pages``: pages and addresses. ``further_pages``: those of further leagues. ``parts``: these beside a
course's pages. ``worker``: checks bots and plays the tournament. ``practice``: matches before it. ``opponents``: games
of people. ``seats``: checks come before practice. ``processes``: the worker and the analyst. ``commands``: ``pttt
extreme open``.
"""
