"""A course: teams submit strategies and bots, which are checked, judged exactly, and compared.

The web server takes uploads and shows results; for each kind of submission a worker judges, in a process of its own.
They share one data directory.  The database says what is true; gradients and the index can be made again from it and
from the uploads.  Numerics are elsewhere: :mod:`pttt_ooc.cfr.solving.assessment` and
:mod:`pttt_ooc.cfr.solving.evaluation`.

``kinds/`` holds what only one kind of submission has, ``term/`` assignments, people, dates and grades, ``games/``
further games.  Neither the web process nor the shell imports numerics.

Modules: ``settings``, ``models``, ``database_rows``, ``database`` and ``storage`` keep things. For all kinds,
``uploads`` receives files, ``uploads_in_flight`` counts them, ``limits`` says how many a team may submit, ``queue``
holds what has no verdict, ``worker_process`` is the loop of a worker. ``names``, ``teams`` and ``sessions`` are about
teams. ``app`` plugs pages into the shell, with ``handlers``, ``context``, ``accounts``, ``health``, ``metrics``.
For strategies: ``submissions``, ``jobs`` (judging), ``worker``, ``standings``, ``trends``, ``rankings``, ``pages``,
``figures``, ``caching``, ``api``, ``schemas``, ``client``; ``handout`` and ``handout_pages``: the starter kit;
``certificates`` and ``certificate_pages``: what a team's best strategies are proven to guarantee; ``pairs``: two
strategies together; ``likenesses``: strategies that play alike; ``house``: strategies of the instructors' own.
``code_likeness``: bots and agents with the same code. ``aliases`` of teams.
``messenger`` sends announcements, by ``mail`` and by ``outgoing`` requests. ``serve`` starts ``webserver`` and
the workers. ``backup``, ``commands``, ``copy_commands``.
"""
