"""Output for people: pictures, the report, the progress of a solve.

Modules: ``numbers``: numbers, times and sizes as people read them. ``boards``: boards as text. ``pictures``,
``report`` with ``templates/``: the page and its pictures. ``pages``: what such pages share. ``tables``: rows for other
programs. ``comparison``: several runs. ``progress``: how a solve goes on. ``dialogue``: a conversation on a terminal.
"""
