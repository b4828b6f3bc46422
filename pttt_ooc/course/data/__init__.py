"""What a course keeps: tables, files, settings, dates and rules.

Modules: ``models``, ``term_tables``, ``agents_tables``: the tables. ``database``: its sessions, and all rows as JSON.
``storage``: uploads, gradients, downloads for everybody. ``settings``: what instructors set. ``game_directory``: the
directories of further games. ``assignments``; ``dates``: deadlines, late days and freezes. ``choice``: what may count,
and who pays with late days. ``rules``: how points follow from what was measured. ``limits``: how much a team may
submit, and files being received. ``queue``: submissions without a verdict. ``worker_process``: the loop of a worker.
``standings``: each team's best strategies, the matrix, and who has no standing. ``caching``. ``names``: names of teams.
``memberships``: who was in which team. ``audit``: the log.
"""
