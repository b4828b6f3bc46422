"""What a course keeps: tables, files, settings, dates and rules.

Modules: ``models``, ``term_tables``, ``agents_tables``: the tables. ``database``: sessions of the database.
``database_rows``: all rows as JSON. ``storage``: uploads and gradients. ``uploads_in_flight``: files being received.
``settings``, ``openid_settings``: what instructors set. ``game_directory``: the directories of further games.
``assignments``; ``dates``: deadlines, late days and freezes. ``late_days``: who pays with them. ``choice``,
``candidates``: what may count. ``rules``, ``expressions``: how points follow from what was measured. ``limits``: how
much a team may submit. ``queue``: what has no verdict. ``worker_process``: the loop of a worker. ``standings``: each
team's best strategies, and the matrix. ``caching``. ``names``: names of teams. ``pseudonyms``: other names on public
pages. ``memberships``: who was in which team. ``disqualified``: who has no standing. ``handout``: what everybody
gets. ``audit``: the log. ``mail``, ``outgoing``: e-mails and requests that leave the machine.
"""
