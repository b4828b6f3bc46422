"""The tournament of a course: its teams submit bots, a worker checks and plays them.  The web process never runs a bot.

Modules: ``league``: its settings, and where it is kept. ``submissions``: bots in the database. ``uploads``: bots on
their way in. ``submission_pages``: pages and addresses. ``parts``: these beside a course's pages. ``worker``: checks
bots and plays the tournament. ``processes``: the worker and the analyst. ``commands``: ``pttt extreme open``.
"""
