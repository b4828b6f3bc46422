"""A course: teams submit strategies and bots, which are checked, judged exactly, and compared.

Two processes share one data directory: the web server takes uploads and shows results, the worker judges.  The
database says what is true; gradients and the index can be made again from it and from the uploads.  Numerics are
elsewhere: :mod:`pttt_ooc.solving.assessment` and :mod:`pttt_ooc.solving.evaluation`.

To read it from the ground up: :mod:`.settings`, :mod:`.models`, :mod:`.database`, :mod:`.storage`, :mod:`.queue`; then
what is done with them, :mod:`.teams`, :mod:`.submissions`, :mod:`.standings`, :mod:`.jobs`; then :mod:`.pages`,
:mod:`.api` and :mod:`.uploads`, which :mod:`.app` plugs into the shell of :mod:`pttt_ooc.web`; then the processes,
:mod:`.webserver` and :mod:`.worker`, and :mod:`.serve` above both; last the :mod:`.commands`.  ``kinds/`` holds what
teams can submit.

Modules: ``settings``, ``models``, ``database_rows``, ``database``, ``storage``, ``uploads_in_flight``, ``queue`` keep
things. ``names``, ``teams``, ``sessions``, ``submissions``, ``standings``, ``jobs`` do things. ``app`` plugs ``pages``
(``figures``, ``caching``), ``api`` (``schemas``), ``uploads``, ``accounts``, ``health`` and ``metrics`` into the
shell. ``serve`` starts ``webserver`` (``context``) and ``worker``. ``backup``, ``client``, ``commands``. Neither its
web process nor the shell imports numerics.
"""
