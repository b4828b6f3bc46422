"""Processes that serve: how they are started, what they log, and how they ask each other.  Numbers and names only.

Modules: ``processes``: several under one command. ``pulse``: whether a process is at work. ``logs``. ``wire``:
questions and answers over a Unix socket. ``answerer``: the loop of a process that answers. ``sqlite``: databases.
"""
