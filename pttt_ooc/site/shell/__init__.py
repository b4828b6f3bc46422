"""The shell of the one web application: one head, one look, one way to sign in.

A :class:`~pttt_ooc.site.shell.parts.Part` plugs in with its addresses, templates, files and entries of the navigation;
the shell knows none of them.

Modules: ``parts``: what plugs in. ``shell``, ``application``, ``rendering`` with ``templates/`` (``static/board.css``
and ``board.js``: boards to play on), ``refusals`` (errors as sentences), ``schemas`` (JSON), ``accounts`` (signing in),
``forms``, ``layers`` around every request, ``zip_stream``: what all parts share. ``server``, ``protocol``, ``arrival``,
``throttle``: the process of a web server, and its connections. ``home``: the first page of a site on this machine.
``ranking``: tables that are sorted and searched. ``gallery``: the page *Parts*, for those who change the look.
"""
