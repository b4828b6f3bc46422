"""The shell of the one web application: one head, one look, one way to sign in.

A :class:`~pttt_ooc.web.parts.Part` plugs in with its addresses, templates, files and entries of the navigation;
the shell knows none of them.

Modules: ``parts``: what plugs in. ``shell``, ``application``, ``rendering`` with ``templates/`` and ``filters``
(``static/board.css`` and ``board.js``: boards to play on),
``refusals`` (errors as sentences), ``accounts`` (signing in), ``forms``, ``headers``, ``gate``, ``metrics``,
``sqlite``, ``kept_file`` and ``kept`` (what people play), ``people`` (whose browser it is), ``owned`` (whose games
there is room for): what all parts share. ``wire``, ``answering``: questions to a process
that knows numbers. ``server``, ``protocol``, ``sockets``, ``throttle``: connections. ``processes``: several under
one command. ``logs``.
"""
