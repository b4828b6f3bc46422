"""A course: teams submit strategies, bots, agents and reports, which are checked, judged, compared and graded.

The web server takes uploads and shows results; for each kind of submission a worker judges, in a process of its own.
They share one data directory.  The database says what is true; gradients and the index can be made again from it and
from the uploads.  Numerics are elsewhere: :mod:`pttt_ooc.cfr.solving.assessment` and
:mod:`pttt_ooc.cfr.solving.evaluation`.  Neither the web process nor the shell imports numerics.

``data/``: what is kept.  ``people/``: teams, students, staff.  ``strategies/``, ``bots/``, ``agents/``: the kinds of
submissions.  ``grades/``: points.  ``pages/``: what people see.  ``server/``: processes and commands.
"""
