"""Processes that serve: their start, their logs, and their questions to each other.  It knows no game.

Modules: ``processes``: several processes under one command. ``pulse``: the worker's heartbeat. ``logs``. ``wire``:
questions and answers over a Unix socket. ``answerer``, ``answerer_process``: the process that answers. ``wing``: the
description of a wing. ``local_server``: the pages of wings on the local machine. ``sqlite``: databases.
"""
