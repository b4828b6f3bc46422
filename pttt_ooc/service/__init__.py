"""Processes that serve: how they are started, what they log, and how they ask each other.  Numbers and names only.

Modules: ``processes``: several under one command. ``pulse``: whether a process is at work. ``logs``. ``wire``:
questions and answers over a Unix socket. ``answerer``: the loop of a process that answers, ``answerer_process``.
``wing``: how a wing describes itself. ``local_server``: pages of wings, served to people at this
machine. ``sqlite``: databases.
"""
