"""Output for people: pictures, the report, the progress of a solve.

Modules: ``boards``: boards as text. ``pictures``, ``report_page`` with ``templates/``: the report and its pictures.
``comparison``: several runs side by side. ``miniatures``: small pictures for pages. ``pages``: rendering of templates.
``tables``: tables as CSV and HTML. ``progress``: live progress. ``rounds``: rounds of a double oracle in words.
``dialogue``: prompts and boards on a terminal.
"""
